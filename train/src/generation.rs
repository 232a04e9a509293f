//! The games of a generation.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use latrunculi_engine::Rules;
use latrunculi_model::{Device, Network, Precision};
use latrunculi_search::evaluators::Uniform;
use latrunculi_selfplay::games::{ActorEvaluator, Watch};
use latrunculi_selfplay::{Journal, PlayedGame, Progress, SelfPlayError, SelfPlayPlan, SelfPlaySettings, play_games};
use serde_json::json;

use crate::config::TrainConfig;
use crate::error::Error;
use crate::fair_gate::FairGate;
use crate::play_network::PlayEvaluator;

/// The games of a generation, as they were played.
#[derive(Debug)]
pub struct GenerationGames {
    /// The games, by number.
    pub games: Vec<PlayedGame>,
    /// How many of them were found in the journal.
    pub found: u64,
    /// The work that the actors did.
    pub progress: Progress,
    /// Seconds that they took.
    pub secs: f64,
}

/// Returns whether alpha-beta plays the games of a generation.
#[must_use]
pub fn is_bootstrap(config: &TrainConfig, generation: u64) -> bool {
    generation < config.teacher.generations
}

/// Returns what is to be played in a generation.
#[must_use]
pub fn plan(config: &TrainConfig, rules: &Arc<Rules>, generation: u64) -> SelfPlayPlan {
    let teacher = &config.teacher;
    let is_bootstrap = is_bootstrap(config, generation);
    let settings = if is_bootstrap {
        SelfPlaySettings {
            opening_probability: teacher.opening_probability,
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
        games: if is_bootstrap { teacher.games } else { config.games.per_generation },
        played: BTreeSet::new(),
        in_flight: config.games.in_flight,
        teacher: is_bootstrap.then_some(teacher.alphabeta),
        parallel_trees: config.games.parallel_trees,
    }
}

/// Returns a text that names the player and its settings: `network` in this precision, or alpha-beta where the plan says
/// so. Equal texts mean equal play.
///
/// # Errors
/// When the weights cannot be read from the device.
pub fn players(plan: &SelfPlayPlan, network: Option<&Network>, precision: Precision) -> Result<String, Error> {
    let settings = json!({ "settings": plan.settings, "teacher": plan.teacher, "games": plan.games });
    let settings = crc32fast::hash(settings.to_string().as_bytes());
    Ok(match (&plan.teacher, network) {
        (None, Some(network)) => format!("network {} {precision} {settings:08x}", network.fingerprint()?),
        _ => format!("alphabeta {settings:08x}"),
    })
}

/// Returns whether a generation may be played in parts, and so needs a journal.
///
/// A network's rounding may depend on the other positions of the batch. With one actor, 32 bits and the processor, the
/// batches are the same whenever the generation is played from its beginning, and only then: such a generation is
/// played as a whole, so that the run can be repeated bit by bit. Alpha-beta rounds nothing.
#[must_use]
pub fn may_be_split(plan: &SelfPlayPlan, actors: usize, device: Device, precision: Precision) -> bool {
    let is_repeatable = actors == 1 && !device.is_gpu() && precision == Precision::F32;
    plan.teacher.is_some() || !is_repeatable
}

/// Plays the games of a plan that are not in its journal. `evaluators` may be empty where alpha-beta plays; `watch`
/// receives the number of games finished and returns whether to go on.
///
/// # Errors
/// [`SelfPlayError`]
pub fn play(
    mut plan: SelfPlayPlan,
    actors: usize,
    mut evaluators: Vec<PlayEvaluator>,
    journal: Option<(&Journal, Vec<PlayedGame>)>,
    gate: &FairGate,
    watch: &(dyn Fn(u64) -> bool + Sync),
) -> Result<GenerationGames, SelfPlayError> {
    let begun = Instant::now();
    let (journal, found) = journal.unzip();
    let found: Vec<PlayedGame> = found.into_iter().flatten().filter(|game| game.index < plan.games).collect();
    plan.played = found.iter().map(|game| game.index).collect();
    let found_count = plan.played.len() as u64;
    let progress = Progress::default();
    let actors_watch = ActorsWatch { watch, gate, journal, found: found_count };
    let mut idle = vec![Uniform; if plan.teacher.is_some() { actors } else { 0 }];
    let mut actors: Vec<ActorEvaluator<'_>> = match plan.teacher {
        Some(_) => idle.iter_mut().map(|idle| -> ActorEvaluator<'_> { idle }).collect(),
        None => evaluators.iter_mut().map(|evaluator| -> ActorEvaluator<'_> { &mut **evaluator }).collect(),
    };
    let mut games = play_games(&plan, &mut actors, &progress, &actors_watch)?;
    games.extend(found);
    games.sort_by_key(|game| game.index);
    Ok(GenerationGames { games, found: found_count, progress, secs: begun.elapsed().as_secs_f64() })
}

/// Watches the actors of a generation.
struct ActorsWatch<'a> {
    /// Receives the number of games finished and returns whether to go on.
    watch: &'a (dyn Fn(u64) -> bool + Sync),
    gate: &'a FairGate,
    journal: Option<&'a Journal>,
    found: u64,
}

impl Watch for ActorsWatch<'_> {
    fn goes_on(&self, progress: &Progress) -> bool {
        (self.watch)(self.found + progress.games.load(Ordering::Relaxed))
    }

    fn begin_round(&self) {
        self.gate.enter();
    }

    fn end_round(&self) {
        self.gate.leave();
    }

    fn take(&self, game: &PlayedGame) -> Result<(), SelfPlayError> {
        match self.journal {
            Some(journal) => Ok(journal.add(game)?),
            None => Ok(()),
        }
    }
}
