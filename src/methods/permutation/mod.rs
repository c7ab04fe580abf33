//! The permutation paradigm (Domingo-Ferrer and Muralidhar 2015).
//!
//! [`disclosure::permutation`] defines the terms for a sorted column: order, rank, dense rank and scale. In
//! this folder, a [`CodedColumn`](crate::encode::order::CodedColumn) has the values of a column as they were
//! read, a [`Sequence`](crate::encode::sequence::Sequence) has those of a window partition, and
//! [`orders::RankedValues`] has the dense ranks of a dictionary's values.

mod coded_table;
mod correlation;
mod holdout;
mod linkage;
mod marginality;
mod microdata;
mod options;
mod orders;
mod privacy;
mod records;
mod releases;
mod report;
mod subject;
mod value_json;
mod window;
