//! Metrics of the games of one ruleset: length, choice, use of the rules, drama, piece values.
//!
//! All metrics are computed by replaying game records; nothing here plays. "First player" is the player who
//! begins a game, "actions" are atomic decisions, a "turn" is all actions of one player until the other is to
//! act. Estimates have intervals over openings: Wilson's for rates (with the effective number of
//! trials), Woodruff's for quantiles, the bootstrap over openings for means, curves and fits.
//!
//! Sources: Tomašev et al. 2020, arXiv 2009.04374; Browne 2008, "Automatic Generation and Evaluation of
//! Recombination Games"; Ludii's metrics, redefined so that each has a unit and an interval.

use std::collections::HashMap;
use std::sync::Arc;

use latrunculi_engine::record::{RecordFault, ruleset_fingerprint};
use latrunculi_engine::{GameRecord, Rules};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub mod board;
pub mod branching;
pub mod calibration;
mod curves;
mod detector;
pub mod diversity;
pub mod estimates;
pub mod examples;
mod headlines;
pub mod lengths;
pub mod material;
pub mod mechanics;
pub mod outcomes;
mod trace;
pub mod values;

use board::{BoardUse, PieceCurves, Repetition};
use branching::Branching;
use curves::Timeline;
use detector::Detector;
use diversity::{Beginning, OpeningDiversity};
use estimates::Sampling;
use lengths::Lengths;
use material::{PieceValues, QUIET_DRAWS};
use mechanics::MechanicUse;
use outcomes::Outcomes;
use trace::Trace;
use values::{PhaseSplit, ValueMetrics};

use crate::Error;
use latrunculi_engine::named;
use latrunculi_stats::bootstrap::draw_index;
use latrunculi_stats::{BootstrapKey, Confidence};

/// How metrics are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricsConfig {
    /// The confidence of all intervals.
    pub confidence: Confidence,
    /// Draws of each bootstrap, at least 2; 1,000 are enough for two digits of an interval's ends.
    pub replications: usize,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Over how many choices, the first after a random opening, the diversity of openings is measured.
    pub opening_actions: u32,
}

impl Default for MetricsConfig {
    /// Returns 95 % intervals from 1,000 draws, seed 0, openings of 20 actions.
    fn default() -> Self {
        MetricsConfig { confidence: Confidence::NINETY_FIVE, replications: 1_000, seed: 0, opening_actions: 20 }
    }
}

named! {
    /// A phase of the game.
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub GamePhase {
        /// Stones go from the hand onto the board.
        Placement = "placement",
        /// Pieces move.
        Movement = "movement",
    }
}

/// What the games of one ruleset are like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// The ruleset's id.
    pub ruleset: String,
    /// What its parameters are, in short.
    pub ruleset_fingerprint: String,
    /// What it all rests on.
    pub sample: SampleSize,
    /// How games end, and for whom.
    pub outcomes: Outcomes,
    /// How long they are.
    pub lengths: Lengths,
    /// How much there is to choose from.
    pub branching: Branching,
    /// How much openings differ; `None` where neither visits nor games without a random opening tell.
    pub diversity: Option<OpeningDiversity>,
    /// The mechanisms that the ruleset has, in the order of [`mechanics::Mechanic`].
    pub mechanics: Vec<MechanicUse>,
    /// What of the board is used.
    pub board: BoardUse,
    /// How the pieces become fewer.
    pub pieces: PieceCurves,
    /// How often positions come back.
    pub repetition: Repetition,
    /// What the agents' values say; `None` where none are recorded.
    pub values: Option<ValueMetrics>,
    /// How the advantage divides between placement and movement; `None` without either values or placement.
    pub phase_split: Option<PhaseSplit>,
    /// What pieces are worth; `None` where the games do not tell.
    pub piece_values: Option<PieceValues>,
    /// What is missing above, each with the reason, in words.
    pub omitted: Vec<String>,
}

/// What metrics rest on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleSize {
    /// Finished games.
    pub games: u64,
    /// Unfinished games, which count nowhere.
    pub unfinished: u64,
    /// Openings: games that begin with the same random opening, or a mirror image of it, are one
    /// observation. Without a random opening each game is one of its own.
    pub openings: u64,
    /// Actions of all games.
    pub actions: u64,
    /// Actions among them that an agent chose.
    pub choices: u64,
    /// Games with values.
    pub games_with_values: u64,
    /// Games with visits.
    pub games_with_visits: u64,
    /// The confidence of all intervals.
    pub confidence: f64,
    /// Draws of each bootstrap.
    pub replications: u64,
    /// The seed of everything random.
    pub seed: u64,
}

/// Plays games of one ruleset over and measures what they are like.
///
/// The same games with the same configuration give the same numbers, on any number of threads. Games that
/// repeat one another are the caller's to leave out. `None` where no game was finished, or none goes on after its random opening.
///
/// # Errors
/// When a game is not one of these rules, for the first one.
pub fn measure(rules: &Arc<Rules>, games: &[&GameRecord], config: &MetricsConfig) -> Result<Option<Metrics>, Error> {
    let detector = Detector::new(rules);
    let ruleset = rules.ruleset();
    let key = BootstrapKey { seed: config.seed, ruleset: &ruleset.id, statistic: "quiet positions" };
    let played_over: Vec<Result<Option<Trace>, RecordFault>> = games
        .par_iter()
        .enumerate()
        .map(|(number, record)| {
            let mut stream = key.stream(number as u64);
            let actions = record.actions.len().max(1) as u64;
            let draws: [usize; QUIET_DRAWS] = std::array::from_fn(|_| draw_index(&mut stream, actions));
            Trace::of(rules, &detector, record, config.opening_actions, &draws)
        })
        .collect();
    let (mut records, mut traces) = (Vec::new(), Vec::new());
    for (index, (trace, &record)) in played_over.into_iter().zip(games).enumerate() {
        match trace {
            Ok(Some(trace)) if !trace.turns.is_empty() => {
                records.push(record);
                traces.push(trace);
            }
            Ok(_) => {}
            Err(fault) => return Err(wrong_game(index, &fault)),
        }
    }
    let (opening_of, openings) = number_openings(&traces);
    let sampling = Sampling {
        opening_of,
        openings,
        confidence: config.confidence,
        replications: config.replications,
        seed: config.seed,
        ruleset: &ruleset.id,
    };
    let diversity = measure_diversity(rules, &records, &traces, config, &sampling)?;
    let unfinished = games.len() - records.len();
    Ok(assemble(rules, &detector, &records, &traces, diversity, unfinished, &sampling))
}

fn wrong_game(index: usize, fault: &RecordFault) -> Error {
    Error::Refused(format!("game {}: {fault}", index + 1))
}

/// Returns for each game the number of its opening, and how many there are.
fn number_openings(traces: &[Trace]) -> (Vec<usize>, usize) {
    let mut numbers: HashMap<u64, usize> = HashMap::new();
    let mut openings = 0;
    let mut next = || {
        openings += 1;
        openings - 1
    };
    let numbered = traces.iter().map(|trace| match trace.opening {
        Some(key) => *numbers.entry(key).or_insert_with(&mut next),
        None => next(),
    });
    let numbered = numbered.collect();
    (numbered, openings)
}

fn measure_diversity(
    rules: &Arc<Rules>,
    records: &[&GameRecord],
    traces: &[Trace],
    config: &MetricsConfig,
    sampling: &Sampling<'_>,
) -> Result<Option<OpeningDiversity>, Error> {
    let has_visits = traces.iter().any(has_visits);
    let mut beginnings = Vec::new();
    for (index, record) in records.iter().enumerate().filter(|_| !has_visits) {
        let beginning = Beginning::of(rules, record, config.opening_actions as usize);
        beginnings.push(beginning.map_err(|fault| wrong_game(index, &fault))?);
    }
    Ok(OpeningDiversity::measure(config.opening_actions, traces, &beginnings, sampling))
}

fn has_visits(trace: &Trace) -> bool {
    trace.choices.iter().any(|choice| choice.visits.is_some())
}

fn has_values(trace: &Trace) -> bool {
    trace.turns.iter().any(|turn| turn.value.is_some())
}

/// Measures everything; `None` without finished games in which somebody chose.
fn assemble(
    rules: &Rules,
    detector: &Detector,
    records: &[&GameRecord],
    traces: &[Trace],
    diversity: Option<OpeningDiversity>,
    unfinished: usize,
    sampling: &Sampling<'_>,
) -> Option<Metrics> {
    let timeline = Timeline::new(traces);
    let scales = values::fit_scales(records, traces, sampling);
    let series = values::series(records, traces, &scales);
    let values = ValueMetrics::measure(scales, &series, &timeline, traces, sampling);
    let phase_split = PhaseSplit::measure(&series, traces, sampling);
    let piece_values = PieceValues::measure(traces, sampling);
    let count = |has: fn(&Trace) -> bool| traces.iter().filter(|trace| has(trace)).count() as u64;
    let ruleset = rules.ruleset();
    let mut omitted = Vec::new();
    let mut omit = |is_missing: bool, text: &str| {
        if is_missing {
            omitted.push(text.to_owned());
        }
    };
    omit(diversity.is_none(), "diversity of openings: no visits are recorded and every game has a random opening");
    omit(values.is_none(), "lead changes, drama, uncertainty, value curve: the agents recorded no values");
    let has_placement = traces.iter().any(|trace| trace.placement_turns > 0);
    omit(has_placement && phase_split.is_none(), "phase split: no values are recorded where the movement phase begins");
    omit(piece_values.is_none(), "piece values: too few quiet positions");
    Some(Metrics {
        ruleset: ruleset.id.clone(),
        ruleset_fingerprint: ruleset_fingerprint(ruleset),
        sample: SampleSize {
            games: traces.len() as u64,
            unfinished: unfinished as u64,
            openings: sampling.openings as u64,
            actions: traces.iter().map(|trace| u64::from(trace.actions)).sum(),
            choices: traces.iter().map(|trace| trace.choices.len() as u64).sum(),
            games_with_values: count(has_values),
            games_with_visits: count(has_visits),
            confidence: sampling.confidence.level(),
            replications: sampling.replications as u64,
            seed: sampling.seed,
        },
        outcomes: Outcomes::measure(traces, sampling)?,
        lengths: Lengths::measure(traces, sampling)?,
        branching: Branching::measure(traces, sampling)?,
        diversity,
        mechanics: mechanics::measure(detector, traces, sampling),
        board: BoardUse::measure(rules.files(), rules.ranks(), traces, sampling)?,
        pieces: PieceCurves::measure(&timeline, traces, sampling),
        repetition: Repetition::measure(traces, sampling)?,
        values,
        phase_split,
        piece_values,
        omitted,
    })
}
