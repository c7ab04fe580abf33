//! Suggests labels for the columns of a table.
//!
//! First the table is looked at as a whole: what its rows are (persons, events of persons, organisations, things, codes,
//! settings), by the nouns of its name and by what its columns are called, and in which language. Then each column gets
//! clues: the assumption that it concerns no person; its name or its role as a key, or else its type or what most other
//! columns are about; its comment, its statistics and its values. A clue adds a number to one label, as the logarithm of
//! odds. A term counts more the more of the name it explains. A term that is ordinary in tables about things, such as a
//! city or a date, counts only as far as the table is about persons. The label with the largest sum is suggested, and its
//! share is its confidence. The evidence names the clues that spoke for it, the strongest first.

mod anonymizer;
mod category;
mod clues;
mod dictionary;
mod facts;
mod measured;
mod name_words;
mod reading;
mod rules;
mod table_kind;
mod term_files;

use crate::figures::named_in;
pub use anonymizer::AnonymizerRule;
pub use category::Category;
pub use dictionary::{Dictionary, Matching, Term};
pub use facts::{ColumnFacts, ColumnStatistics, TableFacts, TypeKind};
pub use name_words::split_words;
use reading::Reading;
use rules::Rules;
use table_kind::{Context, TableKind};

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

    /// Returns what a word in SQL stands for.
    pub fn named(word: &str) -> Option<Self> {
        named_in(&Self::WORDS, word)
    }

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
pub fn suggest(table: &TableFacts, dictionary: &Dictionary) -> Vec<Suggestion> {
    let mut readings = reading::read_names(table, dictionary);
    let languages = reading::count_languages(&readings, dictionary);
    let main = reading::main_languages(&languages);
    for reading in &mut readings {
        reading.nouns = dictionary.nouns(&reading.words, &main);
    }
    let best = |(reading, facts): (&Reading, &ColumnFacts)| {
        reading.best(dictionary, &languages, |term| rules::fits_type(term, facts))
    };
    let best: Vec<_> = readings.iter().zip(&table.columns).map(best).collect();

    let context = Context::new(table, &readings, &best, &languages, dictionary);
    let columns = table.columns.iter().zip(&readings).zip(&best);
    let suggest = |((facts, reading), best): ((_, _), &Option<_>)| {
        let best = best.as_ref();
        let rules = Rules {
            facts,
            reading,
            best,
            context: &context,
            languages: &languages,
            dictionary,
        };
        clues::add_up(&rules.clues())
    };
    columns.map(suggest).collect()
}
