//! Rules that lints cannot check: which crate may name what, and where files are.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != "target") {
                found.extend(files_below(&path, extension));
            }
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found
}

fn manifest(krate: &str) -> String {
    fs::read_to_string(root().join(krate).join("Cargo.toml")).expect("every crate has a manifest")
}

/// The crates of the workspace that `krate` depends on; its tests may use others.
fn dependencies(krate: &str) -> Vec<&'static str> {
    let manifest = manifest(krate);
    [
        "engine", "search", "data", "infer", "model", "selfplay", "stats", "store", "eval", "train", "serve",
        "learner", "cli",
    ]
    .into_iter()
    .filter(|other| {
        let mut lines = manifest.lines().take_while(|line| *line != "[dev-dependencies]");
        lines.any(|line| line.starts_with(&format!("latrunculi-{other}")))
    })
    .collect()
}

#[test]
fn crates_depend_downwards_only() {
    assert!(dependencies("engine").is_empty());
    assert_eq!(dependencies("search"), ["engine"]);
    assert_eq!(dependencies("data"), ["engine"]);
    assert!(dependencies("stats").is_empty());
    assert!(dependencies("store").is_empty());
    for sibling in ["infer", "selfplay"] {
        assert_eq!(dependencies(sibling), ["engine", "search", "data"], "{sibling}");
    }
    assert_eq!(dependencies("model"), ["engine", "search", "data", "infer"]);
    assert_eq!(dependencies("eval"), ["engine", "search", "data", "stats", "store"]);
    let without_libtorch = ["engine", "search", "data", "infer", "selfplay", "stats", "store", "eval"];
    assert_eq!(dependencies("train"), without_libtorch);
    assert_eq!(dependencies("serve"), ["engine", "search", "eval", "train"]);
    assert_eq!(dependencies("python"), ["engine", "search", "data", "infer", "stats", "store", "eval", "train"]);
    assert_eq!(dependencies("learner"), ["engine", "data", "infer", "model", "selfplay", "stats", "eval", "train"]);
}

/// A dependency that the code names is linked, whatever the features say: the library of `cli` is `latrunculi`.
#[test]
fn the_program_without_libtorch_names_no_crate_that_has_it() {
    let own = root().join("cli/src/bin");
    for path in files_below(&root().join("cli/src"), "rs").iter().filter(|path| !path.starts_with(&own)) {
        let text = fs::read_to_string(path).expect("a source file");
        for krate in ["latrunculi_model", "latrunculi_learner"] {
            assert!(!text.contains(krate), "{} names {krate}", path.display());
        }
    }
}

#[test]
fn only_the_model_crate_names_libtorch() {
    for krate in [
        "engine", "search", "data", "infer", "selfplay", "stats", "store", "eval", "train", "serve", "learner", "cli",
        "python",
    ] {
        assert!(!manifest(krate).lines().any(|line| line.starts_with("tch")), "{krate} depends on tch");
        for path in files_below(&root().join(krate), "rs") {
            let text = fs::read_to_string(&path).expect("a source file");
            let names_it = text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "tch");
            assert!(!names_it, "{} names tch", path.display());
        }
    }
}

/// `unsafe` stands in the kernels of one module and where a dynamic library is opened.
#[test]
fn unsafe_code_stands_in_its_modules_only() {
    for krate in [
        "engine", "search", "data", "infer", "model", "selfplay", "stats", "store", "eval", "train", "serve",
        "learner", "cli", "python",
    ] {
        for path in files_below(&root().join(krate), "rs") {
            if path.starts_with(root().join("infer/src/native")) || path.starts_with(root().join("model")) {
                continue;
            }
            let text = fs::read_to_string(&path).expect("a source file");
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                // A word of the policies that a server tells browsers.
                let line = line.replace("'unsafe-inline'", "");
                let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
                assert!(!words.any(|word| word == "unsafe"), "{}: {line}", path.display());
            }
        }
    }
}

#[test]
fn engine_has_no_clock_no_threads_no_files_and_no_randomness() {
    for path in files_below(&root().join("engine/src"), "rs") {
        let text = fs::read_to_string(&path).expect("a source file");
        for forbidden in ["std::fs", "std::time", "std::thread", "std::env", "println!", "rand::"] {
            assert!(!text.contains(forbidden), "{} uses {forbidden}", path.display());
        }
    }
}

#[test]
fn training_prints_nothing() {
    let sources = ["train/src", "learner/src"].map(|folder| files_below(&root().join(folder), "rs"));
    for path in sources.concat() {
        let text = fs::read_to_string(&path).expect("a source file");
        // Tests may print.
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for forbidden in ["println!", "eprintln!", "anyhow", "indicatif"] {
            assert!(!text.contains(forbidden), "{} uses {forbidden}", path.display());
        }
    }
}

#[test]
fn no_code_is_named_after_a_ruleset() {
    // Rulesets are data: their names stand in files and lists, never in a branch of the rules.
    for path in files_below(&root().join("engine/src"), "rs") {
        if path.file_name().is_some_and(|name| name == "presets.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source file");
        let code = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]"));
        for line in code.filter(|line| !line.trim_start().starts_with("//")) {
            for name in ["\"beads\"", "\"dutch\"", "\"savard\"", "\"falkener\""] {
                assert!(!line.contains(name), "{}: {line}", path.display());
            }
        }
    }
}

#[test]
fn every_ruleset_file_is_embedded() {
    let on_disk = files_below(&root().join("configs/rulesets"), "toml").len();
    assert_eq!(on_disk, latrunculi_engine::presets::NAMES.len());
}

#[test]
fn the_cases_that_the_specification_names_are_there() {
    let text = fs::read_to_string(root().join("docs/SPECIFICATION.md")).expect("the specification");
    let cases = fs::read_to_string(root().join("tests/rules/cases/rules.json")).expect("the cases");
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
    // As BELL-03.
    let names = words.filter(|word| {
        let parts = word.split_once('-');
        parts.is_some_and(|(family, number)| {
            family.len() == 4
                && family.bytes().all(|letter| letter.is_ascii_uppercase())
                && number.len() == 2
                && number.bytes().all(|letter| letter.is_ascii_digit())
        })
    });
    let names: Vec<&str> = names.collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        assert!(cases.contains(&format!("\"{name}\"")), "there is no case {name}");
    }
}

#[test]
fn no_work_is_left_marked_in_the_code() {
    for folder in [
        "engine", "search", "data", "infer", "model", "selfplay", "stats", "store", "eval", "train", "serve",
        "learner", "cli", "python", "tests", "scripts",
    ] {
        for path in files_below(&root().join(folder), "rs") {
            if path.ends_with("tests/tidy.rs") {
                continue;
            }
            let text = fs::read_to_string(&path).expect("a source file");
            for mark in ["TODO", "FIXME", "XXX", "#[ignore"] {
                assert!(!text.contains(mark), "{} contains {mark}", path.display());
            }
        }
    }
}

/// Licences under which a dependency may be passed on with the program.
const LICENCES: [&str; 11] = [
    "MIT",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "0BSD",
    "CC0-1.0",
    "BSL-1.0",
    "Unlicense",
    "Unicode-3.0",
];

/// Tells whether a licence expression can be met by [`LICENCES`]: one of each choice, all of what is joined.
fn is_allowed(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], "").replace(" WITH LLVM-exception", "").replace('/', " OR ");
    let parts = plain.split(" AND ");
    parts.into_iter().all(|part| part.split(" OR ").any(|licence| LICENCES.contains(&licence.trim())))
}

#[test]
fn dependencies_come_from_the_registry_with_checksums_under_known_licences() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("Cargo.lock");
    let cargo = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&cargo.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 100, "all dependencies are listed");
    for package in packages.iter().filter(|package| !package["source"].is_null()) {
        let [name, version, source] = ["name", "version", "source"].map(|key| package[key].as_str().expect("a text"));
        assert_eq!(source, "registry+https://github.com/rust-lang/crates.io-index", "{name}");
        let entry = format!("name = \"{name}\"\nversion = \"{version}\"\nsource = \"{source}\"\nchecksum = \"");
        assert!(lock.contains(&entry), "{name} {version} has no checksum in Cargo.lock");
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(is_allowed(licence), "{name} {version}: licence {licence:?}; see LICENCES");
    }
    assert!(is_allowed("(MIT OR GPL-3.0) AND Zlib") && !is_allowed("GPL-3.0") && !is_allowed("MIT AND GPL-3.0"));
}
