//! How games end, and for whom.

use serde::{Deserialize, Serialize};

use super::estimates::{Measured, Rate};
use crate::statistics::Interval;

/// For whom a game ended, and how: the classes are disjoint, and every finished game is in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeClass {
    /// The first player won by the rules.
    FirstWin,
    /// The second player won by the rules.
    SecondWin,
    /// The rules called it a draw.
    RuleDraw,
    /// The program's own limit of turns ended it: counted as a draw, and bracketed.
    Truncated,
    /// It was given up before the rules ended it.
    Adjudicated,
}

/// The share of games of one class that ended for one reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutcomeShare {
    /// The class.
    pub class: OutcomeClass,
    /// The reason, as game records write it; empty where a game was given up.
    pub reason: String,
    /// Its share of all games.
    pub share: Rate,
}

/// How games ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcomes {
    /// Every class and reason that occurred; the shares sum to 1.
    pub partition: Vec<OutcomeShare>,
    /// Games that the first player won, given-up ones included.
    pub first_wins: Rate,
    /// Games that the second player won, given-up ones included.
    pub second_wins: Rate,
    /// Games that the rules called a draw.
    pub rule_draws: Rate,
    /// Games that the program's own limit of turns ended.
    pub truncated: Rate,
    /// Games that somebody won.
    pub decisive: Rate,
    /// Of those, the games that the first player won.
    pub first_among_decisive: Option<Rate>,
    /// The first player's mean score; a draw and a truncated game count one half.
    pub score: Measured,
    /// The same with every truncated game lost, and with every one won: what the limit can hide.
    pub score_bracket: Interval,
    /// Whether at most 1 % of the games were truncated.
    pub is_truncation_small: bool,
}
