//! Playing takes no memory once it is warm: counted by an allocator that keeps books.
//!
//! Only a build without debug assertions can tell (`cargo test --release`, as scripts/test does); in others
//! the test says whether the books are kept.

use latrunculi_engine::{GameState, play_out, presets};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Plays random games, always the same ones, with memory that is reused.
fn play_games(start: &GameState, state: &mut GameState, actions: &mut Vec<latrunculi_engine::Action>) {
    for game in 0..10 {
        let mut random = ChaCha8Rng::seed_from_u64(game);
        state.clone_from(start);
        play_out(state, actions, |count| random.random_range(0..count));
    }
}

#[test]
fn playouts_do_not_allocate() {
    let _profiler = dhat::Profiler::builder().testing().build();
    for id in presets::NAMES {
        let start = GameState::new(presets::rules(id));
        let (mut state, mut actions) = (start.clone(), Vec::new());
        play_games(&start, &mut state, &mut actions);
        let before = dhat::HeapStats::get().total_blocks;
        play_games(&start, &mut state, &mut actions);
        let after = dhat::HeapStats::get().total_blocks;
        // Rules that forbid repetition may have to try moves to see whether one is left.
        let history_decides = matches!(*id, "mac-12x8" | "x-schaedler-1994" | "x-museum-quintana");
        if cfg!(debug_assertions) {
            // Every played action is checked against a fresh list of the legal ones.
            assert!(after > before, "{id}: the allocator does not count");
        } else if !history_decides {
            assert_eq!(after - before, 0, "{id}: a playout takes memory");
        }
    }
}
