//! A network sees every position from the mover's side: with the players exchanged (colours swapped, ranks mirrored) it
//! gives the same value, and every action the same logit.

use std::sync::Arc;

use latrunculi_data::NetworkConfig;
use latrunculi_engine::{Action, GameState, Rules, presets};
use latrunculi_search::mcts::{Search, SearchBudget, Settings};
use latrunculi_search::{Evaluation, Evaluator};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::tests::tensors;
use crate::{InferenceEvaluator, InferenceModel, Kernel};

/// Returns a network with random weights, on the kernel that every processor has.
fn network() -> InferenceEvaluator {
    let config = NetworkConfig {
        blocks: 1,
        channels: 16,
        pooling_every: 1,
        policy_channels: 8,
        value_channels: 8,
        value_hidden: 16,
        ..NetworkConfig::default()
    };
    let model = InferenceModel::from_tensors(&config, tensors(&config, 5)).unwrap();
    InferenceEvaluator::new(&model.networks(Kernel::F32).unwrap())
}

fn legal(game: &GameState) -> Vec<Action> {
    let mut actions = Vec::new();
    game.legal_actions(&mut actions);
    actions
}

/// Returns a random game of up to `count` actions, and the same game with the players exchanged.
fn twins(rules: &Arc<Rules>, count: usize, rng: &mut ChaCha8Rng) -> [GameState; 2] {
    let start = rules.initial_position();
    let mut games = [start, rules.exchange_sides(&start)].map(|one| GameState::from_position(Arc::clone(rules), one));
    for _ in 0..count {
        let actions = legal(&games[0]);
        let action = actions[rng.random_range(0..actions.len())];
        let mut next = games.clone();
        next[1].play(rules.exchange_action(games[0].position(), action));
        next[0].play(action);
        if next[0].outcome().is_some() {
            break;
        }
        games = next;
    }
    games
}

fn evaluate(network: &mut InferenceEvaluator, game: &GameState) -> (Vec<Action>, Evaluation) {
    let actions = legal(game);
    let mut found = [Evaluation::default()];
    network.evaluate(&[game], &[&actions], &mut found).unwrap();
    let [found] = found;
    (actions, found)
}

fn choose(network: &mut InferenceEvaluator, game: &GameState) -> (Action, f32) {
    let mut search = Search::new(Settings::gumbel(), game);
    search.start(SearchBudget { simulations: 32, add_noise: false }, &mut ChaCha8Rng::seed_from_u64(0));
    search.run(network).unwrap();
    let found = search.result();
    (found.best_action(), found.value)
}

#[test]
fn a_network_agent_chooses_alike_for_both_players() {
    let mut network = network();
    for name in presets::NAMES {
        let rules = presets::rules(name);
        let mut rng = ChaCha8Rng::seed_from_u64(31);
        for played in [0, 9, 40, 120] {
            let [game, twin] = twins(&rules, played, &mut rng);
            let exchange = |action: Action| rules.exchange_action(game.position(), action);
            let (actions, found) = evaluate(&mut network, &game);
            let (twin_actions, twin_found) = evaluate(&mut network, &twin);
            assert_eq!(found.win_draw_loss, twin_found.win_draw_loss, "{name}");
            assert_eq!(actions.len(), twin_actions.len(), "{name}");
            for (&action, logit) in actions.iter().zip(&found.policy_logits) {
                let index = twin_actions.iter().position(|&other| other == exchange(action)).expect("it is legal");
                assert_eq!(*logit, twin_found.policy_logits[index], "{name}, {played}: {action:?}");
            }
            // The logits of random weights tell actions apart; otherwise the choice would test nothing.
            let mut distinct: Vec<u32> = found.policy_logits.iter().map(|logit| logit.to_bits()).collect();
            distinct.sort_unstable();
            distinct.dedup();
            assert!(2 * distinct.len() > actions.len(), "{name}, {played}");
            let ((action, value), (twin_action, twin_value)) =
                (choose(&mut network, &game), choose(&mut network, &twin));
            assert_eq!(exchange(action), twin_action, "{name}, {played}");
            assert!((value - twin_value).abs() < 1e-5, "{name}, {played}: {value} and {twin_value}");
        }
    }
}
