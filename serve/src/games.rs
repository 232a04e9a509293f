//! Games as requests carry them: played over each time, so the server remembers none.

use std::sync::Arc;

use latrunculi_engine::record::RecordedResult;
use latrunculi_engine::{Action, EndReason, GameRecord, GameState, Player, Rules};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::library::Library;
use crate::refusal::Refusal;

/// A game: its ruleset, where it began, and what was played.
#[derive(Debug, Deserialize)]
pub(crate) struct Game {
    /// As [`Library::rules`] knows it.
    ruleset: String,
    /// The line of the position where the game began; `None` is the beginning of the ruleset.
    #[serde(default)]
    start: Option<String>,
    #[serde(default)]
    actions: Vec<String>,
}

const ACTIONS_MAX: usize = 10_000;

impl Game {
    fn begin(&self, library: &Library) -> Result<GameState, Refusal> {
        if self.actions.len() > ACTIONS_MAX {
            return Err(Refusal::wrong(format!("a game of {} actions; at most {ACTIONS_MAX}", self.actions.len())));
        }
        let rules: Arc<Rules> = library.rules(&self.ruleset)?;
        let Some(start) = &self.start else { return Ok(GameState::new(rules)) };
        let position = rules.parse_position(start).map_err(|error| Refusal::wrong(error.to_string()))?;
        Ok(GameState::from_position(rules, position))
    }

    /// Plays the game over; `visit` sees every state with the number of actions before it, and the action to be played there.
    fn replay(
        &self,
        library: &Library,
        mut visit: impl FnMut(usize, &GameState, Action),
    ) -> Result<GameState, Refusal> {
        let mut state = self.begin(library)?;
        for (index, text) in self.actions.iter().enumerate() {
            let action =
                state.parse_action(text).map_err(|error| Refusal::wrong(format!("action {}: {error}", index + 1)))?;
            visit(index, &state, action);
            state.play(action);
        }
        Ok(state)
    }

    /// Plays the game over and returns where it stands.
    pub(crate) fn state(&self, library: &Library) -> Result<GameState, Refusal> {
        self.replay(library, |_, _, _| {})
    }
}

/// A question about a game: its states from the one after `from` actions on.
#[derive(Debug, Deserialize)]
pub(crate) struct StatesRequest {
    #[serde(flatten)]
    game: Game,
    #[serde(default)]
    from: usize,
}

impl StatesRequest {
    /// Returns the states, the legal actions of the last one, and for a position that was given why no game comes to it.
    pub(crate) fn answer(&self, library: &Library) -> Result<Value, Refusal> {
        let is_given = self.game.start.is_some() && self.from == 0;
        let faults = if is_given { self.game.begin(library)?.why_not_under_way() } else { Vec::new() };
        let mut states = Vec::new();
        let last = self.game.replay(library, |index, state, _| {
            if index >= self.from {
                states.push(state.to_json());
            }
        })?;
        states.push(last.to_json());
        let mut legal = Vec::new();
        last.legal_actions(&mut legal);
        let legal: Vec<String> = legal.into_iter().map(|action| last.action_text(action)).collect();
        Ok(json!({ "states": states, "legal": legal, "faults": faults }))
    }
}

/// A position that somebody sets up.
#[derive(Debug, Deserialize)]
pub(crate) struct PositionRequest {
    /// As [`Library::rules`] knows it.
    ruleset: String,
    /// The line of the position.
    position: String,
}

impl PositionRequest {
    /// Returns the `faults`: why no game goes on from the position.
    pub(crate) fn answer(&self, library: &Library) -> Result<Value, Refusal> {
        let rules = library.rules(&self.ruleset)?;
        let faults = match rules.parse_position(&self.position) {
            Ok(position) => GameState::from_position(rules, position).why_not_under_way(),
            Err(error) => error.faults,
        };
        Ok(json!({ "faults": faults }))
    }
}

/// Reads a seed, also from its digits as a text: a number of JavaScript holds no 64 bits.
pub(crate) fn seed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Seed {
        Number(u64),
        Text(String),
    }
    match Seed::deserialize(deserializer)? {
        Seed::Number(seed) => Ok(seed),
        Seed::Text(text) => text.parse().map_err(|_| D::Error::custom("a seed is a whole number of at most 64 bits")),
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct RecordRequest {
    #[serde(flatten)]
    game: Game,
    agents: [String; 2],
    #[serde(default, deserialize_with = "seed")]
    seed: u64,
    /// How many of the actions, from the first on, were nobody's choice.
    #[serde(default)]
    opening: usize,
    /// The number of the player who gave up, 1 or 2; either may, whoever is to act.
    #[serde(default)]
    resigned: Option<u64>,
    /// For each action what its player expected, in `[-1, 1]`; may be shorter.
    #[serde(default)]
    values: Vec<Option<f32>>,
    /// For each action the simulations or nodes; may be shorter.
    #[serde(default)]
    efforts: Vec<Option<u64>>,
}

impl RecordRequest {
    /// Returns the game as one line of JSON, as every command of the program reads it.
    pub(crate) fn line(&self, library: &Library) -> Result<String, Refusal> {
        let begin = self.game.begin(library)?;
        let mut record = GameRecord::new(&begin, self.agents.clone(), self.seed);
        let mut played = begin;
        let end = self.game.replay(library, |index, _, action| {
            let value = self.values.get(index).copied().flatten().filter(|value| (-1.0..=1.0).contains(value));
            let effort = self.efforts.get(index).copied().flatten();
            record.play(&mut played, action, value, effort);
        })?;
        if self.opening > record.actions.len() {
            let count = record.actions.len();
            return Err(Refusal::wrong(format!("opening: {} of {count} actions", self.opening)));
        }
        record.opening = self.opening;
        if let Some(number) = self.resigned
            && end.outcome().is_none()
        {
            let resigned = Player::from_number(number)
                .ok_or_else(|| Refusal::wrong(format!("resigned: {number} is no player; 1 or 2")))?;
            record.result = Some(RecordedResult::of_winner(Some(resigned.opponent())));
        }
        let line = record.to_line();
        GameRecord::from_line(&line).map_err(|fault| Refusal::wrong(fault.to_string()))?;
        Ok(line)
    }
}

/// Returns a record for the page; visits, which it does not show, are left out.
pub(crate) fn record_json(record: &GameRecord) -> Value {
    let winner = record.result.map(|result| result.winner().map(Player::number));
    json!({
        "ruleset": record.ruleset, "fingerprint": record.ruleset_fingerprint, "agents": record.agents, "seed": record.seed.to_string(),
        "start": record.start, "opening": record.opening, "actions": record.actions, "is_over": winner.is_some(),
        "winner": winner.flatten(), "reason": record.reason.as_deref().map(EndReason::words_for), "values": record.values,
        "efforts": record.efforts,
    })
}
