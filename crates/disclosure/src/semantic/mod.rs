//! Semantic attack on set-generalised transactions (Ong 2015): how much of the cover that generalisation adds survives
//! an attacker who knows what words mean?
//!
//! A *transaction* is a list of items, some of which are *generalised*: sets of items, of which at least one is
//! *original* and the others are *cover*. Items that are not generalised are the *context*. How far the members of a
//! generalised item are from the contexts in which it occurs makes a [`DistanceTable`], from which an attack
//! [eliminates](eliminate) what seems to be cover.
//!
//! Distances come from a [`Scoring`]: counts of documents with two [`Terms`], of a [`Corpus`] or from elsewhere, or
//! [`Embeddings`].

mod attack;
mod calibration;
mod cluster_attack;
mod clusters;
mod coat;
mod constraints;
mod cooccurrence;
mod corpus;
mod distances;
mod elimination;
mod embeddings;
mod gba;
mod km_anonymity;
mod mda;
mod ngd;
mod quality;
mod random_baseline;
mod rba;
mod remaining;
mod scoring;
mod target;
mod tba;
mod terms;
mod transactions;
mod unmarked;
mod wba;
mod words;

pub use attack::{attack, distance_tables, left_over};
pub use calibration::{Bin, Calibration, Twin, reliability};
pub use coat::{Coat, Constraints, Fate, GeneralisedItem, SuppressedItem, coat};
pub use constraints::{Broken, broken_constraints};
pub use cooccurrence::Cooccurrence;
pub use corpus::{Corpus, Wanted};
pub use distances::DistanceTable;
pub use elimination::{Elimination, Eliminations, Method, Strategy, Threshold, Vulnerability, eliminate};
pub use embeddings::Embeddings;
pub use km_anonymity::{Violation, km_anonymity, km_violations};
pub use ngd::normalised_google_distance;
pub use quality::Quality;
pub use scoring::Scoring;
pub use target::{Occurrence, Target};
pub use terms::{LexemeTerms, Scratch, Terms};
pub use transactions::{Entry, Transactions};
pub use unmarked::{Known, Rule, mark_generalised};
pub use words::Folding;
