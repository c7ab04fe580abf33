//! Values of a column, row by row, that are to be sorted.
//!
//! Numbers and dates are kept as they are, because sorting them is faster than looking each one up. All other
//! values go through a dictionary, so that their type has to compare only distinct values. So do numerics as soon
//! as one of them has too many digits for a sort key.

use crate::encode::decimals::Decimals;
use crate::encode::dictionary::{Dictionary, Intake};
use crate::encode::order::{CodedColumn, SortKey, sort_key};
use crate::error::Error;
use crate::pg::types::ColumnType;
use crate::run::{self, Meter};
use disclosure::NULL;
use disclosure::permutation::{self, ColumnToSort, SMALL_COLUMN};
use pgrx::pg_sys::{self, NullableDatum};
use pgrx::{AnyElement, FromDatum};

/// Values of a column, one for every row.
pub struct Sequence {
    column: ColumnType,
    values: Values,
}

enum Values {
    Numbers(Numbers),
    Decimals(Decimals),
    Coded(CodedColumn),
}

struct Numbers {
    intake: Intake,
    key: SortKey,
    /// Bits of every row's value; arbitrary if the value is NULL.
    bits: Vec<u64>,
    /// Rows whose value is NULL, in ascending order.
    nulls: Vec<u32>,
}

impl Numbers {
    fn column_to_sort(&self) -> ColumnToSort<'_> {
        ColumnToSort::Numbers {
            bits: &self.bits,
            key: self.key,
            absent: &self.nulls,
        }
    }
}

impl Sequence {
    /// Creates an empty sequence with capacity for `rows` values. Values that are equal but not identical,
    /// such as 1.0 and 1.00, are kept distinct.
    pub fn new(column: ColumnType, rows: usize) -> Self {
        let values = match sort_key(column.base_type()) {
            Some((intake, key)) => Values::Numbers(Numbers {
                intake,
                key,
                bits: Vec::with_capacity(rows),
                nulls: Vec::new(),
            }),
            None if column.base_type() == pg_sys::NUMERICOID => Values::Decimals(Decimals::new(rows)),
            None => Values::Coded(CodedColumn {
                dictionary: Dictionary::exact(column.clone()),
                codes: Vec::with_capacity(rows),
            }),
        };
        Sequence { column, values }
    }

    /// Returns whether values are kept by value, so that they stay valid when the next one is read.
    pub fn is_by_value(&self) -> bool {
        matches!(self.values, Values::Numbers(_))
    }

    /// Appends the value of the next row.
    ///
    /// # Safety
    /// `value` must be NULL or a valid Datum of the column's type.
    #[inline]
    pub unsafe fn push(&mut self, value: NullableDatum) -> Result<(), Error> {
        // SAFETY: by the contract of the function.
        unsafe {
            match &mut self.values {
                Values::Numbers(Numbers {
                    intake, bits, nulls, ..
                }) => {
                    if value.isnull {
                        nulls.push(bits.len() as u32);
                    }
                    bits.push(intake.bits(value.value));
                }
                Values::Decimals(decimals) => {
                    if value.isnull {
                        decimals.push_null();
                    } else if !decimals.push(value.value) {
                        self.values = Values::Coded(coded(&self.column, decimals)?);
                        return self.push(value);
                    }
                }
                Values::Coded(CodedColumn { dictionary, codes }) => codes.push(if value.isnull {
                    NULL
                } else {
                    dictionary.encode(value.value)?
                }),
            }
            Ok(())
        }
    }

    pub fn len(&self) -> usize {
        match &self.values {
            Values::Numbers(Numbers { bits, .. }) => bits.len(),
            Values::Decimals(decimals) => decimals.len(),
            Values::Coded(CodedColumn { codes, .. }) => codes.len(),
        }
    }

    /// Returns the dense rank of every row's value among the distinct values, from 1; [`NULL`] if the value
    /// is NULL.
    pub fn dense_ranks(&mut self) -> Result<Vec<u32>, Error> {
        let numbers = match &mut self.values {
            Values::Coded(column) => return column.dense_ranks(),
            Values::Numbers(numbers) => numbers.column_to_sort(),
            Values::Decimals(decimals) => decimals.column_to_sort(),
        };
        run::sized("sorting values", numbers.len(), SMALL_COLUMN, |control| {
            numbers.dense_ranks(control)
        })
    }

    /// Returns the rows of two columns, each in the order of its values. Equal values are in an order that
    /// the seed determines.
    pub fn paired_orders(columns: &mut [Self; 2], seed: u64) -> Result<[Vec<u32>; 2], Error> {
        let [one, other] = columns;
        let dense_ranks = [one.dense_ranks_of_codes()?, other.dense_ranks_of_codes()?];
        let columns = [
            one.column_to_sort(&dense_ranks[0]),
            other.column_to_sort(&dense_ranks[1]),
        ];
        run::sized("sorting values", one.len(), SMALL_COLUMN, |control| {
            permutation::paired_orders(columns, seed, control)
        })
    }

    /// Returns the dense rank of every row's value if values go through a dictionary, otherwise nothing.
    /// Postgres compares them, on this thread.
    fn dense_ranks_of_codes(&mut self) -> Result<Vec<u32>, Error> {
        match &mut self.values {
            Values::Coded(column) => column.dense_ranks(),
            Values::Numbers(_) | Values::Decimals(_) => Ok(Vec::new()),
        }
    }

    fn column_to_sort<'a>(&'a self, dense_ranks_of_codes: &'a [u32]) -> ColumnToSort<'a> {
        match &self.values {
            Values::Coded(_) => ColumnToSort::DenseRanks(dense_ranks_of_codes),
            Values::Numbers(numbers) => numbers.column_to_sort(),
            Values::Decimals(decimals) => decimals.column_to_sort(),
        }
    }

    /// Returns the values in another order: every row gets the value of the row that `sources` names.
    pub fn arranged(mut self, sources: &[u32]) -> Result<Self, Error> {
        match &mut self.values {
            Values::Coded(values) => values.arrange(sources),
            Values::Decimals(decimals) => *decimals = decimals.arranged(sources)?,
            Values::Numbers(Numbers { bits, nulls, .. }) => {
                let mut is_null = vec![false; bits.len()];
                nulls.iter().for_each(|&row| is_null[row as usize] = true);
                *bits = sources.iter().map(|&source| bits[source as usize]).collect();
                let rows = (0..)
                    .zip(sources)
                    .filter(|&(_, &source)| is_null[source as usize]);
                *nulls = rows.map(|(row, _)| row).collect();
            }
        }
        Ok(self)
    }

    /// Returns the value of a row; `None` if it is NULL. It is a copy, because the executor expects it in
    /// memory of its own.
    pub fn value(&self, row: usize) -> Option<AnyElement> {
        let value = match &self.values {
            Values::Numbers(Numbers { bits, nulls, .. }) => {
                let is_null = !nulls.is_empty() && nulls.binary_search(&(row as u32)).is_ok();
                (!is_null).then(|| pg_sys::Datum::from(bits[row]))
            }
            Values::Decimals(decimals) => decimals.copy(row),
            Values::Coded(CodedColumn { dictionary, codes }) => Some(codes[row])
                .filter(|&code| code != NULL)
                .map(|code| dictionary.copy(code)),
        };
        // SAFETY: the value is of the column's type.
        unsafe { AnyElement::from_polymorphic_datum(value?, false, self.column.oid) }
    }
}

/// Returns numerics as codes of a dictionary that keeps equal values apart if they are not identical.
fn coded(column: &ColumnType, decimals: &Decimals) -> Result<CodedColumn, Error> {
    let mut dictionary = Dictionary::exact(column.clone());
    let mut codes = Vec::with_capacity(decimals.len());
    let mut meter = Meter::new("reading the partition");
    for payload in decimals.payloads() {
        codes.push(match payload {
            None => NULL,
            // SAFETY: the payload is that of a value of the column's type.
            Some(payload) => unsafe { dictionary.encode_payload(payload)? },
        });
        meter.row()?;
    }
    Ok(CodedColumn { dictionary, codes })
}
