//! The commands about rules, as a user meets them.

use serde_json::Value;

use crate::support::{Shell, assert_contains, assert_fits, printed};

#[test]
fn conformance_passes_every_recorded_case() {
    let cases = ["rules.json", "traces.jsonl", "traces_mix.jsonl"].map(|name| format!("tests/rules/cases/{name}"));
    let said = Shell::in_root().prints(&format!("conformance {}", cases.join(" ")));
    assert!(said.ends_with("187 passed, 0 failed\n"), "{said}");
}

#[test]
fn conformance_draws_what_failed_and_exits_with_1() {
    let shell = Shell::new();
    let cases = Shell::in_root().text("tests/rules/cases/rules.json");
    shell.write("wrong.json", cases.replace("\"next\": 2", "\"next\": 1"));
    let output = shell.run("conformance wrong.json");
    assert_eq!(output.status.code(), Some(1));
    assert_contains(&printed(&output), &["next player should be 1, is 2", "   a  b  c  d"]);
}

#[test]
fn perft_counts_and_divides() {
    let shell = Shell::in_root();
    let leaves = shell.prints("perft --ruleset dutch --depth 3");
    let divided = shell.prints("perft --ruleset dutch --depth 3 --divide");
    let counts = divided.lines().filter_map(|line| line.split_once(' '));
    let sum: u64 = counts.map(|(_, count)| count.parse::<u64>().expect("a number")).sum();
    assert_eq!(leaves.trim(), sum.to_string());
    let position = "M:b2,c2,b3,e4,e5,g2,g3,d6 D:d4 m:c4,c5,f4,f5,b5,a3,h3,e2 d:f2";
    let line = format!("perft --ruleset savard-displacement --depth 2 --player 1 --position '{position}'");
    assert_eq!(shell.prints(&line), "1077\n");
}

#[test]
fn every_ruleset_is_listed_and_shown_with_its_evidence() {
    let shell = Shell::in_root();
    let listed = shell.prints("rulesets list");
    assert_fits(&listed);
    assert!(listed.contains("x-museum-quintana") && listed.lines().count() >= 30, "{listed}");
    let json = shell.prints_json("rulesets list");
    let has_source = |ruleset: &Value| ruleset["source"].as_str().is_some_and(|text| !text.is_empty());
    assert!(json.as_array().expect("rulesets").iter().all(has_source), "{json}");
    let parts = ["8  m  m  m  m  m  m  m  m", "man.step = \"forward_sideways\"", "[source]"];
    assert_contains(&shell.prints("rulesets show savard"), &parts);
    assert_eq!(shell.prints_json("rulesets show bell")["parameters"]["placement.men"]["value"], 16);
}

#[test]
fn rulesets_are_told_apart_and_new_ones_begun() {
    let shell = Shell::new();
    let shown = shell.prints("rulesets show beads");
    assert_contains(&shown, &["\nCapturing\n  A man, or an unbroken row of men,"]);
    assert_fits(&shown);
    let differences = shell.prints("rulesets diff bell bell-8x8");
    assert_contains(&differences, &["board.ranks", "bell-8x8: 8"]);
    assert!(!differences.contains("board.files"), "{differences}");
    assert_contains(&shell.prints("rulesets diff bell bell"), &["the same rules"]);

    let new = shell.prints("rulesets new mine --base savard");
    new.lines().filter(|line| line.starts_with('#')).for_each(assert_fits);
    shell.write("mine.toml", new);
    let same = "its rules are those of the shipped ruleset \"savard\"";
    shell.write("other.toml", shell.prints("rulesets new mine --base bell"));
    assert_contains(&shell.prints("rulesets diff mine.toml other.toml"), &["mine.toml and other.toml differ"]);
    assert_contains(&shell.prints("rulesets check mine.toml"), &["mine can be played (8x8)", same]);
    for bad in ["bell", "Mine", "''"] {
        assert!(!shell.run(&format!("rulesets new {bad}")).status.success(), "{bad}");
    }
}

#[test]
fn documentation_of_the_rulesets_is_up_to_date() {
    let shell = Shell::in_root();
    let is_same = shell.text("docs/RULES.md") == shell.prints("rulesets document");
    assert!(is_same, "run `latrunculi rulesets document > docs/RULES.md`");
}

#[test]
fn a_ruleset_of_ones_own_can_be_checked_and_played() {
    let shell = Shell::new();
    let start = "id = \"small\"\nbase = \"bell\"\n[board]\n";
    shell.write("small.toml", format!("{start}files = 5\nranks = 5\n[placement]\nmen = 4\n"));
    shell.prints("rulesets check small.toml");
    assert_eq!(shell.prints("perft --ruleset small.toml --depth 2"), "600\n");
    shell.write("small.toml", format!("{start}fiels = 5\n[placement]\nmen = \"four\"\n"));
    let faults = [":4:1: board.fiels is not a parameter", "did you mean board.files?", ":6:7: placement.men"];
    shell.refuses("rulesets check small.toml", 1, &faults);
    // What contradicts the base is told where the file says it.
    shell.write("small.toml", "id = \"small\"\nbase = \"savard\"\n[board]\nfiles = 6\n");
    let fault = ":4:9: setup.array: each row has 8 squares, but board.files is 6: make them the same (setup.array is that of savard)";
    shell.refuses("rulesets check small.toml", 1, &[fault]);
    // What can be played, but hardly as it was meant, is noted.
    let many = "id = \"small\"\nbase = \"bell\"\n[placement]\nopening_group = 99\n";
    shell.write("small.toml", many);
    let noted = shell.prints("rulesets check small.toml");
    assert_contains(&noted, &["note: placement.opening_group: is more than the 16 men of a side"]);
    let alone = shell.prints("rulesets new small --base savard").replacen("MMMD", "MMMM", 1);
    shell.write("small.toml", alone);
    assert_contains(&shell.prints("rulesets check small.toml"), &["note: setup.array: only player "]);
}

#[test]
fn a_small_ruleset_is_solved_and_agents_are_asked_about_it() {
    let shell = Shell::new();
    shell.write("small.toml", "id = \"small\"\nbase = \"bell\"\n[board]\nfiles = 4\nranks = 4\n[placement]\nmen = 1\n");
    let solve = "solve small.toml --positions 40 --agent alphabeta:depth=2 --agent random:seed=1";
    let said = shell.prints(solve);
    assert_contains(&said, &["small: ", "nobody can win by force", "40 of ", "\nalphabeta:depth=2", "\nrandom:seed=1"]);
    assert_fits(&said);
    let solution: Value = serde_json::from_str(&shell.prints(&format!("{solve} --json"))).unwrap();
    let kept = |agent: usize| solution["agents"][agent]["kept"]["count"].as_u64().unwrap();
    assert!(kept(0) > kept(1), "{solution}");
    assert_eq!(solution["agents"][0]["kept"]["of"], 40);
    shell.refuses(
        "solve bell --positions-max 1000",
        1,
        &["bell was not solved", "more than 1000 positions", "smaller board"],
    );
}

#[test]
fn a_ruleset_is_tried_with_two_kinds_of_players() {
    let shell = Shell::new();
    shell.write("own.toml", "id = \"own\"\nbase = \"bell\"\n[board]\nfiles = 5\nranks = 5\n[placement]\nmen = 4\n");
    let tried = shell.prints("rulesets try own.toml --games 6 --quiet");
    let parts = [
        "own: every game ends by a rule; ",
        "played by                     net:sims=16",
        "alphabeta:nodes=200",
        "games                         6 ",
        "first player's score",
        "how games end",
        "rules that are hardly used: ",
        "next: latrunculi play own.toml --second net\n      latrunculi rulesets try own.toml",
    ];
    assert_contains(&tried, &parts);
    assert_fits(&tried);
    let kept = shell.prints("rulesets try own.toml --games 6 --quiet --out study");
    assert!(kept.starts_with(&tried) && shell.has("study/report.html"), "{kept}");
    shell.refuses("rulesets try no-such-file", 1, &["no-such-file"]);
}

#[test]
fn rules_under_a_shipped_name_are_told_and_their_games_find_them() {
    let shell = Shell::new();
    shell.write("own.toml", "id = \"bell\"\nbase = \"bell\"\n[placement]\nmen = 10\n");
    let checked = shell.prints("rulesets check own.toml bell");
    assert_eq!(checked.matches("a shipped ruleset with other parameters").count(), 1, "{checked}");
    shell.prints("play --first random --second random --ruleset own.toml --record games.jsonl");
    shell.refuses("conformance games.jsonl", 1, &["recorded games", "inspect --verify"]);
    let way = ["other parameters now", "--ruleset FILE"];
    shell.refuses("analyse --record games.jsonl --ply 3", 1, &way);
    shell.refuses("play --ruleset bell --load games.jsonl", 1, &way);
    shell.prints("analyse --record games.jsonl --ply 3 --agent random --ruleset own.toml");
}

#[test]
fn bad_names_and_bad_files_get_a_clear_error() {
    for (line, status, part) in [
        ("perft --ruleset bel --depth 1", 1, "did you mean bell?"),
        ("conformance no-such-file", 1, "no-such-file"),
        ("conformance .", 1, ""),
        ("rulesets check Cargo.toml", 1, "Cargo.toml"),
        ("perft --ruleset bell --depth 1 --position nonsense", 1, ""),
        ("perft --ruleset bell --depth 1 --position M:z9", 1, "z9"),
        ("perft", 2, "--depth"),
        ("selfplay configs/train/smoke.toml --out no-such-folder --shards 0", 2, "--shards"),
        ("bench targets bell --targets 24:shrink=8", 2, "as in 96:shrinkage=8"),
        ("bench targets bell --targets 24:shrinkage=-1", 1, "shrinkage = -1 must be at least 0"),
        ("bench inference --batches 0", 2, "--batches"),
        ("bench inference --batches '8 32'", 2, "--batches"),
        ("bench inference --threads 0", 2, "--threads"),
        ("bench selfplay --actors 0", 2, "--actors"),
        ("bench selfplay --rounds 0", 2, "--rounds"),
        ("bench selfplay --in-flight 0", 2, "--in-flight"),
        ("bench selfplay --simulations 0", 2, "--simulations"),
        ("bench training --batch 0", 2, "--batch"),
        ("bench training --threads 0", 2, "--threads"),
    ] {
        Shell::in_root().refuses(line, status, &[part]);
    }
}

#[test]
fn no_bench_measures_for_an_impossible_time() {
    for bench in ["engine", "selfplay", "inference", "training"] {
        for seconds in ["-1", "0", "nan", "inf", "1e300", "soon"] {
            let line = format!("bench {bench} --seconds={seconds}");
            Shell::in_root().refuses(&line, 2, &["--seconds", "a number above 0"]);
        }
    }
}

#[test]
fn bench_takes_the_form_of_its_help_and_gives_the_same_checksum_twice() {
    let shell = Shell::in_root();
    let help = shell.prints("bench inference --help");
    assert!(help.contains("8,32,64,128,256,512]") && !help.contains("8 32"), "{help}");
    let [one, other] = [0, 1].map(|_| {
        let rows = shell.prints_json("bench engine bell savard --seconds 0.01");
        [0, 1].map(|row| rows[row]["checksum"].clone())
    });
    assert!(one == other && one[0].is_string(), "{one:?}, {other:?}");
}

#[test]
fn targets_are_judged_alike_twice_and_gain_no_more_than_is_possible() {
    let line = "bench targets bell-8x8 --positions 2 --judge 4 --targets 8,16:shrinkage=8 --precision f32";
    let [found, again] = [0, 1].map(|_| Shell::new().prints_json(line));
    assert_eq!(found, again);
    let value = |of: &serde_json::Value| of["value"].as_f64().expect("a number");
    let targets = found[0]["targets"].as_array().expect("targets");
    assert!(targets.len() == 2 && targets.iter().all(|target| value(&target["gain"]) <= value(&found[0]["possible"])));
    assert_eq!(value(&targets[0]["more_than_first"]), 0.0);
}

#[test]
fn the_card_of_the_shipped_network_is_that_of_its_files() {
    let shell = Shell::in_root();
    let card = shell.text("models/README.md");
    let [model, onnx] = ["models/universal.safetensors", "models/universal.onnx"].map(|file| {
        let checksum = latrunculi_store::sha256(&shell.bytes(file));
        assert!(card.contains(&checksum), "the checksum of {file} is not in the card");
        shell.prints_json(&format!("inspect --verify {file}"))
    });
    assert_eq!(onnx["training"]["steps"], model["steps"]);
    assert!(card.contains(&format!("{} generations", model["generations"])), "{model}");
}
