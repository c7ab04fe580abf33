//! Tests of the permutation paradigm: see `disclosure::permutation`.

mod chance;
mod linkage;
mod marginality;
mod maskers;
mod nearest;
mod privacy;
mod ranks;
mod samples;
mod shifts;
