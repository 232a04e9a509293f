//! A session: a game, its players and the terminal.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use latrunculi_engine::{GameRecord, GameState, Player, Rules};
use latrunculi_eval::agents::mix_seeds;
use latrunculi_eval::{Agent, AgentKind, AgentSpec, Number};
use latrunculi_train::models::NetworkOpener;

use super::board::{self, Palette};
use super::input::Input;
use super::thinking::think;
use super::words::COMMANDS;
use super::{PlayArgs, curve, listing, palette};
use crate::game::Game;
use crate::interrupt::{Interrupt, Stopped};

pub(super) enum Seat {
    Human,
    Agent(Box<dyn Agent>, String),
}

/// The agent that gives hints.
pub(super) struct Adviser {
    pub(super) agent: Box<dyn Agent>,
    pub(super) name: String,
    /// Says that its network was not trained on the ruleset.
    pub(super) notice: Option<String>,
}

pub(super) struct Session {
    pub(super) game: Game,
    /// Player 1 first.
    pub(super) seats: [Seat; 2],
    pub(super) adviser: Adviser,
    pub(super) palette: Palette,
    pub(super) input: Input,
    pub(super) interrupt: Interrupt,
    pub(super) delay: Duration,
    pub(super) record_path: Option<PathBuf>,
    /// The file that the game was saved to or loaded from last, and how it stood then.
    pub(super) saved: Option<(PathBuf, GameRecord)>,
    /// The game that was not left for another one, as it was not saved.
    pub(super) left: Option<GameRecord>,
}

/// What is to be done after a person's line.
pub(super) enum Next {
    Ask,
    Draw,
    Leave,
}

impl Session {
    pub(super) fn new(args: &PlayArgs, networks: &NetworkOpener) -> anyhow::Result<Session> {
        let rules = args.rules()?;
        let make = |spec: &AgentSpec, index: u64, networks: &NetworkOpener| -> anyhow::Result<Box<dyn Agent>> {
            let mut agent =
                spec.make(&rules, &mut networks.factory(&rules)).with_context(|| format!("agent {spec}"))?;
            agent.new_game(mix_seeds(&[args.seed, index, spec.seed.unwrap_or(0)]));
            Ok(agent)
        };
        let seat = |spec: &AgentSpec, index: u64| -> anyhow::Result<Seat> {
            Ok(match spec.kind {
                AgentKind::Human => Seat::Human,
                _ => Seat::Agent(make(spec, index, networks)?, spec.to_string()),
            })
        };
        let seats = [seat(&args.first, 0)?, seat(&args.second, 1)?];
        let adviser = args.adviser();
        ensure!(adviser.kind != AgentKind::Human, "--hint human: name an agent that can be asked");
        let (sender, said) = mpsc::channel();
        // Said with each hint, not now.
        let noting =
            NetworkOpener { notice: Arc::new(move |text| drop(sender.send(text.to_owned()))), ..networks.clone() };
        let agent = make(&adviser, 2, &noting)?;
        let adviser = Adviser { agent, name: adviser.to_string(), notice: said.try_recv().ok() };
        let state = match &args.position {
            None => GameState::new(Arc::clone(&rules)),
            Some(text) => GameState::parse(&rules, text, Player::First)?,
        };
        let names = [args.first.to_string(), args.second.to_string()];
        let mut session = Session {
            game: Game::new(state, names, args.seed),
            seats,
            adviser,
            palette: palette(args.color),
            input: Input::open()?,
            // While it draws, too, no signal loses the game.
            interrupt: Interrupt::listen(false)?,
            delay: Duration::from_secs_f64(args.delay),
            record_path: args.record.clone(),
            saved: None,
            left: None,
        };
        if let Some(path) = &args.load {
            session.go_on_from(session.read(path)?, path);
        }
        Ok(session)
    }

    pub(super) fn rules(&self) -> &Arc<Rules> {
        self.game.rules()
    }

    pub(super) fn has_human(&self) -> bool {
        self.seats.iter().any(|seat| matches!(seat, Seat::Human))
    }

    /// Plays until the game is over and nobody wants anything any more.
    pub(super) fn play(&mut self, output: &mut dyn Write) -> anyhow::Result<()> {
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
                    return Err(Stopped::silently().into());
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
    pub(super) fn let_agent_play(&mut self, output: &mut dyn Write) -> anyhow::Result<bool> {
        let state = self.game.state().clone();
        let player = state.player_to_act();
        let Seat::Agent(agent, name) = &mut self.seats[player.index()] else { return Ok(true) };
        output.flush()?;
        let (choice, is_stopped) = think(agent.as_mut(), name, &state, &self.interrupt)?;
        if is_stopped {
            return Ok(false);
        }
        let value = choice
            .value
            .map(|value| format!("  (value {:+.2} for {player})", Number(value.into())))
            .unwrap_or_default();
        let text = state.action_text(choice.action);
        let line = format!("{player}, {name}: {}", self.palette.strong(&text));
        self.game.play_choice(&choice);
        writeln!(output, "{line}{value}")?;
        self.draw(output)?;
        Ok(self.wait())
    }

    /// Waits as long as was asked for; false if Ctrl-C was pressed meanwhile.
    pub(super) fn wait(&self) -> bool {
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

    pub(super) fn draw(&self, output: &mut dyn Write) -> anyhow::Result<()> {
        writeln!(output, "\n{}{}", board::draw(&self.game, &self.palette), board::status(&self.game))?;
        Ok(())
    }

    pub(super) fn write_end(&self, output: &mut dyn Write) -> anyhow::Result<()> {
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

    pub(super) fn prompt(&self) -> String {
        if self.game.is_over() {
            return "the game is over (undo, save, quit)> ".to_owned();
        }
        let player = self.game.state().player_to_act();
        format!("{player} ({})> ", ['M', 'm'][player.index()])
    }

    pub(super) fn completions(&self) -> Vec<String> {
        let actions = self.game.legal_actions().into_iter().map(|action| self.game.state().action_text(action));
        actions.chain(COMMANDS.map(str::to_owned)).collect()
    }
}
