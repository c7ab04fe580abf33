//! A table whose rows are sets of attributes, which is what the functions of this folder compute on.
//!
//! Rows come from a window partition or a relation. They are counted by class while they are read. Then their
//! values are converted to attributes, and classes with the same attributes become one distinct row.

use crate::args::warn_once;
use crate::encode::dictionary::Dictionary;
use crate::encode::{Encoded, Sink};
use crate::error::Error;
use crate::input::relation::Relation;
use crate::input::window::WindowCall;
use crate::methods::classes::counted::{Counted, CountedRows};
use crate::methods::inference::attributes::Attributes;
use crate::methods::inference::column_settings::{
    ColumnSettings, Purpose, column_settings, notice_unlabelled,
};
use crate::methods::inference::options::Options;
use crate::pg::json::Json;
use crate::pg::row::RowShape;
use crate::pg::types::ColumnType;
use crate::run;
use disclosure::classes::Classes;
use disclosure::inference::{
    Attribute, AttributesOfValue, CellInformation, Explanations, Inference, PackedTable, People, Scores,
    discount_common, explain, fewest_known, scores,
};
use disclosure::{Control, Label, NULL, Rows};
use pgrx::pg_sys;
use serde_json::json;

/// Distinct rows of a table, as sets of attributes.
pub struct AttributeTable {
    pub attributes: Attributes,
    packed: PackedTable,
    /// Distinct row of every row of a partition. Empty for a relation, unless it was read [to be
    /// changed](Self::to_change).
    pub distinct_of_row: Vec<u32>,
    /// Information in the cells, if the table was [prepared](Preparation) for that.
    pub information: CellInformation,
}

/// What a table is prepared for, besides scoring.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Preparation {
    Scores,
    /// Telling how much information a change costs.
    Information,
    /// Blanking cells, and telling how much information that costs.
    Blanks,
}

/// Rows of a relation that are to be changed, and a further column that tells them apart.
pub struct RowsToChange {
    pub table: AttributeTable,
    /// Dictionary of the further column.
    pub keys: Dictionary,
    /// Code of the further column in every row.
    pub key_of_row: Vec<u32>,
}

impl AttributeTable {
    fn new(
        dictionaries: Vec<Dictionary>,
        settings: &[ColumnSettings],
        options: &Options,
        counted: Counted,
        class_of_row: Vec<u32>,
        preparation: Preparation,
    ) -> Result<Self, Error> {
        let classes = counted.classes();
        let mut attributes = Attributes::new(dictionaries, settings, |column| classes.rows_of_codes(column))?;
        let columns = &mut attributes.columns; // without names, which stay on this thread
        let (packed, information) = run::long("packing rows", |control| {
            if options.discount_common {
                discount_common(&classes, columns, control)?;
            }
            let packed = match preparation {
                Preparation::Blanks => PackedTable::with_room_for_blanks(&classes, columns, control)?,
                _ => PackedTable::new(&classes, columns, control)?,
            };
            let information = match preparation {
                Preparation::Scores => CellInformation::default(),
                _ => CellInformation::new(&classes, columns),
            };
            Ok((packed, information))
        })?;
        let distinct_of_row = class_of_row
            .into_iter()
            .map(|class| packed.row_of_class(class as usize) as u32);
        Ok(AttributeTable {
            distinct_of_row: distinct_of_row.collect(),
            attributes,
            packed,
            information,
        })
    }

    /// Reads the rows of a window call's partition. The settings of the columns are checked before any row is
    /// read, unless the columns are those of an anonymous record and the partition begins with NULL.
    pub fn of_partition(call: &WindowCall, options: &Options) -> Result<Self, Error> {
        let mut types = call.argument_types();
        types.truncate(1);
        let relation = types[0].relation();
        let settings = |columns: &[ColumnType]| -> Result<Vec<ColumnSettings>, Error> {
            let settings = column_settings(columns, relation, options.labels.as_ref(), options.purpose)?;
            if options.purpose != Purpose::Policy {
                notice_unlabelled(relation, columns.iter().zip(&settings));
            }
            Ok(settings)
        };
        let before = columns_of_row(call, &types[0]).map(|columns| settings(&columns));
        let before = before.transpose()?;
        let Encoded { dictionaries, sink } = call.read::<CountedRows>(types)?;
        let settings = match before {
            Some(settings) => settings,
            None => {
                let columns = dictionaries.iter().map(|dictionary| dictionary.column().clone());
                settings(&columns.collect::<Vec<_>>())?
            }
        };
        let class_of_row = sink.class_of_row;
        Self::new(
            dictionaries,
            &settings,
            options,
            sink.counted,
            class_of_row,
            Preparation::Scores,
        )
    }

    /// Reads the rows of a relation. Columns that take no part are not read.
    pub fn of_relation(
        oid: Option<pg_sys::Oid>,
        columns: Option<Vec<Option<String>>>,
        options: &Options,
    ) -> Result<Self, Error> {
        Self::prepared(oid, columns, options, Preparation::Scores)
    }

    /// Reads the rows of a relation, prepared for more than scoring.
    pub fn prepared(
        oid: Option<pg_sys::Oid>,
        columns: Option<Vec<Option<String>>>,
        options: &Options,
        preparation: Preparation,
    ) -> Result<Self, Error> {
        let (relation, settings) = considered(oid, columns, options)?;
        let Encoded { dictionaries, sink } = relation.read(Counted::default())?;
        Self::new(dictionaries, &settings, options, sink, Vec::new(), preparation)
    }

    /// Reads the rows of a relation, of which some cells are to be blanked. `key` returns an expression that tells
    /// rows apart and an empty dictionary for its values, given the columns that are read.
    pub fn to_change(
        oid: Option<pg_sys::Oid>,
        columns: Option<Vec<Option<String>>>,
        options: &Options,
        key: impl FnOnce(&Relation) -> Result<(String, Dictionary), Error>,
    ) -> Result<RowsToChange, Error> {
        let (relation, settings) = considered(oid, columns, options)?;
        let (expression, dictionary) = key(&relation)?;
        let Encoded {
            mut dictionaries,
            sink,
        } = relation.read_with(expression, dictionary, RowsWithKeys::default())?;
        let keys = dictionaries
            .pop()
            .ok_or(Error::Internal("the column that tells rows apart is missing"))?;
        let CountedRows {
            counted,
            class_of_row,
        } = sink.rows;
        let table = Self::new(
            dictionaries,
            &settings,
            options,
            counted,
            class_of_row,
            Preparation::Blanks,
        )?;
        Ok(RowsToChange {
            table,
            keys,
            key_of_row: sink.key_of_row,
        })
    }

    /// Reads the rows of a relation, and whom they are about; `None` if no column is labelled as person, so that rows are
    /// counted. Columns that take no part are not read.
    pub fn with_people(
        oid: Option<pg_sys::Oid>,
        columns: Option<Vec<Option<String>>>,
        options: &Options,
    ) -> Result<(Self, Option<People>), Error> {
        let person = person_columns(oid, options)?;
        if person.is_empty() {
            return Ok((Self::of_relation(oid, columns, options)?, None));
        }
        let (relation, settings) = considered(oid, columns, options)?;
        let mut types = relation.columns().to_vec();
        let sink = RowsOfPeople::new(types.len(), person.len());
        types.extend(person);
        let Encoded {
            mut dictionaries,
            mut sink,
        } = relation.with_columns(types).read(sink)?;
        dictionaries.truncate(sink.width);
        let person_of_row = sink.person_of_row();
        let CountedRows {
            counted,
            class_of_row,
        } = sink.rows;
        let table = Self::new(
            dictionaries,
            &settings,
            options,
            counted,
            class_of_row,
            Preparation::Scores,
        )?;
        let people = table.compute("counting people", |packed, control| {
            People::new(packed, &table.distinct_of_row, &person_of_row, control)
        })?;
        Ok((table, Some(people)))
    }

    /// Runs a long computation on the table.
    pub fn compute<T: Send>(
        &self,
        phase: &'static str,
        job: impl FnOnce(&PackedTable, &Control) -> disclosure::Result<T> + Send,
    ) -> Result<T, Error> {
        let packed = &self.packed;
        run::long(phase, |control| job(packed, control))
    }

    /// Computes the score of every distinct row. Warns if the budget ran out, but not in a policy, whose caller
    /// hears the verdict only.
    pub fn scores(&self, options: &Options) -> Result<Scores, Error> {
        let found = self.compute("scoring rows", |table, control| {
            scores(table, &options.settings, control)
        })?;
        if !found.exact() && options.purpose != Purpose::Policy {
            warn_once(UNFINISHED);
        }
        Ok(found)
    }

    /// Finds the inference behind every score, with the fewest known attributes. Warns if the budget ran out.
    pub fn explain(&self, options: &Options, scores: &mut Scores) -> Result<Explanations, Error> {
        let rows: Vec<usize> = (0..self.packed.len()).collect();
        let (finished, explanations) = self.compute("explaining scores", |table, control| {
            let finished = fewest_known(table, &options.settings, scores, control)?;
            let explanations = explain(table, &options.settings, scores, &rows, control)?;
            Ok((finished, explanations))
        })?;
        if !finished {
            warn_once("the search was not finished within the budget: fewer known attributes may be enough");
        }
        Ok(explanations)
    }

    /// Returns the table for figures that are quick to compute.
    pub fn packed(&self) -> &PackedTable {
        &self.packed
    }

    /// Returns a row with these attributes as an object that `jsonb_populate_record` can read, unless it has
    /// bins.
    pub fn row(&self, attributes: &[Attribute]) -> Json {
        let mut row = serde_json::Map::new();
        for &attribute in attributes {
            let value = self.attributes.json(attribute);
            let name = self.attributes.column_name(attribute.column);
            match &self.attributes.columns[attribute.column as usize].attributes_of_value {
                // An element is never NULL, so this is an array that is NULL.
                AttributesOfValue::Set(_) if value.is_null() => {
                    row.insert(name.into(), value);
                }
                AttributesOfValue::One(_) => {
                    row.insert(name.into(), value);
                }
                AttributesOfValue::Set(_) => {
                    let elements = row.entry(name).or_insert_with(|| json!([]));
                    elements
                        .as_array_mut()
                        .into_iter()
                        .for_each(|elements| elements.push(value.clone()));
                }
            }
        }
        Json(row.into())
    }

    /// Returns the names of attributes.
    pub fn texts(&self, attributes: &[Attribute]) -> Vec<String> {
        let text = |&attribute: &Attribute| self.attributes.text(attribute);
        attributes.iter().map(text).collect()
    }

    /// Returns the names of the attributes that an inference yields.
    pub fn inferred(&self, inference: &Inference) -> Vec<String> {
        let inferred = inference.inferred.iter().map(|inferred| inferred.attribute);
        self.texts(&inferred.collect::<Vec<_>>())
    }

    /// Returns an inference as a formula.
    pub fn formula(&self, inference: &Inference) -> Option<String> {
        inference.formula(|attribute| self.attributes.text(attribute))
    }
}

/// Counts rows by all their columns but the last, and keeps the code of the last column of every row.
#[derive(Default)]
struct RowsWithKeys {
    rows: CountedRows,
    key_of_row: Vec<u32>,
}

impl Sink for RowsWithKeys {
    fn rows(&mut self, rows: Rows) -> disclosure::Result<()> {
        if let Some((keys, columns)) = rows.columns().split_last() {
            self.key_of_row.extend_from_slice(keys);
            self.rows.rows(Rows::new(columns, rows.len()))?;
        }
        Ok(())
    }
}

/// Counts rows by all their columns but the last ones, and keeps the person of every row, whom these identify.
struct RowsOfPeople {
    rows: CountedRows,
    /// Number of columns that do not identify the person.
    width: usize,
    people: Classes,
    /// Class of the person of every row.
    person_of_row: Vec<u32>,
}

impl RowsOfPeople {
    fn new(width: usize, person_width: usize) -> Self {
        RowsOfPeople {
            rows: CountedRows::default(),
            width,
            people: Classes::new(person_width),
            person_of_row: Vec::new(),
        }
    }

    /// Returns the code of the person of every row, which is NULL if all columns that identify them are NULL.
    fn person_of_row(&mut self) -> Vec<u32> {
        let nobody = self.people.find(&vec![NULL; self.people.width()]);
        let mut person_of_row = std::mem::take(&mut self.person_of_row);
        for person in &mut person_of_row {
            *person = match nobody == Some(*person) {
                true => NULL,
                false => *person + 1,
            };
        }
        person_of_row
    }
}

impl Sink for RowsOfPeople {
    fn rows(&mut self, rows: Rows) -> disclosure::Result<()> {
        let (columns, person) = rows.columns().split_at(self.width);
        self.rows.rows(Rows::new(columns, rows.len()))?;
        let persons = Rows::new(person, rows.len());
        self.people
            .extend(persons, |person| self.person_of_row.push(person))
    }
}

/// Returns the columns that identify the person of a row by their label or by the argument `labels`.
fn person_columns(oid: Option<pg_sys::Oid>, options: &Options) -> Result<Vec<ColumnType>, Error> {
    let relation = Relation::new(oid, None)?;
    let settings = column_settings(relation.columns(), oid, options.labels.as_ref(), options.purpose)?;
    let columns = relation.columns().iter().zip(settings);
    let persons = columns.filter(|(_, settings)| settings.label == Some(Label::Person));
    Ok(persons.map(|(column, _)| column.clone()).collect())
}

/// Returns a relation with those of its columns that take part, and their settings. If none does, all are read.
fn considered(
    oid: Option<pg_sys::Oid>,
    columns: Option<Vec<Option<String>>>,
    options: &Options,
) -> Result<(Relation, Vec<ColumnSettings>), Error> {
    let mut relation = Relation::new(oid, columns)?;
    let mut settings = column_settings(relation.columns(), oid, options.labels.as_ref(), options.purpose)?;
    notice_unlabelled(oid, relation.columns().iter().zip(&settings));
    let taking_part = |(column, settings): (&ColumnType, &ColumnSettings)| {
        settings.weights.is_some().then(|| Some(column.name.clone()))
    };
    let names: Vec<Option<String>> = relation
        .columns()
        .iter()
        .zip(&settings)
        .filter_map(taking_part)
        .collect();
    if !names.is_empty() {
        settings.retain(|column| column.weights.is_some());
        relation = Relation::new(oid, Some(names))?;
    }
    Ok((relation, settings))
}

pub const UNFINISHED: &str = "the search was not finished within the budget: scores are upper bounds";

/// Returns the columns of a window call's first argument, which is a record; `None` if it is an anonymous
/// record that is NULL in the current row, so that its columns are not known yet.
fn columns_of_row(call: &WindowCall, row_type: &ColumnType) -> Option<Vec<ColumnType>> {
    // SAFETY: the argument in the current row is a valid composite Datum, and the descriptors live as long as
    // the memory context of the call.
    unsafe {
        let context = pg_sys::CurrentMemoryContext;
        let shape = match row_type.base_type() {
            pg_sys::RECORDOID => RowShape::of_value(call.argument(0)?, context),
            named => RowShape::of_type(named, context),
        };
        Some(shape.columns())
    }
}
