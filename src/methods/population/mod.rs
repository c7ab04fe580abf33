//! Risk in a population of which a relation is a sample: `individual_risk`, `household_risk`, `population_uniqueness`.
//!
//! The definitions and algorithms are in [`disclosure::population`].

mod risk;
mod uniqueness;
mod weights;
