//! What an exported network says of itself: everything that somebody needs who plays with it and has no
//! code of ours. It stands in every exported file and, as a file of its own, beside them.

use latrunculi_data::{PLANES, SCALARS, TrainedRuleset, rule_inputs};
use serde_json::{Value, json};

use crate::graph::{Length, Output};
use crate::model_file::Model;
use crate::network::WeightedGraph;

const VERSION: u32 = 3;

const POLICY_LENGTH: &str = "squares * squares + 4 * squares + 2";

pub(super) fn input_shapes() -> [(&'static str, Vec<Length>); 2] {
    let scalars = SCALARS.len() + rule_inputs::count();
    [
        ("planes", vec![Length::Free("B"), Length::Fixed(PLANES.len()), Length::Free("ranks"), Length::Free("files")]),
        ("scalars", vec![Length::Free("B"), Length::Fixed(scalars)]),
    ]
}

pub(super) fn output_shape(output: Output) -> Vec<Length> {
    let rest: &[Length] = match output {
        Output::PolicyLogits => &[Length::Free("policy_length")],
        Output::WinDrawLoss => &[Length::Fixed(3)],
        Output::Margin => &[],
        other => unreachable!("{} is no output of exported files", other.as_str()),
    };
    [&[Length::Free("B")], rest].concat()
}

/// Returns the description of `network`, the exported graph of `model`, as docs/FORMATS.md defines it.
pub(super) fn describe(model: &Model, network: &WeightedGraph) -> Value {
    let graph = &network.graph;
    let [planes, scalars] = input_shapes();
    json!({
        "format": "latrunculi network",
        "format_version": VERSION,
        "program": { "name": "latrunculi", "version": env!("CARGO_PKG_VERSION") },
        "rulesets": model.info.rulesets.iter().map(described_ruleset).collect::<Vec<_>>(),
        "training": { "steps": model.info.training.steps, "samples": model.info.training.samples },
        "history": model.info.history,
        "board": {
            "size": "any: files and ranks are free; squares = ranks * files",
            "point_of_view": "the player to act; for player 2 the ranks are mirrored, the files are not",
            "square_index": "rank * files + file, both from 0; rank 0 is the own side's first, file 0 is file a",
        },
        "inputs": [
            {
                "name": planes.0,
                "dtype": "float32",
                "shape": planes.1,
                "normalisation": "none: an entry is 1 on the squares that the plane names, else 0",
                "planes": named(&model.info.encoding.planes),
            },
            {
                "name": scalars.0,
                "dtype": "float32",
                "shape": scalars.1,
                "normalisation": "none: each lies in [0, 1] as described",
                "scalars": named(&model.info.encoding.scalars),
                "of_position": SCALARS.len(),
                "of_ruleset": rule_inputs::count(),
            },
        ],
        "outputs": graph.outputs.iter().map(|(output, _)| described_output(*output)).collect::<Vec<_>>(),
        "policy": policy(),
        "network": model.network.config(),
        "weights": network.named_weights().map(|(name, tensor)| json!({ "name": name, "shape": tensor.size() }))
            .collect::<Vec<_>>(),
        "operations": graph.ops,
        "operation_outputs": graph.outputs.iter()
            .map(|(output, place)| (output.as_str().to_owned(), json!(place)))
            .collect::<serde_json::Map<_, _>>(),
    })
}

/// A ruleset of the training, with its numbers among the scalars.
fn described_ruleset(trained: &TrainedRuleset) -> Value {
    json!({
        "name": trained.name,
        "fingerprint": trained.fingerprint,
        "share": trained.share,
        "toml": trained.text,
        "scalars": trained.rules().map(|rules| rule_inputs::of(rules.ruleset())).ok(),
    })
}

fn named(names: &[String]) -> Value {
    let entry = |(index, name): (usize, &String)| json!({ "index": index, "name": name, "meaning": meaning(name) });
    Value::Array(names.iter().enumerate().map(entry).collect())
}

fn described_output(output: Output) -> Value {
    let meaning = match output {
        Output::PolicyLogits => "logits; see policy for which entries belong to an action. Softmax over the legal ones",
        Output::WinDrawLoss => "probabilities that the player to act wins, draws, loses",
        Output::Margin => {
            "expected material margin at the end for the player to act, in (-1, 1): pieces on the board and in hand, \
             his minus the opponent's, by those that a side begins with"
        }
        other => unreachable!("{} is no output of exported files", other.as_str()),
    };
    json!({ "name": output.as_str(), "dtype": "float32", "shape": output_shape(output), "meaning": meaning })
}

fn policy() -> Value {
    let part = |name: &str, start: &str, len: &str, index: &str, actions: &str| json!({ "name": name, "start": start, "len": len, "index": index, "actions": actions });
    let (moves, one) = ("squares * squares", "squares");
    let after = |count: usize| format!("{moves} + {count} * squares");
    json!({
        "length": POLICY_LENGTH,
        "squares": "square_index, seen from the player to act",
        "logit": "the entry of the action's part; for a move with a chosen victim that of move plus that of victim, for a removed line \
                  those of its two ends",
        "parts": [
            part("move", "0", moves, "from * squares + to",
                "a1-a4: a step, slide, jump or chain of jumps, and each move of a continuation; of a chain only the \
                 first square and the last count"),
            part("place_man", moves, one, "square", "@c3: a man is placed"),
            part("place_dux", &after(1), one, "square", "D@c3: the dux is placed"),
            part("remove", &after(2), one, "square; the two ends of a line are added",
                "xd4 or xd4+e4: a bound piece, or a line of them, is removed; where a removal takes all, see pass"),
            part("victim", &after(3), one, "square",
                "d2-d3xe3: a move that takes one of several pieces at the mover's choice; added to the entry of move"),
            part("stop", &after(4), "1", "0", "stop: a continuation is declined"),
            part("pass", &format!("{} + 1", after(4)), "1", "0",
                "pass: nothing else is possible; xd4+e4 where a removal takes all bound pieces, which is never possible beside pass"),
        ],
    })
}

/// Says what a plane or scalar means, by its name; those of the ruleset say it themselves.
fn meaning(name: &str) -> &'static str {
    match name {
        "own men" => "men of the player to act",
        "own dux" => "his dux",
        "enemy men" => "men of the opponent",
        "enemy dux" => "the opponent's dux",
        "own bound pieces" => "his pieces that are bound (alligatus): flanked, still on the board, may not move",
        "enemy bound pieces" => "the opponent's bound pieces",
        "piece that may go on" => "his piece that has captured and is now in its continuation; else empty",
        "where the own shuttling piece came from" => {
            "under end.repetition = shuttle3: where the move of his last turn began, if it took nothing; else empty"
        }
        "where the own shuttling piece stands" => "under shuttle3: where that move ended",
        "where the enemy shuttling piece came from" => "the same of the opponent's last turn",
        "where the enemy shuttling piece stands" => "the same of the opponent's last turn",
        "own pieces flanked now" => {
            "his pieces that stand between two enemy flankers (or in another capturing pattern of the ruleset), however \
             it came about: also those that walked in and are safe"
        }
        "enemy pieces flanked now" => "the same of the opponent's pieces",
        "squares of the board" => "1 everywhere: tells the squares from the border that convolutions add",
        "own pieces that could be taken next" => {
            "his pieces that the opponent could take, bind or enclose by one move or removal if it were his turn now"
        }
        "enemy pieces that could be taken next" => "the opponent's pieces that he could take so now",
        "where an own move would take" => "squares on which a move of his that takes, binds or encloses would end",
        "where an enemy move would take" => "squares on which such a move of the opponent would end",
        "placement phase" => "1 while stones are placed, else 0",
        "own men in hand, of those at the start" => {
            "his men yet to be placed, divided by those he began with (on the board and in hand)"
        }
        "own dux in hand" => "1 while his dux is yet to be placed",
        "enemy men in hand, of those at the start" => "the same of the opponent's men",
        "enemy dux in hand" => "the same of the opponent's dux",
        "stones left in the placement turn, of 8" => {
            "stones that he has yet to place in this turn, this one included, by 8, at most 1"
        }
        "a continuation is under way" => "1 when his piece has captured and may go on",
        "a removal was made this turn" => "1 when he has removed bound pieces in this turn and has yet to move",
        "quiet turns, of the limit" => "turns since the last capture by end.quiet_limit, at most 1; 0 without a limit",
        "turns played, of the cap" => "turns played by end.max_plies, at most 1",
        "the last turn was a pass" => "1 when the opponent has just passed",
        "own shuttle turns, of 6" => "under shuttle3: his turns to and fro with the same piece, by 6, at most 1",
        "enemy shuttle turns, of 6" => "under shuttle3: the same of the opponent",
        "the position has stood before" => {
            "1 when this position (board, player to act, bound pieces) has stood before at the beginning of a turn, \
             since the last capture"
        }
        "own pieces on the board and in hand, of those at the start" => {
            "his pieces, the dux included, by those he began with"
        }
        "enemy pieces on the board and in hand, of those at the start" => "the same of the opponent",
        "nearness of the end without captures, 8 / (turns left + 8)" => {
            "turns left: end.quiet_limit minus the turns since the last capture; 0 without a limit"
        }
        "nearness of the cap, 16 / (turns left + 16)" => "turns left: end.max_plies minus the turns played",
        _ => "a parameter of the ruleset",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plane_and_scalar_of_a_position_is_explained() {
        for name in PLANES.iter().chain(&SCALARS) {
            assert_ne!(meaning(name), meaning("capture.timing = immediate"), "{name}");
        }
    }
}
