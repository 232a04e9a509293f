//! `play`: a game in the terminal on a drawn board, people and agents on either side.

mod board;
mod curve;
mod files;
mod input;
mod listing;
mod words;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use latrunculi_engine::{GameRecord, GameState, Rules};
use latrunculi_eval::agents::mix_seeds;
use latrunculi_eval::{Agent, AgentKind, AgentSpec, Choice, Thinking};
use latrunculi_search::alphabeta::actions_to_end;

use crate::errors::told;
use crate::game::Game;
use crate::game_files;
use crate::interrupt::Interrupt;
use crate::network::NetworkArgs;
use crate::opinion::{score_text, variation_texts};
use crate::rulesets_source;
use board::Palette;
use input::{Asked, Input};
use words::{COMMANDS, Meaning, understand};

const HELP: &str = "Type an action or a command:
  a1-a4       moves          d2-d3xe3    moves and takes e3     xd4+e4      removes d4 and e4
  @c3         places a man   D@c3        places the dux         stop, pass  go on no further, do nothing
  Less will do while it is clear: a1a4, c3. Tab completes what is legal.

  moves       lists what is legal
  board       draws the board again         position    shows it as one line
  hint        asks an agent what it would do
  undo        takes back to your last choice
  resign      gives the game up
  record      lists the actions of the game
  curve       draws what the agents thought of the game so far
  save FILE   adds the game to a file of game records
  load FILE   goes on from the last game in a file of game records
  quit        leaves (so do Ctrl-D and Ctrl-C)

  On the board: [M] has moved last, from the colon; x was taken; (m) is bound; D and d are the duces.";

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
    /// Adds the game to a file of game records when you leave, finished or not
    #[arg(long, alias = "save", value_name = "FILE")]
    record: Option<PathBuf>,
    /// Seconds to wait after each action of an agent, to watch two of them
    #[arg(long, default_value_t = 0.0, value_name = "SECONDS", value_parser = seconds)]
    delay: f64,
    /// Whether to draw in colours; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    color: ColorWhen,
    /// Everything random follows from it
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    network: NetworkArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ColorWhen {
    Auto,
    Always,
    Never,
}

impl ColorWhen {
    fn palette(self) -> Palette {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let has_colours = match self {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => std::io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb,
        };
        if has_colours { Palette::colours() } else { Palette::default() }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=3600.0).contains(seconds));
    seconds.ok_or_else(|| "write a number of seconds from 0 to 3600, as in 0.5".to_owned())
}

pub(crate) fn run(args: PlayArgs) -> anyhow::Result<()> {
    if let Some(path) = &args.record {
        files::check(path)?;
    }
    let mut session = Session::new(&args)?;
    let output = &mut std::io::stdout().lock();
    let played = session.play(output);
    // Whatever happened, the game is not lost.
    let kept = session.keep(output);
    played.and(kept)
}

/// Who chooses for a player.
enum Seat {
    Human,
    Agent(Box<dyn Agent>, String),
}

/// A game, who plays it, and the terminal.
struct Session {
    game: Game,
    /// Player 1 first.
    seats: [Seat; 2],
    adviser: Box<dyn Agent>,
    adviser_name: String,
    palette: Palette,
    input: Input,
    interrupt: Interrupt,
    delay: Duration,
    record_path: Option<PathBuf>,
    /// The file that the game was saved to or loaded from last, and how it stood then.
    saved: Option<(PathBuf, GameRecord)>,
}

/// What is to be done after a person's line.
enum Next {
    /// Nothing has changed.
    Ask,
    /// The game has changed.
    Draw,
    Leave,
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
        ensure!(args.hint.kind != AgentKind::Human, "--hint human: name an agent that can be asked");
        let adviser = make(&args.hint, 2)?;
        let state = match &args.position {
            None => GameState::new(Arc::clone(&rules)),
            Some(text) => GameState::from_position(Arc::clone(&rules), rules.parse_position(text)?),
        };
        let names = [args.first.to_string(), args.second.to_string()];
        let mut session = Session {
            game: Game::new(state, names, args.seed),
            seats,
            adviser,
            adviser_name: args.hint.to_string(),
            palette: args.color.palette(),
            input: Input::open()?,
            interrupt: Interrupt::listen()?,
            delay: Duration::from_secs_f64(args.delay),
            record_path: args.record.clone(),
            saved: None,
        };
        if let Some(path) = &args.load {
            session.load(path)?;
        }
        Ok(session)
    }

    fn rules(&self) -> &Arc<Rules> {
        self.game.rules()
    }

    fn has_human(&self) -> bool {
        self.seats.iter().any(|seat| matches!(seat, Seat::Human))
    }

    /// Plays until the game is over and nobody wants anything any more.
    fn play(&mut self, output: &mut dyn Write) -> anyhow::Result<()> {
        let ruleset = self.rules().ruleset();
        writeln!(output, "{} - {}", self.palette.strong(&ruleset.id), ruleset.name)?;
        let [first, second] = &self.game.record().agents;
        writeln!(output, "player 1 (upper case) {first}, player 2 (lower case) {second}")?;
        if self.has_human() {
            writeln!(output, "type an action, or help")?;
        }
        self.draw(output)?;
        loop {
            if self.game.is_over() {
                self.write_end(output)?;
                if !self.has_human() {
                    return Ok(());
                }
            } else if matches!(self.seats[self.game.state().player_to_act().index()], Seat::Agent(..)) {
                if !self.let_agent_play(output)? {
                    return Ok(());
                }
                continue;
            }
            loop {
                match self.listen(output)? {
                    Next::Ask => {}
                    Next::Leave => return Ok(()),
                    Next::Draw => break self.draw(output)?,
                }
            }
        }
    }

    /// Lets the agent who is to act choose; false if Ctrl-C was pressed meanwhile.
    fn let_agent_play(&mut self, output: &mut dyn Write) -> anyhow::Result<bool> {
        let state = self.game.state().clone();
        let player = state.player_to_act();
        let Seat::Agent(agent, name) = &mut self.seats[player.index()] else { return Ok(true) };
        output.flush()?;
        let (choice, is_stopped) = think(agent.as_mut(), name, &state, &self.interrupt)?;
        if is_stopped {
            return Ok(false);
        }
        let value = choice.value.map_or(String::new(), |value| format!("  (value {value:+.2} for {player})"));
        let text = state.action_text(choice.action);
        let line = format!("{player}, {name}: {}", self.palette.strong(&text));
        self.game.play_choice(&choice);
        writeln!(output, "{line}{value}")?;
        self.draw(output)?;
        Ok(self.wait())
    }

    /// Waits as long as was asked for; false if Ctrl-C was pressed meanwhile.
    fn wait(&self) -> bool {
        const SLICE: Duration = Duration::from_millis(20);
        let stop = self.interrupt.stop();
        let ((), is_stopped) = self.interrupt.during(|| {
            let begin = Instant::now();
            while begin.elapsed() < self.delay && !stop.is_raised() {
                std::thread::sleep(SLICE.min(self.delay - begin.elapsed().min(self.delay)));
            }
        });
        !is_stopped
    }

    fn draw(&self, output: &mut dyn Write) -> anyhow::Result<()> {
        writeln!(output, "\n{}{}", board::draw(&self.game, &self.palette), board::status(&self.game))?;
        Ok(())
    }

    fn write_end(&self, output: &mut dyn Write) -> anyhow::Result<()> {
        if let Some(text) = self.game.end_text() {
            writeln!(output, "{}", self.palette.strong(&text))?;
        }
        let listing = listing::listing(&self.game);
        if !listing.is_empty() {
            write!(output, "\n{listing}")?;
        }
        if let Some(curve) = curve::curve(&self.game) {
            write!(output, "\n{curve}")?;
        }
        Ok(())
    }

    fn prompt(&self) -> String {
        if self.game.is_over() {
            return "the game is over (undo, save, quit)> ".to_owned();
        }
        let player = self.game.state().player_to_act();
        format!("{player} ({})> ", ['M', 'm'][player.index()])
    }

    /// Returns what Tab completes.
    fn completions(&self) -> Vec<String> {
        let texts = self.legal_texts();
        texts.into_iter().chain(COMMANDS.map(str::to_owned)).collect()
    }

    fn legal_texts(&self) -> Vec<String> {
        let state = self.game.state();
        let mut actions = Vec::new();
        if !self.game.is_over() {
            state.legal_actions(&mut actions);
        }
        actions.into_iter().map(|action| state.action_text(action)).collect()
    }

    /// Reads one line of a person and does what it says.
    fn listen(&mut self, output: &mut dyn Write) -> anyhow::Result<Next> {
        let (prompt, words) = (self.prompt(), self.completions());
        let Asked::Line(line) = self.input.ask(&prompt, words, output)? else { return Ok(Next::Leave) };
        // A person's slip is no reason to end the game.
        match self.obey(&line, output) {
            Ok(next) => Ok(next),
            Err(error) => {
                writeln!(output, "{}", told(&error))?;
                Ok(Next::Ask)
            }
        }
    }

    fn obey(&mut self, line: &str, output: &mut dyn Write) -> anyhow::Result<Next> {
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
        ensure!(takes_file || rest.is_empty(), "{command} takes nothing, not {rest:?}");
        match command {
            "help" => writeln!(output, "{HELP}")?,
            "board" => self.draw(output)?,
            "position" => {
                let state = self.game.state();
                writeln!(output, "{}", state.rules().position_text(state.position()))?;
            }
            "moves" => writeln!(output, "{}", in_lines(&self.legal_texts()))?,
            "hint" => self.hint(output)?,
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
            "undo" => {
                self.undo()?;
                return Ok(Next::Draw);
            }
            "resign" => {
                self.game.resign()?;
                return Ok(Next::Draw);
            }
            "load" => {
                self.load(Path::new(rest))?;
                return Ok(Next::Draw);
            }
            _ => return Ok(Next::Leave),
        }
        Ok(Next::Ask)
    }

    fn hint(&mut self, output: &mut dyn Write) -> anyhow::Result<()> {
        ensure!(!self.game.is_over(), "the game is over");
        let state = self.game.state().clone();
        let (choice, is_stopped) = think(self.adviser.as_mut(), &self.adviser_name, &state, &self.interrupt)?;
        let early = if is_stopped { " (stopped early)" } else { "" };
        writeln!(output, "{}{early}: {}", self.adviser_name, opinion(&state, &choice))?;
        Ok(())
    }

    /// Takes back until a person has the choice again.
    fn undo(&mut self) -> anyhow::Result<()> {
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

    fn save(&mut self, path: &Path) -> anyhow::Result<()> {
        files::append(path, self.game.record())?;
        self.saved = Some((path.to_owned(), self.game.record().clone()));
        Ok(())
    }

    /// Goes on from the last game of a file; nothing changes if that cannot be done.
    fn load(&mut self, path: &Path) -> anyhow::Result<()> {
        let Some(record) = game_files::read(path)?.pop() else { bail!("{} holds no game", path.display()) };
        let mut game =
            Game::from_record(record, self.rules()).with_context(|| format!("the last game in {}", path.display()))?;
        game.set_agents(self.game.record().agents.clone());
        self.game = game;
        self.saved = Some((path.to_owned(), self.game.record().clone()));
        Ok(())
    }

    /// Adds the game to the file that was asked for at the start, or asks where to save it, unless it lies
    /// there as it stands.
    fn keep(&mut self, output: &mut dyn Write) -> anyhow::Result<()> {
        if self.game.record().actions.is_empty() {
            return Ok(());
        }
        let saved = self.saved.as_ref().filter(|(_, saved)| saved == self.game.record());
        if let Some(path) = self.record_path.take() {
            if saved.is_none_or(|(saved, _)| *saved != path) {
                self.save(&path)?;
                writeln!(output, "the game was added to {}", path.display())?;
            }
            return Ok(());
        }
        if saved.is_some() || !self.input.is_terminal() {
            return Ok(());
        }
        loop {
            let prompt = "this game is not saved; a file to save it to, or Enter to leave: ";
            let Asked::Line(line) = self.input.ask(prompt, Vec::new(), output)? else { return Ok(()) };
            if line.trim().is_empty() {
                return Ok(());
            }
            match self.save(Path::new(line.trim())) {
                Ok(()) => {
                    writeln!(output, "saved to {}", line.trim())?;
                    return Ok(());
                }
                Err(error) => writeln!(output, "{}", told(&error))?,
            }
        }
    }
}

/// Lets an agent think, which Ctrl-C ends; on a terminal, shows what it has found so far.
fn think(
    agent: &mut dyn Agent,
    name: &str,
    state: &GameState,
    interrupt: &Interrupt,
) -> anyhow::Result<(Choice, bool)> {
    let is_watched = std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
    let spinner = if is_watched { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    spinner.set_message(format!("{name} thinks"));
    spinner.enable_steady_tick(Duration::from_millis(200));
    let mut report = |choice: &Choice| spinner.set_message(format!("{name} thinks: {}", opinion(state, choice)));
    let mut thinking = Thinking { stop: interrupt.stop(), ..Thinking::telling(&mut report) };
    let (choice, is_stopped) = interrupt.during(|| agent.think(state, &mut thinking));
    spinner.finish_and_clear();
    let choice = choice.with_context(|| format!("agent {name}"))?;
    Ok((choice, is_stopped))
}

/// Returns what an agent thinks, in short: the action, what it is worth, what is expected to follow.
fn opinion(state: &GameState, choice: &Choice) -> String {
    /// How many actions of what is expected fit beside the rest.
    const VARIATION_MAX: usize = 5;
    let mut text = state.action_text(choice.action);
    if let Some(score) = choice.score {
        let unit = if actions_to_end(score).is_some() { "" } else { " men" };
        text.push_str(&format!(", {}{unit}", score_text(score)));
    } else if let Some(value) = choice.value {
        text.push_str(&format!(", value {value:+.2}"));
    }
    let variation = variation_texts(state, &choice.principal_variation);
    if variation.len() > 1 {
        let shown = &variation[1..variation.len().min(VARIATION_MAX + 1)];
        text.push_str(&format!(", then {}", shown.join(" ")));
    }
    text
}

/// Sets words in lines of at most eighty columns.
fn in_lines(words: &[String]) -> String {
    const COLUMNS: usize = 80;
    let width = words.iter().map(|word| word.len() + 2).max().unwrap_or(1);
    let rows = words.chunks((COLUMNS / width).max(1));
    let row =
        |row: &[String]| row.iter().map(|word| format!("{word:<width$}")).collect::<String>().trim_end().to_owned();
    rows.map(row).collect::<Vec<_>>().join("\n")
}
