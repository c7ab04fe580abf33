//! The permutation paradigm (Domingo-Ferrer and Muralidhar 2015).

mod linkage;
mod microdata;
mod orders;
mod pairs;
mod permuted;
mod releases;
mod shifts;
mod window;
