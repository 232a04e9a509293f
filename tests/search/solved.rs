//! Solved games: values that prove each other, of every kind of rule that play without end may meet.

use std::sync::Arc;

use latrunculi_engine::{Player, RulesetFile};
use latrunculi_search::latrunculi::Solved;

fn solved(base: &str, changes: &str) -> Solved {
    let text = format!("id = \"small\"\nbase = \"{base}\"\n[board]\nfiles = 4\nranks = 4\n{changes}");
    let file = RulesetFile::parse(&text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
    Solved::new(&Arc::new(file.rules()), 1_000_000).expect("few positions")
}

const ARRAY: &str = "[setup]\narray = \"\"\"\nmd..\n....\n....\n..DM\"\"\"\n";

/// The winners are right where, for each player: a position that he wins has a least number of actions to the end, which his best
/// and his opponent's every action lowers; from one that he does not win neither any action of his nor each of his
/// opponent's leads to one that he wins; and where he wins without captures, he never need leave such positions, nor can his opponent.
fn check(solved: &Solved) {
    for index in 0..solved.position_count() {
        let (game, value) = (solved.game(index), solved.value(index));
        let after: Vec<_> = solved.values_after(index).collect();
        let of = |player| move |value: &&latrunculi_search::latrunculi::Value| value.winner == Some(player);
        for player in Player::BOTH {
            let is_his = game.player_to_act() == player;
            let wins = after.iter().filter(of(player)).count();
            let can_win = if is_his { wins > 0 } else { wins == after.len() };
            assert_eq!(value.winner == Some(player), can_win, "{player}: {}", game.drawing());
            if value.winner != Some(player) {
                continue;
            }
            let plies = after.iter().filter(of(player)).map(|value| value.plies.unwrap_or(u16::MAX));
            let last = if is_his { plies.min() } else { plies.max() };
            match value.plies {
                Some(plies) => assert_eq!(last, Some(plies - 1), "{}", game.drawing()),
                // He has more pieces in the end: here, or where an action leads.
                None => {
                    assert_eq!(last, Some(u16::MAX));
                    assert!(
                        game.winner_without_captures() == Some(player)
                            || after.iter().any(|value| value.plies.is_none())
                    );
                }
            }
        }
        if value.winner.is_none()
            && let Some(ahead) = game.winner_without_captures()
        {
            // His opponent holds the draw by taking something in the end: a way there, which the other cannot leave.
            assert!(after.iter().any(|value| value.winner != Some(ahead)), "{}", game.drawing());
        }
    }
}

#[test]
fn values_of_small_games_prove_each_other() {
    for (base, changes) in [
        ("savard", ARRAY),
        ("savard-delayed", ARRAY),
        ("savard-displacement", ARRAY),
        ("mac-12x8", "[setup]\narray = \"\"\"\nmd..\n....\n....\n..DM\"\"\"\n[end]\nquiet_result = \"most_pieces\"\n"),
        ("dutch", ARRAY),
        ("bell", "[placement]\nmen = 1\n"),
    ] {
        let solved = solved(base, changes);
        check(&solved);
        let values: Vec<_> = (0..solved.position_count()).map(|index| solved.value(index).winner).collect();
        for winner in [None, Some(Player::First), Some(Player::Second)] {
            assert!(values.contains(&winner), "{base}: {winner:?}");
        }
    }
}

#[test]
fn a_game_with_too_many_positions_is_not_solved() {
    let rules = latrunculi_engine::presets::rules("bell");
    assert!(Solved::new(&rules, 1000).is_none());
}
