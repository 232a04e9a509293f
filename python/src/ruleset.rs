//! Rulesets.

use std::path::PathBuf;
use std::sync::Arc;

use latrunculi_data::{Encoder, EncodingNames, SCALARS};
use latrunculi_engine::parameters::{PARAMETERS, differing};
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{GameState, Rules, RulesetFile, presets};
use latrunculi_eval::report::rules_in_words;
use latrunculi_train::rulesets::load;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use serde_json::{Map, Value};

use crate::action_space::{ActionSpace, actions_max};
use crate::{failed, from_python, refused, to_python};

/// Returns the names of the shipped rulesets.
#[pyfunction]
pub(crate) fn rulesets() -> Vec<&'static str> {
    presets::NAMES.to_vec()
}

/// The rules of a game.
///
/// `Ruleset("bell")` is a shipped one, `Ruleset("my-rules.toml")` that of a file (or of a model file), and `Ruleset({"id": "mine",
/// "base": "bell", "capture.per_move": "all"})` one made of parameters, named as in ruleset files.
///
/// Raises ValueError with every fault.
#[pyclass(frozen, module = "latrunculi")]
pub(crate) struct Ruleset {
    pub(crate) rules: Arc<Rules>,
    pub(crate) space: Arc<ActionSpace>,
    pub(crate) encoder: Encoder,
}

impl Ruleset {
    fn of(rules: Arc<Rules>) -> Ruleset {
        let space = Arc::new(ActionSpace::new(&rules));
        Ruleset { space, encoder: Encoder::new(Arc::clone(&rules)), rules }
    }

    /// Returns the ruleset that an argument means: itself, or what its constructor makes of the argument.
    pub(crate) fn from_argument(argument: &Bound<'_, PyAny>) -> PyResult<Py<Ruleset>> {
        match argument.cast::<Ruleset>() {
            Ok(ruleset) => Ok(ruleset.clone().unbind()),
            Err(_) => Py::new(argument.py(), Ruleset::new(argument)?),
        }
    }
}

/// Writes a value by parameter name, `capture.per_move = "all"`, as a line of a ruleset file.
fn write_lines(table: &str, values: &Map<String, Value>, lines: &mut String) {
    for (name, value) in values {
        let name = format!("{table}{name}");
        match value {
            Value::Object(values) => write_lines(&format!("{name}."), values, lines),
            Value::Null => lines.push_str(&format!("{name} = \"none\"\n")),
            // Every other JSON value is a TOML value.
            value => lines.push_str(&format!("{name} = {value}\n")),
        }
    }
}

#[pymethods]
impl Ruleset {
    #[new]
    fn new(source: &Bound<'_, PyAny>) -> PyResult<Ruleset> {
        if let Ok(ruleset) = source.cast::<Ruleset>() {
            return Ok(Ruleset::of(Arc::clone(&ruleset.get().rules)));
        }
        if source.is_instance_of::<PyDict>() {
            let Value::Object(values) = from_python(source)? else { return Err(refused("a ruleset is a dict")) };
            let mut text = String::new();
            write_lines("", &values, &mut text);
            let file = RulesetFile::parse(&text).map_err(|error| {
                let faults: Vec<&str> = error.faults.iter().map(|fault| fault.message.as_str()).collect();
                refused(format!("the ruleset cannot be used\n{}", faults.join("\n")))
            })?;
            return Ok(Ruleset::of(Arc::new(file.rules())));
        }
        if !source.is_instance_of::<PyString>() && !source.hasattr("__fspath__")? {
            return Err(PyTypeError::new_err("a ruleset is a name, the path of a file, or a dict of parameters"));
        }
        let path: PathBuf = source.extract()?;
        Ok(Ruleset::of(load(&path.to_string_lossy()).map_err(|error| failed(&error))?))
    }

    /// Returns the ruleset of the text of a ruleset file.
    #[classmethod]
    fn from_toml(_class: &Bound<'_, PyType>, text: &str) -> PyResult<Ruleset> {
        Ok(Ruleset::of(Arc::new(RulesetFile::parse(text).map_err(refused)?.rules())))
    }

    /// Returns the text of a ruleset file with every parameter.
    fn to_toml(&self) -> String {
        self.rules.ruleset().to_toml()
    }

    /// Its short name.
    #[getter]
    fn id(&self) -> &str {
        &self.rules.ruleset().id
    }

    /// Its title; may be empty.
    #[getter]
    fn name(&self) -> &str {
        &self.rules.ruleset().name
    }

    /// Where it comes from; may be empty.
    #[getter]
    fn source(&self) -> &str {
        &self.rules.ruleset().source
    }

    /// Eight hexadecimal digits that stand for the values of all parameters.
    #[getter]
    fn fingerprint(&self) -> String {
        ruleset_fingerprint(self.rules.ruleset())
    }

    /// Files of the board, W.
    #[getter]
    fn files(&self) -> usize {
        self.rules.files()
    }

    /// Ranks of the board, H.
    #[getter]
    fn ranks(&self) -> usize {
        self.rules.ranks()
    }

    /// The value of each parameter by its name, as "capture.per_move".
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let ruleset = self.rules.ruleset();
        let values = PARAMETERS.iter().map(|known| (known.name.to_owned(), known.value_in(ruleset).to_json()));
        to_python(py, &Value::Object(values.collect()))
    }

    /// The number of actions, A: every action has a number from 0 to A - 1 (docs/python.md, "Actions as numbers").
    #[getter]
    fn action_count(&self) -> usize {
        self.space.len()
    }

    /// No game has more actions.
    #[getter]
    fn actions_max(&self) -> usize {
        actions_max(&self.rules)
    }

    /// The shape of the planes of a position, (C, H, W).
    #[getter]
    pub(crate) fn planes_shape(&self) -> (usize, usize, usize) {
        let shape = self.encoder.shape();
        (shape.planes, shape.ranks, shape.files)
    }

    /// The number of scalars of a position and its ruleset, S.
    #[getter]
    fn scalar_count(&self) -> usize {
        self.encoder.shape().scalars
    }

    /// The shape of Game.observation(), (C + P, H, W): P are the scalars of the position alone.
    #[getter]
    pub(crate) fn observation_shape(&self) -> (usize, usize, usize) {
        let (planes, ranks, files) = self.planes_shape();
        (planes + SCALARS.len(), ranks, files)
    }

    /// The names of the planes and of the scalars, in order.
    #[getter]
    fn feature_names(&self) -> (Vec<String>, Vec<String>) {
        let EncodingNames { planes, scalars } = EncodingNames::default();
        (planes, scalars)
    }

    /// Returns the rules in words, with the board at the beginning.
    fn describe(&self) -> String {
        let ruleset = self.rules.ruleset();
        let board = GameState::new(Arc::clone(&self.rules)).drawing();
        let mut text = format!("{}: {}\n\n{}\n\n{board}\n", ruleset.id, ruleset.name, ruleset.summary);
        for (heading, sentences) in rules_in_words(&self.rules) {
            text.push_str(&format!("\n{heading}\n  {}\n", sentences.join("\n  ")));
        }
        text
    }

    /// Returns the parameters in which another ruleset differs: by name, the value here and there.
    fn diff<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let py = other.py();
        let other = Ruleset::from_argument(other)?;
        let (one, other) = (self.rules.ruleset(), other.get().rules.ruleset());
        let found = PyDict::new(py);
        for name in differing(one, other) {
            let values = PARAMETERS.iter().filter(|known| known.name == name);
            for known in values {
                let [one, other] = [one, other].map(|ruleset| to_python(py, &known.value_in(ruleset).to_json()));
                found.set_item(name, (one?, other?))?;
            }
        }
        Ok(found)
    }

    fn __repr__(&self) -> String {
        format!("Ruleset({:?})", self.id())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Ruleset>().is_ok_and(|other| other.get().rules.ruleset() == self.rules.ruleset())
    }

    fn __hash__(&self) -> u64 {
        u64::from_str_radix(&self.fingerprint(), 16).unwrap_or_default()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let make = py.get_type::<Ruleset>().getattr("from_toml")?;
        Ok((make, PyTuple::new(py, [self.to_toml()])?))
    }
}
