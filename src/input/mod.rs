//! Data comes in: by a window partition, a table or an aggregate, and always through one encoder that
//! turns rows of any types into rows of codes.

pub mod aggregate;
mod dictionary;
pub mod relation;
mod row;
mod scratch;
pub mod window;

pub use dictionary::{put, take, Dictionary};

use crate::error::Problem;
use disclosure::Rows;
use pgrx::pg_sys::{self, Datum, NullableDatum};
use row::RowShape;
use std::ffi::CStr;

/// What the encoder has to know of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnType {
    pub name: String,
    pub oid: pg_sys::Oid,
    pub collation: pg_sys::Oid,
}

impl ColumnType {
    /// The type under all domains.
    pub fn base_type(&self) -> pg_sys::Oid {
        // SAFETY: a catalogue look-up.
        unsafe { pg_sys::getBaseType(self.oid) }
    }
}

/// Turns rows of values into rows of codes, one [`Dictionary`] per column, a batch of rows at a time.
pub struct Encoder {
    dictionaries: Vec<Dictionary>,
    batched: usize,
}

/// What happens to a batch of encoded rows.
pub trait Sink: FnMut(Rows) -> Result<(), Problem> {}
impl<F: FnMut(Rows) -> Result<(), Problem>> Sink for F {}

impl Encoder {
    /// Rows in a batch: enough to make loops tight, few enough to stay in the processor's cache.
    const BATCH: usize = 512;

    pub fn new(columns: impl IntoIterator<Item = ColumnType>) -> Self {
        Encoder {
            dictionaries: columns.into_iter().map(Dictionary::new).collect(),
            batched: 0,
        }
    }

    pub fn dictionaries(&self) -> &[Dictionary] {
        &self.dictionaries
    }

    /// Encode one row; from time to time `sink` gets a batch of them.
    ///
    /// # Safety
    /// `values` yields, for every column in order, a valid Datum of its type and whether it is NULL.
    #[inline]
    pub unsafe fn push(
        &mut self,
        values: impl Iterator<Item = (Datum, bool)>,
        sink: impl Sink,
    ) -> Result<(), Problem> {
        for (dictionary, (value, is_null)) in self.dictionaries.iter_mut().zip(values) {
            dictionary.push(value, is_null)?;
        }
        self.batched += 1;
        match self.batched {
            Self::BATCH => self.flush(sink),
            _ => Ok(()),
        }
    }

    /// Encode a row that is NULL as a whole.
    pub fn push_null(&mut self, sink: impl Sink) -> Result<(), Problem> {
        // SAFETY: NULL is a valid value of any type.
        unsafe { self.push(std::iter::repeat((Datum::from(0), true)), sink) }
    }

    /// Hand over the rows that are waiting for their batch to be full.
    pub fn flush(&mut self, mut sink: impl Sink) -> Result<(), Problem> {
        for dictionary in &mut self.dictionaries {
            dictionary.settle()?;
        }
        let columns: Vec<&[u32]> = self.dictionaries.iter().map(Dictionary::batch).collect();
        sink(Rows::new(&columns, self.batched))?;
        self.batched = 0;
        for dictionary in &mut self.dictionaries {
            dictionary.clear();
        }
        Ok(())
    }

    /// How the codes of `other`, which encoded rows of the same columns elsewhere, translate into codes
    /// of this encoder; values that are new here are taken up.
    pub fn adopt(&mut self, other: &Encoder) -> Result<Vec<Vec<u32>>, Problem> {
        let adopt = |(here, there): (&mut Dictionary, &Dictionary)| {
            let codes = (1..=there.len()).map(|code| here.adopt(there, code));
            std::iter::once(Ok(disclosure::NULL)).chain(codes).collect()
        };
        self.dictionaries
            .iter_mut()
            .zip(&other.dictionaries)
            .map(adopt)
            .collect()
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        put(out, self.dictionaries.len() as u64);
        for dictionary in &self.dictionaries {
            dictionary.write(out);
        }
    }

    pub fn read(input: &mut &[u8]) -> Result<Self, Problem> {
        let dictionaries = (0..take(input))
            .map(|_| Dictionary::read(input))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Encoder {
            dictionaries,
            batched: 0,
        })
    }
}

/// The arguments of a window function or aggregate as rows: several columns, or one row whose columns
/// are meant.
pub struct ArgumentRows {
    /// Where memory lives that is needed until the last row.
    context: pg_sys::MemoryContext,
    /// Set where the only argument is a row.
    shape: Option<RowShape>,
    /// `None` as long as the columns are not known: those of an anonymous row are told by the first one
    /// that is not NULL.
    encoder: Option<Encoder>,
    /// Rows that came before the columns were known; all of them are NULL.
    early_nulls: u64,
}

impl ArgumentRows {
    /// `arguments` are the types of the call's arguments; `context` lives until the last row.
    pub fn new(arguments: Vec<ColumnType>, context: pg_sys::MemoryContext) -> Result<Self, Problem> {
        if let Some(literal) = arguments
            .iter()
            .find(|argument| argument.oid == pg_sys::UNKNOWNOID)
        {
            return Err(Problem::Literal {
                position: literal.name.clone(),
            });
        }
        let (shape, encoder) = match &arguments[..] {
            [only] if only.base_type() == pg_sys::RECORDOID => (None, None),
            [only] if row::is_composite(only.base_type()) => {
                let shape = RowShape::of_type(only.base_type(), context);
                let encoder = Encoder::new(shape.columns());
                (Some(shape), Some(encoder))
            }
            _ => (None, Some(Encoder::new(arguments))),
        };
        Ok(ArgumentRows {
            context,
            shape,
            encoder,
            early_nulls: 0,
        })
    }

    /// Encode the arguments of one call.
    ///
    /// # Safety
    /// `arguments` are valid Datums of the types that `new` was given.
    #[inline]
    pub unsafe fn push(&mut self, arguments: &[NullableDatum], sink: impl Sink) -> Result<(), Problem> {
        let Some(encoder) = &mut self.encoder else {
            return self.push_early(arguments[0], sink);
        };
        match &mut self.shape {
            None => {
                let values = arguments.iter().map(|argument| (argument.value, argument.isnull));
                encoder.push(values, sink)
            }
            Some(_) if arguments[0].isnull => encoder.push_null(sink),
            Some(shape) => encoder.push(shape.deform(arguments[0].value)?, sink),
        }
    }

    /// As long as rows are NULL, nothing is known of their columns.
    unsafe fn push_early(&mut self, row: NullableDatum, mut sink: impl Sink) -> Result<(), Problem> {
        if row.isnull {
            self.early_nulls += 1;
            return Ok(());
        }
        let mut shape = RowShape::of_value(row.value, self.context);
        let mut encoder = Encoder::new(shape.columns());
        for _ in 0..std::mem::take(&mut self.early_nulls) {
            encoder.push_null(&mut sink)?;
        }
        encoder.push(shape.deform(row.value)?, sink)?;
        self.shape = Some(shape);
        self.encoder = Some(encoder);
        Ok(())
    }

    /// Hand over the rows that wait: those of an unfinished batch, or those of which nothing but NULL is
    /// known, which then have no columns.
    pub fn flush(&mut self, mut sink: impl Sink) -> Result<(), Problem> {
        match &mut self.encoder {
            Some(encoder) => encoder.flush(sink),
            None => sink(Rows::new(&[], self.early_nulls as usize)),
        }
    }
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
    unsafe fn take(
        types: &mut Vec<ColumnType>,
        argument: impl FnOnce(usize) -> NullableDatum,
    ) -> Option<Self> {
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
unsafe fn argument_types(arguments: *mut pg_sys::List, skip: usize) -> Vec<ColumnType> {
    let length = if arguments.is_null() {
        0
    } else {
        (*arguments).length as usize
    };
    (skip..length)
        .map(|position| {
            let mut node = (*(*arguments).elements.add(position))
                .ptr_value
                .cast::<pg_sys::Node>();
            if (*node).type_ == pg_sys::NodeTag::T_TargetEntry {
                node = (*node.cast::<pg_sys::TargetEntry>()).expr.cast();
            }
            ColumnType {
                name: (position + 1 - skip).to_string(),
                oid: pg_sys::exprType(node),
                collation: pg_sys::exprCollation(node),
            }
        })
        .collect()
}
