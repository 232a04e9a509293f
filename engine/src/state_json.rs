//! A game in progress as other programs read it.

use serde_json::{Value, json};

use crate::player::Player;
use crate::position::Phase;
use crate::squares::SquareSet;
use crate::state::GameState;

impl GameState {
    /// Returns the position, whose decision it is, and how the game ended, as one object; docs/PROTOCOL.md, "state", describes
    /// its keys. What has been played is not among them.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let (rules, position) = (self.rules(), self.position());
        let outcome = self.outcome().map(|outcome| {
            let winner = outcome.winner.map(Player::number);
            json!({ "winner": winner, "reason": outcome.reason.as_str(), "words": self.end_words() })
        });
        let phase = match position.phase() {
            Phase::Placement => "placement",
            Phase::Movement => "movement",
        };
        let squares = |squares: SquareSet| -> Vec<String> {
            let text = rules.squares_text(squares, ",");
            text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        let hand = |player| json!({ "men": position.hand(player).men, "dux": position.hand(player).dux });
        let mut legal = Vec::new();
        self.legal_actions(&mut legal);
        json!({
            "ruleset": rules.ruleset().id,
            "position": rules.position_text(position),
            "to_act": self.outcome().is_none().then(|| self.player_to_act().number()),
            "phase": phase,
            "is_mid_turn": position.is_mid_turn(),
            "continuation": position.continuation().map(|go_on| rules.square_text(go_on.square)),
            "hands": Player::BOTH.map(hand),
            "bound": squares(position.bound()),
            "quiet_turns": position.quiet_turns(),
            "turns": position.turns(),
            "last_taken": squares(self.last_taken()),
            "legal_count": legal.len(),
            "outcome": outcome,
        })
    }
}
