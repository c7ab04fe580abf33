//! Judges a table by criteria, such as "k at least 5".
//!
//! A [`Criterion`] limits a [`Measure`]. Comparing it with what was [`Measured`] gives a [`Verdict`]. The verdict of
//! several criteria is [`overall`]: unsafe if any of them fails, otherwise unknown if any of them is not known,
//! otherwise safe. A criterion without a limit shows a figure, and takes no part in the verdict.
//!
//! ```
//! use disclosure::assess::{Criterion, Measure, Measured, Verdict, overall};
//!
//! let k = Criterion { measure: Measure::KAnonymity, at_least: Some(5.0), at_most: None };
//! k.check()?;
//! let met = k.verdict(Measured::exactly(7.0));
//! let not_known = k.verdict(Measured::Unknown);
//! assert_eq!((met, not_known), (Some(Verdict::Safe), Some(Verdict::Unknown)));
//! assert_eq!(overall([met, not_known]), Verdict::Unknown);
//! # Ok::<(), disclosure::Error>(())
//! ```

mod criterion;
mod measure;

pub use criterion::{Criterion, Measured, Verdict, overall, severity};
pub use measure::{AggregateFigure, Measure, PopulationFigure};
