//! Semantic attack on set-generalised transactions (Ong 2015): how much of the cover that generalisation adds survives
//! an attacker who knows what words mean?
//!
//! A *transaction* is a list of items, some of which are *generalised*: sets of items, of which at least one is
//! *original* and the others are *cover*. Items that are not generalised are the *context*. How far the members of a
//! generalised item are from the contexts in which it occurs makes a [`DistanceTable`], from which an attack
//! [eliminates](eliminate) what seems to be cover.

mod distances;
mod elimination;
mod gba;
mod grouping;
mod groups;
mod left;
mod mda;
mod random;
mod rba;
mod tba;
mod transactions;
mod wba;

pub use distances::DistanceTable;
pub use elimination::{eliminate, Elimination, Eliminations, Method, Strategy, Threshold, Vulnerability};
pub use transactions::{Entry, Transactions};
