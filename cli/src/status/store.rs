//! `status --store`: what a store holds, and who wrote it.

use std::collections::BTreeMap;
use std::sync::Arc;

use latrunculi_eval::workers::series;
use latrunculi_store::{HEADER_BYTES_MAX, Object, REJECTED, Store, StoreError, UNITS, UnitHeader};
use latrunculi_train::workers::runs;
use serde_json::json;

use crate::games_args::stopped;
use crate::interrupt::stop_on_interrupt;
use crate::lines::print_json;

/// Units whose first lines are read, the newest.
const UNITS_MAX: usize = 2000;

#[derive(Default)]
struct Delivered {
    host: String,
    kernel: String,
    units: u64,
    games: u64,
    secs: f64,
    /// The least and the greatest number of units that it had played in vain before one that was read.
    duplicates: Option<(u64, u64)>,
    /// When its last unit was written, by the clock of the store.
    last: i64,
}

impl Delivered {
    /// Returns how many units it played in vain while it made those that were read, which may be all of them.
    fn in_vain(&self, are_all: bool) -> u64 {
        let (least, greatest) = self.duplicates.unwrap_or_default();
        greatest - if are_all { 0 } else { least }
    }
}

/// Tells what the store at `url` holds.
pub(super) fn run(url: &str, json: bool) -> anyhow::Result<()> {
    let stop = stop_on_interrupt()?;
    let store = Store::join(url, Arc::clone(&stop)).map_err(stopped)?;
    let runs = runs(&store).map_err(|error| match error.is_stopped() {
        true => stopped(StoreError::Stopped),
        false => error.into(),
    })?;
    let series = series(&store).map_err(stopped)?;
    let mut units = store.list(UNITS).map_err(stopped)?;
    units.sort_by_key(|unit| std::cmp::Reverse(unit.written));
    // The clock of the store: those of other machines may differ.
    let now = units.first().map_or(0, |unit| unit.written);
    let (all, bytes) = (units.len(), units.iter().map(|unit| unit.bytes).sum::<u64>());
    units.truncate(UNITS_MAX);
    let mut workers: BTreeMap<String, Delivered> = BTreeMap::new();
    let mut slowest: Option<(f64, Object)> = None;
    for unit in units {
        let beginning = store.read_beginning(&unit.name, HEADER_BYTES_MAX as u64).map_err(stopped)?;
        let Some((header, _)) = beginning.as_deref().and_then(|bytes| UnitHeader::read(bytes).ok()) else { continue };
        let worker = workers.entry(header.worker).or_default();
        if worker.units == 0 {
            // The newest comes first.
            (worker.host, worker.kernel) = (header.host, header.kernel);
        }
        worker.units += 1;
        worker.games += header.games[1].saturating_sub(header.games[0]);
        worker.secs += header.secs;
        let (least, greatest) = worker.duplicates.unwrap_or((header.duplicates, header.duplicates));
        worker.duplicates = Some((least.min(header.duplicates), greatest.max(header.duplicates)));
        worker.last = worker.last.max(unit.written);
        if slowest.as_ref().is_none_or(|(secs, _)| *secs < header.secs) {
            slowest = Some((header.secs, unit));
        }
    }
    let rejected = store.list(REJECTED).map_err(stopped)?;
    let rejected: Vec<&Object> = rejected.iter().filter(|object| object.name.ends_with(".reason.json")).collect();
    if json {
        let workers: Vec<_> = workers
            .iter()
            .map(|(name, by)| {
                json!({ "worker": name, "host": by.host, "kernel": by.kernel, "units": by.units, "games": by.games,
                        "secs": by.secs, "twice": by.in_vain(all <= UNITS_MAX), "secs_before_newest": now - by.last })
            })
            .collect();
        let report = json!({
            "series": series,
            "runs": runs.iter().map(|one| json!({ "run": one.run, "generation": one.generation, "is_open": one.is_open,
                "units": one.units[0], "all": one.units[1] })).collect::<Vec<_>>(),
            "workers": workers,
            "units": all, "units_read": all.min(UNITS_MAX), "bytes": bytes,
            "slowest": slowest.map(|(secs, unit)| json!({ "name": unit.name, "secs": secs })),
            "rejected": rejected.iter().map(|object| &object.name).collect::<Vec<_>>(),
        });
        return print_json(&report);
    }
    for run in &runs {
        let state = if run.is_open { "open" } else { "closed" };
        println!("run {}, generation {} {state}: {} of {} units", run.run, run.generation, run.units[0], run.units[1]);
    }
    for one in series.iter().filter(|one| !one.is_closed) {
        println!("{}: {} units, {} wanted, {} at most", crate::shown(&one.title), one.units, one.wanted, one.all);
    }
    let closed = series.iter().filter(|one| one.is_closed).count();
    if closed > 0 {
        println!("{closed} series of games are closed");
    }
    for (name, by) in &workers {
        let in_vain = by.in_vain(all <= UNITS_MAX);
        let share = match by.units + in_vain {
            0 => 0.0,
            played => 100.0 * in_vain as f64 / played as f64,
        };
        println!(
            "worker {} on {}: {} units, {} games, {:.0} s each, {share:.0} % in vain, last {} s before the newest{}",
            crate::shown(name),
            crate::shown(&by.host),
            by.units,
            by.games,
            by.secs / by.units.max(1) as f64,
            now - by.last,
            if by.kernel.is_empty() { String::new() } else { format!(", {}", crate::shown(&by.kernel)) },
        );
    }
    if let Some((secs, unit)) = slowest {
        println!("slowest unit: {} in {secs:.0} s", crate::shown(&unit.name));
    }
    let read =
        if all > UNITS_MAX { format!("; of the workers the newest {UNITS_MAX} are told") } else { String::new() };
    println!("{all} units, {bytes} bytes; {} moved aside{read}", rejected.len());
    for object in rejected {
        println!("  {}", crate::shown(&object.name));
    }
    Ok(())
}
