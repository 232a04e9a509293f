//! The two halves of a training run as commands: `selfplay` and `fit`.

use std::fs;

use serde_json::Value;

use crate::support::{Shell, values};

#[test]
fn games_make_shards_shards_a_model_and_a_model_games() {
    let shell = Shell::new();
    let said = |line: &str| values(&shell.prints(&format!("{line} --json")));
    let taught = "selfplay smoke --out taught --shards 2 --set teacher.games=4";
    let lines = said(taught);
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line["games"] == 4 && line["is_new"] == true));
    let lines = said(taught);
    assert!(lines.iter().all(|line| line["is_new"] == false), "what is there is not played again");
    let samples: u64 = lines.iter().filter_map(|line| line["samples"].as_u64()).sum();

    let fit = "fit smoke --shards taught --steps 6 --checkpoint-every 4 --out";
    let lines = said(&format!("{fit} fitted"));
    assert_eq!(lines.len(), 3, "two checkpoints and the model");
    assert_eq!(lines[1]["steps_total"], 6);
    let model = "fitted/model.safetensors";
    said(&format!("{fit} again"));
    assert!(shell.bytes(model) == shell.bytes("again/model.safetensors"), "the same seed trains the same");
    assert_eq!(said(&format!("{fit} fitted")).len(), 1, "what is finished is not trained again");
    let lines = said("fit smoke --shards taught --set replay.reuse=2 --out reused");
    assert_eq!(lines.last().map(|line| &line["steps_total"]), Some(&Value::from(2 * samples / 64)));

    let played = format!("selfplay smoke --out played --model {model} --set games.per_generation=4");
    assert!(said(&played)[0]["evaluations_per_sec"].as_f64() > Some(0.0), "the network plays");
    let shard = shell.bytes("played/000000.npz");
    fs::remove_file(shell.path("played/000000.npz")).expect("removed");
    said(&played);
    assert!(shard == shell.bytes("played/000000.npz"), "the same seed writes the same file");
    // Another training and games of another seed need another folder; an empty folder is named.
    fs::create_dir(shell.path("empty")).expect("made");
    for (line, part) in [
        ("fit smoke --shards taught --steps 9 --out fitted", "--out"),
        ("selfplay smoke --set seed=2 --out played", "--out"),
        ("fit smoke --shards empty --out again", "no shard"),
        ("selfplay smoke --first 18446744073709551615 --shards 2 --out none", "--first plus --shards"),
    ] {
        shell.refuses(line, 1, &[part]);
    }
    assert!(!shell.has("none"), "nothing is begun");
}
