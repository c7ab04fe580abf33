//! Suggested labels, as far as an assessment takes them for right.

use crate::error::Error;
use disclosure::columns::suggestions::{SuggestedLabel, Suggestion};
use pgrx::pg_sys::Oid;

/// Confidence from which on a suggestion is taken for right.
const LIKELY: f64 = 0.5;

/// Returns whether a suggestion is taken for right.
pub fn is_likely(suggestion: &Suggestion) -> bool {
    suggestion.confidence >= LIKELY
}

/// Returns the label that a suggestion stands for; `None` if it is not likely, or there is no such label.
pub fn label(suggestion: &Suggestion) -> Option<&'static str> {
    let can_be_set = suggestion.label != SuggestedLabel::Count;
    (can_be_set && is_likely(suggestion)).then(|| suggestion.label.name())
}

/// Returns the suggestions for the columns of a relation.
pub fn of_relation(_relation: Oid) -> Result<Vec<Suggestion>, Error> {
    Ok(Vec::new())
}
