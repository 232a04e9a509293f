//! 3x3 convolutions over tiles, strip by strip: up to four neighbouring squares of a rank with sixteen output channels. What is
//! done with finished sums (an [`Epilogue`]) may be done together with the products of the next strip.

use std::arch::x86_64::*;

use super::aligned::{Aligned, TILE};
use super::unit::TileUnit;

/// Squares of a strip at most.
const STRIP: usize = 4;
/// Sums of a tile.
pub(super) const SUMS: usize = 256;

/// Which products are summed.
pub(super) trait Arithmetic {
    /// Whether sums begin with the bias, else with zeros, and the epilogue adds it ([`Bias::InEpilogue`]).
    const BEGINS_WITH_BIAS: bool;

    /// Adds the product of tiles `A` and `B` to the sums `C`.
    /// Safety: as [`TileUnit::multiply_bf16`].
    unsafe fn multiply<U: TileUnit, const C: usize, const A: usize, const B: usize>(unit: &mut U);

    /// Adds to sixteen sums the products of four bytes of each lane of `a` and of `b`.
    /// Safety: the processor has AVX-512 with products of bfloat16 and of 8-bit integers.
    unsafe fn add_product(sums: __m512i, a: __m512i, b: __m512i) -> __m512i;
}

/// bfloat16 times bfloat16, summed in `f32`.
pub(super) struct Bf16;

impl Arithmetic for Bf16 {
    const BEGINS_WITH_BIAS: bool = true;

    #[inline(always)]
    unsafe fn multiply<U: TileUnit, const C: usize, const A: usize, const B: usize>(unit: &mut U) {
        // SAFETY: contract of this function.
        unsafe { unit.multiply_bf16::<C, A, B>() }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn add_product(sums: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: a vector of bfloat16 is one of 512 bits.
        let [a, b] = unsafe { [a, b].map(|factor| std::mem::transmute::<__m512i, __m512bh>(factor)) };
        _mm512_castps_si512(_mm512_dpbf16_ps(_mm512_castsi512_ps(sums), a, b))
    }
}

/// u8 times i8, summed in `i32`.
pub(super) struct Int8;

impl Arithmetic for Int8 {
    const BEGINS_WITH_BIAS: bool = false;

    #[inline(always)]
    unsafe fn multiply<U: TileUnit, const C: usize, const A: usize, const B: usize>(unit: &mut U) {
        // SAFETY: contract of this function.
        unsafe { unit.multiply_u8_i8::<C, A, B>() }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn add_product(sums: __m512i, a: __m512i, b: __m512i) -> __m512i {
        _mm512_dpbusd_epi32(sums, a, b)
    }
}

/// What is done with the finished sums of a strip.
pub(super) trait Epilogue {
    /// Does the next two rows (two positions of one square, 16 channels).
    /// Safety: rows are left, the pointers it was made of can still be read and written, and the processor has AVX-512 with
    /// bfloat16.
    unsafe fn two_rows(&mut self);

    /// Returns how many rows are left; even.
    fn left(&self) -> usize;
}

/// Where an epilogue finds the sums of its strip.
#[derive(Clone, Copy)]
pub(super) struct Strip {
    pub(super) square: usize,
    pub(super) width: usize,
    /// Which 16 output channels.
    pub(super) output: usize,
    /// `[width][16 positions][16 channels]`
    pub(super) sums: *const f32,
}

/// The sums of two strips.
#[derive(Clone, Debug)]
pub(super) struct Scratch(Aligned<f32>);

impl Scratch {
    pub(super) fn new() -> Scratch {
        Scratch(Aligned::zeros(2 * STRIP * SUMS))
    }
}

/// Weights of a convolution as tiles: `[tile of 16 outputs][rank of the tap][block of inputs][file of the tap]`.
#[derive(Clone, Debug)]
pub(super) struct Tiles {
    /// Blocks of inputs: 32 in bfloat16, 64 in 8 bits.
    pub(super) blocks: usize,
    /// Tiles of 16 outputs.
    pub(super) outputs: usize,
    /// Elements of a tile: 512 or 1,024.
    bytes: Aligned<u8>,
}

impl Tiles {
    pub(super) fn new(blocks: usize, outputs: usize, taps: usize) -> Tiles {
        Tiles { blocks, outputs, bytes: Aligned::zeros(blocks * outputs * taps * TILE) }
    }

    /// Writes bfloat16 weights: `at(output, tap, input)`.
    pub(super) fn bf16(blocks: usize, outputs: usize, taps: usize, at: impl Fn(usize, usize, usize) -> f32) -> Tiles {
        let mut tiles = Tiles::new(blocks, outputs, taps);
        tiles.fill(taps, 32, |output, tap, input| super::bf16(at(output, tap, input)).to_le_bytes());
        tiles
    }

    /// Writes 8-bit weights: `at(output, tap, input)`.
    pub(super) fn int8(blocks: usize, outputs: usize, taps: usize, at: impl Fn(usize, usize, usize) -> i8) -> Tiles {
        let mut tiles = Tiles::new(blocks, outputs, taps);
        tiles.fill(taps, 64, |output, tap, input| at(output, tap, input).to_le_bytes());
        tiles
    }

    /// Writes all elements: a tile has sixteen rows of as many inputs as four bytes hold, for each of 16 outputs.
    fn fill<const N: usize>(&mut self, taps: usize, inputs: usize, at: impl Fn(usize, usize, usize) -> [u8; N]) {
        let (blocks, outputs) = (self.blocks, self.outputs);
        let files = if taps == 9 { 3 } else { 1 };
        let mut place = 0;
        for output in 0..outputs {
            for rank in 0..taps / files {
                for block in 0..blocks {
                    for file in 0..files {
                        for row in 0..16 {
                            for column in 0..16 {
                                for part in 0..4 / N {
                                    let input = block * inputs + row * (4 / N) + part;
                                    let bytes = at(output * 16 + column, rank * files + file, input);
                                    self.bytes[place..place + N].copy_from_slice(&bytes);
                                    place += N;
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    pub(super) fn tile_mut(&mut self, index: usize) -> &mut [u8] {
        &mut self.bytes[index * TILE..][..TILE]
    }

    pub(super) fn as_ptr(&self) -> *const u8 {
        self.bytes.as_ptr()
    }
}

/// A bias for sixteen positions, by tiles of 16 outputs.
#[derive(Clone, Copy)]
pub(super) enum Bias<'a> {
    /// `[outputs][16 channels]`, the same for all positions.
    Shared(&'a [f32]),
    /// `[outputs][16 positions][16 channels]`
    PerPosition(&'a [f32]),
    /// The epilogue adds it.
    InEpilogue,
}

impl Bias<'_> {
    /// Returns the bias of an output tile and the bytes from one position's to the next's.
    fn of(&self, output: usize) -> (*const f32, usize) {
        match self {
            Bias::Shared(values) => (values[output * 16..][..16].as_ptr(), 0),
            Bias::PerPosition(values) => (values[output * SUMS..][..SUMS].as_ptr(), 64),
            Bias::InEpilogue => (std::ptr::null(), 0),
        }
    }

    /// Returns the biases of an output tile for the first position, and the numbers from there to the next's.
    /// Panics when there are none.
    pub(super) fn rows(&self, output: usize) -> (*const f32, usize) {
        assert!(!matches!(self, Bias::InEpilogue), "a bias is given");
        let (first, stride) = self.of(output);
        (first, stride / 4)
    }
}

/// Convolves `input`, `[square][blocks of inputs]` tiles of a board of `files` times `ranks` squares. `finish` makes the
/// epilogue of each strip.
/// Safety: the processor has the unit, and what `finish` makes may be run until this function returns. Panics when `input` or
/// `weights` are too short.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
pub(super) unsafe fn convolve<A: Arithmetic, U: TileUnit, E: Epilogue>(
    unit: &mut U,
    [files, ranks]: [usize; 2],
    input: &[u8],
    weights: &Tiles,
    bias: Bias<'_>,
    scratch: &mut Scratch,
    finish: impl Fn(Strip) -> E,
) {
    let blocks = weights.blocks;
    assert!(input.len() >= files * ranks * blocks * TILE, "an input tile for each square and block");
    assert!(weights.bytes.len() >= weights.outputs * 9 * blocks * TILE, "nine tiles for each output and block");
    let scratch = scratch.0.as_mut_ptr();
    let mut pending: Option<E> = None;
    let mut turn = 0;
    let columns = files.div_ceil(STRIP);
    for output in 0..weights.outputs {
        let (bias, bias_stride) = bias.of(output);
        let mut file = 0;
        for column in 0..columns {
            // No strip is much shorter than the others: 9 squares are 3, 3 and 3.
            let width = (files - file).div_ceil(columns - column);
            for rank in 0..ranks {
                let square = rank * files + file;
                let sums = scratch.wrapping_add(turn * STRIP * SUMS);
                let block = StripInput {
                    input: input[square * blocks * TILE..].as_ptr(),
                    weights: weights.as_ptr().wrapping_add(output * 9 * blocks * TILE),
                    blocks,
                    rank_bytes: files * blocks * TILE,
                    taps: [if rank == 0 { 1 } else { 0 }, if rank == ranks - 1 { 2 } else { 3 }],
                    has_left: file > 0,
                    has_right: file + width < files,
                    bias,
                    bias_stride,
                    sums,
                };
                // SAFETY: the block's squares and their neighbours lie on the board, so the input tiles lie within
                // `input` (first assertion); the weight tiles within `weights` (second); the sums in `scratch`, whose
                // part of this turn no pending epilogue reads: that of the turn before is finished first.
                unsafe {
                    match width {
                        1 => unit.strip::<A, E, 1>(&block, &mut pending),
                        2 => unit.strip::<A, E, 2>(&block, &mut pending),
                        3 => unit.strip::<A, E, 3>(&block, &mut pending),
                        _ => unit.strip::<A, E, 4>(&block, &mut pending),
                    }
                    complete(&mut pending);
                }
                pending = Some(finish(Strip { square, width, output, sums }));
                turn = 1 - turn;
            }
            file += width;
        }
    }
    // SAFETY: contract of this function.
    unsafe { complete(&mut pending) };
}

/// Does all that is left of an epilogue.
/// Safety: as [`Epilogue::two_rows`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
unsafe fn complete<E: Epilogue>(pending: &mut Option<E>) {
    if let Some(epilogue) = pending {
        while epilogue.left() > 0 {
            // SAFETY: rows are left; contract of this function.
            unsafe { epilogue.two_rows() };
        }
    }
}

/// Neighbouring squares of a rank and sixteen output channels.
pub(super) struct StripInput {
    pub(super) input: *const u8,
    pub(super) weights: *const u8,
    pub(super) blocks: usize,
    /// Bytes from a square to that of the next rank.
    pub(super) rank_bytes: usize,
    /// The ranks of taps that lie on the board, from 0 to 3.
    pub(super) taps: [usize; 2],
    pub(super) has_left: bool,
    pub(super) has_right: bool,
    pub(super) bias: *const f32,
    pub(super) bias_stride: usize,
    pub(super) sums: *mut f32,
}
