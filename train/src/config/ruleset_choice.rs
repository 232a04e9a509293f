//! Which rulesets a run trains on, as the key `rulesets` of a configuration names them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::rulesets::expand_all;

/// Which rulesets a run trains on. A ruleset is a shipped name, or the path of a ruleset file or of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "rulesets is a name or a path, several with commas between, a list of them, \"all\", or a table of names with weights"
)]
pub enum RulesetChoice {
    /// One ruleset, several with commas between, or `all`.
    One(String),
    /// Several rulesets; their shares follow from their families ([`crate::run_rulesets`]).
    List(Vec<String>),
    /// Several rulesets, each with a weight above 0; their shares are in proportion to these.
    Weights(BTreeMap<String, f64>),
}

impl RulesetChoice {
    /// Returns the names and paths, with `all` written out, in the order of the configuration.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        match self {
            RulesetChoice::One(names) => expand_all(&names.split(',').map(str::to_owned).collect::<Vec<_>>()),
            RulesetChoice::List(names) => expand_all(names),
            RulesetChoice::Weights(weights) => weights.keys().cloned().collect(),
        }
    }

    /// Returns the weights in the order of [`RulesetChoice::names`], where the configuration gives them.
    #[must_use]
    pub fn weights(&self) -> Option<Vec<f64>> {
        match self {
            RulesetChoice::Weights(weights) => Some(weights.values().copied().collect()),
            _ => None,
        }
    }
}

impl From<&str> for RulesetChoice {
    fn from(name: &str) -> RulesetChoice {
        RulesetChoice::One(name.to_owned())
    }
}

impl fmt::Display for RulesetChoice {
    /// Writes the choice in a few words: the only name, or how many there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.names()[..] {
            [only] => f.write_str(only),
            names => write!(f, "{} rulesets", names.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct File {
        rulesets: RulesetChoice,
        seed: u64,
    }

    #[test]
    fn rulesets_are_a_name_a_list_all_or_a_table_of_weights() {
        let read = |text: &str| toml::from_str::<File>(&format!("seed = 1\n{text}"));
        for (text, names, weights) in [
            ("rulesets = \"savard\"", vec!["savard"], None),
            ("rulesets = [\"savard\", \"my/own.toml\"]", vec!["savard", "my/own.toml"], None),
            ("rulesets = \"savard,my/own.toml\"", vec!["savard", "my/own.toml"], None),
            ("[rulesets]\nsavard = 1\n\"my/own.toml\" = 2.5", vec!["my/own.toml", "savard"], Some(vec![2.5, 1.0])),
        ] {
            let file = read(text).unwrap();
            assert_eq!(
                (file.rulesets.names(), file.rulesets.weights()),
                (names.iter().map(|name| (*name).to_owned()).collect(), weights)
            );
            let written = toml::to_string(&file).unwrap();
            assert_eq!(toml::from_str::<File>(&written).unwrap(), file, "{written}");
        }
        assert_eq!(read("rulesets = \"all\"").unwrap().rulesets.names().len(), 26);
        let fault = read("rulesets = 3").unwrap_err().to_string();
        assert!(fault.contains("a list of them"), "{fault}");
    }
}
