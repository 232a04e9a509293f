//! The last layers, which every kernel shares: from the heads' channels of each square to logits and values, in `f32`.
//! Legend: `A` squares, `D` policy channels, `V` value channels, `K` value hidden; `D'`, `V'`, `K'` are these rounded
//! up to [`LANES`], the channels beyond being 0.

use latrunculi_data::ActionIndices;

use crate::native::lanes::{LANES, Lanes};
use crate::weights::{Linear, Weights};
use latrunculi_data::Answers;

#[derive(Clone, Debug)]
pub(crate) struct Dense {
    /// `[inputs][outputs]`, outputs in lanes.
    weight: Vec<[f32; LANES]>,
    /// `[outputs]`, in lanes.
    pub(crate) bias: Vec<[f32; LANES]>,
}

impl Dense {
    /// Arranges `linear` for inputs and outputs whose places are given by `input` and `output`.
    fn placed(
        linear: &Linear,
        inputs: usize,
        outputs: usize,
        input: impl Fn(usize) -> usize,
        output: impl Fn(usize) -> usize,
    ) -> Dense {
        let vectors = outputs / LANES;
        let (mut weight, mut bias) = (vec![[0.0; LANES]; inputs * vectors], vec![[0.0; LANES]; vectors]);
        for row in 0..linear.rows {
            let place = output(row);
            bias[place / LANES][place % LANES] = linear.bias[row];
            for (column, &value) in linear.row(row).iter().enumerate() {
                weight[input(column) * vectors + place / LANES][place % LANES] = value;
            }
        }
        Dense { weight, bias }
    }

    /// Arranges `linear` for outputs rounded up to a multiple of `multiple`, itself one of [`LANES`].
    pub(crate) fn new(linear: &Linear, multiple: usize) -> Dense {
        Dense::placed(linear, linear.columns, linear.rows.next_multiple_of(multiple), |column| column, |row| row)
    }

    /// Arranges `linear`, whose columns are two equal parts, for inputs where each part is rounded up to `len`, and for
    /// outputs rounded up to a multiple of [`LANES`].
    pub(crate) fn parts(linear: &Linear, len: usize) -> Dense {
        let half = linear.columns / 2;
        let input = |column: usize| if column < half { column } else { len + column - half };
        Dense::placed(linear, 2 * len, linear.rows.next_multiple_of(LANES), input, |row| row)
    }

    /// Computes `N` positions at once: `inputs` is `[N][inputs]`, `outputs` `[N][outputs]`.
    #[inline(always)]
    pub(crate) fn run<const N: usize>(&self, inputs: [&[f32]; N], outputs: [&mut [[f32; LANES]]; N]) {
        self.add(&self.bias, inputs, outputs);
    }

    /// Writes `bias` plus what the inputs add; there may be more inputs, which add nothing.
    #[inline(always)]
    pub(crate) fn add<const N: usize>(
        &self,
        bias: &[[f32; LANES]],
        inputs: [&[f32]; N],
        outputs: [&mut [[f32; LANES]]; N],
    ) {
        let vectors = self.bias.len();
        let weights = &self.weight[..];
        let len = inputs.iter().fold(weights.len() / vectors, |len, input| len.min(input.len()));
        let inputs = inputs.map(|input| &input[..len]);
        let outputs = outputs.map(|output| &mut output[..vectors]);
        for vector in 0..vectors {
            let mut sums = [Lanes::load(&bias[vector]); N];
            for index in 0..len {
                let weight = Lanes::load(&weights[index * vectors + vector]);
                for position in 0..N {
                    sums[position] = sums[position].add_product(Lanes::all(inputs[position][index]), weight);
                }
            }
            for position in 0..N {
                sums[position].store(&mut outputs[position][vector]);
            }
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Heads {
    area: usize,
    /// `D'`
    pub(crate) keys: usize,
    /// `V'`
    pub(crate) features: usize,
    /// From `2V'` to `K'`.
    hidden: Dense,
    /// From `K'` to one vector of win, draw, loss, margin, stop, pass and four queries of `D'`.
    last: Dense,
}

#[derive(Clone, Debug)]
pub(crate) struct HeadBuffers {
    hidden: Vec<[f32; LANES]>,
    last: Vec<[f32; LANES]>,
}

/// Places in the first vector of the last layer.
const MARGIN: usize = 3;
const STOP: usize = 4;

/// How many positions the dense layers compute at once.
pub(crate) const TOGETHER: usize = 4;

impl Heads {
    pub(crate) fn new(weights: &Weights) -> Heads {
        let config = &weights.config;
        let keys = config.policy_channels.next_multiple_of(LANES);
        let features = config.value_channels.next_multiple_of(LANES);
        let hidden = config.value_hidden.next_multiple_of(LANES);
        let pooled = |index: usize| match index.checked_sub(config.value_channels) {
            None => index,
            Some(index) => features + index,
        };
        let placed = |row: usize| match row.checked_sub(6) {
            None => row,
            Some(row) => LANES + row / config.policy_channels * keys + row % config.policy_channels,
        };
        Heads {
            area: weights.shape.area(),
            keys,
            features,
            hidden: Dense::placed(&weights.hidden, 2 * features, hidden, pooled, |row| row),
            last: Dense::placed(&weights.last, hidden, LANES + 4 * keys, |column| column, placed),
        }
    }

    pub(crate) fn buffers(&self) -> HeadBuffers {
        HeadBuffers {
            hidden: vec![[0.0; LANES]; TOGETHER * self.hidden.bias.len()],
            last: vec![[0.0; LANES]; TOGETHER * self.last.bias.len()],
        }
    }

    /// Answers up to [`TOGETHER`] positions and appends to `answers`.
    /// `summaries` are `[2V']`: means and then maxima of the features over the squares, relu done. `squares` are
    /// `[A][2D']`: from-square and then to-square channels.
    #[inline(always)]
    pub(crate) fn answer<'a>(
        &self,
        summaries: [&[f32]; TOGETHER],
        squares: impl Fn(usize) -> &'a [f32],
        actions: &[&[ActionIndices]],
        buffers: &mut HeadBuffers,
        answers: &mut Answers,
    ) {
        self.hidden.run(summaries, split(&mut buffers.hidden));
        for value in buffers.hidden.as_flattened_mut() {
            *value = value.max(0.0);
        }
        let hidden = self.hidden.bias.len() * LANES;
        let inputs = std::array::from_fn(|index| &buffers.hidden.as_flattened()[index * hidden..][..hidden]);
        self.last.run::<TOGETHER>(inputs, split(&mut buffers.last));
        for (index, actions) in actions.iter().enumerate() {
            let last = buffers.last.chunks_exact(self.last.bias.len()).nth(index).expect("one row per position");
            answers.win_draw_loss.push(softmax([last[0][0], last[0][1], last[0][2]]));
            answers.margin.push(last[0][MARGIN].tanh());
            self.logits(actions, squares(index), last.as_flattened(), &mut answers.logits);
            answers.offsets.push(answers.logits.len());
        }
    }

    #[inline(always)]
    fn logits(&self, actions: &[ActionIndices], squares: &[f32], last: &[f32], logits: &mut Vec<f32>) {
        let (area, keys) = (self.area as u32, self.keys);
        let (map, by_square) = (area * area, area * area + 4 * area);
        let none = by_square + 2;
        let entry = |index: u32| -> f32 {
            if index < map {
                let (from, to) = (index / area, index % area);
                let from = &squares[from as usize * 2 * keys..][..keys];
                dot(from, &squares[to as usize * 2 * keys + keys..][..keys])
            } else if index < by_square {
                let (query, square) = ((index - map) / area, (index - map) % area);
                let query = &last[LANES + query as usize * keys..][..keys];
                dot(query, &squares[square as usize * 2 * keys + keys..][..keys])
            } else if index < none {
                last[STOP + (index - by_square) as usize]
            } else {
                0.0
            }
        };
        logits.extend(actions.iter().map(|&[first, second]| {
            let first = entry(first);
            if second == none { first } else { first + entry(second) }
        }));
    }
}

pub(crate) fn split<const N: usize>(buffer: &mut [[f32; LANES]]) -> [&mut [[f32; LANES]]; N] {
    let len = buffer.len() / N;
    let mut parts = buffer.chunks_exact_mut(len);
    std::array::from_fn(|_| parts.next().expect("the buffer has N parts"))
}

/// Returns the dot product of two vectors whose length is a multiple of [`LANES`].
#[inline(always)]
pub(crate) fn dot(left: &[f32], right: &[f32]) -> f32 {
    let pairs = left.as_chunks::<LANES>().0.iter().zip(right.as_chunks::<LANES>().0);
    let zero = Lanes::all(0.0);
    pairs.fold(zero, |sums, (left, right)| sums.add_product(Lanes::load(left), Lanes::load(right))).sum()
}

fn softmax(logits: [f32; 3]) -> [f32; 3] {
    let greatest = logits.into_iter().fold(f32::NEG_INFINITY, f32::max);
    let powers = logits.map(|logit| (logit - greatest).exp());
    let sum: f32 = powers.iter().sum();
    powers.map(|power| power / sum)
}
