//! The weights of a network in `f32`: those of every board and ruleset, and those for one ruleset, folded with its board.
//! Legend: `C` channels, `P` planes, `S` scalars of the position, `R` numbers of the ruleset, `E` length of its embedding,
//! `D` policy channels, `V` value channels, `K` value hidden. Squares are seen as `[rank, file]`; a 3x3 convolution has
//! nine taps, rank by rank from the own side up.

use std::collections::BTreeMap;

use latrunculi_data::network_config::{RULE_EMBEDDING, size_factor};
use latrunculi_data::tensor_file::not_finite;
use latrunculi_data::{Error, NamedTensor, NetworkConfig, PLANES, SCALARS, Shape, rule_inputs};

/// A matrix with a bias: `[rows, columns]`, `[rows]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Linear {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

impl Linear {
    pub(crate) fn row(&self, row: usize) -> &[f32] {
        &self.weight[row * self.columns..(row + 1) * self.columns]
    }

    /// Returns the product with a vector, `[columns]` to `[rows]`, plus the bias.
    fn times(&self, vector: &[f32]) -> Vec<f32> {
        assert_eq!(vector.len(), self.columns, "a vector of the matrix's length");
        let sum = |row: usize| self.bias[row] + self.row(row).iter().zip(vector).map(|(w, x)| w * x).sum::<f32>();
        (0..self.rows).map(sum).collect()
    }

    /// Adds another matrix times `factor` to the first columns.
    fn add_columns(&mut self, other: &Linear, factor: f32) {
        for (row, other) in self.weight.chunks_exact_mut(self.columns).zip(other.weight.chunks_exact(other.columns)) {
            row.iter_mut().zip(other).for_each(|(value, other)| *value += other * factor);
        }
    }
}

fn add(values: &mut [f32], others: &[f32]) {
    values.iter_mut().zip(others).for_each(|(value, other)| *value += other);
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
    /// Multiplies each channel's weights and bias by 1 plus its number of `scales`.
    fn scale(&mut self, scales: &[f32]) {
        let rows = self.weight.chunks_exact_mut(9 * self.inputs);
        for ((row, bias), scale) in rows.zip(&mut self.bias).zip(scales) {
            row.iter_mut().chain([bias]).for_each(|value| *value *= 1.0 + scale);
        }
    }

    /// Returns the weight from channel `input` at `tap` to channel `output`; 0 where there is no such channel.
    pub(crate) fn at(&self, output: usize, tap: usize, input: usize) -> f32 {
        if output < self.outputs && input < self.inputs {
            self.weight[(output * 9 + tap) * self.inputs + input]
        } else {
            0.0
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Block {
    pub(crate) first: Convolution,
    pub(crate) second: Convolution,
    /// Where the block pools: from the means and then the maxima of the inner channels to a bias of each channel, `[C, 2C]`,
    /// no bias.
    pub(crate) pooling: Option<Linear>,
}

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

/// The weights of a network for every board and ruleset.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameters {
    /// Those that a ruleset may change; the shape is that of no board.
    general: Weights,
    /// From the ruleset to its embedding, before tanh: `[E, R]`.
    embedding: Linear,
    /// From the embedding to a shift of each channel of the stem: `[C, E]`.
    stem: Linear,
    /// From the embedding to scales and shifts of the two convolutions of each block: `[2C, E]`.
    blocks: Vec<[Linear; 2]>,
    /// For each block that pools: added, times the factor of the size, to the columns of the means.
    pooling_by_size: Vec<Option<Linear>>,
    /// The same for the hidden layer: `[K, V]`.
    hidden_by_size: Linear,
}

impl Parameters {
    /// Folds a ruleset, given by its numbers `[R]`, and the size of its board into the weights.
    pub(crate) fn specialised(&self, shape: &Shape, rule_inputs: &[f32]) -> Weights {
        let mut weights = Weights { shape: *shape, ..self.general.clone() };
        let embedding: Vec<f32> = self.embedding.times(rule_inputs).into_iter().map(f32::tanh).collect();
        add(&mut weights.stem.bias, &self.stem.times(&embedding));
        let size = size_factor(shape.area());
        let own = self.blocks.iter().zip(&self.pooling_by_size);
        for (block, (rules, by_size)) in weights.blocks.iter_mut().zip(own) {
            for (convolution, rules) in [&mut block.first, &mut block.second].into_iter().zip(rules) {
                let numbers = rules.times(&embedding);
                let (scales, shifts) = numbers.split_at(convolution.outputs);
                convolution.scale(scales);
                add(&mut convolution.bias, shifts);
            }
            if let (Some(pooling), Some(by_size)) = (&mut block.pooling, by_size) {
                pooling.add_columns(by_size, size);
            }
        }
        weights.hidden.add_columns(&self.hidden_by_size, size);
        weights
    }

    /// Takes the tensors of a network apart, standardises the convolutions, and checks all.
    pub(crate) fn new(config: &NetworkConfig, tensors: BTreeMap<String, NamedTensor>) -> Result<Parameters, Error> {
        config.check()?;
        let mut tensors = Tensors(tensors);
        let (channels, keys) = (config.channels, config.policy_channels);
        let (features, hidden) = (config.value_channels, config.value_hidden);
        let stem = Convolution {
            outputs: channels,
            inputs: PLANES.len(),
            weight: tensors.take("stem.weight", &[channels, 3, 3, PLANES.len()])?,
            bias: tensors.take("stem.bias", &[channels])?,
        };
        let scalars = tensors.matrix("stem.scalars", channels, SCALARS.len())?;
        let mut blocks = Vec::with_capacity(config.blocks);
        let (mut rules, mut pooling_by_size) = (Vec::new(), Vec::new());
        for index in 0..config.blocks {
            let mut of_pooling = |name: &str, columns: usize| -> Result<Option<Linear>, Error> {
                let name = format!("blocks.{index}.{name}");
                config.is_pooled(index).then(|| tensors.matrix(&name, channels, columns)).transpose()
            };
            let pooling = of_pooling("global", 2 * channels)?;
            pooling_by_size.push(of_pooling("global.size", channels)?);
            let first = tensors.standardised(&format!("blocks.{index}.conv1"), channels)?;
            let second = tensors.standardised(&format!("blocks.{index}.conv2"), channels)?;
            let mut of_rules =
                |half: usize| tensors.matrix(&format!("blocks.{index}.conv{half}.rules"), 2 * channels, RULE_EMBEDDING);
            rules.push([of_rules(1)?, of_rules(2)?]);
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
        let general = Weights {
            config: config.clone(),
            shape: Shape::board(0, 0),
            stem,
            scalars,
            blocks,
            from,
            to: tensors.linear("policy.to", keys, channels)?,
            features: tensors.linear("value.features", features, channels)?,
            hidden: tensors.linear("value.hidden", hidden, 2 * features)?,
            last,
        };
        let parameters = Parameters {
            general,
            embedding: tensors.matrix("rules.embedding", RULE_EMBEDDING, rule_inputs::count())?,
            stem: tensors.matrix("stem.rules", channels, RULE_EMBEDDING)?,
            blocks: rules,
            pooling_by_size,
            hidden_by_size: tensors.matrix("value.hidden.size", hidden, features)?,
        };
        match tensors.0.into_keys().next() {
            None => Ok(parameters),
            Some(name) => Err(Error(format!("tensor '{name}': the network that is described has no such tensor"))),
        }
    }
}

/// The tensors that were not used yet.
struct Tensors(BTreeMap<String, NamedTensor>);

impl Tensors {
    fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, Error> {
        let wrong = |reason: String| Error(format!("tensor '{name}': {reason}"));
        let tensor = self.0.remove(name).ok_or_else(|| wrong("it is missing".to_owned()))?;
        if tensor.shape != shape || tensor.values.len() != shape.iter().product::<usize>() {
            return Err(wrong(format!("its shape is {:?} and must be {shape:?}", tensor.shape)));
        }
        if tensor.values.iter().any(|value| !value.is_finite()) {
            return Err(not_finite(name));
        }
        Ok(tensor.values)
    }

    fn matrix(&mut self, name: &str, rows: usize, columns: usize) -> Result<Linear, Error> {
        let weight = self.take(&format!("{name}.weight"), &[rows, columns])?;
        Ok(Linear { rows, columns, weight, bias: vec![0.0; rows] })
    }

    fn linear(&mut self, name: &str, rows: usize, columns: usize) -> Result<Linear, Error> {
        let bias = self.take(&format!("{name}.bias"), &[rows])?;
        Ok(Linear { bias, ..self.matrix(name, rows, columns)? })
    }

    /// Takes a convolution of the trunk: the weights of each output channel are shifted to mean 0, scaled to length 1
    /// and multiplied by its gain.
    /// Source: Brock, De, Smith 2021, "Characterizing signal propagation to close the performance gap in unnormalized
    /// ResNets" (arXiv 2101.08692), equation 4.
    fn standardised(&mut self, name: &str, channels: usize) -> Result<Convolution, Error> {
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
