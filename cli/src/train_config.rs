//! The configuration of a training run.
//!
//! A file holds every value, or names with `base = "other.toml"` a file beside it and holds what differs.

use std::path::Path;

use anyhow::{Context, bail};
use latrunculi_engine::encoding::Shape;
use latrunculi_eval::{AgentKind, AgentSpec};
use latrunculi_model::{DeviceChoice, NetworkConfig, Precision, TrainingConfig};
use latrunculi_selfplay::settings::{OPENING_ACTIONS_MAX, SIMULATIONS_MAX};
use latrunculi_selfplay::{AlphaBetaTeaching, ReplaySettings, SelfPlaySettings};
use serde::{Deserialize, Serialize};

use crate::rulesets_source::read_text;

/// A configuration is a few kilobytes; what is larger is something else.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Most games of a generation and of a match.
const GAMES_MAX: u64 = 1_000_000;

/// Most positions of a batch.
const BATCH_MAX: u64 = 1 << 16;

/// Most files that are based on one another; what goes deeper goes in a circle.
const BASES_MAX: usize = 8;

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
    /// Returns whether `table` is meant as a training configuration, and not as another file of ours.
    pub(crate) fn is_meant(table: &toml::Table) -> bool {
        const SECTIONS: [&str; 7] = ["budget", "games", "teacher", "selfplay", "replay", "training", "evaluation"];
        let based = table.get(BASE).and_then(toml::Value::as_str).is_some_and(|base| base.ends_with(".toml"));
        based || SECTIONS.iter().any(|section| table.contains_key(*section))
    }

    /// Reads a configuration from a file and those it is based on, and sets `settings`, each `key=value`.
    ///
    /// # Errors
    /// What is wrong, with the place where it stands.
    pub(crate) fn read(path: &Path, settings: &[String]) -> anyhow::Result<TrainConfig> {
        let text = read_text(path, FILE_BYTES_MAX)?;
        let no_configuration = |file: &Path| format!("{}: not a training configuration", file.display());
        let mut table: toml::Table = toml::from_str(&text).with_context(|| no_configuration(path))?;
        if settings.is_empty() && !table.contains_key(BASE) {
            // From the text, so that an error names its line.
            return toml::from_str(&text).with_context(|| no_configuration(path));
        }
        let mut with = Vec::new();
        let mut file = path.to_owned();
        while let Some(base) = table.remove(BASE) {
            let Some(name) = base.as_str() else {
                bail!("{}: base is the path of another configuration, in quotes", file.display());
            };
            if with.len() == BASES_MAX {
                bail!("{}: base = \"{name}\" goes in a circle", path.display());
            }
            let base_file = file.parent().unwrap_or(Path::new("")).join(name);
            let text = read_text(&base_file, FILE_BYTES_MAX)
                .with_context(|| format!("{}: base = \"{name}\"", file.display()))?;
            let under = toml::from_str(&text).with_context(|| no_configuration(&base_file))?;
            table = over(table, under);
            with.push(format!("base = {}", base_file.display()));
            file = base_file;
        }
        for setting in settings {
            set(&mut table, setting).with_context(|| format!("--set {setting}"))?;
            with.push(format!("--set {setting}"));
        }
        table.try_into().with_context(|| format!("{}, with {}", no_configuration(path), with.join(" ")))
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
        let lanes = self.games.lanes;
        require((1..=64).contains(&lanes), format!("games.lanes = {lanes} must be 1 to 64"));
        let beside = self.games.lanes_beside_training;
        require(beside <= lanes, format!("games.lanes_beside_training = {beside} must be 0 to games.lanes = {lanes}"));
        let share = self.teacher.opening_share;
        require((0.0..=1.0).contains(&share), format!("teacher.opening_share = {share} must be in [0, 1]"));
        let (games, teacher, evaluation) = (&self.games, &self.teacher, &self.evaluation);
        let plays_pairs = evaluation.every > 0 || !evaluation.anchors.is_empty();
        for (key, value, least, most) in [
            ("games.per_generation", games.per_generation, 1, GAMES_MAX),
            ("games.in_flight", games.in_flight as u64, 1, BATCH_MAX),
            ("games.batch_size", games.batch_size as u64, 1, BATCH_MAX),
            ("teacher.games", teacher.games, u64::from(teacher.generations > 0), GAMES_MAX),
            ("teacher.opening_actions_max", teacher.opening_actions_max.into(), 0, OPENING_ACTIONS_MAX.into()),
            ("evaluation.pairs", evaluation.pairs, u64::from(plays_pairs), GAMES_MAX / 2),
            ("evaluation.final_pairs", evaluation.final_pairs, 1, GAMES_MAX / 2),
            ("evaluation.simulations", evaluation.simulations.into(), 0, SIMULATIONS_MAX.into()),
            ("evaluation.opening_actions", evaluation.opening_actions.into(), 0, OPENING_ACTIONS_MAX.into()),
        ] {
            require((least..=most).contains(&value), format!("{key} = {value} must be {least} to {most}"));
        }
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

/// The key of the file that a configuration is based on.
const BASE: &str = "base";

/// Returns the values of `table`, and of `under` those that it does not have.
fn over(table: toml::Table, mut under: toml::Table) -> toml::Table {
    for (key, value) in table {
        let value = match (value, under.remove(&key)) {
            (toml::Value::Table(inner), Some(toml::Value::Table(inner_under))) => {
                toml::Value::Table(over(inner, inner_under))
            }
            (value, _) => value,
        };
        under.insert(key, value);
    }
    under
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
    fn a_configuration_holds_what_differs_from_its_base() {
        let folder = tempfile::tempdir().unwrap();
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/train/smoke.toml");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let smoke = toml::Value::String(shipped.to_str().unwrap().to_owned());
        write("first.toml", &format!("base = {smoke}\nseed = 7\n[games]\nlanes = 1\n"));
        let second = write("second.toml", "base = \"first.toml\"\nseed = 8\n[replay]\nreuse = 5\n");
        let mut expected = TrainConfig::read(&shipped, &[]).unwrap();
        expected.seed = 8;
        expected.games.lanes = 1;
        expected.replay.reuse = 5.0;
        assert_eq!(TrainConfig::read(&second, &[]).unwrap(), expected);
        expected.seed = 9;
        assert_eq!(TrainConfig::read(&second, &["seed=9".to_owned()]).unwrap(), expected);

        let fault = |path: &Path| format!("{:#}", TrainConfig::read(path, &[]).unwrap_err());
        let text = fault(&write("typo.toml", "base = \"first.toml\"\n[games]\nlames = 1\n"));
        assert!(
            ["typo.toml", "first.toml", "smoke.toml", "lames", "lanes"].iter().all(|part| text.contains(part)),
            "{text}"
        );
        let text = fault(&write("lost.toml", "base = \"nowhere.toml\"\n"));
        assert!(text.contains("lost.toml") && text.contains("nowhere.toml"), "{text}");
        let text = fault(&write("circle.toml", "base = \"circle.toml\"\n"));
        assert!(text.contains("circle.toml") && text.contains("in a circle"), "{text}");
        let text = fault(&write("number.toml", "base = 3\n"));
        assert!(text.contains("number.toml") && text.contains("in quotes"), "{text}");
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
