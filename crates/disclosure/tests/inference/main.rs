//! Tests of privacy scores and of everything that is based on them: see `disclosure::inference`.

mod by_people;
mod decoys;
mod explanations;
mod holes;
mod inferences;
mod information;
mod joint;
mod remedies;
mod scores;
mod tables;
mod unknown;
