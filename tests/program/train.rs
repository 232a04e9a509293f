//! The training run: it ends with files, survives a kill, and goes on as if nothing had been.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use latrunculi_data::{read_shard, write_shard};
use latrunculi_engine::presets;
use serde_json::Value;

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_latrunculi"))
}

fn smoke() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/train/smoke.toml")
}

fn train(folder: &Path, settings: &[&str]) -> Output {
    let mut command = program();
    command.arg("train").arg(smoke()).arg("--run").arg(folder);
    for setting in settings {
        command.args(["--set", setting]);
    }
    command.output().unwrap()
}

fn resume(folder: &Path) -> Output {
    program().args(["train", "--resume"]).arg(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Everything of a run that must not depend on how often it was interrupted.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for part in ["shards", "export", "checkpoints"] {
        for entry in fs::read_dir(folder.join(part)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // A checkpoint also holds how many seconds the run has taken.
            if !name.starts_with('.') && (part != "checkpoints" || name.ends_with(".pools")) {
                found.insert(format!("{part}/{name}"), fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn a_run_ends_with_a_measured_model_and_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let output = train(&run, &[]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    assert!(said.contains("score against alphabeta:nodes=50"), "{said}");
    assert!(said.contains("95 % interval"), "{said}");
    for file in [
        "config.toml",
        "rulesets/bell.toml",
        "provenance.json",
        "metrics.jsonl",
        "latest",
        "result.json",
        "learning.html",
        "learning.csv",
        "shards/000002-bell.npz",
        "checkpoints/000003.safetensors",
        "export/model.safetensors",
        "export/model.pt",
        "export/model.onnx",
        "export/model.weights.safetensors",
        "export/model.weights.npz",
        "export/model.json",
        "export/model.md",
    ] {
        assert!(run.join(file).is_file(), "{file}");
    }
    let metrics = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let lines: Vec<Value> = metrics.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4, "a round for each generation, and one that trains on the last");
    for (round, line) in lines.iter().enumerate() {
        assert_eq!(line["generation"], round);
        let (plays, is_bootstrap) = (round < 3, round < 1);
        for key in ["games_per_sec", "draw_rate", "first_player_score"] {
            assert_eq!(line.get(key).is_some(), plays, "{key} in round {round}");
        }
        assert_eq!(line["steps"].as_u64().unwrap() > 0, round > 0, "round {round} trains on what was played before it");
        assert_eq!(line.get("verdicts").is_some(), plays && !is_bootstrap, "the network that plays is measured");
    }
    assert!(fs::metadata(run.join("tensorboard/events.out.tfevents.0.latrunculi")).unwrap().len() > 1000);
    curves_are_shown(&run, lines.iter().filter(|line| line.get("verdicts").is_some()).count() + 1);
    let status = program().arg("status").arg(&run).output().unwrap();
    let told = text(&status.stdout);
    assert!(told.contains("\nfinished\n3 generations, ") && told.contains("strength: "), "{told}");
    assert_eq!(told.lines().filter(|line| line.contains(" network ")).count(), 2, "a row a generation: {told}");
    assert_eq!(status_of(&run)["activity"], "finished");
    // The folder is not begun twice, and a finished run that is resumed only measures again.
    let again = train(&run, &[]);
    assert!(!again.status.success());
    assert!(text(&again.stderr).contains("--resume"), "{}", text(&again.stderr));
    let before = contents(&run);
    let resumed = resume(&run);
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    assert!(before == contents(&run), "nothing has changed");
}

/// What `status --json` says of a run.
fn status_of(run: &Path) -> Value {
    let output = program().arg("status").arg(run).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Learning curves are read from a run that is finished, one whose last line is being written, and no other thing.
fn curves_are_shown(run: &Path, matches: usize) {
    let curves = |arguments: &[&str]| program().arg("curves").arg(run).args(arguments).output().unwrap();
    let told = curves(&[]);
    assert!(told.status.success(), "{}", text(&told.stderr));
    // Each row begins with a time.
    let is_row = |line: &&str| line.get(..7).is_some_and(|minute| minute.trim().parse::<f64>().is_ok());
    assert_eq!(text(&told.stdout).lines().filter(is_row).count(), matches, "{}", text(&told.stdout));
    let rows = |output: &Output| text(&output.stdout).lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(rows(&curves(&["--csv"])), rows_of(&run.join("learning.csv")));
    let json: Value = serde_json::from_slice(&curves(&["--json"]).stdout).unwrap();
    assert_eq!(json[0]["rounds"].as_array().unwrap().len(), 4);

    let metrics = run.join("metrics.jsonl");
    let whole = fs::read(&metrics).unwrap();
    fs::write(&metrics, &whole[..whole.len() - 20]).unwrap();
    assert_eq!(
        serde_json::from_slice::<Value>(&curves(&["--json"]).stdout).unwrap()[0]["rounds"].as_array().unwrap().len(),
        3,
        "a line that is not whole yet is no line"
    );
    fs::write(&metrics, [b"{}\n", whole.as_slice()].concat()).unwrap();
    let refused = curves(&[]);
    assert!(
        !refused.status.success() && text(&refused.stderr).contains("metrics.jsonl, line 1"),
        "{}",
        text(&refused.stderr)
    );
    fs::write(&metrics, &whole).unwrap();

    let elsewhere = program().arg("curves").arg(run.join("shards")).output().unwrap();
    assert!(!elsewhere.status.success() && text(&elsewhere.stderr).contains("there is no run"));
}

fn rows_of(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_run_that_is_killed_goes_on_as_if_nothing_had_been() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
    let settings = ["budget.generations=4", "games.per_generation=24", "evaluation.every=0"];
    let output = train(&whole, &settings);
    assert!(output.status.success(), "{}", text(&output.stderr));

    let mut command = program();
    command.arg("train").arg(smoke()).arg("--run").arg(&broken).stdout(Stdio::null()).stderr(Stdio::null());
    for setting in settings {
        command.args(["--set", setting]);
    }
    let mut child = command.spawn().unwrap();
    let mut kills = 0;
    let begun = Instant::now();
    let mut has_played = false;
    // Killed whenever a generation more is on the disk, and somewhat later each time.
    for generation in 1..=3 {
        let checkpoint = broken.join(format!("checkpoints/{generation:06}.safetensors"));
        while !checkpoint.exists() && child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < Duration::from_secs(300), "the run does not come on");
            sleep(Duration::from_millis(2));
        }
        sleep(Duration::from_millis(40 * generation));
        if child.try_wait().unwrap().is_none() {
            // On Unix this is SIGKILL.
            child.kill().unwrap();
            kills += 1;
        }
        child.wait().unwrap();
        let model = broken.join("export/model.safetensors");
        if model.exists() {
            let agent = format!("net:{},sims=1", model.display());
            let output =
                program().args(["match", &agent, "random", "--ruleset", "bell", "--games", "2"]).output().unwrap();
            has_played |= output.status.success();
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
        child = program()
            .args(["train", "--resume"])
            .arg(&broken)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
    }
    assert!(child.wait().unwrap().success());
    assert!(kills > 0, "the run was killed at least once");
    assert!(has_played, "before its end the run has a model that plays");
    let (whole, broken) = (contents(&whole), contents(&broken));
    assert!(whole.contains_key("checkpoints/000004.pools"), "games are in flight");
    assert_eq!(whole.keys().collect::<Vec<_>>(), broken.keys().collect::<Vec<_>>());
    for (name, bytes) in &whole {
        assert!(*bytes == broken[name], "{name} differs from the uninterrupted run after {kills} kills");
    }
}

/// Settings of a small run over three boards of different size, with random mixes of rules.
const THREE_BOARDS: [&str; 12] = [
    "rulesets=[\"bell\", \"bell-8x8\", \"savard-plain-men\"]",
    "teacher.games=3",
    "games.per_generation=0",
    "games.samples_per_generation=600",
    "games.pools=1",
    "games.in_flight=3",
    "games.batches_per_step=4",
    "mixes.fraction=0.25",
    "mixes.at_once=1",
    "mixes.samples=100",
    "selfplay.simulations=2",
    "evaluation.final_opening_pairs=1",
];

#[test]
fn a_run_over_several_rulesets_goes_on_after_a_kill_as_if_nothing_had_been() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
    let settings = [
        "budget.generations=6",
        "evaluation.opening_pairs=1",
        "evaluation.every=1",
        "evaluation.earlier_opening_pairs=1",
    ];
    let settings = [&THREE_BOARDS[..], &settings].concat();
    let output = train(&whole, &settings);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("final match 3 of 3, savard-plain-men: "), "{}", text(&output.stdout));
    for name in ["bell", "bell-8x8", "savard-plain-men"] {
        assert!(whole.join(format!("rulesets/{name}.toml")).is_file(), "{name}");
        assert!(whole.join(format!("shards/000000-{name}.npz")).is_file(), "{name}");
    }
    let mixes = |run: &Path| contents(run).into_keys().filter(|name| name.contains("-mix-")).collect::<Vec<_>>();
    assert!(!mixes(&whole).is_empty(), "mixes were played");
    let metrics = fs::read_to_string(whole.join("metrics.jsonl")).unwrap();
    let lines: Vec<Value> = metrics.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let measured: Vec<&String> = lines
        .iter()
        .filter_map(|line| line.get("verdicts")?.as_object())
        .flat_map(|verdicts| verdicts.keys())
        .collect();
    let turns = ["bell", "bell-8x8", "savard-plain-men", "bell", "bell-8x8"];
    assert_eq!(measured, turns, "one match a generation, each ruleset in its turn");
    // In its second match a ruleset also meets the network of its first, which is kept.
    let earlier: Vec<Option<u64>> = lines
        .iter()
        .filter_map(|line| line.get("verdicts")?.as_object()?.values().next())
        .map(|verdict| verdict["earlier"]["generation"].as_u64())
        .collect();
    assert_eq!(earlier, [None, None, None, Some(1), Some(2)]);
    assert!(whole.join("networks/000001.safetensors").is_file());
    // Alpha-beta's games are divided by share: nine games, half of them under the ruleset that is a family of its own.
    let taught: Vec<u64> = ["bell", "bell-8x8", "savard-plain-men"]
        .iter()
        .map(|name| lines[0]["rulesets"][name]["games"].as_u64().unwrap())
        .collect();
    assert_eq!(taught, [2, 2, 5]);
    // A ruleset that is ahead of its share sits out a generation.
    let has_played = |name: &str| lines.iter().skip(1).any(|line| line["rulesets"].get(name).is_some());
    assert!(["bell", "bell-8x8", "savard-plain-men", "mixes"].into_iter().all(has_played));

    // Stopped in the second generation of self-play.
    let mut command = program();
    command.arg("train").arg(smoke()).arg("--run").arg(&broken).stdout(Stdio::null()).stderr(Stdio::null());
    for setting in &settings {
        command.args(["--set", setting]);
    }
    let mut child = command.spawn().unwrap();
    let begun = Instant::now();
    let checkpoint = broken.join("checkpoints/000002.safetensors");
    while !checkpoint.exists() && child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(300), "the run does not come on");
        sleep(Duration::from_millis(2));
    }
    sleep(Duration::from_millis(50));
    let is_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_running, "the run was killed before its end");
    let resumed = resume(&broken);
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    let (one, other) = (contents(&whole), contents(&broken));
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (name, bytes) in &one {
        assert!(*bytes == other[name], "{name} differs from the uninterrupted run");
    }

    // What belongs to another ruleset is refused by its name.
    let (bell, savard) = (whole.join("shards/000001-bell.npz"), whole.join("shards/000001-savard-plain-men.npz"));
    fs::copy(&savard, &bell).unwrap();
    let refused = resume(&whole);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("'savard-plain-men' and 'bell' is wanted"), "{}", text(&refused.stderr));
    let rules = whole.join("rulesets");
    fs::copy(rules.join("bell-8x8.toml"), rules.join("bell.toml")).unwrap();
    let refused = resume(&whole);
    assert!(text(&refused.stderr).contains("bell.toml: the rules are not those"), "{}", text(&refused.stderr));
}

#[test]
fn a_run_may_begin_with_the_weights_of_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let few = ["budget.generations=2", "evaluation.every=0", "evaluation.final_opening_pairs=0"];
    assert!(train(&first, &few).status.success());
    let result: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(first.join("result.json")).unwrap()).unwrap();
    assert_eq!(result["verdicts"], serde_json::json!({}), "no final match, no final score");
    let own = folder.path().join("own.toml");
    fs::write(&own, "id = \"own\"\nbase = \"bell-8x8\"\n[end]\nquiet_limit = 20\n").unwrap();
    let rulesets = format!("rulesets={}", own.display());
    let mut command = program();
    command.arg("train").arg(smoke()).arg("--from").arg(&first).arg("--run").arg(&second);
    for setting in [
        "budget.generations=2",
        "evaluation.every=1",
        "evaluation.opening_pairs=1",
        "evaluation.earlier_opening_pairs=1",
        "evaluation.final_opening_pairs=0",
        &rulesets,
    ] {
        command.args(["--set", setting]);
    }
    for given in ["network.blocks=3", "teacher.generations=1"] {
        let mut refused = program();
        refused.args(command.get_args()).args(["--set", given]);
        let said = String::from_utf8(refused.output().unwrap().stderr).unwrap();
        assert!(said.contains(&format!("--set {given} has no effect beside --from")), "{said}");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let config = fs::read_to_string(second.join("config.toml")).unwrap();
    assert!(config.contains("blocks = 1"), "the network has the size of the model's: {config}");
    let metrics = fs::read_to_string(second.join("metrics.jsonl")).unwrap();
    assert!(metrics.starts_with('{') && !metrics.contains("\"teacher\":true"), "the network plays from the beginning");
    let provenance = fs::read_to_string(second.join("provenance.json")).unwrap();
    assert!(provenance.contains("\"from\"") && provenance.contains("checksum"), "{provenance}");
    assert!(second.join("shards/000001-own.npz").is_file());
    let rounds: Vec<serde_json::Value> = metrics.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rounds[1]["verdicts"]["own"]["earlier"]["generation"], 0, "it is compared with where it began");
    // Its first games are not learnt from until there are more of them.
    assert_eq!((&rounds[0]["steps"], &rounds[1]["steps"]), (&0.into(), &0.into()));
    assert!(rounds[2]["steps"].as_u64().unwrap() > 0, "{metrics}");
}

#[test]
fn any_number_of_actors_plays_the_same_games() {
    let folder = tempfile::tempdir().unwrap();
    let played = ["games.actors=1", "games.actors=2"].map(|actors| {
        let run = folder.path().join(actors);
        let output = train(&run, &[actors, "games.pools=3", "evaluation.every=0", "evaluation.final_opening_pairs=1"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let metrics = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
        let lines = metrics.lines().map(|line| serde_json::from_str(line).unwrap());
        let fill = lines.filter(|line: &Value| line["teacher"] == false);
        assert!(fill.map(|line| line["batch_fill"].as_f64().unwrap()).all(|fill| fill > 0.999), "batches are full");
        let mut found = contents(&run);
        found.retain(|name, _| !name.starts_with("export"));
        found
    });
    assert!(played[0].contains_key("shards/000002-bell.npz") && played[0].contains_key("checkpoints/000003.pools"));
    assert!(played[0] == played[1]);
}

#[test]
fn what_is_wrong_with_a_configuration_is_said_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    for (settings, expected) in [
        (&["games.actors=0", "selfplay.simulations=0"][..], &["games.actors", "selfplay.simulations"][..]),
        (&["network.chanels=8"], &["chanels"]),
        (&["rulesets=bel"], &["bell"]),
        (&["rulesets=[\"bell\", \"savard\"]"], &["games.samples_per_generation"]),
        (&["ruleset=savard"], &["unknown field `ruleset`", "`rulesets`"]),
        (&["mixes.fraction=0.2", "games.batches_per_step=3"], &["mixes.at_once", "batches_per_step"]),
        (&["evaluation.baseline=strong"], &["alphabeta:nodes="]),
        (&["evaluation.baseline=human"], &["play"]),
        (&["evaluation.baseline=net:nowhere.safetensors"], &["evaluation.baseline", "nowhere.safetensors"]),
        (
            &["evaluation.anchors=[\"random\", \"net:nowhere.safetensors\"]"],
            &["evaluation.anchors", "nowhere.safetensors"],
        ),
        (&["selfplay.search.mode.gumbel.maxvisit_init=-100"], &["selfplay.search.mode.gumbel.maxvisit_init"]),
        (&["evaluation.opening_actions=100000", "replay.reuse=1e15"], &["opening_actions = 100000", "replay.reuse"]),
        (&["seed=yes"], &["seed"]),
        (&["games.pools=9"], &["games.pools = 9 must be 1 to 8"]),
        (&["device=cpuu"], &["cpu"]),
        (&["budget.minutes"], &["key=value"]),
    ] {
        let output = train(&run, settings);
        assert_eq!(output.status.code(), Some(1), "{settings:?}");
        for word in expected {
            assert!(text(&output.stderr).contains(word), "{settings:?}: {}", text(&output.stderr));
        }
    }
    assert!(!run.join("config.toml").exists(), "nothing was begun");
    let nothing = resume(&run);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(text(&nothing.stderr).contains("no run"), "{}", text(&nothing.stderr));
    assert_eq!(program().arg("train").output().unwrap().status.code(), Some(2));
}

#[test]
fn a_run_is_continued_by_the_command_that_began_it() {
    let folder = tempfile::tempdir().unwrap();
    let train = |arguments: &[&str]| {
        let settings = ["--set", "budget.generations=1", "--set", "evaluation.final_opening_pairs=1"];
        let mut command = program();
        command.current_dir(folder.path()).args(["train", "smoke"]).args(arguments).args(settings);
        command
    };
    // 100000 games take hours: the run is killed in its first generation.
    let many = ["--continue", "--set", "teacher.games=100000", "--quiet"];
    let run = folder.path().join("runs/smoke-1");
    for _ in 0..2 {
        let mut child = train(&many).stdout(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while !run.join("shards/000000-bell.journal").is_file() {
            assert!(begun.elapsed() < Duration::from_secs(120), "the run does not begin");
            sleep(Duration::from_millis(10));
        }
        fs::remove_file(run.join("shards/000000-bell.journal")).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let runs = || fs::read_dir(folder.path().join("runs")).unwrap().count();
    assert_eq!(runs(), 1, "the second command continued the first run");
    let provenance = fs::read_to_string(run.join("provenance.json")).unwrap();
    let provenance: Value = serde_json::from_str(&provenance).unwrap();
    assert_eq!((&provenance["config"], provenance["resumed"].as_array().unwrap().len()), (&"smoke".into(), 1));

    let other = train(&["--continue"]).output().unwrap();
    assert!(other.status.success(), "{}", text(&other.stderr));
    assert!(folder.path().join("runs/smoke-2/result.json").is_file(), "other settings make another run");
    let plain = train(&["--set", "seed=2"]).output().unwrap();
    assert!(plain.status.success() && folder.path().join("runs/smoke-3/result.json").is_file());
    let wrong = program().args(["train", "smok"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(1));
    assert!(text(&wrong.stderr).contains("did you mean smoke?"), "{}", text(&wrong.stderr));
}

#[test]
fn a_checkpoint_that_is_cut_off_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let output = train(&run, &["budget.generations=2", "evaluation.every=0", "evaluation.final_opening_pairs=1"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // The games in flight first: they are read after the weights.
    for name in ["000002.pools", "000002.safetensors"] {
        let path = run.join("checkpoints").join(name);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        let resumed = resume(&run);
        assert_eq!(resumed.status.code(), Some(1));
        assert!(text(&resumed.stderr).contains(name), "{}", text(&resumed.stderr));
        let verified = program().arg("inspect").arg(&run).arg("--verify").output().unwrap();
        assert!(text(&verified.stderr).contains(name), "{}", text(&verified.stderr));
        fs::write(&path, &bytes).unwrap();
    }
}

#[test]
fn games_that_had_ended_before_a_kill_are_not_played_again() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
    let settings = ["budget.generations=1", "teacher.games=60", "evaluation.final_opening_pairs=1", "games.actors=2"];
    assert!(train(&whole, &settings).status.success());

    let mut command = program();
    command.arg("train").arg(smoke()).arg("--run").arg(&broken).stdout(Stdio::null()).stderr(Stdio::null());
    for setting in settings {
        command.args(["--set", setting]);
    }
    let mut child = command.spawn().unwrap();
    let journal = broken.join("shards/000000-bell.journal");
    let begun = Instant::now();
    // Some games are written down; the first generation, and so the first checkpoint, is far away.
    while fs::metadata(&journal).map_or(0, |about| about.len()) < 100_000 && child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(300), "the run does not come on");
        sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(journal.exists(), "it was killed within the generation");
    let resumed = resume(&broken);
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    let metrics = fs::read_to_string(broken.join("metrics.jsonl")).unwrap();
    let line: Value = serde_json::from_str(metrics.lines().next().unwrap()).unwrap();
    assert!(line["games_found"].as_u64().unwrap() > 0);
    assert_eq!(line["games"], 60);
    assert!(!journal.exists());
    let shard = |run: &Path| fs::read(run.join("shards/000000-bell.npz")).unwrap();
    assert!(shard(&whole) == shard(&broken), "the games are those of the uninterrupted run");
}

#[test]
fn a_folder_has_one_run_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let mut command = program();
    command.arg("train").arg(smoke()).arg("--json").arg("--run").arg(&run);
    command.args(["--set", "budget.generations=1", "--set", "evaluation.final_opening_pairs=1"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let event = |line: &str| serde_json::from_str::<Value>(line).unwrap()["event"].as_str().unwrap().to_owned();
    let events: Vec<String> = text(&output.stdout).lines().map(event).collect();
    assert_eq!(events, ["started", "round", "round", "finished"]);
    let lock = fs::File::options().write(true).open(run.join("lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(status_of(&run)["activity"], "running");
    for refused in [resume(&run), train(&run, &[])] {
        assert_eq!(refused.status.code(), Some(1));
        assert!(text(&refused.stderr).contains("works in this folder"), "{}", text(&refused.stderr));
    }
    drop(lock);
    assert!(resume(&run).status.success());
    // On Unix the folder itself is locked too: the lock holds when its file is deleted.
    #[cfg(unix)]
    {
        let own = fs::File::open(&run).unwrap();
        own.lock().unwrap();
        fs::remove_file(run.join("lock")).unwrap();
        assert!(text(&resume(&run).stderr).contains("works in this folder"));
    }
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() { copy(&entry.path(), &to) } else { _ = fs::copy(entry.path(), to).unwrap() }
    }
}

/// Changes what a checkpoint says under `key` of its metadata.
fn edit(checkpoint: &Path, key: &str, change: impl Fn(&mut Value)) {
    let bytes = fs::read(checkpoint).unwrap();
    let header_bytes = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: Value = serde_json::from_slice(&bytes[8..8 + header_bytes]).unwrap();
    let text = &mut header["__metadata__"][key];
    let mut state: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
    change(&mut state);
    *text = state.to_string().into();
    let mut edited = serde_json::to_vec(&header).unwrap();
    edited.resize(edited.len().next_multiple_of(8), b' ');
    let all = [&(edited.len() as u64).to_le_bytes()[..], &edited, &bytes[8 + header_bytes..]].concat();
    fs::write(checkpoint, all).unwrap();
}

#[test]
fn what_is_not_of_this_run_or_does_not_agree_with_its_checkpoint_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (run, other) = (folder.path().join("run"), folder.path().join("other"));
    let few = ["budget.generations=2", "evaluation.every=0", "evaluation.final_opening_pairs=1"];
    assert!(train(&run, &few).status.success());
    assert!(train(&other, &[&few[..], &["seed=2"]].concat()).status.success());
    let mut number = 0;
    let mut changed = |change: &dyn Fn(&Path), words: &[&str]| {
        number += 1;
        let copied = folder.path().join(number.to_string());
        copy(&run, &copied);
        change(&copied);
        let told = || ["config.toml", "provenance.json", "latest"].map(|name| fs::read(copied.join(name)).ok());
        let before = told();
        let refused = resume(&copied);
        assert!(told() == before, "{words:?}: what is refused changes nothing");
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{words:?}: {said}");
        assert!(words.iter().all(|word| said.contains(word)), "{words:?}: {said}");
    };
    let (first, second) = ("shards/000000-bell.npz", "shards/000001-bell.npz");
    let checkpoint = "checkpoints/000002.safetensors";
    changed(
        &|run| {
            fs::rename(run.join(first), run.join("kept")).unwrap();
            fs::rename(run.join(second), run.join(first)).unwrap();
            fs::rename(run.join("kept"), run.join(second)).unwrap();
        },
        &[first, "of generation 1, not 0"],
    );
    changed(&|run| _ = fs::copy(run.join(first), run.join(second)).unwrap(), &[second, "of generation 0, not 1"]);
    changed(&|run| _ = fs::copy(other.join(first), run.join(first)).unwrap(), &[first, "seed 2, not 1"]);
    changed(
        &|run| {
            // A shard in which nothing is wrong, and which is not the one that was written.
            let rules = presets::rules("bell");
            let (info, mut samples) = read_shard(&run.join(second), &rules).unwrap();
            samples.moves_left.iter_mut().for_each(|turns| *turns += 1);
            write_shard(&run.join(second), &info, &samples).unwrap();
        },
        &[second, "checksum"],
    );
    let pools = "checkpoints/000002.pools";
    changed(&|run| _ = fs::copy(other.join(pools), run.join(pools)).unwrap(), &[pools, "restore it"]);
    let one = "checkpoints/000001.safetensors";
    changed(
        &|run| _ = fs::copy(run.join(one), run.join(checkpoint)).unwrap(),
        &[checkpoint, "made after 1 generations", "earlier one of checkpoints/"],
    );
    let huge = 1_000_000_000_000_000_000_u64;
    type Change<'a> = (&'a str, &'a dyn Fn(&mut Value), &'a str);
    let states: [Change<'_>; 9] = [
        ("extra", &|state| state["samples"] = huge.into(), "samples is 1000000000000000000"),
        (
            "extra",
            &|state| {
                state["samples"] = huge.into();
                state["rulesets"][0]["samples"] = huge.into();
            },
            "the metrics say",
        ),
        ("extra", &|state| state["games"] = huge.into(), "games is"),
        ("extra", &|state| state["elapsed_secs"] = 1e18.into(), "elapsed_secs is"),
        ("extra", &|state| state["rulesets"][0]["window"] = serde_json::json!([5]), "replay window"),
        ("extra", &|state| state["rulesets"][0]["ahead"] = huge.into(), "ahead is"),
        ("extra", &|state| state["rulesets"][0]["share"] = 0.5.into(), "shares"),
        ("counters", &|counters| counters["steps"] = 1.into(), "steps is 1, the metrics say"),
        ("counters", &|counters| counters["samples"] = huge.into(), "samples trained on"),
    ];
    for (key, change, words) in states {
        changed(&|run| edit(&run.join(checkpoint), key, change), &[checkpoint, words]);
    }
    let lines = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let line = lines.lines().next().unwrap();
    for reset in [format!("{line}\n"), "x".repeat(lines.len()), lines.replace("samples_total\":", "samples_total\":1")]
    {
        changed(&|run| fs::write(run.join("metrics.jsonl"), &reset).unwrap(), &["metrics"]);
    }
    changed(
        &|run| {
            fs::remove_file(run.join("metrics.jsonl")).unwrap();
            edit(&run.join(checkpoint), "extra", |state| {
                state["samples"] = huge.into();
                state["rulesets"][0]["samples"] = huge.into();
            });
        },
        &[checkpoint, "the shards have"],
    );
    // Without its metrics a run goes on, and says so.
    fs::remove_file(run.join("metrics.jsonl")).unwrap();
    let resumed = program().args(["train", "--resume"]).arg(&run).args(["--set", "budget.generations=3"]).output();
    let resumed = resumed.unwrap();
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    assert!(text(&resumed.stdout).contains("the learning curve begins with the next round"));
    assert!(resume(&run).status.success());
}

#[test]
fn a_configuration_changes_only_when_it_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    assert!(train(&run, &["budget.generations=1", "evaluation.final_opening_pairs=1"]).status.success());
    let resume_with = |settings: &[&str]| {
        let mut command = program();
        command.args(["train", "--resume"]).arg(&run);
        settings.iter().for_each(|setting| _ = command.args(["--set", setting]));
        command.output().unwrap()
    };
    let path = run.join("config.toml");
    let config = fs::read_to_string(&path).unwrap();
    fs::write(&path, config.replace("reuse = 1.0", "reuse = 2.5")).unwrap();
    let refused = resume_with(&[]);
    assert_eq!(refused.status.code(), Some(1));
    let said = text(&refused.stderr);
    assert!(said.contains("replay.reuse: was 1.0, is 2.5") && said.contains("--set 'replay.reuse=2.5'"), "{said}");
    let refused = resume_with(&["replay.reuse=2.5", "seed=2", "network.blocks=2", "precision=bf16"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = text(&refused.stderr);
    for fixed in ["seed: was 1, is 2", "network.blocks: was 1, is 2", "precision: was \"f32\", is \"bf16\""] {
        assert!(said.contains(fixed), "{said}");
    }
    let rounds = || -> Vec<Value> {
        let metrics = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
        metrics.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let before = rounds().len();
    let left =
        [".result.json.1.unfinished", "shards/000000-bell.journal", "export/model.older"].map(|left| run.join(left));
    let own = run.join("export/mine.onnx");
    fs::write(&own, "put there by a user").unwrap();
    left.iter().for_each(|path| fs::write(path, "left by a kill").unwrap());
    let changed = resume_with(&["replay.reuse=2.5", "budget.generations=2"]);
    assert!(changed.status.success(), "{}", text(&changed.stderr));
    assert!(run.join("shards/000001-bell.npz").is_file(), "it went on");
    let all = rounds();
    let number = |round: &Value, key: &str| round[key].as_u64().unwrap();
    let samples = |round: Option<&Value>| number(round.unwrap(), "samples_total");
    let since = samples(all.last()) - samples(all[..before].last());
    let steps: u64 = all[before..].iter().map(|round| number(round, "steps")).sum();
    assert!(
        steps > 0 && steps * 64 <= since * 5 / 2,
        "a changed reuse holds for the samples since: {steps} steps, {since}"
    );
    assert!(!left.iter().any(|path| path.exists()), "what a kill left, and exports of before, are gone");
    assert!(own.exists(), "files of other names stay");
    assert!(resume_with(&[]).status.success(), "what was said once holds");
    let provenance = fs::read_to_string(run.join("provenance.json")).unwrap();
    let provenance: Value = serde_json::from_str(&provenance).unwrap();
    assert_eq!(provenance["resumed"][0]["settings"][1], "budget.generations=2");
    assert!(provenance["threads"].as_u64().unwrap() > 0);
}

#[test]
fn training_that_runs_out_of_bounds_stops_at_the_last_good_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let settings = ["budget.generations=2", "evaluation.every=0", "evaluation.final_opening_pairs=1"];
    let wild = [&settings[..], &["training.learning_rate=1e30", "training.warmup_steps=0"]].concat();
    let output = train(&run, &wild);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("--set training.learning_rate=") && said.contains("after 1 generations is good"), "{said}");
    let output = program()
        .args(["train", "--resume"])
        .arg(&run)
        .args(["--set", "training.learning_rate=0.001"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    // A finished run that goes on has no result until it has finished again.
    assert!(run.join("result.json").is_file());
    let output = program()
        .args(["train", "--resume"])
        .arg(&run)
        .args(["--set", "budget.generations=4", "--set", "training.learning_rate=1e30"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(!run.join("result.json").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_run_and_it_goes_on_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    fs::create_dir(&run).unwrap();
    // Whatever is written there finds the disk full.
    std::os::unix::fs::symlink("/dev/full", run.join("metrics.jsonl")).unwrap();
    let output = train(&run, &["budget.generations=1", "evaluation.final_opening_pairs=1"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("metrics.jsonl") && said.contains("No space left"), "{said}");
    fs::remove_file(run.join("metrics.jsonl")).unwrap();
    assert!(resume(&run).status.success());
}
