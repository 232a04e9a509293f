//! `rulesets`: lists, shows, compares, checks and begins rulesets.

mod check;
mod compare;
mod document;
mod new;
mod show;

use std::sync::Arc;

use clap::{Args, Subcommand};
use latrunculi_engine::{GameState, Player, Rules, presets};
use latrunculi_train::rulesets;
use serde_json::json;

pub(crate) use self::show::rules_text;
use crate::lines::{beside, wrapped};

#[derive(Args)]
pub(crate) struct RulesetsArgs {
    #[command(subcommand)]
    command: RulesetsCommand,
}

#[derive(Subcommand)]
enum RulesetsCommand {
    /// Lists every shipped ruleset with board and men; --json with how it starts and its source as well
    List {
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows one ruleset: its opening board, its rules in words, and the source of each value
    Show {
        /// A shipped name, or the path of a file
        ruleset: String,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows the parameters in which two rulesets differ
    Diff {
        /// A shipped name, or the path of a file
        #[arg(value_name = "RULESET")]
        one: String,
        /// A shipped name, or the path of a file
        #[arg(value_name = "RULESET")]
        other: String,
    },
    /// Prints the file of a new ruleset, with every parameter and its meaning, to be changed
    New {
        /// Its id: lower-case letters, digits and hyphens
        id: String,
        /// The ruleset that gives the values to begin with
        #[arg(long, default_value = "bell")]
        base: String,
    },
    /// Checks a ruleset file: every fault with its place, and settings that change nothing
    Check {
        /// Paths of files, or shipped names
        #[arg(required = true, value_name = "RULESET")]
        rulesets: Vec<String>,
    },
    /// Writes the documentation of every ruleset and parameter, as in docs/RULES.md
    Document,
}

pub(crate) fn run(args: RulesetsArgs) -> anyhow::Result<()> {
    match args.command {
        RulesetsCommand::List { json } => list(json),
        RulesetsCommand::Show { ruleset, json } => show::run(&ruleset, json),
        RulesetsCommand::Diff { one, other } => compare::run(&one, &other),
        RulesetsCommand::New { id, base } => new::run(&id, &base),
        RulesetsCommand::Check { rulesets } => check::run(&rulesets),
        RulesetsCommand::Document => document::run(),
    }
}

/// A side's stones in a few characters, as `16+1` (men and dux) or `12`.
fn stones_text(rules: &Rules) -> String {
    let initial = rules.initial_position();
    let men = rules.men_at_start(Player::First);
    let dux = initial.dux(Player::First).is_some() || initial.hand(Player::First).dux > 0;
    if dux { format!("{men}+1") } else { men.to_string() }
}

fn list(as_json: bool) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for id in presets::NAMES {
        let file = rulesets::load_file(id)?;
        let rules = rulesets::load(id)?;
        let ruleset = rules.ruleset();
        let start = if ruleset.setup.array.is_some() { "array" } else { "placement" };
        rows.push((
            (*id).to_owned(),
            format!("{}x{}", rules.files(), rules.ranks()),
            stones_text(&rules),
            start.to_owned(),
            file.ruleset.name.clone(),
            file.ruleset.source.clone(),
        ));
    }
    if as_json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(id, board, men, start, name, source)| {
                json!({"id": id, "board": board, "men": men, "start": start, "name": name, "source": source})
            })
            .collect();
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    println!("{:<26} {:>5} {:>6}  name", "ruleset", "board", "men");
    for (id, board, men, _, name, _) in rows {
        println!("{}", beside(&format!("{id:<26} {board:>5} {men:>6}  "), &name));
    }
    let names = "men: men and dux of one side. Names that begin with x- are for comparison and from no source.";
    println!("\n{}", wrapped(names, 0));
    Ok(())
}

fn shown_board(rules: &Rules) -> String {
    let state = GameState::from_position(Arc::new(rules.clone()), rules.initial_position());
    state.drawing()
}
