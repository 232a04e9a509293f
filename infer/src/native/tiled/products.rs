//! Products of tiles that only training needs, over squares and samples. A board in pairs, of one sample of each of two
//! groups, is `[A][tiles of 16 channels][16 pairs][16 channels][2]`, one by channels `[A][tiles of 16 channels][16 channels][16
//! pairs][2]`. Legend: `A` squares, `K` blocks of 32 channels.

use std::arch::x86_64::*;

use super::aligned::{Aligned, TILE};
use super::convolution::Tiles;
use super::parts::{BF16S, FLOATS, pool};
use super::unit::TileUnit;
use crate::kernel::GROUP;

/// Transposes sixteen rows of sixteen numbers of 32 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
pub(super) fn transposed(rows: [__m512i; 16]) -> [__m512i; 16] {
    let zero = _mm512_setzero_si512();
    let mut fours = [zero; 16];
    for first in (0..16).step_by(4) {
        let [a, b, c, d] = [rows[first], rows[first + 1], rows[first + 2], rows[first + 3]];
        let low = [_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d)];
        let high = [_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d)];
        fours[first] = _mm512_unpacklo_epi64(low[0], low[1]);
        fours[first + 1] = _mm512_unpackhi_epi64(low[0], low[1]);
        fours[first + 2] = _mm512_unpacklo_epi64(high[0], high[1]);
        fours[first + 3] = _mm512_unpackhi_epi64(high[0], high[1]);
    }
    // Quarter `q` of row `4 g + j` now holds column `4 q + j` of the rows `4 g` to `4 g + 3`.
    let mut columns = [zero; 16];
    for column in 0..4 {
        let even = |first: usize| _mm512_shuffle_i32x4::<0x88>(fours[first + column], fours[first + 4 + column]);
        let odd = |first: usize| _mm512_shuffle_i32x4::<0xdd>(fours[first + column], fours[first + 4 + column]);
        columns[column] = _mm512_shuffle_i32x4::<0x88>(even(0), even(8));
        columns[8 + column] = _mm512_shuffle_i32x4::<0xdd>(even(0), even(8));
        columns[4 + column] = _mm512_shuffle_i32x4::<0x88>(odd(0), odd(8));
        columns[12 + column] = _mm512_shuffle_i32x4::<0xdd>(odd(0), odd(8));
    }
    columns
}

/// Loads sixteen bfloat16 of each of two rows, as pairs.
/// Safety: both can be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
unsafe fn load_pairs(first: *const u16, second: *const u16) -> __m512i {
    // SAFETY: contract of this function.
    let [first, second] = unsafe { [first, second].map(|row| _mm512_cvtepu16_epi32(_mm256_loadu_si256(row.cast()))) };
    _mm512_or_si512(first, _mm512_slli_epi32::<16>(second))
}

/// Rounds sixteen floats of each of two rows to bfloat16, as pairs.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
pub(super) fn pair_of_floats(first: __m512, second: __m512) -> __m512i {
    let [first, second] = [first, second].map(|values| {
        // SAFETY: a vector of bfloat16 is one of 256 bits.
        _mm512_cvtepu16_epi32(unsafe { std::mem::transmute::<__m256bh, __m256i>(_mm512_cvtneps_pbh(values)) })
    });
    _mm512_or_si512(first, _mm512_slli_epi32::<16>(second))
}

/// Joins the boards of two groups, `[A][K]` tiles each, in pairs: `outputs` tiles of 16 channels for each square.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
pub(super) fn pair(boards: [&[u16]; 2], blocks: usize, outputs: usize, pairs: &mut [u16]) {
    join::<false>(boards, blocks, outputs, pairs);
}

/// Joins the boards of two groups, `[A][K]` tiles each, by channels: `outputs` tiles of 16 channels for each square.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
pub(super) fn transpose(boards: [&[u16]; 2], blocks: usize, outputs: usize, channels: &mut [u16]) {
    join::<true>(boards, blocks, outputs, channels);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
fn join<const TRANSPOSE: bool>(boards: [&[u16]; 2], blocks: usize, outputs: usize, joined: &mut [u16]) {
    assert!(outputs <= 2 * blocks && boards[0].len() == boards[1].len(), "boards of one size");
    let squares = boards[0].len() / (blocks * BF16S);
    for square in 0..squares {
        for output in 0..outputs {
            let place = (square * blocks + output / 2) * BF16S + output % 2 * 16;
            let rows = boards.map(|board| &board[place..place + 15 * 32 + 16]);
            let tile = &mut joined[(square * outputs + output) * BF16S..][..BF16S];
            let mut pairs = [_mm512_setzero_si512(); 16];
            for (row, pair) in pairs.iter_mut().enumerate() {
                let [first, second] = rows.map(|rows| rows.as_ptr().wrapping_add(row * 32));
                // SAFETY: sixteen rows of 16 numbers, 32 apart, lie in `rows`.
                *pair = unsafe { load_pairs(first, second) };
            }
            let pairs = if TRANSPOSE { transposed(pairs) } else { pairs };
            for (row, pair) in pairs.into_iter().enumerate() {
                // SAFETY: `tile` has sixteen rows of 64 bytes.
                unsafe { _mm512_storeu_si512(tile.as_mut_ptr().wrapping_add(row * 32).cast(), pair) };
            }
        }
    }
}

/// Writes the weights of a convolution, `[channels, 9, channels]` times `scale`, `[channels]` of the outputs, as tiles,
/// forwards and backwards: backwards the taps are turned, and what were outputs are inputs.
/// Safety: the processor has AVX-512 with bfloat16.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
pub(super) unsafe fn arrange(weight: &[f32], scale: &[f32], channels: usize) -> (Tiles, Tiles) {
    let (blocks, outputs) = (channels.div_ceil(32), channels.div_ceil(16));
    let [mut forward, mut backward] = [Tiles::new(blocks, outputs, 9), Tiles::new(blocks, outputs, 9)];
    // Sixteen weights from `input` on; 0 where there are no such channels.
    let load = |output: usize, tap: usize, input: usize| -> __m512 {
        if output >= channels || input >= channels {
            return _mm512_setzero_ps();
        }
        let rest = &weight[(output * 9 + tap) * channels + input..][..(channels - input).min(16)];
        let mask = 0xffff_u16 >> (16 - rest.len());
        // SAFETY: the mask reads the numbers of `rest`.
        _mm512_mul_ps(_mm512_set1_ps(scale[output]), unsafe { _mm512_maskz_loadu_ps(mask, rest.as_ptr()) })
    };
    let mut index = 0;
    for output in 0..outputs {
        for rank in 0..3 {
            for block in 0..blocks {
                for file in 0..3 {
                    let tap = rank * 3 + file;
                    let mut rows = [_mm512_setzero_si512(); 16];
                    for (row, values) in rows.iter_mut().enumerate() {
                        let low = load(output * 16 + row, tap, block * 32);
                        let high = load(output * 16 + row, tap, block * 32 + 16);
                        // SAFETY: a vector of bfloat16 is one of 512 bits.
                        *values = unsafe { std::mem::transmute::<__m512bh, __m512i>(_mm512_cvtne2ps_pbh(high, low)) };
                    }
                    store(forward.tile_mut(index), transposed(rows));
                    for (row, values) in rows.iter_mut().enumerate() {
                        let [first, second] =
                            [0, 1].map(|half| load(block * 32 + 2 * row + half, 8 - tap, output * 16));
                        *values = pair_of_floats(first, second);
                    }
                    store(backward.tile_mut(index), rows);
                    index += 1;
                }
            }
        }
    }
    (forward, backward)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
pub(super) fn store(tile: &mut [u8], rows: [__m512i; 16]) {
    assert_eq!(tile.len(), TILE, "a tile");
    for (row, values) in rows.into_iter().enumerate() {
        // SAFETY: the tile has sixteen rows of 64 bytes.
        unsafe { _mm512_storeu_si512(tile.as_mut_ptr().wrapping_add(row * 64).cast(), values) };
    }
}

/// Multiplies the channels of each square, `[A][blocks]` tiles, and shows `visit` the sums of each square and each tile of
/// 16 outputs: `[16 samples][16 outputs]`.
/// Safety: the processor has the unit.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
pub(super) unsafe fn by_square<U: TileUnit>(
    unit: &mut U,
    input: &[u16],
    weights: &Tiles,
    bias: Option<&[f32]>,
    mut visit: impl FnMut(usize, usize, &[f32]),
) {
    let (blocks, outputs) = (weights.blocks, weights.outputs);
    let area = input.len() / (blocks * BF16S);
    let mut sums = Aligned::<f32>::zeros(4 * FLOATS);
    let zeros = [0.0; 16];
    for square in (0..area).step_by(4) {
        let width = (area - square).min(4);
        for output in 0..outputs {
            let bias = bias.map_or(&zeros[..], |bias| &bias[output * 16..][..16]).as_ptr();
            // Squares beyond the last one repeat it; they are not shown.
            let tile = |index: usize, block: usize| {
                input[((square + index.min(width - 1)) * blocks + block) * BF16S..][..BF16S].as_ptr()
            };
            let place = sums.as_mut_ptr();
            // SAFETY: `bias` is one row, read with stride 0; the inputs are whole tiles; the weights have a tile for each
            // output and block; `sums` has four tiles.
            unsafe {
                unit.load_sums::<0, f32>(bias, 0);
                unit.load_sums::<1, f32>(bias, 0);
                unit.load_sums::<2, f32>(bias, 0);
                unit.load_sums::<3, f32>(bias, 0);
                for block in 0..blocks {
                    unit.load::<7, u8>(weights.as_ptr().wrapping_add((output * blocks + block) * TILE), 64);
                    unit.load::<4, u16>(tile(0, block), 64);
                    unit.multiply_bf16::<0, 4, 7>();
                    unit.load::<5, u16>(tile(1, block), 64);
                    unit.multiply_bf16::<1, 5, 7>();
                    unit.load::<4, u16>(tile(2, block), 64);
                    unit.multiply_bf16::<2, 4, 7>();
                    unit.load::<5, u16>(tile(3, block), 64);
                    unit.multiply_bf16::<3, 5, 7>();
                }
                unit.store_sums::<0, f32>(place, 64);
                unit.store_sums::<1, f32>(place.wrapping_add(FLOATS), 64);
                unit.store_sums::<2, f32>(place.wrapping_add(2 * FLOATS), 64);
                unit.store_sums::<3, f32>(place.wrapping_add(3 * FLOATS), 64);
            }
            for (index, sums) in sums.chunks_exact(FLOATS).enumerate().take(width) {
                visit(square + index, output, sums);
            }
        }
    }
}

/// Writes sums, `[16 samples][16 channels]`, as bfloat16 where `mask` is not 0; the rows of both are 32 apart.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
pub(super) fn store_masked(sums: &[f32], mask: &[u16], output: &mut [u16]) {
    for (row, sums) in sums.as_chunks::<16>().0.iter().enumerate() {
        let (mask, output) = (&mask[row * 32..][..16], &mut output[row * 32..][..16]);
        // SAFETY: each has 16 numbers; a vector of bfloat16 is one of 256 bits.
        unsafe {
            let mask = _mm256_loadu_si256(mask.as_ptr().cast());
            let values: __m256i = std::mem::transmute(_mm512_cvtneps_pbh(_mm512_loadu_ps(sums.as_ptr())));
            let values = _mm256_maskz_mov_epi16(_mm256_test_epi16_mask(mask, mask), values);
            _mm256_storeu_si256(output.as_mut_ptr().cast(), values);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
pub(super) fn round(values: &[f32; 32], output: &mut [u16]) {
    assert_eq!(output.len(), 32, "as many as there are values");
    // SAFETY: both have 32 numbers; a vector of bfloat16 is one of 512 bits.
    unsafe {
        let (low, high) = (_mm512_loadu_ps(values.as_ptr()), _mm512_loadu_ps(values.as_ptr().wrapping_add(16)));
        let rounded: __m512i = std::mem::transmute(_mm512_cvtne2ps_pbh(high, low));
        _mm512_storeu_si512(output.as_mut_ptr().cast(), rounded);
    }
}

/// Writes the sums over the squares of a board, `[A][K]` tiles: `[16 samples][32 K]`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
pub(super) fn sum_squares(board: &[u16], blocks: usize, sums: &mut [f32]) {
    pool(board, blocks, sums, None);
    let area = (board.len() / (blocks * BF16S)) as f32;
    sums.iter_mut().for_each(|sum| *sum *= area);
}

/// Adds the gradient of the maxima over the board to that of the activations: on the first square that has the maximum,
/// where it is above 0. `board` and `gradient` are `[A][K]` tiles, `maxima` and `of_maxima` `[16 samples][32 K]`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
pub(super) fn spread_maxima(board: &[u16], gradient: &mut [u16], maxima: &[f32], of_maxima: &[f32], blocks: usize) {
    let area = board.len() / (blocks * BF16S);
    for row in 0..GROUP {
        for half in 0..2 * blocks {
            let place = row * blocks * 32 + half * 16;
            let (maxima, of_maxima) = (&maxima[place..][..16], &of_maxima[place..][..16]);
            // SAFETY: both have 16 numbers.
            let (maxima, of_maxima) =
                unsafe { (_mm512_loadu_ps(maxima.as_ptr()), _mm512_loadu_ps(of_maxima.as_ptr())) };
            let mut left = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(maxima, _mm512_setzero_ps());
            for square in 0..area {
                if left == 0 {
                    break;
                }
                let place = (square * blocks + half / 2) * BF16S + row * 32 + half % 2 * 16;
                let (values, place) = (&board[place..][..16], &mut gradient[place..][..16]);
                // SAFETY: both have 16 numbers; a vector of bfloat16 is one of 256 bits.
                unsafe {
                    let wide = |values: *const u16| {
                        let values = _mm512_cvtepu16_epi32(_mm256_loadu_si256(values.cast()));
                        _mm512_castsi512_ps(_mm512_slli_epi32::<16>(values))
                    };
                    let here = _mm512_mask_cmp_ps_mask::<_CMP_EQ_OQ>(left, wide(values.as_ptr()), maxima);
                    if here != 0 {
                        let old = wide(place.as_ptr());
                        let sum = _mm512_mask_add_ps(old, here, old, of_maxima);
                        let rounded: __m256i = std::mem::transmute(_mm512_cvtneps_pbh(sum));
                        _mm256_storeu_si256(place.as_mut_ptr().cast(), rounded);
                        left &= !here;
                    }
                }
            }
        }
    }
}

#[derive(Debug)]
pub(super) struct Sums {
    /// Tiles of 16 inputs and of 16 outputs.
    inputs: usize,
    outputs: usize,
    taps: usize,
    /// `[inputs][outputs][taps]` tiles of `[16 inputs][16 outputs]`.
    tiles: Aligned<f32>,
}

impl Sums {
    pub(super) fn new(inputs: usize, outputs: usize, taps: usize) -> Sums {
        Sums { inputs, outputs, taps, tiles: Aligned::zeros(inputs * outputs * taps * FLOATS) }
    }

    pub(super) fn clear(&mut self) {
        self.tiles.fill(0.0);
    }

    /// Adds the products of `input`, a board by channels, and `output`, a board in pairs, square by square.
    /// Safety: the processor has the unit.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    pub(super) unsafe fn add_points<U: TileUnit>(&mut self, unit: &mut U, area: usize, input: &[u16], output: &[u16]) {
        assert_eq!(self.taps, 1, "weights of one tap");
        assert!(
            input.len() >= area * self.inputs * BF16S && output.len() >= area * self.outputs * BF16S,
            "whole boards"
        );
        for first in (0..self.inputs).step_by(2) {
            for second in (0..self.outputs).step_by(2) {
                // Where a number of tiles is odd, the last tile is computed twice and written once.
                let (ins, outs) =
                    ([first, (first + 1).min(self.inputs - 1)], [second, (second + 1).min(self.outputs - 1)]);
                let input = |index: usize, square: usize| {
                    input.as_ptr().wrapping_add((square * self.inputs + ins[index]) * BF16S)
                };
                let output = |index: usize, square: usize| {
                    output.as_ptr().wrapping_add((square * self.outputs + outs[index]) * BF16S)
                };
                let tiles = self.tiles.as_mut_ptr();
                let place = |i: usize, o: usize| tiles.wrapping_add((ins[i] * self.outputs + outs[o]) * FLOATS);
                // SAFETY: the boards have all tiles (assertion), and so have the sums.
                unsafe {
                    unit.load_sums::<0, f32>(place(0, 0), 64);
                    unit.load_sums::<1, f32>(place(0, 1), 64);
                    unit.load_sums::<2, f32>(place(1, 0), 64);
                    unit.load_sums::<3, f32>(place(1, 1), 64);
                    for square in 0..area {
                        unit.load::<4, u16>(input(0, square), 64);
                        unit.load::<5, u16>(input(1, square), 64);
                        unit.load::<6, u16>(output(0, square), 64);
                        unit.load::<7, u16>(output(1, square), 64);
                        unit.multiply_bf16::<0, 4, 6>();
                        unit.multiply_bf16::<1, 4, 7>();
                        unit.multiply_bf16::<2, 5, 6>();
                        unit.multiply_bf16::<3, 5, 7>();
                    }
                    unit.store_sums::<0, f32>(place(0, 0), 64);
                    unit.store_sums::<1, f32>(place(0, 1), 64);
                    unit.store_sums::<2, f32>(place(1, 0), 64);
                    unit.store_sums::<3, f32>(place(1, 1), 64);
                }
            }
        }
    }

    /// Adds the products of `input`, a board by channels, and `output`, a board in pairs, for each tap: of each square
    /// of the output and its neighbour of the input.
    /// Safety: the processor has the unit.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    pub(super) unsafe fn add_taps<U: TileUnit>(
        &mut self,
        unit: &mut U,
        [files, ranks]: [usize; 2],
        input: &[u16],
        output: &[u16],
    ) {
        assert_eq!(self.taps, 9, "weights of nine taps");
        let area = files * ranks;
        assert!(
            input.len() >= area * self.inputs * BF16S && output.len() >= area * self.outputs * BF16S,
            "whole boards"
        );
        for first in 0..self.inputs {
            for second in (0..self.outputs).step_by(2) {
                let both = second + 1 < self.outputs;
                for rank_tap in 0..3 {
                    // Ranks of the output whose neighbour is on the board.
                    let own = usize::from(rank_tap == 0)..ranks - usize::from(rank_tap == 2);
                    let tiles = self.tiles.as_mut_ptr();
                    let place = |output: usize, file_tap: usize| {
                        let tile = (first * self.outputs + second + output) * 9 + rank_tap * 3 + file_tap;
                        tiles.wrapping_add(tile * FLOATS)
                    };
                    // SAFETY: the boards have all tiles (assertion), and so have the sums; a neighbour is loaded where it
                    // is on the board.
                    unsafe {
                        unit.load_sums::<0, f32>(place(0, 0), 64);
                        unit.load_sums::<1, f32>(place(0, 1), 64);
                        unit.load_sums::<2, f32>(place(0, 2), 64);
                        if both {
                            unit.load_sums::<3, f32>(place(1, 0), 64);
                            unit.load_sums::<4, f32>(place(1, 1), 64);
                            unit.load_sums::<5, f32>(place(1, 2), 64);
                        }
                        for rank in own {
                            for file in 0..files {
                                let square = rank * files + file;
                                let neighbour = (rank + rank_tap - 1) * files + file;
                                let next = self.inputs * BF16S;
                                let here = input.as_ptr().wrapping_add((neighbour * self.inputs + first) * BF16S);
                                let out = output.as_ptr().wrapping_add((square * self.outputs + second) * BF16S);
                                macro_rules! products {
                                    ($left:literal, $middle:literal, $right:literal) => {
                                        if file > 0 {
                                            unit.load::<6, u16>(here.wrapping_sub(next), 64);
                                            unit.multiply_bf16::<$left, 6, 7>();
                                        }
                                        unit.load::<6, u16>(here, 64);
                                        unit.multiply_bf16::<$middle, 6, 7>();
                                        if file + 1 < files {
                                            unit.load::<6, u16>(here.wrapping_add(next), 64);
                                            unit.multiply_bf16::<$right, 6, 7>();
                                        }
                                    };
                                }
                                unit.load::<7, u16>(out, 64);
                                products!(0, 1, 2);
                                if both {
                                    unit.load::<7, u16>(out.wrapping_add(BF16S), 64);
                                    products!(3, 4, 5);
                                }
                            }
                        }
                        unit.store_sums::<0, f32>(place(0, 0), 64);
                        unit.store_sums::<1, f32>(place(0, 1), 64);
                        unit.store_sums::<2, f32>(place(0, 2), 64);
                        if both {
                            unit.store_sums::<3, f32>(place(1, 0), 64);
                            unit.store_sums::<4, f32>(place(1, 1), 64);
                            unit.store_sums::<5, f32>(place(1, 2), 64);
                        }
                    }
                }
            }
        }
    }

    /// Adds the sums to `gradient`, `[outputs, taps, inputs]` of as many channels.
    /// Safety: the processor has AVX-512.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    pub(super) unsafe fn add_to(&self, gradient: &mut [f32], outputs: usize, inputs: usize) {
        assert_eq!(gradient.len(), outputs * self.taps * inputs, "a number for each weight");
        self.by_output(outputs, inputs, |_, place, mask, sums| {
            let place = &mut gradient[place..place + mask.count_ones() as usize];
            // SAFETY: the mask reads and writes the numbers of `place`.
            unsafe {
                let old = _mm512_maskz_loadu_ps(mask, place.as_ptr());
                _mm512_mask_storeu_ps(place.as_mut_ptr(), mask, _mm512_add_ps(old, sums));
            }
        });
    }

    /// Where the weights are `weight`, `[channels, taps, channels]`, times `scale`, `[channels]` of the outputs: adds to
    /// the gradients of both.
    /// Safety: the processor has AVX-512.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    pub(super) unsafe fn add_scaled_to(
        &self,
        weight: &[f32],
        scale: &[f32],
        of_weight: &mut [f32],
        of_scale: &mut [f32],
    ) {
        let channels = scale.len();
        let len = channels * self.taps * channels;
        assert!(
            weight.len() == len && of_weight.len() == len && of_scale.len() == channels,
            "a number for each weight"
        );
        self.by_output(channels, channels, |output, place, mask, sums| {
            let range = place..place + mask.count_ones() as usize;
            let (weight, of_weight) = (&weight[range.clone()], &mut of_weight[range]);
            // SAFETY: the mask reads the numbers of `weight`, and reads and writes those of `of_weight`.
            unsafe {
                let old = _mm512_maskz_loadu_ps(mask, of_weight.as_ptr());
                let sum = _mm512_fmadd_ps(_mm512_set1_ps(scale[output]), sums, old);
                _mm512_mask_storeu_ps(of_weight.as_mut_ptr(), mask, sum);
                let weight = _mm512_maskz_loadu_ps(mask, weight.as_ptr());
                of_scale[output] += _mm512_reduce_add_ps(_mm512_mul_ps(weight, sums));
            }
        });
    }

    /// Shows `visit` the sums of up to sixteen inputs at a time: the output, the place of the first of them in
    /// `[outputs, taps, inputs]`, and a mask of as many as there are.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    fn by_output(&self, outputs: usize, inputs: usize, mut visit: impl FnMut(usize, usize, __mmask16, __m512)) {
        for (index, tile) in self.tiles.chunks_exact(FLOATS).enumerate() {
            let (tap, pair) = (index % self.taps, index / self.taps);
            let (input, output) = (pair / self.outputs * 16, pair % self.outputs * 16);
            if input >= inputs {
                continue;
            }
            let mut rows = [_mm512_setzero_si512(); 16];
            for (row, values) in rows.iter_mut().zip(tile.as_chunks::<16>().0) {
                // SAFETY: `values` has 16 numbers.
                *row = unsafe { _mm512_loadu_si512(values.as_ptr().cast()) };
            }
            let mask = 0xffff_u16 >> (16 - (inputs - input).min(16));
            for (row, values) in transposed(rows).into_iter().enumerate().take(outputs.saturating_sub(output)) {
                let place = ((output + row) * self.taps + tap) * inputs + input;
                visit(output + row, place, mask, _mm512_castsi512_ps(values));
            }
        }
    }
}
