//! A match as workers are told of it.

use std::sync::Arc;

use latrunculi_engine::Rules;
use serde::{Deserialize, Serialize};

use super::game_play::{Beginning, Matchup};
use super::ledger::Place;
use super::openings::PolicyOpenings;
use super::{Job, MatchConfig, Schedule};
use crate::agents::{AgentSpec, NetworkEvaluator, OpenedNetwork};
use crate::workers::work::SharedGames;
use crate::workers::{SeriesHead, SharedPlay, read_ruleset};

/// Opens a network for rules by its name; returns what its games depend on besides the name, too.
pub(crate) type OpenShared<'a, 'e> = dyn FnMut(&Arc<Rules>, &str) -> Result<(String, OpenedNetwork<'e>), String> + 'a;

/// All that the games of a match depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MatchPlay {
    ruleset: String,
    agents: [String; 2],
    pairs: usize,
    seed: u64,
    opening_length: usize,
    opening_policy: Option<SharedPolicy>,
}

/// From whose policy openings are drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SharedPolicy {
    agent: String,
    temperature: f64,
}

impl SharedPolicy {
    pub(crate) fn of(policy: &PolicyOpenings) -> SharedPolicy {
        SharedPolicy { agent: policy.agent.to_string(), temperature: policy.temperature }
    }

    /// Returns the policy, without what its network adds.
    pub(crate) fn read(&self) -> Result<PolicyOpenings, String> {
        let agent = self.agent.parse().map_err(|error| format!("{error}"))?;
        Ok(PolicyOpenings { agent, temperature: self.temperature, identity: String::new() })
    }
}

impl Schedule<'_> {
    /// Returns what workers must know of the match.
    pub(super) fn head(&self) -> SeriesHead {
        let config = self.config;
        let play = MatchPlay {
            ruleset: SeriesHead::rules_text(self.rules.ruleset()),
            agents: config.agents.each_ref().map(AgentSpec::to_string),
            pairs: config.pairs,
            seed: config.seed,
            opening_length: self.opening_length,
            opening_policy: config.opening_policy.as_ref().map(SharedPolicy::of),
        };
        let openers = config.opening_policy.iter().map(|policy| &policy.agent);
        let agents: Vec<&AgentSpec> = config.agents.iter().chain(openers).collect();
        SeriesHead::new(&self.series, 2 * config.pairs, &agents, self.rules.ruleset(), SharedPlay::Match(play))
    }
}

impl Job {
    /// Returns the number of the game in the schedule.
    pub(super) fn index(self) -> usize {
        2 * self.pair + self.beginner
    }

    /// Returns the game of this number.
    pub(super) fn of_index(index: usize) -> Job {
        Job { pair: index / 2, beginner: index % 2 }
    }

    /// Returns the game of a place in a ledger.
    pub(super) fn of_place(place: &Place) -> Option<Job> {
        matches!(place.game, 1 | 2).then(|| Job { pair: place.pair, beginner: usize::from(place.game) - 1 })
    }
}

/// Makes a match whose games a worker plays, and gives it to `work` with its networks.
///
/// # Errors
/// In words, why its games cannot be played here.
pub(crate) fn with_shared_match<'e, T>(
    play: &MatchPlay,
    open: &mut OpenShared<'_, 'e>,
    work: impl FnOnce(&SharedMatch<'_>, &mut [NetworkEvaluator<'e>]) -> T,
) -> Result<T, String> {
    let rules = read_ruleset(&play.ruleset)?;
    let agent = |text: &String| text.parse::<AgentSpec>().map_err(|error| error.to_string());
    let agents = [agent(&play.agents[0])?, agent(&play.agents[1])?];
    let mut opening_policy = play.opening_policy.as_ref().map(SharedPolicy::read).transpose()?;
    // Networks are opened once each; what they add to the series is known before the schedule is made.
    let mut opened: Vec<(String, String, Option<OpenedNetwork<'e>>)> = Vec::new();
    let openers = opening_policy.iter().map(|policy| &policy.agent);
    for model in agents.iter().chain(openers).filter_map(AgentSpec::model) {
        if !opened.iter().any(|(known, ..)| known == model) {
            let (identity, network) = open(&rules, model)?;
            opened.push((model.to_owned(), identity, Some(network)));
        }
    }
    let identity = |agent: &AgentSpec| {
        let known = opened.iter().find(|(known, ..)| Some(known.as_str()) == agent.model());
        known.map(|(_, identity, _)| identity.clone()).unwrap_or_default()
    };
    let identities = agents.each_ref().map(identity);
    if let Some(policy) = &mut opening_policy {
        policy.identity = identity(&policy.agent);
    }
    let config = MatchConfig {
        seed: play.seed,
        opening_length: Some(play.opening_length),
        opening_policy,
        identities,
        ..MatchConfig::new(agents, play.pairs)
    };
    let mut networks = |model: &str| {
        let network = opened.iter_mut().find(|(known, ..)| known == model).and_then(|(.., network)| network.take());
        network.ok_or_else(|| "it is opened twice".to_owned())
    };
    let made = Schedule::new(&rules, &config, &mut networks);
    let (schedule, mut evaluators) = made.map_err(|error| error.to_string())?;
    Ok(work(&SharedMatch { schedule }, &mut evaluators))
}

/// A match whose games a worker plays.
pub(crate) struct SharedMatch<'a> {
    schedule: Schedule<'a>,
}

impl SharedGames for SharedMatch<'_> {
    fn key(&self) -> &str {
        &self.schedule.series
    }

    fn played(&self, [from, to]: [usize; 2]) -> Vec<usize> {
        (from..to).filter(|index| !self.schedule.would_repeat(index / 2)).collect()
    }

    fn place(&self, index: usize) -> Place {
        self.schedule.place(Job::of_index(index))
    }

    fn matchup(&self) -> Matchup<'_> {
        self.schedule.matchup()
    }

    fn beginning(&self, index: usize) -> Beginning {
        self.schedule.beginning(Job::of_index(index))
    }
}
