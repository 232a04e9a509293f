//! The rounds of a run as the rows of a table that fits the terminal.

use latrunculi_data::heads;
use latrunculi_eval::learning::{EarlierMatch, Round, TrainingMetrics};
use serde_json::{Value, json};

use crate::lines::wrapped;

const HEADER_EVERY: usize = 20;

struct Column {
    name: &'static str,
    width: usize,
    /// The order in which columns are added where there is room; those with 0 are always shown.
    rank: usize,
    about: &'static str,
    /// The entry; `None` where a round has none. The number is the seconds left of the run's budget.
    entry: fn(&Round, Option<f64>) -> Option<String>,
}

/// A column in the order of the fields.
const fn column(
    name: &'static str,
    width: usize,
    rank: usize,
    about: &'static str,
    entry: fn(&Round, Option<f64>) -> Option<String>,
) -> Column {
    Column { name, width, rank, about, entry }
}

const COLUMNS: [Column; 16] = [
    column("gen", 4, 0, "", |round, _| Some(round.generation.to_string())),
    column("player", 7, 0, "", |round, _| round.teacher.map(player)),
    column("games", 5, 0, "", |round, _| Some(round.all_games()?.games.to_string())),
    column("actions", 7, 0, "mean of an even game", |round, _| {
        Some(format!("{:.0}", round.all_games()?.actions_mean?))
    }),
    column("first", 5, 0, "% of even games", |round, _| round.all_games()?.first_player_score.map(percent)),
    column("draws", 5, 0, "% of even games", |round, _| round.all_games()?.draw_rate.map(percent)),
    column("pos/s", 6, 1, "positions evaluated", |round, _| {
        positive(round.games.as_ref()?.evaluations_per_sec).map(count)
    }),
    column("full", 4, 4, "% of a batch", |round, _| positive(round.games.as_ref()?.batch_fill).map(percent)),
    column("replay", 6, 2, "samples in the window", |round, _| Some(count(round.window as f64))),
    column("steps", 5, 0, "", |round, _| Some(trained(round)?.steps.to_string())),
    column("learnt/s", 8, 3, "samples trained on", |round, _| Some(count(trained(round)?.training_samples_per_sec))),
    column("loss", 5, 0, "", |round, _| Some(loss(trained(round)?.losses.loss))),
    column("policy", 6, 0, "its loss", |round, _| Some(loss(trained(round)?.losses.heads[heads::POLICY]))),
    column("target", 6, 0, "the least that it can be", |round, _| Some(loss(trained(round)?.losses.target_entropy))),
    column("value", 5, 0, "", |round, _| Some(loss(trained(round)?.losses.heads[heads::VALUE]))),
    column("left", 7, 0, "of the run's budget", |_, secs_left| secs_left.map(time)),
];

/// A table of rounds, printed row by row.
#[derive(Debug)]
pub(crate) struct RoundTable {
    /// Letters of a line; `None` where there is no limit.
    width: Option<usize>,
    rows: usize,
}

impl RoundTable {
    /// Begins a table whose lines have at most `width` letters, 80 at least.
    pub(crate) fn new(width: Option<usize>) -> RoundTable {
        RoundTable { width, rows: 0 }
    }

    /// Returns the lines of a round: a header now and then, the row, a line for each match. `secs_left` is what is left of
    /// the run's budget.
    pub(crate) fn lines(&mut self, round: &Round, secs_left: Option<f64>) -> Vec<String> {
        let shown = columns(self.width);
        let line = |entry: &dyn Fn(&Column) -> String| {
            let entries = shown.iter().map(|column| format!("{:>1$}", entry(column), column.width));
            entries.collect::<Vec<_>>().join(" ")
        };
        let mut lines = Vec::new();
        if self.rows.is_multiple_of(HEADER_EVERY) {
            lines.push(line(&|column| column.name.to_owned()));
        }
        self.rows += 1;
        lines.push(line(&|column| (column.entry)(round, secs_left).unwrap_or_else(|| "-".to_owned())));
        for (ruleset, verdict) in &round.verdicts {
            lines.push(format!("     {ruleset}: {} against {}", verdict.result, verdict.opponent));
            lines.extend(verdict.earlier.map(|EarlierMatch { generation, result }| {
                format!("     {ruleset}: {result} against itself at generation {generation}")
            }));
        }
        lines.iter().map(|line| cut(line, self.width)).collect()
    }
}

fn columns(width: Option<usize>) -> Vec<&'static Column> {
    let needs = |rank: usize| -> usize {
        COLUMNS.iter().filter(|column| column.rank <= rank).map(|column| column.width + 1).sum::<usize>() - 1
    };
    let rank = (1..=4).take_while(|&rank| width.is_none_or(|width| needs(rank) <= width)).last().unwrap_or(0);
    COLUMNS.iter().filter(|column| column.rank <= rank).collect()
}

/// Says what the columns are; neighbours of which the same is said share it.
pub(crate) fn legend(width: Option<usize>) -> String {
    let shown = columns(width);
    let alike = shown.chunk_by(|one, next| one.about == next.about).filter(|columns| !columns[0].about.is_empty());
    let parts = alike.map(|columns| {
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        format!("{}: {}", names.join(", "), columns[0].about)
    });
    wrapped(&parts.collect::<Vec<_>>().join("; "), 0)
}

/// What `status --json` and `curves --json` tell of a round, of its losses, and of its games in a ruleset.
const TOLD: &str = "generation elapsed_secs round_secs samples_total steps_total window steps training_samples_per_sec \
                    train_secs learns_first teacher games draw_rate first_player_score actions_mean \
                    evaluations_per_sec batch_fill";
const TOLD_OF_LOSSES: &str = "loss policy target_entropy value";
const TOLD_OF_RULESET: &str = "games samples draw_rate first_player_score actions_mean";

/// Returns a round for programs: the part of its line of the metrics that is told, with null for what is not there.
pub(crate) fn as_json(round: &Round) -> Value {
    let pick = |from: &Value, names: &str| -> Value {
        names.split(' ').map(|name| (name.to_owned(), from[name].clone())).collect()
    };
    let line = json!(round);
    let mut told = pick(&line, TOLD);
    told["losses"] = pick(&line["losses"], TOLD_OF_LOSSES);
    let rulesets = line["rulesets"].as_object().into_iter().flatten();
    told["rulesets"] = rulesets.map(|(name, games)| (name.clone(), pick(games, TOLD_OF_RULESET))).collect();
    told["verdicts"] = json!(round.verdicts);
    told
}

/// Shortens a line to `width` letters.
pub(crate) fn cut(line: &str, width: Option<usize>) -> String {
    match width {
        Some(width) if line.chars().count() > width => {
            line.chars().take(width.saturating_sub(1)).chain(['…']).collect()
        }
        _ => line.to_owned(),
    }
}

fn player(is_teacher: bool) -> String {
    if is_teacher { "teacher" } else { "network" }.to_owned()
}

fn trained(round: &Round) -> Option<&TrainingMetrics> {
    Some(&round.training).filter(|training| training.steps > 0)
}

fn positive(number: f64) -> Option<f64> {
    Some(number).filter(|number| *number > 0.0)
}

fn percent(fraction: f64) -> String {
    format!("{:.0}", fraction * 100.0)
}

fn loss(nats: f64) -> String {
    format!("{nats:.3}")
}

/// Returns a number in at most five letters.
pub(crate) fn count(number: f64) -> String {
    match number {
        ..1e3 => format!("{number:.0}"),
        ..1e5 => format!("{:.1}k", number / 1e3),
        ..1e6 => format!("{:.0}k", number / 1e3),
        _ => format!("{:.1}M", number / 1e6),
    }
}

/// Returns a time in at most seven letters.
pub(crate) fn time(secs: f64) -> String {
    match secs {
        ..90.0 => format!("{secs:.0} s"),
        ..6000.0 => format!("{:.1} min", secs / 60.0),
        _ => format!("{:.1} h", secs / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(more: serde_json::Value) -> Round {
        let mut round = json!({
            "generation": 1234, "elapsed_secs": 9000.0, "round_secs": 60.0, "samples_total": 1_000_000, "window": 469_000,
            "steps_total": 99_999, "steps": 12_345, "train_secs": 50.0, "training_samples_per_sec": 12_345.6,
            "losses": { "loss": 4.123_4, "policy": 2.691, "target_entropy": 1.926, "value": 0.656 },
            "teacher": false, "games": 10_000, "draw_rate": 0.56, "first_player_score": 0.54, "actions_mean": 1554.6,
            "evaluations_per_sec": 133_123.0, "batch_fill": 1.0,
        });
        for (key, value) in more.as_object().unwrap() {
            round[key] = value.clone();
        }
        serde_json::from_value(round).unwrap()
    }

    #[test]
    fn rows_are_aligned_and_fit_every_terminal() {
        let rounds = [round(json!({})), round(json!({"teacher": true, "steps": 0, "generation": 0}))];
        let mut widths = Vec::new();
        for width in [Some(80), Some(100), Some(120), Some(200), None] {
            let mut table = RoundTable::new(width);
            let lines: Vec<String> = rounds.iter().flat_map(|round| table.lines(round, Some(86_400.0))).collect();
            assert_eq!(lines.len(), 3, "a header and two rows");
            let letters = lines[0].chars().count();
            assert!(lines.iter().all(|line| line.chars().count() == letters), "{}", lines.join("\n"));
            assert!(width.is_none_or(|width| letters <= width), "{letters} letters in {width:?}");
            widths.push(letters);
        }
        assert!(widths.is_sorted() && widths[0] < widths[2], "{widths:?}");
        let mut table = RoundTable::new(Some(80));
        let lines = table.lines(&rounds[0], Some(312.0));
        assert_eq!(lines[0], " gen  player games actions first draws steps  loss policy target value    left");
        assert_eq!(lines[1], "1234 network 10000    1555    54    56 12345 4.123  2.691  1.926 0.656 5.2 min");
        // The legend has these columns and no others.
        let narrow = legend(Some(80));
        assert!(narrow.contains("first, draws: % of even games") && narrow.contains("target: "), "{narrow}");
        assert!(!narrow.contains("pos/s") && !narrow.contains("learnt/s"), "{narrow}");
        let wide = legend(None);
        assert!(
            ["pos/s", "full", "replay", "learnt/s"].iter().all(|name| wide.contains(&format!("{name}: "))),
            "{wide}"
        );
        assert!(wide.lines().all(|line| line.chars().count() <= 80), "{wide}");
    }

    #[test]
    fn the_header_comes_again_and_matches_have_a_line() {
        let mut table = RoundTable::new(Some(80));
        let verdict = json!({ "opponent": "alphabeta:nodes=2000", "simulations": 64, "wins": 13, "draws": 3, "losses": 24,
            "score": 0.3625, "lower": 0.259, "upper": 0.466 });
        let measured = round(json!({ "verdicts": { "bell": verdict, "dux-hunt-16-one-two": verdict } }));
        let lines = table.lines(&measured, None);
        assert_eq!(lines[2], "     bell: 36.2 % [25.9, 46.6] +13 =3 -24 against alphabeta:nodes=2000");
        assert!(lines[3].chars().count() == 80 && lines[3].ends_with('…'), "{}", lines[3]);
        let headers = (1..40).filter(|_| table.lines(&round(json!({})), None).len() == 2).count();
        assert_eq!(headers, 1, "one in each twenty rows");
    }
}
