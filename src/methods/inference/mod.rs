//! The privacy score (White 2021) and chapter 6 of its paper: what an adversary who knows some attributes of
//! a row can infer about the rest of it.

pub mod attributes;
mod bins;
pub mod column_settings;
pub mod new_row;
mod not_a_row;
pub mod options;
mod remedies;
mod risk_view;
mod rules;
pub mod scores;
mod statement;
pub mod table;
