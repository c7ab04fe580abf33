//! Perfect matchings of bipartite graphs: which codes can be which items.

mod graph;
mod perfect;

pub use graph::{Graph, ItemClass};
pub(crate) use perfect::{maximum, perfect};
