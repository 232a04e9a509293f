//! The published numbers, in `vectors.json`.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Returns the vector of that name.
pub(crate) fn load(name: &str) -> Value {
    let mut all: Value = serde_json::from_str(include_str!("vectors.json")).expect("JSON");
    all[name].take()
}

/// Returns the vectors of a list, which has so many.
pub(crate) fn list(name: &str, count: usize) -> Vec<Value> {
    let found: Vec<Value> = at(&load(name), "");
    assert_eq!(found.len(), count, "{name}");
    found
}

/// Returns what stands at a path such as `/ref/at_home`, which must be of that type.
#[track_caller]
pub(crate) fn at<T: DeserializeOwned>(vector: &Value, path: &str) -> T {
    let found = vector.pointer(path).unwrap_or(&Value::Null);
    serde_json::from_value(found.clone()).unwrap_or_else(|error| panic!("{path}: {error}"))
}
