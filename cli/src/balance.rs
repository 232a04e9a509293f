//! `balance`: the first player's advantage of many rulesets, and how sure it is.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use latrunculi_engine::{Rules, Ruleset, parameters::nearest, presets};
use latrunculi_eval::agents::NetworkEvaluator;
use latrunculi_eval::study::table::verdict_text;
use latrunculi_eval::study::{
    StudyConfig, StudyNetworks, StudyProgress, StudySettings, StudySummary, run_study, saved_study,
};

use crate::interrupt::{Stopped, stop_on_interrupt};
use crate::network::{self, NetworkArgs};
use crate::rulesets_source::{load_file, read_text};
use crate::run_dir::write_whole;
use crate::{provenance, report};

/// A study file is a few kilobytes; what is larger is something else.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// The agents' names, by which a list of them is taken apart.
const AGENTS: [&str; 6] = ["random", "greedy", "alphabeta", "mcts", "net", "human"];

/// The options that say what a study is: a folder has its own, which no later call may change.
const SETTINGS: [&str; 18] = [
    "study",
    "rulesets",
    "agents",
    "half_width",
    "margin",
    "min_games",
    "max_games",
    "seed",
    "opening",
    "second_opening",
    "opening_policy",
    "opening_temperature",
    "metrics",
    "compensation",
    "pie",
    "phases",
    "sweep",
    "other_ruleset",
];

#[derive(Args)]
pub(crate) struct BalanceArgs {
    /// A study file (configs/studies/ has examples); options change single values of it
    #[arg(value_name = "STUDY.toml")]
    study: Option<PathBuf>,
    /// Rulesets by name or path, with commas between; `all` is every reconstruction
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    rulesets: Option<Vec<String>>,
    /// Agents with commas between, each of which plays itself; those of one kind form a ladder of budgets
    #[arg(long, value_name = "AGENT,AGENT")]
    agents: Option<String>,
    /// Folder for the games and the report; a study that was stopped goes on in it
    #[arg(long, value_name = "DIR", required_unless_present_any = ["resume", "report_only"], conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Goes on with the study in this folder, which knows what was asked
    #[arg(long, value_name = "DIR", conflicts_with_all = SETTINGS)]
    resume: Option<PathBuf>,
    /// Makes report.html again from the summary in this folder, without playing
    #[arg(long, value_name = "DIR", conflicts_with_all = SETTINGS, conflicts_with_all = ["out", "resume"])]
    report_only: Option<PathBuf>,
    /// Games are played until the score is known to so many points of 100 to either side [default: 3]
    #[arg(long, value_name = "POINTS", value_parser = points)]
    half_width: Option<f64>,
    /// A ruleset is balanced if its score is shown to be nearer to 50 than so many points of 100 [default: 3]
    #[arg(long, value_name = "POINTS", value_parser = points)]
    margin: Option<f64>,
    /// The fewest games of each ruleset with each agent [default: 400]
    #[arg(long, value_name = "N")]
    min_games: Option<u64>,
    /// The most games of each ruleset with each agent [default: 4000]
    #[arg(long, value_name = "N")]
    max_games: Option<u64>,
    /// Everything random follows from it [default: 0]
    #[arg(long)]
    seed: Option<u64>,
    /// Actions that are drawn at the beginning of each game [default: 8 where stones are placed, else 6]
    #[arg(long, value_name = "ACTIONS")]
    opening: Option<usize>,
    /// Plays every ruleset with openings of this length too, to see what the opening itself does
    #[arg(long, value_name = "ACTIONS")]
    second_opening: Option<usize>,
    /// Draws openings from this agent's visits or policy instead of from all legal actions alike
    #[arg(long, value_name = "AGENT")]
    opening_policy: Option<String>,
    /// Temperature of that policy; less prefers the best actions [default: 1]
    #[arg(long, value_name = "T")]
    opening_temperature: Option<f64>,
    /// Describes the games too: lengths, choice, use of the rules, heat maps, worth of pieces
    #[arg(long)]
    metrics: bool,
    /// Gives men to the side that is behind and finds the number that makes the game fair
    #[arg(long, value_name = "MEN,MEN", value_delimiter = ',', num_args = 0..=1, default_missing_value = "1,2")]
    compensation: Option<Vec<u32>>,
    /// Measures what is left of the advantage if one player makes the first turn and the other chooses sides
    #[arg(long)]
    pie: bool,
    /// Tells placement from movement where stones are placed
    #[arg(long)]
    phases: bool,
    /// Derives rulesets with other values of one parameter: capture.per_move=one,all (may be repeated)
    #[arg(long, value_name = "PARAMETER=V1,V2", value_parser = sweep)]
    sweep: Vec<(String, Vec<String>)>,
    /// Threads to think on; 0 for one per core
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: u16,
    /// Games that share the batches of a network
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    games_at_once: u16,
    #[command(flatten)]
    network: NetworkArgs,
    /// Prints the summary as JSON
    #[arg(long)]
    json: bool,
    /// Shows no progress
    #[arg(long)]
    quiet: bool,
}

/// Reads a distance of two scores in points of 100; a study file has it as a share of 1.
fn points(text: &str) -> Result<f64, String> {
    let points = text.trim().parse().ok().filter(|points| (f64::MIN_POSITIVE..50.0).contains(points));
    points.ok_or_else(|| "it must be above 0 and below 50 points, as in 3".to_owned())
}

fn sweep(text: &str) -> Result<(String, Vec<String>), String> {
    match text.split_once('=') {
        Some((name, values)) if !name.trim().is_empty() && !values.trim().is_empty() => {
            Ok((name.trim().to_owned(), values.split(',').map(|value| value.trim().to_owned()).collect()))
        }
        _ => Err("write a parameter and its values, as in capture.per_move=one,all".to_owned()),
    }
}

/// Takes a list of agents apart, whose texts may hold commas themselves.
fn agents(text: &str) -> Vec<String> {
    let mut agents: Vec<String> = Vec::new();
    for part in text.split(',') {
        let name = part.trim().split(':').next().unwrap_or_default();
        let continues = !part.contains(':') && !AGENTS.contains(&name) && part.contains('=');
        match agents.last_mut() {
            Some(last) if continues => last.push_str(&format!(",{}", part.trim())),
            _ => agents.push(part.trim().to_owned()),
        }
    }
    agents
}

pub(crate) fn run(args: BalanceArgs) -> anyhow::Result<()> {
    if let Some(folder) = &args.report_only {
        report::write_again(folder)?;
        println!("written: {}", folder.join(report::FILE).display());
        return Ok(());
    }
    let (settings, rulesets, folder) = match (&args.resume, &args.out) {
        (Some(folder), _) => {
            let (settings, rulesets) = saved_study(folder)?;
            (settings, rulesets, folder.clone())
        }
        (None, Some(folder)) => {
            let settings = settings(&args)?;
            let rulesets = rulesets(&settings.rulesets)?;
            (settings, rulesets, folder.clone())
        }
        (None, None) => bail!("name a folder with --out"),
    };
    let command = command(&settings);
    let config = StudyConfig {
        settings,
        rulesets,
        command,
        folder: folder.clone(),
        threads: args.threads.into(),
        games_at_once: args.games_at_once.into(),
    };
    let stop = stop_on_interrupt()?;
    let begun = Instant::now();
    let progress = Progress::new(args.quiet);
    let mut networks = Networks { args: args.network.playing_others(config.settings.other_ruleset) };
    let summary = run_study(&config, &mut networks, &mut |at: &StudyProgress| {
        progress.show(at);
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    progress.bar.finish_and_clear();
    let summary = summary?;
    write_files(&folder, &config.settings, &summary)?;
    add_provenance(&folder, args.threads.into(), begun.elapsed(), summary.is_complete)?;
    if args.json {
        print!("{}", summary.to_json()?);
    } else {
        print!("{}", text(&summary, &folder));
    }
    if summary.is_complete { Ok(()) } else { Err(Stopped::silently().into()) }
}

/// Returns the settings of the study file with the options laid over them.
fn settings(args: &BalanceArgs) -> anyhow::Result<StudySettings> {
    let mut settings = match &args.study {
        Some(path) => read_study(path)?,
        None => StudySettings::default(),
    };
    fn set<T: Clone>(place: &mut T, value: &Option<T>) {
        if let Some(value) = value {
            *place = value.clone();
        }
    }
    let points = |value: Option<f64>| value.map(|value| value / 100.0);
    set(&mut settings.rulesets, &args.rulesets);
    set(&mut settings.agents, &args.agents.as_deref().map(agents));
    set(&mut settings.half_width, &points(args.half_width));
    set(&mut settings.margin, &points(args.margin));
    set(&mut settings.min_games, &args.min_games);
    set(&mut settings.max_games, &args.max_games);
    if args.max_games.is_some() && args.min_games.is_none() {
        settings.min_games = settings.min_games.min(settings.max_games);
    }
    set(&mut settings.seed, &args.seed);
    let opening = &mut settings.opening;
    if args.opening.is_some() {
        (opening.array, opening.placement) = (args.opening, args.opening);
    }
    opening.second = args.second_opening.or(opening.second);
    opening.policy = args.opening_policy.clone().or(opening.policy.take());
    set(&mut opening.temperature, &args.opening_temperature);
    set(&mut settings.compensation, &args.compensation);
    settings.metrics |= args.metrics;
    settings.pie |= args.pie;
    settings.phases |= args.phases;
    // Several options for one parameter add up; together they replace what the file says of it.
    let mut sweep: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, values) in &args.sweep {
        sweep.entry(name.clone()).or_default().extend(values.iter().cloned());
    }
    settings.sweep.extend(sweep);
    settings.other_ruleset |= args.network.other_ruleset;
    Ok(settings)
}

/// Reads a study file; a key that is not known is refused with the nearest one that is.
fn read_study(path: &Path) -> anyhow::Result<StudySettings> {
    let text = read_text(path, FILE_BYTES_MAX)?;
    let in_file = || format!("{}: not a study", path.display());
    let table: toml::Table = toml::from_str(&text).with_context(in_file)?;
    let mut faults = Vec::new();
    if let serde_json::Value::Object(known) = serde_json::to_value(StudySettings::default())? {
        unknown_keys(&table, &known, "", &mut faults);
    }
    if !faults.is_empty() {
        bail!("{}\n  {}", in_file(), faults.join("\n  "));
    }
    toml::from_str(&text).with_context(in_file)
}

fn unknown_keys(
    table: &toml::Table,
    known: &serde_json::Map<String, serde_json::Value>,
    place: &str,
    faults: &mut Vec<String>,
) {
    for (key, value) in table {
        match (known.get(key), value) {
            (None, _) => {
                let hint = nearest(key, known.keys().map(String::as_str));
                let hint = hint.map(|near| format!("; did you mean {place}{near}?")).unwrap_or_default();
                faults.push(format!("there is no setting {place}{key}{hint}"));
            }
            // Tables that are empty by default have keys of the user's own.
            (Some(serde_json::Value::Object(inner)), toml::Value::Table(table)) if !inner.is_empty() => {
                unknown_keys(table, inner, &format!("{place}{key}."), faults);
            }
            _ => {}
        }
    }
}

/// Loads the rulesets of a study; `all` stands for every reconstruction.
fn rulesets(names: &[String]) -> anyhow::Result<Vec<Ruleset>> {
    let is_reconstruction = |name: &&&str| !name.starts_with("x-");
    let mut rulesets: Vec<Ruleset> = Vec::new();
    for name in names {
        if name == "all" {
            let all = presets::NAMES.iter().filter(is_reconstruction);
            rulesets.extend(all.filter_map(|name| presets::ruleset(name)));
        } else {
            rulesets.push(load_file(name)?.ruleset);
        }
    }
    Ok(rulesets)
}

/// Returns the command that makes a study, in the words of its settings alone.
fn command(settings: &StudySettings) -> String {
    let usual = StudySettings::default();
    let opening = &settings.opening;
    let plain = StudySettings {
        title: settings.title.clone(),
        batch: usual.batch,
        confidence: usual.confidence,
        pie_turns: usual.pie_turns,
        pie_games: usual.pie_games,
        ..settings.clone()
    };
    let is_plain = plain == *settings && opening.by_ruleset.is_empty() && opening.array == opening.placement;
    if !is_plain {
        return "latrunculi balance DIR/study.toml --out DIR".to_owned();
    }
    let points = |value: f64| (value * 1e6).round() / 1e4;
    let mut options = vec![
        format!("--rulesets {}", settings.rulesets.join(",")),
        format!("--agents {}", settings.agents.join(",")),
        format!("--half-width {}", points(settings.half_width)),
    ];
    let mut add = |is_there: bool, option: String| {
        if is_there {
            options.push(option);
        }
    };
    add(settings.margin != usual.margin, format!("--margin {}", points(settings.margin)));
    add(settings.min_games != usual.min_games, format!("--min-games {}", settings.min_games));
    add(settings.max_games != usual.max_games, format!("--max-games {}", settings.max_games));
    add(true, format!("--seed {}", settings.seed));
    add(opening.array.is_some(), format!("--opening {}", opening.array.unwrap_or_default()));
    add(opening.second.is_some(), format!("--second-opening {}", opening.second.unwrap_or_default()));
    if let Some(policy) = &opening.policy {
        add(true, format!("--opening-policy {policy} --opening-temperature {}", opening.temperature));
    }
    let men: Vec<String> = settings.compensation.iter().map(u32::to_string).collect();
    add(settings.metrics, "--metrics".to_owned());
    add(!men.is_empty(), format!("--compensation {}", men.join(",")));
    add(settings.pie, "--pie".to_owned());
    add(settings.phases, "--phases".to_owned());
    for (name, values) in &settings.sweep {
        add(true, format!("--sweep {name}={}", values.join(",")));
    }
    add(settings.other_ruleset, "--other-ruleset".to_owned());
    format!("latrunculi balance {} --out DIR", options.join(" "))
}

/// Writes what other programs read.
fn write_files(folder: &Path, settings: &StudySettings, summary: &StudySummary) -> anyhow::Result<()> {
    let json = summary.to_json().context("the summary")?;
    write_whole(&folder.join("study.toml"), toml::to_string(settings).context("the settings")?.as_bytes())?;
    write_whole(&folder.join("summary.json"), json.as_bytes())?;
    write_whole(&folder.join("balance.csv"), summary.to_csv().as_bytes())?;
    report::write(folder, summary)
}

/// Notes on which machine a study was played and how long it took: one line for each time that it went on.
fn add_provenance(folder: &Path, threads: usize, took: Duration, is_complete: bool) -> anyhow::Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let line = serde_json::json!({
        "program": "latrunculi",
        "version": env!("CARGO_PKG_VERSION"),
        "commit": provenance::COMMIT,
        "processor": provenance::processor(),
        "system": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        "cores": cores,
        "threads": if threads == 0 { cores } else { threads },
        "seconds": took.as_secs(),
        "is_complete": is_complete,
    });
    let path = folder.join("provenance.jsonl");
    let write = || -> std::io::Result<()> {
        let mut file = std::fs::File::options().create(true).append(true).open(&path)?;
        writeln!(file, "{line}")
    };
    write().with_context(|| format!("{}: writing it", path.display()))
}

/// Networks from model files.
struct Networks {
    args: NetworkArgs,
}

impl StudyNetworks<'static> for Networks {
    fn identity(&mut self, model: &str) -> Result<String, String> {
        network::checksum(model).map_err(|error| format!("{error:#}"))
    }

    fn open(&mut self, rules: &Arc<Rules>, model: &str) -> Result<NetworkEvaluator<'static>, String> {
        self.args.factory(rules)(model)
    }
}

/// A bar on a terminal, a line now and then otherwise.
struct Progress {
    bar: ProgressBar,
    speaks: bool,
    last_line: Mutex<Option<Instant>>,
}

impl Progress {
    fn new(is_quiet: bool) -> Progress {
        let is_terminal = std::io::stderr().is_terminal();
        let bar = if is_quiet || !is_terminal { ProgressBar::hidden() } else { ProgressBar::new(0) };
        let style = ProgressStyle::with_template("[{bar:30}] {pos}/{len} games  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        bar.enable_steady_tick(Duration::from_millis(500));
        Progress { bar, speaks: !is_quiet && !is_terminal, last_line: Mutex::new(None) }
    }

    fn show(&self, at: &StudyProgress) {
        let mut message = format!("{}/{} series", at.series_done, at.series);
        if at.part.1 > 1 {
            message = format!("part {} of {}  {message}", at.part.0, at.part.1);
        }
        if let Some(secs) = at.secs_left {
            message.push_str(&format!("  {} left", HumanDuration(Duration::from_secs_f64(secs.clamp(0.0, 1e9)))));
        }
        if let Some(latest) = &at.latest {
            message.push_str(&format!("  {latest}"));
        }
        self.bar.set_length(at.games_expected);
        self.bar.set_position(at.games);
        if let Ok(mut last) = self.last_line.lock()
            && self.speaks
            && last.is_none_or(|last| last.elapsed() > Duration::from_secs(10))
        {
            *last = Some(Instant::now());
            eprintln!("{}/{} games  {message}", at.games, at.games_expected);
        }
        self.bar.set_message(message);
    }
}

/// Returns the summary for people: the headline agent's column, and where the rest is.
fn text(summary: &StudySummary, folder: &Path) -> String {
    let mut lines = Vec::new();
    for (agent, about) in summary.agents.iter().enumerate() {
        let is_headline = if agent == summary.headline_agent && summary.agents.len() > 1 { " (headline)" } else { "" };
        let confidence = 100.0 * summary.settings.confidence;
        lines.push(format!(
            "{}{is_headline}: the first player's score in points of 100 [{confidence} % interval], games won +, drawn =, lost -",
            about.agent
        ));
        for ruleset in &summary.rulesets {
            let cell = &ruleset.cells[agent];
            let Some(score) = &cell.score else {
                lines.push(format!("  {:<28} no score, {} games", ruleset.name, cell.games));
                continue;
            };
            let verdict = cell.verdict.as_ref().map_or("", |verdict| verdict_text(verdict.verdict));
            let outcomes = &cell.outcomes;
            lines.push(format!(
                "  {:<28} {:5.1}  [{:4.1}, {:5.1}]  {verdict:<10} +{} ={} -{}{}",
                ruleset.name,
                100.0 * score.score,
                100.0 * score.interval.lower,
                100.0 * score.interval.upper,
                outcomes.first_wins,
                outcomes.rule_draws + outcomes.truncated,
                outcomes.second_wins,
                if outcomes.truncated > 0 { format!(", {} truncated", outcomes.truncated) } else { String::new() },
            ));
        }
    }
    lines.extend(summary.notes.iter().map(|note| format!("note: {note}")));
    if !summary.is_complete {
        lines.push(format!("stopped early; latrunculi balance --resume {} goes on", folder.display()));
    }
    lines.push(format!("written: report.html, summary.json, balance.csv and the games in {}", folder.display()));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_agents_is_taken_apart_between_them_only() {
        assert_eq!(
            agents("alphabeta:depth=3,nodes=500,greedy,net:a.safetensors,sims=8, mcts:sims=5,seed=1"),
            ["alphabeta:depth=3,nodes=500", "greedy", "net:a.safetensors,sims=8", "mcts:sims=5,seed=1"]
        );
        assert_eq!(agents("alfabeta:nodes=5,greedi"), ["alfabeta:nodes=5", "greedi"]);
    }

    #[test]
    fn every_shipped_study_can_be_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/studies");
        let mut count = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let settings = read_study(&entry.unwrap().path()).unwrap();
            assert!(!rulesets(&settings.rulesets).unwrap().is_empty());
            count += 1;
        }
        assert!(count >= 2);
    }

    #[test]
    fn all_are_the_reconstructions() {
        let all = rulesets(&["all".to_owned()]).unwrap();
        assert_eq!(all.len(), 26);
        assert!(all.iter().all(|ruleset| !ruleset.id.starts_with("x-")));
    }

    #[test]
    fn the_command_says_what_the_settings_say() {
        let mut settings = StudySettings {
            rulesets: vec!["bell".to_owned()],
            agents: vec!["greedy".to_owned()],
            compensation: vec![1, 2],
            half_width: 0.025,
            ..StudySettings::default()
        };
        assert_eq!(
            command(&settings),
            "latrunculi balance --rulesets bell --agents greedy --half-width 2.5 --seed 0 --compensation 1,2 --out DIR"
        );
        settings.other_ruleset = true;
        assert!(
            command(&settings).ends_with(" --compensation 1,2 --other-ruleset --out DIR"),
            "{}",
            command(&settings)
        );
        settings.batch = 7;
        assert_eq!(command(&settings), "latrunculi balance DIR/study.toml --out DIR");
    }
}
