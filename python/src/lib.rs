//! The Python module `latrunculi._native`: classes and functions that call the crates. docs/python.md describes them, and
//! latrunculi/_native.pyi gives their types.
//!
//! Legend: `B` games, `C` planes, `H` ranks, `W` files, `S` scalars, `A` actions of a ruleset, `L` legal actions.

mod action_space;
mod game;
mod network;
mod play;
mod ruleset;
mod running;
mod vector;

use std::fmt::Display;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

/// Returns the exception for what was refused, with the program's text.
fn refused(reason: impl Display) -> PyErr {
    PyValueError::new_err(reason.to_string())
}

/// Returns the exception for an error with its causes.
fn failed(error: &(dyn std::error::Error + 'static)) -> PyErr {
    refused(latrunculi_train::error_chain(error))
}

/// Returns what Python makes of a value's JSON.
fn to_python<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(refused)?;
    py.import("json")?.call_method1("loads", (text,))
}

/// Returns the JSON of what Python has.
fn from_python(value: &Bound<'_, PyAny>) -> PyResult<serde_json::Value> {
    let text: String = value.py().import("json")?.call_method1("dumps", (value,))?.extract()?;
    serde_json::from_str(&text).map_err(refused)
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::game::Game;
    #[pymodule_export]
    use super::network::Network;
    #[pymodule_export]
    use super::play::{balance, play_match, search};
    #[pymodule_export]
    use super::ruleset::{Ruleset, rulesets};
    #[pymodule_export]
    use super::vector::VectorGame;
}
