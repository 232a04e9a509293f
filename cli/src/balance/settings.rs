//! The settings of a study: from its file and from the options.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail};
use latrunculi_engine::{Ruleset, parameters::did_you_mean, presets};
use latrunculi_eval::study::StudySettings;
use latrunculi_train::files::read_text;
use latrunculi_train::rulesets::{expand_all, load_file};

use super::BalanceArgs;
use crate::games_args::number;

/// A study file is a few kilobytes; what is larger is something else.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Reads a distance of two scores in points of 100; a study file has it as a share of 1.
pub(super) fn points() -> impl Fn(&str) -> Result<f64, &'static str> + Clone {
    number(0.1..50.0, "it must be at least 0.1 and below 50 points, as in 3")
}

pub(super) fn sweep(text: &str) -> Result<(String, Vec<String>), String> {
    match text.split_once('=') {
        Some((name, values)) if !name.trim().is_empty() && !values.trim().is_empty() => {
            Ok((name.trim().to_owned(), values.split(',').map(|value| value.trim().to_owned()).collect()))
        }
        _ => Err("write a parameter and its values, as in capture.per_move=one,all".to_owned()),
    }
}

/// Takes a list of agents apart, whose texts may hold commas themselves.
pub(super) fn agents(text: &str) -> Vec<String> {
    let mut agents: Vec<String> = Vec::new();
    for part in text.split(',') {
        // No agent's text begins with a setting.
        let continues = !part.contains(':') && part.contains('=');
        match agents.last_mut() {
            Some(last) if continues => last.push_str(&format!(",{}", part.trim())),
            _ => agents.push(part.trim().to_owned()),
        }
    }
    agents
}

fn set<T: Clone>(place: &mut T, value: &Option<T>) {
    if let Some(value) = value {
        *place = value.clone();
    }
}

/// Returns points or percents as a share of 1.
fn fraction(value: Option<f64>) -> Option<f64> {
    value.map(|value| value / 100.0)
}

/// Sets how many games a study plays, as far as the options say.
pub(super) fn extend(settings: &mut StudySettings, args: &BalanceArgs) {
    set(&mut settings.half_width, &fraction(args.half_width));
    set(&mut settings.min_games, &args.min_games);
    set(&mut settings.max_games, &args.max_games);
}

/// Returns the settings of the study file, changed by the options.
pub(super) fn settings_of(args: &BalanceArgs) -> anyhow::Result<StudySettings> {
    let given = &args.settings;
    let mut settings = given.study.as_deref().map(read_study).transpose()?.unwrap_or_default();
    set(&mut settings.rulesets, &given.rulesets);
    set(&mut settings.agents, &given.agents.as_deref().map(agents));
    set(&mut settings.margin, &fraction(given.margin));
    set(&mut settings.min_contact, &fraction(given.min_contact));
    extend(&mut settings, args);
    if args.max_games.is_some() && args.min_games.is_none() {
        settings.min_games = settings.min_games.min(settings.max_games);
    }
    set(&mut settings.seed, &given.seed);
    let opening = &mut settings.opening;
    if given.opening.is_some() {
        (opening.array, opening.placement) = (given.opening, given.opening);
        opening.by_ruleset.clear();
    }
    opening.second = given.second_opening.or(opening.second);
    opening.policy = given.opening_policy.clone().or(opening.policy.take());
    if given.opening_temperature.is_some() && opening.policy.is_none() {
        bail!("--opening-temperature is that of a policy; name one with --opening-policy");
    }
    set(&mut opening.temperature, &given.opening_temperature);
    set(&mut settings.compensation, &given.compensation);
    settings.metrics |= given.metrics;
    settings.pie |= given.pie;
    settings.phases |= given.phases;
    // Several options for one parameter add up; together they replace what the file says of it.
    let mut sweep: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, values) in &given.sweep {
        sweep.entry(name.clone()).or_default().extend(values.iter().cloned());
    }
    settings.sweep.extend(sweep);
    Ok(settings)
}

/// Reads a study file; a key that is not known is refused with the nearest one that is.
fn read_study(path: &Path) -> anyhow::Result<StudySettings> {
    let given = path.display();
    let ruleset =
        |given: &dyn std::fmt::Display| format!("{given} is a ruleset, not a study: write --rulesets {given}");
    if !path.exists() && path.to_str().is_some_and(|name| name == "all" || presets::ruleset(name).is_some()) {
        bail!(ruleset(&given));
    }
    let text = read_text(path, FILE_BYTES_MAX)?;
    let in_file = || format!("{}: not a study", path.display());
    let table: toml::Table = toml::from_str(&text).with_context(in_file)?;
    let mut faults = Vec::new();
    if let serde_json::Value::Object(known) = serde_json::to_value(StudySettings::default())? {
        unknown_keys(&table, &known, "", &mut faults);
    }
    if table.contains_key("id") || table.contains_key("board") {
        bail!(ruleset(&given));
    }
    if !faults.is_empty() {
        bail!("{}\n  {}", in_file(), faults.join("\n  "));
    }
    toml::from_str(&text).with_context(in_file)
}

fn unknown_keys(
    table: &toml::Table,
    known: &serde_json::Map<String, serde_json::Value>,
    place: &str,
    faults: &mut Vec<String>,
) {
    for (key, value) in table {
        match (known.get(key), value) {
            (None, _) => {
                let hint = did_you_mean(key, known.keys().map(String::as_str));
                faults.push(format!("there is no setting {place}{key}{hint}"));
            }
            // Tables that are empty by default have keys of the user's own.
            (Some(serde_json::Value::Object(inner)), toml::Value::Table(table)) if !inner.is_empty() => {
                unknown_keys(table, inner, &format!("{place}{key}."), faults);
            }
            _ => {}
        }
    }
}

/// Loads the rulesets of a study; `all` stands for every reconstruction.
pub(super) fn rulesets(names: &[String]) -> anyhow::Result<Vec<Ruleset>> {
    expand_all(names).iter().map(|name| Ok(load_file(name)?.ruleset)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_agents_is_taken_apart_between_them_only() {
        assert_eq!(
            agents("alphabeta:depth=3,nodes=500,greedy,net:a.safetensors,sims=8, mcts:sims=5,seed=1"),
            ["alphabeta:depth=3,nodes=500", "greedy", "net:a.safetensors,sims=8", "mcts:sims=5,seed=1"]
        );
        assert_eq!(agents("alfabeta:nodes=5,greedi"), ["alfabeta:nodes=5", "greedi"]);
    }

    #[test]
    fn every_shipped_study_can_be_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/studies");
        let mut count = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let settings = read_study(&entry.unwrap().path()).unwrap();
            assert!(!rulesets(&settings.rulesets).unwrap().is_empty());
            count += 1;
        }
        assert!(count >= 2);
    }

    #[test]
    fn all_are_the_reconstructions() {
        let all = rulesets(&["all".to_owned()]).unwrap();
        assert_eq!(all.len(), 26);
        assert!(all.iter().all(|ruleset| !ruleset.id.starts_with("x-")));
    }
}
