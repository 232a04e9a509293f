//! The parameters of a ruleset: name, kind, meaning, and how to read and set each. The one place that knows the names of
//! SPECIFICATION.md, section 2.

use std::fmt;

use crate::player::Player;
use crate::ruleset::{
    DuxCapture, DuxTime, Eliminate, EnclosureBy, EnclosureSides, ExtraMode, ExtraMoves, JumpChain, JumpOver, JumpRun,
    Lines, MaxPliesResult, NoMove, PerMove, QuietResult, Range, Release, Removal, RemovalScope, Repetition, RowWithDux,
    Ruleset, SetupMode, Span, StepDirections, Timing, Trigger,
};

/// The value of one parameter, as it is written in files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterValue {
    /// A whole number.
    Integer(i64),
    /// True or false.
    Boolean(bool),
    /// A name or text.
    Text(String),
    /// A set of names.
    List(Vec<String>),
    /// Not set (`"none"` in TOML, `null` in JSON).
    Absent,
}

impl fmt::Display for ParameterValue {
    /// Writes the value as TOML.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterValue::Integer(number) => write!(f, "{number}"),
            ParameterValue::Boolean(truth) => write!(f, "{truth}"),
            ParameterValue::Text(text) if text.contains('\n') => write!(f, "\"\"\"\n{text}\"\"\""),
            ParameterValue::Text(text) if text == "1" => f.write_str("1"),
            ParameterValue::Text(text) => write!(f, "{text:?}"),
            ParameterValue::List(names) => write!(f, "{names:?}"),
            ParameterValue::Absent => f.write_str("\"none\""),
        }
    }
}

impl ParameterValue {
    /// Reads a JSON value; `None` for objects, fractions and mixed lists.
    #[must_use]
    pub fn from_json(value: &serde_json::Value) -> Option<ParameterValue> {
        use serde_json::Value;
        Some(match value {
            Value::Null => ParameterValue::Absent,
            Value::Bool(truth) => ParameterValue::Boolean(*truth),
            Value::Number(number) => ParameterValue::Integer(number.as_i64()?),
            Value::String(text) => ParameterValue::Text(text.clone()),
            Value::Array(items) => {
                ParameterValue::List(items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<_>>()?)
            }
            Value::Object(_) => return None,
        })
    }

    /// Returns the value as JSON.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            ParameterValue::Integer(number) => (*number).into(),
            ParameterValue::Boolean(truth) => (*truth).into(),
            ParameterValue::Text(text) if text == "1" => 1.into(),
            ParameterValue::Text(text) => text.clone().into(),
            ParameterValue::List(names) => names.clone().into(),
            ParameterValue::Absent => serde_json::Value::Null,
        }
    }
}

/// What values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A whole number between the two, both included.
    Integer(i64, i64),
    /// A whole number between the two, or nothing.
    OptionalInteger(i64, i64),
    /// True or false.
    Boolean,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// Any subset of these names.
    Set(&'static [&'static str]),
    /// A drawn board, or nothing.
    Board,
}

impl fmt::Display for ParameterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterKind::Integer(low, high) => write!(f, "a whole number from {low} to {high}"),
            ParameterKind::OptionalInteger(low, high) => write!(f, "a whole number from {low} to {high}, or \"none\""),
            ParameterKind::Boolean => f.write_str("true or false"),
            ParameterKind::Choice(names) => write!(f, "one of {}", names.join(", ")),
            ParameterKind::Set(names) => write!(f, "a list of some of {}", names.join(", ")),
            ParameterKind::Board => f.write_str("a drawn board (characters M D m d .), or \"none\""),
        }
    }
}

/// One parameter of the space.
pub struct Parameter {
    /// Name with its table, as `capture.per_move`.
    pub name: &'static str,
    /// What values it takes.
    pub kind: ParameterKind,
    /// What it decides, in a few words.
    pub meaning: &'static str,
    read: Read,
    write: Write,
}

type Read = fn(&Ruleset) -> ParameterValue;
type Write = fn(&mut Ruleset, &ParameterValue);

impl fmt::Debug for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parameter").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Parameter {
    /// Returns the parameter of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Parameter> {
        PARAMETERS.iter().find(|parameter| parameter.name == name)
    }

    /// Returns this parameter's value in `ruleset`.
    #[must_use]
    pub fn value_in(&self, ruleset: &Ruleset) -> ParameterValue {
        (self.read)(ruleset)
    }

    /// Returns this parameter's default.
    #[must_use]
    pub fn default_value(&self) -> ParameterValue {
        (self.read)(&Ruleset::default())
    }

    /// Sets this parameter in `ruleset`.
    /// Error: a sentence that says what is wrong with the value, without the parameter's name; nothing is changed.
    pub fn set_in(&self, ruleset: &mut Ruleset, value: &ParameterValue) -> Result<(), String> {
        let value = self.accept(value)?;
        (self.write)(ruleset, &value);
        Ok(())
    }

    /// Brings the value to the form that `write` expects, or says what is wrong with it.
    fn accept(&self, value: &ParameterValue) -> Result<ParameterValue, String> {
        use ParameterValue::{Absent, Boolean, Integer, List, Text};
        let wrong = || Err(format!("{value} is not {}", self.kind));
        let is_none = |text: &str| text == "none";
        match (self.kind, value) {
            (ParameterKind::Integer(low, high) | ParameterKind::OptionalInteger(low, high), Integer(number)) => {
                if (low..=high).contains(number) { Ok(value.clone()) } else { wrong() }
            }
            (ParameterKind::OptionalInteger(..) | ParameterKind::Board, Absent) => Ok(Absent),
            (ParameterKind::OptionalInteger(..) | ParameterKind::Board, Text(text)) if is_none(text) => Ok(Absent),
            (ParameterKind::Board, Text(text)) => {
                let rows: Vec<&str> = text.split(['\n', '/']).map(str::trim).filter(|row| !row.is_empty()).collect();
                match text.chars().find(|c| !"MDmd./\n\r \t".contains(*c)) {
                    Some(c) => Err(format!("a drawn board holds only the characters M D m d . and not {c:?}")),
                    None => Ok(Text(rows.join("\n"))),
                }
            }
            (ParameterKind::Boolean, Boolean(_)) => Ok(value.clone()),
            (ParameterKind::Choice(names), Text(name)) => choice_or_hint(names, name),
            (ParameterKind::Choice(names), Integer(number)) => choice_or_hint(names, &number.to_string()),
            (ParameterKind::Set(names), List(chosen)) => {
                for name in chosen {
                    choice_or_hint(names, name)?;
                }
                Ok(value.clone())
            }
            _ => wrong(),
        }
    }
}

fn choice_or_hint(names: &[&str], name: &str) -> Result<ParameterValue, String> {
    if names.contains(&name) {
        return Ok(ParameterValue::Text(name.to_owned()));
    }
    let hint = did_you_mean(name, names.iter().copied());
    Err(format!("{name:?} is not one of {}{hint}", names.join(", ")))
}

/// Returns the names of the parameters in which two rulesets differ, in the order of [`PARAMETERS`].
#[must_use]
pub fn differing(one: &Ruleset, other: &Ruleset) -> Vec<&'static str> {
    let differs = |parameter: &&Parameter| parameter.value_in(one) != parameter.value_in(other);
    PARAMETERS.iter().filter(differs).map(|parameter| parameter.name).collect()
}

/// Returns the known name that is fewest letters away from `name`, if any is near enough to be meant.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = name.chars().count();
    let farthest = |candidate: &str| 1 + candidate.len().max(name.len()) / 4;
    known
        .into_iter()
        // No distance is below the difference of the lengths; a long text is not compared letter by letter.
        .filter(|candidate| candidate.chars().count().abs_diff(letters) <= farthest(candidate))
        .map(|candidate| (strsim::levenshtein(name, candidate), candidate))
        .min()
        .filter(|&(distance, candidate)| distance <= farthest(candidate))
        .map(|(_, candidate)| candidate)
}

/// Asks, after a text that says that `name` is not known, whether the nearest known one was meant; nothing if none is near.
#[must_use]
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map(|near| format!("; did you mean {near}?")).unwrap_or_default()
}

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
    ($($name:literal $kind:tt $($field:ident).+, $meaning:literal;)+) => {
        /// Every parameter, in the order of SPECIFICATION.md, section 2.
        pub static PARAMETERS: &[Parameter] = &[$({
            let (kind, read, write): (ParameterKind, Read, Write) = access!($kind $($field).+);
            Parameter { name: $name, kind, meaning: $meaning, read, write }
        }),+];
    };
}

// Name in files, kind, field of `Ruleset`, meaning.
parameters! {
    "board.files" (4..=16 small) board.files, "files of the board, counted from South's left";
    "board.ranks" (4..=16 small) board.ranks, "ranks of the board, counted from South's side";
    "setup.mode" SetupMode setup.mode, "array: a fixed opening array; placement: an opening phase that places stones";
    "setup.array" board setup.array, "the opening array, top rank first";
    "placement.men" (0..=127 small) placement.men, "men in hand per side";
    "placement.dux" (0..=1 small) placement.dux, "duces in hand per side";
    "placement.group" (1..=127 small) placement.group, "men placed per placement turn";
    "placement.opening_group" (optional 1..=127) placement.opening_group, "size of the very first group, if it differs";
    "placement.dux_time" DuxTime placement.dux_time,
        "when the dux goes down: after_men: in a turn of its own, after the men; any: at any time, as one of the \
         stones";
    "play.first_player" player first_player, "who makes the first placement or move";
    "move.lines" Lines movement.lines, "steps, slides and jumps in four directions (orthogonal) or eight (all)";
    "move.jump_over_dux" boolean movement.jump_over_dux, "whether a dux may be jumped over";
    "man.step" StepDirections man.step, "directions of a man's steps and slides";
    "man.range" Range man.range, "1: one square a move; slide: any number";
    "man.jump_over" jump_over man.jump_over, "whose pieces a man may jump over";
    "man.jump_run" JumpRun man.jump_run, "1: jumps over exactly one adjacent piece; any: over a whole adjacent run";
    "man.jump_chain" JumpChain man.jump_chain, "none: one jump; optional: as many as liked; maximal: on while possible";
    "dux.step" StepDirections dux_movement.step, "directions of the dux's steps and slides";
    "dux.range" Range dux_movement.range, "1: one square a move; slide: any number";
    "dux.jump_over" jump_over dux_movement.jump_over, "whose pieces the dux may jump over";
    "dux.jump_run" JumpRun dux_movement.jump_run,
        "1: jumps over exactly one adjacent piece; any: over a whole adjacent run";
    "dux.jump_chain" JumpChain dux_movement.jump_chain,
        "none: one jump; optional: as many as liked; maximal: on while possible";
    "dux.chain_slides" boolean dux.chain_slides, "whether a dux chain may mix slides or steps with jumps";
    "capture.timing" Timing capture.timing,
        "immediate: flanked pieces are removed at once; delayed: bound, and removed by a later action; \
         displacement: bound, and taken by moving onto them";
    "capture.lines" Lines capture.lines,
        "two flankers hold a piece on ranks and files (orthogonal) or on diagonals too (all)";
    "capture.span" Span capture.span, "1: one piece between the flankers; row: an uninterrupted row of them";
    "capture.row_with_dux" RowWithDux capture.row_with_dux,
        "a row with a dux that cannot be taken so: blocks: nothing happens; spared: the others are taken";
    "capture.per_move" PerMove capture.per_move,
        "all: one move takes all it flanks; one: one piece, of the mover's choice";
    "capture.trigger" Trigger capture.trigger,
        "active: walking in between is safe; positional: being flanked counts however it came about";
    "capture.release" Release capture.release,
        "geometric: bound while both flankers stand; effective: only while both of them are free";
    "capture.free_flankers" boolean capture.free_flankers, "whether a removal needs both flankers to be free";
    "capture.corner" boolean capture.corner, "whether a man in a corner is flanked by enemies on its two neighbours";
    "capture.man_by_enclosure" boolean capture.man_by_enclosure,
        "whether a man with enemies on all its sides is captured";
    "capture.removal" Removal capture.removal,
        "replaces_move: a removal is the whole turn; precedes_move: it comes before the move";
    "capture.removal_scope" RemovalScope capture.removal_scope,
        "one removal takes all bound pieces that can be removed (all), those of a flanked line (line), or one \
         piece (one)";
    "extra.mode" ExtraMode extra.mode,
        "a piece that captured: none: stops; optional: may go on; mandatory: may go on, and must where it can \
         capture; must_capture: goes on by captures alone, and must";
    "extra.moves" ExtraMoves extra.moves,
        "a continuation is: piece: the piece's full move; step: its step or slide without a jump";
    "extra.limit" (optional 1..=255) extra.limit, "number of continuation moves per turn";
    "dux.armed" boolean dux.armed, "whether the dux counts as a flanker";
    "dux.capture" DuxCapture dux.capture,
        "enclosure: taken by enemies on all its sides; as_man: flanked like a man; never: not at all";
    "dux.enclosure_sides" EnclosureSides dux.enclosure_sides,
        "available: the board's edge is a wall; four: four real neighbours are needed";
    "dux.enclosure_by" EnclosureBy dux.enclosure_by,
        "an enclosed dux has around it: enemy: enemies alone; any: pieces of either side";
    "dux.enclosure_trigger" Trigger dux.enclosure_trigger,
        "active: an enemy move must complete the enclosure; positional: it is judged at the end of every turn";
    "dux.enclosure_escape" boolean dux.enclosure_escape, "whether an enclosed dux that still has a jump is not lost";
    "end.win_dux" boolean end.win_dux, "whether taking the dux wins; if not, it is just removed";
    "end.eliminate" Eliminate end.eliminate,
        "a side loses all its men (all_men) or all its pieces (all_pieces) and with them the game; off: it does \
         not";
    "end.eliminate_at" (0..=127 small) end.eliminate_at, "a side reduced to this many has lost";
    "end.no_move" NoMove end.no_move,
        "a player without a legal action passes (pass), loses (loss), or the game is drawn (draw)";
    "end.quiet_limit" (0..=60000 short) end.quiet_limit, "turns without a capture that end the game; 0 is off";
    "end.quiet_result" QuietResult end.quiet_result,
        "after that limit: draw: the game is drawn; most_pieces: the side with more pieces wins";
    "end.count_dux" boolean end.count_dux, "whether the dux counts among the pieces";
    "end.repetition" Repetition end.repetition,
        "a position: threefold_draw: a draw when it occurs a third time; threefold_forbidden: may not occur a \
         third time; superko: nor a second time; shuttle3: no piece goes back and forth more than three times; \
         none: no rule";
    "end.max_plies" (1..=60000 short) end.max_plies, "arbitration cap of the engine, in turns";
    "end.max_plies_result" MaxPliesResult end.max_plies_result, "result when the cap is reached";
}
