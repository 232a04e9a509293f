//! The games of a generation: of the pools, which go on from one generation to the next, or a list of games that is played
//! to the end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use latrunculi_data::{Precision, Samples, Shape};
use latrunculi_engine::ruleset::SetupMode;
use latrunculi_engine::{Player, Rules};
use latrunculi_search::SEARCH_VERSION;
use latrunculi_search::evaluators::Uniform;
use latrunculi_selfplay::{
    ActorEvaluator, Journal, PlayedGame, Pool, PoolPlan, PoolResult, PoolTask, Progress, Quota, SelfPlayError,
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
#[derive(Debug)]
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
#[derive(Clone, Debug)]
pub struct GameList {
    /// How they are played.
    pub plan: PoolPlan,
    /// Number of games.
    pub games: u64,
    /// Into how many pools they are divided; alpha-beta needs no batches, so that each of its games is one.
    pub pools: u64,
}

/// A list of games with its journal.
#[derive(Debug)]
pub struct ListedGames<'a> {
    /// The games.
    pub list: GameList,
    /// Where finished games are written. Only games of alpha-beta, whose play depends on nothing but their numbers, may
    /// have one.
    pub journal: Option<&'a Journal>,
    /// The games that were found in it; they are not played again.
    pub found: Vec<PlayedGame>,
}

/// What the games of a generation need besides their plans.
pub struct Playing<'a> {
    /// One evaluator for each actor.
    pub evaluators: Vec<PlayEvaluator>,
    /// Whether rayon's threads move the trees of an actor.
    pub parallel_trees: bool,
    /// Limits how many actors compute at a time.
    pub gate: &'a FairGate,
    /// Receives the number of games finished, or of their samples where quotas count these, and returns whether to go on.
    pub watch: &'a (dyn Fn(u64) -> bool + Sync),
}

/// Returns whether alpha-beta plays the games of a generation.
#[must_use]
pub fn is_bootstrap(config: &TrainConfig, generation: u64) -> bool {
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
    let teacher = is_bootstrap(config, number).then_some(&config.teacher);
    let mut settings = config.selfplay.clone();
    if let Some(teacher) = teacher {
        let (opening_probability, opening_actions_max) = (teacher.opening_probability, teacher.opening_actions_max);
        settings = SelfPlaySettings { opening_probability, opening_actions_max, ..settings };
    }
    let games = if teacher.is_some() { config.teacher.games } else { config.games.per_generation };
    let plan = PoolPlan {
        rules: Arc::clone(rules),
        settings: settings_for(&settings, rules),
        teacher: teacher.map(|teacher| teacher.alphabeta),
        run_seed: config.seed,
        name: format!("{}-generation-{number}", rules.ruleset().id),
        in_flight: if teacher.is_some() { 1 } else { config.games.in_flight },
        first_game: 0,
    };
    GameList { plan, games, pools: if teacher.is_some() { games } else { config.games.pools as u64 } }
}

/// Returns the plan of pool `name` of a run, whose games go on from one generation to the next.
#[must_use]
pub fn pool_plan(config: &TrainConfig, rules: &Arc<Rules>, name: String) -> PoolPlan {
    PoolPlan {
        rules: Arc::clone(rules),
        settings: settings_for(&config.selfplay, rules),
        teacher: None,
        run_seed: config.seed,
        name,
        in_flight: config.games.in_flight,
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

/// Plays the games of lists that are not in their journals.
///
/// # Errors
/// [`SelfPlayError`]
pub fn play_lists(lists: Vec<ListedGames<'_>>, playing: Playing<'_>) -> Result<GenerationGames, SelfPlayError> {
    let begun = Instant::now();
    let mut tasks = Vec::new();
    // The list of each task.
    let mut of_task = Vec::new();
    let mut rulesets = Vec::new();
    let mut journals = Vec::new();
    let mut found_count = 0;
    for (index, ListedGames { list, journal, mut found }) in lists.into_iter().enumerate() {
        found.retain(|game| game.index < list.games);
        let known: BTreeSet<u64> = found.iter().map(|game| game.index).collect();
        for number in 0..list.pools {
            let first_game = list.games * number / list.pools;
            if !known.contains(&first_game) {
                let pool = Pool::new(PoolPlan { first_game, ..list.plan.clone() })?;
                tasks.push(PoolTask { pool, quota: Quota::PlayOut { until: list.games * (number + 1) / list.pools } });
                of_task.push(index);
            }
        }
        journals.push(journal);
        found_count += found.len() as u64;
        rulesets.push(RulesetGames { rules: list.plan.rules, games: found });
    }
    let progress = Progress::default();
    let journals: Vec<Option<&Journal>> = of_task.iter().map(|&list| journals[list]).collect();
    for (list, result) in of_task.into_iter().zip(play(tasks, &journals, found_count, &progress, playing)?) {
        rulesets[list].games.extend(result.games);
    }
    for ruleset in &mut rulesets {
        ruleset.games.sort_by_key(|game| game.index);
    }
    Ok(GenerationGames {
        rulesets,
        found: found_count,
        progress,
        secs: begun.elapsed().as_secs_f64(),
        kernels: Vec::new(),
    })
}

/// Plays pools until each has met its quota; returns them in the order of the tasks, and their games by ruleset.
///
/// # Errors
/// [`SelfPlayError`]; the pools are then lost.
pub fn play_generation(
    tasks: Vec<PoolTask>,
    playing: Playing<'_>,
) -> Result<(Vec<Pool>, GenerationGames), SelfPlayError> {
    let begun = Instant::now();
    let progress = Progress::default();
    let mut rulesets: Vec<RulesetGames> = Vec::new();
    let mut pools = Vec::new();
    for PoolResult { pool, games } in play(tasks, &[], 0, &progress, playing)? {
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
    Ok((
        pools,
        GenerationGames { rulesets, found: 0, progress, secs: begun.elapsed().as_secs_f64(), kernels: Vec::new() },
    ))
}

/// Plays tasks with the journals of each, if they have any.
fn play(
    tasks: Vec<PoolTask>,
    journals: &[Option<&Journal>],
    found: u64,
    progress: &Progress,
    mut playing: Playing<'_>,
) -> Result<Vec<PoolResult>, SelfPlayError> {
    let counts_samples = tasks.iter().any(|task| matches!(task.quota, Quota::Samples(_)));
    let samples = AtomicU64::new(0);
    let watch = ActorsWatch { watch: playing.watch, gate: playing.gate, journals, found, counts_samples, samples };
    let mut actors: Vec<ActorEvaluator<'_>> =
        playing.evaluators.iter_mut().map(|evaluator| -> ActorEvaluator<'_> { &mut **evaluator }).collect();
    play_pools(tasks, &mut actors, playing.parallel_trees, progress, &watch)
}

/// Watches the actors of a generation.
struct ActorsWatch<'a> {
    /// As [`Playing::watch`].
    watch: &'a (dyn Fn(u64) -> bool + Sync),
    gate: &'a FairGate,
    /// The journal of each task; empty where there is none.
    journals: &'a [Option<&'a Journal>],
    found: u64,
    /// Whether samples are counted, and not games.
    counts_samples: bool,
    samples: AtomicU64,
}

impl Watch for ActorsWatch<'_> {
    fn goes_on(&self, progress: &Progress) -> bool {
        let counted = if self.counts_samples { &self.samples } else { &progress.games };
        (self.watch)(self.found + counted.load(Ordering::Relaxed))
    }

    fn begin_round(&self) {
        self.gate.enter();
    }

    fn end_round(&self) {
        self.gate.leave();
    }

    fn take(&self, task: usize, game: &PlayedGame) -> Result<(), SelfPlayError> {
        self.samples.fetch_add(game.samples.len() as u64, Ordering::Relaxed);
        match self.journals.get(task) {
            Some(Some(journal)) => Ok(journal.add(game)?),
            _ => Ok(()),
        }
    }
}
