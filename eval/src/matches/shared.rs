//! A match as workers are told of it.

use std::sync::Arc;

use latrunculi_engine::Rules;
use serde::{Deserialize, Serialize};

use super::game_play::{Beginning, Matchup};
use super::ledger::Place;
use super::{Job, MatchConfig, Schedule};
use crate::agents::{AgentSpec, NetworkEvaluator, OpenedNetwork};
use crate::workers::work::SharedGames;
use crate::workers::{SeriesHead, SharedPlay, read_ruleset};

/// Opens a network for rules by its name; returns what its games depend on besides the name, too.
pub(crate) type OpenShared<'a, 'e> = dyn FnMut(&Arc<Rules>, &str) -> Result<(String, OpenedNetwork<'e>), String> + 'a;

/// All that the games of a match depend on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MatchPlay {
    ruleset: String,
    #[serde(flatten)]
    config: MatchConfig,
}

impl Schedule {
    /// Returns what workers must know of the match.
    pub(super) fn head(&self) -> SeriesHead {
        let (ruleset, games) = (self.rules.ruleset(), 2 * self.config.pairs);
        let config = MatchConfig { opening_length: Some(self.opening_length), ..self.config.clone() };
        let play = SharedPlay::Match(MatchPlay { ruleset: SeriesHead::rules_text(ruleset), config });
        SeriesHead::new(&self.series, games, &self.config.all_agents(), ruleset, play)
    }

    /// Makes the schedule of a match whose games a worker plays, and opens its networks.
    ///
    /// # Errors
    /// In words, why its games cannot be played here.
    pub(crate) fn shared<'e>(
        play: &MatchPlay,
        open: &mut OpenShared<'_, 'e>,
    ) -> Result<(Schedule, Vec<NetworkEvaluator<'e>>), String> {
        let rules = read_ruleset(&play.ruleset)?;
        let mut config = play.config.clone();
        // Networks are opened once each; what they add to the series is known before the schedule is made.
        let mut opened: Vec<(&str, String, Option<OpenedNetwork<'e>>)> = Vec::new();
        for model in play.config.all_agents().into_iter().filter_map(AgentSpec::model) {
            if !opened.iter().any(|(known, ..)| *known == model) {
                let (identity, network) = open(&rules, model)?;
                opened.push((model, identity, Some(network)));
            }
        }
        let identity = |agent: &AgentSpec| {
            let known = opened.iter().find(|(known, ..)| Some(*known) == agent.model());
            known.map(|(_, identity, _)| identity.clone()).unwrap_or_default()
        };
        config.identities = config.agents.each_ref().map(identity);
        if let Some(policy) = &mut config.opening_policy {
            policy.identity = identity(&policy.agent);
        }
        let mut networks = |model: &str| {
            let network =
                opened.iter_mut().find(|(known, ..)| *known == model).and_then(|(.., network)| network.take());
            network.ok_or_else(|| "it is opened twice".to_owned())
        };
        Schedule::new(&rules, &config, &mut networks).map_err(|error| error.to_string())
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

impl SharedGames for Schedule {
    fn key(&self) -> &str {
        &self.series
    }

    fn played(&self, [from, to]: [usize; 2]) -> Vec<usize> {
        (from..to).filter(|index| !self.would_repeat(index / 2)).collect()
    }

    fn place(&self, index: usize) -> Place {
        self.place(Job::of_index(index))
    }

    fn matchup(&self) -> Matchup<'_> {
        self.matchup()
    }

    fn beginning(&self, index: usize) -> Beginning {
        self.beginning(Job::of_index(index))
    }
}
