//! The functions `diversity` and `class_diversity`: how well classes hide the sensitive values of their members. The
//! definitions are in [`disclosure::classes`].

use crate::args::{Args, enum_word, given, json};
use crate::error::Error;
use crate::input::window::WindowCall;
use crate::methods::classes::hierarchy::Hierarchies;
use crate::methods::classes::records::{Choice, Needs, ReadRecords, Unit, nulls_of_enum};
use crate::methods::inference::column_settings::NullMeaning;
use crate::pg::table::{Table, composite, table_row};
use crate::run;
use disclosure::classes::{Diversity, DiversitySettings, Values};
use pgrx::AllocatedByRust;
use pgrx::heap_tuple::PgHeapTuple;
use pgrx::pg_sys::FunctionCallInfo;
use pgrx::prelude::*;

table_row! {
    /// Figures about a sensitive column.
    struct DiversityRow {
        column_name: String,
        l_distinct: Option<i64>,
        l_entropy: Option<f64>,
        l_recursive: Option<i64>,
        alpha: Option<f64>,
        t_equal: Option<f64>,
        t_ordered: Option<f64>,
        t_hierarchical: Option<f64>,
        beta: Option<f64>,
        beta_enhanced: Option<f64>,
        beta_enhanced_strict: Option<f64>,
        delta: Option<f64>,
    }
}

impl DiversityRow {
    /// Returns the figures of a column; `None` if no value is known.
    fn new(column_name: &str, found: Option<Diversity>) -> Self {
        DiversityRow {
            column_name: column_name.into(),
            l_distinct: found.map(|found| found.l_distinct as i64),
            l_entropy: found.map(|found| found.l_entropy),
            l_recursive: found.map(|found| found.l_recursive as i64),
            alpha: found.map(|found| found.alpha),
            t_equal: found.map(|found| found.t_equal),
            t_ordered: found.and_then(|found| found.t_ordered),
            t_hierarchical: found.and_then(|found| found.t_hierarchical),
            beta: found.map(|found| found.beta),
            beta_enhanced: found.map(|found| found.beta_enhanced),
            beta_enhanced_strict: found.map(|found| found.beta_enhanced_strict),
            delta: found.map(|found| found.delta),
        }
    }

    /// Returns the figures as the values of the type disclosure.diversity_figures.
    fn into_datums(self) -> [Option<pg_sys::Datum>; 12] {
        [
            self.column_name.into_datum(),
            self.l_distinct.into_datum(),
            self.l_entropy.into_datum(),
            self.l_recursive.into_datum(),
            self.alpha.into_datum(),
            self.t_equal.into_datum(),
            self.t_ordered.into_datum(),
            self.t_hierarchical.into_datum(),
            self.beta.into_datum(),
            self.beta_enhanced.into_datum(),
            self.beta_enhanced_strict.into_datum(),
            self.delta.into_datum(),
        ]
    }
}

/// Options of a call, besides those that choose columns.
struct Options {
    settings: DiversitySettings,
    hierarchies: Hierarchies,
}

const NEEDS: Needs = Needs {
    sensitive: true,
    weight: false,
    household: false,
};

/// Returns whether a NULL in a sensitive column is a value of its own, from an argument of type
/// `disclosure.sensitive_null_treatment`. Otherwise rows with NULL are left out.
fn nulls_are_values(value: Option<pg_sys::Oid>) -> Result<bool, Error> {
    let meaning = enum_word("sensitive_nulls", value, NullMeaning::WORDS)?;
    Ok(meaning == NullMeaning::Value)
}

/// diversity(relation regclass, columns name[], sensitive name[], hierarchies jsonb, c float8, labels jsonb,
/// nulls disclosure.null_treatment, sensitive_nulls disclosure.sensitive_null_treatment, unit text)
#[pg_extern(sql = false)]
fn diversity(args: Args) -> Table<DiversityRow> {
    Table::new(of_columns(args))
}

fn of_columns(mut args: Args) -> Result<Vec<DiversityRow>, Error> {
    let oid = args.optional("relation");
    let columns = args.names("columns");
    let sensitive = args.names("sensitive");
    let hierarchies = Hierarchies::new(args.json("hierarchies")?)?;
    let mut settings = DiversitySettings {
        c: args.required("c")?,
        ..DiversitySettings::default()
    };
    let labels = args.json("labels")?;
    settings.nulls = nulls_of_enum(args.optional("nulls"))?;
    settings.nulls_are_values = nulls_are_values(args.optional("sensitive_nulls"))?;
    let unit = Unit::of_args(&mut args)?;
    args.end()?;
    settings.check()?;
    let choice = Choice {
        columns,
        sensitive,
        labels,
        unit,
        needs: NEEDS,
        ..Choice::default()
    };
    let options = Options {
        settings,
        hierarchies,
    };
    let mut read = ReadRecords::of_relation(oid, &choice)?;
    check_sensitive(&read)?;
    let names = (0..read.roles.sensitive.len()).map(|column| read.sensitive_name(column).to_string());
    let names: Vec<String> = names.collect();
    options.hierarchies.check_columns(&names)?;
    let row = |(column, name): (usize, &String)| {
        let (values, settings) = options.of_column(&mut read, column)?;
        let found = run::long("comparing values", |control| {
            disclosure::classes::diversity(&read.records, column, &values, &settings, control)
        })?;
        Ok(DiversityRow::new(name, found))
    };
    names.iter().enumerate().map(row).collect()
}

/// Checks that there is a sensitive column.
fn check_sensitive(read: &ReadRecords) -> Result<(), Error> {
    match read.roles.sensitive.is_empty() {
        false => Ok(()),
        true => Err(Error::argument(
            "sensitive",
            "no column is labelled as sensitive",
            "Give the columns, or label those that an adversary must not learn as sensitive.",
        )),
    }
}

impl Options {
    /// Returns what is known about the values of a sensitive column, and the settings for it.
    fn of_column(&self, read: &mut ReadRecords, column: usize) -> Result<(Values, DiversitySettings), Error> {
        let mut settings = self.settings;
        settings.nulls_are_values |= read.roles.nulls_are_values[column];
        let dictionary = &mut read.dictionaries[read.roles.sensitive[column]];
        Ok((
            Values {
                ranks: dictionary.ranks()?,
                hierarchy: self.hierarchies.of_column(dictionary)?,
            },
            settings,
        ))
    }
}

/// class_diversity(record record, columns name[], sensitive name[], hierarchies jsonb, c float8, labels jsonb,
/// nulls disclosure.null_treatment, sensitive_nulls disclosure.sensitive_null_treatment, unit text) OVER (…)
#[pg_extern(sql = false)]
fn class_diversity(
    call: WindowCall,
    fcinfo: FunctionCallInfo,
) -> pgrx::composite_type!('static, "disclosure.diversity_figures") {
    of_class(&call, fcinfo).unwrap_or_else(Error::raise)
}

/// Figures of a partition's classes, and the class of each of its rows.
struct FiguresOfPartition {
    column_name: String,
    class_of_row: Vec<u32>,
    figures: Vec<Option<Diversity>>,
}

fn of_class(
    call: &WindowCall,
    fcinfo: FunctionCallInfo,
) -> Result<PgHeapTuple<'static, AllocatedByRust>, Error> {
    let partition = call.partition_state(of_partition)?;
    let class = partition.class_of_row[call.position()];
    let row = DiversityRow::new(&partition.column_name, partition.figures[class as usize]);
    // SAFETY: the values have the types of the composite type, as declared in sql/.
    unsafe { composite(fcinfo, row.into_datums()) }
}

fn of_partition(call: &WindowCall) -> Result<FiguresOfPartition, Error> {
    // SAFETY: sql/ declares the options with these types.
    let given_options = unsafe { call.options() };
    let options = Options {
        hierarchies: Hierarchies::new(json("hierarchies", given_options.get(3))?)?,
        settings: DiversitySettings {
            c: given("c", given_options.get(4))?,
            nulls: nulls_of_enum(given_options.get(6))?,
            nulls_are_values: nulls_are_values(given_options.get(7))?,
        },
    };
    options.settings.check()?;
    let choice = Choice {
        columns: given_options.names(1),
        sensitive: given_options.names(2),
        labels: json("labels", given_options.get(5))?,
        unit: Unit::of_word(given_options.get(8))?,
        needs: NEEDS,
        ..Choice::default()
    };
    let mut read = ReadRecords::of_partition(call, choice)?;
    check_sensitive(&read)?;
    if read.roles.sensitive.len() > 1 {
        return Err(Error::argument(
            "sensitive",
            "several columns are sensitive",
            "Give one of them, as in sensitive => '{diagnosis}'.",
        ));
    }
    let column_name = read.sensitive_name(0).to_string();
    options
        .hierarchies
        .check_columns(std::slice::from_ref(&column_name))?;
    let (values, settings) = options.of_column(&mut read, 0)?;
    let figures = run::long("comparing values", |control| {
        disclosure::classes::class_diversity(&read.records, 0, &values, &settings, control)
    })?;
    Ok(FiguresOfPartition {
        column_name,
        class_of_row: read.records.into_class_of_row(),
        figures,
    })
}
