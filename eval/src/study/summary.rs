//! The results of a balance study: the source of the report, `summary.json` and the tables.
//!
//! Nothing here depends on the clock, the machine or the number of threads; an interrupted study that was
//! continued has the same summary as an uninterrupted one. All scores are the **first player's**, in
//! `[0, 1]`: of the player who makes the first placement or move; a win counts 1, a draw ½. Intervals have the level
//! [`StudySettings::confidence`] unless said otherwise. What could not be estimated is `null` in JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::settings::StudySettings;
use crate::metrics::Metrics;
use latrunculi_engine::named;
use latrunculi_stats::compensation::{FiellerSet, WholeHandicaps};
use latrunculi_stats::score::EloEstimate;
use latrunculi_stats::{BalanceVerdict, Equivalence, Estimate, Interval, WinDrawLoss};

/// The version of the format of [`StudySummary`].
pub const SUMMARY_VERSION: u32 = 4;

/// The results of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudySummary {
    /// The version of this format, [`SUMMARY_VERSION`].
    pub format: u32,
    /// The version of the program that made the summary.
    pub program_version: String,
    /// The command that reproduces this study.
    pub command: String,
    /// The settings.
    pub settings: StudySettings,
    /// Whether every game that the settings ask for has been played.
    pub is_complete: bool,
    /// The agents, in the order of [`StudySettings::agents`] and of [`RulesetSummary::cells`].
    pub agents: Vec<AgentSummary>,
    /// The agent whose results are the headline: the largest budget of the first family.
    pub headline_agent: usize,
    /// The rulesets: those asked for in the order given, each followed by those derived from it.
    pub rulesets: Vec<RulesetSummary>,
    /// The rank correlations of the rulesets' scores between neighbouring budgets, and between families.
    pub rank_agreements: Vec<RankAgreement>,
    /// What was requested but not possible, with the reason, in whole sentences.
    pub notes: Vec<String>,
}

/// One agent of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentSummary {
    /// Its text.
    pub agent: String,
    /// The kind of agent; agents of one family form a ladder of budgets.
    pub family: String,
    /// Nodes, simulations or plies per choice, by which the ladder is ordered; `None` without a budget.
    pub budget: Option<u64>,
    /// What the budget counts: `nodes`, `simulations` or `plies`.
    pub budget_unit: Option<String>,
}

/// The results of one ruleset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RulesetSummary {
    /// The ruleset's id.
    pub name: String,
    /// Its title for people.
    pub title: String,
    /// The fingerprint of the parameters: eight hexadecimal digits.
    pub fingerprint: String,
    /// Files of the board.
    pub files: usize,
    /// Ranks of the board.
    pub ranks: usize,
    /// Men of the first player at the beginning, in hand or on the board.
    pub men: usize,
    /// Whether each side has a dux.
    pub has_duces: bool,
    /// Whether the stones are placed in turn.
    pub is_placement: bool,
    /// The derivation, for rulesets of a sweep; `None` for requested rulesets.
    pub derived: Option<Derivation>,
    /// One entry per agent, in the order of [`StudySummary::agents`].
    pub cells: Vec<CellSummary>,
    /// The trend over the budget, one entry per family with at least two budgets.
    pub trends: Vec<TrendSummary>,
    /// The largest budgets of two families against each other, one entry per pair of families.
    pub agreements: Vec<FamilyAgreement>,
    /// Compensation in men that makes the game fair; by the headline agent.
    pub compensation: Option<CompensationSummary>,
    /// The advantage that remains under the pie rule; by the headline agent.
    pub pie: Option<PieSummary>,
    /// How much of the advantage arises while stones are placed; by the headline agent.
    pub phases: Option<PhaseSummary>,
}

/// How a ruleset was derived from another. Alpha-beta evaluates positions as under the base, so that only
/// the rules differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Derivation {
    /// The id of the ruleset it comes from.
    pub base: String,
    /// The parameter that was changed, as `capture.per_move`.
    pub parameter: String,
    /// Its value in the base, as files write it.
    pub base_value: String,
    /// Its value here.
    pub value: String,
    /// Score here less score of the base, one entry per agent; `None` where either has no score.
    pub differences: Vec<Option<DifferenceSummary>>,
}

/// A difference of two independent scores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifferenceSummary {
    /// The difference, in `[-1, 1]`.
    pub difference: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Its interval.
    pub interval: Interval,
    /// Two-sided p-value of "there is none"; `None` where all games ended alike.
    pub p: Option<f64>,
    /// The same, adjusted by Holm over all differences of the study that answer the same question: derived rulesets
    /// against their bases, one family of agents against another, openings of another length, placement, movement.
    pub p_holm: Option<f64>,
}

/// The place of a series of games in a study's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerPlace {
    /// The file in the folder `games`, as `bell/greedy.jsonl`; it may hold other series too.
    pub file: String,
    /// The field `series` of the games' lines.
    pub series: String,
}

/// The results of one agent's games against itself under one ruleset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellSummary {
    /// The agent's text.
    pub agent: String,
    /// The same as it played here: with the ruleset's own network, the settings of its search that are not the default ones,
    /// and the kernel that computes it; empty without games.
    pub played_as: String,
    /// Where its games are; `None` without games.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerPlace>,
    /// The openings of the games.
    pub opening: OpeningSummary,
    /// Games played, including repetitions that do not count.
    pub games_played: u64,
    /// Games that count: `n` of everything below.
    pub games: u64,
    /// Games taken out of the count because they repeat an earlier one, mirrored or not.
    pub games_repeated: u64,
    /// Distinct openings of the counted games; mirror images count as the same, and games without a drawn opening as openings
    /// of their own.
    pub openings_distinct: u64,
    /// The effective number of independent games; `None` if all games had the same result.
    pub effective_games: Option<f64>,
    /// The reason why no more games were played.
    pub stop: StopReason,
    /// How the counted games ended; the parts add up to `games`.
    pub outcomes: OutcomeCounts,
    /// The counted games by the reason of their end, as game records name it.
    pub ends: BTreeMap<String, u64>,
    /// The first player's score; `None` below two openings that differ.
    pub score: Option<ScoreSummary>,
    /// Share of the games that somebody won, with Wilson's interval.
    pub decisive: Option<RateSummary>,
    /// The first player's share of the games that somebody won, with Wilson's interval.
    pub first_of_decisive: Option<RateSummary>,
    /// Share of the games in which a player captures, with Wilson's interval; captures in the opening do not count. `None`
    /// without games.
    pub contact: Option<RateSummary>,
    /// The conclusion about the balance; `None` without a score.
    pub verdict: Option<VerdictSummary>,
    /// Actions per counted game, those of the opening included.
    pub actions_mean: f64,
    /// Nodes or simulations per choice; `None` for agents that spend nothing.
    pub effort_mean: Option<f64>,
    /// The same agent after openings of another length: the effect of the random opening.
    pub second_opening: Option<SecondOpening>,
    /// The metrics of the games, if requested.
    pub metrics: Option<Metrics>,
}

/// The openings of games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpeningSummary {
    /// The number of actions that were drawn instead of chosen; one more where a turn would be cut in two.
    pub actions: usize,
    /// From whose policy they were drawn; `None` where every legal action was as likely.
    pub policy: Option<String>,
}

named! {
    /// The reason why a measurement ended.
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub StopReason {
        /// The interval has the requested width.
        Width = "the interval has the requested width",
        /// The maximum number of games was played.
        MaxGames = "the maximum number of games was played",
        /// There is no other distinct opening.
        NoMoreOpenings = "there is no other distinct opening",
        /// The study was interrupted.
        Interrupted = "the study was interrupted",
    }
}

/// The outcome partition of the counted games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeCounts {
    /// Won by the first player.
    pub first_wins: u64,
    /// Won by the second player.
    pub second_wins: u64,
    /// Drawn by a rule of the game.
    pub rule_draws: u64,
    /// Ended by the program's ply cap; they count as draws.
    pub truncated: u64,
}

impl OutcomeCounts {
    /// Returns the counts from the first player's view, truncated games as draws.
    #[must_use]
    pub fn win_draw_loss(&self) -> WinDrawLoss {
        WinDrawLoss::new(self.first_wins, self.rule_draws + self.truncated, self.second_wins)
    }

    /// Returns the number of games.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.win_draw_loss().games()
    }
}

/// The first player's score with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreSummary {
    /// The mean score, truncated games counting ½.
    pub score: f64,
    /// Its standard error over openings; 0 where all games ended alike.
    pub standard_error: f64,
    /// The interval of this score alone, by the score test ([`latrunculi_stats::MeanTest`]).
    pub interval: Interval,
    /// Šidák's interval: those of all rulesets with this agent hold together.
    pub simultaneous: Interval,
    /// Half of the width of `interval`.
    pub half_width: f64,
    /// The score if the first player had lost (lower) or won (upper) every truncated game.
    pub truncation_bracket: Interval,
    /// The logistic Elo difference that corresponds to the score.
    pub elo: EloEstimate,
}

/// A rate with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateSummary {
    /// The number of successes.
    pub count: u64,
    /// The number of trials.
    pub of: u64,
    /// The rate, in `[0, 1]`.
    pub rate: f64,
    /// Its interval.
    pub interval: Interval,
}

/// The conclusion about a ruleset's balance. The family of the tests is all rulesets with the same agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VerdictSummary {
    /// The conclusion, from the tests and from what speaks against it.
    pub verdict: Conclusion,
    /// What the tests of this agent's score alone say.
    pub test: BalanceVerdict,
    /// Why a score that is shown to be near ½ is not taken for balance of the ruleset; empty for other scores.
    pub doubts: Vec<Doubt>,
    /// The change of the score since a budget of at most half the size; `None` without one.
    pub last_doubling: Option<LastDoubling>,
    /// The rank correlation of all rulesets' scores with those of the next smaller budget; `None` without one.
    pub rank_agreement: Option<RankAgreement>,
    /// Two-sided p-value of "the expected score is ½".
    pub p_unbalanced: f64,
    /// The same, adjusted by Holm.
    pub p_unbalanced_holm: f64,
    /// Two one-sided tests of "the expected score is off ½ by the margin or more".
    pub equivalence: Equivalence,
    /// The larger p-value of the two.
    pub p_balanced: f64,
    /// The same, adjusted by Holm.
    pub p_balanced_holm: f64,
}

named! {
    /// The conclusion about the balance of a ruleset, from the games of one agent.
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub Conclusion {
        /// The score is within the margin of ½ whatever the results of games that were cut off, pieces are captured in enough
        /// games, and another kind of player agrees.
        Balanced = "balanced",
        /// The score is within the margin of ½, but a [`Doubt`] remains.
        EvenWithThisPlayer = "even with this player",
        /// The first player is ahead.
        First = "first player ahead",
        /// The second player is ahead.
        Second = "second player ahead",
        /// Not shown to be any of these.
        Unresolved = "unresolved",
    }
}

named! {
    /// Why a score near ½ need not mean that the ruleset is balanced.
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub Doubt {
        /// Captures occur in fewer games than [`StudySettings::min_contact`] asks for.
        FewCaptures = "captures in too few games",
        /// It is not known in how many games captures occur.
        CapturesUnknown = "games with captures not counted",
        /// So many games were ended by the program's own limit of turns that their true results could move the score beyond the
        /// margin.
        CutOff = "too many games cut off",
        /// The player does not search.
        NoSearch = "the player does not search",
        /// The study has no other kind of player that searches.
        OneKindOfPlayer = "only one kind of player",
        /// Another kind of player has a score that is shown to be off ½, or to differ from this one.
        KindsDisagree = "kinds of players disagree",
        /// No other kind of player shows balance, and none shows the contrary.
        NotConfirmed = "not confirmed by another kind of player",
    }
}

/// The same cell after openings of another length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecondOpening {
    /// The openings of the games.
    pub opening: OpeningSummary,
    /// Games that count.
    pub games: u64,
    /// Their outcomes.
    pub outcomes: OutcomeCounts,
    /// Their score.
    pub score: Option<ScoreSummary>,
    /// This score less that of the cell.
    pub shift: Option<DifferenceSummary>,
}

/// What a larger budget does to the advantage: the distance of the score from ½ at the ends of a ladder of budgets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrendSummary {
    /// The family of agents.
    pub family: String,
    /// The budgets, rising.
    pub budgets: Vec<u64>,
    /// `|score − ½|` with the smallest and with the largest budget, in `[0, ½]`.
    pub distances: [f64; 2],
    /// The second distance less the first.
    pub change: Estimate,
    /// Šidák's interval of the change: those of all rulesets hold together.
    pub interval: Interval,
    /// What the change amounts to.
    pub direction: TrendDirection,
    /// `false` where the budgets show both that the distance rises and that it falls, with Bonferroni over all pairs of
    /// budgets.
    pub is_monotone: bool,
    /// Whether the two ends show an advantage of different players.
    pub changes_side: bool,
}

named! {
    /// The effect of a larger budget on the distance of the score from ½.
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub TrendDirection {
        /// The whole interval of the change is negative.
        Shrinking = "shrinking",
        /// The interval of the change lies within the margin.
        Stable = "stable",
        /// The whole interval of the change is positive.
        Growing = "growing",
        /// None of these is shown.
        Unclear = "no trend shown",
    }
}

/// The change of a score since a budget of at most half the size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastDoubling {
    /// The smaller budget and the agent's own; of depths in plies, the next smaller one.
    pub budgets: [u64; 2],
    /// The score with the agent's budget less that with the smaller one.
    pub change: Estimate,
    /// The interval of the change.
    pub interval: Interval,
    /// What the change amounts to.
    pub stability: Stability,
}

named! {
    /// Whether a score stays where it is when the budget grows.
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub Stability {
        /// The interval of the change lies within the margin.
        Stable = "stable",
        /// The interval of the change does not contain 0.
        Changed = "changed",
        /// Neither is shown.
        Unclear = "unclear",
    }
}

/// Two families of agents on one ruleset, each with its largest budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FamilyAgreement {
    /// The two agents' texts.
    pub agents: [String; 2],
    /// Score with the first agent less score with the second.
    pub difference: DifferenceSummary,
    /// Whether the interval of the difference lies within the margin of the study: only then do they agree.
    pub is_within_margin: bool,
    /// Whether the balance depends on who plays: the difference is shown, with Holm over all such pairs in all rulesets of
    /// the study.
    pub depends_on_agent: bool,
}

/// Kendall's rank correlation of the rulesets' scores with two agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankAgreement {
    /// The two agents' texts.
    pub agents: [String; 2],
    /// The number of rulesets compared.
    pub rulesets: usize,
    /// Kendall's τ_b, in `[-1, 1]`; `None` where all scores are the same.
    pub tau: Option<f64>,
    /// Pairs of rulesets whose scores differ with both agents: the interval of each difference does not contain 0.
    pub told_apart: u64,
    /// Those of them that are in the same order.
    pub alike: u64,
}

/// The handicap in men that compensates the first player's advantage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompensationSummary {
    /// The agent's text.
    pub agent: String,
    /// The scores by handicap, rising. A handicap of `h` takes `h` men from the first player, or `-h` from the second.
    pub cells: Vec<HandicapCell>,
    /// The logistic regression on the handicap: intercept and slope in nats.
    pub coefficients: Option<[f64; 2]>,
    /// The handicap at which the expected score is ½.
    pub fair_handicap: Option<f64>,
    /// Fieller's confidence set of it.
    pub fair_handicap_set: Option<FiellerSet>,
    /// The mixture of two whole handicaps that is fair on average.
    pub whole_handicaps: Option<WholeHandicaps>,
    /// Why there is no fair handicap, if there is none.
    pub refused: Option<String>,
}

/// The games at one handicap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HandicapCell {
    /// Men fewer for the first player; negative: for the second.
    pub handicap: i32,
    /// Games that count.
    pub games: u64,
    /// Their outcomes.
    pub outcomes: OutcomeCounts,
    /// Their score.
    pub score: Option<ScoreSummary>,
}

/// The pie rule: one player makes the first turn, the other chooses sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PieSummary {
    /// The agent's text.
    pub agent: String,
    /// The first turns that differ, mirror images counting as the same; `None` if there are too many to count.
    pub first_turns: Option<usize>,
    /// Those that were tried.
    pub tried: Vec<PieTurn>,
    /// The turn whose selection score is nearest ½, which a fair divider would make: an index into `tried`.
    pub chosen: Option<usize>,
    /// Its score in games that had no part in the choice: they alone say how fair it is.
    pub held_out: Option<ScoreSummary>,
    /// The games behind `held_out`.
    pub held_out_outcomes: OutcomeCounts,
    /// `|held-out score − ½|`: what the chooser may still gain.
    pub residual: Option<f64>,
    /// The turns tried whose selection score lies within the margin of ½.
    pub within_margin: usize,
}

/// One first turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PieTurn {
    /// Its actions, as text.
    pub actions: Vec<String>,
    /// The outcomes of the games that chose.
    pub outcomes: OutcomeCounts,
    /// Their score.
    pub score: Option<ScoreSummary>,
}

/// How much of the advantage arises while stones are placed, and how much after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseSummary {
    /// The agent's text.
    pub agent: String,
    /// The score where all stones were placed at random and the agent played on from there.
    pub random_placement: Option<ScoreSummary>,
    /// The games behind it.
    pub outcomes: OutcomeCounts,
    /// The score of the agent's own placement less that of random placement: what placing well is worth to the first player.
    pub by_placement: Option<DifferenceSummary>,
    /// The score after random placement less ½: what moving is worth to him.
    pub by_movement: Option<DifferenceSummary>,
}
