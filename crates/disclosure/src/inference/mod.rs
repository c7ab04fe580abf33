//! Attribute inference: the privacy score (L. White, A Privacy Score for Anonymous Databases, 2021).
mod column;

pub use column::{Attribute, Column, Meaning};
