//! The model card: what a model is, how it was made, its measured strength, how to use it.

use std::fmt::Write;

use latrunculi_data::{
    Measurement, ModelInfo, NetworkConfig, PLANES, ParameterLayout, SCALARS, TrainedRuleset, rule_inputs,
};
use latrunculi_engine::presets;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_eval::Number;

/// Returns the known facts about a model as names and values.
#[must_use]
pub fn facts(info: &ModelInfo, config: &NetworkConfig) -> Vec<(&'static str, String)> {
    let history = &info.history;
    let mut facts = Vec::new();
    let share =
        |share: f64| if share < 1.0 { format!(", {:.1} % of the samples", 100.0 * share) } else { String::new() };
    facts.extend(info.rulesets.iter().map(|trained| {
        let TrainedRuleset { name, fingerprint, .. } = trained;
        ("ruleset", format!("{name} (fingerprint {fingerprint}{})", share(trained.share)))
    }));
    facts.push((
        "network",
        format!(
            "{} x {} channels, {} weights; {} planes, {} scalars of the position, {} of the ruleset",
            if config.blocks == 1 { "1 block".to_owned() } else { format!("{} blocks", config.blocks) },
            config.channels,
            ParameterLayout::new(config).len(),
            PLANES.len(),
            SCALARS.len(),
            rule_inputs::count()
        ),
    ));
    facts
        .push(("trained", format!("{} steps, {} positions drawn in them", info.training.steps, info.training.samples)));
    let known = |name, value: Option<u64>| value.map(|value| (name, value.to_string()));
    facts.extend(known("games", history.games));
    facts.extend(known("samples", history.samples));
    facts.extend(known("generations", history.generations));
    facts.extend(known("seed", history.seed));
    if let Some(program) = &history.program {
        let commit = history.commit.as_ref().map(|commit| format!(", commit {commit}")).unwrap_or_default();
        facts.push(("program", format!("{program}{commit}")));
    }
    facts.extend(history.strength.iter().map(|measured| ("strength", measurement(measured))));
    facts.extend(history.first_player.iter().map(|measured| ("first player", measurement(measured))));
    facts.extend(info.notes.iter().map(|(name, value)| ("note", format!("{name}: {value}"))));
    facts
}

/// Returns a measured score as text, with its interval.
#[must_use]
pub fn measurement(measured: &Measurement) -> String {
    let Measurement { what, result, margin, .. } = measured;
    let margin = margin.map(|margin| {
        let [mean, lower, upper] = [margin.mean, margin.lower, margin.upper].map(|share| Number(share * 100.0));
        format!("; material margin at the end {mean:+.1} % of a side's men, {lower:+.1} to {upper:+.1}")
    });
    let margin = margin.unwrap_or_default();
    let [score, ..] = result.percents();
    format!("{score:.1} % {what} ({}{margin})", result.interval_in_words())
}

/// Returns the card, as Markdown, of the model in `NAME.safetensors`.
#[must_use]
pub fn text(info: &ModelInfo, config: &NetworkConfig, name: &str) -> String {
    let trained = info.rulesets.first();
    let names: Vec<&str> = info.rulesets.iter().map(|trained| trained.name.as_str()).collect();
    let ruleset = trained.map_or("", |trained| trained.name.as_str());
    let (file, description) = (format!("{name}.safetensors"), format!("{name}.json"));
    let argument = quoted(&file);
    // A ruleset that is not shipped is named by the model file, which contains it.
    let known = presets::ruleset(ruleset).map(|shipped| ruleset_fingerprint(&shipped));
    let own = trained.map(|trained| trained.fingerprint.clone());
    let rules = if own.is_some() && known == own { ruleset } else { argument.as_str() };
    let mut text = match names.as_slice() {
        [name] => format!("# A network for Latrunculi, ruleset {name}\n"),
        _ => format!("# A network for Latrunculi, {} rulesets\n", names.len()),
    };
    text.push_str("\n| | |\n|---|---|\n");
    for (name, value) in facts(info, config) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "| {name} | {} |", value.replace('|', "\\|"));
    }
    let history = &info.history;
    let commands: Vec<&str> = history.strength.iter().filter_map(|measured| measured.command.as_deref()).collect();
    if commands.is_empty() {
        text.push_str("\nIts strength was not measured.\n");
    } else {
        text.push_str(
            "\nA draw counts one half. Strength is measured in games from random openings, each played twice with seats \
             swapped; its interval is over these pairs. These commands repeat such matches:\n\n```sh\n",
        );
        for command in commands {
            let _ = writeln!(text, "{}", renamed(command, &file));
        }
        text.push_str("```\n");
    }
    let _ = write!(
        text,
        "\n## Use\n\n\
         ```sh\n\
         latrunculi play --ruleset {rules} --first human --second {}\n\
         latrunculi analyse --ruleset {rules} --position initial --agent {}\n\
         latrunculi export {argument} --out exported\n\
         ```\n\n\
         Other programs read the exported files: {description} describes inputs, outputs and action indices, and \
         docs/FORMATS.md of the program says how to use them. The model file and {description} contain the whole text \
         of each ruleset; `--ruleset {argument}` selects the first.\n\n\
         ## Limits\n\n\
         - It was trained on the rulesets above alone. It answers under every ruleset and on every board, but far from \
         these its answers mean little.\n\
         - Its win, draw and loss probabilities are for games between players like itself, not for perfect play.\n\
         - Strength was measured against programs, from random openings; its strength against people is unknown.\n\
         - The bare policy (no search) is much weaker than the network with search.\n",
        quoted(&format!("net:{file},sims=200")),
        quoted(&format!("net:{file},sims=1000")),
    );
    text
}

/// Returns a command that was noted when the model was called `model.safetensors`, with the model's present file.
fn renamed(command: &str, file: &str) -> String {
    const NOTED: &str = "model.safetensors";
    let word = |word: &str| match (word.strip_prefix("net:").and_then(|agent| agent.strip_prefix(NOTED)), word) {
        (Some(rest), _) => quoted(&format!("net:{file}{rest}")),
        (None, NOTED) => quoted(file),
        (None, word) => word.to_owned(),
    };
    command.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Returns a word quoted for a shell where needed.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "._-/=:,+@%".contains(letter);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_the_present_file_of_the_model() {
        let noted = "latrunculi match net:model.safetensors,sims=4 alphabeta:nodes=50 --ruleset savard";
        assert_eq!(renamed(noted, "model.safetensors"), noted);
        assert_eq!(
            renamed(noted, "my first.safetensors"),
            "latrunculi match 'net:my first.safetensors,sims=4' alphabeta:nodes=50 --ruleset savard"
        );
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
