//! What a model file says about the rulesets that its network was trained on, and what it knows of another one by it.

use std::fmt;

use latrunculi_engine::parameters::differing;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{Rules, RulesetFile, RulesetFileError};
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
    pub fn rules(&self) -> Result<Rules, RulesetFileError> {
        Ok(RulesetFile::parse(&self.text)?.rules())
    }
}

/// What a network knows of a ruleset. Its text says it after "the network is".
#[derive(Clone, Debug, PartialEq)]
pub enum Familiarity {
    /// It was trained on it.
    Trained,
    /// It was trained on `ruleset`, which differs in these parameters, at most [`Familiarity::NEAR_MAX`].
    Near {
        /// Name of the nearest trained ruleset.
        ruleset: String,
        /// Names of the parameters that differ.
        parameters: Vec<&'static str>,
    },
    /// The nearest of its rulesets, if it names one, differs in more parameters.
    Far {
        /// Name of the nearest trained ruleset, and how many parameters differ.
        nearest: Option<(String, usize)>,
    },
}

impl Familiarity {
    /// The most parameters in which a mix of rules differs from the ruleset that it was made of: a network that was
    /// trained on mixes has met as large differences.
    pub const NEAR_MAX: usize = 3;

    /// Returns what a network that was trained on `trained` knows of `rules`.
    /// Fails with [`RulesetFileError`] when the text of a trained ruleset is not one.
    pub fn of(trained: &[TrainedRuleset], rules: &Rules) -> Result<Familiarity, RulesetFileError> {
        let fingerprint = ruleset_fingerprint(rules.ruleset());
        if trained.iter().any(|trained| trained.fingerprint == fingerprint) {
            return Ok(Familiarity::Trained);
        }
        let mut nearest: Option<(&str, Vec<&'static str>)> = None;
        for trained in trained {
            let parameters = differing(trained.rules()?.ruleset(), rules.ruleset());
            if nearest.as_ref().is_none_or(|(_, fewest)| parameters.len() < fewest.len()) {
                nearest = Some((&trained.name, parameters));
            }
        }
        Ok(match nearest {
            Some((ruleset, parameters)) if parameters.len() <= Familiarity::NEAR_MAX => {
                Familiarity::Near { ruleset: ruleset.to_owned(), parameters }
            }
            other => Familiarity::Far { nearest: other.map(|(name, parameters)| (name.to_owned(), parameters.len())) },
        })
    }
}

impl fmt::Display for Familiarity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Familiarity::Trained => f.write_str("trained on this ruleset"),
            Familiarity::Near { ruleset, parameters } if parameters.is_empty() => {
                write!(f, "trained on {ruleset}, which has the same rules")
            }
            Familiarity::Near { ruleset, parameters } => {
                write!(f, "near what it was trained on: {ruleset} has another {}", parameters.join(", "))
            }
            Familiarity::Far { nearest: Some((ruleset, count)) } => {
                write!(
                    f,
                    "far from what it was trained on, so what it expects may be worth little: the nearest, {ruleset}, differs in {count} parameters"
                )
            }
            Familiarity::Far { nearest: None } => f.write_str(
                "far from what it was trained on, so what it expects may be worth little: it names no ruleset",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use latrunculi_engine::presets;
    use latrunculi_engine::presets::rules;

    use super::*;

    #[test]
    fn a_network_knows_what_it_was_trained_on_and_what_is_near() {
        let trained = ["bell", "savard"].map(|name| TrainedRuleset::new(&rules(name), 0.5));
        let of = |name: &str| Familiarity::of(&trained, &rules(name)).unwrap();
        assert_eq!(of("savard"), Familiarity::Trained);
        let near = of("savard-delayed");
        let Familiarity::Near { ruleset, parameters } = &near else { panic!("{near}") };
        assert_eq!(ruleset, "savard");
        let other = presets::ruleset("savard-delayed").unwrap();
        assert_eq!(*parameters, differing(&presets::ruleset("savard").unwrap(), &other));
        assert!(!parameters.is_empty() && near.to_string().contains(parameters[0]), "{near}");
        let far = of("mac-12x8");
        assert!(matches!(far, Familiarity::Far { nearest: Some((_, count)) } if count > 3), "{far}");
        assert_eq!(Familiarity::of(&[], &rules("bell")).unwrap(), Familiarity::Far { nearest: None });
    }
}
