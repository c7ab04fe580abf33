//! Compares what values suggest with the truth, and check digits with published examples.

mod check_digits;
mod counts;
mod random;
mod score;
mod shared;
mod synthetic;
