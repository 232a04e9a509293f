//! Tells the linker where `latrunculi-libtorch` finds libtorch when it starts, and the program its commit.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // What is built while working on it is of no commit, and would be built anew with each.
    if env::var("PROFILE").as_deref() == Ok("release") {
        tell_commit();
    }
    let has_libtorch = env::var_os("CARGO_FEATURE_LIBTORCH").is_some();
    if !has_libtorch || env::var("CARGO_CFG_TARGET_FAMILY").as_deref() != Ok("unix") {
        return;
    }
    // First a folder `lib` beside the program or above it, so that a copied program can bring its own.
    let origin = match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("macos") => "@loader_path",
        _ => "$ORIGIN",
    };
    let mut places = vec![format!("{origin}/lib"), format!("{origin}/../lib")];
    // Then where it was linked, which the package `model` has from torch-sys.
    places.extend(env::var("DEP_LATRUNCULI_LIBTORCH_LIBRARIES").ok());
    for place in places {
        println!("cargo::rustc-link-arg-bin=latrunculi-libtorch=-Wl,-rpath,{place}");
    }
}

/// Sets `LATRUNCULI_COMMIT` where this source lies in a repository of its own.
fn tell_commit() {
    let git = |arguments: &[&str]| -> Option<String> {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    // This package is its folder `cli`; in another's repository it would lie elsewhere.
    if git(&["rev-parse", "--show-prefix"]).as_deref() != Some("cli/") {
        return;
    }
    if let (Some(commit), Some(log)) = (
        git(&["rev-parse", "--short=12", "HEAD"]),
        git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"]),
    ) {
        println!("cargo::rustc-env=LATRUNCULI_COMMIT={commit}");
        println!("cargo::rerun-if-changed={log}");
    }
}
