//! The state of a run that its checkpoint keeps besides the weights.

use std::collections::BTreeMap;

use latrunculi_data::{Measurement, Precision};
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_model::Trainer;
use serde::{Deserialize, Serialize};

use latrunculi_train::config::TrainConfig;
use latrunculi_train::error::{Context, Error, bail};
use latrunculi_train::run_dir::RunDir;
use latrunculi_train::run_rulesets::RunRuleset;

use crate::error::OfLibtorch;

/// What a checkpoint knows of a ruleset that the run trains on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RulesetState {
    pub(crate) name: String,
    /// Its family ([`latrunculi_train::run_rulesets`]).
    pub(crate) family: String,
    pub(crate) fingerprint: String,
    /// Its part of the samples of all rulesets, in `(0, 1]`.
    pub(crate) share: f64,
    pub(crate) samples: u64,
    /// Games that alpha-beta played.
    #[serde(default)]
    pub(crate) teacher_games: u64,
    /// Samples by which the last generation exceeded its quota, negative where it fell short; the next one plays so many less.
    pub(crate) ahead: i64,
    /// Generations in the replay window, oldest first.
    pub(crate) window: Vec<u64>,
    /// Generations played before the last match, if the network that played it is kept for the next one.
    #[serde(default)]
    pub(crate) measured: Option<u64>,
    /// The score of the player who begins in the last generation of self-play.
    pub(crate) first_player: Option<Measurement>,
}

/// Returns how many games alpha-beta plays in each ruleset in generation `generation`, at least 1: at first `each` games for
/// each of them, divided by share; then, since the lengths of games are known, so many that the samples of all generations
/// are divided by share, as training draws them, and are as many in each. `each` where there is one ruleset.
pub(crate) fn teacher_games(each: u64, generation: u64, taught: &[RulesetState]) -> Vec<u64> {
    let all: f64 = taught.iter().map(|one| one.samples as f64).sum();
    let is_known =
        generation > 0 && taught.len() > 1 && taught.iter().all(|one| one.teacher_games > 0 && one.samples > 0);
    let games = taught.iter().map(|one| {
        let games = if is_known {
            let wanted = one.share * all * (generation + 1) as f64 / generation as f64 - one.samples as f64;
            wanted * one.teacher_games as f64 / one.samples as f64
        } else {
            each as f64 * taught.len() as f64 * one.share
        };
        (games.round() as u64).max(1)
    });
    games.collect()
}

/// A random mix of rules that is being played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MixState {
    pub(crate) number: u64,
    pub(crate) text: String,
    pub(crate) samples: u64,
    /// As [`RulesetState::ahead`].
    pub(crate) ahead: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MixWindow {
    pub(crate) name: String,
    /// Generations, oldest first.
    pub(crate) generations: Vec<u64>,
}

/// Everything besides the weights and the shards that a run needs to continue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunState {
    pub(crate) generations: u64,
    /// Whether everything that was played has been trained on, as at the end of a run.
    pub(crate) is_trained: bool,
    pub(crate) games: u64,
    pub(crate) samples: u64,
    /// Samples played, and trained on, when `replay.reuse` got its value; it holds for those since.
    #[serde(default)]
    pub(crate) reuse_since: (u64, u64),
    /// Seconds that the rounds took.
    pub(crate) elapsed_secs: f64,
    /// Seconds of the last round, and of the training in it; they predict whether another round fits the budget.
    pub(crate) last_secs: f64,
    pub(crate) last_training_secs: f64,
    /// Length of the metrics, and of the TensorBoard events, at this moment.
    pub(crate) metrics_bytes: u64,
    pub(crate) events_bytes: u64,
    /// Pools with games in flight, in the file beside the checkpoint; 0 before the first generation that a network plays.
    pub(crate) pools: usize,
    /// The precision of play that was chosen last.
    pub(crate) precision: Precision,
    /// The rulesets, in the order of the configuration.
    pub(crate) rulesets: Vec<RulesetState>,
    pub(crate) mixes: Vec<MixState>,
    pub(crate) mixes_drawn: u64,
    pub(crate) mixes_samples: u64,
    /// Samples by which mixes that are over exceeded their quotas; the next mix plays so many less.
    pub(crate) mixes_ahead: i64,
    /// The mixes in the replay window, oldest first.
    pub(crate) mix_windows: Vec<MixWindow>,
    /// Checksums ([`latrunculi_data::files::checksum`]) of the shards in the replay windows, by name of the file.
    pub(crate) shards: BTreeMap<String, String>,
    /// Checksum of the file of the games in flight; `None` where there is none.
    pub(crate) pools_checksum: Option<String>,
    /// Index of the ruleset whose match is next.
    pub(crate) next_measured: usize,
    /// The configuration as TOML, a text so that every number keeps its digits.
    pub(crate) config: String,
}

impl RunState {
    pub(crate) fn new(config: &TrainConfig, rulesets: &[RunRuleset], precision: Precision) -> Result<RunState, Error> {
        let ruleset = |trained: &RunRuleset| RulesetState {
            name: trained.id().to_owned(),
            family: trained.family.clone(),
            fingerprint: ruleset_fingerprint(trained.rules.ruleset()),
            share: trained.share,
            ..RulesetState::default()
        };
        Ok(RunState {
            is_trained: true,
            precision,
            rulesets: rulesets.iter().map(ruleset).collect(),
            config: config.to_text()?,
            ..RunState::default()
        })
    }

    pub(crate) fn save(&self, folder: &RunDir, trainer: &Trainer) -> Result<(), Error> {
        let extra = serde_json::to_string(self).context("writing the state of the run")?;
        trainer.save(&folder.checkpoint_path(self.generations), &extra).of_libtorch()?;
        folder.set_latest(self.generations)
    }

    /// Checks that a configuration differs from that of this state only by `settings`, each `key=value`, and that
    /// these values may be changed.
    /// Error: every difference, and how to resolve it.
    pub(crate) fn allow(&self, config: &TrainConfig, settings: &[String]) -> Result<(), Error> {
        // Parsed and written again, so that values added since have their defaults.
        let was = TrainConfig::from_text(&self.config).context("the configuration in the checkpoint")?;
        let differences = differences(&was.to_text()?, &config.to_text()?)?;
        let is_set = |key: &str| {
            let mut keys = settings.iter().filter_map(|setting| setting.split_once('=')).map(|(key, _)| key.trim());
            keys.any(|set| key == set || key.strip_prefix(set).is_some_and(|rest| rest.starts_with('.')))
        };
        let is_fixed = |key: &str| {
            ["seed", "rulesets", "precision"].contains(&key)
                || ["network.", "rulesets."].iter().any(|table| key.starts_with(table))
        };
        let fixed: Vec<_> = differences.iter().filter(|difference| is_fixed(&difference.key)).collect();
        if !fixed.is_empty() {
            bail!(
                "the seed, the rulesets, the network and the precision of self-play of a run cannot be changed; begin a new \
                 run, or leave them as they were:\n{}",
                list(&fixed)
            );
        }
        let unset: Vec<_> = differences.iter().filter(|difference| !is_set(&difference.key)).collect();
        if !unset.is_empty() {
            let mut way_out = "revert it".to_owned();
            // A value that has gone cannot be set.
            if unset.iter().all(|difference| difference.now != MISSING) {
                way_out.push_str(", or confirm with");
                unset.iter().for_each(|difference| {
                    way_out.push_str(&format!(" --set '{}={}'", difference.key, difference.now.trim_matches('"')));
                });
            }
            bail!("config.toml has been changed since the last checkpoint:\n{}\n{way_out}", list(&unset));
        }
        let [before, after] = [&was, config].map(|config| config.teacher.generations);
        if before < self.generations && self.generations < after {
            bail!(
                "teacher.generations={after}: the network has played since generation {before}, and alpha-beta cannot teach \
                 again from generation {} on; begin a new run, or leave the value as it was",
                self.generations
            );
        }
        Ok(())
    }
}

/// What a configuration has in place of a value that only the other one has.
const MISSING: &str = "missing";

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
fn differences(was: &str, now: &str) -> Result<Vec<Difference>, Error> {
    let read = |text: &str| -> Result<BTreeMap<String, String>, Error> {
        let mut values = BTreeMap::new();
        flatten("", &toml::Value::Table(toml::from_str(text).context("the configuration")?), &mut values);
        Ok(values)
    };
    let (was, now) = (read(was)?, read(now)?);
    let keys: std::collections::BTreeSet<&String> = was.keys().chain(now.keys()).collect();
    let text = |value: Option<&String>| value.map_or(MISSING, String::as_str).to_owned();
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
    use super::*;
    use latrunculi_train::config::ConfigSource;

    #[test]
    fn a_value_that_an_older_version_did_not_have_is_no_change() {
        let mut config = TrainConfig::read(&ConfigSource::find("smoke").unwrap(), &[]).unwrap();
        let rules = latrunculi_train::run_rulesets::load(&config.rulesets).unwrap();
        let mut state = RunState::new(&config, &rules, Precision::F32).unwrap();
        let older = state.config.replace("draw_margin_full = 1.0\n", "");
        assert_ne!(older, state.config);
        state.config = older;
        state.allow(&config, &[]).unwrap();
        config.replay.draw_margin_full = 0.5;
        config.evaluation.baseline = "greedy".to_owned();
        let fault = state.allow(&config, &[]).unwrap_err().to_string();
        assert!(
            fault.ends_with("confirm with --set 'evaluation.baseline=greedy' --set 'replay.draw_margin_full=0.5'"),
            "{fault}"
        );
        config.seed += 1;
        let fault = state.allow(&config, &[]).unwrap_err().to_string();
        assert!(fault.contains("seed: was 1, is 2") && !fault.contains("--set"), "{fault}");
    }

    #[test]
    fn the_samples_of_alpha_beta_are_divided_by_share_whatever_the_lengths_of_games() {
        // Samples of a game, and share.
        let rulesets = [(50, 0.25), (70, 0.15), (140, 0.2), (60, 0.4)];
        let of =
            |share, teacher_games, samples| RulesetState { share, teacher_games, samples, ..RulesetState::default() };
        let mut taught: Vec<RulesetState> = rulesets.iter().map(|&(_, share)| of(share, 0, 0)).collect();
        for generation in 0..3 {
            let games = teacher_games(24, generation, &taught);
            if generation == 0 {
                assert_eq!(games, [24, 14, 19, 38], "by share of the games");
            }
            for ((one, games), (samples, _)) in taught.iter_mut().zip(games).zip(rulesets) {
                *one = of(one.share, one.teacher_games + games, one.samples + games * samples);
            }
            let all: u64 = taught.iter().map(|one| one.samples).sum();
            assert!((7000..7200).contains(&(all / (generation + 1))), "as many samples each time: {all}");
        }
        let all: u64 = taught.iter().map(|one| one.samples).sum();
        for (one, (samples, share)) in taught.iter().zip(rulesets) {
            assert!((one.samples as f64 - share * all as f64).abs() <= samples as f64, "{one:?}");
        }
        let short = [of(0.9, 9, 90), of(0.1, 1, 500)];
        assert_eq!(teacher_games(5, 1, &short)[1], 1, "what has had too much has one game more");
        assert_eq!(teacher_games(24, 1, &[of(1.0, 20, 900)]), [24]);
    }

    #[test]
    fn alphabeta_cannot_teach_again() {
        let mut config = TrainConfig::read(&ConfigSource::find("smoke").unwrap(), &[]).unwrap();
        let rules = latrunculi_train::run_rulesets::load(&config.rulesets).unwrap();
        let mut state = RunState::new(&config, &rules, Precision::F32).unwrap();
        state.generations = config.teacher.generations;
        config.teacher.generations += 5;
        let set = [format!("teacher.generations={}", config.teacher.generations)];
        state.allow(&config, &set).unwrap();
        state.generations += 1;
        let fault = state.allow(&config, &set).unwrap_err().to_string();
        assert!(fault.contains("cannot teach again"), "{fault}");
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
                difference("b.d", "\"x\"", "missing"),
                difference("b.e.f", "missing", "true"),
            ]
        );
    }
}
