//! The one narrow trait through which search sees a game.

use std::fmt::Debug;

use latrunculi_engine::{Outcome, Player};

/// A game in progress, as search sees it.
/// One turn may hold several actions, so `player_to_act` need not change after [`Game::play`]; every
/// sign in a search follows the player to act and never the depth.
/// Searches copy games with [`Clone::clone_from`] many times a second: implement it so that it reuses
/// the memory of its target.
pub trait Game: Clone {
    /// One atomic decision.
    type Action: Copy + Eq + Debug;

    /// Returns whose decision it is. Meaningless once the game is over.
    fn player_to_act(&self) -> Player;

    /// Returns how the game ended, or `None` while it goes on.
    fn outcome(&self) -> Option<Outcome>;

    /// Replaces the content of `actions` by the legal actions, in a fixed order.
    /// Not empty while the game goes on; empty once it is over.
    fn legal_actions(&self, actions: &mut Vec<Self::Action>);

    /// Plays a legal action.
    /// May panic when the action is not legal or the game is over.
    fn play(&mut self, action: Self::Action);

    /// Returns which legal actions may end the game at once: all that do, and perhaps others.
    fn may_end(&self) -> impl Fn(Self::Action) -> bool {
        |_| true
    }

    /// Returns a hash of everything that the legal actions and captures of this position depend on, but
    /// not of the history (repetition, turns without a capture, shuttle record).
    fn position_key(&self) -> u64;

    /// Returns a hash of everything that the future depends on, history and counters included.
    fn full_key(&self) -> u64;

    /// Returns a hash of the position as the player to act sees it: equal for a position and for the same position with
    /// the players exchanged. Together with [`Game::own_action_key`] it breaks ties alike for both players.
    fn own_position_key(&self) -> u64;

    /// Returns a number that identifies a legal action among the others, as the player to act sees it: equal for an action
    /// and for the same action with the players exchanged.
    fn own_action_key(&self, action: Self::Action) -> u64;

    /// Tells whether the end of this game follows from the position alone.
    /// False for repetition, blockade, the ply cap, and for a lack of legal actions caused by history:
    /// such an end must not be proven under [`Game::position_key`].
    fn outcome_is_positional(&self) -> bool;

    /// Returns a number of actions from here within which the history does not matter.
    /// A lower bound: within so many actions nothing that [`Game::position_key`] leaves out (repetition, turns without a
    /// capture, shuttle record, ply cap) can end the game or change the legal actions. 0 when unknown; `u32::MAX` when
    /// the game has no such rule.
    fn history_free_plies(&self) -> u32;
}
