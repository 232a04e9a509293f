//! Files that are cut off, damaged, of another kind, version or ruleset: refused, with the fault named.

use std::fs;

use crate::support::{Shell, assert_contains, complaint};

const MODEL: &str = "run/export/model.safetensors";
const BELL: &str = "analyse --ruleset bell --position initial --agent";

/// What is done to the bytes of a file.
type Damage = fn(&mut Vec<u8>);

/// Replaces the first `from` by `to`, which is as long.
fn replace(bytes: &mut [u8], from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    let place = bytes.windows(from.len()).position(|window| window == from.as_bytes()).expect("it is there");
    bytes[place..place + to.len()].copy_from_slice(to.as_bytes());
}

fn end_with(bytes: &mut [u8], number: f32) {
    let place = bytes.len() - 4;
    bytes[place..].copy_from_slice(&number.to_le_bytes());
}

fn cut(bytes: &mut Vec<u8>) {
    bytes.truncate(bytes.len() / 2);
}

/// Damage to a file of weights, and what is said of it.
const WEIGHTS: [(Damage, &str); 10] = [
    (Vec::clear, "cut off"),
    // In its header, and in its entries.
    (|bytes| bytes.truncate(100), "cut off"),
    (|bytes| bytes.truncate(bytes.len() - 100), "cut off"),
    (|bytes| bytes.push(0), "cut off"),
    (|bytes| bytes[..8].fill(0xff), "header"),
    (|bytes| *bytes = b"what is this?\n".repeat(50), "safetensors"),
    (|bytes| replace(bytes, "\"format_version\":\"3\"", "\"format_version\":\"7\""), "version 7"),
    (|bytes| end_with(bytes, f32::NAN), "not a finite number"),
    (|bytes| end_with(bytes, f32::INFINITY), "not a finite number"),
    (|bytes| end_with(bytes, 0.125), "checksum"),
];

#[test]
fn damaged_models_are_refused_by_whatever_plays_or_exports_them() {
    let shell = Shell::with_run();
    let whole = shell.bytes(MODEL);
    for (damage, said) in WEIGHTS {
        let mut bytes = whole.clone();
        damage(&mut bytes);
        shell.write("broken.safetensors", bytes);
        for line in ["export broken.safetensors --out out", &format!("{BELL} net:broken.safetensors,sims=1")] {
            shell.refuses(line, 1, &["broken.safetensors", said]);
        }
        assert!(!shell.has("out/broken.onnx"), "nothing is exported");
    }
}

#[test]
fn files_of_another_kind_are_refused_by_name() {
    let shell = Shell::with_run();
    for (file, said) in [
        ("export/model.weights.safetensors", "exported weights"),
        ("checkpoints/000002.safetensors", "not a latrunculi model: it is a latrunculi checkpoint"),
        ("checkpoints/000002.safetensors", "the model of this run is "),
        ("export/model.onnx", "safetensors"),
        ("shards/000000-bell.npz", "safetensors"),
        ("shards", "there is no model in this folder"),
        ("no-such-file.safetensors", "no-such-file.safetensors"),
    ] {
        shell.refuses(&format!("export run/{file} --out out"), 1, &[file, said]);
    }
    // Under rules that it was not trained on it plays, and what it knows of them is said; another board, too.
    for (ruleset, known) in
        [("dutch", "far from what it was trained on"), ("bell-8x8", "near what it was trained on: bell has another")]
    {
        let output = shell.run(&format!("analyse --ruleset {ruleset} --position initial --agent net:{MODEL},sims=1"));
        assert!(output.status.success());
        assert_contains(&complaint(&output), &[ruleset, known]);
    }
    // A checkpoint plays nothing, and its run may not have come to a model yet.
    fs::remove_dir_all(shell.path("run/export")).expect("removed");
    for (agent, said) in [
        ("net:run/checkpoints/000002.safetensors", "resume the run to get a model"),
        ("net:run", "the first training step writes it"),
    ] {
        for line in [format!("{BELL} {agent}"), format!("match {agent} random --ruleset bell --games 2")] {
            shell.refuses(&line, 1, &[said, "train --resume"]);
        }
    }
}

#[test]
fn the_folder_of_a_run_stands_for_its_model_and_its_shards() {
    let shell = Shell::with_run();
    for line in [
        "export run --format npz --out exported",
        "inspect exported/model.weights.npz",
        "analyse --ruleset bell --agent net:run,sims=2",
        "match net:run,sims=2 random --ledger ledger --ruleset bell --games 2 --opening 34 --quiet",
        "fit smoke --shards run --from run --steps 1 --quiet --out fitted",
        // What `fit` has made is found in its folder as well.
        "analyse --ruleset bell --agent net:fitted,sims=0",
    ] {
        shell.prints(line);
    }
}

#[test]
fn a_model_brings_its_ruleset_and_its_card_names_its_file() {
    let shell = Shell::with_run();
    shell.copy(MODEL, "my first.safetensors");
    let analysed = shell.prints_json("analyse --ruleset 'my first.safetensors' --agent greedy");
    assert_eq!(analysed["ruleset"], "bell");
    let checkpoint = "run/checkpoints/000002.safetensors";
    shell.refuses(&format!("analyse --ruleset {checkpoint}"), 1, &[checkpoint, "not a model"]);
    shell.prints("export 'my first.safetensors' --format npz --out out");
    let card = shell.text("out/my first.md");
    assert_contains(&card, &["'net:my first.safetensors,sims=", "my first.json describes", "--ruleset bell "]);
    assert!(!card.contains("model.safetensors"), "{card}");
}

#[test]
fn a_run_whose_files_are_damaged_is_not_continued() {
    let shell = Shell::with_run();
    let all: [(&str, Damage, &str); 10] = [
        ("checkpoints/000002.safetensors", cut, "cut off"),
        ("checkpoints/000002.safetensors", |bytes| end_with(bytes, f32::NAN), "finite"),
        ("checkpoints/000002.pools", cut, ""),
        ("shards/000000-bell.npz", cut, ""),
        ("rulesets/bell.toml", |bytes| replace(bytes, "men = 16", "men = 12"), "began with"),
        ("rulesets/bell.toml", |bytes| replace(bytes, "men = 16", "man = 16"), "placement.man"),
        ("config.toml", |bytes| replace(bytes, "channels = 16", "channals = 16"), "channals"),
        ("config.toml", |bytes| *bytes = vec![0xff; 2000], "not text"),
        ("config.toml", |bytes| *bytes = vec![b'#'; 5 << 20], "too large"),
        ("latest", |bytes| *bytes = b"../../model.safetensors".to_vec(), "checkpoint"),
    ];
    for (file, damage, said) in all {
        let path = format!("run/{file}");
        let whole = shell.bytes(&path);
        let mut bytes = whole.clone();
        damage(&mut bytes);
        shell.write(&path, bytes);
        shell.refuses("train --resume run", 1, &[file, said]);
        shell.write(&path, whole);
    }
    shell.prints("train --resume run");
}

#[test]
fn files_of_games_with_a_line_that_does_not_end_are_refused_at_once() {
    let shell = Shell::new();
    // Zeros that take no room on the disk; read into the memory they would fill it.
    let file = fs::File::create(shell.path("games.jsonl")).expect("a file");
    file.set_len(1 << 29).expect("a long file");
    for line in [
        "inspect games.jsonl",
        "match greedy random --ruleset savard --games 2 --ledger games.jsonl",
        "play --ruleset savard --load games.jsonl",
        "play --ruleset savard --record games.jsonl",
        "analyse --record games.jsonl",
    ] {
        shell.refuses(line, 1, &["games.jsonl", "line 1", "67108864 bytes"]);
    }
    assert_eq!(file.metadata().expect("there").len(), 1 << 29, "it is left as it was");
}

#[test]
fn nothing_is_overwritten_unless_asked() {
    let shell = Shell::with_run();
    let export = format!("export {MODEL} --out out");
    shell.prints(&export);
    shell.copy("out", "before");
    let files = ["pt", "onnx", "weights.safetensors", "weights.npz", "json", "md"].map(|end| format!("model.{end}"));
    assert_eq!(fs::read_dir(shell.path("out")).expect("a folder").count(), files.len());
    shell.refuses(&export, 1, &["model.pt", "--overwrite"]);
    for file in &files {
        fs::remove_dir_all(shell.path("out")).expect("removed");
        fs::create_dir(shell.path("out")).expect("made");
        shell.write(&format!("out/{file}"), "mine");
        shell.refuses(&export, 1, &[file, "--overwrite"]);
        assert_eq!(shell.text(&format!("out/{file}")), "mine");
    }
    shell.prints(&format!("{export} --overwrite"));
    for file in &files {
        let is_same = shell.bytes(&format!("out/{file}")) == shell.bytes(&format!("before/{file}"));
        assert!(is_same, "{file} is there again");
    }
    assert_eq!(fs::read_dir(shell.path("out")).expect("a folder").count(), files.len(), "and nothing else is");
}
