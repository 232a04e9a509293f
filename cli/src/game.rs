//! A game with its past, as `play` and `engine` keep it.

use std::sync::Arc;

use anyhow::{bail, ensure};
use latrunculi_engine::{Action, GameRecord, GameState, RecordedResult, Rules};
use latrunculi_eval::Choice;

use crate::game_files::with_way_out;

/// A game under way: where it stands, every state before, and its record.
#[derive(Clone)]
pub(crate) struct Game {
    state: GameState,
    /// The state before each action of the record.
    past: Vec<GameState>,
    record: GameRecord,
}

impl Game {
    /// Begins a game at `state`; `agents` are the texts of both sides, player 1 first.
    pub(crate) fn new(state: GameState, agents: [String; 2], seed: u64) -> Game {
        let record = GameRecord::new(&state, agents, seed);
        Game { state, past: Vec::new(), record }
    }

    /// Goes on from where a recorded game stands; the record keeps its agents' names.
    ///
    /// # Errors
    /// When the record is not of a game of these rules.
    pub(crate) fn from_record(record: GameRecord, rules: &Arc<Rules>) -> anyhow::Result<Game> {
        let mut past: Vec<GameState> = Vec::new();
        let state = record.replay_with(rules, |state, _| past.push(state.clone())).map_err(with_way_out)?;
        Ok(Game { state, past, record })
    }

    pub(crate) fn state(&self) -> &GameState {
        &self.state
    }

    pub(crate) fn rules(&self) -> &Arc<Rules> {
        self.state.rules()
    }

    /// Returns the state before each action, the first action's first.
    pub(crate) fn past(&self) -> &[GameState] {
        &self.past
    }

    pub(crate) fn record(&self) -> &GameRecord {
        &self.record
    }

    /// Names who plays, player 1 first.
    pub(crate) fn set_agents(&mut self, agents: [String; 2]) {
        self.record.agents = agents;
    }

    /// Notes what everything random follows from.
    pub(crate) fn set_seed(&mut self, seed: u64) {
        self.record.seed = seed;
    }

    /// Tells whether the game is over, by the rules or because somebody resigned.
    pub(crate) fn is_over(&self) -> bool {
        self.record.result.is_some() || self.state.outcome().is_some()
    }

    /// Returns the legal actions; none when the game is over.
    pub(crate) fn legal_actions(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        if !self.is_over() {
            self.state.legal_actions(&mut actions);
        }
        actions
    }

    /// Plays a legal action of which nobody has an opinion.
    pub(crate) fn play(&mut self, action: Action) {
        self.past.push(self.state.clone());
        self.record.play(&mut self.state, action, None, None);
    }

    /// Plays what an agent chose, and notes what it thought of it.
    pub(crate) fn play_choice(&mut self, choice: &Choice) {
        self.past.push(self.state.clone());
        let effort = (choice.effort > 0).then_some(choice.effort);
        self.record.play(&mut self.state, choice.action, choice.value, effort);
    }

    /// Returns the last action's text, if one has been played.
    pub(crate) fn last_action(&self) -> Option<&str> {
        self.record.actions.last().map(String::as_str)
    }

    /// Takes back to where `keep` actions have been played; a resignation is taken back as well.
    pub(crate) fn take_back_to(&mut self, keep: usize) {
        let Some(state) = self.past.get(keep) else {
            if self.state.outcome().is_none() {
                self.record.result = None;
            }
            return;
        };
        self.state = state.clone();
        self.past.truncate(keep);
        self.record.actions.truncate(keep);
        self.record.values.truncate(keep);
        self.record.efforts.truncate(keep);
        self.record.visits.truncate(keep);
        self.record.opening = self.record.opening.min(keep);
        (self.record.result, self.record.reason) = (None, None);
    }

    /// Takes back `count` actions.
    ///
    /// # Errors
    /// When fewer have been played.
    pub(crate) fn take_back(&mut self, count: usize) -> anyhow::Result<()> {
        let played = self.past.len();
        if played == 0 {
            bail!("there is nothing to take back");
        }
        ensure!(count <= played, "only {played} actions have been played, {count} cannot be taken back");
        self.take_back_to(played - count);
        Ok(())
    }

    /// Gives the game up for the player to act.
    ///
    /// # Errors
    /// When the game is over.
    pub(crate) fn resign(&mut self) -> anyhow::Result<()> {
        ensure!(!self.is_over(), "the game is over");
        self.record.result = Some(RecordedResult::of_winner(Some(self.state.player_to_act().opponent())));
        Ok(())
    }

    /// Says how the game ended, as `player 1 wins: eliminated`; `None` while it goes on.
    pub(crate) fn end_text(&self) -> Option<String> {
        if !self.is_over() {
            return None;
        }
        let winner = match self.record.result {
            Some(result) => result.winner(),
            None => self.state.outcome().and_then(|outcome| outcome.winner),
        };
        Some(match (winner, self.state.end_words()) {
            (Some(winner), None) => format!("{winner} wins: {} resigned", winner.opponent()),
            (Some(winner), Some(words)) => format!("{winner} wins: {words}"),
            (None, Some(words)) => format!("drawn: {words}"),
            (None, None) => "drawn".to_owned(),
        })
    }
}
