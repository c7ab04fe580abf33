use crate::{Label, NULL, Weights};

/// What the values of a column say about a row: which attributes it has (White, Definition 2.8), and how
/// likely each of them is known and how much it hurts when inferred.
#[derive(Debug, Clone, Default)]
pub struct Column {
    /// The weights of every attribute that the column can give to a row.
    pub attributes: Vec<Weights>,
    /// Which attributes a value stands for.
    pub meaning: Meaning,
}

/// From codes of values to attributes. The code [`NULL`] never gives a row an attribute.
#[derive(Debug, Clone)]
pub enum Meaning {
    /// A value is one attribute, or none: that of code `c` is at `c - 1`.
    One(Vec<Option<u32>>),
    /// A value is a set of attributes, e.g. an array: those of code `c` are at `c - 1`.
    Set(Vec<Vec<u32>>),
}

impl Default for Meaning {
    fn default() -> Self {
        Meaning::One(Vec::new())
    }
}

impl Column {
    /// A column without a part in the score.
    pub fn ignored() -> Self {
        Self::default()
    }

    /// Every value is an attribute of its own, all with these weights.
    pub fn categories(values: u32, weights: Weights) -> Self {
        Column {
            attributes: vec![weights; values as usize],
            meaning: Meaning::One((0..values).map(Some).collect()),
        }
    }

    /// Every value is an attribute of its own, all with the weights of the label.
    pub fn labelled(values: u32, label: Label) -> Self {
        label
            .weights()
            .map_or_else(Self::ignored, |weights| Self::categories(values, weights))
    }

    /// The attributes of the value with this code.
    pub(super) fn of_code(&self, code: u32) -> &[u32] {
        if code == NULL {
            return &[];
        }
        let value = code as usize - 1;
        match &self.meaning {
            Meaning::One(attributes) => attributes
                .get(value)
                .and_then(Option::as_ref)
                .map_or(&[], std::slice::from_ref),
            Meaning::Set(attributes) => attributes.get(value).map_or(&[], Vec::as_slice),
        }
    }

    /// Whether an attribute can change any score: one that is neither known nor hurts cannot.
    pub(super) fn matters(&self, attribute: u32) -> bool {
        let weights = self.attributes[attribute as usize];
        weights.likelihood > 0.0 || weights.danger > 0.0
    }
}

/// An attribute of the table: the `index`-th of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Attribute {
    /// The position of the column.
    pub column: u32,
    /// Its position in [`Column::attributes`].
    pub index: u32,
}
