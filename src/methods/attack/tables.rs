//! An attack that is given as tables: one of weighted edges between entries and codes and, optionally, one of
//! the true edges.
//!
//! Entries and codes are numbered in the order of their values, so that the result does not depend on the
//! order in which the rows of a table are read.

use crate::args::Args;
use crate::encode::dictionary::Dictionary;
use crate::error::Error;
use crate::input::relation::Relation;
use crate::pg::receiver::{Row, for_each_row};
use crate::pg::types::{ColumnType, Pair, becomes, type_name};
use crate::run;
use disclosure::attack::{Matrix, Truth};
use pgrx::pg_sys;
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;

/// Arguments that describe the tables.
pub struct WantedEdges {
    pub relation: Option<pg_sys::Oid>,
    pub entry_column: Option<String>,
    pub code_column: Option<String>,
    /// `None` if every edge has weight 1.
    pub weight_column: Option<String>,
    /// Table of the true edges. Its columns have the same names as those of `relation`.
    pub truth: Option<pg_sys::Oid>,
}

/// A matrix whose rows and columns have labels.
pub struct LabelledAttack {
    pub matrix: Matrix,
    /// `None` if no table of true edges was given.
    pub truth: Option<Truth>,
    /// Labels of the rows.
    pub entries: Labels,
    /// Labels of the columns.
    pub codes: Labels,
}

const RELATION: &str = "relation";
const ENTRY_COLUMN: &str = "entry_column";
const CODE_COLUMN: &str = "code_column";
const WEIGHT_COLUMN: &str = "weight_column";
const TRUTH: &str = "truth";

/// Names of the arguments, in the crate and in SQL.
pub const IN_TABLES: [(&str, &str); 2] = [("matrix", RELATION), ("mapping", TRUTH)];

impl WantedEdges {
    /// Reads the arguments from `relation` to `truth`.
    pub fn read(args: &mut Args) -> Self {
        WantedEdges {
            relation: args.optional(RELATION),
            entry_column: args.name(ENTRY_COLUMN),
            code_column: args.name(CODE_COLUMN),
            weight_column: args.name(WEIGHT_COLUMN),
            truth: args.optional(TRUTH),
        }
    }
}

impl LabelledAttack {
    /// Reads the tables, as far as the calling user may see them. Up to `few` entries, no worker thread is
    /// used.
    pub fn read(wanted: WantedEdges, few: usize) -> Result<Self, Error> {
        let relation = Relation::whole(RELATION, wanted.relation)?;
        let truth = wanted.truth.map(|truth| Relation::whole(TRUTH, Some(truth)));
        let truth = truth.transpose()?;
        let mut entries = Labels::new(ENTRY_COLUMN, wanted.entry_column, &relation, truth.as_ref())?;
        let mut codes = Labels::new(CODE_COLUMN, wanted.code_column, &relation, truth.as_ref())?;
        let weight = wanted.weight_column.map(|name| weight_of(&relation, &name));
        let mut edges = read_edges(&relation, &mut entries, &mut codes, weight.transpose()?)?;
        if entries.len() != codes.len() {
            return Err(Error::argument(
                RELATION,
                format!("has {} entries but {} codes", entries.len(), codes.len()),
                "Give as many codes as entries; an edge of weight 0 adds one that no other edge has.",
            ));
        }
        entries.put_in_order()?;
        codes.put_in_order()?;
        for (entry, code, _) in &mut edges {
            (*entry, *code) = (entries.numbers[*entry as usize], codes.numbers[*code as usize]);
        }
        let size = entries.len();
        let matrix = run::sized("sorting edges", size, few, |control| {
            Matrix::from_sparse(size, size, edges, control)
        })?;
        let truth = truth.map(|truth| read_truth(&truth, &matrix, &mut entries, &mut codes));
        Ok(LabelledAttack {
            truth: truth.transpose()?,
            matrix,
            entries,
            codes,
        })
    }
}

/// Returns the quoted name of the weight column, after checking that the column holds numbers.
fn weight_of(relation: &Relation, name: &str) -> Result<String, Error> {
    if becomes(
        relation.column(WEIGHT_COLUMN, name)?.base_type(),
        pg_sys::FLOAT8OID,
    ) {
        return Ok(quote_identifier(name));
    }
    Err(Error::argument(
        WEIGHT_COLUMN,
        format!("\"{name}\" is not a column of numbers"),
        "Give a column of non-negative numbers, or NULL if every edge has weight 1.",
    ))
}

fn read_edges(
    relation: &Relation,
    entries: &mut Labels,
    codes: &mut Labels,
    weight: Option<String>,
) -> Result<Vec<(u32, u32, f64)>, Error> {
    let invalid =
        |problem: &str| Error::argument(WEIGHT_COLUMN, problem, "Give finite, non-negative numbers.");
    let query = format!(
        "SELECT {}, {}, {}::pg_catalog.float8 FROM {}",
        entries.wanted,
        codes.wanted,
        weight.as_deref().unwrap_or("1"),
        relation.name()
    );
    let mut edges = Vec::new();
    let types = [entries.oid(), codes.oid(), pg_sys::FLOAT8OID];
    for_each_row(&query, &types, |mut row| {
        let (entry, code) = (entries.next(RELATION, &mut row)?, codes.next(RELATION, &mut row)?);
        // SAFETY: the query casts the value to float8.
        let weight = row
            .next()
            .and_then(|(value, is_null)| unsafe { f64::from_datum(value, is_null) });
        let weight = weight.ok_or_else(|| invalid("a weight is NULL"))?;
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(invalid("a weight is negative, NaN or infinite"));
        }
        edges.push((entry, code, weight));
        Ok(())
    })?;
    Ok(edges)
}

fn read_truth(
    truth: &Relation,
    matrix: &Matrix,
    entries: &mut Labels,
    codes: &mut Labels,
) -> Result<Truth, Error> {
    let invalid = |problem: &str| {
        Error::argument(
            TRUTH,
            problem,
            "Give the true code of each entry, as far as it is known. An edge of weight 0 in the relation adds an \
               entry or a code that no other edge has.",
        )
    };
    let query = format!(
        "SELECT {}, {} FROM {}",
        entries.wanted,
        codes.wanted,
        truth.name()
    );
    let mut columns = vec![None; matrix.size()];
    let mut is_taken = vec![false; matrix.size()];
    for_each_row(&query, &[entries.oid(), codes.oid()], |mut row| {
        let (entry, code) = (entries.next(TRUTH, &mut row)?, codes.next(TRUTH, &mut row)?);
        let entry = entries.numbers.get(entry as usize);
        let entry = *entry.ok_or_else(|| invalid("has an entry that is not in the relation"))?;
        let code = codes.numbers.get(code as usize);
        let code = *code.ok_or_else(|| invalid("has a code that is not in the relation"))?;
        if columns[entry as usize].replace(code).is_some() {
            return Err(invalid("an entry occurs twice"));
        }
        if std::mem::replace(&mut is_taken[code as usize], true) {
            return Err(invalid("a code occurs twice"));
        }
        Ok(())
    })?;
    Ok(Truth::new(matrix, columns)?)
}

/// Labels of the rows or of the columns of a matrix.
pub struct Labels {
    argument: &'static str,
    /// Expression that selects the label in a query.
    wanted: String,
    /// Labels in the order in which they were read.
    dictionary: Dictionary,
    /// Row or column number of every label, labels in the order in which they were read.
    numbers: Vec<u32>,
    /// Code in the dictionary of every label, labels in the order of their values.
    codes: Vec<u32>,
}

impl Labels {
    /// Creates an empty set of labels for a column. If there is a table of true edges, the labels have a type
    /// in which the columns of both tables can be compared.
    fn new(
        argument: &'static str,
        name: Option<String>,
        relation: &Relation,
        truth: Option<&Relation>,
    ) -> Result<Self, Error> {
        let name = name.ok_or(Error::null(argument, "Give the name of a column."))?;
        let column = relation.column(argument, &name)?;
        let column: ColumnType = match truth {
            None => column.clone(),
            Some(truth) => Pair::comparable(argument, truth.column(argument, &name)?, column)?.there,
        };
        Ok(Labels {
            argument,
            wanted: format!("{}::{}", quote_identifier(&name), type_name(column.oid)),
            dictionary: Dictionary::new(column),
            numbers: Vec::new(),
            codes: Vec::new(),
        })
    }

    /// Returns the type of the labels.
    fn oid(&self) -> pg_sys::Oid {
        self.dictionary.column().oid
    }

    pub fn len(&self) -> usize {
        self.dictionary.len() as usize
    }

    /// Returns a label as Postgres prints it.
    pub fn text(&self, number: u32) -> Option<String> {
        self.dictionary.text(self.codes[number as usize])
    }

    /// Returns the label in the next column of a row of `table`, as a number from 0 in the order of reading.
    fn next(&mut self, table: &'static str, row: &mut Row) -> Result<u32, Error> {
        let Some((value, false)) = row.next() else {
            return Err(Error::argument(
                self.argument,
                format!("contains NULL in {table}"),
                "Leave out rows whose entry or code is unknown.",
            ));
        };
        // SAFETY: the queries cast the value to the dictionary's type.
        Ok(unsafe { self.dictionary.encode(value)? } - 1)
    }

    /// Numbers the labels in the order of their values. Called once all labels were read.
    fn put_in_order(&mut self) -> Result<(), Error> {
        self.codes = self.dictionary.sorted_codes()?;
        self.numbers = vec![0; self.codes.len()];
        for (&code, number) in self.codes.iter().zip(0..) {
            self.numbers[code as usize - 1] = number;
        }
        Ok(())
    }
}
