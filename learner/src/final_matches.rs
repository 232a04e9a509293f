//! The matches at the end of a run, each kept as it ends: a run that is stopped between them plays only the others.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use latrunculi_data::Precision;
use latrunculi_engine::Rules;
use latrunculi_eval::AgentSpec;
use latrunculi_eval::learning::RunMatch;
use latrunculi_train::error::Error;
use latrunculi_train::files::{read_text, write_whole};
use latrunculi_train::run_dir::FINAL;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::OfLibtorch;
use crate::play_network::LibtorchNetwork;
use crate::run::TrainingRun;

/// The most that is read of a file; a match has some hundred bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

#[derive(Deserialize, Serialize)]
struct Played {
    /// The network, its precision and the settings of the matches; those of another are not counted.
    of: Value,
    matches: Vec<Match>,
}

#[derive(Deserialize, Serialize)]
struct Match {
    ruleset: String,
    /// Pairs of games that were asked for.
    pairs: u64,
    verdict: RunMatch,
    /// How long it took, in seconds.
    #[serde(default)]
    secs: f64,
}

pub(crate) struct FinalMatches<'a> {
    run: &'a TrainingRun<'a>,
    network: LibtorchNetwork,
    precision: Precision,
    path: PathBuf,
    played: Played,
}

impl FinalMatches<'_> {
    /// Opens what is there of the run's matches. A file that cannot be read, or is of another network, is no loss but time.
    pub(crate) fn open<'a>(run: &'a TrainingRun<'a>) -> Result<FinalMatches<'a>, Error> {
        let (network, path) = (run.playing()?, run.folder.path(FINAL));
        let precision = run.choose_precision(&network)?.precision;
        let of = json!({
            "network": network.network.fingerprint().of_libtorch()?,
            "precision": precision.to_string(),
            "seed": run.config.seed,
            "evaluation": run.config.evaluation,
            "search": run.config.selfplay.search,
        });
        let earlier = read_text(&path, FILE_BYTES_MAX).ok().and_then(|text| serde_json::from_str::<Played>(&text).ok());
        let played = earlier.filter(|earlier| earlier.of == of).unwrap_or(Played { of, matches: Vec::new() });
        Ok(FinalMatches { run, network, precision, path, played })
    }

    /// Returns the result of a match and the seconds that it took, playing it unless that was done.
    pub(crate) fn play(&mut self, rules: &Arc<Rules>, opponent: &str, pairs: u64) -> Result<(RunMatch, f64), Error> {
        let ruleset = &rules.ruleset().id;
        // As a verdict names it.
        let named = opponent.parse().map_or_else(|_| opponent.to_owned(), |agent: AgentSpec| agent.to_string());
        let is_this = |kept: &&Match| (&kept.ruleset, &kept.verdict.opponent, kept.pairs) == (ruleset, &named, pairs);
        if let Some(kept) = self.played.matches.iter().find(is_this) {
            return Ok((kept.verdict.clone(), kept.secs));
        }
        let begun = Instant::now();
        let verdict = self.run.measure(&self.network, self.precision, rules, opponent, pairs)?;
        let secs = begun.elapsed().as_secs_f64();
        self.played.matches.push(Match { ruleset: ruleset.clone(), pairs, verdict: verdict.clone(), secs });
        write_whole(&self.path, format!("{:#}\n", json!(self.played)).as_bytes())?;
        Ok((verdict, secs))
    }

    /// Removes the file, when everything stands in the result of the run.
    pub(crate) fn remove(self) {
        // A file that stays does no harm.
        let _ = fs::remove_file(self.path);
    }
}
