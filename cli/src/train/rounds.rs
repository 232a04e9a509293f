//! The rounds of a run as the rows of a table that fits the terminal.

use latrunculi_eval::learning::{Earlier, Round, Verdict};

use crate::lines::wrapped;

/// Rows from one header to the next.
const HEADER_EVERY: usize = 20;

/// A column of the table.
struct Column {
    name: &'static str,
    /// What it is, where the name does not tell.
    about: &'static str,
    /// Letters of an entry.
    width: usize,
    /// The order in which columns are added where there is room; those with 0 are always shown.
    rank: usize,
    /// The entry; `None` where a round has none. The number is the seconds left of the run's budget.
    entry: fn(&Round, Option<f64>) -> Option<String>,
}

const COLUMNS: [Column; 16] = [
    Column { name: "gen", about: "", width: 4, rank: 0, entry: |round, _| Some(round.generation.to_string()) },
    Column { name: "player", about: "", width: 7, rank: 0, entry: |round, _| round.teacher.map(player) },
    Column {
        name: "games",
        about: "",
        width: 5,
        rank: 0,
        entry: |round, _| round.games.map(|games| games.to_string()),
    },
    Column {
        name: "actions",
        about: "mean of an even game",
        width: 7,
        rank: 0,
        entry: |round, _| round.actions_mean.map(|mean| format!("{mean:.0}")),
    },
    Column {
        name: "first",
        about: "% of even games",
        width: 5,
        rank: 0,
        entry: |round, _| round.first_player_score.map(percent),
    },
    Column {
        name: "draws",
        about: "% of even games",
        width: 5,
        rank: 0,
        entry: |round, _| round.draw_rate.map(percent),
    },
    Column {
        name: "pos/s",
        about: "positions evaluated",
        width: 6,
        rank: 1,
        entry: |round, _| round.evaluations_per_sec.filter(|&x| x > 0.0).map(count),
    },
    Column {
        name: "full",
        about: "% of a batch",
        width: 4,
        rank: 4,
        entry: |round, _| round.batch_fill.filter(|&x| x > 0.0).map(percent),
    },
    Column {
        name: "replay",
        about: "samples in the window",
        width: 6,
        rank: 2,
        entry: |round, _| Some(count(round.window as f64)),
    },
    Column {
        name: "steps",
        about: "",
        width: 5,
        rank: 0,
        entry: |round, _| trained(round).map(|round| round.steps.to_string()),
    },
    Column {
        name: "learnt/s",
        about: "samples trained on",
        width: 8,
        rank: 3,
        entry: |round, _| trained(round).map(|round| count(round.training_samples_per_sec)),
    },
    Column {
        name: "loss",
        about: "",
        width: 5,
        rank: 0,
        entry: |round, _| trained(round).map(|round| loss(round.losses.loss)),
    },
    Column {
        name: "policy",
        about: "its loss",
        width: 6,
        rank: 0,
        entry: |round, _| trained(round).map(|round| loss(round.losses.policy)),
    },
    Column {
        name: "target",
        about: "the least that it can be",
        width: 6,
        rank: 0,
        entry: |round, _| trained(round).map(|round| loss(round.losses.target_entropy)),
    },
    Column {
        name: "value",
        about: "",
        width: 5,
        rank: 0,
        entry: |round, _| trained(round).map(|round| loss(round.losses.value)),
    },
    Column { name: "left", about: "of the run's budget", width: 7, rank: 0, entry: |_, secs_left| secs_left.map(time) },
];

/// A table of rounds, printed row by row.
#[derive(Debug)]
pub(crate) struct RoundTable {
    /// Letters of a line; `None` where there is no limit.
    width: Option<usize>,
    /// Rows since the header.
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
            lines.push(match_line(ruleset, verdict));
            lines.extend(verdict.earlier.as_ref().map(|earlier| earlier_line(ruleset, earlier)));
        }
        lines.iter().map(|line| cut(line, self.width)).collect()
    }
}

/// Returns the columns for which there is room.
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

/// Returns the line of a match in which the network of a round was measured.
fn match_line(ruleset: &str, verdict: &Verdict) -> String {
    let Verdict { opponent, wins, draws, losses, .. } = verdict;
    let [score, lower, upper] = [verdict.score, verdict.lower, verdict.upper].map(|score| score * 100.0);
    format!("     {ruleset}: {score:.1} % [{lower:.1}, {upper:.1}] +{wins} ={draws} -{losses} against {opponent}")
}

/// Returns the line of a match with an earlier network of the run.
fn earlier_line(ruleset: &str, earlier: &Earlier) -> String {
    let Earlier { generation, wins, draws, losses, .. } = earlier;
    let [score, lower, upper] = [earlier.score, earlier.lower, earlier.upper].map(|score| score * 100.0);
    format!(
        "     {ruleset}: {score:.1} % [{lower:.1}, {upper:.1}] +{wins} ={draws} -{losses} against itself at \
         generation {generation}"
    )
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

/// Returns the round if it has trained.
fn trained(round: &Round) -> Option<&Round> {
    (round.steps > 0).then_some(round)
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
    use serde_json::json;

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
