//! Risk in a population of which the table is a sample.
//!
//! A record that is unique in the table need not be unique in the population. [`individual_risk()`] estimates for each
//! record how likely an adversary is to find the right person, from the sampling weights of its class
//! ([`PopulationSizes`]). [`household_risks`] says the same of households. [`Uniqueness`] estimates from the sizes of
//! classes how many people of the population are unique, and [`LogLinear`] from the values of each record.
//!
//! ```
//! use disclosure::population::{ClassSizes, Model, Uniqueness, Equations, individual_risk};
//!
//! // One record, which stands for 92 people: the risk is about 1/92 · ln 92.
//! assert!((individual_risk(1, 92.0) - 0.04969).abs() < 1e-6);
//! // A tenth of the population is in the sample, which has 40 uniques and 20 pairs.
//! let sizes: ClassSizes = [vec![1; 40], vec![2; 20], vec![5; 8]].concat().into_iter().collect();
//! let estimates = Uniqueness::new(&sizes, 0.1, disclosure::Control::none())?;
//! assert_eq!(estimates.dankar(0.1, Equations::Published).0, Model::Zayatz); // Pitman's equations have no solution
//! # Ok::<(), disclosure::Error>(())
//! ```

mod cautious;
mod class_sizes;
mod fixed;
mod gamma;
mod household_risk;
mod independence;
mod individual_risk;
mod log_linear;
mod negative_binomial;
mod pair_model;
mod pitman;
mod sizes;
mod uniqueness;
mod zayatz;

pub use cautious::{CodedWeights, cautious_individual_risks};
pub use class_sizes::ClassSizes;
pub use household_risk::{household_risks, number_households};
pub use individual_risk::{Method, individual_risk, individual_risk_sdcmicro};
pub use log_linear::{Bias, Fit, Interactions, LogLinear, log_linear};
pub use negative_binomial::{Equations, NegativeBinomial};
pub use pitman::Pitman;
pub use sizes::{PopulationSizes, class_risks, sampling_fraction};
pub use uniqueness::{Estimate, Model, Uniqueness, check_fraction};
pub use zayatz::zayatz;
