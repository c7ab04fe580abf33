//! Tests of equivalence classes: see `disclosure::classes`.

mod cautious;
mod diversity;
mod golden;
mod hierarchy;
mod records;
mod risk;
mod sizes;
mod tables;
mod units;
