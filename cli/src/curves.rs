//! `curves`: learning curves of training runs.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use latrunculi_eval::Number;
use latrunculi_eval::learning::{EarlierMatch, LearningRun, percent_of_men, standings, to_csv};
use latrunculi_eval::rating::Rated;
use latrunculi_stats::Interval;
use latrunculi_train::curves::{PAGE, TABLE, read, write};
use serde_json::{Value, json};

use crate::lines::{COLUMNS, beside, wrapped};
use crate::train::round_json;

#[derive(Args)]
pub(crate) struct CurvesArgs {
    /// Folders of training runs, finished or not
    #[arg(value_name = "RUN", required = true, num_args = 1..)]
    runs: Vec<PathBuf>,
    /// Folder for learning.html and learning.csv
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Prints the curves as JSON, with every round
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Prints the matches as CSV
    #[arg(long)]
    csv: bool,
}

/// Runs `curves`.
///
/// # Errors
/// When a folder holds no run or a damaged one, or the page cannot be written.
pub(crate) fn run(args: &CurvesArgs) -> anyhow::Result<()> {
    let mut runs = args.runs.iter().map(|root| read(root)).collect::<Result<Vec<_>, _>>()?;
    number_equal_names(&mut runs);
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder).with_context(|| format!("{}: making the folder", folder.display()))?;
        write(folder, &runs)?;
    }
    if args.json {
        let told = runs.iter().map(|run| {
            let mut told = json!(run);
            told["rounds"] = run.rounds.iter().map(round_json).collect();
            told
        });
        println!("{:#}", told.collect::<Value>());
    } else if args.csv {
        print!("{}", to_csv(&runs));
    } else {
        print!("{}", runs.iter().map(text).collect::<Vec<_>>().join("\n"));
        if let Some(folder) = &args.out {
            println!("\nwrote {} and {}", folder.join(PAGE).display(), folder.join(TABLE).display());
        }
    }
    Ok(())
}

fn number_equal_names(runs: &mut [LearningRun]) {
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    for (index, run) in runs.iter_mut().enumerate() {
        let is_shared = names.iter().filter(|name| **name == run.name).count() > 1;
        if is_shared {
            let number = names[..=index].iter().filter(|name| **name == run.name).count();
            run.name += &format!(" ({number})");
        }
    }
}

/// Writes an Elo with its 95 % interval.
fn whole_elo(elo: Rated) -> String {
    let Interval { lower, upper } = elo.interval;
    let interval = || format!("{:+.0} [{:+.0}, {:+.0}]", Number(elo.value), Number(lower), Number(upper));
    elo.bound_text(0).unwrap_or_else(interval)
}

fn text(run: &LearningRun) -> String {
    let about = format!(
        "{} · {} · {} games in {:.1} min{}",
        run.subject(),
        run.network,
        run.games(),
        run.minutes(),
        if run.result.is_some() { "" } else { " · not finished" }
    );
    let mut lines = vec![beside(&format!("{} · ", run.name), &about)];
    let measured = run.measured();
    let Some(last) = measured.last() else {
        lines.push("no match was played yet; evaluation.every sets how often one is played".to_owned());
        return lines.join("\n") + "\n";
    };
    let is_one_opponent = measured.iter().all(|one| one.is_comparable(last));
    let against = if is_one_opponent { format!(" against {}", last.verdict.terms()) } else { String::new() };
    let has_several = run.rulesets.len() > 1;
    let head = format!("{:>7} {:>11} {:>7} {:>7}  ", "minute", "generations", "games", "steps");
    lines.push(beside(&head, &format!("score{against}, 95 % interval")));
    for measured in &measured {
        let verdict = &measured.verdict;
        let head = format!(
            "{:>7.1} {:>11} {:>7} {:>7}  ",
            measured.minutes, measured.generations, measured.games, measured.steps
        );
        let margin = verdict.margin.as_ref().map(|margin| format!("margin {}", percent_of_men(margin)));
        let ruleset = has_several.then(|| measured.ruleset.clone());
        let opponent = (!is_one_opponent).then(|| format!("against {}", verdict.terms()));
        let earlier = verdict.earlier.map(|EarlierMatch { generation, result }| {
            let [score, lower, upper] = result.percents();
            format!("{score:.1} % [{lower:.1}, {upper:.1}] against itself at generation {generation}")
        });
        let held = if measured.is_elo_held { ", held by a weak prior" } else { "" };
        let elo = measured.elo.map(|elo| format!("Elo {}{held}", whole_elo(elo)));
        let more = [margin, ruleset, opponent, earlier, elo].into_iter().flatten().collect::<Vec<_>>().join("; ");
        let row = format!("{head}{:>5}", verdict.result);
        match (more.is_empty(), row.chars().count() + 2 + more.chars().count() <= COLUMNS) {
            (true, _) => lines.push(row),
            (false, true) => lines.push(format!("{row}; {more}")),
            (false, false) => lines.extend([row, wrapped(&more, head.chars().count())]),
        }
    }
    if let (true, Some(standing)) = (has_several, standings(&measured).last()) {
        let (mean, worst) = (100.0 * standing.mean, 100.0 * standing.worst);
        lines.push(format!("{} rulesets measured: mean {mean:.1} %, worst {worst:.1} %", standing.rulesets));
    }
    lines.join("\n") + "\n"
}
