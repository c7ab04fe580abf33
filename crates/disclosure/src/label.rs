//! Labels of columns, their spellings, and the weights that they stand for.
//!
//! A DBA labels a column with a text, which is parsed as a [`Label`]: a word that stands for common weights, or
//! the weights themselves. [`Weights`] are the likelihood and the danger of White's privacy score (Definitions
//! 3.3 and 3.4).

use crate::{Error, Result, spelling};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// What errors call a label.
const ARGUMENT: &str = "label";

/// Role of a column for an adversary, as labelled by a DBA.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Label {
    /// Quasi-identifier: known to outsiders and harmless in itself, but identifies somebody together with
    /// others.
    Quasi,
    /// Information that an adversary must not learn.
    Sensitive,
    /// The same, in a column in which NULL says something too, for example that somebody has no diagnosis.
    SensitiveNulls,
    /// Identifies one individual on its own and must not be released.
    Identifier,
    /// Identifies the person that the row is about. Counts as an identifier until measures count people.
    Person,
    /// Identifies the household of that person. Counts as an identifier until measures count households.
    Household,
    /// Takes no part in any measure.
    Ignore,
    /// Anything in between, given by its weights.
    Weighted(Weights),
}

/// Likelihood that an adversary knows an attribute beforehand, and danger of the adversary inferring it
/// (White, Definitions 3.3 and 3.4). Both lie between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Weights {
    /// l(x): 0 if the adversary cannot know the attribute, 1 if they surely know it.
    pub likelihood: f64,
    /// d(x): 0 if inferring the attribute is harmless, 1 if it does the greatest harm.
    pub danger: f64,
}

impl Weights {
    /// Weights of a column without a label: any value may be known, and any value is dangerous.
    pub const UNLABELLED: Weights = Weights {
        likelihood: 1.0,
        danger: 1.0,
    };

    /// Returns whether a number is a valid weight.
    pub fn allow(weight: f64) -> bool {
        (0.0..=1.0).contains(&weight)
    }

    /// Checks that both weights are valid.
    pub fn check(&self) -> Result<()> {
        Error::check_unit_interval("likelihood", self.likelihood)?;
        Error::check_unit_interval("danger", self.danger)
    }
}

const ALLOWED: &str = "quasi, sensitive, sensitive nulls=value, identifier, person, household, ignore, or \
                       likelihood=<0 to 1> and/or danger=<0 to 1>";

/// Every spelling of a label without weights, as [`spelling::normalised`] returns it, or with an equals sign;
/// the canonical one first.
const WORDS: [(&str, Label); 10] = [
    ("quasi", Label::Quasi),
    ("sensitive", Label::Sensitive),
    (SENSITIVE_NULLS, Label::SensitiveNulls),
    ("identifier", Label::Identifier),
    ("person", Label::Person),
    ("household", Label::Household),
    ("ignore", Label::Ignore),
    ("quasi identifier", Label::Quasi),
    ("sensitive attribute", Label::Sensitive),
    ("direct identifier", Label::Identifier),
];

const SENSITIVE_NULLS: &str = "sensitive nulls=value";

/// Labels that are planned.
const UNSUPPORTED: [&str; 2] = ["weight", "count"];

impl Label {
    /// Returns the label's weights; `None` if the column takes no part in any measure.
    pub fn weights(self) -> Option<Weights> {
        match self {
            Label::Quasi => Some(Weights {
                likelihood: 1.0,
                danger: 0.0,
            }),
            Label::Sensitive | Label::SensitiveNulls => Some(Weights {
                likelihood: 0.0,
                danger: 1.0,
            }),
            Label::Identifier | Label::Person | Label::Household | Label::Ignore => None,
            Label::Weighted(weights) => Some(weights),
        }
    }

    /// Returns whether NULL is a value like any other to policies. Otherwise they take it as unknown.
    pub fn nulls_are_values(self) -> bool {
        self == Label::SensitiveNulls
    }

    /// Returns whether the column says whose row it is.
    pub fn is_identifier(self) -> bool {
        matches!(self, Label::Identifier | Label::Person | Label::Household)
    }
}

/// Writes the canonical spelling, which reads back as the same label.
impl Display for Label {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let named = WORDS.iter().find(|(_, label)| label == self);
        match (self, named) {
            (Label::Weighted(Weights { likelihood, danger }), _) => {
                formatter.write_str("likelihood=")?;
                write_weight(formatter, *likelihood)?;
                formatter.write_str(" danger=")?;
                write_weight(formatter, *danger)
            }
            (_, Some((word, _))) => formatter.write_str(word),
            (_, None) => Err(fmt::Error), // every label without weights is in the table
        }
    }
}

/// Writes a number from 0 to 1, without hundreds of zeros before the digits of a small one.
fn write_weight(formatter: &mut Formatter<'_>, weight: f64) -> fmt::Result {
    match weight {
        0.0 => formatter.write_str("0"), // also -0
        _ if weight < 1e-5 => write!(formatter, "{weight:e}"),
        _ => write!(formatter, "{weight}"),
    }
}

impl FromStr for Label {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if !text.contains('=') {
            return named(text);
        }
        let text = text.to_lowercase();
        // Spaces around an equals sign do not matter.
        let sides: Vec<&str> = text.split('=').map(str::trim).collect();
        let text = sides.join("=");
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.join(" ") == SENSITIVE_NULLS {
            return Ok(Label::SensitiveNulls);
        }
        weighted(&words).map(Label::Weighted)
    }
}

/// Reads a label without weights.
fn named(text: &str) -> Result<Label> {
    let spelling = spelling::normalised(text);
    if spelling.is_empty() {
        return Err(unknown("must not be empty".into(), None));
    }
    if let Some((_, label)) = WORDS.iter().find(|(word, _)| *word == spelling) {
        return Ok(*label);
    }
    if let Some(label) = UNSUPPORTED.iter().find(|label| **label == spelling) {
        return Err(unsupported(label));
    }
    // Synonyms are offered by their canonical spelling.
    let nearest = spelling::nearest(&spelling, WORDS.iter().map(|(word, _)| *word));
    let label = nearest.and_then(|nearest| WORDS.iter().find(|(word, _)| *word == nearest));
    let canonical = label.and_then(|(_, label)| WORDS.iter().find(|(_, other)| other == label));
    Err(unknown(
        format!("{} is not a label", quoted(text.trim())),
        canonical.map(|(word, _)| *word),
    ))
}

/// Parses weights such as `likelihood=0.9 danger=0.1`, in either order. A weight that is left out keeps its
/// default.
fn weighted(words: &[&str]) -> Result<Weights> {
    const NAMES: [&str; 2] = ["likelihood", "danger"];
    if words.iter().any(|word| word.starts_with("nulls=")) {
        return Err(invalid(format!("nulls is allowed only in \"{SENSITIVE_NULLS}\"")));
    }
    let (mut likelihood, mut danger) = (None, None);
    for word in words {
        let Some((name, number)) = word.split_once('=') else {
            return Err(unknown(
                format!("{} cannot be combined with likelihood or danger", quoted(word)),
                None,
            ));
        };
        let weight = match name {
            "likelihood" => &mut likelihood,
            "danger" => &mut danger,
            _ => {
                return Err(unknown(
                    format!("{} is neither likelihood nor danger", quoted(name)),
                    spelling::nearest(name, NAMES),
                ));
            }
        };
        let value = number
            .parse::<f64>()
            .ok()
            .filter(|&value| Weights::allow(value))
            .ok_or_else(|| invalid(format!("{name} is not a number from 0 to 1")))?;
        if weight.replace(value).is_some() {
            return Err(invalid(format!("{name} is given twice")));
        }
    }
    Ok(Weights {
        likelihood: likelihood.unwrap_or(Weights::UNLABELLED.likelihood),
        danger: danger.unwrap_or(Weights::UNLABELLED.danger),
    })
}

/// Returns the beginning of a text in double quotes.
fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut letters = text.chars();
    let beginning: String = letters.by_ref().take(SHOWN).collect();
    let rest = if letters.next().is_some() { "…" } else { "" };
    format!("\"{beginning}{rest}\"")
}

fn invalid(problem: String) -> Error {
    Error::invalid(ARGUMENT, problem, ALLOWED)
}

fn unknown(problem: String, nearest: Option<&'static str>) -> Error {
    Error::UnknownWord {
        argument: ARGUMENT,
        problem,
        nearest,
        allowed: ALLOWED.into(),
    }
}

fn unsupported(label: &'static str) -> Error {
    Error::Unsupported {
        argument: ARGUMENT,
        value: label,
        allowed: ALLOWED.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(likelihood: f64, danger: f64) -> Option<Weights> {
        Some(Weights { likelihood, danger })
    }

    #[test]
    fn presets() {
        let parsed = |text: &str| text.parse::<Label>().map(Label::weights);
        assert_eq!(parsed("quasi"), Ok(weights(1.0, 0.0)));
        assert_eq!(parsed(" sensitive "), Ok(weights(0.0, 1.0)));
        for label in ["identifier", "person", "household", "ignore"] {
            assert_eq!(parsed(label), Ok(None));
        }
    }

    #[test]
    fn weights_in_either_order_and_alone() {
        let parsed = |text: &str| text.parse::<Label>().map(Label::weights);
        assert_eq!(parsed("likelihood=0.9 danger=.25"), Ok(weights(0.9, 0.25)));
        assert_eq!(parsed("danger=0  Likelihood=1"), Ok(weights(1.0, 0.0)));
        assert_eq!(parsed("likelihood = 0.5"), Ok(weights(0.5, 1.0)));
        assert_eq!(parsed("danger=1e-3"), Ok(weights(1.0, 0.001)));
    }

    #[test]
    fn spellings_have_a_canonical_form() {
        for (text, canonical) in [
            ("QUASI", "quasi"),
            ("quasi-identifier", "quasi"),
            ("Quasi Identifier", "quasi"),
            ("quasi_identifier", "quasi"),
            ("Sensitive Attribute", "sensitive"),
            ("SENSITIVE  nulls = Value", "sensitive nulls=value"),
            ("direct identifier", "identifier"),
            ("Person", "person"),
            (" HOUSEHOLD ", "household"),
            ("ignore", "ignore"),
            ("danger=0.10", "likelihood=1 danger=0.1"),
            ("DANGER=-0 likelihood=1e-300", "likelihood=1e-300 danger=0"),
        ] {
            let label: Label = text.parse().unwrap();
            assert_eq!(label.to_string(), canonical, "for {text:?}");
            assert_eq!(canonical.parse(), Ok(label), "for {canonical:?}");
        }
    }

    #[test]
    fn people_and_households_identify() {
        for (text, identifies) in [
            ("identifier", true),
            ("person", true),
            ("household", true),
            ("quasi", false),
        ] {
            assert_eq!(
                text.parse::<Label>().unwrap().is_identifier(),
                identifies,
                "{text}"
            );
        }
    }

    #[test]
    fn nulls_are_values_if_the_label_says_so() {
        let label: Label = "sensitive nulls=value".parse().unwrap();
        assert!(label.nulls_are_values());
        assert_eq!(label.weights(), Label::Sensitive.weights());
        assert!(!Label::Sensitive.nulls_are_values());
    }

    #[test]
    fn planned_labels_are_refused_by_name() {
        for (text, value) in [("weight", "weight"), ("Count", "count")] {
            let error = text.parse::<Label>().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("label: \"{value}\" is not supported yet")
            );
            assert!(matches!(error, Error::Unsupported { .. }));
        }
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        let long = "x".repeat(100);
        for (text, reason) in [
            ("", "label: must not be empty"),
            (" - ", "label: must not be empty"),
            ("secret", "label: \"secret\" is not a label"),
            ("quasi sensitive", "label: \"quasi sensitive\" is not a label"),
            (
                "quasi danger=1",
                "label: \"quasi\" cannot be combined with likelihood or danger",
            ),
            ("weight=1", "label: \"weight\" is neither likelihood nor danger"),
            (
                "quasi nulls=value",
                "label: nulls is allowed only in \"sensitive nulls=value\"",
            ),
            ("danger=", "label: danger is not a number from 0 to 1"),
            ("danger=1.01", "label: danger is not a number from 0 to 1"),
            ("danger=-0.1", "label: danger is not a number from 0 to 1"),
            ("danger=NaN", "label: danger is not a number from 0 to 1"),
            ("danger=0 danger=0", "label: danger is given twice"),
            (
                &long,
                "label: \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…\" is not a label",
            ),
        ] {
            let error = text.parse::<Label>().unwrap_err();
            assert_eq!(error.to_string(), reason, "for {text:?}");
        }
    }

    #[test]
    fn the_nearest_label_is_offered() {
        for (text, label) in [
            ("sensetive", Some("sensitive")),
            ("quasi-identifer", Some("quasi")),
            ("persons", Some("person")),
            ("likelyhood=1", Some("likelihood")),
            ("top secret", None),
        ] {
            match text.parse::<Label>().unwrap_err() {
                Error::UnknownWord { nearest, .. } => assert_eq!(nearest, label, "for {text:?}"),
                other => panic!("{other} for {text:?}"),
            }
        }
    }
}
