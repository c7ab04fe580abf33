use crate::{Label, NULL, Weights};

/// Meaning of a column's values: the attributes that they give a row (White, Definition 2.8), and for each
/// attribute how likely it is to be known and how harmful it is if inferred.
#[derive(Debug, Clone, Default)]
pub struct Column {
    /// Weights of every attribute that the column can give a row.
    pub attributes: Vec<Weights>,
    /// Attributes that each value stands for.
    pub attributes_of_value: AttributesOfValue,
    /// What NULL stands for.
    pub nulls: Nulls,
}

/// Meaning of NULL in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nulls {
    /// The row has no attribute of the column, as in the definition.
    #[default]
    Absent,
    /// The row may have any attribute of the column. It counts neither for nor against an inference of one of
    /// them: the share of the rows that have it is taken over the rows whose value is not NULL.
    ///
    /// [`holes`](super::holes) and [`decoys`](super::decoys) take it as
    /// [`Absent`](Self::Absent).
    Unknown,
    /// The row has this attribute of the column.
    Attribute(u32),
}

/// Map from the codes of values to attributes. What the code [`NULL`] means is said by [`Nulls`].
#[derive(Debug, Clone)]
pub enum AttributesOfValue {
    /// A value stands for at most one attribute. That of code `c` is at index `c - 1`.
    One(Vec<Option<u32>>),
    /// A value stands for a set of attributes, for example an array. Those of code `c` are at index `c - 1`.
    Set(Vec<Vec<u32>>),
}

impl Default for AttributesOfValue {
    fn default() -> Self {
        AttributesOfValue::One(Vec::new())
    }
}

impl Column {
    /// Returns a column that takes no part in the score.
    pub fn ignored() -> Self {
        Self::default()
    }

    /// Returns a column in which every value is an attribute of its own, all with these weights.
    pub fn categories(values: u32, weights: Weights) -> Self {
        Column {
            attributes: vec![weights; values as usize],
            attributes_of_value: AttributesOfValue::One((0..values).map(Some).collect()),
            nulls: Nulls::Absent,
        }
    }

    /// Returns a column in which every value is an attribute of its own, all with the weights of the label.
    /// If the label has no weights, the column is ignored.
    pub fn labelled(values: u32, label: Label) -> Self {
        label
            .weights()
            .map_or_else(Self::ignored, |weights| Self::categories(values, weights))
    }

    /// Returns the attributes of the value with this code.
    pub(super) fn attributes_of_code(&self, code: u32) -> &[u32] {
        if code == NULL {
            return match &self.nulls {
                Nulls::Attribute(attribute) => std::slice::from_ref(attribute),
                Nulls::Absent | Nulls::Unknown => &[],
            };
        }
        let value = code as usize - 1;
        match &self.attributes_of_value {
            AttributesOfValue::One(attributes) => attributes
                .get(value)
                .and_then(Option::as_ref)
                .map_or(&[], std::slice::from_ref),
            AttributesOfValue::Set(attributes) => attributes.get(value).map_or(&[], Vec::as_slice),
        }
    }

    /// Returns whether an attribute can change a score. One with likelihood 0 and danger 0 cannot.
    pub(super) fn matters(&self, attribute: u32) -> bool {
        let weights = self.attributes[attribute as usize];
        weights.likelihood > 0.0 || weights.danger > 0.0
    }
}

/// Attribute of a table, identified by its column and its index there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Attribute {
    /// Position of the column.
    pub column: u32,
    /// Position in [`Column::attributes`].
    pub index: u32,
}
