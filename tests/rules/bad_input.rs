//! Bad rulesets, positions and actions are refused with every reason, and nothing is half done.

use std::sync::Arc;

use latrunculi_engine::{ActionError, GameState, RulesetFile, RulesetFileError, conformance, presets};

fn parse(text: &str) -> Result<RulesetFile, RulesetFileError> {
    RulesetFile::parse(text)
}

fn faults(text: &str) -> Vec<(usize, String)> {
    let error = parse(text).expect_err("the file is wrong");
    error.faults.into_iter().map(|fault| (fault.line, fault.message)).collect()
}

fn game(id: &str) -> GameState {
    GameState::new(presets::rules(id))
}

#[test]
fn every_shipped_file_reads_and_gives_its_evidence() {
    for id in presets::NAMES {
        let file = presets::file(id).expect("shipped");
        assert_eq!(file.ruleset.id, *id);
        assert!(!file.evidence.is_empty() && !file.ruleset.summary.is_empty(), "{id}");
        for (name, evidence) in &file.evidence {
            assert!(evidence.text.starts_with('['), "{id}: {name} has no evidence: {:?}", evidence.text);
        }
    }
}

#[test]
fn every_shipped_ruleset_written_in_full_reads_back_equal() {
    for id in presets::NAMES {
        let ruleset = presets::ruleset(id).expect("shipped");
        let read = parse(&ruleset.to_toml()).unwrap_or_else(|error| panic!("{id}: {error}"));
        assert_eq!((&read.ruleset, read.base), (&ruleset, None), "{id}");
        // And as what differs from another one.
        for base in ["bell", "dutch", id] {
            let read = parse(&ruleset.to_toml_from(base)).unwrap_or_else(|error| panic!("{id}: {error}"));
            assert_eq!((&read.ruleset, read.base.as_deref()), (&ruleset, Some(base)), "{id}");
        }
    }
}

#[test]
fn a_ruleset_of_ones_own_is_a_base_and_a_changed_line() {
    let file =
        parse("id = \"mine\"\nbase = \"bell\"\n[capture]\nper_move = \"all\"  # because\n").expect("it is right");
    assert_eq!(file.ruleset.placement.men, 16);
    assert_eq!(file.evidence["capture.per_move"].text, "because");
    assert_eq!(file.evidence["board.files"].ruleset, "bell");
}

#[test]
fn typos_are_all_named_with_line_and_hint() {
    let faults = faults(
        "id = \"mine\"\nbase = \"bel\"\n[capure]\nper_move = \"all\"\n[man]\nrnage = 1\nrange = \"slid\"\n[board]\nfiles = 99\n",
    );
    let lines: Vec<usize> = faults.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 3, 6, 7, 9], "{faults:?}");
    for ((_, message), hint) in faults.iter().zip(["bell", "capture", "man.range", "slide", "4 to 16"]) {
        assert!(message.contains(hint), "{message:?} does not say {hint:?}");
    }
}

#[test]
fn impossible_combinations_are_all_named() {
    let faults = faults(
        "id = \"mine\"\n[setup]\nmode = \"array\"\narray = \"\"\"\nmm.mDd\n....\n\"\"\"\n[placement]\nmen = 3\n[end]\neliminate_at = 9\n",
    );
    let text = format!("{faults:?}");
    for part in ["2 rows", "6 squares", "never placed", "lost before the first move", "has no stones"] {
        // South has a dux, so only part of these apply; each that applies must be there.
        if part != "has no stones" {
            assert!(text.contains(part), "{part:?} is missing from {text}");
        }
    }
}

#[test]
fn broken_toml_names_its_place() {
    let error = parse("id = \"mine\"\n[capture\n").expect_err("the file is wrong");
    assert_eq!(error.faults[0].line, 2, "{error}");
    assert!(parse("").is_err(), "an empty file has no id");
}

#[test]
fn too_many_stones_for_the_board_are_refused() {
    let faults = faults("id = \"mine\"\nbase = \"bell\"\n[board]\nfiles = 4\nranks = 4\n");
    assert!(faults[0].1.contains("no empty square"), "{faults:?}");
}

#[test]
fn a_bad_position_names_every_fault() {
    let state = game("bell");
    let rules = state.rules();
    let error = rules.parse_position("8/8/8/8/8/9/7x 3 Q1 go:z9:0 - x 1").expect_err("it is wrong");
    for fault in ["has 9 squares", "'x' is neither a piece", "is not a player to act", "\"z9\" is not a square"] {
        assert!(error.faults.iter().any(|found| found.contains(fault)), "{fault}: {error}");
    }
    let error = rules.parse_pieces("M:a1,a1,z9 Q:b2 D:c1,c2", latrunculi_engine::Player::First).expect_err("wrong");
    assert_eq!(error.faults.len(), 4, "{error}");
}

#[test]
fn a_bad_action_says_what_it_is() {
    let state = game("dutch");
    assert!(matches!(state.parse_action("hello"), Err(ActionError::NotAnAction(_))));
    assert!(matches!(state.parse_action("a1-a99"), Err(ActionError::NotASquare { .. })));
    assert!(matches!(state.parse_action("a1-b1"), Err(ActionError::NotLegal { .. })));
    let hint = state.parse_action("a1-a22").expect_err("off the board").to_string();
    assert!(hint.contains("a22"), "{hint}");
    for nonsense in ["", "-", "x", "@", "D@", "a1-", "é-é", "a1-a2x", "xa1+", "@é9", "1-2"] {
        assert!(state.parse_action(nonsense).is_err(), "{nonsense:?}");
    }
}

#[test]
fn a_file_that_holds_no_cases_is_refused() {
    for text in ["", "{}", "[1,2]", "{\"rulesets\": {}, \"cases\": []}", "not json", "{\"movers\": 3}"] {
        assert!(conformance::run_file(text, &presets::ruleset).is_err(), "{text:?}");
    }
}

#[test]
fn a_case_that_expects_something_else_fails() {
    // The harness itself must be able to fail: each case of the file is turned into a wrong one.
    let text = include_str!("cases/rules.json");
    for (from, to) in [
        ("\"next\": 2", "\"next\": 1"),
        ("\"result\": 1", "\"result\": 2"),
        ("\"continuation\": null", "\"continuation\": \"a1\""),
    ] {
        let reports = conformance::run_file(&text.replace(from, to), &presets::ruleset).expect("still JSON");
        let failed = reports.iter().filter(|report| report.failure.is_some()).count();
        assert!(failed > 3, "{from} replaced by {to}: only {failed} failed");
    }
}

#[test]
fn a_file_of_unknown_keys_is_refused_with_the_first_faults() {
    let keys: String = (0..100_000).map(|number| format!("key{number} = 1\n")).collect();
    let found = faults(&format!("id = \"mine\"\n{keys}"));
    assert_eq!(found.len(), 100);
    assert!(found.iter().all(|(line, message)| *line > 1 && message.contains("key")), "{found:?}");
}

#[test]
fn a_position_that_cannot_be_played_is_refused() {
    let rules = Arc::clone(game("consensus-8x8").rules());
    let full = "MMMMMMMM/mmmmmmmm/MMMMMMMM/mmmmmmmm/MMMMMMMM/mmmmmmmm/MMMMMMMM/mmmmmmmm";
    let error = rules.parse_position(&format!("{full} 1 M1 place:1")).expect_err("there is no free square").to_string();
    assert!(error.contains("more stones in hand than free squares"), "{error}");
    let error = rules.parse_position("8/8/8/8/8/8/8/M6m 1 - move - 0 65535").expect_err("too many turns").to_string();
    assert!(error.contains("number of turns"), "{error}");
}

#[test]
fn a_position_that_no_game_of_these_rules_reaches_is_refused() {
    let refused = |id: &str, line: &str, reason: &str| {
        let error = game(id).rules().parse_position(line).expect_err(line).to_string();
        assert!(error.contains(reason), "{error}");
    };
    refused("bell", "D7/8/8/8/8/8/8 1 D1 place:1", "player 1 has more than one dux");
    let board = "D7/8/8/8/8/8/8/M6m";
    refused("savard", &format!("{board} 1 - go:a1:0"), "no piece may go on");
    refused("savard", &format!("{board} 1 - removed"), "no removal precedes a move");
    let rules = game("bell").rules().clone();
    // The most continuations that a line can tell, and one more.
    let position = rules.parse_position("D7/8/8/8/8/1mM5/M6m 1 - go:a1:255").expect("a position");
    let mut state = GameState::from_position(Arc::clone(&rules), position);
    let mut actions = Vec::new();
    state.legal_actions(&mut actions);
    let takes = |action: &&latrunculi_engine::Action| !rules.taken_by(state.position(), **action).is_empty();
    let capture = *actions.iter().find(takes).expect("b2 can be taken");
    state.play(capture);
    assert!(state.outcome().is_none() && !state.last_taken().is_empty());
}

#[test]
fn a_drawing_of_too_many_stones_is_refused() {
    let rows = format!("\n{}", "MMMMMMMMMMMMMMMM\n".repeat(17));
    let text = format!(
        "id = \"mine\"\nbase = \"savard\"\n[board]\nfiles = 16\nranks = 16\n[setup]\narray = \"\"\"{rows}\"\"\"\n"
    );
    let faults = faults(&text);
    assert!(faults.iter().any(|(_, message)| message.contains("17 rows")), "{faults:?}");
    assert!(faults.iter().any(|(_, message)| message.contains("player 2 has no stones")), "{faults:?}");
}

#[test]
fn a_position_whose_counters_are_spent_is_over() {
    for id in presets::NAMES {
        let rules = Arc::clone(game(id).rules());
        let end = &rules.ruleset().end;
        let (rank, empty) = (format!("M{}m", rules.files() - 2), vec![rules.files().to_string(); rules.ranks() - 1]);
        let board = format!("{}/{rank}", empty.join("/"));
        for (quiet, turns) in [(end.quiet_limit, end.quiet_limit), (0, end.max_plies)] {
            if quiet == 0 && turns == 0 {
                continue;
            }
            let position = rules.parse_position(&format!("{board} 1 - move - {quiet} {turns}")).expect("a position");
            let state = GameState::from_position(Arc::clone(&rules), position);
            assert!(state.outcome().is_some(), "{id}: {quiet} quiet turns of {turns}");
        }
    }
}

#[test]
fn chains_that_are_too_many_to_follow_are_taken_as_optional() {
    // A lattice of men: every second square of every second rank is a landing square, 64 with that of the jumper.
    let rows = ["m.m.m.m.m.m.m.m.", ".m.m.m.m.m.m.m.m"].map(|row| format!("{row}\n"));
    let array = rows.concat().repeat(7) + &rows[0] + "Mm.m.m.m.m.m.m.m\n";
    let text = format!(
        "id = \"lattice\"\n[board]\nfiles = 16\nranks = 16\n[setup]\narray = \"\"\"\n{array}\"\"\"\n\
         [man]\njump_over = [\"own\", \"enemy\"]\njump_chain = \"maximal\"\n"
    );
    let rules = parse(&text).unwrap_or_else(|error| panic!("{error}")).rules();
    let mut actions = Vec::new();
    GameState::new(Arc::new(rules)).legal_actions(&mut actions);
    assert_eq!(actions.len(), 63);
}
