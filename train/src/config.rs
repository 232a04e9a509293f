//! The configuration of a training run.
//! A configuration is a TOML text that holds every value, or names with `base = "other.toml"` another one and holds what
//! differs from it.

mod ruleset_choice;
mod source;

use std::num::NonZero;
use std::path::Path;
use std::thread;

use latrunculi_data::ranges::{AUTO, Range, faults as out_of_range, number_or_auto};
use latrunculi_data::{DeviceChoice, NetworkConfig, Precision, ReplaySettings, TrainingConfig};
use latrunculi_eval::AgentSpec;
use latrunculi_search::mcts::SIMULATIONS_MAX;
use latrunculi_selfplay::settings::OPENING_ACTIONS_MAX;
use latrunculi_selfplay::{SelfPlaySettings, TeacherSettings};
use serde::{Deserialize, Serialize};

pub use self::ruleset_choice::RulesetChoice;
#[cfg(test)]
pub(crate) use self::source::tests::toml_stems;
pub use self::source::{ConfigSource, SHIPPED_CONFIGS};
use crate::error::{Context, Error, bail};
use crate::mixes::MixSettings;

/// Most games of a generation and of a match.
const GAMES_MAX: u64 = 1_000_000;

/// Most positions of a batch.
const BATCH_MAX: u64 = 1 << 16;

/// Most samples of a generation.
const SAMPLES_MAX: u64 = 1 << 30;

/// Most actors.
const ACTORS_MAX: usize = 64;

/// Most pools, and most rulesets measured at once.
const POOLS_MAX: u64 = 1000;

/// Most configurations that are based on one another; more form a circle.
const BASES_MAX: usize = 8;

/// The key of the configuration that another one is based on.
const BASE: &str = "base";

/// Everything that a run depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainConfig {
    /// The rulesets that the run trains on.
    pub rulesets: RulesetChoice,
    /// Source of all randomness. Where `budget.generations` alone ends the run, the same seed gives the same network; where
    /// `budget.minutes` does, the learning rate follows the clock.
    pub seed: u64,
    /// `auto`, `cpu`, `cuda`, `cuda:N`.
    pub device: String,
    /// Precision of the network in self-play.
    pub precision: Precision,
    /// When the run ends.
    pub budget: Budget,
    /// Size of the network.
    pub network: NetworkConfig,
    /// How many games are played at once.
    pub games: GameCounts,
    /// The generations that alpha-beta plays.
    pub teacher: TeacherPhase,
    /// How the network plays against itself.
    pub selfplay: SelfPlaySettings,
    /// The random mixes of rules that take part.
    #[serde(default)]
    pub mixes: MixSettings,
    /// What training draws from.
    pub replay: ReplaySettings,
    /// How the network is trained.
    pub training: TrainingConfig,
    /// How strength is measured.
    pub evaluation: EvaluationSettings,
}

/// When a run ends: at whichever limit comes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Wall time of all rounds in minutes, without the final match; 0 for no limit.
    pub minutes: f64,
    /// Generations; 0 for no limit.
    pub generations: u64,
}

/// How many games are played, and how many at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameCounts {
    /// Games of a generation of self-play; 0 where `samples_per_generation` counts.
    pub per_generation: u64,
    /// Samples of a generation of self-play, divided among the rulesets by share; 0 where `per_generation` counts. Several
    /// rulesets need it, for their games differ in length.
    #[serde(default)]
    pub samples_per_generation: u64,
    /// Threads that each play and evaluate one pool at a time, 1 to 64; `auto`: one for each core.
    #[serde(deserialize_with = "number_or_auto")]
    pub actors: usize,
    /// Pools of games in flight, 1 to 1000, divided among the rulesets by share, at least one of each; games that are in flight at the end of
    /// a generation go on in the next one. Below the number of actors, some of these are idle. `auto`: two, or two for each of more than two actors.
    #[serde(default = "two_pools", deserialize_with = "number_or_auto")]
    pub pools: usize,
    /// Most actors that compute at a time while the network is trained, at most `actors`; 0 for none: training and games
    /// take turns. `auto`: all but one.
    #[serde(deserialize_with = "number_or_auto")]
    pub actors_beside_training: usize,
    /// Games in flight in a pool of one or two of a ruleset; of more pools each has as many less, but 16 if this is no less: these the fused
    /// kernels compute together.
    pub in_flight: usize,
    /// What computes the network in play.
    #[serde(default)]
    pub device: GamesDevice,
    /// Whether rayon's threads advance the trees of an actor; for machines with more cores than actors.
    pub parallel_trees: bool,
    /// Positions of a training step.
    pub batch_size: usize,
    /// Batches in which a step draws them, each of one ruleset; a divisor of `batch_size`.
    #[serde(default = "one")]
    pub batches_per_step: usize,
}

/// What computes the network in play, where a GPU trains it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GamesDevice {
    /// The processor if it is [likely faster](GamesDevice::is_processor), else the GPU.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The GPU.
    Same,
}

impl GamesDevice {
    /// Tells whether the processor plays where a GPU trains a network of so many channels. `auto` takes it for networks of up to 64
    /// channels from eight actors on, where it has kernels of 16 bits: 16 cores with AMX played 6x64 at 400,000 positions a second.
    #[must_use]
    pub fn is_processor(self, channels: usize, actors: usize, has_bf16: bool) -> bool {
        match self {
            GamesDevice::Auto => has_bf16 && channels <= 64 && actors >= 8,
            GamesDevice::Cpu => true,
            GamesDevice::Same => false,
        }
    }
}

fn one() -> usize {
    1
}

/// One pool for each of two cores.
fn two_pools() -> usize {
    2
}

/// The first generations, whose games alpha-beta plays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TeacherPhase {
    /// Generations that alpha-beta plays; 0 for none.
    pub generations: u64,
    /// Games of each for each ruleset; with several rulesets their sum is divided by share.
    pub games: u64,
    /// Probability that a game begins with random actions, in `[0, 1]`.
    pub opening_probability: f64,
    /// Most random actions at the start of such a game.
    pub opening_actions_max: u32,
    /// How alpha-beta plays and what is learnt from its games.
    pub alphabeta: TeacherSettings,
}

/// How strength is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationSettings {
    /// The main opponent: an agent, as `match` takes it.
    pub baseline: String,
    /// Further opponents of the end of a run, in matches of `opening_pairs`, for the model card.
    #[serde(default)]
    pub anchors: Vec<String>,
    /// Generations from one match to the next; 0 for a match only at the end.
    pub every: u64,
    /// Rulesets in which a match is then played, each in its turn; at least 1.
    #[serde(default = "one")]
    pub rulesets_at_once: usize,
    /// Openings of such a match, each played twice with seats swapped.
    pub opening_pairs: u64,
    /// Openings of the match that then follows with the run's own network of the match before in this ruleset; 0 for none.
    #[serde(default)]
    pub earlier_opening_pairs: u64,
    /// Openings of the match at the end, in each ruleset; 0 for none.
    pub final_opening_pairs: u64,
    /// Simulations of the network's searches, which have the settings that `match` gives them.
    pub simulations: u32,
    /// Random actions of an opening.
    pub opening_actions: u32,
}

impl TrainConfig {
    /// Returns whether a table looks like a training configuration rather than another file of this program.
    #[must_use]
    pub fn is_meant(table: &toml::Table) -> bool {
        const SECTIONS: [&str; 7] = ["budget", "games", "teacher", "selfplay", "replay", "training", "evaluation"];
        let based = table.get(BASE).and_then(toml::Value::as_str).is_some_and(|base| base.ends_with(".toml"));
        based || SECTIONS.iter().any(|section| table.contains_key(*section))
    }

    /// Reads a configuration and those it is based on, then applies `settings`, each `key=value`.
    /// Error: what is wrong, with its place in the text.
    pub fn read(source: &ConfigSource, settings: &[String]) -> Result<TrainConfig, Error> {
        let text = source.text()?;
        let mut table = parse(&text, source)?;
        if settings.is_empty() && !table.contains_key(BASE) {
            // From the text, so that an error names its line.
            let read = toml::from_str(&text).with_context(|| not_a_configuration(source));
            return read.map(TrainConfig::resolved);
        }
        let mut applied = Vec::new();
        let mut above = source.clone();
        while let Some(base) = table.remove(BASE) {
            let Some(name) = base.as_str() else {
                bail!("{above}: base is the path of another configuration, in quotes");
            };
            if applied.len() == BASES_MAX {
                bail!("{source}: base = \"{name}\" goes in a circle");
            }
            let named = || format!("{above}: base = \"{name}\"");
            let base = above.base(name).with_context(named)?;
            table = over(table, parse(&base.text().with_context(named)?, &base)?);
            applied.push(format!("base = {base}"));
            above = base;
        }
        apply(&mut table, settings)?;
        applied.extend(settings.iter().map(|setting| format!("--set {setting}")));
        // The reader's text has lines for a file, and there may be none.
        let in_a_line = |error: toml::de::Error| {
            let fault = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            Error::Refused(format!("{}, with {}: {fault}", not_a_configuration(source), applied.join(" ")))
        };
        table.try_into().map(TrainConfig::resolved).map_err(in_a_line)
    }

    /// Reads the configuration in the folder of a run. Then applies `settings`, each `key=value`.
    pub fn read_of_run(path: &Path, settings: &[String]) -> Result<TrainConfig, Error> {
        let source = ConfigSource::from(path);
        let not_a_configuration = || not_a_configuration(&source);
        let mut table: toml::Table = toml::from_str(&source.text()?).with_context(not_a_configuration)?;
        forget_removed(&mut table);
        apply(&mut table, settings)?;
        table.try_into().map(TrainConfig::resolved).with_context(not_a_configuration)
    }

    /// Reads the text that [`TrainConfig::to_text`] wrote.
    pub fn from_text(text: &str) -> Result<TrainConfig, Error> {
        let mut table: toml::Table = toml::from_str(text)?;
        forget_removed(&mut table);
        Ok(table.try_into()?)
    }

    /// Returns the configuration as the text of a file.
    pub fn to_text(&self) -> Result<String, Error> {
        toml::to_string(self).context("writing the resolved configuration")
    }

    /// Puts numbers in the place of `auto`, for the cores that this process may use.
    fn resolved(mut self) -> TrainConfig {
        self.resolve(thread::available_parallelism().map_or(1, NonZero::get));
        self
    }

    /// Puts numbers in the place of `auto`, for so many cores. A run keeps them, so that it goes on alike on another machine.
    fn resolve(&mut self, cores: usize) {
        let put = |place: &mut usize, number: usize| {
            if *place == AUTO {
                *place = number;
            }
        };
        let games = &mut self.games;
        put(&mut games.actors, cores.clamp(1, ACTORS_MAX));
        put(&mut games.actors_beside_training, games.actors.saturating_sub(1).max(1));
        put(&mut games.pools, if games.actors > 2 { 2 * games.actors } else { 2 });
        // A run on one core learns the same on two.
        put(&mut self.training.threads, cores.clamp(2, ACTORS_MAX));
    }

    /// Checks everything, for a number of rulesets.
    /// Error: every reason at once.
    pub fn validate(&self, rulesets: usize) -> Result<(), Error> {
        let Budget { minutes, generations } = self.budget;
        let (games, teacher, evaluation) = (&self.games, &self.teacher, &self.evaluation);
        let plays_matches = evaluation.every > 0 || !evaluation.anchors.is_empty();
        let openings_max = u64::from(OPENING_ACTIONS_MAX);
        let mut faults = out_of_range([
            ("budget.minutes", minutes, Range::NotNegative),
            ("teacher.opening_probability", teacher.opening_probability, Range::Within(0.0, 1.0)),
        ]);
        let counts = [
            ("games.actors", games.actors as u64, 1, ACTORS_MAX as u64),
            ("games.per_generation", games.per_generation, 0, GAMES_MAX),
            ("games.samples_per_generation", games.samples_per_generation, 0, SAMPLES_MAX),
            ("games.pools", games.pools as u64, 1, POOLS_MAX),
            ("games.in_flight", games.in_flight as u64, 1, BATCH_MAX),
            ("games.batch_size", games.batch_size as u64, 1, BATCH_MAX),
            ("games.batches_per_step", games.batches_per_step as u64, 1, games.batch_size as u64),
            ("evaluation.rulesets_at_once", evaluation.rulesets_at_once as u64, 1, POOLS_MAX),
            ("teacher.games", teacher.games, u64::from(teacher.generations > 0), GAMES_MAX),
            ("teacher.opening_actions_max", teacher.opening_actions_max.into(), 0, openings_max),
            ("evaluation.opening_pairs", evaluation.opening_pairs, u64::from(plays_matches), GAMES_MAX / 2),
            ("evaluation.earlier_opening_pairs", evaluation.earlier_opening_pairs, 0, GAMES_MAX / 2),
            ("evaluation.final_opening_pairs", evaluation.final_opening_pairs, 0, GAMES_MAX / 2),
            ("evaluation.simulations", evaluation.simulations.into(), 0, SIMULATIONS_MAX.into()),
            ("evaluation.opening_actions", evaluation.opening_actions.into(), 0, openings_max),
        ];
        faults.extend(out_of_range(
            counts.map(|(key, value, least, most)| (key, value as f64, Range::Whole(least, most))),
        ));
        let (actors, beside) = (games.actors, games.actors_beside_training);
        let (size, batches) = (games.batch_size, games.batches_per_step);
        let has_several = rulesets > 1 || self.mixes.fraction > 0.0;
        for (is_wrong, fault) in [
            (
                generations == 0 && (minutes <= 0.0 || minutes.is_nan()),
                "budget: minutes or generations must be above 0",
            ),
            (beside > actors, &format!("games.actors_beside_training = {beside} must be 0 to games.actors = {actors}")),
            (
                batches > 0 && !size.is_multiple_of(batches),
                &format!("games.batches_per_step = {batches} must divide games.batch_size = {size}"),
            ),
            (
                (games.per_generation == 0) == (games.samples_per_generation == 0),
                "games: one of per_generation and samples_per_generation must be above 0, the other 0",
            ),
            (
                has_several && games.samples_per_generation == 0,
                "games.samples_per_generation must be above 0 and games.per_generation 0 with several rulesets or mixes",
            ),
        ] {
            if is_wrong {
                faults.push(fault.to_owned());
            }
        }
        let opponents = std::iter::once(("baseline", &evaluation.baseline))
            .chain(evaluation.anchors.iter().map(|anchor| ("anchors", anchor)));
        for (key, opponent) in opponents {
            let fault = match opponent.parse::<AgentSpec>() {
                Ok(agent) => agent.check_repeats().err().map(|fault| fault.to_string()),
                Err(fault) => Some(fault.to_string()),
            };
            faults.extend(fault.map(|fault| format!("evaluation.{key}: {fault}")));
        }
        if let Err(fault) = self.device.parse::<DeviceChoice>() {
            faults.push(format!("device: {fault}"));
        }
        for (part, found) in [
            ("selfplay", self.selfplay.validate()),
            ("teacher.alphabeta", self.teacher.alphabeta.validate()),
            ("mixes", self.mixes.validate()),
            ("replay", self.replay.validate()),
            ("training", self.training.validate()),
            ("network", self.network.validate()),
        ] {
            faults.extend(found.into_iter().map(|fault| format!("{part}.{fault}")));
        }
        if faults.is_empty() {
            return Ok(());
        }
        bail!("the configuration cannot be used:\n  {}", faults.join("\n  "))
    }
}

/// Reads a text as a table.
fn parse(text: &str, source: &ConfigSource) -> Result<toml::Table, Error> {
    let table: toml::Table = toml::from_str(text).with_context(|| not_a_configuration(source))?;
    // Only rulesets have an id.
    if table.contains_key("id") && !TrainConfig::is_meant(&table) {
        bail!(
            "{source}: this is a ruleset, not a training configuration; name a configuration and train on the ruleset with \
             --set 'rulesets={source}'"
        );
    }
    Ok(table)
}

/// Drops the settings of runs of earlier versions that have gone, where they were off.
fn forget_removed(table: &mut toml::Table) {
    let search = table.get_mut("selfplay").and_then(|selfplay| selfplay.get_mut("search"));
    if let Some(search) = search.and_then(toml::Value::as_table_mut)
        && search.get("margin_weight").and_then(toml::Value::as_float) == Some(0.0)
    {
        search.remove("margin_weight");
    }
}

fn not_a_configuration(source: &ConfigSource) -> String {
    format!("{source}: not a training configuration")
}

/// Applies settings, each `key=value`.
fn apply(table: &mut toml::Table, settings: &[String]) -> Result<(), Error> {
    for setting in settings {
        set(table, setting).with_context(|| format!("--set {setting}"))?;
    }
    Ok(())
}

/// Returns the values of `table`, and of `under` those that it does not have.
fn over(table: toml::Table, mut under: toml::Table) -> toml::Table {
    for (key, value) in table {
        let value = match (value, under.remove(&key)) {
            // Weights of rulesets are one value: the rulesets of the base are not learnt too.
            (toml::Value::Table(inner), Some(toml::Value::Table(inner_under))) if key != "rulesets" => {
                toml::Value::Table(over(inner, inner_under))
            }
            (value, _) => value,
        };
        under.insert(key, value);
    }
    under
}

/// Sets one value: `a.b=value`, the value as TOML, or a text when it is not TOML.
fn set(table: &mut toml::Table, setting: &str) -> Result<(), Error> {
    let Some((key, value)) = setting.split_once('=') else {
        bail!("must be key=value, as games.actors=1");
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
        bail!("'{key}' is not a key");
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
    use crate::error::error_chain;

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
        write("first.toml", &format!("base = {smoke}\nseed = 7\n[games]\nactors = 1\n"));
        let second = write("second.toml", "base = \"first.toml\"\nseed = 8\n[replay]\nreuse = 5\n");
        let mut expected = TrainConfig::read(&shipped.as_path().into(), &[]).unwrap();
        expected.seed = 8;
        expected.games.actors = 1;
        expected.replay.reuse = 5.0;
        assert_eq!(TrainConfig::read(&second.as_path().into(), &[]).unwrap(), expected);
        expected.seed = 9;
        assert_eq!(TrainConfig::read(&second.as_path().into(), &["seed=9".to_owned()]).unwrap(), expected);

        write("weights.toml", &format!("base = {smoke}\n[rulesets]\nbell = 1.0\nsavard = 2.0\n"));
        let other = write("other.toml", "base = \"weights.toml\"\n[rulesets]\nbeads = 1.0\n");
        let alone = TrainConfig::read(&shipped.as_path().into(), &["rulesets={ beads = 1.0 }".to_owned()]).unwrap();
        assert_eq!(TrainConfig::read(&other.as_path().into(), &[]).unwrap(), alone);

        let fault = |path: &Path| error_chain(&TrainConfig::read(&path.into(), &[]).unwrap_err());
        let text = fault(&write("typo.toml", "base = \"first.toml\"\n[games]\nacters = 1\n"));
        assert!(
            ["typo.toml", "first.toml", "smoke.toml", "acters", "actors"].iter().all(|part| text.contains(part)),
            "{text}"
        );
        let text = fault(&write("lost.toml", "base = \"nowhere.toml\"\n"));
        assert!(text.contains("lost.toml") && text.contains("nowhere.toml"), "{text}");
        let text = fault(&write("circle.toml", "base = \"circle.toml\"\n"));
        assert!(text.contains("circle.toml") && text.contains("in a circle"), "{text}");
        let text = fault(&write("mine.toml", "id = \"mine\"\nbase = \"bell\"\n[end]\nquiet_limit = 20\n"));
        assert!(text.contains("is a ruleset") && text.contains("--set 'rulesets="), "{text}");
        let text = fault(&write("number.toml", "base = 3\n"));
        assert!(text.contains("number.toml") && text.contains("in quotes"), "{text}");
    }

    #[test]
    fn every_shipped_configuration_can_be_read() {
        for name in SHIPPED_CONFIGS {
            let config = TrainConfig::read(&ConfigSource::find(name).unwrap(), &[]).unwrap();
            let rulesets = crate::run_rulesets::load(&config.rulesets).unwrap();
            config.validate(rulesets.len()).unwrap();
        }
    }

    #[test]
    fn the_processor_plays_small_networks_where_it_has_many_cores() {
        assert!(GamesDevice::Auto.is_processor(64, 16, true));
        for (channels, actors, has_bf16) in [(128, 16, true), (64, 2, true), (64, 16, false)] {
            assert!(!GamesDevice::Auto.is_processor(channels, actors, has_bf16));
        }
        assert!(GamesDevice::Cpu.is_processor(128, 2, false) && !GamesDevice::Same.is_processor(32, 64, true));
    }

    #[test]
    fn auto_follows_the_cores_and_what_is_given_stands() {
        let of_cores = |cores, actors| {
            let mut config: TrainConfig =
                toml::from_str(&ConfigSource::find("quick").unwrap().text().unwrap()).unwrap();
            config.games.actors = actors;
            config.resolve(cores);
            let GameCounts { actors, pools, actors_beside_training, .. } = config.games;
            (actors, pools, actors_beside_training, config.training.threads)
        };
        assert_eq!(of_cores(1, AUTO), (1, 2, 1, 2));
        assert_eq!(of_cores(2, AUTO), (2, 2, 1, 2));
        assert_eq!(of_cores(16, AUTO), (16, 32, 15, 16));
        assert_eq!(of_cores(500, AUTO), (64, 128, 63, 64));
        assert_eq!(of_cores(2, 8), (8, 16, 7, 2));
        let told = TrainConfig::read(&ConfigSource::find("quick").unwrap(), &["games.actors=many".to_owned()]);
        let told = told.unwrap_err().to_string();
        assert!(told.contains("\"many\"") && told.contains("a whole number or \"auto\""), "{told}");
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_file_wherever_it_stands() {
        let folder = tempfile::tempdir().unwrap();
        let smoke = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/train/smoke.toml");
        let text = std::fs::read_to_string(smoke).unwrap();
        std::fs::write(folder.path().join("below.toml"), text.replace("actors = ", "lanes = ")).unwrap();
        std::fs::write(folder.path().join("above.toml"), "base = \"below.toml\"").unwrap();
        for file in ["below.toml", "above.toml"] {
            let source = ConfigSource::from(folder.path().join(file).as_path());
            let answer = error_chain(&TrainConfig::read(&source, &[]).unwrap_err());
            for part in ["below.toml", "unknown field `lanes`", "`actors`"] {
                assert!(answer.contains(part), "{answer}");
            }
        }
        let smoke = ConfigSource::find("smoke").unwrap();
        let answer = error_chain(&TrainConfig::read(&smoke, &["games.lanes=2".to_owned()]).unwrap_err());
        assert!(answer.contains("--set games.lanes=2: unknown field `lanes`"), "{answer}");
    }

    #[test]
    fn a_setting_that_has_gone_is_passed_over_in_a_run_of_before_where_it_was_off() {
        let config = TrainConfig::read(&ConfigSource::find("smoke").unwrap(), &[]).unwrap();
        let of_before = |weight: &str| {
            let text = config.to_text().unwrap();
            text.replace("[selfplay.search]\n", &format!("[selfplay.search]\nmargin_weight = {weight}\n"))
        };
        assert_eq!(TrainConfig::from_text(&of_before("0.0")).unwrap(), config);
        let refused = TrainConfig::from_text(&of_before("0.2")).unwrap_err();
        assert!(error_chain(&refused).contains("unknown field `margin_weight`"), "{refused}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, of_before("0.0")).unwrap();
        assert_eq!(TrainConfig::read_of_run(&path, &[]).unwrap(), config);
        assert!(TrainConfig::read(&path.as_path().into(), &[]).is_err(), "only runs may name it");
    }
}
