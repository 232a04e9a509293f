//! What a model file says about the rulesets that its network was trained on.

use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{Rules, RulesetFile, RulesetFileError, presets};
use serde::{Deserialize, Serialize};

/// A ruleset that a network was trained on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainedRuleset {
    /// Its name.
    pub name: String,
    /// Fingerprint of its parameters, [`ruleset_fingerprint`].
    pub fingerprint: String,
    /// Its share of the samples, in `[0, 1]`.
    pub share: f64,
    /// The whole ruleset as TOML, so that play needs no other file.
    pub text: String,
}

impl TrainedRuleset {
    /// Describes a ruleset with its share of the samples.
    #[must_use]
    pub fn new(rules: &Rules, share: f64) -> TrainedRuleset {
        let ruleset = rules.ruleset();
        let (name, fingerprint) = (ruleset.id.clone(), ruleset_fingerprint(ruleset));
        TrainedRuleset { name, fingerprint, share, text: ruleset.to_toml() }
    }

    /// Returns the rules.
    ///
    /// # Errors
    /// [`RulesetFileError`] with every fault of the text.
    pub fn rules(&self) -> Result<Rules, RulesetFileError> {
        let file = RulesetFile::parse(&self.text, &presets::file, presets::NAMES)?;
        Ok(Rules::new(&file.ruleset).expect("a ruleset that was read from a file is valid"))
    }
}
