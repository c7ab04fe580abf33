//! Perfect matchings of bipartite graphs: which codes can be which items.

mod graph;

pub use graph::{Graph, ItemClass};
