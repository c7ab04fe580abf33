//! An attack that is given as tables: one of weighted edges between entries and codes and, optionally, one of
//! the true edges; or one of the channels of a network.
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
pub const TRUTH: &str = "truth";

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
        entries.put_in_order()?;
        codes.put_in_order()?;
        for (entry, code, _) in &mut edges {
            (*entry, *code) = (entries.numbers[*entry as usize], codes.numbers[*code as usize]);
        }
        let (rows, columns) = (entries.len(), codes.len());
        let matrix = run::sized("sorting edges", rows.max(columns), few, |control| {
            Matrix::from_sparse(rows, columns, edges, control)
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
    let hint = "Give a column of non-negative numbers, or NULL if every edge has weight 1.";
    number_column(relation, WEIGHT_COLUMN, name, hint)
}

/// Returns the quoted name of a column, after checking that it holds numbers.
fn number_column(
    relation: &Relation,
    argument: &'static str,
    name: &str,
    hint: &'static str,
) -> Result<String, Error> {
    if becomes(relation.column(argument, name)?.base_type(), pg_sys::FLOAT8OID) {
        return Ok(quote_identifier(name));
    }
    let problem = format!("\"{name}\" is not a column of numbers");
    Err(Error::argument(argument, problem, hint))
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
        let weight = unsafe { next_number(&mut row) };
        let weight = weight.ok_or_else(|| invalid("a weight is NULL"))?;
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(invalid("a weight is negative, NaN or infinite"));
        }
        edges.push((entry, code, weight));
        Ok(())
    })?;
    Ok(edges)
}

/// Returns the number in the next column of a row; `None` if it is NULL.
///
/// # Safety
/// The column must be of type float8.
unsafe fn next_number(row: &mut Row) -> Option<f64> {
    let (value, is_null) = row.next()?;
    // SAFETY: by the contract of the function.
    unsafe { f64::from_datum(value, is_null) }
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
    let mut is_taken = vec![false; matrix.width()];
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

/// Arguments that describe a network.
pub struct WantedNetwork {
    pub relation: Option<pg_sys::Oid>,
    pub from_column: Option<String>,
    pub to_column: Option<String>,
    /// `None` if every node chooses each of its channels with the same probability.
    pub probability_column: Option<String>,
}

/// A network whose nodes have labels.
pub struct LabelledNetwork {
    /// (from, to, probability) of every channel; the probability is 1 if no column was given.
    pub channels: Vec<(u32, u32, f64)>,
    /// Whether every channel has a probability of its own.
    pub has_probabilities: bool,
    /// Labels of the nodes.
    pub nodes: Labels,
}

const FROM_COLUMN: &str = "from_column";
const TO_COLUMN: &str = "to_column";
const PROBABILITY_COLUMN: &str = "probability_column";

/// Names of the arguments of a network, in the crate and in SQL.
pub const IN_NETWORKS: [(&str, &str); 2] = [("network", RELATION), ("probability", PROBABILITY_COLUMN)];

impl WantedNetwork {
    /// Reads all arguments of `network_attack`.
    pub fn read(args: &mut Args) -> Self {
        WantedNetwork {
            relation: args.optional(RELATION),
            from_column: args.name(FROM_COLUMN),
            to_column: args.name(TO_COLUMN),
            probability_column: args.name(PROBABILITY_COLUMN),
        }
    }
}

impl LabelledNetwork {
    /// Reads the channels, as far as the calling user may see them.
    pub fn read(wanted: WantedNetwork) -> Result<Self, Error> {
        let relation = Relation::whole(RELATION, wanted.relation)?;
        let given =
            |argument, name: Option<String>| name.ok_or(Error::null(argument, "Give the name of a column."));
        let from = given(FROM_COLUMN, wanted.from_column)?;
        let to = given(TO_COLUMN, wanted.to_column)?;
        let pair = Pair::in_common_type(
            relation.column(TO_COLUMN, &to)?,
            relation.column(FROM_COLUMN, &from)?,
        );
        let column = pair.map(|pair| pair.there).ok_or_else(|| {
            let hint = "Give two columns of the same type, because both name nodes.";
            Error::argument(TO_COLUMN, Pair::not_comparable(&to), hint)
        })?;
        let hint = "Give a column of probabilities, or NULL if all channels of a node have the same.";
        let name = wanted.probability_column.as_deref();
        let probability = name.map(|name| number_column(&relation, PROBABILITY_COLUMN, name, hint));
        let probability = probability.transpose()?;
        let oid = column.oid;
        let node = |name: &str| format!("{}::{}", quote_identifier(name), type_name(oid));
        let query = format!(
            "SELECT {}, {}, {}::pg_catalog.float8 FROM {}",
            node(&from),
            node(&to),
            probability.as_deref().unwrap_or("1"),
            relation.name()
        );
        let mut nodes = Labels::of_column(FROM_COLUMN, String::new(), column);
        let mut channels = Vec::new();
        for_each_row(&query, &[oid, oid, pg_sys::FLOAT8OID], |mut row| {
            let from = nodes.next(RELATION, &mut row)?;
            nodes.argument = TO_COLUMN;
            let to = nodes.next(RELATION, &mut row)?;
            nodes.argument = FROM_COLUMN;
            // SAFETY: the query casts the value to float8.
            let probability = unsafe { next_number(&mut row) };
            let hint = "Give a probability for every channel.";
            let problem = || Error::argument(PROBABILITY_COLUMN, "a probability is NULL", hint);
            channels.push((from, to, probability.ok_or_else(problem)?));
            Ok(())
        })?;
        nodes.put_in_order()?;
        for (from, to, _) in &mut channels {
            (*from, *to) = (nodes.numbers[*from as usize], nodes.numbers[*to as usize]);
        }
        Ok(LabelledNetwork {
            channels,
            has_probabilities: probability.is_some(),
            nodes,
        })
    }
}

/// Labels of the rows or of the columns of a matrix, or of the nodes of a network.
pub struct Labels {
    /// Argument that names the column.
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
        let wanted = format!("{}::{}", quote_identifier(&name), type_name(column.oid));
        Ok(Labels::of_column(argument, wanted, column))
    }

    fn of_column(argument: &'static str, wanted: String, column: ColumnType) -> Self {
        Labels {
            argument,
            wanted,
            dictionary: Dictionary::new(column),
            numbers: Vec::new(),
            codes: Vec::new(),
        }
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
                "Leave out rows in which it is unknown.",
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
