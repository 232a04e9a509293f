//! `inspect`: every file that the program writes is told for what it is, and every bad one named.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{assert_refused, complaint, latrunculi, printed};

fn inspected(path: &Path, arguments: &[&str]) -> Value {
    let path = path.to_str().expect("a path");
    let output = latrunculi(&[&["inspect", path, "--json"], arguments].concat());
    assert!(output.status.success(), "{path}: {}", complaint(&output));
    let value: Value = serde_json::from_str(&printed(&output)).expect("JSON");
    let text = printed(&latrunculi(&[&["inspect", path], arguments].concat()));
    assert!(text.starts_with("kind ") && text.contains(value["kind"].as_str().expect("a kind")), "{text}");
    value
}

#[test]
fn every_file_of_a_run_is_told_for_what_it_is_and_damage_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let shown = run.to_str().expect("a path");
    let settings = [
        ["--set", "budget.generations=1"],
        ["--set", "evaluation.every=0"],
        ["--set", "evaluation.final_pairs=1"],
        ["--set", "games.per_generation=8"],
    ];
    let trained =
        latrunculi(&[&["train", "configs/train/smoke.toml", "--run", shown], settings.as_flattened()].concat());
    assert!(trained.status.success(), "{}", complaint(&trained));
    let ruleset = inspected(&run, &[])["ruleset"].clone();
    for (file, kind) in [
        ("", "run"),
        ("config.toml", "training configuration"),
        ("ruleset.toml", "ruleset"),
        ("provenance.json", "provenance of a run"),
        ("result.json", "result of a run"),
        ("metrics.jsonl", "metrics"),
        ("shards/000000.npz", "shard"),
        ("checkpoints/000001.safetensors", "checkpoint"),
        ("export/model.safetensors", "model"),
        ("export/model.pt", "TorchScript network"),
        ("export", "folder of models or exports"),
    ] {
        assert_eq!(inspected(&run.join(file), &[])["kind"], kind, "{file}");
    }
    let model = inspected(&run.join("export/model.safetensors"), &["--verify"]);
    assert_eq!(model["ruleset"], ruleset);
    assert!(model["steps"].as_u64() > Some(0) && model["verified"].is_string(), "{model}");
    let shard = inspected(&run.join("shards/000000.npz"), &["--verify"]);
    assert!(shard["samples"].as_u64() > Some(0) && shard["games"].as_u64() > Some(0), "{shard}");
    assert_eq!(shard["ruleset"], ruleset);
    inspected(&run.join("checkpoints/000001.safetensors"), &["--verify"]);

    // A summary notices that the end is missing, although it does not read it; a wrong number needs --verify.
    for (file, word) in [
        ("shards/000000.npz", "000000.npz"),
        ("checkpoints/000001.safetensors", "cut off"),
        ("export/model.safetensors", "cut off"),
        ("result.json", "cut off"),
    ] {
        let path = run.join(file);
        let bytes = fs::read(&path).expect("there");
        let cut = folder.path().join(path.file_name().expect("a name"));
        fs::write(&cut, &bytes[..bytes.len() / 2]).expect("written");
        assert_refused(&["inspect", cut.to_str().expect("a path")], 1, &[word]);
    }
    let path = run.join("export/model.safetensors");
    let mut bytes = fs::read(&path).expect("there");
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&path, bytes).expect("written");
    assert_eq!(inspected(&path, &[])["kind"], "model");
    assert_refused(&["inspect", "--verify", path.to_str().expect("a path")], 1, &["not a finite number"]);
}

#[test]
fn games_are_counted_by_ruleset_agents_result_and_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("games.jsonl");
    let shown = path.to_str().expect("a path");
    let arguments = ["match", "greedy", "random", "--ruleset", "savard", "--games", "6", "--quiet", "--ledger", shown];
    assert!(latrunculi(&arguments).status.success());
    let report = inspected(&path, &["--verify"]);
    assert_eq!((report["kind"].as_str(), report["games"].as_u64()), (Some("ledger"), Some(6)));
    assert_eq!(report["agents"], serde_json::json!({ "greedy - random": 3, "random - greedy": 3 }));
    let results = report["results"].as_object().expect("results");
    assert_eq!(results.values().filter_map(Value::as_u64).sum::<u64>(), 6);
    assert!(report["verified"].is_string() && report["warning"].is_null());
    assert!(report["what_they_are_like"].as_object().is_some_and(|told| told.len() > 3), "{report}");

    let text = fs::read_to_string(&path).expect("there");
    let line = text.lines().next().expect("a game");
    for (name, content, word) in [
        ("empty.jsonl", String::new(), "is empty"),
        ("diary.jsonl", "my diary\n".to_owned(), "line 1: not JSON"),
        ("cut.jsonl", format!("{line}\n{}", &line[..line.len() / 2]), "line 2"),
        ("version.jsonl", line.replace("\"version\":1", "\"version\":9"), "format version 9"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("written");
        assert_refused(&["inspect", path.to_str().expect("a path")], 1, &[name, word]);
    }
    // Games under rules that nobody here knows are counted, and verified only with their rules.
    let own = folder.path().join("own.jsonl");
    fs::write(&own, line.replace("\"ruleset\":\"savard\"", "\"ruleset\":\"mine\"")).expect("written");
    assert_eq!(inspected(&own, &[])["games"], 1);
    assert_refused(&["inspect", "--verify", own.to_str().expect("a path")], 1, &["no shipped ruleset"]);
    let cheat = folder.path().join("cheat.jsonl");
    fs::write(&cheat, line.replacen("\"actions\":[\"", "\"actions\":[\"a1-h8\",\"", 1)).expect("written");
    assert_refused(&["inspect", cheat.to_str().expect("a path")], 1, &["line 1", "action 1"]);
}

#[test]
fn what_is_none_of_ours_is_refused_with_what_would_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("written");
        path.to_str().expect("a path").to_owned()
    };
    for (path, word) in [
        (path("a.txt", b"text"), ".safetensors"),
        (path("a.json", b"{}"), "nothing that this program writes"),
        (path("b.json", b"{"), "cut off"),
        (path("a.toml", b"[board]\nfiels = 3\n"), "did you mean board.files?"),
        (path("b.toml", b"= 3"), "b.toml"),
        (path("c.toml", b"[selfplay]\n"), "not a training configuration"),
        (path("a.npz", b"PK"), "not an archive"),
        (path("a.safetensors", b""), "cut off"),
        (path("b.safetensors", &[0xff; 64]), "announces a header"),
        (path("a.jsonl", b"\xff\xfe\n"), "line 1 is not text"),
        (folder.path().join("lost").to_str().expect("a path").to_owned(), "lost"),
        ("/dev/null".to_owned(), "neither a file nor a folder"),
        ("configs".to_owned(), "none of our folders"),
    ] {
        assert_refused(&["inspect", &path], 1, &[word]);
    }
    assert_eq!(inspected(Path::new("configs/rulesets/bell.toml"), &[])["kind"], "ruleset");
    assert_eq!(inspected(Path::new("configs/train/quick.toml"), &[])["kind"], "training configuration");
}
