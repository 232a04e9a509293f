//! Files for other programs, each read back and compared with the network before it gets its name.
//!
//! All formats hold the same function, with names and shapes (`B` is free):
//!
//! | in / out | name | shape | |
//! |---|---|---|---|
//! | in | `planes` | `[B, planes, ranks, files]` | zeros and ones |
//! | in | `scalars` | `[B, scalars]` | |
//! | out | `policy_logits` | `[B, policy_len]` | an action's logit is the sum of its two entries |
//! | out | `win_draw_loss` | `[B, 3]` | probabilities for the player to act |
//! | out | `margin` | `[B]` | expected final margin for the player to act, in `(-1, 1)` |

mod torchscript;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use serde_json::json;
use tch::{CModule, IValue, Kind, Tensor};

use crate::error::{FileError, TorchError};
use crate::files;
use crate::graph::{Graph, Runner, channels_last};
use crate::model_file::{Model, StoredShape};

pub(crate) use torchscript::Archive;

/// Largest difference of an output between a file and the network it was made from.
pub const EXPORT_TOLERANCE: f64 = 1e-4;

const WEIGHTS: &str = "latrunculi weights";
const WEIGHTS_VERSION: u32 = 1;
const OUTPUT_NAMES: [&str; 3] = ["policy_logits", "win_draw_loss", "margin"];

/// A format of exported files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExportFormat {
    /// For `torch.jit.load` in Python and `torch::jit::load` in C++; the description is the extra file
    /// `meta.json`.
    TorchScript,
    /// The weights for play, by name, with the description in the metadata.
    Safetensors,
}

impl ExportFormat {
    /// Every format.
    pub const ALL: [ExportFormat; 2] = [ExportFormat::TorchScript, ExportFormat::Safetensors];

    /// Returns the usual ending of such a file, without the dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            ExportFormat::TorchScript => "pt",
            ExportFormat::Safetensors => "safetensors",
        }
    }
}

impl fmt::Display for ExportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ExportFormat::TorchScript => "torchscript",
            ExportFormat::Safetensors => "safetensors",
        })
    }
}

impl FromStr for ExportFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = ExportFormat::ALL.into_iter().find(|format| format.to_string() == text);
        known.ok_or_else(|| {
            let names: Vec<String> = ExportFormat::ALL.iter().map(ToString::to_string).collect();
            format!("unknown format '{text}' (known: {})", names.join(", "))
        })
    }
}

/// Positions on which an exported file is compared with the network.
#[derive(Clone, Copy, Debug)]
pub struct ExportSample<'a> {
    /// `[B, planes, ranks, files]`
    pub planes: &'a [f32],
    /// `[B, scalars]`
    pub scalars: &'a [f32],
}

/// What the comparison found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExportReport {
    /// Positions compared.
    pub positions: usize,
    /// Largest difference in `policy_logits`.
    pub policy_logits: f64,
    /// Largest difference in `win_draw_loss`.
    pub win_draw_loss: f64,
    /// Largest difference in `margin`.
    pub margin: f64,
    /// Size of the file.
    pub file_bytes: u64,
}

impl Model {
    /// Writes this model for other programs to `path`. The file is written beside, read back, compared
    /// with the network on `sample`, and renamed only when it agrees.
    ///
    /// # Errors
    /// [`FileError::Exists`] when there is a file and `overwrite` is not set, [`FileError::Disagrees`] when
    /// an output differs by more than [`EXPORT_TOLERANCE`], [`FileError::Tensor`] when the sample does
    /// not fit, [`FileError::Io`], [`FileError::Torch`].
    pub fn export(
        &self,
        format: ExportFormat,
        path: &Path,
        sample: &ExportSample<'_>,
        overwrite: bool,
    ) -> Result<ExportReport, FileError> {
        if !overwrite && path.exists() {
            return Err(FileError::Exists { path: path.to_owned() });
        }
        let beside = files::beside(path);
        let result = self.export_beside(format, path, &beside, sample);
        match &result {
            Ok(_) => files::put_in_place(&beside, path)?,
            // What cannot be used is not left lying about.
            Err(_) => _ = fs::remove_file(&beside),
        }
        result
    }

    fn export_beside(
        &self,
        format: ExportFormat,
        path: &Path,
        beside: &Path,
        sample: &ExportSample<'_>,
    ) -> Result<ExportReport, FileError> {
        let torch = |source: TorchError| FileError::Torch { path: path.to_owned(), source };
        let shape = self.network.shape();
        let plane_len = shape.planes * shape.area();
        let count = sample.planes.len() / plane_len;
        if count == 0 || sample.planes.len() != count * plane_len || sample.scalars.len() != count * shape.scalars {
            return Err(FileError::Tensor {
                path: path.to_owned(),
                name: "planes, scalars".to_owned(),
                reason: "the sample does not have the network's shape".to_owned(),
            });
        }
        let graph = Graph::of(&self.network).map_err(torch)?.with_policy_vector();
        let bytes = match format {
            ExportFormat::TorchScript => {
                let mut archive = Archive::of(&graph);
                archive.extra("meta.json", self.description(&graph).to_string());
                archive.to_bytes().map_err(torch)?
            }
            ExportFormat::Safetensors => {
                let metadata = BTreeMap::from([("description".to_owned(), self.description(&graph).to_string())]);
                files::to_bytes(WEIGHTS, WEIGHTS_VERSION, &metadata, &graph.weights).map_err(torch)?
            }
        };
        files::write_whole(beside, &bytes)?;

        let answers = |planes: &Tensor, scalars: &Tensor| -> Result<Vec<Tensor>, TorchError> {
            match format {
                ExportFormat::TorchScript => {
                    let inputs = [planes, scalars].map(|tensor| IValue::Tensor(tensor.shallow_clone()));
                    let answer = CModule::load(beside)?.forward_is(&inputs)?;
                    let (policy, values, margin) = <(Tensor, Tensor, Tensor)>::try_from(answer)?;
                    Ok(vec![policy, values, margin])
                }
                ExportFormat::Safetensors => {
                    let mut read = graph.clone_structure();
                    let file = files::read(beside, WEIGHTS, WEIGHTS_VERSION)
                        .map_err(|error| TorchError::other(error.to_string()))?;
                    for (name, _) in &graph.weights {
                        let tensor = file.tensors.get(name).map(Tensor::shallow_clone);
                        read.weights.push((name.clone(), tensor.unwrap_or_else(Tensor::new)));
                    }
                    Runner::new(&read, tch::Device::Cpu, Kind::Float)?.run(&channels_last(planes)?, scalars)
                }
            }
        };
        let mut report = ExportReport {
            positions: count,
            policy_logits: 0.0,
            win_draw_loss: 0.0,
            margin: 0.0,
            file_bytes: bytes.len() as u64,
        };
        let found = tch::no_grad(|| -> Result<[f64; 3], TorchError> {
            let runner = Runner::new(&graph, tch::Device::Cpu, Kind::Float)?;
            let size = [count, shape.planes, shape.ranks, shape.files].map(|len| len as i64);
            let planes = Tensor::f_from_slice(sample.planes)?.f_view(size)?;
            let scalars = Tensor::f_from_slice(sample.scalars)?.f_view([count as i64, shape.scalars as i64])?;
            let (expected, found) = (runner.run(&channels_last(&planes)?, &scalars)?, answers(&planes, &scalars)?);
            let mut differences = [f64::INFINITY; 3];
            for (difference, (left, right)) in differences.iter_mut().zip(expected.iter().zip(&found)) {
                if left.size() == right.size() {
                    let largest = (left - right).f_abs()?.f_max()?.f_double_value(&[])?;
                    *difference = if largest.is_finite() { largest } else { f64::INFINITY };
                }
            }
            Ok(differences)
        })
        .map_err(torch)?;
        for (output, difference) in OUTPUT_NAMES.into_iter().zip(found) {
            if difference > EXPORT_TOLERANCE {
                let allowed = EXPORT_TOLERANCE;
                return Err(FileError::Disagrees { path: path.to_owned(), output, difference, allowed });
            }
        }
        [report.policy_logits, report.win_draw_loss, report.margin] = found;
        Ok(report)
    }

    /// Returns what the file says of itself.
    fn description(&self, graph: &Graph) -> serde_json::Value {
        let shape = self.network.shape();
        let area = shape.area();
        json!({
            "format": "latrunculi network",
            "format_version": 1,
            "info": self.info,
            "network": self.network.config(),
            "shape": StoredShape::of(shape),
            "inputs": {
                "planes": ["B", shape.planes, shape.ranks, shape.files],
                "scalars": ["B", shape.scalars],
            },
            "outputs": {
                "policy_logits": ["B", shape.policy_len()],
                "win_draw_loss": ["B", 3],
                "margin": ["B"],
            },
            "policy_layout": {
                "move": { "start": 0, "len": area * area, "index": "from * area + to" },
                "place_man": { "start": area * area, "len": area },
                "place_dux": { "start": area * area + area, "len": area },
                "remove": { "start": area * area + 2 * area, "len": area },
                "victim": { "start": area * area + 3 * area, "len": area },
                "stop": area * area + 4 * area,
                "pass": area * area + 4 * area + 1,
            },
            "weights": graph.weights.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Pooling;
    use crate::inference::sample_inputs;
    use crate::model_file::ModelInfo;
    use crate::tests::{SHAPE, trained};

    #[test]
    fn every_format_answers_as_the_network() {
        let folder = tempfile::tempdir().unwrap();
        let (planes, scalars) = sample_inputs(&SHAPE, 50);
        let sample = ExportSample { planes: &planes, scalars: &scalars };
        for pooling in [Pooling::None, Pooling::GlobalBias, Pooling::SqueezeExcitation] {
            let model = Model { network: trained(pooling).network().unwrap(), info: ModelInfo::default() };
            for format in ExportFormat::ALL {
                let path = folder.path().join(format!("{pooling:?}.{}", format.extension()));
                let report = model.export(format, &path, &sample, false).unwrap();
                assert_eq!(report.positions, 50);
                assert!(report.policy_logits < EXPORT_TOLERANCE && report.file_bytes > 0);
                let again = model.export(format, &path, &sample, false);
                assert!(matches!(again, Err(FileError::Exists { .. })));
                model.export(format, &path, &sample, true).unwrap();
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 6, "nothing is left beside");
        // Where a Python with torch looks at it: `LATRUNCULI_KEEP_EXPORT=folder cargo test`.
        if let Some(keep) = std::env::var_os("LATRUNCULI_KEEP_EXPORT") {
            for entry in std::fs::read_dir(folder.path()).unwrap() {
                let path = entry.unwrap().path();
                std::fs::copy(&path, Path::new(&keep).join(path.file_name().unwrap())).unwrap();
            }
        }
    }

    #[test]
    fn a_sample_of_another_shape_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pt");
        let model = Model { network: trained(Pooling::None).network().unwrap(), info: ModelInfo::default() };
        let sample = ExportSample { planes: &[0.0; 5], scalars: &[] };
        assert!(model.export(ExportFormat::TorchScript, &path, &sample, false).is_err());
        assert!(!path.exists());
    }

    #[test]
    fn formats_are_read_from_text() {
        assert_eq!("torchscript".parse(), Ok(ExportFormat::TorchScript));
        assert!("onnxx".parse::<ExportFormat>().unwrap_err().contains("safetensors"));
    }
}
