//! Uniformly random playouts, single thread: actions per second, the legal list generated at each action.
//!
//! `latrunculi bench engine` prints the same figures for every ruleset; here Criterion compares runs.

use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use latrunculi_engine::{GameState, Rules, play_out, presets};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Games in one measurement; always the same ones, so that its work is known.
const GAMES: u64 = 20;

fn play_games(start: &GameState) -> u64 {
    let mut state = start.clone();
    let mut actions = Vec::with_capacity(512);
    let mut played = 0;
    for game in 0..GAMES {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(game);
        state.clone_from(start);
        played += play_out(&mut state, &mut actions, |count| random.random_range(0..count));
    }
    played
}

fn playouts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("playout_actions_per_sec");
    for name in ["bell", "dutch", "savard", "beads", "falkener"] {
        let ruleset = presets::ruleset(name).expect("shipped");
        let start = GameState::new(Arc::new(Rules::new(&ruleset).expect("shipped rulesets can be played")));
        let actions = play_games(&start);
        group.throughput(Throughput::Elements(actions));
        group.bench_function(name, |bencher| {
            bencher.iter(|| assert_eq!(play_games(&start), actions, "the same seeds play the same games"));
        });
    }
    group.finish();
}

criterion_group!(benches, playouts);
criterion_main!(benches);
