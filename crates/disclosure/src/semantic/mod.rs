//! Semantic attacks on transactions anonymised by set-based generalisation (Ong 2015): how much of the cover
//! that generalisation adds survives an adversary who knows what words mean?
//!
//! A *transaction* is a list of items. Some of them are *generalised*: sets of items, of which at least one
//! is *original* and the others are *cover*. Items that are not generalised are the *context*. The distances
//! of the members of a generalised item from the contexts in which it occurs make a [`DistanceTable`], from
//! which an attack [eliminates](eliminate) the cells that seem to be cover.
//!
//! Distances come from a [`Scoring`]: either [`Embeddings`], or the [`Cooccurrence`] of [`Terms`] in the
//! documents of a [`Corpus`], which may also be counted elsewhere. A [`ReleaseAttack`] is a complete attack
//! on released transactions. Its settings may be left [open](OpenSettings); then they are [chosen](Choice)
//! without the original. Without any distances, [`place_attack()`] looks at the order of items instead.
//!
//! Transactions are protected by [COAT](coat()) and checked by [`broken_constraints`] and [`km_anonymity()`].
//! If generalised items were released without marks, [`mark_generalised`] guesses which items they are.
//!
//! ```
//! use disclosure::semantic::{DistanceTable, Method, Strategy, eliminate};
//!
//! // Four patients, who each have one or more of blood pressure, icd, limbs and injury: the distances of
//! // these four from the other words in the record of each patient (Ong 2015, Figure 3.6).
//! let distances = vec![
//!     0.56, 0.78, 1.57, 2.19, // heart disease
//!     1.75, 0.58, 1.74, 1.53, // anesthesia
//!     2.60, 2.93, 1.78, 1.49, // gangrene
//!     1.60, 1.51, 1.89, 1.03, // knee
//! ];
//! let table = DistanceTable::new(4, distances)?;
//! let strategy = Strategy { method: Method::Tba, ..Strategy::default() };
//! let attack = eliminate(&table, &strategy, &disclosure::Control::new())?;
//! // Eight of the sixteen cells are further away than the mean. The furthest is icd in the row of gangrene.
//! assert_eq!(attack.cells.len(), 8);
//! assert_eq!((attack.cells[0].row, attack.cells[0].column), (2, 1));
//! # Ok::<(), disclosure::Error>(())
//! ```

mod attack;
mod calibration;
mod choice;
mod cluster_attack;
mod clusters;
mod coat;
mod coat_search;
mod constraints;
mod cooccurrence;
mod corpus;
mod distances;
mod elimination;
mod embeddings;
mod gba;
mod item_order;
mod km_anonymity;
mod lexemes;
mod mda;
mod ngd;
mod place_attack;
mod quality;
mod random_baseline;
mod rba;
mod release_attack;
mod remaining;
mod scoring;
mod settings;
mod target;
mod tba;
mod terms;
mod transactions;
mod unknown_constraints;
mod unmarked;
mod wba;
mod words;

pub use attack::{attack, distance_tables, remaining_items};
pub use calibration::{Calibration, ReliabilityBin, Twin, reliability_bins};
pub use choice::Choice;
pub use coat::{Coat, Constraints, GeneralisedItem, SuppressedItem, Treatment, coat};
pub use constraints::{BrokenConstraint, broken_constraints, check_k};
pub use cooccurrence::Cooccurrence;
pub use corpus::{Corpus, PairSelection};
pub use distances::DistanceTable;
pub use elimination::{Elimination, Eliminations, Method, Strategy, Threshold, Vulnerability, eliminate};
pub use embeddings::Embeddings;
pub use item_order::ItemOrder;
pub use km_anonymity::{Violation, check_m, km_anonymity, km_violations};
pub use lexemes::for_each_lexeme;
pub use ngd::normalised_google_distance;
pub use place_attack::{LearntOrder, ListOrder, place_attack, text_rankings};
pub use quality::{DensityBin, Quality, check_density_bounds, density_bins};
pub use release_attack::{
    AttackResult, Cell, ConstraintAfterAttack, OriginalItems, ReleaseAttack, ReleaseAttackSettings,
};
pub use scoring::Scoring;
pub use settings::{AttackSettings, Combination, DistanceSettings, OpenSettings};
pub use target::{Occurrence, Target};
pub use terms::{LexemeTerms, SearchBuffer, Terms};
pub use transactions::{Entry, Transactions};
pub use unknown_constraints::unknown_constraints;
pub use unmarked::{GeneralisationKnowledge, MarkingRule, mark_generalised};
pub use words::Folding;
