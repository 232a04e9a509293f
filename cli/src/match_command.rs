//! `match`: two agents play pairs of games from the same openings with seats swapped.

mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, anyhow, ensure};
use clap::Args;
use latrunculi_engine::Rules;
use latrunculi_engine::record::write_records;
use latrunculi_eval::AgentSpec;
use latrunculi_eval::matches::openings::{OpeningBook, PolicyOpenings};
use latrunculi_eval::matches::{MatchConfig, MatchProgress, MatchReport, MeanReport, play_match};
use latrunculi_stats::{Sprt, SprtBounds};
use latrunculi_train::files::write_whole;
use latrunculi_train::models::NetworkOpener;
use latrunculi_train::rulesets;
use serde_json::json;

use crate::games_args::{PlayersArgs, games, whole};
use crate::interrupt::{Stopped, stop_on_interrupt};
use crate::libtorch::Libtorch;
use crate::lines::print_json;
use crate::progress::GamesProgress;
use text::Rows;
pub(crate) use text::{CLEARLY, clock_text, elo_text, rest_text, waiting_text};

/// Games of a match when neither a number nor a test is given.
const GAMES: usize = 200;
/// Differences beyond this, in Elo, mean nothing.
const ELO_MAX: f64 = 5000.0;
/// The most games of a sequential test.
const SPRT_GAMES_MAX: usize = 20_000;

#[derive(Args)]
pub(crate) struct MatchArgs {
    /// The agent whose score is told: random, greedy, alphabeta:depth=4, alphabeta:nodes=20000,
    /// mcts:sims=2000, net:MODEL,sims=64
    #[arg(value_name = "A")]
    first: AgentSpec,
    /// Its opponent
    #[arg(value_name = "B")]
    second: AgentSpec,
    /// A shipped ruleset, or the path of a file; several with commas between, or `all`, make a match of each
    #[arg(long, alias = "rulesets", value_name = "RULESET,RULESET", value_delimiter = ',', required = true)]
    ruleset: Vec<String>,
    /// Games to play, in pairs of one opening with seats swapped [default: 200; with --sprt at most 20000]
    #[arg(long, value_name = "N", value_parser = games())]
    games: Option<usize>,
    /// Ends the match as soon as it is decided whether the lead of A is E0 or E1 Elo; where B leads it is negative
    #[arg(long, value_name = "E0,E1", value_parser = two_numbers, allow_hyphen_values = true)]
    sprt: Option<(f64, f64)>,
    /// The chance that --sprt takes E0 for E1
    #[arg(long, default_value_t = 0.05, requires = "sprt")]
    alpha: f64,
    /// The chance that --sprt takes E1 for E0
    #[arg(long, default_value_t = 0.05, requires = "sprt")]
    beta: f64,
    /// Source of all randomness
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Actions that are drawn at the beginning of a game [default: 8 where stones are placed, else 6]
    #[arg(long, value_name = "ACTIONS", value_parser = whole(0..=1000))]
    opening: Option<usize>,
    /// Draws openings from this agent's visits or policy instead of from all legal actions alike
    #[arg(long, value_name = "AGENT")]
    opening_policy: Option<AgentSpec>,
    /// Temperature of that policy; less prefers the best actions
    #[arg(long, value_name = "T", default_value_t = 1.0, requires = "opening_policy")]
    opening_temperature: f64,
    /// Where every game is written as it ends; a match that was stopped goes on from there
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Writes the games that count to a new file, one a line
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,
    #[command(flatten)]
    players: PlayersArgs,
    /// Prints the result as JSON
    #[arg(long)]
    json: bool,
}

/// Reads two numbers with a comma between them.
fn two_numbers(text: &str) -> Result<(f64, f64), String> {
    let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.abs() <= ELO_MAX);
    let numbers = text.split_once(',').and_then(|(a, b)| Some((number(a)?, number(b)?)));
    match numbers {
        Some((e0, e1)) if e0 < e1 => Ok((e0, e1)),
        Some(_) => Err("E0 must be less than E1".to_owned()),
        None => Err(format!("write two numbers of at most {ELO_MAX}, as in 0,20")),
    }
}

pub(crate) fn run(args: MatchArgs, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    let agents = || [&args.first, &args.second].into_iter().chain(&args.opening_policy);
    let has_networks = agents().any(|agent| agent.model().is_some());
    let networks = args.players.network.opener(has_networks, libtorch)?.for_matches(agents());
    let played = loaded(&args.ruleset)?;
    ensure!(
        args.first != args.second || args.first.is_random(),
        "{0} against itself plays both games of every pair alike, and none counts; \
         `latrunculi balance --rulesets {1} --agents {0}` plays it against itself",
        args.first,
        args.ruleset.join(",")
    );
    ensure!(args.sprt.is_none() || played.len() == 1, "--sprt decides a match of one ruleset; name only one");
    let mut config = config(&args)?;
    if let Some(path) = &args.records {
        ensure!(!path.exists(), "{} exists already; choose a new file for --records", path.display());
        let is_ledger = |ledger: &PathBuf| std::path::absolute(ledger).ok() == std::path::absolute(path).ok();
        ensure!(!args.ledger.as_ref().is_some_and(is_ledger), "--records and --ledger name one file; choose two");
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        ensure!(folder.is_dir(), "{}: there is no folder {}", path.display(), folder.display());
    }
    if args.opening_policy.is_none() {
        played.iter().try_for_each(|rules| check_opening(rules, config.seed, config.opening_length))?;
    }
    let stop = stop_on_interrupt()?;
    config.players = args.players.players(&stop)?;
    // The units of workers stay in the store.
    let is_kept = args.ledger.is_some() || config.players.workers.is_some();
    let mut rows = (played.len() > 1 && !args.json).then(|| Rows::new(&played));
    let mut reports = Vec::new();
    for rules in &played {
        let report = play(rules, &config, &args, &networks, &stop, played.len() > 1)?;
        let is_last = report.is_interrupted;
        if let Some(rows) = &mut rows {
            rows.print(&report);
        }
        reports.push(report);
        if is_last {
            break;
        }
    }
    let is_interrupted = reports.last().is_some_and(|report| report.is_interrupted);
    // The same command plays the rest of an interrupted match, and the file must be new to it.
    if let Some(path) = args.records.as_ref().filter(|_| !is_interrupted) {
        write_new(path, &reports)?;
    }
    match &reports[..] {
        [report] if played.len() == 1 && args.json => print_json(report)?,
        [report] if played.len() == 1 => print!("{}", text::text(report, is_kept)),
        reports => {
            let mean = MeanReport::of(reports);
            match &rows {
                None => print_json(&json!({ "matches": reports, "mean": mean }))?,
                Some(rows) => rows.print_mean(&mean, is_interrupted.then_some(is_kept)),
            }
        }
    }
    if is_interrupted { Err(Stopped::silently().into()) } else { Ok(()) }
}

/// Loads the rulesets of a match, each once.
fn loaded(names: &[String]) -> anyhow::Result<Vec<Arc<Rules>>> {
    let mut played: Vec<Arc<Rules>> = Vec::new();
    for name in rulesets::expand_all(names) {
        let rules = rulesets::load(&name)?;
        let id = &rules.ruleset().id;
        ensure!(played.iter().all(|other| other.ruleset().id != *id), "--ruleset names {id} twice");
        played.push(rules);
    }
    Ok(played)
}

/// Plays the match of one ruleset and shows how far it is; its progress names the ruleset where there are several.
fn play(
    rules: &Arc<Rules>,
    config: &MatchConfig,
    args: &MatchArgs,
    networks: &NetworkOpener,
    stop: &AtomicBool,
    is_one_of_many: bool,
) -> anyhow::Result<MatchReport> {
    let id = &rules.ruleset().id;
    let name = if is_one_of_many { format!("{id}  ") } else { String::new() };
    let progress = GamesProgress::new(args.players.quiet, "[{bar:30}] {pos}/{len} games  {rate}  {left}  {msg}");
    let report = play_match(
        rules,
        config,
        &mut |rules, name| networks.open_for_games(rules, name),
        &mut |at: &MatchProgress<'_>| {
            let message = at.record.is_some().then(|| name.clone() + &text::progress(at));
            progress.follow(at.games as u64, at.games_max as u64, message, stop)
        },
    );
    progress.finish();
    report.with_context(|| if is_one_of_many { format!("the match of {id}") } else { "the match".to_owned() })
}

/// Says that an odd number of games is one more.
pub(crate) fn pairs_note(games: usize, is_quiet: bool) {
    if !is_quiet && !games.is_multiple_of(2) {
        eprintln!("note: games are played in pairs, so {} and not {games}", games + 1);
    }
}

fn config(args: &MatchArgs) -> anyhow::Result<MatchConfig> {
    let games = args.games.unwrap_or(if args.sprt.is_some() { SPRT_GAMES_MAX } else { GAMES });
    pairs_note(games, args.players.quiet || args.json);
    let sprt = match args.sprt {
        None => None,
        Some((elo0, elo1)) => {
            let bounds = SprtBounds::new(args.alpha, args.beta)?;
            Some(Sprt { elo0, elo1, bounds })
        }
    };
    let policy = args.opening_policy.clone().map(|agent| PolicyOpenings::new(agent, args.opening_temperature));
    let opening_policy = policy.transpose().map_err(|fault| anyhow!("--opening-policy: {fault}"))?;
    Ok(MatchConfig {
        seed: args.seed,
        opening_length: args.opening,
        opening_policy,
        sprt,
        ledger: args.ledger.clone(),
        keep_records: args.records.is_some(),
        ..MatchConfig::new([args.first.clone(), args.second.clone()], games.div_ceil(2))
    })
}

/// Refuses openings so long that the game ends during each of them.
pub(crate) fn check_opening(rules: &Arc<Rules>, seed: u64, length: Option<usize>) -> anyhow::Result<()> {
    let Some(length) = length.filter(|&length| length > 0) else { return Ok(()) };
    let drawn = OpeningBook::draw(rules, seed, 1, length);
    let has_ended = drawn.openings.iter().all(|opening| opening.actions.is_empty());
    ensure!(
        !has_ended,
        "--opening {length}: every drawn opening ended the game of {} early; choose fewer actions",
        rules.ruleset().id
    );
    Ok(())
}

fn write_new(path: &Path, reports: &[MatchReport]) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    let games = reports.iter().flat_map(|report| &report.records);
    write_records(games.filter_map(|game| game.record.as_deref()), &mut bytes)?;
    Ok(write_whole(path, &bytes)?)
}
