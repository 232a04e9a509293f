//! Games.

use latrunculi_data::EncodedPosition;
use latrunculi_data::policy_index::action_indices;
use latrunculi_engine::{Action, GameState, Player};
use latrunculi_eval::report::position_svg;
use numpy::ndarray::{Array2, Array3};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::refused;
use crate::ruleset::Ruleset;

/// The game after some actions.
///
/// Args:
///     ruleset: a Ruleset, or what makes one.
///     position: "initial", a list of pieces as "M:c2 D:a1 m:b3 d:h7", or the line of a position.
///     player: who is to act in a list of pieces, 1 or 2.
///     actions: texts of actions to play from there.
///
/// Raises ValueError for what is no position and for an action that is not legal.
#[pyclass(module = "latrunculi")]
pub(crate) struct Game {
    pub(crate) ruleset: Py<Ruleset>,
    pub(crate) state: GameState,
    start: GameState,
    actions: Vec<Action>,
}

/// The planes `[C, H, W]` and scalars `[S]` of a position.
type Features<'py> = (Bound<'py, PyArray3<f32>>, Bound<'py, PyArray1<f32>>);

/// Says why a position has no numbers.
fn unnumbered() -> PyErr {
    refused(
        "no game of this ruleset comes to such a position, so that its actions have no numbers; their texts can be played",
    )
}

impl Game {
    fn legal(&self) -> Vec<Action> {
        let mut legal = Vec::new();
        self.state.legal_actions(&mut legal);
        legal
    }

    fn numbered(&self) -> PyResult<(Vec<Action>, Vec<u32>)> {
        let (mut legal, mut indices) = (Vec::new(), Vec::new());
        let listed = self.ruleset.get().space.list(&self.state, &mut legal, &mut indices);
        listed.map(|()| (legal, indices)).ok_or_else(unnumbered)
    }

    /// Returns the legal action that is meant: by its text, or by its number.
    fn action(&self, action: &Bound<'_, PyAny>) -> PyResult<Action> {
        if let Ok(text) = action.extract::<String>() {
            return self.state.parse_action(&text).map_err(refused);
        }
        let number: i64 = action.extract()?;
        if let Some(words) = self.state.end_words() {
            return Err(refused(format!("the game is over: {words}")));
        }
        let (legal, indices) = self.numbered()?;
        let found = indices.iter().position(|&index| i64::from(index) == number);
        found.map(|index| legal[index]).ok_or_else(|| refused(format!("action number {number} is not legal here")))
    }

    fn encoded(&self, player: Option<u64>) -> PyResult<EncodedPosition> {
        let (rules, state) = (self.state.rules(), &self.state);
        let player = Game::player_of(player)?.unwrap_or(state.player_to_act());
        Ok(EncodedPosition::seen_by(player, rules, state.position(), state.repetitions()))
    }

    fn player_of(number: Option<u64>) -> PyResult<Option<Player>> {
        let player = |number| Player::from_number(number).ok_or_else(|| refused("a player is 1 or 2"));
        number.map(player).transpose()
    }
}

#[pymethods]
impl Game {
    #[new]
    #[pyo3(signature = (ruleset, position = "initial", player = 1, actions = Vec::new()))]
    fn new(ruleset: &Bound<'_, PyAny>, position: &str, player: u64, actions: Vec<String>) -> PyResult<Game> {
        let ruleset = Ruleset::from_argument(ruleset)?;
        let player = Game::player_of(Some(player))?.unwrap_or(Player::First);
        let state = GameState::parse(&ruleset.get().rules, position, player).map_err(refused)?;
        let mut game = Game { ruleset, start: state.clone(), state, actions: Vec::new() };
        for (index, text) in actions.iter().enumerate() {
            let action =
                game.state.parse_action(text).map_err(|error| refused(format!("action {}: {error}", index + 1)))?;
            game.state.play(action);
            game.actions.push(action);
        }
        Ok(game)
    }

    /// The ruleset.
    #[getter]
    fn ruleset(&self, py: Python<'_>) -> Py<Ruleset> {
        self.ruleset.clone_ref(py)
    }

    /// Who is to act, 1 or 2; None once the game is over.
    #[getter]
    fn player(&self) -> Option<u8> {
        self.state.outcome().is_none().then(|| self.state.player_to_act().number())
    }

    /// Whether the game is over.
    #[getter]
    fn is_over(&self) -> bool {
        self.state.outcome().is_some()
    }

    /// Who has won, 1 or 2; 0 for a draw; None while the game goes on.
    #[getter]
    fn result(&self) -> Option<u8> {
        self.state.outcome().map(|outcome| outcome.winner.map_or(0, |winner| winner.number()))
    }

    /// Why the game ended, as "eliminated"; None while it goes on.
    #[getter]
    fn reason(&self) -> Option<&'static str> {
        self.state.outcome().map(|outcome| outcome.reason.as_str())
    }

    /// Turns that have been played.
    #[getter]
    fn turns(&self) -> u16 {
        self.state.position().turns()
    }

    /// The position in one line, which Game(ruleset, position=...) reads.
    #[getter]
    fn position(&self) -> String {
        self.state.rules().position_text(self.state.position())
    }

    /// The texts of the actions since the beginning.
    #[getter]
    fn actions(&self) -> Vec<String> {
        let mut state = self.start.clone();
        let text = |&action: &Action| {
            let text = state.action_text(action);
            state.play(action);
            text
        };
        self.actions.iter().map(text).collect()
    }

    /// Returns the texts of the legal actions, in a fixed order; none once the game is over.
    fn legal_actions(&self) -> Vec<String> {
        self.legal().into_iter().map(|action| self.state.action_text(action)).collect()
    }

    /// Returns the numbers of the legal actions, in the same order: `[L]` int64.
    fn legal_indices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        Ok(self.numbered()?.1.into_iter().map(i64::from).collect::<Vec<_>>().into_pyarray(py))
    }

    /// Returns which actions are legal, by number: `[A]` int8, 1 for legal.
    fn action_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i8>>> {
        let mut mask = vec![0; self.ruleset.get().space.len()];
        for index in self.numbered()?.1 {
            mask[index as usize] = 1;
        }
        Ok(mask.into_pyarray(py))
    }

    /// Returns, for each legal action in the same order, the two entries of a network's policy vector whose sum is its logit:
    /// `[L, 2]` int64. The second is the vector's length, which stands for 0, where one is enough (docs/FORMATS.md, "Shard").
    fn policy_entries<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let (rules, position) = (self.state.rules(), self.state.position());
        let entries = self.legal().into_iter().map(|action| action_indices(rules, position, action).map(i64::from));
        let entries: Vec<[i64; 2]> = entries.collect();
        let entries = Array2::from_shape_vec((entries.len(), 2), entries.concat()).map_err(refused)?;
        Ok(entries.into_pyarray(py))
    }

    /// Returns the number of a legal action.
    fn index_of(&self, action: &str) -> PyResult<u32> {
        let action = self.state.parse_action(action).map_err(refused)?;
        self.ruleset.get().space.index(self.state.player_to_act(), action).ok_or_else(unnumbered)
    }

    /// Returns the text of the legal action with this number.
    fn text_of(&self, index: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(self.state.action_text(self.action(index)?))
    }

    /// Plays a legal action, given by its text or its number, and returns the game.
    ///
    /// Raises ValueError when it is not legal or the game is over; nothing has changed then.
    fn play<'py>(slf: Bound<'py, Self>, action: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let mut game = slf.try_borrow_mut()?;
        let action = game.action(action)?;
        game.state.play(action);
        game.actions.push(action);
        drop(game);
        Ok(slf)
    }

    /// Takes the last action back and returns the game.
    ///
    /// Raises IndexError at the beginning.
    fn undo(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let mut game = slf.try_borrow_mut()?;
        if game.actions.pop().is_none() {
            return Err(PyIndexError::new_err("there is no action to take back"));
        }
        let mut state = game.start.clone();
        game.actions.iter().for_each(|&action| state.play(action));
        game.state = state;
        drop(game);
        Ok(slf)
    }

    /// Returns a copy, which is played on independently.
    fn copy(&self, py: Python<'_>) -> Game {
        let (start, state, actions) = (self.start.clone(), self.state.clone(), self.actions.clone());
        Game { ruleset: self.ruleset.clone_ref(py), state, start, actions }
    }

    fn __copy__(&self, py: Python<'_>) -> Game {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Game {
        self.copy(py)
    }

    /// Returns the planes `[C, H, W]` (0 or 1) and scalars `[S]` (in [0, 1]) of the position as a network sees them, both float32.
    ///
    /// They are seen by the player to act, or by `player` (1 or 2): his pieces are "own", and for player 2 the ranks are mirrored.
    #[pyo3(signature = (player = None))]
    fn features<'py>(&self, py: Python<'py>, player: Option<u64>) -> PyResult<Features<'py>> {
        let encoder = &self.ruleset.get().encoder;
        let encoded = self.encoded(player)?;
        let (mut planes, mut scalars) = (Vec::new(), Vec::new());
        encoder.extend_planes(&encoded, &mut planes);
        encoder.extend_scalars(&encoded, &mut scalars);
        let planes = Array3::from_shape_vec(self.ruleset.get().planes_shape(), planes).map_err(refused)?;
        Ok((planes.into_pyarray(py), scalars.into_pyarray(py)))
    }

    /// Returns planes and scalars in one array `[C + P, H, W]` float32: after the planes one for each of the P scalars of the position,
    /// with the same value everywhere. The numbers of the ruleset are left out. Seen by `player`, as in features().
    #[pyo3(signature = (player = None))]
    fn observation<'py>(&self, py: Python<'py>, player: Option<u64>) -> PyResult<Bound<'py, PyArray3<f32>>> {
        let known = self.ruleset.get();
        let encoded = self.encoded(player)?;
        let mut values = Vec::new();
        known.encoder.extend_planes(&encoded, &mut values);
        let area = known.rules.square_count();
        values.extend(encoded.scalars.iter().flat_map(|&scalar| std::iter::repeat_n(scalar, area)));
        let values = Array3::from_shape_vec(known.observation_shape(), values).map_err(refused)?;
        Ok(values.into_pyarray(py))
    }

    /// Returns the drawn board, player 1 at the bottom in upper case.
    fn render(&self) -> String {
        self.state.drawing()
    }

    /// Returns the board as SVG, player 1 at the bottom in white.
    fn svg(&self) -> String {
        position_svg(&self.state)
    }

    fn _repr_svg_(&self) -> String {
        self.svg()
    }

    fn __str__(&self) -> String {
        self.render()
    }

    fn __repr__(&self) -> String {
        format!("Game({:?}, position={:?})", self.state.rules().ruleset().id, self.position())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let is_same = |other: PyRef<'_, Game>| {
            other.state.rules().ruleset() == self.state.rules().ruleset()
                && other.start.position() == self.start.position()
                && other.actions == self.actions
        };
        other.cast::<Game>().is_ok_and(|other| other.try_borrow().is_ok_and(is_same))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let start = self.start.rules().position_text(self.start.position());
        let arguments = (self.ruleset.clone_ref(py), start, 1, self.actions());
        Ok((py.get_type::<Game>().into_any(), arguments.into_pyobject(py)?))
    }
}
