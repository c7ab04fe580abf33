//! People against released rows: `expected_reidentifications` (Lakshmanan, Ng and Ramesh 2008, section 8.1).
//!
//! Each table is read once, with its own dictionaries. The dictionaries of the released table then adopt the
//! known values, so that both tables have the same codes. Codes follow the values, so that they do not depend
//! on the order of rows.

use crate::args::{Args, word};
use crate::encode::dictionary::Dictionary;
use crate::encode::order::{CodedColumn, ranks_of_codes};
use crate::error::Error;
use crate::input::relation::Relation;
use crate::methods::cracks::{METHODS, method_name};
use crate::pg::memory_context;
use crate::pg::range::RangeType;
use crate::pg::table::{Table, table_row};
use crate::pg::types::{ColumnType, Pair};
use crate::{memory, run};
use disclosure::cracks::{Knowledge, Reidentification, Settings};
use disclosure::{NULL, Rows};
use pgrx::prelude::*;

const COLUMNS: &str = "columns";
const KEY: &str = "key";

table_row! {
    /// Expected number of people who are reidentified.
    struct ReidentificationRow {
        people: i64,
        rows: i64,
        not_released: i64,
        strangers: i64,
        o_estimate: f64,
        expected: f64,
        lower: Option<f64>,
        upper: Option<f64>,
        method: &'static str,
        share: Option<f64>,
    }
}

#[pg_extern(sql = false)]
fn expected_reidentifications(args: Args) -> Table<ReidentificationRow> {
    Table::once(reidentifications(args))
}

fn reidentifications(mut args: Args) -> Result<ReidentificationRow, Error> {
    let (known, released) = (args.optional("known"), args.optional("released"));
    let columns = args.names(COLUMNS);
    let key = args.name(KEY);
    let settings = Settings {
        method: word("method", args.optional("method"), &METHODS)?,
        relative_error: args.required("relative_error")?,
        seed: args.seed()?,
        ..Settings::within(args.budget()?)
    };
    args.end()?;
    settings.check()?;
    People::read(known, released, columns, key)?.find(&settings)
}

/// Known people and released rows, in common codes.
struct People {
    /// Knowledge about each person, one element for each column.
    known: Vec<Vec<Knowledge>>,
    /// Codes of the released table, column by column.
    released: Vec<Vec<u32>>,
    /// Number of each person's own row, `None` if it is not released. Only if there is a key.
    own: Option<Vec<Option<u32>>>,
}

impl People {
    /// Reads both tables with the rights of the calling user. NULL in the known table means that the value is
    /// not known; a known range may contain several released values. `key` is a column of both tables that
    /// identifies people.
    fn read(
        known: Option<pg_sys::Oid>,
        released: Option<pg_sys::Oid>,
        columns: Option<Vec<Option<String>>>,
        key: Option<String>,
    ) -> Result<Self, Error> {
        let known = Relation::whole("known", known)?;
        let released = Relation::whole("released", released)?;
        let shared = shared_columns(&known, &released, columns)?;
        let key = key
            .map(|key| Pair::comparable(KEY, known.column(KEY, &key)?, released.column(KEY, &key)?))
            .transpose()?;
        let pairs = || shared.iter().map(|column| &column.pair).chain(&key);
        let mut of_known = known.read_coded(pairs().map(|pair| pair.here.clone()))?;
        let mut of_released = released.read_coded(pairs().map(|pair| pair.there.clone()))?;
        let keys = key.and_then(|_| of_known.pop().zip(of_released.pop()));
        let own = keys.map(|(here, there)| own_rows(&here, there)).transpose()?;
        let people = of_known.first().map_or(0, |column| column.codes.len());
        let mut known: Vec<Vec<Knowledge>> = std::iter::repeat_with(|| Vec::with_capacity(shared.len()))
            .take(people)
            .collect();
        for ((column, here), there) in shared.iter().zip(of_known).zip(&mut of_released) {
            let of_code = column.knowledge(&here.dictionary, there)?;
            for (person, &code) in known.iter_mut().zip(&here.codes) {
                person.push(of_code[code as usize].clone());
            }
        }
        Ok(People {
            known,
            released: of_released.into_iter().map(|column| column.codes).collect(),
            own,
        })
    }

    fn find(&self, settings: &Settings) -> Result<ReidentificationRow, Error> {
        const BYTES_PER_EDGE: usize = 8;
        let columns: Vec<&[u32]> = self.released.iter().map(Vec::as_slice).collect();
        let rows = columns.first().map_or(0, |column| column.len());
        let most_edges = (memory::left() / BYTES_PER_EDGE) as u64;
        let (of_people, found) = run::long("matching people with rows", |control| {
            let released = Rows::new(&columns, rows);
            let own = self.own.as_deref();
            let of_people = Reidentification::new(&self.known, released, own, most_edges, control)?;
            let found = of_people.cracks(settings, control)?;
            Ok((of_people, found))
        })?;
        let people = self.known.len();
        Ok(ReidentificationRow {
            people: people as i64,
            rows: rows as i64,
            not_released: of_people.not_released() as i64,
            strangers: of_people.strangers() as i64,
            o_estimate: of_people.o_estimate(),
            expected: found.expected,
            lower: found.lower,
            upper: found.upper,
            method: method_name(found.method),
            share: (people > 0).then(|| found.expected / people as f64),
        })
    }
}

/// Returns, for each known person, the number of the released row with the same key.
fn own_rows(here: &CodedColumn, mut there: CodedColumn) -> Result<Vec<Option<u32>>, Error> {
    let mut row_of = vec![None; there.dictionary.len() as usize + 1];
    for (&code, row) in there.codes.iter().zip(0..) {
        if code != NULL && row_of[code as usize].replace(row).is_some() {
            return Err(Error::argument(
                KEY,
                "two released rows have the same value",
                "Give a column that has a different value for each person.",
            ));
        }
    }
    let code_there = there.dictionary.adopt(&here.dictionary)?;
    let row = |&code: &u32| row_of.get(code_there[code as usize] as usize).copied().flatten();
    Ok(here.codes.iter().map(row).collect())
}

/// A column of both tables.
struct Shared {
    pair: Pair,
    /// `Some` if the known values are ranges of released values.
    range: Option<RangeType>,
}

fn shared_columns(
    known: &Relation,
    released: &Relation,
    names: Option<Vec<Option<String>>>,
) -> Result<Vec<Shared>, Error> {
    let invalid = |problem: String| {
        Error::argument(
            COLUMNS,
            problem,
            "Give an array of distinct names of columns that are in both tables.",
        )
    };
    let names = names.ok_or_else(|| invalid("must not be NULL".into()))?;
    if names.is_empty() {
        return Err(invalid("must not be empty".into()));
    }
    let mut shared: Vec<Shared> = Vec::with_capacity(names.len());
    for name in names {
        let name = name.ok_or_else(|| invalid("must not contain NULL".into()))?;
        if shared.iter().any(|other| other.pair.here.name == name) {
            return Err(invalid(format!("\"{name}\" is given twice")));
        }
        shared.push(Shared::new(
            known.column(COLUMNS, &name)?,
            released.column(COLUMNS, &name)?,
        )?);
    }
    Ok(shared)
}

impl Shared {
    fn new(here: &ColumnType, there: &ColumnType) -> Result<Self, Error> {
        let range = RangeType::of(here, there.base_type());
        let pair = match &range {
            None => Pair::comparable(COLUMNS, here, there)?,
            Some(range) => {
                let mut pair = Pair::new(here, there);
                pair.there.collation = range.collation();
                pair
            }
        };
        Ok(Shared { pair, range })
    }

    /// Returns what is known about a person, in released codes, for each code of a known value.
    fn knowledge(&self, here: &Dictionary, there: &mut CodedColumn) -> Result<Vec<Knowledge>, Error> {
        if let Some(range) = &self.range {
            return knowledge_of_ranges(range, here, there);
        }
        let code_there = there.dictionary.adopt(here)?;
        // Codes follow the values, because they must not depend on the order of rows.
        let place_of = ranks_of_codes(&there.dictionary.canonical_codes()?);
        recode(&mut there.codes, &place_of);
        let of_code = |code: u32| match place_of[code as usize] {
            NULL => Knowledge::Unknown,
            place => Knowledge::Code(place),
        };
        Ok(code_there.into_iter().map(of_code).collect())
    }
}

fn recode(codes: &mut [u32], code_of: &[u32]) {
    for code in codes {
        *code = code_of[*code as usize];
    }
}

/// Returns the same if known values are ranges. Released values are renumbered in their order, so that the
/// values in a range have successive codes.
fn knowledge_of_ranges(
    range: &RangeType,
    here: &Dictionary,
    there: &mut CodedColumn,
) -> Result<Vec<Knowledge>, Error> {
    /// Code that no released value has.
    const NOT_RELEASED: u32 = u32::MAX;
    let codes = 1..=there.dictionary.len();
    let mut values: Vec<_> = codes.map(|code| (there.dictionary.value(code), code)).collect();
    // SAFETY: values of the ranges' subtype, which the dictionary keeps alive.
    unsafe { range.sort(&mut values) };
    let mut code_of = vec![NULL; values.len() + 1];
    for (&(_, before), code) in values.iter().zip(1..) {
        code_of[before as usize] = code;
    }
    recode(&mut there.codes, &code_of);
    let mut of_code = vec![Knowledge::Unknown];
    of_code.extend(memory_context::for_each(
        "comparing ranges",
        0..here.len(),
        |number| {
            // SAFETY: a range of this type, and values as above.
            let held = unsafe { range.held(here.value(number + 1), &values) };
            Ok(match held.len() {
                0 => Knowledge::Code(NOT_RELEASED),
                1 => Knowledge::Code(held.end as u32),
                _ => Knowledge::Between(held.start as u32 + 1, held.end as u32),
            })
        },
    )?);
    Ok(of_code)
}
