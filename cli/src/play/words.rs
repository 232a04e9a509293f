//! What a typed line means: a command, or an action, in full or as short as it is clear.

use latrunculi_engine::parameters::nearest;
use latrunculi_engine::{Action, ActionKind, GameState};

use crate::explain::{listed, why_not};

/// The commands, in the order of `help`.
pub(super) const COMMANDS: [&str; 14] = [
    "help", "moves", "board", "rules", "hint", "place", "undo", "resign", "save", "load", "record", "curve",
    "position", "quit",
];

const ALIASES: [(&str, &str); 6] = [
    ("?", "help"),
    ("exit", "quit"),
    ("actions", "moves"),
    // As `engine` has them.
    ("legal", "moves"),
    ("show", "board"),
    ("go", "hint"),
];

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning<'a> {
    Nothing,
    Command(&'static str, &'a str),
    Action(Action),
}

pub(super) fn understand<'a>(state: &GameState, line: &'a str) -> Result<Meaning<'a>, String> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).map_or((line, ""), |(word, rest)| (word, rest.trim()));
    if word.is_empty() {
        return Ok(Meaning::Nothing);
    }
    let mut legal = Vec::new();
    state.legal_actions(&mut legal);
    let texts: Vec<String> = legal.iter().map(|&action| state.action_text(action)).collect();
    if let Some(index) = texts.iter().position(|text| text == line) {
        return Ok(Meaning::Action(legal[index]));
    }
    let alias = ALIASES.iter().find(|(alias, _)| *alias == word).map(|(_, command)| *command);
    if let Some(&command) = COMMANDS.iter().find(|command| **command == alias.unwrap_or(word)) {
        return Ok(Meaning::Command(command, rest));
    }
    if rest.is_empty() {
        let meant = abbreviated(state, &legal, &texts, word);
        match meant.as_slice() {
            [] => {}
            [index] => return Ok(Meaning::Action(legal[*index])),
            several => {
                let several: Vec<String> = several.iter().map(|&index| texts[index].clone()).collect();
                return Err(format!("{word} may mean {}: write more of it", listed(&several)));
            }
        }
    }
    let begun: Vec<&'static str> = COMMANDS.into_iter().filter(|command| command.starts_with(word)).collect();
    match begun.as_slice() {
        [command] => Ok(Meaning::Command(command, rest)),
        [] => Err(unknown(state, line, word)),
        several => Err(format!("{word} may mean {}: write more of it", several.join(", "))),
    }
}

/// Returns the legal actions that a shorter text may mean: the same without signs, its beginning, or the
/// square where it ends.
fn abbreviated(state: &GameState, legal: &[Action], texts: &[String], word: &str) -> Vec<usize> {
    let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '@', '+'], "");
    let word = plain(word);
    if word.len() < 2 {
        return Vec::new();
    }
    let matching =
        |fits: &dyn Fn(usize) -> bool| -> Vec<usize> { (0..texts.len()).filter(|&index| fits(index)).collect() };
    let same = matching(&|index| plain(&texts[index]) == word);
    if !same.is_empty() {
        return same;
    }
    let goes_there = |index: usize| match legal[index].kind() {
        ActionKind::Move { to, .. } | ActionKind::MoveTaking { to, .. } => state.rules().square_text(to) == word,
        _ => false,
    };
    matching(&|index| plain(&texts[index]).starts_with(&word) || goes_there(index))
}

fn unknown(state: &GameState, line: &str, word: &str) -> String {
    let why = if state.outcome().is_some() { format!("{line} is no command") } else { why_not(state, line) };
    match nearest(word, COMMANDS) {
        Some(near) => format!("{why}; or did you mean {near}?"),
        // What names a square was meant for an action.
        None if line.bytes().any(|byte| byte.is_ascii_digit()) => why,
        None => format!("{why}; `help` lists the commands"),
    }
}

#[cfg(test)]
mod tests {

    use latrunculi_engine::presets;

    use super::*;

    fn state(ruleset: &str, position: &str) -> GameState {
        let rules = presets::rules(ruleset);
        let position = rules.parse_position(position).unwrap();
        GameState::from_position(rules, position)
    }

    #[test]
    fn actions_are_understood_however_short_as_long_as_they_are_clear() {
        let savard = state("savard", "7d/8/8/8/M7/8/8/D7 1");
        let means = |line: &str| match understand(&savard, line) {
            Ok(Meaning::Action(action)) => savard.action_text(action),
            Ok(other) => format!("{other:?}"),
            Err(error) => error,
        };
        for line in ["a4-b4", "a4b4", "A4-B4", " a4b4 ", "a4-b", "b4"] {
            assert_eq!(means(line), "a4-b4", "{line}");
        }
        assert!(means("a4").contains("a4 may mean a4-"), "{}", means("a4"));
        assert!(means("a4-h8").contains("can go to"), "{}", means("a4-h8"));
        let bell = state("bell", "8/8/8/8/8/8/8 1 M2D1m2d1 place:2");
        let placed = |line: &str| match understand(&bell, line) {
            Ok(Meaning::Action(action)) => bell.action_text(action),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(placed("c3"), "@c3");
        assert_eq!(placed("@c3"), "@c3");
    }

    #[test]
    fn commands_are_understood_by_their_beginning_and_slips_are_named() {
        let savard = state("savard", "7d/8/8/8/M7/8/8/D7 1");
        let means = |line| understand(&savard, line);
        assert_eq!(means(""), Ok(Meaning::Nothing));
        assert_eq!(means("u"), Ok(Meaning::Command("undo", "")));
        assert_eq!(means("save my game.jsonl"), Ok(Meaning::Command("save", "my game.jsonl")));
        assert_eq!(means("?"), Ok(Meaning::Command("help", "")));
        assert_eq!(means("show"), Ok(Meaning::Command("board", "")));
        assert!(means("foo").unwrap_err().ends_with("`help` lists the commands"));
        assert!(!means("a4-h8").unwrap_err().contains("help"));
        assert!(means("h").unwrap_err().contains("help, hint"));
        assert!(means("reisgn").unwrap_err().contains("did you mean resign?"));
    }
}
