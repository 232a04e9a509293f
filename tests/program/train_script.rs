//! `scripts/train` sets up, builds and starts `latrunculi train CONFIG --continue`.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::support::root;

#[test]
fn the_script_passes_its_arguments_on_and_runs_the_quick_configuration_by_default() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for inner in ["scripts", "bin", "target/release"] {
        fs::create_dir_all(folder.join(inner)).unwrap();
    }
    fs::copy(root().join("scripts/train"), folder.join("scripts/train")).unwrap();
    // Nothing is set up or built, and the program prints its arguments.
    for skipped in ["scripts/setup-libtorch", "bin/cargo"] {
        symlink("/usr/bin/true", folder.join(skipped)).unwrap();
    }
    symlink("/usr/bin/echo", folder.join("target/release/latrunculi")).unwrap();
    let started = |arguments: &[&str]| {
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new("bash");
        command.arg(folder.join("scripts/train")).args(arguments);
        command.env("PATH", format!("{}:{path}", folder.join("bin").display()));
        command.env("CARGO_TARGET_DIR", folder.join("target"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(started(&[]), "train quick --continue");
    assert_eq!(started(&["smoke", "--set", "seed=2"]), "train smoke --continue --set seed=2");
    assert_eq!(started(&["--quiet"]), "train quick --continue --quiet");
}
