//! The playing half of a run: the games of a generation.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use latrunculi_engine::Rules;
use latrunculi_model::{Device, InferenceNetwork, NetEvaluator, Network, Precision};
use latrunculi_search::evaluators::Uniform;
use latrunculi_selfplay::games::{LaneEvaluator, Watch};
use latrunculi_selfplay::{Journal, PlayedGame, Progress, SelfPlayError, SelfPlayPlan, SelfPlaySettings, play_games};

use serde_json::json;

use super::turnstile::Turnstile;
use crate::train_config::TrainConfig;

/// The games of a generation.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) games: Vec<PlayedGame>,
    /// How many of them were found in the journal.
    pub(crate) found: u64,
    pub(crate) progress: Progress,
    pub(crate) secs: f64,
}

/// Tells whether alpha-beta plays the games of a generation.
pub(crate) fn is_taught(config: &TrainConfig, generation: u64) -> bool {
    generation < config.teacher.generations
}

/// Returns what is to be played in a generation.
pub(crate) fn plan(config: &TrainConfig, rules: &Arc<Rules>, generation: u64) -> SelfPlayPlan {
    let teacher = &config.teacher;
    let is_taught = is_taught(config, generation);
    let settings = if is_taught {
        SelfPlaySettings {
            opening_share: teacher.opening_share,
            opening_actions_max: teacher.opening_actions_max,
            ..config.selfplay.clone()
        }
    } else {
        config.selfplay.clone()
    };
    SelfPlayPlan {
        rules: Arc::clone(rules),
        settings,
        run_seed: config.seed,
        generation,
        games: if is_taught { teacher.games } else { config.games.per_generation },
        played: BTreeSet::new(),
        in_flight: config.games.in_flight,
        teaching: is_taught.then_some(teacher.alphabeta),
        parallel_trees: config.games.parallel_trees,
    }
}

/// Returns a text that is the same for the same player with the same settings: `network` with this precision, or alpha-beta
/// where the plan says so.
///
/// # Errors
/// When the device of the network fails.
pub(crate) fn players(plan: &SelfPlayPlan, network: Option<&Network>, precision: Precision) -> anyhow::Result<String> {
    let settings = json!({ "settings": plan.settings, "teaching": plan.teaching, "games": plan.games });
    let settings = crc32fast::hash(settings.to_string().as_bytes());
    Ok(match (&plan.teaching, network) {
        (None, Some(network)) => format!("network {} {precision} {settings:08x}", network.fingerprint()?),
        _ => format!("alphabeta {settings:08x}"),
    })
}

/// Tells whether games of this plan come out the same, bit by bit, when some of them were played before.
///
/// How a network rounds may depend on the other positions of the batch; with one lane, 32 bits and the processor
/// the batches are the same whenever the generation is played from its beginning, and only then. Alpha-beta
/// rounds nothing.
pub(crate) fn may_be_split(plan: &SelfPlayPlan, lanes: usize, device: Device, precision: Precision) -> bool {
    let is_repeatable = lanes == 1 && !device.is_gpu() && precision == Precision::F32;
    plan.teaching.is_some() || !is_repeatable
}

/// Returns one evaluator per lane.
pub(crate) fn evaluators(
    network: &Network,
    lanes: usize,
    device: Device,
    precision: Precision,
) -> anyhow::Result<Vec<NetEvaluator>> {
    (0..lanes).map(|_| Ok(NetEvaluator::new(InferenceNetwork::new(network, device, precision)?))).collect()
}

/// Plays the games of a plan that are not in its journal. `evaluators` may be empty where alpha-beta plays.
///
/// # Errors
/// [`SelfPlayError`]
pub(crate) fn play(
    mut plan: SelfPlayPlan,
    lanes: usize,
    mut evaluators: Vec<NetEvaluator>,
    journal: Option<(&Journal, Vec<PlayedGame>)>,
    turnstile: &Turnstile,
    watch: &(dyn Fn(u64) -> bool + Sync),
) -> Result<Played, SelfPlayError> {
    let begun = Instant::now();
    let (journal, found) = journal.unzip();
    let found: Vec<PlayedGame> = found.into_iter().flatten().filter(|game| game.index < plan.games).collect();
    plan.played = found.iter().map(|game| game.index).collect();
    let found_count = plan.played.len() as u64;
    let progress = Progress::default();
    let lanes_watch = LanesWatch { watch, turnstile, journal, found: found_count };
    let mut idle = vec![Uniform; if plan.teaching.is_some() { lanes } else { 0 }];
    let mut lanes: Vec<LaneEvaluator<'_>> = match plan.teaching {
        Some(_) => idle.iter_mut().map(|idle| -> LaneEvaluator<'_> { idle }).collect(),
        None => evaluators.iter_mut().map(|evaluator| -> LaneEvaluator<'_> { evaluator }).collect(),
    };
    let mut games = play_games(&plan, &mut lanes, &progress, &lanes_watch)?;
    games.extend(found);
    games.sort_by_key(|game| game.index);
    Ok(Played { games, found: found_count, progress, secs: begun.elapsed().as_secs_f64() })
}

/// Watches the lanes of a generation.
struct LanesWatch<'a> {
    /// Is told the number of games and answers whether to go on.
    watch: &'a (dyn Fn(u64) -> bool + Sync),
    turnstile: &'a Turnstile,
    journal: Option<&'a Journal>,
    found: u64,
}

impl Watch for LanesWatch<'_> {
    fn goes_on(&self, progress: &Progress) -> bool {
        (self.watch)(self.found + progress.games.load(Ordering::Relaxed))
    }

    fn begin_round(&self) {
        self.turnstile.enter();
    }

    fn end_round(&self) {
        self.turnstile.leave();
    }

    fn take(&self, game: &PlayedGame) -> Result<(), SelfPlayError> {
        match self.journal {
            Some(journal) => Ok(journal.add(game)?),
            None => Ok(()),
        }
    }
}
