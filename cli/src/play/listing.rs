//! The actions of a game, turn by turn.

use crate::game::Game;
use crate::lines::filled;

/// Lists the actions of a game, numbered by turns as the line below the board counts them; the actions of one turn
/// stand together.
pub(super) fn listing(game: &Game) -> String {
    let mut turns: Vec<(u16, String)> = Vec::new();
    for (state, action) in game.past().iter().zip(&game.record().actions) {
        let turn = state.position().turns() + 1;
        match turns.last_mut().filter(|(last, _)| *last == turn) {
            Some((_, actions)) => *actions += &format!(" {action}"),
            None => turns.push((turn, format!("{turn}. {action}"))),
        }
    }
    let text = filled("", turns.iter().map(|(_, turn)| turn.as_str()), "  ");
    if text.is_empty() { text } else { text + "\n" }
}

#[cfg(test)]
mod tests {

    use latrunculi_engine::{GameState, presets};

    use super::*;

    fn played(ruleset: &str, actions: usize) -> Game {
        let rules = presets::rules(ruleset);
        let mut game = Game::new(GameState::new(rules), ["human".to_owned(), "human".to_owned()], 0);
        for _ in 0..actions {
            let mut legal = Vec::new();
            game.state().legal_actions(&mut legal);
            game.play(legal[0]);
        }
        game
    }

    #[test]
    fn actions_of_one_turn_stand_together_and_lines_fit_eighty_columns() {
        // Bell puts down two men a turn, and one dux.
        let text = listing(&played("bell", 34));
        assert!(text.starts_with("1. @") && text.contains("  2. @") && text.contains("  17. D@"), "{text}");
        assert_eq!(text.matches(". ").count(), 18, "{text}");
        assert_eq!(text.matches('@').count(), 34, "{text}");
        assert!(text.lines().count() > 1 && text.lines().all(|line| line.len() <= 80), "{text}");
        assert_eq!(listing(&played("bell", 0)), "");
    }
}
