//! Enums whose values have names in files and on the command line.

/// Declares enums, each value with its name. With `as "kind of thing"` behind the enum's name its values are read from text, and of an
/// unknown one the error says which are known.
#[macro_export]
macro_rules! named {
    ($($(#[$meta:meta])* $visibility:vis $name:ident $(as $what:literal)? { $($(#[$of:meta])* $value:ident = $text:literal,)+ })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $visibility enum $name { $($(#[$of])* $value,)+ }

        #[allow(dead_code, unreachable_pub)]
        impl $name {
            /// The names of all values, in their order.
            pub const NAMES: &'static [&'static str] = &[$($text,)+];
            /// Every value.
            pub const ALL: [$name; $name::NAMES.len()] = [$($name::$value,)+];

            /// Returns the value's name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                Self::NAMES[self as usize]
            }

            /// Returns the value of that name, if there is one.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|known| known.as_str() == name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        $(impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let known = Self::NAMES.join(", ");
                Self::from_name(text).ok_or_else(|| format!(concat!("unknown ", $what, " '{}' (known: {})"), text, known))
            }
        })?
    )+};
}
