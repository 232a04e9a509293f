//! A ruleset as data: the parameter space of SPECIFICATION.md, section 2. [`crate::Rules::new`] refuses what cannot be
//! played; the text form is in [`crate::parameters`].

use crate::named;
use crate::player::Player;

/// Declares enums whose values have the names used in ruleset files; the first value is the default.
macro_rules! choices {
    ($($(#[$meta:meta])* $name:ident { $(#[$first_meta:meta])* $first:ident = $($rest:tt)+ })+) => {$(
        named! {
            $(#[$meta])*
            #[derive(Default)]
            pub $name { #[default] $(#[$first_meta])* $first = $($rest)+ }
        }
    )+};
}

choices! {
    /// How the stones come onto the board (`setup.mode`).
    SetupMode {
        /// A fixed opening array.
        Array = "array",
        /// An opening phase that places stones.
        Placement = "placement",
    }

    /// When the dux is placed (`placement.dux_time`).
    DuxTime {
        /// Alone, in its own turn, after that side's men.
        AfterMen = "after_men",
        /// At any time, as one of the stones.
        Any = "any",
    }

    /// A set of lines (`move.lines`, `capture.lines`).
    Lines {
        /// Ranks and files.
        Orthogonal = "orthogonal",
        /// Ranks, files and diagonals.
        All = "all",
    }

    /// Directions of steps and slides (`man.step`, `dux.step`).
    StepDirections {
        /// Every direction of `move.lines`.
        All = "all",
        /// Those that do not lead back towards the owner's side.
        ForwardSideways = "forward_sideways",
        /// None: the piece only jumps.
        None = "none",
    }

    /// How far a step goes (`man.range`, `dux.range`).
    Range {
        /// One square.
        One = "1",
        /// Any number of empty squares.
        Slide = "slide",
    }

    /// How long a row may be jumped at once (`man.jump_run`, `dux.jump_run`).
    JumpRun {
        /// Exactly one adjacent piece.
        One = "1",
        /// A whole adjacent run.
        Any = "any",
    }

    /// How many jumps one move may hold (`man.jump_chain`, `dux.jump_chain`).
    JumpChain {
        /// One.
        None = "none",
        /// As many as liked.
        Optional = "optional",
        /// On, while an unvisited landing square is in reach.
        Maximal = "maximal",
    }

    /// What flanking does (`capture.timing`).
    Timing {
        /// Flanked pieces are removed at once.
        Immediate = "immediate",
        /// Flanked pieces are bound; a later action removes them.
        Delayed = "delayed",
        /// Flanked pieces are bound; they may be captured by moving onto them.
        Displacement = "displacement",
    }

    /// How many pieces two flankers may hold (`capture.span`).
    Span {
        /// One piece.
        One = "1",
        /// An uninterrupted row.
        Row = "row",
    }

    /// What happens to a row with a dux in it that is not itself capturable this way (`capture.row_with_dux`).
    RowWithDux {
        /// Nothing.
        Blocks = "blocks",
        /// The others are taken.
        Spared = "spared",
    }

    /// How much one move captures (`capture.per_move`).
    PerMove {
        /// Everything that it flanks.
        All = "all",
        /// One piece, of the mover's choice.
        One = "one",
    }

    /// What completes a capture or an enclosure (`capture.trigger`, `dux.enclosure_trigger`).
    Trigger {
        /// The opponent's move must complete it: walking in oneself is safe.
        Active = "active",
        /// It counts however it came about.
        Positional = "positional",
    }

    /// When a bound piece goes free (`capture.release`).
    Release {
        /// When a flanker leaves.
        Geometric = "geometric",
        /// Also the moment a flanker becomes bound.
        Effective = "effective",
    }

    /// What a removal costs (`capture.removal`).
    Removal {
        /// It is the whole turn.
        ReplacesMove = "replaces_move",
        /// The player removes, then moves.
        PrecedesMove = "precedes_move",
    }

    /// How much one removal takes (`capture.removal_scope`).
    RemovalScope {
        /// Every removable piece.
        All = "all",
        /// One flanked line.
        Line = "line",
        /// One piece.
        One = "one",
    }

    /// Whether the capturing piece may go on (`extra.mode`).
    ExtraMode {
        /// No.
        None = "none",
        /// With any move, or stop.
        Optional = "optional",
        /// As `optional`, but a capturing continuation is compulsory if there is one.
        Mandatory = "mandatory",
        /// Only with capturing continuations, which are compulsory.
        MustCapture = "must_capture",
    }

    /// What a continuation move may be (`extra.moves`).
    ExtraMoves {
        /// The piece's full move.
        Piece = "piece",
        /// Its step or slide, without a jump.
        Step = "step",
    }

    /// How a dux is taken (`dux.capture`).
    DuxCapture {
        /// By enclosing it.
        Enclosure = "enclosure",
        /// Like a man.
        AsMan = "as_man",
        /// Not at all.
        Never = "never",
    }

    /// Whether the board's edge counts as a wall around a dux (`dux.enclosure_sides`).
    EnclosureSides {
        /// It does: the squares there are suffice.
        Available = "available",
        /// It does not: four real neighbours are needed.
        Four = "four",
    }

    /// Who may stand around an enclosed dux (`dux.enclosure_by`).
    EnclosureBy {
        /// Enemies.
        Enemy = "enemy",
        /// Anyone.
        Any = "any",
    }

    /// What must be captured to win (`end.eliminate`).
    Eliminate {
        /// All men.
        AllMen = "all_men",
        /// All pieces, the dux included.
        AllPieces = "all_pieces",
        /// Nothing: captures never win.
        Off = "off",
    }

    /// What happens to a player without a legal action (`end.no_move`).
    NoMove {
        /// A forced pass; two in a row end the game as a blockade.
        Pass = "pass",
        /// That player loses.
        Loss = "loss",
        /// The game is drawn.
        Draw = "draw",
    }

    /// How a blockade is scored (`end.quiet_result`).
    QuietResult {
        /// A draw.
        Draw = "draw",
        /// The side with most pieces wins; equal is a draw.
        MostPieces = "most_pieces",
    }

    /// What a repeated position does (`end.repetition`).
    Repetition {
        /// Nothing.
        None = "none",
        /// The third occurrence draws.
        ThreefoldDraw = "threefold_draw",
        /// The third occurrence may not be produced.
        ThreefoldForbidden = "threefold_forbidden",
        /// The second occurrence may not be produced.
        Superko = "superko",
        /// The same piece may not go there and back more than three times.
        Shuttle3 = "shuttle3",
    }

    /// The result when the engine's cap is reached (`end.max_plies_result`).
    MaxPliesResult {
        /// A draw, reported as truncated.
        Draw = "draw",
    }
}

/// Whose pieces may be jumped over (`man.jump_over`, `dux.jump_over`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct JumpOver {
    /// The jumper's own side.
    pub own: bool,
    /// The other side.
    pub enemy: bool,
}

impl JumpOver {
    /// Tells whether anything may be jumped.
    #[must_use]
    pub const fn any(self) -> bool {
        self.own || self.enemy
    }
}

/// Board size (`board.*`), in squares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BoardSize {
    /// Files, 4 to 16.
    pub files: u8,
    /// Ranks, 4 to 16.
    pub ranks: u8,
}

/// The opening position (`setup.*`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Setup {
    /// Fixed array or placement phase.
    pub mode: SetupMode,
    /// The array, top rank first, rows separated by newlines or `/`, characters `M D m d .`.
    pub array: Option<String>,
}

/// The placement phase (`placement.*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Placement {
    /// Men in hand per side.
    pub men: u8,
    /// Duces in hand per side, 0 or 1.
    pub dux: u8,
    /// Men placed per placement turn; the last group may be smaller.
    pub group: u8,
    /// Size of the very first group, if it differs.
    pub opening_group: Option<u8>,
    /// When the dux goes down.
    pub dux_time: DuxTime,
}

/// Movement common to all pieces (`move.*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Movement {
    /// Four or eight directions, for steps, slides and jumps.
    pub lines: Lines,
    /// Whether a dux may be jumped over.
    pub jump_over_dux: bool,
}

/// How one kind of piece moves (`man.*`, `dux.*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PieceMovement {
    /// Directions of steps and slides.
    pub step: StepDirections,
    /// One square or any number.
    pub range: Range,
    /// Whose pieces may be jumped.
    pub jump_over: JumpOver,
    /// One piece or a whole run at once.
    pub jump_run: JumpRun,
    /// One jump or several in one move.
    pub jump_chain: JumpChain,
}

/// Custodial capture (`capture.*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Capture {
    /// What flanking does.
    pub timing: Timing,
    /// Lines on which two flankers hold a piece.
    pub lines: Lines,
    /// One piece or a row between the flankers.
    pub span: Span,
    /// What a dux in the row does.
    pub row_with_dux: RowWithDux,
    /// All or one.
    pub per_move: PerMove,
    /// Active or positional.
    pub trigger: Trigger,
    /// When a bound piece goes free.
    pub release: Release,
    /// Whether a removal needs both flankers to be free themselves.
    pub free_flankers: bool,
    /// Whether a man in a corner is flanked by enemies on its two neighbours.
    pub corner: bool,
    /// Whether a man with enemies on all its available sides is captured.
    pub man_by_enclosure: bool,
    /// What a removal costs.
    pub removal: Removal,
    /// How much one removal takes.
    pub removal_scope: RemovalScope,
}

/// Continuation after a capture (`extra.*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Extra {
    /// Whether the capturing piece may go on.
    pub mode: ExtraMode,
    /// With its full move, or with its step or slide alone.
    pub moves: ExtraMoves,
    /// Number of continuation moves per turn; `None` is no limit.
    pub limit: Option<u8>,
}

/// What is special about the dux (`dux.*`, beyond [`PieceMovement`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dux {
    /// Whether a chain may mix slides or steps with jumps.
    pub chain_slides: bool,
    /// Whether it counts as a flanker.
    pub armed: bool,
    /// How it is taken.
    pub capture: DuxCapture,
    /// Whether the edge is a wall.
    pub enclosure_sides: EnclosureSides,
    /// Who may stand around it.
    pub enclosure_by: EnclosureBy,
    /// Active or positional.
    pub enclosure_trigger: Trigger,
    /// Whether an enclosed dux that still has a jump is not lost.
    pub enclosure_escape: bool,
}

/// How a game ends (`end.*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct End {
    /// Whether taking the dux wins; if not, an enclosed dux is just removed.
    pub win_dux: bool,
    /// What must be captured to win.
    pub eliminate: Eliminate,
    /// A side reduced to this many has lost.
    pub eliminate_at: u8,
    /// What a lack of legal actions means.
    pub no_move: NoMove,
    /// Turns without a capture that end the game; 0 is off.
    pub quiet_limit: u16,
    /// How a blockade is scored.
    pub quiet_result: QuietResult,
    /// Whether the dux counts in [`QuietResult::MostPieces`].
    pub count_dux: bool,
    /// What a repeated position does.
    pub repetition: Repetition,
    /// The engine's arbitration cap, in turns.
    pub max_plies: u16,
    /// The result when the cap is reached; only a draw is known.
    pub max_plies_result: MaxPliesResult,
}

/// One reconstruction of the game, as a point of the parameter space.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ruleset {
    /// Short name: lower-case letters, digits and hyphens.
    pub id: String,
    /// Title for people.
    pub name: String,
    /// One or two sentences in words.
    pub summary: String,
    /// Where the rules come from.
    pub source: String,
    /// Board size.
    pub board: BoardSize,
    /// Opening position.
    pub setup: Setup,
    /// Placement phase.
    pub placement: Placement,
    /// Who makes the first placement or move (`play.first_player`).
    pub first_player: Player,
    /// Movement common to all pieces.
    pub movement: Movement,
    /// How men move.
    pub man: PieceMovement,
    /// How the dux moves.
    pub dux_movement: PieceMovement,
    /// What is special about the dux.
    pub dux: Dux,
    /// Custodial capture.
    pub capture: Capture,
    /// Continuation after a capture.
    pub extra: Extra,
    /// How a game ends.
    pub end: End,
}

impl Default for Ruleset {
    /// Returns the default of every parameter; it has no stones and so cannot be played as it is.
    fn default() -> Self {
        Ruleset {
            id: String::new(),
            name: String::new(),
            summary: String::new(),
            source: String::new(),
            board: BoardSize { files: 8, ranks: 8 },
            setup: Setup::default(),
            placement: Placement { group: 2, ..Placement::default() },
            first_player: Player::First,
            movement: Movement { lines: Lines::Orthogonal, jump_over_dux: true },
            man: PieceMovement::default(),
            dux_movement: PieceMovement::default(),
            dux: Dux { armed: true, ..Dux::default() },
            capture: Capture::default(),
            extra: Extra::default(),
            end: End { win_dux: true, count_dux: true, max_plies: 1000, ..End::default() },
        }
    }
}
