//! Rulesets by shipped name or by the path of a file.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use latrunculi_engine::{Rules, RulesetFile, parameters::nearest, presets};
use latrunculi_model::{ModelInfo, TensorFileHeader};

/// A ruleset file is a few kilobytes; what is larger is something else.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Loads a ruleset with what its files say of each value: a shipped name, or the path of a ruleset
/// file or of a model, which brings the rules that it was trained on.
pub(crate) fn load_file(name_or_path: &str) -> anyhow::Result<RulesetFile> {
    if let Some(file) = presets::file(name_or_path) {
        return Ok(file);
    }
    let path = Path::new(name_or_path);
    if !path.exists() {
        let hint = nearest(name_or_path, presets::NAMES.iter().copied())
            .map(|near| format!("; did you mean {near}?"))
            .unwrap_or_default();
        bail!("there is no ruleset and no file {name_or_path:?}{hint} (`latrunculi rulesets list` names the rulesets)");
    }
    let is_model = path.extension().is_some_and(|extension| extension == "safetensors");
    let text = if is_model { text_in_model(path)? } else { read_text(path, FILE_BYTES_MAX)? };
    RulesetFile::parse(&text, &presets::file, presets::NAMES).map_err(|error| {
        let lines: Vec<String> = error
            .faults
            .iter()
            .map(|fault| format!("{name_or_path}:{}:{}: {}", fault.line, fault.column, fault.message))
            .collect();
        anyhow::anyhow!("the ruleset cannot be used\n{}", lines.join("\n"))
    })
}

/// Returns the ruleset that a model was trained on, which stands in its file.
fn text_in_model(path: &Path) -> anyhow::Result<String> {
    let header = TensorFileHeader::read(path)?;
    let info = header.metadata.get("info").and_then(|text| serde_json::from_str::<ModelInfo>(text).ok());
    let none = || format!("{} names no ruleset: it is no model of this program", path.display());
    info.map(|info| info.ruleset_text).with_context(none)
}

/// Loads the rules of a shipped name, or of the path of a ruleset file or a model.
pub(crate) fn load(name_or_path: &str) -> anyhow::Result<Arc<Rules>> {
    let file = load_file(name_or_path)?;
    let rules = Rules::new(&file.ruleset).with_context(|| format!("ruleset {name_or_path}"))?;
    Ok(Arc::new(rules))
}

/// Reads a text file of at most `bytes_max` bytes.
pub(crate) fn read_text(path: &Path, bytes_max: u64) -> anyhow::Result<String> {
    let shown = path.display();
    let metadata = std::fs::metadata(path).with_context(|| format!("cannot read {shown}"))?;
    if !metadata.is_file() {
        bail!("{shown} is not a file");
    }
    if metadata.len() > bytes_max {
        bail!("{shown} is too large to be right: {} bytes, {bytes_max} at most", metadata.len());
    }
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {shown}"))?;
    String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("{shown} is not text"))
}
