//! Disclosure risk after a probabilistic attack: an adversary assigns a probability to every pair of an entry
//! and a code. How many entries do they identify correctly?
//!
//! An attack is a [`Matrix`] of weights with a row for every entry and a column for every code. A *matching*
//! assigns every entry a code of its own. Its probability is the product of its weights divided by the
//! *permanent*, the sum of these products over all matchings. An entry is *cracked* if a matching assigns it
//! its true code. The definitions are those of Malik 2014.
//!
//! ```
//! use disclosure::Control;
//! use disclosure::attack::{Exact, Matrix, Settings, Truth, estimate, heuristic};
//!
//! // Five diseases became five codes. The adversary's opinion is Q of Fig. 3.4(b) in the thesis.
//! let opinion = [
//!     0.00, 0.00, 0.57, 0.40, 0.03, // flu
//!     0.00, 0.00, 0.30, 0.23, 0.47, // viral fever
//!     0.34, 0.29, 0.03, 0.30, 0.04, // cold
//!     0.29, 0.52, 0.08, 0.05, 0.06, // asthma
//!     0.37, 0.19, 0.02, 0.02, 0.40, // tuberculosis
//! ];
//! let matrix = Matrix::dense(5, 5, &opinion)?;
//! let truth = Truth::new(&matrix, [2, 3, 4, 0, 1].map(Some).to_vec())?;
//! let control = Control::new();
//!
//! // The adversary is expected to get 1.35 of the five right; the heuristic of the thesis comes close.
//! let cracks = estimate(&matrix, &truth, &Settings::default(), &control)?;
//! assert!((cracks.expected - 1.34756).abs() < 1e-5);
//! assert!((heuristic(&matrix, &truth) - 1.32).abs() < 1e-12);
//!
//! // If the adversary only rules out pairs, the permanent is the number of mappings that remain.
//! let possible = opinion.map(|weight| if weight > 0.0 { 1.0 } else { 0.0 });
//! let mappings = Exact::new(&Matrix::dense(5, 5, &possible)?, &control)?.permanent(&control)?;
//! assert_eq!(mappings.value(), 36.0);
//! # Ok::<(), disclosure::Error>(())
//! ```

mod bethe;
mod blocks;
mod bounds;
mod class_cracks;
mod cracks;
mod dense;
mod distribution;
mod engine;
mod exact;
mod flat;
mod frontier;
mod glynn;
mod matrix;
mod network;
mod nmape;
mod order;
mod random;
mod report;
mod sample;
mod scale;
mod settings;
mod subset_dp;
mod subsets;

pub use bounds::ln_permanent_bounds;
pub use cracks::{
    EdgeEstimates, Estimate, Truth, degree_of_anonymity, edge_probabilities, estimate, heuristic,
    matching_probability, row_shares, shares,
};
pub use distribution::{CrackDistribution, CrackProbability, crack_distribution};
pub use exact::{EdgeProbabilities, Exact, Permanent};
pub use flat::is_flat;
pub use matrix::Matrix;
pub use network::Network;
pub use nmape::nmape;
pub use random::random_attack;
pub use report::{EntryRisk, Report, Summary, report, summary};
pub use scale::{flat_matrix, normalise};
pub use settings::{Method, Settings};
pub use subsets::{SubsetCracks, Subsets, subset_cracks};
