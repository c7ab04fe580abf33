//! Risk in a population of which the table is a sample.
