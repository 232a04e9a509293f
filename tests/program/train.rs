//! The training run: it ends with files, survives a kill, and goes on as if nothing had been.

use std::collections::BTreeMap;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

use latrunculi_data::{read_shard, write_shard};
use latrunculi_engine::presets;
use serde_json::{Value, json};

use crate::support::{Shell, assert_contains, printed, set, values};

/// Settings of a generation, and of no match but a short one at the end.
const SHORT: &str = "budget.generations=1 evaluation.every=0 evaluation.final_opening_pairs=1";

/// The line that trains in a folder with settings.
fn train(run: &str, settings: &str) -> String {
    format!("train smoke --run {run}{}", set(settings))
}

/// The line that continues the run of a folder with settings.
fn resume(run: &str, settings: &str) -> String {
    format!("train --resume {run}{}", set(settings))
}

/// Everything of a run that must not depend on how often it was interrupted.
fn contents(shell: &Shell, run: &str) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for part in ["shards", "export", "checkpoints"] {
        for entry in fs::read_dir(shell.path(run).join(part)).expect("a folder") {
            let path = entry.expect("a file").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // A checkpoint also holds how many seconds the run has taken.
            if !name.starts_with('.') && (part != "checkpoints" || name.ends_with(".pools")) {
                found.insert(format!("{part}/{name}"), fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

fn assert_same(one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>) {
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (name, bytes) in one {
        assert!(*bytes == other[name], "{name} differs");
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no whole number"))
}

#[test]
fn a_run_ends_with_a_measured_model_and_its_files() {
    let shell = Shell::new();
    let said = shell.prints(&train("run", ""));
    assert_contains(&said, &["score against alphabeta:nodes=50", "95 % interval"]);
    let files = "config.toml rulesets/bell.toml provenance.json metrics.jsonl latest result.json learning.html learning.csv \
        shards/000002-bell.npz checkpoints/000003.safetensors export/model.safetensors export/model.pt export/model.onnx \
        export/model.weights.safetensors export/model.weights.npz export/model.json export/model.md";
    for file in files.split(' ') {
        assert!(shell.path("run").join(file).is_file(), "{file}");
    }
    let lines = shell.lines("run/metrics.jsonl");
    assert_eq!(lines.len(), 4, "a round for each generation, and one that trains on the last");
    for (round, line) in lines.iter().enumerate() {
        assert_eq!(line["generation"], round);
        let (plays, teacher_plays) = (round < 3, round < 1);
        for key in ["games_per_sec", "draw_rate", "first_player_score"] {
            assert_eq!(line.get(key).is_some(), plays, "{key} in round {round}");
        }
        assert_eq!(number(&line["steps"]) > 0, round > 0, "round {round} trains on what was played before it");
        assert_eq!(line.get("verdicts").is_some(), plays && !teacher_plays, "the network that plays is measured");
    }
    assert!(shell.is_longer("run/tensorboard/events.out.tfevents.0.latrunculi", 1000));
    curves_are_shown(&shell, lines.iter().filter(|line| line.get("verdicts").is_some()).count() + 1);
    let told = shell.prints("status run");
    assert_contains(&told, &["\nfinished\n3 generations, ", "strength: "]);
    assert_eq!(told.lines().filter(|line| line.contains(" network ")).count(), 2, "a row a generation: {told}");
    assert_eq!(shell.prints_json("status run")["activity"], "finished");
    // The folder is not begun twice, and a finished run that is resumed only measures again.
    shell.refuses(&train("run", ""), 1, &["--resume"]);
    let before = contents(&shell, "run");
    shell.prints(&resume("run", ""));
    assert_same(&before, &contents(&shell, "run"));
}

/// Learning curves are read from a run that is finished, one whose last line is being written, and no other thing.
fn curves_are_shown(shell: &Shell, matches: usize) {
    let told = shell.prints("curves run");
    // Each row begins with a time.
    let is_row = |line: &&str| line.get(..7).is_some_and(|minute| minute.trim().parse::<f64>().is_ok());
    assert_eq!(told.lines().filter(is_row).count(), matches, "{told}");
    assert_eq!(shell.prints("curves run --csv"), shell.text("run/learning.csv"));
    let rounds = || shell.prints_json("curves run")[0]["rounds"].as_array().map(Vec::len);
    assert_eq!(rounds(), Some(4));

    let whole = shell.text("run/metrics.jsonl");
    shell.write("run/metrics.jsonl", &whole[..whole.len() - 20]);
    assert_eq!(rounds(), Some(3), "a line that is not whole yet is no line");
    shell.write("run/metrics.jsonl", format!("{{}}\n{whole}"));
    shell.refuses("curves run", 1, &["metrics.jsonl, line 1"]);
    // How far it has come is shown all the same.
    let output = shell.run("status run");
    assert_contains(&printed(&output), &["\nfinished\n3 generations, ", "strength: "]);
    shell.refuses("status run", 1, &["metrics.jsonl, line 1: not the metrics of a round: ", "; this line is left out"]);
    let told: Value = serde_json::from_slice(&shell.run("status run --json").stdout).expect("JSON");
    assert_eq!(told["generations"], 3);
    assert!(told["left_out"].as_str().is_some_and(|left_out| left_out.contains("line 1: ")), "{told}");
    shell.write("run/metrics.jsonl", format!("{{}}\nnothing\n{whole}"));
    shell.refuses("status run", 1, &["line 1: ", "; 2 such lines are left out"]);
    shell.write("run/metrics.jsonl", &whole);
    shell.refuses("curves run/shards", 1, &["there is no run"]);
}

#[test]
fn a_run_that_is_killed_goes_on_as_if_nothing_had_been() {
    let shell = Shell::new();
    let settings = "budget.generations=4 teacher.games=60 games.per_generation=24 games.actors=2 evaluation.every=0";
    shell.prints(&train("whole", settings));
    // First while some games are written down and the first generation, and so the first checkpoint, is far away.
    let journal = "broken/shards/000000-bell.journal";
    let mut line = train("broken", settings);
    shell.stopped_by("-KILL", &line, || shell.is_longer(journal, 100_000));
    assert!(shell.has(journal), "it was killed within the generation");
    line = resume("broken", "");
    let mut kills = 0;
    let mut has_played = false;
    // Then whenever a generation more is on the disk, and somewhat later each time.
    for generation in 1..=3 {
        let checkpoint = format!("broken/checkpoints/{generation:06}.safetensors");
        let output = shell.stopped_by("-KILL", &line, || {
            let is_there = shell.has(&checkpoint);
            sleep(Duration::from_millis(if is_there { 40 * generation } else { 0 }));
            is_there
        });
        kills += u32::from(!output.status.success());
        if shell.has("broken/export/model.safetensors") {
            shell.prints("match net:broken/export/model.safetensors,sims=1 random --ruleset bell --games 2");
            has_played = true;
        }
    }
    shell.prints(&line);
    assert!(kills > 0, "the run was killed at least once more");
    assert!(has_played, "before its end the run has a model that plays");
    let first = &shell.lines("broken/metrics.jsonl")[0];
    assert!(number(&first["games_found"]) > 0, "games that had ended before a kill are not played again");
    assert_eq!(first["games"], 60);
    assert!(!shell.has(journal));
    let whole = contents(&shell, "whole");
    assert!(whole.contains_key("checkpoints/000004.pools"), "games are in flight");
    assert_same(&whole, &contents(&shell, "broken"));
}

/// Settings of a small run over three boards of different size, with random mixes of rules.
const THREE_BOARDS: &str = "rulesets=[\"bell\",\"bell-8x8\",\"savard-plain-men\"] teacher.games=3 games.per_generation=0 \
    games.samples_per_generation=600 games.pools=1 games.in_flight=3 games.batches_per_step=4 mixes.fraction=0.25 \
    mixes.at_once=1 mixes.samples=100 selfplay.simulations=2 evaluation.final_opening_pairs=1 budget.generations=6 \
    evaluation.opening_pairs=1 evaluation.every=1 evaluation.earlier_opening_pairs=1";

#[test]
fn a_run_over_several_rulesets_goes_on_after_a_kill_as_if_nothing_had_been() {
    let shell = Shell::new();
    let said = shell.prints(&train("whole", THREE_BOARDS));
    assert_contains(&said, &["final match 3 of 3, savard-plain-men: "]);
    let names = ["bell", "bell-8x8", "savard-plain-men"];
    for name in names {
        assert!(shell.has(&format!("whole/rulesets/{name}.toml")), "{name}");
        assert!(shell.has(&format!("whole/shards/000000-{name}.npz")), "{name}");
    }
    let whole = contents(&shell, "whole");
    assert!(whole.keys().any(|name| name.contains("-mix-")), "mixes were played");
    let lines = shell.lines("whole/metrics.jsonl");
    let measured = lines.iter().filter_map(|line| line.get("verdicts")?.as_object()).flatten();
    // One match a generation, each ruleset in its turn; in its second a ruleset also meets the network of its first, which is kept.
    let turns: Vec<_> = measured.map(|(name, verdict)| (&**name, verdict["earlier"]["generation"].as_u64())).collect();
    let expected = [(0, None), (1, None), (2, None), (0, Some(1)), (1, Some(2))];
    assert_eq!(turns, expected.map(|(ruleset, earlier): (usize, _)| (names[ruleset], earlier)));
    assert!(shell.has("whole/networks/000001.safetensors"));
    // Alpha-beta's games are divided by share: nine games, half of them under the ruleset that is a family of its own.
    assert_eq!(names.map(|name| number(&lines[0]["rulesets"][name]["games"])), [2, 2, 5]);
    // A ruleset that is ahead of its share sits out a generation.
    let has_played = |name: &str| lines.iter().skip(1).any(|line| line["rulesets"].get(name).is_some());
    assert!(names.into_iter().chain(["mixes"]).all(has_played));

    // Stopped in the second generation of self-play.
    let stopped = shell.stopped_by("-KILL", &train("broken", THREE_BOARDS), || {
        let is_there = shell.has("broken/checkpoints/000002.safetensors");
        sleep(Duration::from_millis(if is_there { 50 } else { 0 }));
        is_there
    });
    assert!(!stopped.status.success(), "the run was killed before its end");
    shell.prints(&resume("broken", ""));
    assert_same(&whole, &contents(&shell, "broken"));

    // What belongs to another ruleset is refused by its name.
    shell.copy("whole/shards/000000-savard-plain-men.npz", "whole/shards/000000-bell.npz");
    shell.refuses(&resume("whole", ""), 1, &["'savard-plain-men' and 'bell' is wanted"]);
    shell.copy("whole/rulesets/bell-8x8.toml", "whole/rulesets/bell.toml");
    shell.refuses(&resume("whole", ""), 1, &["bell.toml: the rules are not those"]);
}

#[test]
fn a_run_may_begin_with_the_weights_of_a_model() {
    let shell = Shell::new();
    shell.prints(&train("first", "budget.generations=2 evaluation.every=0 evaluation.final_opening_pairs=0"));
    assert_eq!(shell.json("first/result.json")["verdicts"], json!({}), "no final match, no final score");
    shell.write("own.toml", "id = \"own\"\nbase = \"bell-8x8\"\n[end]\nquiet_limit = 20\n");
    let settings = "budget.generations=2 evaluation.every=1 evaluation.opening_pairs=1 rulesets=own.toml \
        evaluation.earlier_opening_pairs=1 evaluation.final_opening_pairs=0";
    let second = format!("{} --from first", train("second", settings));
    for given in ["network.blocks=3", "teacher.generations=1"] {
        let said = format!("--set {given} has no effect beside --from");
        shell.refuses(&format!("{second} --set {given}"), 1, &[&said]);
    }
    shell.prints(&second);
    // The network has the size of the model's.
    assert_contains(&shell.text("second/config.toml"), &["blocks = 1"]);
    assert_contains(&shell.text("second/provenance.json"), &["\"from\"", "checksum"]);
    assert!(shell.has("second/shards/000001-own.npz"));
    let rounds = shell.lines("second/metrics.jsonl");
    assert!(rounds.iter().all(|round| round["teacher"] != true), "the network plays from the beginning");
    assert_eq!(rounds[1]["verdicts"]["own"]["earlier"]["generation"], 0, "it is compared with where it began");
    // Its first games are not learnt from until there are more of them.
    assert_eq!([0, 1].map(|round| number(&rounds[round]["steps"])), [0, 0]);
    assert!(number(&rounds[2]["steps"]) > 0);
}

#[test]
fn any_number_of_actors_plays_the_same_games() {
    let shell = Shell::new();
    let [one, two] = ["1", "2"].map(|actors| {
        let settings = "games.pools=3 evaluation.every=0 evaluation.final_opening_pairs=1";
        shell.prints(&train(actors, &format!("{settings} games.actors={actors}")));
        let lines = shell.lines(&format!("{actors}/metrics.jsonl"));
        let fill = lines.iter().filter(|line| line["teacher"] == false).map(|line| line["batch_fill"].as_f64());
        assert!(fill.into_iter().all(|fill| fill > Some(0.999)), "batches are full");
        let mut found = contents(&shell, actors);
        found.retain(|name, _| !name.starts_with("export"));
        found
    });
    assert!(one.contains_key("shards/000002-bell.npz") && one.contains_key("checkpoints/000003.pools"));
    assert_same(&one, &two);
}

#[test]
fn what_is_wrong_with_a_configuration_is_said_at_once() {
    let shell = Shell::new();
    for (settings, parts) in [
        ("games.actors=0 selfplay.simulations=0", &["games.actors", "selfplay.simulations"][..]),
        ("network.chanels=8", &["chanels"]),
        ("rulesets=bel", &["bell"]),
        ("rulesets=[\"bell\",\"savard\"]", &["games.samples_per_generation"]),
        ("ruleset=savard", &["unknown field `ruleset`", "`rulesets`"]),
        ("mixes.fraction=0.2 games.batches_per_step=3", &["mixes.at_once", "batches_per_step"]),
        ("evaluation.baseline=strong", &["alphabeta:nodes="]),
        ("evaluation.baseline=human", &["play"]),
        ("evaluation.baseline=net:nowhere.safetensors", &["evaluation.baseline", "nowhere.safetensors"]),
        ("evaluation.anchors=[\"random\",\"net:nowhere.safetensors\"]", &["evaluation.anchors", "nowhere.safetensors"]),
        ("selfplay.search.mode.gumbel.maxvisit_init=-100", &["selfplay.search.mode.gumbel.maxvisit_init"]),
        ("evaluation.opening_actions=100000 replay.reuse=1e15", &["opening_actions = 100000", "replay.reuse"]),
        ("seed=yes", &["seed"]),
        ("games.pools=1001", &["games.pools = 1001 must be 1 to 1000"]),
        ("device=cpuu", &["cpu"]),
        ("budget.minutes", &["key=value"]),
    ] {
        shell.refuses(&train("run", settings), 1, parts);
    }
    assert!(!shell.has("run/config.toml"), "nothing was begun");
    shell.refuses(&resume("run", ""), 1, &["no run"]);
    shell.refuses("train smok", 1, &["did you mean smoke?"]);
    assert_eq!(shell.run("train").status.code(), Some(2));
}

#[test]
fn a_run_is_continued_by_the_command_that_began_it() {
    let shell = Shell::new();
    let few = set("budget.generations=1 evaluation.final_opening_pairs=1");
    let journal = "runs/smoke-1/shards/000000-bell.journal";
    for _ in 0..2 {
        // 100000 games take hours: the run is killed in its first generation.
        let many = format!("train smoke --continue --set teacher.games=100000 --quiet{few}");
        shell.stopped_by("-KILL", &many, || shell.has(journal));
        fs::remove_file(shell.path(journal)).expect("removed");
    }
    let runs = fs::read_dir(shell.path("runs")).expect("a folder").count();
    assert_eq!(runs, 1, "the second command continued the first run");
    let provenance = shell.json("runs/smoke-1/provenance.json");
    assert_eq!((&provenance["config"], provenance["resumed"].as_array().map(Vec::len)), (&json!("smoke"), Some(1)));

    shell.prints(&format!("train smoke --continue{few}"));
    assert!(shell.has("runs/smoke-2/result.json"), "other settings make another run");
    shell.prints(&format!("train smoke --set seed=2{few}"));
    assert!(shell.has("runs/smoke-3/result.json"));
}

#[test]
fn a_folder_has_one_run_at_a_time() {
    let shell = Shell::new();
    let lines = values(&shell.prints(&format!("{} --json", train("run", SHORT))));
    let events: Vec<&str> = lines.iter().filter_map(|line| line["event"].as_str()).collect();
    assert_eq!(events, ["started", "round", "round", "finished"]);
    let lock = fs::File::options().write(true).open(shell.path("run/lock")).expect("a lock");
    lock.lock().expect("locked");
    assert_eq!(shell.prints_json("status run")["activity"], "running");
    for line in [resume("run", ""), train("run", "")] {
        shell.refuses(&line, 1, &["works in this folder"]);
    }
    drop(lock);
    shell.prints(&resume("run", ""));
    // On Unix the folder itself is locked too: the lock holds when its file is deleted.
    #[cfg(unix)]
    {
        let own = fs::File::open(shell.path("run")).expect("a folder");
        own.lock().expect("locked");
        fs::remove_file(shell.path("run/lock")).expect("removed");
        shell.refuses(&resume("run", ""), 1, &["works in this folder"]);
    }
}

/// Changes what a checkpoint says under `key` of its metadata.
fn edit(shell: &Shell, checkpoint: &str, key: &str, change: impl Fn(&mut Value)) {
    let bytes = shell.bytes(checkpoint);
    let (length, rest) = bytes.split_at(8);
    let length = u64::from_le_bytes(length.try_into().expect("eight bytes")) as usize;
    let mut header: Value = serde_json::from_slice(&rest[..length]).expect("JSON");
    let text = &mut header["__metadata__"][key];
    let mut state: Value = serde_json::from_str(text.as_str().expect("a text")).expect("JSON");
    change(&mut state);
    *text = state.to_string().into();
    let mut edited = header.to_string().into_bytes();
    edited.resize(edited.len().next_multiple_of(8), b' ');
    shell.write(checkpoint, [&(edited.len() as u64).to_le_bytes()[..], &edited, &rest[length..]].concat());
}

#[test]
fn what_is_not_of_this_run_or_does_not_agree_with_its_checkpoint_is_refused() {
    let shell = Shell::with_run();
    shell.copy("run", "whole");
    shell.prints(&train("other", &format!("{SHORT} budget.generations=2 seed=2")));
    let changed = |change: &dyn Fn(), parts: &[&str]| {
        fs::remove_dir_all(shell.path("run")).expect("removed");
        shell.copy("whole", "run");
        change();
        let told = || ["config.toml", "provenance.json", "latest"].map(|name| shell.text(&format!("run/{name}")));
        let before = told();
        shell.refuses(&resume("run", ""), 1, parts);
        assert!(told() == before, "{parts:?}: what is refused changes nothing");
    };
    let (first, second) = ("shards/000000-bell.npz", "shards/000001-bell.npz");
    let (one, two, pools) =
        ("checkpoints/000001.safetensors", "checkpoints/000002.safetensors", "checkpoints/000002.pools");
    for (from, file, part) in [
        (&*format!("whole/{second}"), first, "of generation 1, not 0"),
        (&format!("whole/{first}"), second, "of generation 0, not 1"),
        (&format!("other/{first}"), first, "seed 2, not 1"),
        (&format!("other/{pools}"), pools, "restore it"),
        (&format!("whole/{one}"), two, "made after 1 generations"),
        (&format!("whole/{one}"), two, "earlier one of checkpoints/"),
    ] {
        changed(&|| shell.copy(from, &format!("run/{file}")), &[file, part]);
    }
    let altered = || {
        // A shard in which nothing is wrong, and which is not the one that was written.
        let rules = presets::rules("bell");
        let path = shell.path("run").join(second);
        let (info, mut samples) = read_shard(&path, &rules).expect("a shard");
        samples.moves_left.iter_mut().for_each(|turns| *turns += 1);
        write_shard(&path, &info, &samples).expect("written");
    };
    changed(&altered, &[second, "checksum"]);
    let huge = 1_000_000_000_000_000_000_u64;
    let more_samples = |state: &mut Value| {
        state["samples"] = huge.into();
        state["rulesets"][0]["samples"] = huge.into();
    };
    type Change<'a> = (&'a str, &'a dyn Fn(&mut Value), &'a str);
    let states: [Change<'_>; 9] = [
        ("extra", &|state| state["samples"] = huge.into(), "samples is 1000000000000000000"),
        ("extra", &more_samples, "the metrics say"),
        ("extra", &|state| state["games"] = huge.into(), "games is"),
        ("extra", &|state| state["elapsed_secs"] = 1e18.into(), "elapsed_secs is"),
        ("extra", &|state| state["rulesets"][0]["window"] = json!([5]), "replay window"),
        ("extra", &|state| state["rulesets"][0]["ahead"] = huge.into(), "ahead is"),
        ("extra", &|state| state["rulesets"][0]["share"] = 0.5.into(), "shares"),
        ("counters", &|counters| counters["steps"] = 1.into(), "steps is 1, the metrics say"),
        ("counters", &|counters| counters["samples"] = huge.into(), "samples trained on"),
    ];
    let checkpoint = format!("run/{two}");
    for (key, change, part) in states {
        changed(&|| edit(&shell, &checkpoint, key, change), &[two, part]);
    }
    let lines = shell.text("whole/metrics.jsonl");
    let (line, _) = lines.split_once('\n').expect("lines");
    for reset in [format!("{line}\n"), "x".repeat(lines.len()), lines.replace("samples_total\":", "samples_total\":1")]
    {
        changed(&|| shell.write("run/metrics.jsonl", &reset), &["metrics"]);
    }
    let without_metrics = || {
        fs::remove_file(shell.path("run/metrics.jsonl")).expect("removed");
        edit(&shell, &checkpoint, "extra", more_samples);
    };
    changed(&without_metrics, &[two, "the shards have"]);
    // Without its metrics a run goes on, and says so.
    fs::remove_file(shell.path("whole/metrics.jsonl")).expect("removed");
    let resumed = shell.prints(&resume("whole", "budget.generations=3"));
    assert_contains(&resumed, &["the learning curve begins with the next round"]);
    shell.prints(&resume("whole", ""));
}

#[test]
fn a_configuration_changes_only_when_it_is_said() {
    let shell = Shell::new();
    shell.prints(&train("run", SHORT));
    shell.write("run/config.toml", shell.text("run/config.toml").replace("reuse = 1.0", "reuse = 2.5"));
    shell.refuses(&resume("run", ""), 1, &["replay.reuse: was 1.0, is 2.5", "--set 'replay.reuse=2.5'"]);
    let fixed = ["seed: was 1, is 2", "network.blocks: was 1, is 2", "precision: was \"f32\", is \"bf16\""];
    shell.refuses(&resume("run", "replay.reuse=2.5 seed=2 network.blocks=2 precision=bf16"), 1, &fixed);
    let before = shell.lines("run/metrics.jsonl");
    let left = ["run/.result.json.1.unfinished", "run/shards/000000-bell.journal", "run/export/model.older"];
    left.iter().for_each(|file| shell.write(file, "left by a kill"));
    shell.write("run/export/mine.onnx", "put there by a user");
    shell.prints(&resume("run", "replay.reuse=2.5 budget.generations=2"));
    assert!(shell.has("run/shards/000001-bell.npz"), "it went on");
    let all = shell.lines("run/metrics.jsonl");
    let samples = |rounds: &[Value]| number(&rounds[rounds.len() - 1]["samples_total"]);
    let since = samples(&all) - samples(&before);
    let steps: u64 = all[before.len()..].iter().map(|round| number(&round["steps"])).sum();
    // A changed reuse holds for the samples since.
    assert!(steps > 0 && steps * 64 <= since * 5 / 2, "{steps} steps, {since} samples");
    assert!(!left.iter().any(|file| shell.has(file)), "what a kill left, and exports of before, are gone");
    assert!(shell.has("run/export/mine.onnx"), "files of other names stay");
    shell.prints(&resume("run", ""));
    let provenance = shell.json("run/provenance.json");
    assert_eq!(provenance["resumed"][0]["settings"][1], "budget.generations=2");
    assert!(number(&provenance["threads"]) > 0);
}

#[test]
fn training_that_runs_out_of_bounds_stops_at_the_last_good_checkpoint() {
    let shell = Shell::new();
    let wild = format!("{SHORT} budget.generations=2 training.learning_rate=1e30 training.warmup_steps=0");
    let way = ["--set training.learning_rate=", "after 1 generations is good"];
    shell.refuses(&train("run", &wild), 1, &way);
    shell.prints(&resume("run", "training.learning_rate=0.001"));
    // A finished run that goes on has no result until it has finished again.
    assert!(shell.has("run/result.json"));
    shell.refuses(&resume("run", "budget.generations=4 training.learning_rate=1e30"), 1, &[]);
    assert!(!shell.has("run/result.json"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_run_and_it_goes_on_when_there_is_room() {
    let shell = Shell::new();
    fs::create_dir(shell.path("run")).expect("made");
    // Whatever is written there finds the disk full.
    std::os::unix::fs::symlink("/dev/full", shell.path("run/metrics.jsonl")).expect("a link");
    shell.refuses(&train("run", SHORT), 1, &["metrics.jsonl", "No space left"]);
    fs::remove_file(shell.path("run/metrics.jsonl")).expect("removed");
    shell.prints(&resume("run", ""));
}
