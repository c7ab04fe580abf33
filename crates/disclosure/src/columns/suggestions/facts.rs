//! What is known about a table and its columns when labels are suggested.

use super::super::formats::FormatCounts;

/// A table, and what is known about its columns.
#[derive(Debug, Clone, Default)]
pub struct TableFacts {
    /// Name of the schema; empty if it is not known.
    pub schema: String,
    /// Name of the table.
    pub name: String,
    /// Comment on the table.
    pub comment: Option<String>,
    /// The columns in their order.
    pub columns: Vec<ColumnFacts>,
}

/// A column, and what is known about it.
#[derive(Debug, Clone, Default)]
pub struct ColumnFacts {
    /// Name of the column.
    pub name: String,
    /// Comment on the column.
    pub comment: Option<String>,
    /// Kind of its type.
    pub kind: TypeKind,
    /// Largest number of characters that the type allows, if it says so.
    pub max_length: Option<u32>,
    /// Whether the column may be NULL.
    pub is_nullable: bool,
    /// Whether the column by itself is the primary key.
    pub is_primary_key: bool,
    /// Whether a unique constraint or index covers the column by itself.
    pub is_unique: bool,
    /// Table and column that a foreign key of this column alone refers to.
    pub references: Option<(String, String)>,
    /// Statistics of its values, if they are known.
    pub statistics: Option<ColumnStatistics>,
    /// How many of its values have which format, if values were read.
    pub formats: Option<FormatCounts>,
}

/// Kinds of types, as far as they matter here. A domain has the kind of its base type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TypeKind {
    /// Character strings of any kind.
    Text,
    /// Whole numbers.
    Integer,
    /// Numbers with a fraction: numeric, real, double precision.
    Decimal,
    /// Amounts of money.
    Money,
    /// true and false.
    Boolean,
    /// Dates without a time of day.
    Date,
    /// Points in time.
    Timestamp,
    /// Times of day and intervals.
    Time,
    /// UUIDs.
    Uuid,
    /// Network addresses: inet, cidr.
    Inet,
    /// Hardware addresses.
    MacAddress,
    /// Points and other shapes.
    Geometry,
    /// Words of an enum.
    Enum,
    /// Arrays of any type.
    Array,
    /// json, jsonb, xml, hstore.
    Document,
    /// Strings of bytes.
    Bytes,
    /// Any other type.
    #[default]
    Other,
}

/// Statistics of a column's values: those of `pg_stats`, or counts of a full pass.
#[derive(Debug, Clone, Copy, Default)]
pub struct ColumnStatistics {
    /// Number of rows of the table, possibly an estimate.
    pub rows: f64,
    /// Number of distinct values, possibly an estimate.
    pub distinct: f64,
    /// Share of the rows that are NULL.
    pub nulls: f64,
    /// Share of the rows that have the most frequent value.
    pub most_frequent: f64,
    /// Mean width of the values in bytes.
    pub mean_width: f64,
    /// Share of the rows or people whom the column alone singles out, if that was measured.
    pub singled_out: Option<f64>,
}
