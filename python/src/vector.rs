//! Many games at once.

use latrunculi_data::EncodedPosition;
use latrunculi_engine::{Action, GameState, Player};
use numpy::ndarray::{Array2, Array4};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::refused;
use crate::ruleset::Ruleset;

/// The most games.
const GAMES_MAX: usize = 1 << 20;
const NUMBERED: &str = "what games come to has numbers";
/// Games of one piece of work for a thread.
const CHUNK: usize = 32;

/// B games of one ruleset that are played side by side, on all cores; a game that ends begins again at once.
///
/// Args:
///     ruleset: a Ruleset, or what makes one.
///     count: the number of games, B.
///     planes: whether observations hold the planes and scalars of the positions.
///     masks: whether they hold the legal actions as a mask beside the list.
///
/// An observation is a dict:
///     "planes" `[B, C, H, W]` uint8, 0 or 1, and "scalars" `[B, S]` float32, as in Game.features();
///     "player" `[B]` int8: who is to act, 1 or 2;
///     "legal" `[L]` int32 and "offsets" `[B + 1]` int64: the numbers of the legal actions of game i are
///         `legal[offsets[i]:offsets[i + 1]]`;
///     "mask" `[B, A]` int8, if asked for: 1 for legal.
#[pyclass(module = "latrunculi")]
pub(crate) struct VectorGame {
    ruleset: Py<Ruleset>,
    initial: GameState,
    games: Vec<OneGame>,
    planes: bool,
    masks: bool,
}

struct OneGame {
    state: GameState,
    legal: Vec<Action>,
    indices: Vec<u32>,
    actions: u32,
}

/// What has happened to a game in a step.
#[derive(Clone, Copy, Default)]
struct Stepped {
    player: u8,
    /// For player 1 and player 2.
    rewards: [f32; 2],
    is_done: bool,
    /// Actions of the game that has ended; 0 while it goes on.
    length: u32,
}

#[pymethods]
impl VectorGame {
    #[new]
    #[pyo3(signature = (ruleset, count, *, planes = true, masks = false))]
    fn new(ruleset: &Bound<'_, PyAny>, count: usize, planes: bool, masks: bool) -> PyResult<VectorGame> {
        if !(1..=GAMES_MAX).contains(&count) {
            return Err(refused(format!("the number of games is from 1 to {GAMES_MAX}")));
        }
        let ruleset = Ruleset::from_argument(ruleset)?;
        let known = ruleset.get();
        let initial = GameState::new(known.rules.clone());
        let (mut legal, mut indices) = (Vec::new(), Vec::new());
        known.space.list(&initial, &mut legal, &mut indices).expect(NUMBERED);
        let game = || OneGame { state: initial.clone(), legal: legal.clone(), indices: indices.clone(), actions: 0 };
        let games = (0..count).map(|_| game()).collect();
        Ok(VectorGame { ruleset, initial, games, planes, masks })
    }

    fn __len__(&self) -> usize {
        self.games.len()
    }

    /// The ruleset.
    #[getter]
    fn ruleset(&self, py: Python<'_>) -> Py<Ruleset> {
        self.ruleset.clone_ref(py)
    }

    /// Begins all games again and returns the observation.
    fn reset<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (initial, ruleset) = (&self.initial, self.ruleset.get());
        let games = &mut self.games;
        py.detach(|| games.par_iter_mut().for_each(|game| game.begin(initial, ruleset)));
        self.observe(py)
    }

    /// Plays an action in each game, given by its number: `[B]` integers.
    ///
    /// Returns (observation, rewards, done, info): rewards `[B, 2]` float32 of player 1 and player 2, 1, 0 or -1 when a game has ended,
    /// else 0; done `[B]` bool; info a dict with "player" `[B]` int8, who acted, and "length" `[B]` int32, the actions of a game that has
    /// ended. The observation of a game that has ended is that of the next one.
    ///
    /// Raises ValueError when an action is not legal; nothing has changed then.
    fn step<'py>(&mut self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let actions = py.import("numpy")?.call_method1("asarray", (actions,))?;
        let kind: String = actions.getattr("dtype")?.getattr("kind")?.extract()?;
        if kind != "i" && kind != "u" {
            return Err(PyTypeError::new_err("actions are an array of integers"));
        }
        let actions = actions.call_method("astype", ("int64",), None)?;
        let actions: PyReadonlyArray1<'py, i64> = actions.extract()?;
        let actions = actions.as_slice()?;
        if actions.len() != self.games.len() {
            return Err(refused(format!("{} actions for {} games", actions.len(), self.games.len())));
        }
        let (initial, ruleset, games) = (&self.initial, self.ruleset.get(), &mut self.games);
        let stepped = py.detach(|| {
            let chosen = games.par_iter().with_min_len(CHUNK).zip(actions).map(|(game, &action)| game.find(action));
            let chosen: Vec<Option<usize>> = chosen.collect();
            if let Some(index) = chosen.iter().position(Option::is_none) {
                return Err(refused(format!("game {index}: action number {} is not legal here", actions[index])));
            }
            let play = |(game, chosen): (&mut OneGame, Option<usize>)| game.step(chosen?, initial, ruleset);
            let stepped = games.par_iter_mut().with_min_len(CHUNK).zip(chosen).map(play);
            Ok(stepped.map(Option::unwrap_or_default).collect::<Vec<Stepped>>())
        })?;
        let rewards = Array2::from_shape_fn((stepped.len(), 2), |(game, player)| stepped[game].rewards[player]);
        let done: Vec<bool> = stepped.iter().map(|step| step.is_done).collect();
        let info = PyDict::new(py);
        info.set_item("player", stepped.iter().map(|step| step.player as i8).collect::<Vec<_>>().into_pyarray(py))?;
        info.set_item("length", stepped.iter().map(|step| step.length as i32).collect::<Vec<_>>().into_pyarray(py))?;
        let told = (self.observe(py)?, rewards.into_pyarray(py), done.into_pyarray(py), info);
        Ok(told.into_pyobject(py)?.into_any())
    }

    /// Returns the observation.
    fn observe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let ruleset = self.ruleset.get();
        let (count, space) = (self.games.len(), ruleset.space.len());
        let (channels, ranks, files) = ruleset.planes_shape();
        let (plane_len, scalar_count) = (channels * ranks * files, ruleset.encoder.shape().scalars);
        let found = PyDict::new(py);
        if self.planes {
            let (planes, scalars) = py.detach(|| {
                let mut planes = vec![0_u8; count * plane_len];
                let mut scalars = vec![0.0_f32; count * scalar_count];
                let parts = planes.par_chunks_mut(plane_len).zip(scalars.par_chunks_mut(scalar_count));
                let parts = self.games.par_iter().with_min_len(CHUNK).zip(parts);
                parts.for_each(|(game, (planes, scalars))| game.encode(ruleset, planes, scalars));
                (planes, scalars)
            });
            let planes = Array4::from_shape_vec((count, channels, ranks, files), planes).map_err(refused)?;
            found.set_item("planes", planes.into_pyarray(py))?;
            let scalars = Array2::from_shape_vec((count, scalar_count), scalars).map_err(refused)?;
            found.set_item("scalars", scalars.into_pyarray(py))?;
        }
        let players = self.games.iter().map(|game| game.state.player_to_act().number() as i8);
        found.set_item("player", players.collect::<Vec<_>>().into_pyarray(py))?;
        let (legal, offsets) = self.legal(py);
        found.set_item("legal", legal)?;
        found.set_item("offsets", offsets)?;
        if self.masks {
            let mask = py.detach(|| {
                let mut mask = vec![0_i8; count * space];
                let rows = self.games.par_iter().with_min_len(CHUNK).zip(mask.par_chunks_mut(space));
                rows.for_each(|(game, row)| game.indices.iter().for_each(|&index| row[index as usize] = 1));
                mask
            });
            let mask = Array2::from_shape_vec((count, space), mask).map_err(refused)?;
            found.set_item("mask", mask.into_pyarray(py))?;
        }
        Ok(found)
    }

    /// Returns a copy of a game as it stands, without the actions before.
    fn position(&self, index: usize) -> PyResult<String> {
        let game = self.games.get(index).ok_or_else(|| refused(format!("there is no game {index}")))?;
        Ok(game.state.rules().position_text(game.state.position()))
    }
}

/// Numbers of legal actions `[L]`, and where those of each game begin `[B + 1]`.
type Legal<'py> = (Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<i64>>);

impl VectorGame {
    fn legal<'py>(&self, py: Python<'py>) -> Legal<'py> {
        let mut offsets = Vec::with_capacity(self.games.len() + 1);
        let mut legal = Vec::with_capacity(self.games.iter().map(|game| game.indices.len()).sum());
        offsets.push(0);
        for game in &self.games {
            legal.extend(game.indices.iter().map(|&index| index as i32));
            offsets.push(legal.len() as i64);
        }
        (legal.into_pyarray(py), offsets.into_pyarray(py))
    }
}

impl OneGame {
    fn begin(&mut self, initial: &GameState, ruleset: &Ruleset) {
        self.state.clone_from(initial);
        self.actions = 0;
        ruleset.space.list(&self.state, &mut self.legal, &mut self.indices).expect(NUMBERED);
    }

    /// Returns which of the legal actions has this number.
    fn find(&self, action: i64) -> Option<usize> {
        self.indices.iter().position(|&index| i64::from(index) == action)
    }

    fn step(&mut self, chosen: usize, initial: &GameState, ruleset: &Ruleset) -> Option<Stepped> {
        let player = self.state.player_to_act().number();
        self.state.play(self.legal[chosen]);
        self.actions += 1;
        let Some(outcome) = self.state.outcome() else {
            ruleset.space.list(&self.state, &mut self.legal, &mut self.indices).expect(NUMBERED);
            return Some(Stepped { player, ..Stepped::default() });
        };
        let length = self.actions;
        self.begin(initial, ruleset);
        Some(Stepped { player, rewards: Player::BOTH.map(|player| outcome.value_for(player)), is_done: true, length })
    }

    fn encode(&self, ruleset: &Ruleset, planes: &mut [u8], scalars: &mut [f32]) {
        let encoded = EncodedPosition::new(self.state.rules(), self.state.position(), self.state.repetitions());
        let area = ruleset.rules.square_count();
        for (plane, squares) in planes.chunks_exact_mut(area).zip(&encoded.planes) {
            for square in squares.iter() {
                plane[square.index()] = 1;
            }
        }
        let (own, rule_inputs) = scalars.split_at_mut(encoded.scalars.len());
        own.copy_from_slice(&encoded.scalars);
        rule_inputs.copy_from_slice(ruleset.encoder.rule_inputs());
    }
}
