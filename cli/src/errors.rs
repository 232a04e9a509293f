//! Errors as people read them.

/// Returns an error with what caused it, `outer: inner`. What a message has said already is not said again:
/// many messages name their cause themselves.
pub(crate) fn told(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |said, cause| {
        if said.is_empty() {
            cause
        } else if said.contains(&cause) {
            said
        } else {
            format!("{said}: {cause}")
        }
    })
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::told;

    #[test]
    fn a_cause_is_told_once() {
        let error = anyhow!("no such file").context("a.toml: no such file").context("the match");
        assert_eq!(told(&error), "the match: a.toml: no such file");
        assert_eq!(told(&anyhow!("alone")), "alone");
    }
}
