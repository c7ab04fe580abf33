//! Stored columns that exported values are made of.

use pgrx::pg_sys::Oid;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Stored column that an output column is made of. A column of a view counts together with the columns that
/// it is made of.
///
/// Identified by name, because columns in an inheritance tree share names but not numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    pub relation: Oid,
    pub column: String,
}

impl Ord for Origin {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |origin: &Self| origin.relation.to_u32();
        key(self)
            .cmp(&key(other))
            .then_with(|| self.column.cmp(&other.column))
    }
}

impl PartialOrd for Origin {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Stored columns that count together.
pub type Origins = BTreeSet<Origin>;
