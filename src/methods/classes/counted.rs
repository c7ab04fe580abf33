//! Counts equal rows while they are read. Several methods start with this step.

use crate::encode::Sink;
use disclosure::Rows;
use disclosure::classes::Classes;

/// Classes of the rows so far. `None` before the first row, because the number of columns is not known until
/// then.
#[derive(Default)]
pub struct Counted(pub Option<Classes>);

impl Counted {
    fn extend(&mut self, rows: Rows, on_class: impl FnMut(u32)) -> disclosure::Result<()> {
        self.of_width(rows.columns().len()).extend(rows, on_class)
    }

    /// Returns the classes, after creating them for rows of this many columns if there are none yet.
    pub fn of_width(&mut self, width: usize) -> &mut Classes {
        self.0.get_or_insert_with(|| Classes::new(width))
    }

    pub fn classes(self) -> Classes {
        self.0.unwrap_or_default()
    }
}

impl Sink for Counted {
    fn rows(&mut self, rows: Rows) -> disclosure::Result<()> {
        self.extend(rows, |_| {})
    }
}

/// Counts classes and keeps the class of every row.
#[derive(Default)]
pub struct CountedRows {
    pub counted: Counted,
    pub class_of_row: Vec<u32>,
}

impl Sink for CountedRows {
    fn rows(&mut self, rows: Rows) -> disclosure::Result<()> {
        self.counted.extend(rows, |class| self.class_of_row.push(class))
    }
}
