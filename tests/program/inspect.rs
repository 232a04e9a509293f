//! `inspect`: every file that the program writes is told for what it is, and every bad one named.

use std::fs;

use serde_json::{Value, json};

use crate::support::Shell;

/// Inspects what must be readable, as JSON and as text.
fn inspected(shell: &Shell, arguments: &str) -> Value {
    let value = shell.prints_json(&format!("inspect {arguments}"));
    let text = shell.prints(&format!("inspect {arguments}"));
    assert!(text.starts_with("kind ") && text.contains(value["kind"].as_str().expect("a kind")), "{text}");
    value
}

fn assert_text_contains(value: &Value, part: &str) {
    assert!(value.as_str().is_some_and(|text| text.contains(part)), "{part:?} is missing from {value}");
}

#[cfg(feature = "libtorch")]
#[test]
fn every_file_of_a_run_is_told_for_what_it_is_and_damage_is_named() {
    let shell = Shell::with_run();
    let told = inspected(&shell, "run");
    // The last round only trains; its steps count all the same.
    let model = inspected(&shell, "run/export/model.safetensors --verify");
    assert_eq!((&told["generations"], &told["steps_total"]), (&model["generations"], &model["steps"]), "{told}");
    assert!(model["measured"]["strength"][0]["score"].is_number() && model["strength"][0].is_string(), "{model}");
    assert!(model["steps"].as_u64() > Some(0) && model["verified"].is_string(), "{model}");
    assert_eq!((&told["generations"], &told["latest"]), (&json!(2), &json!("000002.safetensors")));
    for (file, kind) in [
        ("config.toml", "training configuration"),
        ("rulesets/bell.toml", "ruleset"),
        ("provenance.json", "provenance of a run"),
        ("result.json", "result of a run"),
        ("metrics.jsonl", "metrics"),
        ("learning.csv", "table of learning curves"),
        ("learning.html", "page for people"),
        ("shards/000000-bell.npz", "shard"),
        ("checkpoints/000002.safetensors", "checkpoint"),
        ("export/model.pt", "TorchScript network"),
        ("export/model.onnx", "ONNX network"),
        ("export/model.weights.safetensors", "weights"),
        ("export/model.weights.npz", "exported weights"),
        ("export/model.json", "description of an exported network"),
        ("export/model.md", "page for people"),
        ("export", "folder of models or exports"),
        ("shards", "folder of shards"),
        ("checkpoints", "folder of checkpoints"),
        ("tensorboard/events.out.tfevents.0.latrunculi", "TensorBoard events"),
    ] {
        assert_eq!(inspected(&shell, &format!("run/{file}"))["kind"], kind, "{file}");
    }
    assert_eq!((&told["kind"], &model["kind"]), (&json!("run"), &json!("model")));
    // An exported file tells of itself without the description beside it.
    for name in ["model.pt", "model.onnx", "model.weights.safetensors", "model.weights.npz"] {
        let bytes = shell.bytes(&format!("run/export/{name}"));
        shell.write(name, &bytes);
        let told = inspected(&shell, &format!("{name} --verify"));
        assert_eq!(told["rulesets"][0]["name"], "bell", "{name}");
        assert!(told["verified"].is_string() && told["inputs"].is_object(), "{name}: {told}");
        for length in [0, bytes.len() / 2] {
            shell.write(name, &bytes[..length]);
            shell.refuses(&format!("inspect {name}"), 1, &[name, "cut off"]);
        }
        let mut flipped = bytes.clone();
        match name {
            // In the middle lie weights, of which a checksum tells.
            "model.pt" | "model.weights.npz" => flipped[bytes.len() / 2] ^= 1,
            // Without one, a wrong number does.
            _ => {
                let weight = bytes.len() / 2 / 4 * 4;
                flipped[weight - 8..weight + 8].fill(0xff);
            }
        }
        shell.write(name, flipped);
        shell.refuses(&format!("inspect --verify {name}"), 1, &[name]);
    }
    assert_eq!(model["rulesets"][0]["name"], "bell");
    let shard = inspected(&shell, "run/shards/000000-bell.npz --verify");
    assert!(shard["samples"].as_u64() > Some(0) && shard["games"].as_u64() > Some(0), "{shard}");
    assert_eq!(shard["ruleset"], "bell");
    inspected(&shell, "run/checkpoints/000002.safetensors --verify");
    shell.prints("curves run --out curves");
    assert_eq!(inspected(&shell, "curves --verify")["kind"], "learning curves");

    // A summary notices that the end is missing, although it does not read it; a wrong number needs --verify.
    for (file, part) in [
        ("shards/000000-bell.npz", "cut.npz"),
        ("checkpoints/000002.safetensors", "cut off"),
        ("export/model.safetensors", "cut off"),
        ("result.json", "cut off"),
        ("tensorboard/events.out.tfevents.0.latrunculi", "cut off"),
    ] {
        let bytes = shell.bytes(&format!("run/{file}"));
        let (_, name) = file.split_once('/').unwrap_or(("", file));
        let cut = name.replace("000000-bell", "cut");
        shell.write(&cut, &bytes[..bytes.len() / 2]);
        shell.refuses(&format!("inspect {cut}"), 1, &[part]);
    }
    let mut bytes = shell.bytes("run/export/model.safetensors");
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    shell.write("model.safetensors", bytes);
    assert_eq!(inspected(&shell, "model.safetensors")["kind"], "model");
    shell.refuses("inspect --verify model.safetensors", 1, &["not a finite number"]);
}

/// No damage in a run is passed over when all of it is read.
#[cfg(feature = "libtorch")]
#[test]
fn a_folder_is_verified_file_by_file() {
    let shell = Shell::with_run();
    let told = inspected(&shell, "run --verify");
    for kind in ["shard", "checkpoint", "model", "ONNX network", "metrics", "TensorBoard events", "ruleset"] {
        assert!(told["verified"][kind].as_u64() > Some(0), "{kind}: {told}");
    }
    assert!(told["cut_off"].is_null(), "{told}");
    for file in [
        "shards/000000-bell.npz",
        "checkpoints/000002.safetensors",
        "checkpoints/000002.pools",
        "export/model.onnx",
        "export/model.json",
        "provenance.json",
        "tensorboard/events.out.tfevents.0.latrunculi",
    ] {
        let path = format!("run/{file}");
        let bytes = shell.bytes(&path);
        shell.write(&path, &bytes[..bytes.len() / 2]);
        shell.refuses("inspect --verify run", 1, &[file]);
        shell.write(&path, bytes);
    }
    let shard = "run/shards/000000-bell.npz";
    let bytes = shell.bytes(shard);
    fs::remove_file(shell.path(shard)).expect("removed");
    shell.refuses("inspect --verify run", 1, &["000000-bell.npz"]);
    shell.prints("selfplay smoke --set seed=99 --quiet --out other");
    shell.copy("other/000000.npz", shard);
    shell.refuses("inspect --verify run", 1, &["000000-bell.npz", "its checksum is not the one"]);
    shell.write(shard, bytes);
    shell.write("run/latest", "nonsense\n");
    shell.refuses("inspect --verify run", 1, &["latest", "nonsense"]);
    assert_text_contains(&inspected(&shell, "run")["warning"], "nonsense");
    shell.write("run/latest", "000002.safetensors\n");

    // What a kill leaves half written is told and is no damage: the next command there takes it away.
    shell.write("run/metrics.jsonl", shell.text("run/metrics.jsonl") + "{\"generation\":3,\"ga");
    let told = inspected(&shell, "run --verify");
    assert_text_contains(&told["cut_off"][0], "metrics.jsonl");
    assert_text_contains(&told["warning"], "metrics.jsonl");
    assert_eq!(told["generations"], 2);
}

#[test]
fn games_are_counted_by_ruleset_agents_result_and_end() {
    let shell = Shell::new();
    shell.prints("match greedy random --ruleset savard --games 6 --quiet --ledger games.jsonl");
    let report = inspected(&shell, "games.jsonl --verify");
    assert_eq!((&report["kind"], &report["games"]), (&json!("ledger"), &json!(6)));
    assert_eq!(report["agents"], json!({ "greedy - random": 3, "random - greedy": 3 }));
    let results = report["results"].as_object().expect("results");
    assert_eq!(results.values().filter_map(Value::as_u64).sum::<u64>(), 6);
    assert!(report["verified"].is_string() && report["warning"].is_null());
    assert!(report["what_they_are_like"].as_object().is_some_and(|told| told.len() > 3), "{report}");

    let text = shell.text("games.jsonl");
    let line = text.lines().next().expect("a game");
    let half = &line[..line.len() / 2];
    // Games of a ruleset whose parameters have changed since, and under rules that nobody here knows.
    let fingerprint = serde_json::from_str::<Value>(line).expect("JSON")["ruleset_fingerprint"].clone();
    let older = line.replace(fingerprint.as_str().expect("a text"), "00000000");
    let unknown = line.replace("\"ruleset\":\"savard\"", "\"ruleset\":\"mine\"");
    let with = |fields: &str| line.replacen("\"actions\":", &format!("{fields}\"actions\":"), 1);
    for (name, content, parts) in [
        ("empty.jsonl", String::new(), &["is empty"][..]),
        ("diary.jsonl", "my diary\n".to_owned(), &["line 1: not JSON"]),
        ("cut.jsonl", format!("{line}\n{half}\n"), &["line 2"]),
        ("version.jsonl", line.replace("\"version\":1", "\"version\":9"), &["format version 9"]),
        ("cheat.jsonl", line.replacen("\"actions\":[\"", "\"actions\":[\"a1-h8\",\"", 1), &["line 1", "action 1"]),
        ("value.jsonl", with("\"values\":[1.5],"), &["line 1", "a value is 1.5"]),
        ("visits.jsonl", with("\"visits\":[{\"a1-h8\":3}],"), &["line 1", "the number of visits"]),
        ("unknown.jsonl", unknown, &["no shipped ruleset"]),
        ("older-last.jsonl", format!("{line}\n{older}\n"), &["savard has other parameters now"]),
        ("older-first.jsonl", format!("{older}\n{line}\n"), &["savard has other parameters now"]),
    ] {
        shell.write(name, content);
        shell.refuses(&format!("inspect --verify {name}"), 1, parts);
    }
    for name in ["empty", "diary", "cut", "version", "cheat"] {
        shell.refuses(&format!("inspect {name}.jsonl"), 1, &[name]);
    }
    for (name, games) in [("unknown", 1), ("older-last", 2), ("older-first", 2)] {
        assert_eq!(inspected(&shell, &format!("{name}.jsonl"))["games"], games, "they are counted all the same");
    }
    // A program that is killed leaves half a line, which does not end.
    shell.write("killed.jsonl", format!("{line}\n{half}"));
    let told = inspected(&shell, "killed.jsonl --verify");
    assert_eq!(told["games"], 1);
    assert_text_contains(&told["left_out"], "line 2,");
    // A named ruleset is that of its own games alone.
    assert_eq!(inspected(&shell, "games.jsonl --verify --ruleset bell")["games"], 6);
}

#[test]
fn a_summary_says_that_it_verifies_nothing() {
    let model = "models/universal.safetensors";
    assert_text_contains(&inspected(&Shell::in_root(), model)["verified"], "no; --verify");
    let verified = inspected(&Shell::in_root(), &format!("{model} --verify"));
    assert_text_contains(&verified["verified"], "answers as play needs it");
}

#[test]
fn studies_and_ratings_are_told_for_what_they_are() {
    let shell = Shell::new();
    shell.prints("balance --rulesets savard --agents greedy --max-games 4 --compensation=1 --out study");
    let told = shell.prints("rate greedy random --ruleset savard --games 4 --out rating");
    // What so few games cannot test is not told.
    assert!(told.contains("the fit") && !told.contains("none:"), "{told}");
    for (path, kind) in [
        ("study", "study"),
        ("study/study.json", "plan of a study"),
        ("study/study.toml", "study settings"),
        ("study/provenance.jsonl", "provenance of a study"),
        ("study/balance.csv", "table of a study"),
        ("study/report.html", "page for people"),
        ("study/games/savard/greedy.jsonl", "ledger"),
        ("rating", "rating"),
        ("rating/rating.csv", "table of a rating"),
    ] {
        assert_eq!(inspected(&shell, path)["kind"], kind, "{path}");
    }
    assert_text_contains(&inspected(&shell, "rating")["agents"]["greedy"], " Elo [");
    // Games with a handicap are other games: what they are like is told of one kind alone, and of which.
    let ledger = "study/games/savard/greedy.jsonl";
    let told = inspected(&shell, ledger);
    assert_eq!((&told["games"], &told["matches"]), (&json!(8), &json!(2)));
    let like = &told["what_they_are_like"];
    assert_text_contains(&like["games"], "4 from ");
    assert_text_contains(&like["of"], "greedy seed=0");
    assert_text_contains(&like["of"], ", the most games of 2 kinds that differ");
    // A game that stands there twice counts once.
    let text = shell.text(ledger);
    let line = text.lines().find(|line| !line.contains("handicap")).expect("a game");
    shell.write("twice.jsonl", format!("{line}\n{line}\n"));
    let like = &inspected(&shell, "twice.jsonl")["what_they_are_like"];
    assert_text_contains(&like["games"], "1 from ");
    assert_text_contains(&like["repeated"], "1 games");
    assert!(like["of"].is_null(), "{like}");
    // A result that the rules contradict is found, in whichever file it stands.
    for (path, ledger) in [("study", ledger), ("rating", "rating/games.jsonl")] {
        assert_eq!(inspected(&shell, &format!("{path} --verify"))["verified"]["ledger"], 1, "{path}");
        let text = shell.text(ledger);
        let (won, lost) = (r#""result":"1""#, r#""result":"2""#);
        let (said, forged) = if text.contains(won) { (won, lost) } else { (lost, won) };
        shell.write(ledger, text.replacen(said, forged, 1));
        shell.refuses(&format!("inspect --verify {path}"), 1, &[".jsonl, line ", "result is "]);
    }
    // A study that was killed has no summary yet.
    fs::create_dir_all(shell.path("killed/rulesets")).expect("made");
    for file in ["study.json", "rulesets/savard.toml"] {
        shell.copy(&format!("study/{file}"), &format!("killed/{file}"));
    }
    assert_eq!(inspected(&shell, "killed --verify")["is_complete"], false);
}

#[test]
fn what_is_none_of_ours_is_refused_with_what_would_be() {
    let shell = Shell::new();
    let files: [(&str, &[u8], &str); 17] = [
        ("a.txt", b"text", ".safetensors"),
        ("a.json", b"{}", "nothing that this program writes"),
        ("b.json", b"{", "cut off"),
        ("a.toml", b"[board]\nfiels = 3\n", "did you mean board.files?"),
        ("b.toml", b"= 3", "b.toml"),
        ("c.toml", b"[selfplay]\n", "not a training configuration"),
        ("a.csv", b"\0\0\0", "none of our tables"),
        ("b.csv", b"rank,agent,elo\n1,\"net:a,sims=4\",3", "cut off"),
        ("c.csv", b"rank,agent,elo\n1,net:a,sims=4,3\n", "line 2: 4 fields under 3 columns"),
        ("a.html", b"<title>A</title><p>", "cut off"),
        ("a.md", b"text", "no title"),
        ("a.npz", b"PK", "not an archive"),
        ("a.safetensors", b"", "cut off"),
        ("b.safetensors", &[0xff; 64], "announces a header"),
        ("a.jsonl", b"\xff\xfe\n", "line 1: it is not text"),
        ("half.jsonl", b"{\"generation\":0", "line 1: not JSON"),
        ("folder/a.txt", b"text", "none of our folders"),
    ];
    fs::create_dir(shell.path("folder")).expect("made");
    for (path, content, part) in files {
        shell.write(path, content);
        let path = if path.starts_with("folder") { "folder" } else { path };
        shell.refuses(&format!("inspect {path}"), 1, &[part]);
    }
    shell.refuses("inspect lost", 1, &["lost"]);
    shell.refuses("inspect /dev/null", 1, &["neither a file nor a folder"]);

    shell.write("cut.jsonl", "{\"generation\":0}\n{\"generation\":1}\n{\"gener");
    let told = inspected(&shell, "cut.jsonl");
    assert_eq!((&told["generation"], &told["lines"]), (&json!(1), &json!(2)), "{told}");
    assert_eq!(told["left_out"], "line 3, which does not end: its writer was killed");
    shell.write("d.csv", "rank,agent,elo\n1,\"net:a,sims=4\",3\n");
    assert_eq!(inspected(&shell, "d.csv")["rows"], 1);
    for (path, kind) in [("rulesets/bell", "ruleset"), ("train/quick", "training configuration")] {
        assert_eq!(inspected(&Shell::in_root(), &format!("configs/{path}.toml"))["kind"], kind);
    }
}
