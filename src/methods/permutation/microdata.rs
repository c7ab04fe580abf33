//! Microdata, the original table and its anonymised version: records by the places that their values have in
//! the order of each column.
//!
//! In which order a table is read must not matter, and need not be the same twice. So records are put in an
//! order that depends on their content only: by their key where they have one, else by their values.

use crate::encode::dictionary::Dictionary;
use crate::encode::order::Ordered;
use crate::encode::{Codes, Encoded};
use crate::error::Problem;
use crate::input::relation::Relation;
use crate::label::labels_of;
use crate::methods::permutation::orders::{Meaning, Orders, Scaled, marginality};
use crate::pg::row::RowShape;
use crate::pg::types::{ColumnType, Pair, parse, print, read_literal};
use crate::run;
use disclosure::permutation::{Ordinal, canonical_order};
use disclosure::{Label, NULL};
use pgrx::pg_sys::{self, Datum};
use serde_json::{Number, Value};

/// The records of one table.
pub struct Records {
    pub columns: Vec<Column>,
    /// What the values of every column count as.
    pub ordinals: Vec<Ordinal>,
    keys: Option<Ordered>,
}

/// A column of a table.
pub struct Column {
    values: Ordered,
    /// Whether its values are numbers, dates or timestamps, and counted as such.
    pub is_number: bool,
}

/// Two tables whose records can be compared.
pub struct Microdata {
    pub original: Records,
    pub anonymised: Records,
    /// Records of each whose key is not in the other; they were left out.
    pub only_original: u64,
    pub only_anonymised: u64,
}

/// What the caller says about two tables.
pub struct Wanted {
    pub original: Option<pg_sys::Oid>,
    pub anonymised: Option<pg_sys::Oid>,
    /// `None`: all that both have, other than the key and those that are labelled to take no part.
    pub columns: Option<Vec<Option<String>>>,
    pub key: Option<String>,
    pub orders: Option<Value>,
}

const COLUMNS: &str = "columns";
const KEY: &str = "key";
const ORIGINAL: &str = "original";
pub const ANONYMISED: &str = "anonymised";

impl Microdata {
    /// Two tables that are compared by ranks. With a key, records that both have are left, and those with the
    /// same number belong together; without one, there are as many in both.
    pub fn by_rank(wanted: Wanted) -> Result<Self, Problem> {
        let orders = Orders::new(wanted.orders)?;
        let original = Relation::whole(ORIGINAL, wanted.original)?;
        let anonymised = Relation::whole(ANONYMISED, wanted.anonymised)?;
        let chosen = chosen_columns(
            (&original, wanted.original),
            Some(&anonymised),
            wanted.columns,
            wanted.key.as_deref(),
        )?;
        orders.check(&chosen)?;
        let pairs = chosen
            .iter()
            .map(|column| {
                let there = anonymised.column(COLUMNS, &column.name)?;
                match orders.of_column(&column.name) {
                    None => Ok(Pair::new(column, there)),
                    Some(_) => Pair::comparable(COLUMNS, column, there),
                }
            })
            .collect::<Result<Vec<Pair>, Problem>>()?;
        let key = wanted
            .key
            .map(|key| Pair::comparable(KEY, original.column(KEY, &key)?, anonymised.column(KEY, &key)?))
            .transpose()?;
        let of_original = pairs.iter().chain(&key).map(|pair| pair.here.clone());
        let of_anonymised = pairs.iter().chain(&key).map(|pair| pair.there.clone());
        let mut here = Table::read(&original, of_original)?;
        let mut there = Table::read(&anonymised, of_anonymised)?;
        let rows = (here.records, there.records);
        let keys = match key {
            Some(_) => Some(keep_shared(&mut here, &mut there)?),
            None if rows.0 == rows.1 => None,
            None => {
                return Err(Problem::argument(
                    ANONYMISED,
                    format!("has {} rows and the original {}", rows.1, rows.0),
                    "Give a key that both tables have, so that the rows that both have are compared.",
                ));
            }
        };
        let shared = here.records;
        let columns = here.columns.into_iter().zip(there.columns);
        let columns = columns.map(
            |(here, there)| match orders.of_column(&here.dictionary.column().name) {
                None => Ok((here.by_type()?, there.by_type()?)),
                Some(_) => together(here, there, &orders, Frequencies::OfOriginal),
            },
        );
        let mut tables = Self::of_columns(columns, keys)?;
        if tables.original.keys.is_none() {
            tables.original.put_in_order()?;
            tables.anonymised.put_in_order()?;
        }
        tables.only_original = (rows.0 - shared) as u64;
        tables.only_anonymised = (rows.1 - shared) as u64;
        Ok(tables)
    }

    /// Two tables whose values are compared. A key only tells who is who in the original; where values have no
    /// numbers of their own, they are compared by their place among the anonymised ones.
    pub fn by_value(wanted: Wanted) -> Result<Self, Problem> {
        let orders = Orders::new(wanted.orders)?;
        let original = Relation::whole(ORIGINAL, wanted.original)?;
        let anonymised = Relation::whole(ANONYMISED, wanted.anonymised)?;
        let key = wanted.key.as_deref();
        let chosen = chosen_columns(
            (&original, wanted.original),
            Some(&anonymised),
            wanted.columns,
            key,
        )?;
        orders.check(&chosen)?;
        let key = key.map(|key| original.column(KEY, key).cloned()).transpose()?;
        let pairs = comparable_pairs(&chosen, &anonymised)?;
        let of_original = pairs.iter().map(|pair| pair.here.clone()).chain(key.clone());
        let mut here = Table::read(&original, of_original)?;
        let there = Table::read(&anonymised, pairs.into_iter().map(|pair| pair.there))?;
        let keys = key.is_some().then(|| here.pop_column()).transpose()?;
        Self::of_values(here, there, keys, &orders)
    }

    /// One record against an anonymised table; its fields are the columns, in this order.
    ///
    /// # Safety
    /// `subject` is a valid composite Datum.
    pub unsafe fn of_subject(
        subject: Datum,
        anonymised: Option<pg_sys::Oid>,
        columns: Option<Vec<Option<String>>>,
        orders: Option<Value>,
    ) -> Result<Self, Problem> {
        let orders = Orders::new(orders)?;
        let anonymised = Relation::whole(ANONYMISED, anonymised)?;
        let columns = columns.ok_or(Problem::null(
            COLUMNS,
            "Give the names of the anonymised columns, in the order of the subject's fields.",
        ))?;
        let chosen = anonymised.chosen_columns(columns)?;
        orders.check(&chosen)?;
        let mut shape = RowShape::of_value(subject, pg_sys::CurrentMemoryContext);
        let fields = shape.columns();
        if fields.len() != chosen.len() {
            return Err(Problem::argument(
                "subject",
                format!(
                    "the number of its fields is {}, that of the columns {}",
                    fields.len(),
                    chosen.len()
                ),
                "Give a row with a field for every one of the columns, in their order.",
            ));
        }
        // A field is called as its column, and an untyped literal is of its type.
        let fields: Vec<ColumnType> = fields
            .into_iter()
            .zip(&chosen)
            .map(|(field, column)| match field.oid {
                pg_sys::UNKNOWNOID => column.clone(),
                oid => ColumnType {
                    name: column.name.clone(),
                    oid,
                    collation: column.collation,
                },
            })
            .collect();
        let pairs = comparable_pairs(&fields, &anonymised).map_err(|problem| match problem {
            Problem::Argument { problem, .. } => {
                Problem::argument("subject", problem, "Give every field in the type of its column.")
            }
            other => other,
        })?;
        let types = shape.columns();
        let mut record = Vec::with_capacity(pairs.len());
        for ((pair, field), (value, is_null)) in pairs.iter().zip(&types).zip(shape.deform(subject)?) {
            let mut dictionary = Dictionary::new(pair.here.clone());
            let code = match is_null {
                true => NULL,
                false => dictionary.encode(converted(value, field, &pair.here)?)?,
            };
            record.push(Ordered {
                dictionary,
                codes: vec![code],
            });
        }
        let here = Table {
            columns: record,
            records: 1,
        };
        let there = Table::read(&anonymised, pairs.into_iter().map(|pair| pair.there))?;
        Self::of_values(here, there, None, &orders)
    }

    /// Whether records with the same number belong together.
    pub fn is_paired(&self) -> bool {
        self.original.keys.is_some()
    }

    fn of_values(here: Table, there: Table, keys: Option<Ordered>, orders: &Orders) -> Result<Self, Problem> {
        let columns = here.columns.into_iter().zip(there.columns);
        let columns = columns.map(|(here, there)| together(here, there, orders, Frequencies::OfAnonymised));
        let mut tables = Self::of_columns(columns, keys)?;
        tables.original.put_in_order()?;
        tables.anonymised.put_in_order()?;
        Ok(tables)
    }

    fn of_columns(
        columns: impl Iterator<Item = Result<(Counted, Counted), Problem>>,
        keys: Option<Ordered>,
    ) -> Result<Self, Problem> {
        let columns = columns.collect::<Result<Vec<_>, Problem>>()?;
        let (original, anonymised): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        Ok(Microdata {
            original: Records::new(original, keys),
            anonymised: Records::new(anonymised, None),
            only_original: 0,
            only_anonymised: 0,
        })
    }
}

impl Records {
    /// A table by itself, the argument `original`.
    pub fn alone(
        relation: Option<pg_sys::Oid>,
        columns: Option<Vec<Option<String>>>,
        orders: Option<Value>,
    ) -> Result<Self, Problem> {
        let orders = Orders::new(orders)?;
        let original = Relation::whole(ORIGINAL, relation)?;
        let chosen = chosen_columns((&original, relation), None, columns, None)?;
        orders.check(&chosen)?;
        let table = Table::read(&original, chosen)?;
        let columns = table.columns.into_iter().map(|mut values| {
            let name = values.dictionary.column().name.clone();
            let scaled = match orders.of_column(&name) {
                None => Scaled::by_type(&mut values.dictionary)?,
                Some(given) => {
                    let records_of = values.records_of();
                    Scaled::by_orders(&mut values.dictionary, given, &records_of)?
                }
            };
            Ok(counted(values, &scaled, |code| code))
        });
        let mut records = Records::new(columns.collect::<Result<_, Problem>>()?, None);
        records.put_in_order()?;
        Ok(records)
    }

    fn new(columns: Vec<Counted>, keys: Option<Ordered>) -> Self {
        let (columns, ordinals) = columns.into_iter().unzip();
        Records {
            columns,
            ordinals,
            keys,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn len(&self) -> usize {
        self.ordinals.first().map_or(0, |column| column.places.len())
    }

    /// The places of every record in each column.
    pub fn places(&self) -> Vec<&[u32]> {
        self.ordinals.iter().map(|column| &column.places[..]).collect()
    }

    /// What tells who a record is.
    pub fn key(&self, record: usize) -> Option<String> {
        let keys = self.keys.as_ref()?;
        keys.dictionary.text(keys.codes[record])
    }

    /// The values of a record by column.
    pub fn json(&self, record: usize) -> Value {
        let fields = self.columns.iter().map(|column| {
            let Ordered { dictionary, codes } = &column.values;
            (dictionary.column().name.clone(), json(dictionary, codes[record]))
        });
        Value::Object(fields.collect())
    }

    /// The different values of a column that have a place from `first` to `last`, in order.
    pub fn values_between(&self, column: usize, first: u32, last: u32) -> Vec<Value> {
        let Ordered { dictionary, codes } = &self.columns[column].values;
        let places = self.ordinals[column].places.iter().copied();
        let mut found: Vec<(u32, u32)> = places
            .zip(codes.iter().copied())
            .filter(|(place, _)| (first..=last).contains(place))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
            .into_iter()
            .map(|(_, code)| json(dictionary, code))
            .collect()
    }

    /// In the order of the keys, and then in that of the values.
    fn put_in_order(&mut self) -> Result<(), Problem> {
        let keys = self.keys.as_mut().map(Ordered::places).transpose()?;
        let columns: Vec<&[u32]> = keys.as_deref().into_iter().chain(self.places()).collect();
        let order = run::long("sorting records", |control| canonical_order(&columns, control))?;
        for (column, ordinal) in self.columns.iter_mut().zip(&mut self.ordinals) {
            column.values.arrange(&order);
            let place = |&record: &u32| ordinal.places[record as usize];
            ordinal.places = order.iter().map(place).collect();
        }
        if let Some(keys) = &mut self.keys {
            keys.arrange(&order);
        }
        Ok(())
    }
}

/// A column, and what its values count as.
type Counted = (Column, Ordinal);

/// A column whose values were put in order, perhaps with those of another one; then `code_there` is what a code
/// is called in the dictionary of both.
fn counted(values: Ordered, scaled: &Scaled, code_there: impl Fn(u32) -> u32) -> Counted {
    let place = |&code: &u32| scaled.place(code_there(code));
    let ordinal = Ordinal {
        places: values.codes.iter().map(place).collect(),
        scale: scaled.scale.clone(),
    };
    let is_number = scaled.meaning == Meaning::Numbers;
    (Column { values, is_number }, ordinal)
}

impl Column {
    pub fn name(&self) -> &str {
        &self.values.dictionary.column().name
    }

    pub fn nulls(&self) -> usize {
        self.values.codes.iter().filter(|&&code| code == NULL).count()
    }
}

/// A value as JSON: numbers and truth values as such, unless a JSON number as Rust has them would be another one,
/// and anything else as text.
fn json(dictionary: &Dictionary, code: u32) -> Value {
    if code == NULL {
        return Value::Null;
    }
    let text = || dictionary.text(code).unwrap_or_default();
    let bits = || dictionary.value(code).value() as u64;
    match dictionary.column().base_type() {
        pg_sys::BOOLOID => Value::Bool(bits() != 0),
        pg_sys::INT2OID | pg_sys::INT4OID | pg_sys::INT8OID => Value::from(bits() as i64),
        pg_sys::FLOAT8OID => finite(f64::from_bits(bits())).unwrap_or_else(|| text().into()),
        // Its own digits, not those of the float8 that is nearest to it.
        pg_sys::FLOAT4OID => f32::from_bits(bits() as u32)
            .to_string()
            .parse()
            .ok()
            .and_then(finite)
            .unwrap_or_else(|| text().into()),
        pg_sys::NUMERICOID => {
            let text = text();
            number(&text).unwrap_or(text.into())
        }
        _ => text().into(),
    }
}

/// A float8 that JSON has a number for; whole ones without a point, as people write them.
fn finite(number: f64) -> Option<Value> {
    let is_whole = number.fract() == 0.0 && number.abs() < 1e15;
    match Number::from_f64(number)? {
        _ if is_whole => Some(Value::from(number as i64)),
        number => Some(Value::Number(number)),
    }
}

/// A numeric that a float8 may not be able to hold, or that is no number.
fn number(text: &str) -> Option<Value> {
    let digits = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    };
    if let Ok(integer) = digits.parse::<i64>() {
        return Some(integer.into());
    }
    let number = digits.parse::<f64>().ok()?;
    let is_same = number.to_string() == digits;
    finite(number).filter(|_| is_same)
}

impl Ordered {
    fn by_type(mut self) -> Result<Counted, Problem> {
        let scaled = Scaled::by_type(&mut self.dictionary)?;
        Ok(counted(self, &scaled, |code| code))
    }
}

/// In which of two tables it counts how often values occur.
#[derive(Clone, Copy, PartialEq)]
enum Frequencies {
    OfOriginal,
    OfAnonymised,
}

/// A column of both tables in one order.
fn together(
    mut here: Ordered,
    there: Ordered,
    orders: &Orders,
    frequencies: Frequencies,
) -> Result<(Counted, Counted), Problem> {
    let name = here.dictionary.column().name.clone();
    let code_here = here.dictionary.adopt(&there.dictionary)?;
    let translated = |code: u32| code_here[code as usize];
    let mut scaled = match orders.of_column(&name) {
        None => Scaled::by_type(&mut here.dictionary)?,
        Some(given) => {
            let mut records_of = here.records_of();
            if frequencies == Frequencies::OfAnonymised {
                records_of.fill(0);
                for (records, code) in there.records_of().into_iter().zip(1..) {
                    records_of[translated(code) as usize - 1] += records;
                }
            }
            Scaled::by_orders(&mut here.dictionary, given, &records_of)?
        }
    };
    if scaled.meaning == Meaning::Places {
        let released = (1..=there.dictionary.len()).map(|code| scaled.place(translated(code)));
        scaled.scale = places_among(released.collect(), scaled.scale.len());
    }
    Ok((
        counted(here, &scaled, |code| code),
        counted(there, &scaled, translated),
    ))
}

/// The scale of all places up to `last` where only some of them, the `released` ones, are counted, and those
/// between two of them are half-way. What is not in the release has no say in it, as its readers cannot know.
fn places_among(mut released: Vec<u32>, last: usize) -> Vec<f64> {
    released.sort_unstable();
    released.dedup();
    let scale = |place: u32| {
        let before = released.partition_point(|&other| other < place) as f64;
        match released.binary_search(&place) {
            Ok(_) => before + 1.0,
            Err(_) => before + 0.5,
        }
    };
    (1..=last as u32).map(scale).collect()
}

/// A table as it was read.
struct Table {
    columns: Vec<Ordered>,
    records: usize,
}

impl Table {
    fn read(relation: &Relation, columns: impl IntoIterator<Item = ColumnType>) -> Result<Self, Problem> {
        let columns: Vec<ColumnType> = columns.into_iter().collect();
        let Encoded { dictionaries, sink } = relation.read_as(columns, Codes::default())?;
        let records = sink.0.first().map_or(0, Vec::len);
        let columns = dictionaries.into_iter().zip(sink.0);
        Ok(Table {
            columns: columns
                .map(|(dictionary, codes)| Ordered { dictionary, codes })
                .collect(),
            records,
        })
    }

    /// Take the last column away.
    fn pop_column(&mut self) -> Result<Ordered, Problem> {
        self.columns
            .pop()
            .ok_or(Problem::Internal("a table without columns was read"))
    }

    /// Only these records, in this order.
    fn arrange(&mut self, records: &[u32]) {
        self.columns.iter_mut().for_each(|column| column.arrange(records));
        self.records = records.len();
    }
}

/// Leave only the records whose key, the last column of both tables, the other table has too, in the order of
/// the keys, which are returned.
fn keep_shared(original: &mut Table, anonymised: &mut Table) -> Result<Ordered, Problem> {
    let (mut here, there) = (original.pop_column()?, anonymised.pop_column()?);
    let code_here = here.dictionary.adopt(&there.dictionary)?;
    let values = here.dictionary.len() as usize;
    let of_original = rows_by_key(here.codes.iter().copied(), values, ORIGINAL)?;
    let there = there.codes.iter().map(|&code| code_here[code as usize]);
    let of_anonymised = rows_by_key(there, values, ANONYMISED)?;
    let places = here.dictionary.order()?;
    let shared = |(place, code): (u32, u32)| {
        let row_here = of_original[code as usize]?;
        let row_there = of_anonymised[code as usize]?;
        Some((place, code, row_here, row_there))
    };
    let mut shared: Vec<_> = places.into_iter().zip(1..).filter_map(shared).collect();
    shared.sort_unstable();
    let rows: Vec<u32> = shared.iter().map(|&(.., row, _)| row).collect();
    original.arrange(&rows);
    let rows: Vec<u32> = shared.iter().map(|&(.., row)| row).collect();
    anonymised.arrange(&rows);
    here.codes = shared.into_iter().map(|(_, code, ..)| code).collect();
    Ok(here)
}

/// The row that holds each key, by its code.
fn rows_by_key(
    codes: impl Iterator<Item = u32>,
    values: usize,
    table: &'static str,
) -> Result<Vec<Option<u32>>, Problem> {
    let invalid =
        |problem: String| Problem::argument(KEY, problem, "Give a column that is different for everybody.");
    let mut row_of = vec![None; values + 1];
    for (code, row) in codes.zip(0..) {
        if code == NULL {
            return Err(invalid(format!("is NULL in a row of the {table} table")));
        }
        if row_of[code as usize].replace(row).is_some() {
            return Err(invalid(format!(
                "two rows of the {table} table have the same value of it"
            )));
        }
    }
    Ok(row_of)
}

/// The columns that take part, as the first table has them.
fn chosen_columns(
    (original, oid): (&Relation, Option<pg_sys::Oid>),
    anonymised: Option<&Relation>,
    given: Option<Vec<Option<String>>>,
    key: Option<&str>,
) -> Result<Vec<ColumnType>, Problem> {
    if let Some(given) = given {
        let chosen = original.chosen_columns(given)?;
        if let Some(anonymised) = anonymised {
            for column in &chosen {
                anonymised.column(COLUMNS, &column.name)?;
            }
        }
        return Ok(chosen);
    }
    let labels = oid.map_or(Ok(Default::default()), labels_of)?;
    let takes_part = |column: &&ColumnType| {
        let is_in = |relation: &Relation| {
            let mut columns = relation.columns().iter();
            columns.any(|other| other.name == column.name)
        };
        let label = labels.get(&column.name);
        key != Some(&column.name)
            && !matches!(label, Some(Label::Ignore | Label::Identifier))
            && anonymised.is_none_or(is_in)
    };
    let chosen: Vec<ColumnType> = original.columns().iter().filter(takes_part).cloned().collect();
    match chosen.is_empty() {
        false => Ok(chosen),
        true => Err(Problem::argument(
            COLUMNS,
            "there are none to compare",
            "Columns that only one table has, the key, and those labelled 'identifier' or 'ignore' take no \
                   part unless they are named.",
        )),
    }
}

fn comparable_pairs(columns: &[ColumnType], anonymised: &Relation) -> Result<Vec<Pair>, Problem> {
    columns
        .iter()
        .map(|column| Pair::comparable(COLUMNS, column, anonymised.column(COLUMNS, &column.name)?))
        .collect()
}

/// A field of a row as a value of the type in which it is compared, cast as in a query.
///
/// # Safety
/// A valid Datum of the field's type.
unsafe fn converted(value: Datum, field: &ColumnType, wanted: &ColumnType) -> Result<Datum, Problem> {
    if field.oid == pg_sys::UNKNOWNOID {
        return Ok(read_literal(wanted, value));
    }
    let (from, to) = (field.base_type(), wanted.base_type());
    let mut function = pg_sys::InvalidOid;
    let implicit = pg_sys::CoercionContext::COERCION_IMPLICIT;
    match pg_sys::find_coercion_pathway(to, from, implicit, &mut function) {
        pg_sys::CoercionPathType::COERCION_PATH_RELABELTYPE => Ok(value),
        pg_sys::CoercionPathType::COERCION_PATH_FUNC if pg_sys::get_func_nargs(function) == 1 => {
            Ok(pg_sys::OidFunctionCall1Coll(function, wanted.collation, value))
        }
        _ => parse(wanted.oid, &print(field.oid, value)),
    }
}

/// A value of a nominal column.
pub struct MarginalValue {
    pub text: Option<String>,
    pub records: u64,
    pub marginality: f64,
    pub place: u32,
}

/// The values of a column from the most central one to the most marginal one; equally marginal ones by their text.
pub fn marginal_values(
    relation: Option<pg_sys::Oid>,
    column: Option<String>,
    distances: Option<pg_sys::Oid>,
) -> Result<Vec<MarginalValue>, Problem> {
    let missing = |argument, hint| Problem::null(argument, hint);
    let relation = Relation::whole("relation", relation)?;
    let column = column.ok_or(missing("column", "Give the name of a column."))?;
    let column = relation.column("column", &column)?.clone();
    let distances = distances.ok_or(missing("distances", "Give the name of a table or view."))?;
    let mut values = Table::read(&relation, [column])?.pop_column()?;
    let records_of = values.records_of();
    let found = marginality("distances", &mut values.dictionary, distances, &records_of)?;
    let of_value = |(records, number): (u64, usize)| MarginalValue {
        text: values.dictionary.text(number as u32 + 1),
        records,
        marginality: found.of_value(number),
        place: found.places[number],
    };
    let mut values: Vec<MarginalValue> = records_of.into_iter().zip(0..).map(of_value).collect();
    values.sort_by(|one, other| (one.place, &one.text).cmp(&(other.place, &other.text)));
    Ok(values)
}
