//! The permutation paradigm (Domingo-Ferrer and Muralidhar 2015).

mod linkage;
mod microdata;
mod orders;
mod correlation;
mod privacy;
mod releases;
mod report;
mod window;
