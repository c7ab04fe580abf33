//! Suggests labels for the columns of a table.

mod anonymizer;
mod category;
mod dictionary;
mod facts;
mod measured;
mod name_words;
mod table_kind;
mod term_files;

pub use anonymizer::AnonymizerRule;
pub use category::Category;
pub use dictionary::{Dictionary, Matching, Term};
pub use facts::{ColumnFacts, ColumnStatistics, TableFacts, TypeKind};
use table_kind::TableKind;

/// Label that is suggested for a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SuggestedLabel {
    /// Identifies one individual on its own.
    Identifier,
    /// Known to outsiders.
    Quasi,
    /// Must not be learned.
    Sensitive,
    /// Says whom the row is about.
    Person,
    /// Says which household the row is about.
    Household,
    /// Sampling weight.
    Weight,
    /// Number of units that the row stands for. There is no such label yet, so it is suggested and not applied.
    Count,
    /// Takes no part in any measure.
    Ignore,
}

impl SuggestedLabel {
    /// The labels with their words in SQL.
    pub const WORDS: [(&str, SuggestedLabel); 8] = [
        ("identifier", SuggestedLabel::Identifier),
        ("quasi", SuggestedLabel::Quasi),
        ("sensitive", SuggestedLabel::Sensitive),
        ("person", SuggestedLabel::Person),
        ("household", SuggestedLabel::Household),
        ("weight", SuggestedLabel::Weight),
        ("count", SuggestedLabel::Count),
        ("ignore", SuggestedLabel::Ignore),
    ];

    /// Returns the word in SQL.
    pub fn name(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

/// Suggestion for one column.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    /// Label that fits best.
    pub label: SuggestedLabel,
    /// What the column is about.
    pub category: Category,
    /// Estimated probability that label and category are right, from 0 to 1.
    pub confidence: f64,
    /// Why, in words and numbers that contain no value of the data.
    pub evidence: String,
}

/// Returns a suggestion for each column, in their order.
pub fn suggest(table: &TableFacts, _dictionary: &Dictionary) -> Vec<Suggestion> {
    let nothing = || Suggestion {
        label: SuggestedLabel::Ignore,
        category: Category::Technical,
        confidence: 0.0,
        evidence: String::new(),
    };
    table.columns.iter().map(|_| nothing()).collect()
}
