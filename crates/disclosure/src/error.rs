use thiserror::Error;

/// What every algorithm returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a computation has no answer. Messages never contain a value of the data.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// An argument is outside of what its definition allows.
    #[error("{argument}: {problem}")]
    InvalidArgument {
        /// The parameter of the function or the field of its settings.
        argument: &'static str,
        /// What is wrong with it, to be read after its name: "must not be empty".
        problem: String,
        /// What to give instead, to be read after "Give": "a number from 0 to 1".
        allowed: String,
    },
    /// A word is none of those that are allowed.
    #[error("{argument}: {problem}")]
    UnknownWord {
        /// The parameter of the function or the field of its settings.
        argument: &'static str,
        /// What is wrong with it, to be read after its name: "\"quasy\" is not a label".
        problem: String,
        /// The allowed word that was probably meant.
        nearest: Option<&'static str>,
        /// What to give instead, to be read after "Give".
        allowed: String,
    },
    /// A value that is planned, but does not work yet.
    #[error("{argument}: \"{value}\" is not supported yet")]
    Unsupported {
        /// The parameter of the function or the field of its settings.
        argument: &'static str,
        /// The value.
        value: &'static str,
        /// What to give instead, to be read after "Give".
        allowed: String,
    },
    /// A `u32` code or class number ran out.
    #[error("more than {limit} {what}")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many there may be.
        limit: u64,
    },
    /// A result is a number that `f64` cannot hold.
    #[error("{what} is too {} for double precision", if *.is_large { "large" } else { "small" })]
    OutOfRange {
        /// What is out of range.
        what: &'static str,
        /// Too large, or too near to zero.
        is_large: bool,
    },
    /// There is no room for it: see [`Control::require`](crate::Control::require).
    #[error("the computation needs more than the {limit} bytes that it may use")]
    OutOfMemory {
        /// The bytes that it may use.
        limit: usize,
    },
    /// The caller asked to stop: see [`Control::cancel`](crate::Control::cancel).
    #[error("the computation was cancelled")]
    Cancelled,
}

impl Error {
    /// An argument with a value that is not allowed.
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
    pub(crate) fn check_share(argument: &'static str, value: f64) -> Result<()> {
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
