use thiserror::Error;

/// Result of every algorithm that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Reason why a computation has no result. Messages never contain a value of the data.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// An argument has a value that is not allowed.
    #[error("{argument}: {problem}")]
    InvalidArgument {
        /// Parameter of the function, or field of its settings.
        argument: &'static str,
        /// Problem with the argument, to be read after its name: "must not be empty".
        problem: String,
        /// Values that are allowed, to be read after "Give": "a number from 0 to 1".
        allowed: String,
    },
    /// A word is none of those that are allowed.
    #[error("{argument}: {problem}")]
    UnknownWord {
        /// Parameter of the function, or field of its settings.
        argument: &'static str,
        /// Problem with the argument, to be read after its name: "\"quasy\" is not a label".
        problem: String,
        /// Allowed word that was probably meant.
        nearest: Option<&'static str>,
        /// Values that are allowed, to be read after "Give".
        allowed: String,
    },
    /// A value that is planned, but does not work yet.
    #[error("{argument}: \"{value}\" is not supported yet")]
    Unsupported {
        /// Parameter of the function, or field of its settings.
        argument: &'static str,
        /// Value that was given.
        value: &'static str,
        /// Values that are allowed, to be read after "Give".
        allowed: String,
    },
    /// There are more things than their numbering allows, for example more distinct values than `u32` codes.
    #[error("more than {limit} {what}")]
    TooMany {
        /// Things that there are too many of.
        what: &'static str,
        /// Largest number allowed.
        limit: u64,
    },
    /// A result is a number that `f64` cannot represent.
    #[error("{what} is too {} for double precision", if *.is_large { "large" } else { "small" })]
    OutOfRange {
        /// Result that is out of range.
        what: &'static str,
        /// `true` if the result is too large, `false` if it is too close to zero.
        is_large: bool,
    },
    /// The memory budget is too small: see [`Control::require`](crate::Control::require).
    #[error("the computation needs more memory than its limit of {limit} bytes")]
    OutOfMemory {
        /// Number of bytes that the computation may use.
        limit: usize,
    },
    /// The caller cancelled the computation: see [`Control::cancel`](crate::Control::cancel).
    #[error("the computation was cancelled")]
    Cancelled,
}

impl Error {
    /// Returns the error for an argument whose value is not allowed.
    pub(crate) fn invalid(
        argument: &'static str,
        problem: impl Into<String>,
        allowed: impl Into<String>,
    ) -> Self {
        Error::InvalidArgument {
            argument,
            problem: problem.into(),
            allowed: allowed.into(),
        }
    }

    /// Checks that an argument is a number from 0 to 1.
    pub(crate) fn check_unit_interval(argument: &'static str, value: f64) -> Result<()> {
        if (0.0..=1.0).contains(&value) {
            return Ok(());
        }
        Err(Self::invalid(
            argument,
            "must be a number from 0 to 1",
            "a number from 0 to 1",
        ))
    }
}
