//! A ruleset in sentences, from its parameters alone.

use latrunculi_engine::parameters::PARAMETERS;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::ruleset::{
    DuxCapture, DuxTime, Eliminate, EnclosureBy, EnclosureSides, ExtraMode, ExtraMoves, JumpChain, JumpRun, Lines,
    NoMove, PerMove, PieceMovement, QuietResult, Range, Release, Removal, RemovalScope, Repetition, RowWithDux,
    SetupMode, Span, StepDirections, Timing, Trigger,
};
use latrunculi_engine::{Rules, Ruleset, presets};
use maud::{Markup, html};

/// Returns the rules in sentences, by heading.
#[must_use]
pub fn rules_in_words(rules: &Rules) -> Vec<(&'static str, Vec<String>)> {
    let ruleset = rules.ruleset();
    let mut parts = vec![
        ("Beginning", beginning(ruleset, rules.has_duces())),
        ("Moving", moving(ruleset, rules.has_duces())),
        ("Capturing", capturing(ruleset)),
    ];
    if rules.has_duces() {
        parts.push(("The dux", dux(ruleset)));
    }
    parts.push(("Winning and drawing", ending(ruleset, rules.has_duces())));
    parts
}

fn beginning(ruleset: &Ruleset, has_duces: bool) -> Vec<String> {
    let board = ruleset.board;
    let mut said = vec![format!("The board has {} files and {} ranks.", board.files, board.ranks)];
    if ruleset.setup.mode == SetupMode::Array {
        said.push("The pieces stand in the array that is drawn.".to_owned());
        return said;
    }
    let placement = ruleset.placement;
    let first =
        placement.opening_group.map(|first| format!(", the very first group having {first}")).unwrap_or_default();
    said.push(format!(
        "The board is empty; the players place {} men each, {} a turn{first}.",
        placement.men, placement.group
    ));
    if has_duces && placement.dux > 0 {
        said.push(match placement.dux_time {
            DuxTime::AfterMen => "Each dux is placed after the men.".to_owned(),
            DuxTime::Any => "The dux may be placed at any time, as one of the stones.".to_owned(),
        });
    }
    said
}

fn moving(ruleset: &Ruleset, has_duces: bool) -> Vec<String> {
    let lines = ruleset.movement.lines;
    let mut said = vec![piece("A man", &ruleset.man, lines)];
    if has_duces {
        if ruleset.dux_movement == ruleset.man {
            said.push("The dux moves like a man.".to_owned());
        } else {
            said.push(piece("The dux", &ruleset.dux_movement, lines));
        }
        if ruleset.dux.chain_slides {
            said.push("A chain of the dux may mix jumps with other moves.".to_owned());
        }
        if !ruleset.movement.jump_over_dux && (ruleset.man.jump_over.any() || ruleset.dux_movement.jump_over.any()) {
            said.push("No dux may be jumped over.".to_owned());
        }
    }
    said
}

fn piece(who: &str, movement: &PieceMovement, lines: Lines) -> String {
    let directions = match (movement.step, lines) {
        (StepDirections::All, Lines::Orthogonal) => "in any direction along ranks and files",
        (StepDirections::All, Lines::All) => "in any of the eight directions",
        (StepDirections::ForwardSideways, Lines::Orthogonal) => "forwards or sideways",
        (StepDirections::ForwardSideways, Lines::All) => "forwards or sideways, also diagonally",
        (StepDirections::None, _) => "",
    };
    let mut text = match (movement.step, movement.range) {
        (StepDirections::None, _) => format!("{who} does not step"),
        (_, Range::One) => format!("{who} moves one square {directions}"),
        (_, Range::Slide) => format!("{who} moves any number of empty squares {directions}"),
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
        text.push_str(&format!(
            "; it may jump over {whom} next to it{run} to the square behind{chain}, without taking it"
        ));
    }
    text + "."
}

fn capturing(ruleset: &Ruleset) -> Vec<String> {
    let capture = ruleset.capture;
    let lines = match capture.lines {
        Lines::Orthogonal => "along a rank or file",
        Lines::All => "along a rank, file or diagonal",
    };
    let between = match capture.span {
        Span::One => "A man between two enemies",
        Span::Row => "A man, or an unbroken row of men, between two enemies",
    };
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
    said.push(match capture.trigger {
        Trigger::Active => "Moving in between two enemies oneself is safe.".to_owned(),
        Trigger::Positional => "It counts however it came about, also for who moves in between two enemies.".to_owned(),
    });
    if capture.per_move == PerMove::One {
        said.push("One move takes one piece at most, of the mover's choice.".to_owned());
    }
    if capture.span == Span::Row && capture.row_with_dux == RowWithDux::Spared {
        said.push("A dux in such a row is spared, the others are taken.".to_owned());
    }
    if capture.corner {
        said.push("A man in a corner is flanked by enemies on the two squares beside it.".to_owned());
    }
    if capture.man_by_enclosure {
        said.push("A man with enemies on all sides is taken too.".to_owned());
    }
    if capture.timing != Timing::Immediate {
        said.push(match capture.release {
            Release::Geometric => "A bound piece goes free when a flanker leaves.".to_owned(),
            Release::Effective => "A bound piece goes free when a flanker leaves or is bound itself.".to_owned(),
        });
    }
    if capture.timing == Timing::Delayed {
        let scope = match capture.removal_scope {
            RemovalScope::All => "all that can be removed",
            RemovalScope::Line => "one flanked line",
            RemovalScope::One => "one piece",
        };
        let free = if capture.free_flankers { ", if neither captor is bound itself" } else { "" };
        said.push(match capture.removal {
            Removal::ReplacesMove => format!("Removing takes the place of a move and takes {scope}{free}."),
            Removal::PrecedesMove => format!("A player may remove {scope} before moving{free}."),
        });
    }
    let extra = ruleset.extra;
    if extra.mode != ExtraMode::None {
        let what = match extra.moves {
            ExtraMoves::Piece => "move again",
            ExtraMoves::Step => "make one more step along a rank or file",
        };
        let often = match extra.limit {
            None => String::new(),
            Some(1) => ", once a turn".to_owned(),
            Some(limit) => format!(", up to {limit} times a turn"),
        };
        said.push(match extra.mode {
            ExtraMode::MustCapture => format!("A piece that has captured must {what} if it captures again{often}."),
            ExtraMode::Mandatory => {
                format!("A piece that has captured may {what}, and must if it captures again{often}.")
            }
            _ => format!("A piece that has captured may {what}{often}."),
        });
    }
    said
}

fn dux(ruleset: &Ruleset) -> Vec<String> {
    let dux = ruleset.dux;
    let mut said = vec![match dux.capture {
        DuxCapture::AsMan => "It is captured like a man.".to_owned(),
        DuxCapture::Never => "It cannot be captured.".to_owned(),
        DuxCapture::Enclosure => {
            let sides = match dux.enclosure_sides {
                EnclosureSides::Available => "all sides that it has, the edge of the board being a wall",
                EnclosureSides::Four => "four sides, never at the edge of the board",
            };
            let by = match dux.enclosure_by {
                EnclosureBy::Enemy => "enemies",
                EnclosureBy::Any => "pieces of either side",
            };
            let escape = if dux.enclosure_escape { "; it is not lost while it can jump" } else { "" };
            format!("It is taken when {by} stand on {sides}{escape}.")
        }
    }];
    if !dux.armed {
        said.push("It takes no part in captures.".to_owned());
    }
    said
}

fn ending(ruleset: &Ruleset, has_duces: bool) -> Vec<String> {
    let end = ruleset.end;
    let mut said = Vec::new();
    if has_duces && ruleset.dux.capture != DuxCapture::Never {
        said.push(match end.win_dux {
            true => "A player who captures the enemy dux wins.".to_owned(),
            false => "Capturing the dux does not win the game.".to_owned(),
        });
    }
    let whom = match end.eliminate {
        Eliminate::AllMen => Some("men"),
        Eliminate::AllPieces => Some("pieces"),
        Eliminate::Off => None,
    };
    said.extend(whom.map(|whom| match end.eliminate_at {
        0 => format!("A player who captures all enemy {whom} wins."),
        left => format!("A player with {left} {whom} or fewer has lost."),
    }));
    said.push(match end.no_move {
        NoMove::Pass => "A player who cannot move passes.".to_owned(),
        NoMove::Loss => "A player who cannot move loses.".to_owned(),
        NoMove::Draw => "If a player cannot move the game is drawn.".to_owned(),
    });
    if end.quiet_limit > 0 {
        said.push(match end.quiet_result {
            QuietResult::Draw => format!("{} turns without a capture are a draw.", end.quiet_limit),
            QuietResult::MostPieces => {
                format!("After {} turns without a capture the side with more pieces wins.", end.quiet_limit)
            }
        });
    }
    match end.repetition {
        Repetition::None => {}
        Repetition::ThreefoldDraw => said.push("The third occurrence of a position is a draw.".to_owned()),
        Repetition::ThreefoldForbidden => said.push("No move may create a position for the third time.".to_owned()),
        Repetition::Superko => said.push("No move may repeat a position.".to_owned()),
        Repetition::Shuttle3 => said.push("A piece may not move back and forth more than three times.".to_owned()),
    }
    said
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
    html! {
        div.wide tabindex="0" role="region" aria-label=(format!("Parameters of {}", ruleset.id)) {
            table {
                caption {
                    "Every setting of this ruleset. [source] quotes the source, [reading] is our interpretation of an unclear sentence, [engine] is an addition so that a program can finish every game."
                }
                thead { tr { th scope="col" { "Setting" } th scope="col" { "Value" } th.text scope="col" { "Where it comes from" } } }
                tbody {
                    @for parameter in shown {
                        tr {
                            th scope="row" { code { (parameter.name) } br; span.soft { (parameter.meaning) } }
                            td { code { (parameter.value_in(ruleset)) } }
                            td.text { (evidence(parameter.name).unwrap_or("")) }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_ruleset_has_its_rules_in_words() {
        for id in presets::NAMES {
            let rules = Rules::new(&presets::ruleset(id).unwrap()).unwrap();
            let parts = rules_in_words(&rules);
            assert_eq!(parts.len(), 4 + usize::from(rules.has_duces()), "{id}");
            for (heading, said) in parts {
                assert!(!said.is_empty() && said.iter().all(|sentence| sentence.ends_with('.')), "{id} {heading}");
            }
        }
    }

    #[test]
    fn words_follow_the_parameters() {
        let said = |id: &str| -> String {
            let rules = Rules::new(&presets::ruleset(id).unwrap()).unwrap();
            rules_in_words(&rules).into_iter().flat_map(|(_, said)| said).collect::<Vec<_>>().join(" ")
        };
        let bell = said("bell");
        assert!(bell.contains("place 16 men each, 2 a turn.") && bell.contains("may jump over an enemy"), "{bell}");
        assert!(bell.contains("After 30 turns without a capture the side with more pieces wins."), "{bell}");
        let beads = said("beads");
        assert!(beads.contains("is bound (alligatus)") && beads.contains("any number of empty squares"), "{beads}");
        assert!(beads.contains("also for who moves in between"), "{beads}");
    }
}
