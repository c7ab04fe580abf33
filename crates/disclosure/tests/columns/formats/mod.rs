//! Compares what values suggest with the truth, and check digits with published examples.

mod score;
mod shared;
