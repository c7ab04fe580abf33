//! Encodes the arguments of a window function or aggregate as rows.
//!
//! The arguments are several columns, or one row whose columns are meant. After them may come an option
//! ([`OptionArgument`]). The columns of an anonymous row are known only when a row that is not NULL arrives.

use crate::encode::encoder::Encoder;
use crate::encode::{Encoded, Sink};
use crate::error::Error;
use crate::pg::expression::arguments_of;
use crate::pg::row;
use crate::pg::row::RowShape;
use crate::pg::types::ColumnType;
use pgrx::pg_sys::{self, Datum, NullableDatum};
use std::ffi::CStr;

/// Encoder of arguments that are rows: several columns, or one row whose columns are meant.
pub struct ArgumentRows<S: Sink> {
    /// Memory context that lives until the last row.
    context: pg_sys::MemoryContext,
    /// Set if the only argument is a row, once its columns are known.
    shape: Option<RowShape>,
    columns: Columns<S>,
}

enum Columns<S: Sink> {
    Known(Encoder<S>),
    /// The first row that is not NULL tells the columns of an anonymous row. Until then, rows are only
    /// counted.
    Unknown {
        new_encoder: Option<NewEncoder<S>>,
        nulls: u64,
    },
}

/// Makes the encoder once the columns are known.
type NewEncoder<S> = Box<dyn FnOnce(Vec<ColumnType>) -> Result<Encoder<S>, Error>>;

impl<S: Sink> ArgumentRows<S> {
    /// Returns an encoder without rows. `arguments` are the types of the call's arguments; `new_encoder` makes the
    /// encoder of their columns; `context` must live until the last row.
    pub fn new(
        arguments: Vec<ColumnType>,
        new_encoder: impl FnOnce(Vec<ColumnType>) -> Result<Encoder<S>, Error> + 'static,
        context: pg_sys::MemoryContext,
    ) -> Result<Self, Error> {
        if let Some(literal) = arguments
            .iter()
            .find(|argument| argument.oid == pg_sys::UNKNOWNOID)
        {
            return Err(Error::Literal {
                position: literal.name.clone(),
            });
        }
        let (shape, columns) = match &arguments[..] {
            [only] if only.base_type() == pg_sys::RECORDOID => {
                let new_encoder: Option<NewEncoder<S>> = Some(Box::new(new_encoder));
                (
                    None,
                    Columns::Unknown {
                        new_encoder,
                        nulls: 0,
                    },
                )
            }
            [only] if row::is_composite(only.base_type()) => {
                let shape = RowShape::of_type(only.base_type(), context);
                let columns = Columns::Known(new_encoder(shape.columns())?);
                (Some(shape), columns)
            }
            _ => (None, Columns::Known(new_encoder(arguments)?)),
        };
        Ok(ArgumentRows {
            context,
            shape,
            columns,
        })
    }

    /// Encodes the arguments of one call. Arguments beyond the columns are ignored.
    ///
    /// # Safety
    /// `arguments` must be valid Datums of the types that `new` was given.
    #[inline]
    pub unsafe fn push(&mut self, arguments: &[NullableDatum]) -> Result<(), Error> {
        // SAFETY: by the contract of the function.
        unsafe {
            let row = arguments[0];
            match (&mut self.columns, &mut self.shape) {
                (Columns::Known(encoder), None) => {
                    encoder.push(arguments.iter().map(|argument| (argument.value, argument.isnull)))
                }
                (Columns::Known(encoder), Some(_)) if row.isnull => encoder.push_null(),
                (Columns::Known(encoder), Some(shape)) => encoder.push(shape.deform(row.value)?),
                (Columns::Unknown { nulls, .. }, _) if row.isnull => {
                    *nulls += 1;
                    Ok(())
                }
                (Columns::Unknown { new_encoder, nulls }, _) => {
                    let shape = RowShape::of_value(row.value, self.context);
                    let new_encoder = new_encoder
                        .take()
                        .ok_or(Error::Internal("rows were pushed after an error"))?;
                    let mut encoder = new_encoder(shape.columns())?;
                    (0..*nulls).try_for_each(|_| encoder.push_null())?;
                    self.columns = Columns::Known(encoder);
                    self.shape = Some(shape);
                    self.push(arguments)
                }
            }
        }
    }

    /// Returns the sink with all rows so far, and the number of further rows, which are NULL and whose
    /// columns are not known. The sink is `None` before the columns are known, and if the encoder has a thread.
    pub fn so_far(&mut self) -> Result<(Option<&S>, u64), Error> {
        match &mut self.columns {
            Columns::Known(encoder) => {
                encoder.flush()?;
                Ok((encoder.sink(), 0))
            }
            Columns::Unknown { nulls, .. } => Ok((None, *nulls)),
        }
    }

    /// Encodes the last rows and returns the result.
    pub fn finish(self) -> Result<Finished<S>, Error> {
        match self.columns {
            Columns::Known(encoder) => {
                let encoded = Some(encoder.finish()?);
                Ok(Finished { encoded, nulls: 0 })
            }
            Columns::Unknown { nulls, .. } => Ok(Finished { encoded: None, nulls }),
        }
    }
}

/// Result of reading arguments.
pub struct Finished<S> {
    /// `None` if the columns never became known.
    pub encoded: Option<Encoded<S>>,
    /// Number of rows that are NULL and whose columns never became known. No sink has received them.
    pub nulls: u64,
}

/// Last argument of a call over columns, if it is an option and not a column. Functions over VARIADIC "any"
/// have no named arguments, and an overload with one would not be found for every row type.
pub enum OptionArgument {
    /// Untyped literal, which cannot be a column: `class_size(age, zip, 'wildcard')`.
    Literal(Option<String>),
    /// Value of an enum type of this extension.
    Enum(Option<pg_sys::Oid>),
}

impl OptionArgument {
    /// Removes the last of `types` if it is the type of an option, and returns the option. `argument` returns
    /// an argument by its number.
    ///
    /// # Safety
    /// `argument` must return a valid Datum of the type with that number.
    pub unsafe fn take(
        types: &mut Vec<ColumnType>,
        argument: impl FnOnce(usize) -> NullableDatum,
    ) -> Option<Self> {
        // SAFETY: by the contract of the function.
        unsafe {
            let last = types.pop()?;
            let value = || {
                let argument = argument(types.len());
                (!argument.isnull).then_some(argument.value)
            };
            if types.is_empty() {
                // A call with only a literal has no columns, and is refused later.
            } else if last.oid == pg_sys::UNKNOWNOID {
                let text = |value: Datum| {
                    CStr::from_ptr(value.cast_mut_ptr())
                        .to_string_lossy()
                        .into_owned()
                };
                return Some(OptionArgument::Literal(value().map(text)));
            } else if is_option_type(last.oid) {
                return Some(OptionArgument::Enum(
                    value().map(|value| pg_sys::Oid::from(value.value() as u32)),
                ));
            }
            types.push(last);
            None
        }
    }
}

/// Returns whether a type is an enum of this extension.
fn is_option_type(oid: pg_sys::Oid) -> bool {
    // SAFETY: any OID is accepted; the name is a NUL-terminated string in the current memory context.
    unsafe {
        pg_sys::type_is_enum(oid)
            && CStr::from_ptr(pg_sys::format_type_be_qualified(oid))
                .to_bytes()
                .starts_with(b"disclosure.")
    }
}

/// Returns the type and collation of every argument in a call's expression tree, except the first `skip`.
/// Columns are named by their position, from 1.
///
/// # Safety
/// `arguments` must be a list of expressions, or of target entries that hold one.
pub unsafe fn argument_types(arguments: *mut pg_sys::List, skip: usize) -> Vec<ColumnType> {
    // SAFETY: by the contract of the function.
    unsafe {
        let expressions = arguments_of(arguments, skip).into_iter().zip(1..);
        expressions
            .map(|(node, position)| ColumnType {
                name: i32::to_string(&position),
                oid: pg_sys::exprType(node),
                collation: pg_sys::exprCollation(node),
            })
            .collect()
    }
}
