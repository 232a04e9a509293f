//! Small dense symmetric matrices: as many rows as a fit has parameters.

/// A symmetric matrix, stored whole, row by row.
#[derive(Clone, Debug)]
pub(crate) struct SymmetricMatrix {
    size: usize,
    values: Vec<f64>,
}

impl SymmetricMatrix {
    pub(crate) fn zeros(size: usize) -> SymmetricMatrix {
        SymmetricMatrix { size, values: vec![0.0; size * size] }
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.size + column]
    }

    /// Adds `value` to one entry; the caller adds the mirrored one too.
    pub(crate) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.values[row * self.size + column] += value;
    }

    /// Adds `weight · v vᵀ`.
    pub(crate) fn add_outer(&mut self, v: &[f64], weight: f64) {
        for (row, &left) in v.iter().enumerate() {
            for (column, &right) in v.iter().enumerate() {
                self.add(row, column, weight * left * right);
            }
        }
    }

    /// Returns `xᵀ M y`.
    pub(crate) fn form(&self, x: &[f64], y: &[f64]) -> f64 {
        let rows = self.values.chunks_exact(self.size.max(1));
        rows.zip(x).map(|(row, &left)| left * dot(row, y)).sum()
    }

    /// Returns the matrix of the rows and columns in `kept`.
    pub(crate) fn minor(&self, kept: &[usize]) -> SymmetricMatrix {
        let mut minor = SymmetricMatrix::zeros(kept.len());
        for (row, &from_row) in kept.iter().enumerate() {
            for (column, &from_column) in kept.iter().enumerate() {
                minor.add(row, column, self.at(from_row, from_column));
            }
        }
        minor
    }

    /// Returns the lower factor `L` with `L Lᵀ = M`; `None` unless the matrix is positive definite.
    ///
    /// A pivot below `1e-12` of its diagonal entry counts as zero: the parameter is a combination of
    /// the ones before it.
    pub(crate) fn cholesky(&self) -> Option<Cholesky> {
        let size = self.size;
        let mut factor = SymmetricMatrix::zeros(size);
        for column in 0..size {
            let known = &factor.values[column * size..column * size + column];
            let pivot = self.at(column, column) - dot(known, known);
            if pivot.is_nan() || pivot <= 1e-12 * self.at(column, column) || pivot.is_infinite() {
                return None;
            }
            let root = pivot.sqrt();
            for row in column..size {
                let rest = dot(
                    &factor.values[row * size..row * size + column],
                    &factor.values[column * size..column * size + column],
                );
                factor.values[row * size + column] = (self.at(row, column) - rest) / root;
            }
        }
        Some(Cholesky { factor })
    }

    /// Returns `self · middle · self`, for a symmetric middle: the sandwich.
    pub(crate) fn sandwich(&self, middle: &SymmetricMatrix) -> SymmetricMatrix {
        let size = self.size;
        let rows: Vec<&[f64]> = self.values.chunks_exact(size.max(1)).collect();
        let mut product = SymmetricMatrix::zeros(size);
        for row in 0..size {
            for column in 0..size {
                product.add(row, column, middle.form(rows[row], rows[column]));
            }
        }
        product
    }

    pub(crate) fn scaled(mut self, factor: f64) -> SymmetricMatrix {
        self.values.iter_mut().for_each(|value| *value *= factor);
        self
    }
}

/// A Cholesky factor.
pub(crate) struct Cholesky {
    factor: SymmetricMatrix,
}

impl Cholesky {
    /// Returns `x` with `M x = right`.
    pub(crate) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let size = self.factor.size;
        let mut x = right.to_vec();
        for row in 0..size {
            let rest: f64 = (0..row).map(|k| self.factor.at(row, k) * x[k]).sum();
            x[row] = (x[row] - rest) / self.factor.at(row, row);
        }
        for row in (0..size).rev() {
            let rest: f64 = (row + 1..size).map(|k| self.factor.at(k, row) * x[k]).sum();
            x[row] = (x[row] - rest) / self.factor.at(row, row);
        }
        x
    }

    /// Returns the inverse of the matrix that was factored.
    pub(crate) fn inverse(&self) -> SymmetricMatrix {
        let size = self.factor.size;
        let mut inverse = SymmetricMatrix::zeros(size);
        for column in 0..size {
            let mut unit = vec![0.0; size];
            unit[column] = 1.0;
            for (row, value) in self.solve(&unit).into_iter().enumerate() {
                inverse.add(row, column, value);
            }
        }
        inverse
    }
}

pub(crate) fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> SymmetricMatrix {
        SymmetricMatrix { size: 3, values: vec![4.0, 2.0, 0.4, 2.0, 5.0, 1.0, 0.4, 1.0, 3.0] }
    }

    #[test]
    fn inverse_times_matrix_is_the_identity() {
        let inverse = example().cholesky().unwrap().inverse();
        for row in 0..3 {
            for column in 0..3 {
                let product: f64 = (0..3).map(|k| inverse.at(row, k) * example().at(k, column)).sum();
                let identity = f64::from(u8::from(row == column));
                assert!((product - identity).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn dependent_rows_have_no_factor() {
        let singular = SymmetricMatrix { size: 2, values: vec![1.0, 2.0, 2.0, 4.0] };
        assert!(singular.cholesky().is_none());
        assert!(SymmetricMatrix::zeros(1).cholesky().is_none());
    }

    #[test]
    fn sandwich_of_the_inverse_around_the_matrix_is_the_inverse() {
        let inverse = example().cholesky().unwrap().inverse();
        let same = inverse.sandwich(&example());
        assert!((0..9).all(|k| (same.values[k] - inverse.values[k]).abs() < 1e-14));
    }
}
