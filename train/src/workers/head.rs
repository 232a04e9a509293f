//! What a generation is, as workers are told, and what counts of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use latrunculi_data::Precision;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{Rules, RulesetFile};
use latrunculi_eval::workers::VERSION;
use latrunculi_selfplay::PoolPlan;
use latrunculi_store::{Store, StoreError, UNITS};
use serde::{Deserialize, Serialize};

use super::{HEADS, Leader, MANIFESTS};
use crate::config::TrainConfig;
use crate::error::{Error, bail};
use crate::generation;

const UNITS_MAX: u64 = 1 << 20;
const BYTES_MAX: u64 = 64 << 20;

/// What a generation is, and all that its games depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerationHead {
    /// The version of the program.
    pub program: String,
    /// The version of its searches.
    pub search_version: u32,
    /// The run.
    pub run: String,
    /// What tells the run from others of the same name.
    pub owner: String,
    /// The generation, from 0.
    pub generation: u64,
    /// The configuration as TOML.
    pub config: String,
    /// The checksum of the network's weights; empty where alpha-beta plays.
    pub fingerprint: String,
    /// The SHA-256 of its file; empty where alpha-beta plays.
    pub model: String,
    /// The rulesets.
    pub rulesets: Vec<HeadRuleset>,
}

/// The games of a ruleset in a generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadRuleset {
    /// The ruleset as TOML, every parameter written out.
    pub text: String,
    /// Games.
    pub games: u64,
    /// Games of a unit, at least 1.
    pub per_unit: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnitPlace {
    pub(super) number: u64,
    /// The ruleset, by its place in the head.
    pub(super) ruleset: usize,
    pub(super) first: u64,
    pub(super) count: u64,
}

/// What counts of a generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of the program.
    pub program: String,
    /// The run.
    pub run: String,
    /// The generation.
    pub generation: u64,
    /// The learner: a name that no other has.
    pub learner: String,
    /// The units that count.
    pub units: Vec<ManifestUnit>,
    /// The numbers of the units that were not waited for.
    pub left: Vec<u64>,
}

/// A unit that counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestUnit {
    /// Its number.
    pub unit: u64,
    /// The SHA-256 of the object.
    pub sha256: String,
    /// The name of the ruleset.
    pub ruleset: String,
    /// Games.
    pub games: u64,
    /// Samples that they make.
    pub samples: u64,
    /// The worker that played.
    pub worker: String,
    /// The machine.
    pub host: String,
    /// The kernel; empty where alpha-beta plays.
    pub kernel: String,
    /// Seconds.
    pub secs: f64,
    /// Units that this worker played at once; 0 where an earlier version of the program did not say.
    #[serde(default)]
    pub at_once: u64,
}

/// Returns the name of a head, or with [`MANIFESTS`] of a manifest.
pub(super) fn name_of(folder: &str, run: &str, generation: u64) -> String {
    format!("{folder}/{run}/{generation:06}.json")
}

/// Returns the run and the generation of the name of a head or manifest.
pub(super) fn of_name(name: &str) -> Option<(&str, u64)> {
    let (_, rest) = name.split_once('/')?;
    let (run, file) = rest.rsplit_once('/')?;
    Some((run, file.strip_suffix(".json")?.parse().ok()?))
}

impl GenerationHead {
    /// Describes generation `generation` of the run of a leader; `games` holds the games of each ruleset and how many of them a unit has.
    pub fn new(
        leader: &Leader,
        generation: u64,
        config: &TrainConfig,
        fingerprint: &str,
        games: &[(Arc<Rules>, u64, u64)],
    ) -> Result<GenerationHead, Error> {
        let ruleset = |(rules, games, per_unit): &(Arc<Rules>, u64, u64)| HeadRuleset {
            text: rules.ruleset().to_toml(),
            games: *games,
            per_unit: (*per_unit).max(1),
        };
        Ok(GenerationHead {
            program: VERSION.program.to_owned(),
            search_version: VERSION.searches,
            run: leader.run.clone(),
            owner: leader.owner.clone(),
            generation,
            config: config.to_text()?,
            fingerprint: fingerprint.to_owned(),
            model: String::new(),
            rulesets: games.iter().map(ruleset).collect(),
        })
    }

    pub(super) fn units_folder(&self) -> String {
        format!("{UNITS}/{}/{:06}", self.run, self.generation)
    }

    pub(super) fn unit_name(&self, unit: u64) -> String {
        format!("{}/{unit:06}", self.units_folder())
    }

    /// Returns the number of the unit that has exactly this name, if there may be one.
    pub(super) fn unit_of_name(&self, name: &str) -> Option<u64> {
        let number = name.rsplit('/').next()?.parse().ok()?;
        (self.unit_name(number) == name).then_some(number)
    }

    /// Returns all units, by number.
    pub(super) fn units(&self) -> Vec<UnitPlace> {
        let mut units = Vec::new();
        for (index, ruleset) in self.rulesets.iter().enumerate() {
            let mut first = 0;
            while first < ruleset.games {
                let count = ruleset.per_unit.min(ruleset.games - first);
                units.push(UnitPlace { number: units.len() as u64, ruleset: index, first, count });
                first += count;
            }
        }
        units
    }

    pub(super) fn rules(&self) -> Result<Vec<Arc<Rules>>, Error> {
        let rules = |ruleset: &HeadRuleset| Ok(Arc::new(RulesetFile::parse(&ruleset.text)?.rules()));
        self.rulesets.iter().map(rules).collect()
    }

    /// Returns how the games under `rules` are played, and the text that names rules, players and settings.
    pub(super) fn plan(&self, config: &TrainConfig, rules: &Arc<Rules>) -> (PoolPlan, String) {
        let list = generation::list(config, rules, self.generation);
        let network = (!self.fingerprint.is_empty()).then_some(self.fingerprint.as_str());
        // Each worker computes in what it has; which that was stands in the unit.
        let players = generation::players(&list.plan, 0, network, Precision::Auto);
        let ruleset = rules.ruleset();
        let text = format!(
            "{} generation {} {}/{} seed={} {players}",
            self.run,
            self.generation,
            ruleset.id,
            ruleset_fingerprint(ruleset),
            config.seed
        );
        (list.plan, text)
    }

    /// Returns whether two heads are of one generation of one run. The settings, the numbers of games and the weights of the
    /// network may differ.
    pub(super) fn is_of_the_same_run(&self, other: &GenerationHead) -> bool {
        let of = |head: &GenerationHead| GenerationHead {
            config: String::new(),
            fingerprint: head.fingerprint.is_empty().to_string(),
            model: String::new(),
            rulesets: head.rulesets.iter().map(|own| HeadRuleset { games: 0, per_unit: 0, ..own.clone() }).collect(),
            ..head.clone()
        };
        of(self) == of(other)
    }

    /// Reads the head of a generation; `None` where there is none.
    /// Fails when it cannot be read, is none of this version of the program, is that of another generation, or has units
    /// without games or too many of them.
    pub(super) fn read(store: &Store, run: &str, generation: u64) -> Result<Option<GenerationHead>, Error> {
        let name = name_of(HEADS, run, generation);
        let Some(head) = read::<GenerationHead>(store, &name)? else { return Ok(None) };
        if head.run != run || head.generation != generation {
            bail!("{name}: it is that of generation {} of run {:?}; remove it", head.generation, head.run);
        }
        let units = head.rulesets.iter().map(|ruleset| match ruleset.per_unit {
            0 => u64::MAX,
            per_unit => ruleset.games.div_ceil(per_unit),
        });
        if units.fold(0, u64::saturating_add) > UNITS_MAX {
            bail!("{name}: it has units without games, or more than {UNITS_MAX}; remove it");
        }
        Ok(Some(head))
    }
}

impl Manifest {
    /// Returns how many units the workers played at once, each of them counted once.
    pub(super) fn at_once(&self) -> u64 {
        let of_workers: BTreeMap<&str, u64> =
            self.units.iter().map(|unit| (unit.worker.as_str(), unit.at_once)).collect();
        of_workers.values().fold(0, |sum, own| sum.saturating_add(*own))
    }

    /// Reads the manifest of a generation; `None` where there is none.
    /// Fails when it cannot be read, or is none of this version of the program.
    pub fn read(store: &Store, run: &str, generation: u64) -> Result<Option<Manifest>, Error> {
        read(store, &name_of(MANIFESTS, run, generation))
    }
}

fn read<T: serde::de::DeserializeOwned>(store: &Store, name: &str) -> Result<Option<T>, Error> {
    let Some(text) = store.read(name, BYTES_MAX)? else { return Ok(None) };
    match serde_json::from_slice(&text) {
        Ok(found) => Ok(Some(found)),
        Err(error) => {
            bail!(
                "{name}: it is not that of this version of the program, {} ({error}); use the same version",
                VERSION.program
            )
        }
    }
}

/// Writes what [`read`] reads.
pub(super) fn to_bytes<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    Ok(serde_json::to_vec_pretty(value)?)
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        match error {
            StoreError::Stopped => Error::Stopped,
            error => Error::Store(error),
        }
    }
}
