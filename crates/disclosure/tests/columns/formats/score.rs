//! Precision and recall of suggestions, per label.

use disclosure::columns::formats::{FormatCounts, ValueSuggestion};
use disclosure::columns::suggestions::SuggestedLabel;
use std::collections::BTreeMap;

/// A column whose label is known. Alternatives are separated by `|`.
#[derive(Debug, Clone)]
pub struct KnownColumn {
    pub name: String,
    pub label: String,
    pub category: String,
    pub values: Vec<String>,
}

impl KnownColumn {
    pub fn suggestion(&self) -> Option<ValueSuggestion> {
        let mut counts = FormatCounts::default();
        self.values.iter().for_each(|value| counts.count(value));
        counts.suggestion()
    }
}

/// Counts of right and wrong suggestions of a label.
#[derive(Debug, Clone, Copy, Default)]
pub struct Score {
    pub right: u32,
    pub false_alarms: u32,
    pub missed: u32,
}

impl Score {
    pub fn precision(&self) -> f64 {
        f64::from(self.right) / f64::from((self.right + self.false_alarms).max(1))
    }

    pub fn recall(&self) -> f64 {
        f64::from(self.right) / f64::from((self.right + self.missed).max(1))
    }
}

/// Returns the scores per label, and in all under the key `all`, and prints what is wrong.
pub fn scores(columns: &[KnownColumn]) -> BTreeMap<String, Score> {
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    for column in columns {
        let suggestion = column.suggestion();
        let label = suggestion
            .as_ref()
            .map_or(SuggestedLabel::Ignore, |suggestion| suggestion.label);
        let category = suggestion
            .as_ref()
            .map_or("technical", |suggestion| suggestion.category.name());
        let mut labels = column.label.split('|');
        let is_ignored = label == SuggestedLabel::Ignore;
        let is_right = labels.clone().any(|known| known == label.name())
            && (is_ignored || column.category.split('|').any(|known| known == category));
        let mut add = |label: &str, count: fn(&mut Score)| {
            count(scores.entry(label.to_string()).or_default());
            count(scores.entry("all".to_string()).or_default());
        };
        match is_right {
            true if is_ignored => scores.entry("ignore".to_string()).or_default().right += 1,
            true => add(label.name(), |score| score.right += 1),
            false => {
                println!(
                    "{} ({} {}): {suggestion:?}",
                    column.name, column.label, column.category
                );
                if !is_ignored {
                    add(label.name(), |score| score.false_alarms += 1);
                }
                match labels.next() {
                    Some(known) if known != "ignore" => add(known, |score| score.missed += 1),
                    _ => scores.entry("ignore".to_string()).or_default().missed += 1,
                }
            }
        }
    }
    for (label, score) in &scores {
        println!(
            "{label}: {score:?}, precision {:.3}, recall {:.3}",
            score.precision(),
            score.recall()
        );
    }
    scores
}
