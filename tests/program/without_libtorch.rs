//! The program `latrunculi` alone on a machine without libtorch: what it does, and what it says of the rest.

use std::fs;
use std::path::Path;

use latrunculi_data::{ModelInfo, NetworkConfig, StoredModel, TrainedRuleset};
use latrunculi_engine::presets;

use crate::support::{Shell, complaint, printed};

/// The program in a folder of its own, with `model.safetensors` beside it: a small network for `bell` with the weights of its start.
fn alone() -> Shell {
    // On the same disk as the program, so that a link will do.
    let mut shell = Shell::within(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let program = shell.path(&format!("latrunculi{}", std::env::consts::EXE_SUFFIX));
    fs::hard_link(&shell.program, &program).expect("a link");
    shell.program = program;
    shell.finds_no_library = true;
    let config = NetworkConfig { blocks: 1, channels: 16, ..NetworkConfig::default() };
    let rules = presets::rules("bell");
    let info = ModelInfo { rulesets: vec![TrainedRuleset::new(&rules, 1.0)], ..ModelInfo::default() };
    let model = StoredModel { info, ..StoredModel::fresh(&config, 1).expect("a network") };
    model.write(&shell.path("model.safetensors")).expect("written");
    shell
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
    let shell = alone();
    let report = shell.prints_json("match net:model.safetensors,sims=4 random --ruleset bell --games 2 --quiet");
    assert_eq!(report["games"], 2, "{report}");
    let few = "--set games.per_generation=4 --set selfplay.simulations=4";
    let played = shell.prints_json(&format!("selfplay smoke --model model.safetensors --out shards {few}"));
    assert!(played["evaluations_per_sec"].as_f64() > Some(0.0), "{played}");
    for path in ["model.safetensors", "shards"] {
        let told = shell.prints_json(&format!("inspect {path} --verify"));
        assert!(!told["verified"].is_null(), "{told}");
    }
    let kernels = shell.prints("bench inference --blocks 1 --channels 8 --seconds 0.01");
    assert!(kernels.contains("\nf32-winograd ") && !kernels.contains("libtorch"), "{kernels}");
}

#[test]
fn what_needs_libtorch_says_how_to_get_it() {
    let shell = alone();
    for (line, what) in [
        ("train smoke", "train needs libtorch"),
        ("fit smoke --shards shards --out fitted", "fit needs libtorch"),
        ("export model.safetensors --out exported", "export needs libtorch"),
        ("bench training", "bench training needs libtorch"),
        ("match net:model.safetensors random --ruleset bell --device cuda", "--device cuda:0 needs libtorch"),
    ] {
        let way = ["latrunculi-libtorch", "is not there", "scripts/setup-libtorch", "cargo build --release"];
        shell.refuses(line, 1, &[&[what], &way[..]].concat());
    }
    assert!(!shell.has("runs"), "nothing is begun");
    shell.refuses("train smoke --nonsense", 2, &["--nonsense"]);
    assert!(shell.prints("train --help").contains("--resume"));
    let found = shell.prints_json("doctor");
    assert_eq!(found["libtorch"], false, "{found}");
    assert!(found["libtorch_fault"].as_str().is_some_and(|fault| fault.contains("is not there")), "{found}");
}

/// A program beside it under that name is executed with the same arguments, and its exit status is passed on.
#[cfg(unix)]
#[test]
fn the_program_with_libtorch_gets_the_same_arguments() {
    use std::os::unix::fs::PermissionsExt;
    let shell = alone();
    shell.write("latrunculi-libtorch", "#!/bin/sh\necho \"$@\"\nexit 7\n");
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(shell.path("latrunculi-libtorch"), executable).expect("it can be executed");
    let output = shell.run("train smoke --set seed=2");
    assert_eq!(output.status.code(), Some(7), "{}", complaint(&output));
    assert_eq!(printed(&output), "train smoke --set seed=2\n");
}

#[test]
fn the_network_that_is_part_of_the_program_was_trained_on_every_reconstruction() {
    let shell = alone();
    for ruleset in presets::NAMES.iter().filter(|name| !name.starts_with("x-")) {
        let output = shell.run(&format!("analyse --ruleset {ruleset} --position initial --agent net:sims=1"));
        assert!(output.status.success() && output.stderr.is_empty(), "{ruleset}: {}", complaint(&output));
    }
    let output = shell.run("match net:sims=1 random --ruleset x-museum-quintana --games 2 --quiet");
    let note = "note: universal in x-museum-quintana: the network is ";
    assert!(output.status.success() && complaint(&output).contains(note), "{}", complaint(&output));
}
