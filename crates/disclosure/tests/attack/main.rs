//! Probabilistic attacks: see `disclosure::attack`.

mod estimates;
mod exact;
