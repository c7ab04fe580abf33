//! The language of exports: one walk over the rewritten query that knows every node it accepts, and refuses
//! the rest. docs/guard.md has the language as a table.
//!
//! The walk also finds out what leaves. An output column counts as the stored columns that it is made of. What
//! tells more than the output shows becomes a *hidden column*, which is measured and not sent: a sensitive
//! column that an expression mixes with others, a protected column that a join compares with a list, a
//! condition that is true for every row, and the branch of a UNION ALL. [`expose`] then adds the
//! hidden columns to the tree that is planned.
//!
//! A node that is accepted names all its children. What is not named is refused, so nothing can be forgotten.
//! GROUP BY, DISTINCT, HAVING and aggregates would be walked in [`walk`], where they are refused now.
//! A view that is taken as one relation, as certified views will be, is an opaque item.
//!
//! [`walk`] goes through queries and FROM, [`expression`] through expressions, [`counting`] finds out what they
//! tell, and [`unique`] which joins are functions.

mod counting;
mod expose;
mod expression;
mod model;
mod unique;
mod walk;

pub use model::{Counted, HiddenKind, Occurrence, Order, Refusal, Rules, Shape, Stopped};
pub use walk::judge;
