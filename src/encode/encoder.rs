//! Rows of values become rows of codes, a batch at a time.
//!
//! The backend's own thread is the reader: it looks up values that are passed by reference at once, because they do
//! not live long, and keeps the bits of those that are passed by value. A full batch then goes to the *worker*, which
//! looks up the latter and feeds the sink. If there are many rows, the worker gets a thread of its own, so that
//! reading and counting overlap.

use crate::encode::dictionary::{Bits, Dictionary, Images, Intake};
use crate::encode::{Encoded, Sink};
use crate::error::Problem;
use crate::guc;
use crate::pg::types::ColumnType;
use crate::run::Conveyor;
use disclosure::{NULL, Rows};
use pgrx::pg_sys::Datum;

pub struct Encoder<S: Sink> {
    readers: Vec<Reader>,
    batch: Batch,
    /// Batches that are still to be processed before the worker gets a thread.
    batches_alone: usize,
    worker: WorkerPlace<S>,
}

/// What the reader does with a column's values.
enum Reader {
    /// Leaves them to the worker, after this has been made of the Datum.
    Bits(Intake),
    /// Looks them up.
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
    /// The values whose code is [`LEFT_TO_WORKER`], in order.
    left: Vec<u64>,
}

/// Stands for the code of a value that the worker has to look up.
const LEFT_TO_WORKER: u32 = u32::MAX;

/// Processes whole batches.
struct Worker<S> {
    bits: Vec<Option<Bits>>,
    sink: S,
}

/// Where the worker works.
enum WorkerPlace<S: Sink> {
    /// On the reader's thread.
    SameThread(Worker<S>),
    OwnThread(Conveyor<Batch, Worker<S>>),
    /// After an error; nothing more will be read.
    Lost,
}

impl<S: Sink> Encoder<S> {
    /// Rows in a batch: enough to make loops tight, few enough to stay in the processor's cache.
    const BATCH: usize = 1024;

    /// Batches before the worker gets a thread: fewer rows are done before a thread has started.
    const BATCHES_ALONE: usize = 16;

    /// An encoder that does everything on this thread.
    pub fn alone(columns: impl IntoIterator<Item = ColumnType>, sink: S) -> Self {
        let dictionaries = columns.into_iter().map(Dictionary::new);
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

    /// Encode a row that is NULL as a whole.
    pub fn push_null(&mut self) -> Result<(), Problem> {
        // SAFETY: NULL is a valid value of any type.
        unsafe { self.push(std::iter::repeat((Datum::from(0), true))) }
    }

    /// Sends the batch to the worker, full or not.
    pub fn flush(&mut self) -> Result<(), Problem> {
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
                    return self.take_worker().map(|_| ()); // which has an error to tell
                }
            }
            WorkerPlace::Lost => return Err(Problem::Internal("rows were pushed after an error")),
        }
        Ok(())
    }

    fn give_worker_a_thread(&mut self) -> Result<(), Problem> {
        self.worker = match std::mem::replace(&mut self.worker, WorkerPlace::Lost) {
            WorkerPlace::SameThread(worker) => {
                WorkerPlace::OwnThread(Conveyor::start(worker, Worker::process)?)
            }
            elsewhere => elsewhere,
        };
        Ok(())
    }

    fn take_worker(&mut self) -> Result<Worker<S>, Problem> {
        match std::mem::replace(&mut self.worker, WorkerPlace::Lost) {
            WorkerPlace::SameThread(worker) => Ok(worker),
            WorkerPlace::OwnThread(worker) => worker.finish(),
            WorkerPlace::Lost => Err(Problem::Internal("rows were pushed after an error")),
        }
    }

    /// The sink, which has every row that was flushed; only if the worker has no thread.
    pub fn sink(&self) -> Option<&S> {
        match &self.worker {
            WorkerPlace::SameThread(worker) => Some(&worker.sink),
            _ => None,
        }
    }

    /// All rows are in.
    pub fn finish(mut self) -> Result<Encoded<S>, Problem> {
        self.flush()?;
        let Worker { bits, sink } = self.take_worker()?;
        let dictionaries = self
            .readers
            .into_iter()
            .zip(bits)
            .filter_map(|column| match column {
                (Reader::Images(dictionary), _) => Some(Dictionary::Images(dictionary)),
                (Reader::Bits(_), bits) => bits.map(Dictionary::Bits),
            })
            .collect();
        Ok(Encoded { dictionaries, sink })
    }
}

impl<S: Sink> Worker<S> {
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
