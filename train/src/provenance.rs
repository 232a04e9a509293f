//! Where results come from: the program, its source, the machine.

use std::fs;
use std::path::{Path, PathBuf};

use latrunculi_data::cpu_has_bf16;
use serde_json::{Value, json};

use crate::error::{Context, Error};
use crate::files::write_whole;

/// What a run notes about how it was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The configuration's name or path.
    pub config: String,
    /// What the caller changed in it, each `key=value`.
    pub settings: Vec<String>,
    /// The model whose weights a new run begins with: a file, or the folder of a run.
    pub from: Option<PathBuf>,
    /// The commit of the source that the program was built from, if known.
    pub commit: Option<String>,
}

impl Origin {
    /// Describes the program, with the version of its libtorch, how it was started and the machine; `device` is the one that
    /// trains.
    #[must_use]
    pub fn describe(&self, device: &str, libtorch: Option<&str>) -> Value {
        json!({
            "program": "latrunculi",
            "version": env!("CARGO_PKG_VERSION"),
            "commit": self.commit,
            "libtorch": libtorch,
            "system": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            "processor": processor(),
            "threads": std::thread::available_parallelism().map_or(1, usize::from),
            "bf16": cpu_has_bf16(),
            "device": device,
            "settings": self.settings,
        })
    }
}

/// Adds `more` to the list of resumptions in the file of a run's provenance.
pub fn add_resumption(path: &Path, more: Value) -> Result<(), Error> {
    let text = fs::read_to_string(path).with_context(|| format!("{}: reading it", path.display()))?;
    let mut provenance: Value = serde_json::from_str(&text).with_context(|| format!("{}: not JSON", path.display()))?;
    if let Some(object) = provenance.as_object_mut()
        && let Some(list) = object.entry("resumed").or_insert_with(|| json!([])).as_array_mut()
    {
        list.push(more);
    }
    write_whole(path, format!("{provenance:#}\n").as_bytes())
}

/// Returns the processor's name, if the system gives it.
#[must_use]
pub fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
