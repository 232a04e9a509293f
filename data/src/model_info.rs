//! What a model file says about its network: where it comes from and how strong it is.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::features::EncodingNames;
use crate::trained_ruleset::TrainedRuleset;
use crate::training_config::TrainingCounters;

/// What a model file says about its network apart from weights and sizes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelInfo {
    /// The rulesets it was trained on, the one with the largest share first.
    pub rulesets: Vec<TrainedRuleset>,
    /// Names of its planes and scalars.
    pub encoding: EncodingNames,
    /// Progress of the training.
    pub training: TrainingCounters,
    /// How it was made and its measured strength.
    #[serde(default)]
    pub history: ModelHistory,
    /// The search settings of the run that trained it, as in `[selfplay.search]` of its configuration; absent where they
    /// are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<serde_json::Value>,
    /// Other information, by name.
    #[serde(default)]
    pub notes: BTreeMap<String, serde_json::Value>,
}

/// How a model was made and its measured strength. What is not known is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelHistory {
    /// Name and version of the program that trained it.
    pub program: Option<String>,
    /// Commit of its source.
    pub commit: Option<String>,
    /// Seed of the run.
    pub seed: Option<u64>,
    /// Generations of games that it was trained on, those of the teacher included.
    pub generations: Option<u64>,
    /// Games of these generations.
    pub games: Option<u64>,
    /// Samples of these games.
    pub samples: Option<u64>,
    /// Scores against fixed opponents.
    pub strength: Vec<Measurement>,
    /// Score of the first player in self-play.
    pub first_player: Option<Measurement>,
}

/// A match or a series of games from the view of one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MatchScore {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// The mean score, in `[0, 1]`, a draw counting one half.
    pub score: f64,
    /// Lower end of the 95 % interval.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

impl MatchScore {
    /// Returns the score and the ends of its interval in percent.
    #[must_use]
    pub fn percents(&self) -> [f64; 3] {
        [self.score, self.lower, self.upper].map(|share| share * 100.0)
    }

    /// Returns the interval and the games as a sentence has them, as `95 % interval 41.2 to 58.8; +9 =2 -9`.
    #[must_use]
    pub fn interval_in_words(&self) -> String {
        let MatchScore { wins, draws, losses, .. } = self;
        let [_, lower, upper] = self.percents();
        format!("95 % interval {lower:.1} to {upper:.1}; +{wins} ={draws} -{losses}")
    }
}

impl fmt::Display for MatchScore {
    /// Writes the score, its interval and the games, as `50.0 % [41.2, 58.8] +9 =2 -9`; a width is that of the score.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MatchScore { wins, draws, losses, .. } = self;
        let ([score, lower, upper], width) = (self.percents(), f.width().unwrap_or(0));
        write!(f, "{score:>width$.1} % [{lower:.1}, {upper:.1}] +{wins} ={draws} -{losses}")
    }
}

/// A score over games, and what they were.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// Opponent and simulations of the network.
    pub what: String,
    /// The score.
    #[serde(flatten)]
    pub result: MatchScore,
    /// The material margin at the end of the games, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<MeasuredMargin>,
    /// The command that plays such games again, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// Men of the network minus men of its opponent at the end of games, as a fraction in `[-1, 1]` of those that a side
/// starts with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredMargin {
    /// Mean over the games.
    pub mean: f64,
    /// Lower end of its 95 % interval.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

impl Measurement {
    /// Rounds every number to six decimals, so that JSON preserves it exactly.
    #[must_use]
    pub fn rounded(self) -> Measurement {
        let round = |number: f64| (number * 1e6).round() / 1e6;
        let margin = self.margin.map(|MeasuredMargin { mean, lower, upper }| MeasuredMargin {
            mean: round(mean),
            lower: round(lower),
            upper: round(upper),
        });
        let [score, lower, upper] = [self.result.score, self.result.lower, self.result.upper].map(round);
        Measurement { result: MatchScore { score, lower, upper, ..self.result }, margin, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_with_a_number_of_another_name_is_refused() {
        let text = r#"{"what":"w","wins":1,"draws":0,"losses":1,"score":0.5,"lower":0.1,"upper":0.9}"#;
        let read: Measurement = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        let more = text.replace("\"upper\"", "\"more\":1,\"upper\"");
        assert!(serde_json::from_str::<Measurement>(&more).is_err());
    }
}
