//! The training run: it ends with files, survives a kill, and goes on as if nothing had been.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_latrunculi"))
}

fn smoke() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/train/smoke.toml")
}

fn train(folder: &Path, settings: &[&str]) -> Output {
    let mut command = program();
    command.arg("train").arg(smoke()).arg("--run").arg(folder);
    for setting in settings {
        command.args(["--set", setting]);
    }
    command.output().unwrap()
}

fn resume(folder: &Path) -> Output {
    program().args(["train", "--resume"]).arg(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Everything of a run that must not depend on how often it was interrupted.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for part in ["shards", "export"] {
        for entry in fs::read_dir(folder.join(part)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if !name.starts_with('.') {
                found.insert(format!("{part}/{name}"), fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn a_run_ends_with_a_measured_model_and_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let output = train(&run, &[]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    assert!(said.contains("score against alphabeta:nodes=50"), "{said}");
    assert!(said.contains("95 % interval"), "{said}");
    for file in [
        "config.toml",
        "ruleset.toml",
        "provenance.json",
        "metrics.jsonl",
        "latest",
        "result.json",
        "shards/000002.npz",
        "checkpoints/000003.safetensors",
        "export/model.safetensors",
        "export/model.pt",
        "export/model.onnx",
        "export/model.weights.safetensors",
        "export/model.weights.npz",
        "export/model.json",
        "export/model.md",
    ] {
        assert!(run.join(file).is_file(), "{file}");
    }
    let metrics = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    assert_eq!(metrics.lines().count(), 3);
    for line in metrics.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        for key in ["generation", "games_per_sec", "losses", "draw_rate", "first_player_score", "verdict"] {
            assert!(line.get(key).is_some(), "{key}");
        }
    }
    // The folder is not begun twice, and a finished run that is resumed only measures again.
    let again = train(&run, &[]);
    assert!(!again.status.success());
    assert!(text(&again.stderr).contains("--resume"), "{}", text(&again.stderr));
    let before = contents(&run);
    let resumed = resume(&run);
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    assert!(before == contents(&run), "nothing has changed");
}

#[test]
fn a_run_that_is_killed_goes_on_as_if_nothing_had_been() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
    let settings = ["budget.generations=4", "games.per_generation=24", "evaluation.every=0"];
    let output = train(&whole, &settings);
    assert!(output.status.success(), "{}", text(&output.stderr));

    let mut command = program();
    command.arg("train").arg(smoke()).arg("--run").arg(&broken).stdout(Stdio::null()).stderr(Stdio::null());
    for setting in settings {
        command.args(["--set", setting]);
    }
    let mut child = command.spawn().unwrap();
    let mut kills = 0;
    let begun = Instant::now();
    // Killed whenever a generation more is on the disk, and somewhat later each time.
    for generation in 1..=3 {
        let checkpoint = broken.join(format!("checkpoints/{generation:06}.safetensors"));
        while !checkpoint.exists() && child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < Duration::from_secs(300), "the run does not come on");
            sleep(Duration::from_millis(2));
        }
        sleep(Duration::from_millis(40 * generation));
        if child.try_wait().unwrap().is_none() {
            // On Unix this is SIGKILL.
            child.kill().unwrap();
            kills += 1;
        }
        child.wait().unwrap();
        child = program()
            .args(["train", "--resume"])
            .arg(&broken)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
    }
    assert!(child.wait().unwrap().success());
    assert!(kills > 0, "the run was killed at least once");
    let (whole, broken) = (contents(&whole), contents(&broken));
    assert_eq!(whole.keys().collect::<Vec<_>>(), broken.keys().collect::<Vec<_>>());
    for (name, bytes) in &whole {
        assert!(*bytes == broken[name], "{name} differs from the uninterrupted run after {kills} kills");
    }
}

#[test]
fn what_is_wrong_with_a_configuration_is_said_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    for (settings, expected) in [
        (&["games.lanes=0", "selfplay.simulations=0"][..], &["games.lanes", "selfplay.simulations"][..]),
        (&["network.chanels=8"], &["chanels"]),
        (&["ruleset=bel"], &["bell"]),
        (&["evaluation.baseline=strong"], &["alphabeta:nodes="]),
        (&["evaluation.baseline=human"], &["play"]),
        (&["evaluation.baseline=net:nowhere.safetensors"], &["evaluation.baseline", "nowhere.safetensors"]),
        (&["seed=yes"], &["seed"]),
        (&["device=cpuu"], &["cpu"]),
        (&["budget.minutes"], &["key=value"]),
    ] {
        let output = train(&run, settings);
        assert_eq!(output.status.code(), Some(1), "{settings:?}");
        for word in expected {
            assert!(text(&output.stderr).contains(word), "{settings:?}: {}", text(&output.stderr));
        }
    }
    assert!(!run.join("config.toml").exists(), "nothing was begun");
    let nothing = resume(&run);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(text(&nothing.stderr).contains("no run"), "{}", text(&nothing.stderr));
    assert_eq!(program().arg("train").output().unwrap().status.code(), Some(2));
}

#[test]
fn a_checkpoint_that_is_cut_off_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let output = train(&run, &["budget.generations=1", "evaluation.every=0"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let checkpoint = run.join("checkpoints/000001.safetensors");
    let bytes = fs::read(&checkpoint).unwrap();
    fs::write(&checkpoint, &bytes[..bytes.len() / 2]).unwrap();
    let resumed = resume(&run);
    assert_eq!(resumed.status.code(), Some(1));
    assert!(text(&resumed.stderr).contains("000001.safetensors"), "{}", text(&resumed.stderr));
}
