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
