use crate::NULL;

/// A few rows as codes, column by column: how data travels into the algorithms, some hundred rows at a
/// time, so that loops are tight and waits for memory overlap.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    columns: &'a [&'a [u32]],
    len: usize,
}

impl<'a> Rows<'a> {
    /// Rows of these columns, of which each has `len` codes. Without columns, only the number counts.
    pub fn new(columns: &'a [&'a [u32]], len: usize) -> Self {
        debug_assert!(columns.iter().all(|column| column.len() == len));
        Rows { columns, len }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The codes, a slice per column.
    pub fn columns(&self) -> &'a [&'a [u32]] {
        self.columns
    }
}

/// A whole table as codes.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    codes: Vec<Vec<u32>>,
}

/// What one column shows by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnProfile {
    /// Distinct values.
    pub values: u64,
    /// Rows without a value.
    pub nulls: u64,
    /// Values that occur in one row only: knowing such a value is knowing the row.
    pub unique_values: u64,
    /// Rows that hold the most frequent value; 0 where there is no value at all.
    pub most_frequent: u64,
}

impl Columns {
    /// No rows yet, and `width` columns.
    pub fn new(width: usize) -> Self {
        Columns {
            codes: vec![Vec::new(); width],
        }
    }

    /// Append rows.
    pub fn extend(&mut self, rows: Rows) {
        debug_assert_eq!(rows.columns().len(), self.codes.len());
        for (column, codes) in self.codes.iter_mut().zip(rows.columns()) {
            column.extend_from_slice(codes);
        }
    }

    /// The codes of one column, a row each.
    pub fn column(&self, column: usize) -> &[u32] {
        &self.codes[column]
    }

    /// Count what `column` shows by itself.
    pub fn profile(&self, column: usize) -> ColumnProfile {
        let codes = self.column(column);
        let mut rows_of = vec![0u64; codes.iter().max().map_or(0, |&code| code as usize) + 1];
        for &code in codes {
            rows_of[code as usize] += 1;
        }
        let nulls = std::mem::take(&mut rows_of[NULL as usize]);
        let of_values = || rows_of.iter().filter(|&&rows| rows > 0);
        ColumnProfile {
            values: of_values().count() as u64,
            nulls,
            unique_values: of_values().filter(|&&rows| rows == 1).count() as u64,
            most_frequent: of_values().max().copied().unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles() {
        let mut columns = Columns::new(3);
        columns.extend(Rows::new(&[&[1, 1, 2], &[NULL; 3], &[1, 2, 3]], 3));
        columns.extend(Rows::new(&[&[3], &[NULL], &[NULL]], 1));
        let profile = |values, nulls, unique_values, most_frequent| ColumnProfile {
            values,
            nulls,
            unique_values,
            most_frequent,
        };
        assert_eq!(columns.profile(0), profile(3, 0, 2, 2));
        assert_eq!(columns.profile(1), profile(0, 4, 0, 0));
        assert_eq!(columns.profile(2), profile(3, 1, 3, 1));
        assert_eq!(Columns::new(1).profile(0), profile(0, 0, 0, 0));
    }
}
