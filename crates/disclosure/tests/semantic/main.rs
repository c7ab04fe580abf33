//! Semantic attacks and protection against them: see `disclosure::semantic`.

mod attacks;
mod coat;
mod corpus;
mod eliminations;
mod places;
mod transactions;
