//! The end of a run: the final matches, the model, the exported files.

use std::collections::BTreeMap;

use latrunculi_data::{EncodingNames, ExportFormat, MeasuredMargin, Measurement, ModelHistory, ModelInfo};
use latrunculi_engine::presets;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_eval::learning::RunMatch;
use latrunculi_model::Model;
use latrunculi_stats::Confidence;
use serde_json::json;

use crate::error::OfLibtorch;
use crate::export::Exports;
use crate::final_matches::FinalMatches;
use crate::run::TrainingRun;
use crate::state::RunState;
use latrunculi_train::config::TrainConfig;
use latrunculi_train::curves;
use latrunculi_train::error::{Context, Error};
use latrunculi_train::files::write_whole;
use latrunculi_train::observer::Event;
use latrunculi_train::run_dir::{EXPORT, MODEL, RESULT};
use latrunculi_train::run_rulesets::{self, RunRuleset};

/// Returns what the models of a run say of their rulesets and of their search.
pub(crate) fn model_info(config: &TrainConfig, rulesets: &[RunRuleset]) -> ModelInfo {
    ModelInfo {
        rulesets: run_rulesets::of_model(rulesets, 1.0 - config.mixes.fraction),
        encoding: EncodingNames::default(),
        search: Some(json!(config.selfplay.search)),
        ..ModelInfo::default()
    }
}

impl TrainingRun<'_> {
    /// Plays the final matches and writes the exported files.
    pub(crate) fn conclude(&self) -> Result<(), Error> {
        let evaluation = &self.config.evaluation;
        let (pairs, baseline) = (evaluation.final_opening_pairs, &evaluation.baseline);
        let mut verdicts = BTreeMap::new();
        let mut strength = Vec::new();
        let mut match_secs = 0.0;
        let mut matches = FinalMatches::open(self)?;
        // Without openings there is no final match; the matches during the run measured earlier networks.
        let measured = if pairs > 0 { &self.rulesets[..] } else { &[] };
        for (index, trained) in measured.iter().enumerate() {
            let (verdict, secs) = matches.play(&trained.rules, baseline, pairs)?;
            match_secs += secs;
            let all = measured.len();
            if all > 1 {
                let (done, ruleset) = (index + 1, trained.id());
                self.observer.event(Event::FinalMatchEnded { done, all, ruleset, verdict: &verdict });
            }
            strength.push(self.measurement(trained, &verdict, pairs));
            verdicts.insert(trained.id().to_owned(), verdict);
        }
        for anchor in &evaluation.anchors {
            for trained in &self.rulesets {
                let (verdict, _) = matches.play(&trained.rules, anchor, evaluation.opening_pairs)?;
                strength.push(self.measurement(trained, &verdict, evaluation.opening_pairs));
            }
        }
        let model = self.model(strength)?;
        model.save(&self.folder.path(MODEL)).of_libtorch()?;
        let mut written = vec![format!("wrote {}", self.folder.path(MODEL).display())];
        let exports = Exports {
            folder: self.folder.path(EXPORT),
            name: "model".to_owned(),
            formats: ExportFormat::ALL.to_vec(),
            check_positions: 0,
            overwrite: true,
        };
        exports.write(&model, &mut |line| written.push(line)).context("exporting the model")?;
        let RunState { generations, games, samples, elapsed_secs, precision, .. } = &self.state;
        let state = json!({
            "generations": generations, "games": games, "samples": samples, "steps": self.trainer.counters().steps,
            "elapsed_secs": elapsed_secs, "precision": precision,
        });
        let result = json!({ "verdicts": verdicts, "match_secs": match_secs, "state": state });
        write_whole(&self.folder.path(RESULT), format!("{result:#}\n").as_bytes())?;
        curves::write(self.folder.root(), &[curves::read(self.folder.root())?])
            .context("writing the learning curve")?;
        matches.remove();
        written.push(format!("wrote {}", self.folder.root().join(curves::PAGE).display()));
        self.observer.event(Event::Finished {
            done: self.totals(),
            steps: self.trainer.counters().steps,
            elapsed_secs: self.state.elapsed_secs,
            match_secs,
            verdicts: &verdicts,
            written: &written,
        });
        Ok(())
    }

    /// Returns the network as it is now, with its history.
    pub(crate) fn model(&self, strength: Vec<Measurement>) -> Result<Model, Error> {
        let history = ModelHistory {
            program: Some(format!("latrunculi {}", env!("CARGO_PKG_VERSION"))),
            commit: self.commit.clone(),
            seed: Some(self.config.seed),
            generations: Some(self.state.generations),
            games: Some(self.state.games),
            samples: Some(self.state.samples),
            strength,
            first_player: match &self.state.rulesets[..] {
                [only] => only.first_player.clone(),
                _ => None,
            },
        };
        let info = ModelInfo {
            training: self.trainer.counters(),
            history,
            notes: self.notes(),
            ..model_info(&self.config, &self.rulesets)
        };
        Ok(Model { network: self.trainer.averaged_network().of_libtorch()?, info })
    }

    /// Returns what there is to say of the random mixes of rules.
    fn notes(&self) -> BTreeMap<String, serde_json::Value> {
        let RunState { mixes_drawn, mixes_samples, samples, .. } = self.state;
        let share = 100.0 * mixes_samples as f64 / samples.max(1) as f64;
        let note = format!("{mixes_drawn} random mixes of these rules had {share:.1} % of the samples");
        (mixes_drawn > 0).then(|| ("mixes".to_owned(), json!(note))).into_iter().collect()
    }

    /// Returns how a command names a ruleset: a shipped one by its name, the first of the model by the model's file, which
    /// contains it; others have no name that another machine knows.
    fn name_in_command<'a>(&self, trained: &'a RunRuleset) -> Option<&'a str> {
        let own = ruleset_fingerprint(trained.rules.ruleset());
        if presets::ruleset(trained.id()).is_some_and(|shipped| ruleset_fingerprint(&shipped) == own) {
            return Some(trained.id());
        }
        let of_model = run_rulesets::of_model(&self.rulesets, 1.0);
        of_model.first().is_some_and(|first| first.name == trained.id()).then_some("model.safetensors")
    }

    /// Returns the result of a final match of `pairs` openings, with the command that repeats such a match.
    fn measurement(&self, trained: &RunRuleset, verdict: &RunMatch, pairs: u64) -> Measurement {
        let RunMatch { opponent, simulations, result, margin, .. } = verdict;
        let command = self.name_in_command(trained).map(|ruleset| {
            format!(
                "latrunculi match net:model.safetensors,sims={simulations} {opponent} --ruleset {ruleset} --games {} \
                 --opening {} --seed {}",
                2 * pairs,
                self.config.evaluation.opening_actions,
                self.config.seed
            )
        });
        let place = if self.rulesets.len() > 1 { format!("in {}, ", trained.id()) } else { String::new() };
        let what = format!("{place}against {opponent}, with {simulations} simulations");
        let margin = margin.map(|margin| {
            let interval = margin.interval_of_margin(Confidence::NINETY_FIVE);
            MeasuredMargin { mean: margin.value, lower: interval.lower, upper: interval.upper }
        });
        Measurement { what, result: *result, margin, command }.rounded()
    }
}
