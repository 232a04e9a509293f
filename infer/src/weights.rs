//! The weights of a network as the forward pass uses them, in `f32`: what never changes is computed once here.
//!
//! Legend: `C` channels, `P` planes, `S` scalars, `D` policy channels, `V` value channels, `K` value hidden. Squares
//! are seen as `[rank, file]`; a 3x3 convolution has nine taps, rank by rank from the own side up.

use std::collections::BTreeMap;

use latrunculi_data::Shape;

use crate::error::ModelError;
use crate::model_file::NamedTensor;
use latrunculi_data::{NetworkConfig, Pooling};

/// A matrix with a bias: `[rows, columns]`, `[rows]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Linear {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

impl Linear {
    /// Returns the weights of one row.
    pub(crate) fn row(&self, row: usize) -> &[f32] {
        &self.weight[row * self.columns..(row + 1) * self.columns]
    }
}

/// A 3x3 convolution: `weight` is `[out, 9, in]`, `bias` is `[out]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Convolution {
    pub(crate) outputs: usize,
    pub(crate) inputs: usize,
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

impl Convolution {
    /// Returns the weight from channel `input` at `tap` to channel `output`; 0 where there is no such channel.
    pub(crate) fn at(&self, output: usize, tap: usize, input: usize) -> f32 {
        if output < self.outputs && input < self.inputs {
            self.weight[(output * 9 + tap) * self.inputs + input]
        } else {
            0.0
        }
    }
}

/// How a block learns about the whole board.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PoolingWeights {
    None,
    /// From the means and then the maxima of the inner channels to a bias of each channel: `[C, 2C]`, no bias.
    GlobalBias(Linear),
    /// From the means of the branch to fewer channels, `[C/4, C]`; from these to a factor and a bias of each
    /// channel, `[2C, C/4]`.
    SqueezeExcitation {
        squeeze: Linear,
        excite: Linear,
    },
}

/// One residual block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Block {
    pub(crate) first: Convolution,
    pub(crate) second: Convolution,
    pub(crate) pooling: PoolingWeights,
}

/// All weights of a network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Weights {
    pub(crate) config: NetworkConfig,
    pub(crate) shape: Shape,
    pub(crate) stem: Convolution,
    /// `[C, S]`, no bias.
    pub(crate) scalars: Linear,
    pub(crate) blocks: Vec<Block>,
    /// From-squares, already divided by the root of `D`: `[D, C]`.
    pub(crate) from: Linear,
    /// To-squares: `[D, C]`.
    pub(crate) to: Linear,
    /// Value features: `[V, C]`.
    pub(crate) features: Linear,
    /// `[K, 2V]`: reads the means and then the maxima of the features.
    pub(crate) hidden: Linear,
    /// Win, draw, loss; margin; stop, pass; four queries: `[6 + 4D, K]`.
    pub(crate) last: Linear,
}

impl Weights {
    /// Takes the tensors of a network apart, folds what is constant, and checks all.
    ///
    /// # Errors
    /// [`ModelError`] with what does not fit.
    pub(crate) fn new(
        config: &NetworkConfig,
        shape: &Shape,
        tensors: BTreeMap<String, NamedTensor>,
    ) -> Result<Weights, ModelError> {
        let faults = config.validate(shape);
        if !faults.is_empty() {
            return Err(ModelError::Config(faults));
        }
        let mut tensors = Tensors(tensors);
        let (channels, keys) = (config.channels, config.policy_channels);
        let (features, hidden) = (config.value_channels, config.value_hidden);
        let stem = Convolution {
            outputs: channels,
            inputs: shape.planes,
            weight: tensors.take("stem.weight", &[channels, 3, 3, shape.planes])?,
            bias: tensors.take("stem.bias", &[channels])?,
        };
        let scalars = match shape.scalars {
            0 => Linear { rows: channels, bias: vec![0.0; channels], ..Linear::default() },
            count => tensors.matrix("stem.scalars", channels, count)?,
        };
        let mut blocks = Vec::with_capacity(config.blocks);
        for index in 0..config.blocks {
            let pooling = match config.pooling {
                _ if !config.is_pooled(index) => PoolingWeights::None,
                Pooling::None => PoolingWeights::None,
                Pooling::GlobalBias => {
                    let name = format!("blocks.{index}.global");
                    PoolingWeights::GlobalBias(tensors.matrix(&name, channels, 2 * channels)?)
                }
                Pooling::SqueezeExcitation => PoolingWeights::SqueezeExcitation {
                    squeeze: tensors.linear(
                        &format!("blocks.{index}.squeeze"),
                        config.squeezed_channels(),
                        channels,
                    )?,
                    excite: tensors.linear(
                        &format!("blocks.{index}.excite"),
                        2 * channels,
                        config.squeezed_channels(),
                    )?,
                },
            };
            let first = tensors.standardised(&format!("blocks.{index}.conv1"), channels)?;
            let second = tensors.standardised(&format!("blocks.{index}.conv2"), channels)?;
            blocks.push(Block { first, second, pooling });
        }
        let mut from = tensors.linear("policy.from", keys, channels)?;
        let temper = (1.0 / (keys as f64).sqrt()) as f32;
        from.weight.iter_mut().chain(&mut from.bias).for_each(|value| *value *= temper);
        let outputs =
            [("value.win_draw_loss", 3), ("value.margin", 1), ("policy.stop_pass", 2), ("policy.queries", 4 * keys)];
        let mut last = Linear { columns: hidden, ..Linear::default() };
        for (name, rows) in outputs {
            let part = tensors.linear(name, rows, hidden)?;
            last.rows += rows;
            last.weight.extend(part.weight);
            last.bias.extend(part.bias);
        }
        let weights = Weights {
            config: config.clone(),
            shape: *shape,
            stem,
            scalars,
            blocks,
            from,
            to: tensors.linear("policy.to", keys, channels)?,
            features: tensors.linear("value.features", features, channels)?,
            hidden: tensors.linear("value.hidden", hidden, 2 * features)?,
            last,
        };
        match tensors.0.into_keys().next() {
            None => Ok(weights),
            Some(name) => {
                let reason = "the network that is described has no such tensor".to_owned();
                Err(ModelError::Tensor { name, reason })
            }
        }
    }
}

/// The tensors that were not used yet.
struct Tensors(BTreeMap<String, NamedTensor>);

impl Tensors {
    fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let wrong = |reason: String| ModelError::Tensor { name: name.to_owned(), reason };
        let tensor = self.0.remove(name).ok_or_else(|| wrong("it is missing".to_owned()))?;
        if tensor.shape != shape || tensor.values.len() != shape.iter().product::<usize>() {
            return Err(wrong(format!("its shape is {:?} and must be {shape:?}", tensor.shape)));
        }
        if tensor.values.iter().any(|value| !value.is_finite()) {
            return Err(ModelError::NotFinite(name.to_owned()));
        }
        Ok(tensor.values)
    }

    /// Takes a matrix without bias.
    fn matrix(&mut self, name: &str, rows: usize, columns: usize) -> Result<Linear, ModelError> {
        let weight = self.take(&format!("{name}.weight"), &[rows, columns])?;
        Ok(Linear { rows, columns, weight, bias: vec![0.0; rows] })
    }

    fn linear(&mut self, name: &str, rows: usize, columns: usize) -> Result<Linear, ModelError> {
        let bias = self.take(&format!("{name}.bias"), &[rows])?;
        Ok(Linear { bias, ..self.matrix(name, rows, columns)? })
    }

    /// Takes a convolution of the trunk: the weights of each output channel are shifted to mean 0, scaled to length 1
    /// and multiplied by its gain.
    ///
    /// Source: Brock, De, Smith 2021, "Characterizing signal propagation to close the performance gap in unnormalized
    /// ResNets" (arXiv 2101.08692), equation 4.
    fn standardised(&mut self, name: &str, channels: usize) -> Result<Convolution, ModelError> {
        let mut weight = self.take(&format!("{name}.weight"), &[channels, 3, 3, channels])?;
        let gain = self.take(&format!("{name}.gain"), &[channels])?;
        let bias = self.take(&format!("{name}.bias"), &[channels])?;
        let len = 9 * channels;
        for (row, gain) in weight.chunks_exact_mut(len).zip(gain) {
            let mean = row.iter().map(|&value| f64::from(value)).sum::<f64>() / len as f64;
            let square: f64 = row.iter().map(|&value| (f64::from(value) - mean).powi(2)).sum();
            let scale = f64::from(gain) / (square + 1e-6).sqrt();
            row.iter_mut().for_each(|value| *value = ((f64::from(*value) - mean) * scale) as f32);
        }
        Ok(Convolution { outputs: channels, inputs: channels, weight, bias })
    }
}
