//! Metrics of the course of games, from the agents' recorded values.

use latrunculi_engine::GameRecord;
use serde::{Deserialize, Serialize};

use super::GamePhase;
use super::calibration::{AgentGame, AgentScale, Calibration, expected_score};
use super::curves::{self, Timeline};
use super::estimates::{Curve, MetricEstimate, Rate, Sampling};
use super::trace::{FIRST, Trace};

/// The lead changes when the expected score leaves ½ by more than this on the other side.
pub const LEAD_HYSTERESIS: f64 = 0.05;
/// A winner who was expected to score less than this has come back.
pub const COMEBACK_BELOW: f64 = 0.25;
/// A change of the expected score of at least this in one turn decides a game.
pub const KILLER_SWING: f64 = 0.5;
/// A game is decided once the winner's expected score stays at least here.
pub const DECIDED_AT: f64 = 0.9;

/// The course of games as the agents saw it.
///
/// `v` is the first player's expected score in `[0, 1]` at the beginning of each turn (that of the turn's first
/// action with a value), see [`super::calibration`]; `v_w` is the same for the winner. A value is that of
/// whoever acts: where two agents play, they take turns in judging. Random openings have no values. The
/// observations are games with values, decisive ones where a winner is needed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValueMetrics {
    /// The scales by which values became expected scores.
    pub scales: Vec<AgentScale>,
    /// Calibration of the first value of each game.
    pub calibration_at_start: Calibration,
    /// Calibration of the value in the middle of each game, by turns; `None` if no game has one there.
    pub calibration_at_middle: Option<Calibration>,
    /// Mean first value less mean score: what the agents do not see at the start.
    pub start_gap: MetricEstimate,
    /// Times per game that the lead passes from one player to the other: `v` leaves `[0.45, 0.55]` on the other side
    /// than it last did.
    pub lead_changes: MetricEstimate,
    /// Games in which the lead changes at all.
    pub games_with_lead_change: Rate,
    /// In those, the turn of the last change as a share of the game's turns.
    pub last_lead_change: Option<MetricEstimate>,
    /// Mean of `√(½ − v_w)` over the turns with `v_w < ½`, 0 if there are none, over decisive games.
    pub drama: Option<MetricEstimate>,
    /// Decisive games in which `v_w < ¼` at some turn.
    pub comebacks: Option<Rate>,
    /// Mean binary entropy of `v`, in bits, by tenth of the game's turns.
    pub uncertainty: Vec<Option<MetricEstimate>>,
    /// The same over the last quarter of the game's turns.
    pub late_uncertainty: Option<MetricEstimate>,
    /// Mean of the largest 1 % (at least one) of the changes `|Δv|` from turn to turn in a game.
    pub largest_swing: Option<MetricEstimate>,
    /// Decisive games in which `v` changes by at least ½ in the winner's favour from one turn to the next.
    pub killer_moves: Option<Rate>,
    /// The first turn from which on `v_w ≥ 0.9`, as a share of the game's turns; 1 where there is none.
    pub decisiveness_point: Option<MetricEstimate>,
    /// The mean of `v` by turn; after a game's end its result.
    pub curve: Curve,
}

/// How much of the first player's advantage is there when the last stone is placed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseSplit {
    /// `E[v] − ½` at the beginning of the first turn of the movement phase.
    pub placement: MetricEstimate,
    /// The rest, `s − E[v]` with the first player's score `s` of the same games.
    pub movement: MetricEstimate,
    /// Their sum, `s − ½`.
    pub total: MetricEstimate,
}

/// The first player's expected scores in one game.
pub(super) struct Series {
    /// By turn, as far as there are values.
    by_turn: Vec<Option<f64>>,
    score: f64,
    /// Whether the first player won, in decisive games.
    first_wins: Option<bool>,
}

impl Series {
    fn new(trace: &Trace, scales: [Option<f64>; 2]) -> Series {
        let value = |turn: &super::trace::TurnTrace| {
            let expected = expected_score(turn.value?, scales[turn.seat]?);
            Some(if turn.seat == FIRST { expected } else { 1.0 - expected })
        };
        Series {
            by_turn: trace.turns.iter().map(value).collect(),
            score: trace.score(),
            first_wins: trace.winner().map(|winner| winner == FIRST),
        }
    }

    fn valued(&self) -> impl Iterator<Item = (usize, f64)> {
        self.by_turn.iter().enumerate().filter_map(|(turn, value)| Some((turn, (*value)?)))
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.valued().map(|(_, value)| value)
    }

    fn has_values(&self) -> bool {
        self.values().next().is_some()
    }

    /// Returns the winner's expected scores; `None` for draws and without values.
    fn of_winner(&self) -> Option<Vec<f64>> {
        let first_wins = self.first_wins?;
        let values: Vec<f64> = self.values().map(|value| if first_wins { value } else { 1.0 - value }).collect();
        (!values.is_empty()).then_some(values)
    }

    /// Returns the share of the game's turns that lie before `turn`.
    fn share_of(&self, turn: usize) -> f64 {
        turn as f64 / self.by_turn.len() as f64
    }

    /// Returns the turns at which the lead passes to the other player.
    fn lead_changes(&self) -> Vec<usize> {
        let mut first_leads = None;
        let mut changes = Vec::new();
        for (turn, value) in self.valued() {
            if (value - 0.5).abs() > LEAD_HYSTERESIS {
                let leads_now = value > 0.5;
                if first_leads.is_some_and(|led| led != leads_now) {
                    changes.push(turn);
                }
                first_leads = Some(leads_now);
            }
        }
        changes
    }

    fn drama(&self) -> Option<f64> {
        let behind: Vec<f64> = self.of_winner()?.into_iter().filter(|&value| value < 0.5).collect();
        Some(mean(behind.iter().map(|value| (0.5 - value).sqrt())).unwrap_or(0.0))
    }

    /// Returns the mean binary entropy over the turns in a part of the game, given in twentieths.
    fn uncertainty(&self, twentieths: std::ops::Range<usize>) -> Option<f64> {
        let inside = |turn: usize| twentieths.contains(&(turn * 20 / self.by_turn.len()));
        mean(self.valued().filter(|&(turn, _)| inside(turn)).map(|(_, value)| binary_entropy(value)))
    }

    /// Returns the mean of the largest 1 %, at least one, of the changes from value to value.
    fn largest_swing(&self) -> Option<f64> {
        let values: Vec<f64> = self.values().collect();
        let mut swings: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
        swings.sort_by(|a, b| b.total_cmp(a));
        mean(swings.iter().copied().take(swings.len().div_ceil(100)))
    }

    fn has_killer_move(&self) -> Option<bool> {
        Some(self.of_winner()?.windows(2).any(|pair| pair[1] - pair[0] >= KILLER_SWING))
    }

    fn decisiveness_point(&self) -> Option<f64> {
        let of_winner = self.of_winner()?;
        let decided = of_winner.iter().rev().take_while(|&&value| value >= DECIDED_AT).count();
        let first_decided = self.valued().nth(of_winner.len() - decided);
        Some(first_decided.map_or(1.0, |(turn, _)| self.share_of(turn)))
    }

    /// Returns the value at `turn`: the last one known, and the result once the game is over.
    fn at(&self, turn: usize) -> Option<f64> {
        match self.by_turn.get(..=turn) {
            None => self.has_values().then_some(self.score),
            Some(so_far) => so_far.iter().rev().find_map(|value| *value),
        }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Returns `−p log₂ p − (1−p) log₂ (1−p)`, in bits.
fn binary_entropy(p: f64) -> f64 {
    let part = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
    part(p) + part(1.0 - p)
}

pub(super) fn fit_scales(records: &[&GameRecord], traces: &[Trace], sampling: &Sampling<'_>) -> Vec<AgentScale> {
    let mut agents: Vec<&String> = records.iter().flat_map(|record| &record.agents).collect();
    agents.sort_unstable();
    agents.dedup();
    let fit = |agent: &&String| {
        let mut games = Vec::new();
        for (game, (record, trace)) in records.iter().zip(traces).enumerate() {
            for seat in [0, 1].into_iter().filter(|&seat| agent_of(record, trace, seat) == agent.as_str()) {
                let turns = trace.turns.iter().filter(|turn| turn.seat == seat);
                let values = turns.filter_map(|turn| turn.value).collect();
                let score = if seat == FIRST { trace.score() } else { 1.0 - trace.score() };
                games.push(AgentGame { game, score, values });
            }
        }
        AgentScale::fit(agent, &games, sampling)
    };
    agents.iter().filter_map(fit).collect()
}

fn agent_of<'a>(record: &'a GameRecord, trace: &Trace, seat: usize) -> &'a str {
    let player = if seat == FIRST { trace.beginner } else { trace.beginner.opponent() };
    &record.agents[player.index()]
}

/// Returns the first player's expected scores in each game.
pub(super) fn series(records: &[&GameRecord], traces: &[Trace], scales: &[AgentScale]) -> Vec<Series> {
    let scale_of = |agent: &str| scales.iter().find(|scale| scale.agent == agent).map(|scale| scale.scale.value);
    let of_game = |(record, trace): (&&GameRecord, &Trace)| {
        Series::new(trace, [0, 1].map(|seat| scale_of(agent_of(record, trace, seat))))
    };
    records.iter().zip(traces).map(of_game).collect()
}

impl ValueMetrics {
    pub(super) fn measure(
        scales: Vec<AgentScale>,
        series: &[Series],
        timeline: &Timeline,
        traces: &[Trace],
        sampling: &Sampling<'_>,
    ) -> Option<ValueMetrics> {
        let valued: Vec<(usize, &Series)> = series.iter().enumerate().filter(|(_, game)| game.has_values()).collect();
        if valued.is_empty() {
            return None;
        }
        let at_start: Vec<(usize, f64, f64)> =
            valued.iter().filter_map(|&(game, series)| Some((game, series.values().next()?, series.score))).collect();
        let middle = |series: &Series| series.valued().find(|&(turn, _)| 2 * turn + 1 >= series.by_turn.len());
        let at_middle: Vec<(usize, f64, f64)> =
            valued.iter().filter_map(|&(game, series)| Some((game, middle(series)?.1, series.score))).collect();
        let numbers: [(&str, GameNumber<'_>); 7] = [
            ("gap at the start", &|series| Some(series.values().next()? - series.score)),
            ("lead changes", &|series| Some(series.lead_changes().len() as f64)),
            ("last lead change", &|series| series.lead_changes().last().map(|&turn| series.share_of(turn))),
            ("drama", &Series::drama),
            ("late uncertainty", &|series| series.uncertainty(15..20)),
            ("largest swing", &Series::largest_swing),
            ("decisiveness point", &Series::decisiveness_point),
        ];
        let [gap, changes, last_change, drama, late, swing, decided] =
            numbers.map(|(name, number)| mean_over_games(name, &valued, sampling, &|series| vec![number(series)])[0]);
        let rate = |has: &dyn Fn(&Series) -> Option<bool>| {
            sampling.rate(valued.iter().filter_map(|&(game, series)| Some((game, u64::from(has(series)?), 1))))
        };
        Some(ValueMetrics {
            calibration_at_start: Calibration::measure("at the start", &at_start, sampling)?,
            calibration_at_middle: Calibration::measure("in the middle", &at_middle, sampling),
            start_gap: gap?,
            lead_changes: changes?,
            games_with_lead_change: rate(&|series| Some(!series.lead_changes().is_empty()))?,
            last_lead_change: last_change,
            drama,
            comebacks: rate(&|series| Some(series.of_winner()?.iter().any(|&value| value < COMEBACK_BELOW))),
            uncertainty: mean_over_games("uncertainty", &valued, sampling, &|series| {
                (0..10).map(|tenth| series.uncertainty(2 * tenth..2 * tenth + 2)).collect()
            }),
            late_uncertainty: late,
            largest_swing: swing,
            killer_moves: rate(&Series::has_killer_move),
            decisiveness_point: decided,
            curve: curves::measure("value curve", timeline, traces, sampling, |game, turn| series[game].at(turn)),
            scales,
        })
    }
}

type GameNumber<'a> = &'a dyn Fn(&Series) -> Option<f64>;

/// Returns the means of some numbers of each game over those games that have them.
fn mean_over_games(
    name: &str,
    games: &[(usize, &Series)],
    sampling: &Sampling<'_>,
    numbers: &dyn Fn(&Series) -> Vec<Option<f64>>,
) -> Vec<Option<MetricEstimate>> {
    let of_games: Vec<(usize, Vec<Option<f64>>)> =
        games.iter().map(|&(game, series)| (game, numbers(series))).collect();
    let mut sums = sampling.sums(of_games.first().map_or(0, |(_, numbers)| numbers.len()));
    for (game, numbers) in of_games {
        for (column, number) in numbers.into_iter().enumerate() {
            if let Some(number) = number {
                sampling.add(&mut sums, game, column, number);
            }
        }
    }
    sampling.ratios(name, &sums)
}

impl PhaseSplit {
    pub(super) fn measure(series: &[Series], traces: &[Trace], sampling: &Sampling<'_>) -> Option<PhaseSplit> {
        let mut sums = sampling.sums(3);
        for (game, (series, trace)) in series.iter().zip(traces).enumerate() {
            let boundary = trace.turns.iter().position(|turn| turn.phase == GamePhase::Movement);
            if let Some(boundary) = boundary.filter(|&turn| turn > 0)
                && let Some(value) = series.by_turn[boundary]
            {
                sampling.add(&mut sums, game, 0, value - 0.5);
                sampling.add(&mut sums, game, 1, series.score - value);
                sampling.add(&mut sums, game, 2, series.score - 0.5);
            }
        }
        let measured = sampling.ratios("phase split", &sums);
        Some(PhaseSplit { placement: measured[0]?, movement: measured[1]?, total: measured[2]? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A game with these values of the first player by turn, and its result for him.
    fn game(by_turn: &[f64], score: f64) -> Series {
        let first_wins = (score != 0.5).then_some(score == 1.0);
        Series { by_turn: by_turn.iter().map(|&value| Some(value)).collect(), score, first_wins }
    }

    #[test]
    fn the_lead_changes_only_beyond_the_hysteresis() {
        assert_eq!(game(&[0.5, 0.56, 0.48, 0.46, 0.56, 0.44, 0.5, 0.6], 1.0).lead_changes(), [5, 7]);
        assert_eq!(game(&[0.5, 0.45, 0.55, 0.5], 0.5).lead_changes(), [0usize; 0]);
        assert_eq!(game(&[0.2, 0.9], 0.0).lead_changes(), [1]);
    }

    #[test]
    fn drama_is_how_far_the_winner_was_behind() {
        let won = game(&[0.5, 0.25, 0.46, 0.9], 1.0);
        assert!((won.drama().unwrap() - (0.5 + 0.2) / 2.0).abs() < 1e-12);
        let lost = game(&[0.75, 0.54, 0.1], 0.0);
        assert!((lost.drama().unwrap() - (0.5 + 0.2) / 2.0).abs() < 1e-12);
        assert_eq!(game(&[0.6, 0.7], 1.0).drama(), Some(0.0));
        assert_eq!(game(&[0.1, 0.9], 0.5).drama(), None);
    }

    #[test]
    fn a_game_is_decided_where_the_winner_stays_ahead() {
        let won = game(&[0.95, 0.8, 0.9, 0.99, 1.0], 1.0);
        assert_eq!(won.decisiveness_point(), Some(2.0 / 5.0));
        assert_eq!(game(&[0.95, 0.8], 1.0).decisiveness_point(), Some(1.0));
        assert_eq!(game(&[0.05, 0.0], 0.0).decisiveness_point(), Some(0.0));
    }

    #[test]
    fn swings_and_killer_moves_are_changes_from_value_to_value() {
        let won = game(&[0.5, 0.3, 0.85, 0.9], 1.0);
        assert!((won.largest_swing().unwrap() - 0.55).abs() < 1e-12);
        assert_eq!(won.has_killer_move(), Some(true));
        // The large swing went against the winner.
        assert_eq!(game(&[0.3, 0.85, 0.5, 0.1], 0.0).has_killer_move(), Some(false));
        // The largest two of 101 to 200 changes.
        let mut values = vec![0.5; 150];
        (values[70], values[100]) = (0.9, 0.8);
        assert!((game(&values, 1.0).largest_swing().unwrap() - 0.4).abs() < 1e-12);
    }

    #[test]
    fn uncertainty_is_binary_entropy_by_part_of_the_game() {
        let values: Vec<f64> = (0..20).map(|turn| if turn < 15 { 0.5 } else { 0.25 }).collect();
        let series = game(&values, 1.0);
        assert_eq!(series.uncertainty(0..2), Some(1.0));
        let quarter = 0.811_278_124_459_132_8;
        assert!((series.uncertainty(15..20).unwrap() - quarter).abs() < 1e-12);
        // The eighth tenth holds turns 14 and 15.
        assert!((series.uncertainty(14..16).unwrap() - (1.0 + quarter) / 2.0).abs() < 1e-12);
        assert_eq!(game(&[1.0], 1.0).uncertainty(0..20), Some(0.0));
    }

    #[test]
    fn a_curve_keeps_the_last_value_and_then_the_result() {
        let series = Series { by_turn: vec![None, Some(0.4), None, Some(0.7)], score: 1.0, first_wins: Some(true) };
        let values: Vec<Option<f64>> = (0..6).map(|turn| series.at(turn)).collect();
        assert_eq!(values, [None, Some(0.4), Some(0.4), Some(0.7), Some(1.0), Some(1.0)]);
        let silent = Series { by_turn: vec![None; 2], score: 1.0, first_wins: Some(true) };
        assert_eq!((silent.at(0), silent.at(5)), (None, None));
    }
}
