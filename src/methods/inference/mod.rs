//! The privacy score, and chapter 6 of its paper: what follows about a row from what is known of it.

mod attributes;
mod bins;
pub mod column_settings;
pub mod new_row;
mod options;
mod remedies;
mod risk_view;
mod rules;
mod scores;
mod table;
