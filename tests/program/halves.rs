//! The two halves of a training run as commands: `selfplay` and `fit`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn run(command: &str, arguments: &[&str], out: &Path) -> Output {
    let smoke = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/train/smoke.toml");
    let mut program = Command::new(env!("CARGO_BIN_EXE_latrunculi"));
    program.arg(command).arg(smoke).args(arguments).arg("--json").arg("--out").arg(out).output().unwrap()
}

fn said(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn games_make_shards_shards_a_model_and_a_model_games() {
    let folder = tempfile::tempdir().unwrap();
    let [taught, fitted, played, again] = ["taught", "fitted", "played", "again"].map(|name| folder.path().join(name));
    let lines = said(&run("selfplay", &["--shards", "2", "--set", "teacher.games=4"], &taught));
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line["games"] == 4 && line["is_new"] == true));
    let lines = said(&run("selfplay", &["--shards", "2", "--set", "teacher.games=4"], &taught));
    assert!(lines.iter().all(|line| line["is_new"] == false), "what is there is not played again");
    let samples: u64 = lines.iter().map(|line| line["samples"].as_u64().unwrap()).sum();

    let shards = ["--shards", taught.to_str().unwrap(), "--steps", "6", "--checkpoint-every", "4"];
    let lines = said(&run("fit", &shards, &fitted));
    assert_eq!(lines.len(), 3, "two checkpoints and the model");
    assert_eq!(lines[1]["steps_total"], 6);
    let model = fitted.join("model.safetensors");
    let bytes = fs::read(&model).unwrap();
    said(&run("fit", &shards, &again));
    assert!(bytes == fs::read(again.join("model.safetensors")).unwrap(), "the same seed trains the same");
    assert_eq!(said(&run("fit", &shards, &fitted)).len(), 1, "what is finished is not trained again");
    let of_reuse = ["--shards", taught.to_str().unwrap(), "--set", "replay.reuse=2"];
    let lines = said(&run("fit", &of_reuse, &folder.path().join("of reuse")));
    assert_eq!(lines.last().unwrap()["steps_total"], 2 * samples / 64, "as often as a run would use the samples");
    let other = run("fit", &["--shards", taught.to_str().unwrap(), "--steps", "9"], &fitted);
    assert!(String::from_utf8_lossy(&other.stderr).contains("--out"), "another training needs another folder");

    let with_model = ["--model", model.to_str().unwrap(), "--set", "games.per_generation=4"];
    let lines = said(&run("selfplay", &with_model, &played));
    assert!(lines[0]["evaluations_per_sec"].as_f64().unwrap() > 0.0, "the network plays");
    let shard = fs::read(played.join("000000.npz")).unwrap();
    fs::remove_file(played.join("000000.npz")).unwrap();
    said(&run("selfplay", &with_model, &played));
    assert!(shard == fs::read(played.join("000000.npz")).unwrap(), "the same seed writes the same file");
    let other = run("selfplay", &["--set", "seed=2"], &played);
    assert!(String::from_utf8_lossy(&other.stderr).contains("--out"), "games of another seed are not mixed in");
    let nothing = run("fit", &["--shards", folder.path().to_str().unwrap()], &again);
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("no shard"), "an empty folder is named");
}

#[test]
fn shards_beyond_the_last_number_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("none");
    let refused = run("selfplay", &["--first", "18446744073709551615", "--shards", "2"], &out);
    let complaint = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{complaint}");
    assert!(complaint.contains("--first plus --shards") && !complaint.contains("panicked"), "{complaint}");
    assert!(!out.exists(), "nothing is begun");
}
