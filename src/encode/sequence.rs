//! The values of a column, row by row, to be put in order.
//!
//! Numbers and dates are kept as they are, as sorting them is quicker than looking each up; anything else goes
//! through a dictionary, so that its type has to compare the different values only.

use crate::encode::dictionary::{Dictionary, Intake};
use crate::encode::order::{Ordered, SortKey, sort_key};
use crate::error::Problem;
use crate::pg::types::ColumnType;
use crate::run;
use disclosure::permutation::{self, FEW};
use disclosure::{Control, NULL};
use pgrx::pg_sys::{self, NullableDatum};
use pgrx::{AnyElement, FromDatum};

pub struct Sequence {
    oid: pg_sys::Oid,
    values: Values,
}

enum Values {
    Numbers(Numbers),
    Coded(Ordered),
}

struct Numbers {
    intake: Intake,
    key: SortKey,
    /// The value of every row, anything where it is NULL.
    bits: Vec<u64>,
    /// The rows that are NULL.
    nulls: Vec<u32>,
}

impl Numbers {
    fn keys(&self) -> Vec<u64> {
        let mut keys: Vec<u64> = self.bits.iter().map(|&bits| (self.key)(bits)).collect();
        // Whatever is behind all others changes nobody else's place.
        self.nulls.iter().for_each(|&row| keys[row as usize] = u64::MAX);
        keys
    }

    fn order(&self, seed: u64, control: &Control) -> disclosure::Result<Vec<u32>> {
        permutation::order(&self.keys(), &self.nulls, seed, control)
    }
}

impl Sequence {
    /// No values yet, but room for those of `rows`. Equal ones of which one is not quite the other, such as 1.0 and 1.00, are kept apart.
    pub fn new(column: ColumnType, rows: usize) -> Self {
        let values = match sort_key(column.base_type()) {
            Some((intake, key)) => Values::Numbers(Numbers {
                intake,
                key,
                bits: Vec::with_capacity(rows),
                nulls: Vec::new(),
            }),
            None => Values::Coded(Ordered {
                dictionary: Dictionary::exact(column.clone()),
                codes: Vec::with_capacity(rows),
            }),
        };
        Sequence {
            oid: column.oid,
            values,
        }
    }

    /// Whether values are passed by value, so that they live on when the next one is read.
    pub fn is_by_value(&self) -> bool {
        matches!(self.values, Values::Numbers(_))
    }

    /// The value of the next row.
    ///
    /// # Safety
    /// A valid Datum of the column's type.
    #[inline]
    pub unsafe fn push(&mut self, value: NullableDatum) -> Result<(), Problem> {
        match &mut self.values {
            Values::Numbers(Numbers {
                intake, bits, nulls, ..
            }) => {
                if value.isnull {
                    nulls.push(bits.len() as u32);
                }
                bits.push(intake.bits(value.value));
            }
            Values::Coded(Ordered { dictionary, codes }) => codes.push(match value.isnull {
                true => NULL,
                false => dictionary.encode(value.value)?,
            }),
        }
        Ok(())
    }

    pub fn len(&self) -> usize {
        match &self.values {
            Values::Numbers(Numbers { bits, .. }) => bits.len(),
            Values::Coded(Ordered { codes, .. }) => codes.len(),
        }
    }

    /// The place of every row's value among the different ones, from 1; [`NULL`] where there is none.
    pub fn places(&mut self) -> Result<Vec<u32>, Problem> {
        let numbers = match &mut self.values {
            Values::Coded(values) => return values.places(),
            Values::Numbers(numbers) => numbers,
        };
        run::sized("sorting values", numbers.bits.len(), FEW, |control| {
            let mut places = permutation::places(&numbers.keys(), control)?;
            numbers.nulls.iter().for_each(|&row| places[row as usize] = NULL);
            Ok(places)
        })
    }

    /// The rows of two columns in the order of each, equal values in an order that the seed draws.
    pub fn orders(one: &mut Self, other: &mut Self, seed: u64) -> Result<(Vec<u32>, Vec<u32>), Problem> {
        let rows = one.len();
        if let (Values::Numbers(one), Values::Numbers(other)) = (&one.values, &other.values) {
            return run::sized("sorting values", rows, FEW, |control| {
                let orders = match rows {
                    0..=FEW => (one.order(seed, control), other.order(seed, control)),
                    _ => rayon::join(|| one.order(seed, control), || other.order(seed, control)),
                };
                Ok((orders.0?, orders.1?))
            });
        }
        let places = (one.places()?, other.places()?);
        run::sized("sorting rows", rows, FEW, |control| {
            let order = |places: &[u32]| permutation::order_of_places(places, seed, control);
            Ok((order(&places.0)?, order(&places.1)?))
        })
    }

    /// The values in another order: every row gets the value of the row that `sources` names.
    pub fn arranged(mut self, sources: &[u32]) -> Self {
        match &mut self.values {
            Values::Coded(values) => values.arrange(sources),
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
        self
    }

    /// The value of a row. It is copied, as the executor expects it in memory of its own.
    pub fn value(&self, row: usize) -> Option<AnyElement> {
        let value = match &self.values {
            Values::Numbers(Numbers { bits, nulls, .. }) => {
                let is_null = !nulls.is_empty() && nulls.binary_search(&(row as u32)).is_ok();
                (!is_null).then(|| pg_sys::Datum::from(bits[row]))
            }
            Values::Coded(Ordered { dictionary, codes }) => Some(codes[row])
                .filter(|&code| code != NULL)
                .map(|code| dictionary.copy(code)),
        };
        // SAFETY: a value of the column's type.
        unsafe { AnyElement::from_polymorphic_datum(value?, false, self.oid) }
    }
}
