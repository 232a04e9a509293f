//! The games of a generation: of the pools, which go on from one generation to the next, or a list of games that is played
//! to the end.

use std::collections::BTreeSet;
use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use latrunculi_data::{Precision, Samples, Shape, ShardInfo};
use latrunculi_engine::ruleset::SetupMode;
use latrunculi_engine::{Player, Rules};
use latrunculi_infer::GROUP;
use latrunculi_search::SEARCH_VERSION;
use latrunculi_search::evaluators::Uniform;
use latrunculi_selfplay::{
    ActorEvaluator, Journal, PlayedGame, PlayedPools, Pool, PoolPlan, PoolTask, Progress, Quota, SelfPlayError,
    SelfPlaySettings, Watch, play_pools,
};
use serde_json::json;

use crate::config::TrainConfig;
use crate::fair_gate::FairGate;
use crate::networks::PlayEvaluator;

/// The games of one ruleset in a generation.
#[derive(Debug)]
pub struct RulesetGames {
    /// The rules.
    pub rules: Arc<Rules>,
    /// The games, by number in the generation.
    pub games: Vec<PlayedGame>,
}

impl RulesetGames {
    /// Returns the samples of the games, in their order.
    #[must_use]
    pub fn samples(&self) -> Samples {
        let mut samples = Samples::new(Shape::of(&self.rules));
        for game in &self.games {
            samples.append(&game.samples);
        }
        samples
    }
}

/// The games of a generation, as they were played.
#[derive(Debug, Default)]
pub struct GenerationGames {
    /// The games by ruleset; a ruleset of which no game ended may be missing.
    pub rulesets: Vec<RulesetGames>,
    /// How many of them were found in a journal.
    pub found: u64,
    /// The work that the actors did.
    pub progress: Progress,
    /// Seconds that they took.
    pub secs: f64,
    /// What computed the network of the workers that played them; empty where they were played here, or by alpha-beta.
    pub kernels: Vec<String>,
}

/// Games that are played to the end.
#[derive(Debug)]
pub struct GameList {
    /// How they are played.
    pub plan: PoolPlan,
    /// Number of games.
    pub games: u64,
    /// Into how many pools they are divided; alpha-beta needs no batches, so that each of its games is one.
    pub pools: u64,
    /// Where finished games are written. Only games of alpha-beta, whose play depends on nothing but their numbers, may
    /// have one.
    pub journal: Option<Journal>,
    /// The games that were found in it; they are not played again.
    pub found: Vec<PlayedGame>,
}

impl GameList {
    /// Opens the journal of the list, whose shard `info` describes.
    pub fn open_journal(&mut self, path: &Path, info: &ShardInfo) -> Result<(), SelfPlayError> {
        let (journal, mut found) = Journal::open(path, &self.plan.rules, info)?;
        found.retain(|game| game.index < self.games);
        (self.journal, self.found) = (Some(journal), found);
        Ok(())
    }
}

/// How the games of a generation are played and watched.
pub struct Playing<'a> {
    /// Whether rayon's threads move the trees of an actor.
    pub parallel_trees: bool,
    /// Limits how many actors compute at a time.
    pub gate: &'a FairGate,
    /// Tells, after every batch, whether to go on.
    pub goes_on: &'a (dyn Fn(&Progress) -> bool + Sync),
    /// When the generation ends with what it then has.
    pub until: Option<Instant>,
}

impl Watch for Playing<'_> {
    fn goes_on(&self, progress: &Progress) -> bool {
        (self.goes_on)(progress)
    }

    fn is_time_over(&self, progress: &Progress) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until) && progress.games.load(Ordering::Relaxed) > 0
    }

    fn begin_batch(&self) {
        self.gate.enter();
    }

    fn end_batch(&self) {
        self.gate.leave();
    }
}

/// Returns whether alpha-beta plays the games of a generation.
#[must_use]
pub fn teacher_plays(config: &TrainConfig, generation: u64) -> bool {
    generation < config.teacher.generations
}

/// Returns how games under `rules` are played. Openings of random actions end with the placement of the stones, where
/// stones are placed: what comes after it is the game itself, as it is from the first action on in an array.
fn settings_for(settings: &SelfPlaySettings, rules: &Rules) -> SelfPlaySettings {
    let placed: usize = match rules.ruleset().setup.mode {
        SetupMode::Array => return settings.clone(),
        SetupMode::Placement => Player::BOTH.into_iter().map(|player| rules.pieces_at_start(player)).sum(),
    };
    SelfPlaySettings { opening_actions_max: settings.opening_actions_max.min(placed as u32), ..settings.clone() }
}

/// Returns the games of generation `number` under one ruleset as a list: those that alpha-beta plays before the network,
/// or those of a network that does not change.
#[must_use]
pub fn list(config: &TrainConfig, rules: &Arc<Rules>, number: u64) -> GameList {
    let teacher = teacher_plays(config, number).then_some(&config.teacher);
    let mut settings = config.selfplay.clone();
    if let Some(teacher) = teacher {
        let (opening_probability, opening_actions_max) = (teacher.opening_probability, teacher.opening_actions_max);
        settings = SelfPlaySettings { opening_probability, opening_actions_max, ..settings };
    }
    let games = if teacher.is_some() { config.teacher.games } else { config.games.per_generation };
    let own = pool_plan(config, rules, format!("{}-generation-{number}", rules.ruleset().id), config.games.pools);
    let plan = PoolPlan {
        settings: settings_for(&settings, rules),
        teacher: teacher.map(|teacher| teacher.alphabeta),
        in_flight: if teacher.is_some() { 1 } else { own.in_flight },
        ..own
    };
    let pools = if teacher.is_some() { games } else { config.games.pools as u64 };
    GameList { plan, games, pools, journal: None, found: Vec::new() }
}

/// Returns the plan of pool `name` of a run, one of so many of its ruleset, whose games go on from one generation to the next.
#[must_use]
pub fn pool_plan(config: &TrainConfig, rules: &Arc<Rules>, name: String, pools: usize) -> PoolPlan {
    let in_flight = config.games.in_flight;
    let divided = (2 * in_flight).div_ceil(pools.max(2));
    PoolPlan {
        rules: Arc::clone(rules),
        settings: settings_for(&config.selfplay, rules),
        teacher: None,
        run_seed: config.seed,
        name,
        in_flight: divided.max(GROUP.min(in_flight)),
        first_game: 0,
    }
}

/// Returns a text that names the player, its settings and the version of the searches: the network of this fingerprint in this
/// precision, or alpha-beta where the plan says so, in a generation of so many `games` (0 where samples are counted). Equal texts mean equal play.
#[must_use]
pub fn players(plan: &PoolPlan, games: u64, network: Option<&str>, precision: Precision) -> String {
    let settings =
        json!({ "settings": plan.settings, "teacher": plan.teacher, "games": games, "search": SEARCH_VERSION });
    let settings = crc32fast::hash(settings.to_string().as_bytes());
    match (&plan.teacher, network) {
        (None, Some(fingerprint)) => format!("network {fingerprint} {precision} {settings:08x}"),
        _ => format!("alphabeta {settings:08x}"),
    }
}

/// Makes evaluators for actors that alpha-beta plays in, which are never asked.
#[must_use]
pub fn idle_evaluators(actors: usize) -> Vec<PlayEvaluator> {
    (0..actors).map(|_| -> PlayEvaluator { Box::new(Uniform) }).collect()
}

/// Plays the games of lists that are not in their journals; takes those that were found there from the lists.
pub fn play_lists(
    lists: &mut [GameList],
    evaluators: &mut [PlayEvaluator],
    playing: &Playing<'_>,
) -> Result<GenerationGames, SelfPlayError> {
    let mut tasks = Vec::new();
    // The list of each task.
    let mut of_task = Vec::new();
    let mut rulesets = Vec::new();
    for (index, GameList { plan, games, pools, journal, found }) in lists.iter_mut().enumerate() {
        let known: BTreeSet<u64> = found.iter().map(|game| game.index).collect();
        for number in 0..*pools {
            let first_game = *games * number / *pools;
            if !known.contains(&first_game) {
                let pool = Pool::new(PoolPlan { first_game, ..plan.clone() })?;
                let quota = Quota::PlayOut { until: *games * (number + 1) / *pools };
                tasks.push(PoolTask { pool, quota, journal: journal.as_ref() });
                of_task.push(index);
            }
        }
        rulesets.push(RulesetGames { rules: Arc::clone(&plan.rules), games: mem::take(found) });
    }
    let found = rulesets.iter().map(|ruleset| ruleset.games.len() as u64).sum();
    let (played, generation) = play(tasks, evaluators, playing)?;
    for (list, (_, games)) in of_task.into_iter().zip(played) {
        rulesets[list].games.extend(games);
    }
    for ruleset in &mut rulesets {
        ruleset.games.sort_by_key(|game| game.index);
    }
    Ok(GenerationGames { rulesets, found, ..generation })
}

/// Plays pools until each has met its quota; returns them in the order of the tasks, and their games by ruleset.
/// Fails with [`SelfPlayError`]; the pools are then lost.
pub fn play_generation(
    tasks: Vec<PoolTask<'_>>,
    evaluators: &mut [PlayEvaluator],
    playing: &Playing<'_>,
) -> Result<(Vec<Pool>, GenerationGames), SelfPlayError> {
    let (played, generation) = play(tasks, evaluators, playing)?;
    let mut rulesets: Vec<RulesetGames> = Vec::new();
    let mut pools = Vec::new();
    for (pool, games) in played {
        let rules = &pool.plan().rules;
        match rulesets.iter_mut().find(|ruleset| Arc::ptr_eq(&ruleset.rules, rules)) {
            Some(ruleset) => ruleset.games.extend(games),
            None => rulesets.push(RulesetGames { rules: Arc::clone(rules), games }),
        }
        pools.push(pool);
    }
    for ruleset in &mut rulesets {
        for (number, game) in (0..).zip(&mut ruleset.games) {
            game.renumber(number);
        }
    }
    Ok((pools, GenerationGames { rulesets, ..generation }))
}

/// Plays tasks; returns what of their generation is known besides the games.
fn play(
    tasks: Vec<PoolTask<'_>>,
    evaluators: &mut [PlayEvaluator],
    playing: &Playing<'_>,
) -> Result<(PlayedPools, GenerationGames), SelfPlayError> {
    let begun = Instant::now();
    let progress = Progress::default();
    let mut actors: Vec<_> =
        evaluators.iter_mut().map(|evaluator| -> ActorEvaluator<'_> { &mut **evaluator }).collect();
    let played = play_pools(tasks, &mut actors, playing.parallel_trees, &progress, playing)?;
    Ok((played, GenerationGames { progress, secs: begun.elapsed().as_secs_f64(), ..GenerationGames::default() }))
}
