//! What alpha-beta needs of a game besides its rules.

use crate::game::Game;

/// The greatest magnitude of a static evaluation; wins score beyond it.
pub const EVALUATION_MAX: i32 = 900_000;

/// Evaluates positions and actions of a game in one integer unit (a hundredth of a man in Latrunculi).
/// Must be a function of the position: two games with the same [`Game::position_key`] get the same answers, since the
/// transposition table identifies them.
pub trait Heuristic<G: Game> {
    /// Returns the static evaluation for the first player, within `±EVALUATION_MAX`.
    fn evaluate(&self, game: &G) -> i32;

    /// Returns what a legal action captures at once for the player who takes it, 0 if nothing; orders actions.
    fn capture_gain(&self, game: &G, action: G::Action) -> i32;

    /// Calls `visit` with the place in `actions` and the [`Heuristic::capture_gain`] of each of them, all legal.
    fn each_gain(&self, game: &G, actions: &[G::Action], mut visit: impl FnMut(usize, i32)) {
        for (ordinal, &action) in actions.iter().enumerate() {
            visit(ordinal, self.capture_gain(game, action));
        }
    }

    /// Tells whether quiescence search looks at a legal action: captures, removals.
    /// Every chain of tactical actions must end.
    fn is_tactical(&self, game: &G, action: G::Action) -> bool {
        self.capture_gain(game, action) > 0
    }

    /// Calls `visit` as [`Heuristic::each_gain`] does for those actions at which quiescence search looks.
    fn each_tactical(&self, game: &G, actions: &[G::Action], mut visit: impl FnMut(usize, i32)) {
        for (ordinal, &action) in actions.iter().enumerate() {
            if self.is_tactical(game, action) {
                visit(ordinal, self.capture_gain(game, action));
            }
        }
    }

    /// Tells whether a position needs quiescence search before it is evaluated; false where no action is tactical, for
    /// example while stones are placed.
    fn needs_quiescence(&self, _game: &G) -> bool {
        true
    }

    /// Returns the index of an action in the history tables, below [`Heuristic::action_index_count`]: the same for
    /// the same action with the players exchanged. Similar actions may share one.
    fn action_index(&self, game: &G, action: G::Action) -> usize;

    /// Returns the number of indices that [`Heuristic::action_index`] uses.
    fn action_index_count(&self) -> usize;
}
