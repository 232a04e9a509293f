//! The rulebook as a program: slow, plain, and written from the rules alone.
//!
//! # Decided readings
//!
//! Where the rules leave a reading open. *Recorded*: a recorded game or case has only this reading. *Words*: the letter
//! of the rules, nothing recorded tells. *Open*: neither decides; the simplest reading is taken.
//!
//! ## Movement
//!
//! - `forward_sideways` with eight directions: all three backward directions are lost, the two forward diagonals stay
//!   (recorded).
//! - The square a piece leaves is empty during its chain: it is not jumped over (recorded), and a chain may pass
//!   through it but not end on it (words). In a `maximal` chain it counts as visited from the
//!   start, so it never obliges a piece to jump back (recorded: else a single jump would never be legal).
//! - `maximal`: a square is a legal end if some chain that visits no landing twice arrives there and every jump from
//!   there leads to a visited square. Steps and slides beside the chain stay legal (recorded).
//! - `chain_slides`: every link of an optional chain may be a jump or a step or slide, the first one too, and a chain
//!   need not contain a jump (open). In a `maximal` chain the links are jumps only, since hardly any chain of slides
//!   would ever be complete (open). Without a chain (`none`) it means nothing.
//! - Displacement: a step, a slide, a single jump and the last link of a chain may all end on a bound enemy piece, a
//!   bound dux included; the chain ends there (recorded). In a `maximal` chain such a landing is as compulsory as an
//!   empty one (open). A run that may be jumped is always the whole run, so that a piece in its midst cannot be landed
//!   on (open).
//! - A jump needs at least one piece to jump; with `jump_run = any` every piece of the run must be jumpable (words).
//!
//! ## Capture
//!
//! - `per_move = one`: with two or more victims there is one action for each victim (`d2-d3xe3`) and none without; with
//!   one victim the action has no victim in its text (recorded). With rows each piece of a row is a victim of its own
//!   (open).
//! - `immediate` with `positional`: every enemy piece that is flanked anywhere after the move is a victim, whether or
//!   not the moved piece flanks it; pieces of the mover are not. A piece that walks in between two enemies falls on
//!   the next enemy move if it is still flanked (open: step 5 judges only the elimination of the opponent).
//! - Corner captures and `man_by_enclosure` need flankers on all neighbours: an unarmed dux does not help to take a man
//!   (recorded). The enclosure of a dux counts any enemy piece, an unarmed dux included (open).
//! - A dux that is captured `as_man` is a man in rows, corners and enclosures (words). `man_by_enclosure` always takes
//!   the sides there are, whatever `dux.enclosure_sides` says (words).
//! - `free_flankers` restricts removals only: not binding (recorded) and not displacement (open). Every holder of one
//!   and the same hold must be free (recorded for lines; open for the neighbours of an enclosed man).
//! - Flags of `active` binding belong to the hold that the move completed: its held pieces and its two flankers (or all
//!   neighbours). A piece that is also flanked on another line, where it walked in, goes free when a flanker of the
//!   completed hold leaves (recorded). A row is held while it is whole: when a piece of it is removed or displaced, or a
//!   dux that it spares leaves, the others are no longer flanked by an uninterrupted run and go free (recorded for a
//!   removal). Scope `line` and `free_flankers` look at these holds only (open).
//! - `effective`: a new hold needs flankers that are free before the move; then holds whose flanker the move has bound
//!   are dropped, and do not come back (recorded), whether a line or an enclosure binds the flanker (words). It does nothing under `positional` (words). Where a move must enclose
//!   a dux to bind it (`displacement`), the rules do not say when it goes free, and the engine refuses to play.
//! - Displacement binds a dux with `dux.capture = enclosure` by `dux.enclosure_trigger`, not by `capture.trigger`
//!   (words). It is released when it is no longer enclosed. Enclosure takes no dux there, not even at the end of a turn
//!   (recorded for `active`).
//! - Removal: texts name the squares in bytewise order (open: no record has squares whose order by rank differs).
//! - `precedes_move`: one removal a turn. The move after it is compulsory; where there is none the turn ends by itself,
//!   without `pass` (open). Taking the last piece ends the turn at once (as BELL-15).
//!
//! ## Continuation
//!
//! - `extra.moves = step` is the step *or slide* of the piece, in its own directions, without jumps: a piece with range
//!   `slide` slides, one that steps `forward_sideways` does not go back (recorded). With eight directions it may go
//!   diagonally too (open).
//! - A displacement grants no continuation (recorded): the sources grant it to a piece that has captured by flanking.
//! - A capture that eliminates the opponent grants no continuation (recorded). An enemy dux enclosed and removed counts
//!   as a capture of the move under the `active` trigger (open); removed at the end of the turn it only resets the
//!   counters, since no continuation can follow.
//! - `mandatory` and `must_capture`: a move captures if it takes a piece or wins by enclosing the dux (open).
//! - Without a legal continuation the turn ends by itself; `stop` is never the only action (recorded).
//! - Repetition rules restrict no continuation, and no move after a removal: something was captured already.
//!
//! ## End
//!
//! - Placement turns count towards the ply cap (words) but not towards the quiet limit (recorded). The position after
//!   the last placement is the first of the history. A game that begins from a position has that position in its
//!   history (recorded) and no turn, shuttle or pass behind it.
//! - Nothing is captured, enclosed or eliminated by placement turns; after the last one a side without a legal action is
//!   judged as ever (words). A side whose stones are all down waits while the other still has stones (open).
//! - `dux_time = any`: a placement turn has as many stones as `placement.group`, the dux among them (words).
//! - `superko` and `threefold_forbidden` compare the board *after* a move with the bound flags *before* it, while the
//!   history has the flags of the finished turn. So a move that binds or frees a piece may repeat a position (recorded
//!   twice, against the letter of the rules). Under `positional` there are no flags. Only moves are restricted; `pass`
//!   is offered when they leave nothing.
//! - `shuttle3` looks at squares only; the seventh move is exempt if it takes a piece or wins by enclosing the dux at
//!   once (words).
//! - Two passes in a row score as `quiet_result` says, reason "blockade" (words). The reasons are: dux captured, dux
//!   enclosed, eliminated, blockade, repetition, ply cap, no legal move ("repetition" and "ply cap" are not recorded).
//! - `eliminate = off` makes `eliminate_at` void (open). Only the opponent of the mover can be eliminated (words).
//! - Enclosure `positional` with `win_dux = false`: enclosed duces of the opponent are removed first, then those of the
//!   mover on the board that is left (open); both count as captures.
//! - `win_dux` with a dux that is flanked, removed or displaced: "dux captured", at once, before anything of the end of
//!   the turn. A dux enclosed under the `active` trigger: "dux enclosed", equally at once.
//! - `enclosure_escape`: a single jump to an empty square (words); under displacement it also keeps the dux unbound.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod board;
mod parameters;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

pub(crate) use board::Square;
use board::{Board, Direction, Piece, directions, other};
use parameters::Parameters;

/// One atomic decision inside a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    Place { dux: bool, at: Square },
    Move { from: Square, to: Square, victim: Option<Square> },
    Remove(Vec<Square>),
    Stop,
    Pass,
}

impl Action {
    fn text(&self) -> String {
        match self {
            Action::Place { dux: false, at } => format!("@{}", at.text()),
            Action::Place { dux: true, at } => format!("D@{}", at.text()),
            Action::Move { from, to, victim: None } => format!("{}-{}", from.text(), to.text()),
            Action::Move { from, to, victim: Some(victim) } => {
                format!("{}-{}x{}", from.text(), to.text(), victim.text())
            }
            Action::Remove(squares) => format!("x{}", square_texts(squares).join("+")),
            Action::Stop => "stop".to_owned(),
            Action::Pass => "pass".to_owned(),
        }
    }
}

/// Pieces held together by the pieces that hold them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hold {
    /// Whose pieces are held.
    owner: u8,
    /// All that stands between the holders: what is held, and a dux that a row spares.
    between: Vec<Square>,
    held: Vec<Square>,
    holders: Vec<Square>,
}

/// What position repetition compares: board, side to move and bound pieces.
type Position = (Board, u8, BTreeSet<Square>);

/// The last quiet turn of a player in the Dutch to-and-fro rule.
#[derive(Clone, Copy, Debug)]
struct Shuttle {
    from: Square,
    to: Square,
    count: usize,
}

/// The piece that may go on, and how often it has gone on this turn.
#[derive(Clone, Copy, Debug)]
struct Continuation {
    at: Square,
    moves_made: usize,
}

/// What has happened in the turn so far.
#[derive(Clone, Debug, Default)]
struct Turn {
    captured: bool,
    removed: bool,
    passed: bool,
    moved: Option<(Square, Square)>,
}

/// A game in progress.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    rules: Parameters,
    board: Board,
    to_act: u8,
    placing: bool,
    /// Men in hand, players 1 and 2.
    men_in_hand: [usize; 2],
    dux_in_hand: [usize; 2],
    /// Stones still to be placed in this placement turn.
    left_in_group: usize,
    continuation: Option<Continuation>,
    /// The holds that an enemy move completed; what position alone binds is not in here.
    holds_by_move: Vec<Hold>,
    turn: Turn,
    last_turn_was_pass: bool,
    quiet_turns: usize,
    turns: usize,
    /// Positions between turns since the last capture.
    history: Vec<Position>,
    shuttle: [Option<Shuttle>; 2],
    captured_by_last: BTreeSet<Square>,
    result: Option<(u8, String)>,
}

// ---------------------------------------------------------------------------------------------
// Beginning, asking
// ---------------------------------------------------------------------------------------------

impl Reference {
    /// The start of a game.
    pub(crate) fn new(parameters: &Map<String, Value>) -> Self {
        let rules = Parameters::new(parameters);
        let board = match &rules.array {
            Some(array) if !rules.placement => Board::from_array(rules.files, rules.ranks, array),
            _ => Board::empty(rules.files, rules.ranks),
        };
        let (men, dux) = if rules.placement { (rules.men_in_hand, rules.dux_in_hand) } else { (0, 0) };
        let mut game = Self {
            to_act: rules.first_player,
            board,
            placing: men + dux > 0,
            men_in_hand: [men; 2],
            dux_in_hand: [dux; 2],
            left_in_group: 0,
            continuation: None,
            holds_by_move: Vec::new(),
            turn: Turn::default(),
            last_turn_was_pass: false,
            quiet_turns: 0,
            turns: 0,
            history: Vec::new(),
            shuttle: [None; 2],
            captured_by_last: BTreeSet::new(),
            result: None,
            rules,
        };
        if game.placing {
            game.begin_placement_turn(game.rules.opening_group);
        } else {
            game.history.push(game.position());
        }
        game
    }

    /// The player to act.
    pub(crate) fn to_act(&self) -> u8 {
        self.to_act
    }

    /// The winner, 0 for a draw, and the reason; nothing while the game goes on.
    pub(crate) fn result(&self) -> Option<(u8, String)> {
        self.result.clone()
    }

    /// All bound squares, as texts in order.
    pub(crate) fn bound(&self) -> Vec<String> {
        square_texts(&self.bound_squares())
    }

    /// The texts of all legal actions, in bytewise order.
    pub(crate) fn legal(&self) -> Vec<String> {
        let mut texts: Vec<String> = self.actions().iter().map(Action::text).collect();
        texts.sort();
        texts.dedup();
        texts
    }

    /// Plays a legal action.
    pub(crate) fn play(&mut self, text: &str) {
        let action = self.actions().into_iter().find(|action| action.text() == text);
        let action = action.unwrap_or_else(|| panic!("{text} is not legal"));
        self.captured_by_last.clear();
        match action {
            Action::Place { dux, at } => self.place(dux, at),
            Action::Move { from, to, victim } => self.play_move(from, to, victim),
            Action::Remove(squares) => self.play_removal(&squares),
            Action::Stop => self.end_turn(),
            Action::Pass => {
                self.turn.passed = true;
                self.end_turn();
            }
        }
    }
}

/// The texts of squares, in bytewise order.
fn square_texts<'a>(squares: impl IntoIterator<Item = &'a Square>) -> Vec<String> {
    let mut texts: Vec<String> = squares.into_iter().map(|square| square.text()).collect();
    texts.sort();
    texts
}

fn index(player: u8) -> usize {
    usize::from(player) - 1
}

// ---------------------------------------------------------------------------------------------
// Legal actions
// ---------------------------------------------------------------------------------------------

impl Reference {
    /// Everything the player to act may do.
    fn actions(&self) -> Vec<Action> {
        if self.result.is_some() {
            return Vec::new();
        }
        if let Some(continuation) = self.continuation {
            return self.continuation_actions(continuation.at);
        }
        let actions = self.actions_without_pass();
        if actions.is_empty() && self.rules.no_move == "pass" {
            return vec![Action::Pass];
        }
        actions
    }

    /// What the player to act may do at the start of a turn, or after a removal that precedes
    /// the move.
    fn actions_without_pass(&self) -> Vec<Action> {
        if self.placing {
            return self.placements();
        }
        let mut actions = self.moves();
        actions.retain(|action| !self.repetition_forbids(action));
        if self.rules.timing == "delayed" && !self.turn.removed {
            actions.extend(self.removals());
        }
        actions
    }

    fn placements(&self) -> Vec<Action> {
        let men = self.men_in_hand[index(self.to_act)] > 0;
        let dux = self.dux_in_hand[index(self.to_act)] > 0;
        let mut actions = Vec::new();
        for at in self.board.squares().filter(|&square| self.board.at(square).is_none()) {
            if men {
                actions.push(Action::Place { dux: false, at });
            }
            if dux && (self.rules.dux_any_time || !men) {
                actions.push(Action::Place { dux: true, at });
            }
        }
        actions
    }

    /// All moves of all pieces of the player to act.
    fn moves(&self) -> Vec<Action> {
        let bound = self.bound_squares();
        let mut actions = Vec::new();
        for from in self.board.pieces_of(self.to_act) {
            if !bound.contains(&from) {
                for to in self.destinations(from, &bound) {
                    actions.extend(self.moves_with_victims(from, to));
                }
            }
        }
        actions
    }

    /// One move, or one for each victim where the mover must choose.
    fn moves_with_victims(&self, from: Square, to: Square) -> Vec<Action> {
        if self.rules.timing == "immediate" && self.rules.one_capture_per_move {
            let victims = self.after_moving(from, to).victims(to);
            if victims.len() > 1 {
                let with_victim = |&victim| Action::Move { from, to, victim: Some(victim) };
                return victims.iter().map(with_victim).collect();
            }
        }
        vec![Action::Move { from, to, victim: None }]
    }

    /// What the piece that has just captured may do.
    fn continuation_actions(&self, at: Square) -> Vec<Action> {
        let bound = self.bound_squares();
        if bound.contains(&at) {
            return Vec::new();
        }
        let destinations = if self.rules.extra_is_step {
            self.steps(self.board.at(at).unwrap(), at, at, &bound).into_iter().collect()
        } else {
            self.destinations(at, &bound)
        };
        let mut actions: Vec<Action> = Vec::new();
        for to in destinations {
            actions.extend(self.moves_with_victims(at, to));
        }
        let capturing: Vec<Action> = actions.iter().filter(|action| self.captures(action)).cloned().collect();
        match self.rules.extra.as_str() {
            "must_capture" => return capturing,
            "mandatory" if !capturing.is_empty() => return capturing,
            _ => {}
        }
        if !actions.is_empty() {
            actions.push(Action::Stop);
        }
        actions
    }

    /// Removals of bound enemy pieces.
    fn removals(&self) -> Vec<Action> {
        let enemy = other(self.to_act);
        let bound = self.bound_squares();
        let mut lines: BTreeSet<Vec<Square>> = BTreeSet::new();
        for hold in self.binding_holds(enemy) {
            let holders_free = hold.holders.iter().all(|holder| !bound.contains(holder));
            if holders_free || !self.rules.free_flankers {
                lines.insert(hold.held);
            }
        }
        let removable: BTreeSet<Square> = lines.iter().flatten().copied().collect();
        if removable.is_empty() {
            return Vec::new();
        }
        match self.rules.removal_scope.as_str() {
            "all" => vec![Action::Remove(removable.into_iter().collect())],
            "line" => lines.into_iter().map(Action::Remove).collect(),
            _ => removable.into_iter().map(|square| Action::Remove(vec![square])).collect(),
        }
    }

    /// Whether an action is a move that takes something, or wins by enclosing the dux.
    fn captures(&self, action: &Action) -> bool {
        let Action::Move { from, to, victim } = *action else { return false };
        let mut after = self.clone();
        after.turn = Turn::default();
        after.make_move(from, to, victim);
        after.turn.captured || after.result.is_some()
    }

    /// Whether a move at the start of a turn is illegal by a rule of repetition.
    fn repetition_forbids(&self, action: &Action) -> bool {
        let Action::Move { from, to, victim } = *action else { return false };
        if self.turn.captured {
            return false;
        }
        let allowed = match self.rules.repetition.as_str() {
            "shuttle3" => {
                let again = |last: Shuttle| (last.from, last.to) == (to, from) && last.count >= 6;
                return self.shuttle[index(self.to_act)].is_some_and(again) && !self.captures(action);
            }
            "superko" => 1,
            "threefold_forbidden" => 2,
            _ => return false,
        };
        let mut after = self.clone();
        after.make_move(from, to, victim);
        if after.result.is_none() {
            after.judge_enclosure_by_position();
        }
        if after.result.is_some() || after.turn.captured {
            return false;
        }
        after.to_act = other(self.to_act);
        after.holds_by_move.clone_from(&self.holds_by_move);
        let position = after.position();
        self.history.iter().filter(|&earlier| *earlier == position).count() >= allowed
    }
}

// ---------------------------------------------------------------------------------------------
// Movement
// ---------------------------------------------------------------------------------------------

impl Reference {
    /// Where the full move of a piece may end: a step or slide, a jump or a chain of jumps.
    fn destinations(&self, from: Square, bound: &BTreeSet<Square>) -> BTreeSet<Square> {
        let piece = self.board.at(from).unwrap();
        let movement = self.rules.movement(piece.dux);
        let mut destinations: BTreeSet<Square> = self.steps(piece, from, from, bound).into_iter().collect();
        match movement.chain.as_str() {
            "none" => destinations.extend(self.jumps(piece, from, from, bound)),
            "optional" => {
                let mut landings = BTreeSet::new();
                self.optional_chain(piece, from, from, bound, &mut landings);
                destinations.extend(landings);
            }
            _ => {
                self.maximal_chain(piece, from, from, bound, &mut Vec::new(), &mut destinations);
            }
        }
        destinations.remove(&from);
        destinations
    }

    /// Whether a move may end on a square: it is empty, or left by the moving piece, or holds a
    /// bound enemy that may be displaced.
    fn may_land_on(&self, square: Square, start: Square, bound: &BTreeSet<Square>) -> bool {
        match self.board.at(square) {
            None => true,
            Some(_) if square == start => true,
            Some(piece) => {
                self.rules.timing == "displacement" && piece.player != self.to_act && bound.contains(&square)
            }
        }
    }

    /// Whether a square is empty for the piece that moves from `start`.
    fn is_empty(&self, square: Square, start: Square) -> bool {
        square == start || self.board.at(square).is_none()
    }

    fn step_directions(&self, piece: Piece) -> Vec<Direction> {
        let forward = if piece.player == 1 { 1 } else { -1 };
        let mut steps = directions(self.rules.move_diagonally);
        match self.rules.movement(piece.dux).step.as_str() {
            "all" => {}
            "forward_sideways" => steps.retain(|&(_, rank)| rank != -forward),
            _ => steps.clear(),
        }
        steps
    }

    /// Steps and slides of a piece that stands at `at` and began its move at `start`.
    fn steps(&self, piece: Piece, at: Square, start: Square, bound: &BTreeSet<Square>) -> Vec<Square> {
        let slides = self.rules.movement(piece.dux).slides;
        let mut reached = Vec::new();
        for direction in self.step_directions(piece) {
            let mut next = self.board.next(at, direction);
            while let Some(square) = next {
                if self.may_land_on(square, start, bound) {
                    reached.push(square);
                }
                if !slides || !self.is_empty(square, start) {
                    break;
                }
                next = self.board.next(square, direction);
            }
        }
        reached
    }

    /// Single jumps of a piece that stands at `at` and began its move at `start`.
    fn jumps(&self, piece: Piece, at: Square, start: Square, bound: &BTreeSet<Square>) -> Vec<Square> {
        let runs = self.rules.movement(piece.dux).jumps_runs;
        let mut landings = Vec::new();
        for direction in directions(self.rules.move_diagonally) {
            let mut jumped = 0;
            let mut next = self.board.next(at, direction);
            while let Some(square) = next {
                let longer = jumped == 0 || runs;
                if !longer || !self.may_be_jumped(piece, square, start) {
                    break;
                }
                jumped += 1;
                next = self.board.next(square, direction);
            }
            if let Some(landing) = next
                && jumped > 0
                && self.may_land_on(landing, start, bound)
            {
                landings.push(landing);
            }
        }
        landings
    }

    fn may_be_jumped(&self, jumper: Piece, square: Square, start: Square) -> bool {
        if self.is_empty(square, start) {
            return false;
        }
        let jumped = self.board.at(square).unwrap();
        let movement = self.rules.movement(jumper.dux);
        let colour_allowed = if jumped.player == jumper.player { movement.jumps_own } else { movement.jumps_enemy };
        colour_allowed && (self.rules.jump_over_dux || !jumped.dux)
    }

    /// The links of a chain: jumps, and for some duces steps and slides too.
    fn links(&self, piece: Piece, at: Square, start: Square, bound: &BTreeSet<Square>) -> Vec<Square> {
        let mut links = self.jumps(piece, at, start, bound);
        if piece.dux && self.rules.chain_slides {
            links.extend(self.steps(piece, at, start, bound));
        }
        links
    }

    /// Collects every landing of a chain of as many jumps as liked.
    fn optional_chain(
        &self,
        piece: Piece,
        at: Square,
        start: Square,
        bound: &BTreeSet<Square>,
        landings: &mut BTreeSet<Square>,
    ) {
        for landing in self.links(piece, at, start, bound) {
            if landings.insert(landing) && self.is_empty(landing, start) {
                self.optional_chain(piece, landing, start, bound, landings);
            }
        }
    }

    /// Collects the ends of the chains that go on while an unvisited landing is reachable.
    fn maximal_chain(
        &self,
        piece: Piece,
        at: Square,
        start: Square,
        bound: &BTreeSet<Square>,
        visited: &mut Vec<Square>,
        ends: &mut BTreeSet<Square>,
    ) {
        visited.push(at);
        let mut onward = Vec::new();
        if self.is_empty(at, start) {
            onward = self.jumps(piece, at, start, bound);
            onward.retain(|landing| !visited.contains(landing));
        }
        if onward.is_empty() {
            ends.insert(at);
        }
        for landing in onward {
            self.maximal_chain(piece, landing, start, bound, visited, ends);
        }
        visited.pop();
    }
}

// ---------------------------------------------------------------------------------------------
// Flanking, binding, enclosure
// ---------------------------------------------------------------------------------------------

impl Reference {
    /// Whether a piece is taken like a man.
    fn taken_as_man(&self, piece: Piece) -> bool {
        !piece.dux || self.rules.dux_capture == "as_man"
    }

    /// Whether a player has a flanker on a square.
    fn is_flanker(&self, square: Square, player: u8) -> bool {
        self.board.at(square).is_some_and(|piece| piece.player == player && (!piece.dux || self.rules.dux_armed))
    }

    /// Every way in which pieces of a player are flanked on the board: between two flankers, in
    /// a corner, or by enemies on all sides.
    fn holds(&self, player: u8) -> Vec<Hold> {
        let mut holds = Vec::new();
        let lines: &[Direction] =
            if self.rules.capture_diagonally { &[(1, 0), (0, 1), (1, 1), (-1, 1)] } else { &[(1, 0), (0, 1)] };
        for square in self.board.squares() {
            for &direction in lines {
                holds.extend(self.line_hold(player, square, direction));
            }
            holds.extend(self.corner_hold(player, square));
            holds.extend(self.enclosure_hold(player, square));
        }
        holds
    }

    /// The run of a player's pieces that begins behind the flanker on `first`, if another
    /// flanker ends it.
    fn line_hold(&self, player: u8, first: Square, direction: Direction) -> Option<Hold> {
        if !self.is_flanker(first, other(player)) {
            return None;
        }
        let mut run = Vec::new();
        let mut square = self.board.next(first, direction)?;
        while self.board.at(square)?.player == player {
            run.push(square);
            square = self.board.next(square, direction)?;
        }
        if !self.is_flanker(square, other(player)) {
            return None;
        }
        if run.len() > 1 && !self.rules.capture_rows {
            return None;
        }
        let mut held = run.clone();
        held.retain(|&held| self.taken_as_man(self.board.at(held).unwrap()));
        if held.is_empty() || (held.len() < run.len() && !self.rules.dux_spared_in_row) {
            return None;
        }
        Some(Hold { owner: player, between: run, held, holders: vec![first, square] })
    }

    /// A man in a corner, with flankers on its two neighbours.
    fn corner_hold(&self, player: u8, square: Square) -> Option<Hold> {
        let sides = self.board.sides(square);
        let held = self.board.at(square)?;
        let caught = self.rules.corner
            && sides.len() == 2
            && held.player == player
            && self.taken_as_man(held)
            && sides.iter().all(|&side| self.is_flanker(side, other(player)));
        caught.then(|| Hold { owner: player, between: vec![square], held: vec![square], holders: sides })
    }

    /// A man with flankers on all its available sides.
    fn enclosure_hold(&self, player: u8, square: Square) -> Option<Hold> {
        let sides = self.board.sides(square);
        let held = self.board.at(square)?;
        let caught = self.rules.man_by_enclosure
            && held.player == player
            && self.taken_as_man(held)
            && sides.iter().all(|&side| self.is_flanker(side, other(player)));
        caught.then(|| Hold { owner: player, between: vec![square], held: vec![square], holders: sides })
    }

    /// The enemy pieces that a move to `to` flanks: with the active trigger the piece on `to`
    /// must be one of the holders.
    fn victims(&self, to: Square) -> BTreeSet<Square> {
        let mut victims = BTreeSet::new();
        for hold in self.holds(other(self.to_act)) {
            if !self.rules.capture_active || hold.holders.contains(&to) {
                victims.extend(hold.held);
            }
        }
        victims
    }

    /// Whether the dux on a square is enclosed.
    fn is_enclosed(&self, square: Square) -> bool {
        let dux = self.board.at(square).unwrap();
        let sides = self.board.sides(square);
        if self.rules.four_sides && sides.len() < 4 {
            return false;
        }
        let closed = sides.iter().all(|&side| {
            self.board.at(side).is_some_and(|piece| self.rules.enclosed_by_any || piece.player != dux.player)
        });
        let escapes = self.rules.enclosure_escape && !self.jumps(dux, square, square, &BTreeSet::new()).is_empty();
        closed && !escapes
    }

    /// The enclosed duces of a player.
    fn enclosed_duces(&self, player: u8) -> Vec<Square> {
        let mut duces = self.board.pieces_of(player);
        duces.retain(|&square| self.board.at(square).unwrap().dux && self.is_enclosed(square));
        duces
    }

    /// The holds that bind pieces of a player: those an enemy move completed, or all there are.
    fn binding_holds(&self, player: u8) -> Vec<Hold> {
        if self.rules.timing == "immediate" {
            return Vec::new();
        }
        let mut holds = self.holds_by_move.clone();
        holds.retain(|hold| hold.owner == player);
        if !self.rules.capture_active {
            holds.extend(self.holds(player));
        }
        if self.dux_is_bound_by_enclosure() && !self.rules.enclosure_active {
            holds.extend(self.dux_holds(player));
        }
        holds
    }

    /// All bound pieces of both sides.
    fn bound_squares(&self) -> BTreeSet<Square> {
        let holds = [1, 2].into_iter().flat_map(|player| self.binding_holds(player));
        holds.flat_map(|hold| hold.held).collect()
    }

    /// Whether enclosure immobilises a dux instead of taking it.
    fn dux_is_bound_by_enclosure(&self) -> bool {
        self.rules.timing == "displacement" && self.rules.dux_capture == "enclosure"
    }

    /// The enclosed duces of a player as held by what stands beside them.
    fn dux_holds(&self, player: u8) -> Vec<Hold> {
        let hold = |dux: Square| {
            let (between, held) = (vec![dux], vec![dux]);
            Hold { owner: player, between, held, holders: self.board.sides(dux) }
        };
        self.enclosed_duces(player).into_iter().map(hold).collect()
    }

    /// Binds what a move to `moved_to` flanks and frees what is no longer held.
    fn update_bound(&mut self, moved_to: Option<Square>) {
        if self.rules.timing == "immediate" {
            return;
        }
        let enemy = other(self.to_act);
        let holds = std::mem::take(&mut self.holds_by_move);
        self.holds_by_move = holds.into_iter().filter(|hold| self.still_holds(hold)).collect();
        let only_free = self.rules.release_effective && self.rules.capture_active;
        let is_free = |hold: &Hold, bound: &BTreeSet<Square>| {
            !only_free || hold.holders.iter().all(|holder| !bound.contains(holder))
        };
        if let Some(to) = moved_to {
            let bound_before = self.bound_squares();
            let mut completed = if self.rules.capture_active { self.holds(enemy) } else { Vec::new() };
            if self.dux_is_bound_by_enclosure() && self.rules.enclosure_active {
                completed.extend(self.dux_holds(enemy));
            }
            completed.retain(|hold| {
                hold.holders.contains(&to) && is_free(hold, &bound_before) && !self.holds_by_move.contains(hold)
            });
            self.holds_by_move.extend(completed);
        }
        let bound_now = self.bound_squares();
        self.holds_by_move.retain(|hold| is_free(hold, &bound_now));
    }

    fn is_dux_hold(&self, hold: &Hold) -> bool {
        let is_dux = |&square: &Square| self.board.at(square).is_some_and(|piece| piece.dux);
        self.dux_is_bound_by_enclosure() && hold.held.iter().all(is_dux)
    }

    /// Whether a hold completed earlier still holds: all holders and all that is between them are there.
    fn still_holds(&self, hold: &Hold) -> bool {
        let is_of = |square: &Square, player| self.board.at(*square).is_some_and(|piece| piece.player == player);
        hold.between.iter().all(|square| is_of(square, hold.owner))
            && if self.is_dux_hold(hold) {
                self.is_enclosed(hold.held[0])
            } else {
                hold.holders.iter().all(|square| is_of(square, other(hold.owner)))
            }
    }
}

// ---------------------------------------------------------------------------------------------
// Playing
// ---------------------------------------------------------------------------------------------

impl Reference {
    fn begin_placement_turn(&mut self, group: usize) {
        let men = self.men_in_hand[index(self.to_act)];
        let dux = self.dux_in_hand[index(self.to_act)];
        self.left_in_group = if self.rules.dux_any_time {
            group.min(men + dux)
        } else if men > 0 {
            group.min(men)
        } else {
            1
        };
    }

    fn place(&mut self, dux: bool, at: Square) {
        let hand = if dux { &mut self.dux_in_hand } else { &mut self.men_in_hand };
        hand[index(self.to_act)] -= 1;
        self.board.set(at, Some(Piece { player: self.to_act, dux }));
        self.left_in_group -= 1;
        if self.left_in_group == 0 {
            self.end_placement_turn();
        }
    }

    fn end_placement_turn(&mut self) {
        self.turns += 1;
        let in_hand = |player: u8| self.men_in_hand[index(player)] + self.dux_in_hand[index(player)];
        let next = other(self.to_act);
        if in_hand(next) > 0 {
            self.to_act = next;
            self.begin_placement_turn(self.rules.group);
        } else if in_hand(self.to_act) > 0 {
            self.begin_placement_turn(self.rules.group);
        } else {
            self.to_act = next;
            self.placing = false;
            self.history.push(self.position());
        }
        self.judge_ply_cap();
        self.judge_no_legal_move();
    }

    fn play_removal(&mut self, squares: &[Square]) {
        for &square in squares {
            self.take(square);
        }
        self.update_bound(None);
        self.turn.removed = true;
        if self.result.is_some() {
            return;
        }
        let goes_on = self.rules.removal_precedes_move
            && !self.is_eliminated(other(self.to_act))
            && !self.actions_without_pass().is_empty();
        if !goes_on {
            self.end_turn();
        }
    }

    fn play_move(&mut self, from: Square, to: Square, victim: Option<Square>) {
        let moves_made = self.continuation.take().map_or(0, |continuation| continuation.moves_made + 1);
        let captured_before = std::mem::take(&mut self.turn.captured);
        self.turn.moved = Some((from, to));
        self.make_move(from, to, victim);
        let captured = self.turn.captured;
        self.turn.captured |= captured_before;
        if self.result.is_some() {
            return;
        }
        let granted = captured
            && self.rules.timing != "displacement"
            && self.rules.extra != "none"
            && self.rules.extra_limit.is_none_or(|limit| moves_made < limit)
            && !self.is_eliminated(other(self.to_act))
            && !self.continuation_actions(to).is_empty();
        if granted {
            self.continuation = Some(Continuation { at: to, moves_made });
        } else {
            self.end_turn();
        }
    }

    /// Moves a piece, captures what it captures and judges the enemy dux (steps 1 to 3).
    fn make_move(&mut self, from: Square, to: Square, victim: Option<Square>) {
        if self.board.at(to).is_some() {
            self.take(to);
        }
        *self = self.after_moving(from, to);
        if self.rules.timing == "immediate" {
            let victims = victim.map_or_else(|| self.victims(to), |victim| [victim].into());
            for victim in victims {
                self.take(victim);
            }
        }
        self.update_bound(Some(to));
        if self.result.is_none()
            && self.rules.enclosure_active
            && self.rules.dux_capture == "enclosure"
            && self.rules.timing != "displacement"
        {
            let enemy = other(self.to_act);
            let beside = self.board.sides(to);
            let mut duces = self.enclosed_duces(enemy);
            duces.retain(|dux| beside.contains(dux));
            self.take_enclosed(&duces);
            self.update_bound(None);
        }
    }

    /// The same game with one piece on another square and nothing else done.
    fn after_moving(&self, from: Square, to: Square) -> Self {
        let mut after = self.clone();
        after.board.set(to, self.board.at(from));
        after.board.set(from, None);
        after
    }

    /// Takes a piece off the board; a dux may decide the game.
    fn take(&mut self, square: Square) {
        let piece = self.board.at(square).unwrap();
        self.board.set(square, None);
        self.captured_by_last.insert(square);
        self.turn.captured = true;
        if piece.dux && self.rules.win_dux {
            self.finish(other(piece.player), "dux captured");
        }
    }

    /// Takes enclosed duces: a loss, or where the dux is not the objective just a removal.
    fn take_enclosed(&mut self, duces: &[Square]) {
        for &dux in duces {
            let owner = self.board.at(dux).unwrap().player;
            if self.rules.win_dux {
                self.finish(other(owner), "dux enclosed");
                return;
            }
            self.take(dux);
        }
    }

    /// Ends the turn (step 5). The first thing that applies decides.
    fn end_turn(&mut self) {
        let mover = self.to_act;
        self.continuation = None;
        self.judge_enclosure_by_position();
        if self.result.is_none() && self.is_eliminated(other(mover)) {
            self.finish(mover, "eliminated");
        }
        if self.result.is_some() {
            return;
        }
        let turn = std::mem::take(&mut self.turn);
        self.turns += 1;
        self.to_act = other(mover);
        if turn.captured {
            self.quiet_turns = 0;
            self.history.clear();
        } else {
            self.quiet_turns += 1;
        }
        self.history.push(self.position());
        self.shuttle[index(mover)] = match turn.moved {
            Some((from, to)) if !turn.captured => {
                let last = self.shuttle[index(mover)];
                let back = last.filter(|last| (last.from, last.to) == (to, from));
                Some(Shuttle { from, to, count: back.map_or(1, |last| last.count + 1) })
            }
            _ => None,
        };
        let both_passed = turn.passed && self.last_turn_was_pass;
        self.last_turn_was_pass = turn.passed;
        let quiet_limit = self.rules.quiet_limit;
        if both_passed || (quiet_limit > 0 && self.quiet_turns >= quiet_limit) {
            let winner = self.winner_by(&self.rules.quiet_result);
            self.finish(winner, "blockade");
            return;
        }
        if self.rules.repetition == "threefold_draw" {
            let now = self.position();
            if self.history.iter().filter(|&earlier| *earlier == now).count() >= 3 {
                self.finish(0, "repetition");
                return;
            }
        }
        self.judge_ply_cap();
        self.judge_no_legal_move();
    }

    /// Judges the duces of both sides by position: the opponent's first.
    fn judge_enclosure_by_position(&mut self) {
        if self.rules.enclosure_active || self.rules.dux_capture != "enclosure" || self.rules.timing == "displacement" {
            return;
        }
        for owner in [other(self.to_act), self.to_act] {
            let duces = self.enclosed_duces(owner);
            self.take_enclosed(&duces);
            self.update_bound(None);
            if self.result.is_some() {
                return;
            }
        }
    }

    fn judge_ply_cap(&mut self) {
        if self.result.is_none() && self.turns >= self.rules.max_plies {
            let winner = self.winner_by(&self.rules.max_plies_result);
            self.finish(winner, "ply cap");
        }
    }

    fn judge_no_legal_move(&mut self) {
        if self.result.is_some() || self.rules.no_move == "pass" {
            return;
        }
        if self.actions_without_pass().is_empty() {
            let winner = if self.rules.no_move == "loss" { other(self.to_act) } else { 0 };
            self.finish(winner, "no legal move");
        }
    }

    /// Men and duces of a player on the board.
    fn count(&self, player: u8) -> (usize, usize) {
        let pieces = self.board.pieces_of(player);
        let duces = pieces.iter().filter(|&&square| self.board.at(square).unwrap().dux).count();
        (pieces.len() - duces, duces)
    }

    fn is_eliminated(&self, player: u8) -> bool {
        let (men, duces) = self.count(player);
        match self.rules.eliminate.as_str() {
            "all_men" => men <= self.rules.eliminate_at,
            "all_pieces" => men + duces <= self.rules.eliminate_at,
            _ => false,
        }
    }

    /// The winner of a game that is stopped: nobody, or who has most pieces.
    fn winner_by(&self, scoring: &str) -> u8 {
        if scoring == "draw" {
            return 0;
        }
        let score = |player| {
            let (men, duces) = self.count(player);
            if self.rules.count_dux { men + duces } else { men }
        };
        match score(1).cmp(&score(2)) {
            std::cmp::Ordering::Greater => 1,
            std::cmp::Ordering::Less => 2,
            std::cmp::Ordering::Equal => 0,
        }
    }

    fn finish(&mut self, winner: u8, reason: &str) {
        if self.result.is_none() {
            self.result = Some((winner, reason.to_owned()));
        }
    }

    fn position(&self) -> Position {
        let bound = self.holds_by_move.iter().flat_map(|hold| hold.held.clone());
        (self.board.clone(), self.to_act, bound.collect())
    }
}
