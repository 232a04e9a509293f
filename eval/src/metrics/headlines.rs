//! The main metrics as text.

use latrunculi_engine::EndReason;

use super::estimates::{MetricEstimate, Rate};
use super::material::{PieceFeature, PieceWeight};
use super::mechanics::MechanicRole;
use super::outcomes::{OutcomeClass, OutcomeShare};
use super::{GamePhase, Metrics};

impl Metrics {
    /// Returns the most telling numbers with their intervals, each line with a short name.
    #[must_use]
    pub fn headlines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![
            ("games", self.games_in_words()),
            ("first player", self.score_in_words()),
            ("ended by", list(self.outcomes.partition.iter().map(share_in_words))),
            ("length", self.length_in_words()),
            (
                "legal actions",
                list(self.branching.phases.iter().map(|phase| {
                    let when = if phase.phase == GamePhase::Placement { "placing" } else { "moving" };
                    format!("{} while {when} (median)", number(&phase.overall.median, 0))
                })),
            ),
        ];
        for (name, role) in [
            ("used", MechanicRole::Used),
            ("perhaps used", MechanicRole::Undecided),
            ("decorative", MechanicRole::Decorative),
        ] {
            let usages = self.mechanics.iter().filter(|usage| usage.role == role);
            let texts: Vec<String> =
                usages.map(|usage| format!("{} {}", usage.mechanic.as_str(), percent(&usage.overall.games))).collect();
            if !texts.is_empty() {
                lines.push((name, list(texts.into_iter())));
            }
        }
        if let Some(first) = &self.outcomes.first_capture {
            let [by_first, won, drawn] = [&first.by_first, &first.won, &first.drawn].map(percent);
            lines.push((
                "first capture",
                format!(
                    "by the first player in {by_first}; whoever it was wins {won} and draws {drawn} of these games"
                ),
            ));
        }
        lines.push(("repetition", format!("{} of the positions", percent(&self.repetition.positions))));
        if let Some(values) = &self.values {
            lines.push(("lead changes", format!("{} a game", number(&values.lead_changes, 1))));
            if let Some(comebacks) = &values.comebacks {
                lines.push(("comebacks", format!("{} of the decisive games", percent(comebacks))));
            }
            if let Some(point) = &values.decisiveness_point {
                lines.push(("decided after", format!("{} of a decisive game's turns", number(point, 2))));
            }
        }
        if let Some(values) = &self.piece_values {
            let in_men = |feature: &PieceWeight| {
                let is_unit = feature.feature == PieceFeature::Men;
                let worth = feature.in_men.as_ref().filter(|_| !is_unit)?;
                Some(format!("{} {}", feature.feature.as_str(), number(worth, 2)))
            };
            let texts: Vec<String> = values.weights.iter().filter_map(in_men).collect();
            if !texts.is_empty() {
                lines.push(("worth in men", list(texts.into_iter())));
            }
        }
        lines
    }

    fn games_in_words(&self) -> String {
        let sample = &self.sample;
        let unfinished = match sample.unfinished {
            0 => String::new(),
            count => format!(", {count} more unfinished"),
        };
        format!("{} from {} openings{unfinished}", sample.games, sample.openings)
    }

    fn score_in_words(&self) -> String {
        let outcomes = &self.outcomes;
        let decisive = percent(&outcomes.decisive);
        format!("scores {}; {decisive} of the games decisive", number(&outcomes.score, 3))
    }

    fn length_in_words(&self) -> String {
        let turns = &self.lengths.turns;
        format!(
            "{} turns (median; nine in ten: {} to {}), {} actions a turn",
            number(&turns.median, 0),
            turns.p5.value,
            turns.p95.value,
            number(&self.lengths.actions_per_turn, 2)
        )
    }
}

fn list(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(", ")
}

fn number(measured: &MetricEstimate, digits: usize) -> String {
    let interval = measured
        .interval
        .map(|interval| format!(" [{:.digits$}, {:.digits$}]", interval.lower, interval.upper))
        .unwrap_or_default();
    format!("{:.digits$}{interval}", measured.value)
}

fn percent(rate: &Rate) -> String {
    let percent = |share: f64| share * 100.0;
    let interval = rate.interval;
    format!("{:.1} % [{:.1}, {:.1}]", percent(rate.rate), percent(interval.lower), percent(interval.upper))
}

fn share_in_words(part: &OutcomeShare) -> String {
    let who = match part.class {
        OutcomeClass::FirstWin => "first wins",
        OutcomeClass::SecondWin => "second wins",
        OutcomeClass::RuleDraw => "draw",
        OutcomeClass::Truncated | OutcomeClass::Adjudicated => "",
    };
    format!("{who} ({}) {}", EndReason::words_for(&part.reason), percent(&part.share)).trim_start().to_owned()
}
