//! Searches, matches and studies.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use latrunculi_data::Precision;
use latrunculi_eval::matches::openings::PolicyOpenings;
use latrunculi_eval::opinion::{listed, to_json};
use latrunculi_eval::study::{StudyConfig, StudyProgress, StudySettings, command, run_study};
use latrunculi_eval::workers::Workers;
use latrunculi_eval::{AgentSpec, MatchConfig, MatchGame, MatchProgress, Players, SearchOptions};
use latrunculi_search::StopSignal;
use latrunculi_stats::{Sprt, SprtBounds};
use latrunculi_store::Store;
use latrunculi_train::models::NetworkOpener;
use latrunculi_train::networks::Processor;
use latrunculi_train::{error_chain, models, rulesets, studies};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde_json::{Value, json};

use crate::game::Game;
use crate::ruleset::Ruleset;
use crate::{failed, from_python, refused, running, to_python};

/// Opens networks in the precision that stands behind their names, or else as the commands do.
fn opener() -> NetworkOpener {
    NetworkOpener { loader: Arc::new(Processor), precision: Precision::Auto, notice: Arc::new(warn) }
}

/// Tells a notice as a warning of Python.
fn warn(text: &str) {
    Python::attach(|py| {
        let warned = py.import("warnings").and_then(|warnings| warnings.call_method1("warn", (text,)));
        // Warnings may have been made exceptions, for which there is no place here.
        warned.map_or_else(|error| error.write_unraisable(py, None), drop);
    });
}

fn agent(text: &str) -> PyResult<AgentSpec> {
    text.parse().map_err(refused)
}

/// Returns what calls `progress(done, expected, text)`.
fn teller(progress: Option<Py<PyAny>>) -> impl Fn(Python<'_>, (u64, u64, String)) -> PyResult<()> + Send + Sync {
    move |py, told| match &progress {
        Some(progress) => progress.call1(py, told).map(drop),
        None => Ok(()),
    }
}

fn go_on(stop: &StopSignal) -> ControlFlow<()> {
    if stop.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Searches the best action of a game as `latrunculi analyse --json` does, and returns the same as a dict: "action", "value" (in
/// [-1, 1] for the player to act), "score", "win_draw_loss", "depth", "effort", "variation", and the best `lines` "actions", each with
/// "action", "value", "score", "depth", "prior", "visits", "visit_share", "improved_policy" and "variation" (docs/FORMATS.md, "Analysis").
///
/// Args:
///     game: a Game that is not over.
///     agent: its text, as "alphabeta:nodes=20000", "mcts:sims=500", "net:sims=64", "greedy", "random". A network searches by PUCT
///         unless its text has "search=gumbel".
///     lines: the number of actions that are listed.
///     seed: of random numbers; None takes the agent's own, or 0.
///     analysis: whether a network whose text names no search searches by PUCT, as `latrunculi analyse` does; with False it searches
///         as it plays in matches.
///
/// Ctrl-C ends the search with KeyboardInterrupt. Raises ValueError for an unknown agent and when the game is over.
#[pyfunction]
#[pyo3(signature = (game, agent, *, lines = 5, seed = None, analysis = true))]
pub(crate) fn search<'py>(
    py: Python<'py>,
    game: &Bound<'py, Game>,
    agent: &str,
    lines: u16,
    seed: Option<u64>,
    analysis: bool,
) -> PyResult<Bound<'py, PyAny>> {
    static OPENER: LazyLock<NetworkOpener> = LazyLock::new(|| opener().for_single_positions());
    let spec = self::agent(agent)?;
    let spec = if analysis { spec.for_analysis() } else { spec };
    let state = game.try_borrow()?.state.clone();
    if let Some(words) = state.end_words() {
        return Err(refused(format!("the game is over: {words}")));
    }
    let (stop, lines) = (StopSignal::default(), usize::from(lines.max(1)));
    let found = running::run(
        py,
        &stop,
        |_, ()| Ok(()),
        |_progress| {
            let mut agent = spec.make(state.rules(), &mut OPENER.factory(state.rules()))?;
            agent.new_game(seed.or(spec.seed).unwrap_or(0));
            let mut silent = |_: &_| {};
            let mut options = SearchOptions { lines, stop: stop.clone(), ..SearchOptions::reporting(&mut silent) };
            agent.choose_with(&state, &mut options)
        },
    )?;
    let choice = found.map_err(|error| failed(&error))?;
    to_python(py, &to_json(&state, &spec.to_string(), &choice, &listed(&choice, lines), false))
}

/// Returns a game of a match as a row: its record (docs/FORMATS.md) with pair, beginner and margin.
fn row(game: &MatchGame) -> Value {
    let record = game.record.as_deref().and_then(|record| serde_json::from_str(&record.to_line()).ok());
    let mut row = record.unwrap_or_else(|| json!({}));
    row["pair"] = game.pair.into();
    row["beginner"] = game.beginner.into();
    row["margin"] = game.game.margin.into();
    row
}

/// Plays two agents against each other in pairs of games, as `latrunculi match --json` does: latrunculi.play_match wraps this.
#[pyfunction]
#[pyo3(signature = (first, second, ruleset, *, games, sprt, seed, opening, opening_policy, opening_temperature, ledger, threads,
    games_at_once, progress))]
#[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
pub(crate) fn play_match<'py>(
    py: Python<'py>,
    first: &str,
    second: &str,
    ruleset: &Bound<'py, PyAny>,
    games: usize,
    sprt: Option<(f64, f64)>,
    seed: u64,
    opening: Option<usize>,
    opening_policy: Option<&str>,
    opening_temperature: f64,
    ledger: Option<PathBuf>,
    threads: usize,
    games_at_once: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    if !(1..=1_000_000).contains(&games)
        || opening.is_some_and(|actions| actions > 1000)
        || !(1..=4096).contains(&games_at_once)
    {
        return Err(refused("games is from 1 to 1000000, opening at most 1000, games_at_once from 1 to 4096"));
    }
    let rules = Arc::clone(&Ruleset::from_argument(ruleset)?.get().rules);
    let opening_policy =
        opening_policy.map(|text| PolicyOpenings::new(agent(text)?, opening_temperature).map_err(refused));
    let bounds = SprtBounds::new(0.05, 0.05).map_err(refused)?;
    let config = MatchConfig {
        seed,
        sprt: sprt.map(|(elo0, elo1)| Sprt { elo0, elo1, bounds }),
        opening_length: opening,
        opening_policy: opening_policy.transpose()?,
        ledger,
        players: Players { threads, games_at_once, workers: None },
        keep_records: true,
        ..MatchConfig::new([agent(first)?, agent(second)?], games.div_ceil(2))
    };
    let stop = StopSignal::default();
    let played = running::run(py, &stop, teller(progress), |sender| {
        let mut observer = |at: &MatchProgress<'_>| {
            // The receiver is there as long as the work is.
            let _ = sender.send((at.games as u64, at.games_max as u64, at.results.to_string()));
            go_on(&stop)
        };
        let networks = opener().for_matches(&config.agents);
        let mut open = |rules: &_, name: &_| networks.open_for_games(rules, name);
        latrunculi_eval::play_match(&rules, &config, &mut open, &mut observer)
    })?;
    let report = played.map_err(|error| failed(&error))?;
    let rows: Vec<Value> = report.records.iter().map(row).collect();
    PyTuple::new(py, [to_python(py, &report)?, to_python(py, &rows)?])
}

/// Measures the first player's advantage as `latrunculi balance` does: latrunculi.balance wraps this.
#[pyfunction]
#[pyo3(signature = (settings, folder, *, threads, games_at_once, store, progress))]
pub(crate) fn balance<'py>(
    py: Python<'py>,
    settings: &Bound<'py, PyDict>,
    folder: PathBuf,
    threads: usize,
    games_at_once: usize,
    store: Option<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, String)> {
    let settings: StudySettings = serde_json::from_value(from_python(settings)?).map_err(refused)?;
    let named = rulesets::expand_all(&settings.rulesets);
    let rulesets: Result<Vec<_>, _> = named.iter().map(|name| Ok(rulesets::load_file(name)?.ruleset)).collect();
    let rulesets = rulesets.map_err(|error: latrunculi_train::Error| failed(&error))?;
    let stop = StopSignal::default();
    let studied = running::run(py, &stop, teller(progress), |sender| {
        let tell = |text: &str| drop(sender.send((0, 0, text.to_owned())));
        let workers = store.map(|url| {
            let store = Store::lead(&url, stop.flag()).map_err(|error| error_chain(&error))?;
            let models = |name: &str| models::bytes(name).map_err(|error| error_chain(&error));
            Ok::<_, String>(Workers { store, models: Arc::new(models), notice: warn })
        });
        let config = StudyConfig {
            command: command(&settings),
            settings: settings.clone(),
            rulesets,
            folder: folder.clone(),
            players: Players { threads, games_at_once, workers: workers.transpose()? },
        };
        tell("begins");
        let mut observer = |at: &StudyProgress| {
            let _ = sender.send((at.games, at.games_expected, at.latest.clone().unwrap_or_default()));
            go_on(&stop)
        };
        let networks = opener();
        let mut open = |rules: &_, name: &_| networks.open_for_games(rules, name);
        let summary = run_study(&config, &mut open, &mut observer).map_err(|error| error_chain(&error))?;
        studies::write(&folder, &settings, &summary).map_err(|error| error_chain(&error))?;
        Ok::<_, String>((summary.to_json().map_err(|error| error_chain(&error))?, summary.to_csv()))
    })?;
    let (summary, table) = studied.map_err(refused)?;
    Ok((py.import("json")?.call_method1("loads", (summary,))?, table))
}
