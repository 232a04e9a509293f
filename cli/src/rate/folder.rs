//! The folder of a rating.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use latrunculi_engine::Rules;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_eval::AgentSpec;
use latrunculi_eval::matches::openings::default_length;
use latrunculi_eval::rating::{Pairing, RatingConfig};
use latrunculi_train::files::read_text;
use latrunculi_train::folders::RATING;
use serde_json::{Value, json};

/// A rating of hundreds of agents is some megabytes.
const RATING_BYTES_MAX: u64 = 1 << 28;

/// Refuses a folder with a different rating: of other rules, another seed or other openings, or with a pairing that is
/// not played here. More agents, more games and another fit are fine.
pub(super) fn refuse_another(folder: &Path, rules: &Rules, config: &RatingConfig) -> anyhow::Result<()> {
    let path = folder.join(RATING);
    if !path.is_file() {
        return Ok(());
    }
    let text = read_text(&path, RATING_BYTES_MAX)?;
    let no_rating = || format!("{}: not a rating; choose another folder with --out", path.display());
    let found: Value = serde_json::from_str(&text).with_context(no_rating)?;
    ensure!(found["pairings"].is_array(), no_rating());
    let here = [
        ("ruleset", json!(rules.ruleset().id)),
        ("ruleset_fingerprint", json!(ruleset_fingerprint(rules.ruleset()))),
        ("seed", json!(config.seed)),
        ("opening_length", json!(config.opening_length.unwrap_or_else(|| default_length(rules)))),
    ];
    let mut differences: Vec<String> = here
        .iter()
        .filter_map(|(name, here)| {
            let there = found.get(name).filter(|there| *there != here)?;
            Some(format!("{} is {there} there and {here} here", name.replace('_', " ")))
        })
        .collect();
    let names: Vec<String> = config.agents.iter().map(AgentSpec::to_string).collect();
    // What a network adds in brackets, such as its kernel, is known when it is opened.
    let is_text_of = |text: &str, name: &str| {
        text.strip_prefix(name).is_some_and(|added| added.is_empty() || added.starts_with(" ["))
    };
    let is_played = |pairing: &[&str]| {
        pairing.iter().all(|text| names.iter().any(|name| is_text_of(text, name)))
            && match config.pairing {
                Pairing::RoundRobin => true,
                Pairing::Gauntlet(agent) => pairing.iter().any(|text| is_text_of(text, &names[agent])),
            }
    };
    for pairing in found["pairings"].as_array().into_iter().flatten() {
        let agents: Vec<&str> = pairing["agents"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if !is_played(&agents) {
            differences.push(format!("{} was played there and is not played here", agents.join(" against ")));
        }
    }
    if !differences.is_empty() {
        bail!(
            "{}: the folder holds another rating; choose another folder with --out:\n  {}",
            folder.display(),
            differences.join("\n  ")
        );
    }
    Ok(())
}
