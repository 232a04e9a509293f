//! Products of matrices in `f32`, sixteen results of a row at a time.

use crate::native::lanes::{LANES, Lanes, prefetch};

/// Rows of results that are computed at once, as many as the registers hold.
const ROWS: usize = 6;

/// Columns of an iteration: the loop is unrolled, so that addresses and its end are computed once for all of them.
const UNROLLED: usize = 8;

/// Calls `$strip::<N>` for the rows from 0 to `$rows`, with the first row of each strip and its length `N`.
macro_rules! in_strips {
    ($rows:expr, |$first:ident| $strip:ident($($argument:expr),*)) => {{
        let (rows, mut $first) = ($rows, 0);
        while $first < rows {
            // No strip is much shorter than the others: 8 rows are 4 and 4, 9 are 5 and 4.
            let left = rows - $first;
            let width = left.div_ceil(left.div_ceil(ROWS));
            match width {
                1 => $strip::<1>($($argument),*),
                2 => $strip::<2>($($argument),*),
                3 => $strip::<3>($($argument),*),
                4 => $strip::<4>($($argument),*),
                5 => $strip::<5>($($argument),*),
                _ => $strip::<6>($($argument),*),
            }
            $first += width;
        }
    }};
}

/// Multiplies the rows of `inputs`, `[rows][I]`, by `weight`, `[I]` of sixteen outputs, and hands on each row's sums.
#[inline(always)]
pub(crate) fn multiply(weight: &[[f32; LANES]], inputs: &[f32], mut write: impl FnMut(usize, Lanes)) {
    in_strips!(inputs.len() / weight.len(), |first| multiply_strip(
        weight,
        &inputs[first * weight.len()..],
        first == 0,
        &mut |row, sum| write(first + row, sum)
    ));
}

#[inline(always)]
fn multiply_strip<const N: usize>(
    weight: &[[f32; LANES]],
    inputs: &[f32],
    is_first: bool,
    write: &mut impl FnMut(usize, Lanes),
) {
    let inputs: [&[f32]; N] = std::array::from_fn(|row| &inputs[row * weight.len()..][..weight.len()]);
    let mut sums = [Lanes::all(0.0); N];
    let mut add = |weight: &[f32; LANES], input: [f32; N]| {
        let weight = Lanes::load(weight);
        for row in 0..N {
            sums[row] = sums[row].add_product(Lanes::all(input[row]), weight);
        }
    };
    let (chunks, rest) = weight.as_chunks::<UNROLLED>();
    let of_chunks = inputs.map(|input| input.as_chunks::<UNROLLED>());
    for (chunk, weights) in chunks.iter().enumerate() {
        let inputs: [&[f32; UNROLLED]; N] = std::array::from_fn(|row| &of_chunks[row].0[chunk]);
        if is_first {
            // The weights that are needed next lie behind these.
            weights.iter().for_each(|place| prefetch(place, weight.len()));
        }
        for (column, weight) in weights.iter().enumerate() {
            add(weight, inputs.map(|input| input[column]));
        }
    }
    for (column, weight) in rest.iter().enumerate() {
        add(weight, of_chunks.map(|(_, rest)| rest[column]));
    }
    for (row, sum) in sums.into_iter().enumerate() {
        write(row, sum);
    }
}

/// Adds the product of a transposed matrix with another to `sums`, `[I]` of sixteen outputs.
/// `inputs` is `[rows][I]`; `outputs` begins with the sixteen outputs of the first row, those of the next are `stride`
/// further on.
#[inline(always)]
pub(crate) fn add_transposed(inputs: &[f32], outputs: &[f32], stride: usize, sums: &mut [[f32; LANES]]) {
    let columns = sums.len();
    in_strips!(columns, |first| transposed_strip(inputs, columns, first, outputs, stride, &mut sums[first..]));
}

#[inline(always)]
fn transposed_strip<const N: usize>(
    inputs: &[f32],
    columns: usize,
    first: usize,
    outputs: &[f32],
    stride: usize,
    sums: &mut [[f32; LANES]],
) {
    let (places, _) = sums.split_first_chunk_mut::<N>().map(|(places, rest)| (places, rest.len())).expect("N sums");
    let mut found: [Lanes; N] = std::array::from_fn(|row| Lanes::load(&places[row]));
    for (input, output) in inputs.chunks_exact(columns).zip(outputs.chunks(stride)) {
        let input: &[f32; N] = input[first..].first_chunk().expect("a strip within the columns");
        let output = Lanes::load(output.first_chunk().expect("sixteen outputs"));
        for row in 0..N {
            found[row] = found[row].add_product(Lanes::all(input[row]), output);
        }
    }
    for (place, sum) in places.iter_mut().zip(found) {
        sum.store(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_definition() {
        for (rows, columns) in [(1, 1), (5, 7), (13, 32), (48, 18), (3, 6)] {
            let value = |index: usize| ((index * 37 + 11) % 64) as f32 - 31.0;
            let matrix: Vec<f32> = (0..rows * columns).map(value).collect();
            let lanes = |row: usize| -> [f32; LANES] { std::array::from_fn(|lane| value(row * 5 + lane * 3)) };
            let weight: Vec<_> = (0..columns).map(lanes).collect();
            let mut seen = 0;
            multiply(&weight, &matrix, |row, sums| {
                assert_eq!(row, seen);
                seen += 1;
                let mut found = [0.0; LANES];
                sums.store(&mut found);
                for (lane, found) in found.into_iter().enumerate() {
                    let of_column = |column: usize| matrix[row * columns + column] * weight[column][lane];
                    assert_eq!(found, (0..columns).map(of_column).sum::<f32>());
                }
            });
            assert_eq!(seen, rows);

            let stride = LANES + 3;
            let outputs: Vec<f32> = (0..rows * stride).map(|index| value(index + 9)).collect();
            let mut sums = vec![[1.0; LANES]; columns];
            add_transposed(&matrix, &outputs, stride, &mut sums);
            for (column, sums) in sums.iter().enumerate() {
                for (lane, &found) in sums.iter().enumerate() {
                    let of_row = |row: usize| matrix[row * columns + column] * outputs[row * stride + lane];
                    assert_eq!(found, 1.0 + (0..rows).map(of_row).sum::<f32>());
                }
            }
        }
    }
}
