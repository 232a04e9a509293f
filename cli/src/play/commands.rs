//! What a person types: actions and commands.

use std::io::Write;
use std::path::Path;

use anyhow::{bail, ensure};
use latrunculi_engine::{GameState, Phase};
use latrunculi_train::error_chain;

use super::session::{Adviser, Next, Seat, Session};
use super::thinking::{opinion, think};
use super::words::{Meaning, understand};
use super::{curve, listing};
use crate::game::Game;
use crate::lines::{COLUMNS, beside};
use crate::rulesets::rules_text;

const HELP: &str = "Type an action or a command:
  a1-a4     moves         d2-d3xe3  moves and takes e3
  @c3       places a man  D@c3      places the dux
  xd4+e4    removes d4 and e4       stop, pass  end the turn, do nothing
  Shorter forms work if they are clear: a1a4, c3. Tab completes legal actions.

  moves       lists the legal actions       rules       says the rules in words
  board       draws the board again         position    shows it as one line
  hint        asks an agent for its choice
  place       places the rest of the stones, yours as the hints would
  undo        takes back to your last choice; undo 3 takes back three actions
  resign      resigns the game
  record      lists the actions of the game
  curve       draws the agents' evaluations of the game so far
  save FILE   adds the game to a file of game records
  load FILE   continues the last game in a file of game records
  quit        leaves (so do Ctrl-D and Ctrl-C)

  On the board: [M] has moved last, from the colon; x was taken; (m) is bound;
  {m} is both; D and d are the duces.";

impl Session {
    /// Reads one line of a person and does what it says.
    pub(super) fn listen(&mut self, output: &mut dyn Write) -> anyhow::Result<Next> {
        let (prompt, words) = (self.prompt(), self.completions());
        let Some(line) = self.input.ask(&prompt, words, &self.interrupt, output)? else {
            return Ok(Next::Leave);
        };
        // A person's slip is no reason to end the game.
        match self.obey(&line, output) {
            Ok(next) => Ok(next),
            Err(error) => {
                for line in error_chain(error.as_ref()).lines() {
                    writeln!(output, "{}", beside("", line))?;
                }
                Ok(Next::Ask)
            }
        }
    }

    pub(super) fn obey(&mut self, line: &str, output: &mut dyn Write) -> anyhow::Result<Next> {
        let (command, rest) = match understand(self.game.state(), line).map_err(anyhow::Error::msg)? {
            Meaning::Nothing => return Ok(Next::Ask),
            Meaning::Action(action) => {
                ensure!(!self.game.is_over(), "the game is over: undo, save FILE, load FILE or quit");
                self.game.play(action);
                return Ok(Next::Draw);
            }
            Meaning::Command(command, rest) => (command, rest),
        };
        let takes_file = matches!(command, "save" | "load");
        ensure!(!takes_file || !rest.is_empty(), "{command} which file? write {command} FILE");
        ensure!(takes_file || command == "undo" || rest.is_empty(), "{command} takes nothing, not {rest:?}");
        match command {
            "help" => writeln!(output, "{HELP}")?,
            "board" => self.draw(output)?,
            "position" => {
                let state = self.game.state();
                writeln!(output, "{}", state.rules().position_text(state.position()))?;
            }
            "moves" => writeln!(output, "{}", self.listed_moves())?,
            "rules" => write!(output, "{}", rules_text(self.game.state().rules()))?,
            "hint" => self.hint(output)?,
            "place" => {
                self.place_the_rest()?;
                return Ok(Next::Draw);
            }
            "curve" => match curve::curve(&self.game) {
                Some(curve) => write!(output, "{curve}")?,
                None => writeln!(output, "no agent has said yet what it thinks of this game")?,
            },
            "record" => match listing::listing(&self.game) {
                listing if listing.is_empty() => writeln!(output, "nothing has been played yet")?,
                listing => write!(output, "{listing}")?,
            },
            "save" => {
                self.save(Path::new(rest))?;
                writeln!(output, "saved to {rest}")?;
            }
            "undo" if rest.is_empty() => {
                self.undo()?;
                return Ok(Next::Draw);
            }
            "undo" => {
                let count = rest.parse().ok().filter(|&count: &usize| count > 0);
                let Some(count) = count else { bail!("undo takes a number of actions, not {rest:?}") };
                self.game.take_back(count)?;
                return Ok(Next::Draw);
            }
            "resign" => {
                self.game.resign()?;
                return Ok(Next::Draw);
            }
            "load" => {
                self.load_instead(Path::new(rest), output)?;
                return Ok(Next::Draw);
            }
            _ => return Ok(Next::Leave),
        }
        Ok(Next::Ask)
    }

    pub(super) fn hint(&mut self, output: &mut dyn Write) -> anyhow::Result<()> {
        ensure!(!self.game.is_over(), "the game is over");
        let state = self.game.state().clone();
        let Adviser { agent, name, notice } = &mut self.adviser;
        let (choice, is_stopped) = think(agent.as_mut(), name, &state, &self.interrupt)?;
        let early = if is_stopped { " (stopped early)" } else { "" };
        writeln!(output, "{name}{early}: {}", opinion(&state, &choice))?;
        if let Some(notice) = notice {
            writeln!(output, "{}", beside("note: ", notice))?;
        }
        Ok(())
    }

    /// Lets each agent place its stones and the adviser those of people, until all are placed or Ctrl-C is pressed.
    fn place_the_rest(&mut self) -> anyhow::Result<()> {
        let is_placing = |game: &Game| !game.is_over() && game.state().position().phase() == Phase::Placement;
        ensure!(is_placing(&self.game), "there is nothing to place");
        while is_placing(&self.game) {
            let state = self.game.state().clone();
            let (agent, name) = match &mut self.seats[state.player_to_act().index()] {
                Seat::Human => (&mut self.adviser.agent, &self.adviser.name),
                Seat::Agent(agent, name) => (agent, &*name),
            };
            let (choice, is_stopped) = think(agent.as_mut(), name, &state, &self.interrupt)?;
            if is_stopped {
                break;
            }
            match self.seats[state.player_to_act().index()] {
                Seat::Human => self.game.play(choice.action),
                Seat::Agent(..) => self.game.play_choice(&choice),
            }
        }
        Ok(())
    }

    /// Takes back until a person has the choice again.
    pub(super) fn undo(&mut self) -> anyhow::Result<()> {
        if self.game.is_over() && self.game.state().outcome().is_none() {
            // Only the resignation is taken back.
            self.game.take_back_to(self.game.past().len());
            return Ok(());
        }
        let is_human = |state: &GameState| matches!(self.seats[state.player_to_act().index()], Seat::Human);
        let Some(index) = self.game.past().iter().rposition(is_human) else { bail!("there is nothing to take back") };
        self.game.take_back_to(index);
        Ok(())
    }
}

impl Session {
    /// Lists the legal actions; those that take pieces say how many.
    fn listed_moves(&self) -> String {
        let state = self.game.state();
        let mut some_take = false;
        let words: Vec<String> = self
            .game
            .legal_actions()
            .into_iter()
            .map(|action| {
                let mut after = state.clone();
                after.play(action);
                let (text, taken) = (state.action_text(action), after.last_taken().len());
                some_take |= taken > 0;
                if taken > 0 { format!("{text} ({taken})") } else { text }
            })
            .collect();
        let legend = if some_take { "\n(1) takes one piece, and so on" } else { "" };
        format!("{}{legend}", in_lines(&words))
    }
}

/// Sets words in lines of at most eighty columns.
fn in_lines(words: &[String]) -> String {
    let width = words.iter().map(|word| word.len() + 2).max().unwrap_or(1);
    let rows = words.chunks((COLUMNS / width).max(1));
    let row =
        |row: &[String]| row.iter().map(|word| format!("{word:<width$}")).collect::<String>().trim_end().to_owned();
    rows.map(row).collect::<Vec<_>>().join("\n")
}
