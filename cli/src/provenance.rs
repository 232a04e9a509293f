//! Where results come from: the program, its source, the machine.

use std::fs;
use std::path::Path;

use anyhow::Context;
use latrunculi_model::{Device, device};
use serde_json::{Value, json};

use crate::run_dir::write_whole;

/// The commit of the source that the program was made from, where that is known.
pub(crate) const COMMIT: Option<&str> = option_env!("LATRUNCULI_COMMIT");

/// Returns what the program and the machine are.
pub(crate) fn of(device: Device) -> Value {
    json!({
        "program": "latrunculi",
        "version": env!("CARGO_PKG_VERSION"),
        "commit": COMMIT,
        "libtorch": device::libtorch_version(),
        "system": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        "processor": processor(),
        "threads": std::thread::available_parallelism().map_or(1, usize::from),
        "bf16": device::cpu_has_bf16(),
        "device": device.to_string(),
    })
}

/// Adds `more` to the list of resumptions in a file of provenance.
///
/// # Errors
/// When the file cannot be read or written.
pub(crate) fn add_resumption(path: &Path, more: Value) -> anyhow::Result<()> {
    let text = fs::read_to_string(path).with_context(|| format!("{}: reading it", path.display()))?;
    let mut provenance: Value = serde_json::from_str(&text).with_context(|| format!("{}: not JSON", path.display()))?;
    if let Some(object) = provenance.as_object_mut()
        && let Some(list) = object.entry("resumed").or_insert_with(|| json!([])).as_array_mut()
    {
        list.push(more);
    }
    write_whole(path, format!("{provenance:#}\n").as_bytes())
}

/// Returns the processor's name, where the system tells.
pub(crate) fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
