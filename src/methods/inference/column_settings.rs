//! What a method has to know of a column besides its values: weights from the column's label, and from the
//! argument `weights`, which wins; and whether its values are to be put into bins.

use crate::encode::scale::Scale;
use crate::error::Problem;
use crate::label::labels_of;
use crate::pg::types::ColumnType;
use disclosure::inference::Binning;
use disclosure::{Label, Weights};
use pgrx::pg_sys;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::Display;

/// The settings of one column.
pub struct ColumnSettings {
    /// `None` where the column takes no part.
    pub weights: Option<ValueWeights>,
    pub binning: Option<Binning>,
}

/// The weights of a column's values.
pub struct ValueWeights {
    likelihood: ValueWeight,
    danger: ValueWeight,
}

struct ValueWeight {
    /// By the text of the value.
    of_value: HashMap<String, f64>,
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
    /// The weights that every value has; `None` where they differ.
    pub fn of_all(&self) -> Option<Weights> {
        let all_equal = self.likelihood.of_value.is_empty() && self.danger.of_value.is_empty();
        all_equal.then_some(Weights {
            likelihood: self.likelihood.of_others,
            danger: self.danger.of_others,
        })
    }

    pub fn of_value(&self, text: &str) -> Weights {
        Weights {
            likelihood: self.likelihood.of_value(text),
            danger: self.danger.of_value(text),
        }
    }
}

impl ValueWeight {
    /// Stands for all values that are not named.
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

    /// A number for all values, or an object of numbers by value; others keep the weight that they have.
    /// `None` where it is neither.
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

/// The settings of every column. `relation` is where their labels are; there are none on anonymous rows.
/// `weights` is what the caller gave. Where it is not known what columns there are (no columns), what it
/// says of them does not matter.
pub fn column_settings(
    columns: &[ColumnType],
    relation: Option<pg_sys::Oid>,
    weights: Option<&Value>,
) -> Result<Vec<ColumnSettings>, Problem> {
    let nothing = Map::new();
    let given = match weights {
        None => &nothing,
        Some(Value::Object(given)) => given,
        Some(_) => return Err(invalid("is not a JSON object")),
    };
    // Postgres calls the columns of ROW(…) f1, f2, …; we call them 1, 2, …
    let is_meant = |key: &str, position: usize| {
        let name = &columns[position].name;
        name == key
            || (relation.is_none()
                && key.strip_prefix('f') == Some(name)
                && *name == (position + 1).to_string())
    };
    let unknown = |key: &&String| !(0..columns.len()).any(|position| is_meant(key, position));
    if let Some(key) = given.keys().find(unknown).filter(|_| !columns.is_empty()) {
        return Err(invalid(format!("there is no column \"{key}\"")));
    }
    let labels = relation.map_or(Ok(HashMap::new()), labels_of)?;
    let settings = |(position, column): (usize, &ColumnType)| {
        let label = labels.get(&column.name).copied();
        let mut settings = ColumnSettings {
            weights: label
                .map_or(Some(Weights::UNLABELLED), Label::weights)
                .map(ValueWeights::from),
            binning: None,
        };
        let mut of_column = given.iter().filter(|(key, _)| is_meant(key, position));
        if let Some((_, given)) = of_column.next() {
            settings.set(column, given)?;
        }
        match of_column.next() {
            Some(_) => Err(invalid_for(column, "is given twice")),
            None => Ok(settings),
        }
    };
    columns.iter().enumerate().map(settings).collect()
}

impl ColumnSettings {
    /// What the caller says of the column replaces what its label says.
    fn set(&mut self, column: &ColumnType, given: &Value) -> Result<(), Problem> {
        let keys = match given {
            Value::String(label) => {
                self.weights = parse_label(column, label)?.weights().map(ValueWeights::from);
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
                _ => return Err(invalid_for(column, format!("\"{key}\" is not a setting"))),
            }
        }
        Ok(())
    }

    /// For a column to which a weight is given, so that it takes part whatever its label says.
    fn own_weights(&mut self) -> &mut ValueWeights {
        self.weights.get_or_insert_with(|| Weights::UNLABELLED.into())
    }

    fn set_binning(&mut self, column: &ColumnType, key: &str, given: &Value) -> Result<(), Problem> {
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

fn set_weight(
    weight: &mut ValueWeight,
    column: &ColumnType,
    key: &str,
    given: &Value,
) -> Result<(), Problem> {
    weight.set(given).ok_or_else(|| {
        // Which value, if it is one value's weight, is not said: messages show none.
        let problem = format!("{key} is neither a number from 0 to 1 nor an object of such numbers by value");
        invalid_for(column, problem)
    })
}

fn parse_label(column: &ColumnType, label: &str) -> Result<Label, Problem> {
    label.parse().map_err(|error| match error {
        disclosure::Error::InvalidArgument { problem, .. } => invalid_for(column, problem),
        other => other.into(),
    })
}

fn invalid_for(column: &ColumnType, problem: impl Display) -> Problem {
    invalid(format!("column \"{}\": {problem}", column.name))
}

fn invalid(problem: impl Display) -> Problem {
    Problem::argument(
        "weights",
        problem.to_string(),
        "By column name, give a label (quasi, sensitive, identifier, ignore, likelihood=… danger=…) or \
               an object of likelihood, danger, and bins or width.",
    )
}
