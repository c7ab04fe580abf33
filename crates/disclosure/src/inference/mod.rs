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

mod bitset;
mod blocked;
mod column;
mod confidence;
mod decoys;
mod explain;
mod holes;
mod new_row;
mod packed_table;
mod partition;
mod postings;
mod quasi_only;
mod remedies;
mod row_by_row;
mod rules;
mod score;
mod search;

pub use column::{Attribute, Column, Meaning};
pub use decoys::{Decoy, Summary, decoys};
pub use explain::{Explanations, Inference, Inferred, explain};
pub use holes::{Hole, Holes, holes};
pub use new_row::{Lookup, RowScore, score_row};
pub use packed_table::PackedTable;
pub use remedies::{Remedies, State, Suppression, remedies};
pub use rules::{RuleSettings, Rules, rules};
pub use score::{Scores, Search, Settings, scores};
