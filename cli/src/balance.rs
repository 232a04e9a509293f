//! `balance`: the first player's advantage in many rulesets.

mod settings;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::{Args, Command, Id};
use latrunculi_engine::{Rules, Ruleset};
use latrunculi_eval::AgentSpec;
use latrunculi_eval::study::{
    StudyConfig, StudyProgress, StudySettings, StudySummary, command, run_study, saved_study,
};
use latrunculi_train::models::NetworkOpener;
use latrunculi_train::{provenance, studies};

use crate::games_args::{PlayersArgs, number};
use crate::interrupt::{Stopped, stop_on_interrupt};
use crate::libtorch::Libtorch;
use crate::origin;
use crate::progress::GamesProgress;

/// Which games a study has. This is stored in its folder and cannot be changed later.
#[derive(Args)]
struct SettingsArgs {
    /// A study file (configs/studies/ has examples); options change single values of it
    #[arg(value_name = "STUDY.toml")]
    study: Option<PathBuf>,
    /// Rulesets by name or path, with commas between; `all` is every reconstruction
    #[arg(long, alias = "ruleset", value_name = "RULESET,RULESET", value_delimiter = ',')]
    rulesets: Option<Vec<String>>,
    /// Agents with commas between, each of which plays itself; those of one kind form a ladder of budgets
    #[arg(long, value_name = "AGENT,AGENT")]
    agents: Option<String>,
    /// Calls a ruleset balanced if its score is shown to be within this many points of 50 [default: 3]
    #[arg(long, value_name = "POINTS", value_parser = settings::points())]
    margin: Option<f64>,
    /// Calls a ruleset balanced only if pieces are captured in this percentage of the games [default: 50]
    #[arg(long, value_name = "PERCENT",
        value_parser = number(0.0..=100.0, "it must be from 0 to 100 percent, as in 50"))]
    min_contact: Option<f64>,
    /// Source of all randomness [default: 0]
    #[arg(long)]
    seed: Option<u64>,
    /// Actions that are drawn at the beginning of each game [default: 8 where stones are placed,
    /// else 6; with --opening-policy 20, or all stones if more]
    #[arg(long, value_name = "ACTIONS")]
    opening: Option<usize>,
    /// Plays every ruleset with openings of this length too, to measure the effect of the opening
    #[arg(long, value_name = "ACTIONS")]
    second_opening: Option<usize>,
    /// Draws openings from this agent's visits or policy instead of from all legal actions alike
    #[arg(long, value_name = "AGENT")]
    opening_policy: Option<String>,
    /// Temperature of that policy; less prefers the best actions [default: 1]
    #[arg(long, value_name = "T")]
    opening_temperature: Option<f64>,
    /// Also describes the games: lengths, choice, use of the rules, heat maps, value of pieces
    #[arg(long)]
    metrics: bool,
    /// Gives men to the side that is behind and finds the number that makes the game fair
    #[arg(long, value_name = "MEN,MEN", value_delimiter = ',', num_args = 0..=1, default_missing_value = "1,2")]
    compensation: Option<Vec<u32>>,
    /// Measures the advantage left under the pie rule: one player makes the first turn, the other chooses sides
    #[arg(long)]
    pie: bool,
    /// Separates placement from movement in rulesets that place stones
    #[arg(long)]
    phases: bool,
    /// Derives rulesets with other values of one parameter: capture.per_move=one,all (may be repeated)
    #[arg(long, value_name = "PARAMETER=V1,V2", value_parser = settings::sweep)]
    sweep: Vec<(String, Vec<String>)>,
}

/// Each by its name, so that a refusal names the one that was given.
fn settings_names() -> Vec<Id> {
    SettingsArgs::augment_args(Command::new("balance")).get_arguments().map(|option| option.get_id().clone()).collect()
}

#[derive(Args)]
pub(crate) struct BalanceArgs {
    #[command(flatten)]
    settings: SettingsArgs,
    /// Folder for the games and the report; a study in it goes on, also with further agents
    #[arg(long, value_name = "DIR", required_unless_present_any = ["resume", "report_only"], conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Continues the study in this folder with its settings; with --max-games, --min-games or --half-width it plays more
    /// games
    #[arg(long, value_name = "DIR", conflicts_with_all = settings_names())]
    resume: Option<PathBuf>,
    /// Writes report.html again from the summary in this folder, without playing
    #[arg(long, value_name = "DIR", 
        conflicts_with_all = settings_names(), conflicts_with_all = ["out", "resume", "max_games", "min_games", "half_width", "json"])]
    report_only: Option<PathBuf>,
    /// Plays until the half-width of the score's interval is this many points of 100 [default: 3]
    #[arg(long, value_name = "POINTS", value_parser = settings::points())]
    half_width: Option<f64>,
    /// The fewest games of each ruleset with each agent [default: 400]
    #[arg(long, value_name = "N")]
    min_games: Option<u64>,
    /// The most games of each ruleset with each agent [default: 4000]
    #[arg(long, value_name = "N")]
    max_games: Option<u64>,
    #[command(flatten)]
    players: PlayersArgs,
    /// Prints the summary as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: BalanceArgs, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    if let Some(folder) = &args.report_only {
        studies::write_report_again(folder)?;
        println!("written: {}", folder.join(studies::REPORT).display());
        return Ok(());
    }
    let is_network = |text: &String| text.parse().is_ok_and(|agent: AgentSpec| agent.model().is_some());
    // A study may name its agents in a file.
    let has_networks =
        args.settings.agents.as_deref().is_none_or(|agents| settings::agents(agents).iter().any(is_network))
            || args.settings.opening_policy.as_ref().is_some_and(is_network);
    let opener = args.players.network.opener(has_networks, libtorch)?;
    let (settings, rulesets, folder) = match (&args.resume, &args.out) {
        (Some(folder), _) => {
            let (mut settings, rulesets) = saved_study(folder)?;
            settings::extend(&mut settings, &args);
            (settings, rulesets, folder.clone())
        }
        (None, Some(folder)) => {
            let settings = settings::settings_of(&args)?;
            let rulesets = settings::rulesets(&settings.rulesets)?;
            (settings, rulesets, folder.clone())
        }
        (None, None) => bail!("name a folder with --out"),
    };
    let summary = study(settings, rulesets, &folder, &args.players, &opener)?;
    if args.json {
        print!("{}", summary.to_json()?);
    } else {
        print!("{}", text::text(&summary, &folder, &args.players.store_as_given()));
    }
    if summary.is_complete { Ok(()) } else { Err(Stopped::silently().into()) }
}

/// Makes a study, or the rest of it, in a folder, and writes its report there.
pub(crate) fn study(
    settings: StudySettings,
    rulesets: Vec<Ruleset>,
    folder: &Path,
    players: &PlayersArgs,
    opener: &NetworkOpener,
) -> anyhow::Result<StudySummary> {
    let command = command(&settings);
    let stop = stop_on_interrupt()?;
    let config =
        StudyConfig { settings, rulesets, command, folder: folder.to_owned(), players: players.players(&stop)? };
    let begun = Instant::now();
    let progress = GamesProgress::new(players.quiet, "[{bar:30}] {pos}/{len} games  {msg}");
    let mut open = |rules: &Arc<Rules>, model: &str| {
        // The scales of 8 bits are measured for each ruleset, which takes a second or two.
        progress.tell(format!("opens net:{model} for {}", rules.ruleset().id));
        opener.open_for_games(rules, model)
    };
    let summary = run_study(&config, &mut open, &mut |at: &StudyProgress| {
        progress.follow(at.games, at.games_expected, Some(text::progress(at)), &stop)
    });
    progress.finish();
    let summary = summary?;
    studies::write(folder, &config.settings, &summary)?;
    add_provenance(folder, config.players.threads, begun.elapsed(), summary.is_complete)?;
    Ok(summary)
}

/// Adds a line on the machine and the time of this part of the study.
fn add_provenance(folder: &Path, threads: usize, took: Duration, is_complete: bool) -> anyhow::Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let line = serde_json::json!({
        "program": "latrunculi",
        "version": env!("CARGO_PKG_VERSION"),
        "commit": origin::COMMIT,
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
        // In one piece, so that none is half written.
        file.write_all(format!("{line}\n").as_bytes())
    };
    write().with_context(|| format!("{}: writing it", path.display()))
}
