//! Labels of columns, their spellings, and the weights that they stand for.
//!
//! A DBA labels a column with a text, which is parsed as a [`Label`]: a word that stands for common weights, or
//! the weights themselves. [`Weights`] are the likelihood and the danger of White's privacy score (Definitions
//! 3.3 and 3.4).

use crate::{Error, Result, spelling};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter, Write};
use std::str::FromStr;

/// What errors call a label.
const ARGUMENT: &str = "label";

/// Role of a column for an adversary, as labelled by a DBA.
#[derive(Debug, Clone, PartialEq)]
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
    /// Identifies the person that the row is about. Measures count people instead of rows.
    Person,
    /// Identifies the household of that person.
    Household,
    /// Sampling weight of the row: how many people of the population it stands for.
    Weight,
    /// Takes no part in any measure.
    Ignore,
    /// Anything in between, given by its weights.
    Weighted(Weights),
    /// The same, with a danger that depends on the value.
    ByValue(DangerByValue),
}

/// Weights of a column whose values are not equally harmful.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DangerByValue {
    /// Likelihood of all values; 0 if the column is labelled as sensitive.
    pub likelihood: f64,
    /// Dangers of values, by their text.
    pub of_values: BTreeMap<String, f64>,
    /// Danger of all other values.
    pub of_others: f64,
    /// Whether NULL is a value too.
    pub nulls_are_values: bool,
}

impl DangerByValue {
    /// Key that stands for all values without a danger of their own.
    pub const OTHERS: &str = "*";

    /// Returns the danger of the most harmful value.
    pub fn largest(&self) -> f64 {
        self.of_values.values().copied().fold(self.of_others, f64::max)
    }
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

const ALLOWED: &str = "quasi, sensitive, sensitive nulls=value, identifier, person, household, weight, \
                       ignore, likelihood=<0 to 1> and/or danger=<0 to 1>, or sensitive danger={\"<value>\": <0 to 1>, …}";

/// Every spelling of a label without weights, as [`spelling::normalised`] returns it, or with an equals sign;
/// the canonical one first.
static WORDS: [(&str, Label); 12] = [
    ("quasi", Label::Quasi),
    ("sensitive", Label::Sensitive),
    (SENSITIVE_NULLS, Label::SensitiveNulls),
    ("identifier", Label::Identifier),
    ("person", Label::Person),
    ("household", Label::Household),
    ("weight", Label::Weight),
    ("ignore", Label::Ignore),
    ("quasi identifier", Label::Quasi),
    ("sensitive attribute", Label::Sensitive),
    ("direct identifier", Label::Identifier),
    ("sampling weight", Label::Weight),
];

const SENSITIVE_NULLS: &str = "sensitive nulls=value";

/// Labels that are planned.
const UNSUPPORTED: [&str; 1] = ["count"];

impl Label {
    /// Returns the label's weights; `None` if the column takes no part in any measure. If the danger depends on the
    /// value, it is that of the most harmful value.
    pub fn weights(&self) -> Option<Weights> {
        match self {
            Label::Quasi => Some(Weights {
                likelihood: 1.0,
                danger: 0.0,
            }),
            Label::Sensitive | Label::SensitiveNulls => Some(Weights {
                likelihood: 0.0,
                danger: 1.0,
            }),
            Label::Identifier | Label::Person | Label::Household | Label::Weight | Label::Ignore => None,
            Label::Weighted(weights) => Some(*weights),
            Label::ByValue(by_value) => Some(Weights {
                likelihood: by_value.likelihood,
                danger: by_value.largest(),
            }),
        }
    }

    /// Returns whether NULL is a value like any other. Otherwise it depends on the measure: policies take it as
    /// unknown.
    pub fn nulls_are_values(&self) -> bool {
        match self {
            Label::ByValue(by_value) => by_value.nulls_are_values,
            label => *label == Label::SensitiveNulls,
        }
    }

    /// Returns the label for messages and logs: values are left out.
    pub fn outline(&self) -> String {
        let label = self.to_string();
        match label.split_once('{') {
            Some((before, _)) => format!("{before}{{…}}"),
            None => label,
        }
    }

    /// Returns whether the column says whose row it is.
    pub fn is_identifier(&self) -> bool {
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
            (Label::ByValue(by_value), _) => write_by_value(formatter, by_value),
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

/// Writes a label whose danger depends on the value. The values are written as JSON.
fn write_by_value(formatter: &mut Formatter<'_>, by_value: &DangerByValue) -> fmt::Result {
    match (by_value.nulls_are_values, by_value.likelihood) {
        (true, _) => formatter.write_str(SENSITIVE_NULLS)?,
        (false, 0.0) => formatter.write_str("sensitive")?,
        (false, likelihood) => {
            formatter.write_str("likelihood=")?;
            write_weight(formatter, likelihood)?;
        }
    }
    formatter.write_str(" danger={")?;
    for (value, &danger) in &by_value.of_values {
        formatter.write_char('"')?;
        for character in value.chars() {
            match character {
                '"' | '\\' => write!(formatter, "\\{character}")?,
                control if control.is_control() => write!(formatter, "\\u{:04x}", u32::from(control))?,
                other => formatter.write_char(other)?,
            }
        }
        formatter.write_str("\": ")?;
        write_weight(formatter, danger)?;
        formatter.write_str(", ")?;
    }
    write!(formatter, "\"{}\": ", DangerByValue::OTHERS)?;
    write_weight(formatter, by_value.of_others)?;
    formatter.write_char('}')
}

impl FromStr for Label {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if !text.contains('=') {
            return named(text);
        }
        if let Some((before, values)) = text.split_once('{') {
            return by_value(before, values);
        }
        let text = without_spaces_around_equals(text);
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.join(" ") == SENSITIVE_NULLS {
            return Ok(Label::SensitiveNulls);
        }
        weighted(&words).map(Label::Weighted)
    }
}

/// Returns a text in lower case. Spaces around an equals sign do not matter.
fn without_spaces_around_equals(text: &str) -> String {
    let text = text.to_lowercase();
    let sides: Vec<&str> = text.split('=').map(str::trim).collect();
    sides.join("=")
}

/// Reads a label whose danger depends on the value, such as `sensitive danger={"hiv": 1, "*": 0.3}`. `before` is the
/// text before the brace, and `values` the text after it.
fn by_value(before: &str, values: &str) -> Result<Label> {
    let mut values = Values(values);
    let (mut of_values, mut of_others) = (BTreeMap::new(), None);
    loop {
        let (value, danger) = values.next_pair().ok_or_else(not_by_value)?;
        let is_new = match &value[..] {
            DangerByValue::OTHERS => of_others.replace(danger).is_none(),
            _ => of_values.insert(value, danger).is_none(),
        };
        if !is_new {
            return Err(invalid("danger has a value twice".into()));
        }
        if values.takes('}') {
            break;
        }
        values.takes(',').then_some(()).ok_or_else(not_by_value)?;
    }
    let before = without_spaces_around_equals(before);
    let Some(before) = before.trim_end().strip_suffix("danger=") else {
        return Err(invalid("only danger may have values in braces".into()));
    };
    let others = format!("{before} {}", without_spaces_around_equals(values.0));
    let words: Vec<&str> = others.split_whitespace().collect();
    let nulls_are_values = words.join(" ") == SENSITIVE_NULLS;
    let likelihood = match &words[..] {
        ["sensitive"] => 0.0,
        _ if nulls_are_values => 0.0,
        words if words.iter().any(|word| word.starts_with("danger=")) => {
            return Err(invalid("danger is given twice".into()));
        }
        words => weighted(words)?.likelihood,
    };
    Ok(Label::ByValue(DangerByValue {
        likelihood,
        of_values,
        of_others: of_others.unwrap_or(Weights::UNLABELLED.danger),
        nulls_are_values,
    }))
}

fn not_by_value() -> Error {
    // The message does not say which value is meant, because values must not appear in messages.
    invalid(
        "danger is not an object of numbers from 0 to 1 by value, such as {\"hiv\": 1, \"*\": 0.3}".into(),
    )
}

/// Rest of a JSON object that maps strings to weights.
struct Values<'a>(&'a str);

impl Values<'_> {
    /// Moves past a character, if it is the next one after spaces. Returns whether it is.
    fn takes(&mut self, character: char) -> bool {
        let rest = self.0.trim_start().strip_prefix(character);
        rest.map(|rest| self.0 = rest).is_some()
    }

    /// Moves past a string and a weight; `None` if they are not next.
    fn next_pair(&mut self) -> Option<(String, f64)> {
        let value = self.takes('"').then(|| self.rest_of_string())??;
        if !self.takes(':') {
            return None;
        }
        let rest = self.0.trim_start();
        let end = rest.find(|letter: char| !matches!(letter, '0'..='9' | '.' | '-' | '+' | 'e' | 'E'))?;
        let (number, rest) = rest.split_at(end);
        self.0 = rest;
        let weight = number.parse().ok().filter(|&weight| Weights::allow(weight))?;
        Some((value, weight))
    }

    /// Moves past a string whose opening quotation mark has been read, by the rules of JSON.
    fn rest_of_string(&mut self) -> Option<String> {
        let mut units: Vec<u16> = Vec::new();
        let mut letters = self.0.chars();
        loop {
            match letters.next()? {
                '"' => break,
                '\\' => units.push(match letters.next()? {
                    letter @ ('"' | '\\' | '/') => letter as u16,
                    'b' => 8,
                    'f' => 12,
                    'n' => 10,
                    'r' => 13,
                    't' => 9,
                    'u' => {
                        let digits: String = letters.by_ref().take(4).collect();
                        let is_hexadecimal =
                            digits.len() == 4 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
                        is_hexadecimal.then(|| u16::from_str_radix(&digits, 16).ok())??
                    }
                    _ => return None,
                }),
                letter => units.extend(letter.encode_utf16(&mut [0; 2]).iter()),
            }
        }
        self.0 = letters.as_str();
        // No value of Postgres contains the character 0.
        String::from_utf16(&units)
            .ok()
            .filter(|value| !value.contains('\0'))
    }
}

/// Reads a label without weights.
fn named(text: &str) -> Result<Label> {
    let spelling = spelling::normalised(text);
    if spelling.is_empty() {
        return Err(unknown("must not be empty".into(), None));
    }
    if let Some((_, label)) = WORDS.iter().find(|(word, _)| *word == spelling) {
        return Ok(label.clone());
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
        let parsed = |text: &str| text.parse::<Label>().map(|label| label.weights());
        assert_eq!(parsed("quasi"), Ok(weights(1.0, 0.0)));
        assert_eq!(parsed(" sensitive "), Ok(weights(0.0, 1.0)));
        for label in ["identifier", "person", "household", "ignore"] {
            assert_eq!(parsed(label), Ok(None));
        }
    }

    #[test]
    fn weights_in_either_order_and_alone() {
        let parsed = |text: &str| text.parse::<Label>().map(|label| label.weights());
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
    fn danger_by_value_has_a_canonical_form() {
        for (text, canonical) in [
            (
                r#"sensitive danger={"hiv": 1, "*": 0.3}"#,
                r#"sensitive danger={"hiv": 1, "*": 0.3}"#,
            ),
            (
                r#"Sensitive  DANGER = { "HIV":1.0,"Flu" : 1e-1 } "#,
                r#"sensitive danger={"Flu": 0.1, "HIV": 1, "*": 1}"#,
            ),
            (
                r#"danger={"a \"q\" = {b}, \\ \u00e9\ud83d\ude00\n": 0}  likelihood=0.5"#,
                r#"likelihood=0.5 danger={"a \"q\" = {b}, \\ é😀\u000a": 0, "*": 1}"#,
            ),
            (r#"danger={"*":0.25}"#, r#"likelihood=1 danger={"*": 0.25}"#),
            (
                r#"danger={"x":0.25} sensitive nulls=value"#,
                r#"sensitive nulls=value danger={"x": 0.25, "*": 1}"#,
            ),
            (
                r#"likelihood=0 danger={"x":0.25}"#,
                r#"sensitive danger={"x": 0.25, "*": 1}"#,
            ),
        ] {
            let label: Label = text.parse().unwrap();
            assert_eq!(label.to_string(), canonical, "for {text:?}");
            assert_eq!(canonical.parse(), Ok(label), "for {canonical:?}");
        }
        let label: Label = r#"sensitive danger={"hiv": 0.75, "*": 0.25}"#.parse().unwrap();
        assert_eq!(label.weights(), weights(0.0, 0.75));
        assert!(!label.nulls_are_values() && !label.is_identifier());
        assert_eq!(label.outline(), "sensitive danger={…}");
        assert_eq!(Label::Quasi.outline(), "quasi");
    }

    #[test]
    fn wrong_dangers_by_value_are_refused_without_naming_a_value() {
        let not_by_value =
            "danger is not an object of numbers from 0 to 1 by value, such as {\"hiv\": 1, \"*\": 0.3}";
        for (text, reason) in [
            ("danger={}", not_by_value),
            ("danger={", not_by_value),
            (r#"danger={"secret": 2}"#, not_by_value),
            (r#"danger={"secret": NaN}"#, not_by_value),
            (r#"danger={"secret": "1"}"#, not_by_value),
            (r#"danger={"secret": 1,}"#, not_by_value),
            (r#"danger={"secret" 1}"#, not_by_value),
            (r#"danger={secret: 1}"#, not_by_value),
            (r#"danger={"\u12": 1}"#, not_by_value),
            (r#"danger={"\u0000": 1}"#, not_by_value),
            (r#"danger={"\ud800": 1}"#, not_by_value),
            (r#"danger={"a": 1, "a": 0}"#, "danger has a value twice"),
            (r#"danger={"*": 1, "*": 1}"#, "danger has a value twice"),
            (r#"danger={"a": 1} danger=0.5"#, "danger is given twice"),
            (r#"danger={"a": 1} danger={"b": 1}"#, "danger is given twice"),
            (r#"likelihood={"a": 1}"#, "only danger may have values in braces"),
            (
                r#"quasi danger={"a": 1}"#,
                "\"quasi\" cannot be combined with likelihood or danger",
            ),
        ] {
            let error = text.parse::<Label>().unwrap_err();
            assert_eq!(error.to_string(), format!("label: {reason}"), "for {text:?}");
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
        for (text, value) in [("count", "count"), ("Count", "count")] {
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
