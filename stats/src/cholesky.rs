//! The Cholesky factor of a matrix that may be singular.

use nalgebra::allocator::Allocator;
use nalgebra::{Cholesky, DefaultAllocator, Dim, OMatrix};

/// A pivot at most this fraction of its diagonal entry counts as zero.
const PIVOT_MIN: f64 = 1e-12;

/// Factors a symmetric matrix; `None` unless it is positive definite.
/// A matrix is taken as singular if a row is a combination of the rows before it up to rounding errors: its
/// pivot is then at most `1e-12` of its diagonal entry.
#[must_use]
pub fn cholesky<D: Dim>(matrix: OMatrix<f64, D, D>) -> Option<Cholesky<f64, D>>
where
    DefaultAllocator: Allocator<D, D>,
{
    let diagonal: Vec<f64> = (0..matrix.nrows()).map(|index| matrix[(index, index)]).collect();
    let factor = Cholesky::new(matrix)?;
    let root = |index: usize| factor.l_dirty()[(index, index)];
    let is_definite = |(index, &entry): (usize, &f64)| {
        let pivot = root(index).powi(2);
        pivot.is_finite() && pivot > PIVOT_MIN * entry
    };
    diagonal.iter().enumerate().all(is_definite).then_some(factor)
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, Matrix2};

    use super::*;

    #[test]
    fn dependent_rows_have_no_factor() {
        assert!(cholesky(Matrix2::new(1.0, 2.0, 2.0, 4.0)).is_none());
        assert!(cholesky(DMatrix::zeros(1, 1)).is_none());
        // One row is the sum of two others, up to rounding errors.
        let rows = [[0.1, 0.7, 0.3], [0.2, 0.1, 0.9], [0.3, 0.8, 1.2]];
        let x = DMatrix::from_fn(3, 3, |row, column| rows[column][row]);
        assert!(cholesky(x.transpose() * &x).is_none());
        assert!(cholesky(Matrix2::new(4.0, 2.0, 2.0, 5.0)).is_some());
    }
}
