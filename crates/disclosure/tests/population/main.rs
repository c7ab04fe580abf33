//! Tests of population risk: see `disclosure::population`.

mod household_risk;
mod individual_risk;
mod log_linear;
mod sizes;
mod uniqueness;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Returns the configuration of property tests: a fixed seed and number of cases.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Returns whether two numbers differ by at most this share of the second.
fn is_close(found: f64, expected: f64, relative: f64) -> bool {
    (found - expected).abs() <= relative * expected.abs()
}
