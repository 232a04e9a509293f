//! Makes the weights of a graph of the parameters, anew in each step of training, once per ruleset for play. The same folding
//! without libtorch is in `latrunculi-infer`; a test compares both.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use tch::{Kind, Tensor};

use crate::error::Error;
use crate::graph::{Graph, WeightPart};
use latrunculi_data::layout::{ParameterLayout, group};
use latrunculi_data::network_config::{RULE_EMBEDDING, size_factor};
use latrunculi_data::{NetworkConfig, PLANES, Pooling, SCALARS, Shape, rule_inputs};
use latrunculi_engine::Rules;
use latrunculi_infer::PARTS;

/// What is the same for all positions of a batch and is folded into the weights.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RulesetConditioning {
    /// `[R]`: the numbers of the ruleset.
    pub(crate) rule_inputs: Vec<f32>,
    pub(crate) area: usize,
}

impl RulesetConditioning {
    pub(crate) fn of(rules: &Rules) -> RulesetConditioning {
        RulesetConditioning { rule_inputs: rule_inputs::of(rules.ruleset()), area: Shape::of(rules).area() }
    }
}

/// The parameters, prepared as far as all rulesets share it.
#[derive(Debug)]
pub(crate) struct WeightMaker<'a> {
    config: &'a NetworkConfig,
    groups: Vec<Tensor>,
    /// `[2NC, 9C] f32`: the convolutions of the blocks, standardised, without gain.
    trunk: Tensor,
}

/// Scales and shifts that a ruleset gives the convolutions.
#[derive(Debug)]
struct Film {
    /// `[C]`: shift of the stem.
    stem: Tensor,
    /// `[2N, C]`
    scale: Tensor,
    /// `[2N, C]`
    shift: Tensor,
}

impl<'a> WeightMaker<'a> {
    /// Prepares `parameters`, `[len] f32`; `config` and `layout` are those of the network.
    pub(crate) fn new(
        config: &'a NetworkConfig,
        layout: &ParameterLayout,
        parameters: &Tensor,
    ) -> Result<WeightMaker<'a>, Error> {
        let groups = parameters.f_split_with_sizes(layout.group_lens.as_slice(), 0)?;
        // Standardised: mean 0, length 1 per output channel.
        let (channels, convolutions) = (config.channels as i64, 2 * config.blocks as i64);
        let raw = groups[group::TRUNK_WEIGHT].f_view([convolutions * channels, 9 * channels])?;
        let centred = &raw - raw.f_mean_dim(&[1_i64][..], true, Kind::Float)?;
        let length = centred.f_square()?.f_sum_dim_intlist(&[1_i64][..], true, Kind::Float)?;
        let trunk = centred * (length + 1e-6).f_rsqrt()?;
        Ok(WeightMaker { config, groups, trunk })
    }

    /// Returns the weights of `graph` in its order. Weights of convolutions are channels last in memory. Those that are
    /// not always `f32` are of `kind`. `conditioning` is `None` for the graph that has the ruleset as an input.
    pub(crate) fn weights(
        &self,
        graph: &Graph,
        conditioning: Option<&RulesetConditioning>,
        kind: Kind,
    ) -> Result<Vec<Tensor>, Error> {
        let film = conditioning.map(|special| self.film(&special.rule_inputs)).transpose()?;
        let size = conditioning.map(|special| size_factor(special.area));
        let mut parts: BTreeMap<WeightPart, Vec<Tensor>> = BTreeMap::new();
        let mut weights = Vec::with_capacity(graph.weights.len());
        for weight in &graph.weights {
            if let Entry::Vacant(part) = parts.entry(weight.part) {
                let kind = if weight.is_float { Kind::Float } else { kind };
                part.insert(self.part(weight.part, film.as_ref(), size, kind)?);
            }
            weights.push(parts[&weight.part][weight.index].shallow_clone());
        }
        Ok(weights)
    }

    /// Computes what a ruleset does to the convolutions.
    fn film(&self, rule_inputs: &[f32]) -> Result<Film, Error> {
        let (channels, convolutions) = (self.config.channels as i64, 2 * self.config.blocks as i64);
        let length = RULE_EMBEDDING as i64;
        let device = self.trunk.device();
        let inputs = Tensor::f_from_slice(rule_inputs)?.f_to_device(device)?;
        let embedding = self.groups[group::RULES_EMBEDDING].f_view([length, -1])?.f_mv(&inputs)?.f_tanh()?;
        let stem = self.groups[group::RULES_STEM].f_view([channels, length])?.f_mv(&embedding)?;
        let trunk = self.groups[group::RULES_TRUNK].f_view([-1, length])?.f_mv(&embedding)?;
        let trunk = trunk.f_view([convolutions, 2, channels])?;
        Ok(Film { stem, scale: trunk.f_select(1, 0)? + 1.0, shift: trunk.f_select(1, 1)? })
    }

    /// Returns the weights that `latrunculi-infer` trains on, `f32`, in the order and the sizes of its
    /// [`TrainingWeights`](latrunculi_infer::TrainingWeights). The trunk is the same tensor for every ruleset.
    pub(crate) fn training_weights(&self, conditioning: &RulesetConditioning) -> Result<[Tensor; PARTS], Error> {
        let film = self.film(&conditioning.rule_inputs)?;
        let size = size_factor(conditioning.area);
        let joined = |part: WeightPart| self.joined(part, Some(&film), Some(size));
        let both = |one: WeightPart, other: WeightPart| -> Result<Tensor, Error> {
            Ok(Tensor::f_cat(&[joined(one)?, joined(other)?], 1)?)
        };
        let pooling = match self.config.pooling {
            Pooling::None => Tensor::f_zeros([0], (Kind::Float, self.trunk.device()))?,
            Pooling::GlobalBias => joined(WeightPart::Pool)?,
        };
        Ok([
            joined(WeightPart::Stem)?,
            joined(WeightPart::StemBias)?,
            joined(WeightPart::Scalars)?,
            self.trunk.shallow_clone(),
            self.gain(Some(&film))?,
            joined(WeightPart::TrunkBias)?,
            pooling,
            both(WeightPart::Head, WeightPart::TrainingSquares)?,
            both(WeightPart::HeadBias, WeightPart::TrainingSquaresBias)?,
            joined(WeightPart::ValueHidden)?,
            joined(WeightPart::ValueHiddenBias)?,
            both(WeightPart::Last, WeightPart::TrainingLast)?,
            both(WeightPart::LastBias, WeightPart::TrainingLastBias)?,
        ])
    }

    /// Returns what the standardised convolutions of the blocks are multiplied by: `[2N, C] f32`.
    fn gain(&self, film: Option<&Film>) -> Result<Tensor, Error> {
        let (channels, convolutions) = (self.config.channels as i64, 2 * self.config.blocks as i64);
        let gain = self.groups[group::TRUNK_GAIN].f_view([convolutions, channels])?;
        Ok(match film {
            Some(film) => gain * &film.scale,
            None => gain,
        })
    }

    /// Returns the weights of one part, of `kind`.
    fn part(&self, part: WeightPart, film: Option<&Film>, size: Option<f32>, kind: Kind) -> Result<Vec<Tensor>, Error> {
        let joined = self.joined(part, film, size)?.f_to_kind(kind)?;
        let joined = match part {
            WeightPart::Stem | WeightPart::Trunk => joined.f_permute([0, 1, 4, 2, 3])?,
            _ => joined,
        };
        Ok(joined.f_unbind(0)?)
    }

    /// Returns the weights of one part, `f32`, joined along a first dimension: one entry per convolution, per pooled
    /// block, or one alone. Convolutions are `[…, out, rank, file, in]`.
    fn joined(&self, part: WeightPart, film: Option<&Film>, size: Option<f32>) -> Result<Tensor, Error> {
        let (config, groups) = (self.config, &self.groups);
        let (channels, planes, scalars) = (config.channels as i64, PLANES.len() as i64, SCALARS.len() as i64);
        let (keys, features) = (config.policy_channels as i64, config.value_channels as i64);
        let hidden = config.value_hidden as i64;
        let convolutions = 2 * config.blocks as i64;
        let length = RULE_EMBEDDING as i64;
        let view = |group: usize, shape: &[i64]| -> Result<Tensor, Error> { Ok(groups[group].f_view(shape)?) };
        // Matrices `[…, rows, columns]` whose first columns read means, with those that read the means by size: added to
        // the first for a known size, else between these and the rest.
        let sized = |group: usize, size_group: usize, shape: &[i64], means: i64| -> Result<Tensor, Error> {
            let all = groups[group].f_view(shape)?;
            let rest = shape[shape.len() - 1] - means;
            let (of_means, rest) = (all.f_narrow(-1, 0, means)?, all.f_narrow(-1, means, rest)?);
            let mut size_shape = shape.to_vec();
            size_shape[shape.len() - 1] = means;
            let by_size = groups[size_group].f_view(size_shape.as_slice())?;
            Ok(match size {
                Some(factor) => Tensor::f_cat(&[of_means + by_size * f64::from(factor), rest], -1)?,
                None => Tensor::f_cat(&[of_means, by_size, rest], -1)?,
            })
        };
        // A dot product of D terms is divided by the root of D: once, in the weights of the from-squares.
        let temper = 1.0 / (keys as f64).sqrt();
        match part {
            WeightPart::Stem => view(group::STEM_WEIGHT, &[1, channels, 3, 3, planes]),
            WeightPart::StemBias => {
                let bias = view(group::STEM_BIAS, &[1, channels])?;
                Ok(film.map_or(bias.shallow_clone(), |film| bias + &film.stem))
            }
            WeightPart::Scalars => view(group::SCALARS_WEIGHT, &[1, channels, scalars]),
            WeightPart::Trunk => {
                let trunk = &self.trunk * self.gain(film)?.f_view([convolutions * channels, 1])?;
                Ok(trunk.f_view([convolutions, channels, 3, 3, channels])?)
            }
            WeightPart::TrunkBias => {
                let bias = groups[group::TRUNK_BIAS].f_view([convolutions, channels])?;
                Ok(match film {
                    Some(Film { scale, shift, .. }) => bias * scale + shift,
                    None => bias,
                })
            }
            WeightPart::Pool => {
                sized(group::POOL_WEIGHT, group::POOL_SIZE_WEIGHT, &[-1, channels, 2 * channels], channels)
            }
            WeightPart::Head => {
                let from = groups[group::FROM_WEIGHT].f_view([1, keys, channels])? * temper;
                let others = groups[group::TO_VALUE_WEIGHT].f_view([1, keys + features, channels])?;
                Ok(Tensor::f_cat(&[from, others], 1)?)
            }
            WeightPart::HeadBias => {
                let from = groups[group::FROM_BIAS].f_view([1, keys])? * temper;
                Ok(Tensor::f_cat(&[from, groups[group::TO_VALUE_BIAS].f_view([1, keys + features])?], 1)?)
            }
            WeightPart::ValueHidden => {
                sized(group::VALUE_HIDDEN_WEIGHT, group::VALUE_SIZE_WEIGHT, &[1, hidden, 2 * features], features)
            }
            WeightPart::ValueHiddenBias => view(group::VALUE_HIDDEN_BIAS, &[1, hidden]),
            WeightPart::Last => view(group::LAST_WEIGHT, &[1, 6 + 4 * keys, hidden]),
            WeightPart::LastBias => view(group::LAST_BIAS, &[1, 6 + 4 * keys]),
            WeightPart::RulesEmbedding => view(group::RULES_EMBEDDING, &[1, length, -1]),
            WeightPart::RulesStem => view(group::RULES_STEM, &[1, channels, length]),
            WeightPart::RulesTrunk => view(group::RULES_TRUNK, &[convolutions, 2 * channels, length]),
            WeightPart::RulesTrunkBias => {
                let options = (Kind::Float, self.trunk.device());
                let shifts = Tensor::f_zeros([convolutions, channels], options)?;
                Ok(Tensor::f_cat(&[Tensor::f_ones([convolutions, channels], options)?, shifts], 1)?)
            }
            WeightPart::TrainingSquares => view(group::TRAINING_SQUARES_WEIGHT, &[1, 1 + 2 * keys, channels]),
            WeightPart::TrainingSquaresBias => view(group::TRAINING_SQUARES_BIAS, &[1, 1 + 2 * keys]),
            WeightPart::TrainingLast => view(group::TRAINING_LAST_WEIGHT, &[1, 3 + 4 * keys, hidden]),
            WeightPart::TrainingLastBias => view(group::TRAINING_LAST_BIAS, &[1, 3 + 4 * keys]),
        }
    }
}
