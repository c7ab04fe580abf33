//! What the catalogues say about relations and their columns: names, comments, types, keys, statistics, and the labels of
//! other extensions. A handful of queries reads all relations at once, as the calling user.

use crate::error::Error;
use crate::pg::origin::{Origins, origins_of};
use crate::pg::query::{Answer, Parameters};
use crate::pg::types::{ColumnType, type_category};
use disclosure::columns::suggestions::{AnonymizerRule, ColumnFacts, ColumnStatistics, TableFacts, TypeKind};
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;
use std::collections::HashMap;

/// A relation, and what the catalogues say about it.
pub struct RelationFacts {
    pub oid: Oid,
    /// Its `relkind`.
    pub kind: u8,
    /// Whether it has rows that the calling user can reach: a materialized view must have been refreshed, and the schema
    /// be usable.
    pub is_reachable: bool,
    /// Facts about the relation and its columns.
    pub table: TableFacts,
    /// What else is known about each of its columns.
    pub columns: Vec<ColumnExtras>,
}

/// What is known about a column, beyond what the suggestions rest on.
pub struct ColumnExtras {
    pub column: ColumnType,
    /// Whether the calling user may read the column.
    pub may_read: bool,
    /// Whether the column comes from a parent, or plainly is a column of a relation that a view reads.
    pub has_origin: bool,
    /// What the label of postgresql_anonymizer says.
    pub rule: Option<AnonymizerRule>,
}

/// Reads what the catalogues say about relations, in their order; relations that do not exist are left out.
pub fn facts_of(relations: &[Oid]) -> Result<Vec<RelationFacts>, Error> {
    let found = Spi::connect(|_| {
        let mut catalogue = Catalogue::default();
        // SAFETY: within Spi::connect; the queries have columns of the types that the functions read.
        unsafe {
            catalogue.read_relations(relations)?;
            catalogue.read_columns(relations)?;
            catalogue.read_unique_columns(relations)?;
            catalogue.read_references(relations)?;
            catalogue.read_rules(relations)?;
            catalogue.read_statistics()?;
        }
        catalogue.follow_views()?;
        Ok::<_, Error>(catalogue.found)
    })?;
    Ok(found)
}

/// Facts that are being collected.
#[derive(Default)]
struct Catalogue {
    found: Vec<RelationFacts>,
    /// Estimated numbers of rows, where known.
    rows: Vec<Option<f64>>,
    /// Positions in `found`.
    places: HashMap<Oid, usize>,
    /// Positions of columns within their relations, by the number of the column.
    columns: HashMap<(Oid, i16), usize>,
}

impl Catalogue {
    /// Returns a relation by its OID.
    fn relation(&mut self, oid: Option<Oid>) -> Option<&mut RelationFacts> {
        let place = *self.places.get(&oid?)?;
        self.found.get_mut(place)
    }

    /// Returns the relation and the position of one of its columns.
    fn column(&mut self, oid: Option<Oid>, number: Option<i16>) -> Option<(&mut RelationFacts, usize)> {
        let column = *self.columns.get(&(oid?, number?))?;
        Some((self.relation(oid)?, column))
    }

    /// Reads relations.
    ///
    /// # Safety
    /// Must be called within `Spi::connect`, here and in all functions below.
    unsafe fn read_relations(&mut self, relations: &[Oid]) -> Result<(), Error> {
        const QUERY: &str = "SELECT c.oid, n.nspname::pg_catalog.text, c.relname::pg_catalog.text, d.description, \
                    c.relkind::pg_catalog.text, c.reltuples::pg_catalog.float8, \
                    c.relispopulated AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') \
               FROM ROWS FROM (pg_catalog.unnest($1)) WITH ORDINALITY AS wanted (oid, place) \
               JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) wanted.oid \
               JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace \
               LEFT JOIN pg_catalog.pg_description d ON d.objoid OPERATOR(pg_catalog.=) c.oid \
                AND d.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid \
                AND d.objsubid OPERATOR(pg_catalog.=) 0 \
              ORDER BY wanted.place";
        // SAFETY: by the contract of the function; the columns are oid, text, text, text, text, float8 and boolean.
        unsafe {
            let answer = Answer::to(QUERY, &Parameters::of_oids(relations)?, true)?;
            for row in 0..answer.rows() {
                let Some(oid) = answer.get::<Oid>(row, 0) else {
                    continue;
                };
                let kind: Option<String> = answer.get(row, 4);
                self.places.insert(oid, self.found.len());
                self.rows
                    .push(answer.get(row, 5).filter(|rows: &f64| *rows > 0.0));
                self.found.push(RelationFacts {
                    oid,
                    kind: kind.and_then(|kind| kind.bytes().next()).unwrap_or_default(),
                    is_reachable: answer.get(row, 6).unwrap_or(false),
                    table: TableFacts {
                        schema: answer.get(row, 1).unwrap_or_default(),
                        name: answer.get(row, 2).unwrap_or_default(),
                        comment: answer.get(row, 3),
                        columns: Vec::new(),
                    },
                    columns: Vec::new(),
                });
            }
        }
        Ok(())
    }

    /// Reads the columns of the relations.
    unsafe fn read_columns(&mut self, relations: &[Oid]) -> Result<(), Error> {
        const QUERY: &str = "SELECT a.attrelid, a.attnum, a.attname::pg_catalog.text, a.atttypid, a.attcollation, a.atttypmod, \
                    a.attnotnull, a.attinhcount OPERATOR(pg_catalog.>) 0, d.description, \
                    pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') \
               FROM pg_catalog.pg_attribute a \
               LEFT JOIN pg_catalog.pg_description d ON d.objoid OPERATOR(pg_catalog.=) a.attrelid \
                AND d.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid \
                AND d.objsubid OPERATOR(pg_catalog.=) a.attnum::pg_catalog.int4 \
              WHERE a.attrelid OPERATOR(pg_catalog.=) ANY ($1) AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped \
              ORDER BY a.attrelid, a.attnum";
        // SAFETY: by the contract of the function; the columns are oid, smallint, text, oid, oid, int, boolean, boolean,
        // text and boolean.
        unsafe {
            let answer = Answer::to(QUERY, &Parameters::of_oids(relations)?, true)?;
            for row in 0..answer.rows() {
                let (Some(oid), Some(number)) = (answer.get::<Oid>(row, 0), answer.get::<i16>(row, 1)) else {
                    continue;
                };
                let Some(relation) = self.relation(Some(oid)) else {
                    continue;
                };
                let place = relation.columns.len();
                let column = ColumnType {
                    name: answer.get(row, 2).unwrap_or_default(),
                    oid: answer.get(row, 3).unwrap_or(pg_sys::InvalidOid),
                    collation: answer.get(row, 4).unwrap_or(pg_sys::InvalidOid),
                };
                let (kind, max_length) = kind_of(&column, answer.get(row, 5).unwrap_or(-1));
                relation.table.columns.push(ColumnFacts {
                    name: column.name.clone(),
                    comment: answer.get(row, 8),
                    kind,
                    max_length,
                    is_nullable: answer.get(row, 6) != Some(true),
                    ..ColumnFacts::default()
                });
                relation.columns.push(ColumnExtras {
                    column,
                    may_read: answer.get(row, 9).unwrap_or(false),
                    has_origin: answer.get(row, 7).unwrap_or(false),
                    rule: None,
                });
                self.columns.insert((oid, number), place);
            }
        }
        Ok(())
    }

    /// Finds the columns of views that plainly are columns of what they read.
    fn follow_views(&mut self) -> Result<(), Error> {
        for relation in &mut self.found {
            if matches!(relation.kind, pg_sys::RELKIND_VIEW | pg_sys::RELKIND_MATVIEW)
                && let Origins::View(origins) = origins_of(relation.oid)?
            {
                for extras in &mut relation.columns {
                    extras.has_origin = origins.contains_key(&extras.column.name);
                }
            }
        }
        Ok(())
    }

    /// Reads which columns are unique by themselves.
    unsafe fn read_unique_columns(&mut self, relations: &[Oid]) -> Result<(), Error> {
        const QUERY: &str = "SELECT i.indrelid, i.indkey[0], i.indisprimary FROM pg_catalog.pg_index i \
              WHERE i.indrelid OPERATOR(pg_catalog.=) ANY ($1) AND i.indisunique AND i.indisvalid AND i.indpred IS NULL \
                AND i.indnkeyatts OPERATOR(pg_catalog.=) 1 AND i.indkey[0] OPERATOR(pg_catalog.>) 0";
        // SAFETY: by the contract of the function; the columns are oid, smallint and boolean.
        unsafe {
            let answer = Answer::to(QUERY, &Parameters::of_oids(relations)?, true)?;
            for row in 0..answer.rows() {
                if let Some((relation, column)) = self.column(answer.get(row, 0), answer.get(row, 1)) {
                    let facts = &mut relation.table.columns[column];
                    facts.is_unique = true;
                    facts.is_primary_key |= answer.get(row, 2) == Some(true);
                }
            }
        }
        Ok(())
    }

    /// Reads what the foreign keys of single columns refer to; if a column has several, the first by name counts.
    unsafe fn read_references(&mut self, relations: &[Oid]) -> Result<(), Error> {
        const QUERY: &str = "SELECT k.conrelid, k.conkey[1], c.relname::pg_catalog.text, a.attname::pg_catalog.text \
               FROM pg_catalog.pg_constraint k \
               JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) k.confrelid \
               JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) k.confrelid \
                AND a.attnum OPERATOR(pg_catalog.=) k.confkey[1] \
              WHERE k.conrelid OPERATOR(pg_catalog.=) ANY ($1) AND k.contype OPERATOR(pg_catalog.=) 'f' \
                AND pg_catalog.cardinality(k.conkey) OPERATOR(pg_catalog.=) 1 \
              ORDER BY k.conrelid, k.conkey[1], k.conname";
        // SAFETY: by the contract of the function; the columns are oid, smallint, text and text.
        unsafe {
            let answer = Answer::to(QUERY, &Parameters::of_oids(relations)?, true)?;
            for row in 0..answer.rows() {
                let target = answer.get(row, 2).zip(answer.get(row, 3));
                if let Some((relation, column)) = self.column(answer.get(row, 0), answer.get(row, 1)) {
                    let facts = &mut relation.table.columns[column];
                    facts.references = facts.references.take().or(target);
                }
            }
        }
        Ok(())
    }

    /// Reads labels of postgresql_anonymizer.
    unsafe fn read_rules(&mut self, relations: &[Oid]) -> Result<(), Error> {
        const QUERY: &str = "SELECT s.objoid, s.objsubid::pg_catalog.int2, s.provider, s.label FROM pg_catalog.pg_seclabel s \
              WHERE s.objoid OPERATOR(pg_catalog.=) ANY ($1) AND s.objsubid OPERATOR(pg_catalog.>) 0 \
                AND s.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid \
              ORDER BY s.objoid, s.objsubid, s.provider";
        // SAFETY: by the contract of the function; the columns are oid, smallint, text and text.
        unsafe {
            let answer = Answer::to(QUERY, &Parameters::of_oids(relations)?, true)?;
            for row in 0..answer.rows() {
                let provider: String = answer.get(row, 2).unwrap_or_default();
                let label: String = answer.get(row, 3).unwrap_or_default();
                let rule = AnonymizerRule::of_label(&provider, &label);
                if let Some((relation, column)) = self.column(answer.get(row, 0), answer.get(row, 1)) {
                    let known = &mut relation.columns[column].rule;
                    *known = rule.or(*known); // k_anonymity, which comes last, says more than anon
                }
            }
        }
        Ok(())
    }

    /// Reads the statistics of columns that the calling user may read. Those of a table with its children replace those of
    /// the table alone, because that is what a SELECT reads.
    unsafe fn read_statistics(&mut self) -> Result<(), Error> {
        const QUERY: &str = "SELECT s.tablename::pg_catalog.text, s.attname::pg_catalog.text, s.null_frac::pg_catalog.float8, \
                    s.avg_width::pg_catalog.float8, s.n_distinct::pg_catalog.float8, \
                    s.most_common_freqs[1]::pg_catalog.float8 \
               FROM pg_catalog.pg_stats s \
              WHERE s.schemaname OPERATOR(pg_catalog.=) $1::pg_catalog.name \
                AND s.tablename OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.name[]) \
              ORDER BY s.inherited";
        let mut by_schema: HashMap<&str, HashMap<&str, usize>> = HashMap::new();
        for (place, relation) in self.found.iter().enumerate() {
            let of_schema = by_schema.entry(&relation.table.schema).or_default();
            of_schema.insert(&relation.table.name, place);
        }
        let mut all = Vec::new();
        for (schema, tables) in by_schema {
            let names: Vec<&str> = tables.keys().copied().collect();
            let mut parameters = Parameters::default();
            let missing = || Error::Internal("a name without a value");
            parameters.add(pg_sys::TEXTOID, schema.into_datum().ok_or_else(missing)?);
            parameters.add(pg_sys::TEXTARRAYOID, names.into_datum().ok_or_else(missing)?);
            // SAFETY: by the contract of the function, with a text and an array of them; the columns are text, text and
            // float8.
            unsafe {
                let answer = Answer::to(QUERY, &parameters, true)?;
                for row in 0..answer.rows() {
                    let table: Option<String> = answer.get(row, 0);
                    let column: Option<String> = answer.get(row, 1);
                    let Some((place, column)) = table.and_then(|table| tables.get(&table[..])).zip(column)
                    else {
                        continue;
                    };
                    let Some(rows) = self.rows[*place] else {
                        continue;
                    };
                    let number = |column| answer.get::<f64>(row, column);
                    let distinct = match number(4).unwrap_or(0.0) {
                        share if share < 0.0 => -share * rows,
                        distinct => distinct,
                    };
                    let statistics = ColumnStatistics {
                        rows,
                        distinct,
                        nulls: number(2).unwrap_or(0.0),
                        most_frequent: number(5).unwrap_or(1.0 / distinct.max(1.0)),
                        mean_width: number(3).unwrap_or(0.0),
                        singled_out: None,
                    };
                    all.push((*place, column, statistics));
                }
            }
        }
        for (place, name, statistics) in all {
            let mut columns = self.found[place].table.columns.iter_mut();
            if let Some(column) = columns.find(|column| column.name == name) {
                column.statistics = Some(statistics);
            }
        }
        Ok(())
    }
}

/// Returns the kind of a column's type, and the largest number of characters that it allows.
fn kind_of(column: &ColumnType, modifier: i32) -> (TypeKind, Option<u32>) {
    let mut modifier = modifier;
    // SAFETY: any OID is accepted; the modifier is that of the base type if the type is a domain.
    let base = unsafe { pg_sys::getBaseTypeAndTypmod(column.oid, &mut modifier) };
    let has_modifier = modifier >= pg_sys::VARHDRSZ as i32;
    let length = has_modifier.then(|| (modifier - pg_sys::VARHDRSZ as i32) as u32);
    match base {
        pg_sys::VARCHAROID | pg_sys::BPCHAROID => (TypeKind::Text, length),
        // The scale of numeric(p, s) is in the lower bits.
        pg_sys::NUMERICOID if length.is_some_and(|length| length & 0x7ff == 0) => (TypeKind::Integer, None),
        _ => (base_kind(base), None),
    }
}

fn base_kind(base: Oid) -> TypeKind {
    // SAFETY: any OID is accepted.
    if unsafe { pg_sys::get_element_type(base) } != pg_sys::InvalidOid {
        return TypeKind::Array;
    }
    match base {
        pg_sys::INT2OID | pg_sys::INT4OID | pg_sys::INT8OID => TypeKind::Integer,
        pg_sys::NUMERICOID | pg_sys::FLOAT4OID | pg_sys::FLOAT8OID => TypeKind::Decimal,
        pg_sys::MONEYOID => TypeKind::Money,
        pg_sys::BOOLOID => TypeKind::Boolean,
        pg_sys::DATEOID => TypeKind::Date,
        pg_sys::TIMESTAMPOID | pg_sys::TIMESTAMPTZOID => TypeKind::Timestamp,
        pg_sys::TIMEOID | pg_sys::TIMETZOID | pg_sys::INTERVALOID => TypeKind::Time,
        pg_sys::UUIDOID => TypeKind::Uuid,
        pg_sys::INETOID | pg_sys::CIDROID => TypeKind::Inet,
        pg_sys::MACADDROID | pg_sys::MACADDR8OID => TypeKind::MacAddress,
        pg_sys::JSONOID | pg_sys::JSONBOID | pg_sys::XMLOID => TypeKind::Document,
        pg_sys::BYTEAOID => TypeKind::Bytes,
        _ => match type_category(base) {
            b'S' => TypeKind::Text, // citext, too
            b'G' => TypeKind::Geometry,
            b'E' => TypeKind::Enum,
            _ => named_kind(base),
        },
    }
}

/// Returns the kind of a type of another extension, by its name.
fn named_kind(base: Oid) -> TypeKind {
    // SAFETY: the result for an unknown OID is NULL, else a NUL-terminated string in the current memory context.
    let name = unsafe {
        let name = pg_sys::format_type_extended(base, -1, 0);
        std::ffi::CStr::from_ptr(name).to_string_lossy().into_owned()
    };
    match name.rsplit('.').next() {
        Some("geometry" | "geography") => TypeKind::Geometry,
        Some("hstore") => TypeKind::Document,
        _ => TypeKind::Other,
    }
}
