//! Probabilistic attacks: the values of Malik 2014 as verified, and the definitions.

use disclosure::attack::{
    degree_of_anonymity, estimate, heuristic, matching_weight, Exact, Matrix, Method, Settings, Truth,
};
use disclosure::Control;

const FIG_2_4_B: [&str; 5] = ["00111", "01011", "01001", "10100", "11000"];
const FIG_2_4_C: [&str; 5] = ["11110", "10010", "10001", "11111", "11000"];
const FIG_3_4_A: [&str; 5] = ["00111", "00111", "11111", "11111", "11111"];

/// Q of Fig. 3.4(b), with the cell (Tuberculosis, y) that makes it doubly stochastic.
const Q: [f64; 25] = [
    0.0, 0.0, 0.57, 0.40, 0.03, //
    0.0, 0.0, 0.30, 0.23, 0.47, //
    0.34, 0.29, 0.03, 0.30, 0.04, //
    0.29, 0.52, 0.08, 0.05, 0.06, //
    0.37, 0.19, 0.02, 0.02, 0.40,
];

fn zero_one(rows: &[&str]) -> Matrix {
    let weights: Vec<f64> = rows
        .concat()
        .bytes()
        .map(|digit| f64::from(digit - b'0'))
        .collect();
    Matrix::dense(rows.len(), rows.len(), &weights).unwrap()
}

/// Flu–x, Viral Fever–y, Cold–z, Asthma–u, Tuberculosis–v.
fn m0(matrix: &Matrix) -> Truth {
    Truth::new(matrix, [2, 3, 4, 0, 1].map(Some).to_vec()).unwrap()
}

fn exactly() -> Settings {
    Settings {
        method: Method::Exact,
        relative_error: 0.01,
        seed: 1,
        budget: None,
        bytes: f64::INFINITY,
    }
}

fn assert_close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

#[test]
fn what_is_possible_counts_matchings() {
    let control = Control::new();
    for (rows, permanent, cracks, anonymity) in [
        (FIG_2_4_B, 4.0, 1.75, 0.289566),
        (FIG_2_4_C, 7.0, 3.0, 0.406457),
        (FIG_3_4_A, 36.0, 13.0 / 9.0, 0.748517),
    ] {
        let matrix = zero_one(&rows);
        let exact = Exact::new(&matrix, &control).unwrap();
        assert_eq!(exact.permanent(&control).unwrap().value(), permanent);
        let found = estimate(&matrix, &m0(&matrix), &exactly(), &control).unwrap();
        assert_close(found.expected, cracks, 1e-12);
        assert_close(degree_of_anonymity(&matrix, &control).unwrap(), anonymity, 5e-7);
    }
}

#[test]
fn q_of_fig_3_4() {
    let control = Control::new();
    let q = Matrix::dense(5, 5, &Q).unwrap();
    let permanent = Exact::new(&q, &control).unwrap().permanent(&control).unwrap();
    assert_close(permanent.value(), 0.0608095616, 1e-12);
    assert_close(
        estimate(&q, &m0(&q), &exactly(), &control).unwrap().expected,
        1.347557217,
        5e-10,
    );
    assert_close(heuristic(&q, &m0(&q)), 1.32, 1e-12);
    // The text's Ψ(Q) = 1369/4355 belongs to another mapping.
    let other = Truth::new(&q, [4, 0, 1, 2, 3].map(Some).to_vec()).unwrap();
    assert_close(
        estimate(&q, &other, &exactly(), &control).unwrap().expected,
        0.314351,
        5e-7,
    );
    // M₃ and M₅, the likeliest and the least likely of the 36 matchings.
    let likeliest = Truth::new(&q, [2, 4, 3, 1, 0].map(Some).to_vec()).unwrap();
    assert_close(
        matching_weight(&q, &likeliest, &control).unwrap(),
        0.254288760,
        5e-10,
    );
    let least = Truth::new(&q, [4, 3, 2, 0, 1].map(Some).to_vec()).unwrap();
    assert_close(matching_weight(&q, &least, &control).unwrap(), 0.000187564, 5e-10);
}
