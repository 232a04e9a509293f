//! The settings of a balance study.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The settings of a study. Together with the rules and the networks they determine its result.
///
/// Rates and widths are in score, `[0, 1]`: 0.03 is three hundredths of a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StudySettings {
    /// The title of the report.
    pub title: String,
    /// Shipped names or paths of files; `all` is every shipped reconstruction.
    pub rulesets: Vec<String>,
    /// The agents' texts; those of one kind form a ladder of budgets.
    pub agents: Vec<String>,
    /// The largest half-width of the score's interval; games are played until it is reached.
    pub half_width: f64,
    /// A ruleset is balanced if its score is shown to differ from ½ by less than this margin.
    pub margin: f64,
    /// A verdict of balance needs captures in at least this share of the games, in `[0, 1]`.
    pub min_contact: f64,
    /// The confidence level of the intervals; tests have the significance level `1 − confidence`.
    pub confidence: f64,
    /// The fewest games of each ruleset with each agent.
    pub min_games: u64,
    /// The most games of each ruleset with each agent.
    pub max_games: u64,
    /// The number of games between two applications of the stopping rule.
    pub batch: u64,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The openings of games.
    pub opening: OpeningSettings,
    /// Whether the games themselves are described: lengths, branching, use of the rules, heat maps.
    pub metrics: bool,
    /// The handicaps in men to try, to find a fair compensation; empty for none.
    pub compensation: Vec<u32>,
    /// Whether to measure the advantage that remains under the pie rule.
    pub pie: bool,
    /// The most first turns that are tried for the pie rule.
    pub pie_turns: usize,
    /// Games per first turn that choose among them.
    pub pie_games: u64,
    /// Whether to measure placement and movement separately where stones are placed.
    pub phases: bool,
    /// Parameters with the values to try in every ruleset: `capture.per_move = ["one", "all"]`.
    pub sweep: BTreeMap<String, Vec<String>>,
}

/// The openings of games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpeningSettings {
    /// Actions that open a game from an array; `None` for six.
    pub array: Option<usize>,
    /// Actions that open a game with placement; `None` for eight.
    pub placement: Option<usize>,
    /// Other numbers of actions, by ruleset.
    pub by_ruleset: BTreeMap<String, usize>,
    /// A second number of actions, to measure the effect of the opening on the score; `None` for no such games.
    pub second: Option<usize>,
    /// The agent from whose policy openings are drawn; `None` draws legal actions uniformly.
    pub policy: Option<String>,
    /// The temperature τ: that policy to the power `1/τ` is drawn from. 1 leaves it as it is, less prefers the best.
    pub temperature: f64,
}

impl Default for OpeningSettings {
    fn default() -> Self {
        OpeningSettings {
            array: None,
            placement: None,
            by_ruleset: BTreeMap::new(),
            second: None,
            policy: None,
            temperature: 1.0,
        }
    }
}

impl Default for StudySettings {
    fn default() -> Self {
        StudySettings {
            title: "Balance study".to_owned(),
            rulesets: Vec::new(),
            agents: Vec::new(),
            half_width: 0.03,
            margin: 0.03,
            min_contact: 0.5,
            confidence: 0.95,
            min_games: 400,
            max_games: 4000,
            batch: 50,
            seed: 0,
            opening: OpeningSettings::default(),
            metrics: false,
            compensation: Vec::new(),
            pie: false,
            pie_turns: 24,
            pie_games: 60,
            phases: false,
            sweep: BTreeMap::new(),
        }
    }
}
