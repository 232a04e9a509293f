//! The products of the opponent's policy: every from-square with every to-square.
//! Legend: `R` rows (from-squares and queries), `A` columns (to-squares), `W` channels of both, a multiple of 16; `R'` and
//! `A'` are `R` and `A` rounded up to 16.

use std::arch::x86_64::*;

use super::aligned::TILE;
use super::products::{pair_of_floats, store, transposed};
use super::unit::TileUnit;
use crate::training::MapProducts;

/// Bytes of tiles that are made once and used several times.
#[derive(Debug, Default)]
pub(super) struct MapBuffers {
    left: Vec<u8>,
    right: Vec<u8>,
}

pub(super) struct TileProducts<'a, U> {
    buffers: &'a mut MapBuffers,
    unit: &'a mut U,
}

#[derive(Clone, Copy)]
struct Matrix<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    /// Floats from one row to the next.
    stride: usize,
}

impl Matrix<'_> {
    /// Loads sixteen numbers of a row; 0 beyond the matrix.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    fn load(&self, row: usize, column: usize) -> __m512 {
        if row >= self.rows || column >= self.columns {
            return _mm512_setzero_ps();
        }
        let rest = &self.values[row * self.stride + column..][..(self.columns - column).min(16)];
        // SAFETY: the mask reads the numbers of `rest`.
        unsafe { _mm512_maskz_loadu_ps(0xffff_u16 >> (16 - rest.len()), rest.as_ptr()) }
    }

    /// Returns 16 rows of 32 numbers as they are.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    fn tile(&self, row: usize, column: usize) -> [__m512i; 16] {
        let mut tile = [_mm512_setzero_si512(); 16];
        for (index, values) in tile.iter_mut().enumerate() {
            let (low, high) = (self.load(row + index, column), self.load(row + index, column + 16));
            // SAFETY: a vector of bfloat16 is one of 512 bits.
            *values = unsafe { std::mem::transmute::<__m512bh, __m512i>(_mm512_cvtne2ps_pbh(high, low)) };
        }
        tile
    }

    /// Returns 32 rows of 16 numbers, pairs of rows together.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    fn pairs(&self, row: usize, column: usize) -> [__m512i; 16] {
        let mut tile = [_mm512_setzero_si512(); 16];
        for (index, values) in tile.iter_mut().enumerate() {
            *values = pair_of_floats(self.load(row + 2 * index, column), self.load(row + 2 * index + 1, column));
        }
        tile
    }
}

/// How the tiles of a factor are read from a matrix.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Tile `(i, k)` has the rows from `16 i`, the columns from `32 k`.
    Rows,
    /// The same of the transposed matrix.
    Transposed,
}

impl<'a, U: TileUnit> TileProducts<'a, U> {
    pub(super) fn new(buffers: &'a mut MapBuffers, unit: &'a mut U) -> TileProducts<'a, U> {
        TileProducts { buffers, unit }
    }

    /// Writes the product of `left`, `[n, k]` in its form, and `right`, `[k, m]` in its form, to `output`: `[n', m']`,
    /// rounded up to 16.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    fn multiply(&mut self, left: (Matrix<'_>, Form), right: (Matrix<'_>, Form), output: &mut [f32]) {
        let size = |(matrix, form): (Matrix<'_>, Form)| match form {
            Form::Rows => (matrix.rows, matrix.columns),
            Form::Transposed => (matrix.columns, matrix.rows),
        };
        let ((rows, inner), (_, columns)) = (size(left), size(right));
        let (rows, inner, columns) = (rows.div_ceil(16), inner.div_ceil(32), columns.div_ceil(16));
        let stride = columns * 16;
        assert!(output.len() >= rows * 16 * stride, "room for whole tiles");
        let (unit, MapBuffers { left: left_tiles, right: right_tiles }) = (&mut *self.unit, &mut *self.buffers);
        left_tiles.resize(rows * inner * TILE, 0);
        right_tiles.resize(columns * inner * TILE, 0);
        for (index, tile) in left_tiles.chunks_exact_mut(TILE).enumerate() {
            let (row, inner) = (index / inner * 16, index % inner * 32);
            let values = match left.1 {
                Form::Rows => left.0.tile(row, inner),
                Form::Transposed => transposed(left.0.pairs(inner, row)),
            };
            store(tile, values);
        }
        for (index, tile) in right_tiles.chunks_exact_mut(TILE).enumerate() {
            let (column, inner) = (index / inner * 16, index % inner * 32);
            let values = match right.1 {
                Form::Rows => right.0.pairs(inner, column),
                Form::Transposed => transposed(right.0.tile(column, inner)),
            };
            store(tile, values);
        }
        for row in 0..rows {
            for column in 0..columns {
                let place = output[row * 16 * stride + column * 16..].as_mut_ptr();
                // SAFETY: the processor has the unit, as one was made; `left_tiles` and `right_tiles` have `inner` tiles
                // for each row and column; sixteen rows of 16 floats, `stride` apart, lie in `output` (assertion).
                unsafe {
                    unit.zero::<0>();
                    for index in 0..inner {
                        unit.load::<4, u8>(left_tiles.as_ptr().wrapping_add((row * inner + index) * TILE), 64);
                        unit.load::<5, u8>(right_tiles.as_ptr().wrapping_add((column * inner + index) * TILE), 64);
                        unit.multiply_bf16::<0, 4, 5>();
                    }
                    unit.store_sums::<0, f32>(place, 4 * stride);
                }
            }
        }
    }
}

impl<U: TileUnit> MapProducts for TileProducts<'_, U> {
    fn logits(&mut self, from: &[f32], to: &[f32], wide: usize, map: &mut [f32]) {
        let [from, to] =
            [from, to].map(|values| Matrix { values, rows: values.len() / wide, columns: wide, stride: wide });
        // SAFETY: a unit was made, which is where the processor has AVX-512 with bfloat16.
        unsafe { self.multiply((from, Form::Rows), (to, Form::Transposed), map) }
    }

    fn gradients(
        &mut self,
        map: &[f32],
        from: &[f32],
        to: &[f32],
        wide: usize,
        of_from: &mut [f32],
        of_to: &mut [f32],
    ) {
        let [from, to] =
            [from, to].map(|values| Matrix { values, rows: values.len() / wide, columns: wide, stride: wide });
        let stride = to.rows.next_multiple_of(16);
        let map = Matrix { values: map, rows: from.rows, columns: to.rows, stride };
        // SAFETY: as above.
        unsafe {
            self.multiply((map, Form::Rows), (to, Form::Rows), of_from);
            self.multiply((map, Form::Transposed), (from, Form::Rows), of_to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::with_unit;
    use super::*;
    use crate::kernel::Unit;

    #[test]
    fn products_are_those_of_the_definition() {
        for unit in Unit::ALL {
            if unit.is_available() {
                check_products(unit);
            } else {
                println!("SKIPPED: this processor has no {unit:?}");
            }
        }
    }

    fn check_products(kind: Unit) {
        // Small whole numbers, so that nothing is rounded.
        let numbers = |len: usize, factor: usize| -> Vec<f32> {
            (0..len).map(|index| (index * factor % 7) as f32 - 3.0).collect()
        };
        for (rows, columns, wide) in [(4 + 56, 56, 32), (4 + 120, 120, 16), (14, 10, 48), (68, 64, 32)] {
            let (from, to) = (numbers(rows * wide, 5), numbers(columns * wide, 3));
            let stride = columns.next_multiple_of(16);
            let mut map = vec![0.0; rows.next_multiple_of(16) * stride];
            let mut of_from = vec![0.0; rows.next_multiple_of(16) * wide];
            let mut of_to = vec![0.0; stride * wide];
            let of_map = numbers(rows * stride, 11);
            let mut buffers = MapBuffers::default();
            with_unit!(kind, unit => {
                let mut products = TileProducts::new(&mut buffers, unit);
                products.logits(&from, &to, wide, &mut map);
                products.gradients(&of_map, &from, &to, wide, &mut of_from, &mut of_to);
            });
            for row in 0..rows {
                for column in 0..columns {
                    let sum: f32 = (0..wide).map(|k| from[row * wide + k] * to[column * wide + k]).sum();
                    assert_eq!(map[row * stride + column], sum, "{row}, {column}");
                }
                for k in 0..wide {
                    let sum: f32 =
                        (0..columns).map(|column| of_map[row * stride + column] * to[column * wide + k]).sum();
                    assert_eq!(of_from[row * wide + k], sum);
                }
            }
            for column in 0..columns {
                for k in 0..wide {
                    let sum: f32 = (0..rows).map(|row| of_map[row * stride + column] * from[row * wide + k]).sum();
                    assert_eq!(of_to[column * wide + k], sum);
                }
            }
        }
    }
}
