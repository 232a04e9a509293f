//! What multiplies tiles: the tile registers of AMX, or the vectors of AVX-512.

use super::aligned::Element;
use super::convolution::{Arithmetic, Epilogue, StripInput};

/// Eight tiles and their products. Tiles `0` to `5` hold sums; `4` to `7` hold factors, which stay where they were loaded
/// from: that memory is not written before the last product that reads it.
pub(super) trait TileUnit {
    /// Loads the factor `T` from 16 rows of 64 bytes that begin `stride` bytes apart.
    /// Safety: the processor has the unit, and all 16 rows can be read, until the last product that reads them.
    unsafe fn load<const T: usize, E: Element>(&mut self, rows: *const E, stride: usize);

    /// Loads the sums `T` from 16 rows of 64 bytes that begin `stride` bytes apart.
    /// Safety: the processor has the unit, and all 16 rows can be read.
    unsafe fn load_sums<const T: usize, E: Element>(&mut self, rows: *const E, stride: usize);

    /// Stores the sums `T` to 16 rows of 64 bytes that begin `stride` bytes apart.
    /// Safety: the processor has the unit, and all 16 rows can be written.
    unsafe fn store_sums<const T: usize, E: Element>(&mut self, rows: *mut E, stride: usize);

    /// Makes the sums `T` zero.
    /// Safety: the processor has the unit.
    unsafe fn zero<const T: usize>(&mut self);

    /// Adds the product of `A` (16 rows of 32 bf16) and `B` (32 by 16 bf16, pairs of rows together) to the sums `C` (16 by
    /// 16 f32).
    /// Safety: the processor has the unit, `A` and `B` were loaded, and what they were loaded from was not written since. The
    /// rows of `B` are 64 bytes apart.
    unsafe fn multiply_bf16<const C: usize, const A: usize, const B: usize>(&mut self);

    /// Adds the product of `A` (16 rows of 64 u8) and `B` (64 by 16 i8, fours of rows together) to the sums `C` (16 by 16
    /// i32).
    /// Safety: as [`TileUnit::multiply_bf16`].
    unsafe fn multiply_u8_i8<const C: usize, const A: usize, const B: usize>(&mut self);

    /// Computes the sums of a strip of `W` squares. May do steps of `pending`; what it leaves is done after it.
    /// Safety: the processor has the unit; input tiles of the squares and their neighbours on the board and the weights' tiles
    /// can be read, and with [`Arithmetic::BEGINS_WITH_BIAS`] the bias as 16 rows of 64 bytes; `W` tiles of sums can be
    /// written; as [`Epilogue::two_rows`].
    unsafe fn strip<A: Arithmetic, E: Epilogue, const W: usize>(&mut self, strip: &StripInput, pending: &mut Option<E>);
}
