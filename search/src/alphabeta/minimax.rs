//! Plain minimax, the slow reference for alpha-beta.

use latrunculi_engine::Player;

use super::WIN;
use super::heuristic::Heuristic;
use crate::game::Game;

/// Returns the value of `game` for the player to act, looking `depth` actions ahead.
/// The same value as [`super::AlphaBeta`]'s without reductions: leaves are evaluated after at most
/// `quiescence_plies_max` captures, wins score [`WIN`] less the actions to them. No window, no table, no ordering. The
/// value of a game that is over is for the first player.
pub fn minimax<G: Game, H: Heuristic<G>>(game: &G, heuristic: &H, depth: u32, quiescence_plies_max: u32) -> i32 {
    let value = first_value(game, heuristic, depth, quiescence_plies_max, 0);
    match (game.outcome(), game.player_to_act()) {
        (None, Player::Second) => -value,
        _ => value,
    }
}

/// Returns the value for the first player.
fn first_value<G: Game, H: Heuristic<G>>(
    game: &G,
    heuristic: &H,
    depth: u32,
    quiescence_plies_max: u32,
    ply: u32,
) -> i32 {
    if let Some(outcome) = game.outcome() {
        return outcome.value_for(Player::First) as i32 * (WIN - ply as i32);
    }
    if depth == 0 {
        return quiet_value(game, heuristic, quiescence_plies_max, ply);
    }
    let mut actions = Vec::new();
    game.legal_actions(&mut actions);
    let values = actions.into_iter().map(|action| {
        let mut child = game.clone();
        child.play(action);
        first_value(&child, heuristic, depth - 1, quiescence_plies_max, ply + 1)
    });
    match game.player_to_act() {
        Player::First => values.max().unwrap_or(0),
        Player::Second => values.min().unwrap_or(0),
    }
}

fn quiet_value<G: Game, H: Heuristic<G>>(game: &G, heuristic: &H, plies_left: u32, ply: u32) -> i32 {
    if let Some(outcome) = game.outcome() {
        return outcome.value_for(Player::First) as i32 * (WIN - ply as i32);
    }
    let mut value = heuristic.evaluate(game);
    if plies_left == 0 || !heuristic.needs_quiescence(game) {
        return value;
    }
    let mut actions = Vec::new();
    game.legal_actions(&mut actions);
    for action in actions {
        if heuristic.is_tactical(game, action) {
            let mut child = game.clone();
            child.play(action);
            let answer = quiet_value(&child, heuristic, plies_left - 1, ply + 1);
            value = match game.player_to_act() {
                Player::First => value.max(answer),
                Player::Second => value.min(answer),
            };
        }
    }
    value
}
