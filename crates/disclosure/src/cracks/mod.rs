//! Cracks: how many anonymised items can a rival name who knows roughly how often each occurs?
//!
//! Names were replaced by codes, but frequencies still show. A rival's *belief* says in which interval the
//! frequency of each item lies; a *crack mapping* gives every code an item whose interval holds the code's
//! frequency; an item is *cracked* where the mapping gives its own code to it. All crack mappings are
//! equally likely. Definitions are those of Lakshmanan, Ng and Ramesh, 2008.

mod belief;
mod correlation_recipe;
mod estimate;
mod expected;
mod frequencies;
mod itemsets;
mod known_pairs;
mod pairs;
mod recipe;
mod reidentification;
mod sampling;
mod simulate;
mod space;
mod summary;
mod transactions;

pub use belief::{Belief, Width};
pub use correlation_recipe::{CorrelationQuestion, CorrelationRisk, KnownPairs, assess_correlation_risk};
pub use estimate::{o_estimate, o_estimate_items, propagated, propagated_items};
pub use expected::{Expected, Method, Settings, cautious, expected};
pub use frequencies::{Frequencies, Gaps};
pub use itemsets::{
    ItemsetCracks, ignorant_itemset_cracks, ignorant_itemset_probability, point_valued_itemset_cracks,
    point_valued_itemset_probability,
};
pub use known_pairs::{NEARLY_ALWAYS, filter_edges, refine_beliefs};
pub use pairs::{CoOccurrence, Pair, apart_pairs, top_pairs};
pub use recipe::{
    AlphaPoint, Assessment, Compliance, Decision, Estimate, Interest, ItemsetAssessment, ItemsetMethod,
    ItemsetQuestion, Stage, alpha_curve, assess_itemset_risk, assess_risk,
};
pub use reidentification::{Knowledge, Reidentification};
pub use sampling::{Compliancy, Similarity, similarity_by_sampling};
pub use simulate::{
    Apart, Moves, Simulated, SimulatedItemsets, Simulation, simulate, simulate_apart, simulate_as_published,
    simulate_itemsets,
};
pub use space::CrackSpace;
pub use summary::{ItemSummary, Name, SummaryError, SummaryWriter};
pub use transactions::Transactions;
