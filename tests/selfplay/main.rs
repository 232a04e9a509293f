//! Tests of self-play, shards and the replay window, without libtorch.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod games;
mod journal;
mod replay;
mod shards;

use std::collections::BTreeSet;
use std::sync::Arc;

use latrunculi_engine::{Rules, presets};
use latrunculi_selfplay::games::LaneEvaluator;
use latrunculi_selfplay::{
    AlphaBetaTeaching, PlayedGame, Progress, Samples, SelfPlayPlan, SelfPlaySettings, Teacher, TeacherSettings,
    play_games,
};

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
        teaching: None,
        parallel_trees,
    }
}

fn play(plan: &SelfPlayPlan, lanes: usize) -> Vec<PlayedGame> {
    let mut teachers = vec![Teacher::new(&plan.rules, TeacherSettings::default()); lanes];
    let mut evaluators: Vec<LaneEvaluator<'_>> =
        teachers.iter_mut().map(|teacher| -> LaneEvaluator<'_> { teacher }).collect();
    play_games(plan, &mut evaluators, &Progress::default(), &|_: &Progress| true).unwrap()
}

fn samples(rules: &Arc<Rules>) -> Samples {
    let plan = SelfPlayPlan {
        games: 2,
        teaching: Some(AlphaBetaTeaching { nodes: 30, ..AlphaBetaTeaching::default() }),
        ..plan(rules, 2, false)
    };
    let mut samples = play(&plan, 1).into_iter().map(|game| game.samples);
    let mut all = samples.next().unwrap();
    samples.for_each(|more| all.append(&more));
    all
}
