//! Latrunculi as the searches see it: the [`Game`] trait for [`GameState`], and alpha-beta's judgement.

use latrunculi_engine::ruleset::{
    DuxCapture, EnclosureBy, EnclosureSides, JumpOver, Lines, PerMove, Range, Repetition, RowWithDux, Ruleset, Span,
    StepDirections, Timing,
};
use latrunculi_engine::{Action, ActionKind, GameState, Outcome, Phase, Player, Position, Rules, Square};

use crate::alphabeta::Heuristic;
use crate::game::Game;

impl Game for GameState {
    type Action = Action;

    #[inline]
    fn player_to_act(&self) -> Player {
        GameState::player_to_act(self)
    }

    #[inline]
    fn outcome(&self) -> Option<Outcome> {
        GameState::outcome(self)
    }

    #[inline]
    fn legal_actions(&self, actions: &mut Vec<Action>) {
        GameState::legal_actions(self, actions);
    }

    #[inline]
    fn play(&mut self, action: Action) {
        GameState::play(self, action);
    }

    #[inline]
    fn position_key(&self) -> u64 {
        self.position().key_with_holds()
    }

    fn full_key(&self) -> u64 {
        GameState::full_key(self)
    }

    #[inline]
    fn outcome_is_positional(&self) -> bool {
        GameState::outcome_is_positional(self)
    }

    /// Bounds from the counters alone: a position comes back after four turns at the earliest, and any
    /// capture clears the record.
    fn history_free_plies(&self) -> u32 {
        let position = self.position();
        let end = &self.rules().ruleset().end;
        // A second pass ends the game; the first one is not in the key.
        if position.passes() > 0 {
            return 0;
        }
        // Each limit is the number of actions after which the history first matters.
        let quiet = u32::from(position.quiet_turns());
        let cap = u32::from(end.max_plies).saturating_sub(u32::from(position.turns()));
        let blockade = match end.quiet_limit {
            0 => u32::MAX,
            limit => u32::from(limit).saturating_sub(quiet),
        };
        let repetition = match end.repetition {
            Repetition::None => u32::MAX,
            Repetition::ThreefoldDraw => 8u32.saturating_sub(quiet),
            // The move that would bring the position back is already illegal.
            Repetition::ThreefoldForbidden => 7u32.saturating_sub(quiet),
            Repetition::Superko => 3u32.saturating_sub(quiet),
            Repetition::Shuttle3 => {
                Player::BOTH.map(|player| shuttle_free_plies(position, player)).into_iter().fold(u32::MAX, u32::min)
            }
        };
        cap.min(blockade).min(repetition).saturating_sub(1)
    }
}

/// Returns the number of actions after which `player`'s run to and fro first limits his moves.
fn shuttle_free_plies(position: &Position, player: Player) -> u32 {
    /// Own turns there and back that are allowed (rules.md, N10).
    const MOVES_MAX: u32 = 6;
    let moves = position.shuttle(player).map_or(0, |shuttle| u32::from(shuttle.moves));
    2 * MOVES_MAX.saturating_sub(moves) + u32::from(position.player_to_act() != player)
}

/// What the parts of a position are worth, in hundredths of a man.
///
/// Set by hand for each kind of ruleset ([`Weights::for_ruleset`]), not fitted; the pieces at risk matter by
/// far the most where stones are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// A man, on the board or in hand.
    pub man: i32,
    /// A dux, where losing it does not lose the game.
    pub dux: i32,
    /// The share of the lead in all pieces: whoever is ahead profits from exchanges.
    pub lead: i32,
    /// An empty square to which a piece could step.
    pub liberty: i32,
    /// A piece without any.
    pub immobile: i32,
    /// A piece that the enemy could flank with his next move.
    pub at_risk: i32,
    /// The same for a dux that is taken like a man.
    pub dux_at_risk: i32,
    /// A dux by the number of sides that are still open: 0, 1, 2, 3, more.
    pub dux_open_sides: [i32; 5],
    /// A bound man, where flanking binds.
    pub bound: i32,
    /// A bound dux.
    pub dux_bound: i32,
    /// A step away from the middle of the board.
    pub outward: i32,
}

impl Weights {
    /// Returns the weights for a ruleset.
    #[must_use]
    pub fn for_ruleset(ruleset: &Ruleset) -> Weights {
        let dux_decides = ruleset.end.win_dux && ruleset.dux.capture != DuxCapture::Never;
        let slides = ruleset.man.range == Range::Slide;
        Weights {
            man: 100,
            dux: if dux_decides { 0 } else { 140 },
            lead: 400,
            liberty: if slides { 1 } else { 2 },
            immobile: -6,
            at_risk: -35,
            dux_at_risk: if dux_decides { -150 } else { -50 },
            dux_open_sides: if dux_decides { [-300, -110, -35, -8, 0] } else { [-80, -40, -14, -3, 0] },
            bound: if ruleset.capture.timing == Timing::Immediate { 0 } else { -45 },
            dux_bound: if dux_decides { -400 } else { -60 },
            outward: -1,
        }
    }
}

/// The static evaluation of Latrunculi: material, mobility, enclosure of the dux, bound men, pieces at risk.
#[derive(Clone, Debug)]
pub struct LatrunculiHeuristic {
    weights: Weights,
    square_count: usize,
    /// Neighbours by square and direction, orthogonal directions first; [`NOWHERE`] beyond the edge.
    neighbours: Vec<[u16; 8]>,
    /// Steps from the middle of the board, doubled so that even boards have whole numbers.
    outwardness: Vec<i32>,
    is_corner: Vec<bool>,
    /// Directions of steps, and of custodial capture: 4 or 8.
    move_directions: usize,
    capture_directions: usize,
    slides: bool,
    /// Men step forwards and sideways only.
    never_backwards: bool,
    man_jumps: JumpOver,
    dux_armed: bool,
    dux_capture: DuxCapture,
    dux_decides: bool,
    enclosure_by: EnclosureBy,
    enclosure_needs_four: bool,
    takes_rows: bool,
    rows_spare_dux: bool,
    takes_one: bool,
    takes_corners: bool,
    takes_enclosed_men: bool,
    timing: Timing,
}

/// The index beyond the edge, on a board that marks it as [`EDGE`].
const NOWHERE: u16 = 256;

/// File and rank of a step in each direction; the opposite of direction `d` is `d ^ 1`.
const STEPS: [(i32, i32); 8] = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)];

/// What a taken dux is worth as an action when it decides the game.
const DECISIVE: i32 = 100_000;

const EMPTY: u8 = 0;
const EDGE: u8 = 3;

/// The stones by square, for quick reading of neighbourhoods.
struct Board {
    /// [`EMPTY`], [`EDGE`], or the number of the owner.
    owners: [u8; 257],
    duces: [u16; 2],
}

impl Board {
    fn new(position: &Position) -> Board {
        let mut owners = [EMPTY; 257];
        owners[usize::from(NOWHERE)] = EDGE;
        for player in Player::BOTH {
            for square in position.stones(player).iter() {
                owners[square.index()] = player.number();
            }
        }
        let dux = |player| position.dux(player).map_or(NOWHERE, |square: Square| square.index() as u16);
        Board { owners, duces: Player::BOTH.map(dux) }
    }

    #[inline]
    fn owner(&self, square: u16) -> u8 {
        self.owners[usize::from(square)]
    }

    #[inline]
    fn dux(&self, player: Player) -> u16 {
        self.duces[player.index()]
    }
}

impl LatrunculiHeuristic {
    /// Creates the heuristic for a ruleset with the weights made for it.
    #[must_use]
    pub fn new(rules: &Rules) -> LatrunculiHeuristic {
        LatrunculiHeuristic::with_weights(rules, Weights::for_ruleset(rules.ruleset()))
    }

    /// Creates the heuristic for a ruleset with weights of one's own.
    #[must_use]
    pub fn with_weights(rules: &Rules, weights: Weights) -> LatrunculiHeuristic {
        let ruleset = rules.ruleset();
        let (files, ranks) = (rules.files() as i32, rules.ranks() as i32);
        let squares = || (0..ranks).flat_map(move |rank| (0..files).map(move |file| (file, rank)));
        let on_board = |file: i32, rank: i32| (0..files).contains(&file) && (0..ranks).contains(&rank);
        let index = |file: i32, rank: i32| if on_board(file, rank) { (rank * files + file) as u16 } else { NOWHERE };
        let directions = |lines| if lines == Lines::All { 8 } else { 4 };
        LatrunculiHeuristic {
            weights,
            square_count: rules.square_count(),
            neighbours: squares().map(|(file, rank)| STEPS.map(|(df, dr)| index(file + df, rank + dr))).collect(),
            outwardness: squares()
                .map(|(file, rank)| (2 * file - files + 1).abs() + (2 * rank - ranks + 1).abs())
                .collect(),
            is_corner: squares()
                .map(|(file, rank)| (file == 0 || file == files - 1) && (rank == 0 || rank == ranks - 1))
                .collect(),
            move_directions: directions(ruleset.movement.lines),
            capture_directions: directions(ruleset.capture.lines),
            slides: ruleset.man.range == Range::Slide,
            never_backwards: ruleset.man.step == StepDirections::ForwardSideways,
            man_jumps: ruleset.man.jump_over,
            dux_armed: ruleset.dux.armed,
            dux_capture: ruleset.dux.capture,
            dux_decides: ruleset.end.win_dux,
            enclosure_by: ruleset.dux.enclosure_by,
            enclosure_needs_four: ruleset.dux.enclosure_sides == EnclosureSides::Four,
            takes_rows: ruleset.capture.span == Span::Row,
            rows_spare_dux: ruleset.capture.row_with_dux == RowWithDux::Spared,
            takes_one: ruleset.capture.per_move == PerMove::One,
            takes_corners: ruleset.capture.corner,
            takes_enclosed_men: ruleset.capture.man_by_enclosure,
            timing: ruleset.capture.timing,
        }
    }

    /// Returns the weights in use.
    #[must_use]
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    #[inline]
    fn neighbour(&self, square: u16, direction: usize) -> u16 {
        match self.neighbours.get(usize::from(square)) {
            Some(neighbours) => neighbours[direction],
            None => NOWHERE,
        }
    }

    /// Judges `player`'s side for him.
    fn evaluate_side(&self, position: &Position, board: &Board, player: Player) -> i32 {
        let weights = &self.weights;
        let mut score = 0;
        let dux = board.dux(player);
        let bound = position.bound();
        for square in position.stones(player).iter() {
            let at = square.index() as u16;
            let is_dux = at == dux;
            score += weights.outward * self.outwardness[square.index()] / 2;
            if bound.contains(square) {
                score += if is_dux { weights.dux_bound } else { weights.bound };
                continue;
            }
            let neighbours = &self.neighbours[square.index()];
            let mut liberties = 0;
            for &neighbour in &neighbours[..self.move_directions] {
                liberties += i32::from(board.owner(neighbour) == EMPTY);
            }
            score += if liberties == 0 { weights.immobile } else { weights.liberty * liberties };
            if (!is_dux || self.dux_capture == DuxCapture::AsMan) && self.is_at_risk(board, player, neighbours) {
                score += if is_dux { weights.dux_at_risk } else { weights.at_risk };
            }
        }
        if dux != NOWHERE && self.dux_capture == DuxCapture::Enclosure {
            score += weights.dux_open_sides[self.open_sides(board, player, dux).min(4)];
        }
        score
    }

    /// Tells whether the enemy could flank a piece with those neighbours by his next move: he stands on one
    /// side, and the other is empty and in his reach.
    fn is_at_risk(&self, board: &Board, player: Player, neighbours: &[u16; 8]) -> bool {
        let enemy = player.opponent().number();
        for axis in 0..self.capture_directions / 2 {
            let (one, other) = (neighbours[axis * 2], neighbours[axis * 2 + 1]);
            let gap = match (board.owner(one), board.owner(other)) {
                (owner, EMPTY) if owner == enemy => other,
                (EMPTY, owner) if owner == enemy => one,
                _ => continue,
            };
            if self.is_in_reach(board, player.opponent(), gap) {
                return true;
            }
        }
        false
    }

    /// Tells whether a piece of `mover` could come to the empty square `to` by a step, slide or simple jump.
    fn is_in_reach(&self, board: &Board, mover: Player, to: u16) -> bool {
        let own = mover.number();
        let forward = if mover == Player::First { 1 } else { -1 };
        for (direction, &(_, rank_step)) in STEPS.iter().enumerate().take(self.move_directions) {
            let beside = self.neighbour(to, direction);
            let owner = board.owner(beside);
            // Who comes from there goes the opposite way.
            let is_backwards = -rank_step * forward < 0;
            let may_step = !(self.never_backwards && is_backwards);
            if owner == own && may_step {
                return true;
            }
            if owner == EMPTY && self.slides {
                let mut square = self.neighbour(beside, direction);
                while board.owner(square) == EMPTY {
                    square = self.neighbour(square, direction);
                }
                if board.owner(square) == own {
                    return true;
                }
            }
            let may_jump = match owner {
                EMPTY | EDGE => false,
                _ if owner == own => self.man_jumps.own,
                _ => self.man_jumps.enemy,
            };
            if may_jump && board.owner(self.neighbour(beside, direction)) == own {
                return true;
            }
        }
        false
    }

    /// Counts the sides of `player`'s dux on `square` that are not yet closed; 4 where it cannot be enclosed.
    fn open_sides(&self, board: &Board, player: Player, square: u16) -> usize {
        let mut open = 0;
        for direction in 0..4 {
            let owner = board.owner(self.neighbour(square, direction));
            let is_closed = match owner {
                EDGE if self.enclosure_needs_four => return 4,
                EDGE => true,
                EMPTY => false,
                _ => self.enclosure_by == EnclosureBy::Any || owner == player.opponent().number(),
            };
            open += usize::from(!is_closed);
        }
        open
    }

    /// Returns what the enemy piece on `square` is worth to who takes or binds it.
    fn piece_worth(&self, board: &Board, owner: Player, square: u16) -> i32 {
        match square == board.dux(owner) {
            true if self.dux_decides => DECISIVE,
            true => self.weights.dux.max(self.weights.man),
            false => self.weights.man,
        }
    }

    /// Sums what the move of `player` from `from` to `to` flanks.
    ///
    /// Follows the common rules of custodial capture; used to order and to choose what quiescence looks at,
    /// so rare finer points (rows with a dux in them, bound flankers) may be missed.
    fn flanking_gain(&self, position: &Position, player: Player, from: u16, to: u16) -> i32 {
        let enemy = player.opponent();
        let board = Around { position, player, from };
        let dux = position.dux(enemy).map_or(NOWHERE, |square| square.index() as u16);
        let own_dux = position.dux(player).map_or(NOWHERE, |square| square.index() as u16);
        let worth = |square| match square == dux {
            false => self.weights.man,
            true if self.dux_capture != DuxCapture::AsMan => 0,
            true if self.dux_decides => DECISIVE,
            true => self.weights.dux.max(self.weights.man),
        };
        let (mut sum, mut greatest) = (0, 0);
        let is_armed = self.dux_armed || from != own_dux;
        let is_flanker = |square: u16| board.is_own(square) && (self.dux_armed || square != own_dux);
        for direction in 0..if is_armed { self.capture_directions } else { 0 } {
            let mut square = self.neighbour(to, direction);
            let mut gain = 0;
            while board.is_enemy(square) && (worth(square) > 0 || self.rows_spare_dux && square == dux) {
                gain += worth(square);
                square = self.neighbour(square, direction);
                if !self.takes_rows {
                    break;
                }
            }
            if gain > 0 && is_flanker(square) {
                sum += gain;
                greatest = greatest.max(gain);
            }
        }
        for direction in 0..4 {
            let beside = self.neighbour(to, direction);
            if !board.is_enemy(beside) {
                continue;
            }
            let is_corner = self.takes_corners && self.is_corner[usize::from(beside)];
            let by_enclosure = beside == dux && self.dux_capture == DuxCapture::Enclosure;
            if !(is_corner || by_enclosure || self.takes_enclosed_men) {
                continue;
            }
            let mut sides = self.neighbours[usize::from(beside)][..4].iter();
            let is_closed = sides.all(|&side| {
                side == NOWHERE
                    || side == to
                    || board.is_own(side)
                    || by_enclosure && self.enclosure_by == EnclosureBy::Any && board.is_enemy(side)
            });
            if is_closed {
                let gain = match by_enclosure {
                    // Displacement only binds an enclosed dux.
                    true if self.timing == Timing::Displacement => self.weights.man,
                    true if self.dux_decides => DECISIVE,
                    true => self.weights.dux,
                    false => worth(beside),
                };
                sum += gain;
                greatest = greatest.max(gain);
            }
        }
        if self.takes_one { greatest } else { sum }
    }
}

/// The stones around a move, after the moved piece has left its square.
struct Around<'a> {
    position: &'a Position,
    player: Player,
    from: u16,
}

impl Around<'_> {
    #[inline]
    fn is_own(&self, square: u16) -> bool {
        square != NOWHERE
            && square != self.from
            && self.position.stones(self.player).contains(Square::from_index(usize::from(square)))
    }

    #[inline]
    fn is_enemy(&self, square: u16) -> bool {
        square != NOWHERE
            && self.position.stones(self.player.opponent()).contains(Square::from_index(usize::from(square)))
    }
}

impl Heuristic<GameState> for LatrunculiHeuristic {
    fn evaluate(&self, game: &GameState) -> i32 {
        let position = game.position();
        let board = Board::new(position);
        let [first, second] = Player::BOTH.map(|player| {
            let dux = i32::from(position.dux(player).is_some()) + i32::from(position.hand(player).dux);
            let stones = position.stones(player).len() as i32 + i32::from(position.hand(player).stones());
            let material = (stones - dux) * self.weights.man + dux * self.weights.dux;
            (self.evaluate_side(position, &board, player) + material, material)
        });
        let all = (first.1 + second.1).max(1);
        first.0 - second.0 + self.weights.lead * (first.1 - second.1) / all
    }

    fn gain(&self, game: &GameState, action: Action) -> i32 {
        let position = game.position();
        let player = position.player_to_act();
        let enemy = player.opponent();
        match action.kind() {
            ActionKind::MoveTaking { victim, .. } => {
                let is_dux = position.dux(enemy) == Some(victim);
                if is_dux { self.weights.dux.max(self.weights.man) } else { self.weights.man }
            }
            ActionKind::Move { from, to } => {
                if position.stones(enemy).contains(to) {
                    let board = Board::new(position);
                    return self.piece_worth(&board, enemy, to.index() as u16);
                }
                let gain = self.flanking_gain(position, player, from.index() as u16, to.index() as u16);
                match self.timing {
                    Timing::Immediate => gain,
                    // What is bound is not yet taken, but a decided game is decided.
                    _ if gain >= DECISIVE => gain,
                    _ => gain * 2 / 5,
                }
            }
            ActionKind::Remove { .. } => {
                let bound = position.bound() & position.stones(enemy);
                self.weights.man * (bound.len() as i32).max(1)
            }
            // Quiet: inner squares first.
            ActionKind::PlaceMan(square) | ActionKind::PlaceDux(square) => -self.outwardness[square.index()],
            ActionKind::Stop | ActionKind::Pass => 0,
        }
    }

    fn is_tactical(&self, game: &GameState, action: Action) -> bool {
        match action.kind() {
            ActionKind::MoveTaking { .. } | ActionKind::Remove { .. } => true,
            ActionKind::Move { to, .. } => {
                let enemy = game.position().player_to_act().opponent();
                let takes_now = self.timing == Timing::Immediate || game.position().stones(enemy).contains(to);
                let gain = self.gain(game, action);
                gain >= DECISIVE || takes_now && gain > 0
            }
            _ => false,
        }
    }

    fn needs_quiescence(&self, game: &GameState) -> bool {
        game.position().phase() == Phase::Movement
    }

    fn action_index(&self, _game: &GameState, action: Action) -> usize {
        let squares = self.square_count;
        let moves = squares * squares;
        match action.kind() {
            ActionKind::Move { from, to } | ActionKind::MoveTaking { from, to, .. } => {
                from.index() * squares + to.index()
            }
            ActionKind::PlaceMan(square) => moves + square.index(),
            ActionKind::PlaceDux(square) => moves + squares + square.index(),
            ActionKind::Remove { .. } => moves + 2 * squares,
            ActionKind::Stop => moves + 2 * squares + 1,
            ActionKind::Pass => moves + 2 * squares + 2,
        }
    }

    fn action_index_count(&self) -> usize {
        self.square_count * (self.square_count + 2) + 3
    }
}
