//! Why an action is not legal, in words for whoever typed it.

use latrunculi_engine::{Action, ActionError, ActionKind, GameState, Phase, Piece, Player, Square};

/// How many actions are listed where one of them may be meant.
const LISTED_MAX: usize = 8;

/// Returns why `text` is not a legal action at `state`, with what is legal instead where that helps.
pub(crate) fn why_not(state: &GameState, text: &str) -> String {
    // A square alone places a stone, where that is what is done.
    let is_square = state.position().phase() == Phase::Placement && state.rules().parse_square(text).is_some();
    let text = if is_square { &format!("@{text}") } else { text };
    match state.parse_action(text) {
        Ok(_) => format!("{text} is legal"),
        Err(ActionError::NotLegal { text, hint }) => match reason(state, &text) {
            Some(reason) => format!("{text} is not legal here: {reason}"),
            None => format!("{text} is not legal here{hint}"),
        },
        Err(error) => error.to_string(),
    }
}

/// Joins the first few of `texts`.
pub(crate) fn listed(texts: &[String]) -> String {
    let more = if texts.len() > LISTED_MAX { ", …" } else { "" };
    texts[..texts.len().min(LISTED_MAX)].join(", ") + more
}

fn reason(state: &GameState, text: &str) -> Option<String> {
    if let Some(words) = state.end_words() {
        return Some(format!("the game is over: {words}"));
    }
    let mut legal = Vec::new();
    state.legal_actions(&mut legal);
    match text {
        "stop" => return Some("no piece that has captured may go on, so there is nothing to decline".to_owned()),
        "pass" => return Some("only who can do nothing else passes".to_owned()),
        _ => {}
    }
    if let Some(square) = text.strip_prefix("D@") {
        return placement_reason(state, Piece::Dux, square, &legal);
    }
    if let Some(square) = text.strip_prefix('@') {
        return placement_reason(state, Piece::Man, square, &legal);
    }
    if text.starts_with('x') {
        let removals = legal.iter().filter(|action| matches!(action.kind(), ActionKind::Remove { .. }));
        let removals: Vec<String> = removals.map(|&action| state.action_text(action)).collect();
        return Some(match removals.is_empty() {
            true => "nothing can be removed now".to_owned(),
            false => format!("what can be removed: {}", listed(&removals)),
        });
    }
    let (from, rest) = text.split_once('-')?;
    let to = rest.split('x').next()?;
    let (from, to) = (state.rules().parse_square(from)?, state.rules().parse_square(to)?);
    Some(move_reason(state, from, to, &legal))
}

fn placement_reason(state: &GameState, piece: Piece, square: &str, legal: &[Action]) -> Option<String> {
    let position = state.position();
    if position.phase() == Phase::Movement {
        return Some("all stones are on the board, now they move (as a1-a2)".to_owned());
    }
    let hand = position.hand(state.player_to_act());
    let can_place = |wanted: Piece| {
        legal.iter().any(|action| match action.kind() {
            ActionKind::PlaceMan(_) => wanted == Piece::Man,
            ActionKind::PlaceDux(_) => wanted == Piece::Dux,
            _ => false,
        })
    };
    let at = state.rules().parse_square(square)?;
    let is_taken = position.piece_at(at).is_some();
    Some(match piece {
        _ if is_taken => format!("{square} is occupied"),
        Piece::Dux if hand.dux == 0 => "you have no dux in hand".to_owned(),
        Piece::Man if hand.men == 0 => format!("you have no men in hand, only the dux (D@{square})"),
        Piece::Dux if !can_place(Piece::Dux) => "the dux is not to be placed yet".to_owned(),
        Piece::Man if !can_place(Piece::Man) => format!("the dux is to be placed now (D@{square})"),
        _ => "no stone may be placed there now".to_owned(),
    })
}

fn move_reason(state: &GameState, from: Square, to: Square, legal: &[Action]) -> String {
    let (rules, position, player) = (state.rules(), state.position(), state.player_to_act());
    let name = |square| rules.square_text(square);
    if position.phase() == Phase::Placement {
        return "stones are still being placed (as @c3)".to_owned();
    }
    let piece = match position.piece_at(from) {
        None => return format!("there is no piece on {}", name(from)),
        Some((_, owner)) if owner != player => {
            return format!("the piece on {} belongs to {owner} ({})", name(from), side_of(owner));
        }
        Some((Piece::Man, _)) => "man",
        Some((Piece::Dux, _)) => "dux",
    };
    if let Some(go_on) = position.continuation()
        && go_on.square != from
    {
        return format!("only the piece on {} may go on now, or you write stop", name(go_on.square));
    }
    if position.bound().contains(from) {
        return format!("the {piece} on {} is bound", name(from));
    }
    let targets: Vec<String> = legal
        .iter()
        .filter_map(|action| match action.kind() {
            ActionKind::Move { from: start, to } | ActionKind::MoveTaking { from: start, to, .. } if start == from => {
                Some(name(to))
            }
            _ => None,
        })
        .collect();
    let occupied = if position.piece_at(to).is_some() && from != to {
        format!("{} is occupied; ", name(to))
    } else {
        String::new()
    };
    match targets.is_empty() {
        true => format!("{occupied}the {piece} on {} cannot move now", name(from)),
        false => format!("{occupied}the {piece} on {} can go to {}", name(from), listed(&targets)),
    }
}

fn side_of(player: Player) -> &'static str {
    match player {
        Player::First => "upper case",
        Player::Second => "lower case",
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
    fn every_slip_is_answered_with_its_reason() {
        let savard = state("savard", "7d/8/8/m7/M7/8/8/D7 1");
        for (text, part) in [
            ("b2-b3", "there is no piece on b2"),
            ("a5-a4", "belongs to player 2 (lower case)"),
            ("a4-a5", "a5 is occupied; the man on a4 can go to"),
            ("a4-h8", "the man on a4 can go to"),
            ("a1-c3", "the dux on a1 can go to"),
            ("stop", "nothing to decline"),
            ("pass", "nothing else"),
            ("@c3", "now they move"),
            ("xa5", "nothing can be removed"),
            ("a9-a1", "\"a9\" is not a square of this board (a1 to h8)"),
            ("hello", "is not an action"),
        ] {
            let answer = why_not(&savard, text);
            assert!(answer.contains(part), "{text}: {answer}");
        }
        let bell = GameState::new(presets::rules("bell"));
        assert!(why_not(&bell, "a1-a2").contains("still being placed"), "{}", why_not(&bell, "a1-a2"));
        let mut after = bell.clone();
        after.play(after.parse_action("@c3").unwrap());
        for text in ["@c3", "c3"] {
            assert!(why_not(&after, text).contains("c3 is occupied"), "{}", why_not(&after, text));
        }
    }
}
