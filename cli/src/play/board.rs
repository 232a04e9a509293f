//! The board as `play` draws it: coordinates, last action, bound pieces, duces, in colours or without.

use anstyle::{AnsiColor, Color, Style};
use latrunculi_engine::{ActionKind, GameState, Phase, Piece, Player, Square, SquareSet};

use crate::game::Game;

/// The styles of everything that is drawn; without colours they are all plain.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Palette {
    players: [Style; 2],
    dux: Style,
    moved: Style,
    taken: Style,
    faint: Style,
    strong: Style,
}

impl Palette {
    /// Returns the palette of a terminal with colours.
    pub(super) fn colours() -> Palette {
        let foreground = |color: AnsiColor| Style::new().fg_color(Some(Color::Ansi(color)));
        Palette {
            players: [foreground(AnsiColor::BrightCyan), foreground(AnsiColor::BrightRed)],
            dux: Style::new().bold().underline(),
            moved: Style::new().bg_color(Some(Color::Ansi(AnsiColor::BrightBlack))),
            taken: foreground(AnsiColor::Yellow),
            faint: Style::new().dimmed(),
            strong: Style::new().bold(),
        }
    }

    pub(super) fn strong(&self, text: &str) -> String {
        paint(self.strong, text)
    }

    fn piece(&self, owner: Player, piece: Piece) -> Style {
        let style = self.players[owner.index()];
        if piece == Piece::Dux { style.effects(self.dux.get_effects()) } else { style }
    }
}

/// Wraps `text` into a style; a plain one leaves it as it is.
fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

#[derive(Clone, Copy, Debug, Default)]
struct LastAction {
    from: SquareSet,
    to: SquareSet,
    taken: SquareSet,
}

impl LastAction {
    fn of(game: &Game) -> LastAction {
        let mut last = LastAction { taken: game.state().last_taken(), ..LastAction::default() };
        let (Some(before), Some(text)) = (game.past().last(), game.last_action()) else { return LastAction::default() };
        match before.parse_action(text).map(latrunculi_engine::Action::kind) {
            Ok(ActionKind::Move { from, to } | ActionKind::MoveTaking { from, to, .. }) => {
                last.from.insert(from);
                last.to.insert(to);
            }
            Ok(ActionKind::PlaceMan(square) | ActionKind::PlaceDux(square)) => last.to.insert(square),
            _ => {}
        }
        last
    }
}

/// Draws the board. `[M]` has moved last, from `:`; `x` was taken; `(m)` is bound; `{m}` is both.
pub(super) fn draw(game: &Game, palette: &Palette) -> String {
    let (state, last) = (game.state(), LastAction::of(game));
    let rules = state.rules();
    let width = rules.ranks().to_string().len();
    let files: String = (0..rules.files()).map(|file| format!(" {} ", char::from(b'a' + file as u8))).collect();
    let mut drawing = String::new();
    for rank in (0..rules.ranks()).rev() {
        drawing.push_str(&paint(palette.faint, &format!("{:>width$}", rank + 1)));
        drawing.push(' ');
        for file in 0..rules.files() {
            drawing.push_str(&cell(state, &last, Square::from_index(rank * rules.files() + file), palette));
        }
        drawing.truncate(drawing.trim_end().len());
        drawing.push('\n');
    }
    drawing.push_str(&" ".repeat(width + 1));
    drawing.push_str(&paint(palette.faint, files.trim_end()));
    drawing.push('\n');
    drawing
}

/// Draws one square, three columns wide.
fn cell(state: &GameState, last: &LastAction, square: Square, palette: &Palette) -> String {
    let position = state.position();
    let (has_moved, was_left) = (last.to.contains(square), last.from.contains(square));
    let Some((piece, owner)) = position.piece_at(square) else {
        return match (last.taken.contains(square), was_left) {
            (true, _) => format!(" {} ", paint(palette.taken, "x")),
            (false, true) => paint(palette.moved, " : "),
            (false, false) => format!(" {} ", paint(palette.faint, ".")),
        };
    };
    let (open, close) = match (has_moved, position.bound().contains(square)) {
        (false, false) => (' ', ' '),
        (true, false) => ('[', ']'),
        (false, true) => ('(', ')'),
        (true, true) => ('{', '}'),
    };
    let letter = paint(palette.piece(owner, piece), &piece.letter(owner).to_string());
    match has_moved {
        true => {
            format!("{}{letter}{}", paint(palette.moved, &open.to_string()), paint(palette.moved, &close.to_string()))
        }
        false => format!("{open}{letter}{close}"),
    }
}

/// Returns the line below the board: turn, pieces, what is due.
pub(super) fn status(game: &Game) -> String {
    let (state, position) = (game.state(), game.state().position());
    let count = |player: Player| {
        let men = position.men(player).len();
        if position.dux(player).is_some() { format!("{men}+dux") } else { men.to_string() }
    };
    let mut parts = vec![format!("turn {}", position.turns() + 1)];
    parts.push(format!("on the board {} : {}", count(Player::First), count(Player::Second)));
    let hands = Player::BOTH.map(|player| position.hand(player).stones());
    if hands != [0, 0] {
        parts.push(format!("in hand {} : {}", hands[0], hands[1]));
    }
    let limit = state.rules().ruleset().end.quiet_limit;
    if position.phase() == Phase::Movement && limit > 0 && position.quiet_turns() * 2 >= limit {
        parts.push(format!("{} of {limit} turns without a capture", position.quiet_turns()));
    }
    if let Some(go_on) = position.continuation() {
        parts.push(format!("{} may go on", state.rules().square_text(go_on.square)));
    }
    if position.removed_this_turn() {
        parts.push("a move is due".to_owned());
    }
    parts.join("   ")
}

#[cfg(test)]
mod tests {

    use latrunculi_engine::presets;

    use super::*;

    fn game(ruleset: &str, position: &str, actions: &[&str]) -> Game {
        let rules = presets::rules(ruleset);
        let position = rules.parse_position(position).unwrap();
        let state = GameState::from_position(rules, position);
        let mut game = Game::new(state, ["human".to_owned(), "human".to_owned()], 0);
        for text in actions {
            game.play(game.state().parse_action(text).unwrap());
        }
        game
    }

    #[test]
    fn the_last_action_and_what_it_took_are_marked() {
        let game = game("savard", "7d/8/8/8/M1M5/1m6/3M4/D7 1", &["d2-c2"]);
        let drawn = draw(&game, &Palette::default());
        assert!(drawn.contains("2  .  . [M] :  .  .  .  .\n"), "{drawn}");
        assert!(drawn.ends_with("   a  b  c  d  e  f  g  h\n"), "{drawn}");
        let taken = self::game("savard", "7d/8/8/8/8/Mm6/3M4/D7 1", &["d2-d3"]);
        assert!(draw(&taken, &Palette::default()).contains("3  M  m  . [M] .  .  .  .\n"));
        let taken = self::game("savard", "7d/8/8/8/8/MmM5/3m4/D2m4 1", &["a1-b1"]);
        assert!(!draw(&taken, &Palette::default()).contains('x'));
        let taken = self::game("savard", "7d/8/8/8/8/Mm6/2M5/D7 1", &["c2-c3"]);
        let drawn = draw(&taken, &Palette::default());
        assert!(drawn.contains("3  M  x [M] .  .  .  .  .\n2  .  .  :  .  .  .  .  .\n"), "{drawn}");
        assert!(status(&taken).contains("on the board 2+dux : 0+dux"), "{}", status(&taken));
    }

    #[test]
    fn bound_pieces_stand_in_parentheses_and_colours_change_no_letter() {
        let game = game("beads", "12/12/12/12/12/MmM9/11d/D11 1", &[]);
        let plain = draw(&game, &Palette::default());
        assert!(plain.contains("3  M (m) M "), "{plain}");
        let coloured = draw(&game, &Palette::colours());
        assert!(coloured.contains("\u{1b}["));
        let mut stripped = String::new();
        let mut is_escape = false;
        for letter in coloured.chars() {
            match (letter, is_escape) {
                ('\u{1b}', _) => is_escape = true,
                ('m', true) => is_escape = false,
                (_, true) => {}
                (letter, false) => stripped.push(letter),
            }
        }
        let trimmed: Vec<&str> = stripped.lines().map(str::trim_end).collect();
        assert_eq!(trimmed, plain.lines().collect::<Vec<_>>());
    }
}
