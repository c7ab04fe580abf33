//! The arguments of a window function or aggregate as rows.

use crate::encode::dictionary::Dictionary;
use crate::encode::encoder::Encoder;
use crate::encode::{Encoded, Sink};
use crate::error::Problem;
use crate::pg::expression::arguments_of;
use crate::pg::row;
use crate::pg::row::RowShape;
use crate::pg::types::ColumnType;
use pgrx::pg_sys::{self, Datum, NullableDatum};
use std::ffi::CStr;

/// Arguments that are rows: several columns, or one row whose columns are meant.
pub struct ArgumentRows<S: Sink> {
    /// Where memory lives that is needed until the last row.
    context: pg_sys::MemoryContext,
    new_encoder: fn(Vec<ColumnType>, S) -> Encoder<S>,
    /// Set where the only argument is a row.
    shape: Option<RowShape>,
    columns: Columns<S>,
}

enum Columns<S: Sink> {
    Known(Encoder<S>),
    /// Those of an anonymous row are told by the first one that is not NULL; until then, rows are only
    /// counted.
    Unknown {
        sink: Option<S>,
        nulls: u64,
    },
}

impl<S: Sink> ArgumentRows<S> {
    /// `arguments` are the types of the call's arguments; `new_encoder` is [`Encoder::new`] or
    /// [`Encoder::alone`]; `context` lives until the last row.
    pub fn new(
        arguments: Vec<ColumnType>,
        sink: S,
        new_encoder: fn(Vec<ColumnType>, S) -> Encoder<S>,
        context: pg_sys::MemoryContext,
    ) -> Result<Self, Problem> {
        if let Some(literal) = arguments
            .iter()
            .find(|argument| argument.oid == pg_sys::UNKNOWNOID)
        {
            return Err(Problem::Literal {
                position: literal.name.clone(),
            });
        }
        let (shape, columns) = match &arguments[..] {
            [only] if only.base_type() == pg_sys::RECORDOID => {
                let sink = Some(sink);
                (None, Columns::Unknown { sink, nulls: 0 })
            }
            [only] if row::is_composite(only.base_type()) => {
                let shape = RowShape::of_type(only.base_type(), context);
                let columns = Columns::Known(new_encoder(shape.columns(), sink));
                (Some(shape), columns)
            }
            _ => (None, Columns::Known(new_encoder(arguments, sink))),
        };
        Ok(ArgumentRows {
            context,
            new_encoder,
            shape,
            columns,
        })
    }

    /// Encode the arguments of one call; those beyond the columns do not matter.
    ///
    /// # Safety
    /// `arguments` are valid Datums of the types that `new` was given.
    #[inline]
    pub unsafe fn push(&mut self, arguments: &[NullableDatum]) -> Result<(), Problem> {
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
                (Columns::Unknown { sink, nulls }, _) => {
                    let shape = RowShape::of_value(row.value, self.context);
                    let sink = sink
                        .take()
                        .ok_or(Problem::Internal("rows were pushed after an error"))?;
                    let mut encoder = (self.new_encoder)(shape.columns(), sink);
                    (0..*nulls).try_for_each(|_| encoder.push_null())?;
                    self.columns = Columns::Known(encoder);
                    self.shape = Some(shape);
                    self.push(arguments)
                }
            }
        }
    }

    /// The sink with all rows so far, and how many more there were of which nothing but NULL is known.
    /// Only for an encoder without a thread.
    pub fn so_far(&mut self) -> Result<(Option<&S>, u64), Problem> {
        match &mut self.columns {
            Columns::Known(encoder) => {
                encoder.flush()?;
                Ok((encoder.sink(), 0))
            }
            Columns::Unknown { sink, nulls } => Ok((sink.as_ref(), *nulls)),
        }
    }

    /// All rows are in.
    pub fn finish(self) -> Result<Finished<S>, Problem> {
        match self.columns {
            Columns::Known(encoder) => {
                let Encoded { dictionaries, sink } = encoder.finish()?;
                Ok(Finished {
                    dictionaries: Some(dictionaries),
                    sink,
                    nulls: 0,
                })
            }
            Columns::Unknown { sink, nulls } => Ok(Finished {
                dictionaries: None,
                sink: sink.ok_or(Problem::Internal("rows were pushed after an error"))?,
                nulls,
            }),
        }
    }
}

/// What reading arguments ends with.
pub struct Finished<S> {
    /// `None` where the columns never became known.
    pub dictionaries: Option<Vec<Dictionary>>,
    pub sink: S,
    /// Rows of which nothing but NULL is known; the sink does not have them.
    pub nulls: u64,
}

/// The last argument of a call over columns, where it is an option and not a column. Functions over
/// VARIADIC "any" have no named arguments, and an overload with one would not be found for every row type.
pub enum OptionArgument {
    /// An untyped literal, which cannot be a column: `class_size(age, zip, 'wildcard')`.
    Literal(Option<String>),
    /// A value of an enum type of this extension.
    Enum(Option<pg_sys::Oid>),
}

impl OptionArgument {
    /// Take the last of `types` away if it belongs to an option, whose value `argument` finds by number.
    ///
    /// # Safety
    /// `argument` returns a valid Datum of the type with that number.
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
                // A call over nothing but an option is a call over a literal, which is refused.
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

/// Whether a type is an enum of this extension.
fn is_option_type(oid: pg_sys::Oid) -> bool {
    // SAFETY: catalogue look-ups; the name is a string in the current memory context.
    unsafe {
        pg_sys::type_is_enum(oid)
            && CStr::from_ptr(pg_sys::format_type_be_qualified(oid))
                .to_bytes()
                .starts_with(b"disclosure.")
    }
}

/// The type and collation of every argument in a call's expression tree, from the `skip`-th on; columns
/// are named by their position.
///
/// # Safety
/// `arguments` is a list of expressions, or of target entries that hold one.
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
