//! The texts that name agents.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use latrunculi_engine::parameters::did_you_mean;
use latrunculi_engine::{GameState, Rules, Ruleset};
use latrunculi_search::alphabeta::DEPTH_MAX;
use latrunculi_search::latrunculi::Weights;
use latrunculi_search::mcts::{Mode, SIMULATIONS_MAX, Search, Settings};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::search_agents::{AlphaBetaAgent, GreedyAgent, NetworkSearch, RandomAgent, TreeAgent, rollout_settings};
use super::{Agent, AgentError, NetworkEvaluator, NetworkFactory, SearchLimits, mix_seeds};

/// An agent as its text says it, such as `alphabeta:nodes=20000` or `net:best.safetensors,sims=64`.
///
/// # Examples
/// ```
/// use latrunculi_eval::AgentSpec;
///
/// let spec: AgentSpec = "mcts:sims=2000,seed=7".parse()?;
/// assert_eq!(spec.seed, Some(7));
/// assert_eq!(spec.to_string(), "mcts:sims=2000,seed=7");
/// # Ok::<(), latrunculi_eval::AgentTextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentSpec {
    /// Who it is.
    pub kind: AgentKind,
    /// Of random agents: mixed into the seed of every game. Of alpha-beta: draws among equal actions, 0 if not given, so
    /// that its text alone determines its action in every position. Without effect on other agents.
    pub seed: Option<u64>,
    /// The time of one choice of an agent that searches, 0.01 s to a day, in addition to its other limits. Games by the
    /// clock do not repeat: studies, training and workers refuse it.
    pub time: Option<Duration>,
    /// About how many MiB the tree of a tree search takes at most, 1 to 65536; `None` for its usual 400. A search whose tree
    /// is full goes on in the tree that it has.
    pub memory_mib: Option<u32>,
}

/// The kinds of agents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AgentKind {
    /// Any legal action, each as likely.
    Random,
    /// The action that takes most now; a random one of the best.
    Greedy,
    /// Alpha-beta search within both limits.
    AlphaBeta {
        /// The most actions to look ahead; `None` for as many as the nodes allow.
        depth: Option<u32>,
        /// The most actions to play in the search; `None` for no limit.
        nodes: Option<u64>,
    },
    /// Tree search with random playouts.
    Mcts {
        /// Playouts per choice; `None` for as many as the time allows.
        simulations: Option<u32>,
    },
    /// Tree search with a network.
    Network {
        /// The model, as the user names it; [`SHIPPED_MODEL`] is part of the program.
        model: String,
        /// Simulations per choice; 0 is the bare policy, `None` for as many as the time allows.
        simulations: Option<u32>,
        /// A search with its default settings. `None`: with fewer than 64 simulations the one that the model asks for; else,
        /// or where only the clock limits it, PUCT.
        search: Option<SearchKind>,
    },
    /// A person.
    Human,
}

/// A kind of tree search with a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SearchKind {
    /// Gumbel search.
    Gumbel,
    /// PUCT.
    Puct,
}

impl SearchKind {
    /// Returns its name in agents' texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SearchKind::Gumbel => "gumbel",
            SearchKind::Puct => "puct",
        }
    }

    /// Returns the kind of a search with these settings.
    pub(crate) fn of(settings: &Settings) -> SearchKind {
        match settings.mode {
            Mode::Gumbel(_) => SearchKind::Gumbel,
            Mode::Puct(_) => SearchKind::Puct,
        }
    }
}

/// Simulations from which networks search by PUCT: with 64 it is the stronger search (docs/measurements.md, "PUCT
/// where values hardly differ").
const PUCT_SIMULATIONS_MIN: u32 = 64;

/// The least simulations of an agent that gives hints.
const ADVISER_SIMULATIONS: u32 = 400;

/// The name of the model that is part of the program, which `net` without a model means.
pub const SHIPPED_MODEL: &str = "universal";

/// Takes the name of a network in an agent's text apart: the model, and what stands behind it, `@f32`, `@bf16` or `@int8`,
/// without the `@`: the precision in which it plays. Without a model it is [`SHIPPED_MODEL`].
#[must_use]
pub fn split_precision(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once('@') {
        Some((model, precision)) if ["f32", "bf16", "int8"].contains(&precision) => {
            (if model.is_empty() { SHIPPED_MODEL } else { model }, Some(precision))
        }
        _ => (name, None),
    }
}

/// The agents' texts, an example of each.
const FORMS: &str = "random, greedy, alphabeta:nodes=20000, mcts:sims=2000, net (the network of the program), net:MODEL,sims=64 \
                     and human (in `play` alone); README.md has their settings";
const NAMES: [&str; 6] = ["random", "greedy", "alphabeta", "mcts", "net", "human"];
const MCTS_SIMULATIONS: u32 = 1000;
const NETWORK_SIMULATIONS: u32 = 64;

/// Why a text names no agent, with what would.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AgentTextError(String);

/// The settings of an agent's text, taken out one by one.
struct TextSettings<'a> {
    agent: &'static str,
    known: &'static [&'static str],
    values: Vec<(&'static str, &'a str)>,
}

impl<'a> TextSettings<'a> {
    fn read(
        agent: &'static str,
        known: &'static [&'static str],
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<TextSettings<'a>, AgentTextError> {
        let mut values: Vec<(&'static str, &'a str)> = Vec::new();
        for text in texts {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            let Some(&name) = known.iter().find(|known| **known == name.trim()) else {
                let hint = did_you_mean(name.trim(), known.iter().copied());
                let known = known.join("=, ") + "=";
                return Err(AgentTextError(format!("{agent} has no setting {name:?}{hint}; it takes {known}")));
            };
            if values.iter().any(|&(given, _)| given == name) {
                return Err(AgentTextError(format!("{agent}: {name} is given twice")));
            }
            values.push((name, value.trim()));
        }
        Ok(TextSettings { agent, known, values })
    }

    /// Returns the value of a setting, if it is given, as `read` reads it; what it reads lies in `range`.
    fn value<T>(
        &self,
        setting: &str,
        range: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, AgentTextError> {
        let Some(&(_, value)) = self.values.iter().find(|&&(given, _)| given == setting) else {
            return Ok(None);
        };
        let fault = || format!("{}: {setting}={value} will not do, it must be {range}", self.agent);
        read(value).map(Some).ok_or_else(|| AgentTextError(fault()))
    }

    /// Returns a whole number of at least `least` and at most `greatest`, if it is given.
    fn number(&self, setting: &str, least: u64, greatest: u64, range: &str) -> Result<Option<u64>, AgentTextError> {
        debug_assert!(self.known.contains(&setting), "{setting} is not among the known settings");
        let read =
            |value: &str| value.replace('_', "").parse().ok().filter(|number| (least..=greatest).contains(number));
        self.value(setting, range, read)
    }

    fn simulations(&self, least: u64) -> Result<Option<u32>, AgentTextError> {
        let range = if least == 0 { "a whole number up to 10000000" } else { "a whole number from 1 to 10000000" };
        Ok(self.number("sims", least, SIMULATIONS_MAX.into(), range)?.map(|number| number as u32))
    }

    fn search(&self) -> Result<Option<SearchKind>, AgentTextError> {
        let kinds = [SearchKind::Gumbel, SearchKind::Puct];
        self.value("search", "gumbel or puct", |value| kinds.into_iter().find(|kind| kind.name() == value))
    }

    fn time(&self) -> Result<Option<Duration>, AgentTextError> {
        self.value("seconds", "a number from 0.01 to 86400", |value| {
            let secs = value.parse::<f64>().ok().filter(|secs| (0.01..=86_400.0).contains(secs))?;
            // In whole milliseconds, so that its text reads back.
            Some(Duration::from_millis((secs * 1e3).round() as u64))
        })
    }

    fn memory(&self) -> Result<Option<u32>, AgentTextError> {
        Ok(self.number("memory_mib", 1, 1 << 16, "a whole number from 1 to 65536")?.map(|number| number as u32))
    }

    fn seed(&self) -> Result<Option<u64>, AgentTextError> {
        self.number("seed", 0, u64::MAX, "a whole number")
    }
}

impl FromStr for AgentSpec {
    type Err = AgentTextError;

    fn from_str(text: &str) -> Result<AgentSpec, AgentTextError> {
        let (name, rest) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        let mut texts: Vec<&str> = if rest.is_empty() { Vec::new() } else { rest.split(',').collect() };
        let (kind, settings) = match name {
            "random" => (AgentKind::Random, TextSettings::read("random", &["seed"], texts)?),
            "greedy" => (AgentKind::Greedy, TextSettings::read("greedy", &["seed"], texts)?),
            "human" => (AgentKind::Human, TextSettings::read("human", &["seed"], texts)?),
            "alphabeta" => {
                let settings = TextSettings::read("alphabeta", &["depth", "nodes", "seconds", "seed"], texts)?;
                let depth = settings.number("depth", 1, DEPTH_MAX.into(), "a whole number from 1 to 96")?;
                let nodes = settings.number("nodes", 1, u64::MAX, "a whole number of at least 1")?;
                if depth.is_none() && nodes.is_none() && settings.time()?.is_none() {
                    let example = "as in alphabeta:depth=4, alphabeta:nodes=20000 or alphabeta:seconds=1";
                    return Err(AgentTextError(format!("alphabeta needs a limit, {example}")));
                }
                (AgentKind::AlphaBeta { depth: depth.map(|depth| depth as u32), nodes }, settings)
            }
            "mcts" => {
                let settings = TextSettings::read("mcts", &["sims", "seconds", "memory_mib", "seed"], texts)?;
                let simulations = settings.simulations(1)?;
                let simulations = simulations.or(settings.time()?.is_none().then_some(MCTS_SIMULATIONS));
                (AgentKind::Mcts { simulations }, settings)
            }
            "net" => {
                // A path may hold commas: settings are looked for from the end only.
                let is_setting = |text: &str| {
                    text.split_once('=').is_some_and(|(name, value)| {
                        !name.contains(['/', '.']) && (!value.contains(['/', '.']) || value.parse::<f64>().is_ok())
                    })
                };
                let model_len = texts.iter().rposition(|text| !is_setting(text)).map_or(0, |last| last + 1);
                let given = texts.split_off(model_len);
                let model = texts.join(",");
                let model = if model.is_empty() { SHIPPED_MODEL.to_owned() } else { model };
                let settings = TextSettings::read("net", &["sims", "search", "seconds", "memory_mib", "seed"], given)?;
                let simulations = settings.simulations(0)?;
                let simulations = simulations.or(settings.time()?.is_none().then_some(NETWORK_SIMULATIONS));
                (AgentKind::Network { model, simulations, search: settings.search()? }, settings)
            }
            _ => {
                // The first setting follows a colon, as does a model or its precision; only what comes after it follows commas.
                let hint = match name.split_once([',', '@']) {
                    Some((agent, _)) if NAMES.contains(&agent) => {
                        let rest = &name[agent.len()..];
                        format!("; did you mean {agent}:{}?", rest.strip_prefix(',').unwrap_or(rest))
                    }
                    _ => did_you_mean(name, NAMES),
                };
                return Err(AgentTextError(format!("there is no agent {name:?}{hint}; known are {FORMS}")));
            }
        };
        let time = if settings.known.contains(&"seconds") { settings.time()? } else { None };
        let memory_mib = if settings.known.contains(&"memory_mib") { settings.memory()? } else { None };
        Ok(AgentSpec { kind, seed: settings.seed()?, time, memory_mib })
    }
}

impl TryFrom<String> for AgentSpec {
    type Error = AgentTextError;

    fn try_from(text: String) -> Result<AgentSpec, AgentTextError> {
        text.parse()
    }
}

impl From<AgentSpec> for String {
    fn from(agent: AgentSpec) -> String {
        agent.to_string()
    }
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut settings: Vec<String> = Vec::new();
        let name = match &self.kind {
            AgentKind::Random => "random",
            AgentKind::Greedy => "greedy",
            AgentKind::Human => "human",
            AgentKind::AlphaBeta { depth, nodes } => {
                settings.extend(depth.map(|depth| format!("depth={depth}")));
                settings.extend(nodes.map(|nodes| format!("nodes={nodes}")));
                "alphabeta"
            }
            AgentKind::Mcts { simulations } => {
                settings.extend(simulations.map(|simulations| format!("sims={simulations}")));
                "mcts"
            }
            AgentKind::Network { model, simulations, search } => {
                settings.push(model.clone());
                settings.extend(simulations.map(|simulations| format!("sims={simulations}")));
                settings.extend(search.map(|search| format!("search={}", search.name())));
                "net"
            }
        };
        settings.extend(self.time.map(|time| format!("seconds={}", time.as_secs_f64())));
        settings.extend(self.memory_mib.map(|mib| format!("memory_mib={mib}")));
        settings.extend(self.seed.map(|seed| format!("seed={seed}")));
        f.write_str(name)?;
        if !settings.is_empty() {
            write!(f, ":{}", settings.join(","))?;
        }
        Ok(())
    }
}

impl AgentSpec {
    /// Returns whether the agent draws lots or plays by the clock: if not, it plays the same action in the same position always.
    #[must_use]
    pub fn is_random(&self) -> bool {
        self.time.is_some() || matches!(self.kind, AgentKind::Random | AgentKind::Greedy | AgentKind::Mcts { .. })
    }

    /// Checks that the agent can play in games that repeat.
    ///
    /// # Errors
    /// [`AgentError::Human`] for a person, [`AgentError::Timed`] for one that plays by the clock.
    pub fn check_repeats(&self) -> Result<(), AgentError> {
        match (&self.kind, self.time) {
            (AgentKind::Human, _) => Err(AgentError::Human),
            (_, Some(_)) => Err(AgentError::Timed { agent: self.to_string() }),
            _ => Ok(()),
        }
    }

    /// Returns the limits of its searches.
    fn limits(&self) -> SearchLimits {
        let time = self.time;
        match self.kind {
            AgentKind::AlphaBeta { depth, nodes } => SearchLimits { depth, nodes, time, simulations: None },
            AgentKind::Mcts { simulations } | AgentKind::Network { simulations, .. } => {
                SearchLimits { simulations, time, ..SearchLimits::default() }
            }
            AgentKind::Random | AgentKind::Greedy | AgentKind::Human => SearchLimits::default(),
        }
    }

    /// Returns whether the agent searches, so that its games depend on [`latrunculi_search::SEARCH_VERSION`].
    #[must_use]
    pub fn searches(&self) -> bool {
        match self.kind {
            AgentKind::AlphaBeta { .. } | AgentKind::Mcts { .. } | AgentKind::Network { .. } => true,
            AgentKind::Random | AgentKind::Greedy | AgentKind::Human => false,
        }
    }

    /// Returns what alpha-beta's judgement of positions is under these rules, in short: sixteen hexadecimal digits
    /// that differ when any weight does. `None` for other agents.
    #[must_use]
    pub fn evaluation(&self, evaluated_as: &Ruleset) -> Option<String> {
        let AgentKind::AlphaBeta { .. } = self.kind else { return None };
        let numbers: Vec<u64> = Weights::for_ruleset(evaluated_as).numbers().collect();
        Some(format!("{:016x}", mix_seeds(&numbers)))
    }

    /// Returns the text with what its network, where it has one, adds in brackets: the settings of the search that are not
    /// the default ones, and the kernel.
    pub(crate) fn text_with(&self, network: Option<&NetworkPlay>) -> String {
        let words = match (&self.kind, network) {
            (AgentKind::Network { search, simulations, .. }, Some(network)) => network.words(*search, *simulations),
            _ => Vec::new(),
        };
        if words.is_empty() { self.to_string() } else { format!("{self} [{}]", words.join(" ")) }
    }

    /// Returns the agent as it judges positions for a person: one with a network by PUCT, unless its text names the search. PUCT
    /// visits actions by their values, where Gumbel search follows a schedule.
    #[must_use]
    pub fn for_analysis(mut self) -> AgentSpec {
        if let AgentKind::Network { search, .. } = &mut self.kind {
            search.get_or_insert(SearchKind::Puct);
        }
        self
    }

    /// Returns the agent that gives hints against this one: its network, or else the one of the program, with its limits, but at
    /// least 400 simulations. With fewer that network holds its own against all other agents here.
    #[must_use]
    pub fn adviser(&self) -> AgentSpec {
        let (model, simulations, search) = match &self.kind {
            AgentKind::Network { model, simulations, search } => (model.clone(), *simulations, *search),
            _ => (SHIPPED_MODEL.to_owned(), Some(ADVISER_SIMULATIONS), None),
        };
        let simulations = simulations.map(|simulations| simulations.max(ADVISER_SIMULATIONS));
        let is_network = self.model().is_some();
        AgentSpec {
            kind: AgentKind::Network { model, simulations, search },
            seed: None,
            time: self.time.filter(|_| is_network),
            memory_mib: self.memory_mib.filter(|_| is_network),
        }
    }

    /// Returns the network that it needs.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        match &self.kind {
            AgentKind::Network { model, .. } => Some(model),
            _ => None,
        }
    }

    /// Makes the agent for these rules; `networks` opens the network if it needs one.
    ///
    /// # Errors
    /// [`AgentError::Human`] for a person, [`AgentError::Network`] when the network cannot be opened,
    /// [`AgentError::Evaluator`] when it answers nothing under these rules.
    pub fn make<'e>(
        &self,
        rules: &Arc<Rules>,
        networks: &mut NetworkFactory<'_, 'e>,
    ) -> Result<Box<dyn Agent + 'e>, AgentError> {
        match &self.kind {
            AgentKind::Network { model, search, .. } => {
                let OpenedNetwork { evaluator, play } = open_network(model, networks)?;
                let state = GameState::new(Arc::clone(rules));
                // Of a short search and of a long one: the limits of a choice may be others than the agent's own.
                let searches = [Some(0), None].map(|simulations| self.in_memory(play.search(*search, simulations)));
                Ok(Box::new(TreeAgent::with_network(evaluator, &state, searches, self.limits())?))
            }
            _ => self.make_alone(rules).map(|agent| agent as Box<dyn Agent>),
        }
    }

    /// Returns the search of a network agent; `None` for other agents.
    pub(crate) fn network_search(&self, play: &NetworkPlay, state: &GameState) -> Option<NetworkSearch> {
        let AgentKind::Network { simulations, search, .. } = &self.kind else { return None };
        let search = self.in_memory(play.search(*search, *simulations));
        Some(NetworkSearch::new(state, search, simulations.unwrap_or(SIMULATIONS_MAX)))
    }

    /// Returns a search whose tree takes no more memory than the agent's may.
    fn in_memory(&self, search: Settings) -> Settings {
        let edges_max = self.memory_mib.map_or(search.edges_max, Search::<GameState>::edges_in);
        Settings { edges_max, ..search }
    }

    /// Makes an agent that needs no network, and so may think on any thread.
    ///
    /// # Errors
    /// [`AgentError::Human`] for a person, [`AgentError::Network`] for an agent with a network.
    pub fn make_alone(&self, rules: &Arc<Rules>) -> Result<Box<dyn Agent + Send>, AgentError> {
        self.make_evaluated_as(rules, rules.ruleset())
    }

    /// Makes an agent as [`AgentSpec::make_alone`] does, which judges positions as it would under other rules:
    /// alpha-beta takes the weights made for `evaluated_as`, so that two rulesets are compared by one player.
    ///
    /// # Errors
    /// As [`AgentSpec::make_alone`].
    pub fn make_evaluated_as(
        &self,
        rules: &Arc<Rules>,
        evaluated_as: &Ruleset,
    ) -> Result<Box<dyn Agent + Send>, AgentError> {
        Ok(match &self.kind {
            AgentKind::Random => Box::new(RandomAgent::default()),
            AgentKind::Greedy => Box::new(GreedyAgent::default()),
            AgentKind::AlphaBeta { .. } => {
                let weights = Weights::for_ruleset(evaluated_as);
                Box::new(AlphaBetaAgent::new(rules, weights, self.limits(), self.seed.unwrap_or(0)))
            }
            AgentKind::Mcts { .. } => {
                let search = self.in_memory(rollout_settings());
                Box::new(TreeAgent::with_playouts(&GameState::new(Arc::clone(rules)), search, self.limits()))
            }
            AgentKind::Network { model, .. } => {
                let reason = "no network can be used here".to_owned();
                return Err(AgentError::Network { model: model.clone(), reason });
            }
            AgentKind::Human => return Err(AgentError::Human),
        })
    }
}

/// Opens a network and says which one if that fails.
fn open_network<'e>(model: &str, networks: &mut NetworkFactory<'_, 'e>) -> Result<OpenedNetwork<'e>, AgentError> {
    networks(model).map_err(|reason| AgentError::Network { model: model.to_owned(), reason })
}

/// A network that has been opened.
pub struct OpenedNetwork<'e> {
    /// Evaluates positions.
    pub evaluator: NetworkEvaluator<'e>,
    /// How it plays.
    pub play: NetworkPlay,
}

/// How a network plays. Games repeat exactly only with the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkPlay {
    /// The search that its model asks for.
    pub search: Settings,
    /// What computes it, precision included, such as `bf16-amx`; empty for an evaluator that computes alike everywhere.
    pub kernel: String,
}

impl<'e> OpenedNetwork<'e> {
    /// Returns a network with the default search that computes alike everywhere.
    #[must_use]
    pub fn plain(evaluator: NetworkEvaluator<'e>) -> OpenedNetwork<'e> {
        OpenedNetwork { evaluator, play: NetworkPlay::default() }
    }
}

impl NetworkPlay {
    /// Returns the search of an agent that asks for `wanted`, with so many simulations or as many as the time allows.
    fn search(&self, wanted: Option<SearchKind>, simulations: Option<u32>) -> Settings {
        match (wanted, &self.search.mode) {
            (Some(SearchKind::Gumbel), _) => Settings::gumbel(),
            (Some(SearchKind::Puct), _) => Settings::puct(),
            (None, Mode::Gumbel(_)) if is_long(simulations) => {
                Settings { mode: Settings::puct().mode, ..self.search.clone() }
            }
            (None, _) => self.search.clone(),
        }
    }

    /// Returns in words of `name=value` what an agent's text leaves open: the settings of the search that are not the
    /// default ones, and the kernel.
    fn words(&self, wanted: Option<SearchKind>, simulations: Option<u32>) -> Vec<String> {
        let mut words = match wanted {
            None => different_settings(&self.search(None, simulations)),
            Some(_) => Vec::new(),
        };
        if !self.kernel.is_empty() {
            words.push(format!("kernel={}", self.kernel));
        }
        words
    }
}

/// Tells whether a search with so many simulations, or as many as the time allows, is too long for Gumbel search.
pub(super) fn is_long(simulations: Option<u32>) -> bool {
    simulations.is_none_or(|simulations| simulations >= PUCT_SIMULATIONS_MIN)
}

/// Returns the settings of a search that differ from the defaults of its mode, as `name=value`.
fn different_settings(search: &Settings) -> Vec<String> {
    let (mode, usual) = match search.mode {
        Mode::Gumbel(_) => (None, Settings::gumbel()),
        Mode::Puct(_) => (Some("search=puct".to_owned()), Settings::puct()),
    };
    let [own, usual] = [search, &usual].map(|settings| {
        let mut found = Vec::new();
        leaves(&serde_json::to_value(settings).unwrap_or_default(), "", &mut found);
        found
    });
    let different = own.into_iter().filter(|one| !usual.contains(one));
    mode.into_iter().chain(different.map(|(name, value)| format!("{name}={value}"))).collect()
}

/// Adds the values of a tree with their paths, without the names of the modes.
fn leaves(value: &Value, path: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                let path = path.trim_start_matches("mode.gumbel.").trim_start_matches("mode.puct.");
                leaves(inner, path, found);
            }
        }
        // As it was in single precision: 0.2 and not 0.20000000298.
        Value::Number(number) => match number.as_f64() {
            Some(value) if !number.is_u64() => found.push((path.to_owned(), (value as f32).to_string())),
            _ => found.push((path.to_owned(), number.to_string())),
        },
        Value::String(text) => found.push((path.to_owned(), text.clone())),
        other => found.push((path.to_owned(), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use latrunculi_search::mcts::{GumbelSettings, MaxConsideredActions, PuctSettings};

    use super::*;

    #[test]
    fn the_adviser_is_no_weaker_than_the_opponent() {
        for (opponent, adviser) in [
            ("human", "net:universal,sims=400"),
            ("random:seed=3", "net:universal,sims=400"),
            ("alphabeta:seconds=2", "net:universal,sims=400"),
            ("mcts:sims=100000,memory_mib=9", "net:universal,sims=400"),
            ("net:own,sims=16,seed=2", "net:own,sims=400"),
            ("net:own@f32,sims=2000,search=puct", "net:own@f32,sims=2000,search=puct"),
            ("net:own,seconds=2,memory_mib=9", "net:own,seconds=2,memory_mib=9"),
        ] {
            let opponent: AgentSpec = opponent.parse().unwrap();
            assert_eq!(opponent.adviser().to_string(), adviser, "{opponent}");
        }
    }

    #[test]
    fn a_person_is_shown_what_puct_finds_unless_another_search_is_named() {
        for (agent, judge) in [
            ("net:sims=9", "net:universal,sims=9,search=puct"),
            ("net:sims=9,search=gumbel", "net:universal,sims=9,search=gumbel"),
            ("alphabeta:nodes=9", "alphabeta:nodes=9"),
        ] {
            let agent: AgentSpec = agent.parse().unwrap();
            assert_eq!(agent.for_analysis().to_string(), judge);
        }
    }

    #[test]
    fn only_what_is_not_the_default_is_named() {
        let words = |search: Settings| NetworkPlay { search, kernel: "bf16-amx".to_owned() }.words(None, Some(9));
        assert_eq!(words(Settings::gumbel()), ["kernel=bf16-amx"]);
        let gumbel = GumbelSettings {
            max_considered_actions: MaxConsideredActions::Fixed(12),
            range_min: 0.2,
            ..GumbelSettings::default()
        };
        let search =
            Settings { mode: Mode::Gumbel(gumbel), draw_value: 0.25, reuse_tree: false, ..Settings::default() };
        let play = NetworkPlay { search: search.clone(), kernel: String::new() };
        let mut found = play.words(None, Some(PUCT_SIMULATIONS_MIN - 1));
        found.sort();
        assert_eq!(found, ["draw_value=0.25", "max_considered_actions.fixed=12", "range_min=0.2", "reuse_tree=false"]);
        assert_eq!(play.words(Some(SearchKind::Gumbel), None), Vec::<String>::new());
        assert_eq!(play.search(None, Some(0)), search);
        assert_eq!(play.search(Some(SearchKind::Puct), Some(0)), Settings::puct());
        for long in [Some(PUCT_SIMULATIONS_MIN), None] {
            assert_eq!(play.words(None, long), ["search=puct", "draw_value=0.25", "reuse_tree=false"]);
            assert_eq!(play.search(Some(SearchKind::Gumbel), long), Settings::gumbel());
        }
        let puct = Mode::Puct(PuctSettings { c_puct: 2.5, ..PuctSettings::default() });
        assert_eq!(
            words(Settings { mode: puct, ..Settings::default() }),
            ["search=puct", "c_puct=2.5", "kernel=bf16-amx"]
        );
    }
}
