//! Options shared by several functions of this folder.

use super::orders::Orders;
use crate::args::Args;
use crate::error::Error;
use disclosure::permutation::{ChanceSettings, Ties};
use pgrx::pg_sys;

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
        let ties = args.required::<pg_sys::Oid>("ties")?;
        let seed = args.seed()?;
        let label = pgrx::enum_helper::lookup_enum_by_oid(ties).0;
        let ties = match &label[..] {
            "random" => Ties::Random { seed },
            _ => Ties::Shared,
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
