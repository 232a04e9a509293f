//! Finished games, played over: what matches and studies count of them.

use std::sync::Arc;

use latrunculi_engine::record::RecordFault;
use latrunculi_engine::{Action, EndReason, GameRecord, Position, Rules};
use latrunculi_stats::GameResult;

use super::openings::canonical_key;

/// What is counted of a finished game.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedGame {
    /// The result for the player who began.
    pub result: GameResult,
    /// The material margin at the end for the player who began, [`Rules::material_margin`].
    pub margin: f32,
    /// Actions that were drawn at its beginning.
    pub opening: usize,
    pub(crate) actions: usize,
    pub(crate) reason: EndReason,
    /// Nodes or simulations that each player spent, player 1 first, and in how many choices.
    pub(crate) efforts: [(u64, u64); 2],
    /// Whether a player captures in it; captures in the opening do not count.
    pub(crate) has_capture: bool,
    /// The same for mirror images of the position after the opening.
    pub(crate) opening_key: u64,
    /// The same for mirror images of that position and all later actions.
    pub(crate) key: u64,
}

impl FinishedGame {
    pub(crate) fn of(rules: &Arc<Rules>, record: &GameRecord) -> Result<FinishedGame, RecordFault> {
        let mut played: Vec<(Position, Action)> = Vec::with_capacity(record.actions.len());
        let mut efforts = [(0_u64, 0); 2];
        let end = record.replay_with(rules, |state, action| {
            if let Some(Some(effort)) = record.efforts.get(played.len()) {
                let (spent, choices) = &mut efforts[state.player_to_act().index()];
                *spent = spent.saturating_add(*effort);
                *choices += 1;
            }
            played.push((*state.position(), action));
        })?;
        let Some(outcome) = end.outcome() else {
            return Err(RecordFault::contradiction("the game", "an unfinished game", "a finished one"));
        };
        let after = played.iter().skip(1).map(|(position, _)| position).chain([end.position()]);
        let has_capture = played.iter().zip(after).skip(record.opening).any(|((before, _), after)| {
            let opponent = before.player_to_act().opponent();
            !(before.stones(opponent) & !after.stones(opponent)).is_empty()
        });
        let beginner = rules.initial_position().player_to_act();
        let [opening_key, key] = keys(rules, record.opening, &played, end.position());
        Ok(FinishedGame {
            result: GameResult::for_player(outcome.winner, beginner),
            margin: rules.material_margin(end.position(), beginner),
            opening: record.opening,
            actions: record.actions.len(),
            reason: outcome.reason,
            efforts,
            has_capture,
            opening_key,
            key,
        })
    }
}

/// Replays a game and returns a hash of its play after the opening. Mirror images share it: games of the same agents
/// in the same seats with the same hash are repetitions.
///
/// # Errors
/// As [`GameRecord::replay`].
pub fn play_key(rules: &Arc<Rules>, record: &GameRecord) -> Result<u64, RecordFault> {
    let mut played: Vec<(Position, Action)> = Vec::with_capacity(record.actions.len());
    let end = record.replay_with(rules, |state, action| played.push((*state.position(), action)))?;
    Ok(keys(rules, record.opening, &played, end.position())[1])
}

/// Returns hashes of the position after so many opening actions, and of that position and all later actions; `played` holds
/// each action with the position before it.
fn keys(rules: &Rules, opening: usize, played: &[(Position, Action)], end: &Position) -> [u64; 2] {
    let later = &played[opening.min(played.len())..];
    let after_opening = later.first().map_or(*end, |(position, _)| *position);
    [&[], later].map(|continuation| canonical_key(rules, &after_opening, continuation))
}
