//! Runs and studies, and that no address leads outside their folders.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;

use latrunculi_engine::{EndReason, GameRecord, GameState, Rules, presets};
use latrunculi_eval::learning::Round;
use latrunculi_train::{ConfigSource, TrainConfig};
use serde_json::{Value, json};

use crate::client::{Served, settings};

/// Writes a run of one ruleset with no rounds yet.
fn write_run(folder: &Path) {
    fs::create_dir_all(folder.join("rulesets")).unwrap();
    let config = TrainConfig::read(&ConfigSource::find("smoke").unwrap(), &[]).unwrap();
    fs::write(folder.join("config.toml"), config.to_text().unwrap()).unwrap();
    fs::write(folder.join("rulesets/bell.toml"), presets::ruleset("bell").unwrap().to_toml()).unwrap();
}

/// Returns the metrics of a round that trained and played nothing.
fn round(generation: u64) -> Value {
    let round = Round { generation, elapsed_secs: 60.0 * generation as f64, ..Round::default() };
    serde_json::to_value(round).unwrap()
}

/// Writes a study with a page and one game of a ruleset of its own.
fn write_study(folder: &Path) -> GameRecord {
    fs::create_dir_all(folder.join("rulesets")).unwrap();
    fs::create_dir_all(folder.join("games/bell-own")).unwrap();
    fs::write(folder.join("summary.json"), "{}").unwrap();
    fs::write(folder.join("report.html"), "<h1>A study</h1>").unwrap();
    let mut ruleset = presets::ruleset("bell").unwrap();
    ruleset.id = "bell-own".to_owned();
    fs::write(folder.join("rulesets/bell-own.toml"), ruleset.to_toml()).unwrap();
    let mut state = GameState::new(Arc::new(Rules::new(&ruleset).unwrap()));
    let mut record = GameRecord::new(&state, ["random".to_owned(), "greedy".to_owned()], 7);
    let mut legal = Vec::new();
    for _ in 0..5 {
        state.legal_actions(&mut legal);
        record.play(&mut state, legal[0], None, None);
    }
    fs::write(folder.join("games/bell-own/random.jsonl"), record.to_line() + "\n").unwrap();
    record
}

fn serve(root: &Path) -> Served {
    Served::start(settings(IpAddr::V4(Ipv4Addr::LOCALHOST), &root.join("runs"), &root.join("studies")))
}

#[test]
fn a_run_is_read_while_it_grows_is_cut_and_grows_again() {
    let root = tempfile::tempdir().unwrap();
    let run = root.path().join("runs/quick-1");
    write_run(&run);
    let served = serve(root.path());
    let listed = served.get("/api/runs").json();
    assert_eq!(listed["runs"][0]["name"], "quick-1");
    let about = served.get("/api/runs/quick-1").json();
    assert_eq!((&about["rulesets"], &about["result"]), (&json!(["bell"]), &Value::Null));
    let shown = run.to_str().expect("a path");
    assert_eq!((&about["is_running"], &about["path"]), (&json!(false), &json!(shown)));

    let metrics = |from: u64| served.get(&format!("/api/runs/quick-1/metrics?from={from}")).json();
    assert_eq!(metrics(0)["rounds"], json!([]), "nothing written yet");
    let add = |text: &str| {
        let mut file = OpenOptions::new().create(true).append(true).open(run.join("metrics.jsonl")).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    let lines: Vec<String> = (0..3).map(|generation| format!("{}\n", round(generation))).collect();
    let (begun, rest) = lines[2].split_at(9);
    add(&format!("{}{}{begun}", lines[0], lines[1]));
    let found = metrics(0);
    assert_eq!(found["rounds"], json!([round(0), round(1)]), "the last line is not whole");
    let next = found["next"].as_u64().unwrap();
    assert_eq!(metrics(next)["rounds"], json!([]));
    add(rest);
    assert_eq!(metrics(next)["rounds"], json!([round(2)]));

    // A resumed run cuts its last rounds off.
    fs::write(run.join("metrics.jsonl"), &lines[0]).unwrap();
    let again = metrics(next);
    assert_eq!((&again["from"], &again["rounds"]), (&json!(0), &json!([round(0)])));
    // It may have grown beyond the place where the next line was expected, which is then in the middle of one.
    fs::write(run.join("metrics.jsonl"), lines.concat()).unwrap();
    assert_eq!((&metrics(5)["from"], metrics(5)["rounds"].as_array().unwrap().len()), (&json!(0), 3));
}

#[test]
fn what_is_damaged_of_a_run_is_named_and_the_rest_is_told() {
    let root = tempfile::tempdir().unwrap();
    let run = root.path().join("runs/quick-1");
    write_run(&run);
    let served = serve(root.path());
    let metrics = |from: usize| served.get(&format!("/api/runs/quick-1/metrics?from={from}")).json();
    let begin = format!("{}\n", round(0));
    fs::write(run.join("metrics.jsonl"), format!("{begin}{{\"gener:\n{}\n{{}}\n", round(1))).unwrap();
    let found = metrics(0);
    assert_eq!((&found["rounds"], &found["damaged"]["count"]), (&json!([round(0), round(1)]), &json!(2)));
    let first = found["damaged"]["first"].as_str().unwrap();
    assert!(first.starts_with("line 2: not the metrics of a round: ") && first.ends_with(" at column 8"), "{first}");
    // Also where the reading begins in the middle of the file.
    assert_eq!(metrics(begin.len())["damaged"], found["damaged"]);
    assert_eq!(metrics(found["next"].as_u64().unwrap() as usize)["damaged"], Value::Null);

    fs::write(run.join("config.toml"), "[network]\nblocks = \"many\"\n").unwrap();
    fs::write(run.join("result.json"), "{").unwrap();
    let about = served.get("/api/runs/quick-1").json();
    let faults = about["faults"].to_string();
    assert!(faults.contains("blocks") && faults.contains("result.json"), "{faults}");
    assert_eq!((&about["rulesets"], &about["generations"]), (&json!(["bell"]), &json!(1)));
    assert_eq!(metrics(0)["rounds"].as_array().unwrap().len(), 2);
    // It is listed, and a folder without a configuration is named.
    fs::create_dir(root.path().join("runs/stray")).unwrap();
    fs::write(root.path().join("runs/stray/metrics.jsonl"), "").unwrap();
    let listed = served.get("/api/runs").json();
    assert_eq!((&listed["runs"][0]["faults"], &listed["without_config"]), (&about["faults"], &json!(["stray"])));
}

#[test]
fn the_list_of_runs_says_how_far_each_has_come() {
    let root = tempfile::tempdir().unwrap();
    let run = root.path().join("runs/quick-1");
    write_run(&run);
    let verdict = |score: f64| json!({ "opponent": "random", "simulations": 8, "wins": 1, "draws": 0, "losses": 1, "score": score, "lower": 0.1, "upper": 0.9 });
    let mut measured = round(1);
    measured["verdicts"] = json!({ "bell": verdict(0.5) });
    measured["games"] = json!(64);
    fs::write(run.join("metrics.jsonl"), format!("{}\n{measured}\n{}\n", round(0), round(2))).unwrap();
    let served = serve(root.path());
    let listed = || served.get("/api/runs").json()["runs"][0].clone();
    let told = listed();
    assert_eq!((&told["verdicts"]["bell"]["score"], &told["is_final"]), (&json!(0.5), &json!(false)));
    assert_eq!(told["verdicts"]["bell"]["generation"], measured["generation"]);
    assert_eq!((&told["generations"], &told["elapsed_secs"]), (&json!(2), &json!(120.0)));
    fs::write(run.join("result.json"), json!({ "state": {}, "verdicts": { "bell": verdict(0.75) } }).to_string())
        .unwrap();
    let told = listed();
    assert_eq!((&told["verdicts"]["bell"]["score"], &told["is_final"]), (&json!(0.75), &json!(true)));
}

#[test]
fn a_study_is_shown_and_its_games_can_be_played_over() {
    let root = tempfile::tempdir().unwrap();
    let record = write_study(&root.path().join("studies/first"));
    let served = serve(root.path());
    assert_eq!(served.get("/api/studies").json()["studies"][0]["name"], "first");
    let report = served.get("/studies/first/report.html");
    assert!(report.body == "<h1>A study</h1>" && report.head.contains("sandbox allow-scripts"), "{}", report.head);
    let files = served.get("/api/studies/first").json();
    assert_eq!(
        (&files["games"][0]["ruleset"], &files["games"][0]["file"]),
        (&json!("bell-own"), &json!("random.jsonl"))
    );
    let found = served.get("/api/studies/first/games/bell-own/random.jsonl").json();
    assert_eq!((&found["ruleset"], &found["has_more"]), (&json!("studies/first/bell-own"), &json!(false)));
    assert_eq!(found["games"][0]["actions"], json!(record.actions));
    let game = json!({ "ruleset": found["ruleset"], "actions": record.actions });
    let told = served.post("/api/game", &game).json();
    assert_eq!(told["states"].as_array().unwrap().len(), 6);
    let about = served.post("/api/rules", &json!({ "ruleset": "studies/first/bell-own" })).json();
    assert_eq!(about["fingerprint"], json!(record.ruleset_fingerprint));
}

#[test]
fn the_end_of_a_recorded_game_is_told_as_its_rules_say_it() {
    let root = tempfile::tempdir().unwrap();
    let study = root.path().join("studies/first");
    write_study(&study);
    let rules = presets::rules("dutch-8x8");
    let mut state = GameState::new(Arc::clone(&rules));
    let mut record = GameRecord::new(&state, ["random".to_owned(), "random".to_owned()], 7);
    let mut legal = Vec::new();
    for number in 0_usize.. {
        state.legal_actions(&mut legal);
        if state.outcome().is_some() {
            break;
        }
        record.play(&mut state, legal[number * 7 % legal.len()], None, None);
    }
    fs::create_dir(study.join("games/dutch-8x8")).unwrap();
    fs::write(study.join("games/dutch-8x8/random.jsonl"), record.to_line() + "\n").unwrap();
    let found = serve(root.path()).get("/api/studies/first/games/dutch-8x8/random.jsonl").json();
    let words = state.end_words().unwrap();
    assert_ne!(words, EndReason::words_for(record.reason.as_deref().unwrap()), "the game says more than its reason");
    assert_eq!(found["games"][0]["reason"], json!(words));
}

#[test]
fn the_study_of_the_program_is_there_without_a_folder() {
    let served = Served::bare();
    let listed = served.get("/api/studies").json();
    assert_eq!((listed["studies"].as_array().unwrap().len(), &listed["studies"][0]["name"]), (1, &json!("shipped")));
    assert_eq!(served.get("/api/studies/shipped").json()["games"], json!([]));
    let report = served.get("/studies/shipped/report.html");
    assert!(
        report.body.contains("How fair is each reconstruction") && report.head.contains("sandbox"),
        "{}",
        report.head
    );
    // What it found of a ruleset stands with the ruleset, for those of the same rules only.
    let studies = |key: &str| served.post("/api/rules", &json!({ "ruleset": key })).json()["studies"].clone();
    let found = studies("bell");
    let row = &found[0]["rows"][0];
    assert_eq!(
        (&found[0]["study"], &row["agent"], &row["score"]),
        (&json!("shipped"), &json!("net:sims=64"), &json!(0.595))
    );
    assert_eq!((&row["verdict"], &row["games"]), (&json!("first player ahead"), &json!(200.0)));
    assert_eq!(studies("id = \"mine\"\nbase = \"bell\"\n[end]\nquiet_limit = 9\n"), json!([]));
}

#[test]
fn a_copy_of_the_study_of_the_program_stands_for_it() {
    let root = tempfile::tempdir().unwrap();
    let copy = root.path().join("studies/copy");
    fs::create_dir_all(&copy).unwrap();
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/studies/full");
    for file in ["balance.csv", "summary.json"] {
        fs::copy(full.join(file), copy.join(file)).unwrap();
    }
    let served = serve(root.path());
    let names = || {
        served.get("/api/studies").json()["studies"]
            .as_array()
            .unwrap()
            .iter()
            .map(|study| study["name"].clone())
            .collect::<Vec<_>>()
    };
    let found = || served.post("/api/rules", &json!({ "ruleset": "bell" })).json()["studies"].clone();
    assert_eq!(names(), ["copy"]);
    assert_eq!(
        (found().as_array().unwrap().len(), &found()[0]["study"], &found()[0]["is_shipped"]),
        (1, &json!("copy"), &json!(true))
    );
    // Another study of the same name and length is none.
    let text = fs::read_to_string(copy.join("balance.csv")).unwrap();
    fs::write(copy.join("balance.csv"), text.replacen("0.595000", "0.595001", 1)).unwrap();
    assert_eq!(names(), ["copy", "shipped"]);
    assert_eq!(found().as_array().unwrap().len(), 2);
    // Where the first player had no games, the next kind of player stands for it.
    fs::write(copy.join("balance.csv"), text.replacen("net universal,64,8,200,", "net universal,64,8,0,", 1)).unwrap();
    assert_eq!(found()[1]["rows"][0]["agent"], "alphabeta:nodes=800");
    assert_eq!(served.get("/studies/copy/report.html").refusal(404), "the study \"copy\" has no \"report.html\"");
    assert!(served.get("/api/studies/none").refusal(404).starts_with("there is no study \"none\" in the folder "));
}

#[test]
fn a_ruleset_of_a_study_has_its_shipped_name_where_it_is_that_one() {
    let root = tempfile::tempdir().unwrap();
    let study = root.path().join("studies/first");
    let record = write_study(&study);
    fs::write(study.join("rulesets/bell.toml"), presets::ruleset("bell").unwrap().to_toml()).unwrap();
    fs::create_dir(study.join("games/bell")).unwrap();
    fs::write(study.join("games/bell/random.jsonl"), record.to_line() + "\n").unwrap();
    let served = serve(root.path());
    let key = || served.get("/api/studies/first/games/bell/random.jsonl").json()["ruleset"].clone();
    assert_eq!(key(), "bell");
    let mut changed = presets::ruleset("bell").unwrap();
    changed.end.quiet_limit = 9;
    fs::write(study.join("rulesets/bell.toml"), changed.to_toml()).unwrap();
    assert_eq!(key(), "studies/first/bell");
}

#[test]
fn some_files_of_a_run_can_be_had_and_no_others() {
    let root = tempfile::tempdir().unwrap();
    let run = root.path().join("runs/quick-1");
    write_run(&run);
    fs::create_dir(run.join("export")).unwrap();
    fs::write(run.join("learning.html"), "<h1>A curve</h1>").unwrap();
    fs::write(run.join("export/model.onnx"), "a model").unwrap();
    fs::write(run.join("provenance.json"), "{}").unwrap();
    let served = serve(root.path());
    assert_eq!(served.get("/api/runs/quick-1").json()["files"], json!(["learning.html", "config.toml", "model.onnx"]));
    let page = served.get("/runs/quick-1/learning.html");
    assert!(page.body == "<h1>A curve</h1>" && page.head.contains("sandbox allow-scripts"), "{}", page.head);
    let model = served.get("/runs/quick-1/model.onnx");
    assert!(model.body == "a model" && model.head.contains("attachment"), "{}", model.head);
    for file in ["provenance.json", "model.safetensors", "export%2fmodel.onnx", "..%2fquick-1%2flearning.html"] {
        served.get(&format!("/runs/quick-1/{file}")).refusal(404);
    }
}

#[test]
fn the_games_of_a_study_are_found_by_series_and_result() {
    let root = tempfile::tempdir().unwrap();
    let record = write_study(&root.path().join("studies/first"));
    let line = |series: &str, result: &str, reason: &str| {
        let mut game = serde_json::to_value(&record).unwrap();
        let ended = json!({ "series": series, "result": result, "reason": reason });
        game.as_object_mut().unwrap().extend(ended.as_object().unwrap().clone());
        game.to_string() + "\n"
    };
    let games = [
        line("a", "1", "eliminated"),
        line("b", "1", "eliminated"),
        line("a", "2", "no legal move"),
        line("a", "draw", "repetition"),
        line("a", "draw", EndReason::MaxPlies.as_str()),
    ];
    fs::write(root.path().join("studies/first/games/bell-own/random.jsonl"), games.concat()).unwrap();
    let served = serve(root.path());
    let reasons = |query: &str| {
        let found = served.get(&format!("/api/studies/first/games/bell-own/random.jsonl?{query}")).json();
        assert_eq!(found["has_more"], json!(false));
        let games = found["games"].as_array().unwrap().clone();
        games.iter().map(|game| game["reason"].as_str().unwrap().to_owned()).collect::<Vec<String>>()
    };
    assert_eq!(reasons("").len(), 5);
    assert_eq!(reasons("series=&result=").len(), 5);
    assert_eq!(reasons("series=a").len(), 4);
    assert_eq!(reasons("series=a&result=first"), [EndReason::Eliminated.words()]);
    assert_eq!(reasons("result=first").len(), 2);
    assert_eq!(reasons("series=a&result=second"), [EndReason::NoLegalMove.words()]);
    assert_eq!(reasons("series=a&result=draw"), [EndReason::Repetition.words()]);
    assert_eq!(reasons("result=cut-off"), [EndReason::MaxPlies.words()]);
    assert!(reasons("series=c").is_empty());
    for wrong in ["result=maybe", "from=-1"] {
        served.get(&format!("/api/studies/first/games/bell-own/random.jsonl?{wrong}")).refusal(422);
    }
}

#[test]
fn no_address_leads_outside_the_folders() {
    let root = tempfile::tempdir().unwrap();
    write_run(&root.path().join("runs/quick-1"));
    write_study(&root.path().join("studies/first"));
    write_run(&root.path().join("elsewhere"));
    fs::write(root.path().join("secret.jsonl"), "secret").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(root.path().join("elsewhere"), root.path().join("runs/linked")).unwrap();
        symlink(root.path().join("secret.jsonl"), root.path().join("studies/first/games/bell-own/linked.jsonl"))
            .unwrap();
        symlink(root.path().join("secret.jsonl"), root.path().join("runs/quick-1/metrics.jsonl")).unwrap();
        symlink(root.path().join("secret.jsonl"), root.path().join("runs/quick-1/learning.csv")).unwrap();
    }
    let served = serve(root.path());
    for path in [
        "/api/runs/..",
        "/api/runs/../elsewhere",
        "/api/runs/%2e%2e%2felsewhere",
        "/api/runs/..%2Felsewhere",
        "/api/runs/..%5celsewhere",
        "/api/runs/linked",
        "/api/runs/quick-1%2f..%2f..%2felsewhere",
        "/api/runs/quick-1%00",
        "/runs/quick-1/learning.csv",
        "/runs/..%2felsewhere/config.toml",
        "/api/studies/..",
        "/api/studies/first/games/..%2f..%2f../secret.jsonl",
        "/api/studies/first/games/bell-own/..%2f..%2f..%2f..%2fsecret.jsonl",
        "/api/studies/first/games/bell-own/linked.jsonl",
        "/api/studies/first/games/%2fetc/passwd",
        "/studies/..%2felsewhere/report.html",
        "/studies/%2e%2e/report.html",
    ] {
        let answer = served.get(path);
        assert!(answer.status == 404 && !answer.body.contains("secret\n"), "{path}: {} {}", answer.status, answer.body);
    }
    assert_eq!(served.get("/api/runs").json()["runs"].as_array().unwrap().len(), 1, "the link is not listed");
    assert_eq!(served.get("/api/runs/quick-1/metrics").json()["rounds"], json!([]), "a link is not followed");
}
