//! The settings of columns: their weights, and the bins that their values are put into.
//!
//! Weights come from the label of a column. The argument `labels` takes precedence: by column name, it gives
//! another label, or an object of settings that are added to the label. A weight may differ by value.
//! Anonymous rows have no labels.

use crate::encode::scale::Scale;
use crate::error::{Error, did_you_mean};
use crate::label::{self, labels_of};
use crate::pg::types::ColumnType;
use disclosure::inference::Binning;
use disclosure::{Label, Weights, spelling};
use pgrx::pg_sys;
use pgrx::prelude::*;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::Display;

/// The name of the argument.
const ARGUMENT: &str = "labels";

const ALLOWED: &str = "For each column name, give a label (quasi, sensitive, sensitive nulls=value, identifier, person, \
                       household, ignore, likelihood=… danger=…) or an object with likelihood, danger, and bins or width.";

/// The settings of one column.
pub struct ColumnSettings {
    /// `None` if the column takes no part.
    pub weights: Option<ValueWeights>,
    /// `None` if every value counts as it is.
    pub binning: Option<Binning>,
    pub nulls: NullMeaning,
    /// Whether neither a label nor the argument `labels` says anything about the column.
    pub is_unlabelled: bool,
}

/// Who asks for the settings of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A measure that users call. To it, NULL means absent.
    Measure,
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

impl Purpose {
    /// Returns what NULL means in a column, given whether its settings say that it is a value.
    fn nulls(self, are_values: bool) -> NullMeaning {
        match (self, are_values) {
            (Purpose::Measure, _) => NullMeaning::Absent,
            (Purpose::Policy, false) => NullMeaning::Unknown,
            (Purpose::Policy, true) => NullMeaning::Value,
        }
    }
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

impl ValueWeights {
    /// Returns the weights that all values have in common; `None` if weights are given by value.
    pub fn of_all(&self) -> Option<Weights> {
        let all_equal = self.likelihood.of_value.is_empty() && self.danger.of_value.is_empty();
        all_equal.then(|| self.of_null())
    }

    /// Returns whether an adversary may know a value beforehand.
    pub fn may_be_known(&self) -> bool {
        let likelihood = &self.likelihood;
        let mut of_value = likelihood.of_value.values();
        likelihood.of_others > 0.0 || of_value.any(|&likelihood| likelihood > 0.0)
    }

    /// Returns the weights of NULL in a column in which it is a value.
    pub fn of_null(&self) -> Weights {
        Weights {
            likelihood: self.likelihood.of_others,
            danger: self.danger.of_others,
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
    /// The key that stands for all values without a weight of their own.
    const OTHERS: &str = "*";

    fn of_all(weight: f64) -> Self {
        ValueWeight {
            of_value: HashMap::new(),
            of_others: weight,
        }
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
            if text == Self::OTHERS {
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
        let label = labels.and_then(|labels| labels.get(&column.name).copied());
        let mut settings = ColumnSettings {
            weights: label
                .map_or(Some(Weights::UNLABELLED), Label::weights)
                .map(ValueWeights::from),
            binning: None,
            nulls: purpose.nulls(label.is_some_and(Label::nulls_are_values)),
            is_unlabelled: label.is_none(),
        };
        let mut of_column = given.iter().filter(|(key, _)| is_meant(key, position));
        if let Some((_, given)) = of_column.next() {
            settings.set(column, given, purpose)?;
            settings.is_unlabelled = false;
        }
        match of_column.next() {
            Some(_) => Err(invalid_for(column, "is given twice")),
            None => Ok(settings),
        }
    };
    columns.iter().enumerate().map(settings).collect()
}

/// Tells the caller which of these columns take part without a label. The columns of anonymous rows and of
/// composite types cannot be labelled.
pub fn notice_unlabelled<'a>(
    relation: Option<pg_sys::Oid>,
    columns: impl IntoIterator<Item = (&'a ColumnType, &'a ColumnSettings)>,
) {
    // SAFETY: a catalogue look-up.
    let is_type =
        |&oid: &pg_sys::Oid| unsafe { pg_sys::get_rel_relkind(oid) as u8 == pg_sys::RELKIND_COMPOSITE_TYPE };
    let Some(relation) = relation.filter(|oid| !is_type(oid)) else {
        return;
    };
    let unlabelled = columns.into_iter().filter(|(_, settings)| settings.is_unlabelled);
    let names: Vec<&str> = unlabelled.map(|(column, _)| &column.name[..]).collect();
    label::notice_unlabelled(relation, &names);
}

impl ColumnSettings {
    /// Applies what the caller gave for the column: a label, or an object of settings.
    fn set(&mut self, column: &ColumnType, given: &Value, purpose: Purpose) -> Result<(), Error> {
        let keys = match given {
            Value::String(label) => {
                let label = parse_label(column, label)?;
                self.weights = label.weights().map(ValueWeights::from);
                self.nulls = purpose.nulls(label.nulls_are_values());
                return Ok(());
            }
            Value::Object(keys) => keys,
            _ => return Err(invalid_for(column, "is neither a label nor an object")),
        };
        for (key, given) in keys {
            match &key[..] {
                "likelihood" => set_weight(&mut self.own_weights().likelihood, column, key, given)?,
                "danger" => set_weight(&mut self.own_weights().danger, column, key, given)?,
                "bins" | "width" => self.set_binning(column, key, given)?,
                "nulls" if purpose == Purpose::Policy => {
                    if given != "value" {
                        return Err(invalid_for(column, "nulls is not \"value\""));
                    }
                    self.nulls = purpose.nulls(true);
                }
                _ => {
                    let problem = format!("column \"{}\": \"{key}\" is not a setting", column.name);
                    let nearest = spelling::nearest(key, ["likelihood", "danger", "bins", "width"]);
                    return Err(Error::argument(ARGUMENT, problem, did_you_mean(nearest, ALLOWED)));
                }
            }
        }
        Ok(())
    }

    /// Returns the weights of a column for which the caller gives a weight. It then takes part, whatever its
    /// label.
    fn own_weights(&mut self) -> &mut ValueWeights {
        self.weights.get_or_insert_with(|| Weights::UNLABELLED.into())
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
