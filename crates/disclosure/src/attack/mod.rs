//! Risk after a probabilistic attack: given how likely an attacker thinks it that each entry became each code,
//! how many would he get right?
//!
//! An attack is a [`Matrix`] of weights. A *matching* gives every entry a code of its own; its probability is the
//! product of its weights, by the *permanent*, which is the sum of that over all matchings. An entry is *cracked*
//! where a matching gives it the code that it has in truth. Definitions are those of Malik, 2014.

mod bethe;
mod blocks;
mod cracks;
mod dense;
mod engine;
mod exact;
mod flat;
mod frontier;
mod glynn;
mod matrix;
mod nmape;
mod order;
mod random;
mod sample;
mod scale;
mod subset_dp;
mod subsets;

pub use cracks::{
    Edges, Estimate, Method, Settings, Truth, degree_of_anonymity, edge_probabilities, estimate, heuristic,
    matching_weight, shares,
};
pub use exact::{EdgeProbabilities, Exact, Permanent};
pub use flat::is_flat;
pub use matrix::Matrix;
pub use nmape::nmape;
pub use random::random_attack;
pub use scale::{flat_matrix, normalise};
pub use subsets::{SubsetCracks, Subsets, subset_cracks};
