//! Equivalence classes: see `disclosure::classes`.

mod sizes;
