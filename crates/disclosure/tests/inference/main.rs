//! Privacy scores and what follows from them: see `disclosure::inference`.

mod decoys;
mod holes;
mod remedies;
mod rules;
mod scores;
mod tables;
