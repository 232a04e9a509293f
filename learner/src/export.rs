//! Exports: a model in the formats of other programs, each read back and compared with the network.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use latrunculi_data::{Answers, ExportFormat, PositionBatch, Precision, Shape, rule_inputs};
use latrunculi_engine::{GameState, Rules, presets};
use latrunculi_model::{Device, ExportSample, InferenceNetwork, Model};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use latrunculi_train::error::{Context, Error, bail};
use latrunculi_train::files::write_whole;
use latrunculi_train::model_card;

use crate::error::OfLibtorch;

/// Positions on which an exported file is compared with the network.
const SAMPLE_POSITIONS: usize = 1000;
/// Games from which they come, played at once; each is followed by another.
const SAMPLE_GAMES: usize = 8;
/// Positions of each other size of board.
const OTHER_POSITIONS: usize = 50;
/// Ending of the check data.
const CHECK_DATA: &str = "check.npz";

/// Which files are written of a model, and where.
#[derive(Clone, Debug)]
pub struct Exports {
    /// The folder, which exists.
    pub folder: PathBuf,
    /// The names of the files without their endings.
    pub name: String,
    /// The formats.
    pub formats: Vec<ExportFormat>,
    /// Positions of the check data; 0 for none.
    pub check_positions: usize,
    /// Whether existing files are replaced.
    pub overwrite: bool,
}

impl Exports {
    /// Writes the files, the description and the model card. `say` receives one line for each.
    /// Fails when a file exists, cannot be written, or does not answer as the network does.
    pub fn write(&self, model: &Model, say: &mut dyn FnMut(String)) -> Result<(), Error> {
        let card = model_card::text(&model.info, model.network.config(), &self.name);
        let texts = [("json", format!("{:#}\n", model.description().of_libtorch()?)), ("md", card)];
        self.refuse_to_overwrite(&texts)?;
        let Some(trained) = model.info.rulesets.first() else {
            bail!("the model names no ruleset that it was trained on");
        };
        let rules = Arc::new(trained.rules().context("the ruleset in the model file cannot be read")?);
        let mut samples = vec![sample(model, &rules, SAMPLE_POSITIONS.max(self.check_positions))?];
        // The same file serves every board: it is tried on another size, too.
        for rules in other_boards(&rules) {
            samples.push(sample(model, &rules, OTHER_POSITIONS)?);
        }
        for &format in &self.formats {
            let path = self.path(format.extension());
            let report = model.export(format, &path, &samples, self.overwrite).of_libtorch()?;
            say(format!("wrote {} ({} bytes)", path.display(), report.file_bytes));
            let differences: Vec<String> =
                report.differences.iter().map(|(output, largest)| format!("{output} {largest:.1e}")).collect();
            say(format!("  read back; largest difference: {}", differences.join(", ")));
        }
        for (extension, text) in &texts {
            let path = self.path(extension);
            write_whole(&path, text.as_bytes())?;
            say(format!("wrote {}", path.display()));
        }
        if self.check_positions > 0 {
            let path = self.path(CHECK_DATA);
            samples[0].batch.truncate(self.check_positions);
            model.write_check_data(&path, &samples[0], self.overwrite).of_libtorch()?;
            say(format!("wrote {} ({} positions)", path.display(), self.check_positions));
        }
        Ok(())
    }

    fn path(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.name))
    }

    /// Refuses to replace an existing file, before anything is written. A text that exists with the same content, because
    /// another format of the model was exported before, is no obstacle.
    fn refuse_to_overwrite(&self, texts: &[(&str, String)]) -> Result<(), Error> {
        if self.overwrite {
            return Ok(());
        }
        let check = (self.check_positions > 0).then_some(CHECK_DATA);
        let written = self.formats.iter().map(|format| format.extension()).chain(check).map(|name| self.path(name));
        let says_the_same = |path: &Path, text: &str| std::fs::read(path).is_ok_and(|bytes| bytes == text.as_bytes());
        let texts = texts.iter().map(|(name, text)| (self.path(name), text));
        let in_the_way: Vec<String> = written
            .filter(|path| path.exists())
            .chain(texts.filter(|(path, text)| path.exists() && !says_the_same(path, text)).map(|(path, _)| path))
            .map(|path| path.display().to_string())
            .collect();
        if !in_the_way.is_empty() {
            bail!("the file exists already: {}; --overwrite replaces it", in_the_way.join(", "));
        }
        Ok(())
    }
}

/// Returns the first shipped ruleset of each size of board but that of `rules`.
fn other_boards(rules: &Rules) -> Vec<Arc<Rules>> {
    let mut shapes = vec![Shape::of(rules)];
    let mut found = Vec::new();
    for rules in presets::NAMES.iter().map(|name| presets::rules(name)) {
        if !shapes.contains(&Shape::of(&rules)) {
            shapes.push(Shape::of(&rules));
            found.push(rules);
        }
    }
    found
}

/// Returns `count` positions of games: in every other game the network draws its actions from its policy,
/// in the others they are drawn evenly from the legal ones.
fn sample(model: &Model, rules: &Arc<Rules>, count: usize) -> Result<ExportSample, Error> {
    let mut network = InferenceNetwork::new(&model.network, rules, Device::CPU, Precision::F32).of_libtorch()?;
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut games = vec![GameState::new(Arc::clone(rules)); SAMPLE_GAMES];
    let mut legal = vec![Vec::new(); SAMPLE_GAMES];
    let (mut sample, mut batch) = (PositionBatch::default(), PositionBatch::default());
    let mut answers = Answers::default();
    let mut left = count;
    while left > 0 {
        batch.clear();
        for (game, legal) in games.iter_mut().zip(&mut legal) {
            if game.outcome().is_some() {
                *game = GameState::new(Arc::clone(rules));
            }
            game.legal_actions(legal);
            batch.push_game(game, legal);
            if left > 0 {
                sample.push_game(game, &[]);
                left -= 1;
            }
        }
        network.answer(&batch, &mut answers).of_libtorch().context("asking the network")?;
        let mut logits = &answers.logits[..];
        for (index, (game, legal)) in games.iter_mut().zip(&legal).enumerate() {
            let (own, others) = logits.split_at(legal.len());
            logits = others;
            let choice = if index % 2 == 0 { draw(own, &mut random) } else { random.random_range(0..legal.len()) };
            game.play(legal[choice]);
        }
    }
    Ok(ExportSample { shape: Shape::of(rules), rule_inputs: rule_inputs::of(rules.ruleset()), batch: sample })
}

/// Draws an index by the softmax of `logits`.
fn draw(logits: &[f32], random: &mut ChaCha8Rng) -> usize {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f32> = logits.iter().map(|logit| (logit - largest).exp()).collect();
    let mut left = random.random::<f32>() * weights.iter().sum::<f32>();
    let is_drawn = |weight: &f32| {
        left -= weight;
        left < 0.0
    };
    weights.iter().position(is_drawn).unwrap_or(logits.len() - 1)
}
