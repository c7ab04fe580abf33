//! Tests of `disclosure::cracks`: cracks of anonymised items.

mod columns;
mod correlation_recipe;
mod expected;
mod item_counts;
mod itemset_numbers;
mod itemsets;
mod known_pairs;
mod limits;
mod o_estimate;
mod pairs;
mod recipe;
mod reidentification;
mod simulate;
mod spaces;
mod vulnerable;
