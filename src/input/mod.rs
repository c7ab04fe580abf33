//! Data comes in: by a window partition, a table or an aggregate, and always through one encoder that
//! turns rows of any types into rows of codes.

pub mod aggregate;
mod arguments;
mod attributes;
mod beliefs;
mod bins;
pub mod corpus;
mod dictionary;
mod edges;
mod elements;
mod encoder;
pub mod items;
mod json;
mod lexemes;
mod literal;
pub mod lookup;
mod matrix;
pub mod microdata;
mod order;
mod orders;
mod pairs;
mod people;
mod plans;
pub mod relation;
mod row;
mod scratch;
mod sequence;
pub mod summary;
pub mod transactions;
mod weights;
pub mod window;
pub mod wire;

pub use arguments::OptionArgument;
pub use attributes::Attributes;
pub use beliefs::{Interval, itemset, itemsets_of_array, itemsets_of_table};
pub use dictionary::{Dictionary, equal_is_identical};
pub use edges::{LabelledAttack, WantedEdges};
pub use json::{Json, JsonText};
pub use matrix::{distances_of_array, mapping_of_array, matrix_of_array, subset_of_array};
pub use order::Ordered;
pub use pairs::Pairs;
pub use people::People;
pub use plans::{Answer, Parameters, cost_of};
pub use row::{RowShape, columns_of};
pub use sequence::Sequence;
pub use weights::{ColumnSettings, column_settings, labels_of};

use disclosure::Rows;
use pgrx::pg_sys;

/// What the encoder has to know of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnType {
    pub name: String,
    pub oid: pg_sys::Oid,
    pub collation: pg_sys::Oid,
}

impl ColumnType {
    /// The same under another name.
    pub fn named(self, name: &str) -> Self {
        ColumnType {
            name: name.into(),
            ..self
        }
    }

    /// The type under all domains.
    pub fn base_type(&self) -> pg_sys::Oid {
        // SAFETY: a catalogue look-up.
        unsafe { pg_sys::getBaseType(self.oid) }
    }

    /// Where the columns of a named row type are described: its table, view or stand-alone composite type;
    /// `None` for any other type and for anonymous rows.
    pub fn relation(&self) -> Option<pg_sys::Oid> {
        // SAFETY: a catalogue look-up.
        let relation = unsafe { pg_sys::get_typ_typrelid(self.base_type()) };
        (relation != pg_sys::InvalidOid).then_some(relation)
    }
}

/// Whether Postgres would cast values of one type to another by itself.
fn becomes(from: pg_sys::Oid, to: pg_sys::Oid) -> bool {
    // SAFETY: catalogue look-ups; one type each.
    unsafe { pg_sys::can_coerce_type(1, &from, &to, pg_sys::CoercionContext::COERCION_IMPLICIT) }
}

/// What becomes of encoded rows. It may be called on another thread, so it must not touch Postgres.
pub trait Sink: Send + 'static {
    fn rows(&mut self, rows: Rows) -> disclosure::Result<()>;
}

/// Keeps the codes of every row, column by column.
#[derive(Default)]
pub struct Codes(pub Vec<Vec<u32>>);

impl Sink for Codes {
    fn rows(&mut self, rows: Rows) -> disclosure::Result<()> {
        self.0.resize(rows.columns().len(), Vec::new());
        for (all, column) in self.0.iter_mut().zip(rows.columns()) {
            all.extend_from_slice(column);
        }
        Ok(())
    }
}

/// What reading ends with: the dictionary of every column, and the sink that has all rows.
pub struct Encoded<S> {
    pub dictionaries: Vec<Dictionary>,
    pub sink: S,
}
