//! Perfect matchings of bipartite graphs between codes and items: which items a code can stand for.
//!
//! ```
//! use disclosure::Control;
//! use disclosure::matching::{Counting, Graph, ItemClass};
//!
//! // Two codes of one class, one of another. Two items can have any code, the third only one of class 0.
//! let graph = Graph {
//!     codes: vec![2, 1],
//!     items: vec![
//!         ItemClass { size: 2, candidates: vec![0, 1] },
//!         ItemClass { size: 1, candidates: vec![0] },
//!     ],
//! };
//! let counting = Counting::new(&graph, &Control::new())?;
//! let shares = counting.shares(&Control::new())?.expect("there is a perfect matching");
//! // 2 codes for the third item, and then 2 ways to assign the other two: 4 matchings.
//! assert!((shares.ln_matchings - 4.0_f64.ln()).abs() < 1e-12);
//! // An item of the first class gets a code of the first class in half of them.
//! assert!((shares.of_class[0][0] - 0.5).abs() < 1e-12);
//! # Ok::<(), disclosure::Error>(())
//! ```

mod admissible;
mod components;
mod counting;
mod graph;
mod perfect;
mod plan;
mod weight;

pub use admissible::admissible;
pub(crate) use components::{Components, first_of};
pub use counting::{Counting, Shares};
pub use graph::{Graph, ItemClass};
pub(crate) use perfect::{maximum_matching, perfect_matching};
pub(crate) use weight::{Weight, Wide};
