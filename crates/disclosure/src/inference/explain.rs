//! The inference behind a score, as something to read.

use super::population::{with_width, Fields, Population};
use super::postings::{Postings, TableWitnesses};
use super::score::{Problem, Scores, Settings};
use super::search::Witnesses;
use super::words::Words;
use super::Attribute;
use crate::Control;

/// An inference: whoever knows these attributes learns those.
#[derive(Debug, Clone, PartialEq)]
pub struct Inference {
    /// What the attacker has to know; nothing that could be left out.
    pub known: Vec<Attribute>,
    /// What he then infers, as far as it hurts.
    pub inferred: Vec<Attribute>,
    /// lk(K) of White's Definition 3.3.
    pub likelihood: f64,
    /// dg(I) of White's Definition 3.4.
    pub danger: f64,
    /// How many rows of the table have what is known.
    pub support: u64,
}
