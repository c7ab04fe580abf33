//! Privacy scores and what follows from them: see `disclosure::inference`.

mod decoys;
mod definition;
mod holes;
mod remedies;
mod rules;
mod scores;
