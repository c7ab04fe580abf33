//! Cracks: how many anonymised items can an adversary identify from approximate frequencies?
//!
//! Names were replaced by codes, but each code still occurs as often as its item. An adversary's *belief* is
//! an interval for the frequency of each item. A *crack mapping* assigns a different item to every code such
//! that the frequency of the code lies in the interval of the item. It *cracks* an item if it assigns the
//! item to its own code. All crack mappings are equally likely. The definitions are those of Lakshmanan, Ng
//! and Ramesh (2008), who call the adversary a *hacker*.
//!
//! ```
//! use disclosure::Control;
//! use disclosure::cracks::{Adversary, Scenario, Settings, Width, expected_cracks};
//!
//! // BigMart (Fig. 1 of the paper): ten transactions, and the number of them that contain each of six items.
//! // The adversary knows every frequency to within 0.1.
//! let adversary = Adversary { width: Width::Share(0.1), ..Adversary::default() };
//! let scenario = Scenario::new(10, [5, 4, 5, 5, 3, 5], None, &adversary)?;
//! let found = expected_cracks(&scenario.space, &Settings::default(), &Control::new())?;
//! let cracks = found.expect("the truth agrees with this belief").expected;
//! assert!((cracks - 11.0 / 6.0).abs() < 1e-12); // 1.8333 of six items
//! # Ok::<(), disclosure::Error>(())
//! ```

mod belief;
mod columns;
mod correlation_recipe;
mod expected;
mod frequencies;
mod item_counts;
mod itemsets;
mod known_pairs;
mod o_estimate;
mod pairs;
mod recipe;
mod reidentification;
mod sampling;
mod scenario;
mod simulate;
mod space;
mod transactions;
mod vulnerable;

pub use belief::{Belief, Width};
pub use columns::expected_cracks_of_each;
pub use correlation_recipe::{CorrelationRisk, CorrelationSettings, KnownPairs, assess_correlations};
pub use expected::{ExpectedCracks, Method, Settings, cautious_probabilities, expected_cracks};
pub use frequencies::{Frequencies, Gaps};
pub use item_counts::{SqlName, StoredCounts, StoredCountsError, StoredCountsWriter};
pub use itemsets::{
    CountedItemsets, ExpectedItemsetCracks, ItemsetCracks, ItemsetRisk, expected_itemset_cracks,
    ignorant_itemset_cracks, ignorant_itemset_probability, point_valued_itemset_cracks,
    point_valued_itemset_probability,
};
pub use known_pairs::{NEARLY_ALWAYS, filter_edges, refine_beliefs};
pub use o_estimate::{o_estimate, o_estimate_items, propagated, propagated_items};
pub use pairs::{CoOccurrence, Pair, apart_pairs, top_pairs};
pub use recipe::{
    AlphaPoint, BoundedShare, ComplianceRuns, ItemAssessment, ItemSettings, ItemsetAssessment, ItemsetMethod,
    ItemsetSettings, ItemsetsOfInterest, Stage, Verdict, alpha_curve, assess_items, assess_itemsets,
};
pub use reidentification::{Knowledge, Reidentification};
pub use sampling::{Compliancy, SamplingSettings, Similarity, similarity_by_sampling};
pub use scenario::{Adversary, Scenario};
pub use simulate::{
    Apart, Moves, Simulated, SimulatedItemsets, Simulation, simulate, simulate_apart, simulate_as_published,
    simulate_itemsets,
};
pub use space::CrackSpace;
pub use transactions::Transactions;
pub use vulnerable::{VulnerableItemset, VulnerableItemsets, vulnerable_itemsets};
