//! Files of game records.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, ensure};
use latrunculi_engine::record::{RecordFault, records};
use latrunculi_engine::{GameRecord, Rules};
use latrunculi_train::rulesets;

/// Says of a game that cannot be played over how it can, where the rules alone are in the way.
pub(crate) fn with_way_out(fault: RecordFault) -> anyhow::Error {
    let way = match &fault {
        RecordFault::ChangedRuleset(_) => "name the file of the rules that it was played under with --ruleset FILE",
        RecordFault::OtherRuleset { .. } => "name its rules with --ruleset",
        _ => return fault.into(),
    };
    anyhow::anyhow!("{fault}; {way}")
}

/// Loads the rules that a game in the file at `path` names.
pub(crate) fn rules_of(record: &GameRecord, path: &Path) -> anyhow::Result<Arc<Rules>> {
    rulesets::load(&record.ruleset).with_context(|| {
        format!("the ruleset of {}; --ruleset FILE names it where it is not a shipped one", path.display())
    })
}

pub(crate) fn read(path: &Path) -> anyhow::Result<impl Iterator<Item = anyhow::Result<GameRecord>>> {
    let shown = path.display();
    let about = std::fs::metadata(path).with_context(|| format!("cannot read {shown}"))?;
    ensure!(about.is_file(), "{shown} is not a file");
    let file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
    let shown = shown.to_string();
    Ok(records(BufReader::new(file)).map(move |record| record.with_context(|| shown.clone())))
}
