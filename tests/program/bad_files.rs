//! Files that are cut off, damaged, of another kind, version or ruleset: refused, with the fault named.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tempfile::TempDir;

fn latrunculi(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_latrunculi")).args(arguments).output().unwrap()
}

/// A finished run of one small generation, made once.
fn run() -> &'static Path {
    static RUN: OnceLock<TempDir> = OnceLock::new();
    let folder = RUN.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/train/smoke.toml");
        let mut arguments =
            vec!["train", config.to_str().unwrap(), "--quiet", "--run", folder.path().to_str().unwrap()];
        for setting in
            ["budget.generations=1", "teacher.games=2", "evaluation.every=0", "evaluation.final_opening_pairs=1"]
        {
            arguments.extend(["--set", setting]);
        }
        let output = latrunculi(&arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        folder
    });
    folder.path()
}

/// A copy of the run, of which one file may be damaged.
fn copied() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(run(), folder.path());
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() { copy(&entry.path(), &to) } else { _ = fs::copy(entry.path(), to).unwrap() }
    }
}

/// Runs the program, which must refuse with status 1 and say `words`.
fn refused(arguments: &[&str], words: &[&str]) {
    let output = latrunculi(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
    assert!(!said.contains("panicked"), "{arguments:?}: {said}");
    assert!(said.matches("os error").count() <= 1, "a fault is told once: {said}");
    for word in words {
        assert!(said.contains(word), "{arguments:?}: {word:?} is not in\n{said}");
    }
}

/// What is done to the bytes of a file.
type Damage = fn(&mut Vec<u8>);

/// Replaces the first `from` by `to`, which is as long.
fn replace(bytes: &mut [u8], from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    let place = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    bytes[place..place + to.len()].copy_from_slice(to.as_bytes());
}

fn end_with(bytes: &mut [u8], number: f32) {
    let place = bytes.len() - 4;
    bytes[place..].copy_from_slice(&number.to_le_bytes());
}

/// Damage to a file of weights, and what is said of it.
const WEIGHTS: [(&str, Damage, &str); 10] = [
    ("empty", |bytes| bytes.clear(), "cut off"),
    ("cut off in its header", |bytes| bytes.truncate(100), "cut off"),
    ("cut off in its entries", |bytes| bytes.truncate(bytes.len() - 100), "cut off"),
    ("too long", |bytes| bytes.push(0), "cut off"),
    ("a header of more than memory", |bytes| bytes[..8].fill(0xff), "header"),
    ("a text", |bytes| *bytes = b"what is this?\n".repeat(50), "safetensors"),
    ("another version", |bytes| replace(bytes, "\"format_version\":\"3\"", "\"format_version\":\"7\""), "version 7"),
    ("not a number", |bytes| end_with(bytes, f32::NAN), "not a finite number"),
    ("infinite", |bytes| end_with(bytes, f32::INFINITY), "not a finite number"),
    ("another number", |bytes| end_with(bytes, 0.125), "checksum"),
];

#[test]
fn damaged_models_are_refused_by_whatever_plays_or_exports_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.safetensors");
    let text = path.to_str().unwrap();
    let out = folder.path().join("out");
    let whole = fs::read(run().join("export/model.safetensors")).unwrap();
    for (name, damage, said) in WEIGHTS {
        let mut bytes = whole.clone();
        damage(&mut bytes);
        fs::write(&path, bytes).unwrap();
        refused(&["export", text, "--out", out.to_str().unwrap()], &["broken.safetensors", said]);
        let agent = format!("net:{text},sims=1");
        let analyse = ["analyse", "--ruleset", "bell", "--position", "initial", "--agent", &agent];
        refused(&analyse, &["broken.safetensors", said]);
        assert!(!out.join("broken.onnx").exists(), "{name}: nothing is exported");
    }
}

#[test]
fn files_of_another_kind_are_refused_by_name() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path().to_str().unwrap();
    for (file, said) in [
        ("export/model.weights.safetensors", "exported weights"),
        ("checkpoints/000001.safetensors", "not a latrunculi model: it is a latrunculi checkpoint"),
        ("checkpoints/000001.safetensors", "the model of this run is "),
        ("export/model.onnx", "safetensors"),
        ("shards/000000-bell.npz", "safetensors"),
        ("shards", "there is no model in this folder"),
        ("no-such-file.safetensors", "no-such-file.safetensors"),
    ] {
        let path = run().join(file);
        refused(&["export", path.to_str().unwrap(), "--out", out], &[file, said]);
    }
    // A checkpoint plays nothing, and its run may not have come to a model yet.
    let unfinished = copied();
    fs::remove_dir_all(unfinished.path().join("export")).unwrap();
    for (path, said) in
        [("checkpoints/000001.safetensors", "resume the run to get a model"), ("", "the first training step writes it")]
    {
        let agent = format!("net:{}", unfinished.path().join(path).display());
        let analyse = ["analyse", "--ruleset", "bell", "--position", "initial", "--agent", &agent];
        refused(&analyse, &[said, "train --resume"]);
        refused(&["match", &agent, "random", "--ruleset", "bell", "--games", "2"], &[said, "train --resume"]);
    }
    // Under rules that it was not trained on it plays, and what it knows of them is said; another board, too.
    let model = format!("net:{},sims=1", run().join("export/model.safetensors").display());
    for (ruleset, known) in
        [("dutch", "far from what it was trained on"), ("bell-8x8", "near what it was trained on: bell has another")]
    {
        let output = latrunculi(&["analyse", "--ruleset", ruleset, "--position", "initial", "--agent", &model]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.contains(ruleset) && said.contains(known), "{ruleset}: {said}");
    }
}

#[test]
fn the_folder_of_a_run_stands_for_its_model_and_its_shards() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let run = run().to_str().unwrap();
    let succeeds = |arguments: &[&str]| {
        let output = latrunculi(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    succeeds(&["export", run, "--format", "npz", "--out", &path("exported")]);
    assert!(folder.path().join("exported/model.weights.npz").is_file());
    let by_run = format!("net:{run},sims=2");
    succeeds(&["analyse", "--ruleset", "bell", "--agent", &by_run]);
    let games = ["--ruleset", "bell", "--games", "2", "--opening", "34", "--quiet"];
    succeeds(&[&["match", &by_run, "random", "--ledger", &path("ledger.jsonl")], &games[..]].concat());
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/train/smoke.toml");
    let fit = ["fit", config.to_str().unwrap(), "--shards", run, "--from", run, "--steps", "1"];
    succeeds(&[&fit[..], &["--quiet", "--out", &path("fitted")]].concat());
    // What `fit` has made is found in its folder as well.
    succeeds(&["analyse", "--ruleset", "bell", "--agent", &format!("net:{},sims=0", path("fitted"))]);
}

#[test]
fn a_model_brings_its_ruleset_and_its_card_names_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let (model, out) = (folder.path().join("my first.safetensors"), folder.path().join("out"));
    fs::copy(run().join("export/model.safetensors"), &model).unwrap();
    let text = model.to_str().unwrap();
    let analysed = latrunculi(&["analyse", "--ruleset", text, "--agent", "greedy", "--json"]);
    assert!(String::from_utf8_lossy(&analysed.stdout).contains("\"ruleset\": \"bell\""), "{analysed:?}");
    let checkpoint = run().join("checkpoints/000001.safetensors");
    refused(&["analyse", "--ruleset", checkpoint.to_str().unwrap()], &["000001.safetensors", "not a model"]);
    assert!(latrunculi(&["export", text, "--format", "npz", "--out", out.to_str().unwrap()]).status.success());
    let card = fs::read_to_string(out.join("my first.md")).unwrap();
    assert!(card.contains("'net:my first.safetensors,sims=") && !card.contains("model.safetensors"), "{card}");
    assert!(card.contains("my first.json describes") && card.contains("--ruleset bell "), "{card}");
}

#[test]
fn a_run_whose_files_are_damaged_is_not_continued() {
    let all: [(&str, Damage, &[&str]); 9] = [
        ("checkpoints/000001.safetensors", |bytes| bytes.truncate(bytes.len() / 2), &["000001.safetensors", "cut off"]),
        ("checkpoints/000001.safetensors", |bytes| end_with(bytes, f32::NAN), &["000001.safetensors", "finite"]),
        ("shards/000000-bell.npz", |bytes| bytes.truncate(bytes.len() / 2), &["000000-bell.npz"]),
        ("rulesets/bell.toml", |bytes| replace(bytes, "men = 16", "men = 12"), &["bell.toml", "began with"]),
        ("rulesets/bell.toml", |bytes| replace(bytes, "men = 16", "man = 16"), &["bell.toml", "placement.man"]),
        ("config.toml", |bytes| replace(bytes, "channels = 16", "channals = 16"), &["config.toml", "channals"]),
        ("config.toml", |bytes| *bytes = vec![0xff; 2000], &["config.toml", "not text"]),
        ("config.toml", |bytes| *bytes = vec![b'#'; 5 << 20], &["config.toml", "too large"]),
        ("latest", |bytes| *bytes = b"../../model.safetensors".to_vec(), &["latest", "checkpoint"]),
    ];
    for (file, damage, words) in all {
        let folder = copied();
        let path = folder.path().join(file);
        let mut bytes = fs::read(&path).unwrap();
        damage(&mut bytes);
        fs::write(&path, bytes).unwrap();
        refused(&["train", "--resume", folder.path().to_str().unwrap()], words);
    }
}

#[test]
fn files_of_games_with_a_line_that_does_not_end_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.jsonl");
    // Zeros that take no room on the disk; read into the memory they would fill it.
    fs::File::create(&path).unwrap().set_len(1 << 29).unwrap();
    let text = path.to_str().unwrap();
    for arguments in [
        &["inspect", text][..],
        &["match", "greedy", "random", "--ruleset", "savard", "--games", "2", "--ledger", text],
        &["play", "--ruleset", "savard", "--load", text],
        &["play", "--ruleset", "savard", "--record", text],
        &["analyse", "--record", text],
    ] {
        refused(arguments, &["games.jsonl", "line 1", "67108864 bytes"]);
    }
    assert_eq!(fs::metadata(&path).unwrap().len(), 1 << 29, "it is left as it was");
}

#[test]
fn nothing_is_overwritten_unless_asked() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let model = run().join("export/model.safetensors");
    let export = ["export", model.to_str().unwrap(), "--out", out];
    let contents = || -> Vec<(PathBuf, Vec<u8>)> {
        let mut paths: Vec<PathBuf> = fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    };
    assert!(latrunculi(&export).status.success());
    let before = contents();
    for name in ["pt", "onnx", "weights.safetensors", "weights.npz", "json", "md"] {
        assert!(before.iter().any(|(path, _)| *path == folder.path().join(format!("model.{name}"))), "{name}");
    }
    refused(&export, &["model.pt", "--overwrite"]);
    for (path, _) in &before {
        fs::write(path, "mine").unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let others: Vec<&PathBuf> = before.iter().map(|(other, _)| other).filter(|other| *other != path).collect();
        others.into_iter().for_each(|other| _ = fs::remove_file(other));
        refused(&export, &[name, "--overwrite"]);
        assert_eq!(fs::read(path).unwrap(), b"mine");
    }
    assert!(latrunculi(&[&export[..], &["--overwrite"]].concat()).status.success());
    assert!(before == contents(), "all are there again and nothing else is");
}
