//! Enums whose variants have words for people.

/// Declares an enum with the words of each variant, which are its documentation, too.
macro_rules! enum_with_words {
    ($(#[$about:meta])* $name:ident { $($(#[$more:meta])* $variant:ident: $words:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $(#[doc = $words] $(#[doc = ""] #[$more])* $variant,)+
        }

        impl $name {
            /// All of them, in order.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// Returns what a reader calls it.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self {
                    $($name::$variant => $words,)+
                }
            }
        }
    };
}
pub(crate) use enum_with_words;
