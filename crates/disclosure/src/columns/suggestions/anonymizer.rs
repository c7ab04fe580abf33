//! Labels of the extension postgresql_anonymizer.

use super::{Category, SuggestedLabel, Suggestion};

/// What a label of postgresql_anonymizer says about a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnonymizerRule {
    /// `MASKED WITH VALUE …` or `MASKED WITH FUNCTION …`: the value must not be shown.
    Masked,
    /// `NOT MASKED`: the value may be shown.
    NotMasked,
    /// `QUASI IDENTIFIER` or `INDIRECT IDENTIFIER`.
    Indirect,
}

/// Confidence in what somebody has declared.
const DECLARED: f64 = 0.95;

/// Confidence from which on the suggestion says what kind of masked column it is.
const LIKELY: f64 = 0.5;

impl AnonymizerRule {
    /// Reads a label; `None` if it is of another provider or says nothing about the column. Versions before 1.2 had
    /// indirect identifiers under the provider `anon`.
    pub fn of_label(provider: &str, label: &str) -> Option<Self> {
        let label = label.trim().to_ascii_uppercase();
        let is_indirect = ["QUASI IDENTIFIER", "INDIRECT IDENTIFIER"].contains(&&label[..]);
        match provider {
            "anon" | "k_anonymity" if is_indirect => Some(AnonymizerRule::Indirect),
            "anon" if label == "NOT MASKED" => Some(AnonymizerRule::NotMasked),
            "anon" if label.starts_with("MASKED WITH ") => Some(AnonymizerRule::Masked),
            _ => None,
        }
    }

    /// Returns the suggestion that takes the label over. A masked column keeps the label that was suggested if that is a
    /// likely label of personal data; otherwise, it is an identifier.
    pub fn apply(self, suggestion: Suggestion) -> Suggestion {
        let (label, category, confidence, rule) = match self {
            AnonymizerRule::Indirect => (
                SuggestedLabel::Quasi,
                personal(suggestion.category, Category::Demographic),
                DECLARED,
                "postgresql_anonymizer has it as an indirect identifier.",
            ),
            AnonymizerRule::Masked => {
                let is_kept = suggestion.confidence >= LIKELY && is_personal(suggestion.label);
                let label = match is_kept {
                    true => suggestion.label,
                    false => SuggestedLabel::Identifier,
                };
                let category = match is_kept {
                    true => suggestion.category,
                    false => personal(suggestion.category, Category::OtherId),
                };
                (
                    label,
                    category,
                    suggestion.confidence.max(DECLARED),
                    "postgresql_anonymizer masks it.",
                )
            }
            AnonymizerRule::NotMasked => (
                suggestion.label,
                suggestion.category,
                suggestion.confidence,
                "postgresql_anonymizer has it as not masked.",
            ),
        };
        let evidence = match &suggestion.evidence[..] {
            "" => rule.to_string(),
            other => format!("{rule} {other}"),
        };
        Suggestion {
            label,
            category,
            confidence,
            evidence,
        }
    }
}

/// Returns whether a label says that a column is about people.
fn is_personal(label: SuggestedLabel) -> bool {
    !matches!(
        label,
        SuggestedLabel::Ignore | SuggestedLabel::Weight | SuggestedLabel::Count
    )
}

/// Returns the category, or the other one if it says that the column is about no person.
fn personal(category: Category, otherwise: Category) -> Category {
    match category {
        Category::Technical => otherwise,
        category => category,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggestion(label: SuggestedLabel, category: Category, confidence: f64) -> Suggestion {
        Suggestion {
            label,
            category,
            confidence,
            evidence: "The name says it.".into(),
        }
    }

    #[test]
    fn labels_are_read() {
        let read = AnonymizerRule::of_label;
        assert_eq!(
            read("k_anonymity", "quasi identifier"),
            Some(AnonymizerRule::Indirect)
        );
        assert_eq!(
            read("anon", " INDIRECT IDENTIFIER"),
            Some(AnonymizerRule::Indirect)
        );
        assert_eq!(
            read("anon", "MASKED WITH VALUE NULL"),
            Some(AnonymizerRule::Masked)
        );
        assert_eq!(read("anon", "NOT MASKED"), Some(AnonymizerRule::NotMasked));
        assert_eq!(read("anon", "MASKED"), None);
        assert_eq!(read("k_anonymity", "NOT MASKED"), None);
        assert_eq!(read("selinux", "QUASI IDENTIFIER"), None);
    }

    #[test]
    fn masked_columns_identify_unless_something_else_is_likely() {
        let masked = |given| AnonymizerRule::Masked.apply(given);
        let unknown = masked(suggestion(SuggestedLabel::Ignore, Category::Technical, 0.9));
        assert_eq!(unknown.label, SuggestedLabel::Identifier);
        assert_eq!(unknown.category, Category::OtherId);
        assert_eq!(unknown.confidence, DECLARED);
        assert_eq!(
            unknown.evidence,
            "postgresql_anonymizer masks it. The name says it."
        );
        let unlikely = masked(suggestion(SuggestedLabel::Quasi, Category::Demographic, 0.4));
        assert_eq!(unlikely.label, SuggestedLabel::Identifier);
        let sensitive = masked(suggestion(SuggestedLabel::Sensitive, Category::Health, 0.6));
        assert_eq!(
            (sensitive.label, sensitive.category, sensitive.confidence),
            (SuggestedLabel::Sensitive, Category::Health, DECLARED)
        );
    }

    #[test]
    fn what_is_not_masked_is_still_judged() {
        let given = suggestion(SuggestedLabel::Identifier, Category::Email, 0.8);
        let shown = AnonymizerRule::NotMasked.apply(given);
        assert_eq!((shown.label, shown.confidence), (SuggestedLabel::Identifier, 0.8));
        let indirect =
            AnonymizerRule::Indirect.apply(suggestion(SuggestedLabel::Ignore, Category::Technical, 0.0));
        assert_eq!(
            (indirect.label, indirect.category),
            (SuggestedLabel::Quasi, Category::Demographic)
        );
    }
}
