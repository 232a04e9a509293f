//! A network for play under one ruleset: weights folded for it, one precision, logits of legal actions only.
//! Legend: `B` positions, `P` planes, `S` scalars of the position, `H` ranks, `W` files, `L` all legal actions.

use std::time::Instant;

use tch::Tensor;

use crate::actions::ActionGather;
use crate::device::{self, Device};
use crate::error::Error;
use crate::graph::Output;
use crate::network::Network;
use crate::runner::{Outputs, Runner, channels_last};
use crate::weights::RulesetConditioning;
use latrunculi_data::{Answers, PositionBatch, Precision, SCALARS, Shape};
use latrunculi_engine::Rules;

/// A network for play under one ruleset.
#[derive(Debug)]
pub struct InferenceNetwork {
    shape: Shape,
    device: Device,
    precision: Precision,
    runner: Runner,
    /// The weights of the runner's graph.
    weights: Vec<Tensor>,
    gather: ActionGather,
    planes: Vec<f32>,
    entries: Vec<f32>,
}

impl InferenceNetwork {
    /// Makes a copy of `network` for play under `rules` on `device`.
    ///
    /// [`Precision::Auto`] is what the hardware suggests.
    pub fn new(
        network: &Network,
        rules: &Rules,
        device: Device,
        precision: Precision,
    ) -> Result<InferenceNetwork, Error> {
        let conditioning = RulesetConditioning::of(rules);
        InferenceNetwork::specialised(network, Shape::of(rules), conditioning, device, precision)
    }

    /// As [`InferenceNetwork::new`].
    pub(crate) fn specialised(
        network: &Network,
        shape: Shape,
        conditioning: RulesetConditioning,
        device: Device,
        precision: Precision,
    ) -> Result<InferenceNetwork, Error> {
        let graph = network.graph(Some(&conditioning))?;
        let precision = device.precision(precision);
        Ok(InferenceNetwork {
            shape,
            device,
            precision,
            weights: graph.weights_on(device.0, device.kind(precision))?,
            runner: Runner::new(graph.graph),
            gather: ActionGather::default(),
            planes: Vec::new(),
            entries: Vec::new(),
        })
    }

    /// Returns the precision; never [`Precision::Auto`].
    #[must_use]
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Evaluates a batch; `answers` is overwritten.
    /// On the processor it computes in the calling thread alone (see [`device::use_one_thread`]).
    /// Fails when the batch does not fit, an answer is not finite, or the device fails.
    pub fn answer(&mut self, batch: &PositionBatch, answers: &mut Answers) -> Result<(), Error> {
        device::use_one_thread();
        batch.check(&self.shape)?;
        let mut gather = std::mem::take(&mut self.gather);
        gather.fill(&self.shape, &batch.action_offsets, &batch.action_indices)?;
        let result = tch::no_grad(|| self.answer_checked(batch, &gather, answers));
        self.gather = gather;
        result
    }

    fn answer_checked(
        &mut self,
        batch: &PositionBatch,
        gather: &ActionGather,
        answers: &mut Answers,
    ) -> Result<(), Error> {
        batch.write_planes(self.shape.area(), &mut self.planes);
        let outputs = self.forward(&self.planes, &batch.scalars, batch.len())?;
        let size = batch.len() as i64;
        let values =
            Tensor::f_cat(&[outputs.get(Output::WinDrawLoss), &outputs.get(Output::Margin).f_view([size, 1])?], 1)?;
        let values = self.fetch(&values)?;
        answers.clear();
        answers.offsets.extend(batch.action_offsets[1..].iter().map(|&end| end as usize));
        for row in values.chunks_exact(4) {
            answers.win_draw_loss.push([row[0], row[1], row[2]]);
            answers.margin.push(row[3]);
        }
        let entries = gather.fetch(outputs.action_logits())?;
        let entries = self.fetch(&entries)?;
        gather.combine(entries, &mut answers.logits);
        let finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
        if finite(&answers.logits) && finite(answers.win_draw_loss.as_flattened()) && finite(&answers.margin) {
            Ok(())
        } else {
            let reason = "the network answered with something that is not a number: its weights are broken";
            Err(Error(reason.to_owned()))
        }
    }

    /// Moves inputs to the device: `planes` `[B, P, H, W]`, channels last in memory, and `scalars` `[B, S]`.
    fn inputs(&self, planes: &[f32], scalars: &[f32], batch_size: usize) -> Result<(Tensor, Tensor), Error> {
        let shape = &self.shape;
        let kind = self.device.kind(self.precision);
        let size = [batch_size, shape.planes, shape.ranks, shape.files].map(|len| len as i64);
        let planes = Tensor::f_from_slice(planes)?.f_view(size)?.f_to_device(self.device.0)?.f_to_kind(kind)?;
        let scalars = Tensor::f_from_slice(scalars)?.f_view([batch_size as i64, SCALARS.len() as i64])?;
        let scalars = scalars.f_to_device(self.device.0)?.f_to_kind(kind)?;
        Ok((channels_last(&planes)?, scalars))
    }

    /// Runs the network: `planes` `[B, P, H, W]`, `scalars` `[B, S]`. Win, draw, loss are probabilities.
    pub(crate) fn forward(&self, planes: &[f32], scalars: &[f32], batch_size: usize) -> Result<Outputs, Error> {
        let (planes, scalars) = self.inputs(planes, scalars, batch_size)?;
        self.runner.run(&self.weights, &planes, &scalars)
    }

    fn fetch(&mut self, tensor: &Tensor) -> Result<&[f32], Error> {
        let count = tensor.numel();
        self.entries.resize(count, 0.0);
        let tensor = tensor.f_to_device(tch::Device::Cpu)?.f_contiguous()?;
        tensor.f_copy_data(&mut self.entries, count)?;
        Ok(&self.entries)
    }

    /// Returns the seconds that `repeats` batches of made-up positions take, without moving inputs and outputs to and
    /// from the device: a lower bound for every use of this network.
    pub fn bare_seconds(&self, batch_size: usize, repeats: usize) -> Result<f64, Error> {
        device::use_one_thread();
        let (planes, scalars) = sample_inputs(&self.shape, batch_size);
        tch::no_grad(|| {
            let (planes, scalars) = self.inputs(&planes, &scalars, batch_size)?;
            self.device.synchronize();
            let begun = Instant::now();
            for _ in 0..repeats {
                self.runner.run(&self.weights, &planes, &scalars)?;
            }
            self.device.synchronize();
            Ok(begun.elapsed().as_secs_f64())
        })
    }
}

/// Returns planes `[B, P, H, W]` and scalars `[B, S]` of `count` made-up positions, the same each time.
pub(crate) fn sample_inputs(shape: &Shape, count: usize) -> (Vec<f32>, Vec<f32>) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        // Xorshift, good enough for this.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1_u64 << 24) as f32
    };
    let planes = (0..count * shape.planes * shape.area()).map(|_| f32::from(u8::from(next() < 0.15))).collect();
    let scalars = (0..count * SCALARS.len()).map(|_| next()).collect();
    (planes, scalars)
}
