//! What keeps unsafe data in.

pub mod lineage;
