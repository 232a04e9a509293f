//! How far a run has come, and what it was made with.

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use latrunculi_engine::Rules;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_eval::learning::Verdict;
use latrunculi_model::{Measurement, Precision, Trainer};
use serde::{Deserialize, Serialize};

use crate::run_dir::RunDir;
use crate::train_config::TrainConfig;

/// Everything besides the weights and the shards that a run goes on from; kept in the checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunState {
    /// Generations played.
    pub(super) generations: u64,
    /// Whether all that was played has been trained on, as at the end of a run.
    pub(super) is_trained: bool,
    /// Games played.
    pub(super) games: u64,
    /// Samples played.
    pub(super) samples: u64,
    /// Seconds that the rounds took.
    pub(super) elapsed_secs: f64,
    /// Seconds of the last round, and of the training in it, by which the end is planned.
    pub(super) last_secs: f64,
    pub(super) last_training_secs: f64,
    /// Length of the metrics, and of the TensorBoard events, at this moment.
    pub(super) metrics_bytes: u64,
    pub(super) events_bytes: u64,
    /// The precision that was chosen for play at the beginning.
    pub(super) precision: Precision,
    /// The last measured strength.
    pub(super) verdict: Option<Verdict>,
    /// The score of whoever begins in the last generation of self-play.
    pub(super) first_player: Option<Measurement>,
    /// The configuration, as TOML: text gives back every number as it was.
    pub(super) config: String,
    /// Fingerprint of the rules.
    pub(super) ruleset: String,
}

impl RunState {
    /// Returns the state of a run that begins.
    pub(super) fn new(config: &TrainConfig, rules: &Rules, precision: Precision) -> anyhow::Result<RunState> {
        Ok(RunState {
            generations: 0,
            is_trained: true,
            games: 0,
            samples: 0,
            elapsed_secs: 0.0,
            last_secs: 0.0,
            last_training_secs: 0.0,
            metrics_bytes: 0,
            events_bytes: 0,
            precision,
            verdict: None,
            first_player: None,
            config: config.to_text()?,
            ruleset: ruleset_fingerprint(rules.ruleset()),
        })
    }

    /// Writes a checkpoint and makes it the newest.
    pub(super) fn save(&self, folder: &RunDir, trainer: &Trainer) -> anyhow::Result<()> {
        let extra = serde_json::to_string(self).context("writing the state of the run")?;
        trainer.save(&folder.checkpoint_path(self.generations), &extra)?;
        folder.set_latest(self.generations)
    }

    /// Checks that a configuration differs from that of this state only by what `settings`, each `key=value`,
    /// change, and that those may be changed.
    ///
    /// # Errors
    /// Every difference, and the way out.
    pub(super) fn allow(&self, config: &TrainConfig, settings: &[String]) -> anyhow::Result<()> {
        // Read and written again, so that a value that later versions know has its default here too.
        let was: TrainConfig = toml::from_str(&self.config).context("the configuration in the checkpoint")?;
        let differences = differences(&was.to_text()?, &config.to_text()?)?;
        let is_set = |key: &str| {
            let mut keys = settings.iter().filter_map(|setting| setting.split_once('=')).map(|(key, _)| key.trim());
            keys.any(|set| key == set || key.strip_prefix(set).is_some_and(|rest| rest.starts_with('.')))
        };
        let (asked, silent): (Vec<_>, Vec<_>) = differences.iter().partition(|difference| is_set(&difference.key));
        if !silent.is_empty() {
            let meant: Vec<String> =
                silent.iter().map(|difference| format!("--set {}={}", difference.key, difference.now)).collect();
            bail!(
                "config.toml has been changed since the last checkpoint:\n{}\nundo this, or say that it is meant, with {}",
                list(&silent),
                meant.join(" ")
            );
        }
        let is_fixed = |key: &str| ["seed", "ruleset", "precision"].contains(&key) || key.starts_with("network.");
        let fixed: Vec<_> = asked.into_iter().filter(|difference| is_fixed(&difference.key)).collect();
        if !fixed.is_empty() {
            bail!(
                "a run keeps its seed, its ruleset, its network and the precision of its play; begin a new one to change \
                 them:\n{}",
                list(&fixed)
            );
        }
        Ok(())
    }
}

/// A value that two configurations do not share.
#[derive(Debug, PartialEq, Eq)]
struct Difference {
    key: String,
    was: String,
    now: String,
}

fn list(differences: &[&Difference]) -> String {
    let line =
        |difference: &&Difference| format!("  {}: was {}, is {}", difference.key, difference.was, difference.now);
    differences.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the values, by their whole key, in which two texts of TOML differ.
fn differences(was: &str, now: &str) -> anyhow::Result<Vec<Difference>> {
    let read = |text: &str| -> anyhow::Result<BTreeMap<String, String>> {
        let mut values = BTreeMap::new();
        flatten("", &toml::Value::Table(toml::from_str(text).context("the configuration")?), &mut values);
        Ok(values)
    };
    let (was, now) = (read(was)?, read(now)?);
    let keys: std::collections::BTreeSet<&String> = was.keys().chain(now.keys()).collect();
    let text = |value: Option<&String>| value.map_or("not there", String::as_str).to_owned();
    Ok(keys
        .into_iter()
        .filter(|key| was.get(*key) != now.get(*key))
        .map(|key| Difference { key: key.clone(), was: text(was.get(key)), now: text(now.get(key)) })
        .collect())
}

fn flatten(key: &str, value: &toml::Value, values: &mut BTreeMap<String, String>) {
    match value {
        toml::Value::Table(table) => {
            for (name, value) in table {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                flatten(&key, value, values);
            }
        }
        value => _ = values.insert(key.to_owned(), value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_value_that_an_older_version_did_not_have_is_no_change() {
        let smoke = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/train/smoke.toml");
        let mut config = TrainConfig::read(&smoke, &[]).unwrap();
        let rules = Rules::new(&latrunculi_engine::presets::ruleset("bell").unwrap()).unwrap();
        let mut state = RunState::new(&config, &rules, Precision::F32).unwrap();
        let older = state.config.replace("draw_margin_full = 1.0\n", "");
        assert_ne!(older, state.config);
        state.config = older;
        state.allow(&config, &[]).unwrap();
        config.replay.draw_margin_full = 0.5;
        config.seed += 1;
        let fault = state.allow(&config, &[]).unwrap_err().to_string();
        assert!(fault.contains("--set replay.draw_margin_full=0.5 --set seed=2"), "{fault}");
    }

    #[test]
    fn every_value_that_differs_is_named_by_its_whole_key() {
        let found = differences("a = 1\n[b]\nc = 2.5\nd = \"x\"", "a = 1\n[b]\nc = 3.5\n[b.e]\nf = true").unwrap();
        let difference = |key: &str, was: &str, now: &str| Difference {
            key: key.to_owned(),
            was: was.to_owned(),
            now: now.to_owned(),
        };
        assert_eq!(
            found,
            [
                difference("b.c", "2.5", "3.5"),
                difference("b.d", "\"x\"", "not there"),
                difference("b.e.f", "not there", "true"),
            ]
        );
    }
}
