//! A played game as one line of JSON. Replaying a record checks each action, the result and the reason against the rules.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::notation::ActionError;
use crate::outcome::{EndReason, Outcome};
use crate::parameters::{PARAMETERS, Parameter};
use crate::player::Player;
use crate::rules::Rules;
use crate::ruleset::Ruleset;
use crate::state::GameState;

/// The version of the format that [`GameRecord`] writes and reads.
pub const RECORD_VERSION: u32 = 1;

/// One game: who played it under which rules, every action, and how it ended.
///
/// Fields that a reader does not know are passed over, so that a line may say more than this (the ledger of
/// a match does).
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use latrunculi_engine::{GameRecord, GameState, Rules, presets};
///
/// let ruleset = presets::ruleset("bell").expect("shipped");
/// let mut state = GameState::new(Arc::new(Rules::new(&ruleset)?));
/// let mut record = GameRecord::new(&state, ["random".to_owned(), "greedy".to_owned()], 7);
/// let mut actions = Vec::new();
/// for _ in 0..10 {
///     state.legal_actions(&mut actions);
///     record.play(&mut state, actions[0], None, None);
/// }
/// let line = record.to_line();
/// assert_eq!(GameRecord::from_line(&line)?, record);
/// assert_eq!(record.replay(state.rules())?.position(), state.position());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameRecord {
    /// The version of the format, [`RECORD_VERSION`].
    pub version: u32,
    /// The ruleset's id.
    pub ruleset: String,
    /// What the ruleset's parameters are, in short ([`ruleset_fingerprint`]).
    pub ruleset_fingerprint: String,
    /// The agents' texts, that of player 1 first.
    pub agents: [String; 2],
    /// The seed from which everything random in this game was derived.
    pub seed: u64,
    /// The position where the game began, as one line; `None` is the ruleset's own beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// How many of `actions`, from the first on, were the opening and nobody's choice.
    pub opening: usize,
    /// Every action played, as text.
    pub actions: Vec<String>,
    /// How it ended; `None` if the game was not finished.
    pub result: Option<RecordedResult>,
    /// Why it ended, as [`EndReason::as_str`]; `None` if the game was not finished, or was resigned.
    pub reason: Option<String>,
    /// What the agent who acted expected, in `[-1, 1]` for himself: one entry per action, or none at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Option<f32>>,
    /// What the agent spent, in nodes or simulations: one entry per action, or none at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<Option<u64>>,
    /// How often a tree search tried each action, by the action's text, untried ones left out: one entry per
    /// action, or none at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visits: Vec<Option<BTreeMap<String, u32>>>,
}

/// Who won, as a record says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RecordedResult {
    /// Player 1.
    #[serde(rename = "1")]
    First,
    /// Player 2.
    #[serde(rename = "2")]
    Second,
    /// Nobody.
    #[serde(rename = "draw")]
    Draw,
}

impl RecordedResult {
    /// Returns the result with that winner; none is a draw.
    #[must_use]
    pub const fn of_winner(winner: Option<Player>) -> RecordedResult {
        match winner {
            Some(Player::First) => RecordedResult::First,
            Some(Player::Second) => RecordedResult::Second,
            None => RecordedResult::Draw,
        }
    }

    /// Returns the winner; none is a draw.
    #[must_use]
    pub const fn winner(self) -> Option<Player> {
        match self {
            RecordedResult::First => Some(Player::First),
            RecordedResult::Second => Some(Player::Second),
            RecordedResult::Draw => None,
        }
    }
}

/// What is wrong with one record.
#[derive(Debug, thiserror::Error)]
pub enum RecordFault {
    /// Played under another ruleset.
    #[error("a game of {found:?}, not of {expected:?}")]
    OtherRuleset {
        /// The ruleset asked for.
        expected: String,
        /// The ruleset of the record.
        found: String,
    },
    /// The ruleset has the same name, but its parameters have changed since.
    #[error("the ruleset {0:?} has other parameters now than when this game was played")]
    ChangedRuleset(String),
    /// Anything else, in words.
    #[error("{0}")]
    Other(String),
}

impl RecordFault {
    /// Says that a field contradicts the game.
    pub fn contradiction(field: &str, found: impl Display, expected: impl Display) -> RecordFault {
        RecordFault::Other(format!("{field} is {found}, but it should be {expected}"))
    }

    fn json(error: serde_json::Error) -> RecordFault {
        RecordFault::Other(format!("not a game record: {error}"))
    }

    fn action(index: usize, error: &ActionError) -> RecordFault {
        RecordFault::Other(format!("action {}: {error}", index + 1))
    }
}

/// Why records cannot be read or written, in words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RecordError(String);

impl GameRecord {
    /// Returns the record of a game that stands at `state` and of which nothing has been played yet.
    /// `agents` are the two agents' texts, that of player 1 first.
    #[must_use]
    pub fn new(state: &GameState, agents: [String; 2], seed: u64) -> GameRecord {
        let rules = state.rules();
        let is_initial = *state.position() == rules.initial_position();
        GameRecord {
            version: RECORD_VERSION,
            ruleset: rules.ruleset().id.clone(),
            ruleset_fingerprint: ruleset_fingerprint(rules.ruleset()),
            agents,
            seed,
            start: (!is_initial).then(|| rules.position_text(state.position())),
            opening: 0,
            actions: Vec::new(),
            result: None,
            reason: None,
            values: Vec::new(),
            efforts: Vec::new(),
            visits: Vec::new(),
        }
    }

    /// Plays a legal action in `state` and notes it, with the `value` in `[-1, 1]` that who acts expects for
    /// himself and the `effort` he spent; notes the end as well if the game is over then.
    pub fn play(&mut self, state: &mut GameState, action: crate::Action, value: Option<f32>, effort: Option<u64>) {
        self.actions.push(state.action_text(action));
        // Four decimals say all that there is to say, and keep the lines short.
        let value = value.map(|value| (value * 1e4).round() / 1e4);
        if value.is_some() || !self.values.is_empty() {
            self.values.resize(self.actions.len() - 1, None);
            // Rounding may leave a value a hair outside.
            self.values.push(value.map(|value| value.clamp(-1.0, 1.0)));
        }
        if effort.is_some() || !self.efforts.is_empty() {
            self.efforts.resize(self.actions.len() - 1, None);
            self.efforts.push(effort);
        }
        if !self.visits.is_empty() {
            self.visits.resize(self.actions.len(), None);
        }
        state.play(action);
        if let Some(outcome) = state.outcome() {
            self.finish(outcome);
        }
    }

    /// Notes how often a search tried the legal actions of `state`, before one of them is played.
    pub fn note_visits(&mut self, state: &GameState, visits: impl IntoIterator<Item = (crate::Action, u32)>) {
        let visits = visits.into_iter().filter(|&(_, count)| count > 0);
        self.visits.resize(self.actions.len(), None);
        self.visits.push(Some(visits.map(|(action, count)| (state.action_text(action), count)).collect()));
    }

    /// Returns how often a search tried each of the `legal` actions of `state`, before action `index` (from 0)
    /// of this record; `None` where that is not recorded.
    /// Fails when an action was tried that is not legal.
    pub fn visits_among(
        &self,
        index: usize,
        state: &GameState,
        legal: &[crate::Action],
    ) -> Result<Option<Vec<u32>>, RecordFault> {
        let Some(Some(recorded)) = self.visits.get(index) else { return Ok(None) };
        let mut visits = vec![0; legal.len()];
        for (text, &count) in recorded {
            let action = state.parse_action_among(legal, text).map_err(|error| RecordFault::action(index, &error))?;
            if let Some(place) = legal.iter().position(|&known| known == action) {
                visits[place] = count;
            }
        }
        Ok(Some(visits))
    }

    /// Notes how the game ended.
    pub fn finish(&mut self, outcome: Outcome) {
        self.result = Some(RecordedResult::of_winner(outcome.winner));
        self.reason = Some(outcome.reason.as_str().to_owned());
    }

    /// Returns the record as one line of JSON, without the line's end.
    /// Panics never: there is nothing in a record that JSON cannot say.
    #[must_use]
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("a record holds texts and finite numbers only")
    }

    /// Reads a record from one line of JSON. Checks its form, not the game: see [`GameRecord::replay`].
    /// Fails when it is not JSON of a record, of another version, or has a text that cannot be shown.
    pub fn from_line(line: &str) -> Result<GameRecord, RecordFault> {
        /// What every version says of itself.
        #[derive(Deserialize)]
        struct Versioned {
            version: u64,
        }
        let Versioned { version } = serde_json::from_str(line).map_err(RecordFault::json)?;
        if version != u64::from(RECORD_VERSION) {
            let fault = format!("format version {version}, this program reads {RECORD_VERSION}");
            return Err(RecordFault::Other(fault));
        }
        let record: GameRecord = serde_json::from_str(line).map_err(RecordFault::json)?;
        record.check_texts()?;
        Ok(record)
    }

    fn check_texts(&self) -> Result<(), RecordFault> {
        let tried = self.visits.iter().flatten().flat_map(BTreeMap::keys);
        let texts = [("ruleset", &self.ruleset), ("ruleset_fingerprint", &self.ruleset_fingerprint)]
            .into_iter()
            .chain(self.agents.iter().map(|agent| ("agents", agent)))
            .chain(self.start.iter().map(|start| ("start", start)))
            .chain(self.reason.iter().map(|reason| ("reason", reason)))
            .chain(self.actions.iter().map(|action| ("actions", action)))
            .chain(tried.map(|action| ("visits", action)));
        for (field, text) in texts {
            if text.chars().any(char::is_control) {
                let fault = format!("{field} is {text:?}: a text of a record holds no control characters");
                return Err(RecordFault::Other(fault));
            }
        }
        Ok(())
    }

    /// Plays the recorded game over and returns where it stands after the last action.
    /// Fails with [`RecordFault`] when the ruleset is another one, an action that was played or tried is not legal, a value
    /// lies outside `[-1, 1]`, or result, reason, opening, or the number of values, efforts or visits contradict the game.
    pub fn replay(&self, rules: &Arc<Rules>) -> Result<GameState, RecordFault> {
        self.replay_with(rules, |_, _| {})
    }

    /// Plays the recorded game over as [`GameRecord::replay`] does, and calls `visit` before each action with
    /// the state and the action to be played.
    /// Fails as [`GameRecord::replay`]; some actions may have been visited then.
    pub fn replay_with(
        &self,
        rules: &Arc<Rules>,
        mut visit: impl FnMut(&GameState, crate::Action),
    ) -> Result<GameState, RecordFault> {
        self.replay_among(rules, |state, _, action| {
            visit(state, action);
            Ok(())
        })
    }

    /// Plays the recorded game over as [`GameRecord::replay`] does, and calls `visit` before each action with
    /// the state, all legal actions and the action to be played. A fault that `visit` answers ends it.
    /// Fails as [`GameRecord::replay`]; some actions may have been visited then.
    pub fn replay_among(
        &self,
        rules: &Arc<Rules>,
        mut visit: impl FnMut(&GameState, &[crate::Action], crate::Action) -> Result<(), RecordFault>,
    ) -> Result<GameState, RecordFault> {
        let ruleset = rules.ruleset();
        if self.ruleset != ruleset.id {
            let (expected, found) = (ruleset.id.clone(), self.ruleset.clone());
            return Err(RecordFault::OtherRuleset { expected, found });
        }
        if self.ruleset_fingerprint != ruleset_fingerprint(ruleset) {
            return Err(RecordFault::ChangedRuleset(self.ruleset.clone()));
        }
        self.check_lengths()?;
        let mut state = match &self.start {
            None => GameState::new(Arc::clone(rules)),
            Some(text) => {
                let start = rules.parse_position(text);
                let start = start.map_err(|error| RecordFault::Other(format!("the start is {error}")))?;
                GameState::from_position(Arc::clone(rules), start)
            }
        };
        let mut legal = Vec::new();
        for (index, text) in self.actions.iter().enumerate() {
            state.legal_actions(&mut legal);
            let action = state.parse_action_among(&legal, text).map_err(|error| RecordFault::action(index, &error))?;
            self.visits_among(index, &state, &legal)?;
            visit(&state, &legal, action)?;
            state.play(action);
        }
        self.check_end(&state)?;
        Ok(state)
    }

    fn check_lengths(&self) -> Result<(), RecordFault> {
        let count = self.actions.len();
        if self.opening > count {
            return Err(RecordFault::contradiction(
                "opening",
                self.opening,
                format!("{count} at most, the number of actions"),
            ));
        }
        if let Some(value) = self.values.iter().flatten().find(|value| !(-1.0..=1.0).contains(*value)) {
            return Err(RecordFault::contradiction("a value", value, "from -1 to 1"));
        }
        for (field, length) in [
            ("the number of values", self.values.len()),
            ("the number of efforts", self.efforts.len()),
            ("the number of visits", self.visits.len()),
        ] {
            if length != 0 && length != count {
                return Err(RecordFault::contradiction(field, length, format!("0 or {count}, the number of actions")));
            }
        }
        Ok(())
    }

    fn check_end(&self, state: &GameState) -> Result<(), RecordFault> {
        let said = |result: Option<RecordedResult>| match result {
            None => "missing".to_owned(),
            Some(result) => match result.winner() {
                None => "draw".to_owned(),
                Some(winner) => winner.number().to_string(),
            },
        };
        let Some(outcome) = state.outcome() else {
            // A game may be given up, but it has no reason of the rules then.
            return match &self.reason {
                Some(reason) => Err(RecordFault::contradiction("reason", reason, "missing: the game is not over")),
                None => Ok(()),
            };
        };
        let result = Some(RecordedResult::of_winner(outcome.winner));
        if self.result != result {
            return Err(RecordFault::contradiction("result", said(self.result), said(result)));
        }
        let reason = self.reason.as_deref().unwrap_or("missing");
        if reason != outcome.reason.as_str() {
            return Err(RecordFault::contradiction("reason", reason, outcome.reason));
        }
        Ok(())
    }

    /// Returns why the game ended, if it did and the reason is known.
    #[must_use]
    pub fn end_reason(&self) -> Option<EndReason> {
        EndReason::from_name(self.reason.as_deref()?)
    }
}

/// No line of a file of records is longer, in bytes: a game of ten thousand actions with all its visits is shorter.
pub const LINE_BYTES_MAX: u64 = 1 << 26;

/// Writes records, one a line.
pub fn write_records<'a>(
    records: impl IntoIterator<Item = &'a GameRecord>,
    mut to: impl Write,
) -> Result<(), RecordError> {
    let failed = |refusal: io::Error| RecordError(format!("a game record cannot be written: {refusal}"));
    for record in records {
        writeln!(to, "{}", record.to_line()).map_err(failed)?;
    }
    to.flush().map_err(failed)
}

/// Reads records, one a line; empty lines are passed over.
/// Fails with [`RecordError`], with the number of the first line that is wrong.
pub fn read_records(from: impl BufRead) -> Result<Vec<GameRecord>, RecordError> {
    records(from).collect()
}

/// Reads records one by one, as [`read_records`] does; none follows the first error.
pub fn records(mut from: impl BufRead) -> impl Iterator<Item = Result<GameRecord, RecordError>> {
    let mut number = 0;
    let mut next = move || loop {
        number += 1;
        let line = match read_line(&mut from) {
            Ok(line) => line?,
            Err(refusal) => return Some(Err(RecordError(format!("line {number} cannot be read: {refusal}")))),
        };
        if !line.trim().is_empty() {
            let in_line = |fault| RecordError(format!("line {number}: {fault}"));
            return Some(GameRecord::from_line(&line).map_err(in_line));
        }
    };
    let mut has_failed = false;
    std::iter::from_fn(move || if has_failed { None } else { next().inspect(|read| has_failed = read.is_err()) })
}

/// Reads the next line of a file of records, with its end where it has one; `None` when there are no more.
/// Error: what the system says; [`io::ErrorKind::InvalidData`] where the line is not text, or longer than [`LINE_BYTES_MAX`]:
/// of such a line no more than that is read.
pub fn read_line(from: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    from.by_ref().take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut bytes)?;
    if bytes.len() as u64 > LINE_BYTES_MAX {
        let reason = format!("it has more than {LINE_BYTES_MAX} bytes; no line of a game is as long");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text (UTF-8)"))?;
    Ok((!text.is_empty()).then_some(text))
}

/// The parameters that were added later. Where one has its default it does not count for the fingerprint of a ruleset, so
/// that games, models and shards of before keep theirs.
const LATER: [&str; 0] = [];

/// Returns eight hexadecimal digits that stand for the values of all parameters of a ruleset; names and
/// texts do not count.
#[must_use]
pub fn ruleset_fingerprint(ruleset: &Ruleset) -> String {
    let mut hasher = crc32fast::Hasher::new();
    let default = Ruleset::default();
    let is_as_before = |parameter: &&Parameter| {
        LATER.contains(&parameter.name) && parameter.value_in(ruleset) == parameter.value_in(&default)
    };
    for parameter in PARAMETERS.iter().filter(|parameter| !is_as_before(parameter)) {
        hasher.update(format!("{} = {}\n", parameter.name, parameter.value_in(ruleset)).as_bytes());
    }
    format!("{:08x}", hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets;
    use crate::presets::rules;

    fn first_actions_game(rules: &Arc<Rules>) -> (GameRecord, GameState) {
        let mut state = GameState::new(Arc::clone(rules));
        let mut record = GameRecord::new(&state, ["greedy".to_owned(), "random".to_owned()], 3);
        let mut actions = Vec::new();
        while state.outcome().is_none() {
            state.legal_actions(&mut actions);
            let choice = actions[record.actions.len() * 7 % actions.len()];
            record.play(&mut state, choice, Some(0.25), Some(1));
        }
        (record, state)
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let (mut record, _) = first_actions_game(&rules("savard"));
        record.agents[1] = "\u{1b}[2Jrandom".to_owned();
        let error = GameRecord::from_line(&record.to_line()).unwrap_err().to_string();
        assert!(error.contains("agents is \"\\u{1b}[2Jrandom\""), "{error}");
        assert!(!error.contains('\u{1b}'));
        let text = "id = \"mine\"\nbase = \"savard\"\nsummary = \"\\u001b]0;x\"";
        let error = crate::RulesetFile::parse(text).unwrap_err().to_string();
        assert!(error.contains("control character '\\u{1b}'"), "{error}");
    }

    #[test]
    fn a_line_without_an_end_is_refused_before_it_fills_the_memory() {
        let error = read_records(io::BufReader::new(io::repeat(b' '))).unwrap_err().to_string();
        assert!(error.contains("line 1 cannot be read") && error.contains("67108864 bytes"), "{error}");
        let mut lines: &[u8] = b"a\r\n\nb";
        let read: Vec<String> = std::iter::from_fn(|| read_line(&mut lines).unwrap()).collect();
        assert_eq!(read, ["a\r\n", "\n", "b"]);
        assert_eq!(read_line(&mut &b"\xff\n"[..]).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_written_game_is_read_and_replayed_to_the_same_end() {
        for name in presets::NAMES {
            let rules = rules(name);
            let (record, state) = first_actions_game(&rules);
            let mut bytes = Vec::new();
            write_records([&record, &record], &mut bytes).unwrap();
            let read = read_records(bytes.as_slice()).unwrap();
            assert_eq!(read, [record.clone(), record]);
            let replayed = read[0].replay(&rules).unwrap();
            assert_eq!(replayed.position(), state.position(), "{name}");
            assert_eq!(replayed.outcome(), state.outcome(), "{name}");
        }
    }

    #[test]
    fn visits_are_written_by_text_and_read_back_in_the_order_of_the_legal_actions() {
        let rules = rules("bell-8x8");
        let mut state = GameState::new(Arc::clone(&rules));
        let mut record = GameRecord::new(&state, ["net".to_owned(), "random".to_owned()], 3);
        let mut legal = Vec::new();
        for number in 0..4 {
            state.legal_actions(&mut legal);
            if number % 2 == 1 {
                record.note_visits(&state, [(legal[2], 5), (legal[0], 0), (legal[1], 9)]);
            }
            record.play(&mut state, legal[1], None, None);
        }
        let record = GameRecord::from_line(&record.to_line()).unwrap();
        let mut found = Vec::new();
        let replayed = record.replay_among(&rules, |state, legal, _| {
            found.push(record.visits_among(found.len(), state, legal)?.map(|visits| visits[..4].to_vec()));
            Ok(())
        });
        assert_eq!(replayed.unwrap().position(), state.position());
        assert_eq!(found, [None, Some(vec![0, 9, 5, 0]), None, Some(vec![0, 9, 5, 0])]);
        let mut wrong = record.clone();
        wrong.visits.pop();
        assert!(wrong.replay(&rules).unwrap_err().to_string().starts_with("the number of visits"));
        let mut wrong = record;
        wrong.visits[1] = Some(BTreeMap::from([("@z9".to_owned(), 1)]));
        assert!(wrong.replay(&rules).unwrap_err().to_string().starts_with("action 2: "));
    }

    #[test]
    fn what_is_wrong_with_a_record_is_said_with_its_line() {
        let rules = rules("bell");
        let (record, _) = first_actions_game(&rules);
        let mut lines = vec![record.to_line(), String::new()];
        lines.push(record.to_line().replace("\"version\":1", "\"version\":9"));
        let error = read_records(lines.join("\n").as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "line 3: format version 9, this program reads 1");
        let cut = &record.to_line()[..60];
        let error = read_records(cut.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("line 1: not a game record"), "{error}");
    }

    #[test]
    fn a_record_that_contradicts_its_game_is_refused() {
        let rules = rules("bell");
        let (record, state) = first_actions_game(&rules);
        let message = |record: &GameRecord| record.replay(&rules).unwrap_err().to_string();
        let mut wrong = record.clone();
        wrong.actions[4] = "a1-z9".to_owned();
        assert!(message(&wrong).starts_with("action 5: "), "{}", message(&wrong));
        let mut wrong = record.clone();
        let winner = state.outcome().unwrap().winner;
        wrong.result = Some(RecordedResult::of_winner(if winner.is_some() { None } else { Some(Player::First) }));
        assert!(message(&wrong).starts_with("result is "), "{}", message(&wrong));
        let mut wrong = record.clone();
        wrong.ruleset_fingerprint = "00000000".to_owned();
        assert!(matches!(wrong.replay(&rules), Err(RecordFault::ChangedRuleset(_))));
        for value in [1.5, -1.000_001, f32::NAN] {
            let mut wrong = record.clone();
            wrong.values[0] = Some(value);
            assert!(message(&wrong).starts_with("a value is "), "{}", message(&wrong));
        }
        let mut wrong = record;
        wrong.values.pop();
        assert!(message(&wrong).starts_with("the number of values"), "{}", message(&wrong));
        assert!(matches!(wrong.replay(&super::tests::rules("dutch")), Err(RecordFault::OtherRuleset { .. })));
    }
}
