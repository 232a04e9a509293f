//! A ruleset made ready to play: checked, with everything derived from it that does not change.

use std::fmt;

use crate::geometry::{Direction, Geometry, STEPS, Shifts, direction_count};
use crate::parameters::{PARAMETERS, Parameter};
use crate::player::Player;
use crate::position::{Hand, Holds, Phase, Piece, Position};
use crate::ruleset::{
    DuxCapture, DuxTime, Eliminate, EnclosureBy, ExtraMode, JumpChain, JumpOver, JumpRun, Lines, NoMove, PerMove,
    PieceMovement, QuietResult, Range, Release, Repetition, Ruleset, SetupMode, Span, StepDirections, Timing, Trigger,
};
use crate::squares::{Square, SquareSet};

/// One reason why a ruleset cannot be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesetFault {
    /// The parameter that is at fault, as `setup.array`.
    pub parameter: &'static str,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for RulesetFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.parameter, self.message)
    }
}

/// Every reason why a ruleset cannot be played; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesetError {
    /// The ruleset's name.
    pub id: String,
    /// The reasons.
    pub faults: Vec<RulesetFault>,
}

impl fmt::Display for RulesetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ruleset {:?} cannot be played", self.id)?;
        for fault in &self.faults {
            write!(f, "\n  {fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for RulesetError {}

/// How one kind of piece moves, by direction.
#[derive(Clone, Debug)]
pub(crate) struct Mover {
    /// By player, one bit per direction of steps and slides.
    pub(crate) step_directions: [u8; 2],
    pub(crate) slides: bool,
    pub(crate) jump_over: JumpOver,
    pub(crate) jumps_runs: bool,
    pub(crate) chain: JumpChain,
    /// Directions of jumps: the first 4 or all 8.
    pub(crate) direction_count: usize,
    pub(crate) chain_slides: bool,
}

impl Mover {
    fn new(ruleset: &Ruleset, movement: &PieceMovement, chain_slides: bool) -> Mover {
        let direction_count = direction_count(ruleset.movement.lines);
        let directions = |forward: i8| {
            (0..direction_count)
                .filter(|&direction: &Direction| match movement.step {
                    StepDirections::All => true,
                    StepDirections::ForwardSideways => STEPS[direction].1 * forward >= 0,
                    StepDirections::None => false,
                })
                .fold(0, |mask, direction| mask | 1 << direction)
        };
        Mover {
            step_directions: [directions(1), directions(-1)],
            slides: movement.range == Range::Slide,
            jump_over: movement.jump_over,
            jumps_runs: movement.jump_run == JumpRun::Any,
            chain: movement.jump_chain,
            direction_count,
            chain_slides: chain_slides && movement.jump_chain != JumpChain::None,
        }
    }

    #[inline(always)]
    pub(crate) fn steps(&self, player: Player, direction: Direction) -> bool {
        self.step_directions[player.index()] >> direction & 1 != 0
    }
}

/// A ruleset made ready to play.
/// Built once by [`Rules::new`]; everything that plays reads it and nothing changes it.
#[derive(Clone, Debug)]
pub struct Rules {
    pub(crate) ruleset: Ruleset,
    pub(crate) geometry: Geometry,
    pub(crate) man: Mover,
    pub(crate) dux: Mover,
    /// The dux moves exactly like a man, so that both are generated together.
    pub(crate) dux_moves_like_man: bool,
    pub(crate) capture_directions: usize,
    /// Flanked pieces stay on the board for a while: delayed or displacement.
    pub(crate) binds: bool,
    /// What is bound is stored, since a move must have completed the binding.
    pub(crate) stores_holds: bool,
    /// A move's victims may have to be chosen.
    pub(crate) chooses_victim: bool,
    /// A legal move may depend on the game's history.
    pub(crate) history_limits_moves: bool,
    /// Positions between turns have to be remembered.
    pub(crate) remembers_positions: bool,
    initial: Position,
}

impl Rules {
    /// Checks a ruleset and makes it ready to play.
    /// Fails with [`RulesetError`] with every reason why it cannot be played.
    pub fn new(ruleset: &Ruleset) -> Result<Rules, RulesetError> {
        let mut faults = Vec::new();
        check_board(ruleset, &mut faults);
        let stones = match ruleset.setup.mode {
            SetupMode::Array => read_array(ruleset, &mut faults),
            SetupMode::Placement => check_placement(ruleset, &mut faults),
        };
        check_end(ruleset, stones, &mut faults);
        if !faults.is_empty() {
            return Err(RulesetError { id: ruleset.id.clone(), faults });
        }
        let rules = Rules::derive(ruleset);
        check_release(&rules, &mut faults);
        check_beginning(&rules, &mut faults);
        if faults.is_empty() { Ok(rules) } else { Err(RulesetError { id: ruleset.id.clone(), faults }) }
    }

    fn derive(ruleset: &Ruleset) -> Rules {
        let repetition = ruleset.end.repetition;
        let mut rules = Rules {
            geometry: Geometry::new(ruleset.board),
            man: Mover::new(ruleset, &ruleset.man, false),
            dux: Mover::new(ruleset, &ruleset.dux_movement, ruleset.dux.chain_slides),
            dux_moves_like_man: ruleset.man == ruleset.dux_movement && !ruleset.dux.chain_slides,
            capture_directions: direction_count(ruleset.capture.lines),
            binds: ruleset.capture.timing != Timing::Immediate,
            stores_holds: ruleset.capture.timing != Timing::Immediate && ruleset.capture.trigger == Trigger::Active,
            chooses_victim: ruleset.capture.timing == Timing::Immediate && ruleset.capture.per_move == PerMove::One,
            history_limits_moves: matches!(
                repetition,
                Repetition::ThreefoldForbidden | Repetition::Superko | Repetition::Shuttle3
            ),
            remembers_positions: matches!(
                repetition,
                Repetition::ThreefoldDraw | Repetition::ThreefoldForbidden | Repetition::Superko
            ),
            initial: Position {
                stones: [SquareSet::EMPTY; 2],
                dux: [None; 2],
                bound: SquareSet::EMPTY,
                holds: Holds::default(),
                hands: [Hand::default(); 2],
                to_act: ruleset.first_player,
                phase: Phase::Movement,
                group_left: 0,
                continuation: None,
                removed_this_turn: false,
                quiet_turns: 0,
                turns: 0,
                passes: 0,
                shuttles: [None; 2],
                key: 0,
            },
            ruleset: ruleset.clone(),
        };
        rules.initial = rules.initial_position_from_ruleset();
        rules
    }

    fn initial_position_from_ruleset(&self) -> Position {
        let mut position = self.initial;
        match self.ruleset.setup.mode {
            SetupMode::Array => {
                let array = self.ruleset.setup.array.as_deref().unwrap_or_default();
                for (row, line) in array_rows(array).enumerate() {
                    let rank = usize::from(self.geometry.ranks) - 1 - row;
                    for (file, letter) in line.chars().enumerate() {
                        if let Some((piece, owner)) = Piece::from_letter(letter) {
                            let square = Square::from_index(rank * usize::from(self.geometry.files) + file);
                            position.put(owner, piece, square);
                        }
                    }
                }
            }
            SetupMode::Placement => {
                let placement = &self.ruleset.placement;
                position.hands = [Hand { men: placement.men, dux: placement.dux }; 2];
                position.phase = Phase::Placement;
                let group = placement.opening_group.unwrap_or(placement.group);
                position.group_left = self.group_size(position.hands[0], group);
            }
        }
        self.settle(&mut position);
        position
    }

    /// Brings bound flags and key of a position set up by hand in order: what the board alone binds.
    pub(crate) fn settle(&self, position: &mut Position) {
        position.bound = SquareSet::EMPTY;
        position.holds = Holds::default();
        if self.binds {
            position.bound = self.bound_by_board(position);
        }
        position.key = position.key_from_scratch();
    }

    /// Returns how many stones `hand` puts down in one placement turn of at most `group` men.
    pub(crate) fn group_size(&self, hand: Hand, group: u8) -> u8 {
        match self.ruleset.placement.dux_time {
            DuxTime::Any => hand.stones().min(group),
            DuxTime::AfterMen if hand.men > 0 => hand.men.min(group),
            DuxTime::AfterMen => hand.dux,
        }
    }

    /// Returns the ruleset as data.
    #[must_use]
    pub fn ruleset(&self) -> &Ruleset {
        &self.ruleset
    }

    /// Returns the opening position.
    #[must_use]
    pub fn initial_position(&self) -> Position {
        self.initial
    }

    /// Returns the number of files.
    #[must_use]
    pub fn files(&self) -> usize {
        self.geometry.files.into()
    }

    /// Returns the number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.geometry.ranks.into()
    }

    /// Returns the number of squares.
    #[must_use]
    pub fn square_count(&self) -> usize {
        self.files() * self.ranks()
    }

    /// Returns the set of all squares of the board.
    #[must_use]
    pub fn board(&self) -> SquareSet {
        self.geometry.board
    }

    /// Returns what shifts square sets of this board.
    #[must_use]
    pub fn shifts(&self) -> Shifts<4> {
        self.geometry.shifts()
    }

    /// Returns the orthogonal neighbours of `square`.
    #[must_use]
    pub fn orthogonal_neighbours(&self, square: Square) -> SquareSet {
        self.geometry.orthogonal(square)
    }

    /// Tells whether a side has a dux, in hand or on the board, when the game begins.
    #[must_use]
    pub fn has_duces(&self) -> bool {
        self.duces() > 0
    }

    /// Returns how many sides have a dux, in hand or on the board, when the game begins: 0, 1 or 2.
    #[must_use]
    pub fn duces(&self) -> usize {
        let has_dux = |player: &Player| self.initial.dux(*player).is_some() || self.initial.hand(*player).dux > 0;
        Player::BOTH.iter().filter(|player| has_dux(player)).count()
    }

    /// Returns the men that each side begins with, in hand and on the board.
    #[must_use]
    pub fn men_at_start(&self, player: Player) -> usize {
        self.initial.men(player).len() as usize + usize::from(self.initial.hand(player).men)
    }

    /// Returns the pieces that a side begins with, in hand and on the board.
    #[must_use]
    pub fn pieces_at_start(&self, player: Player) -> usize {
        self.initial.stones(player).len() as usize + usize::from(self.initial.hand(player).stones())
    }

    /// Returns settings that are allowed but to no purpose, each with the reason: those that change nothing, and a cap
    /// that no game outlasts. A parameter at its default is not one of them.
    #[must_use]
    pub fn settings_without_effect(&self) -> Vec<RulesetFault> {
        let ruleset = &self.ruleset;
        let default = Ruleset::default();
        let is_set = |parameter: &Parameter| match parameter.name {
            // A game without a dux says so by "never". What it has left of its base about the dux is passed over.
            "dux.capture" if !self.has_duces() => ruleset.dux.capture != DuxCapture::Never,
            "end.win_dux" if !self.has_duces() => false,
            name if name.starts_with("dux.") && !self.has_duces() => false,
            _ => parameter.value_in(ruleset) != parameter.value_in(&default),
        };
        let note = |parameter: &Parameter| {
            let reason = self.why_without_effect(parameter.name)?;
            Some(RulesetFault { parameter: parameter.name, message: format!("has no effect: {reason}") })
        };
        let mut notes: Vec<_> = PARAMETERS.iter().filter(|parameter| is_set(parameter)).filter_map(note).collect();
        let (cap, turns) = (usize::from(ruleset.end.max_plies), self.placement_turns());
        if cap <= turns {
            let message = format!("ends every game before a piece moves: the placement takes {turns} turns");
            notes.push(RulesetFault { parameter: "end.max_plies", message });
        }
        let (men, group) = (ruleset.placement.men, ruleset.placement.group);
        let opening_group = ruleset.placement.opening_group.unwrap_or(0);
        for (parameter, size) in [("placement.group", group), ("placement.opening_group", opening_group)] {
            if men > 0 && size > men {
                let message = format!("is more than the {men} men of a side: one turn places them all");
                notes.push(RulesetFault { parameter, message });
            }
        }
        let duces = Player::BOTH.map(|player| self.initial.dux(player).is_some() || self.initial.hand(player).dux > 0);
        if duces[0] != duces[1] {
            let message = format!("only player {} has a dux", 1 + usize::from(duces[1]));
            notes.push(RulesetFault { parameter: "setup.array", message });
        }
        notes
    }

    /// Returns why games are the same as with the default of `parameter`, or `None` where they may differ.
    /// What several settings bring about together is not always seen, as that a corner is an enclosure too.
    #[must_use]
    pub fn why_without_effect(&self, parameter: &str) -> Option<&'static str> {
        let Ruleset { placement, man, dux_movement, dux, capture, extra, end, .. } = &self.ruleset;
        let duces = self.duces();
        let chains_slides = dux.chain_slides
            && dux_movement.jump_chain == JumpChain::Optional
            && dux_movement.step != StepDirections::None;
        let anybody_jumps = man.jump_over.any() || duces > 0 && (dux_movement.jump_over.any() || chains_slides);
        // Enemies on all sides leave an orthogonal jump over enemies only.
        let escapes = match (dux.enclosure_by, self.ruleset.movement.lines) {
            (EnclosureBy::Enemy, Lines::Orthogonal) => dux_movement.jump_over.enemy,
            _ => dux_movement.jump_over.any(),
        };
        Some(match parameter {
            "placement.group" | "placement.opening_group" | "placement.dux_time" if placement.men == 0 => {
                "no men are placed"
            }
            "placement.opening_group" if placement.opening_group == Some(placement.group) => {
                "placement.group is the same"
            }
            "placement.dux_time" if placement.dux == 0 => "there is no dux to place",
            "move.jump_over_dux" | "capture.row_with_dux" | "end.win_dux" | "end.count_dux" if duces == 0 => {
                "there is no dux"
            }
            name if name.starts_with("dux.") && duces == 0 => "there is no dux",

            "move.jump_over_dux" if !man.jump_over.any() && !dux_movement.jump_over.enemy => {
                "no piece could jump over a dux"
            }
            "man.range" if man.step == StepDirections::None => "man.step is \"none\"",
            "man.jump_run" | "man.jump_chain" if !man.jump_over.any() => "man.jump_over is empty",
            "dux.range" if dux_movement.step == StepDirections::None => "dux.step is \"none\"",
            "dux.jump_run" if !dux_movement.jump_over.any() => "dux.jump_over is empty",
            "dux.jump_chain" if !dux_movement.jump_over.any() && !chains_slides => "dux.jump_over is empty",
            "dux.chain_slides" if dux_movement.jump_chain != JumpChain::Optional => {
                "dux.jump_chain is not \"optional\""
            }
            "dux.chain_slides" if dux_movement.step == StepDirections::None => "dux.step is \"none\"",

            "capture.row_with_dux" if capture.span == Span::One => "capture.span is 1",
            "capture.row_with_dux" if dux.capture == DuxCapture::AsMan => "dux.capture is \"as_man\"",
            "capture.per_move" if self.binds => "nothing is taken at once unless capture.timing is \"immediate\"",
            "capture.release" if !self.stores_holds => {
                "it tells how long a piece is bound that an enemy's move has bound: capture.trigger \"active\", and capture.timing \"delayed\" or \"displacement\""
            }
            "capture.free_flankers" | "capture.removal" | "capture.removal_scope"
                if capture.timing != Timing::Delayed =>
            {
                "there is no removal unless capture.timing is \"delayed\""
            }

            "extra.moves" | "extra.limit" if extra.mode == ExtraMode::None => "extra.mode is \"none\"",
            "extra.mode" | "extra.moves" | "extra.limit" if !self.moves_capture() => {
                "a piece goes on only after it has flanked or enclosed what it takes, and with capture.timing as it is none does"
            }
            "extra.moves" if !anybody_jumps => "no piece jumps",

            "dux.enclosure_sides" | "dux.enclosure_by" | "dux.enclosure_trigger" | "dux.enclosure_escape"
                if dux.capture != DuxCapture::Enclosure =>
            {
                "dux.capture is not \"enclosure\""
            }
            "dux.enclosure_escape" if !escapes => "an enclosed dux can never jump",

            "end.win_dux" if dux.capture == DuxCapture::Never => "dux.capture is \"never\"",
            "end.eliminate_at" if end.eliminate == Eliminate::Off => "end.eliminate is \"off\"",
            "end.quiet_result" | "end.count_dux" if end.quiet_limit == 0 && end.no_move != NoMove::Pass => {
                "end.quiet_limit is 0 and nobody passes"
            }
            "end.count_dux" if end.quiet_result != QuietResult::MostPieces => "end.quiet_result is not \"most_pieces\"",
            "end.count_dux" if duces == 2 && (end.win_dux || dux.capture == DuxCapture::Never) => {
                "both sides have a dux to the end"
            }
            _ => return None,
        })
    }

    /// Tells whether a move may take a piece that it flanks or encloses, which alone grants a continuation: with delayed
    /// capture only one that encloses a dux and so removes it.
    fn moves_capture(&self) -> bool {
        let Ruleset { dux, end, .. } = &self.ruleset;
        let removes_dux =
            dux.capture == DuxCapture::Enclosure && dux.enclosure_trigger == Trigger::Active && !end.win_dux;
        match self.ruleset.capture.timing {
            Timing::Immediate => true,
            Timing::Delayed => self.has_duces() && removes_dux,
            Timing::Displacement => false,
        }
    }

    /// Returns the number of turns in which the stones in hand are placed.
    fn placement_turns(&self) -> usize {
        let placement = &self.ruleset.placement;
        let turns_of = |player: Player| {
            let mut hand = self.initial.hand(player);
            let opening = placement.opening_group.filter(|_| player == self.ruleset.first_player);
            let mut group = opening.unwrap_or(placement.group);
            let mut turns = 0;
            while hand.stones() > 0 {
                let stones = self.group_size(hand, group);
                let men = stones.min(hand.men);
                hand = Hand { men: hand.men - men, dux: hand.dux - (stones - men) };
                group = placement.group;
                turns += 1;
            }
            turns
        };
        Player::BOTH.into_iter().map(turns_of).sum()
    }
}

/// Returns the rows of a drawn array, top rank first.
fn array_rows(array: &str) -> impl Iterator<Item = &str> {
    array.split(['\n', '/']).map(str::trim).filter(|row| !row.is_empty())
}

fn fault(faults: &mut Vec<RulesetFault>, parameter: &'static str, message: String) {
    faults.push(RulesetFault { parameter, message });
}

fn check_board(ruleset: &Ruleset, faults: &mut Vec<RulesetFault>) {
    for (parameter, size) in [("board.files", ruleset.board.files), ("board.ranks", ruleset.board.ranks)] {
        if !(4..=16).contains(&size) {
            fault(faults, parameter, format!("a board has 4 to 16, not {size}"));
        }
    }
}

/// Checks the array and returns each side's men and duces.
fn read_array(ruleset: &Ruleset, faults: &mut Vec<RulesetFault>) -> [Hand; 2] {
    let (mut men, mut duces) = ([0_u32; 2], [0_u32; 2]);
    let mut stones = [Hand::default(); 2];
    if ruleset.placement.men > 0 || ruleset.placement.dux > 0 {
        let message = "stones in hand are never placed when setup.mode is \"array\": set both to 0, or setup.mode to \
                       \"placement\"";
        fault(faults, "placement.men", message.to_owned());
    }
    let Some(array) = &ruleset.setup.array else {
        fault(
            faults,
            "setup.array",
            "setup.mode is \"array\" but no array is drawn: draw one, or set setup.mode to \"placement\"".to_owned(),
        );
        return stones;
    };
    let rows: Vec<&str> = array_rows(array).collect();
    let (files, ranks) = (usize::from(ruleset.board.files), usize::from(ruleset.board.ranks));
    if rows.len() != ranks {
        fault(
            faults,
            "setup.array",
            format!("the drawing has {} rows, but board.ranks is {ranks}: make them the same", rows.len()),
        );
    }
    let width = |line: &&str| line.chars().count();
    let is_even = rows.iter().all(|line| width(line) == width(&rows[0]));
    for (row, line) in rows.iter().enumerate() {
        if width(line) != files && (row == 0 || !is_even) {
            let which = if is_even { "each row".to_owned() } else { format!("row {} from the top", row + 1) };
            let message =
                format!("{which} has {} squares, but board.files is {files}: make them the same", width(line));
            fault(faults, "setup.array", message);
        }
        for letter in line.chars() {
            match Piece::from_letter(letter) {
                Some((Piece::Man, owner)) => men[owner.index()] += 1,
                Some((Piece::Dux, owner)) => duces[owner.index()] += 1,
                None if letter == '.' => {}
                None => fault(faults, "setup.array", format!("{letter:?} is none of M D m d .")),
            }
        }
    }
    for player in Player::BOTH {
        let (men, duces) = (men[player.index()], duces[player.index()]);
        if men + duces == 0 {
            fault(faults, "setup.array", format!("{player} has no stones: put some on the board"));
        }
        if duces > 1 {
            fault(faults, "setup.array", format!("{player} has {duces} duces; a side has one at most"));
        }
        // A wrong drawing may have any number.
        stones[player.index()] = Hand { men: men.min(254) as u8, dux: duces.min(1) as u8 };
    }
    stones
}

/// Checks the stones to be placed and returns each side's men and duces.
fn check_placement(ruleset: &Ruleset, faults: &mut Vec<RulesetFault>) -> [Hand; 2] {
    let placement = &ruleset.placement;
    if ruleset.setup.array.is_some() {
        let message = "an array is drawn but setup.mode is \"placement\": write array = \"none\", or mode = \"array\"";
        fault(faults, "setup.array", message.to_owned());
    }
    if placement.dux > 1 {
        fault(faults, "placement.dux", format!("a side has one dux at most, not {}", placement.dux));
    }
    if placement.group == 0 || placement.opening_group == Some(0) {
        fault(faults, "placement.group", "a placement turn puts down at least one stone".to_owned());
    }
    let stones = usize::from(placement.men) + usize::from(placement.dux);
    let squares = usize::from(ruleset.board.files) * usize::from(ruleset.board.ranks);
    if stones == 0 {
        fault(
            faults,
            "placement.men",
            "setup.mode is \"placement\" but nobody has stones to place: set placement.men".to_owned(),
        );
    } else if 2 * stones >= squares {
        let message =
            format!("{stones} stones a side leave no empty square on a board of {squares}: give each side fewer");
        fault(faults, "placement.men", message);
    }
    [Hand { men: placement.men, dux: placement.dux }; 2]
}

fn check_end(ruleset: &Ruleset, stones: [Hand; 2], faults: &mut Vec<RulesetFault>) {
    let end = &ruleset.end;
    for player in Player::BOTH {
        let hand = stones[player.index()];
        let counted = match end.eliminate {
            Eliminate::Off => continue,
            Eliminate::AllMen => hand.men,
            Eliminate::AllPieces => hand.stones(),
        };
        if hand.stones() > 0 && counted <= end.eliminate_at {
            let what = if end.eliminate == Eliminate::AllMen { "men" } else { "pieces" };
            let remedy = if counted == 0 {
                "set end.eliminate to \"off\"".to_owned()
            } else {
                format!("set this below {counted}")
            };
            let message = format!(
                "{player} begins with {counted} {what} and so has lost before the first move: give it more, or {remedy}"
            );
            fault(faults, "end.eliminate_at", message);
        }
    }
    if end.max_plies == 0 {
        fault(faults, "end.max_plies", "a game needs at least one turn".to_owned());
    }
}

/// Refuses a release of which the rules do not say what it does: that of a dux bound by enclosure, which no two flankers
/// hold. Released as soon as nothing flanks it, as in a recorded game, it could never be taken.
fn check_release(rules: &Rules, faults: &mut Vec<RulesetFault>) {
    let Ruleset { capture, dux, .. } = &rules.ruleset;
    if rules.has_duces()
        && (capture.timing, capture.trigger) == (Timing::Displacement, Trigger::Active)
        && capture.release == Release::Effective
        && (dux.capture, dux.enclosure_trigger) == (DuxCapture::Enclosure, Trigger::Active)
    {
        let message = "\"effective\" does not say when a dux goes free that is bound by enclosure, where no two \
                       flankers hold it: set capture.release to \"geometric\", or dux.enclosure_trigger to \
                       \"positional\", or dux.capture to \"as_man\" or \"never\"";
        fault(faults, "capture.release", message.to_owned());
    }
}

/// Refuses rules under which the game is over before its first action.
fn check_beginning(rules: &Rules, faults: &mut Vec<RulesetFault>) {
    let (mode, no_move) = (rules.ruleset.setup.mode, rules.ruleset.end.no_move);
    if no_move != NoMove::Pass && !rules.has_legal_action(&rules.initial, &[]).0 {
        let parameter = if mode == SetupMode::Array { "setup.array" } else { "setup.mode" };
        let player = rules.initial.to_act;
        let message =
            format!("{player} has no legal action at the beginning; let the pieces step, slide or jump further");
        fault(faults, parameter, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::set_values;
    use crate::presets;

    fn noted(rules: &Rules) -> Vec<&'static str> {
        rules.settings_without_effect().into_iter().map(|note| note.parameter).collect()
    }

    /// The notes on a shipped ruleset with other values.
    fn noted_with(id: &str, values: serde_json::Value) -> Vec<&'static str> {
        let mut ruleset = presets::ruleset(id).unwrap();
        set_values(&mut ruleset, values.as_object().unwrap()).unwrap();
        noted(&Rules::new(&ruleset).unwrap())
    }

    #[test]
    fn every_setting_of_a_shipped_ruleset_has_an_effect() {
        for id in presets::NAMES {
            let rules = presets::rules(id);
            assert_eq!(rules.settings_without_effect(), [], "{id}");
        }
    }

    #[test]
    fn a_game_that_is_over_before_it_begins_is_refused() {
        let mut ruleset = presets::ruleset("dutch-8x8-noking").unwrap();
        // From the array no man has a piece to jump over to a free square.
        set_values(&mut ruleset, serde_json::json!({"man.step": "none"}).as_object().unwrap()).unwrap();
        let told = Rules::new(&ruleset).unwrap_err().to_string();
        assert!(told.contains("setup.array: ") && told.contains("no legal action at the beginning"), "{told}");
    }

    #[test]
    fn an_enclosed_dux_that_nothing_says_when_to_release_is_refused() {
        let values = |more: serde_json::Value| {
            let mut ruleset = presets::ruleset("savard-displacement").unwrap();
            set_values(&mut ruleset, serde_json::json!({"capture.release": "effective"}).as_object().unwrap()).unwrap();
            set_values(&mut ruleset, more.as_object().unwrap()).unwrap();
            Rules::new(&ruleset).map(|_| ()).map_err(|error| error.to_string())
        };
        let told = values(serde_json::json!({})).unwrap_err();
        assert!(told.contains("capture.release: \"effective\" does not say when a dux goes free"), "{told}");
        for way_out in [
            serde_json::json!({"capture.release": "geometric"}),
            serde_json::json!({"dux.enclosure_trigger": "positional"}),
            serde_json::json!({"dux.capture": "as_man"}),
            serde_json::json!({"dux.capture": "never", "end.win_dux": false}),
        ] {
            assert_eq!(values(way_out.clone()), Ok(()), "{way_out}");
        }
    }

    #[test]
    fn settings_that_change_nothing_are_noted() {
        use serde_json::json;
        for (id, values, expected) in [
            (
                "beads",
                json!({"man.jump_chain": "optional", "man.jump_run": "any"}),
                &["man.jump_run", "man.jump_chain"][..],
            ),
            (
                "mac-12x8",
                json!({"dux.jump_chain": "maximal", "dux.jump_run": "any"}),
                &["dux.jump_run", "dux.jump_chain"],
            ),
            // A chain of a dux that does not jump may still consist of steps.
            ("mac-12x8", json!({"dux.jump_chain": "optional", "dux.chain_slides": true}), &[]),
            ("savard", json!({"dux.jump_chain": "maximal", "dux.chain_slides": true}), &["dux.chain_slides"]),
            ("savard", json!({"man.step": "none", "man.range": "slide"}), &["man.range"]),
            (
                "bell",
                json!({"dux.enclosure_sides": "four", "dux.enclosure_by": "any"}),
                &["dux.enclosure_sides", "dux.enclosure_by"],
            ),
            ("bell", json!({"dux.enclosure_trigger": "positional"}), &["dux.enclosure_trigger"]),
            ("beads", json!({"dux.enclosure_escape": true}), &["dux.enclosure_escape"]),
            ("savard", json!({"dux.enclosure_escape": true}), &[]),
            (
                "savard",
                json!({"placement.opening_group": 1, "placement.dux_time": "any"}),
                &["placement.opening_group", "placement.dux_time"],
            ),
            ("bell", json!({"placement.opening_group": 2}), &["placement.opening_group"]),
            ("consensus-8x8", json!({"placement.dux_time": "any"}), &["placement.dux_time"]),
            (
                "savard",
                json!({"capture.removal": "precedes_move", "capture.removal_scope": "one"}),
                &["capture.removal", "capture.removal_scope"],
            ),
            ("savard-displacement", json!({"capture.per_move": "one"}), &["capture.per_move"]),
            ("savard", json!({"extra.moves": "step", "extra.limit": 1}), &["extra.moves", "extra.limit"]),
            ("savard-delayed", json!({"extra.mode": "optional"}), &["extra.mode"]),
            ("savard-delayed", json!({"extra.mode": "optional", "end.win_dux": false}), &[]),
            ("savard-displacement", json!({"extra.mode": "optional"}), &["extra.mode"]),
            ("mac-12x8", json!({"extra.mode": "optional", "extra.moves": "step"}), &["extra.moves"]),
            ("mac-12x8", json!({"end.count_dux": false}), &["end.count_dux"]),
            ("savard", json!({"end.win_dux": false, "end.count_dux": false}), &["end.count_dux"]),
            ("bell", json!({"end.count_dux": false}), &[]),
            ("x-museum-quintana", json!({"end.quiet_result": "most_pieces"}), &["end.quiet_result"]),
            ("dux-hunt-16", json!({"end.eliminate": "off", "end.eliminate_at": 3}), &["end.eliminate_at"]),
            ("savard", json!({"dux.capture": "never", "end.win_dux": false}), &["end.win_dux"]),
            ("mac-12x8", json!({"move.jump_over_dux": false}), &["move.jump_over_dux"]),
            ("beads", json!({"move.jump_over_dux": false}), &["move.jump_over_dux"]),
            ("falkener", json!({"move.jump_over_dux": false, "dux.armed": false}), &["move.jump_over_dux"]),
            ("falkener", json!({"dux.capture": "as_man"}), &["dux.capture"]),
            // 8 turns of men a side and one for each dux.
            ("bell", json!({"end.max_plies": 18}), &["end.max_plies"]),
            ("bell", json!({"end.max_plies": 19}), &[]),
            ("bell", json!({"end.max_plies": 18, "placement.opening_group": 16}), &[]),
        ] {
            assert_eq!(noted_with(id, values.clone()), expected, "{id} with {values}");
        }
    }
}
