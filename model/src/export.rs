//! Files for other programs, each read back and compared with the network before it gets its name.
//! All formats hold the same function, for every board and ruleset, with names and shapes as in docs/FORMATS.md.

mod description;
mod onnx;
mod torchscript;

use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::path::Path;

use latrunculi_data::files::NewFile;
use serde_json::Value;
use tch::{CModule, IValue, Kind, Tensor};

use crate::error::Error;
use crate::files;
use crate::graph::Output;
use crate::model_file::Model;
use crate::network::WeightedGraph;
use crate::runner::{Runner, channels_last};
use crate::weights::RulesetConditioning;
use latrunculi_data::exported::DESCRIPTION;
use latrunculi_data::files::write_atomically;
use latrunculi_data::npz::{ArrayReader, ArrayWriter};
use latrunculi_data::tensor_file::{TensorFile, WEIGHTS};
use latrunculi_data::{Error as DataError, ExportFormat, PositionBatch, SCALARS, Shape};

pub(crate) use torchscript::Archive;

/// Largest difference of an output between a file and the network it was made from.
pub const EXPORT_TOLERANCE: f64 = 1e-4;

/// Positions of one ruleset on which an exported file is compared with the network.
#[derive(Clone, Debug)]
pub struct ExportSample {
    /// Sizes of the positions.
    pub shape: Shape,
    /// `[R]`: the numbers of the ruleset.
    pub rule_inputs: Vec<f32>,
    /// The positions; their actions are not read.
    pub batch: PositionBatch,
}

impl ExportSample {
    /// Returns the positions as tensors `[B, planes, ranks, files]` and `[B, scalars]`.
    fn tensors(&self) -> Result<[Tensor; 2], Error> {
        let (shape, batch) = (&self.shape, &self.batch);
        let count = batch.len();
        let fits = batch.check(shape).is_ok() && SCALARS.len() + self.rule_inputs.len() == shape.scalars;
        if count == 0 || !fits {
            return Err(Error("the sample does not have the network's shape".to_owned()));
        }
        let size = [count, shape.planes, shape.ranks, shape.files].map(|len| len as i64);
        let mut planes = Vec::new();
        batch.write_planes(shape.area(), &mut planes);
        let planes = Tensor::f_from_slice(&planes)?.f_view(size)?;
        let own = Tensor::f_from_slice(&batch.scalars)?.f_view([count as i64, -1])?;
        let rules = Tensor::f_from_slice(&self.rule_inputs)?.f_view([1, -1])?.f_expand([count as i64, -1], false)?;
        Ok([planes, Tensor::f_cat(&[own, rules], 1)?])
    }
}

/// What the comparison found.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportReport {
    /// Positions compared.
    pub positions: usize,
    /// Largest difference by name of output.
    pub differences: Vec<(&'static str, f64)>,
    /// Size of the file.
    pub file_bytes: u64,
}

impl Model {
    /// Writes this model for other programs to `path`: one file for every board and ruleset. The file is written beside,
    /// read back, compared with the network on each of `samples`, and renamed only when it agrees.
    /// Files of weights must come back bit for bit; then the network made of them is compared as well.
    /// Fails when there is a file and `overwrite` is not set, when an output differs by more than [`EXPORT_TOLERANCE`] or a
    /// weight comes back changed, when the system refuses or libtorch fails.
    pub fn export(
        &self,
        format: ExportFormat,
        path: &Path,
        samples: &[ExportSample],
        overwrite: bool,
    ) -> Result<ExportReport, Error> {
        refuse_existing(path, overwrite)?;
        let writing = |refusal| DataError::writing(path, &refusal);
        let mut file = NewFile::create(path).map_err(writing)?;
        let report = self.export_beside(format, path, &mut file, samples)?;
        file.put_in_place().map_err(writing)?;
        Ok(report)
    }

    fn export_beside(
        &self,
        format: ExportFormat,
        path: &Path,
        file: &mut NewFile,
        samples: &[ExportSample],
    ) -> Result<ExportReport, Error> {
        let torch = |error: Error| error.of_file(path);
        let network = self.exported_graph().map_err(torch)?;
        let bytes = self.to_bytes(format, &network).map_err(torch)?;
        file.as_file_mut().write_all(&bytes).map_err(|refusal| DataError::writing(path, &refusal))?;
        let beside = file.unfinished_path();
        let names = network.graph.outputs.iter().map(|(output, _)| output.as_str());
        let mut report = ExportReport {
            positions: 0,
            differences: names.map(|name| (name, 0.0)).collect(),
            file_bytes: bytes.len() as u64,
        };
        for sample in samples {
            let [planes, scalars] = sample.tensors().map_err(torch)?;
            let (expected, found) = tch::no_grad(|| -> Result<_, Error> {
                let expected = self.answers(sample, &planes)?;
                Ok((expected, read_and_run(format, beside, &network, &planes, &scalars)?))
            })
            .map_err(torch)?;
            for (index, (expected, (output, largest))) in expected.iter().zip(&mut report.differences).enumerate() {
                let found = found.get(index).filter(|found| found.size() == expected.size());
                let difference = found.map_or(Ok(f64::INFINITY), |found| largest_difference(expected, found));
                let difference = difference.map_err(torch)?;
                if difference > EXPORT_TOLERANCE {
                    let differs = format!("it differs from the network by {difference} in '{output}'");
                    let allowed = format!("(allowed: {EXPORT_TOLERANCE}); it was not kept");
                    return Err(Error(format!("read back, {differs} {allowed}")).of_file(path));
                }
                *largest = largest.max(difference);
            }
            report.positions += sample.batch.len();
        }
        Ok(report)
    }

    /// Returns what the network answers in play, in the order of the exported outputs. `planes` are those of the sample.
    fn answers(&self, sample: &ExportSample, planes: &Tensor) -> Result<Vec<Tensor>, Error> {
        let (rule_inputs, area) = (sample.rule_inputs.clone(), sample.shape.area());
        let network = self.network.graph(Some(&RulesetConditioning { rule_inputs, area }))?;
        let scalars = Tensor::f_from_slice(&sample.batch.scalars)?.f_view([sample.batch.len() as i64, -1])?;
        let weights = network.weights_on(tch::Device::Cpu, Kind::Float)?;
        let outputs = Runner::new(network.graph).run(&weights, &channels_last(planes)?, &scalars)?;
        let logits = outputs.action_logits().map(|logits| logits.flatten(1, -1));
        let [win_draw_loss, margin] = [Output::WinDrawLoss, Output::Margin].map(|output| outputs.get(output));
        Ok(vec![Tensor::f_cat(&logits, 1)?, win_draw_loss.shallow_clone(), margin.shallow_clone()])
    }

    /// Returns the description of the exported network: the JSON that stands in every exported file and
    /// beside them, as docs/FORMATS.md defines it.
    pub fn description(&self) -> Result<Value, Error> {
        Ok(description::describe(self, &self.exported_graph()?))
    }

    /// Writes an `.npz` archive with `sample` and this network's own answers, so that other programs can
    /// compare theirs: the arrays `planes`, `scalars` and one per output.
    /// Fails when there is a file and `overwrite` is not set, the system refuses or libtorch fails.
    pub fn write_check_data(&self, path: &Path, sample: &ExportSample, overwrite: bool) -> Result<(), Error> {
        refuse_existing(path, overwrite)?;
        let torch = |error: Error| error.of_file(path);
        let bytes = tch::no_grad(|| -> Result<Vec<u8>, Error> {
            let network = self.exported_graph()?;
            let [planes, scalars] = sample.tensors()?;
            let answers = run(&network, &planes, &scalars)?;
            let names = network.graph.outputs.iter().map(|(output, _)| output.as_str());
            let mut writer = ArrayWriter::new(Cursor::new(Vec::new()), true);
            for (name, tensor) in ["planes", "scalars"].into_iter().zip([&planes, &scalars]).chain(names.zip(&answers))
            {
                writer.array(name, &sizes(tensor), &files::entries(tensor)?).map_err(unwritten)?;
            }
            Ok(writer.finish().map_err(unwritten)?.into_inner())
        })
        .map_err(torch)?;
        let written = write_atomically(path, |file| file.write_all(&bytes));
        Ok(written.map_err(|refusal| DataError::writing(path, &refusal))?)
    }

    fn exported_graph(&self) -> Result<WeightedGraph, Error> {
        self.network.graph(None)
    }

    fn to_bytes(&self, format: ExportFormat, network: &WeightedGraph) -> Result<Vec<u8>, Error> {
        let description = description::describe(self, network).to_string();
        match format {
            ExportFormat::TorchScript => {
                let mut archive = Archive::of(network);
                archive.extra("meta.json", description);
                archive.to_bytes()
            }
            ExportFormat::Onnx => {
                let names: Vec<&str> = self.info.rulesets.iter().map(|trained| trained.name.as_str()).collect();
                let properties = BTreeMap::from([
                    (DESCRIPTION, description),
                    ("rulesets", names.join(", ")),
                    ("program", format!("latrunculi {}", env!("CARGO_PKG_VERSION"))),
                ]);
                onnx::to_bytes(network, &properties)
            }
            ExportFormat::Safetensors => {
                let metadata = BTreeMap::from([(DESCRIPTION.to_owned(), description)]);
                let tensors = files::named(network.named_weights())?;
                Ok(TensorFile { metadata, tensors }.to_bytes(WEIGHTS))
            }
            ExportFormat::Npz => {
                let mut writer = ArrayWriter::new(Cursor::new(Vec::new()), false);
                for (name, tensor) in network.named_weights() {
                    writer.array(name, &sizes(tensor), &files::entries(tensor)?).map_err(unwritten)?;
                }
                writer.array(DESCRIPTION, &[description.len()], description.as_bytes()).map_err(unwritten)?;
                Ok(writer.finish().map_err(unwritten)?.into_inner())
            }
        }
    }
}

fn refuse_existing(path: &Path, overwrite: bool) -> Result<(), Error> {
    if overwrite || !path.exists() {
        return Ok(());
    }
    Err(Error("there is a file already; --overwrite replaces it".to_owned()).of_file(path))
}

fn sizes(tensor: &Tensor) -> Vec<usize> {
    tensor.size().into_iter().map(|len| len as usize).collect()
}

fn unwritten(error: std::io::Error) -> Error {
    Error(format!("the archive cannot be written: {error}"))
}

/// Returns infinity where an entry is not a number.
fn largest_difference(left: &Tensor, right: &Tensor) -> Result<f64, Error> {
    let largest = (left - right).f_abs()?.f_max()?.f_double_value(&[])?;
    Ok(if largest.is_finite() { largest } else { f64::INFINITY })
}

/// Runs a network in `f32` on the processor; returns the outputs in the graph's order.
fn run(network: &WeightedGraph, planes: &Tensor, scalars: &Tensor) -> Result<Vec<Tensor>, Error> {
    let weights = network.weights_on(tch::Device::Cpu, Kind::Float)?;
    Ok(Runner::new(network.graph.clone()).run(&weights, &channels_last(planes)?, scalars)?.into_tensors())
}

/// Reads the file at `path` as a reader of its format would, and returns its outputs in the graph's order.
fn read_and_run(
    format: ExportFormat,
    path: &Path,
    network: &WeightedGraph,
    planes: &Tensor,
    scalars: &Tensor,
) -> Result<Vec<Tensor>, Error> {
    match format {
        ExportFormat::TorchScript => {
            let inputs = [planes, scalars].map(|tensor| IValue::Tensor(tensor.shallow_clone()));
            let IValue::Tuple(answers) = CModule::load(path)?.forward_is(&inputs)? else {
                return Err(Error("the module does not answer with a tuple".to_owned()));
            };
            Ok(answers.into_iter().map(Tensor::try_from).collect::<Result<_, _>>()?)
        }
        ExportFormat::Onnx => {
            let mut answers = onnx::Interpreter::read(path)?.run(&[("planes", planes), ("scalars", scalars)])?;
            Ok(network.graph.outputs.iter().filter_map(|(output, _)| answers.remove(output.as_str())).collect())
        }
        ExportFormat::Safetensors | ExportFormat::Npz => {
            let weights = match format {
                ExportFormat::Npz => read_npz(path, network)?,
                _ => read_safetensors(path, network)?,
            };
            for ((name, written), read) in network.named_weights().zip(&weights) {
                let bits = |tensor| -> Result<Vec<u32>, Error> {
                    Ok(files::entries(tensor)?.into_iter().map(f32::to_bits).collect())
                };
                if written.size() != read.size() || bits(written)? != bits(read)? {
                    return Err(Error(format!("weight '{name}' does not come back as it was written")));
                }
            }
            run(&WeightedGraph { graph: network.graph.clone(), weights }, planes, scalars)
        }
    }
}

fn read_safetensors(path: &Path, network: &WeightedGraph) -> Result<Vec<Tensor>, Error> {
    let file = TensorFile::read(path, WEIGHTS)?;
    let weight = |(name, _): (&str, &Tensor)| match file.tensors.get(name) {
        Some(stored) => files::tensor(stored),
        None => Err(Error(format!("weight '{name}' is missing"))),
    };
    network.named_weights().map(weight).collect()
}

fn read_npz(path: &Path, network: &WeightedGraph) -> Result<Vec<Tensor>, Error> {
    let mut reader = ArrayReader::open(path)?;
    let weight = |(name, tensor): (&str, &Tensor)| {
        let size = tensor.size();
        let shape: Vec<Option<u64>> = size.iter().map(|&len| Some(len as u64)).collect();
        let array = reader.array::<f32>(name, &shape)?;
        Ok(Tensor::f_from_slice(&array.entries)?.f_view(size.as_slice())?)
    };
    network.named_weights().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use latrunculi_data::ModelInfo;

    use super::*;
    use crate::testing::{made_up_batch, made_up_rules};
    use crate::tests::{encoded, perturbed, shape};
    use latrunculi_data::{NetworkConfig, Pooling, TrainingBatch};

    fn model(pooling: Pooling) -> Model {
        let config = NetworkConfig { pooling, blocks: 2, channels: 16, ..NetworkConfig::default() };
        Model { network: perturbed(&config), info: ModelInfo::default() }
    }

    /// Made-up positions on two boards, under two rulesets.
    fn batches(count: usize) -> [TrainingBatch; 2] {
        let other = TrainingBatch { rule_inputs: made_up_rules(5), ..made_up_batch(&Shape::board(12, 8), count, 10) };
        [made_up_batch(&shape(), count, 10), other]
    }

    fn sample(batch: &TrainingBatch) -> ExportSample {
        ExportSample { shape: batch.shape, rule_inputs: batch.rule_inputs.clone(), batch: encoded(batch) }
    }

    #[test]
    fn every_format_answers_as_the_network() {
        let folder = tempfile::tempdir().unwrap();
        let batches = batches(25);
        let samples = batches.each_ref().map(sample);
        for pooling in [Pooling::None, Pooling::GlobalBias] {
            let model = model(pooling);
            for format in ExportFormat::ALL {
                let path = folder.path().join(format!("{pooling:?}.{}", format.extension()));
                let report = model.export(format, &path, &samples, false).unwrap();
                assert_eq!(report.positions, 50);
                let names: Vec<&str> = report.differences.iter().map(|(name, _)| *name).collect();
                assert_eq!(names, ["policy_logits", "win_draw_loss", "margin"]);
                assert!(report.differences.iter().all(|(_, difference)| *difference < EXPORT_TOLERANCE));
                let bytes = std::fs::read(&path).unwrap();
                assert_eq!(report.file_bytes, bytes.len() as u64);
                let again = model.export(format, &path, &samples, false);
                assert!(again.unwrap_err().to_string().contains("there is a file already"));
                model.export(format, &path, &samples, true).unwrap();
                assert!(bytes == std::fs::read(&path).unwrap(), "equal content gives equal files");
            }
        }
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, 2 * ExportFormat::ALL.len(), "nothing is left beside");
    }

    #[test]
    fn the_check_data_are_the_inputs_and_the_networks_answers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("check.npz");
        let [batch, _] = batches(9);
        let model = model(Pooling::GlobalBias);
        model.write_check_data(&path, &sample(&batch), false).unwrap();
        let mut archive = ArrayReader::open(&path).unwrap();
        let planes = archive.array::<f32>("planes", &[None; 4]).unwrap();
        assert_eq!(planes.entries, batch.planes);
        let values = archive.array::<f32>("win_draw_loss", &[Some(9), Some(3)]).unwrap().entries;
        assert!(values.chunks_exact(3).all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-5));
    }

    #[test]
    fn a_sample_of_another_shape_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pt");
        let [batch, _] = batches(3);
        let sample = ExportSample { shape: Shape::board(5, 5), ..sample(&batch) };
        assert!(model(Pooling::None).export(ExportFormat::TorchScript, &path, &[sample], false).is_err());
        assert!(!path.exists());
    }

    #[test]
    fn a_file_that_answers_otherwise_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let [batch, _] = batches(5);
        let [planes, scalars] = sample(&batch).tensors().unwrap();
        let [one, other] = [Pooling::GlobalBias, Pooling::None].map(model);
        let graph = one.exported_graph().unwrap();
        for format in ExportFormat::ALL {
            let path = folder.path().join(format.extension());
            let bytes = other.to_bytes(format, &other.exported_graph().unwrap()).unwrap();
            std::fs::write(&path, &bytes).unwrap();
            let expected = run(&graph, &planes, &scalars).unwrap();
            let is_seen = match read_and_run(format, &path, &graph, &planes, &scalars) {
                Ok(found) => largest_difference(&expected[0], &found[0]).unwrap() > EXPORT_TOLERANCE,
                Err(_) => true,
            };
            assert!(is_seen, "{format}: another network is taken for this one");
            std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
            assert!(read_and_run(format, &path, &graph, &planes, &scalars).is_err(), "{format}: cut off");
        }
    }
}
