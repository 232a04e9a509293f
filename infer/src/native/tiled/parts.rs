//! What the kernels of this module share: inputs, stem bias, pooling and the reading of the trunk, all around
//! bfloat16 tiles of the trunk's activations.
//! Legend: `A` squares, `C'` channels rounded up to 32, `K` blocks of 32 channels, `N` tiles of 16 channels, `D'` and
//! `V'` as in `heads.rs`.

use std::arch::x86_64::*;

use latrunculi_data::{SCALARS, Shape};

use super::aligned::{Aligned, TILE};
use super::convolution::Tiles;
use super::unit::TileUnit;
use crate::heads::{Dense, HeadBuffers, Heads, TOGETHER, split};
use crate::kernel::GROUP;
use crate::native::lanes::{LANES, Lanes};
use crate::weights::{Linear, Weights};
use latrunculi_data::{Answers, PositionBatch};

/// Elements of a tile of bfloat16 or `f32`.
pub(super) const BF16S: usize = TILE / 2;
pub(super) const FLOATS: usize = TILE / 4;

/// What comes before the trunk.
#[derive(Debug)]
pub(super) struct Stem {
    pub(super) tiles: Tiles,
    /// `[C']`
    bias: Vec<[f32; LANES]>,
    scalars: Dense,
}

#[derive(Debug)]
pub(super) struct StemBuffers {
    /// `[A][blocks of 32 planes]` tiles of bfloat16.
    pub(super) input: Aligned<u16>,
    /// `[N][16 positions][16 channels]`
    pub(super) bias: Aligned<f32>,
    rows: Vec<[f32; LANES]>,
}

impl Stem {
    pub(super) fn new(weights: &Weights) -> Stem {
        let stem = &weights.stem;
        let (blocks, outputs) = (stem.inputs.div_ceil(32), stem.outputs.div_ceil(16));
        let scalars = Dense::new(&weights.scalars, 16);
        let mut bias = vec![[0.0; LANES]; outputs];
        bias.as_flattened_mut()[..stem.bias.len()].copy_from_slice(&stem.bias);
        let tiles = Tiles::bf16(blocks, outputs, 9, |output, tap, input| stem.at(output, tap, input));
        Stem { tiles, bias, scalars }
    }

    pub(super) fn buffers(&self, area: usize) -> StemBuffers {
        StemBuffers {
            input: Aligned::zeros(area * self.tiles.blocks * BF16S),
            bias: Aligned::zeros(self.tiles.outputs * FLOATS),
            rows: vec![[0.0; LANES]; TOGETHER * self.bias.len()],
        }
    }

    /// Writes the inputs and the bias of the positions from `first` on; rows without a position are left as they are.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    pub(super) fn fill(&self, shape: &Shape, batch: &PositionBatch, first: usize, buffers: &mut StemBuffers) {
        let count = (batch.len() - first).min(GROUP);
        let (area, blocks, outputs) = (shape.area(), self.tiles.blocks, self.tiles.outputs);
        let one = _mm512_set1_epi16(0x3f80);
        let mut bits = [0_u32; 16];
        for row in 0..count {
            let planes = &batch.planes[(first + row) * shape.planes..][..shape.planes];
            for (block, planes) in planes.chunks(32).enumerate() {
                for square in (0..area).step_by(16) {
                    // Sixteen squares at a time: each plane's bit becomes a bit of each square.
                    let mut words = _mm512_setzero_si512();
                    for (plane, squares) in planes.iter().enumerate() {
                        let here = (squares.words()[square / 64] >> (square % 64)) as __mmask16;
                        words = _mm512_mask_or_epi32(words, here, words, _mm512_set1_epi32(1 << plane));
                    }
                    // SAFETY: `bits` has 16 words.
                    unsafe { _mm512_storeu_epi32(bits.as_mut_ptr().cast(), words) };
                    for (index, &bits) in bits.iter().enumerate().take(area - square) {
                        let place = ((square + index) * blocks + block) * BF16S + row * 32;
                        let line = &mut buffers.input[place..place + 32];
                        // SAFETY: `line` has 32 elements of 16 bits.
                        unsafe { _mm512_storeu_epi16(line.as_mut_ptr().cast(), _mm512_maskz_mov_epi16(bits, one)) };
                    }
                }
            }
        }
        let scalars = SCALARS.len();
        for row in (0..count).step_by(TOGETHER) {
            let position = |index: usize| (first + row + index).min(batch.len() - 1);
            let inputs = std::array::from_fn(|index| &batch.scalars[position(index) * scalars..][..scalars]);
            self.scalars.add::<TOGETHER>(&self.bias, inputs, split(&mut buffers.rows));
            for (index, vectors) in buffers.rows.chunks_exact(outputs).enumerate() {
                for (output, vector) in vectors.iter().enumerate() {
                    buffers.bias[output * FLOATS + (row + index) * LANES..][..LANES].copy_from_slice(vector);
                }
            }
        }
    }
}

/// Writes the means over the board as `[16 positions][C'] f32`, and if asked for the maxima; `activations` are `[A][K]`
/// tiles of bfloat16, not negative where maxima are asked for.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
pub(super) fn pool(activations: &[u16], blocks: usize, means: &mut [f32], maxima: Option<&mut [f32]>) {
    const ROWS: usize = 4;
    let area = activations.len() / (blocks * BF16S);
    let scale = _mm512_set1_ps(1.0 / area as f32);
    let (even, odd) = (
        _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
        _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31),
    );
    let high = _mm512_set1_epi32(0xffff_0000_u32 as i32);
    let mut maxima = maxima;
    for block in 0..blocks {
        for row in (0..GROUP).step_by(ROWS) {
            let mut sums = [[_mm512_setzero_ps(); 2]; ROWS];
            let mut greatest = [_mm512_setzero_si512(); ROWS];
            for square in 0..area {
                let rows = &activations[(square * blocks + block) * BF16S + row * 32..][..ROWS * 32];
                for index in 0..ROWS {
                    // SAFETY: `rows` has 32 elements of 16 bits for each index.
                    let values = unsafe { _mm512_loadu_epi16(rows.as_ptr().wrapping_add(index * 32).cast()) };
                    let pair = [_mm512_slli_epi32::<16>(values), _mm512_and_si512(values, high)];
                    sums[index][0] = _mm512_add_ps(sums[index][0], _mm512_castsi512_ps(pair[0]));
                    sums[index][1] = _mm512_add_ps(sums[index][1], _mm512_castsi512_ps(pair[1]));
                    // Floats that are not negative are in the order of their bits.
                    greatest[index] = _mm512_max_epi16(greatest[index], values);
                }
            }
            let write = |values: &mut [f32], index: usize, pair: [__m512; 2]| {
                let place = &mut values[(row + index) * blocks * 32 + block * 32..][..32];
                let halves =
                    [_mm512_permutex2var_ps(pair[0], even, pair[1]), _mm512_permutex2var_ps(pair[0], odd, pair[1])];
                // SAFETY: `place` has 32 floats.
                unsafe {
                    _mm512_storeu_ps(place.as_mut_ptr(), halves[0]);
                    _mm512_storeu_ps(place.as_mut_ptr().wrapping_add(16), halves[1]);
                }
            };
            for index in 0..ROWS {
                write(means, index, sums[index].map(|sum| _mm512_mul_ps(sum, scale)));
                if let Some(maxima) = maxima.as_deref_mut() {
                    let pair = [_mm512_slli_epi32::<16>(greatest[index]), _mm512_and_si512(greatest[index], high)];
                    write(maxima, index, pair.map(|half| _mm512_castsi512_ps(half)));
                }
            }
        }
    }
}

/// A matrix from means and maxima to a bias of each channel.
#[derive(Debug)]
pub(super) struct GlobalBias(Tiles);

impl GlobalBias {
    pub(super) fn new(linear: &Linear, blocks: usize, outputs: usize) -> GlobalBias {
        let channels = linear.columns / 2;
        let at = |output: usize, _: usize, input: usize| {
            let (part, channel) = (input / (blocks * 32), input % (blocks * 32));
            if output < linear.rows && channel < channels { linear.row(output)[part * channels + channel] } else { 0.0 }
        };
        GlobalBias(Tiles::bf16(2 * blocks, outputs, 1, at))
    }

    /// Writes `bias` plus what `summary`, `[2K]` tiles of bfloat16, gives: `[N][16 positions][16 channels]`.
    /// Safety: the processor has the unit.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn run<U: TileUnit>(&self, unit: &mut U, bias: &[f32], summary: &[u16], outputs: &mut [f32]) {
        assert!(summary.len() >= self.0.blocks * BF16S, "a tile for each block");
        for output in 0..self.0.outputs {
            let bias = &bias[output * LANES..][..LANES];
            let place = &mut outputs[output * FLOATS..][..FLOATS];
            // SAFETY: `bias` is one row, read with stride 0; `summary` (assertion) and the weights have all tiles;
            // `place` is one tile.
            unsafe {
                unit.load_sums::<0, f32>(bias.as_ptr(), 0);
                for block in 0..self.0.blocks {
                    unit.load::<4, u16>(summary.as_ptr().wrapping_add(block * BF16S), 64);
                    unit.load::<5, u8>(self.0.as_ptr().wrapping_add((output * self.0.blocks + block) * TILE), 64);
                    unit.multiply_bf16::<0, 4, 5>();
                }
                unit.store_sums::<0, f32>(place.as_mut_ptr(), 64);
            }
        }
    }
}

#[derive(Debug)]
pub(super) struct Pooled {
    /// `[16 positions][C']`
    pub(super) means: Aligned<f32>,
    pub(super) maxima: Aligned<f32>,
    /// `[2K]` tiles: both, rounded.
    summary: Aligned<u16>,
    /// `[2K]` tiles of a bias for each position.
    pub(super) bias: Aligned<f32>,
}

impl Pooled {
    /// Makes room for `blocks` blocks of 32 channels.
    pub(super) fn new(blocks: usize) -> Pooled {
        Pooled {
            means: Aligned::zeros(GROUP * blocks * 32),
            maxima: Aligned::zeros(GROUP * blocks * 32),
            summary: Aligned::zeros(2 * blocks * BF16S),
            bias: Aligned::zeros(2 * blocks * FLOATS),
        }
    }

    /// Computes the bias from means and maxima, `bias` included.
    /// Safety: the processor has the unit.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    pub(super) unsafe fn global_bias<U: TileUnit>(&mut self, unit: &mut U, weights: &GlobalBias, bias: &[f32]) {
        let half = self.summary.len() / 2;
        let (means, maxima) = self.summary.split_at_mut(half);
        round(&self.means, means);
        round(&self.maxima, maxima);
        // SAFETY: contract of this function.
        unsafe { weights.run(unit, bias, &self.summary, &mut self.bias) };
    }
}

/// Rounds `[16 positions][C'] f32` to `[K]` tiles of bfloat16.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
fn round(values: &[f32], tiles: &mut [u16]) {
    let blocks = values.len() / (GROUP * 32);
    for (index, values) in values.as_chunks::<32>().0.iter().enumerate() {
        let (row, block) = (index / blocks, index % blocks);
        super::products::round(values, &mut tiles[block * BF16S + row * 32..][..32]);
    }
}

/// What comes behind the trunk.
#[derive(Debug)]
pub(super) struct Reader {
    /// From-squares, to-squares, features: tiles of 16 outputs.
    tiles: Tiles,
    bias: Vec<f32>,
    heads: Heads,
    area: usize,
}

#[derive(Debug)]
pub(super) struct ReaderBuffers {
    /// `[16 positions][A][2D']`, positions `squares_stride` apart.
    squares: Aligned<f32>,
    /// `[4 squares]` tiles.
    features: Aligned<f32>,
    /// `[16 positions][2V']`
    summaries: Aligned<f32>,
    heads: HeadBuffers,
}

impl Reader {
    pub(super) fn new(weights: &Weights) -> Reader {
        let heads = Heads::new(weights);
        let parts = [(&weights.from, heads.keys), (&weights.to, heads.keys), (&weights.features, heads.features)];
        let find = |mut output: usize| -> Option<(&Linear, usize)> {
            for (part, rows) in parts {
                match output.checked_sub(rows) {
                    None => return (output < part.rows).then_some((part, output)),
                    Some(rest) => output = rest,
                }
            }
            None
        };
        let outputs = (2 * heads.keys + heads.features) / 16;
        let at = |output: usize, _: usize, input: usize| match find(output) {
            Some((part, row)) if input < part.columns => part.row(row)[input],
            _ => 0.0,
        };
        let bias = (0..outputs * 16).map(|output| find(output).map_or(0.0, |(part, row)| part.bias[row])).collect();
        let tiles = Tiles::bf16(weights.config.channels.div_ceil(32), outputs, 1, at);
        Reader { tiles, bias, heads, area: weights.shape.area() }
    }

    pub(super) fn buffers(&self) -> ReaderBuffers {
        ReaderBuffers {
            squares: Aligned::zeros(GROUP * self.squares_stride()),
            features: Aligned::zeros(4 * FLOATS),
            summaries: Aligned::zeros(GROUP * 2 * self.heads.features),
            heads: self.heads.buffers(),
        }
    }

    /// Returns the floats from one position's squares to the next's: one line more than they take, so that the sixteen
    /// rows of a tile do not fall into the same sets of the cache.
    fn squares_stride(&self) -> usize {
        self.area * 2 * self.heads.keys + LANES
    }

    /// Answers the positions from `first` on, at most sixteen, whose trunk is `[A][K]` tiles of bfloat16.
    /// Safety: the processor has the unit.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    pub(super) unsafe fn answer<U: TileUnit>(
        &self,
        unit: &mut U,
        trunk: &[u16],
        batch: &PositionBatch,
        first: usize,
        buffers: &mut ReaderBuffers,
        answers: &mut Answers,
    ) {
        // SAFETY: contract of this function.
        unsafe { self.read(unit, trunk, buffers) };
        let summary = 2 * self.heads.features;
        let last = (first + GROUP).min(batch.len());
        for begin in (first..last).step_by(TOGETHER) {
            let end = (begin + TOGETHER).min(last);
            let row = |index: usize| begin - first + index;
            let actions: [&[_]; TOGETHER] =
                std::array::from_fn(|index| if begin + index < end { batch.actions(begin + index) } else { &[] });
            let summaries = std::array::from_fn(|index| &buffers.summaries[row(index) * summary..][..summary]);
            let squares = |index: usize| &buffers.squares[row(index) * self.squares_stride()..];
            self.heads.answer(summaries, squares, &actions[..end - begin], &mut buffers.heads, answers);
        }
    }

    /// Computes the heads' channels of every square and pools the features.
    /// Safety: the processor has the unit.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn read<U: TileUnit>(&self, unit: &mut U, trunk: &[u16], buffers: &mut ReaderBuffers) {
        let (blocks, keys, features) = (self.tiles.blocks, 2 * self.heads.keys / 16, self.heads.features);
        assert!(trunk.len() >= self.area * blocks * BF16S, "a tile for each square and block");
        let stride = self.squares_stride();
        buffers.summaries.fill(0.0);
        for square in (0..self.area).step_by(4) {
            let width = (self.area - square).min(4);
            for output in 0..self.tiles.outputs {
                let bias = self.bias[output * LANES..][..LANES].as_ptr();
                // Squares beyond the last one repeat it; they are not stored.
                let input =
                    |index: usize| trunk.as_ptr().wrapping_add((square + index.min(width - 1)) * blocks * BF16S);
                // SAFETY: `bias` is one row, read with stride 0; the inputs lie within `trunk` (assertion), the weights
                // within `tiles`.
                unsafe {
                    unit.load_sums::<0, f32>(bias, 0);
                    unit.load_sums::<1, f32>(bias, 0);
                    unit.load_sums::<2, f32>(bias, 0);
                    unit.load_sums::<3, f32>(bias, 0);
                    for block in 0..blocks {
                        let weights = self.tiles.as_ptr().wrapping_add((output * blocks + block) * TILE);
                        unit.load::<7, u8>(weights, 64);
                        unit.load::<4, u16>(input(0).wrapping_add(block * BF16S), 64);
                        unit.multiply_bf16::<0, 4, 7>();
                        unit.load::<5, u16>(input(1).wrapping_add(block * BF16S), 64);
                        unit.multiply_bf16::<1, 5, 7>();
                        unit.load::<4, u16>(input(2).wrapping_add(block * BF16S), 64);
                        unit.multiply_bf16::<2, 4, 7>();
                        unit.load::<5, u16>(input(3).wrapping_add(block * BF16S), 64);
                        unit.multiply_bf16::<3, 5, 7>();
                    }
                }
                if output < keys {
                    // The last square's row ends before the last position's stride does, and its last tile before the
                    // last row's end.
                    let place = &mut buffers.squares[square * 2 * self.heads.keys + output * LANES..];
                    let square_len = 2 * self.heads.keys;
                    assert!(
                        place.len() >= 15 * stride + (width - 1) * square_len + LANES,
                        "sixteen rows of each square"
                    );
                    let place = place.as_mut_ptr();
                    // SAFETY: the assertion.
                    unsafe {
                        unit.store_sums::<0, f32>(place, stride * 4);
                        if width > 1 {
                            unit.store_sums::<1, f32>(place.wrapping_add(square_len), stride * 4);
                        }
                        if width > 2 {
                            unit.store_sums::<2, f32>(place.wrapping_add(2 * square_len), stride * 4);
                        }
                        if width > 3 {
                            unit.store_sums::<3, f32>(place.wrapping_add(3 * square_len), stride * 4);
                        }
                    }
                } else {
                    let place = buffers.features.as_mut_ptr();
                    // SAFETY: `features` has four tiles.
                    unsafe {
                        unit.store_sums::<0, f32>(place, 64);
                        unit.store_sums::<1, f32>(place.wrapping_add(FLOATS), 64);
                        unit.store_sums::<2, f32>(place.wrapping_add(2 * FLOATS), 64);
                        unit.store_sums::<3, f32>(place.wrapping_add(3 * FLOATS), 64);
                    }
                    let lanes = (output - keys) * LANES;
                    for row in 0..GROUP {
                        let summary = &mut buffers.summaries[row * 2 * features + lanes..];
                        let (means, maxima) = summary.split_at_mut(features);
                        let means = means.first_chunk_mut().expect("sixteen features");
                        let maxima = maxima.first_chunk_mut().expect("sixteen features");
                        let (mut sum, mut greatest) = (Lanes::load(means), Lanes::load(maxima));
                        for index in 0..width {
                            let values = &buffers.features[index * FLOATS + row * LANES..];
                            let values = Lanes::load(values.first_chunk().expect("sixteen features"));
                            greatest = greatest.max(values);
                            sum = sum.add(values.max(Lanes::all(0.0)));
                        }
                        sum.store(means);
                        greatest.store(maxima);
                    }
                }
            }
        }
        for row in buffers.summaries.chunks_exact_mut(2 * features) {
            row[..features].iter_mut().for_each(|value| *value /= self.area as f32);
        }
    }
}

/// Returns the bias of a convolution with zeros up to 16 times `outputs`.
pub(super) fn bias_of(bias: &[f32], outputs: usize) -> Vec<f32> {
    crate::portable::padded(bias, outputs * LANES)
}
