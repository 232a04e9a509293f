//! `curves`: learning curves of training runs.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use latrunculi_eval::learning::{LearningRun, Verdict, percent_of_men, standings, to_csv};
use latrunculi_train::curves::{PAGE, TABLE, read, write};

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
        println!("{}", serde_json::to_string_pretty(&runs)?);
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

/// Gives runs of one name a number.
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

/// Returns the learning curve of a run as text.
fn text(run: &LearningRun) -> String {
    let mut text = format!(
        "{} · {} · {} · {} games in {:.1} min{}\n",
        run.name,
        run.subject(),
        run.network,
        run.games(),
        run.minutes(),
        if run.result.is_some() { "" } else { " · not finished" }
    );
    let measured = run.measured();
    let Some(last) = measured.last() else {
        return text + "no match was played yet; evaluation.every sets how often one is played\n";
    };
    let terms = |verdict: &Verdict| format!("against {} with {} simulations", verdict.opponent, verdict.simulations);
    let is_one_opponent = measured.iter().all(|one| terms(&one.verdict) == terms(&last.verdict));
    let against = if is_one_opponent { format!(" {}", terms(&last.verdict)) } else { String::new() };
    let has_several = run.rulesets.len() > 1;
    let _ = writeln!(
        text,
        "{:>7} {:>11} {:>7} {:>7}  score{against}, 95 % interval",
        "minute", "generations", "games", "steps"
    );
    for measured in &measured {
        let verdict = &measured.verdict;
        let _ = writeln!(
            text,
            "{:>7.1} {:>11} {:>7} {:>7}  {:>5.1} % [{:.1}, {:.1}] +{} ={} -{}{}{}{}",
            measured.minutes,
            measured.generations,
            measured.games,
            measured.steps,
            100.0 * verdict.score,
            100.0 * verdict.lower,
            100.0 * verdict.upper,
            verdict.wins,
            verdict.draws,
            verdict.losses,
            verdict.margin.as_ref().map_or(String::new(), |margin| format!("; margin {}", percent_of_men(margin))),
            if has_several { format!("; {}", measured.ruleset) } else { String::new() },
            if is_one_opponent { String::new() } else { format!("; {}", terms(verdict)) }
        );
    }
    if let (true, Some(standing)) = (has_several, standings(&measured).last()) {
        let (mean, worst) = (100.0 * standing.mean, 100.0 * standing.worst);
        let _ = writeln!(text, "{} rulesets measured: mean {mean:.1} %, worst {worst:.1} %", standing.rulesets);
    }
    text
}
