//! Microdata: the original table and its released version, as records with a dense rank for each value in the
//! order of its column.
//!
//! Postgres may return the rows of a table in a different order every time, which must not change any result.
//! So records are sorted by their content: by their key if they have one, else by their values.

use super::coded_table::CodedTable;
use super::holdout::{HOLDOUT, OpenHoldout, in_order};
use super::orders::{Meaning, Orders, RankedValues};
use super::records::{CountedColumn, Records};
use crate::args::Args;
use crate::encode::order::CodedColumn;
use crate::error::Error;
use crate::input::relation::Relation;
use crate::label::labels_of;
use crate::pg::types::{ColumnType, Pair};
use disclosure::NULL;
use disclosure::permutation::scale_of_released;
use pgrx::pg_sys;

/// Two tables whose records can be compared.
pub struct Microdata {
    pub original: Records,
    pub released: Records,
    /// Number of original records that were left out because the released table does not have their key.
    pub only_original: u64,
    /// Number of released records that were left out because the original table does not have their key.
    pub only_released: u64,
    /// Records of people who are not in the released table, if the caller named a hold-out.
    pub holdout: Option<Holdout>,
}

/// Records of people who are not in the released table: the dense ranks of their values among those of the
/// original table, by column.
pub type Holdout = Vec<Vec<u32>>;

/// Tables that the caller wants to compare.
pub struct Wanted {
    pub original: TableArgument,
    pub released: TableArgument,
    /// `None` for all columns that both tables have, except the key and columns labelled to take no part.
    pub columns: Option<Vec<Option<String>>>,
    pub key: Option<String>,
    /// Table of people who are not in the released table.
    pub holdout: Option<TableArgument>,
}

/// A table, and the argument that names it.
#[derive(Clone, Copy)]
pub struct TableArgument {
    pub argument: &'static str,
    pub oid: Option<pg_sys::Oid>,
}

pub const COLUMNS: &str = "columns";
const KEY: &str = "key";

impl TableArgument {
    /// Reads an argument of type regclass.
    pub fn read(args: &mut Args, argument: &'static str) -> Self {
        let oid = args.optional(argument);
        TableArgument { argument, oid }
    }

    /// Reads the argument `holdout`, which may be NULL.
    pub fn read_holdout(args: &mut Args) -> Option<Self> {
        let holdout = Self::read(args, HOLDOUT);
        holdout.oid.is_some().then_some(holdout)
    }

    pub fn open(self) -> Result<Relation, Error> {
        Relation::whole(self.argument, self.oid)
    }
}

impl Wanted {
    /// Reads the arguments `original`, `released`, `columns` and `key`.
    pub fn read(args: &mut Args) -> Self {
        Wanted {
            original: TableArgument::read(args, "original"),
            released: TableArgument::read(args, "released"),
            columns: args.names(COLUMNS),
            key: args.name(KEY),
            holdout: None,
        }
    }

    /// Reads the same arguments and `holdout`, which follows them.
    pub fn read_with_holdout(args: &mut Args) -> Self {
        let wanted = Self::read(args);
        Wanted {
            holdout: TableArgument::read_holdout(args),
            ..wanted
        }
    }

    /// Opens both tables. Returns them and the chosen columns, with the types of the original table.
    fn open(&self, orders: &Orders) -> Result<(Relation, Relation, Vec<ColumnType>), Error> {
        let (original, released) = (self.original.open()?, self.released.open()?);
        let chosen = match &self.columns {
            Some(names) => original.chosen_columns(names.clone())?,
            None => columns_by_labels(
                (&original, self.original.oid),
                Some(&released),
                self.key.as_deref(),
            )?,
        };
        for column in &chosen {
            released.column(COLUMNS, &column.name)?;
        }
        orders.check(&chosen)?;
        Ok((original, released, chosen))
    }
}

impl Microdata {
    /// Reads two tables to compare their ranks. With a key, only records that both tables have are kept, and
    /// records with the same number belong together. Without a key, both tables must have the same number of
    /// records.
    pub fn by_rank(wanted: &Wanted, orders: &Orders) -> Result<Self, Error> {
        let (original, released, chosen) = wanted.open(orders)?;
        let pair = |column: &ColumnType| {
            let there = released.column(COLUMNS, &column.name)?;
            match orders.of_column(&column.name) {
                None => Ok(Pair::new(column, there)),
                Some(_) => Pair::comparable(COLUMNS, column, there),
            }
        };
        let mut pairs = chosen.iter().map(pair).collect::<Result<Vec<Pair>, Error>>()?;
        if let Some(key) = &wanted.key {
            let (here, there) = (original.column(KEY, key)?, released.column(KEY, key)?);
            pairs.push(Pair::comparable(KEY, here, there)?);
        }
        let (of_original, of_released_rows): (Vec<_>, Vec<_>) =
            pairs.into_iter().map(|pair| (pair.here, pair.there)).unzip();
        let holdout = open_holdout(wanted.holdout, &of_original[..chosen.len()])?;
        let mut here = CodedTable::read(&original, of_original)?;
        let mut there = CodedTable::read(&released, of_released_rows)?;
        let rows = (here.records, there.records);
        let keys = match wanted.key {
            Some(_) => Some(keep_shared(&mut here, &mut there)?),
            None if rows.0 == rows.1 => None,
            None => {
                return Err(Error::argument(
                    wanted.released.argument,
                    format!("has {} rows, but the original has {}", rows.1, rows.0),
                    "Give a key to compare only the rows that both tables have.",
                ));
            }
        };
        let shared = here.records;
        let holdout = holdout
            .map(|holdout| holdout.read(&mut here.columns))
            .transpose()?;
        let mut ranked_values = Vec::with_capacity(here.columns.len());
        let columns = here.columns.into_iter().zip(there.columns);
        let columns = columns.map(|(here, there)| {
            let (columns, values) = match orders.of_column(here.name()) {
                None => {
                    let (here, values) = by_type(here)?;
                    ((here, by_type(there)?.0), values)
                }
                Some(_) => together(here, there, orders, Frequencies::OfOriginal)?,
            };
            ranked_values.push(values);
            Ok(columns)
        });
        let mut tables = Self::of_columns(columns, keys)?;
        if !tables.is_paired() {
            tables.put_in_order()?;
        }
        tables.holdout = holdout
            .map(|codes| ranked_holdout(codes, &ranked_values))
            .transpose()?;
        tables.only_original = (rows.0 - shared) as u64;
        tables.only_released = (rows.1 - shared) as u64;
        Ok(tables)
    }

    /// Reads two tables to compare their values. The key only identifies records of the original table.
    /// Values of a type that is neither a number, a date nor a timestamp count as their dense rank among the
    /// released values, unless the caller gave an order.
    pub fn by_value(wanted: &Wanted, orders: &Orders) -> Result<Self, Error> {
        let (original, released, chosen) = wanted.open(orders)?;
        let key = wanted.key.as_deref();
        let key = key.map(|key| original.column(KEY, key).cloned()).transpose()?;
        let pair = |column| Pair::comparable(COLUMNS, column, released.column(COLUMNS, &column.name)?);
        let pairs = chosen.iter().map(pair).collect::<Result<Vec<Pair>, Error>>()?;
        let of_original = pairs.iter().map(|pair| pair.here.clone()).chain(key.clone());
        let mut here = CodedTable::read(&original, of_original)?;
        let there = CodedTable::read(&released, pairs.into_iter().map(|pair| pair.there))?;
        let keys = key.is_some().then(|| here.pop_column()).transpose()?;
        Self::of_values(here, there, keys, orders)
    }

    /// Combines two tables whose columns have the same types.
    pub fn of_values(
        here: CodedTable,
        there: CodedTable,
        keys: Option<CodedColumn>,
        orders: &Orders,
    ) -> Result<Self, Error> {
        let columns = here.columns.into_iter().zip(there.columns);
        let columns = columns.map(|(here, there)| {
            let (columns, _) = together(here, there, orders, Frequencies::OfReleased)?;
            Ok(columns)
        });
        let mut tables = Self::of_columns(columns, keys)?;
        tables.put_in_order()?;
        Ok(tables)
    }

    fn of_columns(
        columns: impl Iterator<Item = Result<(CountedColumn, CountedColumn), Error>>,
        keys: Option<CodedColumn>,
    ) -> Result<Self, Error> {
        let columns = columns.collect::<Result<Vec<_>, Error>>()?;
        let (original, released): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        Ok(Microdata {
            original: Records::new(original, keys),
            released: Records::new(released, None),
            only_original: 0,
            only_released: 0,
            holdout: None,
        })
    }

    /// Returns whether records with the same number belong together.
    pub fn is_paired(&self) -> bool {
        self.original.has_keys()
    }

    fn put_in_order(&mut self) -> Result<(), Error> {
        self.original.put_in_order()?;
        self.released.put_in_order()
    }
}

impl Records {
    /// Reads one table by itself, and the hold-out if there is one.
    pub fn alone(
        table: TableArgument,
        columns: Option<Vec<Option<String>>>,
        holdout: Option<TableArgument>,
        orders: &Orders,
    ) -> Result<(Self, Option<Holdout>), Error> {
        let relation = table.open()?;
        let chosen = match columns {
            Some(names) => relation.chosen_columns(names)?,
            None => columns_by_labels((&relation, table.oid), None, None)?,
        };
        orders.check(&chosen)?;
        let holdout = open_holdout(holdout, &chosen)?;
        let mut read = CodedTable::read(&relation, chosen)?;
        let holdout = holdout
            .map(|holdout| holdout.read(&mut read.columns))
            .transpose()?;
        let columns = read.columns.into_iter().map(|mut column| {
            let records_of = column.records_of();
            let values = RankedValues::new(&mut column.dictionary, orders, &records_of)?;
            Ok((CountedColumn::new(column, &values, |code| code), values))
        });
        let columns = columns.collect::<Result<Vec<_>, Error>>()?;
        let (columns, values): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let mut records = Records::new(columns, None);
        records.put_in_order()?;
        let holdout = holdout.map(|codes| ranked_holdout(codes, &values)).transpose()?;
        Ok((records, holdout))
    }
}

/// Orders the values of a column by their type.
fn by_type(mut column: CodedColumn) -> Result<(CountedColumn, RankedValues), Error> {
    let values = RankedValues::by_type(&mut column.dictionary)?;
    Ok((CountedColumn::new(column, &values, |code| code), values))
}

/// Opens the hold-out, if there is one, to read it in the types of the original columns.
fn open_holdout(table: Option<TableArgument>, original: &[ColumnType]) -> Result<Option<OpenHoldout>, Error> {
    let opened = table.map(|table| OpenHoldout::new(table.open()?, original));
    opened.transpose()
}

/// Ranks the records of a hold-out, given by the codes of their values in the original columns.
fn ranked_holdout(codes: Vec<Vec<u32>>, values: &[RankedValues]) -> Result<Holdout, Error> {
    let columns = codes.iter().zip(values).map(|(codes, values)| {
        let dense_ranks = codes.iter().map(|&code| values.dense_rank(code));
        dense_ranks.collect()
    });
    in_order(&columns.collect::<Vec<Vec<u32>>>())
}

/// Table whose frequencies of values count.
#[derive(Clone, Copy, PartialEq)]
enum Frequencies {
    OfOriginal,
    OfReleased,
}

/// Orders the values of a column of both tables together.
fn together(
    mut here: CodedColumn,
    there: CodedColumn,
    orders: &Orders,
    frequencies: Frequencies,
) -> Result<((CountedColumn, CountedColumn), RankedValues), Error> {
    let code_here = here.dictionary.adopt(&there.dictionary)?;
    let translated = |code: u32| code_here[code as usize];
    let mut records_of = here.records_of();
    if frequencies == Frequencies::OfReleased {
        records_of.fill(0);
        for (records, code) in there.records_of().into_iter().zip(1..) {
            records_of[translated(code) as usize - 1] += records;
        }
    }
    let mut values = RankedValues::new(&mut here.dictionary, orders, &records_of)?;
    if values.meaning == Meaning::DenseRanks {
        let released = (1..=there.dictionary.len()).map(|code| values.dense_rank(translated(code)));
        values.scale = scale_of_released(released.collect(), values.scale.len());
    }
    let columns = (
        CountedColumn::new(here, &values, |code| code),
        CountedColumn::new(there, &values, translated),
    );
    Ok((columns, values))
}

/// Keeps only the records whose key, the last column of both tables, is in both tables, in the order of the
/// keys. Removes the keys from the tables and returns them.
fn keep_shared(original: &mut CodedTable, released: &mut CodedTable) -> Result<CodedColumn, Error> {
    let (mut here, there) = (original.pop_column()?, released.pop_column()?);
    let code_here = here.dictionary.adopt(&there.dictionary)?;
    let values = here.dictionary.len() as usize;
    let of_original = rows_by_key(here.codes.iter().copied(), values, "original")?;
    let there = there.codes.iter().map(|&code| code_here[code as usize]);
    let of_released_rows = rows_by_key(there, values, "released")?;
    let is_shared = |&code: &u32| {
        of_original[code as usize]
            .and(of_released_rows[code as usize])
            .is_some()
    };
    here.codes = here
        .dictionary
        .sorted_codes()?
        .into_iter()
        .filter(is_shared)
        .collect();
    for (table, row_of) in [(original, of_original), (released, of_released_rows)] {
        let rows: Vec<u32> = here
            .codes
            .iter()
            .filter_map(|&code| row_of[code as usize])
            .collect();
        table.arrange(&rows);
    }
    Ok(here)
}

/// Returns the row that holds each key, by the key's code.
fn rows_by_key(
    codes: impl Iterator<Item = u32>,
    values: usize,
    table: &'static str,
) -> Result<Vec<Option<u32>>, Error> {
    let invalid = |problem: String| {
        Error::argument(
            KEY,
            problem,
            "Give a column that identifies every row in both tables.",
        )
    };
    let mut row_of = vec![None; values + 1];
    for (code, row) in codes.zip(0..) {
        if code == NULL {
            return Err(invalid(format!("contains NULL in the {table} table")));
        }
        if row_of[code as usize].replace(row).is_some() {
            return Err(invalid(format!("is not unique in the {table} table")));
        }
    }
    Ok(row_of)
}

/// Returns the columns to compare if the caller names none.
fn columns_by_labels(
    (original, oid): (&Relation, Option<pg_sys::Oid>),
    released: Option<&Relation>,
    key: Option<&str>,
) -> Result<Vec<ColumnType>, Error> {
    let labels = oid.map_or(Ok(Default::default()), labels_of)?;
    let takes_part = |column: &&ColumnType| {
        let is_in = |relation: &Relation| {
            let mut columns = relation.columns().iter();
            columns.any(|other| other.name == column.name)
        };
        let label = labels.get(&column.name);
        key != Some(&column.name)
            && label.is_none_or(|label| label.weights().is_some())
            && released.is_none_or(is_in)
    };
    let chosen: Vec<ColumnType> = original.columns().iter().filter(takes_part).cloned().collect();
    if chosen.is_empty() {
        return Err(Error::argument(
            COLUMNS,
            "there are no columns to compare",
            "Columns that only one table has, the key, and those labelled 'identifier' or 'ignore' take no \
             part unless they are named.",
        ));
    }
    Ok(chosen)
}
