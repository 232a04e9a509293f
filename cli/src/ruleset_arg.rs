//! The ruleset of a command, alone or as an option: `perft bell` or `perft --ruleset bell`.

use clap::Args;

/// Which ruleset.
#[derive(Args)]
pub(crate) struct RulesetArg {
    /// A shipped ruleset, or the path of a ruleset file or of a model
    #[arg(value_name = "RULESET", required_unless_present = "ruleset_option")]
    ruleset: Option<String>,
    /// The same as an option
    #[arg(long = "ruleset", alias = "rulesets", value_name = "RULESET", conflicts_with = "ruleset")]
    ruleset_option: Option<String>,
}

impl RulesetArg {
    /// Returns the name or path.
    pub(crate) fn name(&self) -> &str {
        self.ruleset.as_deref().or(self.ruleset_option.as_deref()).unwrap_or_default()
    }
}
