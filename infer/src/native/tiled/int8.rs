//! The kernel of 8-bit integers: unsigned activations with one scale per tensor, signed weights with one scale per output
//! channel, sums of 32 bits; residual sums in 16-bit floats; stem, pooling and heads in bfloat16 and `f32`.
//! Legend: `A` squares, `Q` blocks of 64 channels, `K` blocks of 32, `N` tiles of 16. An activation is `u8 * scale`.

use std::arch::x86_64::*;

use latrunculi_data::Shape;

use super::aligned::{Aligned, TILE};
use super::bf16;
use super::convolution::{Bf16, Bias, Epilogue, Int8, Scratch, Strip, Tiles, convolve};
use super::parts::{BF16S, GlobalBias, Pooled, Reader, ReaderBuffers, Stem, StemBuffers, bias_of};
use super::unit::TileUnit;
use super::with_unit;
use crate::kernel::{GROUP, Unit};
use crate::native::lanes::LANES;
use crate::weights::{Convolution, Weights};
use latrunculi_data::{Answers, PositionBatch};

/// A convolution from one scale of activations to another or to residual sums.
#[derive(Debug)]
struct Packed {
    tiles: Tiles,
    /// `[32 ceil(N/2)]`: what a sum is multiplied by.
    scale: Vec<f32>,
    /// `[32 ceil(N/2)]`: what is added then.
    bias: Vec<f32>,
}

impl Packed {
    /// Rounds weights to 8 bits. `input` is the scale of the activations that are read, `output` of those that are
    /// written (1 for residual sums).
    fn new(convolution: &Convolution, input: f32, output: f32) -> Packed {
        let (blocks, outputs) = (convolution.inputs.div_ceil(64), convolution.outputs.div_ceil(16));
        let len = outputs.next_multiple_of(2) * LANES;
        let mut steps = vec![0.0_f32; len];
        for (step, row) in steps.iter_mut().zip(convolution.weight.chunks_exact(9 * convolution.inputs)) {
            *step = row.iter().fold(0.0_f32, |most, weight| most.max(weight.abs())) / 127.0;
        }
        let tiles = Tiles::int8(blocks, outputs, 9, |output, tap, input| {
            let weight = convolution.at(output, tap, input);
            // The cast saturates; 0 divided by 0 becomes 0.
            (weight / steps[output]).round() as i8
        });
        let scale = steps.iter().map(|step| step * input / output).collect();
        let bias = convolution.bias.iter().map(|bias| bias / output).collect::<Vec<f32>>();
        Packed { tiles, scale, bias: crate::portable::padded(&bias, len) }
    }
}

#[derive(Debug)]
struct Block {
    first: Packed,
    second: Packed,
    /// The bias of the second convolution in tiles of 16, for pooling.
    bias: Vec<f32>,
    pooling: Option<GlobalBias>,
    /// Scale of the inner activations.
    inner: f32,
    /// Scale of the block's output; that of the last block is not used.
    output: f32,
}

#[derive(Debug)]
pub(crate) struct Network {
    unit: Unit,
    shape: Shape,
    /// `K`, `Q`
    halves: usize,
    quads: usize,
    stem: Stem,
    /// Scale of the trunk before the first block.
    input: f32,
    blocks: Vec<Block>,
    reader: Reader,
}

#[derive(Debug)]
pub(crate) struct Buffers {
    stem: StemBuffers,
    /// `[A][K]` tiles of 16-bit floats: the residual sums.
    sums: Aligned<u16>,
    /// `[A][Q]` tiles of 8 bits: the trunk and the inner activations.
    trunk: Aligned<u8>,
    inner: Aligned<u8>,
    /// `[A][K]` tiles of bfloat16: the trunk for the heads.
    wide: Aligned<u16>,
    pooled: Pooled,
    scratch: Scratch,
    reader: ReaderBuffers,
}

/// How often each activation occurs in calibration, by the upper 15 bits of its bfloat16.
struct Histogram(Vec<u64>);

impl Histogram {
    fn new() -> Histogram {
        Histogram(vec![0; 1 << 15])
    }

    /// Counts the first `rows` rows of tiles of bfloat16 that are not negative.
    fn add(&mut self, tiles: &[u16], rows: usize) {
        for tile in tiles.chunks_exact(BF16S) {
            for &bits in &tile[..rows * 32] {
                self.0[usize::from(bits & 0x7fff)] += 1;
            }
        }
    }

    /// Returns the scale with the least mean square error of rounding and cutting off.
    fn scale(&self) -> f32 {
        let value = |bits: usize| f32::from_bits((bits as u32) << 16);
        let Some(greatest) = self.0.iter().rposition(|&count| count > 0).filter(|&bits| bits > 0) else {
            return 1.0;
        };
        let error = |scale: f32| -> f64 {
            let one = |(bits, &count): (usize, &u64)| {
                let value = value(bits);
                let found = (value / scale).round_ties_even().min(255.0) * scale;
                f64::from(value - found).powi(2) * count as f64
            };
            self.0.iter().enumerate().filter(|(_, count)| **count > 0).map(one).sum()
        };
        let scales = (0..40).map(|step| value(greatest) / 255.0 * 0.95_f32.powi(step));
        let scales = scales.map(|scale| (error(scale), scale));
        scales.min_by(|left, right| left.0.total_cmp(&right.0)).map_or(1.0, |(_, scale)| scale)
    }
}

impl Network {
    /// Arranges the weights; `calibration` are positions like those that will be asked for.
    pub(crate) fn new(weights: &Weights, calibration: &PositionBatch, unit: Unit) -> Network {
        let exact = bf16::Network::new(weights, unit);
        // The trunk before the first block, then inner activations and output of each block.
        let mut histograms: Vec<Histogram> = (0..=2 * weights.blocks.len()).map(|_| Histogram::new()).collect();
        exact.observe(calibration, |index, tiles, rows| histograms[index].add(tiles, rows));
        let scales: Vec<f32> = histograms.iter().map(Histogram::scale).collect();
        let channels = weights.config.channels;
        let (halves, outputs) = (channels.div_ceil(32), channels.div_ceil(16));
        let block = |(index, block): (usize, &crate::weights::Block)| {
            let (input, inner, output) = (scales[2 * index], scales[2 * index + 1], scales[2 * index + 2]);
            Block {
                first: Packed::new(&block.first, input, inner),
                second: Packed::new(&block.second, inner, 1.0),
                bias: bias_of(&block.second.bias, outputs),
                pooling: block.pooling.as_ref().map(|linear| GlobalBias::new(linear, halves, outputs)),
                inner,
                output,
            }
        };
        Network {
            unit,
            shape: weights.shape,
            halves,
            quads: channels.div_ceil(64),
            stem: Stem::new(weights),
            input: scales[0],
            blocks: weights.blocks.iter().enumerate().map(block).collect(),
            reader: Reader::new(weights),
        }
    }

    pub(crate) fn buffers(&self) -> Buffers {
        let area = self.shape.area();
        Buffers {
            stem: self.stem.buffers(area),
            sums: Aligned::zeros(area * self.halves * BF16S),
            trunk: Aligned::zeros(area * self.quads * TILE),
            inner: Aligned::zeros(area * self.quads * TILE),
            wide: Aligned::zeros(area * self.halves * BF16S),
            pooled: Pooled::new(self.halves),
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
                self.forward(unit, buffers);
                self.reader.answer(unit, &buffers.wide, batch, first, &mut buffers.reader, answers);
            }
        }
    }

    /// Computes the trunk of a group.
    /// Safety: the processor has the unit.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn forward<U: TileUnit>(&self, unit: &mut U, buffers: &mut Buffers) {
        let Buffers { stem, sums, trunk, inner, wide, pooled, scratch, .. } = buffers;
        let (area, pairs, quads) = (self.shape.area(), self.halves, self.quads);
        let board = [self.shape.files, self.shape.ranks];
        for (tiles, blocks) in [(sums.len(), pairs * BF16S), (wide.len(), pairs * BF16S), (trunk.len(), quads * TILE)] {
            assert!(tiles >= area * blocks, "a tile for each square and block");
        }
        assert!(inner.len() >= area * quads * TILE, "a tile for each square and block");

        // The channels of an output tile are half a row of a tile of 16 bits, and a quarter of one of 8.
        let wide_at = |base: *mut u16, strip: &Strip| {
            base.wrapping_add((strip.square * pairs + strip.output / 2) * BF16S + strip.output % 2 * 16)
        };
        let narrow_at = |base: *mut u8, strip: &Strip| {
            base.wrapping_add((strip.square * quads + strip.output / 4) * TILE + strip.output % 4 * 16)
        };
        let (wide_skip, narrow_skip) = ((pairs - 1) * BF16S, (quads - 1) * TILE);
        let bias = Bias::PerPosition(&stem.bias);
        // Pointers are taken anew for each convolution: those to a board do not outlive its being read.
        let (to_sums, to_trunk) = (sums.as_mut_ptr(), trunk.as_mut_ptr());
        let finish = |strip: Strip| StemEpilogue {
            sums: strip.sums,
            residual: wide_at(to_sums, &strip),
            output: narrow_at(to_trunk, &strip),
            factor: _mm512_set1_ps(1.0 / self.input),
            left: strip.width * GROUP,
            wide_skip,
            narrow_skip,
        };
        // SAFETY: contract of this function, here and below. An epilogue reads the sums of its strip and writes its
        // squares' tiles of boards that have one for each square and block (assertions), and which the convolution does
        // not read.
        unsafe { convolve::<Bf16, _, _>(unit, board, stem.input.bytes(), &self.stem.tiles, bias, scratch, finish) };
        for (index, block) in self.blocks.iter().enumerate() {
            let is_last = index + 1 == self.blocks.len();
            let to_inner = inner.as_mut_ptr();
            let finish = |strip: Strip| InnerEpilogue {
                sums: strip.sums.cast(),
                output: narrow_at(to_inner, &strip),
                scale: sixteen(&block.first.scale, strip.output),
                bias: sixteen(&block.first.bias, strip.output),
                left: strip.width * GROUP,
                skip: narrow_skip,
            };
            unsafe {
                convolve::<Int8, _, _>(unit, board, trunk, &block.first.tiles, Bias::InEpilogue, scratch, finish)
            };
            let mut bias = Bias::Shared(&block.second.bias);
            if let Some(weights) = &block.pooling {
                pool_narrow(inner, quads, pairs, block.inner, &mut pooled.means, &mut pooled.maxima);
                unsafe { pooled.global_bias(unit, weights, &block.bias) };
                bias = Bias::PerPosition(&pooled.bias);
            }
            let (to_sums, to_trunk, to_wide) = (sums.as_mut_ptr(), trunk.as_mut_ptr(), wide.as_mut_ptr());
            let finish = |strip: Strip| OuterEpilogue::<false> {
                sums: strip.sums.cast(),
                residual: wide_at(to_sums, &strip),
                narrow: narrow_at(to_trunk, &strip),
                wide: wide_at(to_wide, &strip),
                scale: sixteen(&block.second.scale, strip.output),
                bias: bias.rows(strip.output),
                factor: _mm512_set1_ps(1.0 / block.output),
                left: strip.width * GROUP,
                wide_skip,
                narrow_skip,
            };
            let tiles = &block.second.tiles;
            if is_last {
                let last = |strip: Strip| finish(strip).of_last();
                unsafe { convolve::<Int8, _, _>(unit, board, inner, tiles, Bias::InEpilogue, scratch, last) };
            } else {
                unsafe { convolve::<Int8, _, _>(unit, board, inner, tiles, Bias::InEpilogue, scratch, finish) };
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn sixteen(values: &[f32], output: usize) -> __m512 {
    let values = &values[output * LANES..][..LANES];
    // SAFETY: `values` has 16 floats.
    unsafe { _mm512_loadu_ps(values.as_ptr()) }
}

/// Rounds sixteen numbers that are not negative to 8 bits; what is greater becomes 255.
/// Safety: sixteen bytes can be written.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store_u8(output: *mut u8, values: __m512) {
    // SAFETY: contract of this function.
    unsafe { _mm_storeu_si128(output.cast(), _mm512_cvtusepi32_epi8(_mm512_cvtps_epu32(values))) };
}

/// Writes the means and the maxima over the board as `[16 positions][32 K] f32`; `activations` are `[A][Q]` tiles.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
fn pool_narrow(activations: &[u8], quads: usize, pairs: usize, scale: f32, means: &mut [f32], maxima: &mut [f32]) {
    const ROWS: usize = 4;
    let area = activations.len() / (quads * TILE);
    let (of_sum, of_one) = (_mm512_set1_ps(scale / area as f32), _mm512_set1_ps(scale));
    for quad in 0..quads {
        for row in (0..GROUP).step_by(ROWS) {
            // At most 256 squares of at most 255 each: a sum fits into 16 bits.
            let mut sums = [[_mm512_setzero_si512(); 2]; ROWS];
            let mut greatest = [_mm512_setzero_si512(); ROWS];
            for square in 0..area {
                let rows = &activations[(square * quads + quad) * TILE + row * 64..][..ROWS * 64];
                for index in 0..ROWS {
                    // SAFETY: `rows` has 64 bytes for each index.
                    let values = unsafe { _mm512_loadu_epi8(rows.as_ptr().wrapping_add(index * 64).cast()) };
                    let low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(values));
                    let high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64::<1>(values));
                    sums[index][0] = _mm512_add_epi16(sums[index][0], low);
                    sums[index][1] = _mm512_add_epi16(sums[index][1], high);
                    greatest[index] = _mm512_max_epu8(greatest[index], values);
                }
            }
            for index in 0..ROWS {
                let (mut of_sums, mut of_maxima) = ([0_u16; 64], [0_u8; 64]);
                // SAFETY: the arrays have 64 elements.
                unsafe {
                    _mm512_storeu_epi16(of_sums.as_mut_ptr().cast(), sums[index][0]);
                    _mm512_storeu_epi16(of_sums.as_mut_ptr().wrapping_add(32).cast(), sums[index][1]);
                    _mm512_storeu_epi8(of_maxima.as_mut_ptr().cast(), greatest[index]);
                }
                for part in 0..((pairs - 2 * quad) * 2).min(4) {
                    let begin = (row + index) * pairs * 32 + quad * 64 + part * 16;
                    let (means, maxima) = (&mut means[begin..begin + 16], &mut maxima[begin..begin + 16]);
                    // SAFETY: each slice has sixteen elements.
                    unsafe {
                        let sums = _mm256_loadu_si256(of_sums[part * 16..][..16].as_ptr().cast());
                        let sums = _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(sums));
                        _mm512_storeu_ps(means.as_mut_ptr(), _mm512_mul_ps(sums, of_sum));
                        let greatest = _mm_loadu_si128(of_maxima[part * 16..][..16].as_ptr().cast());
                        let greatest = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(greatest));
                        _mm512_storeu_ps(maxima.as_mut_ptr(), _mm512_mul_ps(greatest, of_one));
                    }
                }
            }
        }
    }
}

/// Writes the stem: residual sums and 8 bits.
struct StemEpilogue {
    sums: *const f32,
    residual: *mut u16,
    output: *mut u8,
    /// One divided by the scale.
    factor: __m512,
    left: usize,
    wide_skip: usize,
    narrow_skip: usize,
}

impl Epilogue for StemEpilogue {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn two_rows(&mut self) {
        for _ in 0..2 {
            // SAFETY: contract of this function: sixteen sums can be read, and sixteen of each output written.
            unsafe {
                let sum = _mm512_max_ps(_mm512_load_ps(self.sums), _mm512_setzero_ps());
                _mm256_store_si256(self.residual.cast(), _mm512_cvtps_ph::<0>(sum));
                store_u8(self.output, _mm512_mul_ps(sum, self.factor));
            }
            self.sums = self.sums.wrapping_add(16);
            self.residual = self.residual.wrapping_add(32);
            self.output = self.output.wrapping_add(64);
        }
        self.left -= 2;
        if self.left.is_multiple_of(GROUP) {
            self.residual = self.residual.wrapping_add(self.wide_skip);
            self.output = self.output.wrapping_add(self.narrow_skip);
        }
    }

    #[inline(always)]
    fn left(&self) -> usize {
        self.left
    }
}

/// Writes inner activations in 8 bits.
struct InnerEpilogue {
    sums: *const i32,
    output: *mut u8,
    scale: __m512,
    bias: __m512,
    left: usize,
    skip: usize,
}

impl Epilogue for InnerEpilogue {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn two_rows(&mut self) {
        for _ in 0..2 {
            // SAFETY: contract of this function: sixteen sums can be read and sixteen outputs written.
            unsafe {
                let sum = _mm512_cvtepi32_ps(_mm512_load_si512(self.sums.cast()));
                let value = _mm512_fmadd_ps(sum, self.scale, self.bias);
                store_u8(self.output, _mm512_max_ps(value, _mm512_setzero_ps()));
            }
            self.sums = self.sums.wrapping_add(16);
            self.output = self.output.wrapping_add(64);
        }
        self.left -= 2;
        if self.left.is_multiple_of(GROUP) {
            self.output = self.output.wrapping_add(self.skip);
        }
    }

    #[inline(always)]
    fn left(&self) -> usize {
        self.left
    }
}

/// Adds to the residual sums and writes the trunk: in 8 bits, or of the last block in bfloat16.
struct OuterEpilogue<const IS_LAST: bool> {
    sums: *const i32,
    residual: *mut u16,
    narrow: *mut u8,
    wide: *mut u16,
    scale: __m512,
    /// The biases of the first position, and the elements from one position's to the next's.
    bias: (*const f32, usize),
    factor: __m512,
    left: usize,
    wide_skip: usize,
    narrow_skip: usize,
}

impl OuterEpilogue<false> {
    fn of_last(self) -> OuterEpilogue<true> {
        let OuterEpilogue { sums, residual, narrow, wide, scale, bias, factor, left, wide_skip, narrow_skip } = self;
        OuterEpilogue { sums, residual, narrow, wide, scale, bias, factor, left, wide_skip, narrow_skip }
    }
}

impl<const IS_LAST: bool> Epilogue for OuterEpilogue<IS_LAST> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn two_rows(&mut self) {
        for index in 0..2 {
            let row = (GROUP - self.left % GROUP) % GROUP + index;
            // SAFETY: contract of this function: sixteen sums, residual sums and biases can be read, and sixteen of
            // each output written.
            unsafe {
                let bias = _mm512_loadu_ps(self.bias.0.wrapping_add(row * self.bias.1));
                let sum = _mm512_cvtepi32_ps(_mm512_load_si512(self.sums.cast()));
                let value = _mm512_fmadd_ps(sum, self.scale, bias);
                let value = _mm512_add_ps(value, _mm512_cvtph_ps(_mm256_load_si256(self.residual.cast())));
                let value = _mm512_max_ps(value, _mm512_setzero_ps());
                _mm256_store_si256(self.residual.cast(), _mm512_cvtps_ph::<0>(value));
                if IS_LAST {
                    let rounded: __m256i = std::mem::transmute(_mm512_cvtneps_pbh(value));
                    _mm256_store_si256(self.wide.cast(), rounded);
                } else {
                    store_u8(self.narrow, _mm512_mul_ps(value, self.factor));
                }
            }
            self.sums = self.sums.wrapping_add(16);
            self.residual = self.residual.wrapping_add(32);
            self.wide = self.wide.wrapping_add(32);
            self.narrow = self.narrow.wrapping_add(64);
        }
        self.left -= 2;
        if self.left.is_multiple_of(GROUP) {
            self.residual = self.residual.wrapping_add(self.wide_skip);
            self.wide = self.wide.wrapping_add(self.wide_skip);
            self.narrow = self.narrow.wrapping_add(self.narrow_skip);
        }
    }

    #[inline(always)]
    fn left(&self) -> usize {
        self.left
    }
}
