//! Makes the weights of a graph of the parameters: cut, standardised, in the kind of the computation.
//!
//! Training makes them anew in each step of a vector that requires a gradient; play makes them once.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use tch::{Kind, Tensor};

use crate::error::TorchError;
use crate::graph::{Graph, WeightPart};
use crate::layout::{ParameterLayout, group};
use latrunculi_data::{NetworkConfig, Pooling};

/// Returns the weights of `graph` in its order, made of `parameters`, `[len] f32`.
///
/// `config` and `layout` are those of the network. Weights of convolutions are channels last in memory. Those that are
/// not always `f32` are of `kind`.
pub(crate) fn make_weights(
    graph: &Graph,
    config: &NetworkConfig,
    layout: &ParameterLayout,
    parameters: &Tensor,
    kind: Kind,
) -> Result<Vec<Tensor>, TorchError> {
    let groups = parameters.f_split_with_sizes(layout.group_lens.as_slice(), 0)?;
    let mut parts: BTreeMap<WeightPart, Vec<Tensor>> = BTreeMap::new();
    let mut weights = Vec::with_capacity(graph.weights.len());
    for weight in &graph.weights {
        if let Entry::Vacant(part) = parts.entry(weight.part) {
            let kind = if weight.is_float { Kind::Float } else { kind };
            part.insert(make_part(weight.part, graph, config, &groups, kind)?);
        }
        weights.push(parts[&weight.part][weight.index].shallow_clone());
    }
    Ok(weights)
}

/// Returns the weights of one part.
fn make_part(
    part: WeightPart,
    graph: &Graph,
    config: &NetworkConfig,
    groups: &[Tensor],
    kind: Kind,
) -> Result<Vec<Tensor>, TorchError> {
    let shape = &graph.shape;
    let (channels, planes) = (config.channels as i64, shape.planes as i64);
    let (keys, features) = (config.policy_channels as i64, config.value_channels as i64);
    let hidden = config.value_hidden as i64;
    let squeezed = config.squeezed_channels() as i64;
    let convolutions = 2 * config.blocks as i64;
    // A group as one weight of this shape.
    let one = |group: usize, shape: &[i64]| -> Result<Vec<Tensor>, TorchError> {
        Ok(vec![groups[group].f_view(shape)?.f_to_kind(kind)?])
    };
    // A group as one weight per entry of the first dimension.
    let rows = |group: usize, shape: &[i64]| -> Result<Vec<Tensor>, TorchError> {
        Ok(groups[group].f_view(shape)?.f_to_kind(kind)?.f_unbind(0)?)
    };
    // A dot product of D terms is divided by the root of D: once, in the weights of the from-squares.
    let temper = 1.0 / (keys as f64).sqrt();
    match part {
        WeightPart::Stem => {
            let weight = groups[group::STEM_WEIGHT].f_view([channels, 3, 3, planes])?.f_to_kind(kind)?;
            Ok(vec![weight.f_permute([0, 3, 1, 2])?])
        }
        WeightPart::StemBias => one(group::STEM_BIAS, &[channels]),
        WeightPart::Scalars => one(group::SCALARS_WEIGHT, &[channels, shape.scalars as i64]),
        WeightPart::Trunk => {
            // Standardised: mean 0, length 1 per output channel, then the gain.
            let raw = groups[group::TRUNK_WEIGHT].f_view([convolutions * channels, 9 * channels])?;
            let centred = &raw - raw.f_mean_dim(&[1_i64][..], true, Kind::Float)?;
            let length = centred.f_square()?.f_sum_dim_intlist(&[1_i64][..], true, Kind::Float)?;
            let gain = groups[group::TRUNK_GAIN].f_view([convolutions * channels, 1])?;
            let scale = gain * (length + 1e-6).f_rsqrt()?;
            let trunk = (centred * scale).f_to_kind(kind)?.f_view([convolutions, channels, 3, 3, channels])?;
            Ok(trunk.f_permute([0, 1, 4, 2, 3])?.f_unbind(0)?)
        }
        WeightPart::TrunkBias => rows(group::TRUNK_BIAS, &[convolutions, channels]),
        WeightPart::PoolIn => match config.pooling {
            Pooling::SqueezeExcitation => rows(group::POOL_IN_WEIGHT, &[-1, squeezed, channels]),
            _ => rows(group::POOL_IN_WEIGHT, &[-1, channels, 2 * channels]),
        },
        WeightPart::PoolInBias => rows(group::POOL_IN_BIAS, &[-1, squeezed]),
        WeightPart::PoolOut => rows(group::POOL_OUT_WEIGHT, &[-1, 2 * channels, squeezed]),
        WeightPart::PoolOutBias => rows(group::POOL_OUT_BIAS, &[-1, 2 * channels]),
        WeightPart::Head => {
            let from = groups[group::FROM_WEIGHT].f_view([keys, channels])? * temper;
            let others = groups[group::TO_VALUE_WEIGHT].f_view([keys + features, channels])?;
            Ok(vec![Tensor::f_cat(&[from, others], 0)?.f_to_kind(kind)?])
        }
        WeightPart::HeadBias => {
            let from = &groups[group::FROM_BIAS] * temper;
            Ok(vec![Tensor::f_cat(&[&from, &groups[group::TO_VALUE_BIAS]], 0)?.f_to_kind(kind)?])
        }
        WeightPart::ValueHidden => one(group::VALUE_HIDDEN_WEIGHT, &[hidden, 2 * features]),
        WeightPart::ValueHiddenBias => one(group::VALUE_HIDDEN_BIAS, &[hidden]),
        WeightPart::Last => one(group::LAST_WEIGHT, &[6 + 4 * keys, hidden]),
        WeightPart::LastBias => one(group::LAST_BIAS, &[6 + 4 * keys]),
        WeightPart::TrainingSquares => one(group::TRAINING_SQUARES_WEIGHT, &[1 + 2 * keys, channels]),
        WeightPart::TrainingSquaresBias => one(group::TRAINING_SQUARES_BIAS, &[1 + 2 * keys]),
        WeightPart::TrainingLast => one(group::TRAINING_LAST_WEIGHT, &[3 + 4 * keys, hidden]),
        WeightPart::TrainingLastBias => one(group::TRAINING_LAST_BIAS, &[3 + 4 * keys]),
    }
}
