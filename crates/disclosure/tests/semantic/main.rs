//! Semantic attacks and protection against them: see `disclosure::semantic`.

mod attacks;
mod coat;
mod transactions;
mod corpus;
mod eliminations;
