//! `match`: two agents, paired openings, and what the result says.

use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use clap::Args;
use indicatif::ProgressBar;
use latrunculi_engine::Rules;
use latrunculi_engine::record::write_records;
use latrunculi_eval::match_play::{MatchConfig, MatchProgress, MatchReport, SprtReport, play_match};
use latrunculi_eval::openings::{OpeningBook, PolicyOpenings};
use latrunculi_eval::statistics::score::EloEstimate;
use latrunculi_eval::statistics::sprt::SprtVerdict;
use latrunculi_eval::statistics::{Confidence, Hypotheses, Sprt, SprtBounds, Trinomial};
use latrunculi_eval::{AgentKind, AgentSpec};

use crate::interrupt::{Stopped, stop_on_interrupt};
use crate::network::{self, NetworkArgs};
use crate::progress;
use crate::rulesets_source;

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
    /// A shipped ruleset, or the path of a file
    #[arg(long)]
    ruleset: String,
    /// Games to play, in pairs of one opening with seats swapped [default: 200; with --sprt at most 20000]
    #[arg(long, value_name = "N")]
    games: Option<usize>,
    /// Ends the match as soon as it is decided whether A is E0 or E1 Elo stronger
    #[arg(long, value_name = "E0,E1", value_parser = two_numbers, allow_hyphen_values = true)]
    sprt: Option<(f64, f64)>,
    /// The chance that --sprt takes E0 for E1
    #[arg(long, default_value_t = 0.05)]
    alpha: f64,
    /// The chance that --sprt takes E1 for E0
    #[arg(long, default_value_t = 0.05)]
    beta: f64,
    /// Everything random follows from it
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Actions that are drawn at the beginning of a game [default: 8 where stones are placed, else 6]
    #[arg(long, value_name = "ACTIONS", value_parser = clap::value_parser!(u16).range(..=1000))]
    opening: Option<u16>,
    /// Draws openings from this agent's visits or policy instead of from all legal actions alike
    #[arg(long, value_name = "AGENT")]
    opening_policy: Option<AgentSpec>,
    /// Temperature of that policy; less prefers the best actions
    #[arg(long, value_name = "T", default_value_t = 1.0)]
    opening_temperature: f64,
    /// Where every game is written as it ends; a match that was stopped goes on from there
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Writes the games that count to a new file, one a line
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,
    /// Threads to think on; 0 for one per core
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: u16,
    /// Games that share the batches of a network
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    games_at_once: u16,
    #[command(flatten)]
    network: NetworkArgs,
    /// Prints the result as JSON
    #[arg(long)]
    json: bool,
    /// Shows no progress
    #[arg(long)]
    quiet: bool,
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

pub(crate) fn run(args: MatchArgs) -> anyhow::Result<()> {
    let rules = rulesets_source::load(&args.ruleset)?;
    let config = config(&args)?;
    if let Some(path) = &args.records {
        ensure!(!path.exists(), "{} is there already; name a new file for --records", path.display());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        ensure!(folder.is_dir(), "{}: there is no folder {}", path.display(), folder.display());
    }
    if args.opening_policy.is_none() {
        check_opening(&rules, config.seed, config.opening_length)?;
    }
    let stop = stop_on_interrupt()?;
    let progress = Progress::new(&args);
    let report = play_match(&rules, &config, &mut args.network.factory(&rules), &mut |at: &MatchProgress<'_>| {
        progress.show(at);
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    progress.bar.finish_and_clear();
    let report = report.context("the match")?;
    if report.games == 0 && !report.is_interrupted {
        let reason = report.interval_refused.as_deref().unwrap_or("every pair of games repeats an earlier one");
        bail!(
            "no game of this match counts: {reason}; --opening N lets each pair begin with N drawn actions of its own"
        );
    }
    if let Some(path) = &args.records {
        write_new(path, &report)?;
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", text(&report, args.ledger.is_some()));
    }
    if report.is_interrupted { Err(Stopped::silently().into()) } else { Ok(()) }
}

fn config(args: &MatchArgs) -> anyhow::Result<MatchConfig> {
    for agent in [&args.first, &args.second] {
        if agent.kind == AgentKind::Human {
            bail!("human plays in `latrunculi play` only");
        }
    }
    let games = args.games.unwrap_or(if args.sprt.is_some() { SPRT_GAMES_MAX } else { GAMES });
    ensure!((1..=1_000_000).contains(&games), "--games is a number from 1 to 1000000");
    let sprt = match args.sprt {
        None => None,
        Some((elo0, elo1)) => {
            let bounds = SprtBounds::new(args.alpha, args.beta)?;
            Some(Sprt { hypotheses: Hypotheses::LogisticElo { elo0, elo1 }, bounds })
        }
    };
    let identity = |agent: &AgentSpec| agent.model().map(network::checksum).transpose();
    let identities = [identity(&args.first)?.unwrap_or_default(), identity(&args.second)?.unwrap_or_default()];
    Ok(MatchConfig {
        identities,
        agents: [args.first.clone(), args.second.clone()],
        pairs: games.div_ceil(2),
        seed: args.seed,
        opening_length: args.opening.map(usize::from),
        opening_policy: opening_policy(args)?,
        sprt,
        confidence: Confidence::NINETY_FIVE,
        threads: args.threads.into(),
        games_at_once: args.games_at_once.into(),
        ledger: args.ledger.clone(),
    })
}

/// Refuses openings so long that the game is over before they are: nothing would be left to play.
pub(crate) fn check_opening(rules: &Arc<Rules>, seed: u64, length: Option<usize>) -> anyhow::Result<()> {
    let Some(length) = length.filter(|&length| length > 0) else { return Ok(()) };
    let drawn = OpeningBook::draw(rules, seed, 1, length);
    let has_ended = drawn.openings.iter().all(|opening| opening.actions.is_empty());
    ensure!(
        !has_ended,
        "--opening {length}: every opening that was drawn ended the game of {} before that; choose fewer actions",
        rules.ruleset().id
    );
    Ok(())
}

/// Returns from whose policy openings are drawn, if from any.
fn opening_policy(args: &MatchArgs) -> anyhow::Result<Option<PolicyOpenings>> {
    let Some(agent) = args.opening_policy.clone() else { return Ok(None) };
    let weighs = matches!(agent.kind, AgentKind::Mcts { .. } | AgentKind::Network { .. });
    ensure!(weighs, "--opening-policy: {agent} does not weigh its actions; mcts and net do");
    let temperature = args.opening_temperature;
    ensure!((0.01..=100.0).contains(&temperature), "--opening-temperature is a number from 0.01 to 100");
    let identity = agent.model().map(network::checksum).transpose()?.unwrap_or_default();
    Ok(Some(PolicyOpenings { agent, temperature, identity }))
}

/// Writes the games of a match beside `path` and renames them.
fn write_new(path: &Path, report: &MatchReport) -> anyhow::Result<()> {
    let write = || -> anyhow::Result<()> {
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let file = std::fs::File::create(&partial)?;
        let mut file = std::io::BufWriter::new(file);
        write_records(report.records.iter().map(|game| &game.record), &mut file)?;
        file.flush()?;
        std::fs::rename(&partial, path)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// A bar on a terminal, a line now and then otherwise.
struct Progress {
    bar: ProgressBar,
    speaks: bool,
    last_line: std::sync::Mutex<Instant>,
}

impl Progress {
    fn new(args: &MatchArgs) -> Progress {
        let is_terminal = std::io::stderr().is_terminal();
        let bar = if args.quiet || !is_terminal { ProgressBar::hidden() } else { ProgressBar::new(0) };
        bar.set_style(progress::style("[{bar:30}] {pos}/{len} games  {rate}  {eta} left  {msg}"));
        bar.enable_steady_tick(Duration::from_millis(500));
        let speaks = !args.quiet && !is_terminal;
        Progress { bar, speaks, last_line: std::sync::Mutex::new(Instant::now()) }
    }

    fn show(&self, at: &MatchProgress<'_>) {
        let Trinomial { wins, draws, losses } = at.table.agent_games();
        let mut message = format!("+{wins} ={draws} -{losses}");
        if let Some(test) = at.sprt {
            let bounds = test.sprt.bounds;
            let ratio = test.log_likelihood_ratio;
            message.push_str(&format!("  LLR {ratio:.2} in [{:.2}, {:.2}]", bounds.lower, bounds.upper));
        }
        if at.record.is_none() {
            // Games of the ledger do not count for the rate.
            self.bar.set_length(at.games_max as u64);
            self.bar.set_position(at.games as u64);
            self.bar.reset_eta();
            return;
        }
        self.bar.set_length(at.games_max as u64);
        self.bar.set_position(at.games as u64);
        if let Ok(mut last) = self.last_line.lock()
            && self.speaks
            && last.elapsed() > Duration::from_secs(10)
        {
            *last = Instant::now();
            eprintln!("{}/{} games  {message}", at.games, at.games_max);
        }
        self.bar.set_message(message);
    }
}

/// Returns the report for people; `is_kept`: the games are in a ledger.
fn text(report: &MatchReport, is_kept: bool) -> String {
    let [a, b] = &report.agents;
    let mut lines = vec![format!("A {a}\nB {b}\n{}, {} games in pairs of one opening", report.ruleset, report.games)];
    let mut row = |name: &str, value: String| lines.push(format!("  {name:<14} {value}"));
    let counts = |games: Trinomial| format!("+{} ={} -{}", games.wins, games.draws, games.losses);
    let percent = report.confidence * 100.0;
    if let Some(score) = report.score {
        let interval =
            report.interval.map(|interval| format!("  {percent:.0} % [{:.4}, {:.4}]", interval.lower, interval.upper));
        row("score of A", format!("{score:.4}{}", interval.unwrap_or_default()));
    }
    if let Some(reason) = &report.interval_refused {
        row("no interval", reason.clone());
    }
    if let Some(margin) = report.margin {
        let confidence = Confidence::new(report.confidence).unwrap_or(Confidence::NINETY_FIVE);
        let interval = margin.interval(confidence);
        let interval = format!("{percent:.0} % [{:+.4}, {:+.4}]", interval.lower, interval.upper);
        row("margin of A", format!("{:+.4}  {interval} of all men at the end", margin.value));
    }
    if let Some(elo) = report.elo {
        row("Elo", elo_text(elo, report.score));
    }
    if let Some(elo) = report.normalized_elo {
        row("normalised Elo", format!("{:+.1}  standard error {:.1}", elo.value, elo.standard_error));
    }
    if let Some(likelihood) = report.likelihood_of_superiority {
        row("superiority", format!("{:.2} % likely", likelihood * 100.0));
    }
    if let Some(test) = &report.sprt {
        row("SPRT", sprt_text(test));
    }
    row("results of A", counts(report.total));
    row("A beginning", counts(report.by_seat.beginning));
    row("A replying", counts(report.by_seat.replying));
    row("who began", counts(report.beginner));
    row("pairs of A", format!("{:?} by points 0, ½, 1, 1½, 2", report.pentanomial));
    let table = report.table.counts.map(|row| format!("{row:?}")).join(" ");
    row("joint table", format!("{table} rows game 1, columns game 2, win draw loss of who began"));
    let openings = format!("{} of {} drawn actions each", report.openings_distinct, report.opening_length);
    row("openings", format!("{openings}; {} drawn anew as repetitions or mirror images", report.openings_redrawn));
    let cut = report.records.iter().filter(|game| game.record.opening < report.opening_length).count();
    if cut > 0 {
        row("without opening", format!("{cut} games: those that were drawn for them ended the game"));
    }
    let repeated = format!("{} pairs taken out as repetitions", report.pairs_repeated);
    row("distinct games", format!("{} of {} played; {repeated}", report.games_distinct, report.games_played));
    let ends: Vec<String> = report.ends.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    row("ends", ends.join(", "));
    if report.truncated > 0 {
        row("truncated", format!("{} games by the program's own limit, counted as draws", report.truncated));
    }
    let effort = |effort: Option<f64>| effort.map_or("-".to_owned(), |effort| format!("{effort:.0}"));
    let efforts = report.effort_mean.map(effort);
    row("per game", format!("{:.1} actions", report.actions_mean));
    row("per choice", format!("A {}, B {} nodes or simulations", efforts[0], efforts[1]));
    if report.is_interrupted {
        let hint = if is_kept { "the same command plays the rest" } else { "games are kept with --ledger FILE alone" };
        row("stopped early", hint.to_owned());
    }
    lines.join("\n") + "\n"
}

/// Says what Elo difference a score, in `[0, 1]`, amounts to: of one at an end of the scale only the bound is known.
pub(crate) fn elo_text(elo: EloEstimate, score: Option<f64>) -> String {
    let bound = |bound: Option<f64>, open: &str| bound.map_or(open.to_owned(), |bound| format!("{bound:+.1}"));
    match score {
        Some(score) if score <= 0.0 => format!("-∞, below {}", bound(elo.upper, "+∞")),
        Some(score) if score >= 1.0 => format!("+∞, above {}", bound(elo.lower, "-∞")),
        _ => format!("{:+.1}  [{}, {}]", elo.value, bound(elo.lower, "-∞"), bound(elo.upper, "+∞")),
    }
}

fn sprt_text(test: &SprtReport) -> String {
    let Hypotheses::LogisticElo { elo0, elo1 } = test.sprt.hypotheses else { return String::new() };
    let bounds = test.sprt.bounds;
    let verdict = match test.verdict {
        SprtVerdict::AcceptH0 => format!("A is at most {elo0} Elo stronger, and not {elo1}"),
        SprtVerdict::AcceptH1 => format!("A is at least {elo1} Elo stronger, and not {elo0}"),
        SprtVerdict::Continue => "undecided".to_owned(),
    };
    let ratio = test.log_likelihood_ratio;
    let caution = if test.is_decided { "; the score above is biased by stopping then" } else { "" };
    format!("{verdict}, log-likelihood ratio {ratio:.2} in [{:.2}, {:.2}]{caution}", bounds.lower, bounds.upper)
}
