//! Tests of equivalence classes: see `disclosure::classes`.

mod cautious;
mod sizes;
mod units;
