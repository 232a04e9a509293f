//! The configuration of a training run.

use std::path::Path;

use anyhow::{Context, bail};
use latrunculi_engine::encoding::Shape;
use latrunculi_eval::{AgentKind, AgentSpec};
use latrunculi_model::{DeviceChoice, NetworkConfig, Precision, TrainingConfig};
use latrunculi_selfplay::{AlphaBetaTeaching, ReplaySettings, SelfPlaySettings};
use serde::{Deserialize, Serialize};

use crate::rulesets_source::read_text;

/// A configuration is a few kilobytes; what is larger is something else.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Everything that a run depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrainConfig {
    /// Shipped name or path of a ruleset.
    pub(crate) ruleset: String,
    /// Everything random is derived from it; the same seed plays the same games.
    pub(crate) seed: u64,
    /// `auto`, `cpu`, `cuda`, `cuda:N`.
    pub(crate) device: String,
    /// How exactly the playing network computes.
    pub(crate) precision: Precision,
    pub(crate) budget: Budget,
    pub(crate) network: NetworkConfig,
    pub(crate) games: Games,
    pub(crate) teacher: Teaching,
    pub(crate) selfplay: SelfPlaySettings,
    pub(crate) replay: ReplaySettings,
    pub(crate) training: TrainingConfig,
    pub(crate) evaluation: Evaluation,
}

/// When the run ends: at whichever comes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Budget {
    /// Wall time of generations in minutes, the final match apart; 0 for no limit.
    pub(crate) minutes: f64,
    /// Generations; 0 for no limit.
    pub(crate) generations: u64,
}

/// How many games are played at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Games {
    /// Games of a generation of self-play.
    pub(crate) per_generation: u64,
    /// Threads that each play and evaluate games of their own.
    pub(crate) lanes: usize,
    /// Lanes that play at a time while the network is trained, at most `lanes`; 0 for none: training and games wait for
    /// each other.
    pub(crate) lanes_beside_training: usize,
    /// Games in flight in each lane: the size of its batches.
    pub(crate) in_flight: usize,
    /// Whether rayon's threads move the trees of a lane; for machines with more cores than lanes.
    pub(crate) parallel_trees: bool,
    /// Positions of a batch of training.
    pub(crate) batch_size: usize,
}

/// The first generations, whose games alpha-beta plays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Teaching {
    /// Generations that it plays; 0 for none.
    pub(crate) generations: u64,
    /// Games of each.
    pub(crate) games: u64,
    /// Share of its games that begin with random actions, in `[0, 1]`.
    pub(crate) opening_share: f64,
    /// Most random actions at the start of such a game.
    pub(crate) opening_actions_max: u32,
    /// How it plays and what is learnt from it.
    pub(crate) alphabeta: AlphaBetaTeaching,
}

/// How strength is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Evaluation {
    /// Whom the network is measured against: an agent, as `match` takes it.
    pub(crate) baseline: String,
    /// Against whom else it is measured at the end, in matches of `pairs`, for the model card.
    #[serde(default)]
    pub(crate) anchors: Vec<String>,
    /// Every how many generations; 0 for only at the end.
    pub(crate) every: u64,
    /// Openings of such a match, each played twice with seats swapped.
    pub(crate) pairs: u64,
    /// Openings of the match at the end.
    pub(crate) final_pairs: u64,
    /// Simulations of the network's searches, which have the settings that `match` gives them.
    pub(crate) simulations: u32,
    /// Random actions of an opening.
    pub(crate) opening_actions: u32,
}

impl TrainConfig {
    /// Reads a configuration from a file and sets `settings`, each `key=value`.
    ///
    /// # Errors
    /// What is wrong, with the place where it stands.
    pub(crate) fn read(path: &Path, settings: &[String]) -> anyhow::Result<TrainConfig> {
        let text = read_text(path, FILE_BYTES_MAX)?;
        let in_file = || format!("{}: not a training configuration", path.display());
        if settings.is_empty() {
            return toml::from_str(&text).with_context(in_file);
        }
        let mut table: toml::Table = toml::from_str(&text).with_context(in_file)?;
        for setting in settings {
            set(&mut table, setting).with_context(|| format!("--set {setting}"))?;
        }
        table.try_into().with_context(|| format!("{}, with --set {}", in_file(), settings.join(" --set ")))
    }

    /// Returns the configuration as the text of a file.
    pub(crate) fn to_text(&self) -> anyhow::Result<String> {
        toml::to_string(self).context("writing the resolved configuration")
    }

    /// Checks everything, for a board of `shape`.
    ///
    /// # Errors
    /// Every reason at once.
    pub(crate) fn validate(&self, shape: &Shape) -> anyhow::Result<()> {
        let mut faults = Vec::new();
        let mut require = |good: bool, fault: String| {
            if !good {
                faults.push(fault);
            }
        };
        let Budget { minutes, generations } = self.budget;
        require(minutes >= 0.0 && minutes.is_finite(), format!("budget.minutes = {minutes} must be at least 0"));
        require(minutes > 0.0 || generations > 0, "budget: minutes or generations must be above 0".to_owned());
        require(self.games.per_generation > 0, "games.per_generation = 0 must be at least 1".to_owned());
        let lanes = self.games.lanes;
        require((1..=64).contains(&lanes), format!("games.lanes = {lanes} must be 1 to 64"));
        let beside = self.games.lanes_beside_training;
        require(beside <= lanes, format!("games.lanes_beside_training = {beside} must be 0 to games.lanes = {lanes}"));
        require(self.games.in_flight > 0, "games.in_flight = 0 must be at least 1".to_owned());
        require(self.games.batch_size > 0, "games.batch_size = 0 must be at least 1".to_owned());
        require(
            self.teacher.generations == 0 || self.teacher.games > 0,
            "teacher.games = 0 must be at least 1".to_owned(),
        );
        let share = self.teacher.opening_share;
        require((0.0..=1.0).contains(&share), format!("teacher.opening_share = {share} must be in [0, 1]"));
        require(self.evaluation.final_pairs > 0, "evaluation.final_pairs = 0 must be at least 1".to_owned());
        require(
            (self.evaluation.every == 0 && self.evaluation.anchors.is_empty()) || self.evaluation.pairs > 0,
            "evaluation.pairs = 0 must be at least 1".to_owned(),
        );
        let evaluation = &self.evaluation;
        let opponents = std::iter::once(("baseline", &evaluation.baseline))
            .chain(evaluation.anchors.iter().map(|anchor| ("anchors", anchor)));
        for (key, opponent) in opponents {
            match opponent.parse::<AgentSpec>() {
                Ok(agent) if agent.kind == AgentKind::Human => {
                    faults.push(format!("evaluation.{key}: human plays in `latrunculi play` only"));
                }
                Ok(_) => {}
                Err(fault) => faults.push(format!("evaluation.{key}: {fault}")),
            }
        }
        if let Err(fault) = self.device.parse::<DeviceChoice>() {
            faults.push(format!("device: {fault}"));
        }
        faults.extend(self.selfplay.faults().into_iter().map(|fault| format!("selfplay.{fault}")));
        faults.extend(self.teacher.alphabeta.faults().into_iter().map(|fault| format!("teacher.alphabeta.{fault}")));
        faults.extend(self.replay.faults().into_iter().map(|fault| format!("replay.{fault}")));
        if let Err(error) = self.training.validate() {
            faults.push(format!("training: {error}"));
        }
        if let Err(error) = self.network.validate(shape) {
            faults.push(format!("network: {error}"));
        }
        if faults.is_empty() {
            return Ok(());
        }
        bail!("the configuration cannot be used:\n  {}", faults.join("\n  "))
    }
}

/// Sets one value: `a.b=value`, the value as TOML, or a text when it is not TOML.
fn set(table: &mut toml::Table, setting: &str) -> anyhow::Result<()> {
    let Some((key, value)) = setting.split_once('=') else {
        bail!("must be key=value, as games.lanes=1");
    };
    let (key, value) = (key.trim(), value.trim());
    let parsed = toml::from_str::<toml::Table>(&format!("value = {value}"));
    let value = match parsed.ok().and_then(|mut table| table.remove("value")) {
        Some(value) => value,
        None => toml::Value::String(value.to_owned()),
    };
    let mut parts: Vec<&str> = key.split('.').collect();
    let last = parts.pop().unwrap_or_default();
    if last.is_empty() || parts.iter().any(|part| part.is_empty()) {
        bail!("'{key}' is no key");
    }
    let mut place = table;
    for part in parts {
        let inner = place.entry(part).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        place = inner.as_table_mut().with_context(|| format!("'{part}' in '{key}' is a value and no table"))?;
    }
    // A number without a fraction may stand for one that could have it.
    let value = match (place.get(last), value) {
        (Some(toml::Value::Float(_)), toml::Value::Integer(number)) => toml::Value::Float(number as f64),
        (_, value) => value,
    };
    place.insert(last.to_owned(), value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_replaces_one_value() {
        let mut table: toml::Table = toml::from_str("a = 1\n[b]\nc = 2.5\nd = \"x\"").unwrap();
        set(&mut table, "a=7").unwrap();
        set(&mut table, "b.c=3").unwrap();
        set(&mut table, "b.d=alphabeta:nodes=9").unwrap();
        assert_eq!(table["a"], toml::Value::Integer(7));
        assert_eq!(table["b"]["c"], toml::Value::Float(3.0));
        assert_eq!(table["b"]["d"], toml::Value::String("alphabeta:nodes=9".to_owned()));
        assert!(set(&mut table, "a.b=1").is_err());
        assert!(set(&mut table, "nothing").is_err());
    }

    #[test]
    fn every_shipped_configuration_can_be_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/train");
        let mut count = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let config = TrainConfig::read(&path, &[]).unwrap();
                let ruleset = latrunculi_engine::presets::ruleset(&config.ruleset).unwrap();
                let rules = latrunculi_engine::Rules::new(&ruleset).unwrap();
                config.validate(&Shape::of(&rules)).unwrap();
                count += 1;
            }
        }
        assert!(count >= 2);
    }
}
