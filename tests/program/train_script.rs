//! `scripts/train`: it goes on with the run that was asked for, and with no other.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::root;

/// The script in a place of its own, where nothing is to be set up or built; `program` is what it starts.
fn place(folder: &Path, program: &Path) {
    for inner in ["scripts", "configs/train", "bin", "target/release"] {
        fs::create_dir_all(folder.join(inner)).unwrap();
    }
    for file in ["scripts/train", "configs/train/smoke.toml"] {
        fs::copy(root().join(file), folder.join(file)).unwrap();
    }
    for done in ["scripts/setup-libtorch", "bin/cargo"] {
        symlink("/usr/bin/true", folder.join(done)).unwrap();
    }
    symlink(program, folder.join("target/release/latrunculi")).unwrap();
}

/// Returns the script with its arguments, to be started.
fn script(folder: &Path, arguments: &[&str]) -> Command {
    let path = std::env::var("PATH").unwrap();
    let mut command = Command::new("bash");
    command.arg(folder.join("scripts/train")).args(arguments);
    command.env("PATH", format!("{}:{path}", folder.join("bin").display()));
    command.env("CARGO_TARGET_DIR", folder.join("target"));
    command
}

#[test]
fn only_the_run_with_the_same_configuration_and_settings_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    place(folder, Path::new(env!("CARGO_BIN_EXE_latrunculi")));
    let config = "configs/train/smoke.toml";
    let mut child = script(folder, &[config, "--set", "teacher.games=100000"]).stdout(Stdio::null()).spawn().unwrap();
    let run = folder.join("runs/smoke-1");
    let begun = Instant::now();
    while !run.join("config.toml").is_file() {
        assert!(begun.elapsed() < Duration::from_secs(120), "the run does not begin");
        sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();

    // From here on what would be started is only told.
    let program = folder.join("target/release/latrunculi");
    fs::remove_file(&program).unwrap();
    symlink("/usr/bin/echo", &program).unwrap();
    let started = |arguments: &[&str]| {
        let output = script(folder, arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
    };
    let continued = "train --resume runs/smoke-1";
    assert_eq!(started(&[config, "--set", "teacher.games=100000"]), continued);
    assert_eq!(started(&[config, "--set=teacher.games=100000", "--quiet"]), format!("{continued} --quiet"));
    let new = format!("train {config} --run runs/smoke-2");
    assert_eq!(started(&[config]), new, "without its settings it is another run");
    assert_eq!(started(&[config, "--set", "seed=2"]), format!("{new} --set seed=2"));

    // A newer run with other settings is not in the way; their texts may hold anything.
    let newer = folder.join("runs/smoke-2");
    fs::create_dir(&newer).unwrap();
    for file in ["config.toml", "ruleset.toml", "provenance.json"] {
        fs::copy(run.join(file), newer.join(file)).unwrap();
    }
    let about = fs::read_to_string(run.join("provenance.json")).unwrap();
    assert!(about.contains("\"teacher.games=100000\""), "{about}");
    fs::write(newer.join("provenance.json"), about.replace("teacher.games=100000", r#"ruleset=\"a\\b\""#)).unwrap();
    assert_eq!(started(&[config, "--set", "teacher.games=100000"]), continued);
    assert_eq!(started(&[config, "--set", r#"ruleset="a\b""#]), "train --resume runs/smoke-2");

    // What has ended is not continued, and neither is a run of what the file was before.
    fs::write(run.join("result.json"), "{}").unwrap();
    let third = format!("train {config} --run runs/smoke-3 --set teacher.games=100000");
    assert_eq!(started(&[config, "--set", "teacher.games=100000"]), third);
    fs::remove_file(run.join("result.json")).unwrap();
    assert_eq!(started(&[config, "--set", "teacher.games=100000"]), continued);
    let text = fs::read_to_string(folder.join(config)).unwrap();
    fs::write(folder.join(config), text + "\n").unwrap();
    assert_eq!(started(&[config, "--set", "teacher.games=100000"]), third);
}
