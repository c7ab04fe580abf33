//! Risk in a population, by the formulas as they are published.
