//! Use of the squares, and the number of pieces by turn.

use serde::{Deserialize, Serialize};

use super::curves::{self, Timeline};
use super::estimates::Sampling;
use super::estimates::{Curve, MetricEstimate, Rate};
use super::trace::{FIRST, SECOND, Trace};
use latrunculi_stats::Estimate;

/// What of the board is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoardUse {
    /// Files of the board.
    pub files: u32,
    /// Ranks of the board.
    pub ranks: u32,
    /// The share of squares on which a piece ends a move, per game; neither placements nor random openings
    /// count, and the observations are games.
    pub coverage: MetricEstimate,
    /// The share of squares on which a piece ends a move in any of the games.
    pub coverage_of_all_games: f64,
    /// What happens on each square, player 1 (South) first.
    pub heat: [HeatMap; 2],
}

/// What one colour does on each square; squares along the ranks from a1. Each number has a standard error
/// over openings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeatMap {
    /// 1 or 2.
    pub player: u8,
    /// Moves of his that end there, per game; neither placements nor random openings count.
    pub moved_to: Vec<Estimate>,
    /// Pieces of his that are taken there, per game; random openings do not count.
    pub captured_on: Vec<Estimate>,
    /// The share of turns at whose beginning one of his pieces stands there.
    pub occupancy: Vec<Estimate>,
}

/// Pieces on the board, duces included, at the beginning of each turn; the last number goes on after a game's end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PieceCurves {
    /// Of the first player.
    pub first: Curve,
    /// Of the second player.
    pub second: Curve,
}

/// How often positions come back within a game.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repetition {
    /// Of all positions at the beginning of a turn, those that stood in the same game before, with the same
    /// player to act.
    pub positions: Rate,
    /// Games in which any does.
    pub games: Rate,
}

impl BoardUse {
    pub(super) fn measure(files: usize, ranks: usize, traces: &[Trace], sampling: &Sampling<'_>) -> Option<BoardUse> {
        let squares = files * ranks;
        let mut coverage = sampling.sums(1);
        let mut ever = vec![false; squares];
        for (game, trace) in traces.iter().enumerate() {
            let [first, second] = &trace.squares;
            let is_covered = |&square: &usize| first.moved_to[square] + second.moved_to[square] > 0;
            let covered: Vec<usize> = (0..squares).filter(is_covered).collect();
            covered.iter().for_each(|&square| ever[square] = true);
            sampling.add(&mut coverage, game, 0, covered.len() as f64 / squares as f64);
        }
        Some(BoardUse {
            files: files as u32,
            ranks: ranks as u32,
            coverage: sampling.ratios("coverage", &coverage)[0]?,
            coverage_of_all_games: ever.iter().filter(|&&covered| covered).count() as f64 / squares as f64,
            heat: [0, 1].map(|colour| HeatMap::measure(colour, squares, traces, sampling)),
        })
    }
}

impl HeatMap {
    fn measure(colour: usize, squares: usize, traces: &[Trace], sampling: &Sampling<'_>) -> HeatMap {
        let per = |counts: &dyn Fn(&Trace, usize) -> u32, trials: &dyn Fn(&Trace) -> u32| {
            let mut sums = sampling.sums(squares);
            for (game, trace) in traces.iter().enumerate() {
                for square in 0..squares {
                    let count = f64::from(counts(trace, square));
                    sampling.add_weighted(&mut sums, game, square, count, f64::from(trials(trace)));
                }
            }
            sampling.linearised(&sums)
        };
        HeatMap {
            player: colour as u8 + 1,
            moved_to: per(&|trace, square| trace.squares[colour].moved_to[square], &|_| 1),
            captured_on: per(&|trace, square| trace.squares[colour].captured_on[square], &|_| 1),
            occupancy: per(&|trace, square| trace.squares[colour].stood_on[square], &Trace::turn_count),
        }
    }
}

impl PieceCurves {
    pub(super) fn measure(timeline: &Timeline, traces: &[Trace], sampling: &Sampling<'_>) -> PieceCurves {
        let curve = |seat: usize, name: &str| {
            let pieces = |game: usize, turn: usize| {
                let trace = &traces[game];
                Some(f64::from(trace.turns.get(turn).map_or(trace.pieces_at_end[seat], |turn| turn.pieces[seat])))
            };
            curves::measure(name, timeline, traces, sampling, pieces)
        };
        PieceCurves { first: curve(FIRST, "pieces of the first"), second: curve(SECOND, "pieces of the second") }
    }
}

impl Repetition {
    pub(super) fn measure(traces: &[Trace], sampling: &Sampling<'_>) -> Option<Repetition> {
        let positions = traces.iter().enumerate().map(|(game, trace)| (game, trace.repeated, trace.turns.len() as u64));
        Some(Repetition {
            positions: sampling.rate(positions)?,
            games: sampling.rate_of_games(|game| traces[game].repeated > 0)?,
        })
    }
}
