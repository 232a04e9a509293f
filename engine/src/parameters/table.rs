//! Every parameter: how it is read and set, and what it and its names mean.

use super::{Parameter, ParameterKind, ParameterValue, Read, Write};
use crate::player::Player;
use crate::ruleset::{
    DuxCapture, DuxTime, Eliminate, EnclosureBy, EnclosureSides, ExtraMode, ExtraMoves, JumpChain, JumpOver, JumpRun,
    Lines, MaxPliesResult, NoMove, PerMove, QuietResult, Range, Release, Removal, RemovalScope, Repetition, RowWithDux,
    SetupMode, Span, StepDirections, Timing, Trigger,
};

fn integer(value: &ParameterValue) -> i64 {
    match value {
        ParameterValue::Integer(number) => *number,
        other => unreachable!("accepted as a whole number: {other:?}"),
    }
}

fn small(value: &ParameterValue) -> u8 {
    u8::try_from(integer(value)).expect("the accepted range fits in a byte")
}

fn short(value: &ParameterValue) -> u16 {
    u16::try_from(integer(value)).expect("the accepted range fits in 16 bits")
}

fn name(value: &ParameterValue) -> &str {
    match value {
        ParameterValue::Text(text) => text,
        other => unreachable!("accepted as a name: {other:?}"),
    }
}

fn jump_over_value(jump_over: JumpOver) -> ParameterValue {
    let names = [(jump_over.own, "own"), (jump_over.enemy, "enemy")];
    ParameterValue::List(names.iter().filter(|(chosen, _)| *chosen).map(|(_, name)| (*name).to_owned()).collect())
}

fn jump_over_set(value: &ParameterValue) -> JumpOver {
    match value {
        ParameterValue::List(names) => {
            JumpOver { own: names.iter().any(|name| name == "own"), enemy: names.iter().any(|name| name == "enemy") }
        }
        other => unreachable!("accepted as a set: {other:?}"),
    }
}

/// Returns kind, reader and writer of a parameter, given its kind and the field that it stands for.
macro_rules! access {
    (($low:literal..=$high:literal $convert:ident) $($field:ident).+) => {(
        ParameterKind::Integer($low, $high),
        |r| ParameterValue::Integer(r.$($field).+.into()),
        |r, v| r.$($field).+ = $convert(v),
    )};
    ((optional $low:literal..=$high:literal) $($field:ident).+) => {(
        ParameterKind::OptionalInteger($low, $high),
        |r| r.$($field).+.map_or(ParameterValue::Absent, |n| ParameterValue::Integer(n.into())),
        |r, v| r.$($field).+ = if *v == ParameterValue::Absent { None } else { Some(small(v)) },
    )};
    (boolean $($field:ident).+) => {(
        ParameterKind::Boolean,
        |r| ParameterValue::Boolean(r.$($field).+),
        |r, v| r.$($field).+ = *v == ParameterValue::Boolean(true),
    )};
    (jump_over $($field:ident).+) => {(
        ParameterKind::Set(&["own", "enemy"]),
        |r| jump_over_value(r.$($field).+),
        |r, v| r.$($field).+ = jump_over_set(v),
    )};
    (board $($field:ident).+) => {(
        ParameterKind::Board,
        |r| r.$($field).+.clone().map_or(ParameterValue::Absent, ParameterValue::Text),
        |r, v| r.$($field).+ = if let ParameterValue::Text(text) = v { Some(text.clone()) } else { None },
    )};
    (player $($field:ident).+) => {(
        ParameterKind::Integer(1, 2),
        |r| ParameterValue::Integer(r.$($field).+.number().into()),
        |r, v| r.$($field).+ = if integer(v) == 1 { Player::First } else { Player::Second },
    )};
    ($choice:ident $($field:ident).+) => {(
        ParameterKind::Choice($choice::NAMES),
        |r| ParameterValue::Text(r.$($field).+.as_str().to_owned()),
        |r, v| r.$($field).+ = $choice::from_name(name(v)).expect("accepted as one of the names"),
    )};
}

macro_rules! parameters {
    ($($name:literal $kind:tt $($field:ident).+, $meaning:literal $(, [$($word:literal),+])?;)+) => {
        /// Every parameter, in the order of SPECIFICATION.md, section 2.
        pub static PARAMETERS: &[Parameter] = &[$({
            let (kind, read, write): (ParameterKind, Read, Write) = access!($kind $($field).+);
            Parameter { name: $name, kind, meaning: $meaning, words: &[$($($word),+)?], read, write }
        }),+];
    };
}

// Name in files, kind, field of `Ruleset`, what it decides; of names, what each stands for, in the order of the kind.
parameters! {
    "board.files" (4..=16 small) board.files, "number of files of the board";
    "board.ranks" (4..=16 small) board.ranks, "number of ranks of the board";
    "setup.mode" SetupMode setup.mode, "how a game begins",
        ["from an opening array", "by placing the stones"];
    "setup.array" board setup.array, "the opening array, top rank first";
    "placement.men" (0..=127 small) placement.men, "men that each side places";
    "placement.dux" (0..=1 small) placement.dux, "duces that each side places";
    "placement.group" (1..=127 small) placement.group, "men placed in a turn";
    "placement.opening_group" (optional 1..=127) placement.opening_group,
        "men placed in the very first turn, if it differs";
    "placement.dux_time" DuxTime placement.dux_time, "when the dux is placed",
        ["after the men, in a turn of its own", "at any time, as one of the stones"];
    "play.first_player" player first_player, "who begins";
    "move.lines" Lines movement.lines, "lines of steps, slides and jumps",
        ["ranks and files", "ranks, files and diagonals"];
    "move.jump_over_dux" boolean movement.jump_over_dux, "whether a dux may be jumped over";
    "man.step" StepDirections man.step, "where a man steps or slides to",
        ["in all directions of the lines", "forwards and sideways", "nowhere: it only jumps"];
    "man.range" Range man.range, "how far a man moves", ["one square", "any number of squares"];
    "man.jump_over" jump_over man.jump_over, "what a man may jump over", ["pieces of its own side", "enemies"];
    "man.jump_run" JumpRun man.jump_run, "how much a jump of a man crosses", ["one piece", "a whole row of pieces"];
    "man.jump_chain" JumpChain man.jump_chain, "jumps of a man in one move",
        ["one", "as many as it likes", "on as long as it can"];
    "dux.step" StepDirections dux_movement.step, "where the dux steps or slides to",
        ["in all directions of the lines", "forwards and sideways", "nowhere: it only jumps"];
    "dux.range" Range dux_movement.range, "how far the dux moves", ["one square", "any number of squares"];
    "dux.jump_over" jump_over dux_movement.jump_over, "what the dux may jump over",
        ["pieces of its own side", "enemies"];
    "dux.jump_run" JumpRun dux_movement.jump_run, "how much a jump of the dux crosses",
        ["one piece", "a whole row of pieces"];
    "dux.jump_chain" JumpChain dux_movement.jump_chain, "jumps of the dux in one move",
        ["one", "as many as it likes", "on as long as it can"];
    "dux.chain_slides" boolean dux.chain_slides, "whether a chain of the dux may mix slides or steps with jumps";
    "capture.timing" Timing capture.timing, "what happens to a flanked piece",
        ["it is removed at once", "it is bound, and removed by a later action",
         "it is bound, and taken by moving onto it"];
    "capture.lines" Lines capture.lines, "lines on which two flankers hold a piece",
        ["ranks and files", "ranks, files and diagonals"];
    "capture.span" Span capture.span, "what may stand between two flankers", ["one piece", "an unbroken row of pieces"];
    "capture.row_with_dux" RowWithDux capture.row_with_dux, "a flanked row with a dux that cannot be taken so",
        ["nothing happens to it", "the others are taken"];
    "capture.per_move" PerMove capture.per_move, "what one move takes",
        ["all that it flanks", "one piece, of the mover's choice"];
    "capture.trigger" Trigger capture.trigger, "when being flanked counts",
        ["only by an enemy's move", "however it came about"];
    "capture.release" Release capture.release, "how long a piece is bound",
        ["while both flankers stand", "while both flankers are free"];
    "capture.free_flankers" boolean capture.free_flankers, "whether a removal needs both flankers to be free";
    "capture.corner" boolean capture.corner, "whether a man in a corner is flanked by enemies on its two neighbours";
    "capture.man_by_enclosure" boolean capture.man_by_enclosure,
        "whether a man with enemies on all its sides is captured";
    "capture.removal" Removal capture.removal, "what a removal costs", ["the whole turn", "nothing: it comes before the move"];
    "capture.removal_scope" RemovalScope capture.removal_scope, "what one removal takes",
        ["all bound pieces that can be removed", "those of one flanked line", "one piece"];
    "extra.mode" ExtraMode extra.mode, "whether a piece that captured goes on",
        ["no", "it may", "it may, and must where it can capture", "by captures alone, and then it must"];
    "extra.moves" ExtraMoves extra.moves, "how it goes on", ["by any of its moves", "by a step or slide, without a jump"];
    "extra.limit" (optional 1..=255) extra.limit, "how often it goes on in a turn, at most";
    "dux.armed" boolean dux.armed, "whether the dux counts as a flanker";
    "dux.capture" DuxCapture dux.capture, "how the dux is taken",
        ["by enemies on all its sides", "by flanking, like a man", "not at all"];
    "dux.enclosure_sides" EnclosureSides dux.enclosure_sides, "the board's edge around an enclosed dux",
        ["counts as a wall", "does not count: four neighbours are needed"];
    "dux.enclosure_by" EnclosureBy dux.enclosure_by, "what an enclosed dux has around it",
        ["enemies alone", "pieces of either side"];
    "dux.enclosure_trigger" Trigger dux.enclosure_trigger, "when an enclosure counts",
        ["only by an enemy's move", "however it came about"];
    "dux.enclosure_escape" boolean dux.enclosure_escape, "whether an enclosed dux that still has a jump is not lost";
    "end.win_dux" boolean end.win_dux, "whether taking the dux wins; if not, it is just removed";
    "end.eliminate" Eliminate end.eliminate, "what a side must lose to lose the game",
        ["all its men", "all its pieces", "nothing: captures alone do not win"];
    "end.eliminate_at" (0..=127 small) end.eliminate_at, "number of them left at which it has lost";
    "end.no_move" NoMove end.no_move, "a player without a legal action", ["passes", "loses", "has a draw"];
    "end.quiet_limit" (0..=60000 short) end.quiet_limit, "turns without a capture that end the game; 0 is off";
    "end.quiet_result" QuietResult end.quiet_result, "result after that limit",
        ["a draw", "the side with more pieces wins"];
    "end.count_dux" boolean end.count_dux, "whether the dux counts among the pieces";
    "end.repetition" Repetition end.repetition, "repeated positions",
        ["no rule", "a draw the third time", "forbidden the third time", "forbidden the second time",
         "no piece goes back and forth more than three times"];
    "end.max_plies" (1..=60000 short) end.max_plies, "turns after which the program ends the game";
    "end.max_plies_result" MaxPliesResult end.max_plies_result, "result when the program ends it", ["a draw"];
}
