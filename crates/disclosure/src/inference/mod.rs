//! Attribute inference: the privacy score of White (A Privacy Score for Anonymous Databases, 2021).
//!
//! An attacker knows some attributes K of a row. Whatever else all rows with K have in common, the
//! *closure* of K without K itself, he infers. How bad that is depends on how likely he knows K and on
//! how much the inferred attributes hurt; a row's score is the worst of all K that it has:
//!
//! ```text
//! priv(i) = max over K ⊆ Att(i) of  lk(K) · dg(closure(K) \ K)       Definitions 3.1 and 3.2
//! lk(K)   = product of l(x), x ∈ K                                   Definition 3.3
//! dg(I)   = D / (c + D) with D = sum of d(x), x ∈ I, and c = 1       Definition 3.4
//! ```
//!
//! Scores are exact up to 1e-12 of their value, or, where a budget ran out, certified bounds. They do not
//! depend on the number of threads.

mod blocked;
mod column;
mod confidence;
mod cuts;
mod decoys;
mod explain;
mod holes;
mod partition;
mod population;
mod postings;
mod remedies;
mod rules;
mod runs;
mod score;
mod search;
mod single;
mod words;

pub use column::{Attribute, Column, Meaning};
pub use decoys::{Decoy, Summary, decoys};
pub use explain::{Explanations, Inference, Inferred, explain};
pub use holes::{Hole, Holes, holes};
pub use population::Population;
pub use remedies::{Remedies, State, Suppression, remedies};
pub use rules::{RuleSettings, Rules, rules};
pub use score::{Scores, Search, Settings, scores};
pub use single::{Lookup, RowScore, score_row};
