//! Perfect matchings of bipartite graphs: which codes can be which items.

mod admissible;
mod counting;
mod graph;
mod perfect;
mod plan;
mod weight;

pub use admissible::admissible;
pub use counting::{Counting, Shares};
pub use graph::{Graph, ItemClass};
pub(crate) use perfect::{maximum, perfect};
