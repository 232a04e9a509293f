//! Workers as a user meets them: a folder, a leader, workers that are killed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

#[cfg(feature = "libtorch")]
use latrunculi_data::read_shard;
#[cfg(feature = "libtorch")]
use latrunculi_engine::presets;
use serde_json::Value;

use crate::support::{assert_refused, complaint, latrunculi, printed, program};

fn text(path: &Path) -> &str {
    path.to_str().expect("a path")
}

fn start(arguments: &[&str]) -> Child {
    program(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
}

/// Workers that are killed one after the other and started again, until they are dropped.
struct Workers {
    store: String,
    living: Vec<Child>,
    next: usize,
}

impl Workers {
    fn start(store: &Path, count: usize) -> Workers {
        let mut workers = Workers { store: text(store).to_owned(), living: Vec::new(), next: 0 };
        (0..count).for_each(|_| workers.living.push(workers.one()));
        workers
    }

    fn one(&self) -> Child {
        start(&["worker", "--store", &self.store, "--threads", "1", "--quiet"])
    }

    /// Kills the one that has lived longest, and starts another.
    fn replace(&mut self) {
        let new = self.one();
        let mut old = std::mem::replace(&mut self.living[self.next], new);
        self.next = (self.next + 1) % self.living.len();
        old.kill().unwrap();
        old.wait().unwrap();
    }

    /// Waits for a program while workers are killed.
    fn until_end_of(&mut self, leader: &mut Child) -> i32 {
        loop {
            if let Some(status) = leader.try_wait().unwrap() {
                return status.code().unwrap_or(-1);
            }
            std::thread::sleep(Duration::from_millis(2500));
            self.replace();
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for worker in &mut self.living {
            _ = worker.kill();
            _ = worker.wait();
        }
    }
}

#[test]
fn a_study_by_workers_that_are_killed_has_the_summary_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, shared, store) =
        (folder.path().join("whole"), folder.path().join("shared"), folder.path().join("store"));
    let study = |out: &Path| {
        let options = "--rulesets bell-8x8,dutch-8x8-placement --agents alphabeta:nodes=50,alphabeta:nodes=100 \
                       --max-games 20 --seed 3 --compensation=1 --quiet";
        let mut study: Vec<String> = vec!["balance".to_owned()];
        study.extend(options.split_whitespace().map(str::to_owned));
        study.extend(["--out".to_owned(), text(out).to_owned()]);
        study
    };
    let alone = study(&whole);
    let output = latrunculi(&alone.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(output.status.success(), "{}", complaint(&output));
    fs::create_dir(&store).unwrap();
    let mut workers = Workers::start(&store, 3);
    let led = [study(&shared), vec!["--store".to_owned(), text(&store).to_owned()]].concat();
    let led: Vec<&str> = led.iter().map(String::as_str).collect();
    let mut leader = start(&led);
    // The leader is killed, too, once some games are there.
    while !store.join("units").is_dir() {
        std::thread::sleep(Duration::from_millis(20));
    }
    leader.kill().unwrap();
    leader.wait().unwrap();
    let mut leader = start(&["balance", "--resume", text(&shared), "--store", text(&store), "--quiet"]);
    assert_eq!(workers.until_end_of(&mut leader), 0);
    for file in ["summary.json", "balance.csv", "report.html"] {
        let read = |folder: &Path| fs::read_to_string(folder.join(file)).unwrap();
        assert_eq!(read(&shared), read(&whole), "{file}");
    }
    let output = latrunculi(&["status", "--store", text(&store), "--json"]);
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(status["series"].as_array().unwrap().iter().all(|series| series["is_closed"] == true), "{status}");
    assert!(
        !status["workers"].as_array().unwrap().is_empty() && status["rejected"] == Value::Array(Vec::new()),
        "{status}"
    );
}

#[cfg(feature = "libtorch")]
#[test]
fn a_training_run_by_workers_counts_each_game_once_though_the_learner_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let (alone, run, store) = (folder.path().join("alone"), folder.path().join("run"), folder.path().join("store"));
    let begin = |run: &Path| {
        let mut train =
            vec!["train", "smoke", "--run", text(run), "--quiet"].into_iter().map(str::to_owned).collect::<Vec<_>>();
        // No match at the end: it has no part in this.
        for setting in ["evaluation.final_opening_pairs=0", "evaluation.anchors=[]", "evaluation.every=0"] {
            train.extend(["--set".to_owned(), setting.to_owned()]);
        }
        train
    };
    let output = latrunculi(&begin(&alone).iter().map(String::as_str).collect::<Vec<_>>());
    assert!(output.status.success(), "{}", complaint(&output));
    fs::create_dir(&store).unwrap();
    let mut workers = Workers::start(&store, 3);
    let led = [begin(&run), vec!["--store".to_owned(), text(&store).to_owned()]].concat();
    let mut learner = start(&led.iter().map(String::as_str).collect::<Vec<_>>());
    let mut kills = 0;
    // Killed after each of the first manifests, before or after what follows it is on the disk.
    for generation in 0..2 {
        let manifest = store.join(format!("manifests/run/{generation:06}.json"));
        while !manifest.exists() {
            assert!(learner.try_wait().unwrap().is_none(), "the learner ended early");
            std::thread::sleep(Duration::from_millis(20));
        }
        learner.kill().unwrap();
        learner.wait().unwrap();
        kills += 1;
        learner = start(&["train", "--resume", text(&run), "--store", text(&store), "--quiet"]);
    }
    assert_eq!((kills, workers.until_end_of(&mut learner)), (2, 0));
    let shard = |run: &Path, generation: u64| run.join(format!("shards/{generation:06}-bell.npz"));
    // Games of alpha-beta are the same everywhere.
    assert_eq!(fs::read(shard(&run, 0)).unwrap().len(), fs::read(shard(&alone, 0)).unwrap().len());
    let rules = presets::rules("bell");
    assert_eq!(read_shard(&shard(&run, 0), &rules).unwrap().1, read_shard(&shard(&alone, 0), &rules).unwrap().1);
    let metrics = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let rounds: Vec<Value> = metrics.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for generation in 0..3 {
        let manifest = fs::read(store.join(format!("manifests/run/{generation:06}.json"))).unwrap();
        let manifest: Value = serde_json::from_slice(&manifest).unwrap();
        let sum = |key: &str| {
            manifest["units"].as_array().unwrap().iter().map(|unit| unit[key].as_u64().unwrap()).sum::<u64>()
        };
        let (info, samples) = read_shard(&shard(&run, generation), &rules).unwrap();
        let head = fs::read(store.join(format!("heads/run/{generation:06}.json"))).unwrap();
        let head: Value = serde_json::from_slice(&head).unwrap();
        let player = if generation == 0 {
            "alphabeta "
        } else {
            &format!("network {} auto ", head["fingerprint"].as_str().unwrap())
        };
        assert!(info.players.starts_with(player), "{} is not by {player}", info.players);
        assert_eq!((sum("games"), sum("samples")), (8, samples.len() as u64), "generation {generation}");
        let games: std::collections::BTreeSet<u32> = samples.games.iter().copied().collect();
        assert!(games.iter().all(|&game| game < 8), "{games:?}");
        assert_eq!(rounds.iter().filter(|round| round["generation"] == generation && round["games"] == 8).count(), 1);
    }
}

#[cfg(feature = "libtorch")]
#[test]
fn workers_play_mixes_of_rules_as_often_as_they_should() {
    let folder = tempfile::tempdir().unwrap();
    let (run, store) = (folder.path().join("run"), folder.path().join("store"));
    fs::create_dir(&store).unwrap();
    let mut train = vec!["train", "smoke", "--run", text(&run), "--store", text(&store), "--quiet"];
    for setting in [
        "rulesets=[\"bell\", \"bell-8x8\"]",
        "budget.generations=7",
        "teacher.games=2",
        "games.per_generation=0",
        "games.samples_per_generation=1600",
        "games.batches_per_step=4",
        "selfplay.simulations=2",
        // Each mix is over after its first generation.
        "mixes.fraction=0.5",
        "mixes.at_once=1",
        "mixes.samples=1",
        "evaluation.final_opening_pairs=0",
        "evaluation.anchors=[]",
        "evaluation.every=0",
    ] {
        train.extend(["--set", setting]);
    }
    let mut workers = Workers::start(&store, 2);
    let mut learner = start(&train);
    assert_eq!(workers.until_end_of(&mut learner), 0);
    let metrics = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let rounds = metrics.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    // A generation may have none where the mix before had far more than was expected; it is the sum that counts.
    let (mut mixes, mut all) = (0, 0);
    for round in rounds.filter(|round| round["generation"].as_u64() > Some(0)) {
        // The last round has no games.
        for (name, ruleset) in round["rulesets"].as_object().into_iter().flatten() {
            let samples = ruleset["samples"].as_u64().unwrap();
            all += samples;
            mixes += if name == "mixes" { samples } else { 0 };
        }
    }
    assert!(mixes as f64 > 0.42 * all as f64, "{mixes} of {all} samples");
}

#[cfg(unix)]
#[test]
fn the_slurm_script_gives_every_task_of_any_array_a_place() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/slurm/workers.sbatch");
    for array in [vec![0, 1, 2], vec![3, 7], vec![0, 2, 4, 6]] {
        for id in &array {
            let output = Command::new("bash")
                .args([text(&script), "/shared/store"])
                .env("LATRUNCULI", "echo")
                .env("SLURM_ARRAY_TASK_ID", id.to_string())
                .env("SLURM_ARRAY_TASK_MIN", array[0].to_string())
                .env("SLURM_ARRAY_TASK_COUNT", array.len().to_string())
                .output()
                .unwrap();
            let told = printed(&output);
            let words: Vec<&str> = told.split_whitespace().collect();
            let number = |option: &str| -> usize {
                words[words.iter().position(|word| *word == option).unwrap() + 1].parse().unwrap()
            };
            assert!(number("--index") < number("--of") && number("--of") == array.len(), "{id} of {array:?}: {told}");
        }
    }
}

#[test]
fn a_store_that_cannot_be_used_is_told_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    assert_refused(&["worker", "--store", text(&missing)], 1, &["no such folder or bucket", "mend --store"]);
    assert_refused(&["worker", "--store", "ftp://here/there"], 1, &["no stores of ftp://", "s3://BUCKET/PATH"]);
    assert_refused(&["worker", "--store", text(folder.path()), "--index", "3"], 2, &["--index 3 must be below --of 1"]);
    assert_refused(&["status", "--store", text(&missing)], 1, &["mend --store"]);
    let file = folder.path().join("file");
    fs::write(&file, b"text").unwrap();
    assert_refused(&["doctor", "--store", text(&file)], 1, &["mend --store"]);
    let rated = ["rate", "random", "greedy", "--ruleset", "bell", "--games", "4", "--store", text(&file)];
    assert_refused(&rated, 1, &["mend --store"]);
    let output = latrunculi(&["doctor", "--store", text(folder.path())]);
    assert!(output.status.success(), "{}", complaint(&output));
    assert!(printed(&output).lines().count() == 5 && printed(&output).lines().all(|line| line.ends_with(" yes")));
    assert_eq!(
        fs::read_dir(folder.path().join("proof"))
            .map_or(0, |there| there.flatten().filter(|one| one.path().is_file()).count()),
        0
    );
    // A worker without work ends where it was told to, and says so.
    let output = latrunculi(&["worker", "--store", text(folder.path()), "--idle", "0", "--threads", "1"]);
    assert!(output.status.success() && complaint(&output).contains("nothing is missing"), "{}", complaint(&output));
}

#[cfg(unix)]
#[test]
fn a_worker_that_waits_says_what_for_and_ends_when_it_is_asked_to() {
    use std::io::{BufRead, BufReader};
    let folder = tempfile::tempdir().unwrap();
    let mut worker = program(&["worker", "--store", text(folder.path()), "--threads", "1"]);
    let mut worker = worker.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(worker.stderr.take().unwrap()).lines();
    assert!(lines.by_ref().any(|line| line.unwrap().contains("waits: nothing is missing in")));
    let id = worker.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(worker.wait().unwrap().code(), Some(143));
    assert!(lines.any(|line| line.unwrap().contains("stopped; 0 units written, 0 games")));
}
