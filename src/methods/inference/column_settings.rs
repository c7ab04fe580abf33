//! The settings of columns: their weights, the bins that their values are put into, the parts of their values that
//! an adversary may know, and what NULL means.
//!
//! Weights come from the label of a column. The argument `labels` takes precedence: by column name, it gives
//! another label, or an object of settings that are added to the label. A weight may differ by value.
//! Anonymous rows have no labels.

use crate::encode::scale::Scale;
use crate::error::{Error, did_you_mean};
use crate::label::{self, labels_of};
use crate::pg::regex;
use crate::pg::types::ColumnType;
use disclosure::inference::Binning;
use disclosure::{DangerByValue, Label, Weights, spelling};
use pgrx::pg_sys;
use pgrx::prelude::*;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;

/// The name of the argument.
const ARGUMENT: &str = "labels";

const ALLOWED: &str = "For each column name, give a label (quasi, sensitive, sensitive nulls=value, identifier, person, \
                       household, weight, ignore, likelihood=… danger=…) or an object with likelihood, danger, nulls, and bins or width, or \
                       prefixes or pattern.";

/// The settings of one column.
pub struct ColumnSettings {
    /// `None` if the column takes no part.
    pub weights: Option<ValueWeights>,
    /// `None` if every value counts as it is.
    pub binning: Option<Binning>,
    /// `None` if only whole values are attributes.
    pub parts: Option<Parts>,
    pub nulls: NullMeaning,
    /// Label that applies; `None` if the column has none, or if the caller gave weights.
    pub label: Option<Label>,
    /// Whether neither a label nor the argument `labels` says anything about the column.
    pub is_unlabelled: bool,
}

/// Who asks for the settings of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A call that looks for changes to a table. To it, NULL means absent. It cannot use parts of values.
    Measure,
    /// A measure whose option says what NULL means in columns with harmful values, unless the settings say that it is
    /// a value.
    Score(NullMeaning),
    /// A measure that only needs to know which columns are known and which are dangerous. It compares whole values.
    Classes,
    /// A policy, or `remedies`. To them, NULL means unknown, unless the settings say that it is a value.
    Policy,
}

/// What NULL means in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NullMeaning {
    /// The row has no attribute of the column.
    Absent,
    /// The row may have any attribute of the column.
    Unknown,
    /// NULL is an attribute of its own, with the weights of the column.
    Value,
}

impl NullMeaning {
    /// The values of the SQL type `disclosure.sensitive_null_treatment`.
    pub const WORDS: &[(&str, Self)] = &[
        ("absent", NullMeaning::Absent),
        ("value", NullMeaning::Value),
        ("unknown", NullMeaning::Unknown),
    ];
}

impl Purpose {
    /// Returns what NULL means in a column with these weights, given whether its settings say that it is a value.
    fn nulls(self, are_values: bool, weights: Option<&ValueWeights>) -> NullMeaning {
        let is_harmful = || weights.is_some_and(ValueWeights::may_be_harmful);
        match self {
            Purpose::Policy if are_values => NullMeaning::Value,
            Purpose::Policy => NullMeaning::Unknown,
            Purpose::Score(_) if are_values && is_harmful() => NullMeaning::Value,
            Purpose::Score(meaning) if is_harmful() => meaning,
            Purpose::Classes if are_values => NullMeaning::Value,
            Purpose::Measure | Purpose::Classes | Purpose::Score(_) => NullMeaning::Absent,
        }
    }

    /// Returns whether a setting that changes which values are equal has an effect.
    fn supports(self, key: &str) -> bool {
        match self {
            Purpose::Score(_) => true,
            Purpose::Classes => false,
            Purpose::Measure | Purpose::Policy => matches!(key, "bins" | "width"),
        }
    }

    /// Returns the weights of a label. To a policy, all values are as harmful as the most harmful one, so that no
    /// export is judged less strictly because of a value that is not in it.
    fn weights(self, label: &Label) -> Option<ValueWeights> {
        match label {
            Label::ByValue(by_value) if self != Purpose::Policy => Some(by_value.into()),
            label => label.weights().map(ValueWeights::from),
        }
    }
}

/// Parts of values that an adversary may know.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parts {
    /// Lengths of prefixes, in characters, ascending.
    pub prefixes: Vec<usize>,
    /// Regular expression; what it captures is a part.
    pub pattern: Option<String>,
}

/// The weights of a column's values.
pub struct ValueWeights {
    likelihood: ValueWeight,
    danger: ValueWeight,
}

/// The likelihood or the danger of a column's values.
struct ValueWeight {
    /// Weights of single values, by the text of the value.
    of_value: HashMap<String, f64>,
    /// Weight of all other values.
    of_others: f64,
}

impl From<Weights> for ValueWeights {
    fn from(weights: Weights) -> Self {
        ValueWeights {
            likelihood: ValueWeight::of_all(weights.likelihood),
            danger: ValueWeight::of_all(weights.danger),
        }
    }
}

impl From<&DangerByValue> for ValueWeights {
    fn from(by_value: &DangerByValue) -> Self {
        ValueWeights {
            likelihood: ValueWeight::of_all(by_value.likelihood),
            danger: ValueWeight {
                of_value: by_value
                    .of_values
                    .iter()
                    .map(|(value, &danger)| (value.clone(), danger))
                    .collect(),
                of_others: by_value.of_others,
            },
        }
    }
}

impl ValueWeights {
    /// Returns the weights that all values have in common; `None` if weights are given by value.
    pub fn of_all(&self) -> Option<Weights> {
        let all_equal = self.likelihood.of_value.is_empty() && self.danger.of_value.is_empty();
        all_equal.then(|| self.of_null())
    }

    /// Returns whether an adversary may know a value beforehand.
    pub fn may_be_known(&self) -> bool {
        self.likelihood.is_positive()
    }

    /// Returns whether it is harmful if an adversary infers a value.
    pub fn may_be_harmful(&self) -> bool {
        self.danger.is_positive()
    }

    /// Returns the weights of NULL in a column in which it is a value.
    pub fn of_null(&self) -> Weights {
        Weights {
            likelihood: self.likelihood.of_others,
            danger: self.danger.of_others,
        }
    }

    /// Returns the weights of a part of a value by its text. It is something to know rather than something to learn: it
    /// is harmless, unless it has a danger of its own.
    pub fn of_part(&self, text: &str) -> Weights {
        Weights {
            likelihood: self.likelihood.of_value(text),
            danger: self.danger.of_value.get(text).copied().unwrap_or(0.0),
        }
    }

    /// Returns the weights of a value by its text.
    pub fn of_value(&self, text: &str) -> Weights {
        Weights {
            likelihood: self.likelihood.of_value(text),
            danger: self.danger.of_value(text),
        }
    }
}

impl ValueWeight {
    fn of_all(weight: f64) -> Self {
        ValueWeight {
            of_value: HashMap::new(),
            of_others: weight,
        }
    }

    fn is_positive(&self) -> bool {
        self.of_others > 0.0 || self.of_value.values().any(|&weight| weight > 0.0)
    }

    fn of_value(&self, text: &str) -> f64 {
        self.of_value.get(text).copied().unwrap_or(self.of_others)
    }

    /// Sets the weight: a number for all values, or an object of numbers by value; others keep the weight
    /// that they have. Returns `None` if it is neither.
    fn set(&mut self, given: &Value) -> Option<()> {
        let Value::Object(of_values) = given else {
            *self = Self::of_all(weight(given)?);
            return Some(());
        };
        for (text, given) in of_values {
            let weight = weight(given)?;
            if text == DangerByValue::OTHERS {
                self.of_others = weight;
            } else {
                self.of_value.insert(text.clone(), weight);
            }
        }
        Some(())
    }
}

fn weight(given: &Value) -> Option<f64> {
    given.as_f64().filter(|&weight| Weights::allow(weight))
}

/// Largest length of a prefix.
const MAX_PREFIX: u64 = 1000;

/// Largest number of prefixes of one column.
const MAX_PREFIXES: usize = 10;

/// Returns whether the values of a column are text.
fn is_text(column: &ColumnType) -> bool {
    matches!(
        column.base_type(),
        pg_sys::TEXTOID | pg_sys::VARCHAROID | pg_sys::BPCHAROID | pg_sys::NAMEOID
    )
}

/// Returns the settings of every column. `relation` is where their labels are; anonymous rows have none.
/// `given` is the argument `labels`.
pub fn column_settings(
    columns: &[ColumnType],
    relation: Option<pg_sys::Oid>,
    given: Option<&Value>,
    purpose: Purpose,
) -> Result<Vec<ColumnSettings>, Error> {
    let labels = relation.map(labels_of).transpose()?;
    settings_by_labels(columns, labels.as_ref(), given, purpose)
}

/// Returns the settings of every column. `labels` are those of their relation; anonymous rows have none.
/// `given` is the argument `labels`. If there are no columns, the names in it are not checked.
pub fn settings_by_labels(
    columns: &[ColumnType],
    labels: Option<&HashMap<String, Label>>,
    given: Option<&Value>,
    purpose: Purpose,
) -> Result<Vec<ColumnSettings>, Error> {
    let nothing = Map::new();
    let given = match given {
        None => &nothing,
        Some(Value::Object(given)) => given,
        Some(_) => return Err(invalid("is not a JSON object")),
    };
    // Postgres calls the columns of ROW(…) f1, f2, …; we call them 1, 2, …
    let is_meant = |key: &str, position: usize| {
        let name = &columns[position].name;
        name == key
            || (labels.is_none()
                && key.strip_prefix('f') == Some(name)
                && *name == (position + 1).to_string())
    };
    let unknown = |key: &&String| !(0..columns.len()).any(|position| is_meant(key, position));
    if let Some(key) = given.keys().find(unknown).filter(|_| !columns.is_empty()) {
        return Err(invalid(format!("there is no column \"{key}\"")));
    }
    let settings = |(position, column): (usize, &ColumnType)| {
        let label = labels.and_then(|labels| labels.get(&column.name));
        let mut settings = ColumnSettings {
            weights: label.map_or(Some(Weights::UNLABELLED.into()), |label| purpose.weights(label)),
            binning: None,
            parts: None,
            nulls: NullMeaning::Absent,
            label: label.cloned(),
            is_unlabelled: label.is_none(),
        };
        let mut nulls_are_values = label.is_some_and(Label::nulls_are_values);
        let mut of_column = given.iter().filter(|(key, _)| is_meant(key, position));
        if let Some((_, given)) = of_column.next() {
            settings.set(column, given, purpose, &mut nulls_are_values)?;
            settings.is_unlabelled = false;
        }
        settings.nulls = purpose.nulls(nulls_are_values, settings.weights.as_ref());
        match of_column.next() {
            Some(_) => Err(invalid_for(column, "is given twice")),
            None => Ok(settings),
        }
    };
    columns.iter().enumerate().map(settings).collect()
}

/// Tells the caller which of these columns take part without a label.
pub fn notice_unlabelled<'a>(
    relation: Option<pg_sys::Oid>,
    columns: impl IntoIterator<Item = (&'a ColumnType, &'a ColumnSettings)>,
) {
    let Some(relation) = relation.filter(|&oid| is_labelable(oid)) else {
        return;
    };
    let unlabelled = columns.into_iter().filter(|(_, settings)| settings.is_unlabelled);
    let names: Vec<&str> = unlabelled.map(|(column, _)| &column.name[..]).collect();
    label::notice_unlabelled(relation, &names);
}

/// Returns whether the columns of a relation can be labelled. Those of composite types cannot.
pub fn is_labelable(relation: pg_sys::Oid) -> bool {
    // SAFETY: a catalogue look-up.
    unsafe { pg_sys::get_rel_relkind(relation) as u8 != pg_sys::RELKIND_COMPOSITE_TYPE }
}

impl ColumnSettings {
    /// Applies what the caller gave for the column: a label, or an object of settings.
    fn set(
        &mut self,
        column: &ColumnType,
        given: &Value,
        purpose: Purpose,
        nulls_are_values: &mut bool,
    ) -> Result<(), Error> {
        let keys = match given {
            Value::String(label) => {
                let label = parse_label(column, label)?;
                self.weights = purpose.weights(&label);
                *nulls_are_values = label.nulls_are_values();
                self.label = Some(label);
                return Ok(());
            }
            Value::Object(keys) => keys,
            _ => return Err(invalid_for(column, "is neither a label nor an object")),
        };
        for (key, given) in keys {
            match &key[..] {
                "likelihood" => set_weight(&mut self.own_weights().likelihood, column, key, given)?,
                "danger" => set_weight(&mut self.own_weights().danger, column, key, given)?,
                "bins" | "width" | "prefixes" | "pattern" if !purpose.supports(key) => {
                    return Err(Error::argument(
                        ARGUMENT,
                        format!("column \"{}\": this function does not support {key}", column.name),
                        "Make a view with a column of bins, or of parts of values.",
                    ));
                }
                "bins" | "width" => self.set_binning(column, key, given)?,
                "prefixes" | "pattern" => self.set_parts(column, key, given)?,
                "nulls" => {
                    if given != "value" {
                        return Err(invalid_for(column, "nulls is not \"value\""));
                    }
                    *nulls_are_values = true;
                }
                _ => {
                    let problem = format!("column \"{}\": \"{key}\" is not a setting", column.name);
                    let nearest = spelling::nearest(key, KEYS);
                    return Err(Error::argument(ARGUMENT, problem, did_you_mean(nearest, ALLOWED)));
                }
            }
        }
        Ok(())
    }

    /// Returns the weights of a column for which the caller gives a weight. It then takes part, whatever its
    /// label.
    fn own_weights(&mut self) -> &mut ValueWeights {
        self.label = None;
        self.weights.get_or_insert_with(|| Weights::UNLABELLED.into())
    }

    fn set_parts(&mut self, column: &ColumnType, key: &str, given: &Value) -> Result<(), Error> {
        if !is_text(column) {
            return Err(invalid_for(column, format!("{key} needs a column of text")));
        }
        let parts = self.parts.get_or_insert_default();
        if key == "prefixes" {
            let length = |given: &Value| given.as_u64().filter(|length| (1..=MAX_PREFIX).contains(length));
            let lengths = given.as_array().filter(|lengths| !lengths.is_empty());
            let lengths =
                lengths.and_then(|lengths| lengths.iter().map(length).collect::<Option<BTreeSet<u64>>>());
            let problem = || {
                let problem =
                    format!("prefixes is not an array of 1 to {MAX_PREFIXES} lengths from 1 to {MAX_PREFIX}");
                invalid_for(column, problem)
            };
            let lengths = lengths
                .filter(|lengths| lengths.len() <= MAX_PREFIXES)
                .ok_or_else(problem)?;
            parts.prefixes = lengths.into_iter().map(|length| length as usize).collect();
        } else {
            let pattern = given.as_str().filter(|pattern| !pattern.contains('\0'));
            let pattern = pattern.filter(|pattern| regex::is_valid(pattern));
            let problem = || invalid_for(column, "pattern is not a regular expression of Postgres");
            parts.pattern = Some(pattern.ok_or_else(problem)?.into());
        }
        Ok(())
    }

    fn set_binning(&mut self, column: &ColumnType, key: &str, given: &Value) -> Result<(), Error> {
        let Some(scale) = Scale::of_type(column.base_type()) else {
            let problem = format!("{key} needs a column of numbers, dates or timestamps");
            return Err(invalid_for(column, problem));
        };
        let binning = match key {
            "bins" => {
                let binning = given.as_u64().and_then(Binning::equal_frequency);
                binning.ok_or_else(|| invalid_for(column, "bins is not an integer of 1 or more"))?
            }
            _ => {
                let binning = given.as_f64().and_then(Binning::equal_width);
                match binning.ok_or_else(|| invalid_for(column, "width is not a number above 0"))? {
                    Binning::EqualWidth(width) if scale == Scale::Date && width.fract() != 0.0 => {
                        return Err(invalid_for(column, "width is not a whole number of days"));
                    }
                    binning => binning,
                }
            }
        };
        match self.binning.replace(binning) {
            Some(_) => Err(invalid_for(column, "bins and width exclude each other")),
            None => Ok(()),
        }
    }
}

/// The settings of a column in the argument `labels`.
const KEYS: [&str; 7] = [
    "likelihood",
    "danger",
    "bins",
    "width",
    "prefixes",
    "pattern",
    "nulls",
];

fn set_weight(weight: &mut ValueWeight, column: &ColumnType, key: &str, given: &Value) -> Result<(), Error> {
    weight.set(given).ok_or_else(|| {
        // The message does not say which value the weight belongs to, because values must not appear in
        // messages.
        let problem = format!("{key} is neither a number from 0 to 1 nor an object of such numbers by value");
        invalid_for(column, problem)
    })
}

fn parse_label(column: &ColumnType, label: &str) -> Result<Label, Error> {
    label.parse().map_err(|error| match error {
        disclosure::Error::InvalidArgument { problem, .. } => invalid_for(column, problem),
        disclosure::Error::UnknownWord { problem, nearest, .. } => {
            let problem = format!("column \"{}\": {problem}", column.name);
            Error::argument(ARGUMENT, problem, did_you_mean(nearest, ALLOWED))
        }
        disclosure::Error::Unsupported { value, .. } => Error::unusable(
            PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
            ARGUMENT,
            format!("column \"{}\": \"{value}\" is not supported yet", column.name),
            ALLOWED,
        ),
        other => other.into(),
    })
}

fn invalid_for(column: &ColumnType, problem: impl Display) -> Error {
    invalid(format!("column \"{}\": {problem}", column.name))
}

fn invalid(problem: impl Display) -> Error {
    Error::argument(ARGUMENT, problem.to_string(), ALLOWED)
}
