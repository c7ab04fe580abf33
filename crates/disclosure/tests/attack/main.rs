//! Probabilistic attacks: see `disclosure::attack`.

mod distribution;
mod estimates;
mod exact;
mod limits;
mod network;
mod rectangular;

use disclosure::attack::{Matrix, Method, Settings, Truth};

fn dense(weights: &[f64]) -> Matrix {
    let size = weights.len().isqrt();
    Matrix::dense(size, size, weights).unwrap()
}

fn truth(matrix: &Matrix, columns: &[Option<u32>]) -> Truth {
    Truth::new(matrix, columns.to_vec()).unwrap()
}

fn exactly() -> Settings {
    Settings {
        method: Method::Exact,
        ..Settings::default()
    }
}

/// Returns the weights of a 0/1 matrix.
fn zero_one(rows: &[&str]) -> Vec<f64> {
    let digits = rows.iter().flat_map(|row| row.bytes());
    digits.map(|digit| f64::from(digit - b'0')).collect()
}

fn fig_2_4_b() -> Vec<f64> {
    zero_one(&["00111", "01011", "01001", "10100", "11000"])
}

fn fig_2_4_c() -> Vec<f64> {
    zero_one(&["11110", "10010", "10001", "11111", "11000"])
}

fn fig_3_4_a() -> Vec<f64> {
    zero_one(&["00111", "00111", "11111", "11111", "11111"])
}
