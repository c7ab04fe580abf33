//! Tests of the permutation paradigm: see `disclosure::permutation`.

mod chance;
mod distribution;
mod kd_tree;
mod linkage;
mod marginality;
mod maskers;
mod privacy;
mod ranks;
mod shift;
mod verdicts;
