//! 3x3 convolutions over tiles.
//!
//! A strip of up to four neighbouring squares of a rank has its sums for sixteen output channels in tiles 0 to 3; tile 4
//! holds inputs, tiles 5 to 7 the weights of three neighbouring taps, so that each input tile is loaded once for the
//! up to three sums that it belongs to. What is to be done with the finished sums of a strip (an [`Epilogue`]) is done
//! between the products of the next strip: the vector units would be idle there.

use super::aligned::{Aligned, TILE};
use super::unit::TileUnit;

/// Squares of a strip at most.
const STRIP: usize = 4;
/// Sums of a tile.
const SUMS: usize = 256;

/// Which products are summed.
pub(super) trait Arithmetic {
    /// Begins tile `T` with the bias, or with zeros where the epilogue adds it ([`Bias::InEpilogue`]).
    ///
    /// # Safety
    /// The processor has the unit, and `bias` can be read as 16 rows of 64 bytes `stride` bytes apart.
    unsafe fn begin<U: TileUnit, const T: usize>(unit: &mut U, bias: *const f32, stride: usize);

    /// Adds the product of tiles `A` and `B` to tile `C`.
    ///
    /// # Safety
    /// The processor has the unit.
    unsafe fn multiply<U: TileUnit, const C: usize, const A: usize, const B: usize>(unit: &mut U);
}

/// bfloat16 times bfloat16, summed in `f32`.
pub(super) struct Bf16;

impl Arithmetic for Bf16 {
    #[inline(always)]
    unsafe fn begin<U: TileUnit, const T: usize>(unit: &mut U, bias: *const f32, stride: usize) {
        // SAFETY: contract of this function.
        unsafe { unit.load_sums::<T, f32>(bias, stride) }
    }

    #[inline(always)]
    unsafe fn multiply<U: TileUnit, const C: usize, const A: usize, const B: usize>(unit: &mut U) {
        // SAFETY: contract of this function.
        unsafe { unit.multiply_bf16::<C, A, B>() }
    }
}

/// u8 times i8, summed in `i32`.
pub(super) struct Int8;

impl Arithmetic for Int8 {
    #[inline(always)]
    unsafe fn begin<U: TileUnit, const T: usize>(unit: &mut U, _: *const f32, _: usize) {
        // SAFETY: contract of this function.
        unsafe { unit.zero::<T>() }
    }

    #[inline(always)]
    unsafe fn multiply<U: TileUnit, const C: usize, const A: usize, const B: usize>(unit: &mut U) {
        // SAFETY: contract of this function.
        unsafe { unit.multiply_u8_i8::<C, A, B>() }
    }
}

/// What is done with the finished sums of a strip.
pub(super) trait Epilogue {
    /// Does the next two rows (two positions of one square, 16 channels).
    ///
    /// # Safety
    /// Rows are left, the pointers it was made of can still be read and written, and the processor has AVX-512 with
    /// bfloat16.
    unsafe fn two_rows(&mut self);

    /// Returns how many rows are left; even.
    fn left(&self) -> usize;
}

/// Where an epilogue finds the sums of its strip.
#[derive(Clone, Copy)]
pub(super) struct Strip {
    /// The first of its squares.
    pub(super) square: usize,
    /// Its number of squares.
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
    /// Makes room for `blocks` times `outputs` times `taps` tiles.
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

    /// Returns a tile, in the order of the type's description.
    pub(super) fn tile_mut(&mut self, index: usize) -> &mut [u8] {
        &mut self.bytes[index * TILE..][..TILE]
    }

    /// Returns the first tile.
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
    ///
    /// # Panics
    /// When there are none.
    pub(super) fn rows(&self, output: usize) -> (*const f32, usize) {
        assert!(!matches!(self, Bias::InEpilogue), "a bias is given");
        let (first, stride) = self.of(output);
        (first, stride / 4)
    }
}

/// Convolves `input`, `[square][blocks of inputs]` tiles of a board of `files` times `ranks` squares. `finish` makes the
/// epilogue of each strip.
///
/// # Safety
/// The processor has the unit, and what `finish` makes may be run until this
/// function returns.
///
/// # Panics
/// When `input` or `weights` are too short.
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
                let block = Block {
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
                        1 => block.run::<A, U, E, 1>(unit, &mut pending),
                        2 => block.run::<A, U, E, 2>(unit, &mut pending),
                        3 => block.run::<A, U, E, 3>(unit, &mut pending),
                        _ => block.run::<A, U, E, 4>(unit, &mut pending),
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
///
/// # Safety
/// As [`Epilogue::two_rows`].
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
struct Block {
    /// The input tile of the first square.
    input: *const u8,
    /// The weight tiles of these outputs.
    weights: *const u8,
    blocks: usize,
    /// Bytes from a square to that of the next rank.
    rank_bytes: usize,
    /// The ranks of taps that lie on the board, from 0 to 3.
    taps: [usize; 2],
    has_left: bool,
    has_right: bool,
    bias: *const f32,
    bias_stride: usize,
    sums: *mut f32,
}

impl Block {
    /// Computes `W` squares, with steps of `pending` in between.
    ///
    /// # Safety
    /// The processor has the unit; input tiles of the squares and their
    /// neighbours on the board and the weights' tiles can be read, `W` tiles of sums can be written; as
    /// [`Epilogue::two_rows`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn run<A: Arithmetic, U: TileUnit, E: Epilogue, const W: usize>(
        &self,
        unit: &mut U,
        pending: &mut Option<E>,
    ) {
        // SAFETY: contract of this function.
        unsafe {
            A::begin::<U, 0>(unit, self.bias, self.bias_stride);
            if W > 1 {
                A::begin::<U, 1>(unit, self.bias, self.bias_stride);
            }
            if W > 2 {
                A::begin::<U, 2>(unit, self.bias, self.bias_stride);
            }
            if W > 3 {
                A::begin::<U, 3>(unit, self.bias, self.bias_stride);
            }
        }
        let next = self.blocks * TILE;
        for tap in self.taps[0]..self.taps[1] {
            for block in 0..self.blocks {
                let weights = self.weights.wrapping_add((tap * self.blocks + block) * 3 * TILE);
                let rank = self.input.wrapping_add(tap * self.rank_bytes).wrapping_sub(self.rank_bytes);
                let input = rank.wrapping_add(block * TILE);
                // A product and a part of the pending epilogue.
                macro_rules! product {
                    ($sum:literal, $weight:literal) => {
                        A::multiply::<U, $sum, 4, $weight>(unit);
                        if let Some(epilogue) = pending
                            && epilogue.left() > 0
                        {
                            epilogue.two_rows();
                        }
                    };
                }
                // SAFETY: contract of this function; a square's neighbour is loaded where it is on the board.
                unsafe {
                    unit.load::<5, u8>(weights, 64);
                    unit.load::<6, u8>(weights.wrapping_add(TILE), 64);
                    unit.load::<7, u8>(weights.wrapping_add(2 * TILE), 64);
                    if self.has_left {
                        unit.load::<4, u8>(input.wrapping_sub(next), 64);
                        product!(0, 5);
                    }
                    unit.load::<4, u8>(input, 64);
                    product!(0, 6);
                    if W > 1 {
                        product!(1, 5);
                        unit.load::<4, u8>(input.wrapping_add(next), 64);
                        product!(0, 7);
                        product!(1, 6);
                    }
                    if W > 2 {
                        product!(2, 5);
                        unit.load::<4, u8>(input.wrapping_add(2 * next), 64);
                        product!(1, 7);
                        product!(2, 6);
                    }
                    if W > 3 {
                        product!(3, 5);
                        unit.load::<4, u8>(input.wrapping_add(3 * next), 64);
                        product!(2, 7);
                        product!(3, 6);
                    }
                    if self.has_right {
                        unit.load::<4, u8>(input.wrapping_add(W * next), 64);
                        match W {
                            1 => {
                                product!(0, 7);
                            }
                            2 => {
                                product!(1, 7);
                            }
                            3 => {
                                product!(2, 7);
                            }
                            _ => {
                                product!(3, 7);
                            }
                        }
                    }
                }
            }
        }
        // SAFETY: contract of this function.
        unsafe {
            unit.store_sums::<0, f32>(self.sums, 64);
            if W > 1 {
                unit.store_sums::<1, f32>(self.sums.wrapping_add(SUMS), 64);
            }
            if W > 2 {
                unit.store_sums::<2, f32>(self.sums.wrapping_add(2 * SUMS), 64);
            }
            if W > 3 {
                unit.store_sums::<3, f32>(self.sums.wrapping_add(3 * SUMS), 64);
            }
        }
    }
}
