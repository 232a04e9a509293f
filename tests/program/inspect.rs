//! `inspect`: every file that the program writes is told for what it is, and every bad one named.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{assert_refused, complaint, latrunculi, printed, root};

fn inspected(path: &Path, arguments: &[&str]) -> Value {
    let path = path.to_str().expect("a path");
    let output = latrunculi(&[&["inspect", path, "--json"], arguments].concat());
    assert!(output.status.success(), "{path}: {}", complaint(&output));
    let value: Value = serde_json::from_str(&printed(&output)).expect("JSON");
    let text = printed(&latrunculi(&[&["inspect", path], arguments].concat()));
    assert!(text.starts_with("kind ") && text.contains(value["kind"].as_str().expect("a kind")), "{text}");
    value
}

#[cfg(feature = "libtorch")]
#[test]
fn every_file_of_a_run_is_told_for_what_it_is_and_damage_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let shown = run.to_str().expect("a path");
    let settings = [
        ["--set", "budget.generations=1"],
        ["--set", "evaluation.every=0"],
        ["--set", "evaluation.final_opening_pairs=1"],
        ["--set", "games.per_generation=8"],
    ];
    let trained = latrunculi(&[&["train", "smoke", "--run", shown], settings.as_flattened()].concat());
    assert!(trained.status.success(), "{}", complaint(&trained));
    let told = inspected(&run, &[]);
    let ruleset = serde_json::json!(told["rulesets"].as_object().expect("rulesets").keys().next());
    // The last round only trains; its steps count all the same.
    let model = inspected(&run.join("export/model.safetensors"), &[]);
    assert_eq!((&told["generations"], &told["steps_total"]), (&model["generations"], &model["steps"]), "{told}");
    assert!(model["measured"]["strength"][0]["score"].is_number() && model["strength"][0].is_string(), "{model}");
    assert_eq!((told["generations"].as_u64(), told["latest"].as_str()), (Some(1), Some("000001.safetensors")));
    for (file, kind) in [
        ("", "run"),
        ("config.toml", "training configuration"),
        ("rulesets/bell.toml", "ruleset"),
        ("provenance.json", "provenance of a run"),
        ("result.json", "result of a run"),
        ("metrics.jsonl", "metrics"),
        ("learning.csv", "table of learning curves"),
        ("learning.html", "page for people"),
        ("shards/000000-bell.npz", "shard"),
        ("checkpoints/000001.safetensors", "checkpoint"),
        ("export/model.safetensors", "model"),
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
        assert_eq!(inspected(&run.join(file), &[])["kind"], kind, "{file}");
    }
    // An exported file tells of itself without the description beside it.
    let alone = tempfile::tempdir().expect("a folder");
    for name in ["model.pt", "model.onnx", "model.weights.safetensors", "model.weights.npz"] {
        let path = alone.path().join(name);
        let bytes = fs::read(run.join("export").join(name)).expect("there");
        fs::write(&path, &bytes).expect("written");
        let told = inspected(&path, &["--verify"]);
        assert_eq!(told["rulesets"][0]["name"], ruleset, "{name}");
        assert!(told["verified"].is_string() && told["inputs"].is_object(), "{name}: {told}");
        let shown = path.to_str().expect("a path");
        for length in [0, bytes.len() / 2] {
            fs::write(&path, &bytes[..length]).expect("written");
            assert_refused(&["inspect", shown], 1, &[name, "cut off"]);
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
        fs::write(&path, flipped).expect("written");
        assert_refused(&["inspect", "--verify", shown], 1, &[name]);
    }
    let model = inspected(&run.join("export/model.safetensors"), &["--verify"]);
    assert_eq!(model["rulesets"][0]["name"], ruleset);
    assert!(model["steps"].as_u64() > Some(0) && model["verified"].is_string(), "{model}");
    let shard = inspected(&run.join("shards/000000-bell.npz"), &["--verify"]);
    assert!(shard["samples"].as_u64() > Some(0) && shard["games"].as_u64() > Some(0), "{shard}");
    assert_eq!(shard["ruleset"], ruleset);
    inspected(&run.join("checkpoints/000001.safetensors"), &["--verify"]);

    a_folder_is_verified_file_by_file(&run);
    let curves = folder.path().join("curves");
    let shown_curves = curves.to_str().expect("a path");
    assert!(latrunculi(&["curves", shown, "--out", shown_curves]).status.success());
    assert_eq!(inspected(&curves, &["--verify"])["kind"], "learning curves");

    // A summary notices that the end is missing, although it does not read it; a wrong number needs --verify.
    for (file, word) in [
        ("shards/000000-bell.npz", "000000-bell.npz"),
        ("checkpoints/000001.safetensors", "cut off"),
        ("export/model.safetensors", "cut off"),
        ("result.json", "cut off"),
        ("tensorboard/events.out.tfevents.0.latrunculi", "cut off"),
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

/// Checks that no damage in a run is passed over when all of it is read.
#[cfg(feature = "libtorch")]
fn a_folder_is_verified_file_by_file(run: &Path) {
    let told = inspected(run, &["--verify"]);
    for kind in ["shard", "checkpoint", "model", "ONNX network", "metrics", "TensorBoard events", "ruleset"] {
        assert!(told["verified"][kind].as_u64() > Some(0), "{kind}: {told}");
    }
    assert!(told["cut_off"].is_null(), "{told}");
    let shown = run.to_str().expect("a path");
    for file in [
        "shards/000000-bell.npz",
        "checkpoints/000001.safetensors",
        "export/model.onnx",
        "export/model.json",
        "provenance.json",
        "tensorboard/events.out.tfevents.0.latrunculi",
    ] {
        let path = run.join(file);
        let bytes = fs::read(&path).expect("there");
        fs::write(&path, &bytes[..bytes.len() / 2]).expect("written");
        assert_refused(
            &["inspect", "--verify", shown],
            1,
            &[path.file_name().expect("a name").to_str().expect("text")],
        );
        fs::write(&path, bytes).expect("written");
    }
    let shard = run.join("shards/000000-bell.npz");
    let aside = run.join("aside");
    fs::rename(&shard, &aside).expect("moved");
    assert_refused(&["inspect", "--verify", shown], 1, &["000000-bell.npz"]);
    let other = run.join("other");
    let play = ["selfplay", "smoke", "--set", "seed=99", "--quiet", "--out", other.to_str().expect("a path")];
    assert!(latrunculi(&play).status.success());
    fs::rename(other.join("000000.npz"), &shard).expect("moved");
    fs::remove_dir_all(other).expect("removed");
    assert_refused(&["inspect", "--verify", shown], 1, &["000000-bell.npz", "its checksum is not the one"]);
    fs::rename(&aside, &shard).expect("moved");
    let latest = run.join("latest");
    fs::write(&latest, "nonsense\n").expect("written");
    assert_refused(&["inspect", "--verify", shown], 1, &["latest", "nonsense"]);
    assert!(inspected(run, &[])["warning"].as_str().is_some_and(|warning| warning.contains("nonsense")));
    fs::write(&latest, "000001.safetensors\n").expect("written");

    // What a kill leaves half written is told and is no damage: the next command there takes it away.
    let metrics = run.join("metrics.jsonl");
    let whole = fs::read(&metrics).expect("there");
    fs::write(&metrics, [&whole[..], b"{\"generation\":2,\"ga"].concat()).expect("written");
    let told = inspected(run, &["--verify"]);
    assert!(told["cut_off"][0].as_str().is_some_and(|told| told.contains("metrics.jsonl")), "{told}");
    assert!(told["warning"].as_str().is_some_and(|warning| warning.contains("metrics.jsonl")), "{told}");
    assert_eq!(told["generations"], 1);
    fs::write(&metrics, whole).expect("written");
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
        ("cut.jsonl", format!("{line}\n{}\n", &line[..line.len() / 2]), "line 2"),
        ("version.jsonl", line.replace("\"version\":1", "\"version\":9"), "format version 9"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("written");
        assert_refused(&["inspect", path.to_str().expect("a path")], 1, &[name, word]);
    }
    // A program that is killed leaves half a line, which does not end.
    let killed = folder.path().join("killed.jsonl");
    fs::write(&killed, format!("{line}\n{}", &line[..line.len() / 2])).expect("written");
    let told = inspected(&killed, &["--verify"]);
    assert_eq!(told["games"], 1);
    assert!(told["left_out"].as_str().is_some_and(|text| text.starts_with("line 2,")), "{told}");
    // Games under rules that nobody here knows are counted, and verified only with their rules.
    let own = folder.path().join("own.jsonl");
    fs::write(&own, line.replace("\"ruleset\":\"savard\"", "\"ruleset\":\"mine\"")).expect("written");
    assert_eq!(inspected(&own, &[])["games"], 1);
    assert_refused(&["inspect", "--verify", own.to_str().expect("a path")], 1, &["no shipped ruleset"]);
    // Games of a ruleset whose parameters have changed since are counted, whichever come first; a named ruleset is that of its
    // own games alone.
    let fingerprint = serde_json::from_str::<Value>(line).expect("JSON")["ruleset_fingerprint"].clone();
    let older = line.replace(fingerprint.as_str().expect("a text"), "00000000");
    let both = folder.path().join("both.jsonl");
    for (one, other) in [(line, older.as_str()), (older.as_str(), line)] {
        fs::write(&both, format!("{one}\n{other}\n")).expect("written");
        assert_eq!(inspected(&both, &[])["games"], 2);
        assert_refused(
            &["inspect", "--verify", both.to_str().expect("a path")],
            1,
            &["savard has other parameters now"],
        );
    }
    assert_eq!(inspected(&path, &["--verify", "--ruleset", "bell"])["games"], 6);
    let cheat = folder.path().join("cheat.jsonl");
    fs::write(&cheat, line.replacen("\"actions\":[\"", "\"actions\":[\"a1-h8\",\"", 1)).expect("written");
    assert_refused(&["inspect", cheat.to_str().expect("a path")], 1, &["line 1", "action 1"]);
    let impossible = folder.path().join("impossible.jsonl");
    for (fields, said) in
        [("\"values\":[1.5],", "a value is 1.5"), ("\"visits\":[{\"a1-h8\":3}],", "the number of visits")]
    {
        fs::write(&impossible, line.replacen("\"actions\":", &format!("{fields}\"actions\":"), 1)).expect("written");
        assert_refused(&["inspect", "--verify", impossible.to_str().expect("a path")], 1, &["line 1", said]);
    }
}

#[test]
fn a_summary_says_that_it_verifies_nothing() {
    let model = root().join("models/universal.safetensors");
    let told = |arguments: &[&str]| inspected(&model, arguments)["verified"].as_str().expect("a sentence").to_owned();
    assert!(told(&[]).starts_with("no; --verify"), "{}", told(&[]));
    assert!(told(&["--verify"]).contains("answers as play needs it"), "{}", told(&["--verify"]));
}

#[test]
fn studies_and_ratings_are_told_for_what_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let [study, rating] = ["study", "rating"].map(|name| folder.path().join(name));
    let shown = |path: &Path| path.to_str().expect("a path").to_owned();
    let (out, to) = (shown(&study), shown(&rating));
    let balance = [
        "balance",
        "--rulesets",
        "savard",
        "--agents",
        "greedy",
        "--max-games",
        "4",
        "--compensation=1",
        "--out",
        &out,
    ];
    let rate = ["rate", "greedy", "random", "--ruleset", "savard", "--games", "4", "--out", &to];
    for arguments in [&balance[..], &rate] {
        let output = latrunculi(arguments);
        assert!(output.status.success(), "{}", complaint(&output));
    }
    for (path, kind) in [
        (study.clone(), "study"),
        (study.join("study.json"), "plan of a study"),
        (study.join("study.toml"), "study settings"),
        (study.join("provenance.jsonl"), "provenance of a study"),
        (study.join("balance.csv"), "table of a study"),
        (study.join("report.html"), "page for people"),
        (study.join("games/savard/greedy.jsonl"), "ledger"),
        (rating.clone(), "rating"),
        (rating.join("rating.csv"), "table of a rating"),
    ] {
        assert_eq!(inspected(&path, &[])["kind"], kind, "{}", path.display());
    }
    // Games with a handicap are other games: what they are like is told of one kind alone, and of which.
    let ledger = study.join("games/savard/greedy.jsonl");
    let told = inspected(&ledger, &[]);
    let like = |told: &Value, name: &str| told["what_they_are_like"][name].as_str().unwrap_or_default().to_owned();
    assert_eq!((told["games"].as_u64(), told["matches"].as_u64()), (Some(8), Some(2)));
    assert!(like(&told, "games").starts_with("4 from "), "{told}");
    let of = like(&told, "of");
    assert!(of.contains("greedy seed=0") && of.ends_with(", the most games of 2 kinds that differ"), "{told}");
    // A game that stands there twice counts once.
    let text = fs::read_to_string(&ledger).expect("there");
    let line = text.lines().find(|line| !line.contains("handicap")).expect("a game");
    let twice = folder.path().join("twice.jsonl");
    fs::write(&twice, format!("{line}\n{line}\n")).expect("written");
    let told = inspected(&twice, &[]);
    assert!(like(&told, "games").starts_with("1 from ") && like(&told, "repeated").starts_with("1 games"), "{told}");
    assert_eq!(like(&told, "of"), "");
    for path in [&study, &rating] {
        let told = inspected(path, &["--verify"]);
        assert_eq!(told["verified"]["ledger"], 1, "{told}");
    }
    // A result that the rules contradict is found, in whichever file it stands.
    for (path, ledger) in [(&study, "games/savard/greedy.jsonl"), (&rating, "games.jsonl")] {
        let ledger = path.join(ledger);
        let text = fs::read_to_string(&ledger).expect("there");
        let (won, lost) = (r#""result":"1""#, r#""result":"2""#);
        let forged = if text.contains(won) { text.replacen(won, lost, 1) } else { text.replacen(lost, won, 1) };
        fs::write(&ledger, forged).expect("written");
        assert_refused(&["inspect", "--verify", &shown(path)], 1, &[".jsonl, line ", "result is "]);
        fs::write(&ledger, text).expect("written");
    }
    // A study that was killed has no summary yet.
    let killed = folder.path().join("killed");
    fs::create_dir_all(killed.join("rulesets")).expect("made");
    for file in ["study.json", "rulesets/savard.toml"] {
        fs::copy(study.join(file), killed.join(file)).expect("copied");
    }
    assert_eq!(inspected(&killed, &["--verify"])["is_complete"], false);
    let told = inspected(&rating, &[]);
    assert!(told["agents"]["greedy"].as_str().is_some_and(|elo| elo.contains(" Elo [")), "{told}");
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
        (path("a.csv", b"\0\0\0"), "none of our tables"),
        (path("b.csv", b"rank,agent,elo\n1,\"net:a,sims=4\",3"), "cut off"),
        (path("c.csv", b"rank,agent,elo\n1,net:a,sims=4,3\n"), "line 2: 4 fields under 3 columns"),
        (path("a.html", b"<title>A</title><p>"), "cut off"),
        (path("a.md", b"text"), "no title"),
        (path("a.npz", b"PK"), "not an archive"),
        (path("a.safetensors", b""), "cut off"),
        (path("b.safetensors", &[0xff; 64]), "announces a header"),
        (path("a.jsonl", b"\xff\xfe\n"), "line 1: it is not text"),
        (folder.path().join("lost").to_str().expect("a path").to_owned(), "lost"),
        ("/dev/null".to_owned(), "neither a file nor a folder"),
        ("configs".to_owned(), "none of our folders"),
    ] {
        assert_refused(&["inspect", &path], 1, &[word]);
    }
    let metrics = path("cut.jsonl", b"{\"generation\":0}\n{\"generation\":1}\n{\"gener");
    let told = inspected(Path::new(&metrics), &[]);
    assert_eq!((&told["generation"], &told["lines"]), (&json!(1), &json!(2)), "{told}");
    assert_eq!(told["left_out"], "line 3, which does not end: its writer was killed");
    assert_refused(&["inspect", &path("half.jsonl", b"{\"generation\":0")], 1, &["line 1: not JSON"]);
    let table = path("d.csv", b"rank,agent,elo\n1,\"net:a,sims=4\",3\n");
    assert_eq!(inspected(Path::new(&table), &[])["rows"], 1);
    assert_eq!(inspected(Path::new("configs/rulesets/bell.toml"), &[])["kind"], "ruleset");
    assert_eq!(inspected(Path::new("configs/train/quick.toml"), &[])["kind"], "training configuration");
}
