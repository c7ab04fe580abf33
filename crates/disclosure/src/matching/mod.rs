//! Perfect matchings of bipartite graphs: which codes can be which items.

mod admissible;
mod components;
mod counting;
mod graph;
mod perfect;
mod plan;
mod weight;

pub use admissible::admissible;
pub(crate) use components::Components;
pub use counting::{Counting, Shares};
pub use graph::{Graph, ItemClass};
pub(crate) use perfect::{maximum, perfect};
pub(crate) use weight::{Weight, Wide};
