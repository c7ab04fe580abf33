//! Changes to a table that lower its privacy scores: `decoys`, `remedies`.
//!
//! A decoy is a row to add, a remedy is a cell to set to NULL. [`disclosure::inference`] finds both; this
//! file reads the table and returns them with the values of its columns.

use crate::args::{self, Args, warn_once, word};
use crate::error::Error;
use crate::input::relation::Relation;
use crate::methods::inference::column_settings::Purpose;
use crate::methods::inference::options::Options;
use crate::methods::inference::statement::Finder;
use crate::methods::inference::table::{AttributeTable, Preparation, RowsToChange};
use crate::pg::catalog::{is_generated, is_not_null};
use crate::pg::json::Json;
use crate::pg::table::{Table, table_row};
use disclosure::inference::{
    self, Attribute, Change, DecoyMethod, DecoySettings, EndedBy, Remedies, RemedySettings, ThresholdSummary,
};
use pgrx::pg_sys::Oid;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use std::collections::BTreeSet;

table_row! {
    /// A row to add or complete, the scores of the table's own rows before and after, and what all changes so far
    /// cost.
    struct Decoy {
        step: i32,
        decoy: Json,
        record: Option<Json>,
        average_before: f64,
        average_after: f64,
        maximum_before: f64,
        maximum_after: f64,
        rows_raised: i64,
        rows_added: i64,
        cells_changed: i64,
        information_lost: f64,
        exact: bool,
    }
}

const METHODS: [(&str, DecoyMethod); 2] = [("add", DecoyMethod::Add), ("complete", DecoyMethod::Complete)];

/// decoys(relation regclass, columns name[], labels jsonb, method text, max_rows int, constant float8,
/// budget interval)
#[pg_extern(sql = false)]
fn decoys(args: Args) -> Table<Decoy> {
    Table::new(decoys_for(args))
}

fn decoys_for(mut args: Args) -> Result<Vec<Decoy>, Error> {
    let relation = args.optional("relation");
    let columns = args.names("columns");
    let mut options = Options::labels(&mut args)?;
    let method: Option<String> = args.optional("method");
    let method = word("method", method.as_deref(), &METHODS)?;
    let max_rows = args.number("max_rows", 0)?;
    options.constant(&mut args)?;
    let options = options.finish(args)?;
    let table = AttributeTable::prepared(relation, columns, &options, Preparation::Information)?;
    let wanted = DecoySettings {
        method,
        max_rows,
        columns_to_fill: table.attributes.columns_of_values(),
    };
    let decoys = table.compute("looking for decoys", |table, control| {
        inference::decoys(table, &options.settings, &wanted, control)
    })?;
    let (mut rows_added, mut cells_changed, mut bits) = (0, 0, 0.0);
    let row = |(step, decoy): (i32, &inference::Decoy)| {
        match &decoy.completes {
            None => rows_added += 1,
            Some(before) => {
                let given = decoy
                    .attributes
                    .iter()
                    .filter(|attribute| !before.contains(attribute));
                for &attribute in given {
                    cells_changed += 1;
                    bits += table.information.of_absence(attribute);
                }
            }
        }
        Decoy {
            step,
            decoy: table.row(&decoy.attributes),
            record: decoy.completes.as_ref().map(|before| table.row(before)),
            average_before: decoy.before.average,
            average_after: decoy.after.average,
            maximum_before: decoy.before.maximum,
            maximum_after: decoy.after.maximum,
            rows_raised: decoy.rows_raised as i64,
            rows_added,
            cells_changed,
            information_lost: table.information.share(bits),
            exact: decoy.before.exact && decoy.after.exact,
        }
    };
    Ok((1..).zip(&decoys).map(row).collect())
}

table_row! {
    /// A cell to blank, the scores after its round, and what all changes so far cost. The last row has no cell but
    /// the statement that makes all changes.
    struct Remedy {
        step: Option<i64>,
        round: i32,
        record: Option<Json>,
        column_name: Option<String>,
        value: Option<String>,
        at_or_above: i64,
        maximum: f64,
        average: f64,
        exact: bool,
        cells_changed: i64,
        rows_changed: i64,
        information_lost: f64,
        ended_by: Option<String>,
        statement: Option<String>,
    }
}

/// remedies(relation regclass, columns name[], labels jsonb, threshold float8, min_confidence float8,
/// constant float8, max_rows int, budget interval)
#[pg_extern(sql = false)]
fn remedies(args: Args) -> Table<Remedy> {
    Table::new(remedies_for(args))
}

fn remedies_for(mut args: Args) -> Result<impl Iterator<Item = Remedy> + 'static, Error> {
    let relation: Option<Oid> = args.optional("relation");
    let columns = args.names("columns");
    let mut options = Options::labels(&mut args)?;
    options.purpose = Purpose::Policy;
    let threshold = args.required("threshold")?;
    options.min_confidence(&mut args)?;
    options.constant(&mut args)?;
    let max_rows: Option<i32> = args.optional("max_rows");
    let max_rows = max_rows.map(|max_rows| args::number("max_rows", 1, Some(max_rows)));
    let wanted = RemedySettings {
        threshold,
        max_rows: max_rows.transpose()?.map(|max_rows| max_rows as u64),
    };
    let options = options.finish(args)?;
    wanted.check()?;
    let mut finder = Finder::Nothing;
    let mut rows = AttributeTable::to_change(relation, columns, &options, |considered| {
        finder = Finder::new(relation, considered)?;
        Ok(finder.expression())
    })?;
    let blanks = rows.table.attributes.blanks();
    let found = rows.table.compute("looking for remedies", |table, control| {
        inference::remedies(table, &blanks, &options.settings, &wanted, control)
    })?;
    warn_about_remaining_rows(&found);
    let name = Relation::whole("relation", relation)?.name().to_string();
    let statement = finder.statement(&name, &mut rows, &found.changes)?;
    if let Some(relation) = relation.filter(|_| !found.changes.is_empty()) {
        notice_about_statement(relation, &finder, &rows, &found, statement.is_some());
    }
    Ok(steps(rows, found, statement))
}

/// Says why rows at or above the threshold remain, and what to do about it.
fn warn_about_remaining_rows(found: &Remedies) {
    let remaining = found.after().at_or_above;
    let why = match found.ended_by {
        EndedBy::Threshold => return,
        EndedBy::NothingHelps => {
            "no blank can help, because NULL is a value in the columns that are inferred; remove rows, or make these \
             columns coarser"
        }
        EndedBy::MaxRows => "max_rows was reached; raise it",
        EndedBy::Budget => "the budget ran out; raise it",
    };
    warn_once(&format!(
        "{remaining} rows remain at or above the threshold: {why}"
    ));
}

/// Tells the caller if there is no statement, or if it cannot be executed as the table is.
fn notice_about_statement(
    relation: Oid,
    finder: &Finder,
    rows: &RowsToChange,
    found: &Remedies,
    is_given: bool,
) {
    let attributes = &rows.table.attributes;
    let cells = found.changes.iter().flat_map(|change| &change.cells);
    let columns: BTreeSet<u32> = cells
        .filter_map(|cell| cell.attributes.first())
        .map(|attribute| attribute.column)
        .collect();
    let names = |of: &dyn Fn(u32, &str) -> bool| {
        let columns = columns
            .iter()
            .map(|&column| (column, attributes.column_name(column)));
        let mut names: Vec<&str> = columns
            .filter(|(column, name)| of(*column, name))
            .map(|(_, name)| name)
            .collect();
        names.sort_unstable();
        let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        names.join(", ")
    };
    let generated = names(&|_, name| is_generated(relation, name));
    // An array that loses an element does not become NULL.
    let not_null =
        names(&|column, name| attributes.element_type(column).is_none() && is_not_null(relation, name));
    let notice = |message: String, hint: &str| {
        ErrorReport::new(PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message, "")
            .set_hint(hint.to_string())
            .report(PgLogLevel::NOTICE);
    };
    if matches!(finder, Finder::Nothing) {
        notice(
            "there is no statement, because the relation is not a table, so its rows cannot be changed one by one"
                .into(),
            "Copy it with CREATE TABLE … AS, label the copy, and call remedies() for the copy.",
        );
    } else if !is_given {
        notice(
            "there is no statement, because it would be too long".into(),
            "Blank the cells by the other rows of the result.",
        );
    } else if !generated.is_empty() {
        notice(
            format!("the statement sets columns that are generated from others: {generated}"),
            "Copy the table with CREATE TABLE … AS, label the copy, and call remedies() for the copy.",
        );
    } else if !not_null.is_empty() {
        notice(
            format!("the statement sets columns to NULL that are NOT NULL: {not_null}"),
            "Execute it for a copy, or drop the constraints first.",
        );
    }
}

/// A cell that is blanked in all copies of a row.
#[derive(Clone, Copy)]
struct Step {
    round: usize,
    change: usize,
    position: usize,
    /// Number of cells, number of rows and information before it.
    cells_before: i64,
    rows_before: i64,
    bits_before: f64,
    /// Information in the cell.
    bits: f64,
}

/// Returns the steps in order, without their numbers, and what all of them cost: cells, rows and information.
fn costs(rows: &RowsToChange, changes: &[Change]) -> (Vec<Step>, (i64, i64, f64)) {
    let mut steps = Vec::new();
    for (number, change) in changes.iter().enumerate() {
        for (position, cell) in change.cells.iter().enumerate() {
            let bits = cell
                .attributes
                .iter()
                .map(|&attribute| rows.table.information.of_attribute(attribute));
            steps.push(Step {
                round: cell.round,
                change: number,
                position,
                cells_before: 0,
                rows_before: 0,
                bits_before: 0.0,
                bits: bits.sum(),
            });
        }
    }
    steps.sort_by_key(|step| (step.round, step.change, step.position));
    let (mut cells, mut changed, mut bits) = (0, 0, 0.0);
    for step in &mut steps {
        (step.cells_before, step.rows_before, step.bits_before) = (cells, changed, bits);
        let count = changes[step.change].count;
        cells += count as i64;
        changed += if step.position == 0 { count as i64 } else { 0 };
        bits += count as f64 * step.bits;
    }
    (steps, (cells, changed, bits))
}

/// Returns a row for every cell, and one for the whole.
fn steps(rows: RowsToChange, found: Remedies, statement: Option<String>) -> impl Iterator<Item = Remedy> {
    let (steps, (cells, changed, bits)) = costs(&rows, &found.changes);
    let ended_by = match found.ended_by {
        EndedBy::Threshold => "threshold",
        EndedBy::NothingHelps => "nothing helps",
        EndedBy::MaxRows => "max_rows",
        EndedBy::Budget => "budget",
    };
    let whole = Remedy {
        cells_changed: cells,
        rows_changed: changed,
        information_lost: rows.table.information.share(bits),
        ended_by: Some(ended_by.into()),
        statement,
        ..Remedy::after(found.rounds.len(), &found.after())
    };
    let count_of: Vec<u64> = found.changes.iter().map(|change| change.count).collect();
    let copies = steps.into_iter().flat_map(move |step| {
        let count = count_of[step.change] as i64;
        (0..count).map(move |copy| (copy, step))
    });
    let cell = move |(copy, step): (i64, Step)| {
        let Step {
            round,
            change,
            position,
            ..
        } = step;
        let is_first = i64::from(position == 0);
        let cells = &found.changes[change].cells;
        let gone: Vec<Attribute> = cells[..position]
            .iter()
            .flat_map(|cell| cell.attributes.clone())
            .collect();
        let mut left = rows.table.packed().attributes(found.changes[change].row);
        left.retain(|attribute| !gone.contains(attribute));
        let attribute = cells[position].attributes.first();
        let attributes = &rows.table.attributes;
        Remedy {
            step: Some(step.cells_before + copy + 1),
            record: Some(rows.table.row(&left)),
            column_name: attribute.map(|attribute| attributes.column_name(attribute.column).into()),
            value: attribute.map(|&attribute| attributes.value(attribute)),
            cells_changed: step.cells_before + copy + 1,
            rows_changed: step.rows_before + is_first * (copy + 1),
            information_lost: rows
                .table
                .information
                .share(step.bits_before + (copy + 1) as f64 * step.bits),
            ..Remedy::after(round + 1, &found.rounds[round])
        }
    };
    copies.map(cell).chain(std::iter::once(whole))
}

impl Remedy {
    /// Returns a row with the scores after a round, and nothing else.
    fn after(round: usize, summary: &ThresholdSummary) -> Self {
        Remedy {
            step: None,
            round: round as i32,
            record: None,
            column_name: None,
            value: None,
            at_or_above: summary.at_or_above as i64,
            maximum: summary.maximum,
            average: summary.average,
            exact: summary.exact,
            cells_changed: 0,
            rows_changed: 0,
            information_lost: 0.0,
            ended_by: None,
            statement: None,
        }
    }
}
