//! What alpha-beta must know of a game beside its rules.

use crate::game::Game;

/// The greatest magnitude of a static evaluation; wins score beyond it.
pub const EVALUATION_MAX: i32 = 900_000;

/// Judges positions and actions of a game, in one integer unit (a hundredth of a man in Latrunculi).
///
/// Must be a function of the position: two games with the same [`Game::position_key`] get the same
/// answers, or transpositions would be judged by their path.
pub trait Heuristic<G: Game> {
    /// Returns the static evaluation for the first player, within `±EVALUATION_MAX`.
    fn evaluate(&self, game: &G) -> i32;

    /// Returns what a legal action wins at once for the player who takes it, 0 if nothing; orders actions.
    fn gain(&self, game: &G, action: G::Action) -> i32;

    /// Tells whether quiescence search looks at a legal action: captures, removals.
    ///
    /// Chains of tactical actions must come to an end by themselves.
    fn is_tactical(&self, game: &G, action: G::Action) -> bool {
        self.gain(game, action) > 0
    }

    /// Tells whether a position must be quiet to be judged; false where nothing can be captured, such as
    /// while stones are placed.
    fn needs_quiescence(&self, _game: &G) -> bool {
        true
    }

    /// Returns a number below [`Heuristic::action_index_count`] by which the history tables remember an
    /// action; alike actions may share it.
    fn action_index(&self, game: &G, action: G::Action) -> usize;

    /// Returns how many numbers [`Heuristic::action_index`] gives.
    fn action_index_count(&self) -> usize;
}
