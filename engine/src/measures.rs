//! What a position offers, for those who judge games: no rule depends on it.

use crate::action::Action;
use crate::capture::by_words;
use crate::movement::View;
use crate::player::Player;
use crate::position::Position;
use crate::rules::Rules;
use crate::squares::SquareSet;

impl Rules {
    /// Returns the pieces of `capturing`'s opponent that stand between two flankers on a line, however it came
    /// about and whether or not it does anything to them. Pieces that flanking cannot take do not count.
    #[must_use]
    pub fn flanked(&self, position: &Position, capturing: Player) -> SquareSet {
        self.holds_now(position, capturing).on_lines()
    }

    /// Returns `player`'s pieces that stand flanked now, bound or not: those that fall, or have walked in.
    #[must_use]
    pub fn flanked_now(&self, position: &Position, player: Player) -> SquareSet {
        by_words!(self, self.held(position, player.opponent(), false) -> 4)
    }

    /// Returns the pieces that a legal action takes off the board at once. A dux whose enclosure ends the game
    /// (`end.win_dux`) is not one of them.
    #[must_use]
    pub fn taken_by(&self, position: &Position, action: Action) -> SquareSet {
        let mut after = *position;
        by_words!(self, self.make(&mut after, action)).taken
    }

    /// Returns the material margin in `[-1, 1]` for `player`: pieces on the board and in hand, his minus
    /// the opponent's, of those that a side begins with.
    #[must_use]
    pub fn material_margin(&self, position: &Position, player: Player) -> f32 {
        let pieces = |player: Player| position.stones(player).len() as f32 + f32::from(position.hand(player).stones());
        let most = self.pieces_at_start(player).max(self.pieces_at_start(player.opponent())).max(1) as f32;
        ((pieces(player) - pieces(player.opponent())) / most).clamp(-1.0, 1.0)
    }

    /// Counts the moves that `player`'s free pieces have on this board: steps, slides and jumps, as if it were his
    /// turn. Neither removals nor what history or a continuation forbids count.
    #[must_use]
    pub fn mobility(&self, position: &Position, player: Player) -> u32 {
        by_words!(self, self.mobility_in(position, player))
    }

    fn mobility_in<const N: usize>(&self, position: &Position, player: Player) -> u32 {
        let mut moves = 0;
        View::<N>::new(self, position, player).each_move(&mut |_, _| moves += 1);
        moves
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GameState, presets};
    use std::sync::Arc;

    #[test]
    fn a_piece_between_two_enemies_is_flanked_even_where_it_is_safe() {
        let rules = presets::rules("dutch-8x8-noking");
        let position = rules.parse_pieces("M:d4,a1 m:c4,e4,b1", Player::First).unwrap();
        let names = |capturing| rules.squares_text(rules.flanked(&position, capturing), ",");
        assert_eq!((names(Player::Second).as_str(), names(Player::First).as_str()), ("d4", ""));
    }

    #[test]
    fn mobility_of_the_player_to_act_is_the_number_of_his_moves() {
        for name in ["savard", "beads", "falkener"] {
            let rules = presets::rules(name);
            let state = GameState::new(Arc::clone(&rules));
            let mut legal = Vec::new();
            state.legal_actions(&mut legal);
            let mobility = |player| rules.mobility(state.position(), player);
            assert_eq!(mobility(Player::First) as usize, legal.len(), "{name}");
        }
    }
}
