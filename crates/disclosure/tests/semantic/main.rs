//! Semantic attacks and protection against them: see `disclosure::semantic`.

mod attacks;
mod choice;
mod coat;
mod corpus;
mod eliminations;
mod places;
mod transactions;
