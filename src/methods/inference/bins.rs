//! Bins of a column's values. The crate computes them from numbers; this file names them.

use crate::encode::dictionary::Dictionary;
use crate::encode::scale::Scale;
use crate::error::Error;
use disclosure::inference::{self, Bin, Binning};

/// Bins of a column's values.
pub struct Bins {
    scale: Scale,
    bins: Vec<Bin>,
}

impl Bins {
    /// Returns the bins, and the number of every value's bin, by code. The width of bins of dates and
    /// timestamps is in days, and its multiples count from 2000-01-01, the epoch of Postgres. `rows_of`
    /// returns the number of rows that hold each value, by code.
    pub fn new(
        dictionary: &Dictionary,
        scale: Scale,
        binning: Binning,
        rows_of: impl FnOnce() -> Vec<u64>,
    ) -> Result<(Self, Vec<u32>), Error> {
        let binning = match binning {
            Binning::EqualWidth(width) => Binning::EqualWidth(scale.width(width)),
            Binning::EqualFrequency(_) => binning,
        };
        let found = inference::Bins::new(&scale.numbers(dictionary)?, binning, rows_of);
        let inference::Bins { bins, bin_of_value } = found.ok_or_else(|| {
            Error::argument(
                "labels",
                format!(
                    "column \"{}\": width is too small for the largest values",
                    dictionary.column().name
                ),
                "Give a larger width, or a number of bins.",
            )
        })?;
        Ok((Bins { scale, bins }, bin_of_value))
    }

    pub fn len(&self) -> u32 {
        self.bins.len() as u32
    }

    /// Returns the name of a bin. `dictionary` is the one that `new` was given.
    pub fn text(&self, bin: u32, dictionary: &Dictionary) -> String {
        match self.bins[bin as usize] {
            Bin::EqualWidth { lower, upper } => {
                let text = |bound| self.scale.bound_text(bound, dictionary.column().oid);
                format!("[{},{})", text(lower), text(upper))
            }
            Bin::EqualFrequency { smallest, largest } => {
                let text = |value| dictionary.text(value as u32 + 1).unwrap_or_default();
                if smallest == largest {
                    text(smallest)
                } else {
                    format!("{}..{}", text(smallest), text(largest))
                }
            }
            Bin::NotFinite(number) if number.is_nan() => "NaN".into(),
            Bin::NotFinite(number) if number > 0.0 => "Infinity".into(),
            Bin::NotFinite(_) => "-Infinity".into(),
        }
    }
}
