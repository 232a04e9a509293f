//! The end of a run: the final matches, the model, the exported files.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::Context;
use latrunculi_eval::learning::Verdict;
use latrunculi_eval::statistics::Confidence;
use latrunculi_model::{EncodingNames, ExportFormat, MeasuredMargin, Measurement, Model, ModelHistory, ModelInfo};
use serde_json::json;

use super::run::TrainingRun;
use crate::curves;
use crate::export::Exports;
use crate::provenance;
use crate::run_dir::write_whole;

impl TrainingRun {
    /// Plays the final match and writes the exported files.
    pub(super) fn conclude(&self) -> anyhow::Result<()> {
        let begun = Instant::now();
        let verdict = self.measure(&self.judge, self.config.evaluation.final_pairs, u64::from(u32::MAX))?;
        let match_secs = begun.elapsed().as_secs_f64();
        let mut strength = vec![self.measurement(&verdict, self.config.evaluation.final_pairs)];
        for judge in &self.anchors {
            let verdict = self.measure(judge, self.config.evaluation.pairs, u64::from(u32::MAX))?;
            strength.push(self.measurement(&verdict, self.config.evaluation.pairs));
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
        self.display.say(&format!(
            "finished: {} generations, {} games, {} samples, {} steps, {:.1} min; final match {:.0} s",
            self.state.generations,
            self.state.games,
            self.state.samples,
            self.trainer.counters().steps,
            self.state.elapsed_secs / 60.0,
            match_secs,
        ));
        self.display.say(&format!("score against {verdict}"));
        for line in written {
            self.display.say(&line);
        }
        Ok(())
    }

    /// Returns the network as it is now, with what is known of it.
    pub(super) fn model(&self, strength: Vec<Measurement>) -> anyhow::Result<Model> {
        let history = ModelHistory {
            program: Some(format!("latrunculi {}", env!("CARGO_PKG_VERSION"))),
            commit: provenance::COMMIT.map(str::to_owned),
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
            notes: BTreeMap::new(),
        };
        Ok(Model { network: self.trainer.averaged_network()?, info })
    }

    /// Returns a verdict of the final matches, of `pairs` openings, with the command that plays such a match again.
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
            let interval = margin.interval(Confidence::NINETY_FIVE);
            MeasuredMargin { mean: margin.value, lower: interval.lower, upper: interval.upper }
        });
        Measurement { what, wins, draws, losses, score, lower, upper, margin, command }.rounded()
    }
}
