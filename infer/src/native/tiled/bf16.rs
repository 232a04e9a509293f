//! The kernel of bfloat16: activations and weights of 16 bits, sums of 32.
//! Legend: `A` squares, `K` blocks of 32 channels, `N` tiles of 16 channels.

use std::arch::x86_64::*;

use latrunculi_data::Shape;

use super::aligned::Aligned;
use super::convolution::{Bf16, Bias, Epilogue, Scratch, Strip, Tiles};
use super::parts::{BF16S, GlobalBias, Pooled, Reader, ReaderBuffers, Stem, StemBuffers, bias_of, pool};
use super::unit::TileUnit;
use super::with_unit;
use crate::kernel::{GROUP, Unit};
use crate::weights::{Convolution, Weights};
use latrunculi_data::{Answers, PositionBatch};

#[derive(Debug)]
struct Packed {
    tiles: Tiles,
    /// `[16 N]`
    bias: Vec<f32>,
}

impl Packed {
    fn new(convolution: &Convolution) -> Packed {
        let (blocks, outputs) = (convolution.inputs.div_ceil(32), convolution.outputs.div_ceil(16));
        let tiles = Tiles::bf16(blocks, outputs, 9, |output, tap, input| convolution.at(output, tap, input));
        Packed { tiles, bias: bias_of(&convolution.bias, outputs) }
    }
}

#[derive(Debug)]
struct Block {
    first: Packed,
    second: Packed,
    pooling: Option<GlobalBias>,
}

#[derive(Debug)]
pub(crate) struct Network {
    unit: Unit,
    shape: Shape,
    /// `K`
    blocks_of_channels: usize,
    stem: Stem,
    blocks: Vec<Block>,
    reader: Reader,
}

#[derive(Debug)]
pub(crate) struct Buffers {
    stem: StemBuffers,
    /// `[A][K]` tiles: the trunk, the inner activations.
    trunk: Aligned<u16>,
    inner: Aligned<u16>,
    pooled: Pooled,
    scratch: Scratch,
    reader: ReaderBuffers,
}

impl Network {
    pub(crate) fn new(weights: &Weights, unit: Unit) -> Network {
        let channels = weights.config.channels;
        let (blocks, outputs) = (channels.div_ceil(32), channels.div_ceil(16));
        let block = |block: &crate::weights::Block| Block {
            first: Packed::new(&block.first),
            second: Packed::new(&block.second),
            pooling: block.pooling.as_ref().map(|linear| GlobalBias::new(linear, blocks, outputs)),
        };
        Network {
            unit,
            shape: weights.shape,
            blocks_of_channels: blocks,
            stem: Stem::new(weights),
            blocks: weights.blocks.iter().map(block).collect(),
            reader: Reader::new(weights),
        }
    }

    pub(crate) fn buffers(&self) -> Buffers {
        let (area, blocks) = (self.shape.area(), self.blocks_of_channels);
        Buffers {
            stem: self.stem.buffers(area),
            trunk: Aligned::zeros(area * blocks * BF16S),
            inner: Aligned::zeros(area * blocks * BF16S),
            pooled: Pooled::new(blocks),
            scratch: Scratch::new(),
            reader: self.reader.buffers(),
        }
    }

    /// Answers a batch that was checked.
    pub(crate) fn answer(&self, batch: &PositionBatch, buffers: &mut Buffers, answers: &mut Answers) {
        // SAFETY: `with_unit` makes a unit that this processor and system have.
        with_unit!(self.unit, unit => unsafe { self.answer_on(unit, batch, buffers, answers) })
    }

    /// As [`Network::answer`].
    /// Safety: the processor has the unit.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn answer_on<U: TileUnit>(
        &self,
        unit: &mut U,
        batch: &PositionBatch,
        buffers: &mut Buffers,
        answers: &mut Answers,
    ) {
        for first in (0..batch.len()).step_by(GROUP) {
            self.stem.fill(&self.shape, batch, first, &mut buffers.stem);
            // SAFETY: contract of this function.
            unsafe {
                self.forward(unit, buffers, &mut |_, _| ());
                self.reader.answer(unit, &buffers.trunk, batch, first, &mut buffers.reader, answers);
            }
        }
    }

    /// Computes the trunk of all positions and shows `visit` each board of activations that are not negative, with its
    /// number (0: behind the stem; then for each block the inner activations and the output) and the rows of positions.
    pub(super) fn observe(&self, batch: &PositionBatch, mut visit: impl FnMut(usize, &[u16], usize)) {
        let mut buffers = self.buffers();
        // SAFETY: as in `answer`.
        with_unit!(self.unit, unit => unsafe { self.observe_on(unit, batch, &mut buffers, &mut visit) })
    }

    /// As [`Network::observe`].
    /// Safety: the processor has the unit.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn observe_on<U: TileUnit>(
        &self,
        unit: &mut U,
        batch: &PositionBatch,
        buffers: &mut Buffers,
        visit: &mut impl FnMut(usize, &[u16], usize),
    ) {
        for first in (0..batch.len()).step_by(GROUP) {
            self.stem.fill(&self.shape, batch, first, &mut buffers.stem);
            let rows = (batch.len() - first).min(GROUP);
            // SAFETY: contract of this function.
            unsafe { self.forward(unit, buffers, &mut |index, tiles| visit(index, tiles, rows)) };
        }
    }

    /// Computes the trunk of a group; `visit` as in [`Network::observe`].
    /// Safety: the processor has the unit.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn forward<U: TileUnit>(&self, unit: &mut U, buffers: &mut Buffers, visit: &mut impl FnMut(usize, &[u16])) {
        let Buffers { stem, trunk, inner, pooled, scratch, .. } = buffers;
        let bias = Bias::PerPosition(&stem.bias);
        // SAFETY: contract of this function, here and below.
        unsafe { self.convolve::<U, RECTIFY>(unit, &stem.input, trunk, &self.stem.tiles, bias, scratch) };
        visit(0, trunk);
        for (index, block) in self.blocks.iter().enumerate() {
            let bias = Bias::Shared(&block.first.bias);
            unsafe { self.convolve::<U, RECTIFY>(unit, trunk, inner, &block.first.tiles, bias, scratch) };
            visit(2 * index + 1, inner);
            let mut bias = Bias::Shared(&block.second.bias);
            if let Some(weights) = &block.pooling {
                pool(inner, self.blocks_of_channels, &mut pooled.means, Some(&mut pooled.maxima));
                unsafe { pooled.global_bias(unit, weights, &block.second.bias) };
                bias = Bias::PerPosition(&pooled.bias);
            }
            unsafe { self.convolve::<U, ADD>(unit, inner, trunk, &block.second.tiles, bias, scratch) };
            visit(2 * index + 2, trunk);
        }
    }

    /// As [`convolve`], where what is added stands in the output.
    /// Safety: the processor has the unit.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn convolve<U: TileUnit, const MODE: u8>(
        &self,
        unit: &mut U,
        input: &[u16],
        output: &mut [u16],
        weights: &Tiles,
        bias: Bias<'_>,
        scratch: &mut Scratch,
    ) {
        // SAFETY: contract of this function.
        unsafe { convolve::<U, MODE>(unit, &self.shape, input, output, None, weights, bias, scratch) }
    }
}

/// Convolves a board, `[A][blocks of inputs]` tiles, into another. `other`, of the size of the output, is what the mode
/// reads; without it the output itself.
/// Safety: the processor has the unit.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
#[allow(clippy::too_many_arguments)]
pub(super) unsafe fn convolve<U: TileUnit, const MODE: u8>(
    unit: &mut U,
    shape: &Shape,
    input: &[u16],
    output: &mut [u16],
    other: Option<&[u16]>,
    weights: &Tiles,
    bias: Bias<'_>,
    scratch: &mut Scratch,
) {
    let pairs = weights.outputs.div_ceil(2);
    let len = shape.area() * pairs * BF16S;
    assert!(output.len() >= len, "an output tile for each square and pair");
    assert!(other.is_none_or(|other| other.len() >= len), "a tile for each of the output");
    let output = output.as_mut_ptr();
    let other = other.map_or(output.cast_const(), <[u16]>::as_ptr);
    let finish = |strip: Strip| {
        let place = (strip.square * pairs + strip.output / 2) * BF16S + strip.output % 2 * 16;
        Bf16Epilogue::<MODE> {
            sums: strip.sums,
            output: output.wrapping_add(place),
            other: other.wrapping_add(place),
            left: strip.width * GROUP,
            skip: (pairs - 1) * BF16S,
        }
    };
    let board = [shape.files, shape.ranks];
    // SAFETY: `u16` has no padding and any bytes are read as bytes.
    let input = unsafe { std::slice::from_raw_parts(input.as_ptr().cast::<u8>(), 2 * input.len()) };
    // SAFETY: contract of this function; the epilogue reads the strip's sums and reads and writes tiles of `output` and
    // `other`, which have them (assertions) and nobody else writes meanwhile.
    unsafe { super::convolution::convolve::<Bf16, _, _>(unit, board, input, weights, bias, scratch, finish) }
}

/// Replaces what is negative by 0.
pub(super) const RECTIFY: u8 = 0;
/// Adds `other`, then replaces what is negative by 0.
pub(super) const ADD: u8 = 1;
/// Replaces by 0 where `other` is 0.
pub(super) const MASK: u8 = 2;
/// Adds what stands in the output, then replaces by 0 where `other` is 0.
pub(super) const ADD_MASK: u8 = 3;

/// Rounds sums to bfloat16.
struct Bf16Epilogue<const MODE: u8> {
    sums: *const f32,
    output: *mut u16,
    other: *const u16,
    left: usize,
    /// Elements between the tiles of one square and the next.
    skip: usize,
}

impl<const MODE: u8> Epilogue for Bf16Epilogue<MODE> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn two_rows(&mut self) {
        for _ in 0..2 {
            // SAFETY: contract of this function: 16 sums and 16 numbers of `other` can be read and 16 outputs read and
            // written. A vector of bfloat16 is one of 256 bits.
            unsafe {
                let mut sum = _mm512_load_ps(self.sums);
                if MODE == ADD || MODE == ADD_MASK {
                    let added = if MODE == ADD { self.other } else { self.output.cast_const() };
                    let bits = _mm512_cvtepu16_epi32(_mm256_load_si256(added.cast()));
                    sum = _mm512_add_ps(sum, _mm512_castsi512_ps(_mm512_slli_epi32::<16>(bits)));
                }
                let mut rounded: __m256i = std::mem::transmute(_mm512_cvtneps_pbh(sum));
                if MODE == RECTIFY || MODE == ADD {
                    // Negative floats are negative as integers, too.
                    rounded = _mm256_max_epi16(rounded, _mm256_setzero_si256());
                }
                if MODE == MASK || MODE == ADD_MASK {
                    let mask = _mm256_load_si256(self.other.cast());
                    rounded = _mm256_maskz_mov_epi16(_mm256_test_epi16_mask(mask, mask), rounded);
                }
                _mm256_store_si256(self.output.cast(), rounded);
            }
            self.sums = self.sums.wrapping_add(16);
            self.output = self.output.wrapping_add(32);
            self.other = self.other.wrapping_add(32);
        }
        self.left -= 2;
        if self.left.is_multiple_of(GROUP) {
            self.output = self.output.wrapping_add(self.skip);
            self.other = self.other.wrapping_add(self.skip);
        }
    }

    #[inline(always)]
    fn left(&self) -> usize {
        self.left
    }
}
