//! Workers as a user meets them: a folder, a leader, workers that are killed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

#[cfg(feature = "libtorch")]
use latrunculi_data::read_shard;
#[cfg(feature = "libtorch")]
use latrunculi_engine::presets;
use serde_json::Value;

#[cfg(feature = "libtorch")]
use crate::support::set;
use crate::support::{Shell, complaint, printed, root, send};

/// Workers of the folder `store` that are killed one after the other and started again, until they are dropped.
struct Workers<'a> {
    shell: &'a Shell,
    living: Vec<Child>,
    next: usize,
}

impl Workers<'_> {
    fn start(shell: &Shell, count: usize) -> Workers<'_> {
        std::fs::create_dir(shell.path("store")).unwrap();
        let living = (0..count).map(|_| worker(shell)).collect();
        Workers { shell, living, next: 0 }
    }

    /// Waits for a program while the worker that has lived longest is replaced again and again.
    fn until_end_of(&mut self, leader: &mut Child) -> i32 {
        loop {
            if let Some(status) = leader.try_wait().unwrap() {
                return status.code().unwrap_or(-1);
            }
            sleep(Duration::from_millis(2500));
            let new = worker(self.shell);
            end(std::mem::replace(&mut self.living[self.next], new));
            self.next = (self.next + 1) % self.living.len();
        }
    }
}

impl Drop for Workers<'_> {
    fn drop(&mut self) {
        self.living.drain(..).for_each(end);
    }
}

fn worker(shell: &Shell) -> Child {
    shell.start("worker --store store --threads 1 --quiet")
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Waits for a file that a program makes.
fn wait_for(shell: &Shell, name: &str, maker: &mut Child) {
    while !shell.has(name) {
        assert!(maker.try_wait().unwrap().is_none(), "there is no {name}");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_study_by_workers_that_are_killed_has_the_summary_of_one_process() {
    let shell = Shell::new();
    let study = "balance --rulesets bell-8x8,dutch-8x8-placement --agents alphabeta:nodes=50,alphabeta:nodes=100 \
                 --max-games 20 --seed 3 --compensation=1 --quiet --out";
    shell.prints(&format!("{study} whole"));
    let mut workers = Workers::start(&shell, 3);
    let mut leader = shell.start(&format!("{study} shared --store store"));
    // The leader is killed, too, once some games are there.
    wait_for(&shell, "store/units", &mut leader);
    end(leader);
    let mut leader = shell.start("balance --resume shared --store store --quiet");
    assert_eq!(workers.until_end_of(&mut leader), 0);
    for file in ["summary.json", "balance.csv", "report.html"] {
        assert_eq!(shell.text(&format!("shared/{file}")), shell.text(&format!("whole/{file}")), "{file}");
    }
    let status = shell.prints_json("status --store store");
    assert!(status["series"].as_array().unwrap().iter().all(|series| series["is_closed"] == true), "{status}");
    assert!(!status["workers"].as_array().unwrap().is_empty(), "{status}");
    assert_eq!(status["rejected"], Value::Array(Vec::new()), "{status}");
}

/// No match: it has no part in these tests.
#[cfg(feature = "libtorch")]
const NO_MATCHES: &str = "evaluation.final_opening_pairs=0 evaluation.anchors=[] evaluation.every=0";

#[cfg(feature = "libtorch")]
#[test]
fn a_training_run_by_workers_counts_each_game_once_though_the_learner_is_killed() {
    let shell = Shell::new();
    let train = format!("train smoke --quiet{} --run", set(NO_MATCHES));
    shell.prints(&format!("{train} alone"));
    let mut workers = Workers::start(&shell, 3);
    let mut learner = shell.start(&format!("{train} run --store store"));
    // Killed after each of the first manifests, before or after what follows it is on the disk.
    for generation in 0..2 {
        wait_for(&shell, &format!("store/manifests/run/{generation:06}.json"), &mut learner);
        end(learner);
        learner = shell.start("train --resume run --store store --quiet");
    }
    assert_eq!(workers.until_end_of(&mut learner), 0);
    let shard = |run: &str, generation: u64| format!("{run}/shards/{generation:06}-bell.npz");
    let rules = presets::rules("bell");
    let read = |run: &str, generation: u64| read_shard(&shell.path(&shard(run, generation)), &rules).unwrap();
    // Games of alpha-beta are the same everywhere.
    assert_eq!(shell.bytes(&shard("run", 0)).len(), shell.bytes(&shard("alone", 0)).len());
    assert_eq!(read("run", 0).1, read("alone", 0).1);
    let rounds = shell.lines("run/metrics.jsonl");
    for generation in 0..3 {
        let manifest = shell.json(&format!("store/manifests/run/{generation:06}.json"));
        let sum = |key: &str| {
            manifest["units"].as_array().unwrap().iter().map(|unit| unit[key].as_u64().unwrap()).sum::<u64>()
        };
        let (info, samples) = read("run", generation);
        let head = shell.json(&format!("store/heads/run/{generation:06}.json"));
        let player = if generation == 0 {
            "alphabeta "
        } else {
            &format!("network {} auto ", head["fingerprint"].as_str().unwrap())
        };
        assert!(info.players.starts_with(player), "{} is not by {player}", info.players);
        assert_eq!((sum("games"), sum("samples")), (8, samples.len() as u64), "generation {generation}");
        assert!(samples.games.iter().all(|&game| game < 8), "{:?}", samples.games);
        assert_eq!(rounds.iter().filter(|round| round["generation"] == generation && round["games"] == 8).count(), 1);
    }
}

#[cfg(feature = "libtorch")]
#[test]
fn workers_play_mixes_of_rules_as_often_as_they_should() {
    let shell = Shell::new();
    let mut workers = Workers::start(&shell, 2);
    // Each mix is over after its first generation.
    let settings = "rulesets=[\"bell\",\"bell-8x8\"] budget.generations=7 teacher.games=2 games.per_generation=0 \
                    games.samples_per_generation=1600 games.batches_per_step=4 selfplay.simulations=2 \
                    mixes.fraction=0.5 mixes.at_once=1 mixes.samples=1";
    let settings = set(settings) + &set(NO_MATCHES);
    let mut learner = shell.start(&format!("train smoke --run run --store store --quiet{settings}"));
    assert_eq!(workers.until_end_of(&mut learner), 0);
    // A generation may have none where the mix before had far more than was expected; it is the sum that counts.
    let (mut mixes, mut all) = (0, 0);
    for round in shell.lines("run/metrics.jsonl").iter().filter(|round| round["generation"].as_u64() > Some(0)) {
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
    let script = root().join("deploy/slurm/workers.sbatch");
    for array in [vec![0, 1, 2], vec![3, 7], vec![0, 2, 4, 6]] {
        for id in &array {
            let output = Command::new("bash")
                .arg(&script)
                .arg("/shared/store")
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
    let shell = Shell::new();
    shell.refuses("worker --store missing", 1, &["no such folder or bucket", "mend --store"]);
    shell.refuses("worker --store ftp://here/there", 1, &["no stores of ftp://", "s3://BUCKET/PATH"]);
    shell.refuses("worker --store . --index 3", 2, &["--index 3 must be below --of 1"]);
    shell.refuses("status --store missing", 1, &["mend --store"]);
    shell.write("file", "text");
    shell.refuses("doctor --store file", 1, &["mend --store"]);
    shell.refuses("rate random greedy --ruleset bell --games 4 --store file", 1, &["mend --store"]);
    let told = shell.prints("doctor --store .");
    assert!(told.lines().count() == 5 && told.lines().all(|line| line.ends_with(" yes")), "{told}");
    let left = std::fs::read_dir(shell.path("proof")).into_iter().flatten().flatten();
    assert_eq!(left.filter(|one| one.path().is_file()).count(), 0);
    // A worker without work ends where it was told to, and says so.
    let output = shell.run("worker --store . --idle 0 --threads 1");
    assert!(output.status.success() && complaint(&output).contains("nothing is missing"), "{}", complaint(&output));
}

#[cfg(unix)]
#[test]
fn a_worker_that_waits_says_what_for_and_ends_when_it_is_asked_to() {
    use std::io::{BufRead, BufReader};
    let shell = Shell::new();
    let mut worker = shell.start("worker --store . --threads 1");
    let mut lines = BufReader::new(worker.stderr.take().unwrap()).lines();
    assert!(lines.by_ref().any(|line| line.unwrap().contains("waits: nothing is missing in")));
    send("-TERM", &worker);
    assert_eq!(worker.wait().unwrap().code(), Some(143));
    assert!(lines.any(|line| line.unwrap().contains("stopped; 0 units written, 0 games")));
}
