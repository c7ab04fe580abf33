//! Conversion of dictionaries to attributes: which attributes each value of a column gives a row, and what
//! these attributes are called.
//!
//! A boolean column has one attribute, which is present if the value is true. A column of arrays has one
//! attribute per element, a column with bins one per bin, and any other column one per value. A column of text may
//! have further attributes for parts of values. If NULL is a value, its attribute is the last one.

use crate::encode::dictionary::Dictionary;
use crate::encode::order::ranks_of_codes;
use crate::encode::scale::Scale;
use crate::error::Error;
use crate::methods::inference::bins::Bins;
use crate::methods::inference::column_settings::{ColumnSettings, NullMeaning, Parts, ValueWeights};
use crate::pg::array::ElementType;
use crate::pg::literal::pinned;
use crate::pg::types::type_name;
use crate::pg::{memory_context, regex};
use disclosure::inference::{Attribute, AttributesOfValue, Binning, Blank, Column, Nulls};
use disclosure::{NULL, Weights};
use pgrx::pg_sys::{self};
use std::collections::{BTreeMap, BTreeSet};

/// Attributes of a table.
pub struct Attributes {
    /// Columns as the algorithm needs them.
    pub columns: Vec<Column>,
    /// Names of the attributes, by column.
    named: Vec<Named>,
}

/// A column with what is needed to name its attributes. Names are made when they are asked for.
struct Named {
    dictionary: Dictionary,
    naming: Naming,
    /// Attribute of NULL, if it is a value.
    null: Option<u32>,
}

/// What an attribute of a column stands for.
enum Naming {
    /// The value true.
    True,
    /// A value. Has the codes of the attributes' values.
    Value(Vec<u32>),
    /// An element of arrays. Has a dictionary of elements, and the codes of the attributes' elements.
    Element(Dictionary, Vec<u32>),
    Bin(Bins),
    /// A value or, after all values, a part of values. Has the codes of the attributes' values, the parts, and the
    /// regular expression.
    Part {
        codes: Vec<u32>,
        parts: Vec<Part>,
        pattern: String,
    },
}

/// A part of values of a column of text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// The first characters, as many as it says.
    Prefix(usize, String),
    /// What the regular expression captures.
    Captured(String),
}

impl Part {
    fn text(&self) -> String {
        match self {
            Part::Prefix(_, prefix) => format!("{prefix}*"),
            Part::Captured(text) => text.clone(),
        }
    }
}

impl Attributes {
    /// Converts the dictionaries, each with the settings of its column. `rows_of` returns the number of rows
    /// that hold each value of the column at a position, by code from 1. It is called only if bins depend on
    /// it.
    pub fn new(
        dictionaries: Vec<Dictionary>,
        settings: &[ColumnSettings],
        rows_of: impl Fn(usize) -> Vec<u64>,
    ) -> Result<Self, Error> {
        let mut attributes = Attributes {
            columns: Vec::with_capacity(dictionaries.len()),
            named: Vec::with_capacity(dictionaries.len()),
        };
        for (position, (dictionary, settings)) in dictionaries.into_iter().zip(settings).enumerate() {
            let (column, named) = Named::new(dictionary, settings, || rows_of(position))?;
            attributes.columns.push(column);
            attributes.named.push(named);
        }
        Ok(attributes)
    }

    /// Returns the name of an attribute, such as `zip=90210` or, for a boolean column, just `smoker`.
    pub fn text(&self, attribute: Attribute) -> String {
        let column = self.column_name(attribute.column);
        let named = &self.named[attribute.column as usize];
        match &named.naming {
            _ if named.null == Some(attribute.index) => format!("{column} IS NULL"),
            Naming::True => column.into(),
            Naming::Part { pattern, .. }
                if matches!(named.part(attribute.index), Some(Part::Captured(_))) =>
            {
                format!("substring({column} from '{pattern}')={}", self.value(attribute))
            }
            _ => format!("{column}={}", self.value(attribute)),
        }
    }

    /// Returns how the cells of every column are blanked.
    pub fn blanks(&self) -> Vec<Blank> {
        let columns = self.columns.iter().zip(&self.named);
        let blank = |(column, named): (&Column, &Named)| match (Blank::of_column(column), &named.naming) {
            (Blank::Element, Naming::Element(..)) => Blank::Element,
            (Blank::Element, _) => Blank::Value,
            (other, _) => other,
        };
        columns.map(blank).collect()
    }

    /// Returns the columns in which a row without an attribute has NULL: neither booleans nor arrays.
    pub fn columns_of_values(&self) -> Vec<u32> {
        let named = (0..).zip(&self.named);
        let of_values = named.filter(|(_, named)| matches!(named.naming, Naming::Value(_) | Naming::Bin(_)));
        of_values.map(|(column, _)| column).collect()
    }

    /// Returns the type of the elements of a column, as SQL; `None` if it has no arrays.
    pub fn element_type(&self, column: u32) -> Option<String> {
        match &self.named[column as usize].naming {
            Naming::Element(elements, _) => Some(type_name(elements.column().oid)),
            _ => None,
        }
    }

    pub fn column_name(&self, column: u32) -> &str {
        &self.named[column as usize].dictionary.column().name
    }

    /// Returns the value, part of values, array element or bin of an attribute; `true` for a boolean column.
    pub fn value(&self, attribute: Attribute) -> String {
        self.named[attribute.column as usize].value(attribute.index)
    }

    /// Returns the array element of an attribute as text that means the same in every session.
    pub fn literal(&self, attribute: Attribute) -> String {
        let _pinned = match &self.named[attribute.column as usize].naming {
            Naming::Element(elements, _) => pinned(elements.column().base_type()),
            _ => None,
        };
        self.value(attribute)
    }

    /// Returns the value, array element or bin of an attribute as JSON. For boolean, integer and text columns
    /// it is what `to_jsonb` returns. Values of other types are strings that Postgres can read as values of
    /// the column; names of bins are not.
    pub fn json(&self, attribute: Attribute) -> serde_json::Value {
        let named = &self.named[attribute.column as usize];
        if named.null == Some(attribute.index) {
            return serde_json::Value::Null;
        }
        let text = named.value(attribute.index);
        match (&named.naming, named.dictionary.column().base_type()) {
            (Naming::True, _) => true.into(),
            (Naming::Value(_), pg_sys::INT2OID | pg_sys::INT4OID | pg_sys::INT8OID) => {
                text.parse::<i64>().map_or(text.into(), Into::into)
            }
            _ => text.into(),
        }
    }
}

impl Named {
    /// Returns the column for the algorithm, and the names of its attributes.
    fn new(
        mut dictionary: Dictionary,
        settings: &ColumnSettings,
        rows_of: impl FnOnce() -> Vec<u64>,
    ) -> Result<(Column, Self), Error> {
        let Some(weights) = &settings.weights else {
            let naming = Naming::Value(Vec::new()); // an ignored column has no attributes
            let null = None;
            return Ok((
                Column::ignored(),
                Named {
                    dictionary,
                    naming,
                    null,
                },
            ));
        };
        let (meaning, attributes, naming) = match &settings.parts {
            Some(parts) => values_and_parts(&mut dictionary, parts)?,
            None => meaning_of(&mut dictionary, settings.binning, rows_of)?,
        };
        let mut named = Named {
            dictionary,
            naming,
            null: None,
        };
        let weights_of_values = named.weigh(attributes, weights)?;
        let column = column(meaning, weights_of_values, settings.nulls, weights.of_null());
        if let Nulls::Attribute(attribute) = column.nulls {
            named.null = Some(attribute);
        }
        Ok((column, named))
    }

    fn weigh(&self, attributes: u32, weights: &ValueWeights) -> Result<Vec<Weights>, Error> {
        let parts: &[Part] = match &self.naming {
            Naming::Part { parts, .. } => parts,
            _ => &[],
        };
        let values = attributes - parts.len() as u32;
        let mut of_attributes = match weights.of_all() {
            Some(weights) => vec![weights; values as usize],
            None => memory_context::for_each("weighing values", 0..values, |attribute| {
                Ok(weights.of_value(&self.value(attribute)))
            })?,
        };
        of_attributes.extend(parts.iter().map(|part| weights.of_part(&part.text())));
        Ok(of_attributes)
    }

    /// Returns the part of values that an attribute stands for; `None` if it stands for something else.
    fn part(&self, attribute: u32) -> Option<&Part> {
        match &self.naming {
            Naming::Part { codes, parts, .. } => parts.get((attribute as usize).checked_sub(codes.len())?),
            _ => None,
        }
    }

    fn value(&self, attribute: u32) -> String {
        let text = |dictionary: &Dictionary, codes: &[u32]| {
            let code = codes[attribute as usize];
            dictionary.text(code).unwrap_or_default()
        };
        match &self.naming {
            _ if self.null == Some(attribute) => "NULL".into(),
            Naming::True => "true".into(),
            Naming::Value(codes) => text(&self.dictionary, codes),
            Naming::Element(elements, codes) => text(elements, codes),
            Naming::Bin(bins) => bins.text(attribute, &self.dictionary),
            Naming::Part { codes, .. } => match self.part(attribute) {
                Some(part) => part.text(),
                None => text(&self.dictionary, codes),
            },
        }
    }
}

/// Returns a column without names for the algorithm, whose values all have these weights.
pub fn unnamed_column(
    dictionary: &mut Dictionary,
    weights: Weights,
    nulls: NullMeaning,
) -> Result<Column, Error> {
    let (meaning, attributes, _) = meaning_of(dictionary, None, Vec::new)?;
    Ok(column(
        meaning,
        vec![weights; attributes as usize],
        nulls,
        weights,
    ))
}

/// Returns which attributes the values of a column stand for, the number of attributes, and what these stand
/// for. Attributes are numbered by their values, not in the order of reading, because the choice between two
/// equally bad inferences must not depend on the order of rows.
fn meaning_of(
    dictionary: &mut Dictionary,
    binning: Option<Binning>,
    rows_of: impl FnOnce() -> Vec<u64>,
) -> Result<(AttributesOfValue, u32, Naming), Error> {
    let column_type = dictionary.column().clone();
    let base_type = column_type.base_type();
    let values = dictionary.len();
    if let (Some(binning), Some(scale)) = (binning, Scale::of_type(base_type)) {
        let (bins, of_value) = Bins::new(dictionary, scale, binning, rows_of)?;
        let meaning = AttributesOfValue::One(of_value.into_iter().map(Some).collect());
        Ok((meaning, bins.len(), Naming::Bin(bins)))
    } else if base_type == pg_sys::BOOLOID {
        let is_true = |code| dictionary.value(code).value() != 0;
        let meaning = AttributesOfValue::One((1..=values).map(|code| is_true(code).then_some(0)).collect());
        Ok((meaning, 1, Naming::True))
    } else if let Some(element) = ElementType::of(&column_type) {
        let (mut elements, mut of_array) = elements_of(&element, dictionary)?;
        let codes = elements.canonical_codes()?;
        let place_of = ranks_of_codes(&codes);
        for elements in &mut of_array {
            elements
                .iter_mut()
                .for_each(|element| *element = place_of[*element as usize + 1] - 1);
            elements.sort_unstable();
        }
        let attributes = elements.len();
        Ok((
            AttributesOfValue::Set(of_array),
            attributes,
            Naming::Element(elements, codes),
        ))
    } else {
        let codes = dictionary.canonical_codes()?;
        let places = ranks_of_codes(&codes);
        let meaning = AttributesOfValue::One(places[1..].iter().map(|place| Some(place - 1)).collect());
        Ok((meaning, values, Naming::Value(codes)))
    }
}

/// Returns the meaning of values that are attributes as a whole and by their parts. The parts come after all values, in
/// an order of their own.
fn values_and_parts(
    dictionary: &mut Dictionary,
    wanted: &Parts,
) -> Result<(AttributesOfValue, u32, Naming), Error> {
    let codes = dictionary.canonical_codes()?;
    let values = codes.len() as u32;
    let parts_of_value = memory_context::for_each("reading parts of values", 0..values, |value| {
        let text = dictionary.text(codes[value as usize]).unwrap_or_default();
        let prefix = |&length: &usize| {
            // The length of the prefix in bytes. A value that is shorter has no such prefix.
            let mut ends = text
                .char_indices()
                .map(|(start, letter)| start + letter.len_utf8());
            let end = ends.nth(length - 1)?;
            Some(Part::Prefix(length, text[..end].into()))
        };
        let captured = wanted
            .pattern
            .as_deref()
            .and_then(|pattern| regex::substring(&text, pattern));
        let prefixes = wanted.prefixes.iter().filter_map(prefix);
        Ok(prefixes
            .chain(captured.map(Part::Captured))
            .collect::<Vec<Part>>())
    })?;
    let distinct: BTreeSet<&Part> = parts_of_value.iter().flatten().collect();
    let number_of: BTreeMap<&Part, u32> = distinct.into_iter().zip(values..).collect();
    let places = ranks_of_codes(&codes);
    let of_code = places[1..].iter().map(|place| {
        let value = place - 1;
        let parts = parts_of_value[value as usize].iter().map(|part| number_of[part]);
        std::iter::once(value).chain(parts).collect()
    });
    let meaning = AttributesOfValue::Set(of_code.collect());
    let parts: Vec<Part> = number_of.into_keys().cloned().collect();
    let attributes = values + parts.len() as u32;
    let pattern = wanted.pattern.clone().unwrap_or_default();
    Ok((
        meaning,
        attributes,
        Naming::Part {
            codes,
            parts,
            pattern,
        },
    ))
}

/// Returns a column for the algorithm. `attributes` are the weights of its attributes; NULL has `of_null` if it
/// is a value.
fn column(
    meaning: AttributesOfValue,
    mut attributes: Vec<Weights>,
    nulls: NullMeaning,
    of_null: Weights,
) -> Column {
    let nulls = match nulls {
        NullMeaning::Absent => Nulls::Absent,
        NullMeaning::Unknown => Nulls::Unknown,
        NullMeaning::Value => {
            attributes.push(of_null);
            Nulls::Attribute(attributes.len() as u32 - 1)
        }
    };
    Column {
        attributes,
        attributes_of_value: meaning,
        nulls,
    }
}

/// Returns a dictionary of the elements of all arrays and, for each array by code, its elements: codes minus
/// 1, distinct and ascending.
fn elements_of(element: &ElementType, arrays: &Dictionary) -> Result<(Dictionary, Vec<Vec<u32>>), Error> {
    let mut elements = Dictionary::new(element.column.clone());
    let of_array = memory_context::for_each("reading arrays", 0..arrays.len(), |array| {
        let mut of_array = Vec::new();
        // SAFETY: the dictionary has arrays with elements of this type.
        unsafe {
            for (value, is_null) in element.deconstruct(arrays.value(array + 1)) {
                let code = if is_null { NULL } else { elements.encode(value)? };
                of_array.extend(code.checked_sub(NULL + 1));
            }
        }
        of_array.sort_unstable();
        of_array.dedup();
        of_array.shrink_to_fit();
        Ok(of_array)
    })?;
    Ok((elements, of_array))
}
