//! The folder of runs: `runs/NAME-N`, where NAME follows from the configuration and N counts from 1.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{Rules, presets};

use crate::config::{ConfigSource, TrainConfig};
use crate::error::{Context, Error};
use crate::run_rulesets::RunRuleset;
use crate::{rulesets, run_dir};

/// The folder of runs, in the working folder.
pub const RUNS: &str = "runs";

/// Returns what the runs of a configuration are called: as the configuration, but a shipped one that trains on a single ruleset
/// file gives its runs that ruleset's id.
///
/// # Errors
/// When the file is no ruleset.
pub fn name(source: &ConfigSource, config: &TrainConfig) -> Result<String, Error> {
    match (source, &config.rulesets.names()[..]) {
        (ConfigSource::Shipped(_), [only]) if presets::file(only).is_none() => {
            Ok(rulesets::load(only)?.ruleset().id.clone())
        }
        _ => Ok(source.name()),
    }
}

/// Makes the folder of the next run of a configuration called `name`: `NAME-N` with the lowest free N.
pub fn make_next(runs: &Path, name: &str) -> Result<PathBuf, Error> {
    fs::create_dir_all(runs).with_context(|| format!("{}: making the folder", runs.display()))?;
    let mut number = 1;
    loop {
        let folder = runs.join(format!("{name}-{number}"));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error).with_context(|| format!("{}: making the folder", folder.display())),
        }
    }
}

/// Returns the newest run called `NAME-N` that has not finished and was begun with this configuration, every value and
/// every rule equal. Folders that cannot be read are passed over.
#[must_use]
pub fn newest_unfinished(runs: &Path, name: &str, config: &TrainConfig, rulesets: &[RunRuleset]) -> Option<PathBuf> {
    let mut numbers: Vec<u64> = fs::read_dir(runs)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let folder = entry.ok()?.file_name().into_string().ok()?;
            folder.strip_prefix(name)?.strip_prefix('-')?.parse().ok()
        })
        .collect();
    numbers.sort_unstable();
    let folders = numbers.into_iter().rev().map(|number| runs.join(format!("{name}-{number}")));
    let is_same = |folder: &PathBuf| {
        let found = TrainConfig::read_of_run(&folder.join(run_dir::CONFIG), &[]);
        // By name, as the files are.
        let mut wanted: Vec<&RunRuleset> = rulesets.iter().collect();
        wanted.sort_by_key(|trained| trained.id());
        let fingerprint = |rules: &Rules| ruleset_fingerprint(rules.ruleset());
        let is_same = |path: &PathBuf, wanted: &RunRuleset| {
            let found = rulesets::load(&path.to_string_lossy());
            found.is_ok_and(|found| fingerprint(&found) == fingerprint(&wanted.rules))
        };
        let paths = run_dir::ruleset_paths(folder);
        found.is_ok_and(|found| found == *config)
            && paths.len() == wanted.len()
            && paths.iter().zip(wanted).all(|(path, wanted)| is_same(path, wanted))
    };
    folders.filter(|folder| !folder.join(run_dir::RESULT).exists()).find(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_numbered_from_one() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path().join("runs");
        assert_eq!(make_next(&runs, "quick").unwrap(), runs.join("quick-1"));
        assert_eq!(make_next(&runs, "quick").unwrap(), runs.join("quick-2"));
        assert_eq!(make_next(&runs, "smoke").unwrap(), runs.join("smoke-1"));
        fs::remove_dir(runs.join("quick-1")).unwrap();
        assert_eq!(make_next(&runs, "quick").unwrap(), runs.join("quick-1"));
    }

    #[test]
    fn a_run_on_a_file_of_ones_own_is_named_after_its_ruleset() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.toml");
        fs::write(&path, "id = \"mine\"\nbase = \"bell\"\n").unwrap();
        let source = ConfigSource::find("smoke").unwrap();
        for (rulesets, expected) in [(path.to_str().unwrap(), "mine"), ("savard", "smoke")] {
            let config = TrainConfig::read(&source, &[format!("rulesets={rulesets}")]).unwrap();
            assert_eq!(name(&source, &config).unwrap(), expected);
        }
    }

    #[test]
    fn the_newest_unfinished_run_of_the_same_configuration_and_rules_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path();
        let read = |settings: &[&str]| {
            let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
            TrainConfig::read(&ConfigSource::find("smoke").unwrap(), &settings).unwrap()
        };
        let (config, other) = (read(&[]), read(&["seed=2"]));
        let load = |name: &str| crate::run_rulesets::load(&name.into()).unwrap();
        let bell = load("bell");
        let begin = |config: &TrainConfig| {
            let run = make_next(runs, "smoke").unwrap();
            fs::write(run.join(run_dir::CONFIG), config.to_text().unwrap()).unwrap();
            let rulesets = run.join(run_dir::RULESETS);
            fs::create_dir(&rulesets).unwrap();
            fs::write(rulesets.join("bell.toml"), bell[0].rules.ruleset().to_toml()).unwrap();
            run
        };
        let newest = || newest_unfinished(runs, "smoke", &config, &bell);
        assert_eq!(newest(), None);
        let first = begin(&config);
        begin(&other);
        assert_eq!(newest(), Some(first.clone()), "a run with another seed is another run");
        for _ in 3..=10 {
            begin(&config);
        }
        let tenth = runs.join("smoke-10");
        assert_eq!(newest(), Some(tenth.clone()), "10 is newer than 9");
        assert_eq!(newest_unfinished(runs, "smok", &config, &bell), None);
        assert_eq!(newest_unfinished(runs, "smoke", &config, &load("savard")), None);

        fs::write(tenth.join(run_dir::RESULT), "{}").unwrap();
        assert_eq!(newest(), Some(runs.join("smoke-9")), "a finished run is not continued");
        fs::write(runs.join("smoke-9").join(run_dir::CONFIG), "damaged").unwrap();
        assert_eq!(newest(), Some(runs.join("smoke-8")), "a run that cannot be read is passed over");
    }
}
