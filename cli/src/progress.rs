//! How progress bars look.

use std::fmt::Write;

use indicatif::{ProgressState, ProgressStyle};

/// Returns a style from an indicatif template, in which `{rate}` is the number of parts done a second.
///
/// `{per_sec}` of indicatif shows ten digits after the point.
pub(crate) fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ").with_key("rate", |state: &ProgressState, text: &mut dyn Write| {
        // A bar that cannot be written is not worth stopping for.
        _ = write!(text, "{:.1}/s", state.per_sec());
    })
}
