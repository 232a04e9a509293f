//! The inference copy of a network: weights folded, precision chosen, legal actions only.
//!
//! Legend: `B` positions, `P` planes, `S` scalars, `H` ranks, `W` files, `L` all legal actions.

use std::fmt;
use std::str::FromStr;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use tch::{Kind, Tensor};

use crate::actions::ActionGather;
use crate::device::{self, Device};
use crate::encoding::EncodedBatch;
use crate::error::{InferenceError, TorchError};
use crate::graph::{Graph, Runner, channels_last};
use crate::network::{Network, Outputs};
use latrunculi_engine::encoding::Shape;

/// How exactly the inference copy computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// What is faster on this machine, measured when the network is loaded: 16 bits only where the
    /// processor multiplies them itself or on a GPU, and only when the answers agree with `F32`.
    ///
    /// The measurement may turn out differently next time: name one of the others for a run that is to be
    /// repeated.
    #[default]
    Auto,
    /// 32 bits throughout.
    F32,
    /// 16 bits (bfloat16) in the trunk, 32 in the heads.
    Bf16,
}

impl Precision {
    fn kind(self) -> Kind {
        match self {
            Precision::Auto | Precision::F32 => Kind::Float,
            Precision::Bf16 => Kind::BFloat16,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Precision::Auto => "auto",
            Precision::F32 => "f32",
            Precision::Bf16 => "bf16",
        })
    }
}

impl FromStr for Precision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Precision::Auto),
            "f32" => Ok(Precision::F32),
            "bf16" => Ok(Precision::Bf16),
            _ => Err(format!("unknown precision '{text}' (known: auto, f32, bf16)")),
        }
    }
}

/// What the network thinks of the positions of a batch. The memory is reused by the next one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// `[L]`: one logit per legal action.
    pub logits: Vec<f32>,
    /// `[B]`: probabilities of win, draw, loss for the player to act.
    pub win_draw_loss: Vec<[f32; 3]>,
    /// `[B]`: expected final material margin for the player to act, in `(-1, 1)`.
    pub margin: Vec<f32>,
}

/// How the precisions compare on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrecisionMeasurement {
    /// Positions per second in 32 bits, one thread.
    pub f32_per_sec: f64,
    /// Positions per second in 16 bits, one thread.
    pub bf16_per_sec: f64,
    /// Largest difference of a probability between the two on sample positions.
    pub difference: f64,
}

impl PrecisionMeasurement {
    /// Tells whether 16 bits are faster and answer alike.
    #[must_use]
    pub fn prefers_bf16(&self) -> bool {
        self.difference <= ALLOWED_DIFFERENCE && self.bf16_per_sec > 1.05 * self.f32_per_sec
    }
}

impl fmt::Display for PrecisionMeasurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PrecisionMeasurement { f32_per_sec, bf16_per_sec, difference } = self;
        write!(f, "f32 {f32_per_sec:.0}/s, bf16 {bf16_per_sec:.0}/s, answers differ by {difference:.4}")
    }
}

/// A network that only answers.
#[derive(Debug)]
pub struct InferenceNetwork {
    shape: Shape,
    device: Device,
    precision: Precision,
    measured: Option<PrecisionMeasurement>,
    runner: Runner,
    gather: ActionGather,
    entries: Vec<f32>,
}

/// The batch with which precisions are compared.
const MEASURED_BATCH: usize = 64;
/// How often each precision has its turn.
const MEASUREMENTS: usize = 9;
/// How far probabilities may differ in 16 bits.
const ALLOWED_DIFFERENCE: f64 = 0.02;

impl InferenceNetwork {
    /// Makes an inference copy of `network` on `device`.
    ///
    /// # Errors
    /// [`InferenceError::Torch`] when the device fails.
    pub fn new(network: &Network, device: Device, precision: Precision) -> Result<InferenceNetwork, InferenceError> {
        let graph = Graph::of(network)?;
        let make = |precision: Precision| -> Result<InferenceNetwork, TorchError> {
            Ok(InferenceNetwork {
                shape: *network.shape(),
                device,
                precision,
                measured: None,
                runner: Runner::new(&graph, device.0, precision.kind())?,
                gather: ActionGather::default(),
                entries: Vec::new(),
            })
        };
        match precision {
            Precision::Auto if device.is_gpu() || device::cpu_has_bf16() => {
                let (exact, short) = (make(Precision::F32)?, make(Precision::Bf16)?);
                let measured = short.compare(&exact)?;
                let chosen = if measured.prefers_bf16() { short } else { exact };
                Ok(InferenceNetwork { measured: Some(measured), ..chosen })
            }
            Precision::Auto => Ok(make(Precision::F32)?),
            _ => Ok(make(precision)?),
        }
    }

    /// Returns the precision it computes in; never [`Precision::Auto`].
    #[must_use]
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Returns what was measured where [`Precision::Auto`] had a choice.
    #[must_use]
    pub fn measured(&self) -> Option<&PrecisionMeasurement> {
        self.measured.as_ref()
    }

    /// Returns the device it computes on.
    #[must_use]
    pub fn device(&self) -> Device {
        self.device
    }

    /// Returns the size of the positions it sees.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Answers a batch; `answers` is overwritten.
    ///
    /// The calling thread computes alone on the processor (see [`device::use_threads`]).
    ///
    /// # Errors
    /// [`InferenceError::Batch`] when the batch does not fit, [`InferenceError::NotFinite`] when the
    /// weights are broken, [`InferenceError::Torch`] when the device fails.
    pub fn answer(&mut self, batch: &EncodedBatch<'_>, answers: &mut Answers) -> Result<(), InferenceError> {
        device::use_threads(1);
        batch.check(&self.shape)?;
        let mut gather = std::mem::take(&mut self.gather);
        gather.fill(&self.shape, batch.action_offsets, batch.action_indices)?;
        let result = tch::no_grad(|| self.answer_checked(batch, &gather, answers));
        self.gather = gather;
        result
    }

    fn answer_checked(
        &mut self,
        batch: &EncodedBatch<'_>,
        gather: &ActionGather,
        answers: &mut Answers,
    ) -> Result<(), InferenceError> {
        let outputs = self.forward(batch.planes, batch.scalars, batch.len())?;
        let size = batch.len() as i64;
        let values = Tensor::f_cat(&[outputs.win_draw_loss, outputs.margin.f_view([size, 1])?], 1)?;
        let values = self.fetch(&values)?;
        answers.win_draw_loss.clear();
        answers.margin.clear();
        for row in values.chunks_exact(4) {
            answers.win_draw_loss.push([row[0], row[1], row[2]]);
            answers.margin.push(row[3]);
        }
        let entries = gather.fetch(&Outputs {
            action_map: outputs.action_map,
            square_logits: outputs.square_logits,
            stop_pass: outputs.stop_pass,
            win_draw_loss: Tensor::new(),
            margin: Tensor::new(),
        })?;
        let entries = self.fetch(&entries)?;
        gather.combine(entries, &mut answers.logits);
        let finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
        if finite(&answers.logits) && finite(answers.win_draw_loss.as_flattened()) && finite(&answers.margin) {
            Ok(())
        } else {
            Err(InferenceError::NotFinite)
        }
    }

    /// Brings inputs to the device: `planes` `[B, P, H, W]`, channels last in memory, and `scalars` `[B, S]`.
    fn inputs(&self, planes: &[f32], scalars: &[f32], batch_size: usize) -> Result<(Tensor, Tensor), TorchError> {
        let shape = &self.shape;
        let kind = self.precision.kind();
        let size = [batch_size, shape.planes, shape.ranks, shape.files].map(|len| len as i64);
        let planes = Tensor::f_from_slice(planes)?.f_view(size)?.f_to_device(self.device.0)?.f_to_kind(kind)?;
        let scalars = Tensor::f_from_slice(scalars)?.f_view([batch_size as i64, shape.scalars as i64])?;
        let scalars = scalars.f_to_device(self.device.0)?.f_to_kind(kind)?;
        Ok((channels_last(&planes)?, scalars))
    }

    /// Runs the network: `planes` `[B, P, H, W]`, `scalars` `[B, S]`. Win, draw, loss are probabilities.
    pub(crate) fn forward(&self, planes: &[f32], scalars: &[f32], batch_size: usize) -> Result<Outputs, TorchError> {
        let (planes, scalars) = self.inputs(planes, scalars, batch_size)?;
        let mut outputs = self.runner.run(&planes, &scalars)?.into_iter();
        let mut next = || outputs.next().unwrap_or_else(Tensor::new);
        Ok(Outputs {
            action_map: next(),
            square_logits: next(),
            stop_pass: next(),
            win_draw_loss: next(),
            margin: next(),
        })
    }

    /// Brings a tensor of `f32` to the processor.
    fn fetch(&mut self, tensor: &Tensor) -> Result<&[f32], TorchError> {
        let count = tensor.numel();
        self.entries.resize(count, 0.0);
        let tensor = tensor.f_to_device(tch::Device::Cpu)?.f_contiguous()?;
        tensor.f_copy_data(&mut self.entries, count)?;
        Ok(&self.entries)
    }

    /// Compares this copy with `exact`.
    ///
    /// The two take turns, so that other work on the machine meets both, and the middle of the times counts.
    fn compare(&self, exact: &InferenceNetwork) -> Result<PrecisionMeasurement, TorchError> {
        device::use_threads(1);
        let (planes, scalars) = sample_inputs(&self.shape, MEASURED_BATCH);
        tch::no_grad(|| {
            let difference = self.difference_to(exact, &planes, &scalars)?;
            let (mut mine, mut theirs) = (Vec::new(), Vec::new());
            for _ in 0..MEASUREMENTS {
                mine.push(self.seconds(&planes, &scalars)?);
                theirs.push(exact.seconds(&planes, &scalars)?);
            }
            let rate = |seconds: &mut Vec<f64>| {
                seconds.sort_by(f64::total_cmp);
                MEASURED_BATCH as f64 / seconds[seconds.len() / 2]
            };
            let (bf16_per_sec, f32_per_sec) = (rate(&mut mine), rate(&mut theirs));
            Ok(PrecisionMeasurement { f32_per_sec, bf16_per_sec, difference })
        })
    }

    /// Returns the seconds that `repeats` batches of made-up positions take, inputs ready on the device and outputs
    /// left there: what no use of this network can go below.
    ///
    /// # Errors
    /// [`TorchError`] when the device fails.
    pub fn bare_seconds(&self, batch_size: usize, repeats: usize) -> Result<f64, TorchError> {
        device::use_threads(1);
        let (planes, scalars) = sample_inputs(&self.shape, batch_size);
        tch::no_grad(|| {
            let (planes, scalars) = self.inputs(&planes, &scalars, batch_size)?;
            self.device.synchronize();
            let begun = Instant::now();
            for _ in 0..repeats {
                self.runner.run(&planes, &scalars)?;
            }
            self.device.synchronize();
            Ok(begun.elapsed().as_secs_f64())
        })
    }

    /// Returns the largest difference of a probability on sample positions.
    fn difference_to(&self, other: &InferenceNetwork, planes: &[f32], scalars: &[f32]) -> Result<f64, TorchError> {
        let probabilities = |network: &InferenceNetwork| -> Result<[Tensor; 3], TorchError> {
            let outputs = network.forward(planes, scalars, MEASURED_BATCH)?;
            let policy = outputs.action_map.f_reshape([MEASURED_BATCH as i64, -1])?.f_softmax(1, None)?;
            Ok([policy, outputs.win_draw_loss, outputs.margin])
        };
        let mut largest = 0.0_f64;
        for (mine, theirs) in probabilities(self)?.iter().zip(&probabilities(other)?) {
            let difference = (mine - theirs).f_abs()?.f_max()?.f_double_value(&[])?;
            // A value that is not a number agrees with nothing.
            largest = if difference.is_finite() { largest.max(difference) } else { f64::INFINITY };
        }
        Ok(largest)
    }

    /// Returns how long a batch takes.
    fn seconds(&self, planes: &[f32], scalars: &[f32]) -> Result<f64, TorchError> {
        let start = Instant::now();
        self.forward(planes, scalars, MEASURED_BATCH)?;
        self.device.synchronize();
        Ok(start.elapsed().as_secs_f64())
    }
}

/// Returns `planes` and `scalars` of `count` made-up positions, the same each time.
pub(crate) fn sample_inputs(shape: &Shape, count: usize) -> (Vec<f32>, Vec<f32>) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        // Xorshift: good enough to strew ones.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1_u64 << 24) as f32
    };
    let planes = (0..count * shape.planes * shape.area()).map(|_| f32::from(u8::from(next() < 0.15))).collect();
    let scalars = (0..count * shape.scalars).map(|_| next()).collect();
    (planes, scalars)
}
