//! A ruleset in sentences, from its parameters alone.

use latrunculi_engine::parameters::PARAMETERS;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::ruleset::{
    DuxCapture, DuxTime, Eliminate, EnclosureBy, EnclosureSides, ExtraMode, ExtraMoves, JumpChain, JumpRun, Lines,
    NoMove, PerMove, PieceMovement, QuietResult, Range, Release, Removal, RemovalScope, Repetition, RowWithDux,
    SetupMode, Span, StepDirections, Timing, Trigger,
};
use latrunculi_engine::{Player, Rules, Ruleset, presets};
use maud::{Markup, Render, html};

use super::layout::Table;

/// Returns the rules in sentences, by heading.
#[must_use]
pub fn rules_in_words(rules: &Rules) -> Vec<(&'static str, Vec<String>)> {
    let mut parts = vec![("Beginning", beginning(rules)), ("Moving", moving(rules)), ("Capturing", capturing(rules))];
    if rules.has_duces() {
        parts.push(("The dux", dux(rules)));
    }
    parts.push(("Winning and drawing", ending(rules)));
    parts
}

/// Returns how men are captured in a few words, for tables.
#[must_use]
pub fn capture_in_brief(rules: &Rules) -> String {
    let capture = rules.ruleset().capture;
    let how = match capture.timing {
        Timing::Immediate => "taken at once",
        Timing::Delayed => "bound, then removed",
        Timing::Displacement => "bound, then moved onto",
    };
    let besides = [
        (capture.span == Span::Row, "rows too"),
        (capture.lines == Lines::All, "diagonals too"),
        (capture.per_move == PerMove::One && matters(rules, "capture.per_move"), "one a move"),
    ];
    besides.iter().filter(|(applies, _)| *applies).fold(how.to_owned(), |text, (_, more)| format!("{text}; {more}"))
}

/// Tells whether another value of `parameter` could change a game; nothing is said of one that could not.
fn matters(rules: &Rules, parameter: &str) -> bool {
    rules.why_without_effect(parameter).is_none()
}

/// Returns "1 man", "2 men".
fn counted(number: impl Into<u32>, one: &str, many: &str) -> String {
    match number.into() {
        1 => format!("1 {one}"),
        number => format!("{number} {many}"),
    }
}

fn beginning(rules: &Rules) -> Vec<String> {
    let ruleset = rules.ruleset();
    let board = ruleset.board;
    let first = match ruleset.first_player {
        Player::First => "Player 1 (South)",
        Player::Second => "Player 2 (North)",
    };
    let mut said = vec![format!("The board has {} files and {} ranks.", board.files, board.ranks)];
    if ruleset.setup.mode == SetupMode::Array {
        said.push("The pieces stand in the array that is drawn.".to_owned());
        said.push(format!("{first} moves first."));
        return said;
    }
    let placement = ruleset.placement;
    let men = counted(placement.men, "man", "men");
    said.push(if placement.men == 0 {
        "The board is empty; each player places a dux.".to_owned()
    } else {
        let opening = placement
            .opening_group
            .filter(|_| matters(rules, "placement.opening_group"))
            .map(|opening| format!(", the very first group having {opening}"))
            .unwrap_or_default();
        format!("The board is empty; the players place {men} each, {} a turn{opening}.", placement.group)
    });
    if placement.dux > 0 && placement.men > 0 {
        said.push(match placement.dux_time {
            DuxTime::AfterMen => "Each dux is placed after the men, in a turn of its own.".to_owned(),
            DuxTime::Any => "The dux may be placed at any time, as one of the stones.".to_owned(),
        });
    }
    said.push(format!("{first} places first, and after the last placement the turns simply go on."));
    let uncounted = match ruleset.end.quiet_limit {
        0 => "",
        _ => ", and its turns are not counted as turns without a capture",
    };
    said.push(format!("Nothing is taken during the placement{uncounted}."));
    said
}

fn moving(rules: &Rules) -> Vec<String> {
    let ruleset = rules.ruleset();
    let lines = ruleset.movement.lines;
    let man = movement(&ruleset.man, lines);
    let mut said = vec![format!("A man {man}.")];
    if rules.has_duces() {
        let dux = movement(&ruleset.dux_movement, lines);
        said.push(if dux == man { "The dux moves like a man.".to_owned() } else { format!("The dux {dux}.") });
        if ruleset.dux.chain_slides && matters(rules, "dux.chain_slides") {
            said.push(match ruleset.dux_movement.jump_over.any() {
                true => "A chain of the dux may mix jumps with its other moves.".to_owned(),
                false => "The dux may make several such moves in one, but not back to where it stood.".to_owned(),
            });
        }
        if !ruleset.movement.jump_over_dux && matters(rules, "move.jump_over_dux") {
            said.push("No dux may be jumped over.".to_owned());
        }
    }
    said
}

/// Returns how a kind of piece moves, as what is said of it.
fn movement(movement: &PieceMovement, lines: Lines) -> String {
    let everywhere = match lines {
        Lines::Orthogonal => "in any direction along ranks and files",
        Lines::All => "in any of the eight directions",
    };
    let directions = match (movement.step, lines) {
        (StepDirections::ForwardSideways, Lines::Orthogonal) => "forwards or sideways",
        (StepDirections::ForwardSideways, Lines::All) => "forwards, sideways or diagonally forwards",
        (StepDirections::All | StepDirections::None, _) => everywhere,
    };
    let mut text = match (movement.step, movement.range) {
        (StepDirections::None, _) => "does not step".to_owned(),
        (_, Range::One) => format!("moves one square {directions}"),
        (_, Range::Slide) => format!("moves any number of empty squares {directions}"),
    };
    if movement.jump_over.any() {
        let whom = match (movement.jump_over.own, movement.jump_over.enemy) {
            (true, true) => "any piece",
            (true, false) => "a piece of its own side",
            _ => "an enemy",
        };
        let run = match movement.jump_run {
            JumpRun::One => "",
            JumpRun::Any => " or a whole row of them",
        };
        let chain = match movement.jump_chain {
            JumpChain::None => ", once a move",
            JumpChain::Optional => ", as often in a move as it likes",
            JumpChain::Maximal => ", and on as long as it can",
        };
        // Jumps go in all directions, whatever those of the steps are.
        let directions = match movement.step {
            StepDirections::All => String::new(),
            StepDirections::ForwardSideways | StepDirections::None => format!(" {everywhere}"),
        };
        text.push_str(&format!(
            "; it may jump{directions} over {whom} next to it{run} to the square behind{chain}, without taking it"
        ));
    }
    text
}

fn capturing(rules: &Rules) -> Vec<String> {
    let ruleset = rules.ruleset();
    let capture = ruleset.capture;
    let lines = match capture.lines {
        Lines::Orthogonal => "along a rank or file",
        Lines::All => "along a rank, file or diagonal",
    };
    let between = match capture.span {
        Span::One => "A man between two enemies",
        Span::Row => "A man, or an unbroken row of men, between two enemies",
    };
    let taken = if capture.timing == Timing::Immediate { "taken" } else { "bound" };
    let mut said = vec![match capture.timing {
        Timing::Immediate => format!("{between} {lines} is taken at once."),
        Timing::Delayed => {
            format!("{between} {lines} is bound (alligatus): it cannot move, and may be removed in a later turn.")
        }
        Timing::Displacement => {
            format!(
                "{between} {lines} is bound (alligatus): it cannot move, and may be taken by moving onto its square."
            )
        }
    }];
    said.push(match (capture.trigger, capture.timing) {
        (Trigger::Active, _) => "Moving in between two enemies oneself is safe.".to_owned(),
        (Trigger::Positional, Timing::Immediate) => {
            "It counts however it came about: who moves in between two enemies is taken by their next move.".to_owned()
        }
        (Trigger::Positional, _) => {
            "It counts however it came about, also for who moves in between two enemies.".to_owned()
        }
    });
    if capture.per_move == PerMove::One && matters(rules, "capture.per_move") {
        said.push("One move takes one piece at most, of the mover's choice.".to_owned());
    }
    if capture.row_with_dux == RowWithDux::Spared && matters(rules, "capture.row_with_dux") {
        said.push(format!("A dux in such a row is spared, the others are {taken}."));
    }
    if capture.corner {
        said.push("A man in a corner is flanked by enemies on the two squares beside it.".to_owned());
    }
    if capture.man_by_enclosure {
        said.push(format!("A man with enemies on all sides that it has along rank and file is {taken} too."));
    }
    if capture.timing != Timing::Immediate {
        said.push(match capture.release {
            Release::Effective if matters(rules, "capture.release") => {
                "A bound piece binds no other, and goes free when a flanker leaves or is bound itself.".to_owned()
            }
            _ => "A bound piece goes free when a flanker leaves.".to_owned(),
        });
    }
    if capture.timing == Timing::Delayed {
        let scope = match capture.removal_scope {
            RemovalScope::All => "every bound piece",
            RemovalScope::Line => "one bound line",
            RemovalScope::One => "one bound piece",
        };
        let free = if capture.free_flankers { " whose captors are not bound themselves" } else { "" };
        said.push(match capture.removal {
            Removal::ReplacesMove => format!("Instead of a move a player may remove {scope}{free}."),
            Removal::PrecedesMove => format!("Before a move a player may remove {scope}{free}."),
        });
    }
    if matters(rules, "extra.mode") {
        said.extend(continuing(rules));
    }
    said
}

/// Returns how a piece that has captured may go on.
fn continuing(rules: &Rules) -> Option<String> {
    let ruleset = rules.ruleset();
    let extra = ruleset.extra;
    let slides = |movement: &PieceMovement| movement.step != StepDirections::None && movement.range == Range::Slide;
    let anybody_slides = slides(&ruleset.man) || rules.has_duces() && slides(&ruleset.dux_movement);
    let what = match extra.moves {
        ExtraMoves::Step if matters(rules, "extra.moves") => match anybody_slides {
            true => "move again without a jump",
            false => "make one more step",
        },
        _ => "move again",
    };
    let when = match extra.limit {
        None => "after each capture".to_owned(),
        Some(1) => "after a capture, once a turn".to_owned(),
        Some(limit) => format!("after each capture, up to {limit} times a turn"),
    };
    match extra.mode {
        ExtraMode::None => None,
        ExtraMode::Optional => Some(format!("A piece may {what} {when}.")),
        ExtraMode::Mandatory => Some(format!("A piece may {what} {when}, and must if it can capture again.")),
        ExtraMode::MustCapture => {
            Some(format!("A piece must {what} {when} if it can capture again; otherwise its turn ends."))
        }
    }
}

fn dux(rules: &Rules) -> Vec<String> {
    let ruleset = rules.ruleset();
    let dux = ruleset.dux;
    let mut said = match dux.capture {
        DuxCapture::AsMan => vec!["It is captured like a man.".to_owned()],
        DuxCapture::Never => vec!["It cannot be captured.".to_owned()],
        DuxCapture::Enclosure => enclosing(rules),
    };
    if !dux.armed {
        let enclosed_duces = dux.capture == DuxCapture::Enclosure && rules.duces() == 2;
        let what = if ruleset.capture.man_by_enclosure { "flank a piece or enclose a man" } else { "flank a piece" };
        let still = if enclosed_duces { ", but it helps to enclose a dux" } else { "" };
        said.push(format!("It does not help to {what}{still}."));
    }
    said
}

/// Returns how a dux is taken by enclosing it.
fn enclosing(rules: &Rules) -> Vec<String> {
    let ruleset = rules.ruleset();
    let dux = ruleset.dux;
    let is_bound = ruleset.capture.timing == Timing::Displacement;
    let sides = match dux.enclosure_sides {
        EnclosureSides::Available => "all sides that it has, the edge of the board being a wall",
        EnclosureSides::Four => "four sides, never at the edge of the board",
    };
    let by = match dux.enclosure_by {
        EnclosureBy::Enemy => "enemies",
        EnclosureBy::Any => "pieces of either side",
    };
    let escape = match (dux.enclosure_escape && matters(rules, "dux.enclosure_escape"), is_bound) {
        (false, _) => "",
        (true, false) => "; it is not lost while it can jump",
        (true, true) => "; it is not bound while it can jump",
    };
    let mut said = vec![match is_bound {
        true => {
            format!("It is bound when {by} stand on {sides}{escape}; then it may be taken by moving onto its square.")
        }
        false => format!("It is taken when {by} stand on {sides}{escape}."),
    }];
    said.push(match dux.enclosure_trigger {
        Trigger::Active => "Only an enemy that moves next to it can complete this.".to_owned(),
        Trigger::Positional => "It counts whoever's move completes this, even one's own.".to_owned(),
    });
    if dux.enclosure_trigger == Trigger::Positional && !is_bound && ruleset.end.win_dux && rules.duces() == 2 {
        said.push("If one turn encloses both duces, the player who made it wins.".to_owned());
    }
    said
}

fn ending(rules: &Rules) -> Vec<String> {
    let ruleset = rules.ruleset();
    let end = ruleset.end;
    let mut said = Vec::new();
    if matters(rules, "end.win_dux") {
        said.push(match end.win_dux {
            true => "A player whose dux is taken has lost.".to_owned(),
            false => "Capturing the dux does not win the game.".to_owned(),
        });
    }
    let whom = match end.eliminate {
        Eliminate::AllMen => Some(("man", "men")),
        Eliminate::AllPieces => Some(("piece", "pieces")),
        Eliminate::Off => None,
    };
    said.extend(whom.map(|(one, many)| match end.eliminate_at {
        0 => format!("A player who captures all enemy {many} wins."),
        1 => format!("A player who is left with 1 {one} or none has lost."),
        left => format!("A player who is left with {left} {many} or fewer has lost."),
    }));
    let cannot = match ruleset.capture.timing {
        Timing::Delayed => "can neither move nor remove a piece",
        Timing::Immediate | Timing::Displacement => "cannot move",
    };
    said.push(match end.no_move {
        NoMove::Pass => format!("A player who {cannot} passes, and nobody else may pass."),
        NoMove::Loss => format!("A player who {cannot} loses."),
        NoMove::Draw => format!("If a player {cannot} the game is drawn."),
    });
    said.extend(blockade(rules));
    match end.repetition {
        Repetition::None => {}
        Repetition::ThreefoldDraw => said.push("The third occurrence of a position is a draw.".to_owned()),
        Repetition::ThreefoldForbidden => said.push("No move may create a position for the third time.".to_owned()),
        Repetition::Superko => said.push("No move may repeat a position.".to_owned()),
        Repetition::Shuttle3 => {
            said.push("A piece may not move back and forth more than three times, except to capture.".to_owned());
        }
    }
    let turns = counted(end.max_plies, "turn", "turns");
    said.push(format!(
        "After {turns} in all (the \"ply cap\") the program ends the game as a draw, which is no rule of the game."
    ));
    said
}

/// Returns when a game ends by a "blockade", as results and records call it, and how that is scored.
fn blockade(rules: &Rules) -> Option<String> {
    let end = &rules.ruleset().end;
    let quiet =
        (end.quiet_limit > 0).then(|| format!("{} without a capture", counted(end.quiet_limit, "turn", "turns")));
    let passes = (end.no_move == NoMove::Pass).then(|| "two passes in a row".to_owned());
    let causes: Vec<String> = quiet.into_iter().chain(passes).collect();
    let score = match end.quiet_result {
        QuietResult::Draw => "the game is drawn",
        QuietResult::MostPieces if !matters(rules, "end.count_dux") => {
            "the side with more pieces wins; equal numbers are a draw"
        }
        QuietResult::MostPieces if end.count_dux => {
            "the side with more pieces wins, the dux being one of them; equal numbers are a draw"
        }
        QuietResult::MostPieces => "the side with more men wins, the dux not counted; equal numbers are a draw",
    };
    (!causes.is_empty()).then(|| format!("After {} (a \"blockade\") {score}.", causes.join(" or ")))
}

/// Returns every parameter that is not at its default or has a source, with the words it comes from.
pub(super) fn parameters(ruleset: &Ruleset) -> Markup {
    let file =
        presets::file(&ruleset.id).filter(|file| ruleset_fingerprint(&file.ruleset) == ruleset_fingerprint(ruleset));
    let evidence = |name: &str| file.as_ref().and_then(|file| file.evidence.get(name)).map(|found| found.text.as_str());
    let shown = PARAMETERS.iter().filter(|parameter| {
        let is_default = parameter.value_in(ruleset) == parameter.default_value();
        parameter.name != "setup.array" && (!is_default || evidence(parameter.name).is_some())
    });
    let caption = "Every setting of this ruleset. [source] quotes the source, [reading] is our interpretation of an unclear sentence, \
                   [engine] is an addition so that a program can finish every game.";
    Table::new(format!("Parameters of {}", ruleset.id), html! { (caption) }, shown)
        .row_head("Setting", |parameter| html! { code { (parameter.name) } br; span.soft { (parameter.explained()) } })
        .column("Value", |parameter| html! { code { (parameter.value_in(ruleset)) } })
        .text("Where it comes from", |parameter| html! { (evidence(parameter.name).unwrap_or("")) })
        .render()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use latrunculi_engine::RulesetFile;
    use latrunculi_engine::parameters::{Parameter, ParameterKind, ParameterValue};

    use super::*;

    #[test]
    fn every_shipped_ruleset_has_its_rules_in_words() {
        for id in presets::NAMES {
            let rules = presets::rules(id);
            let parts = rules_in_words(&rules);
            assert_eq!(parts.len(), 4 + usize::from(rules.has_duces()), "{id}");
            for (heading, said) in parts {
                assert!(!said.is_empty() && said.iter().all(|sentence| sentence.ends_with('.')), "{id} {heading}");
            }
        }
    }

    /// Every sentence about `ruleset`.
    fn said(ruleset: &Ruleset) -> String {
        let parts = rules_in_words(&Rules::new(ruleset).unwrap());
        parts.into_iter().flat_map(|(_, said)| said).collect::<Vec<_>>().join(" ")
    }

    fn shipped(id: &str, change: impl FnOnce(&mut Ruleset)) -> String {
        let mut ruleset = presets::ruleset(id).unwrap();
        change(&mut ruleset);
        said(&ruleset)
    }

    #[test]
    fn words_follow_the_parameters() {
        let bell = shipped("bell", |_| ());
        assert!(bell.contains("place 16 men each, 2 a turn.") && bell.contains("may jump over an enemy"), "{bell}");
        assert!(bell.contains("Player 1 (South) places first"), "{bell}");
        let blockade = "After 30 turns without a capture or two passes in a row (a \"blockade\") the side with more \
                        pieces wins, the dux being one of them; equal numbers are a draw.";
        assert!(bell.contains(blockade), "{bell}");
        assert!(bell.contains("After 1000 turns in all (the \"ply cap\")"), "{bell}");
        let beads = shipped("beads", |_| ());
        assert!(beads.contains("is bound (alligatus)") && beads.contains("any number of empty squares"), "{beads}");
        assert!(beads.contains("also for who moves in between"), "{beads}");
    }

    #[test]
    fn who_may_complete_the_enclosure_of_a_dux_is_said() {
        let [active, positional] = ["savard", "dutch"].map(|id| shipped(id, |_| ()));
        let active_only = "Only an enemy that moves next to it can complete this.";
        let by_anybody = "It counts whoever's move completes this, even one's own.";
        assert!(active.contains(active_only) && !active.contains(by_anybody), "{active}");
        assert!(positional.contains(by_anybody) && !positional.contains(active_only), "{positional}");
        let displacement = shipped("savard-displacement", |_| ());
        assert!(displacement.contains("It is bound when enemies stand on all sides"), "{displacement}");
    }

    #[test]
    fn numbers_of_one_and_none_are_said_as_such() {
        let few = shipped("bell", |ruleset| {
            (ruleset.end.quiet_limit, ruleset.end.eliminate_at, ruleset.placement.men) = (1, 1, 1);
        });
        for part in ["After 1 turn without", "left with 1 piece or none", "place 1 man each"] {
            assert!(few.contains(part), "{part:?} is missing from {few}");
        }
        let duces_alone = shipped("dux-hunt-16", |ruleset| {
            (ruleset.placement.men, ruleset.end.eliminate) = (0, Eliminate::Off);
        });
        assert!(duces_alone.contains("each player places a dux."), "{duces_alone}");
    }

    #[test]
    fn what_has_no_effect_is_not_said() {
        let delayed = shipped("savard-delayed", |ruleset| ruleset.capture.per_move = PerMove::One);
        assert!(!delayed.contains("One move takes one piece"), "{delayed}");
        let immediate = shipped("savard", |ruleset| ruleset.capture.per_move = PerMove::One);
        assert!(immediate.contains("One move takes one piece"), "{immediate}");
    }

    /// Other values of a parameter; numbers near the present one.
    fn others(parameter: &Parameter, ruleset: &Ruleset) -> Vec<ParameterValue> {
        use ParameterValue::{Absent, Boolean, Integer, List, Text};
        let present = parameter.value_in(ruleset);
        let mut values = match (parameter.kind, &present) {
            (ParameterKind::Boolean, _) => vec![Boolean(false), Boolean(true)],
            (ParameterKind::Choice(names), _) => names.iter().map(|name| Text((*name).to_owned())).collect(),
            (ParameterKind::Set(names), _) => {
                let only = |kept: &dyn Fn(usize) -> bool| {
                    List((0..names.len()).filter(|&index| kept(index)).map(|index| names[index].to_owned()).collect())
                };
                (0..1 << names.len()).map(|set: usize| only(&|index| set >> index & 1 != 0)).collect()
            }
            (ParameterKind::Integer(low, high), Integer(number)) => [low, number - 1, number + 1]
                .into_iter()
                .filter(|near| (low..=high).contains(near))
                .map(Integer)
                .collect(),
            (ParameterKind::OptionalInteger(..), _) => vec![Absent, Integer(1), Integer(2), Integer(3)],
            _ => Vec::new(),
        };
        values.retain(|value| *value != present);
        values
    }

    /// The value that counts: a setting without effect is as good as its default.
    fn effective(parameter: &Parameter, rules: &Rules) -> ParameterValue {
        match rules.why_without_effect(parameter.name) {
            Some(_) => parameter.default_value(),
            None => parameter.value_in(rules.ruleset()),
        }
    }

    /// The rulesets that are held out of training.
    fn held_out() -> Vec<Ruleset> {
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/held-out")).unwrap();
        let mut paths: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        let texts = paths.iter().map(|path| std::fs::read_to_string(path).unwrap());
        texts.map(|text| RulesetFile::parse(&text).unwrap().ruleset).collect()
    }

    #[test]
    fn rulesets_held_out_are_noted_only_for_what_their_bases_set() {
        for ruleset in held_out() {
            let notes = Rules::new(&ruleset).unwrap().settings_without_effect();
            let expected: &[&str] = match ruleset.id.as_str() {
                "mac-12x8-jumps" => &["capture.row_with_dux"],
                "dutch-8x8-noking-slide" => &["extra.moves"],
                _ => &[],
            };
            assert_eq!(notes.iter().map(|note| note.parameter).collect::<Vec<_>>(), expected, "{}", ruleset.id);
        }
    }

    #[test]
    fn the_words_tell_every_parameter_with_an_effect_and_no_other() {
        let mut told = BTreeSet::new();
        for base in presets::NAMES.iter().map(|id| presets::ruleset(id).unwrap()).chain(held_out()) {
            let (base_rules, base_said) = (Rules::new(&base).unwrap(), said(&base));
            for parameter in PARAMETERS {
                for value in others(parameter, &base) {
                    let mut ruleset = base.clone();
                    parameter.set_in(&mut ruleset, &value).unwrap();
                    let Ok(rules) = Rules::new(&ruleset) else { continue };
                    let said = said(&ruleset);
                    let differs = effective(parameter, &base_rules) != effective(parameter, &rules);
                    assert_eq!(said != base_said, differs, "{}: {} = {value}\n{said}", base.id, parameter.name);
                    for slip in [" 1 turns", " 1 men", " 0 men", " 1 pieces"] {
                        assert!(!said.contains(slip), "{}: {} = {value}\n{said}", base.id, parameter.name);
                    }
                    if differs {
                        told.insert(parameter.name);
                    }
                }
            }
        }
        let untold: Vec<&str> = PARAMETERS.iter().map(|one| one.name).filter(|name| !told.contains(name)).collect();
        // A mode comes with its array, which is drawn beside the words; and the cap has one result only.
        assert_eq!(untold, ["setup.mode", "setup.array", "end.max_plies_result"]);
    }
}
