//! `play`: a game in the terminal on a drawn board, people and agents on either side.

use std::fs::OpenOptions;
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use clap::Args;
use latrunculi_engine::record::read_records;
use latrunculi_engine::{Action, GameRecord, GameState, Player, RecordedResult, Rules};
use latrunculi_eval::agents::mix_seeds;
use latrunculi_eval::{Agent, AgentKind, AgentSpec, Choice};

use crate::analyse::variation_texts;
use crate::network::NetworkArgs;
use crate::rulesets_source;

/// Saved games are small; what is larger is something else.
const FILE_BYTES_MAX: u64 = 1 << 30;

const HELP: &str = "\
  ACTION      a1-a4 moves, d2-d3xe3 moves and takes e3, xd4+e4 removes, @c3 places a man, D@c3 the dux,
              stop declines to go on, pass passes
  actions     lists what is legal
  board       draws the board again
  hint        asks an agent what it would do
  undo        takes back to your last choice
  save FILE   adds the game to a file of game records
  load FILE   goes on from the last game in a file of game records
  resign      gives the game up
  quit        leaves";
const COMMANDS: [&str; 9] = ["actions", "board", "hint", "undo", "save", "load", "resign", "quit", "help"];

#[derive(Args)]
pub(crate) struct PlayArgs {
    /// A shipped ruleset, or the path of a file
    #[arg(long)]
    ruleset: String,
    /// Who is player 1 (upper case, south): human, random, greedy, alphabeta:nodes=20000, mcts:sims=2000,
    /// net:MODEL,sims=64
    #[arg(long, default_value = "human", value_name = "AGENT")]
    first: AgentSpec,
    /// Who is player 2 (lower case, north)
    #[arg(long, default_value = "alphabeta:nodes=20000", value_name = "AGENT")]
    second: AgentSpec,
    /// Who gives hints
    #[arg(long, default_value = "alphabeta:nodes=50000", value_name = "AGENT")]
    hint: AgentSpec,
    /// Where to begin, as the line of a position [default: the beginning]
    #[arg(long)]
    position: Option<String>,
    /// Goes on from the last game in a file of game records
    #[arg(long, value_name = "FILE", conflicts_with = "position")]
    load: Option<PathBuf>,
    /// Adds the game to a file of game records at the end
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Everything random follows from it
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    network: NetworkArgs,
}

pub(crate) fn run(args: PlayArgs) -> anyhow::Result<()> {
    let mut session = Session::new(&args)?;
    let input = std::io::stdin();
    let is_terminal = input.is_terminal();
    session.play(&mut input.lock(), &mut std::io::stdout().lock(), is_terminal)?;
    if let Some(path) = &args.save {
        session.save(path)?;
    }
    Ok(())
}

/// Who chooses for a player.
enum Seat {
    Human,
    Agent(Box<dyn Agent>, String),
}

/// A game with its past and both seats.
struct Session {
    /// Player 1 first.
    seats: [Seat; 2],
    adviser: Box<dyn Agent>,
    adviser_name: String,
    state: GameState,
    /// The state before each action.
    past: Vec<GameState>,
    record: GameRecord,
}

/// What a person's line asked for.
enum Order {
    Play(Action),
    /// Nothing has changed.
    Ask,
    /// The game has changed in another way.
    Redraw,
    Quit,
}

impl Session {
    fn new(args: &PlayArgs) -> anyhow::Result<Session> {
        let rules = rulesets_source::load(&args.ruleset)?;
        let mut networks = args.network.factory(&rules);
        let mut make = |spec: &AgentSpec, index: u64| -> anyhow::Result<Box<dyn Agent>> {
            let mut agent = spec.make(&rules, &mut networks).with_context(|| format!("agent {spec}"))?;
            agent.new_game(mix_seeds(&[args.seed, index, spec.seed.unwrap_or(0)]));
            Ok(agent)
        };
        let mut seat = |spec: &AgentSpec, index: u64| -> anyhow::Result<Seat> {
            Ok(match spec.kind {
                AgentKind::Human => Seat::Human,
                _ => Seat::Agent(make(spec, index)?, spec.to_string()),
            })
        };
        let seats = [seat(&args.first, 0)?, seat(&args.second, 1)?];
        let adviser = make(&args.hint, 2)?;
        let state = match &args.position {
            None => GameState::new(Arc::clone(&rules)),
            Some(text) => GameState::from_position(Arc::clone(&rules), rules.parse_position(text)?),
        };
        let names = [args.first.to_string(), args.second.to_string()];
        let record = GameRecord::new(&state, names, args.seed);
        let adviser_name = args.hint.to_string();
        let mut session = Session { seats, adviser, adviser_name, state, past: Vec::new(), record };
        if let Some(path) = &args.load {
            session.load(path)?;
        }
        Ok(session)
    }

    fn rules(&self) -> &Arc<Rules> {
        self.state.rules()
    }

    fn is_over(&self) -> bool {
        self.record.result.is_some() || self.state.outcome().is_some()
    }

    fn has_human(&self) -> bool {
        self.seats.iter().any(|seat| matches!(seat, Seat::Human))
    }

    /// Plays until the game is over and nobody wants anything any more.
    ///
    /// `is_terminal` tells whether a person types, who needs to be prompted.
    fn play(&mut self, input: &mut dyn BufRead, output: &mut dyn Write, is_terminal: bool) -> anyhow::Result<()> {
        writeln!(output, "{} - {}", self.rules().ruleset().id, self.rules().ruleset().name)?;
        if self.has_human() {
            writeln!(output, "type an action, or help")?;
        }
        self.draw(output)?;
        loop {
            let player = self.state.player_to_act();
            if self.is_over() {
                self.write_end(output)?;
                if !self.has_human() {
                    return Ok(());
                }
            } else if let Seat::Agent(agent, name) = &mut self.seats[player.index()] {
                let choice = agent.choose(&self.state).with_context(|| format!("agent {name}"))?;
                let value = choice.value.map_or(String::new(), |value| format!("  (value {value:+.2} for {player})"));
                writeln!(output, "{player}, {name}: {}{value}", self.state.action_text(choice.action))?;
                self.take(&choice);
                self.draw(output)?;
                continue;
            }
            match self.listen(input, output, is_terminal)? {
                Order::Quit => return Ok(()),
                Order::Ask => {}
                Order::Redraw => self.draw(output)?,
                Order::Play(action) => {
                    self.past.push(self.state.clone());
                    self.record.play(&mut self.state, action, None, None);
                    self.draw(output)?;
                }
            }
        }
    }

    fn take(&mut self, choice: &Choice) {
        self.past.push(self.state.clone());
        let effort = (choice.effort > 0).then_some(choice.effort);
        self.record.play(&mut self.state, choice.action, choice.value, effort);
    }

    fn draw(&self, output: &mut dyn Write) -> anyhow::Result<()> {
        writeln!(output, "\n{}", self.state.drawing())?;
        let position = self.state.position();
        let hands: Vec<String> = Player::BOTH
            .iter()
            .filter(|&&player| position.hand(player).stones() > 0)
            .map(|&player| format!("{player} has {} in hand", position.hand(player).stones()))
            .collect();
        if !hands.is_empty() {
            writeln!(output, "{}", hands.join(", "))?;
        }
        Ok(())
    }

    fn write_end(&self, output: &mut dyn Write) -> anyhow::Result<()> {
        let winner = self.record.result.and_then(RecordedResult::winner);
        let reason = self.record.reason.as_deref().unwrap_or("resigned");
        match winner {
            Some(winner) => writeln!(output, "{winner} wins: {reason}")?,
            None => writeln!(output, "drawn: {reason}")?,
        }
        Ok(())
    }

    /// Reads one line of a person and does what it says, short of playing.
    fn listen(&mut self, input: &mut dyn BufRead, output: &mut dyn Write, is_terminal: bool) -> anyhow::Result<Order> {
        if is_terminal {
            let asked =
                if self.is_over() { "the game is over".to_owned() } else { self.state.player_to_act().to_string() };
            write!(output, "{asked}> ")?;
            output.flush()?;
        }
        let mut line = String::new();
        if input.read_line(&mut line).context("cannot read what you type")? == 0 {
            return Ok(Order::Quit);
        }
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).map_or((line, ""), |(word, rest)| (word, rest.trim()));
        let done = match word {
            "" => Ok(Order::Ask),
            "help" | "?" => {
                writeln!(output, "{HELP}")?;
                Ok(Order::Ask)
            }
            "quit" | "exit" => Ok(Order::Quit),
            "board" => Ok(Order::Redraw),
            "actions" => {
                let mut actions = Vec::new();
                self.state.legal_actions(&mut actions);
                let texts: Vec<String> = actions.iter().map(|&action| self.state.action_text(action)).collect();
                writeln!(output, "{}", texts.join(" "))?;
                Ok(Order::Ask)
            }
            "hint" => self.hint(output).map(|()| Order::Ask),
            "undo" => self.undo().map(|()| Order::Redraw),
            "resign" => self.resign().map(|()| Order::Ask),
            "save" | "load" if rest.is_empty() => Err(anyhow::anyhow!("{word} which file? write {word} FILE")),
            "save" => {
                self.save(Path::new(rest)).map(|()| Order::Ask).inspect(|_| {
                    // What cannot be written to the terminal, cannot be helped here.
                    let _ = writeln!(output, "saved to {rest}");
                })
            }
            "load" => self.load(Path::new(rest)).map(|()| Order::Redraw),
            _ if self.is_over() => Err(anyhow::anyhow!("the game is over: undo, save FILE, load FILE or quit")),
            _ => self.state.parse_action(line).map(Order::Play).map_err(|error| {
                let near = latrunculi_engine::parameters::nearest(word, COMMANDS);
                match near {
                    Some(near) => anyhow::anyhow!("{error}; or did you mean {near}?"),
                    None => error.into(),
                }
            }),
        };
        // A person's slip is no reason to end the game.
        done.or_else(|error| {
            writeln!(output, "{error:#}")?;
            Ok(Order::Ask)
        })
    }

    fn hint(&mut self, output: &mut dyn Write) -> anyhow::Result<()> {
        ensure!(!self.is_over(), "the game is over");
        let choice = self.adviser.choose(&self.state)?;
        let value = choice.value.map_or(String::new(), |value| format!(", value {value:+.2} for you"));
        let variation = variation_texts(&self.state, &choice.principal_variation).join(" ");
        writeln!(
            output,
            "{}: {}{value}; expected: {variation}",
            self.adviser_name,
            self.state.action_text(choice.action)
        )?;
        Ok(())
    }

    /// Takes back until a person has the choice again.
    fn undo(&mut self) -> anyhow::Result<()> {
        if self.record.result.is_some() && self.state.outcome().is_none() {
            // Only the resignation is taken back.
            self.record.result = None;
            return Ok(());
        }
        let is_human = |state: &GameState| matches!(self.seats[state.player_to_act().index()], Seat::Human);
        let Some(index) = self.past.iter().rposition(is_human) else { bail!("there is nothing to take back") };
        self.state = self.past[index].clone();
        self.past.truncate(index);
        let record = &mut self.record;
        record.actions.truncate(index);
        record.values.truncate(index);
        record.efforts.truncate(index);
        record.opening = record.opening.min(index);
        (record.result, record.reason) = (None, None);
        Ok(())
    }

    fn resign(&mut self) -> anyhow::Result<()> {
        ensure!(!self.is_over(), "the game is over");
        self.record.result = Some(RecordedResult::of_winner(Some(self.state.player_to_act().opponent())));
        Ok(())
    }

    /// Adds the game to a file of game records; a file that is something else is left alone.
    fn save(&self, path: &Path) -> anyhow::Result<()> {
        if path.exists() {
            read_file(path).with_context(|| format!("{} is left as it is", path.display()))?;
        }
        let write = || -> std::io::Result<()> {
            let mut file = OpenOptions::new().create(true).append(true).open(path)?;
            file.write_all((self.record.to_line() + "\n").as_bytes())
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }

    /// Goes on from the last game of a file; nothing changes if that cannot be done.
    fn load(&mut self, path: &Path) -> anyhow::Result<()> {
        let Some(record) = read_file(path)?.pop() else { bail!("{} holds no game", path.display()) };
        let mut past: Vec<GameState> = Vec::new();
        let state = record
            .replay_with(self.rules(), |state, _| past.push(state.clone()))
            .with_context(|| format!("the last game in {}", path.display()))?;
        let agents = std::mem::take(&mut self.record.agents);
        self.record = GameRecord { agents, ..record };
        (self.state, self.past) = (state, past);
        Ok(())
    }
}

fn read_file(path: &Path) -> anyhow::Result<Vec<GameRecord>> {
    let text = rulesets_source::read_text(path, FILE_BYTES_MAX)?;
    read_records(text.as_bytes()).with_context(|| format!("{}", path.display()))
}
