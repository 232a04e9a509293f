//! `go` and `genmove`: what they may spend, and the lines that tell what is found on the way.

use std::io::Write;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use latrunculi_engine::GameState;
use latrunculi_engine::parameters::did_you_mean;
use latrunculi_eval::opinion::variation_texts;
use latrunculi_eval::{AgentKind, AgentSpec, Choice, Number, SearchLimits, SearchOptions};
use latrunculi_search::StopSignal;
use latrunculi_search::alphabeta::DEPTH_MAX;
use latrunculi_search::mcts::SIMULATIONS_MAX;

use super::session::Session;

/// The longest that one search may think, in seconds.
const SECONDS_MAX: f64 = 1e6;

/// Reads `nodes N`, `depth N`, `sims N`, `seconds S` in any order: what one search may spend.
fn limits(text: &str, agent: &AgentSpec) -> anyhow::Result<SearchLimits> {
    let (knows_nodes, knows_sims) = match agent.kind {
        AgentKind::AlphaBeta { .. } => (true, false),
        AgentKind::Mcts { .. } | AgentKind::Network { .. } => (false, true),
        _ => (false, false),
    };
    let mut limits = SearchLimits::default();
    let mut words = text.split_whitespace();
    while let Some(name) = words.next() {
        let known = ["nodes", "depth", "sims", "seconds"];
        if !known.contains(&name) {
            let hint = did_you_mean(name, known);
            bail!("{name:?} is not a limit, as nodes N, depth N, sims N and seconds S are{hint}");
        }
        let value = words.next().with_context(|| format!("{name} needs a number, as in go {name} 5"))?;
        let fits = match name {
            "nodes" | "depth" => knows_nodes,
            "sims" => knows_sims,
            _ => knows_nodes || knows_sims,
        };
        ensure!(fits, "{agent} has no limit of {name}");
        match name {
            "nodes" => limits.nodes = Some(number(name, value, 1, u64::MAX)?),
            "depth" => limits.depth = Some(number(name, value, 1, u64::from(DEPTH_MAX))? as u32),
            "sims" => limits.simulations = Some(number(name, value, 1, u64::from(SIMULATIONS_MAX))? as u32),
            _ => {
                let seconds = value.parse().ok().filter(|seconds| (0.0..=SECONDS_MAX).contains(seconds));
                let seconds = seconds.with_context(|| format!("seconds {value}: write a number from 0 to 1000000"))?;
                limits.time = Some(Duration::from_secs_f64(seconds));
            }
        }
    }
    Ok(limits)
}

fn number(name: &str, text: &str, least: u64, greatest: u64) -> anyhow::Result<u64> {
    let number = text.parse().ok().filter(|number| (least..=greatest).contains(number));
    number.with_context(|| match greatest {
        u64::MAX => format!("{name} {text}: write a whole number of at least {least}"),
        _ => format!("{name} {text}: write a whole number from {least} to {greatest}"),
    })
}

impl Session {
    /// Lets the agent think about the present position; writes a line whenever it has found more.
    ///
    /// The inner error is the answer; the outer one ends the conversation.
    pub(super) fn choose_with(
        &mut self,
        limits: &str,
        stop: StopSignal,
        output: &mut dyn Write,
    ) -> std::io::Result<anyhow::Result<Choice>> {
        let limits = match self::limits(limits, &self.spec) {
            Ok(limits) => limits,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(words) = self.state().end_words() {
            return Ok(Err(anyhow::anyhow!("the game is over: {words}")));
        }
        let state = self.state().clone();
        let agent = &mut self.agent;
        let mut written = Ok(());
        let mut last_told = String::new();
        let mut tell = |choice: &Choice| {
            let line = info_line(&state, choice);
            if written.is_ok() && line != last_told {
                written = writeln!(output, "{line}").and_then(|()| output.flush());
                last_told = line;
            }
        };
        let choice = {
            let thinking = &mut SearchOptions { limits, stop: stop.clone(), ..SearchOptions::reporting(&mut tell) };
            watched(&stop, || agent.choose_with(&state, thinking))
        };
        if let Ok(choice) = &choice {
            tell(choice);
        }
        written?;
        Ok(choice.map_err(anyhow::Error::from))
    }
}

/// Does `work` and raises `stop` for it when nobody reads the answers any more: a program that has died should not leave
/// one behind that thinks for ever.
fn watched<T>(stop: &StopSignal, work: impl FnOnce() -> T) -> T {
    const LOOK_AGAIN: Duration = Duration::from_millis(500);
    std::thread::scope(|scope| {
        let (done, is_done) = channel::<()>();
        scope.spawn(move || {
            loop {
                if is_done.recv_timeout(LOOK_AGAIN) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                if is_reader_gone() {
                    return stop.raise();
                }
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// Tells whether the other end of the standard output is closed.
#[cfg(unix)]
fn is_reader_gone() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let output = std::io::stdout();
    let mut watched = [PollFd::new(&output, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    // Where the system cannot tell, the next line that is written finds it out.
    let is_told = poll(&mut watched, Some(&at_once)).is_ok_and(|told| told > 0);
    is_told && watched[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Elsewhere the next line that is written finds it out.
#[cfg(not(unix))]
fn is_reader_gone() -> bool {
    false
}

/// Returns what an agent has found, as one line of words.
fn info_line(state: &GameState, choice: &Choice) -> String {
    let mut line = "info".to_owned();
    if let Some(depth) = choice.depth {
        line.push_str(&format!(" depth {depth} nodes {}", choice.effort));
    } else if choice.search.is_some() {
        line.push_str(&format!(" sims {}", choice.effort));
    }
    match (choice.actions_to_end, choice.score) {
        (Some(actions), _) if actions > 0 => line.push_str(&format!(" win {actions}")),
        (Some(actions), _) => line.push_str(&format!(" loss {}", -actions)),
        (None, Some(score)) => line.push_str(&format!(" score {score}")),
        (None, None) => {}
    }
    if let Some(value) = choice.value {
        line.push_str(&format!(" value {:.4}", Number(value.into())));
    }
    if let Some([win, draw, loss]) = choice.win_draw_loss {
        line.push_str(&format!(" wdl {win:.4} {draw:.4} {loss:.4}"));
    }
    line.push_str(" pv");
    for text in variation_texts(state, &choice.principal_variation) {
        line.push(' ');
        line.push_str(&text);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, agent: &str) -> Result<SearchLimits, String> {
        limits(text, &agent.parse().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn limits_are_read_and_nonsense_is_refused() {
        let limits = read("nodes 500 seconds 0.5", "alphabeta:depth=2").unwrap();
        assert_eq!((limits.nodes, limits.depth, limits.time), (Some(500), None, Some(Duration::from_millis(500))));
        assert_eq!(read("sims 9", "mcts").unwrap().simulations, Some(9));
        for (text, agent, part) in [
            ("nodes", "alphabeta:depth=2", "needs a number"),
            ("nodes -1", "alphabeta:depth=2", "at least 1"),
            ("nodes 0", "alphabeta:depth=2", "at least 1"),
            ("depth 97", "alphabeta:depth=2", "from 1 to 96"),
            ("depth 1.5", "alphabeta:depth=2", "from 1 to 96"),
            ("nodess 5", "alphabeta:depth=2", "did you mean nodes?"),
            ("foo 3", "alphabeta:depth=2", "\"foo\" is not a limit, as nodes N"),
            ("sims 5", "alphabeta:depth=2", "has no limit of sims"),
            ("nodes 5", "mcts", "has no limit of nodes"),
            ("seconds 1", "random", "has no limit of seconds"),
            ("seconds NaN", "mcts", "from 0 to"),
            ("seconds 1e400", "mcts", "from 0 to"),
            ("seconds -3", "mcts", "from 0 to"),
        ] {
            let error = read(text, agent).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
