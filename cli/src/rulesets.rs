//! `rulesets list`, `show`, `check`: the reconstructions, in words and with their evidence.

use clap::{Args, Subcommand};
use latrunculi_engine::parameters::{PARAMETERS, ParameterValue};
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{GameState, Player, Rules, RulesetFile, presets};
use latrunculi_train::error_chain;
use latrunculi_train::rulesets;
use serde_json::json;

#[derive(Args)]
pub(crate) struct RulesetsArgs {
    #[command(subcommand)]
    command: RulesetsCommand,
}

#[derive(Subcommand)]
enum RulesetsCommand {
    /// Lists every shipped ruleset with board, men and how it starts; --json with its source as well
    List {
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows one ruleset: its opening board, its rules in words, and the source of each value
    Show {
        /// A shipped name, or the path of a file
        ruleset: String,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Checks a ruleset file: every fault with its place, and settings that change nothing
    Check {
        /// Paths of files, or shipped names
        #[arg(required = true)]
        rulesets: Vec<String>,
    },
    /// Writes the documentation of every ruleset and parameter, as in docs/RULES.md
    Document,
}

pub(crate) fn run(args: RulesetsArgs) -> anyhow::Result<()> {
    match args.command {
        RulesetsCommand::List { json } => list(json),
        RulesetsCommand::Show { ruleset, json } => show(&ruleset, json),
        RulesetsCommand::Check { rulesets } => check(&rulesets),
        RulesetsCommand::Document => {
            print!("{}", document()?);
            Ok(())
        }
    }
}

/// A side's stones in a few characters, as `16+1` (men and dux) or `12`.
fn stones_text(rules: &Rules) -> String {
    let initial = rules.initial_position();
    let men = rules.men_at_start(Player::First);
    let dux = initial.dux(Player::First).is_some() || initial.hand(Player::First).dux > 0;
    if dux { format!("{men}+1") } else { men.to_string() }
}

fn list(as_json: bool) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for id in presets::NAMES {
        let file = rulesets::load_file(id)?;
        let rules = rulesets::load(id)?;
        let ruleset = rules.ruleset();
        let start = if ruleset.setup.array.is_some() { "array" } else { "placement" };
        rows.push((
            (*id).to_owned(),
            format!("{}x{}", rules.files(), rules.ranks()),
            stones_text(&rules),
            start.to_owned(),
            file.ruleset.name.clone(),
            file.ruleset.source.clone(),
        ));
    }
    if as_json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(id, board, men, start, name, source)| {
                json!({"id": id, "board": board, "men": men, "start": start, "name": name, "source": source})
            })
            .collect();
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    println!("{:<27} {:>6} {:>6}  {:<10} name", "ruleset", "board", "men", "start");
    for (id, board, men, start, name, _) in rows {
        println!("{id:<27} {board:>6} {men:>6}  {start:<10} {name}");
    }
    println!("\nmen: men and dux of one side. Names that begin with x- are for comparison and from no source.");
    Ok(())
}

fn shown_board(rules: &Rules) -> String {
    let state = GameState::from_position(std::sync::Arc::new(rules.clone()), rules.initial_position());
    state.drawing()
}

fn show(name: &str, as_json: bool) -> anyhow::Result<()> {
    let file = rulesets::load_file(name)?;
    let rules = rulesets::load(name)?;
    if as_json {
        println!("{}", serde_json::to_string_pretty(&show_json(&file))?);
        return Ok(());
    }
    let ruleset = &file.ruleset;
    println!("{}: {}\n", ruleset.id, if ruleset.name.is_empty() { "(no title)" } else { &ruleset.name });
    if !ruleset.summary.is_empty() {
        println!("{}\n", ruleset.summary);
    }
    if let Some(base) = &file.base {
        println!("Based on {base}.");
    }
    if !ruleset.source.is_empty() {
        println!("Source: {}.", ruleset.source);
    }
    println!("\n{}", shown_board(&rules));
    let placement = &ruleset.placement;
    if ruleset.setup.array.is_none() {
        println!(
            "Each side places {} men{}, {} a turn{}.",
            placement.men,
            if placement.dux > 0 { " and a dux" } else { "" },
            placement.group,
            placement.opening_group.map(|first| format!(" ({first} in the first turn)")).unwrap_or_default()
        );
    }
    println!("Upper case is player 1 (South), lower case player 2; M is a man, D the dux.\n");
    let has_duces = rules.has_duces();
    for parameter in PARAMETERS {
        let value = parameter.value_in(ruleset);
        let evidence = file.evidence.get(parameter.name);
        let about_dux = parameter.name.starts_with("dux.") || parameter.name == "end.win_dux";
        if parameter.name == "setup.array" || (about_dux && !has_duces) {
            continue;
        }
        let is_default = value == parameter.default_value();
        if is_default && evidence.is_none() {
            continue;
        }
        println!("  {} = {value}", parameter.name);
        println!("      {}", parameter.meaning);
        if let Some(evidence) = evidence.filter(|evidence| !evidence.text.is_empty()) {
            let from =
                if evidence.ruleset == ruleset.id { String::new() } else { format!(" (as {})", evidence.ruleset) };
            println!("      {}{from}", evidence.text);
        }
    }
    println!("\nAll other parameters have their defaults.");
    for note in rules.settings_without_effect() {
        println!("note: {note}");
    }
    Ok(())
}

fn show_json(file: &RulesetFile) -> serde_json::Value {
    let parameters: serde_json::Map<String, serde_json::Value> = PARAMETERS
        .iter()
        .map(|parameter| {
            let evidence = file.evidence.get(parameter.name);
            let entry = json!({
                "value": parameter.value_in(&file.ruleset).to_json(),
                "default": parameter.default_value().to_json(),
                "evidence": evidence.map(|evidence| evidence.text.clone()),
                "from": evidence.map(|evidence| evidence.ruleset.clone()),
            });
            (parameter.name.to_owned(), entry)
        })
        .collect();
    json!({
        "id": file.ruleset.id, "name": file.ruleset.name, "summary": file.ruleset.summary,
        "source": file.ruleset.source, "base": file.base, "parameters": parameters,
    })
}

fn check(names: &[String]) -> anyhow::Result<()> {
    let mut faulty = 0;
    for name in names {
        match rulesets::load_file(name).and_then(|_| rulesets::load(name)) {
            Ok(rules) => {
                let id = &rules.ruleset().id;
                println!("{name}: {id} can be played ({}x{})", rules.files(), rules.ranks());
                // The name of a game's rules leads to the shipped ones first.
                let shipped = presets::ruleset(id).map(|shipped| ruleset_fingerprint(&shipped));
                if shipped.is_some_and(|shipped| shipped != ruleset_fingerprint(rules.ruleset())) {
                    println!(
                        "{name}: note: {id:?} is a shipped ruleset with other parameters; give this one an id of its own, or \
                         its games can be read with --ruleset {name} alone"
                    );
                }
                for note in rules.settings_without_effect() {
                    println!("{name}: note: {note}");
                }
            }
            Err(error) => {
                let reason = error_chain(&error);
                let name = if reason.contains(name.as_str()) { String::new() } else { format!("{name}: ") };
                eprintln!("{name}{reason}");
                faulty += 1;
            }
        }
    }
    if faulty > 0 {
        anyhow::bail!("{faulty} of {} cannot be used", names.len());
    }
    Ok(())
}

/// Writes docs/RULES.md from the ruleset files and the table of parameters.
pub(crate) fn document() -> anyhow::Result<String> {
    use std::fmt::Write;
    let mut text = String::from(
        "# The rulesets\n\n\
         Written by `latrunculi rulesets document` from `configs/rulesets/` and the engine's table of parameters; a test\n\
         compares the two. `[seed]` quotes a source document, `[reading]` is our reading of an unclear sentence (the number\n\
         names the question), `[engine]` is needed so that a program can finish a game.\n\n\
         ## Parameters\n\n| parameter | values | default | meaning |\n|---|---|---|---|\n",
    );
    for parameter in PARAMETERS {
        let default = match parameter.default_value() {
            ParameterValue::Absent => "none".to_owned(),
            value => value.to_string(),
        };
        writeln!(text, "| `{}` | {} | `{default}` | {} |", parameter.name, parameter.kind, parameter.meaning)?;
    }
    for id in presets::NAMES {
        let file = rulesets::load_file(id)?;
        let rules = rulesets::load(id)?;
        let ruleset = &file.ruleset;
        writeln!(text, "\n## `{id}`: {}\n\n{}\n", ruleset.name, ruleset.summary)?;
        if let Some(base) = &file.base {
            writeln!(text, "Based on `{base}`.")?;
        }
        writeln!(text, "Source: {}.\n\n```text\n{}```\n", ruleset.source, shown_board(&rules))?;
        writeln!(text, "| parameter | value | where it comes from |\n|---|---|---|")?;
        for parameter in PARAMETERS {
            let Some(evidence) = file.evidence.get(parameter.name).filter(|evidence| evidence.ruleset == *id) else {
                continue;
            };
            let value = match parameter.name {
                "setup.array" if parameter.value_in(ruleset) != ParameterValue::Absent => "as drawn".to_owned(),
                _ => format!("`{}`", parameter.value_in(ruleset)),
            };
            writeln!(text, "| `{}` | {value} | {} |", parameter.name, evidence.text.replace('|', "\\|"))?;
        }
    }
    Ok(text)
}
