//! One column's dictionary: equal values of any type share a `u32` code.
//!
//! What is equal is what the type's default operator class says, under the column's collation: 1.0 and
//! 1.00 are one value, and so are 'a' and 'A' where a nondeterministic collation says so. Asking the type
//! for every row would be slow, so its *image*, the bytes that represent a value, is looked up first.
//! Only an image that was not seen before is worth asking about, and even that is spared where Postgres
//! itself guarantees that equal values have equal images (B-tree support function 4, "equalimage").

use super::ColumnType;
use crate::error::Problem;
use disclosure::NULL;
use hashbrown::hash_table::{Entry, HashTable};
use pgrx::pg_sys::{self, Datum};
use pgrx::varlena;
use rustc_hash::FxHasher;
use std::cmp::Ordering;
use std::ffi::CStr;
use std::hash::Hasher;

pub struct Dictionary {
    column: ColumnType,
    layout: Layout,
    /// Values that are passed by value, and their codes.
    values: HashTable<(u64, u32)>,
    /// The value before this one, as rows often come in runs.
    last: Option<(u64, u32)>,
    /// Values that are passed by reference.
    images: Images,
    codes: Codes,
    batch: Batch,
}

/// The rows that were pushed since the last [`Dictionary::clear`].
#[derive(Default)]
struct Batch {
    codes: Vec<u32>,
    /// The values whose code is still [`PENDING`], in order.
    pending: Vec<u64>,
}

/// Stands for the code of a value that was not looked up yet.
const PENDING: u32 = u32::MAX;

/// Gives out codes.
struct Codes {
    equality: Equality,
    /// Where each code's first image is, codes in order: the value that stands for all equal ones.
    first_image: Vec<Image>,
}

/// How Postgres passes values of the type.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    /// In the Datum itself; only the bits of the mask belong to the value.
    Value { mask: u64, float: Option<Float> },
    /// A pointer to this many bytes.
    Fixed(usize),
    /// A pointer to a string that ends with a NUL.
    CString,
    /// A pointer to a length and that many bytes, perhaps compressed or stored elsewhere.
    Varlena,
}

#[derive(Clone, Copy, PartialEq)]
enum Float {
    Single,
    Double,
}

/// How to find out whether two different images are equal values.
enum Equality {
    /// They are not.
    Image,
    /// The type's hash and equality functions.
    Hashed {
        functions: *mut pg_sys::TypeCacheEntry,
        codes: HashTable<(u64, u32)>,
    },
    /// The type can only be compared: codes in the order of their values.
    Ordered {
        functions: *mut pg_sys::TypeCacheEntry,
        codes: Vec<u32>,
    },
}

/// A value's representation: the Datum's bits, or the number of the word in the arena where a copy of
/// the whole value begins, ready to be passed to a function of Postgres.
type Image = u64;

#[derive(Default)]
struct Images {
    index: HashTable<Slot>,
    arena: Vec<u64>,
}

#[derive(Clone, Copy)]
struct Slot {
    hash: u64,
    image: Image,
    code: u32,
}

impl Dictionary {
    pub fn new(column: ColumnType) -> Self {
        let functions = type_functions(column.oid);
        // SAFETY: entries of the type cache live as long as the backend.
        let entry = unsafe { &*functions };
        let float = match column.base_type() {
            pg_sys::FLOAT4OID => Some(Float::Single),
            pg_sys::FLOAT8OID => Some(Float::Double),
            _ => None,
        };
        let layout = match entry.typlen {
            length if entry.typbyval => Layout::Value {
                mask: u64::MAX >> (64 - 8 * length as u32),
                float,
            },
            -1 => Layout::Varlena,
            -2 => Layout::CString,
            length => Layout::Fixed(length as usize),
        };
        let equality = if float.is_some() || equal_means_equal_image(entry, &column) {
            Equality::Image
        } else if entry.hash_extended_proc != pg_sys::InvalidOid && entry.eq_opr != pg_sys::InvalidOid {
            Equality::Hashed {
                functions,
                codes: HashTable::new(),
            }
        } else if entry.cmp_proc != pg_sys::InvalidOid {
            Equality::Ordered {
                functions,
                codes: Vec::new(),
            }
        } else {
            // json, xml, point, …: the type does not say what is equal, so only the same is.
            Equality::Image
        };
        Dictionary {
            column,
            layout,
            values: HashTable::new(),
            last: None,
            images: Images::default(),
            codes: Codes {
                equality,
                first_image: Vec::new(),
            },
            batch: Batch::default(),
        }
    }

    pub fn column(&self) -> &ColumnType {
        &self.column
    }

    /// How many values there are; their codes are 1 to this.
    pub fn len(&self) -> u32 {
        self.codes.first_image.len() as u32
    }

    /// Take up the value of one more row.
    ///
    /// What is passed by value is only put down: looking up many at once is three times as fast where
    /// there are many distinct values, since the waits for memory overlap.
    ///
    /// # Safety
    /// `value` is a valid Datum of the column's type unless `is_null`.
    #[inline]
    pub unsafe fn push(&mut self, value: Datum, is_null: bool) -> Result<(), Problem> {
        let code = if is_null {
            NULL
        } else if let Layout::Value { mask, float } = self.layout {
            self.batch
                .pending
                .push(canonical(value.value() as u64 & mask, float));
            PENDING
        } else {
            let reference = Reference::new(value, self.layout);
            let code = self.encode_reference(&reference)?;
            reference.free();
            code
        };
        self.batch.codes.push(code);
        Ok(())
    }

    /// Look up what is pending.
    pub fn settle(&mut self) -> Result<(), Problem> {
        if self.batch.pending.is_empty() {
            return Ok(());
        }
        let Batch {
            mut codes,
            mut pending,
        } = std::mem::take(&mut self.batch);
        let mut values = pending.drain(..);
        for code in codes.iter_mut().filter(|code| **code == PENDING) {
            if let Some(bits) = values.next() {
                *code = self.encode_bits(bits)?;
            }
        }
        drop(values);
        self.batch = Batch { codes, pending };
        Ok(())
    }

    /// The codes of the rows that were pushed, once they are settled.
    pub fn batch(&self) -> &[u32] {
        &self.batch.codes
    }

    /// Begin a new batch.
    pub fn clear(&mut self) {
        self.batch.codes.clear();
    }

    /// The code that a value of `other`, a dictionary of the same column, has here.
    pub fn adopt(&mut self, other: &Dictionary, code: u32) -> Result<u32, Problem> {
        match other.layout {
            Layout::Value { .. } => self.encode_bits(other.codes.first_image(code)),
            layout => {
                let bytes = layout.bytes_at(&other.images.arena, other.codes.first_image(code));
                // SAFETY: the bytes of a value of the same type.
                unsafe { self.encode_reference(&Reference::of_bytes(bytes)) }
            }
        }
    }

    #[inline]
    fn encode_bits(&mut self, bits: u64) -> Result<u32, Problem> {
        if let Some((last, code)) = self.last {
            if last == bits {
                return Ok(code);
            }
        }
        let same = |&(other, _): &(u64, u32)| other == bits;
        let code = match self
            .values
            .entry(hash_bits(bits), same, |&(other, _)| hash_bits(other))
        {
            Entry::Occupied(found) => found.get().1,
            Entry::Vacant(place) => {
                let value_of = |image| Datum::from(image);
                // SAFETY: the bits came from Datums of the column's type, passed by value.
                let code = unsafe { self.codes.of_new_image(bits, value_of, self.column.collation)? };
                place.insert((bits, code));
                code
            }
        };
        self.last = Some((bits, code));
        Ok(code)
    }

    #[inline]
    unsafe fn encode_reference(&mut self, value: &Reference) -> Result<u32, Problem> {
        let Images { index, arena } = &mut self.images;
        let layout = self.layout;
        let bytes = value.bytes();
        let mut hasher = FxHasher::default();
        hasher.write(bytes);
        let hash = hasher.finish();
        let same = |slot: &Slot| slot.hash == hash && layout.bytes_at(arena, slot.image) == bytes;
        match index.entry(hash, same, |slot| slot.hash) {
            Entry::Occupied(found) => Ok(found.get().code),
            Entry::Vacant(place) => {
                let image = layout.keep(arena, bytes);
                let value_of = |image| layout.datum_at(arena, image);
                let code = self.codes.of_new_image(image, value_of, self.column.collation)?;
                place.insert(Slot { hash, image, code });
                Ok(code)
            }
        }
    }

    /// A value as Postgres would print it; `None` for [`NULL`].
    pub fn text(&self, code: u32) -> Option<String> {
        if code == NULL {
            return None;
        }
        let value = self
            .layout
            .datum_at(&self.images.arena, self.codes.first_image(code));
        let mut output = pg_sys::InvalidOid;
        let mut is_varlena = false;
        // SAFETY: the Datum is a live copy of a value of the column's type; the output function returns
        // a NUL-terminated string in the current memory context.
        unsafe {
            pg_sys::getTypeOutputInfo(self.column.oid, &mut output, &mut is_varlena);
            let printed = pg_sys::OidOutputFunctionCall(output, value);
            let text = CStr::from_ptr(printed).to_string_lossy().into_owned();
            pg_sys::pfree(printed.cast());
            Some(text)
        }
    }

    /// Append every value, codes in order, in a form that [`Dictionary::read`] understands. It travels
    /// between processes of one server only.
    pub fn write(&self, out: &mut Vec<u8>) {
        put(out, self.column.oid.to_u32() as u64);
        put(out, self.column.collation.to_u32() as u64);
        put(out, self.column.name.len() as u64);
        out.extend_from_slice(self.column.name.as_bytes());
        put(out, u64::from(self.len()));
        for &image in &self.codes.first_image {
            match self.layout {
                Layout::Value { .. } => put(out, image),
                layout => {
                    let bytes = layout.bytes_at(&self.images.arena, image);
                    put(out, bytes.len() as u64);
                    out.extend_from_slice(bytes);
                }
            }
        }
    }

    /// A dictionary that [`write`](Self::write) has written, with the same codes.
    pub fn read(input: &mut &[u8]) -> Result<Self, Problem> {
        let oid = pg_sys::Oid::from(take(input) as u32);
        let collation = pg_sys::Oid::from(take(input) as u32);
        let name = take_bytes(input);
        let column = ColumnType {
            name: String::from_utf8_lossy(name).into_owned(),
            oid,
            collation,
        };
        let mut dictionary = Dictionary::new(column);
        for _ in 0..take(input) {
            match dictionary.layout {
                Layout::Value { .. } => dictionary.encode_bits(take(input))?,
                // SAFETY: the bytes are those of a value of this type in another process of the server.
                _ => unsafe { dictionary.encode_reference(&Reference::of_bytes(take_bytes(input)))? },
            };
        }
        Ok(dictionary)
    }
}

/// A number in the form that [`take`] reads.
pub fn put(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_ne_bytes());
}

/// The number at the beginning of `input`, which is moved past it.
pub fn take(input: &mut &[u8]) -> u64 {
    let (number, rest) = input.split_first_chunk().expect("written by `put`");
    *input = rest;
    u64::from_ne_bytes(*number)
}

fn take_bytes<'a>(input: &mut &'a [u8]) -> &'a [u8] {
    let length = take(input) as usize;
    let (bytes, rest) = input.split_at(length);
    *input = rest;
    bytes
}

impl Codes {
    fn first_image(&self, code: u32) -> Image {
        self.first_image[code as usize - 1]
    }

    /// The code of a value whose image was not seen before: an equal value's, or a new one.
    ///
    /// # Safety
    /// `value_of` makes valid Datums of the column's type out of images.
    #[inline]
    unsafe fn of_new_image(
        &mut self,
        image: Image,
        value_of: impl Fn(Image) -> Datum,
        collation: pg_sys::Oid,
    ) -> Result<u32, Problem> {
        let next = self.first_image.len() as u32 + 1;
        if next == PENDING {
            return Err(disclosure::Error::TooMany {
                what: "distinct values in one column",
                limit: u64::from(PENDING - 1),
            }
            .into());
        }
        let value = value_of(image);
        let value_of_code = |code: u32| value_of(self.first_image[code as usize - 1]);
        match &mut self.equality {
            Equality::Image => {}
            Equality::Hashed { functions, codes } => {
                let functions = &mut **functions;
                let hash_of = &raw mut functions.hash_extended_proc_finfo;
                let equals = &raw mut functions.eq_opr_finfo;
                let hash = call(hash_of, collation, value, Datum::from(0)).value() as u64;
                let hash = hash_bits(hash);
                let equal = |&(other, code): &(u64, u32)| {
                    other == hash && call(equals, collation, value_of_code(code), value).value() != 0
                };
                match codes.entry(hash, equal, |&(hash, _)| hash) {
                    Entry::Occupied(found) => return Ok(found.get().1),
                    Entry::Vacant(place) => place.insert((hash, next)),
                };
            }
            Equality::Ordered { functions, codes } => {
                let compare = &raw mut (**functions).cmp_proc_finfo;
                let order = |&code: &u32| -> Ordering {
                    let order = call(compare, collation, value_of_code(code), value);
                    (order.value() as i32).cmp(&0)
                };
                match codes.binary_search_by(order) {
                    Ok(place) => return Ok(codes[place]),
                    Err(place) => codes.insert(place, next),
                }
            }
        }
        self.first_image.push(image);
        Ok(next)
    }
}

impl Layout {
    /// Bytes before the payload: a varlena's length.
    fn header(self) -> usize {
        match self {
            Layout::Varlena => pg_sys::VARHDRSZ,
            _ => 0,
        }
    }

    /// Bytes after the payload: a C string's NUL.
    fn trailer(self) -> usize {
        match self {
            Layout::CString => 1,
            _ => 0,
        }
    }

    /// The payload of a value in the arena.
    fn bytes_at(self, arena: &[u64], image: Image) -> &[u8] {
        let place = arena[image as usize..].as_ptr();
        // SAFETY: `Images::keep` has written a whole value of this layout there.
        unsafe {
            match self {
                Layout::Varlena => varlena::varlena_to_byte_slice(place.cast()),
                Layout::CString => CStr::from_ptr(place.cast()).to_bytes(),
                Layout::Fixed(length) => std::slice::from_raw_parts(place.cast(), length),
                Layout::Value { .. } => &[],
            }
        }
    }

    /// Copy a value into the arena, whole and aligned, as functions of Postgres want it.
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
        start as Image
    }

    fn datum_at(self, arena: &[u64], image: Image) -> Datum {
        match self {
            Layout::Value { .. } => Datum::from(image),
            _ => Datum::from(arena[image as usize..].as_ptr()),
        }
    }
}

/// A value that is passed by reference, unpacked so that its payload can be read.
struct Reference {
    bytes: *const u8,
    length: usize,
    /// What unpacking had to allocate.
    unpacked: *mut pg_sys::varlena,
}

impl Reference {
    #[inline]
    unsafe fn new(value: Datum, layout: Layout) -> Self {
        let mut unpacked = std::ptr::null_mut();
        let (bytes, length) = match layout {
            Layout::Varlena => {
                let mut packed = value.cast_mut_ptr::<pg_sys::varlena>();
                if varlena::varatt_is_1b_e(packed) || varlena::varatt_is_4b_c(packed) {
                    packed = pg_sys::pg_detoast_datum_packed(packed);
                    unpacked = packed;
                }
                (
                    varlena::vardata_any(packed).cast(),
                    varlena::varsize_any_exhdr(packed),
                )
            }
            Layout::CString => {
                let string = CStr::from_ptr(value.cast_mut_ptr());
                (string.as_ptr().cast(), string.to_bytes().len())
            }
            Layout::Fixed(length) => (value.cast_mut_ptr::<u8>().cast_const(), length),
            Layout::Value { .. } => unreachable!("not passed by reference"),
        };
        Reference {
            bytes,
            length,
            unpacked,
        }
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        Reference {
            bytes: bytes.as_ptr(),
            length: bytes.len(),
            unpacked: std::ptr::null_mut(),
        }
    }

    unsafe fn bytes<'a>(&self) -> &'a [u8] {
        std::slice::from_raw_parts(self.bytes, self.length)
    }

    unsafe fn free(self) {
        if !self.unpacked.is_null() {
            pg_sys::pfree(self.unpacked.cast());
        }
    }
}

/// Every zero is 0 and every NaN is one NaN, as the comparison operators of floats have it.
#[inline]
fn canonical(bits: u64, float: Option<Float>) -> u64 {
    match float {
        None => bits,
        Some(Float::Double) => match f64::from_bits(bits) {
            0.0 => 0,
            number if number.is_nan() => f64::NAN.to_bits(),
            _ => bits,
        },
        Some(Float::Single) => match f32::from_bits(bits as u32) {
            0.0 => 0,
            number if number.is_nan() => f32::NAN.to_bits() as u64,
            _ => bits,
        },
    }
}

#[inline]
fn hash_bits(bits: u64) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(bits);
    hasher.finish()
}

fn type_functions(oid: pg_sys::Oid) -> *mut pg_sys::TypeCacheEntry {
    let wanted = pg_sys::TYPECACHE_BTREE_OPFAMILY
        | pg_sys::TYPECACHE_EQ_OPR_FINFO
        | pg_sys::TYPECACHE_CMP_PROC_FINFO
        | pg_sys::TYPECACHE_HASH_EXTENDED_PROC_FINFO;
    // SAFETY: any OID of a type will do; an unknown one raises an ERROR.
    unsafe { pg_sys::lookup_type_cache(oid, wanted as i32) }
}

/// B-tree support function number 4 says whether equal values always have equal images. It says yes to
/// bpchar too, which holds within char(n) but not among bare bpchar values ('a' = 'a ').
fn equal_means_equal_image(entry: &pg_sys::TypeCacheEntry, column: &ColumnType) -> bool {
    const EQUALIMAGE: i16 = 4;
    if entry.btree_opf == pg_sys::InvalidOid || column.base_type() == pg_sys::BPCHAROID {
        return false;
    }
    let opclass_type = entry.btree_opintype;
    // SAFETY: catalogue look-ups; the support function takes the OID of the operator class' type.
    unsafe {
        let function = pg_sys::get_opfamily_proc(entry.btree_opf, opclass_type, opclass_type, EQUALIMAGE);
        function != pg_sys::InvalidOid
            && pg_sys::OidFunctionCall1Coll(function, column.collation, opclass_type.into()).value() != 0
    }
}

/// Call a function of two arguments.
unsafe fn call(function: *mut pg_sys::FmgrInfo, collation: pg_sys::Oid, a: Datum, b: Datum) -> Datum {
    pg_sys::FunctionCall2Coll(function, collation, a, b)
}
