//! Clues to the label of a column, and how they add up.

use super::{Category, SuggestedLabel, Suggestion};

/// One reason for one label.
#[derive(Debug, Clone)]
pub(super) struct Clue {
    pub(super) label: SuggestedLabel,
    pub(super) category: Category,
    /// Logarithm of the odds that it adds to the label; may be negative.
    pub(super) weight: f64,
    /// The reason as a part of a sentence, without a value of the data.
    pub(super) reason: String,
}

impl Clue {
    pub(super) fn new(
        label: SuggestedLabel,
        category: Category,
        weight: f64,
        reason: impl Into<String>,
    ) -> Clue {
        Clue {
            label,
            category,
            weight,
            reason: reason.into(),
        }
    }

    /// Returns a clue that a column concerns no person.
    pub(super) fn ignore(weight: f64, reason: impl Into<String>) -> Clue {
        Clue::new(SuggestedLabel::Ignore, Category::Technical, weight, reason)
    }
}

/// Adds up the clues of a column. The label with the largest sum is suggested; its confidence is its share when the sums
/// are taken as logarithms of odds.
pub(super) fn add_up(clues: &[Clue]) -> Suggestion {
    let sum = |label: SuggestedLabel| -> Option<f64> {
        let mut weights = clues
            .iter()
            .filter(|clue| clue.label == label)
            .map(|clue| clue.weight)
            .peekable();
        weights.peek()?;
        Some(weights.sum())
    };
    let mut sums: Vec<(SuggestedLabel, f64)> = SuggestedLabel::WORDS
        .iter()
        .filter_map(|&(_, label)| Some((label, sum(label)?)))
        .collect();
    // Of equal sums the first counts, and `ignore` comes first, because a false alarm is as bad as a miss.
    sums.reverse();
    let best = sums
        .iter()
        .fold((SuggestedLabel::Ignore, f64::MIN), |best, &one| {
            if one.1 > best.1 { one } else { best }
        });
    // Labels without a clue have a sum of zero.
    let others = (SuggestedLabel::WORDS.len() - sums.len()) as f64 * 0.35;
    let total: f64 = sums.iter().map(|(_, sum)| sum.exp()).sum::<f64>() + others;
    let mut reasons: Vec<&Clue> = clues
        .iter()
        .filter(|clue| clue.label == best.0 && clue.weight > 0.0)
        .collect();
    reasons.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    let category = match (best.0, reasons.first()) {
        (SuggestedLabel::Ignore, _) | (_, None) => Category::Technical,
        (_, Some(clue)) => clue.category,
    };
    Suggestion {
        label: best.0,
        category,
        confidence: (best.1.exp() / total).clamp(0.0, 0.99),
        evidence: sentence(&reasons),
    }
}

/// Returns the reasons as one sentence, the strongest first.
fn sentence(reasons: &[&Clue]) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for clue in reasons {
        if !clue.reason.is_empty() && !parts.contains(&clue.reason.as_str()) {
            parts.push(&clue.reason);
        }
    }
    if parts.is_empty() {
        return "Nothing says that the column concerns a person.".to_string();
    }
    let joined = parts.join("; ");
    let mut letters = joined.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string())
        .unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

/// Returns what a column of a category holds, in words.
pub(super) fn describe(category: Category) -> &'static str {
    match category {
        Category::Name => "the name of a person",
        Category::Geographic => "an address or a region",
        Category::Date => "a date of a person",
        Category::Phone => "a telephone number",
        Category::Fax => "a fax number",
        Category::Email => "an e-mail address",
        Category::Ssn => "a national number",
        Category::Mrn => "a medical record number",
        Category::HealthPlan => "health insurance",
        Category::Account => "an account",
        Category::Licence => "a licence or document number",
        Category::Vehicle => "a vehicle",
        Category::Device => "a device",
        Category::Url => "a web address",
        Category::Ip => "a network address",
        Category::Biometric => "a biometric feature",
        Category::Photo => "a picture",
        Category::OtherId => "an identifying number",
        Category::Health => "health",
        Category::Ethnicity => "ethnic origin",
        Category::Religion => "religion",
        Category::Politics => "political opinions",
        Category::Union => "a trade union",
        Category::Genetic => "genetic data",
        Category::SexLife => "sex life",
        Category::Demographic => "a demographic feature",
        Category::Financial => "money",
        Category::Location => "a location",
        Category::Credential => "a password or token",
        Category::FreeText => "free text",
        Category::Technical => "a technical matter",
        Category::Education => "education",
        Category::Offence => "an offence",
    }
}
