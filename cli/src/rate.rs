//! `rate`: many agents, one joint rating.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use latrunculi_engine::Rules;
use latrunculi_engine::parameters::nearest;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_eval::openings::default_length;
use latrunculi_eval::rating::{
    ErrorKind, FitSettings, Pairing, Rated, RatingConfig, RatingProgress, RatingReport, RatingTable, Test, play_rating,
};
use latrunculi_eval::statistics::bradley_terry::LikelihoodRatio;
use latrunculi_eval::statistics::{Confidence, DrawModel, ELO_PER_NAT, Trinomial};
use latrunculi_eval::{AgentKind, AgentSpec};
use serde_json::{Value, json};

use crate::interrupt::{Stopped, stop_on_interrupt};
use crate::match_command::{check_opening, elo_text};
use crate::network::{self, NetworkArgs};
use crate::progress;
use crate::rulesets_source;
use crate::run_dir::write_whole;

/// The file that holds a rating.
const RATING: &str = "rating.json";
/// A rating of hundreds of agents is some megabytes.
const RATING_BYTES_MAX: u64 = 1 << 28;

#[derive(Args)]
pub(crate) struct RateArgs {
    /// The agents: random, greedy, alphabeta:depth=4, alphabeta:nodes=20000, mcts:sims=2000, net:MODEL,sims=64
    #[arg(value_name = "AGENT", required = true, num_args = 1..)]
    agents: Vec<AgentSpec>,
    /// A shipped ruleset, or the path of a file
    #[arg(long)]
    ruleset: String,
    /// Lets one agent play everybody else, instead of everybody everybody
    #[arg(long, value_name = "AGENT")]
    gauntlet: Option<AgentSpec>,
    /// Games of each pairing, in pairs of one opening with seats swapped
    #[arg(long, default_value_t = 200, value_name = "N")]
    games: usize,
    /// An agent whose rating is given, as in random=0; may be repeated [default: the first agent at 0]
    #[arg(long, value_name = "AGENT=ELO", value_parser = anchor)]
    anchor: Vec<(AgentSpec, f64)>,
    /// How draws arise
    #[arg(long, value_enum, default_value_t = ModelName::Davidson)]
    model: ModelName,
    /// Everything random follows from it
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Random actions that open a game [default: 8 where stones are placed, else 6]
    #[arg(long, value_name = "ACTIONS", value_parser = clap::value_parser!(u16).range(..=1000))]
    opening: Option<u16>,
    /// Folder for games.jsonl, rating.json and rating.csv; a rating that was stopped goes on from there, and one with
    /// more agents or more games plays only what is missing. Another rating in it is not replaced
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads to think on; 0 for one per core
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: u16,
    /// Games that share the batches of a network
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    games_at_once: u16,
    #[command(flatten)]
    network: NetworkArgs,
    /// Prints the result as JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Prints the table of agents as CSV
    #[arg(long)]
    csv: bool,
    /// Shows no progress
    #[arg(long)]
    quiet: bool,
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

pub(crate) fn run(args: RateArgs) -> anyhow::Result<()> {
    let rules = rulesets_source::load(&args.ruleset)?;
    let config = config(&args)?;
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        refuse_another(folder, &rules, &config)?;
    }
    check_opening(&rules, config.seed, config.opening_length)?;
    let stop = stop_on_interrupt()?;
    let progress = Progress::new(args.quiet);
    let report = play_rating(&rules, &config, &mut args.network.factory(&rules), &mut |at| {
        progress.show(at);
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    progress.bar.finish_and_clear();
    let report = report.context("the rating")?;
    let json = serde_json::to_string_pretty(&report)? + "\n";
    if let Some(folder) = &args.out {
        write_whole(&folder.join(RATING), json.as_bytes())?;
        write_whole(&folder.join("rating.csv"), csv(&report).as_bytes())?;
    }
    if args.json {
        print!("{json}");
    } else if args.csv {
        print!("{}", csv(&report));
    } else {
        print!("{}", text(&report, args.out.is_some()));
    }
    if report.is_interrupted { Err(Stopped::silently().into()) } else { Ok(()) }
}

fn config(args: &RateArgs) -> anyhow::Result<RatingConfig> {
    ensure!(args.agents.len() >= 2, "a rating needs at least two agents");
    if args.agents.iter().any(|agent| agent.kind == AgentKind::Human) {
        bail!("human plays in `latrunculi play` only");
    }
    ensure!((1..=1_000_000).contains(&args.games), "--games is a number from 1 to 1000000");
    let names: Vec<String> = args.agents.iter().map(AgentSpec::to_string).collect();
    let index_of = |option: &str, agent: &AgentSpec| -> anyhow::Result<usize> {
        let name = agent.to_string();
        names.iter().position(|known| *known == name).with_context(|| {
            let hint = nearest(&name, names.iter().map(String::as_str));
            let hint = hint.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
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
    let identity = |agent: &AgentSpec| -> anyhow::Result<String> {
        Ok(agent.model().map(network::checksum).transpose()?.unwrap_or_default())
    };
    Ok(RatingConfig {
        identities: args.agents.iter().map(identity).collect::<anyhow::Result<_>>()?,
        pairing,
        seed: args.seed,
        opening_length: args.opening.map(usize::from),
        fit: FitSettings { model, anchors, confidence: Confidence::NINETY_FIVE },
        threads: args.threads.into(),
        games_at_once: args.games_at_once.into(),
        ledger: args.out.as_ref().map(|folder| folder.join("games.jsonl")),
        ..RatingConfig::new(args.agents.clone(), args.games.div_ceil(2))
    })
}

/// Refuses a folder with another rating, which this one would replace: of other rules, another seed or other openings,
/// or with a pairing that is not played here. More agents, more games and another fit are welcome.
fn refuse_another(folder: &Path, rules: &Rules, config: &RatingConfig) -> anyhow::Result<()> {
    let path = folder.join(RATING);
    if !path.is_file() {
        return Ok(());
    }
    let text = rulesets_source::read_text(&path, RATING_BYTES_MAX)?;
    let no_rating = || format!("{}: it is no rating; choose another folder with --out", path.display());
    let found: Value = serde_json::from_str(&text).with_context(no_rating)?;
    ensure!(found["pairings"].is_array(), no_rating());
    let here = [
        ("ruleset", json!(rules.ruleset().id)),
        ("ruleset_fingerprint", json!(ruleset_fingerprint(rules.ruleset()))),
        ("seed", json!(config.seed)),
        ("opening_length", json!(config.opening_length.unwrap_or_else(|| default_length(rules)))),
    ];
    let mut differences: Vec<String> = here
        .iter()
        .filter_map(|(name, here)| {
            let there = found.get(name).filter(|there| *there != here)?;
            Some(format!("{} is {there} there and {here} here", name.replace('_', " ")))
        })
        .collect();
    let names: Vec<String> = config.agents.iter().map(AgentSpec::to_string).collect();
    let is_played = |pairing: &[&str]| {
        pairing.iter().all(|agent| names.iter().any(|name| name == agent))
            && match config.pairing {
                Pairing::RoundRobin => true,
                Pairing::Gauntlet(agent) => pairing.contains(&names[agent].as_str()),
            }
    };
    for pairing in found["pairings"].as_array().into_iter().flatten() {
        let agents: Vec<&str> = pairing["agents"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if !is_played(&agents) {
            differences.push(format!("{} was played there and is not played here", agents.join(" against ")));
        }
    }
    if !differences.is_empty() {
        bail!(
            "{}: there is another rating already; choose another folder with --out:\n  {}",
            folder.display(),
            differences.join("\n  ")
        );
    }
    Ok(())
}

/// A bar on a terminal, a line now and then otherwise.
struct Progress {
    bar: ProgressBar,
    speaks: bool,
    last_line: Mutex<Instant>,
}

impl Progress {
    fn new(quiet: bool) -> Progress {
        let is_terminal = std::io::stderr().is_terminal();
        let bar = if quiet || !is_terminal { ProgressBar::hidden() } else { ProgressBar::new(0) };
        bar.set_style(progress::style("[{bar:30}] {pos}/{len} games  {rate}  {eta} left  {msg}"));
        bar.enable_steady_tick(Duration::from_millis(500));
        Progress { bar, speaks: !quiet && !is_terminal, last_line: Mutex::new(Instant::now()) }
    }

    fn show(&self, at: &RatingProgress<'_>) {
        self.bar.set_length(at.games_max as u64);
        self.bar.set_position(at.games as u64);
        if at.record.is_none() {
            // Games of the ledger do not count for the rate.
            self.bar.reset_eta();
            return;
        }
        let [one, other] = at.agents;
        let Trinomial { wins, draws, losses } = at.table.agent_games();
        let pairing = format!("{}/{}", at.pairing + 1, at.pairings);
        let message = format!("pairing {pairing}: {one} against {other} +{wins} ={draws} -{losses}");
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

/// Returns the agents as CSV, strongest first.
fn csv(report: &RatingReport) -> String {
    let mut lines =
        "rank,agent,elo,elo_standard_error,elo_lower,elo_upper,is_anchor,games,wins,draws,losses,score\n".to_owned();
    for (rank, rating) in report.table.iter().flat_map(|table| &table.agents).enumerate() {
        let Rated { value, standard_error, interval } = rating.elo;
        let games = rating.games;
        // Agents' texts may hold commas; a path might hold quotes.
        let agent = rating.agent.replace('"', "\"\"");
        let score = rating.score.map(|score| format!("{score:.6}")).unwrap_or_default();
        // Writing to a String cannot fail.
        _ = writeln!(
            lines,
            "{},\"{agent}\",{value:.3},{standard_error:.3},{:.3},{:.3},{},{},{},{},{},{score}",
            rank + 1,
            interval.lower,
            interval.upper,
            rating.is_anchor,
            games.games(),
            games.wins,
            games.draws,
            games.losses,
        );
    }
    lines
}

/// Returns the report for people; `is_kept`: the games are in a folder.
fn text(report: &RatingReport, is_kept: bool) -> String {
    let mut text = format!(
        "{}: {} games count of {} played, {} openings of {} random actions, seats swapped\n",
        report.ruleset, report.games, report.games_played, report.openings_distinct, report.opening_length
    );
    match (&report.table, &report.refused) {
        (Some(table), _) => {
            table_text(&mut text, table);
            text += &prior_text(table, &beginners(report));
        }
        (None, reason) => text += &format!("no rating: {}\n", reason.as_deref().unwrap_or("there are no games")),
    }
    let repeated: u64 = report.pairings.iter().map(|pairing| pairing.pairs_repeated).sum();
    if repeated > 0 {
        text += &format!("{repeated} pairs of games taken out as repetitions\n");
    }
    if report.truncated > 0 {
        text += &format!("{} games ended by the program's own limit, counted as draws\n", report.truncated);
    }
    if report.is_interrupted {
        let hint = if is_kept { "the same command plays the rest" } else { "games are kept with --out DIR alone" };
        text += &format!("stopped early; {hint}\n");
    }
    text
}

fn table_text(text: &mut String, table: &RatingTable) {
    let width = table.agents.iter().map(|rating| rating.agent.len()).max().unwrap_or(5).max(5);
    let percent = table.confidence * 100.0;
    let interval = format!("{percent:.0} % interval");
    *text += &format!(
        "\n{:>3}  {:width$}  {:>7}  {interval:>20}  {:>6}  {:>7}  wins/draws/losses\n",
        "", "agent", "Elo", "games", "score"
    );
    for (rank, rating) in table.agents.iter().enumerate() {
        let Trinomial { wins, draws, losses } = rating.games;
        let bounds = match rating.is_anchor {
            true => "given".to_owned(),
            false => format!("[{:+.1}, {:+.1}]", rating.elo.interval.lower, rating.elo.interval.upper),
        };
        let score = rating.score.map_or("-".to_owned(), |score| format!("{:.2} %", score * 100.0));
        *text += &format!(
            "{:>3}  {:width$}  {:>+7.1}  {bounds:>20}  {:>6}  {score:>7}  {wins}/{draws}/{losses}\n",
            rank + 1,
            rating.agent,
            rating.elo.value,
            rating.games.games(),
        );
    }
    *text += "\nlikelihood that the row is stronger than the column, %\n";
    *text += &format!("{:width$}  ", "");
    for rank in 1..=table.agents.len() {
        *text += &format!("{rank:>6}");
    }
    *text += "\n";
    for (rating, row) in table.agents.iter().zip(&table.superiority) {
        *text += &format!("{:width$}  ", rating.agent);
        for likelihood in row {
            let shown = likelihood.map_or("-".to_owned(), |likelihood| format!("{:.1}", likelihood * 100.0));
            *text += &format!("{shown:>6}");
        }
        *text += "\n";
    }
    fit_text(text, table);
}

fn fit_text(text: &mut String, table: &RatingTable) {
    let share = |name: &str, rated: &Rated| {
        let Rated { value, interval, .. } = rated;
        format!("  {name:<22} {:.2} %  [{:.2}, {:.2}]\n", value * 100.0, interval.lower * 100.0, interval.upper * 100.0)
    };
    let equal = &table.equal_strength;
    *text += "\nthe player who begins, against an equal\n";
    *text += &share("expected score", &equal.score);
    *text += &share("wins", &equal.win);
    *text += &share("draws", &equal.draw);
    *text += &share("loses", &equal.loss);
    *text += &format!("  {:<22} {}\n", "score as Elo", elo_text(equal.elo, Some(equal.score.value)));
    let model = match table.model {
        DrawModel::Davidson => format!("Davidson, draw parameter ν {:.4}", table.draw_parameter),
        DrawModel::RaoKupper => format!("Rao-Kupper, draw parameter {:.1} Elo", table.draw_parameter * ELO_PER_NAT),
    };
    let advantage = table.advantage;
    *text += "\nthe fit\n";
    *text += &format!("  {:<22} {model}\n", "model");
    *text += &format!(
        "  {:<22} {:+.1} Elo  [{:+.1}, {:+.1}]\n",
        "first-move advantage γ", advantage.value, advantage.interval.lower, advantage.interval.upper
    );
    let errors = match table.errors {
        ErrorKind::ClusteredByOpening => "clustered by opening",
        ErrorKind::FisherInformation => "Fisher information, as there are few openings: they may be too small",
    };
    *text += &format!("  {:<22} {errors}\n", "errors");
    let mut test = |name: &str, found: &Test<(f64, usize, f64)>| {
        *text += &match found {
            Test::Done((statistic, degrees, p)) => format!("  {name:<22} χ² {statistic:.2} of {degrees}, p {p:.3}\n"),
            Test::Refused(reason) => format!("  {name:<22} none: {reason}\n"),
        };
    };
    let ratio = |found: &Test<LikelihoodRatio>| found.map(|test| (test.statistic, test.degrees, test.p));
    test("model fits", &table.goodness_of_fit.map(|test| (test.statistic, test.degrees, test.p)));
    test("no advantage", &ratio(&table.advantage_test));
    test("same for all agents", &ratio(&table.constant_advantage_test));
    test(
        "same at all strengths",
        &table.advantage_by_strength.map(|test| {
            let ratio = test.likelihood_ratio;
            (ratio.statistic, ratio.degrees, ratio.p)
        }),
    );
}

/// Returns the results of all counted games for whoever began.
fn beginners(report: &RatingReport) -> Trinomial {
    report.pairings.iter().map(|pairing| pairing.beginning + pairing.replying.reversed()).sum()
}

/// Says why a weak prior was needed, and what it means for the numbers; empty where none was.
fn prior_text(table: &RatingTable, beginners: &Trinomial) -> String {
    if !table.is_regularised {
        return String::new();
    }
    let held = "a weak prior (600 Elo wide, and one game, half won and half lost)";
    let groups: Vec<String> = table.separation.iter().map(|group| group.join(", ")).collect();
    if groups.len() > 1 {
        return format!(
            "\nsome agents took every point, so the games alone give no finite ratings; {held}\n\
             holds them, and their distance is a lower bound rather than an estimate\n  \
             every point went to the left: {}\n",
            groups.join("  >  ")
        );
    }
    let bound = "the advantage of the first move is a bound rather than an estimate";
    let (why, so) = match *beginners {
        Trinomial { wins: 0, losses: 0, .. } => {
            ("every game was drawn", "the games tell nobody from anybody, nor how often equals draw")
        }
        Trinomial { losses: 0, .. } => ("whoever began never lost", bound),
        Trinomial { wins: 0, .. } => ("whoever began never won", bound),
        _ => ("strength and seats together explain every result", "the ratings are bounds rather than estimates"),
    };
    format!("\n{why}, so the games alone give no finite fit; {held}\nholds it, and {so}\n")
}

#[cfg(test)]
mod tests {
    use latrunculi_eval::statistics::SeriesResult;

    use super::*;

    /// Returns what is said of the fit of two agents, one of which began the games `one` and the other the games
    /// `other`; results are those of whoever began.
    fn said(one: Trinomial, other: Trinomial) -> String {
        let results: Vec<SeriesResult> = (0..10)
            .flat_map(|opening| {
                [(0, 1, one), (1, 0, other)].map(|(first, second, games)| SeriesResult {
                    first,
                    second,
                    games,
                    opening,
                })
            })
            .collect();
        let agents = ["greedy".to_owned(), "random".to_owned()];
        let table = RatingTable::fit(&agents, &results, &FitSettings::default()).expect("a fit");
        prior_text(&table, &(one + other))
    }

    #[test]
    fn a_weak_prior_is_explained_by_what_made_it_necessary() {
        let (won, drawn, lost) = (Trinomial::new(1, 0, 0), Trinomial::new(0, 1, 0), Trinomial::new(0, 0, 1));
        for (one, other, why, what) in [
            (won, lost, "some agents took every point", "every point went to the left: greedy  >  random"),
            (drawn, drawn, "every game was drawn", "nobody from anybody"),
            (won, won, "whoever began never lost", "a bound"),
            (lost, lost, "whoever began never won", "a bound"),
        ] {
            let said = said(one, other);
            assert!(said.contains(why) && said.contains(what), "{said}");
            assert!(said.contains("every point") == (why == "some agents took every point"), "{said}");
        }
        assert_eq!(said(won + lost + drawn, won + lost + drawn), "");
    }
}
