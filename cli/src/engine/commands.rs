//! The commands by name.

use std::io::Write;

use anyhow::{Context, bail, ensure};
use latrunculi_data::policy_index::action_indices;
use latrunculi_engine::parameters::did_you_mean;
use latrunculi_engine::presets;
use latrunculi_search::StopSignal;

use super::PROTOCOL_VERSION;
use super::session::Session;

/// A command, as `help` tells it.
struct Command {
    name: &'static str,
    arguments: &'static str,
    meaning: &'static str,
}

const fn command(name: &'static str, arguments: &'static str, meaning: &'static str) -> Command {
    Command { name, arguments, meaning }
}

const COMMANDS: [Command; 24] = [
    command("name", "", "name of the program"),
    command("version", "", "version of the program"),
    command("protocol_version", "", "version of this protocol"),
    command("commands", "", "names of the commands, one a line"),
    command("help", "", "the commands with what they do"),
    command("rulesets", "", "names of the shipped rulesets, one a line"),
    command("ruleset", "[NAME|FILE]", "takes these rules and begins a game; without one, prints the present one"),
    command("agent", "[TEXT]", "lets this agent think; without one, prints the present one"),
    command("seed", "[N]", "the source of all randomness from now on; without one, prints the present one"),
    command("new", "", "begins a game"),
    command("position", "[initial|LINE [actions ACTION…]]", "begins a game there; without one, prints the line"),
    command("play", "ACTION…", "plays actions, all or none"),
    command("undo", "[N]", "takes back one action, or N"),
    command("legal", "", "legal actions, one a line, each with its two places in the vector of policy logits"),
    command("show", "", "draws the board"),
    command("state", "", "the position, whose decision it is, and how the game ended, as JSON"),
    command("encode", "", "the position as networks see it, as JSON"),
    command("record", "", "the game so far as a line of a file of game records"),
    command("go", "[nodes N] [depth N] [sims N] [seconds S]", "thinks, and answers with the best action"),
    command("genmove", "[the same]", "thinks, plays the best action, and answers with it"),
    command("stop", "", "ends the thinking of the last go or genmove before it"),
    command("ping", "[TEXT]", "answers with the text"),
    command("known", "COMMAND", "true or false: whether there is such a command"),
    command("quit", "", "ends"),
];

/// Names by which `play` knows commands of the same kind; `commands` does not list them.
const ALIASES: [(&str, &str); 3] = [("board", "show"), ("moves", "legal"), ("exit", "quit")];

pub(super) fn meant(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, command)| *command)
}

/// Executes one command.
///
/// The inner error is the answer; the outer one, of writing, ends the conversation.
pub(super) fn execute(
    session: &mut Session,
    command: &str,
    rest: &str,
    stop: StopSignal,
    output: &mut dyn Write,
) -> std::io::Result<anyhow::Result<String>> {
    if matches!(command, "go" | "genmove") {
        let choice = session.choose_with(rest, stop, output)?;
        return Ok(choice.map(|choice| {
            let text = session.state().action_text(choice.action);
            if command == "genmove" {
                session.game.play_choice(&choice);
            }
            text
        }));
    }
    Ok(answer(session, command, rest))
}

fn answer(session: &mut Session, command: &str, rest: &str) -> anyhow::Result<String> {
    ensure!(!command.is_empty(), "there is a number and no command behind it (`help` lists the commands)");
    let Some(known) = COMMANDS.iter().find(|known| known.name == command) else {
        let names = COMMANDS.iter().map(|known| known.name);
        let hint = did_you_mean(command, names);
        bail!("unknown command {command:?}{hint} (`help` lists the commands)");
    };
    ensure!(rest.is_empty() || !known.arguments.is_empty(), "{command} takes nothing, not {rest:?}");
    let done = |()| String::new();
    match command {
        "name" => Ok("latrunculi".to_owned()),
        "version" => Ok(env!("CARGO_PKG_VERSION").to_owned()),
        "protocol_version" => Ok(PROTOCOL_VERSION.to_string()),
        "commands" => Ok(COMMANDS.map(|known| known.name).join("\n")),
        "help" => {
            Ok(COMMANDS.map(|known| format!("{:<17}{:<42}{}", known.name, known.arguments, known.meaning)).join("\n"))
        }
        "known" => {
            ensure!(!rest.is_empty(), "known needs the name of a command, as in known go");
            Ok(COMMANDS.iter().any(|known| known.name == rest).to_string())
        }
        "rulesets" => Ok(presets::NAMES.join("\n")),
        "ruleset" if rest.is_empty() => Ok(session.state().rules().ruleset().id.clone()),
        "ruleset" => session.set_ruleset(rest).map(done),
        "agent" if rest.is_empty() => Ok(session.spec.to_string()),
        "agent" => session.set_agent(rest).map(done),
        "seed" if rest.is_empty() => Ok(session.seed.to_string()),
        "seed" => {
            let seed = rest.parse().ok().with_context(|| format!("{rest:?} is not a whole number of at least 0"))?;
            session.set_seed(seed);
            Ok(String::new())
        }
        "new" => {
            session.begin_anew();
            Ok(String::new())
        }
        "position" if rest.is_empty() => Ok(session.state().rules().position_text(session.state().position())),
        "position" => {
            let words: Vec<&str> = rest.split_whitespace().collect();
            let split = words.iter().position(|&word| word == "actions");
            let (position, actions) = match split {
                None => (&words[..], &[][..]),
                Some(split) => (&words[..split], &words[split + 1..]),
            };
            session.set_position(&position.join(" "), actions).map(done)
        }
        "play" => {
            let actions: Vec<&str> = rest.split_whitespace().collect();
            ensure!(!actions.is_empty(), "play needs an action; `legal` lists those that there are");
            session.play(&actions).map(done)
        }
        "undo" => {
            let count = if rest.is_empty() { Some(1) } else { rest.parse().ok().filter(|&count| count > 0) };
            let count = count.with_context(|| format!("{rest:?} is not a whole number of at least 1"))?;
            session.game.take_back(count).map(done)
        }
        "legal" => {
            let (state, rules) = (session.state(), session.state().rules());
            let line = |action| {
                let [first, second] = action_indices(rules, state.position(), action);
                format!("{} {first} {second}", state.action_text(action))
            };
            Ok(session.game.legal_actions().into_iter().map(line).collect::<Vec<_>>().join("\n"))
        }
        "show" => Ok(session.state().drawing()),
        "state" => Ok(session.state_json().to_string()),
        "encode" => {
            ensure!(session.state().outcome().is_none(), "the game is over: networks see unfinished games only");
            Ok(session.encoding_json().to_string())
        }
        "record" => Ok(session.game.record().to_line()),
        "ping" => Ok(rest.to_owned()),
        // `stop` has done what it does when it was read; after `quit` whoever called leaves.
        _ => Ok(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::COMMANDS;

    #[test]
    fn the_protocol_documents_every_command() {
        let text = include_str!("../../../docs/PROTOCOL.md");
        for command in COMMANDS {
            let heading = format!("| `{}", command.name);
            assert!(text.contains(&heading), "docs/PROTOCOL.md lacks {heading}");
        }
    }
}
