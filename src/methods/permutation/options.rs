//! Options shared by several functions of this folder.

use super::orders::Orders;
use crate::args::{Args, enum_word};
use crate::error::Error;
use disclosure::permutation::{ChanceSettings, Ties};

/// Last options of a function: how values are ordered.
pub struct Options {
    pub orders: Orders,
    pub ties: Ties,
    pub seed: u64,
}

impl Options {
    /// Reads the arguments `orders`, `ties` and `seed`.
    pub fn read(args: &mut Args) -> Result<Self, Error> {
        let orders = Orders::read(args)?;
        let are_shared = enum_word(
            "ties",
            args.optional("ties"),
            &[("random", false), ("shared", true)],
        )?;
        let seed = args.seed()?;
        let ties = match are_shared {
            true => Ties::Shared,
            false => Ties::Random { seed },
        };
        Ok(Options { orders, ties, seed })
    }
}

/// Reads the arguments `draws` and `at_most`. The caller sets the seed, which is a later argument.
pub fn read_chance(args: &mut Args) -> Result<ChanceSettings, Error> {
    Ok(ChanceSettings {
        draws: args.count("draws")?,
        at_most: args.required("at_most")?,
        ..ChanceSettings::default()
    })
}
