//! `play`: a game in the terminal on a drawn board, people and agents on either side.

mod board;
mod commands;
mod curve;
mod files;
mod input;
mod listing;
mod saving;
mod session;
mod thinking;
mod words;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ColorChoice};
use latrunculi_engine::Rules;
use latrunculi_eval::{AgentKind, AgentSpec};
use latrunculi_train::rulesets;

use crate::game_files;
use crate::games_args::number;
use crate::interrupt::Stopped;
use crate::is_closed_pipe;
use crate::libtorch::Libtorch;
use crate::network::NetworkArgs;
use board::Palette;
use session::Session;

#[derive(Args)]
pub(crate) struct PlayArgs {
    /// A shipped ruleset, or the path of a ruleset file or of a model [default: that of the game to --load]
    #[arg(value_name = "RULESET", required_unless_present_any = ["ruleset_option", "load"])]
    ruleset: Option<String>,
    /// The same as an option
    #[arg(long = "ruleset", alias = "rulesets", value_name = "RULESET", conflicts_with = "ruleset")]
    ruleset_option: Option<String>,
    /// Player 1 (upper case, south): human, random, greedy, alphabeta:nodes=20000, mcts:sims=2000,
    /// net:MODEL,sims=64. A tree (mcts, net) takes up to 400 MiB, or memory_mib=N
    #[arg(long, default_value = "human", value_name = "AGENT")]
    first: AgentSpec,
    /// Player 2 (lower case, north)
    #[arg(long, default_value = "alphabeta:nodes=20000", value_name = "AGENT")]
    second: AgentSpec,
    /// The agent that gives hints [default: a network of at least 400 simulations, that of the opponent where it is one]
    #[arg(long, value_name = "AGENT")]
    hint: Option<AgentSpec>,
    /// Position to begin from: `initial`, a list of pieces (M:c2 D:a1 m:b3 d:h7), or the line of a position [default: initial]
    #[arg(long)]
    position: Option<String>,
    /// Continues the last game in a file of game records
    #[arg(long, value_name = "FILE", conflicts_with = "position")]
    load: Option<PathBuf>,
    /// Adds the game to a file of game records when you leave, finished or not
    #[arg(long, alias = "save", value_name = "FILE")]
    record: Option<PathBuf>,
    /// Seconds to wait after each action of an agent, to watch two of them
    #[arg(long, default_value_t = 0.0, value_name = "SECONDS",
        value_parser = number(0.0..=3600.0, "write a number of seconds from 0 to 3600, as in 0.5"))]
    delay: f64,
    /// Whether to draw in colours; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    color: ColorChoice,
    /// Source of all randomness
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    network: NetworkArgs,
}

fn palette(when: ColorChoice) -> Palette {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let has_colours = match when {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => std::io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb,
    };
    if has_colours { Palette::colours() } else { Palette::default() }
}

impl PlayArgs {
    /// Returns the agent that gives hints.
    fn adviser(&self) -> AgentSpec {
        let opponent = if self.first.kind == AgentKind::Human { &self.second } else { &self.first };
        self.hint.clone().unwrap_or_else(|| opponent.adviser())
    }

    /// Returns the rules of the game: those that were named, else those of the game to load.
    fn rules(&self) -> anyhow::Result<Arc<Rules>> {
        match (self.ruleset.as_ref().or(self.ruleset_option.as_ref()), &self.load) {
            (None, Some(path)) => game_files::rules_of(&saving::last_game(path)?, path),
            (name, _) => Ok(rulesets::load(name.map_or("", String::as_str))?),
        }
    }
}

pub(crate) fn run(args: PlayArgs, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    let agents = [Some(&args.first), Some(&args.second), args.hint.as_ref()];
    let has_networks = agents.into_iter().flatten().any(|agent| agent.model().is_some());
    let networks = args.network.opener(has_networks, libtorch)?.for_single_positions();
    if let Some(path) = &args.record {
        files::check(path)?;
    }
    let mut session = Session::new(&args, &networks)?;
    // Not locked: where a terminal can do little, prompts are written by another thread.
    let output = &mut std::io::stdout();
    let played = session.play(output);
    // The game is kept after an error too, and it is told where it could not be.
    let kept = session.keep(output);
    match (played, kept) {
        (Err(played), Err(kept)) if played.is::<Stopped>() || is_closed_pipe(&played) => Err(kept),
        (Err(played), Err(kept)) => Err(played.context(format!("{kept:#}"))),
        (played, kept) => played.and(kept),
    }
}
