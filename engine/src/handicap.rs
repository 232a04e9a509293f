//! Opening positions in which one side lacks men.

use crate::player::Player;
use crate::position::{Phase, Position};
use crate::rules::Rules;
use crate::squares::SquareSet;

impl Rules {
    /// Returns the opening position without the pieces on `squares` and with so many men fewer in each hand,
    /// that of player 1 first; a hand has no fewer than none.
    /// A side that has put down its last stone waits while the other goes on placing.
    #[must_use]
    pub fn initial_position_without(&self, squares: SquareSet, men_in_hand: [u8; 2]) -> Position {
        let mut position = self.initial_position();
        for player in Player::BOTH {
            for square in (squares & position.stones(player)).iter() {
                position.take(player, square);
            }
            let hand = &mut position.hands[player.index()];
            hand.men = hand.men.saturating_sub(men_in_hand[player.index()]);
        }
        if position.phase() == Phase::Placement {
            let placement = &self.ruleset().placement;
            let group = placement.opening_group.unwrap_or(placement.group);
            position.group_left = self.group_size(position.hand(position.player_to_act()), group);
        }
        self.settle(&mut position);
        position
    }
}

#[cfg(test)]
mod tests {
    use crate::player::Player;
    use crate::presets;
    use crate::presets::rules;

    use crate::squares::SquareSet;

    #[test]
    fn nothing_taken_changes_nothing() {
        for name in presets::NAMES {
            let rules = rules(name);
            assert_eq!(rules.initial_position_without(SquareSet::EMPTY, [0; 2]), rules.initial_position(), "{name}");
        }
    }

    #[test]
    fn men_leave_the_board_or_the_hand() {
        let rules = rules("savard");
        let men = rules.initial_position().men(Player::First);
        let two: SquareSet = men.iter().take(2).collect();
        let position = rules.initial_position_without(two, [0; 2]);
        assert_eq!(position.men(Player::First).len(), men.len() - 2);
        assert_eq!(rules.parse_position(&rules.position_text(&position)).unwrap(), position);

        let rules = self::rules("bell");
        let position = rules.initial_position_without(SquareSet::EMPTY, [3, 0]);
        assert_eq!([position.hand(Player::First).men, position.hand(Player::Second).men], [13, 16]);
        assert_eq!(rules.parse_position(&rules.position_text(&position)).unwrap(), position);
    }
}
