//! Which columns, and which of their values, single people out.
