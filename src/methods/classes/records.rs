//! Reads relations and window partitions as [`Records`]. Labels and the arguments of the call decide which columns
//! form the classes, which are sensitive, and which say whose row it is.
//!
//! The readers of several methods start here: `classes`, `population` and `columns`.

use crate::args::{Args, enum_word, word};
use crate::encode::dictionary::Dictionary;
use crate::encode::encoder::Encoder;
use crate::encode::{Encoded, Sink};
use crate::error::Error;
use crate::input::relation::Relation;
use crate::input::window::WindowCall;
use crate::label::{labels_of, notice_known};
use crate::methods::inference::column_settings::{
    ColumnSettings, NullMeaning, Purpose, is_labelable, settings_by_labels,
};
use crate::pg::catalog::{columns_of, name_of};
use crate::pg::types::{ColumnType, Pair};
use disclosure::classes::{Nulls, Records, Roles};
use disclosure::{Label, Rows};
use pgrx::pg_sys::Oid;
use serde_json::Value;

/// The values of the SQL type `disclosure.null_treatment`.
pub const NULLS: &[(&str, Nulls)] = &[("value", Nulls::Value), ("wildcard", Nulls::Wildcard)];

/// Returns how NULL is compared, from an argument of type `disclosure.null_treatment`.
pub fn nulls_of_enum(value: Option<Oid>) -> Result<Nulls, Error> {
    enum_word("nulls", value, NULLS)
}

/// What is counted in a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unit {
    /// People, if columns are labelled as person; otherwise rows.
    #[default]
    Person,
    /// Households.
    Household,
    /// Rows.
    Row,
}

impl Unit {
    const WORDS: &[(&str, Self)] = &[
        ("person", Unit::Person),
        ("household", Unit::Household),
        ("row", Unit::Row),
    ];

    /// Reads the argument `unit`.
    pub fn of_args(args: &mut Args) -> Result<Self, Error> {
        Self::of_word(args.optional("unit"))
    }

    /// Reads the value of the argument `unit`.
    pub fn of_word(value: Option<&str>) -> Result<Self, Error> {
        word("unit", value, Self::WORDS)
    }
}

/// What a measure reads besides the columns that form the classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// Sensitive values.
    pub sensitive: bool,
    /// The sampling weight of every row.
    pub weight: bool,
    /// The household of every row.
    pub household: bool,
}

/// Arguments of a call that choose columns. They take precedence over labels.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Columns that form the classes.
    pub columns: Option<Vec<Option<String>>>,
    /// Sensitive columns; for a window function, the one that the call is about.
    pub sensitive: Option<Vec<Option<String>>>,
    pub labels: Option<Value>,
    pub unit: Unit,
    pub needs: Needs,
    /// Whether all rows form one class if no column is known. Otherwise that is an error.
    pub may_know_nothing: bool,
}

/// Roles of the columns that are read, by their positions among these.
#[derive(Debug, Clone, Default)]
pub struct ColumnRoles {
    pub quasi: Vec<usize>,
    pub sensitive: Vec<usize>,
    /// For each sensitive column, whether its label says that NULL is a value.
    pub nulls_are_values: Vec<bool>,
    /// Columns of the unit that is counted; none if rows are counted.
    pub unit: Vec<usize>,
    /// Position of the sampling weight, if it is needed and there is one.
    pub weight: Option<usize>,
    /// Columns that identify the household, if they are needed.
    pub household: Vec<usize>,
}

/// Rows that were read.
pub struct ReadRecords {
    pub records: Records,
    /// Dictionaries of the columns that were read.
    pub dictionaries: Vec<Dictionary>,
    pub roles: ColumnRoles,
}

impl Sink for Records {
    fn rows(&mut self, rows: Rows) -> disclosure::Result<()> {
        self.extend(rows)
    }
}

impl Choice {
    /// Returns the roles of these columns. `relation` is where their labels are; anonymous rows have none.
    pub fn roles(&self, columns: &[ColumnType], relation: Option<Oid>) -> Result<ColumnRoles, Error> {
        let labels = relation.map(labels_of).transpose()?;
        let settings = settings_by_labels(columns, labels.as_ref(), self.labels.as_ref(), Purpose::Classes)?;
        let chosen = |argument, given| positions(argument, columns, relation, given);
        let known = self.columns.as_deref();
        let known = known.map(|given| chosen("columns", given)).transpose()?;
        let sensitive = match self.sensitive.as_deref() {
            Some(given) if self.needs.sensitive => Some(chosen("sensitive", given)?),
            _ => None,
        };
        if let (Some(known), Some(sensitive)) = (&known, &sensitive)
            && let Some(&both) = known.iter().find(|column| sensitive.contains(column))
        {
            return Err(Error::argument(
                "sensitive",
                format!("\"{}\" is also in columns", columns[both].name),
                "Give a column in one of the two.",
            ));
        }
        let all = || settings.iter().enumerate();
        let quasi = match &known {
            Some(known) => known.clone(),
            None => all()
                .filter(|(_, settings)| settings.is_known())
                .map(|(column, _)| column)
                .filter(|column| sensitive.as_ref().is_none_or(|given| !given.contains(column)))
                .collect(),
        };
        if quasi.is_empty() && !columns.is_empty() && !self.may_know_nothing {
            return Err(Error::argument(
                "columns",
                "no column of the relation is known to an adversary by its label",
                "Give the columns, or label those that outsiders may know as quasi.",
            ));
        }
        if known.is_none() {
            notice_unlabelled(relation, columns, &settings, &quasi);
        }
        let sensitive = match sensitive {
            Some(given) => given,
            None if self.needs.sensitive => all()
                .filter(|(_, settings)| settings.is_dangerous())
                .map(|(column, _)| column)
                .filter(|column| known.as_ref().is_none_or(|given| !given.contains(column)))
                .collect(),
            None => Vec::new(),
        };
        let labelled = |label: Label| -> Vec<usize> {
            let labelled = all().filter(|(_, settings)| settings.label.as_ref() == Some(&label));
            labelled.map(|(column, _)| column).collect()
        };
        Ok(ColumnRoles {
            nulls_are_values: sensitive
                .iter()
                .map(|&column| settings[column].nulls == NullMeaning::Value)
                .collect(),
            unit: self.unit_columns(&labelled)?,
            weight: match self.needs.weight {
                true => only_weight(&labelled(Label::Weight))?,
                false => None,
            },
            household: match self.needs.household {
                true => households("labels", labelled(Label::Household))?,
                false => Vec::new(),
            },
            quasi,
            sensitive,
        })
    }

    /// Returns the columns of the unit that is counted, given the columns with a label.
    fn unit_columns(&self, labelled: &impl Fn(Label) -> Vec<usize>) -> Result<Vec<usize>, Error> {
        match self.unit {
            Unit::Row => Ok(Vec::new()),
            Unit::Person => Ok(labelled(Label::Person)),
            Unit::Household => households("unit", labelled(Label::Household)),
        }
    }
}

/// Returns the columns of the household, or an error about an argument if there are none.
fn households(argument: &'static str, columns: Vec<usize>) -> Result<Vec<usize>, Error> {
    match columns.is_empty() {
        false => Ok(columns),
        true => Err(Error::argument(
            argument,
            "no column is labelled as household",
            "Label the column that identifies households: disclosure.label_column(…, 'household').",
        )),
    }
}

fn only_weight(columns: &[usize]) -> Result<Option<usize>, Error> {
    match *columns {
        [] => Ok(None),
        [only] => Ok(Some(only)),
        _ => Err(Error::argument(
            "labels",
            "several columns are labelled as weight",
            "Label only the column with the sampling weight as weight.",
        )),
    }
}

impl ColumnSettings {
    /// Returns whether an adversary may know the column.
    pub fn is_known(&self) -> bool {
        self.weights
            .as_ref()
            .is_some_and(|weights| weights.may_be_known())
    }

    /// Returns whether a label says that the column is dangerous. Columns without a label count as known only.
    pub fn is_dangerous(&self) -> bool {
        let weights = self.weights.as_ref();
        !self.is_unlabelled && weights.is_some_and(|weights| weights.may_be_harmful())
    }
}

/// Returns the positions of columns that the caller gave by name: at least one, all existing and distinct.
fn positions(
    argument: &'static str,
    columns: &[ColumnType],
    relation: Option<Oid>,
    given: &[Option<String>],
) -> Result<Vec<usize>, Error> {
    let invalid = |problem: String| {
        Error::argument(
            argument,
            problem,
            "Give an array of distinct column names, or leave the argument out.",
        )
    };
    if given.is_empty() {
        return Err(invalid("must not be empty".into()));
    }
    let mut found = Vec::with_capacity(given.len());
    for name in given {
        let name = name
            .as_ref()
            .ok_or_else(|| invalid("must not contain NULL".into()))?;
        let position = columns.iter().position(|column| column.name == *name);
        let position = position.ok_or_else(|| match relation {
            Some(relation) => Error::NoSuchColumn {
                argument,
                relation: name_of(relation),
                column: name.clone(),
            },
            None => invalid(format!("there is no column \"{name}\"")),
        })?;
        if found.contains(&position) {
            return Err(invalid(format!("\"{name}\" is given twice")));
        }
        found.push(position);
    }
    Ok(found)
}

/// Tells the caller which of the columns that form the classes have no label.
fn notice_unlabelled(
    relation: Option<Oid>,
    columns: &[ColumnType],
    settings: &[ColumnSettings],
    quasi: &[usize],
) {
    if let Some(relation) = relation.filter(|&oid| is_labelable(oid)) {
        let unlabelled = quasi.iter().filter(|&&column| settings[column].is_unlabelled);
        let names: Vec<&str> = unlabelled.map(|&column| &columns[column].name[..]).collect();
        notice_known(relation, &names);
    }
}

impl ColumnRoles {
    /// Returns the positions of all columns that have a role, in ascending order.
    pub fn positions(&self) -> Vec<usize> {
        let lists = [&self.quasi, &self.sensitive, &self.unit, &self.household];
        let mut all: Vec<usize> = lists.into_iter().flatten().chain(&self.weight).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the roles by positions among the columns that have one.
    fn among(&self, read: &[usize]) -> Self {
        let place = |column: &usize| read.partition_point(|other| other < column);
        let places = |columns: &[usize]| columns.iter().map(place).collect();
        ColumnRoles {
            quasi: places(&self.quasi),
            sensitive: places(&self.sensitive),
            nulls_are_values: self.nulls_are_values.clone(),
            unit: places(&self.unit),
            weight: self.weight.as_ref().map(place),
            household: places(&self.household),
        }
    }

    /// Returns the roles as the algorithms take them. The columns that are kept are the weight, if there is one, and
    /// then those of the household.
    pub fn for_records(&self) -> Roles {
        Roles {
            quasi: self.quasi.clone(),
            sensitive: self.sensitive.clone(),
            person: self.unit.clone(),
            kept: self.weight.iter().chain(&self.household).copied().collect(),
        }
    }
}

/// Sink that remembers the roles of the columns whose rows it receives.
struct RowsByRole {
    records: Records,
    roles: ColumnRoles,
}

impl RowsByRole {
    fn new(roles: ColumnRoles) -> Self {
        RowsByRole {
            records: Records::new(roles.for_records(), true),
            roles,
        }
    }
}

impl Sink for RowsByRole {
    fn rows(&mut self, rows: Rows) -> disclosure::Result<()> {
        self.records.extend(rows)
    }
}

impl ReadRecords {
    /// Reads the rows of a relation. Columns without a role are not read. The class of every row is kept only if its
    /// weight or its household is needed.
    pub fn of_relation(oid: Option<Oid>, choice: &Choice) -> Result<Self, Error> {
        let (relation, roles) = chosen(oid, choice)?;
        let keeps_rows = choice.needs.weight || choice.needs.household;
        let Encoded { dictionaries, sink } = relation.read(Records::new(roles.for_records(), keeps_rows))?;
        Ok(ReadRecords {
            records: sink,
            dictionaries,
            roles,
        })
    }

    /// Reads the rows of a window call's partition, whose first argument is the row. The class of every row is kept.
    /// The columns are checked before any row is read, unless they are those of an anonymous record.
    pub fn of_partition(call: &WindowCall, choice: Choice) -> Result<Self, Error> {
        let mut types = call.argument_types();
        types.truncate(1);
        let relation = types[0].relation();
        let new_encoder = move |columns: Vec<ColumnType>| {
            let roles = choice.roles(&columns, relation)?;
            let read = roles.positions();
            let is_read = |column: usize| read.binary_search(&column).is_ok();
            Ok(Encoder::new(columns, RowsByRole::new(roles)).reading(is_read))
        };
        let Encoded { dictionaries, sink } =
            call.read_by(types, new_encoder, || RowsByRole::new(ColumnRoles::default()))?;
        Ok(ReadRecords {
            records: sink.records,
            dictionaries,
            roles: sink.roles,
        })
    }

    /// Returns the name of a sensitive column, by its position among those.
    pub fn sensitive_name(&self, column: usize) -> &str {
        &self.dictionaries[self.roles.sensitive[column]].column().name
    }
}

/// Returns a relation with only the columns that have a role, and these roles.
fn chosen(oid: Option<Oid>, choice: &Choice) -> Result<(Relation, ColumnRoles), Error> {
    let relation = Relation::whole("relation", oid)?;
    let roles = choice.roles(relation.columns(), oid)?;
    let read = roles.positions();
    let columns = read.iter().map(|&column| relation.columns()[column].clone());
    let columns = columns.collect();
    Ok((relation.with_columns(columns), roles.among(&read)))
}

/// Reads a relation and the population that its people come from. The known columns of both have codes of the same
/// meaning. Units of the population are counted by its own labels.
pub fn with_population(
    oid: Option<Oid>,
    choice: &Choice,
    population: Oid,
) -> Result<(Records, Records), Error> {
    const POPULATION: &str = "population";
    let (relation, roles) = chosen(oid, choice)?;
    let everybody = Relation::whole(POPULATION, Some(population))?;
    let mut here = relation.columns().to_vec();
    let mut there = Vec::new();
    for &column in &roles.quasi {
        let counterpart = everybody.column(POPULATION, &here[column].name)?;
        let pair = Pair::comparable(POPULATION, &here[column], counterpart)?;
        here[column] = pair.here;
        there.push(pair.there);
    }
    let names = there.iter().map(|column| Some(column.name.clone())).collect();
    let of_everybody = Choice {
        columns: Some(names),
        unit: choice.unit,
        ..Choice::default()
    };
    let unit = of_everybody.roles(everybody.columns(), Some(population))?.unit;
    let roles_there = Roles {
        quasi: (0..there.len()).collect(),
        person: (there.len()..there.len() + unit.len()).collect(),
        ..Roles::default()
    };
    there.extend(unit.iter().map(|&column| everybody.columns()[column].clone()));
    let read = relation.read_as(here, Records::new(roles.for_records(), false))?;
    let mut of_columns: Vec<Option<Dictionary>> = read.dictionaries.into_iter().map(Some).collect();
    let shared = roles.quasi.iter().map(|&column| of_columns[column].take());
    let mut dictionaries: Vec<Dictionary> = shared.flatten().collect();
    let own = there[dictionaries.len()..].iter().cloned().map(Dictionary::new);
    dictionaries.extend(own.collect::<Vec<_>>());
    let records = everybody.read_into(there, dictionaries, Records::new(roles_there, false))?;
    Ok((read.sink, records.sink))
}

/// Returns whether the arguments of a call are one row of a relation that has labels.
pub fn is_labelled_row(arguments: &[ColumnType]) -> Result<bool, Error> {
    match arguments {
        [row] => row
            .relation()
            .map_or(Ok(false), |relation| Ok(!labels_of(relation)?.is_empty())),
        _ => Ok(false),
    }
}

/// Returns the roles of the columns if the arguments of a call are one row of a relation that has labels.
pub fn roles_of_row(arguments: &[ColumnType]) -> Result<Option<ColumnRoles>, Error> {
    match arguments {
        [row] if is_labelled_row(arguments)? => {
            let relation = row.relation();
            let columns = relation.and_then(columns_of).unwrap_or_default();
            Choice::default().roles(&columns, relation).map(Some)
        }
        _ => Ok(None),
    }
}
