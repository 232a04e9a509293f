//! The heads, their losses and their gradients, one sample at a time, in `f32`.
//! Legend as in the module above; `D'` and `V'` are rounded up to [`LANES`], the channels beyond being 0; `Q` is the
//! length of a square's row: from, to, features, the opponent's from and to (`D'`, `D'`, `V'`, `D'`, `D'`), survival,
//! rounded up to 32.

use latrunculi_data::{NetworkConfig, TrainingBatch, heads as head};

use super::vectors::{add_product, softmax};
use super::{LossWeights, Losses, TrainingWeights};
use crate::heads::dot;
use crate::native::lanes::LANES;

/// Places in the output of the last layer.
const MARGIN: usize = 3;
const STOP: usize = 4;
const QUERIES: usize = 6;

/// The products of the opponent's policy: every from-square with every to-square.
/// Legend: `R` rows of `from`, `A` rows of `to`, `R'` and `A'` rounded up to 16, `W` the length of a row, a multiple of 16.
/// What is written beyond the `R` rows is not read.
pub(crate) trait MapProducts {
    /// Writes the dot products of the rows of `from`, `[R, W]`, and of `to`, `[A, W]`, to `map`, `[R', A']`.
    fn logits(&mut self, from: &[f32], to: &[f32], wide: usize, map: &mut [f32]);

    /// From the gradient of the products, `[R', A']`, writes that of `from`, `[R', W]`, and of `to`, `[A', W]`.
    fn gradients(&mut self, map: &[f32], from: &[f32], to: &[f32], wide: usize, of_from: &mut [f32], of_to: &mut [f32]);
}

/// Where the channels of a square lie in its row, and the weights behind the squares.
#[derive(Debug)]
pub(crate) struct Heads {
    area: usize,
    /// `D`, `D'`
    keys: usize,
    wide: usize,
    /// `V`
    features: usize,
    /// First place of each part in a row.
    to: usize,
    feature: usize,
    opponent_from: usize,
    opponent_to: usize,
    survival: usize,
    /// `Q`
    pub(crate) row: usize,
    hidden: Layer,
    last: Layer,
}

#[derive(Debug)]
struct Layer {
    inputs: usize,
    /// `[outputs, inputs]`
    weight: Vec<f32>,
    /// `[inputs, outputs]`
    transposed: Vec<f32>,
    bias: Vec<f32>,
}

impl Layer {
    fn new(weight: &[f32], bias: &[f32]) -> Layer {
        let outputs = bias.len();
        let inputs = weight.len() / outputs;
        let mut transposed = vec![0.0; weight.len()];
        for (output, row) in weight.chunks_exact(inputs).enumerate() {
            row.iter().enumerate().for_each(|(input, &value)| transposed[input * outputs + output] = value);
        }
        Layer { inputs, weight: weight.to_vec(), transposed, bias: bias.to_vec() }
    }

    #[inline(always)]
    fn forward(&self, inputs: &[f32], outputs: &mut [f32]) {
        outputs.copy_from_slice(&self.bias);
        for (&input, weights) in inputs.iter().zip(self.transposed.chunks_exact(self.bias.len())) {
            add_product(outputs, input, weights);
        }
    }

    /// Adds to the gradients of weight and bias, and writes that of the inputs.
    #[inline(always)]
    fn backward(&self, inputs: &[f32], outputs: &[f32], weight: &mut [f32], bias: &mut [f32], gradient: &mut [f32]) {
        gradient.fill(0.0);
        let rows = self.weight.chunks_exact(self.inputs).zip(weight.chunks_exact_mut(self.inputs));
        for ((&output, bias), (row, of_row)) in outputs.iter().zip(bias).zip(rows) {
            if output != 0.0 {
                *bias += output;
                add_product(of_row, output, inputs);
                add_product(gradient, output, row);
            }
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct HeadBuffers {
    summary: Vec<f32>,
    of_summary: Vec<f32>,
    greatest: Vec<u32>,
    hidden: Vec<f32>,
    of_hidden: Vec<f32>,
    last: Vec<f32>,
    of_last: Vec<f32>,
    /// Of the legal actions: probabilities, and the logits that they are made of.
    logits: Vec<f32>,
    raw: Vec<f32>,
    keys: Vec<f32>,
    /// Of the opponent's policy: what [`MapProducts`] reads and writes.
    to: Vec<f32>,
    of_from: Vec<f32>,
    of_to: Vec<f32>,
    map: Vec<f32>,
}

impl Heads {
    pub(crate) fn new(config: &NetworkConfig, weights: &TrainingWeights, area: usize) -> Heads {
        let (keys, features) = (config.policy_channels, config.value_channels);
        let wide = keys.next_multiple_of(LANES);
        let opponent_from = 2 * wide + features.next_multiple_of(LANES);
        let survival = opponent_from + 2 * wide;
        Heads {
            area,
            keys,
            wide,
            features,
            to: wide,
            feature: 2 * wide,
            opponent_from,
            opponent_to: opponent_from + wide,
            survival,
            row: (survival + 1).next_multiple_of(32),
            hidden: Layer::new(&weights.hidden, &weights.hidden_bias),
            last: Layer::new(&weights.last, &weights.last_bias),
        }
    }

    /// Returns the slot in a square's row of each row of [`TrainingWeights::squares`].
    pub(crate) fn slots(&self) -> Vec<usize> {
        let (keys, features) = (self.keys, self.features);
        let parts = [
            (0, keys),
            (self.to, keys),
            (self.feature, features),
            (self.survival, 1),
            (self.opponent_from, keys),
            (self.opponent_to, keys),
        ];
        parts.into_iter().flat_map(|(first, len)| first..first + len).collect()
    }

    /// Computes the losses of sample `index`, adds them to `losses`, and the gradient of their weighted sum to `gradient`,
    /// from `hidden` to `last_bias`.
    /// `squares` is `[A, Q]`, the channels of each square; `of_squares`, the same, is overwritten with their gradient.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn learn(
        &self,
        batch: &TrainingBatch,
        index: usize,
        weights: &LossWeights,
        squares: &[f32],
        of_squares: &mut [f32],
        buffers: &mut HeadBuffers,
        products: &mut impl MapProducts,
        gradient: &mut TrainingWeights,
        losses: &mut Losses,
    ) {
        of_squares.fill(0.0);
        let size = |values: &mut Vec<f32>, len: usize| values.resize(len, 0.0);
        size(&mut buffers.summary, 2 * self.features);
        size(&mut buffers.of_summary, 2 * self.features);
        size(&mut buffers.hidden, self.hidden.bias.len());
        size(&mut buffers.of_hidden, self.hidden.bias.len());
        size(&mut buffers.last, self.last.bias.len());
        size(&mut buffers.of_last, self.last.bias.len());
        self.summarise(squares, &mut buffers.summary, &mut buffers.greatest);
        self.hidden.forward(&buffers.summary, &mut buffers.hidden);
        buffers.hidden.iter_mut().for_each(|value| *value = value.max(0.0));
        self.last.forward(&buffers.hidden, &mut buffers.last);
        buffers.of_last.fill(0.0);

        let share = 1.0 / weights.samples;
        self.policy(batch, index, share, weights, squares, of_squares, buffers, losses);
        self.values(batch, index, share, weights, &buffers.last, &mut buffers.of_last, losses);
        if weights.heads[head::SURVIVAL] > 0.0 {
            let targets = &batch.survival[index * self.area..][..self.area];
            losses.heads[head::SURVIVAL] +=
                self.survival(targets, share, share * weights.heads[head::SURVIVAL], squares, of_squares);
        }
        let known = &batch.opponent_policy.offsets[index..index + 2];
        if weights.heads[head::OPPONENT_POLICY] > 0.0 && known[0] < known[1] && weights.with_reply > 0.0 {
            let share = 1.0 / weights.with_reply;
            self.opponent_policy(batch, index, share, weights, squares, of_squares, buffers, products, losses);
        }

        let HeadBuffers { summary, of_summary, hidden, of_hidden, of_last, .. } = buffers;
        self.last.backward(hidden, of_last, &mut gradient.last, &mut gradient.last_bias, of_hidden);
        of_hidden.iter_mut().zip(&*hidden).for_each(|(of_value, &value)| {
            if value <= 0.0 {
                *of_value = 0.0;
            }
        });
        self.hidden.backward(summary, of_hidden, &mut gradient.hidden, &mut gradient.hidden_bias, of_summary);
        self.spread(squares, of_summary, &buffers.greatest, of_squares);
    }

    /// Writes means and maxima of the rectified features, and where each maximum is first.
    #[inline(always)]
    fn summarise(&self, squares: &[f32], summary: &mut [f32], greatest: &mut Vec<u32>) {
        greatest.clear();
        greatest.resize(self.features, 0);
        summary.fill(0.0);
        let (means, maxima) = summary.split_at_mut(self.features);
        for (square, row) in squares.chunks_exact(self.row).enumerate() {
            let values = &row[self.feature..][..self.features];
            for (channel, &value) in values.iter().enumerate() {
                means[channel] += value.max(0.0);
                let is_greater = value > maxima[channel];
                maxima[channel] = if is_greater { value } else { maxima[channel] };
                greatest[channel] = if is_greater { square as u32 } else { greatest[channel] };
            }
        }
        let scale = 1.0 / self.area as f32;
        means.iter_mut().for_each(|mean| *mean *= scale);
    }

    /// Adds the gradient of means and maxima to that of the features.
    #[inline(always)]
    fn spread(&self, squares: &[f32], of_summary: &[f32], greatest: &[u32], of_squares: &mut [f32]) {
        let (means, maxima) = of_summary.split_at(self.features);
        let scale = 1.0 / self.area as f32;
        for (row, of_row) in squares.chunks_exact(self.row).zip(of_squares.chunks_exact_mut(self.row)) {
            let values = &row[self.feature..][..self.features];
            for ((of_value, &value), mean) in of_row[self.feature..].iter_mut().zip(values).zip(means) {
                *of_value = if value > 0.0 { mean * scale } else { 0.0 };
            }
        }
        for (channel, (&square, maximum)) in greatest.iter().zip(maxima).enumerate() {
            let place = square as usize * self.row + self.feature + channel;
            if squares[place] > 0.0 {
                of_squares[place] += maximum;
            }
        }
    }

    /// The loss of the policy over the legal actions.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn policy(
        &self,
        batch: &TrainingBatch,
        index: usize,
        share: f32,
        weights: &LossWeights,
        squares: &[f32],
        of_squares: &mut [f32],
        buffers: &mut HeadBuffers,
        losses: &mut Losses,
    ) {
        let range = batch.action_offsets[index] as usize..batch.action_offsets[index + 1] as usize;
        let (actions, targets) = (&batch.action_indices[range.clone()], &batch.policy[range]);
        let (area, wide) = (self.area, self.wide);
        let (map, by_square) = (area * area, area * area + 4 * area);
        // The queries, rounded up as the keys are, then their gradients.
        buffers.keys.clear();
        buffers.keys.resize(8 * wide, 0.0);
        let (queries, of_queries) = buffers.keys.split_at_mut(4 * wide);
        for (query, values) in queries.chunks_exact_mut(wide).zip(buffers.last[QUERIES..].chunks_exact(self.keys)) {
            query[..self.keys].copy_from_slice(values);
        }
        let to = |square: usize| square * self.row + self.to;
        let (last, logits) = (&buffers.last, &mut buffers.logits);
        let entry = |entry: u32| -> f32 {
            let entry = entry as usize;
            if entry < map {
                dot(&squares[entry / area * self.row..][..wide], &squares[to(entry % area)..][..wide])
            } else if entry < by_square {
                let (query, square) = ((entry - map) / area, (entry - map) % area);
                dot(&queries[query * wide..][..wide], &squares[to(square)..][..wide])
            } else if entry < by_square + 2 {
                last[STOP + entry - by_square]
            } else {
                0.0
            }
        };
        logits.clear();
        logits.extend(actions.iter().map(|&[first, second]| {
            if second as usize == by_square + 2 { entry(first) } else { entry(first) + entry(second) }
        }));
        let raw: f32 = logits.iter().zip(targets).map(|(logit, target)| logit * target).sum();
        buffers.raw.clone_from(logits);
        let log_sum = softmax(logits);
        let sum: f32 = targets.iter().sum();
        let expected: f32 = logits.iter().zip(&buffers.raw).map(|(p, logit)| p * logit).sum();
        losses.heads[head::POLICY] += f64::from(share * (log_sum * sum - raw));
        losses.policy_entropy += f64::from(share * (log_sum - expected));

        let scale = share * weights.heads[head::POLICY];
        let mut distribute = |entry: u32, amount: f32| {
            let entry = entry as usize;
            if entry < map {
                let (from, to) = (entry / area * self.row, to(entry % area));
                add_product(&mut of_squares[from..][..wide], amount, &squares[to..][..wide]);
                add_product(&mut of_squares[to..][..wide], amount, &squares[from..][..wide]);
            } else if entry < by_square {
                let (query, square) = ((entry - map) / area, (entry - map) % area);
                add_product(&mut of_queries[query * wide..][..wide], amount, &squares[to(square)..][..wide]);
                add_product(&mut of_squares[to(square)..][..wide], amount, &queries[query * wide..][..wide]);
            } else if entry < by_square + 2 {
                buffers.of_last[STOP + entry - by_square] += amount;
            }
        };
        for ((&[first, second], &p), &target) in actions.iter().zip(&*logits).zip(targets) {
            let amount = scale * (p * sum - target);
            distribute(first, amount);
            if second as usize != by_square + 2 {
                distribute(second, amount);
            }
        }
        let of_last = buffers.of_last[QUERIES..].chunks_exact_mut(self.keys);
        for (of_last, of_query) in of_last.zip(of_queries.chunks_exact(wide)) {
            add_product(of_last, 1.0, of_query);
        }
    }

    /// The losses of win, draw, loss, of the margin and of the turns left.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn values(
        &self,
        batch: &TrainingBatch,
        index: usize,
        share: f32,
        weights: &LossWeights,
        last: &[f32],
        of_last: &mut [f32],
        losses: &mut Losses,
    ) {
        let targets = batch.win_draw_loss[index];
        let mut results = [last[0], last[1], last[2]];
        let log_sum = softmax(&mut results);
        let sum: f32 = targets.iter().sum();
        let raw: f32 = targets.iter().zip(last).map(|(target, logit)| target * logit).sum();
        losses.heads[head::VALUE] += f64::from(share * (log_sum * sum - raw));
        for ((of_logit, p), target) in of_last.iter_mut().zip(results).zip(targets) {
            *of_logit = share * weights.heads[head::VALUE] * (p * sum - target);
        }
        let margin = last[MARGIN].tanh();
        let error = margin - batch.margin[index];
        losses.heads[head::MARGIN] += f64::from(share * error * error);
        of_last[MARGIN] = share * weights.heads[head::MARGIN] * 2.0 * error * (1.0 - margin * margin);
        if weights.heads[head::MOVES_LEFT] > 0.0 {
            let place = QUERIES + 4 * self.keys;
            let error = last[place] - batch.moves_left[index];
            losses.heads[head::MOVES_LEFT] += f64::from(share * error * error);
            of_last[place] = share * weights.heads[head::MOVES_LEFT] * 2.0 * error;
        }
    }

    /// The loss of the survival, times `share`: `targets` is `[A]`, -1 where no piece stands. The gradient is that of the
    /// loss times `scale` over `share`.
    #[inline(always)]
    fn survival(&self, targets: &[f32], share: f32, scale: f32, squares: &[f32], of_squares: &mut [f32]) -> f64 {
        let pieces = targets.iter().filter(|target| **target >= 0.0).count().max(1) as f32;
        let mut loss = 0.0;
        for (square, &target) in targets.iter().enumerate().filter(|(_, target)| **target >= 0.0) {
            let place = square * self.row + self.survival;
            let logit = squares[place];
            let power = (-logit.abs()).exp();
            loss += logit.max(0.0) - logit * target + power.ln_1p();
            let probability = if logit >= 0.0 { 1.0 / (1.0 + power) } else { power / (1.0 + power) };
            of_squares[place] = scale / pieces * (probability - target);
        }
        f64::from(share * loss / pieces)
    }

    /// The loss of the opponent's policy over all actions.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn opponent_policy(
        &self,
        batch: &TrainingBatch,
        index: usize,
        share: f32,
        weights: &LossWeights,
        squares: &[f32],
        of_squares: &mut [f32],
        buffers: &mut HeadBuffers,
        products: &mut impl MapProducts,
        losses: &mut Losses,
    ) {
        let HeadBuffers { keys, to, of_from, of_to, map, last, of_last, .. } = buffers;
        let (area, wide) = (self.area, self.wide);
        let (rows, stride) = (area + 4, area.next_multiple_of(LANES));
        let temper = 1.0 / (self.keys as f32).sqrt();
        let base = QUERIES + 4 * self.keys + 1;
        // The from-squares, divided by the root, then the queries: `[A + 4, D']`; the to-squares: `[A, D']`.
        let from = keys;
        from.clear();
        from.resize(rows * wide, 0.0);
        for (row, square) in from.chunks_exact_mut(wide).zip(squares.chunks_exact(self.row)) {
            add_product(row, temper, &square[self.opponent_from..][..wide]);
        }
        for (row, query) in from[area * wide..].chunks_exact_mut(wide).zip(last[base + 2..].chunks_exact(self.keys)) {
            row[..self.keys].copy_from_slice(query);
        }
        to.clear();
        squares.chunks_exact(self.row).for_each(|row| to.extend_from_slice(&row[self.opponent_to..][..wide]));
        // Rows of to-squares, rounded up; behind the last row stop and pass.
        let end = rows * stride;
        map.resize(rows.next_multiple_of(LANES) * stride + 2, 0.0);
        products.logits(from, to, wide, map);
        for row in map[..end].chunks_exact_mut(stride) {
            row[area..].fill(-1e4);
        }
        map[end..end + 2].copy_from_slice(&last[base..base + 2]);

        let policy = &batch.opponent_policy;
        let range = policy.offsets[index] as usize..policy.offsets[index + 1] as usize;
        let (indices, targets) = (&policy.indices[range.clone()], &policy.probabilities[range]);
        let place = |entry: u32| match (entry as usize).checked_sub(rows * area) {
            None => entry as usize / area * stride + entry as usize % area,
            Some(beyond) => end + beyond,
        };
        let raw: f32 = indices.iter().zip(targets).map(|(&entry, target)| map[place(entry)] * target).sum();
        let log_sum = softmax(&mut map[..end + 2]);
        let sum: f32 = targets.iter().sum();
        losses.heads[head::OPPONENT_POLICY] += f64::from(share * (log_sum * sum - raw));

        let scale = share * weights.heads[head::OPPONENT_POLICY];
        map[..end + 2].iter_mut().for_each(|p| *p *= scale * sum);
        for (&entry, target) in indices.iter().zip(targets) {
            map[place(entry)] -= scale * target;
        }
        add_product(&mut of_last[base..base + 2], 1.0, &map[end..end + 2]);
        of_from.resize(rows.next_multiple_of(LANES) * wide, 0.0);
        of_to.resize(stride * wide, 0.0);
        products.gradients(map, from, to, wide, of_from, of_to);
        let gradients = of_from.chunks_exact(wide).zip(of_to.chunks_exact(wide));
        for (of_square, (of_from, of_to)) in of_squares.chunks_exact_mut(self.row).zip(gradients) {
            add_product(&mut of_square[self.opponent_from..][..wide], temper, of_from);
            add_product(&mut of_square[self.opponent_to..][..wide], 1.0, of_to);
        }
        let of_queries = of_from[area * wide..].chunks_exact(wide);
        for (of_last, of_query) in of_last[base + 2..].chunks_exact_mut(self.keys).zip(of_queries) {
            add_product(of_last, 1.0, of_query);
        }
    }
}
