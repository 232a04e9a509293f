//! The model card: what a model is, how it was made, how strong it was found, what it is good for.

use std::fmt::Write;

use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_model::{Measurement, Model};

/// Returns what is known of a model, as names and values. What is not known is left out.
pub(crate) fn facts(model: &Model) -> Vec<(&'static str, String)> {
    let (info, config, shape) = (&model.info, model.network.config(), model.network.shape());
    let history = &info.history;
    let mut facts = Vec::new();
    let fingerprint = info.rules().map(|rules| format!(", fingerprint {}", ruleset_fingerprint(rules.ruleset())));
    let board = format!("{}x{} board", shape.files, shape.ranks);
    facts.push(("ruleset", format!("{} ({board}{})", info.ruleset, fingerprint.unwrap_or_default())));
    facts.push((
        "network",
        format!(
            "{} blocks x {} channels, {} weights; {} planes, {} scalars, {} policy logits",
            config.blocks,
            config.channels,
            model.network.parameter_count(),
            shape.planes,
            shape.scalars,
            shape.policy_len()
        ),
    ));
    facts.push(("trained", format!("{} steps on {} positions", info.training.steps, info.training.samples)));
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

/// Says what was measured, with its interval.
pub(crate) fn measurement(measured: &Measurement) -> String {
    let Measurement { what, wins, draws, losses, score, lower, upper, .. } = measured;
    let [score, lower, upper] = [score, lower, upper].map(|share| share * 100.0);
    format!("{score:.1} % {what} (95 % interval {lower:.1} to {upper:.1}; +{wins} ={draws} -{losses})")
}

/// Returns the card as Markdown.
pub(crate) fn text(model: &Model) -> String {
    let ruleset = &model.info.ruleset;
    let mut text = format!("# A network for Latrunculi, ruleset {ruleset}\n\n| | |\n|---|---|\n");
    for (name, value) in facts(model) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "| {name} | {} |", value.replace('|', "\\|"));
    }
    let history = &model.info.history;
    let measured: Vec<&Measurement> = history.strength.iter().chain(&history.first_player).collect();
    if measured.is_empty() {
        text.push_str("\nIts strength was not measured.\n");
    } else {
        text.push_str(
            "\nA draw counts one half. Strength is measured in games from random openings, each played twice with seats \
             swapped, and its interval is over pairs. Such games are played again by\n\n```sh\n",
        );
        for measured in measured {
            let _ = writeln!(text, "{}", measured.command);
        }
        text.push_str("```\n");
    }
    let _ = write!(
        text,
        "\n## Use\n\n\
         ```sh\n\
         latrunculi play --ruleset {ruleset} --first human --second net:model.safetensors,sims=200\n\
         latrunculi analyse --ruleset {ruleset} --position initial --agent net:model.safetensors,sims=1000\n\
         latrunculi export model.safetensors --out exported\n\
         ```\n\n\
         Other programs read the exported files: model.json describes inputs, outputs and action indices, and \
         docs/FORMATS.md of the program says how they are used. The whole ruleset is in the model file and in \
         model.json.\n\n\
         ## Limits\n\n\
         - It was trained on this ruleset alone. Under another one with a board of the same size it gives answers, \
         but they mean little.\n\
         - Its win, draw and loss are what it expects of games between players like itself, not of perfect play.\n\
         - Strength was measured against programs, from random openings; nothing is known of it against people.\n\
         - The bare policy (no search) is much weaker than the network with search.\n"
    );
    text
}
