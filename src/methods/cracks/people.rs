//! People that somebody knows something about, against released rows: both as codes of the released values.

use crate::encode::dictionary::Dictionary;
use crate::error::Problem;
use crate::input::relation::Relation;
use crate::pg::receiver::{Row, for_each_row};
use crate::pg::types::{ColumnType, becomes, equality_operator, type_name};
use disclosure::NULL;
use disclosure::cracks::Knowledge;
use pgrx::pg_sys;
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;

/// Two tables, made comparable.
pub struct People {
    /// What is known of every person, column by column.
    pub known: Vec<Vec<Knowledge>>,
    /// The codes of every column of the release.
    pub released: Vec<Vec<u32>>,
    /// The number of every person's row, `None` where it is not released; only where there is a key.
    pub own: Option<Vec<Option<u32>>>,
}

const ON_COLUMNS: &str = "on_columns";

/// A column that both tables have.
struct Shared {
    name: String,
    /// Whether the known value is a range of released ones.
    is_range: bool,
    /// The operator, as SQL, that says whether two released values are equal.
    released_equal: String,
    /// The same for known values.
    known_equal: String,
    /// The type, as SQL, that known values are cast to before they are compared with released ones; empty: none.
    known_cast: String,
    /// The same for released values.
    released_cast: String,
}

impl People {
    /// Read both tables, as far as the calling user may see them. Known values that are NULL are not known; a known
    /// range may hold several released values. `key` is a column of both that says who is who.
    pub fn read(
        known: Option<pg_sys::Oid>,
        released: Option<pg_sys::Oid>,
        on_columns: Vec<Option<String>>,
        key: Option<String>,
    ) -> Result<Self, Problem> {
        let known = Relation::whole("known", known)?;
        let released = Relation::whole("released", released)?;
        let shared = shared_columns(&known, &released, on_columns)?;
        let key = key.map(|key| Key::new(key, &known, &released)).transpose()?;
        let mut people = People {
            known: Vec::new(),
            released: vec![Vec::new(); shared.len()],
            own: key.is_some().then(Vec::new),
        };
        let mut rows_by_key = key.as_ref().map(Key::rows);
        for_each_row(&released_query(&released, &shared, key.as_ref()), |mut row| {
            for column in &mut people.released {
                column.push(next_number(&mut row).map_or(NULL, |code| code as u32));
            }
            match &mut rows_by_key {
                Some(rows) => rows.add(row),
                None => Ok(()),
            }
        })?;
        for_each_row(
            &known_query(&known, &released, &shared, key.as_ref()),
            |mut row| {
                let of_person = shared
                    .iter()
                    .map(|_| match (next_number(&mut row), next_number(&mut row)) {
                        (Some(first), Some(last)) if first == last => Knowledge::Code(first as u32),
                        (Some(first), Some(last)) => Knowledge::Between(first as u32, last as u32),
                        _ => Knowledge::Anything,
                    });
                people.known.push(of_person.collect());
                if let (Some(rows), Some(own)) = (&mut rows_by_key, &mut people.own) {
                    own.push(rows.find(row)?);
                }
                Ok(())
            },
        )?;
        Ok(people)
    }
}

/// The next value of a row of a query that has ints there.
fn next_number(row: &mut Row) -> Option<i32> {
    let (value, is_null) = row.next()?;
    // SAFETY: the queries cast these to int4.
    unsafe { i32::from_datum(value, is_null) }
}

/// Stands for a value that is not released, where codes start at 1.
const NOT_RELEASED: u32 = u32::MAX;

fn shared_columns(
    known: &Relation,
    released: &Relation,
    names: Vec<Option<String>>,
) -> Result<Vec<Shared>, Problem> {
    let invalid = |problem: String| {
        Problem::argument(
            ON_COLUMNS,
            problem,
            "Give an array of distinct names of columns that both tables have.",
        )
    };
    if names.is_empty() {
        return Err(invalid("must not be empty".into()));
    }
    let mut shared: Vec<Shared> = Vec::with_capacity(names.len());
    for name in names {
        let name = name.ok_or_else(|| invalid("must not contain NULL".into()))?;
        if shared.iter().any(|other| other.name == name) {
            return Err(invalid(format!("\"{name}\" is given twice")));
        }
        let (here, there) = (
            known.column(ON_COLUMNS, &name)?,
            released.column(ON_COLUMNS, &name)?,
        );
        // SAFETY: a catalogue look-up, which finds nothing for what is no range type.
        let of_range = unsafe { pg_sys::get_range_subtype(here.base_type()) };
        let is_range = of_range != pg_sys::InvalidOid && of_range == there.base_type();
        let casts = match is_range {
            true => Some(Default::default()),
            false => casts(here, there),
        };
        let (Some((known_cast, released_cast)), Some(known_equal), Some(released_equal)) =
            (casts, equality_operator(here), equality_operator(there))
        else {
            return Err(invalid(format!(
                "\"{name}\" cannot be compared: its types differ"
            )));
        };
        shared.push(Shared {
            name,
            is_range,
            released_equal,
            known_equal,
            known_cast,
            released_cast,
        });
    }
    Ok(shared)
}

/// What known and released values are cast to before they are compared, if Postgres would do so by itself.
fn casts(known: &ColumnType, released: &ColumnType) -> Option<(String, String)> {
    let cast_to = |column: &ColumnType| format!("::{}", type_name(column.base_type()));
    if known.base_type() == released.base_type() {
        Some(Default::default())
    } else if becomes(known.oid, released.oid) {
        Some((cast_to(released), String::new()))
    } else if becomes(released.oid, known.oid) {
        Some((String::new(), cast_to(known)))
    } else {
        None
    }
}

impl Shared {
    /// Whether a released and a known value, both as SQL, are the same.
    fn same(&self, released: &str, known: &str) -> String {
        let equal = match self.released_cast.is_empty() {
            true => &self.released_equal,
            false => &self.known_equal,
        };
        format!(
            "{released}{} {equal} {known}{}",
            self.released_cast, self.known_cast
        )
    }
}

/// The different values of a released column with their codes from 1, in the order of values where that matters.
fn codes_of(released: &Relation, column: &Shared) -> String {
    let name = quote_identifier(&column.name);
    let order = if column.is_range { "ORDER BY v" } else { "" };
    format!(
        "(SELECT v, pg_catalog.row_number() OVER ({order})::pg_catalog.int4 AS code \
         FROM (SELECT DISTINCT {name} AS v FROM {} WHERE {name} IS NOT NULL) AS values)",
        released.name()
    )
}

fn released_query(released: &Relation, shared: &[Shared], key: Option<&Key>) -> String {
    let (mut wanted, mut joins) = (Vec::new(), String::new());
    for (number, column) in shared.iter().enumerate() {
        let name = quote_identifier(&column.name);
        let codes = codes_of(released, column);
        wanted.push(format!("c{number}.code"));
        let equal = &column.released_equal;
        joins += &format!(" LEFT JOIN {codes} AS c{number} ON c{number}.v {equal} r.{name}");
    }
    wanted.extend(key.map(|key| format!("r.{}", key.name)));
    format!(
        "SELECT {} FROM {} AS r{joins}",
        wanted.join(", "),
        released.name()
    )
}

/// For every column two codes, the first and the last one that a person can have: both NULL where nothing is known.
fn known_query(known: &Relation, released: &Relation, shared: &[Shared], key: Option<&Key>) -> String {
    let (mut wanted, mut joins) = (Vec::new(), String::new());
    for (number, column) in shared.iter().enumerate() {
        let name = quote_identifier(&column.name);
        let codes = codes_of(released, column);
        for end in ["first", "last"] {
            wanted.push(format!(
                "CASE WHEN k.{name} IS NOT NULL THEN coalesce(c{number}.{end}, {}) END",
                NOT_RELEASED as i32
            ));
        }
        joins += &match column.is_range {
            false => format!(
                " LEFT JOIN (SELECT v, code AS first, code AS last FROM {codes} AS codes) AS c{number} ON {}",
                column.same(&format!("c{number}.v"), &format!("k.{name}"))
            ),
            true => format!(
                " LEFT JOIN (SELECT k.{name} AS v, pg_catalog.min(code) AS first, pg_catalog.max(code) AS last \
                 FROM (SELECT DISTINCT {name} FROM {}) AS k JOIN {codes} AS codes \
                 ON codes.v OPERATOR(pg_catalog.<@) k.{name} GROUP BY 1) AS c{number} ON c{number}.v {} k.{name}",
                known.name(),
                column.known_equal
            ),
        };
    }
    wanted.extend(key.map(|key| format!("k.{}::{}", key.name, type_name(key.column.oid))));
    format!("SELECT {} FROM {} AS k{joins}", wanted.join(", "), known.name())
}

/// The column that says who is who.
struct Key {
    /// Quoted.
    name: String,
    /// As it is in the release.
    column: ColumnType,
}

impl Key {
    fn new(name: String, known: &Relation, released: &Relation) -> Result<Self, Problem> {
        let (here, there) = (known.column("key", &name)?, released.column("key", &name)?);
        match casts(here, there).is_some() {
            true => Ok(Key {
                name: quote_identifier(&name),
                column: there.clone(),
            }),
            false => Err(Problem::argument(
                "key",
                format!("\"{name}\" cannot be compared: its types differ"),
                "Give a column that has the same type in both tables.",
            )),
        }
    }

    fn rows(&self) -> RowsByKey {
        RowsByKey {
            keys: Dictionary::new(self.column.clone()),
            rows: 0,
            row_of: Vec::new(),
        }
    }
}

/// The released rows by their key.
struct RowsByKey {
    keys: Dictionary,
    rows: u32,
    /// By the code of the key.
    row_of: Vec<u32>,
}

impl RowsByKey {
    fn add(&mut self, mut rest_of_row: Row) -> Result<(), Problem> {
        let row = self.rows;
        self.rows += 1;
        if let Some((value, false)) = rest_of_row.next() {
            // SAFETY: a value of the key's type.
            let code = unsafe { self.keys.encode(value)? };
            if code as usize <= self.row_of.len() {
                return Err(Problem::argument(
                    "key",
                    "two released rows have the same value of it",
                    "Give a column that is different for everybody.",
                ));
            }
            self.row_of.push(row);
        }
        Ok(())
    }

    fn find(&mut self, mut rest_of_row: Row) -> Result<Option<u32>, Problem> {
        let Some((value, false)) = rest_of_row.next() else {
            return Ok(None);
        };
        // SAFETY: the query casts it to the key's type.
        let code = unsafe { self.keys.encode(value)? };
        Ok(self.row_of.get(code as usize - 1).copied())
    }
}
