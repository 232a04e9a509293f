//! Where the policy, a vector of [`Shape::policy_len`](crate::Shape::policy_len) logits, holds that of each action. Squares are as
//! the player to act sees them: for the second player the ranks are mirrored.

use latrunculi_engine::ruleset::{RemovalScope, SetupMode};
use latrunculi_engine::{Action, ActionKind, Player, Position, Rules, Square, Symmetry};

/// Two indices into the vector of policy logits, extended by one constant zero, the lower first; the logit of an action
/// is the sum of the two. The second is [`Shape::policy_len`](crate::Shape::policy_len), the zero, unless a victim was
/// chosen or a line of several pieces is removed.
pub type ActionIndices = [u32; 2];

/// Returns the indices of an action that is legal at `position`.
#[must_use]
pub fn action_indices(rules: &Rules, position: &Position, action: Action) -> ActionIndices {
    let symmetry = turned(position.player_to_act());
    let area = rules.square_count();
    let at = |square: Square| rules.map_square(symmetry, square).index();
    let squares = area * area;
    let none = squares + 4 * area + 2;
    let indices = match action.kind() {
        ActionKind::Move { from, to } => [at(from) * area + at(to), none],
        ActionKind::MoveTaking { from, to, victim } => [at(from) * area + at(to), squares + 3 * area + at(victim)],
        ActionKind::PlaceMan(square) => [squares + at(square), none],
        ActionKind::PlaceDux(square) => [squares + area + at(square), none],
        // Remove-all and pass are never legal together, so they share one index, which symmetries leave unchanged.
        ActionKind::Remove { .. } if rules.ruleset().capture.removal_scope == RemovalScope::All => {
            [squares + 4 * area + 1, none]
        }
        ActionKind::Remove { first, last } if first == last => [squares + 2 * area + at(first), none],
        ActionKind::Remove { first, last } => [first, last].map(|end| squares + 2 * area + at(end)),
        ActionKind::Stop => [squares + 4 * area, none],
        ActionKind::Pass => [squares + 4 * area + 1, none],
    };
    in_order(indices.map(|index| index as u32))
}

/// Returns the symmetries whose images of a position may be trained on, the identity first.
/// Left and right may always be exchanged, up and down only where stones are placed: a player who begins with an array
/// never plays from the other side. Exchanging files and ranks is left out.
#[must_use]
pub fn augmentations(rules: &Rules) -> Vec<Symmetry> {
    let is_placed = rules.ruleset().setup.mode == SetupMode::Placement;
    let is_used = |symmetry: &Symmetry| !symmetry.transpose && (is_placed || !symmetry.mirror_ranks);
    rules.symmetries().into_iter().filter(is_used).collect()
}

/// Returns the [`action_indices`] of the same action on the board under one of the [`augmentations`].
#[must_use]
pub fn mapped_indices(rules: &Rules, symmetry: Symmetry, indices: ActionIndices) -> ActionIndices {
    in_order(indices.map(|index| mapped_index(rules, symmetry, index)))
}

/// Returns the indices of an action as the other player sees it.
#[must_use]
pub fn indices_for_opponent(rules: &Rules, indices: ActionIndices) -> ActionIndices {
    mapped_indices(rules, turned(Player::Second), indices)
}

/// Divides the probability of an action among its entries, for a policy in which each entry has its own: of a move with a
/// chosen victim the move has all, of a removed line of several pieces each end has half.
pub(crate) fn entries(rules: &Rules, indices: ActionIndices, probability: f32) -> impl Iterator<Item = (u32, f32)> {
    let area = rules.square_count() as u32;
    let is_line = indices[0] >= area * area && indices[1] < area * area + 4 * area;
    let count = if is_line { 2 } else { 1 };
    indices.into_iter().take(count).map(move |index| (index, probability / count as f32))
}

/// Returns the index of the same policy entry on a board under `symmetry`.
fn mapped_index(rules: &Rules, symmetry: Symmetry, index: u32) -> u32 {
    let area = rules.square_count() as u32;
    let map = |square: u32| rules.map_square(symmetry, Square::from_index(square as usize)).index() as u32;
    if index < area * area {
        map(index / area) * area + map(index % area)
    } else if index < area * area + 4 * area {
        let square = (index - area * area) % area;
        index - square + map(square)
    } else {
        index
    }
}

/// Returns the symmetry that turns the board to the player to act.
fn turned(player: Player) -> Symmetry {
    Symmetry { mirror_ranks: player == Player::Second, ..Symmetry::IDENTITY }
}

/// Returns the indices with the lower first: their sum counts, and equal actions have equal indices.
fn in_order([first, second]: ActionIndices) -> ActionIndices {
    [first.min(second), first.max(second)]
}
