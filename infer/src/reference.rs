//! The network, slow and plain: what every kernel is compared with.

use latrunculi_data::{ActionIndices, SCALARS};
use latrunculi_engine::{Square, SquareSet};

use crate::weights::{Convolution, Linear, Weights};
use latrunculi_data::{Answers, PositionBatch};

pub(crate) type Rounding = fn(f32) -> f32;

pub(crate) fn exact(value: f32) -> f32 {
    value
}

/// Rounds to bfloat16, ties to even.
pub(crate) fn bf16(value: f32) -> f32 {
    let bits = value.to_bits();
    f32::from_bits((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff_0000)
}

/// Answers a batch; weights and activations of the trunk are rounded by `round`.
pub(crate) fn answer(weights: &Weights, batch: &PositionBatch, round: Rounding) -> Answers {
    let mut answers = Answers::default();
    answers.clear();
    let (planes, scalars) = (weights.shape.planes, SCALARS.len());
    for position in 0..batch.len() {
        one(
            weights,
            &batch.planes[position * planes..][..planes],
            &batch.scalars[position * scalars..][..scalars],
            batch.actions(position),
            round,
            &mut answers,
        );
    }
    answers
}

fn one(
    weights: &Weights,
    planes: &[SquareSet],
    scalars: &[f32],
    actions: &[ActionIndices],
    round: Rounding,
    answers: &mut Answers,
) {
    let (shape, config) = (&weights.shape, &weights.config);
    let (area, channels) = (shape.area(), config.channels);
    let has = |square: usize, plane: &SquareSet| plane.contains(Square::from_index(square));
    let input: Vec<Vec<f32>> = (0..area)
        .map(|square| planes.iter().map(|plane| if has(square, plane) { 1.0 } else { 0.0 }).collect())
        .collect();

    // [square][channel] with a bias of the position, not rounded.
    let convolve = |input: &[Vec<f32>], convolution: &Convolution, bias: &[f32]| -> Vec<Vec<f32>> {
        let at = |square: usize, output: usize| -> f32 {
            let mut sum = convolution.bias[output] + bias[output];
            for tap in 0..9 {
                let rank = (square / shape.files + tap / 3).wrapping_sub(1);
                let file = (square % shape.files + tap % 3).wrapping_sub(1);
                if rank < shape.ranks && file < shape.files {
                    for (channel, value) in input[rank * shape.files + file].iter().enumerate() {
                        sum += value * round(convolution.at(output, tap, channel));
                    }
                }
            }
            sum
        };
        (0..area).map(|square| (0..channels).map(|output| at(square, output)).collect()).collect()
    };
    let linear = |linear: &Linear, input: &[f32], round: Rounding| -> Vec<f32> {
        let row = |row: usize| -> f32 {
            linear.bias[row] + linear.row(row).iter().zip(input).map(|(w, x)| round(*w) * x).sum::<f32>()
        };
        (0..linear.rows).map(row).collect()
    };
    let mean = |board: &[Vec<f32>], channel: usize| board.iter().map(|row| row[channel]).sum::<f32>() / area as f32;
    let maximum =
        |board: &[Vec<f32>], channel: usize| board.iter().map(|row| row[channel]).fold(f32::NEG_INFINITY, f32::max);
    let rectified = |board: Vec<Vec<f32>>| -> Vec<Vec<f32>> {
        board.into_iter().map(|row| row.into_iter().map(|value| round(value.max(0.0))).collect()).collect()
    };
    let none = vec![0.0; channels];

    let mut trunk = rectified(convolve(&input, &weights.stem, &linear(&weights.scalars, scalars, exact)));
    for block in &weights.blocks {
        let inner = rectified(convolve(&trunk, &block.first, &none));
        let branch = match &block.pooling {
            None => convolve(&inner, &block.second, &none),
            Some(weights) => {
                let pooled = (0..channels).map(|channel| mean(&inner, channel));
                let pooled = pooled.chain((0..channels).map(|channel| maximum(&inner, channel)));
                let pooled: Vec<f32> = pooled.map(round).collect();
                convolve(&inner, &block.second, &linear(weights, &pooled, round))
            }
        };
        let sum =
            trunk.iter().zip(&branch).map(|(trunk, branch)| trunk.iter().zip(branch).map(|(a, b)| a + b).collect());
        trunk = rectified(sum.collect());
    }

    let per_square = |part: &Linear| -> Vec<Vec<f32>> { trunk.iter().map(|row| linear(part, row, round)).collect() };
    let (from, to) = (per_square(&weights.from), per_square(&weights.to));
    let features: Vec<Vec<f32>> = per_square(&weights.features)
        .into_iter()
        .map(|row| row.into_iter().map(|value| value.max(0.0)).collect())
        .collect();
    let means = (0..config.value_channels).map(|channel| mean(&features, channel));
    let maxima = (0..config.value_channels).map(|channel| maximum(&features, channel));
    let hidden = linear(&weights.hidden, &means.chain(maxima).collect::<Vec<f32>>(), exact);
    let hidden: Vec<f32> = hidden.into_iter().map(|value| value.max(0.0)).collect();
    let last = linear(&weights.last, &hidden, exact);

    let powers: Vec<f32> = last[..3].iter().map(|logit| logit.exp()).collect();
    let sum: f32 = powers.iter().sum();
    answers.win_draw_loss.push(std::array::from_fn(|index| powers[index] / sum));
    answers.margin.push(last[3].tanh());
    let dot = |left: &[f32], right: &[f32]| -> f32 { left.iter().zip(right).map(|(a, b)| a * b).sum() };
    let entry = |index: usize| -> f32 {
        if index < area * area {
            dot(&from[index / area], &to[index % area])
        } else if index < area * area + 4 * area {
            let (query, square) = ((index - area * area) / area, (index - area * area) % area);
            dot(&last[6 + query * config.policy_channels..][..config.policy_channels], &to[square])
        } else if index < shape.policy_len() {
            last[4 + index - area * area - 4 * area]
        } else {
            0.0
        }
    };
    answers.logits.extend(actions.iter().map(|pair| pair.iter().map(|&index| entry(index as usize)).sum::<f32>()));
    answers.offsets.push(answers.logits.len());
}
