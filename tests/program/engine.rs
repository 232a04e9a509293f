//! The line protocol, as another program meets it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::Arc;

use latrunculi_data::policy_index::action_indices;
use latrunculi_data::{EncodedPosition, Encoder};
use latrunculi_engine::{GameState, presets};
use latrunculi_fuzz::{Mutator, mutated};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::Value;

use crate::support::{Shell, complaint, printed};

/// Sends lines all at once; returns everything that was answered.
fn converse(input: &[u8]) -> String {
    let output = Shell::in_root().run_reading("engine", input);
    assert!(output.status.success() && complaint(&output).is_empty(), "{}", complaint(&output));
    printed(&output)
}

/// Sends lines; returns their answers one by one.
fn answers(lines: &[&str]) -> Vec<String> {
    let said = converse((lines.join("\n") + "\n").as_bytes());
    let answers: Vec<String> = said.split_terminator("\n\n").map(str::to_owned).collect();
    assert_eq!(answers.len(), lines.len(), "one answer a command: {said}");
    answers
}

#[test]
fn a_command_without_its_argument_tells_the_present_or_what_is_missing() {
    let said = answers(&["seed", "seed 7", "seed", "known", "known go", "known board", "go foo 3"]);
    assert_eq!(said[..3], ["= 0", "=", "= 7"]);
    assert!(said[3].starts_with("? known needs the name"), "{}", said[3]);
    assert_eq!(said[4..6], ["= true", "= false"]);
    assert!(said[6].contains("\"foo\" is not a limit, as nodes N"), "{}", said[6]);
    let seeded = answers(&["seed 5", "record"]);
    assert!(seeded[1].contains("\"seed\":5"), "{}", seeded[1]);
    let same = answers(&["show", "board", "legal", "moves"]);
    assert_eq!((&same[0], &same[2]), (&same[1], &same[3]));
}

/// A program at the other end of the line.
struct Driver {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Driver {
    fn start() -> Driver {
        let mut child = Shell::in_root().start("engine");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Driver { child, input, output }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("sent");
    }

    /// Reads one answer without its sign; lines of `info` come first.
    fn receive(&mut self) -> (Vec<String>, String) {
        let (mut info, mut answer) = (Vec::new(), Vec::new());
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("read") > 0, "the program has gone");
            let line = line.trim_end();
            match line {
                "" => break,
                _ if line.starts_with("info ") => info.push(line.to_owned()),
                _ => answer.push(line.to_owned()),
            }
        }
        let answer = answer.join("\n");
        (info, answer.strip_prefix('=').unwrap_or_else(|| panic!("refused: {answer}")).trim().to_owned())
    }

    fn ask(&mut self, line: &str) -> String {
        self.send(line);
        self.receive().1
    }

    /// Waits for the first line of a search that goes on.
    fn await_info(&mut self) {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the first word");
        assert!(line.starts_with("info sims 64 "), "{line}");
    }

    fn quit(mut self) {
        self.ask("quit");
        assert!(self.child.wait().expect("the end").success());
    }
}

#[test]
fn the_documented_conversation_takes_place_word_for_word() {
    let text = Shell::in_root().text("docs/PROTOCOL.md");
    let (_, rest) = text.split_once("```text dialogue\n").expect("a conversation");
    let (dialogue, _) = rest.split_once("```").expect("its end");
    let sent: Vec<&str> = dialogue.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    assert!(sent.len() > 15, "the conversation shows the protocol");
    let received: String =
        dialogue.lines().filter(|line| !line.starts_with("> ")).flat_map(|line| [line, "\n"]).collect();
    assert_eq!(converse((sent.join("\n") + "\n").as_bytes()), received);
}

#[test]
fn another_program_plays_a_whole_game_from_what_it_is_told() {
    let mut driver = Driver::start();
    driver.ask("ruleset dux-hunt-16");
    driver.ask("agent alphabeta:nodes=200");
    let mut played = 0;
    let outcome = loop {
        let state: Value = serde_json::from_str(&driver.ask("state")).expect("JSON");
        assert_eq!(state["actions_played"], played);
        if !state["outcome"].is_null() {
            assert!(state["to_act"].is_null() && state["legal_count"] == 0);
            break state["outcome"].clone();
        }
        let legal = driver.ask("legal");
        let legal: Vec<&str> = legal.lines().collect();
        assert_eq!(state["legal_count"], legal.len());
        // Player 1 takes what the engine finds, player 2 takes the middle of the list.
        if state["to_act"] == 1 {
            driver.send("genmove");
            let (info, action) = driver.receive();
            assert!(legal.iter().any(|line| line.split(' ').next() == Some(&action)), "{action}");
            let expected = format!(" pv {action}");
            assert!(info.last().expect("info").contains(&expected), "{info:?}");
        } else {
            let action = legal[legal.len() / 2].split(' ').next().expect("an action");
            driver.ask(&format!("play {action}"));
        }
        played += 1;
    };
    assert!(
        ["blockade", "dux enclosed", "repetition", "no legal move", "ply cap"]
            .contains(&outcome["reason"].as_str().unwrap())
    );
    let record: Value = serde_json::from_str(&driver.ask("record")).expect("JSON");
    assert_eq!(record["actions"].as_array().map(Vec::len), Some(played));
    assert_eq!(record["reason"], outcome["reason"]);
    driver.quit();
}

/// The numbers of an array, of an array of arrays, and so on.
fn numbers(value: &Value) -> Vec<f32> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        _ => vec![value.as_f64().expect("a number") as f32],
    }
}

#[test]
fn a_position_is_encoded_as_networks_see_it() {
    for (ruleset, line) in [
        ("bell", "8/8/8/8/8/8/8 2 M14D1m16d1 place:1 - 0 1"),
        ("beads", "12/12/4m7/12/3MmM6/MmM9/11d/D11 2 - move b3,e4 3 40"),
    ] {
        let answers = answers(&[&format!("ruleset {ruleset}"), &format!("position {line}"), "encode"]);
        let encoded: Value = serde_json::from_str(answers[2].trim_start_matches("= ")).expect("JSON");
        let rules = presets::rules(ruleset);
        let position = rules.parse_position(line).expect("a position");
        let state = GameState::from_position(Arc::clone(&rules), position);
        let encoder = Encoder::new(Arc::clone(&rules));
        let shape = encoder.shape();
        let expected = EncodedPosition::new(&rules, &position, state.repetitions());
        let (mut planes, mut scalars) = (Vec::new(), Vec::new());
        encoder.extend_planes(&expected, &mut planes);
        encoder.extend_scalars(&expected, &mut scalars);
        assert_eq!(numbers(&encoded["planes"]), planes);
        assert_eq!(numbers(&encoded["scalars"]), scalars);
        assert_eq!(encoded["scalar_names"].as_array().map(Vec::len), Some(shape.scalars));
        let mut legal = Vec::new();
        state.legal_actions(&mut legal);
        let actions = encoded["actions"].as_array().expect("actions");
        assert_eq!(actions.len(), legal.len());
        for (said, &action) in actions.iter().zip(&legal) {
            assert_eq!(said["action"], state.action_text(action));
            assert_eq!(said["indices"], serde_json::json!(action_indices(&rules, &position, action)));
        }
        assert_eq!(encoded["shape"]["policy"], shape.policy_len());
    }
}

#[test]
fn thinking_without_an_end_ends_when_it_is_told_to() {
    let mut driver = Driver::start();
    driver.ask("agent mcts:sims=10000000");
    driver.send("go");
    driver.await_info();
    driver.send("stop");
    assert!(driver.receive().1.starts_with('@'));
    assert_eq!(driver.receive().1, "", "the answer to stop");
    // What was told to stop is over: the next search is its own.
    driver.send("go sims 200");
    assert!(driver.receive().0.last().expect("info").starts_with("info sims 200 "));
    driver.ask("agent alphabeta:depth=96");
    driver.send("go seconds 0.05");
    assert!(driver.receive().1.starts_with('@'));
    driver.quit();
}

#[test]
fn the_first_search_by_the_clock_is_a_search_after_every_command_that_begins_a_game() {
    for agent in ["net:seconds=0.01", "mcts:seconds=0.01", "alphabeta:seconds=0.01"] {
        let agent = format!("agent {agent}");
        let position = "position initial actions a3-a4";
        let lines = [&*agent, "go", "ruleset savard", "go", position, "go", "new", "go", "ruleset bell", "go"];
        for search in answers(&lines).iter().skip(1).step_by(2) {
            let line = search.lines().rfind(|line| line.starts_with("info ")).expect("what was found");
            let mut words = line.split(' ').skip_while(|&word| word != "sims" && word != "nodes").skip(1);
            assert!(words.next().is_some_and(|effort| effort != "0"), "{agent}: {search}");
        }
    }
}

#[test]
fn every_answer_of_a_search_comes_after_what_is_known() {
    let agents =
        ["random", "greedy", "alphabeta:nodes=50", "mcts:sims=5", "net:sims=0", "net:sims=8", "net:seconds=0.01"];
    for agent in agents {
        let [agent_line, won] = [&format!("agent {agent}"), "position 7d/8/8/8/8/Mm6/2M5/D7 1"];
        let only = "position d7/8/8/8/8/m7/m7/D7 1";
        let said = answers(&["ruleset savard", agent_line, "go", won, "go", only, "legal", "genmove"]);
        assert_eq!(said[6].lines().count(), 1, "one action: {}", said[6]);
        for answer in [&said[2], &said[4], &said[7]] {
            let (info, action) = answer.rsplit_once('\n').unwrap_or_else(|| panic!("{agent} says nothing: {answer}"));
            let last = info.lines().next_back().expect("a line");
            let variation = format!(" pv {}", action.trim_start_matches("= "));
            assert!(last.starts_with("info ") && last.contains(&variation), "{agent}: {answer}");
        }
        let knows = !["random", "greedy"].contains(&agent);
        assert_eq!(said[4].contains(" win 1 value 1.0000 "), knows, "{agent}: {}", said[4]);
    }
}

#[test]
fn a_stop_ends_no_search_that_is_asked_for_after_it() {
    let answers = answers(&["agent mcts:sims=100", "stop", "go", "legal", "7 ping still here"]);
    assert!(answers[2].contains("info sims 100 "), "{}", answers[2]);
    assert_eq!(answers[4], "=7 still here");
}

#[test]
fn nonsense_is_refused_in_one_line_and_changes_nothing() {
    let nonsense = [
        ("frobnicate", "unknown command"),
        ("lgeal", "did you mean legal?"),
        ("ruleset atlantis", "there is no ruleset"),
        ("ruleset .", "not a file"),
        ("ruleset Cargo.toml", "Cargo.toml:"),
        ("position", ""),
        ("position nonsense", "not a position"),
        ("position initial actions", ""),
        ("position initial actions @a1 zz", "action 2: "),
        ("position 8/8/8/8/8/8/8", "player to act"),
        ("play", "needs an action"),
        ("play @z9", "not a square"),
        ("play a1-a2", "still being placed"),
        ("play @a1 @a1", "action 2: "),
        ("undo", "there is nothing to take back"),
        ("undo -1", "at least 1"),
        ("undo 99999999999999999999", "at least 1"),
        ("seed yes", "whole number"),
        ("agent", ""),
        ("agent human", "play"),
        ("agent alphabeta:depth=0", "from 1 to 96"),
        ("agent net:no such file.safetensors", "no such file.safetensors"),
        ("go fast", "is not a limit"),
        ("go nodes", "needs a number"),
        ("genmove nodes NaN", "at least 1"),
        ("legal moves", "takes nothing"),
        ("known nothing", ""),
        ("quit now", "takes nothing"),
    ];
    let lines: Vec<&str> = nonsense.iter().map(|(line, _)| *line).chain(["position", "agent"]).collect();
    let answers = answers(&lines);
    for ((line, part), answer) in nonsense.iter().zip(&answers) {
        assert_eq!(answer.starts_with('?'), !part.is_empty(), "{line}: {answer}");
        assert!(answer.contains(part), "{line}: {answer}");
    }
    let [position, agent] = &answers[answers.len() - 2..] else { panic!() };
    assert_eq!(position, "= 8/8/8/8/8/8/8 1 M16D1m16d1 place:2 - 0 0");
    assert_eq!(agent, "= alphabeta:nodes=20000");
}

#[test]
fn lines_that_are_no_text_are_refused_and_the_conversation_goes_on() {
    let mut input = b"\xff\xfe\xfd\nplay @a\0a\n".to_vec();
    input.extend(vec![b'x'; 3 << 20]);
    input.extend(b"\n\n# nothing\n\t\nping here\r\nname");
    let said = converse(&input);
    let answers: Vec<&str> = said.split_terminator("\n\n").collect();
    assert_eq!(answers.len(), 5, "{said}");
    for (answer, part) in
        answers.iter().zip(["? the line is not UTF-8", "? the line holds a control", "? the line has more"])
    {
        assert!(answer.starts_with(part), "{answer}");
    }
    assert_eq!(answers[3..], ["= here", "= latrunculi"]);
}

#[test]
fn whoever_goes_away_ends_the_conversation_quietly() {
    // Nobody reads the answers.
    let mut child = Shell::in_root().start("engine");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("a pipe");
    // The pipe may be closed before all is written.
    let _ = stdin.write_all("encode\n".repeat(2000).as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("the end");
    assert!(output.status.success() && complaint(&output).is_empty(), "{}", complaint(&output));
    Shell::in_root().refuses("engine --ruleset bel", 1, &["did you mean bell?"]);
    Shell::in_root().refuses("engine --agent human", 1, &["play"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_tree_has_a_bound_and_goes_with_its_game() {
    let mut driver = Driver::start();
    driver.ask("ruleset falkener");
    let mut mib_after = |line: &str| {
        driver.send(line);
        driver.receive();
        let status = std::fs::read_to_string(format!("/proc/{}/status", driver.child.id())).expect("Linux");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("resident memory");
        line.split_whitespace().next().expect("a number").parse::<f64>().expect("kB") / 1024.0
    };
    let empty = mib_after("agent mcts:sims=4000,memory_mib=1");
    let bounded = mib_after("go");
    assert!(bounded < empty + 8.0, "{empty} MiB, then {bounded}");
    let empty = mib_after("agent mcts:sims=4000");
    let grown = mib_after("go");
    assert!(grown > empty + 16.0, "{empty} MiB, then {grown}");
    let left = mib_after("new");
    assert!(left < empty + 8.0, "{empty} MiB, then {grown}, after the game {left}");
}

#[cfg(unix)]
#[test]
fn nobody_is_left_behind_to_think_for_ever() {
    let mut driver = Driver::start();
    driver.ask("agent mcts:sims=10000000");
    driver.send("go seconds 1000000");
    driver.await_info();
    let Driver { mut child, input, output } = driver;
    drop((input, output));
    assert!(child.wait().expect("the end").success());
}

/// `LATRUNCULI_FUZZ=N` sends N lines, as `scripts/fuzz` does.
#[test]
fn every_line_has_an_answer_whatever_is_in_it() {
    let lines = "name|12 known go|ping hello|rulesets|ruleset savard|ruleset bell-8x8|new|position initial|\
        position 7d/8/8/8/8/Mm6/2M5/D7 1 - move - 0 0|position initial actions @a1 @b2|play c2-c3|undo|undo 2|legal|show|\
        state|encode|record|agent alphabeta:nodes=50,seed=1|agent mcts:sims=5|agent random|seed 7|go nodes 20|\
        genmove depth 2|go seconds 0.01|genmove|stop|# nothing";
    let seeds: Vec<Vec<u8>> = lines.split('|').map(|line| line.as_bytes().to_vec()).collect();
    let wanted = std::env::var("LATRUNCULI_FUZZ").ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(200);
    let mut sent = 0;
    while sent < wanted {
        let mut input = Vec::new();
        for _ in 0..1000.min(wanted - sent) {
            let mut stream = ChaCha8Rng::seed_from_u64(1);
            stream.set_stream(sent);
            let mut mutator = Mutator::new(stream);
            let line =
                if mutator.below(3) == 0 { mutator.one_of(&seeds).clone() } else { mutated(&seeds, &mut mutator) };
            input.extend_from_slice(&line);
            // No search goes on for ever.
            input.extend_from_slice(b"\nstop\n");
            sent += 1;
        }
        // `quit` may be among the lines; nothing is said of those after it.
        for answer in converse(&input).split_terminator("\n\n") {
            let answer = answer.lines().find(|line| !line.starts_with("info ")).unwrap_or_default();
            assert!(answer.starts_with(['=', '?']), "{answer:?} answers nothing");
        }
    }
}
