//! Tests of suggested labels: figures on the columns of real systems, properties, and tables that show a kind.

mod properties;
mod real_systems;
mod tables;
