//! Values become codes: one dictionary for every measure, so that two values are equal for all of them or for none.

pub mod arguments;
pub mod dictionary;
pub mod encoder;
pub mod order;
pub mod scale;
pub mod sequence;
pub mod wire;

use dictionary::Dictionary;
use disclosure::Rows;

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
