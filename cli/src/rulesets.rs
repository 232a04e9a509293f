//! `rulesets`: lists, shows, compares, checks and begins rulesets.

mod check;
mod compare;
mod document;
mod new;
mod show;
mod trial;

use std::sync::Arc;

use clap::{Args, Subcommand};
use latrunculi_engine::{GameState, Player, Rules, presets};
use latrunculi_train::rulesets;
use serde::Serialize;

pub(crate) use self::show::rules_text;
use crate::libtorch::Libtorch;
use crate::lines::{Table, wrapped};

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
    /// Plays games of rulesets with agents of two kinds: whether they can be played to an end, are decisive and fair, how long
    /// games are, and which rules are never used
    Try(trial::TrialArgs),
    /// Writes the documentation of every ruleset and parameter, as in docs/RULES.md
    Document,
}

pub(crate) fn run(args: RulesetsArgs, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    match args.command {
        RulesetsCommand::List { json } => list(json),
        RulesetsCommand::Show { ruleset, json } => show::run(&ruleset, json),
        RulesetsCommand::Diff { one, other } => compare::run(&one, &other),
        RulesetsCommand::New { id, base } => new::run(&id, &base),
        RulesetsCommand::Check { rulesets } => check::run(&rulesets),
        RulesetsCommand::Try(args) => trial::run(&args, libtorch),
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

/// A ruleset as it is listed.
#[derive(Serialize)]
struct Listed {
    id: &'static str,
    board: String,
    men: String,
    start: &'static str,
    name: String,
    source: String,
}

fn list(as_json: bool) -> anyhow::Result<()> {
    let rows = presets::NAMES.iter().map(|id| -> anyhow::Result<Listed> {
        let rules = rulesets::load(id)?;
        let ruleset = rules.ruleset();
        Ok(Listed {
            id,
            board: format!("{}x{}", rules.files(), rules.ranks()),
            men: stones_text(&rules),
            start: if ruleset.setup.array.is_some() { "array" } else { "placement" },
            name: ruleset.name.clone(),
            source: ruleset.source.clone(),
        })
    });
    let table = Table::new()
        .left("ruleset", 26, |row: &Listed| row.id.to_owned())
        .right("board", 5, |row| row.board.clone())
        .right("men", 5, |row| row.men.clone())
        .left("name", 0, |row| row.name.clone());
    table.print(as_json, rows)?;
    if !as_json {
        let names = "men: men and dux of one side. Names that begin with x- are for comparison and from no source.";
        println!("\n{}", wrapped(names, 0));
    }
    Ok(())
}

fn shown_board(rules: &Rules) -> String {
    let state = GameState::from_position(Arc::new(rules.clone()), rules.initial_position());
    state.drawing()
}
