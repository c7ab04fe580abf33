//! Labels of columns and the weights that they stand for.
//!
//! A DBA labels a column with a text, which is parsed as a [`Label`]. Its [`Weights`] are the likelihood and
//! the danger of White's privacy score (Definitions 3.3 and 3.4).

use crate::{Error, Result};
use std::str::FromStr;

/// Role of a column for an adversary, as labelled by a DBA.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Label {
    /// Quasi-identifier: known to outsiders and harmless in itself, but identifies somebody together with
    /// others.
    Quasi,
    /// Information that an adversary must not learn.
    Sensitive,
    /// Identifies one individual on its own and must not be released.
    Identifier,
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

const ALLOWED: &str = "quasi, sensitive, identifier, ignore, or likelihood=<0 to 1> and/or danger=<0 to 1>";

impl Label {
    /// Returns the label's weights; `None` if the column takes no part in any measure.
    pub fn weights(self) -> Option<Weights> {
        match self {
            Label::Quasi => Some(Weights {
                likelihood: 1.0,
                danger: 0.0,
            }),
            Label::Sensitive => Some(Weights {
                likelihood: 0.0,
                danger: 1.0,
            }),
            Label::Identifier | Label::Ignore => None,
            Label::Weighted(weights) => Some(weights),
        }
    }
}

impl FromStr for Label {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            [] => Err(invalid("the label is empty".into())),
            ["quasi"] => Ok(Label::Quasi),
            ["sensitive"] => Ok(Label::Sensitive),
            ["identifier"] => Ok(Label::Identifier),
            ["ignore"] => Ok(Label::Ignore),
            _ => weighted(&words).map(Label::Weighted),
        }
    }
}

/// Parses weights such as `likelihood=0.9 danger=0.1`, in either order. A weight that is left out keeps its
/// default.
fn weighted(words: &[&str]) -> Result<Weights> {
    let (mut likelihood, mut danger) = (None, None);
    for word in words {
        let Some((name, number)) = word.split_once('=') else {
            return Err(invalid(format!("\"{word}\" is not understood")));
        };
        let weight = match name {
            "likelihood" => &mut likelihood,
            "danger" => &mut danger,
            _ => return Err(invalid(format!("\"{name}\" is not a weight"))),
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

fn invalid(problem: String) -> Error {
    Error::invalid("label", problem, ALLOWED)
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
        assert_eq!(parsed("identifier"), Ok(None));
        assert_eq!(parsed("ignore"), Ok(None));
    }

    #[test]
    fn weights_in_either_order_and_alone() {
        let parsed = |text: &str| text.parse::<Label>().map(Label::weights);
        assert_eq!(parsed("likelihood=0.9 danger=.25"), Ok(weights(0.9, 0.25)));
        assert_eq!(parsed("danger=0  likelihood=1"), Ok(weights(1.0, 0.0)));
        assert_eq!(parsed("likelihood=0.5"), Ok(weights(0.5, 1.0)));
        assert_eq!(parsed("danger=1e-3"), Ok(weights(1.0, 0.001)));
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        for (text, reason) in [
            ("", "label: the label is empty"),
            ("  ", "label: the label is empty"),
            ("Quasi", "label: \"Quasi\" is not understood"),
            ("quasi sensitive", "label: \"quasi\" is not understood"),
            ("quasi danger=1", "label: \"quasi\" is not understood"),
            ("weight=1", "label: \"weight\" is not a weight"),
            ("danger=", "label: danger is not a number from 0 to 1"),
            ("danger=1.01", "label: danger is not a number from 0 to 1"),
            ("danger=-0.1", "label: danger is not a number from 0 to 1"),
            ("danger=NaN", "label: danger is not a number from 0 to 1"),
            ("danger=0 danger=0", "label: danger is given twice"),
            ("likelihood = 1", "label: \"likelihood\" is not understood"),
        ] {
            let error = text.parse::<Label>().unwrap_err();
            assert_eq!(error.to_string(), reason, "for {text:?}");
        }
    }
}
