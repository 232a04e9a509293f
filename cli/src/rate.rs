//! `rate`: many agents, one joint rating.

mod folder;
mod text;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::{Args, ValueEnum};
use latrunculi_engine::parameters::did_you_mean;
use latrunculi_eval::AgentSpec;
use latrunculi_eval::rating::{FitSettings, Pairing, RatingConfig, play_rating};
use latrunculi_stats::{Confidence, DrawModel};
use latrunculi_train::files::write_whole;
use latrunculi_train::folders::RATING;
use latrunculi_train::rulesets;

use crate::games_args::{PlayersArgs, games, whole};
use crate::interrupt::{Stopped, stop_on_interrupt};
use crate::libtorch::Libtorch;
use crate::match_command::{check_opening, pairs_note};
use crate::progress::GamesProgress;

#[derive(Args)]
pub(crate) struct RateArgs {
    /// The agents: random, greedy, alphabeta:depth=4, alphabeta:nodes=20000, mcts:sims=2000, net:MODEL,sims=64
    #[arg(value_name = "AGENT", required = true, num_args = 1..)]
    agents: Vec<AgentSpec>,
    /// A shipped ruleset, or the path of a file
    #[arg(long, alias = "rulesets")]
    ruleset: String,
    /// Lets one agent play all others, instead of all pairings
    #[arg(long, value_name = "AGENT")]
    gauntlet: Option<AgentSpec>,
    /// Games of each pairing, in pairs of one opening with seats swapped
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = games())]
    games: usize,
    /// An agent with a fixed rating, for example random=0; may be repeated [default: the first agent at 0]
    #[arg(long, value_name = "AGENT=ELO", value_parser = anchor)]
    anchor: Vec<(AgentSpec, f64)>,
    /// The model of draws
    #[arg(long, value_enum, default_value_t = ModelName::Davidson)]
    model: ModelName,
    /// Source of all randomness
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Random actions that open a game [default: 8 where stones are placed, else 6]
    #[arg(long, value_name = "ACTIONS", value_parser = whole(0..=1000))]
    opening: Option<usize>,
    /// Folder for games.jsonl, rating.json and rating.csv; a stopped rating is continued, and one with more agents
    /// or more games plays only what is missing. A different rating in it is not replaced
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    players: PlayersArgs,
    /// Prints the result as JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Prints the table of agents as CSV
    #[arg(long)]
    csv: bool,
}

/// The draw models by name.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ModelName {
    /// A draw is as likely as the geometric mean of win and loss says, times a constant
    Davidson,
    /// A draw is what lies within a threshold of equality, as in BayesElo
    RaoKupper,
}

/// Reads an agent and its rating. Agents' texts have equals signs of their own: the last one counts.
fn anchor(text: &str) -> Result<(AgentSpec, f64), String> {
    let parts = text.rsplit_once('=').and_then(|(agent, elo)| Some((agent, elo.trim().parse::<f64>().ok()?)));
    let Some((agent, elo)) = parts.filter(|(_, elo)| elo.is_finite() && elo.abs() <= 10_000.0) else {
        return Err("write an agent and its rating in Elo, as in random=0 or alphabeta:depth=4=1200".to_owned());
    };
    Ok((agent.parse().map_err(|error| format!("{error}"))?, elo))
}

pub(crate) fn run(args: RateArgs, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    let has_networks = args.agents.iter().chain(&args.gauntlet).any(|agent| agent.model().is_some());
    let networks = args.players.network.opener(has_networks, libtorch)?.for_matches(&args.agents);
    let rules = rulesets::load(&args.ruleset)?;
    let mut config = config(&args)?;
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        folder::refuse_another(folder, &rules, &config)?;
    }
    check_opening(&rules, config.seed, config.opening_length)?;
    let stop = stop_on_interrupt()?;
    config.players = args.players.players(&stop)?;
    let progress = GamesProgress::new(args.players.quiet, "[{bar:30}] {pos}/{len} games  {rate}  {left}  {msg}");
    let report = play_rating(&rules, &config, &mut |rules, name| networks.open_for_games(rules, name), &mut |at| {
        let message = at.record.is_some().then(|| text::progress(at));
        progress.follow(at.games as u64, at.games_max as u64, message, &stop)
    });
    progress.finish();
    let report = report.context("the rating")?;
    // The units of workers stay in the store.
    let is_kept = args.out.is_some() || config.players.workers.is_some();
    let json = serde_json::to_string_pretty(&report)? + "\n";
    if let Some(folder) = &args.out {
        write_whole(&folder.join(RATING), json.as_bytes())?;
        write_whole(&folder.join("rating.csv"), text::csv(&report).as_bytes())?;
    }
    if args.json {
        print!("{json}");
    } else if args.csv {
        print!("{}", text::csv(&report));
    } else {
        print!("{}", text::text(&report, is_kept));
    }
    if report.is_interrupted { Err(Stopped::silently().into()) } else { Ok(()) }
}

fn config(args: &RateArgs) -> anyhow::Result<RatingConfig> {
    ensure!(args.agents.len() >= 2, "a rating needs at least two agents");
    pairs_note(args.games, args.players.quiet || args.json);
    let names: Vec<String> = args.agents.iter().map(AgentSpec::to_string).collect();
    let index_of = |option: &str, agent: &AgentSpec| -> anyhow::Result<usize> {
        let name = agent.to_string();
        names.iter().position(|known| *known == name).with_context(|| {
            let hint = did_you_mean(&name, names.iter().map(String::as_str));
            format!("{option}: {name} is not among the agents{hint}")
        })
    };
    let mut anchors = BTreeMap::new();
    for (agent, elo) in &args.anchor {
        let index = index_of("--anchor", agent)?;
        ensure!(anchors.insert(index, *elo).is_none(), "--anchor: {agent} is given two ratings");
    }
    let pairing = match &args.gauntlet {
        Some(agent) => Pairing::Gauntlet(index_of("--gauntlet", agent)?),
        None => Pairing::RoundRobin,
    };
    let model = match args.model {
        ModelName::Davidson => DrawModel::Davidson,
        ModelName::RaoKupper => DrawModel::RaoKupper,
    };
    Ok(RatingConfig {
        pairing,
        seed: args.seed,
        opening_length: args.opening,
        fit: FitSettings { model, anchors, confidence: Confidence::NINETY_FIVE },
        ledger: args.out.as_ref().map(|folder| folder.join("games.jsonl")),
        ..RatingConfig::new(args.agents.clone(), args.games.div_ceil(2))
    })
}
