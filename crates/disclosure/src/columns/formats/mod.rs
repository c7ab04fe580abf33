//! Formats of values that tell what a column is about: e-mail addresses, IBANs, national ids, postcodes, dates and so
//! on. Wherever a format has check digits, they are checked.

/// A format that a value can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// An e-mail address.
    Email,
    /// A telephone or fax number.
    Phone,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 2] = [Format::Email, Format::Phone];
}

/// How many values have each format. Values are counted and not kept.
#[derive(Debug, Clone, Default)]
pub struct FormatCounts {
    values: u64,
    counts: [u64; Format::ALL.len()],
}

impl FormatCounts {
    /// Returns how many values were counted.
    pub fn values(&self) -> u64 {
        self.values
    }

    /// Returns the share of the values that have this format; 0 if there are no values.
    pub fn share(&self, format: Format) -> f64 {
        match self.values {
            0 => 0.0,
            values => self.counts[format as usize] as f64 / values as f64,
        }
    }
}
