//! Rulesets, games and records.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;

use latrunculi_engine::presets::rules;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::ruleset::Span;
use latrunculi_engine::{GameRecord, GameState, Rules, RulesetFile, presets};
use latrunculi_serve::{Server, Settings};
use serde_json::{Value, json};

use crate::client::{Served, settings};

#[test]
fn every_ruleset_is_listed_and_told_in_words() {
    let served = Served::bare();
    let start = served.get("/api/start").json();
    let listed = start["rulesets"].as_array().expect("a list");
    assert_eq!(listed.len(), presets::NAMES.len());
    for ruleset in listed {
        let key = ruleset["key"].as_str().expect("a name");
        let about = served.post("/api/rules", &json!({ "ruleset": key })).json();
        assert_eq!(about["initial"], GameState::new(rules(key)).to_json(), "{key}");
        let words = about["words"].as_array().expect("words");
        assert!(words.len() >= 4 && words[0]["heading"] == "Beginning", "{key}");
        for field in ["files", "ranks", "men", "has_dux", "start", "capture", "source"] {
            assert_eq!(ruleset[field], about[field], "{key}: {field}");
        }
    }
    // What the table of rulesets says, with the headline of the study.
    let bell = listed.iter().find(|ruleset| ruleset["key"] == "bell").expect("bell");
    assert_eq!((&bell["men"], &bell["capture"]), (&json!(16), &json!("taken at once; one a move")));
    let found = &bell["found"];
    assert_eq!((&found["agent"], &found["verdict"]), (&json!("net:sims=64"), &json!("first player ahead")));
    assert!(found["draws"].as_f64().is_some_and(|draws| (draws - 0.47).abs() < 0.001), "{found}");
    for path in ["Cargo.toml", "../configs/rulesets/bell.toml"] {
        served.post("/api/rules", &json!({ "ruleset": path })).refusal(404);
    }
}

#[test]
fn a_position_from_which_no_game_goes_on_is_told() {
    let served = Served::bare();
    let asked =
        |position: &str| served.post("/api/position", &json!({ "ruleset": "savard", "position": position })).json();
    assert_eq!(asked("m6d/8/8/8/8/8/8/DM6 2"), json!({ "faults": [] }));
    assert_eq!(asked("m6d/8/8/8/8/8/8/D7 2"), json!({ "faults": ["player 1 has no men, and has lost by that"] }));
    assert_eq!(asked("8/8 1")["faults"].as_array().map(Vec::len), Some(1));
    served.post("/api/position", &json!({ "ruleset": "nowhere", "position": "8/8 1" })).refusal(404);
}

#[test]
fn a_ruleset_of_the_users_own_is_offered_beside_the_shipped_ones() {
    let mut own = presets::ruleset("savard").expect("shipped");
    own.id = "mine".to_owned();
    own.end.quiet_limit = 9;
    let nowhere = Path::new("no such folder");
    let with = |rulesets| Settings { rulesets, ..settings(IpAddr::V4(Ipv4Addr::LOCALHOST), nowhere, nowhere) };
    let own = RulesetFile::parse(&own.to_toml()).expect("valid");
    let served = Served::start(with(vec![own.clone()]));
    let start = served.get("/api/start").json();
    let listed = start["rulesets"].as_array().expect("a list");
    assert_eq!(listed.len(), presets::NAMES.len() + 1);
    assert_eq!(listed[presets::NAMES.len()]["key"], "mine");
    let told = served.post("/api/rules", &json!({ "ruleset": "mine" })).json();
    assert_eq!(told["quiet_limit"], 9);
    let (actions, end) = some_game(&Arc::new(own.rules()));
    let told = served.post("/api/game", &json!({ "ruleset": "mine", "actions": actions })).json();
    assert_eq!(told["states"][actions.len()], end.to_json());

    let refused = |rulesets| Server::bind(with(rulesets)).err().expect("two of one id").to_string();
    assert!(refused(vec![own.clone(), own]).contains("two rulesets are called \"mine\""));
    assert!(refused(vec![presets::file("bell").expect("shipped")]).contains("two rulesets are called \"bell\""));
}

#[test]
fn the_text_of_a_ruleset_file_stands_for_its_ruleset() {
    let served = Served::bare();
    let text = "id = \"mine\"\nbase = \"savard\"\n[end]\nquiet_limit = 9\n";
    let about = served.post("/api/rules", &json!({ "ruleset": text })).json();
    let values = &about["parameters"]["end.quiet_limit"];
    assert_eq!((&about["key"], &about["id"], &values["value"]), (&json!(text), &json!("mine"), &json!(9)));
    let rules = Arc::new(RulesetFile::parse(text).expect("valid").rules());
    let (actions, end) = some_game(&rules);
    let told = served.post("/api/game", &json!({ "ruleset": text, "actions": actions })).json();
    assert_eq!(told["states"][actions.len()], end.to_json());
    for example in served.post("/api/rules/captures", &json!({ "ruleset": text })).json().as_array().expect("a list") {
        let told = served.post("/api/game", example).json();
        assert_eq!(
            told["states"].as_array().expect("states").len(),
            1 + example["actions"].as_array().expect("actions").len()
        );
    }
    for (wrong, part) in [
        ("id = \"mine\"\nbase = \"savard\"\n[end]\nquiet_limit = true\n", "line 4"),
        ("id = \"bell\"\nbase = \"savard\"\n", "give yours an id of its own"),
        (&"#\n".repeat(40_000), "at most"),
    ] {
        let refusal = served.post("/api/rules", &json!({ "ruleset": wrong })).refusal(422);
        assert!(refusal.contains(part), "{refusal}");
    }
}

#[test]
fn an_edited_ruleset_is_checked_field_by_field_and_written_as_a_file() {
    let served = Served::bare();
    let edit = |ruleset: &str, id: &str, values: Value| {
        let asked =
            json!({ "ruleset": ruleset, "id": id, "name": "Mine", "summary": "", "source": "", "values": values });
        served.post("/api/rules/edit", &asked)
    };
    let written = edit("savard", "mine", json!({ "capture.span": "row", "end.quiet_limit": 9 })).json();
    let text = written["text"].as_str().expect("a text").to_owned();
    assert!(text.contains("base = \"savard\"") && text.lines().count() == 11, "{text}");
    let mut expected = presets::ruleset("savard").expect("shipped");
    expected.end.quiet_limit = 9;
    expected.capture.span = Span::Row;
    assert_eq!(ruleset_fingerprint(&RulesetFile::parse(&text).expect("valid").ruleset), ruleset_fingerprint(&expected));
    // A ruleset that begins as one of the page's own has the same base.
    let again = edit(&text, "mine", json!({ "end.quiet_limit": 10 })).json();
    assert!(
        again["text"].as_str().is_some_and(|text| text.contains("savard") && text.contains("quiet_limit = 10")),
        "{again}"
    );

    let faults = |id: &str, values: Value| {
        let found = edit("savard", id, values).json();
        assert_eq!(found["text"], Value::Null);
        let fields =
            found["faults"].as_array().expect("faults").iter().map(|fault| fault["field"].as_str().unwrap().to_owned());
        let mut fields = fields.collect::<Vec<String>>();
        fields.dedup();
        fields
    };
    for (typed, told) in [
        (json!("4.5"), "\"4.5\" is not a whole number from 4 to 16"),
        (json!(4.5), "\"4.5\" is not a whole number from 4 to 16"),
        (json!("1e20"), "\"1e20\" is not a whole number from 4 to 16"),
        (json!(""), "write a whole number from 4 to 16"),
    ] {
        let found = edit("savard", "mine", json!({ "board.files": typed })).json();
        assert_eq!(found["faults"], json!([{ "field": "board.files", "message": told }]));
    }
    // Settings that change nothing: those of the other way to begin, whether it can be played already or not.
    let idle = |values: Value| {
        let found = edit("savard", "mine", values).json()["idle"].to_string();
        ["setup.array", "placement.men", "capture.removal", "board.files"].map(|name| found.contains(name))
    };
    assert_eq!(idle(json!({})), [false, true, true, false]);
    assert_eq!(idle(json!({ "capture.timing": "delayed" })), [false, true, false, false]);
    assert_eq!(idle(json!({ "setup.mode": "placement" })), [true, false, true, false]);
    assert_eq!(faults("Mine!", json!({ "board.files": 3, "man.range": null })), ["id", "board.files", "man.range"]);
    assert_eq!(faults("mine", json!({ "board.files": 9 })), ["setup.array"]);
    assert_eq!(faults("bell", json!({})), ["id"]);
    // What the other way to begin needs is left out.
    assert_eq!(faults("mine", json!({ "setup.mode": "placement" })), ["placement.men"]);
    let placed = edit("savard", "mine", json!({ "setup.mode": "placement", "placement.men": 9 })).json();
    assert!(placed["text"].as_str().is_some_and(|text| text.contains("array = \"none\"")), "{placed}");
    let drawn = json!({ "setup.mode": "array", "setup.array": "mmmmmmmd/......../......../......../......../......../MMMMMMMD" });
    assert_ne!(edit("bell", "mine", drawn).json()["text"], Value::Null);
    let notes = edit("savard", "mine", json!({ "capture.removal": "precedes_move" })).json()["notes"].clone();
    assert_eq!(notes[0]["field"], "capture.removal");
    edit("savard", "mine", json!({ "board.colour": 3 })).refusal(422);
    let known = served.get("/api/parameters").json();
    assert_eq!(
        known[0],
        json!({ "name": "board.files", "meaning": known[0]["meaning"], "words": [], "kind": "integer", "low": 4, "high": 16 })
    );
    let range = known.as_array().expect("parameters").iter().find(|one| one["name"] == "man.range").expect("it");
    assert_eq!(
        (&range["names"], &range["words"]),
        (&json!(["1", "slide"]), &json!(["one square", "any number of squares"]))
    );
}

/// Plays a game of the first legal actions by turns of a small generator; returns the actions' texts.
fn some_game(rules: &Arc<Rules>) -> (Vec<String>, GameState) {
    let mut state = GameState::new(Arc::clone(rules));
    let (mut actions, mut legal, mut number) = (Vec::new(), Vec::new(), 1_usize);
    while state.outcome().is_none() {
        state.legal_actions(&mut legal);
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let action = legal[(number >> 33) % legal.len()];
        actions.push(state.action_text(action));
        state.play(action);
    }
    (actions, state)
}

#[test]
fn a_game_is_played_over_as_the_engine_plays_it() {
    let served = Served::bare();
    for id in ["bell", "beads", "savard", "dutch-8x8"] {
        let rules = rules(id);
        let (actions, end) = some_game(&rules);
        let game = json!({ "ruleset": id, "actions": actions });
        let told = served.post("/api/game", &game).json();
        let states = told["states"].as_array().expect("states");
        assert_eq!(states.len(), actions.len() + 1, "{id}");
        assert_eq!(states[actions.len()], end.to_json(), "{id}");
        assert_eq!(told["legal"], json!([]), "{id}: the game is over");

        let half = actions.len() / 2;
        let asked = json!({ "ruleset": id, "actions": actions[..half], "from": half });
        let told = served.post("/api/game", &asked).json();
        assert_eq!(told["states"], json!([states[half]]), "{id}");
        assert!(told["legal"].as_array().expect("actions").contains(&json!(actions[half])), "{id}");

        let saved = served.post("/api/record", &json!({
            "ruleset": id, "actions": actions, "agents": ["human", "net:universal,sims=64"], "values": [0.5], "seed": 3,
            "opening": 2, "efforts": [null, null, 64],
        }));
        let line = saved.json()["line"].as_str().expect("a line").to_owned();
        let record = GameRecord::from_line(&line).expect("a record");
        assert_eq!(record.replay(&rules).expect("a game").position(), end.position(), "{id}");
        assert_eq!(record.agents[1], "net:universal,sims=64");
        assert_eq!((record.opening, record.efforts[2]), (2, Some(64)));
    }
}

#[test]
fn a_game_may_begin_anywhere_and_be_given_up() {
    let served = Served::bare();
    let start = "7d/8/8/8/8/Mm6/2M5/D7 1";
    let game = json!({ "ruleset": "savard", "start": start, "actions": [] });
    let told = served.post("/api/game", &game).json();
    assert!(told["legal"].as_array().expect("actions").contains(&json!("c2-c3")));
    let mut resigned = game.clone();
    resigned["agents"] = json!(["human", "random"]);
    // Player 1 is to act; the other one may give up as well.
    for (who, winner) in [(1, "2"), (2, "1")] {
        resigned["resigned"] = json!(who);
        let line = served.post("/api/record", &resigned).json()["line"].as_str().expect("a line").to_owned();
        let record: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!((&record["result"], &record["reason"]), (&json!(winner), &Value::Null));
        GameRecord::from_line(&line).expect("a record").replay(&rules("savard")).expect("a game");
    }
    resigned["resigned"] = json!(3);
    assert!(served.post("/api/record", &resigned).refusal(422).contains("3 is no player"));
}

#[test]
fn what_cannot_be_played_is_refused_with_its_reason() {
    let served = Served::bare();
    let refusal = |game: Value| served.post("/api/game", &game).refusal(422);
    assert!(refusal(json!({ "ruleset": "bell", "actions": ["@a1", "@a1"] })).starts_with("action 2: "));
    assert!(refusal(json!({ "ruleset": "savard", "start": "8/8 1" })).contains("8"));
    assert!(refusal(json!({ "ruleset": "bell", "actions": vec!["pass"; 10_001] })).contains("10000"));
    served.post("/api/game", &json!({ "ruleset": "runs/../bell" })).refusal(404);
    served.post("/api/game", &json!({ "ruleset": "studies/a/../../x" })).refusal(404);
    let long = json!({ "ruleset": "bell", "agents": ["a", "b"], "opening": 1 });
    assert!(served.post("/api/record", &long).refusal(422).starts_with("opening: 1 of 0"));
    let control = json!({ "ruleset": "bell", "agents": ["a\u{7}", "b"] });
    assert!(served.post("/api/record", &control).refusal(422).contains("control"));
}
