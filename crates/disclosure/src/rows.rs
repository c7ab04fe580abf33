/// A batch of rows as codes, stored column by column. Data is passed to the algorithms in batches of a few
/// hundred rows, so that loops are tight and waits for memory overlap.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    columns: &'a [&'a [u32]],
    len: usize,
}

impl<'a> Rows<'a> {
    /// Creates a batch of `len` rows from columns of `len` codes each. There may be no columns.
    pub fn new(columns: &'a [&'a [u32]], len: usize) -> Self {
        debug_assert!(columns.iter().all(|column| column.len() == len));
        Rows { columns, len }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the codes, one slice per column.
    pub fn columns(&self) -> &'a [&'a [u32]] {
        self.columns
    }
}
