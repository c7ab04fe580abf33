//! What stands between the data and the way out.

pub mod log;
