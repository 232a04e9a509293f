//! A line of a run's metrics, as it is written and read (docs/FORMATS.md, "Metrics").

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;

use crate::Number;
use latrunculi_data::{MatchScore, Precision, PrecisionDifference, StepReport};
use latrunculi_stats::{Confidence, Estimate};

/// A round: the games of a generation, the training beside them, and the matches of the network that played them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The generation that was played, or in the last round the one that would be next.
    pub generation: u64,
    /// Whether the training came before the games, and not beside them.
    #[serde(default)]
    pub learns_first: bool,
    /// The training.
    #[serde(flatten)]
    pub training: TrainingMetrics,
    /// Whether alpha-beta played the games; `None` without games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teacher: Option<bool>,
    /// The games, if any.
    #[serde(flatten, deserialize_with = "games_if_any")]
    pub games: Option<GameMetrics>,
    /// The matches by ruleset, if any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub verdicts: BTreeMap<String, RunMatch>,
    /// Seconds that the round took.
    pub round_secs: f64,
    /// Samples played since the run began.
    pub samples_total: u64,
    /// Samples in the replay window.
    #[serde(default)]
    pub window: u64,
    /// Training steps made since the run began.
    pub steps_total: u64,
    /// Seconds since the run began, without breaks.
    pub elapsed_secs: f64,
}

impl Round {
    /// Returns the sums over all games of the round, if any were played.
    #[must_use]
    pub fn all_games(&self) -> Option<&RulesetMetrics> {
        self.games.as_ref().map(|games| &games.all)
    }

    /// Returns the games of one ruleset.
    #[must_use]
    pub fn games_of(&self, ruleset: &str) -> Option<&RulesetMetrics> {
        self.games.as_ref()?.rulesets.get(ruleset)
    }
}

/// Reads the games of a line that has any. A flattened option would take a fault among them for none.
fn games_if_any<'de, D: Deserializer<'de>>(line: D) -> Result<Option<GameMetrics>, D::Error> {
    let line = Value::deserialize(line)?;
    line.get("games").is_some().then(|| GameMetrics::deserialize(&line).map_err(de::Error::custom)).transpose()
}

/// The training of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingMetrics {
    /// Training steps.
    pub steps: u64,
    /// Positions trained on per second, repetitions counted.
    #[serde(default)]
    pub training_samples_per_sec: f64,
    /// Mean losses; zeros where there were no steps.
    pub losses: StepReport,
    /// Seconds that the steps took.
    #[serde(default)]
    pub train_secs: f64,
}

/// The games of a generation and the work that they took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GameMetrics {
    /// All games together.
    #[serde(flatten)]
    pub all: RulesetMetrics,
    /// How many of the games an interrupted attempt had already played.
    pub games_found: u64,
    /// Games finished per second.
    pub games_per_sec: f64,
    /// Positions that networks evaluated per second.
    pub evaluations_per_sec: f64,
    /// Mean number of positions in a batch.
    pub batch_mean: f64,
    /// The same as a fraction of the games in flight that their pools have room for.
    pub batch_fill: f64,
    /// Fraction of the actors' time in which their network computed.
    pub network_busy: f64,
    /// Fraction of the wall time in which the actors computed.
    pub actors_busy: f64,
    /// Mean number of turns of a game that counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns_mean: Option<f64>,
    /// Number of games that count by the reason of their end.
    pub end_reasons: BTreeMap<String, u64>,
    /// The games by ruleset; those of the mixes together are called `mixes`.
    pub rulesets: BTreeMap<String, RulesetMetrics>,
    /// Seconds that the games took.
    pub play_secs: f64,
    /// Precision of the playing network.
    pub precision: Precision,
    /// What computed it (`PlayNetwork::kernel` of the crate `train`); with workers all that did, with commas between.
    pub kernel: String,
    /// How far its answers in 8 or 16 bits differ from those in 32 bits, where that decided the precision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision_difference: Option<PrecisionDifference>,
}

/// Games of a generation, of one ruleset or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RulesetMetrics {
    /// Games.
    pub games: u64,
    /// Those whose results say something (docs/FORMATS.md): draws, scores, lengths and ends are of these alone.
    pub games_counted: u64,
    /// Samples.
    pub samples: u64,
    /// Fraction of the samples of the generation; `None` for all games together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Fraction of drawn games; like the means below `None` where no game counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw_rate: Option<f64>,
    /// Mean score of the player who begins, a draw counting one half.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_player_score: Option<f64>,
    /// Mean number of actions of a game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions_mean: Option<f64>,
}

/// What a match found about a run's network, from its view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunMatch {
    /// The opponent.
    pub opponent: String,
    /// The network's simulations per decision.
    pub simulations: u32,
    /// The games; pairs that repeat an earlier one count nowhere, and the interval is over pairs.
    #[serde(flatten)]
    pub result: MatchScore,
    /// The network's mean material margin at the end of the games, in shares of a side's men, its standard error over pairs;
    /// `None` below two pairs, and in what was written before it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<Estimate>,
    /// The match of the same network with the one that the run had at its match before in this ruleset, if it was played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<EarlierMatch>,
}

/// What a match between a run's network and an earlier one of it found, from the view of the former.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlierMatch {
    /// Generations that had been played when the earlier network was measured.
    pub generation: u64,
    /// The games, as those of [`RunMatch::result`].
    #[serde(flatten)]
    pub result: MatchScore,
}

impl RunMatch {
    /// Says against whom and with how many simulations it was played.
    #[must_use]
    pub fn terms(&self) -> String {
        format!("{} with {} simulations", self.opponent, self.simulations)
    }
}

impl fmt::Display for RunMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let margin = self.margin.map(|margin| format!("; margin {}", percent_of_men(&margin))).unwrap_or_default();
        let [score, ..] = self.result.percents();
        write!(f, "{}: {score:.1} % ({}{margin})", self.terms(), self.result.interval_in_words())
    }
}

/// Writes a margin in hundredths of the men that a side begins with, with its 95 % interval.
#[must_use]
pub fn percent_of_men(margin: &Estimate) -> String {
    let interval = margin.interval_of_margin(Confidence::NINETY_FIVE);
    let [value, lower, upper] = [margin.value, interval.lower, interval.upper].map(|share| Number(share * 100.0));
    format!("{value:+.1} % of a side's men, {lower:+.1} to {upper:+.1}")
}
