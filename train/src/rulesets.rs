//! Rulesets by shipped name or by the path of a file.

use std::path::Path;
use std::sync::Arc;

use latrunculi_data::{ModelInfo, TensorFileHeader};
use latrunculi_engine::{Rules, RulesetFile, parameters::did_you_mean, presets};

use crate::error::{Context, Error, bail};
use crate::files::read_text;

/// A ruleset file is a few kilobytes; what is larger is something else.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The word that means every reconstruction.
const ALL: &str = "all";

/// Returns the names with `all` written out: every reconstruction, in the order of the program's lists.
#[must_use]
pub fn expand_all(names: &[String]) -> Vec<String> {
    let mut written = Vec::new();
    for name in names {
        if name == ALL {
            written.extend(presets::reconstructions().map(str::to_owned));
        } else {
            written.push(name.clone());
        }
    }
    written
}

/// Loads a ruleset with the comments on each of its values. `name_or_path` is a shipped name, or the path of a ruleset
/// file or of a model, which holds the rules that it was trained on.
/// Fails when there is no such ruleset, with the nearest name, or its file has faults, with their lines.
pub fn load_file(name_or_path: &str) -> Result<RulesetFile, Error> {
    if let Some(file) = presets::file(name_or_path) {
        return Ok(file);
    }
    let path = Path::new(name_or_path);
    if !path.exists() {
        let hint = did_you_mean(name_or_path, presets::NAMES.iter().copied());
        bail!("there is no ruleset and no file {name_or_path:?}{hint} (`latrunculi rulesets list` names the rulesets)");
    }
    let is_model = path.extension().is_some_and(|extension| extension == "safetensors");
    let text = if is_model { text_in_model(path)? } else { read_text(path, FILE_BYTES_MAX)? };
    RulesetFile::parse(&text).map_err(|error| {
        let lines: Vec<String> = error
            .faults
            .iter()
            .map(|fault| format!("{name_or_path}:{}:{}: {}", fault.line, fault.column, fault.message))
            .collect();
        Error::Refused(format!("the ruleset cannot be used\n{}", lines.join("\n")))
    })
}

fn text_in_model(path: &Path) -> Result<String, Error> {
    let header = TensorFileHeader::read(path)?;
    let info = header.metadata.get("info").and_then(|text| serde_json::from_str::<ModelInfo>(text).ok());
    let none = || format!("{} names no ruleset: it is not a model of this program", path.display());
    info.and_then(|info| info.rulesets.into_iter().next()).map(|trained| trained.text).with_context(none)
}

/// Loads the rules of a shipped name, or of the path of a ruleset file or a model.
/// Fails as [`load_file`], and when the rules contradict one another.
pub fn load(name_or_path: &str) -> Result<Arc<Rules>, Error> {
    let file = load_file(name_or_path)?;
    let rules = Rules::new(&file.ruleset).with_context(|| format!("ruleset {name_or_path}"))?;
    Ok(Arc::new(rules))
}
