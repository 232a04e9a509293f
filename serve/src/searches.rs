//! Searches: a few threads think, one after the other, about what browsers ask.
//! Each search is bounded in effort and time, can be stopped, and ends when nobody asks for it any more. So many may wait;
//! what has ended is kept until newer ones need its place.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use latrunculi_engine::GameState;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_eval::agents::mix_seeds;
use latrunculi_eval::opinion;
use latrunculi_eval::{Agent, AgentKind, AgentSpec, Choice, SearchLimits, SearchOptions};
use latrunculi_search::StopSignal;
use latrunculi_train::error_chain;
use latrunculi_train::models::NetworkOpener;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;

use crate::access::random_text;
use crate::games::{Game, seed};
use crate::library::Library;
use crate::refusal::Refusal;

/// The most simulations of one search.
pub(crate) const SIMULATIONS_MAX: u32 = 200_000;
/// The memory of the tree of one search, in MiB: room for some 20,000 simulations; later ones go on in the tree that there is.
const MEMORY_MIB_MAX: u32 = 64;
pub(crate) const NODES_MAX: u64 = 20_000_000;
/// The longest that one search may take, in seconds.
pub(crate) const SECONDS_MAX: f64 = 120.0;
/// The most actions that alpha-beta compares.
const LINES_MAX: usize = 8;
const WAITING_MAX: usize = 32;
/// No more searches are remembered, those under way included.
const KEPT_MAX: usize = 128;
/// A search of which nobody has asked for so long ends.
const ABANDONED: Duration = Duration::from_secs(30);
/// How often a search tells what it has found, at least.
const REPORT_EVERY: Duration = Duration::from_millis(500);
const NEWS_WAIT: Duration = Duration::from_secs(10);
/// How often running searches are looked after.
const INTERVAL: Duration = Duration::from_millis(50);
/// How many agents each thread keeps between searches, with their networks.
const AGENTS_KEPT: usize = 3;

#[derive(Debug, Deserialize)]
pub(crate) struct SearchRequest {
    game: Game,
    /// An agent's text.
    agent: String,
    /// Whether the agent is an opponent, against whom a hint is wanted of the agent that fits him.
    #[serde(default)]
    is_hint: bool,
    /// Everything random follows from it.
    #[serde(default, deserialize_with = "seed")]
    seed: u64,
    /// How many of the best actions alpha-beta compares; tree searches compare all.
    #[serde(default)]
    lines: usize,
    /// The longest that it may take.
    #[serde(default)]
    seconds: Option<f64>,
}

struct Task {
    state: GameState,
    /// The agent, its model as the opener finds it.
    spec: AgentSpec,
    /// The agent's text as it was asked for.
    name: String,
    /// The name of its network, too.
    model: String,
    /// Tells agents apart: one made for a task with the same text can be used again.
    key: String,
    limits: SearchLimits,
    lines: usize,
    seconds: f64,
    seed: u64,
}

impl SearchRequest {
    fn task(&self, library: &Library) -> Result<Task, Refusal> {
        let mut spec: AgentSpec = self.agent.parse().map_err(|error| Refusal::wrong(format!("{error}")))?;
        if self.is_hint {
            let own = spec.model().is_some();
            spec = spec.adviser();
            if let (AgentKind::Network { model, .. }, false, Some(known)) =
                (&mut spec.kind, own, library.default_model())
            {
                known.clone_into(model);
            }
        }
        let name = spec.to_string();
        let model = spec.model().unwrap_or_default().to_owned();
        let too_much = |what: String| Refusal::wrong(format!("{name}: the page allows at most {what}"));
        spec.memory_mib = Some(spec.memory_mib.unwrap_or(MEMORY_MIB_MAX).min(MEMORY_MIB_MAX));
        let mut limits = SearchLimits::default();
        let mut version = String::new();
        let mut lines = usize::MAX;
        let time = spec.time;
        if time.is_some_and(|time| time.as_secs_f64() > SECONDS_MAX) {
            return Err(too_much(format!("{SECONDS_MAX} seconds")));
        }
        let limits_of = |simulations: Option<u32>| match simulations {
            Some(simulations) if simulations > SIMULATIONS_MAX => {
                Err(too_much(format!("{SIMULATIONS_MAX} simulations")))
            }
            _ => Ok(SearchLimits {
                simulations: Some(simulations.unwrap_or(SIMULATIONS_MAX)),
                time,
                ..SearchLimits::default()
            }),
        };
        match &mut spec.kind {
            AgentKind::Human => return Err(Refusal::wrong("human is whoever sits at the page")),
            AgentKind::AlphaBeta { depth, nodes } => {
                if nodes.is_some_and(|nodes| nodes > NODES_MAX) {
                    return Err(too_much(format!("{NODES_MAX} nodes")));
                }
                let nodes = Some(nodes.unwrap_or(NODES_MAX));
                limits = SearchLimits { nodes, depth: *depth, simulations: None, time };
                lines = self.lines.clamp(1, LINES_MAX);
            }
            AgentKind::Mcts { simulations } => limits = limits_of(*simulations)?,
            AgentKind::Network { model: path, simulations, .. } => {
                // A network that is open serves any number of simulations.
                limits = limits_of(std::mem::take(simulations))?;
                let found = library.model(path)?;
                (*path, version) = (found.path, found.version);
            }
            AgentKind::Random | AgentKind::Greedy => {}
        }
        let seconds = self.seconds.unwrap_or(SECONDS_MAX);
        if !(0.0..=SECONDS_MAX).contains(&seconds) {
            return Err(Refusal::wrong(format!("seconds {seconds}: from 0 to {SECONDS_MAX}")));
        }
        let state = self.game.state(library)?;
        if let Some(words) = state.end_words() {
            return Err(Refusal::wrong(format!("the game is over: {words}")));
        }
        let key = format!("{spec} {} {version}", ruleset_fingerprint(state.rules().ruleset()));
        let seed = mix_seeds(&[self.seed, spec.seed.unwrap_or(0), u64::from(state.position().turns())]);
        Ok(Task { state, spec, name, model, key, limits, lines, seconds, seed })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Phase {
    Waiting,
    Thinking,
    Done,
    Failed,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct News {
    /// Grows with each change.
    version: u64,
    phase: Phase,
    /// What has been found so far, as `analyse --json` has it.
    analysis: Option<Value>,
    /// Why it failed.
    error: Option<String>,
    /// Says that the network was not trained on the ruleset.
    notice: Option<String>,
}

struct Job {
    /// Until a thread takes it on.
    task: Option<Task>,
    stop: StopSignal,
    news: watch::Sender<News>,
    /// When somebody last asked for news.
    asked: Instant,
}

impl Job {
    fn phase(&self) -> Phase {
        self.news.borrow().phase
    }

    fn has_ended(&self) -> bool {
        matches!(self.phase(), Phase::Done | Phase::Failed)
    }

    fn tell(&self, phase: Phase, analysis: Option<Value>, error: Option<String>) {
        self.news.send_modify(|news| {
            let analysis = analysis.or_else(|| news.analysis.take());
            *news = News { version: news.version + 1, phase, analysis, error, notice: news.notice.take() };
        });
    }

    fn note(&self, notice: &str) {
        self.news.send_modify(|news| {
            news.version += 1;
            news.notice = Some(notice.to_owned());
        });
    }
}

#[derive(Default)]
struct Jobs {
    by_id: BTreeMap<String, Job>,
    waiting: VecDeque<String>,
    is_over: bool,
}

#[derive(Default)]
struct Shared {
    jobs: Mutex<Jobs>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone)]
pub(crate) struct Searches(Arc<Shared>);

impl Searches {
    /// Starts the threads: at least two, so that two browsers need not wait for each other.
    pub(crate) fn start(networks: &NetworkOpener) -> std::io::Result<Searches> {
        let threads = thread::available_parallelism().map_or(2, |count| count.get().clamp(2, 4));
        let searches = Searches(Arc::default());
        for index in 0..threads {
            let (shared, networks) = (Arc::clone(&searches.0), networks.clone());
            thread::Builder::new().name(format!("search {index}")).spawn(move || think_always(&shared, &networks))?;
        }
        let shared = Arc::clone(&searches.0);
        thread::Builder::new().name("search times".to_owned()).spawn(move || look_after(&shared))?;
        Ok(searches)
    }

    /// Ends all searches, and the threads after them.
    pub(crate) fn end(&self) {
        let mut jobs = self.0.lock();
        jobs.is_over = true;
        jobs.waiting.clear();
        jobs.by_id.values().for_each(|job| job.stop.raise());
        self.0.changed.notify_all();
    }

    /// Takes on a search; returns its id.
    pub(crate) fn begin(&self, request: &SearchRequest, library: &Library) -> Result<String, Refusal> {
        let task = request.task(library)?;
        let id = random_text().map_err(|error| Refusal::failed(error.to_string()))?;
        let mut jobs = self.0.lock();
        if jobs.waiting.len() >= WAITING_MAX {
            return Err(Refusal::busy("too many searches are waiting; try again in a moment"));
        }
        if jobs.by_id.len() >= KEPT_MAX {
            let ended = jobs.by_id.iter().filter(|(_, job)| job.has_ended());
            let oldest = ended.min_by_key(|(_, job)| job.asked).map(|(id, _)| id.clone());
            oldest.and_then(|id| jobs.by_id.remove(&id));
        }
        let news = News { version: 0, phase: Phase::Waiting, analysis: None, error: None, notice: None };
        let job = Job {
            task: Some(task),
            stop: StopSignal::default(),
            news: watch::Sender::new(news),
            asked: Instant::now(),
        };
        jobs.by_id.insert(id.clone(), job);
        jobs.waiting.push_back(id.clone());
        self.0.changed.notify_all();
        Ok(id)
    }

    /// Returns what is known of a search, as soon as there is more than at version `seen`, or after a while.
    pub(crate) async fn news(&self, id: &str, seen: Option<u64>) -> Result<News, Refusal> {
        let unknown = || Refusal::unknown("there is no such search; it was dropped for newer ones");
        let mut receiver = {
            let mut jobs = self.0.lock();
            let job = jobs.by_id.get_mut(id).ok_or_else(unknown)?;
            job.asked = Instant::now();
            job.news.subscribe()
        };
        let is_new = |news: &News| seen.is_none_or(|seen| news.version > seen);
        // The time passing is no fault: the same news is told again.
        _ = tokio::time::timeout(NEWS_WAIT, receiver.wait_for(is_new)).await;
        let news = receiver.borrow().clone();
        Ok(news)
    }

    /// Stops a search: what it has found so far becomes its result.
    pub(crate) fn stop(&self, id: &str) -> Result<(), Refusal> {
        let mut jobs = self.0.lock();
        let Some(job) = jobs.by_id.get_mut(id) else {
            return Err(Refusal::unknown("there is no such search; it was dropped for newer ones"));
        };
        job.stop.raise();
        if job.phase() == Phase::Waiting {
            job.task = None;
            job.tell(Phase::Failed, None, Some("stopped before it began".to_owned()));
            jobs.waiting.retain(|waiting| waiting != id);
        }
        Ok(())
    }
}

/// Raises the stops of searches that nobody asks for.
fn look_after(shared: &Shared) {
    let mut jobs = shared.lock();
    while !jobs.is_over {
        let now = Instant::now();
        let mut is_any = false;
        let mut abandoned = Vec::new();
        for (id, job) in jobs.by_id.iter().filter(|(_, job)| !job.has_ended()) {
            is_any = true;
            let is_abandoned = now.duration_since(job.asked) > ABANDONED;
            if is_abandoned {
                job.stop.raise();
            }
            if is_abandoned && job.phase() == Phase::Waiting {
                job.tell(Phase::Failed, None, Some("nobody asked for it any more".to_owned()));
                abandoned.push(id.clone());
            }
        }
        jobs.waiting.retain(|id| !abandoned.contains(id));
        jobs = match is_any {
            true => shared.changed.wait_timeout(jobs, INTERVAL).unwrap_or_else(PoisonError::into_inner).0,
            false => shared.changed.wait(jobs).unwrap_or_else(PoisonError::into_inner),
        };
    }
}

struct Kept {
    key: String,
    agent: Box<dyn Agent>,
    /// What was said when its network was opened.
    notice: Option<String>,
}

fn open(task: &Task, networks: &NetworkOpener) -> Result<Kept, String> {
    let rules = task.state.rules();
    let said = Arc::new(Mutex::new(None));
    let keep = {
        let said = Arc::clone(&said);
        move |text: &str| *said.lock().unwrap_or_else(PoisonError::into_inner) = Some(text.to_owned())
    };
    let noting = NetworkOpener { notice: Arc::new(keep), ..networks.clone() };
    let agent = task.spec.make(rules, &mut noting.factory(rules)).map_err(|error| error_chain(&error));
    let said = said.lock().unwrap_or_else(PoisonError::into_inner).take();
    let notice = said.map(|text: String| {
        (networks.notice)(&text);
        // The page knows the network by its name.
        let path = task.spec.model().unwrap_or_default();
        text.strip_prefix(path).map_or(text.clone(), |rest| format!("{}{rest}", task.model))
    });
    Ok(Kept { key: task.key.clone(), agent: agent?, notice })
}

fn think_always(shared: &Shared, networks: &NetworkOpener) {
    // The one used last at the end.
    let mut agents: Vec<Kept> = Vec::new();
    loop {
        let Some((id, task, stop)) = next(shared) else { return };
        let tell = |phase, analysis, error: Option<String>| {
            if let Some(job) = shared.lock().by_id.get(&id) {
                job.tell(phase, analysis, error);
            }
        };
        let as_json = |choice: &Choice, is_stopped| {
            let listed = opinion::listed(choice, task.lines);
            opinion::to_json(&task.state, &task.name, choice, &listed, is_stopped)
        };
        let note = |notice: &str| {
            if let Some(job) = shared.lock().by_id.get(&id) {
                job.note(notice);
            }
        };
        let mut report = |choice: &Choice| tell(Phase::Thinking, Some(as_json(choice, false)), None);
        let found = catch_unwind(AssertUnwindSafe(|| think(&task, &stop, networks, &mut agents, &note, &mut report)));
        match found {
            Ok(Ok((choice, is_stopped))) => tell(Phase::Done, Some(as_json(&choice, is_stopped)), None),
            Ok(Err(reason)) => tell(Phase::Failed, None, Some(reason)),
            Err(_) => {
                agents.clear();
                tell(Phase::Failed, None, Some("the search failed; this is a fault of the program".to_owned()));
            }
        }
    }
}

/// Waits for the next search; `None` at the end.
fn next(shared: &Shared) -> Option<(String, Task, StopSignal)> {
    let mut jobs = shared.lock();
    loop {
        if jobs.is_over {
            return None;
        }
        while let Some(id) = jobs.waiting.pop_front() {
            let Some(job) = jobs.by_id.get_mut(&id) else { continue };
            let Some(task) = job.task.take() else { continue };
            job.tell(Phase::Thinking, None, None);
            let stop = job.stop.clone();
            shared.changed.notify_all();
            return Some((id, task, stop));
        }
        jobs = shared.changed.wait(jobs).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Lets the agent of a task choose; returns whether it was stopped, too. Its time begins when it is ready to think.
fn think(
    task: &Task,
    stop: &StopSignal,
    networks: &NetworkOpener,
    agents: &mut Vec<Kept>,
    note: &dyn Fn(&str),
    report: &mut dyn FnMut(&Choice),
) -> Result<(Choice, bool), String> {
    let mut kept = match agents.iter().position(|kept| kept.key == task.key) {
        Some(index) => agents.remove(index),
        None => open(task, networks)?,
    };
    if let Some(notice) = &kept.notice {
        note(notice);
    }
    kept.agent.new_game(task.seed);
    let stop = stop.until(Instant::now() + Duration::from_secs_f64(task.seconds));
    let lines = task.lines.min(LINES_MAX);
    let report_every = Some(REPORT_EVERY);
    let mut options = SearchOptions { limits: task.limits, lines, stop: stop.clone(), report, report_every };
    let choice = kept.agent.choose_with(&task.state, &mut options).map_err(|error| error_chain(&error));
    let is_stopped = stop.is_raised();
    // Gives the memory of its tree back.
    kept.agent.new_game(task.seed);
    agents.push(kept);
    if agents.len() > AGENTS_KEPT {
        agents.remove(0);
    }
    Ok((choice?, is_stopped))
}
