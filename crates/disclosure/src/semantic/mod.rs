//! Semantic attack on set-generalised transactions (Ong 2015): how much of the cover that generalisation adds survives
//! an attacker who knows what words mean?
//!
//! A *transaction* is a list of items, some of which are *generalised*: sets of items, of which at least one is
//! *original* and the others are *cover*. Items that are not generalised are the *context*. How far the members of a
//! generalised item are from the contexts in which it occurs makes a [`DistanceTable`], from which an attack
//! [eliminates](eliminate) what seems to be cover.

mod coat;
mod constraints;
mod distances;
mod elimination;
mod km;
mod transactions;
mod unmarked;

pub use coat::{coat, Coat, Constraints, Fate, GeneralisedItem, SuppressedItem};
pub use constraints::{broken_constraints, Broken};
pub use distances::DistanceTable;
pub use elimination::{Elimination, Eliminations, Method, Strategy, Threshold, Vulnerability};
pub use km::{km_anonymity, km_violations, Violation};
pub use transactions::{Entry, Transactions};
pub use unmarked::{mark_generalised, Known, Rule};
