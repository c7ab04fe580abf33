//! Rows as values, which are composites or records. [`RowShape`] finds their columns and takes rows apart.

use crate::error::Error;
use crate::pg::types::ColumnType;
use pgrx::pg_sys::{self, Datum};
use pgrx::varlena;
use std::ffi::CStr;

/// Columns of a row type, and buffers for the values of one row.
pub struct RowShape {
    /// Types and type modifiers of rows with these columns. Rows of an anonymous type may have different
    /// modifiers, for example if they come from different branches of a UNION.
    kinds: Vec<(pg_sys::Oid, i32)>,
    /// A copy of our own, so that an ERROR leaves no reference count behind.
    descriptor: pg_sys::TupleDesc,
    /// Positions of the columns that were not dropped.
    live: Vec<usize>,
    values: Vec<Datum>,
    nulls: Vec<bool>,
}

/// Returns whether values of a type are rows whose columns the catalogue knows.
pub fn is_composite(base_type: pg_sys::Oid) -> bool {
    // SAFETY: any OID is accepted.
    unsafe { pg_sys::get_typtype(base_type) as u8 == pg_sys::TYPTYPE_COMPOSITE }
}

impl RowShape {
    /// Returns the shape of a named composite type. The descriptor is allocated in `context`.
    pub fn of_type(row_type: pg_sys::Oid, context: pg_sys::MemoryContext) -> Self {
        Self::new(row_type, -1, context)
    }

    /// Returns the shape of a row. The descriptor is allocated in `context`.
    ///
    /// # Safety
    /// `row` must be a valid composite Datum.
    pub unsafe fn of_value(row: Datum, context: pg_sys::MemoryContext) -> Self {
        // SAFETY: by the contract of the function.
        unsafe {
            let row_type = (*header(row)).t_choice.t_datum;
            Self::new(row_type.datum_typeid, row_type.datum_typmod, context)
        }
    }

    fn new(row_type: pg_sys::Oid, typmod: i32, context: pg_sys::MemoryContext) -> Self {
        // SAFETY: an unknown type raises an ERROR. The current context is restored, and the descriptor is a
        // copy in `context`.
        let descriptor = unsafe {
            let before = pg_sys::MemoryContextSwitchTo(context);
            let copy = pg_sys::lookup_rowtype_tupdesc_copy(row_type, typmod);
            pg_sys::MemoryContextSwitchTo(before);
            copy
        };
        // SAFETY: the descriptor is our own valid copy.
        let (live, width) = unsafe { (live_positions(descriptor), (*descriptor).natts as usize) };
        RowShape {
            kinds: vec![(row_type, typmod)],
            descriptor,
            live,
            values: vec![Datum::from(0); width],
            nulls: vec![true; width],
        }
    }

    /// Returns the columns that were not dropped.
    pub fn columns(&self) -> Vec<ColumnType> {
        // SAFETY: the descriptor is our own valid copy.
        let mut columns = unsafe { columns_of(self.descriptor) };
        let is_record = self.kinds[0].0 == pg_sys::RECORDOID;
        let mut named = columns.iter().enumerate();
        if is_record && named.all(|(position, column)| column.name == format!("f{}", position + 1)) {
            // Nobody chose these names, which are the defaults of ROW(…). Call the columns by their
            // positions, like those that are separate arguments.
            for (position, column) in columns.iter_mut().enumerate() {
                column.name = (position + 1).to_string();
            }
        }
        columns
    }

    /// Returns the values of a row, column by column, and whether each is NULL. They live as long as the row
    /// or, if it has to be detoasted, as the current memory context.
    ///
    /// # Safety
    /// `row` must be a valid composite Datum.
    pub unsafe fn deform(&mut self, row: Datum) -> Result<impl Iterator<Item = (Datum, bool)> + '_, Error> {
        // SAFETY: by the contract of the function.
        unsafe {
            let header = header(row);
            let row_type = (*header).t_choice.t_datum;
            let kind = (row_type.datum_typeid, row_type.datum_typmod);
            if !self.kinds.contains(&kind) {
                if !self.has_same_columns(kind) {
                    return Err(Error::RowTypesDiffer);
                }
                self.kinds.push(kind);
            }
            let mut tuple = pg_sys::HeapTupleData {
                t_len: varlena::varsize_any(header.cast()) as u32,
                t_data: header,
                ..Default::default()
            };
            pg_sys::heap_deform_tuple(
                &mut tuple,
                self.descriptor,
                self.values.as_mut_ptr(),
                self.nulls.as_mut_ptr(),
            );
            Ok(self
                .live
                .iter()
                .map(|&position| (self.values[position], self.nulls[position])))
        }
    }

    /// Returns whether another row type has columns of the same types and collations.
    fn has_same_columns(&self, (row_type, typmod): (pg_sys::Oid, i32)) -> bool {
        // SAFETY: the context is live. Its reset frees the descriptor, like the row itself.
        let other = Self::new(row_type, typmod, unsafe { pg_sys::CurrentMemoryContext });
        let types = |shape: &Self| {
            shape
                .columns()
                .into_iter()
                .map(|column| (column.oid, column.collation))
        };
        other.values.len() == self.values.len() && types(self).eq(types(&other))
    }
}

/// Returns the columns of a row type that were not dropped.
///
/// # Safety
/// `descriptor` must be valid.
pub unsafe fn columns_of(descriptor: pg_sys::TupleDesc) -> Vec<ColumnType> {
    // SAFETY: by the contract of the function.
    unsafe {
        let column = |position| {
            let attribute = &*attribute(descriptor, position);
            let name = CStr::from_ptr(attribute.attname.data.as_ptr());
            ColumnType {
                name: name.to_string_lossy().into_owned(),
                oid: attribute.atttypid,
                collation: attribute.attcollation,
            }
        };
        live_positions(descriptor).into_iter().map(column).collect()
    }
}

/// Returns the positions of the columns that were not dropped.
///
/// # Safety
/// `descriptor` must be valid.
unsafe fn live_positions(descriptor: pg_sys::TupleDesc) -> Vec<usize> {
    // SAFETY: by the contract of the function.
    unsafe {
        (0..(*descriptor).natts as usize)
            .filter(|&position| !(*attribute(descriptor, position)).attisdropped)
            .collect()
    }
}

/// Returns the row itself, detoasted if it is compressed, stored out of line or unaligned.
///
/// # Safety
/// `row` must be a valid composite Datum.
unsafe fn header(row: Datum) -> pg_sys::HeapTupleHeader {
    // SAFETY: by the contract of the function.
    unsafe {
        let packed = row.cast_mut_ptr::<pg_sys::varlena>();
        if varlena::varatt_is_4b_u(packed) {
            packed.cast()
        } else {
            pg_sys::pg_detoast_datum(packed).cast()
        }
    }
}

/// Returns the attribute at a position.
///
/// # Safety
/// `descriptor` must be valid and contain the position.
pub unsafe fn attribute(
    descriptor: pg_sys::TupleDesc,
    position: usize,
) -> *const pg_sys::FormData_pg_attribute {
    // SAFETY: by the contract of the function.
    unsafe {
        #[cfg(feature = "pg18")]
        return pg_sys::TupleDescAttr(descriptor, position as i32);
        #[cfg(not(feature = "pg18"))]
        return (*descriptor).attrs.as_ptr().add(position);
    }
}
