//! A quick gauge of strength: an evaluator's search against alpha-beta, many games at once.
//!
//! Openings are random and each is played twice with seats swapped; nothing else is left to chance, so that
//! the same seed gives the same match.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use latrunculi_engine::{Action, GameState, Outcome, Player, Rules};
use latrunculi_search::alphabeta::{AlphaBeta, AlphaBetaSettings, Heuristic, Limits};
use latrunculi_search::latrunculi::LatrunculiHeuristic;
use latrunculi_search::mcts::{Effort, Settings};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::error::SelfPlayError;
use crate::games::{LaneEvaluator, Progress, Run, Watch};
use crate::seeds::{GameKey, Purpose};
use crate::slot::{Habits, Slot, random_opening};

/// Whom a network is measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Alpha-beta with so many nodes a move: `alphabeta:nodes=N`.
    AlphaBeta {
        /// Nodes per decision.
        nodes: u64,
    },
    /// Takes the most it can now, otherwise anything: `greedy`.
    Greedy,
    /// Anything legal: `random`.
    Random,
}

impl FromStr for Baseline {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "random" => return Ok(Baseline::Random),
            "greedy" => return Ok(Baseline::Greedy),
            _ => {}
        }
        let nodes = text.strip_prefix("alphabeta:nodes=").and_then(|nodes| nodes.parse().ok());
        match nodes {
            Some(nodes) if nodes > 0 => Ok(Baseline::AlphaBeta { nodes }),
            _ => Err(format!("unknown baseline '{text}' (known: alphabeta:nodes=N, greedy, random)")),
        }
    }
}

impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Baseline::AlphaBeta { nodes } => write!(f, "alphabeta:nodes={nodes}"),
            Baseline::Greedy => f.write_str("greedy"),
            Baseline::Random => f.write_str("random"),
        }
    }
}

/// A match to be played.
#[derive(Clone, Debug)]
pub struct MatchPlan {
    /// The rules.
    pub rules: Arc<Rules>,
    /// The evaluator's search.
    pub search: Settings,
    /// Its simulations per decision; 0 plays the bare policy.
    pub simulations: u32,
    /// The opponent.
    pub baseline: Baseline,
    /// Pairs of games, each pair from one opening.
    pub pairs: u64,
    /// Random actions at the start.
    pub opening_actions: u32,
    /// Seed of the openings.
    pub seed: u64,
    /// Games in flight in each lane.
    pub in_flight: usize,
}

/// Results of the two games of one opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairResult {
    /// The game in which the evaluator has the first seat.
    pub as_first: Outcome,
    /// The game in which it has the second.
    pub as_second: Outcome,
}

/// Plays a match; returns the pairs in order.
///
/// # Errors
/// [`SelfPlayError::Evaluation`] when an evaluator fails, [`SelfPlayError::Stopped`] when `watch` answers no.
///
/// # Panics
/// When there is no evaluator.
pub fn play_match(
    plan: &MatchPlan,
    evaluators: &mut [LaneEvaluator<'_>],
    progress: &Progress,
    watch: Watch<'_>,
) -> Result<Vec<PairResult>, SelfPlayError> {
    let habits = Habits {
        search: plan.search.clone(),
        effort: Effort { simulations: plan.simulations, explores: false },
        temperature: 0.0,
        temperature_actions: 0,
        records: false,
        teaching: None,
    };
    let begin = |slot: &mut Slot, game: u64| {
        let pair = GameKey { run_seed: plan.seed, generation: 0, game: game / 2 };
        let start = random_opening(&plan.rules, plan.opening_actions, &mut pair.stream(Purpose::Match));
        let key = GameKey { game, ..pair };
        slot.begin(key, &start, plan.opening_actions);
        let player = if game.is_multiple_of(2) { Player::Second } else { Player::First };
        slot.opponent = Some((player, Opponent::new(&plan.rules, plan.baseline, key.stream(Purpose::Choice))));
    };
    let finish = |slot: &mut Slot, outcome: Outcome| (slot.index, outcome);
    let run = Run { rules: &plan.rules, habits: &habits, games: plan.pairs * 2, in_flight: plan.in_flight.max(1) };
    let mut games = run.play(false, evaluators, progress, watch, &begin, &finish)?;
    games.sort_by_key(|(index, _)| *index);
    Ok(games.chunks_exact(2).map(|pair| PairResult { as_first: pair[0].1, as_second: pair[1].1 }).collect())
}

/// The baseline at work in one game.
pub(crate) enum Opponent {
    AlphaBeta(Box<AlphaBeta<GameState, LatrunculiHeuristic>>, Limits),
    Greedy(Box<LatrunculiHeuristic>, Box<ChaCha8Rng>),
    Random(Box<ChaCha8Rng>),
}

/// Bytes of the table of each game's alpha-beta; many games are in flight.
pub(crate) const TABLE_BYTES: usize = 1 << 20;

impl Opponent {
    fn new(rules: &Rules, baseline: Baseline, stream: ChaCha8Rng) -> Opponent {
        let heuristic = LatrunculiHeuristic::new(rules);
        match baseline {
            Baseline::AlphaBeta { nodes } => {
                let settings = AlphaBetaSettings { table_bytes: TABLE_BYTES, ..AlphaBetaSettings::default() };
                Opponent::AlphaBeta(Box::new(AlphaBeta::new(settings, heuristic)), Limits::nodes(nodes))
            }
            Baseline::Greedy => Opponent::Greedy(Box::new(heuristic), Box::new(stream)),
            Baseline::Random => Opponent::Random(Box::new(stream)),
        }
    }

    /// Chooses among the legal actions of `game`, at least one.
    pub(crate) fn choose(&mut self, game: &GameState, legal: &[Action]) -> Action {
        match self {
            Opponent::AlphaBeta(search, limits) => search.search(game, *limits).action,
            Opponent::Greedy(heuristic, stream) => {
                let gains: Vec<i32> = legal.iter().map(|&action| heuristic.gain(game, action)).collect();
                let most = gains.iter().copied().max().unwrap_or(0).max(0);
                let best: Vec<usize> = (0..legal.len()).filter(|&index| gains[index].max(0) == most).collect();
                legal[best[stream.random_range(0..best.len())]]
            }
            Opponent::Random(stream) => legal[stream.random_range(0..legal.len())],
        }
    }
}
