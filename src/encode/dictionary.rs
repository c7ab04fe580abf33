//! Dictionary of one column: equal values of any type share a `u32` code.
//!
//! Two values are equal if the type's default operator class says so under the column's collation: 1.0 and
//! 1.00 are one value, and so are 'a' and 'A' under a nondeterministic collation that ignores case. Asking
//! the type about every row would be slow. Instead, the *image* of a value, the bytes that represent it, is
//! looked up first. The type is asked only about an image that was not seen before, and not even then if
//! Postgres guarantees that equal values have equal images (B-tree support function 4, "equalimage").

use crate::encode::wire::{put_bytes, put_varint, take_bytes, take_varint};
use crate::error::Error;
use crate::pg::memory_context;
use crate::pg::types::{ColumnType, print};
use disclosure::{NULL, ShardedTable};
use hashbrown::hash_table::Entry;
use pgrx::pg_sys::{self, Datum};
use pgrx::varlena;
use rustc_hash::FxHasher;
use std::cmp::Ordering;
use std::ffi::CStr;
use std::hash::Hasher;

/// Distinct values of a column and their codes, which start at 1.
pub enum Dictionary {
    /// For a type that is passed by value and whose equal values have equal bits.
    Bits(Bits),
    /// For any other type.
    Images(Images),
}

impl Dictionary {
    /// Returns an empty dictionary of a column.
    pub fn new(column: ColumnType) -> Self {
        let functions = type_functions(column.oid);
        // SAFETY: entries of the type cache live as long as the backend.
        let entry = unsafe { &*functions };
        let float = match column.base_type() {
            pg_sys::FLOAT4OID => Some(Float::Single),
            pg_sys::FLOAT8OID => Some(Float::Double),
            _ => None,
        };
        let equality = if float.is_some() || equal_means_equal_image(entry, &column) {
            Equality::Image
        } else if entry.hash_extended_proc != pg_sys::InvalidOid && entry.eq_opr != pg_sys::InvalidOid {
            Equality::Hashed {
                functions,
                codes: ShardedTable::default(),
            }
        } else if entry.cmp_proc != pg_sys::InvalidOid {
            Equality::Ordered {
                functions,
                codes: Vec::new(),
            }
        } else {
            // json, xml, point, …: the type does not define equality, so only identical values are equal.
            Equality::Image
        };
        Self::with(column, entry, equality, float)
    }

    /// Returns an empty dictionary that keeps equal values apart if they are not identical, such as 1.0 and
    /// 1.00.
    pub fn exact(column: ColumnType) -> Self {
        // SAFETY: entries of the type cache live as long as the backend.
        let entry = unsafe { &*type_functions(column.oid) };
        Self::with(column, entry, Equality::Image, None)
    }

    fn with(
        column: ColumnType,
        entry: &pg_sys::TypeCacheEntry,
        equality: Equality,
        float: Option<Float>,
    ) -> Self {
        let layout = match entry.typlen {
            length if entry.typbyval => Layout::Value(length as usize),
            -1 => Layout::Varlena,
            -2 => Layout::CString,
            length => Layout::Fixed(length as usize),
        };
        match (layout, &equality) {
            (Layout::Value(length), Equality::Image) => Dictionary::Bits(Bits::new(column, length, float)),
            _ => Dictionary::Images(Images {
                column,
                layout,
                equality,
                short: ShardedTable::default(),
                long: ShardedTable::default(),
                arena: Vec::new(),
                first_image: Vec::new(),
            }),
        }
    }

    pub fn column(&self) -> &ColumnType {
        match self {
            Dictionary::Bits(dictionary) => &dictionary.column,
            Dictionary::Images(dictionary) => &dictionary.column,
        }
    }

    /// Returns the number of values; their codes are 1 to this number.
    pub fn len(&self) -> u32 {
        match self {
            Dictionary::Bits(dictionary) => dictionary.values.len() as u32,
            Dictionary::Images(dictionary) => dictionary.first_image.len() as u32,
        }
    }

    /// Returns a value as Postgres prints it; `None` for [`NULL`].
    pub fn text(&self, code: u32) -> Option<String> {
        // SAFETY: the dictionary keeps valid values of the column's type.
        (code != NULL).then(|| unsafe { print(self.column().oid, self.value(code)) })
    }

    /// Returns a copy of the value of a code that is not [`NULL`], in the current memory context.
    pub fn copy(&self, code: u32) -> Datum {
        match self {
            Dictionary::Bits(_) => self.value(code),
            Dictionary::Images(dictionary) => dictionary.copy(code),
        }
    }

    /// Returns the value of a code that is not [`NULL`]. It is valid as long as the dictionary lives and does
    /// not change. Integers that are passed by value are sign-extended.
    pub fn value(&self, code: u32) -> Datum {
        match self {
            Dictionary::Bits(dictionary) => Datum::from(dictionary.values[code as usize - 1]),
            Dictionary::Images(dictionary) => dictionary.value(code),
        }
    }

    /// Returns the code of a value, which is added if it is new.
    ///
    /// # Safety
    /// `value` must be a valid Datum of the column's type.
    pub unsafe fn encode(&mut self, value: Datum) -> Result<u32, Error> {
        // SAFETY: by the contract of the function.
        unsafe {
            match self {
                Dictionary::Bits(dictionary) => Ok(dictionary.encode(dictionary.intake().bits(value))?),
                Dictionary::Images(dictionary) => dictionary.encode(value),
            }
        }
    }

    /// Returns the code of a value like [`encode`](Self::encode), given its payload: the bytes of a value that is
    /// passed by reference, without a length.
    ///
    /// # Safety
    /// `payload` must be that of a value of the column's type.
    pub unsafe fn encode_payload(&mut self, payload: &[u8]) -> Result<u32, Error> {
        match self {
            // SAFETY: by the contract of the function.
            Dictionary::Images(dictionary) => unsafe { dictionary.encode_bytes(payload) },
            Dictionary::Bits(_) => Err(Error::Internal("the value of a number has no payload")),
        }
    }

    /// Returns the code in this dictionary of every code of `other`, a dictionary of the same column made
    /// elsewhere. Values that are new here are added.
    pub fn adopt(&mut self, other: &Dictionary) -> Result<Vec<u32>, Error> {
        let code = |value: u32| match (&mut *self, other) {
            (Dictionary::Bits(here), Dictionary::Bits(there)) => {
                Ok(here.encode(there.values[value as usize])?)
            }
            (Dictionary::Images(here), Dictionary::Images(there)) => {
                let bytes = there
                    .layout
                    .bytes_at(&there.arena, there.first_image[value as usize]);
                // SAFETY: the bytes are the payload of a value of the same type.
                unsafe { here.encode_bytes(bytes) }
            }
            _ => Err(Error::RowTypesDiffer),
        };
        let mut translation = memory_context::for_each("comparing values", 0..other.len(), code)?;
        translation.insert(0, NULL);
        Ok(translation)
    }

    /// Appends the name, type and collation of the column, and every value in the order of the codes.
    pub fn write(&self, out: &mut Vec<u8>) {
        let column = self.column();
        put_bytes(out, column.name.as_bytes());
        put_varint(out, u64::from(column.oid.to_u32()));
        put_varint(out, u64::from(column.collation.to_u32()));
        self.write_values(out);
    }

    /// Appends every value in the order of the codes.
    pub fn write_values(&self, out: &mut Vec<u8>) {
        put_varint(out, u64::from(self.len()));
        match self {
            Dictionary::Bits(dictionary) => dictionary.values.iter().for_each(|&bits| put_varint(out, bits)),
            Dictionary::Images(Images {
                layout,
                arena,
                first_image,
                ..
            }) => first_image
                .iter()
                .for_each(|&image| put_bytes(out, layout.bytes_at(arena, image))),
        }
    }

    /// Reads a dictionary that [`write`](Self::write) has written, with the same codes.
    pub fn read(input: &mut &[u8]) -> Result<Self, Error> {
        let name = String::from_utf8_lossy(take_bytes(input)?).into_owned();
        let oid = pg_sys::Oid::from(take_varint(input)? as u32);
        let collation = pg_sys::Oid::from(take_varint(input)? as u32);
        let mut dictionary = Dictionary::new(ColumnType { name, oid, collation });
        dictionary.read_values(input)?;
        Ok(dictionary)
    }

    /// Adds values of the same type that [`write_values`](Self::write_values) has written, and returns their
    /// codes.
    pub fn read_values(&mut self, input: &mut &[u8]) -> Result<Vec<u32>, Error> {
        let count = take_varint(input)?;
        let codes = (0..count).map(|_| match self {
            Dictionary::Bits(dictionary) => Ok(dictionary.encode(take_varint(input)?)?),
            // SAFETY: `write_values` wrote the bytes, which are the payload of a value of this type.
            Dictionary::Images(dictionary) => unsafe { dictionary.encode_bytes(take_bytes(input)?) },
        });
        codes.collect()
    }
}

/// Dictionary of a type that is passed by value and whose equal values have equal bits.
pub struct Bits {
    column: ColumnType,
    intake: Intake,
    /// Values, in the order of the codes.
    values: Vec<u64>,
    /// Codes of values near the first one, by their [`place`](Self::place). These are most often all values,
    /// because numbers, dates and enums tend to lie close together. NULL if the value was not seen, or so far
    /// only in `far`.
    near: Vec<u32>,
    /// Codes of all other values.
    far: ShardedTable<(u64, u32)>,
}

/// How to extract the bits of a value from a Datum.
#[derive(Clone, Copy)]
pub struct Intake {
    /// Number of bits of the Datum that do not belong to the value.
    unused: u32,
    float: Option<Float>,
}

#[derive(Clone, Copy, PartialEq)]
enum Float {
    Single,
    Double,
}

impl Intake {
    fn new(length: usize, float: Option<Float>) -> Self {
        let unused = u64::BITS - 8 * length as u32;
        Intake { unused, float }
    }

    /// Returns an intake of all bits of a value of this length, integers sign-extended.
    pub fn plain(length: usize) -> Self {
        Self::new(length, None)
    }

    /// Returns the bits of a value. Integers are sign-extended. For floats, every zero becomes 0 and every
    /// NaN the same NaN, because their comparison operators treat them as equal.
    #[inline]
    pub fn bits(self, value: Datum) -> u64 {
        let bits = ((value.value() as i64) << self.unused >> self.unused) as u64;
        match self.float {
            None => bits,
            Some(Float::Double) => match f64::from_bits(bits) {
                0.0 => 0,
                number if number.is_nan() => f64::NAN.to_bits(),
                _ => bits,
            },
            Some(Float::Single) => match f32::from_bits(bits as u32) {
                0.0 => 0,
                number if number.is_nan() => u64::from(f32::NAN.to_bits()),
                _ => bits,
            },
        }
    }
}

impl Bits {
    fn new(column: ColumnType, length: usize, float: Option<Float>) -> Self {
        Bits {
            column,
            intake: Intake::new(length, float),
            values: Vec::new(),
            near: Vec::new(),
            far: ShardedTable::default(),
        }
    }

    pub fn intake(&self) -> Intake {
        self.intake
    }

    /// Returns the values, in the order of the codes.
    pub fn values(&self) -> &[u64] {
        &self.values
    }

    /// Returns the code of a value, which is added if it is new.
    #[inline]
    pub fn encode(&mut self, bits: u64) -> disclosure::Result<u32> {
        match self.near.get(self.place(bits) as usize) {
            Some(&code) if code != NULL => Ok(code),
            _ => self.encode_other(bits),
        }
    }

    /// Returns the distance from the first value, zigzag-encoded: even for values above it, odd for those
    /// below.
    #[inline]
    fn place(&self, bits: u64) -> u64 {
        let first = self.values.first().copied().unwrap_or(bits);
        let distance = bits.wrapping_sub(first) as i64;
        (distance << 1 ^ distance >> 63) as u64
    }

    /// Returns the code of a value that is new, or far from the first one.
    fn encode_other(&mut self, bits: u64) -> disclosure::Result<u32> {
        let code = next_code(self.values.len())?;
        let place = self.place(bits);
        // In proportion to the number of values, because an aggregate has a dictionary for every column of
        // every group.
        if place < Self::NEAR.max(8 * u64::from(code)) {
            if place >= self.near.len() as u64 {
                self.near.resize((place as usize + 1).next_power_of_two(), NULL);
            }
            // The value may have been added when it was still far.
            let found = self.far.find(hash_bits(bits), |&(other, _)| other == bits);
            self.near[place as usize] = found.map_or(code, |&(_, code)| code);
            if let Some(&(_, code)) = found {
                return Ok(code);
            }
        } else {
            let same = |&(other, _): &(u64, u32)| other == bits;
            match self
                .far
                .entry(hash_bits(bits), same, |&(other, _)| hash_bits(other))
            {
                Entry::Occupied(found) => return Ok(found.get().1),
                Entry::Vacant(place) => place.insert((bits, code)),
            };
        }
        self.values.push(bits);
        Ok(code)
    }

    /// Number of places that there may be regardless of the number of values.
    const NEAR: u64 = 1 << 8;
}

/// Dictionary of any type, by images.
pub struct Images {
    column: ColumnType,
    layout: Layout,
    equality: Equality,
    /// Codes of short images, which [`short_key`] packs into a number.
    short: ShardedTable<(u64, u32)>,
    /// Codes of all other images.
    long: ShardedTable<Slot>,
    /// Whole values, aligned, ready to be passed to a function of Postgres.
    arena: Vec<u64>,
    /// First image of every code, in the order of the codes: the value that stands for all equal ones.
    first_image: Vec<Image>,
}

/// Index of the word in the arena at which a value begins.
type Image = usize;

struct Slot {
    hash: u64,
    image: Image,
    code: u32,
}

/// How to find out whether two different images represent equal values.
enum Equality {
    /// They never do.
    Image,
    /// The type has hash and equality functions.
    Hashed {
        functions: *mut pg_sys::TypeCacheEntry,
        codes: ShardedTable<(u64, u32)>,
    },
    /// The type has only a comparison function; `codes` are in the order of their values.
    Ordered {
        functions: *mut pg_sys::TypeCacheEntry,
        codes: Vec<u32>,
    },
}

impl Images {
    /// Returns the code of a value, which is added if it is new.
    ///
    /// # Safety
    /// `value` must be a valid Datum of the column's type.
    #[inline]
    pub unsafe fn encode(&mut self, value: Datum) -> Result<u32, Error> {
        // SAFETY: by the contract of the function.
        unsafe {
            match self.layout {
                Layout::Varlena => {
                    let packed = value.cast_mut_ptr::<pg_sys::varlena>();
                    if varlena::varatt_is_1b_e(packed) || varlena::varatt_is_4b_c(packed) {
                        let unpacked = pg_sys::pg_detoast_datum_packed(packed);
                        let code = self.encode_bytes(varlena::varlena_to_byte_slice(unpacked));
                        pg_sys::pfree(unpacked.cast());
                        return code;
                    }
                    self.encode_bytes(varlena::varlena_to_byte_slice(packed))
                }
                Layout::CString => self.encode_bytes(CStr::from_ptr(value.cast_mut_ptr()).to_bytes()),
                Layout::Fixed(length) => {
                    self.encode_bytes(std::slice::from_raw_parts(value.cast_mut_ptr(), length))
                }
                Layout::Value(length) => {
                    let bits = Intake::new(length, None).bits(value);
                    self.encode_bytes(&bits.to_ne_bytes())
                }
            }
        }
    }

    /// Returns the code of the value with this payload, which is added if it is new.
    ///
    /// # Safety
    /// `bytes` must be the payload of a value of the column's type.
    #[inline]
    unsafe fn encode_bytes(&mut self, bytes: &[u8]) -> Result<u32, Error> {
        // SAFETY: by the contract of the function.
        unsafe {
            if let Some(key) = short_key(bytes) {
                let same = |&(other, _): &(u64, u32)| other == key;
                if let Some(&(_, code)) = self.short.find(hash_bits(key), same) {
                    return Ok(code);
                }
                let (_, code) = self.take_up(bytes)?;
                self.short
                    .insert_unique(hash_bits(key), (key, code), |&(key, _)| hash_bits(key));
                return Ok(code);
            }
            let mut hasher = FxHasher::default();
            hasher.write(bytes);
            let hash = hasher.finish();
            let (layout, arena) = (self.layout, &self.arena);
            let same = |slot: &Slot| slot.hash == hash && layout.bytes_at(arena, slot.image) == bytes;
            if let Some(slot) = self.long.find(hash, same) {
                return Ok(slot.code);
            }
            let (image, code) = self.take_up(bytes)?;
            self.long
                .insert_unique(hash, Slot { hash, image, code }, |slot| slot.hash);
            Ok(code)
        }
    }

    /// Adds an image that was not seen before, and returns it with its code.
    ///
    /// # Safety
    /// As for [`encode_bytes`](Self::encode_bytes).
    unsafe fn take_up(&mut self, bytes: &[u8]) -> Result<(Image, u32), Error> {
        // SAFETY: by the contract of the function.
        unsafe {
            let (layout, arena) = (self.layout, &mut self.arena);
            let image = layout.keep(arena, bytes);
            let value_of = |image| layout.datum_at(arena, image);
            let collation = self.column.collation;
            let code = self
                .equality
                .code_of(image, &mut self.first_image, value_of, collation)?;
            Ok((image, code))
        }
    }

    /// Returns the payloads of all values, in the order of the codes.
    pub fn payloads(&self) -> impl Iterator<Item = &[u8]> {
        let images = self.first_image.iter();
        images.map(|&image| self.layout.bytes_at(&self.arena, image))
    }

    fn value(&self, code: u32) -> Datum {
        self.layout
            .datum_at(&self.arena, self.first_image[code as usize - 1])
    }

    fn copy(&self, code: u32) -> Datum {
        let image = self.first_image[code as usize - 1];
        match self.layout {
            Layout::Value(_) => self.layout.datum_at(&self.arena, image),
            _ => self.layout.copy(&self.arena, image),
        }
    }
}

impl Equality {
    /// Returns the code of a value whose image was not seen before: that of an equal value, or a new one.
    ///
    /// # Safety
    /// `value_of` must return a valid Datum of the column's type for every image.
    unsafe fn code_of(
        &mut self,
        image: Image,
        first_image: &mut Vec<Image>,
        value_of: impl Fn(Image) -> Datum,
        collation: pg_sys::Oid,
    ) -> Result<u32, Error> {
        // SAFETY: by the contract of the function.
        unsafe {
            let next = next_code(first_image.len())?;
            let value = value_of(image);
            let value_of_code = |code: u32| value_of(first_image[code as usize - 1]);
            match self {
                Equality::Image => {}
                Equality::Hashed { functions, codes } => {
                    let functions = &mut **functions;
                    let hash_of = &raw mut functions.hash_extended_proc_finfo;
                    let equals = &raw mut functions.eq_opr_finfo;
                    let seed = Datum::from(0);
                    let hash =
                        hash_bits(pg_sys::FunctionCall2Coll(hash_of, collation, value, seed).value() as u64);
                    let equal = |&(other, code): &(u64, u32)| {
                        other == hash
                            && pg_sys::FunctionCall2Coll(equals, collation, value_of_code(code), value)
                                .value()
                                != 0
                    };
                    match codes.entry(hash, equal, |&(hash, _)| hash) {
                        Entry::Occupied(found) => return Ok(found.get().1),
                        Entry::Vacant(place) => place.insert((hash, next)),
                    };
                }
                Equality::Ordered { functions, codes } => {
                    let compare = &raw mut (**functions).cmp_proc_finfo;
                    let order = |&code: &u32| -> Ordering {
                        let order = pg_sys::FunctionCall2Coll(compare, collation, value_of_code(code), value);
                        (order.value() as i32).cmp(&0)
                    };
                    match codes.binary_search_by(order) {
                        Ok(place) => return Ok(codes[place]),
                        Err(place) => codes.insert(place, next),
                    }
                }
            }
            first_image.push(image);
            Ok(next)
        }
    }
}

/// How Postgres passes the values of a type.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    /// In the Datum itself, of which this many bytes are used.
    Value(usize),
    /// As a pointer to this many bytes.
    Fixed(usize),
    /// As a pointer to a NUL-terminated string.
    CString,
    /// As a pointer to a length and that many bytes, which may be compressed or stored out of line.
    Varlena,
}

impl Layout {
    /// Returns the number of bytes before the payload: those of a varlena's length.
    fn header(self) -> usize {
        match self {
            Layout::Varlena => pg_sys::VARHDRSZ,
            _ => 0,
        }
    }

    /// Returns the number of bytes after the payload: that of a C string's NUL.
    fn trailer(self) -> usize {
        match self {
            Layout::CString => 1,
            _ => 0,
        }
    }

    /// Copies a value into the arena, whole and aligned, and returns its image.
    fn keep(self, arena: &mut Vec<u64>, bytes: &[u8]) -> Image {
        let start = arena.len();
        let total = self.header() + bytes.len() + self.trailer();
        arena.resize(start + total.div_ceil(8), 0);
        // SAFETY: the arena has room for `total` bytes from `start` on, aligned to 8.
        unsafe {
            let place = arena.as_mut_ptr().add(start).cast::<u8>();
            if self == Layout::Varlena {
                varlena::set_varsize_4b(place.cast(), total as i32);
            }
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), place.add(self.header()), bytes.len());
        }
        start
    }

    /// Returns the payload of a value in the arena.
    fn bytes_at(self, arena: &[u64], image: Image) -> &[u8] {
        let place = arena[image..].as_ptr();
        // SAFETY: `keep` has written a whole value of this layout there.
        unsafe {
            match self {
                Layout::Varlena => varlena::varlena_to_byte_slice(place.cast()),
                Layout::CString => CStr::from_ptr(place.cast()).to_bytes(),
                Layout::Fixed(length) => std::slice::from_raw_parts(place.cast(), length),
                Layout::Value(_) => std::slice::from_raw_parts(place.cast(), size_of::<u64>()),
            }
        }
    }

    /// Returns a copy of a value in the arena that is passed by reference, in the current memory context.
    fn copy(self, arena: &[u64], image: Image) -> Datum {
        let total = self.header() + self.bytes_at(arena, image).len() + self.trailer();
        // SAFETY: `keep` has written that many bytes there, and the copy has room for them.
        unsafe {
            let copy = pg_sys::palloc(total);
            std::ptr::copy_nonoverlapping(arena[image..].as_ptr().cast::<u8>(), copy.cast(), total);
            Datum::from(copy)
        }
    }

    /// Returns a value in the arena as a Datum.
    fn datum_at(self, arena: &[u64], image: Image) -> Datum {
        match self {
            Layout::Value(_) => Datum::from(arena[image]),
            _ => Datum::from(arena[image..].as_ptr()),
        }
    }
}

/// Returns the next code, one more than there are values. The last `u32` is not used, because it is a
/// placeholder in the encoder's batches.
fn next_code(so_far: usize) -> disclosure::Result<u32> {
    const LIMIT: u32 = u32::MAX - 1;
    match u32::try_from(so_far) {
        Ok(so_far) if so_far < LIMIT => Ok(so_far + 1),
        _ => Err(disclosure::Error::TooMany {
            what: "distinct values in one column",
            limit: u64::from(LIMIT),
        }),
    }
}

/// Packs up to seven bytes and their number into one number, which differs for different bytes; `None` if
/// there are more bytes.
#[inline]
fn short_key(bytes: &[u8]) -> Option<u64> {
    let pack = |key, &byte| key << 8 | u64::from(byte);
    (bytes.len() < 8).then(|| bytes.iter().fold(bytes.len() as u64, pack))
}

#[inline]
fn hash_bits(bits: u64) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(bits);
    hasher.finish()
}

/// Returns a type's entry in the type cache, with the functions that compare and hash its values.
fn type_functions(oid: pg_sys::Oid) -> *mut pg_sys::TypeCacheEntry {
    let wanted = pg_sys::TYPECACHE_BTREE_OPFAMILY
        | pg_sys::TYPECACHE_EQ_OPR_FINFO
        | pg_sys::TYPECACHE_CMP_PROC_FINFO
        | pg_sys::TYPECACHE_HASH_EXTENDED_PROC_FINFO;
    // SAFETY: an unknown OID raises an ERROR.
    unsafe { pg_sys::lookup_type_cache(oid, wanted as i32) }
}

/// Returns whether values that are equal by their type are always identical.
pub fn equal_is_identical(column: &ColumnType) -> bool {
    // SAFETY: entries of the type cache live as long as the backend.
    equal_means_equal_image(unsafe { &*type_functions(column.oid) }, column)
}

/// Returns whether equal values always have equal images. B-tree support function 4 tells this. For bpchar it
/// says yes too, which holds within char(n) but not among bare bpchar values ('a' = 'a ').
fn equal_means_equal_image(entry: &pg_sys::TypeCacheEntry, column: &ColumnType) -> bool {
    const EQUALIMAGE: i16 = 4;
    if entry.btree_opf == pg_sys::InvalidOid || column.base_type() == pg_sys::BPCHAROID {
        return false;
    }
    let opclass_type = entry.btree_opintype;
    // SAFETY: the support function takes the OID of the operator class's type.
    unsafe {
        let function = pg_sys::get_opfamily_proc(entry.btree_opf, opclass_type, opclass_type, EQUALIMAGE);
        function != pg_sys::InvalidOid
            && pg_sys::OidFunctionCall1Coll(function, column.collation, opclass_type.into()).value() != 0
    }
}
