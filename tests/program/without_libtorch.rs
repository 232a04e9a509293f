//! The program `latrunculi` alone on a machine without libtorch: what it does, and what it says of the rest.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use latrunculi_data::{ModelInfo, NetworkConfig, StoredModel, TrainedRuleset};
use latrunculi_engine::presets;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{complaint, printed};

/// The program in a folder of its own, with a model beside it.
struct Alone {
    folder: TempDir,
    program: PathBuf,
}

impl Alone {
    fn new() -> Alone {
        // On the same disk as the program, so that a link will do.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let program = folder.path().join(format!("latrunculi{}", std::env::consts::EXE_SUFFIX));
        fs::hard_link(env!("CARGO_BIN_EXE_latrunculi"), &program).expect("a link");
        Alone { folder, program }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("a path").to_owned()
    }

    /// Runs the program, which finds no library by the environment.
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.folder.path()).env_remove("LD_LIBRARY_PATH");
        command.output().expect("the program starts")
    }

    fn succeeds(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", complaint(&output));
        printed(&output)
    }

    /// Writes a model of a small network for the ruleset `bell`, with the weights of its start.
    fn model(&self) -> String {
        let path = self.path("model.safetensors");
        let config = NetworkConfig { blocks: 1, channels: 16, ..NetworkConfig::default() };
        let rules = presets::rules("bell");
        let info = ModelInfo { rulesets: vec![TrainedRuleset::new(&rules, 1.0)], ..ModelInfo::default() };
        let model = StoredModel { info, ..StoredModel::fresh(&config, 1).expect("a network") };
        model.write(Path::new(&path)).expect("written");
        path
    }
}

/// Tells whether a program names the library that computes for libtorch, which it does if it is linked with it.
fn names_libtorch(program: &str) -> bool {
    let bytes = fs::read(program).expect("the program");
    let name = b"libtorch_cpu.";
    bytes.windows(name.len()).any(|window| window == name)
}

#[test]
fn the_program_is_not_linked_with_libtorch() {
    assert!(!names_libtorch(env!("CARGO_BIN_EXE_latrunculi")));
    #[cfg(feature = "libtorch")]
    assert!(names_libtorch(env!("CARGO_BIN_EXE_latrunculi-libtorch")), "the name is another one now");
}

#[test]
fn a_network_plays_and_is_inspected_without_libtorch() {
    let alone = Alone::new();
    let model = alone.model();
    let agent = format!("net:{model},sims=4");
    let games = ["--ruleset", "bell", "--games", "2", "--quiet", "--json"];
    let report = alone.succeeds(&[&["match", &agent, "random"], &games[..]].concat());
    let report: Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["games"], 2, "{report}");
    let shards = alone.path("shards");
    let settings = ["--set", "games.per_generation=4", "--set", "selfplay.simulations=4"];
    let selfplay = ["selfplay", "smoke", "--model", &model, "--out", &shards, "--json"];
    let played: Value = serde_json::from_str(&alone.succeeds(&[&selfplay, &settings[..]].concat())).expect("JSON");
    assert!(played["evaluations_per_sec"].as_f64() > Some(0.0), "{played}");
    for path in [&model, &shards] {
        let told: Value =
            serde_json::from_str(&alone.succeeds(&["inspect", path, "--verify", "--json"])).expect("JSON");
        assert!(!told["verified"].is_null(), "{told}");
    }
    let kernels = alone.succeeds(&["bench", "inference", "--blocks", "1", "--channels", "8", "--seconds", "0.01"]);
    assert!(kernels.contains("\nf32-winograd ") && !kernels.contains("libtorch"), "{kernels}");
}

#[test]
fn what_needs_libtorch_says_how_to_get_it() {
    let alone = Alone::new();
    let model = alone.model();
    let agent = format!("net:{model},sims=4");
    for (arguments, what) in [
        (&["train", "smoke"][..], "train needs libtorch"),
        (&["fit", "smoke", "--shards", "shards", "--out", "fitted"], "fit needs libtorch"),
        (&["export", &model, "--out", "exported"], "export needs libtorch"),
        (&["bench", "training"], "bench training needs libtorch"),
        (&["match", &agent, "random", "--ruleset", "bell", "--device", "cuda"], "--device cuda:0 needs libtorch"),
    ] {
        let output = alone.run(arguments);
        let said = complaint(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        for part in [what, "latrunculi-libtorch", "is not there", "scripts/setup-libtorch", "cargo build --release"] {
            assert!(said.contains(part), "{arguments:?}: {part:?} is missing from {said}");
        }
    }
    assert!(!Path::new(&alone.path("runs")).exists(), "nothing is begun");
    assert_eq!(alone.run(&["train", "smoke", "--nonsense"]).status.code(), Some(2));
    assert!(alone.succeeds(&["train", "--help"]).contains("--resume"));
    let found: Value = serde_json::from_str(&alone.succeeds(&["doctor", "--json"])).expect("JSON");
    assert_eq!(found["libtorch"], false, "{found}");
    assert!(found["libtorch_fault"].as_str().is_some_and(|fault| fault.contains("is not there")), "{found}");
}

/// A program beside it under that name is executed with the same arguments, and its exit status is passed on.
#[cfg(unix)]
#[test]
fn the_program_with_libtorch_gets_the_same_arguments() {
    use std::os::unix::fs::PermissionsExt;
    let alone = Alone::new();
    let other = alone.folder.path().join("latrunculi-libtorch");
    fs::write(&other, "#!/bin/sh\necho \"$@\"\nexit 7\n").expect("written");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).expect("it can be executed");
    let output = alone.run(&["train", "smoke", "--set", "seed=2"]);
    assert_eq!(output.status.code(), Some(7), "{}", complaint(&output));
    assert_eq!(printed(&output), "train smoke --set seed=2\n");
}

#[test]
fn the_network_that_is_part_of_the_program_was_trained_on_every_reconstruction() {
    let alone = Alone::new();
    for ruleset in presets::NAMES.iter().filter(|name| !name.starts_with("x-")) {
        let output = alone.run(&["analyse", "--ruleset", ruleset, "--position", "initial", "--agent", "net:sims=1"]);
        assert!(output.status.success() && output.stderr.is_empty(), "{ruleset}: {}", complaint(&output));
    }
    let output =
        alone.run(&["match", "net:sims=1", "random", "--ruleset", "x-museum-quintana", "--games", "2", "--quiet"]);
    assert!(output.status.success(), "{}", complaint(&output));
    assert!(
        complaint(&output).contains("note: universal in x-museum-quintana: the network is "),
        "{}",
        complaint(&output)
    );
}
