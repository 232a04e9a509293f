//! `rulesets show`: one ruleset in words, with the source of each value.

use latrunculi_engine::Rules;
use latrunculi_engine::parameters::PARAMETERS;
use latrunculi_eval::report::rules_in_words;
use latrunculi_train::rulesets;

use super::shown_board;
use crate::lines::{print_json, wrapped};

pub(super) fn run(name: &str, as_json: bool) -> anyhow::Result<()> {
    let file = rulesets::load_file(name)?;
    let rules = rulesets::load(name)?;
    if as_json {
        return print_json(&file.to_json());
    }
    let ruleset = &file.ruleset;
    println!("{}: {}\n", ruleset.id, if ruleset.name.is_empty() { "(no title)" } else { &ruleset.name });
    if !ruleset.summary.is_empty() {
        println!("{}\n", wrapped(&ruleset.summary, 0));
    }
    if let Some(base) = &file.base {
        println!("Based on {base}.");
    }
    if !ruleset.source.is_empty() {
        println!("{}", wrapped(&format!("Source: {}.", ruleset.source), 0));
    }
    println!("\n{}", shown_board(&rules));
    println!("Upper case is player 1 (South), lower case player 2; M is a man, D the dux.");
    print!("\n{}", rules_text(&rules));
    println!("\nThe parameters that say so, with their sources\n");
    let marks = "[source] quotes the source, [reading] is our reading of an unclear sentence, [engine] lets a program finish a \
                 game; numbers such as D9 are the questions of docs/SPECIFICATION.md, section 3.";
    println!("{}\n", wrapped(marks, 2));
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
        println!("{}", wrapped(&parameter.explained(), 6));
        if let Some(evidence) = evidence.filter(|evidence| !evidence.text.is_empty()) {
            let from =
                if evidence.ruleset == ruleset.id { String::new() } else { format!(" (as {})", evidence.ruleset) };
            println!("{}", wrapped(&format!("{}{from}", evidence.text), 6));
        }
    }
    let unlisted = [(ruleset.setup.array.is_some(), "the array drawn above"), (!has_duces, "those about a dux")];
    let unlisted: Vec<&str> = unlisted.iter().filter(|(applies, _)| *applies).map(|(_, what)| *what).collect();
    let but_for = if unlisted.is_empty() { String::new() } else { format!(", but for {}", unlisted.join(" and ")) };
    println!("\nAll other parameters have their defaults{but_for}.");
    for note in rules.settings_without_effect() {
        println!("note: {note}");
    }
    Ok(())
}

/// Returns the rules in words, in lines of at most eighty columns.
pub(crate) fn rules_text(rules: &Rules) -> String {
    let part = |(heading, sentences): (&str, Vec<String>)| {
        let sentences: Vec<String> = sentences.iter().map(|sentence| wrapped(sentence, 2)).collect();
        format!("{heading}\n{}\n", sentences.join("\n"))
    };
    rules_in_words(rules).into_iter().map(part).collect::<Vec<_>>().join("\n")
}
