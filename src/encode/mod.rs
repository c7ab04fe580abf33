//! Encodes values as codes. All measures share one kind of dictionary, so that two values are equal for all
//! of them or for none.

pub mod arguments;
pub mod decimals;
pub mod dictionary;
pub mod encoder;
pub mod order;
pub mod scale;
pub mod sequence;
pub mod wire;

use dictionary::Dictionary;
use disclosure::Rows;

/// Receiver of encoded rows. It may be called on another thread, so it must not touch Postgres.
pub trait Sink: Send + 'static {
    fn rows(&mut self, rows: Rows) -> disclosure::Result<()>;
}

/// Sink that keeps the codes of every row, column by column.
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

/// Result of reading: the dictionary of every column, and the sink, which has received all rows.
pub struct Encoded<S> {
    pub dictionaries: Vec<Dictionary>,
    pub sink: S,
}
