//! What the agents thought of the game as it went on, drawn in letters.

use latrunculi_engine::Player;

use crate::game::Game;

/// Columns of the drawing, which leave room for the scale on eighty.
const COLUMNS_MAX: usize = 60;
/// Rows from +1 to -1.
const ROWS: usize = 9;

/// Draws what the agents expected at each of their choices, for player 1; `None` if nobody said anything.
pub(super) fn curve(game: &Game) -> Option<String> {
    let values = &game.record().values;
    let opinions: Vec<Option<(Player, f32)>> = game
        .past()
        .iter()
        .zip(values)
        .map(|(state, value)| {
            let player = state.player_to_act();
            let sign = if player == Player::First { 1.0 } else { -1.0 };
            value.map(|value| (player, sign * value))
        })
        .collect();
    opinions.iter().any(Option::is_some).then(|| draw(&opinions))
}

/// Draws values in `[-1, 1]` for player 1, one per action, each by who thought it.
fn draw(opinions: &[Option<(Player, f32)>]) -> String {
    let columns = opinions.len().min(COLUMNS_MAX);
    let mut middle = [' '; ROWS];
    middle[ROWS / 2] = '-';
    let mut cells = vec![middle; columns];
    for (column, cells) in cells.iter_mut().enumerate() {
        let span = column * opinions.len() / columns..(column + 1) * opinions.len() / columns;
        for player in Player::BOTH {
            let values: Vec<f32> = opinions[span.clone()]
                .iter()
                .flatten()
                .filter(|(by, _)| *by == player)
                .map(|(_, value)| *value)
                .collect();
            if values.is_empty() {
                continue;
            }
            let mean = values.iter().sum::<f32>() / values.len() as f32;
            let row = ((1.0 - mean.clamp(-1.0, 1.0)) / 2.0 * (ROWS - 1) as f32).round() as usize;
            cells[row] = match (cells[row], player) {
                ('1', Player::Second) => '*',
                (_, Player::First) => '1',
                (_, Player::Second) => '2',
            };
        }
    }
    let mut text = "value for player 1 as player 1 (1) and player 2 (2) saw it; * is both\n".to_owned();
    for row in 0..ROWS {
        let scale = match row {
            0 => "+1 wins",
            4 => " 0 even",
            8 => "-1 loses",
            _ => "",
        };
        let line: String = cells.iter().map(|column| column[row]).collect();
        text.push_str(&format!("{scale:>8} |{}\n", line.trim_end()));
    }
    let last = opinions.len().to_string();
    text.push_str(&format!(
        "{:>8}  1{last:>width$} actions\n",
        "",
        width = columns.saturating_sub(1).max(last.len() + 1)
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opinions_lie_at_their_height_under_the_one_who_had_them() {
        let opinions = [
            Some((Player::First, 1.0)),
            Some((Player::Second, -1.0)),
            None,
            Some((Player::First, 0.5)),
            Some((Player::Second, 0.0)),
        ];
        let drawn = draw(&opinions);
        let rows: Vec<&str> =
            drawn.lines().skip(1).map(|line| line.split_once('|').map_or("", |(_, row)| row)).collect();
        assert_eq!(rows[0], "1");
        assert_eq!(rows[2], "   1");
        assert_eq!(rows[4], "----2");
        assert_eq!(rows[8], " 2");
        assert!(drawn.ends_with("1   5 actions\n"), "{drawn}");
    }

    #[test]
    fn long_games_fit_a_terminal_of_eighty_columns() {
        let opinions: Vec<_> =
            (0..1000).map(|action| Some((if action % 2 == 0 { Player::First } else { Player::Second }, 0.3))).collect();
        let drawn = draw(&opinions);
        assert!(drawn.lines().all(|line| line.len() <= 80), "{drawn}");
        assert!(drawn.contains("****"));
        // Nonsense in a record is drawn at the edge.
        assert!(draw(&[Some((Player::First, f32::NAN)), Some((Player::First, 7.0))]).contains("|"));
    }
}
