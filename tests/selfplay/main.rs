//! Tests of self-play, without libtorch.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod games;
mod journal;
mod static_evaluator;

use std::collections::BTreeSet;
use std::sync::Arc;

use latrunculi_engine::{Rules, presets};
use latrunculi_selfplay::games::ActorEvaluator;
use latrunculi_selfplay::{PlayedGame, Progress, SelfPlayPlan, SelfPlaySettings, play_games};

use static_evaluator::StaticEvaluator;

fn rules(name: &str) -> Arc<Rules> {
    Arc::new(Rules::new(&presets::ruleset(name).unwrap()).unwrap())
}

/// A small generation under `rules`.
fn plan(rules: &Arc<Rules>, in_flight: usize, parallel_trees: bool) -> SelfPlayPlan {
    SelfPlayPlan {
        rules: Arc::clone(rules),
        settings: SelfPlaySettings { simulations: 4, ..SelfPlaySettings::default() },
        run_seed: 7,
        generation: 3,
        games: 6,
        played: BTreeSet::new(),
        in_flight,
        teacher: None,
        parallel_trees,
    }
}

fn play(plan: &SelfPlayPlan, actors: usize) -> Vec<PlayedGame> {
    let mut players = vec![StaticEvaluator::new(&plan.rules); actors];
    let mut evaluators: Vec<ActorEvaluator<'_>> =
        players.iter_mut().map(|player| -> ActorEvaluator<'_> { player }).collect();
    play_games(plan, &mut evaluators, &Progress::default(), &|_: &Progress| true).unwrap()
}
