//! Builds sparse matrices from edges of the fuzzer. The first two bytes are the numbers of rows and columns.
//! Then follow a row, a column and a weight per edge. A matrix that is accepted has to have these edges, and
//! a small one has to have the permanent of the definition.
#![no_main]

use disclosure::Control;
use disclosure::attack::{Exact, Matrix};
use libfuzzer_sys::fuzz_target;
use reference::attack::Attack;

fuzz_target!(|data: &[u8]| {
    let [rows, columns, edges @ ..] = data else {
        return;
    };
    let (rows, columns) = (1 + rows % 16, 1 + columns % 16);
    let edges: Vec<(u32, u32, f64)> = edges
        .chunks_exact(10)
        .map(|edge| {
            let weight = f64::from_le_bytes(edge[2..].try_into().unwrap());
            (u32::from(edge[0] % rows), u32::from(edge[1] % columns), weight)
        })
        .collect();
    let (rows, columns) = (usize::from(rows), usize::from(columns));
    let Ok(matrix) = Matrix::sparse(rows, columns, edges.clone()) else {
        return;
    };
    assert_eq!((matrix.size(), matrix.width()), (rows, columns));
    for &(row, column, weight) in &edges {
        assert_eq!(matrix.weight(row as usize, column), weight);
    }
    let cells = || (0..rows).flat_map(|row| (0..columns as u32).map(move |column| (row, column)));
    let weights: Vec<f64> = cells().map(|(row, column)| matrix.weight(row, column)).collect();
    assert_eq!(matrix.edge_count(), weights.iter().filter(|weight| **weight > 0.0).count());
    // The definition multiplies weights without regard to overflow and underflow.
    let is_moderate = |weight: &f64| *weight == 0.0 || (1e-30..1e30).contains(weight);
    if rows.max(columns) <= 6 && weights.iter().all(is_moderate) {
        let control = Control::new();
        let found = Exact::new(&matrix, &control).unwrap().permanent(&control).unwrap();
        let expected = Attack::rectangular(rows, columns, &weights).permanent;
        assert!((found.value() - expected).abs() <= 1e-9 * expected);
    }
});
