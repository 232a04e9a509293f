//! Text forms of squares, of actions (`a1-a4`, `d2-d3xe3`, `xd4+e4`, `@c3`, `D@c3`, `stop`, `pass`) and of positions (a
//! list of pieces, `M:c2,b4 D:a1 m:b3 d:h7`, or the line of [`Rules::position_text`]).

use std::sync::Arc;

use crate::action::{Action, ActionKind};
use crate::capture::by_words;
use crate::parameters::did_you_mean;
use crate::player::Player;
use crate::position::{Continuation, Hand, Holds, Phase, Piece, Position, Shuttle};
use crate::rules::Rules;
use crate::ruleset::Trigger;
use crate::squares::{Square, SquareSet};
use crate::state::GameState;

/// How the text of a position marks what holds a piece, in the order of [`Holds::by_mark`].
const HOLD_MARKS: [char; 5] = ['-', '|', '/', '\\', '+'];

impl Holds {
    fn by_mark(&self) -> [(char, SquareSet); 5] {
        let [rank, file, rising, falling] = self.lines;
        let [a, b, c, d, e] = HOLD_MARKS;
        [(a, rank), (b, file), (c, rising), (d, falling), (e, self.sides)]
    }

    fn by_mark_mut(&mut self) -> [(char, &mut SquareSet); 5] {
        let [rank, file, rising, falling] = &mut self.lines;
        let [a, b, c, d, e] = HOLD_MARKS;
        [(a, rank), (b, file), (c, rising), (d, falling), (e, &mut self.sides)]
    }
}

/// Every reason why a text is not a position of these rules; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionError {
    /// The reasons.
    pub faults: Vec<String>,
}

impl std::fmt::Display for PositionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not a position of this ruleset: {}", self.faults.join("; "))
    }
}

impl std::error::Error for PositionError {}

/// Why a text is not a legal action here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// The text has none of the forms of an action.
    #[error(
        "{0:?} is not an action: write a1-a4 (move), d2-d3xe3 (move and take), xd4+e4 (remove), @c3 or D@c3 \
         (place), stop or pass"
    )]
    NotAnAction(String),
    /// A square in it is not on the board.
    #[error("{text:?} is not a square of this board (a1 to {last})")]
    NotASquare {
        /// What was written.
        text: String,
        /// The board's last square.
        last: String,
    },
    /// It could be an action, but not here.
    #[error("{text} is not legal here{hint}")]
    NotLegal {
        /// What was written.
        text: String,
        /// The reason, or what comes near; may be empty.
        hint: String,
    },
}

impl Rules {
    /// Returns the name of a square, as `c3`.
    #[must_use]
    pub fn square_text(&self, square: Square) -> String {
        let file = square.0 % self.geometry.files;
        format!("{}{}", char::from(b'a' + file), square.0 / self.geometry.files + 1)
    }

    /// Reads the name of a square.
    #[must_use]
    pub fn parse_square(&self, text: &str) -> Option<Square> {
        let mut letters = text.chars();
        let file = u32::from(letters.next()?).checked_sub(u32::from('a'))?;
        let digits = letters.as_str();
        if digits.starts_with('0') || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let rank = digits.parse::<u32>().ok()?.checked_sub(1)?;
        if file >= u32::from(self.geometry.files) || rank >= u32::from(self.geometry.ranks) {
            return None;
        }
        Some(Square((rank * u32::from(self.geometry.files) + file) as u8))
    }

    /// Returns the names of squares by file, then rank, joined by `separator`.
    #[must_use]
    pub fn squares_text(&self, squares: SquareSet, separator: &str) -> String {
        let mut squares: Vec<Square> = squares.iter().collect();
        squares.sort_by_key(|square| (square.0 % self.geometry.files, square.0 / self.geometry.files));
        let names: Vec<String> = squares.into_iter().map(|square| self.square_text(square)).collect();
        names.join(separator)
    }

    fn last_square_text(&self) -> String {
        self.square_text(Square::from_index(self.square_count() - 1))
    }

    /// Returns the text of an action that is legal at `position`.
    #[must_use]
    pub fn action_text(&self, position: &Position, action: Action) -> String {
        let square = |square| self.square_text(square);
        match action.kind() {
            ActionKind::Move { from, to } => format!("{}-{}", square(from), square(to)),
            ActionKind::MoveTaking { from, to, victim } => {
                format!("{}-{}x{}", square(from), square(to), square(victim))
            }
            ActionKind::PlaceMan(at) => format!("@{}", square(at)),
            ActionKind::PlaceDux(at) => format!("D@{}", square(at)),
            ActionKind::Remove { first, last } => {
                format!("x{}", self.squares_text(self.removed_squares(position, first, last), "+"))
            }
            ActionKind::Stop => "stop".to_owned(),
            ActionKind::Pass => "pass".to_owned(),
        }
    }

    /// Reads an action whose text alone says what it is: anything but a removal. It need not be legal.
    fn read_plain_action(&self, text: &str) -> Option<Action> {
        if let Some(at) = text.strip_prefix("D@") {
            return self.parse_square(at).map(Action::placing_dux);
        }
        if let Some(at) = text.strip_prefix('@') {
            return self.parse_square(at).map(Action::placing_man);
        }
        let Some((from, to)) = text.split_once('-') else {
            return match text {
                "stop" => Some(Action::STOP),
                "pass" => Some(Action::PASS),
                _ => None,
            };
        };
        let from = self.parse_square(from)?;
        match to.split_once('x') {
            Some((to, victim)) => Some(Action::moving_taking(from, self.parse_square(to)?, self.parse_square(victim)?)),
            None => Some(Action::moving(from, self.parse_square(to)?)),
        }
    }

    fn removed_squares(&self, position: &Position, first: Square, last: Square) -> SquareSet {
        by_words!(self, self.removed_by(position, first, last) -> 4)
    }

    /// Returns the squares that a removal, or the chosen victim of a move, empties; empty for other actions.
    #[must_use]
    pub fn chosen_victims(&self, position: &Position, action: Action) -> SquareSet {
        match action.kind() {
            ActionKind::Remove { first, last } => self.removed_squares(position, first, last),
            ActionKind::MoveTaking { victim, .. } => SquareSet::of(victim),
            _ => SquareSet::EMPTY,
        }
    }

    /// Returns the pieces on the board as a list, as `M:c2,b4 D:a1 m:b3 d:h7`; kinds without pieces are left out.
    #[must_use]
    pub fn pieces_text(&self, position: &Position) -> String {
        let mut lists = Vec::new();
        for player in Player::BOTH {
            let men = position.men(player);
            if !men.is_empty() {
                lists.push(format!("{}:{}", Piece::Man.letter(player), self.squares_text(men, ",")));
            }
            if let Some(dux) = position.dux(player) {
                lists.push(format!("{}:{}", Piece::Dux.letter(player), self.square_text(dux)));
            }
        }
        lists.join(" ")
    }

    /// Reads a list of pieces: movement phase, empty hands, nothing bound that the board alone does not
    /// bind.
    /// Fails with [`PositionError`] with every fault of the list.
    pub fn parse_pieces(&self, text: &str, to_act: Player) -> Result<Position, PositionError> {
        let mut faults = Vec::new();
        let mut position = self.empty_position(to_act);
        for list in text.split_whitespace() {
            let letter = list.split_once(':').filter(|(letter, _)| letter.chars().count() == 1);
            let piece = letter
                .and_then(|(letter, squares)| Some((letter.chars().next().and_then(Piece::from_letter)?, squares)));
            let Some(((piece, owner), squares)) = piece else {
                faults.push(format!(
                    "{list:?} is not a list of pieces: write M:, D:, m: or d: and squares, as in M:c2,b4 D:a1 m:b3 d:h7"
                ));
                continue;
            };
            for name in squares.split(',').filter(|name| !name.is_empty()) {
                match self.parse_square(name) {
                    Some(square) => self.put_checked(&mut position, owner, piece, square, &mut faults),
                    None => faults.push(self.not_a_square(name)),
                }
            }
        }
        self.settle(&mut position);
        if faults.is_empty() { Ok(position) } else { Err(PositionError { faults }) }
    }

    fn not_a_square(&self, text: &str) -> String {
        format!("{text:?} is not a square of this board (a1 to {})", self.last_square_text())
    }

    fn empty_position(&self, to_act: Player) -> Position {
        let mut position = self.initial_position();
        position.stones = [SquareSet::EMPTY; 2];
        position.dux = [None; 2];
        position.hands = [Hand::default(); 2];
        position.phase = Phase::Movement;
        position.group_left = 0;
        position.to_act = to_act;
        position
    }

    fn put_checked(
        &self,
        position: &mut Position,
        owner: Player,
        piece: Piece,
        square: Square,
        faults: &mut Vec<String>,
    ) {
        if position.piece_at(square).is_some() {
            faults.push(format!("{} is taken twice", self.square_text(square)));
        } else if piece == Piece::Dux && position.dux(owner).is_some() {
            faults.push(second_dux(owner));
        } else {
            position.put(owner, piece, square);
        }
    }

    /// Returns the position on one line; reading it with [`Rules::parse_position`] gives it back.
    ///
    /// Fields, separated by one space:
    /// 1. the board: rows from the top, `/` between them, numbers for runs of empty squares;
    /// 2. the player to act, `1` or `2`;
    /// 3. stones in hand, as `M14D1m16d1`, or `-`;
    /// 4. `place:2` (stones left in this placement turn), `move`, `go:d4:0` (the piece on d4 may go on,
    ///    continuation moves made) or `removed` (a removal was made, the move is due);
    /// 5. bound squares, comma separated, or `-`; where a move must complete the binding, each with the
    ///    lines that hold it (`d4-` on its rank, `d4|` on its file, `d4/` and `d4\` on diagonals, `d4+` from
    ///    all sides), also squares inside a held row from which a piece was removed;
    /// 6. turns since a capture;
    /// 7. turns played;
    /// 8. if not empty, what the end of the game counts besides: `p1` (the last turn was a pass) and
    ///    `s1:a1-a2:3` (player 1 has gone to and fro between a1 and a2 three turns in a row), comma
    ///    separated.
    #[must_use]
    pub fn position_text(&self, position: &Position) -> String {
        let mut text = self.rows_text(position);
        text.push_str(&format!(" {} ", position.to_act.number()));
        let hands_begin = text.len();
        for player in Player::BOTH {
            let hand = position.hand(player);
            for (piece, count) in [(Piece::Man, hand.men), (Piece::Dux, hand.dux)] {
                if count > 0 {
                    text.push_str(&format!("{}{count}", piece.letter(player)));
                }
            }
        }
        if text.len() == hands_begin {
            text.push('-');
        }
        let phase = match (position.phase, position.continuation) {
            (Phase::Placement, _) => format!("place:{}", position.group_left),
            (Phase::Movement, Some(Continuation { square, moves_made })) => {
                format!("go:{}:{moves_made}", self.square_text(square))
            }
            (Phase::Movement, None) if position.removed_this_turn => "removed".to_owned(),
            (Phase::Movement, None) => "move".to_owned(),
        };
        let bound = self.bound_text(position);
        text.push_str(&format!(" {phase} {bound} {} {}", position.quiet_turns, position.turns));
        let mut records = Vec::new();
        if position.passes > 0 {
            records.push(format!("p{}", position.passes));
        }
        for player in Player::BOTH {
            if let Some(Shuttle { from, to, moves }) = position.shuttle(player) {
                let (from, to) = (self.square_text(from), self.square_text(to));
                records.push(format!("s{}:{from}-{to}:{moves}", player.number()));
            }
        }
        if !records.is_empty() {
            text.push(' ');
            text.push_str(&records.join(","));
        }
        text
    }

    fn bound_text(&self, position: &Position) -> String {
        let holds = position.holds.by_mark();
        if position.bound.is_empty() {
            return "-".to_owned();
        }
        let marked = |square: Square| {
            let marks: String =
                holds.iter().filter(|(_, squares)| squares.contains(square)).map(|(mark, _)| *mark).collect();
            format!("{}{marks}", self.square_text(square))
        };
        position.bound.iter().map(marked).collect::<Vec<String>>().join(",")
    }

    fn rows_text(&self, position: &Position) -> String {
        let mut rows = Vec::new();
        for rank in (0..self.ranks()).rev() {
            let mut row = String::new();
            let mut empty = 0;
            for file in 0..self.files() {
                match position.piece_at(Square::from_index(rank * self.files() + file)) {
                    Some((piece, owner)) => {
                        if empty > 0 {
                            row.push_str(&empty.to_string());
                            empty = 0;
                        }
                        row.push(piece.letter(owner));
                    }
                    None => empty += 1,
                }
            }
            if empty > 0 {
                row.push_str(&empty.to_string());
            }
            rows.push(row);
        }
        rows.join("/")
    }

    /// Reads a position from its one line, or from its rows and the player to act alone (the rest is then
    /// as in the movement phase with empty hands).
    /// Fails with [`PositionError`] with every fault of the text.
    pub fn parse_position(&self, text: &str) -> Result<Position, PositionError> {
        let mut faults = Vec::new();
        let mut fields = text.split_whitespace();
        let mut position = self.empty_position(Player::First);
        match fields.next() {
            Some(rows) => self.read_rows(rows, &mut position, &mut faults),
            None => faults.push("the board is missing".to_owned()),
        }
        match fields.next() {
            Some("1") => position.to_act = Player::First,
            Some("2") => position.to_act = Player::Second,
            Some(text) => faults.push(bad_field("player to act", text, "1 or 2")),
            None => faults.push("the player to act (1 or 2) is missing".to_owned()),
        }
        let hands = fields.next().unwrap_or("-");
        read_hands(hands, &mut position, &mut faults);
        let has_two = |player: &Player| position.hand(*player).dux > 0 && position.dux(*player).is_some();
        faults.extend(Player::BOTH.into_iter().filter(has_two).map(second_dux));
        let phase = fields.next().unwrap_or("move");
        self.read_phase(phase, &mut position, &mut faults);
        let bound = fields.next().unwrap_or("-");
        let flags = self.read_bound(bound, &position, &mut faults);
        position.quiet_turns = read_counter("number of turns since a capture", fields.next(), &mut faults);
        position.turns = read_counter("number of turns", fields.next(), &mut faults);
        if let Some(records) = fields.next() {
            self.read_records(records, &mut position, &mut faults);
        }
        if let Some(extra) = fields.next() {
            faults.push(bad_field("field of a position", extra, "eight fields at most"));
        }
        self.settle(&mut position);
        self.check_flags(flags, &mut position, &mut faults);
        position.key = position.key_from_scratch();
        if faults.is_empty() {
            faults.extend(self.unplayable(&position));
        }
        if faults.is_empty() { Ok(position) } else { Err(PositionError { faults }) }
    }

    /// Returns why a game could not go on from a position that is not over.
    fn unplayable(&self, position: &Position) -> Option<String> {
        let in_hand: usize = Player::BOTH.into_iter().map(|player| usize::from(position.hand(player).stones())).sum();
        let taken: usize = Player::BOTH.into_iter().map(|player| position.stones(player).len() as usize).sum();
        if in_hand > self.files() * self.ranks() - taken {
            return Some("more stones in hand than free squares".to_owned());
        }
        if let Some(Continuation { square, .. }) = position.continuation
            && position.bound.contains(square)
        {
            return Some(no_such_piece(&self.square_text(square), "the one to go on"));
        }
        let mut actions = Vec::new();
        if position.phase == Phase::Placement || position.is_mid_turn() {
            self.legal_actions(position, &[], &mut actions);
            if actions.is_empty() {
                return Some("the phase given has no legal action".to_owned());
            }
        }
        None
    }

    fn read_rows(&self, text: &str, position: &mut Position, faults: &mut Vec<String>) {
        let rows: Vec<&str> = text.split('/').collect();
        if rows.len() != self.ranks() {
            faults.push(format!("the board has {} ranks, but {} rows are drawn", self.ranks(), rows.len()));
            return;
        }
        for (index, row) in rows.iter().enumerate() {
            let rank = self.ranks() - 1 - index;
            let mut file = 0;
            let mut letters = row.chars().peekable();
            while let Some(letter) = letters.next() {
                if let Some(digit) = letter.to_digit(10) {
                    let mut run = digit as usize;
                    while let Some(digit) = letters.peek().and_then(|next| next.to_digit(10)) {
                        run = (run * 10 + digit as usize).min(1000);
                        letters.next();
                    }
                    file += run;
                } else if let Some((piece, owner)) = Piece::from_letter(letter) {
                    if file < self.files() {
                        let square = Square::from_index(rank * self.files() + file);
                        self.put_checked(position, owner, piece, square, faults);
                    }
                    file += 1;
                } else {
                    faults.push(format!("{letter:?} is neither a piece (M D m d) nor a number of empty squares"));
                }
            }
            if file != self.files() {
                faults.push(format!("row {row:?} has {file} squares, but the board has {} files", self.files()));
            }
        }
    }

    fn read_phase(&self, text: &str, position: &mut Position, faults: &mut Vec<String>) {
        const EXPECTED: &str = "place:2, move, go:d4:0 or removed";
        let parts: Vec<&str> = text.split(':').collect();
        let bad = || bad_field("phase", text, EXPECTED);
        let in_hand = Player::BOTH.into_iter().any(|player| position.hand(player).stones() > 0);
        match parts.as_slice() {
            ["move"] => {}
            ["removed"] if self.removes_before_moves() => position.removed_this_turn = true,
            ["removed"] => faults.push("no removal precedes a move under these rules".to_owned()),
            ["place", left] => match left.parse::<u8>() {
                Ok(left) if left > 0 && left <= position.hand(position.to_act).stones() => {
                    position.phase = Phase::Placement;
                    position.group_left = left;
                }
                Ok(_) => faults.push(
                    "a placement turn needs at least one stone left, and no more than the player has in hand"
                        .to_owned(),
                ),
                Err(_) => faults.push(bad()),
            },
            ["go", square, made] => match (self.parse_square(square), made.parse()) {
                (Some(_), Ok(moves_made)) if !self.may_go_on_after(moves_made) => {
                    faults.push("no piece may go on so often under these rules".to_owned());
                }
                (Some(square), Ok(moves_made)) => {
                    if position.stones(position.to_act).contains(square) {
                        position.continuation = Some(Continuation { square, moves_made });
                    } else {
                        let square = self.square_text(square);
                        faults.push(no_such_piece(&square, "the one to go on"));
                    }
                }
                (None, _) => faults.push(self.not_a_square(square)),
                _ => faults.push(bad()),
            },
            _ => faults.push(bad()),
        }
        if in_hand && position.phase == Phase::Movement && !text.starts_with("place") {
            faults.push("stones in hand, but the phase is not placement".to_owned());
        }
    }

    /// Reads bound squares and what holds them; `None` where the text leaves it to the board.
    fn read_bound(&self, text: &str, position: &Position, faults: &mut Vec<String>) -> Option<(SquareSet, Holds)> {
        if text == "-" {
            return None;
        }
        let (mut bound, mut holds) = (SquareSet::EMPTY, Holds::default());
        for entry in text.split(',') {
            let name = entry.trim_end_matches(HOLD_MARKS);
            let Some(square) = self.parse_square(name) else {
                faults.push(self.not_a_square(name));
                continue;
            };
            for (mark, squares) in holds.by_mark_mut() {
                if entry[name.len()..].contains(mark) {
                    squares.insert(square);
                }
            }
            if position.piece_at(square).is_some() {
                bound.insert(square);
            } else {
                faults.push(no_such_piece(&self.square_text(square), "bound"));
            }
        }
        Some((bound, holds))
    }

    /// Takes over stored bound flags; where the board alone binds, they must say what it says, but for a dux that a move
    /// must have enclosed. Pieces without marks are held by whatever flanks them now.
    fn check_flags(&self, flags: Option<(SquareSet, Holds)>, position: &mut Position, faults: &mut Vec<String>) {
        let Some((bound, mut holds)) = flags else { return };
        if !self.stores_holds {
            let duces = match self.ruleset.dux.enclosure_trigger {
                Trigger::Active => self.enclosed_duces_to_bind(position),
                Trigger::Positional => SquareSet::EMPTY,
            };
            if bound & !duces != position.bound {
                faults.push("the bound squares are not those that the board binds".to_owned());
            }
            position.bound = bound;
            return;
        }
        let unmarked = bound & !holds.held();
        for player in Player::BOTH {
            let found = self.holds_now(position, player);
            for ((_, squares), (_, found)) in holds.by_mark_mut().into_iter().zip(found.by_mark()) {
                *squares |= found & unmarked;
            }
        }
        position.bound |= bound;
        position.holds = holds;
    }

    fn read_records(&self, text: &str, position: &mut Position, faults: &mut Vec<String>) {
        const EXPECTED: &str = "p1 or s1:a1-a2:3, comma separated";
        for record in text.split(',') {
            if record == "p1" || record == "p2" {
                position.passes = if record == "p1" { 1 } else { 2 };
                continue;
            }
            let parts: Vec<&str> = record.split(':').collect();
            let shuttle = match parts.as_slice() {
                [owner @ ("s1" | "s2"), squares, moves] => squares.split_once('-').and_then(|(from, to)| {
                    let (from, to) = (self.parse_square(from)?, self.parse_square(to)?);
                    let moves = moves.parse().ok().filter(|&moves| moves > 0)?;
                    Some((usize::from(*owner == "s2"), Shuttle { from, to, moves }))
                }),
                _ => None,
            };
            match shuttle {
                Some((owner, shuttle)) => position.shuttles[owner] = Some(shuttle),
                None => faults.push(bad_field("record", record, EXPECTED)),
            }
        }
    }
}

fn bad_field(field: &str, text: &str, expected: &str) -> String {
    format!("{text:?} is not a {field}: write {expected}")
}

fn no_such_piece(square: &str, role: &str) -> String {
    format!("{square} has no piece that could be {role}")
}

fn second_dux(player: Player) -> String {
    format!("{player} has more than one dux")
}

/// Most turns that a position may count: a game ends before (`end.max_plies`), so that the counters cannot overflow.
const TURNS_MAX: u16 = 60_000;

fn read_counter(field: &'static str, text: Option<&str>, faults: &mut Vec<String>) -> u16 {
    let text = text.unwrap_or("0");
    match text.parse() {
        Ok(turns) if turns <= TURNS_MAX => turns,
        _ => {
            faults.push(bad_field(field, text, "a whole number up to 60000"));
            0
        }
    }
}

fn read_hands(text: &str, position: &mut Position, faults: &mut Vec<String>) {
    const EXPECTED: &str = "M14D1m16d1, or - for empty hands";
    if text == "-" {
        return;
    }
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let digits = &rest[letter.len_utf8()..];
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        match (Piece::from_letter(letter), digits[..end].parse::<u8>()) {
            (Some((Piece::Man, owner)), Ok(count)) if count < 128 => position.hands[owner.index()].men = count,
            (Some((Piece::Dux, owner)), Ok(count)) if count <= 1 => position.hands[owner.index()].dux = count,
            _ => {
                faults.push(bad_field("list of stones in hand", text, EXPECTED));
                return;
            }
        }
        rest = &digits[end..];
    }
}

impl GameState {
    /// Begins a game at a position as every command takes it: `initial`, a list of pieces ([`Rules::parse_pieces`]), in which
    /// `to_act` is to act, or the line of a position ([`Rules::parse_position`]).
    ///
    /// # Errors
    /// [`PositionError`] with every fault.
    pub fn parse(rules: &Arc<Rules>, text: &str, to_act: Player) -> Result<GameState, PositionError> {
        if text == "initial" {
            return Ok(GameState::new(Arc::clone(rules)));
        }
        let is_list = text.contains(':') && !text.contains('/');
        let position = if is_list { rules.parse_pieces(text, to_act)? } else { rules.parse_position(text)? };
        Ok(GameState::from_position(Arc::clone(rules), position))
    }

    /// Returns the text of a legal action.
    #[must_use]
    pub fn action_text(&self, action: Action) -> String {
        self.rules().action_text(self.position(), action)
    }

    /// Reads the text of an action that is legal now.
    /// Fails with [`ActionError`] that says whether the text is no action at all, names a square off the board, or is not legal
    /// here, and why.
    pub fn parse_action(&self, text: &str) -> Result<Action, ActionError> {
        let mut actions = Vec::new();
        self.legal_actions(&mut actions);
        self.parse_action_among(&actions, text)
    }

    /// Reads an action as [`GameState::parse_action`] does, where `legal` are the legal actions of this state.
    pub(crate) fn parse_action_among(&self, legal: &[Action], text: &str) -> Result<Action, ActionError> {
        // Most texts name their action without a look at the others.
        if let Some(action) = self.rules().read_plain_action(text)
            && legal.contains(&action)
        {
            return Ok(action);
        }
        let texts: Vec<String> = legal.iter().map(|&action| self.action_text(action)).collect();
        if let Some(index) = texts.iter().position(|known| known == text) {
            return Ok(legal[index]);
        }
        self.check_form(text)?;
        let hint = if self.outcome().is_some() {
            ": the game is over".to_owned()
        } else {
            did_you_mean(text, texts.iter().map(String::as_str))
        };
        Err(ActionError::NotLegal { text: text.to_owned(), hint })
    }

    /// Checks that `text` has the form of an action on this board.
    fn check_form(&self, text: &str) -> Result<(), ActionError> {
        if text == "stop" || text == "pass" {
            return Ok(());
        }
        let squares: Vec<&str> = if let Some(at) = text.strip_prefix("D@").or_else(|| text.strip_prefix('@')) {
            vec![at]
        } else if let Some(removed) = text.strip_prefix('x') {
            removed.split('+').collect()
        } else if let Some((from, rest)) = text.split_once('-') {
            std::iter::once(from).chain(rest.split('x')).collect()
        } else {
            return Err(ActionError::NotAnAction(text.to_owned()));
        };
        for square in squares {
            let form = square.starts_with(|c: char| c.is_ascii_lowercase())
                && square.len() > 1
                && square[1..].bytes().all(|byte| byte.is_ascii_digit());
            if !form {
                return Err(ActionError::NotAnAction(text.to_owned()));
            }
            if self.rules().parse_square(square).is_none() {
                let last = self.rules().last_square_text();
                return Err(ActionError::NotASquare { text: square.to_owned(), last });
            }
        }
        Ok(())
    }

    /// Draws the board with coordinates, the player to act, and bound pieces in brackets.
    #[must_use]
    pub fn drawing(&self) -> String {
        self.rules().drawing(self.position())
    }
}

impl Rules {
    /// Draws the board with coordinates; bound pieces stand in brackets.
    #[must_use]
    pub fn drawing(&self, position: &Position) -> String {
        let width = self.ranks().to_string().len();
        let files: String = (0..self.files()).map(|file| format!(" {} ", char::from(b'a' + file as u8))).collect();
        let mut drawing = String::new();
        for rank in (0..self.ranks()).rev() {
            drawing.push_str(&format!("{:>width$} ", rank + 1));
            for file in 0..self.files() {
                let square = Square::from_index(rank * self.files() + file);
                let letter = position.piece_at(square).map_or('.', |(piece, owner)| piece.letter(owner));
                if position.bound.contains(square) {
                    drawing.push_str(&format!("({letter})"));
                } else {
                    drawing.push_str(&format!(" {letter} "));
                }
            }
            drawing.truncate(drawing.trim_end().len());
            drawing.push('\n');
        }
        drawing.push_str(&format!("{:>width$} {}\n", "", files.trim_end()));
        drawing
    }
}
