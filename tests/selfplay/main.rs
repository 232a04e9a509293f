//! Tests of self-play, without libtorch.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod games;
mod journal;
mod pools;
mod static_evaluator;

use std::sync::Arc;

use latrunculi_engine::Rules;
use latrunculi_engine::presets::rules;
use latrunculi_selfplay::{
    ActorEvaluator, PlayedGame, PlayedPools, PlayoutCapSettings, Pool, PoolPlan, PoolTask, Progress, Quota,
    SelfPlaySettings, StartSettings, play_pools,
};

use static_evaluator::StaticEvaluator;

/// Games of a list.
const GAMES: u64 = 6;

/// A small pool under `rules`.
fn plan(rules: &Arc<Rules>, in_flight: usize) -> PoolPlan {
    PoolPlan {
        rules: Arc::clone(rules),
        settings: SelfPlaySettings { simulations: 4, ..SelfPlaySettings::default() },
        teacher: None,
        run_seed: 7,
        name: "pool-3".to_owned(),
        in_flight,
        first_game: 0,
    }
}

/// Settings with every technique on, which draw from every stream.
fn techniques(simulations: u32) -> SelfPlaySettings {
    SelfPlaySettings {
        simulations,
        starts: StartSettings { uneven_probability: 0.3, uneven_actions_max: 12 },
        playout_cap: PlayoutCapSettings { quiet_full_probability: 0.25, fast_simulations: 2 },
        ..SelfPlaySettings::default()
    }
}

/// Plays the first `games` games of a pool to the end and returns them by number.
fn play(plan: &PoolPlan, games: u64) -> Vec<PlayedGame> {
    let task =
        PoolTask { pool: Pool::new(plan.clone()).unwrap(), quota: Quota::PlayOut { until: games }, journal: None };
    play_tasks(vec![task], 1, false).remove(0)
}

/// Plays tasks and returns the games of each by number.
fn play_tasks(tasks: Vec<PoolTask<'_>>, actors: usize, parallel_trees: bool) -> Vec<Vec<PlayedGame>> {
    let by_number = |mut games: Vec<PlayedGame>| {
        games.sort_by_key(|game| game.index);
        games
    };
    played(tasks, actors, parallel_trees).into_iter().map(|(_, games)| by_number(games)).collect()
}

fn played(tasks: Vec<PoolTask<'_>>, actors: usize, parallel_trees: bool) -> PlayedPools {
    let mut players = vec![StaticEvaluator::default(); actors];
    let mut evaluators: Vec<ActorEvaluator<'_>> =
        players.iter_mut().map(|player| -> ActorEvaluator<'_> { player }).collect();
    let goes_on = |_: &Progress| true;
    play_pools(tasks, &mut evaluators, parallel_trees, &Progress::default(), &goes_on).unwrap()
}
