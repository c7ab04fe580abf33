//! Tests of equivalence classes: see `disclosure::classes`.

mod sizes;
mod units;
