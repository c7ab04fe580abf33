//! Attribute inference: the privacy score of White (A Privacy Score for Anonymous Databases, 2021).
//!
//! An adversary knows some attributes K of a row. They infer everything else that all rows with K have in
//! common: the *closure* of K without K itself. How bad that is depends on how likely the adversary is to
//! know K and on how harmful the inferred attributes are. A row's score is the weight of the worst inference
//! from any set K of its attributes:
//!
//! ```text
//! priv(i) = max over K ⊆ Att(i) of  lk(K) · dg(closure(K) \ K)       Definitions 3.1 and 3.2
//! lk(K)   = product of l(x), x ∈ K                                   Definition 3.3
//! dg(I)   = D / (c + D) with D = sum of d(x), x ∈ I, and c = 1       Definition 3.4
//! ```
//!
//! Section 3.4 of the paper leaves room for probable inferences ([`Settings::min_confidence`] and
//! [`Settings::joint_confidence`]). Values that are unknown ([`Nulls::Unknown`]) and values that everybody would guess
//! ([`discount_common`]) are our additions.
//!
//! Scores are exact up to a relative error of 1e-12. If a budget ran out, they are certified bounds instead.
//! They do not depend on the number of threads.
//!
//! In the following example, an adversary may know the ZIP codes of three patients but not their diagnoses.
//! The only patient in 10001 has HIV, so the diagnosis follows from the ZIP code. The two patients in 90210
//! have no diagnosis in common, so nothing follows:
//!
//! ```
//! use disclosure::classes::Classes;
//! use disclosure::inference::{Column, PackedTable, Settings, scores};
//! use disclosure::{Control, Encoder, Label, Rows};
//!
//! let (mut zip, mut diagnosis) = (Encoder::new(), Encoder::new());
//! let zips = zip.encode_all([Some(90210), Some(90210), Some(10001)])?;
//! let diagnoses = diagnosis.encode_all([Some("flu"), None, Some("hiv")])?;
//! let (mut classes, mut class_of_row) = (Classes::new(2), Vec::new());
//! classes.extend(Rows::new(&[&zips, &diagnoses], 3), |class| class_of_row.push(class))?;
//! let columns = [Column::labelled(zip.len(), Label::Quasi), Column::labelled(diagnosis.len(), Label::Sensitive)];
//! let table = PackedTable::new(&classes, &columns, Control::none())?;
//! let scores = scores(&table, &Settings::default(), Control::none())?;
//! let score = |row: usize| scores.upper[table.row_of_class(class_of_row[row] as usize)];
//! assert_eq!([0, 1, 2].map(score), [0.0, 0.0, 0.5]);
//! # Ok::<(), disclosure::Error>(())
//! ```
//!
//! # Numberings
//!
//! | what is numbered | number | assigned by |
//! |---|---|---|
//! | a value in its column | *code*, from 1; 0 is NULL | [`Encoder`](crate::Encoder) |
//! | an attribute that a value gives a row | *attribute*: column, and index from 0 | [`Column`] |
//! | an attribute in a packed row | *slot*, and *slot code* from 1; 0 is no attribute | [`PackedTable`] |
//! | a row of the table | *position*, from 0 | the caller |
//! | all rows with equal codes | *class*, from 0 | [`Classes`](crate::classes::Classes) |
//! | all rows with equal attributes | *distinct row*, from 0 | [`PackedTable::row_of_class`] |

mod bins;
mod bitset;
mod blanks;
mod blocked;
mod by_people;
mod column;
mod confidence;
mod decoys;
mod discount;
mod explain;
mod few_rows;
mod fewest;
mod holes;
mod inferences;
mod information;
mod joint;
mod new_row;
mod packed_table;
mod partition;
mod people;
mod pool;
mod postings;
mod quasi_only;
mod redundant;
mod remedies;
mod remedy_plan;
mod row_by_row;
mod score;
mod search;
mod summary;
mod waiting;

pub use bins::{Bin, Binning, Bins};
pub use blanks::Blank;
pub use column::{Attribute, AttributesOfValue, Column, Nulls};
pub use decoys::{Decoy, DecoyMethod, DecoySettings, OriginalRowsSummary, decoys};
pub use discount::discount_common;
pub use explain::{Explanations, Inference, InferredAttribute, explain};
pub use fewest::fewest_known;
pub use holes::{Hole, HoleSettings, Holes, holes};
pub use inferences::{InferenceListSettings, InferenceOrder, Inferences, inferences};
pub use information::CellInformation;
pub use new_row::{Lookup, RowScore, score_row};
pub use packed_table::PackedTable;
pub use people::People;
pub use remedies::{Change, EndedBy, Remedies, RemedySettings, Suppression, ThresholdSummary, remedies};
#[doc(hidden)]
pub use score::Algorithm;
pub use score::{Scores, Settings, scores};
pub use summary::{ScoreSummary, SummarySettings};
