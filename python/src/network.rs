//! Networks on the kernels of the processor.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;

use latrunculi_data::{Answers, PositionBatch, Precision, StoredModel};
use latrunculi_engine::GameState;
use latrunculi_infer::{InferenceModel, RulesetNetworks, policy};
use latrunculi_train::models;
use latrunculi_train::networks::FusedNetwork;
use numpy::ndarray::{Array2, ArrayD};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::game::Game;
use crate::{failed, refused, to_python};

/// A network, which answers positions of every ruleset.
///
/// Args:
///     model: "universal", which is part of the package, a model file, or the folder of a run.
///     precision: "f32", "bf16", "int8", or "auto", the fastest of this processor.
///
/// Raises ValueError for what is no model, and for what this processor cannot compute.
#[pyclass(frozen, module = "latrunculi")]
pub(crate) struct Network {
    name: String,
    stored: StoredModel,
    networks: RulesetNetworks,
    precision: Precision,
    /// The memory of the last call.
    buffers: Mutex<(PositionBatch, Answers)>,
}

/// For each game the policy `[L]`, then `[B, 3]` and `[B]`.
type Answered<'py> = (Vec<Bound<'py, PyArray1<f32>>>, Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<f32>>);

#[pymethods]
impl Network {
    #[new]
    #[pyo3(signature = (model = PathBuf::from("universal"), precision = "f32"))]
    fn new(py: Python<'_>, model: PathBuf, precision: &str) -> PyResult<Network> {
        let wanted: Precision = precision.parse().map_err(refused)?;
        py.detach(|| {
            let (path, stored) = models::read(&model).map_err(|error| failed(&error))?;
            let precision = if wanted == Precision::Auto { FusedNetwork::fastest(&stored.config) } else { wanted };
            let fused = InferenceModel::from_tensors(&stored.config, stored.tensors.clone());
            let networks = fused.and_then(|fused| fused.networks(FusedNetwork::kernel_of(precision)));
            let networks = networks.map_err(|error| refused(format!("{}: {error}", path.display())))?;
            Ok(Network { name: path.display().to_string(), stored, networks, precision, buffers: Mutex::default() })
        })
    }

    /// What the file says of the network: rulesets, training, strength.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.stored.info)
    }

    /// The size of the network, by name.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.stored.config)
    }

    /// The precision in which it is computed.
    #[getter]
    fn precision(&self) -> String {
        self.precision.to_string()
    }

    /// Returns the weights by name, as float32 arrays (docs/FORMATS.md, "Model").
    fn tensors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for (name, tensor) in &self.stored.tensors {
            let values = ArrayD::from_shape_vec(tensor.shape.clone(), tensor.values.clone()).map_err(refused)?;
            found.set_item(name, values.into_pyarray(py))?;
        }
        Ok(found)
    }

    /// Answers B games of one ruleset, none of which is over, in one batch.
    ///
    /// Returns (policies, win_draw_loss, margins), all float32: for each game the probabilities of its legal actions, `[L]`, in the
    /// order of Game.legal_actions(); the probabilities of win, draw and loss for the player to act, `[B, 3]`; and the expected final
    /// material margin for him, `[B]`, in (-1, 1), in shares of a side's men.
    fn evaluate<'py>(&self, py: Python<'py>, games: Vec<Bound<'py, Game>>) -> PyResult<Answered<'py>> {
        let states = games.iter().map(|game| Ok(game.try_borrow()?.state.clone()));
        let states = states.collect::<PyResult<Vec<GameState>>>()?;
        if let Some(words) = states.iter().find_map(GameState::end_words) {
            return Err(refused(format!("the game is over: {words}")));
        }
        let Some(first) = states.first() else {
            return Ok((Vec::new(), Array2::zeros((0, 3)).into_pyarray(py), Vec::new().into_pyarray(py)));
        };
        let rules = first.rules();
        if states.iter().any(|state| state.rules().ruleset() != rules.ruleset()) {
            return Err(refused("the games of one batch have one ruleset"));
        }
        let (policies, values, margins) = py.detach(|| {
            let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
            let (positions, answers) = &mut *buffers;
            positions.clear();
            let mut legal = Vec::new();
            for state in &states {
                state.legal_actions(&mut legal);
                positions.push_game(state, &legal);
            }
            let network = self.networks.get(rules).map_err(refused)?;
            network.session().answer(positions, answers).map_err(refused)?;
            let policy = |at: &[usize]| {
                let probabilities = policy::probabilities(&answers.logits[at[0]..at[1]]);
                probabilities.into_iter().map(|probability| probability as f32).collect::<Vec<f32>>()
            };
            let policies: Vec<Vec<f32>> = answers.offsets.windows(2).map(policy).collect();
            Ok::<_, PyErr>((policies, answers.win_draw_loss.concat(), answers.margin.clone()))
        })?;
        let values = Array2::from_shape_vec((states.len(), 3), values).map_err(refused)?;
        let policies = policies.into_iter().map(|policy| policy.into_pyarray(py)).collect();
        Ok((policies, values.into_pyarray(py), margins.into_pyarray(py)))
    }

    fn __repr__(&self) -> String {
        format!("Network({:?}, precision={:?})", self.name, self.precision())
    }
}
