//! Lower danger of values that are common in the whole table. Whoever infers such a value learns little, because they
//! would have guessed it anyway.

use super::{Column, Nulls};
use crate::classes::Classes;
use crate::{Control, NULL, Result};

/// Multiplies the danger of each attribute by 1 − p, where p is the share of the rows that have it, of those in which
/// the column is not NULL. So d(x) becomes the harm times the gain of an adversary who believed in x with
/// probability p and is certain of it afterwards. β-likeness (Cao and Karras, Publishing Microdata with a Robust
/// Privacy Guarantee, 2012) limits such a gain too, but relative to p. If NULL is an attribute, it counts as a value.
pub fn discount_common(classes: &Classes, columns: &mut [Column], control: &Control) -> Result<()> {
    for (position, column) in columns.iter_mut().enumerate() {
        control.check()?;
        let mut having = vec![0u64; column.attributes.len()];
        let mut telling = 0;
        for class in 0..classes.len() {
            let (code, rows) = (classes.codes(class)[position], classes.sizes()[class]);
            if code != NULL || matches!(column.nulls, Nulls::Attribute(_)) {
                telling += rows;
            }
            for &attribute in column.attributes_of_code(code) {
                having[attribute as usize] += rows;
            }
        }
        for (weights, having) in column.attributes.iter_mut().zip(having) {
            if having > 0 {
                weights.danger *= 1.0 - having as f64 / telling as f64;
            }
        }
    }
    Ok(())
}
