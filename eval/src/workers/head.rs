//! What a series of games is, as workers are told. It names both kinds, those of studies and of matches, whose modules ask for
//! workers: to dissolve this circle would take a register of kinds for two of them.

use std::sync::Arc;

use latrunculi_engine::{Rules, Ruleset, RulesetFile};
use latrunculi_store::{Created, Store, StoreError, sha256};
use serde::{Deserialize, Serialize};

use super::{VERSION, Workers};
use crate::Error;
use crate::agents::{AgentError, AgentSpec, SHIPPED_MODEL};
use crate::matches::MatchPlay;
use crate::study::StudyPlay;

pub(super) const GAMES: &str = "games";
/// Games of a unit: enough that the store is asked seldom, few enough that a pre-empted worker loses little.
pub(super) const GAMES_PER_UNIT: usize = 10;
const HEAD_BYTES_MAX: u64 = 1 << 20;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SeriesHead {
    pub(crate) program: String,
    pub(crate) search_version: u32,
    /// What alpha-beta's evaluation is, in short; empty where it takes no part.
    pub(crate) evaluation: String,
    pub(crate) key: String,
    /// Ruleset and agents, for people.
    pub(crate) title: String,
    pub(crate) games: usize,
    pub(crate) per_unit: usize,
    /// The networks, except the one that is part of the program.
    pub(crate) models: Vec<SharedModel>,
    pub(crate) play: SharedPlay,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SharedModel {
    pub(crate) name: String,
    pub(crate) sha256: String,
}

/// How the games of a series are played.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SharedPlay {
    Study(Box<StudyPlay>),
    Match(Box<MatchPlay>),
}

impl SeriesHead {
    /// Makes the head of a series of `games` games between `agents`, and of the agents that draw the openings.
    pub(crate) fn new(
        key: &str,
        games: usize,
        agents: &[&AgentSpec],
        evaluated_as: &Ruleset,
        play: SharedPlay,
    ) -> SeriesHead {
        let mut evaluations: Vec<String> = agents.iter().filter_map(|agent| agent.evaluation(evaluated_as)).collect();
        evaluations.dedup();
        let mut names: Vec<String> = agents.iter().filter_map(|agent| agent.model().map(str::to_owned)).collect();
        names.sort();
        names.dedup();
        names.retain(|name| name != SHIPPED_MODEL);
        let texts: Vec<String> = agents.iter().map(ToString::to_string).collect();
        SeriesHead {
            program: VERSION.program.to_owned(),
            search_version: VERSION.searches,
            evaluation: evaluations.join(" "),
            key: key.to_owned(),
            title: format!("{} {}", key.split('/').next().unwrap_or_default(), texts.join(" ")),
            games,
            per_unit: GAMES_PER_UNIT,
            models: names.into_iter().map(|name| SharedModel { name, sha256: String::new() }).collect(),
            play,
        }
    }

    /// Returns a ruleset as heads hold it: without the texts about it, on which no game depends, so that a series whose ruleset
    /// is described otherwise has the same head.
    pub(crate) fn rules_text(ruleset: &Ruleset) -> String {
        Ruleset { name: String::new(), summary: String::new(), source: String::new(), ..ruleset.clone() }.to_toml()
    }

    /// Returns the name of the series in the store: another one for another program, other weights or other units.
    pub(super) fn id(&self) -> String {
        let SeriesHead { program, search_version, evaluation, key, games, per_unit, .. } = self;
        // Games whose searches are described are other units than those of the same games without.
        let described = match &self.play {
            SharedPlay::Study(play) if play.visits_within > 0 => format!(" visits={}", play.visits_within),
            SharedPlay::Study(_) | SharedPlay::Match(_) => String::new(),
        };
        let whole = format!("{program} {search_version} {evaluation} {games} {per_unit} {key}{described}");
        sha256(whole.as_bytes())[..32].to_owned()
    }

    /// Returns the number of units of the whole schedule.
    pub(super) fn units(&self) -> u64 {
        self.games.div_ceil(self.per_unit) as u64
    }

    /// Returns the first game of a unit, and the one after its last.
    pub(super) fn range(&self, unit: u64) -> [usize; 2] {
        let from = unit as usize * self.per_unit;
        [from, (from + self.per_unit).min(self.games)]
    }

    /// Writes the networks and the head; one that is there must be the same.
    pub(super) fn publish(mut self, workers: &Workers) -> Result<SeriesHead, Error> {
        let store = &workers.store;
        for model in &mut self.models {
            let bytes = (workers.models)(&model.name);
            let bytes = bytes.map_err(|reason| AgentError::Network { model: model.name.clone(), reason })?;
            model.sha256 = store.write_model(&bytes)?;
        }
        let name = format!("{GAMES}/{}/head.json", self.id());
        match store.create(&name, &serde_json::to_vec_pretty(&self).unwrap_or_default())? {
            Created::Mine => Ok(self),
            Created::Theirs => {
                let reason = "it is there and says something else; use another --store";
                Err(store.failed("writing", &name, reason).into())
            }
        }
    }

    /// Reads the head of a series; `None` where it is none of this version of the program.
    pub(super) fn read(store: &Store, id: &str) -> Result<Option<SeriesHead>, StoreError> {
        let name = format!("{GAMES}/{id}/head.json");
        let Some(text) = store.read(&name, HEAD_BYTES_MAX)? else { return Ok(None) };
        Ok(serde_json::from_slice(&text).ok().filter(|head: &SeriesHead| head.id() == id && head.per_unit > 0))
    }
}

/// Reads a ruleset that [`Ruleset::to_toml`] wrote.
pub(crate) fn read_ruleset(text: &str) -> Result<Arc<Rules>, String> {
    Ok(Arc::new(RulesetFile::parse(text).map_err(|error| error.to_string())?.rules()))
}
