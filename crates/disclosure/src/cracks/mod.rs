//! Cracks: how many anonymised items can a rival name who knows roughly how often each occurs?
//!
//! Names were replaced by codes, but frequencies still show. A rival's *belief* says in which interval the
//! frequency of each item lies; a *crack mapping* gives every code an item whose interval holds the code's
//! frequency; an item is *cracked* where the mapping gives its own code to it. All crack mappings are
//! equally likely. Definitions are those of Lakshmanan, Ng and Ramesh, 2008.

mod belief;
mod frequencies;
mod itemsets;
mod recipe;
mod space;

pub use belief::{Belief, Width};
pub use frequencies::{Frequencies, Gaps};
pub use itemsets::{
    ignorant_itemset_cracks, ignorant_itemset_probability, point_valued_itemset_cracks,
    point_valued_itemset_probability, ItemsetCracks,
};
pub use recipe::{
    alpha_curve, assess_itemset_risk, assess_risk, AlphaPoint, Assessment, Compliance, Decision, Estimate,
    Interest, ItemsetAssessment, ItemsetMethod, ItemsetQuestion, Stage,
};
pub use space::CrackSpace;
