//! Encodes rows of values as rows of codes, a batch at a time.
//!
//! The backend's own thread is the *reader*. It looks up values that are passed by reference at once, because
//! they do not live long, and keeps the bits of those that are passed by value. A full batch then goes to the
//! *worker*, which looks up the by-value ones and feeds the sink. If there are many rows, the worker gets a
//! thread of its own, so that reading and counting overlap.

use crate::encode::dictionary::{Bits, Dictionary, Images, Intake};
use crate::encode::{Encoded, Sink};
use crate::error::Error;
use crate::guc;
use crate::pg::types::ColumnType;
use crate::run::Conveyor;
use disclosure::{NULL, Rows};
use pgrx::pg_sys::Datum;

/// Encoder of rows, with the sink that receives their codes.
pub struct Encoder<S: Sink> {
    readers: Vec<Reader>,
    batch: Batch,
    /// Number of batches that are still to be processed before the worker gets a thread; `usize::MAX` means
    /// never.
    batches_alone: usize,
    worker: WorkerPlace<S>,
}

/// How the reader treats the values of a column.
enum Reader {
    /// Leaves them to the worker, after the intake has extracted their bits.
    Bits(Intake),
    /// Looks them up in this dictionary.
    Images(Images),
    /// Ignores them: all rows have the code of NULL. The dictionary stays empty.
    Ignored(Dictionary),
}

/// Rows on their way to the sink.
struct Batch {
    rows: usize,
    columns: Vec<BatchColumn>,
}

#[derive(Default)]
struct BatchColumn {
    codes: Vec<u32>,
    /// Bits of the values whose code is [`LEFT_TO_WORKER`], in order.
    left: Vec<u64>,
}

/// Placeholder for the code of a value that the worker has to look up.
const LEFT_TO_WORKER: u32 = u32::MAX;

/// Processor of whole batches.
struct Worker<S> {
    /// Dictionaries of the columns that the reader leaves to the worker; `None` for the others.
    bits: Vec<Option<Bits>>,
    sink: S,
}

/// Thread on which the worker runs.
enum WorkerPlace<S: Sink> {
    /// The reader's thread.
    SameThread(Worker<S>),
    OwnThread(Conveyor<Batch, Worker<S>>),
    /// None, after an error; no more rows are read.
    Lost,
}

impl<S: Sink> Encoder<S> {
    /// Number of rows in a batch: enough to make loops tight, few enough to stay in the processor's cache.
    const BATCH: usize = 1024;

    /// Number of batches before the worker gets a thread. Fewer rows are done before a thread has started.
    const BATCHES_ALONE: usize = 16;

    /// Returns an encoder that does everything on this thread.
    pub fn alone(columns: impl IntoIterator<Item = ColumnType>, sink: S) -> Self {
        Self::of(columns.into_iter().map(Dictionary::new), sink)
    }

    fn of(dictionaries: impl IntoIterator<Item = Dictionary>, sink: S) -> Self {
        let (mut readers, mut bits) = (Vec::new(), Vec::new());
        for dictionary in dictionaries {
            match dictionary {
                Dictionary::Bits(dictionary) => {
                    readers.push(Reader::Bits(dictionary.intake()));
                    bits.push(Some(dictionary));
                }
                Dictionary::Images(dictionary) => {
                    readers.push(Reader::Images(dictionary));
                    bits.push(None);
                }
            }
        }
        Encoder {
            batch: Batch::new(readers.len()),
            readers,
            batches_alone: usize::MAX,
            worker: WorkerPlace::SameThread(Worker { bits, sink }),
        }
    }

    /// Returns the encoder, which has read no row yet, with only those columns read that `is_read` accepts by their
    /// positions.
    pub fn reading(mut self, is_read: impl Fn(usize) -> bool) -> Self {
        if let WorkerPlace::SameThread(worker) = &mut self.worker {
            let readers = self.readers.into_iter().zip(&mut worker.bits).enumerate();
            let reader = |(position, (reader, bits)): (usize, (Reader, &mut Option<Bits>))| match reader {
                reader if is_read(position) => reader,
                Reader::Images(dictionary) => Reader::Ignored(Dictionary::Images(dictionary)),
                reader => match bits.take() {
                    Some(dictionary) => Reader::Ignored(Dictionary::Bits(dictionary)),
                    None => reader,
                },
            };
            self.readers = readers.map(reader).collect();
        }
        self
    }

    /// Returns an encoder that starts a second thread if there are many rows and `disclosure.threads` allows
    /// it.
    pub fn new(columns: impl IntoIterator<Item = ColumnType>, sink: S) -> Self {
        Self::with(columns.into_iter().map(Dictionary::new), sink)
    }

    /// Returns an encoder with these dictionaries, one for each column, that may start a second thread, too.
    pub fn with(dictionaries: impl IntoIterator<Item = Dictionary>, sink: S) -> Self {
        let mut encoder = Self::of(dictionaries, sink);
        if guc::threads() > 1 {
            encoder.batches_alone = Self::BATCHES_ALONE;
        }
        encoder
    }

    /// Encodes one row.
    ///
    /// # Safety
    /// `values` must yield, for every column in order, a valid Datum of its type and whether it is NULL.
    #[inline]
    pub unsafe fn push(&mut self, values: impl Iterator<Item = (Datum, bool)>) -> Result<(), Error> {
        // SAFETY: by the contract of the function.
        unsafe {
            for ((reader, column), (value, is_null)) in
                self.readers.iter_mut().zip(&mut self.batch.columns).zip(values)
            {
                let code = match reader {
                    _ if is_null => NULL,
                    Reader::Bits(intake) => {
                        column.left.push(intake.bits(value));
                        LEFT_TO_WORKER
                    }
                    Reader::Images(dictionary) => dictionary.encode(value)?,
                    Reader::Ignored(_) => NULL,
                };
                column.codes.push(code);
            }
            self.batch.rows += 1;
            match self.batch.rows {
                Self::BATCH => self.flush(),
                _ => Ok(()),
            }
        }
    }

    /// Encodes a row that is NULL as a whole.
    pub fn push_null(&mut self) -> Result<(), Error> {
        // SAFETY: the Datum of a NULL is not looked at.
        unsafe { self.push(std::iter::repeat((Datum::from(0), true))) }
    }

    /// Sends the batch to the worker, full or not.
    pub fn flush(&mut self) -> Result<(), Error> {
        if self.batches_alone == 0 {
            self.give_worker_a_thread()?;
        }
        match &mut self.worker {
            WorkerPlace::SameThread(worker) => {
                worker.process(&mut self.batch)?;
                self.batches_alone -= 1;
            }
            WorkerPlace::OwnThread(worker) => {
                let empty = worker.spare().unwrap_or_else(|| Batch::new(self.readers.len()));
                let full = std::mem::replace(&mut self.batch, empty);
                if !worker.send(full) {
                    return self.take_worker().map(|_| ()); // returns its error
                }
            }
            WorkerPlace::Lost => return Err(Error::Internal("rows were pushed after an error")),
        }
        Ok(())
    }

    fn give_worker_a_thread(&mut self) -> Result<(), Error> {
        self.worker = match std::mem::replace(&mut self.worker, WorkerPlace::Lost) {
            WorkerPlace::SameThread(worker) => {
                WorkerPlace::OwnThread(Conveyor::start(worker, Worker::process)?)
            }
            elsewhere => elsewhere,
        };
        Ok(())
    }

    fn take_worker(&mut self) -> Result<Worker<S>, Error> {
        match std::mem::replace(&mut self.worker, WorkerPlace::Lost) {
            WorkerPlace::SameThread(worker) => Ok(worker),
            WorkerPlace::OwnThread(worker) => worker.finish(),
            WorkerPlace::Lost => Err(Error::Internal("rows were pushed after an error")),
        }
    }

    /// Returns the sink, which has received every row that was flushed; `None` if the worker has a thread.
    pub fn sink(&self) -> Option<&S> {
        match &self.worker {
            WorkerPlace::SameThread(worker) => Some(&worker.sink),
            _ => None,
        }
    }

    /// Encodes the last batch and returns the dictionaries and the sink.
    pub fn finish(mut self) -> Result<Encoded<S>, Error> {
        self.flush()?;
        let Worker { bits, sink } = self.take_worker()?;
        let dictionaries = self
            .readers
            .into_iter()
            .zip(bits)
            .filter_map(|column| match column {
                (Reader::Images(dictionary), _) => Some(Dictionary::Images(dictionary)),
                (Reader::Ignored(dictionary), _) => Some(dictionary),
                (Reader::Bits(_), bits) => bits.map(Dictionary::Bits),
            })
            .collect();
        Ok(Encoded { dictionaries, sink })
    }
}

impl<S: Sink> Worker<S> {
    /// Looks up the values that were left to the worker, passes the batch to the sink and clears it.
    fn process(&mut self, batch: &mut Batch) -> disclosure::Result<()> {
        for (column, dictionary) in batch.columns.iter_mut().zip(&mut self.bits) {
            let Some(dictionary) = dictionary else {
                continue;
            };
            let left = column.codes.iter_mut().filter(|code| **code == LEFT_TO_WORKER);
            for (code, &bits) in left.zip(&column.left) {
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
            column.left.clear();
        }
    }
}
