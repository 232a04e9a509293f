//! The end of a run: the final matches, the model, the exported files.

use std::collections::BTreeMap;
use std::time::Instant;

use latrunculi_data::EncodingNames;
use latrunculi_eval::learning::Verdict;
use latrunculi_model::{ExportFormat, MeasuredMargin, Measurement, Model, ModelHistory, ModelInfo};
use latrunculi_stats::Confidence;
use serde_json::json;

use crate::curves;
use crate::error::{Context, Error};
use crate::export::Exports;
use crate::files::write_whole;
use crate::observer::Event;
use crate::run::TrainingRun;

impl TrainingRun<'_> {
    /// Plays the final match and writes the exported files.
    pub(crate) fn conclude(&self) -> Result<(), Error> {
        let begun = Instant::now();
        let verdict = self.measure(&self.baseline, self.config.evaluation.final_opening_pairs, u64::from(u32::MAX))?;
        let match_secs = begun.elapsed().as_secs_f64();
        let mut strength = vec![self.measurement(&verdict, self.config.evaluation.final_opening_pairs)];
        for anchor in &self.anchors {
            let verdict = self.measure(anchor, self.config.evaluation.opening_pairs, u64::from(u32::MAX))?;
            strength.push(self.measurement(&verdict, self.config.evaluation.opening_pairs));
        }
        let model = self.model(strength)?;
        model.save(&self.folder.model_path())?;
        let mut written = vec![format!("wrote {}", self.folder.model_path().display())];
        let exports = Exports {
            folder: self.folder.export_path(""),
            name: "model".to_owned(),
            formats: ExportFormat::ALL.to_vec(),
            check_positions: 0,
            overwrite: true,
        };
        exports.write(&model, &mut |line| written.push(line)).context("exporting the model")?;
        let result = json!({ "verdict": verdict, "match_secs": match_secs, "state": self.state });
        write_whole(&self.folder.result_path(), format!("{result:#}\n").as_bytes())?;
        curves::write(self.folder.root(), &[curves::read(self.folder.root())?])
            .context("writing the learning curve")?;
        written.push(format!("wrote {}", self.folder.root().join(curves::PAGE).display()));
        self.observer.event(Event::Finished {
            done: self.totals(),
            steps: self.trainer.counters().steps,
            elapsed_secs: self.state.elapsed_secs,
            match_secs,
            verdict: &verdict,
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
            first_player: self.state.first_player.clone(),
        };
        let info = ModelInfo {
            ruleset: self.rules.ruleset().id.clone(),
            ruleset_text: self.ruleset_text.clone(),
            encoding: EncodingNames::default(),
            training: self.trainer.counters(),
            history,
            search: Some(json!(self.config.selfplay.search)),
            notes: BTreeMap::new(),
        };
        Ok(Model { network: self.trainer.averaged_network()?, info })
    }

    /// Returns the result of a final match of `pairs` openings, with the command that repeats such a match.
    fn measurement(&self, verdict: &Verdict, pairs: u64) -> Measurement {
        let Verdict { opponent, simulations, wins, draws, losses, score, lower, upper, margin } = verdict.clone();
        let command = format!(
            "latrunculi match net:model.safetensors,sims={simulations} {opponent} --ruleset {} --games {} --opening {} \
             --seed {}",
            self.config.ruleset,
            2 * pairs,
            self.config.evaluation.opening_actions,
            self.config.seed
        );
        let what = format!("against {opponent}, with {simulations} simulations");
        let margin = margin.map(|margin| {
            let interval = margin.interval_of_margin(Confidence::NINETY_FIVE);
            MeasuredMargin { mean: margin.value, lower: interval.lower, upper: interval.upper }
        });
        Measurement { what, wins, draws, losses, score, lower, upper, margin, command }.rounded()
    }
}
