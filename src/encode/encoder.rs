//! Rows of values become rows of codes, a batch at a time.
//!
//! On the backend's own thread, values that are passed by reference are looked up at once, since they do
//! not live long; those that are passed by value are only put down. A full batch then goes to the *back*,
//! which looks up the latter and feeds the sink. Where there are many rows, the back works on a thread of
//! its own, so that reading and counting overlap.

use crate::encode::dictionary::{Bits, Dictionary, Images, Intake};
use crate::encode::{Encoded, Sink};
use crate::error::Problem;
use crate::guc;
use crate::pg::types::ColumnType;
use crate::run::Conveyor;
use disclosure::{NULL, Rows};
use pgrx::pg_sys::Datum;

pub struct Encoder<S: Sink> {
    front: Vec<Front>,
    batch: Batch,
    /// Batches that are still to be processed here before the back gets a thread.
    batches_alone: usize,
    back: Place<S>,
}

/// Where a column's values are looked up.
enum Front {
    /// In the back, after this has been made of the Datum.
    Bits(Intake),
    /// Here.
    Images(Images),
}

/// Some rows on their way to the sink.
struct Batch {
    rows: usize,
    columns: Vec<BatchColumn>,
}

#[derive(Default)]
struct BatchColumn {
    codes: Vec<u32>,
    /// The values whose code is still [`PENDING`], in order.
    pending: Vec<u64>,
}

/// Stands for the code of a value that was not looked up yet.
const PENDING: u32 = u32::MAX;

/// What is done to whole batches.
struct Back<S> {
    bits: Vec<Option<Bits>>,
    sink: S,
}

enum Place<S: Sink> {
    Here(Back<S>),
    Beside(Conveyor<Batch, Back<S>>),
    /// After an error; nothing more will be read.
    Lost,
}

impl<S: Sink> Encoder<S> {
    /// Rows in a batch: enough to make loops tight, few enough to stay in the processor's cache.
    const BATCH: usize = 1024;

    /// Batches before the back gets a thread: fewer rows are done before a thread has started.
    const BATCHES_ALONE: usize = 16;

    /// An encoder that does everything on this thread.
    pub fn alone(columns: impl IntoIterator<Item = ColumnType>, sink: S) -> Self {
        let dictionaries = columns.into_iter().map(Dictionary::new);
        let (mut front, mut bits) = (Vec::new(), Vec::new());
        for dictionary in dictionaries {
            match dictionary {
                Dictionary::Bits(dictionary) => {
                    front.push(Front::Bits(dictionary.intake()));
                    bits.push(Some(dictionary));
                }
                Dictionary::Images(dictionary) => {
                    front.push(Front::Images(dictionary));
                    bits.push(None);
                }
            }
        }
        Encoder {
            batch: Batch::new(front.len()),
            front,
            batches_alone: usize::MAX,
            back: Place::Here(Back { bits, sink }),
        }
    }

    /// An encoder that takes a second thread where `disclosure.threads` allows and the rows are many.
    pub fn new(columns: impl IntoIterator<Item = ColumnType>, sink: S) -> Self {
        let mut encoder = Self::alone(columns, sink);
        if guc::threads() > 1 {
            encoder.batches_alone = Self::BATCHES_ALONE;
        }
        encoder
    }

    /// Encode one row.
    ///
    /// # Safety
    /// `values` yields, for every column in order, a valid Datum of its type and whether it is NULL.
    #[inline]
    pub unsafe fn push(&mut self, values: impl Iterator<Item = (Datum, bool)>) -> Result<(), Problem> {
        for ((front, column), (value, is_null)) in
            self.front.iter_mut().zip(&mut self.batch.columns).zip(values)
        {
            let code = match front {
                _ if is_null => NULL,
                Front::Bits(intake) => {
                    column.pending.push(intake.bits(value));
                    PENDING
                }
                Front::Images(dictionary) => dictionary.encode(value)?,
            };
            column.codes.push(code);
        }
        self.batch.rows += 1;
        match self.batch.rows {
            Self::BATCH => self.flush(),
            _ => Ok(()),
        }
    }

    /// Encode a row that is NULL as a whole.
    pub fn push_null(&mut self) -> Result<(), Problem> {
        // SAFETY: NULL is a valid value of any type.
        unsafe { self.push(std::iter::repeat((Datum::from(0), true))) }
    }

    /// Send the batch to the back, full or not.
    pub fn flush(&mut self) -> Result<(), Problem> {
        if self.batches_alone == 0 {
            self.move_back_to_a_thread()?;
        }
        match &mut self.back {
            Place::Here(back) => {
                back.process(&mut self.batch)?;
                self.batches_alone -= 1;
            }
            Place::Beside(back) => {
                let empty = back.spare().unwrap_or_else(|| Batch::new(self.front.len()));
                let full = std::mem::replace(&mut self.batch, empty);
                if !back.send(full) {
                    return self.take_back().map(|_| ()); // which has an error to tell
                }
            }
            Place::Lost => return Err(Problem::Internal("rows were pushed after an error")),
        }
        Ok(())
    }

    fn move_back_to_a_thread(&mut self) -> Result<(), Problem> {
        self.back = match std::mem::replace(&mut self.back, Place::Lost) {
            Place::Here(back) => Place::Beside(Conveyor::start(back, Back::process)?),
            elsewhere => elsewhere,
        };
        Ok(())
    }

    fn take_back(&mut self) -> Result<Back<S>, Problem> {
        match std::mem::replace(&mut self.back, Place::Lost) {
            Place::Here(back) => Ok(back),
            Place::Beside(back) => back.finish(),
            Place::Lost => Err(Problem::Internal("rows were pushed after an error")),
        }
    }

    /// The sink, which has every row that was flushed; only where the back has no thread.
    pub fn sink(&self) -> Option<&S> {
        match &self.back {
            Place::Here(back) => Some(&back.sink),
            _ => None,
        }
    }

    /// All rows are in.
    pub fn finish(mut self) -> Result<Encoded<S>, Problem> {
        self.flush()?;
        let Back { bits, sink } = self.take_back()?;
        let dictionaries = self
            .front
            .into_iter()
            .zip(bits)
            .filter_map(|column| match column {
                (Front::Images(dictionary), _) => Some(Dictionary::Images(dictionary)),
                (Front::Bits(_), bits) => bits.map(Dictionary::Bits),
            })
            .collect();
        Ok(Encoded { dictionaries, sink })
    }
}

impl<S: Sink> Back<S> {
    fn process(&mut self, batch: &mut Batch) -> disclosure::Result<()> {
        for (column, dictionary) in batch.columns.iter_mut().zip(&mut self.bits) {
            let Some(dictionary) = dictionary else {
                continue;
            };
            let pending = column.codes.iter_mut().filter(|code| **code == PENDING);
            for (code, &bits) in pending.zip(&column.pending) {
                *code = dictionary.encode(bits)?;
            }
        }
        let columns: Vec<&[u32]> = batch.columns.iter().map(|column| &column.codes[..]).collect();
        self.sink.rows(Rows::new(&columns, batch.rows))?;
        batch.clear();
        Ok(())
    }
}

impl Batch {
    fn new(width: usize) -> Self {
        Batch {
            rows: 0,
            columns: std::iter::repeat_with(BatchColumn::default).take(width).collect(),
        }
    }

    fn clear(&mut self) {
        self.rows = 0;
        for column in &mut self.columns {
            column.codes.clear();
            column.pending.clear();
        }
    }
}
