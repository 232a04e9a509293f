//! The commands about rules, as a user meets them.

use std::fs;

use crate::support::{assert_refused, complaint, latrunculi, printed, root};

#[test]
fn conformance_passes_every_recorded_case() {
    let cases = "tests/rules/cases";
    let output = latrunculi(&[
        "conformance",
        &format!("{cases}/rules.json"),
        &format!("{cases}/traces.jsonl"),
        &format!("{cases}/traces_mix.jsonl"),
    ]);
    assert!(output.status.success(), "{}", printed(&output));
    assert!(printed(&output).ends_with("187 passed, 0 failed\n"), "{}", printed(&output));
}

#[test]
fn conformance_draws_what_failed_and_exits_with_1() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("wrong.json");
    let cases = fs::read_to_string(root().join("tests/rules/cases/rules.json")).expect("the cases");
    fs::write(&path, cases.replace("\"next\": 2", "\"next\": 1")).expect("written");
    let output = latrunculi(&["conformance", path.to_str().expect("a path")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(printed(&output).contains("next player should be 1, is 2"), "{}", printed(&output));
    assert!(printed(&output).contains("   a  b  c  d"), "no board is drawn");
}

#[test]
fn perft_counts_and_divides() {
    let output = latrunculi(&["perft", "--ruleset", "dutch", "--depth", "3"]);
    let leaves = printed(&output);
    let divided = printed(&latrunculi(&["perft", "--ruleset", "dutch", "--depth", "3", "--divide"]));
    let sum: u64 =
        divided.lines().filter_map(|line| line.split_once(' ')).map(|(_, n)| n.parse::<u64>().expect("n")).sum();
    assert_eq!(leaves.trim().parse::<u64>().expect("a number"), sum);
    let list = ["perft", "--ruleset", "savard-displacement", "--depth", "2", "--player", "1", "--position"];
    let position = "M:b2,c2,b3,e4,e5,g2,g3,d6 D:d4 m:c4,c5,f4,f5,b5,a3,h3,e2 d:f2";
    assert_eq!(printed(&latrunculi(&[&list[..], &[position]].concat())), "1077\n");
}

#[test]
fn every_ruleset_is_listed_and_shown_with_its_evidence() {
    let listed = printed(&latrunculi(&["rulesets", "list"]));
    assert!(listed.lines().all(|line| line.chars().count() <= 80), "{listed}");
    assert!(listed.contains("x-museum-quintana") && listed.lines().count() >= 30, "{listed}");
    let json: serde_json::Value =
        serde_json::from_str(&printed(&latrunculi(&["rulesets", "list", "--json"]))).expect("JSON");
    let has_source = |ruleset: &serde_json::Value| ruleset["source"].as_str().is_some_and(|text| !text.is_empty());
    assert!(json.as_array().expect("rulesets").iter().all(has_source), "{json}");
    let shown = printed(&latrunculi(&["rulesets", "show", "savard"]));
    for part in ["8  m  m  m  m  m  m  m  m", "man.step = \"forward_sideways\"", "[source]"] {
        assert!(shown.contains(part), "{part:?} is missing from\n{shown}");
    }
    let json = printed(&latrunculi(&["rulesets", "show", "bell", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["parameters"]["placement.men"]["value"], 16);
}

#[test]
fn rulesets_are_told_apart_and_new_ones_begun() {
    let shown = printed(&latrunculi(&["rulesets", "show", "beads"]));
    assert!(shown.contains("\nCapturing\n  A man, or an unbroken row of men,"), "the rules in words: {shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    let differences = printed(&latrunculi(&["rulesets", "diff", "bell", "bell-8x8"]));
    assert!(differences.contains("board.ranks") && differences.contains("bell-8x8: 8"), "{differences}");
    assert!(!differences.contains("board.files"), "{differences}");
    let same = printed(&latrunculi(&["rulesets", "diff", "bell", "bell"]));
    assert!(same.contains("the same rules"), "{same}");

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mine.toml");
    let new = printed(&latrunculi(&["rulesets", "new", "mine", "--base", "savard"]));
    let long = new.lines().find(|line| line.starts_with('#') && line.chars().count() > 80);
    assert_eq!(long, None);
    fs::write(&path, new).expect("a file");
    let checked = printed(&latrunculi(&["rulesets", "check", path.to_str().expect("a path")]));
    assert!(checked.contains("mine can be played (8x8)"), "{checked}");
    assert!(checked.contains("its rules are those of the shipped ruleset \"savard\""), "{checked}");
    for bad in ["bell", "Mine", ""] {
        assert!(!latrunculi(&["rulesets", "new", bad]).status.success(), "{bad:?}");
    }
}

#[test]
fn documentation_of_the_rulesets_is_up_to_date() {
    let written = fs::read_to_string(root().join("docs/RULES.md")).expect("docs/RULES.md");
    let output = printed(&latrunculi(&["rulesets", "document"]));
    assert!(written == output, "run `latrunculi rulesets document > docs/RULES.md`");
}

#[test]
fn a_ruleset_of_ones_own_can_be_checked_and_played() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("small.toml");
    fs::write(&path, "id = \"small\"\nbase = \"bell\"\n[board]\nfiles = 5\nranks = 5\n[placement]\nmen = 4\n")
        .expect("written");
    let path = path.to_str().expect("a path");
    assert!(latrunculi(&["rulesets", "check", path]).status.success());
    assert_eq!(printed(&latrunculi(&["perft", "--ruleset", path, "--depth", "2"])), "600\n");
    fs::write(path, "id = \"small\"\nbase = \"bell\"\n[board]\nfiels = 5\n[placement]\nmen = \"four\"\n")
        .expect("written");
    let output = latrunculi(&["rulesets", "check", path]);
    assert_eq!(output.status.code(), Some(1));
    let complaint = complaint(&output);
    for part in [":4:1: board.fiels is not a parameter", "did you mean board.files?", ":6:7: placement.men"] {
        assert!(complaint.contains(part), "{part:?} is missing from\n{complaint}");
    }
}

#[test]
fn rules_under_a_shipped_name_are_told_and_their_games_find_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let [own, games] =
        ["own.toml", "games.jsonl"].map(|name| folder.path().join(name).to_str().expect("a path").to_owned());
    fs::write(&own, "id = \"bell\"\nbase = \"bell\"\n[placement]\nmen = 10\n").expect("written");
    let checked = latrunculi(&["rulesets", "check", &own, "bell"]);
    assert!(checked.status.success());
    assert_eq!(
        printed(&checked).matches("a shipped ruleset with other parameters").count(),
        1,
        "{}",
        printed(&checked)
    );
    let play = ["play", "--first", "random", "--second", "random", "--ruleset", &own, "--record", &games];
    assert!(latrunculi(&play).status.success());
    assert_refused(&["conformance", &games], 1, &["recorded games", "inspect --verify"]);
    let way = ["other parameters now", "--ruleset FILE"];
    assert_refused(&["analyse", "--record", &games, "--ply", "3"], 1, &way);
    assert_refused(&["play", "--ruleset", "bell", "--load", &games], 1, &way);
    let read = ["analyse", "--record", &games, "--ply", "3", "--agent", "random", "--ruleset", &own];
    assert!(latrunculi(&read).status.success());
}

#[test]
fn bad_names_and_bad_files_get_a_clear_error() {
    let hint = complaint(&latrunculi(&["perft", "--ruleset", "bel", "--depth", "1"]));
    assert!(hint.contains("did you mean bell?"), "{hint}");
    for arguments in [
        &["conformance", "no-such-file"][..],
        &["conformance", "."],
        &["rulesets", "check", "Cargo.toml"],
        &["perft", "--ruleset", "bell", "--depth", "1", "--position", "nonsense"],
        &["perft", "--ruleset", "bell", "--depth", "1", "--position", "M:z9"],
    ] {
        let output = latrunculi(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let complaint = complaint(&output);
        assert!(complaint.starts_with("error: ") || complaint.contains("error: "), "{complaint}");
        assert!(!complaint.contains("panicked"), "{complaint}");
    }
    assert_eq!(latrunculi(&["perft"]).status.code(), Some(2), "wrong usage");
}

#[test]
fn no_bench_measures_for_an_impossible_time() {
    for bench in ["engine", "selfplay", "inference", "training"] {
        for seconds in ["-1", "0", "nan", "inf", "1e300", "soon"] {
            assert_refused(&["bench", bench, &format!("--seconds={seconds}")], 2, &["--seconds", "a number above 0"]);
        }
    }
}

#[test]
fn bench_refuses_nonsense_and_takes_the_form_of_its_help() {
    for arguments in [
        &["inference", "--batches", "0"][..],
        &["inference", "--batches", "8 32"],
        &["inference", "--threads", "0"],
        &["selfplay", "--actors", "0"],
        &["selfplay", "--rounds", "0"],
        &["selfplay", "--in-flight", "0"],
        &["selfplay", "--simulations", "0"],
        &["training", "--batch", "0"],
        &["training", "--threads", "0"],
    ] {
        assert_refused(&[&["bench"], arguments].concat(), 2, &[arguments[1]]);
    }
    assert_refused(
        &["selfplay", "configs/train/smoke.toml", "--out", "no-such-folder", "--shards", "0"],
        2,
        &["--shards"],
    );
    let help = printed(&latrunculi(&["bench", "inference", "--help"]));
    assert!(help.contains("8,32,64,128,256,512]") && !help.contains("8 32"), "{help}");
}

#[test]
fn bench_engine_gives_the_same_checksum_twice() {
    let checksum = || {
        let output = printed(&latrunculi(&["bench", "engine", "bell", "savard", "--seconds", "0.01", "--json"]));
        let rows: serde_json::Value = serde_json::from_str(&output).expect("JSON");
        (rows[0]["checksum"].clone(), rows[1]["checksum"].clone())
    };
    assert_eq!(checksum(), checksum());
}

#[test]
fn the_card_of_the_shipped_network_is_that_of_its_files() {
    let card = fs::read_to_string(root().join("models/README.md")).expect("the card");
    let told = |file: &str| {
        let output = latrunculi(&["inspect", "--verify", "--json", root().join("models").join(file).to_str().unwrap()]);
        assert!(output.status.success(), "{}", printed(&output));
        serde_json::from_str::<serde_json::Value>(&printed(&output)).expect("JSON")
    };
    for file in ["universal.safetensors", "universal.onnx"] {
        let bytes = fs::read(root().join("models").join(file)).expect("a file of the network");
        assert!(card.contains(&latrunculi_store::sha256(&bytes)), "the checksum of {file} is not in the card");
    }
    let [model, onnx] = ["universal.safetensors", "universal.onnx"].map(told);
    assert_eq!(onnx["training"]["steps"], model["steps"]);
    assert!(card.contains(&format!("{} generations", model["generations"])), "{model}");
}
