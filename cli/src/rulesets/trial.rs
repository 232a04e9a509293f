//! `rulesets try`: what games of a ruleset are like, in a few minutes.

use std::path::{Path, PathBuf};

use clap::Args;
use latrunculi_engine::EndReason;
use latrunculi_eval::metrics::mechanics::{DECORATIVE_BELOW, MechanicUse};
use latrunculi_eval::study::summary::{CellSummary, Conclusion, RulesetSummary};
use latrunculi_eval::study::{StudySettings, StudySummary};
use latrunculi_stats::Interval;
use latrunculi_train::rulesets::{expand_all, load_file};

use crate::balance::study;
use crate::games_args::{PlayersArgs, games};
use crate::interrupt::Stopped;
use crate::libtorch::Libtorch;
use crate::lines::{Table, beside, wrapped};
use crate::quoted;

/// Who plays: two kinds of players, since one alone may miss what a ruleset offers.
const AGENTS: [&str; 2] = ["net:sims=16", "alphabeta:nodes=200"];

#[derive(Args)]
pub(crate) struct TrialArgs {
    /// Paths of files, or shipped names
    #[arg(required = true, value_name = "RULESET")]
    rulesets: Vec<String>,
    /// Games of each ruleset with each agent
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = games())]
    games: usize,
    /// Source of all randomness
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Folder that keeps the games and the report, as one of `balance` [default: nothing is kept]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    players: PlayersArgs,
}

pub(super) fn run(args: &TrialArgs, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    let opener = args.players.network.opener(true, libtorch)?;
    let names = expand_all(&args.rulesets);
    let rulesets = names.iter().map(|name| Ok(load_file(name)?.ruleset)).collect::<anyhow::Result<_>>()?;
    let games = args.games as u64;
    let settings = StudySettings {
        rulesets: names.clone(),
        agents: AGENTS.map(str::to_owned).to_vec(),
        min_games: games,
        max_games: games,
        seed: args.seed,
        metrics: true,
        ..StudySettings::default()
    };
    let unkept = tempfile::tempdir()?;
    let folder = args.out.as_deref().unwrap_or(unkept.path());
    let summary = study(settings, rulesets, folder, &args.players, &opener)?;
    for (name, ruleset) in names.iter().zip(&summary.rulesets) {
        println!("{}", text(&summary, ruleset, name));
    }
    if let Some(folder) = &args.out {
        println!("written: report.html, summary.json, balance.csv and the games in {}", folder.display());
    }
    if summary.is_complete { Ok(()) } else { Err(Stopped::silently().into()) }
}

/// What is told of the games of one agent, by name.
type Fact = (&'static str, fn(&CellSummary) -> Option<String>);

const FACTS: [Fact; 8] = [
    ("played by", |cell| Some(cell.agent.clone())),
    ("games", |cell| Some(cell.games.to_string())),
    ("cut off by the turn limit", |cell| Some(cell.outcomes.truncated.to_string())),
    ("won by a player", |cell| cell.decisive.map(|won| percent(won.rate, won.interval))),
    ("with captures", |cell| cell.contact.map(|with| percent(with.rate, with.interval))),
    ("first player's score", |cell| cell.score.as_ref().map(|score| percent(score.score, score.interval))),
    ("turns: median, 90 % of games", |cell| {
        let turns = &cell.metrics.as_ref()?.lengths.turns;
        Some(format!("{:.0}, {:.0} to {:.0}", turns.median.value, turns.p5.value, turns.p95.value))
    }),
    ("actions to choose from, mean", |cell| {
        let phases = &cell.metrics.as_ref()?.branching.phases;
        Some(
            phases
                .iter()
                .map(|phase| format!("{:.0} ({})", phase.overall.mean.value, phase.phase))
                .collect::<Vec<_>>()
                .join(", "),
        )
    }),
];

fn percent(share: f64, interval: Interval) -> String {
    format!("{:.1} {:.1}", 100.0 * share, interval.percent())
}

/// Returns what the games of a ruleset were like; `given` is the ruleset as it was named.
fn text(summary: &StudySummary, ruleset: &RulesetSummary, given: &str) -> String {
    let cells = &ruleset.cells;
    let confidence = 100.0 * summary.settings.confidence;
    let columns = Table::new().left("", 0, |fact: &&Fact| fact.0.to_owned());
    let columns = cells.iter().fold(columns, |columns, cell| {
        columns.left("", 0, move |fact| (fact.1)(cell).unwrap_or_else(|| "-".to_owned()))
    });
    let facts = columns.lines(&FACTS.iter().collect::<Vec<_>>()).split_off(1).join("\n");
    let ends = cells.iter().map(|cell| {
        let end = |(reason, count): (&String, &u64)| format!("{}: {count}", EndReason::words_for(reason));
        beside(&format!("  {}  ", cell.agent), &cell.ends.iter().map(end).collect::<Vec<_>>().join("; "))
    });
    let given = quoted(Path::new(given));
    let paragraphs = [
        wrapped(&headline(ruleset), 0),
        format!("{facts}\n[{confidence:.0} % intervals]"),
        format!("how games end\n{}", ends.collect::<Vec<_>>().join("\n")),
        beside("rules that are hardly used: ", &unused(cells)),
        format!(
            "next: latrunculi play {given} --second net\n      latrunculi rulesets try {given} --games 1000 --out DIR"
        ),
    ];
    paragraphs.join("\n\n") + "\n"
}

/// Says in one sentence whether games end, have winners, and are fair.
fn headline(ruleset: &RulesetSummary) -> String {
    let (mut won, mut cut, mut games) = (0, 0, 0);
    for outcomes in ruleset.cells.iter().map(|cell| &cell.outcomes) {
        won += outcomes.first_wins + outcomes.second_wins;
        cut += outcomes.truncated;
        games += outcomes.games();
    }
    let ended = match cut {
        0 => "every game ends by a rule".to_owned(),
        cut => format!("{cut} of {games} games do not end by a rule but by the program's turn limit"),
    };
    let decisive = if 2 * won >= games { "most games have a winner" } else { "most games are drawn" };
    let fair = |cell: &CellSummary| match cell.verdict.as_ref().map(|verdict| verdict.verdict) {
        Some(Conclusion::Balanced) => "it is balanced",
        Some(Conclusion::EvenWithThisPlayer) => "it is even, but not shown to be balanced",
        Some(Conclusion::First) => "the first player is ahead",
        Some(Conclusion::Second) => "the second player is ahead",
        Some(Conclusion::Unresolved) | None => "too few games to say whether it is fair",
    };
    let mut found: Vec<(&str, &str)> = ruleset.cells.iter().map(|cell| (fair(cell), cell.agent.as_str())).collect();
    let fair = match found.iter().all(|(said, _)| *said == found[0].0) {
        true => found.remove(0).0.to_owned(),
        false => found.iter().map(|(said, agent)| format!("{said} (with {agent})")).collect::<Vec<_>>().join(", "),
    };
    format!("{}: {ended}; {decisive}; {fair}.", ruleset.name)
}

/// Returns the mechanisms of the ruleset that no agent uses in a share of games that matters.
fn unused(cells: &[CellSummary]) -> String {
    let mut uses: Vec<Vec<&MechanicUse>> = Vec::new();
    for metrics in cells.iter().filter_map(|cell| cell.metrics.as_ref()) {
        for (index, of) in metrics.mechanics.iter().enumerate() {
            if uses.len() <= index {
                uses.push(Vec::new());
            }
            uses[index].push(of);
        }
    }
    let hardly = |of: &&Vec<&MechanicUse>| of.iter().all(|of| of.overall.games.rate < DECORATIVE_BELOW);
    let told: Vec<&str> = uses.iter().filter(hardly).map(|of| of[0].mechanic.as_str()).collect();
    if told.is_empty() { "none".to_owned() } else { told.join("; ") }
}
