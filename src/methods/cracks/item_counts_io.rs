//! Item summaries as they are stored: names of types, and items as text, so that they can be read whatever becomes of
//! the types. [`ItemSummary`] has the format.

use crate::encode::wire;
use crate::error::Problem;
use crate::memory;
use crate::methods::cracks::items::{ItemCounts, item_type};
use crate::pg::literal::Literals;
use crate::pg::memory_context;
use crate::pg::types::{ColumnType, type_name};
use disclosure::cracks::{ItemSummary, Name, SummaryError, SummaryWriter};
use disclosure::wire::Damaged;
use pgrx::pg_sys::{self, Datum};
use pgrx::spi::quote_qualified_identifier;
use pgrx::{IntoDatum, direct_function_call_as_datum};
use std::borrow::Cow;
use std::ffi::{CStr, CString};

/// What the items of a summary are, by name.
#[derive(Clone, PartialEq)]
pub struct ItemNames {
    type_name: String,
    collation: Option<String>,
}

/// What the names stand for at present.
enum Found {
    Column(ColumnType),
    /// Something that items cannot be of.
    Other,
    Nothing,
}

impl ItemNames {
    fn of_summary(summary: &ItemSummary) -> Self {
        ItemNames {
            type_name: summary.type_name.to_string(),
            collation: summary.collation.as_ref().map(|name| name.to_string()),
        }
    }

    pub fn of_column(column: &ColumnType) -> Self {
        let _unquoted = Unquoted::new();
        ItemNames {
            type_name: type_name(column.oid),
            collation: collation_name(column),
        }
    }

    fn look_up(&self) -> Result<Found, Problem> {
        let Some(oid) = named("type", &self.type_name, type_in_schema, pg_sys::to_regtype)? else {
            return Ok(Found::Nothing);
        };
        let collation = match &self.collation {
            None => pg_sys::InvalidOid,
            Some(name) => match named("collation", name, collation_in_schema, pg_sys::to_regcollation)? {
                Some(collation) => collation,
                None => return Ok(Found::Nothing),
            },
        };
        let name = String::new();
        let column = ColumnType { name, oid, collation };
        // SAFETY: catalogue look-ups.
        let (kind, is_array) = unsafe {
            let base = column.base_type();
            let is_array = pg_sys::get_element_type(base) != pg_sys::InvalidOid;
            (pg_sys::get_typtype(base) as u8, is_array)
        };
        match is_array || kind == pg_sys::TYPTYPE_PSEUDO {
            true => Ok(Found::Other),
            false => Ok(Found::Column(item_type(&column)?)),
        }
    }
}

/// While this lives, names have quotes only if they need them, whatever quote_all_identifiers says.
struct Unquoted {
    before: bool,
}

impl Unquoted {
    fn new() -> Self {
        // SAFETY: a variable of this backend.
        unsafe {
            let before = pg_sys::quote_all_identifiers;
            pg_sys::quote_all_identifiers = false;
            Unquoted { before }
        }
    }
}

impl Drop for Unquoted {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { pg_sys::quote_all_identifiers = self.before }
    }
}

/// What a summary needs in memory to be read, beside its text.
const BYTES_PER_ITEM: usize = size_of::<(Cow<str>, u64)>();

/// The type's input: what is stored for a text.
pub fn stored_of_text(text: &str) -> Result<Vec<u8>, Problem> {
    let most_items = text.bytes().filter(|&byte| byte == b'[').count();
    memory::require(text.len() + most_items * BYTES_PER_ITEM)?;
    let mut summary = ItemSummary::of_text(text)?;
    match ItemNames::of_summary(&summary).look_up()? {
        Found::Other => Err(SummaryError::Invalid("items cannot be of this type").into()),
        // A dump has to be restored even if it has summaries of what is not there any more.
        Found::Nothing => checked(summary.to_bytes()),
        Found::Column(column) => {
            let names = ItemNames::of_column(&column);
            summary.type_name = names.type_name.into();
            summary.collation = names.collation.map(Cow::Owned);
            match means_the_same_for_ever(&column) && summary.collation.is_none() {
                true => ItemCounts::of_items(column, &summary)?.stored(),
                // Nor may it depend on what has changed since.
                false => checked(summary.to_bytes()),
            }
        }
    }
}

/// The type's output, which asks for nothing but the bytes.
pub fn text_of_stored(bytes: &[u8]) -> Result<String, Problem> {
    Ok(ItemSummary::of_bytes(bytes)?.to_text())
}

/// What is stored. Its text must fit into a message of Postgres (1 GB), even if COPY doubles every byte of it.
fn checked(bytes: Vec<u8>) -> Result<Vec<u8>, Problem> {
    const MOST: usize = 1 << 28;
    /// An item takes two bytes or more, and a text of thirty; another byte becomes six if it is escaped.
    const GROWTH: usize = 15;
    let may_be_too_long = bytes.len() > MOST / GROWTH;
    match may_be_too_long && ItemSummary::of_bytes(&bytes)?.text_length() > MOST {
        true => Err(Problem::TooLarge {
            what: "the text of an item summary",
            limit: "256 MB",
        }),
        false => Ok(bytes),
    }
}

impl ItemCounts {
    /// As it is stored.
    pub fn stored(&self) -> Result<Vec<u8>, Problem> {
        let names = self.names();
        let counted = self.counts().filter(|&count| count > 0).count();
        let collation = names.collation.as_deref();
        let mut out = SummaryWriter::new(&names.type_name, collation, self.transactions, counted);
        let mut counts = self.counts();
        self.print(|text| match counts.next() {
            Some(count) if count > 0 => out.item(text, count),
            _ => {}
        })?;
        checked(out.finish())
    }

    /// Hand the text of every item to `each`, codes in order.
    fn print(&self, mut each: impl FnMut(&str)) -> Result<(), Problem> {
        let mut literals = Literals::of(self.items.column());
        memory_context::for_each("printing items", 1..self.items.len() + 1, |code| {
            // SAFETY: a value of the items' type.
            unsafe { literals.print(self.items.value(code), &mut each) };
            Ok(())
        })?;
        Ok(())
    }

    pub fn of_stored(bytes: &[u8]) -> Result<Self, Problem> {
        let summary = ItemSummary::of_bytes(bytes)?;
        match column_of(&summary)? {
            Some(column) => Self::of_items(column, &summary),
            None => {
                let mut counts = Self::of_texts(ItemNames::of_summary(&summary));
                counts.take_items(&summary)?;
                Ok(counts)
            }
        }
    }

    fn of_items(column: ColumnType, summary: &ItemSummary) -> Result<Self, Problem> {
        let mut counts = ItemCounts::new(column);
        counts.take_items(summary)?;
        Ok(counts)
    }

    /// Add what [`stored`](Self::stored) has made of other counts of such items.
    pub fn merge_stored(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        let summary = ItemSummary::of_bytes(bytes)?;
        if ItemNames::of_summary(&summary) != self.names() {
            return Err(Problem::ItemTypesDiffer);
        }
        if !self.are_texts() && column_of(&summary)?.as_ref() != Some(self.items.column()) {
            self.become_texts()?;
        }
        self.take_items(&summary)
    }

    /// Add the items of a summary.
    fn take_items(&mut self, summary: &ItemSummary) -> Result<(), Problem> {
        let mut literals = Literals::of(self.items.column());
        let numbers = 0..u32::try_from(summary.items.len()).map_err(|_| Damaged)?;
        let codes = memory_context::for_each("reading items", numbers, |number| {
            let value = literals.parse(&summary.items[number as usize].0)?;
            // SAFETY: a value that was just made, of the type that the items are of.
            unsafe { self.items.encode(value) }
        })?;
        drop(literals);
        let mut is_there = vec![false; self.items.len() as usize];
        if codes
            .iter()
            .any(|&code| std::mem::replace(&mut is_there[code as usize - 1], true))
        {
            return Err(Problem::EqualItems);
        }
        let counts = summary.items.iter().map(|(_, count)| *count);
        self.add(summary.transactions, codes.into_iter().zip(counts))
    }

    /// Compare items by their texts from now on, since not all of them can be read any more.
    pub fn become_texts(&mut self) -> Result<(), Problem> {
        let mut counts = Self::of_texts(self.names());
        let mut texts = Vec::new();
        self.print(|text| texts.push(text.to_owned()))?;
        let numbers = 0..self.items.len();
        let codes = memory_context::for_each("reading items", numbers, |number| {
            let text = texts[number as usize].as_str().into_datum();
            // SAFETY: a text, of which `of_texts` has made a dictionary.
            unsafe { counts.items.encode(text.unwrap_or(Datum::from(0))) }
        })?;
        counts.add(self.transactions, codes.into_iter().zip(self.counts()))?;
        *self = counts;
        Ok(())
    }

    /// For another process of this server.
    pub fn serial(&self) -> Result<Vec<u8>, Problem> {
        let mut out = wire::local();
        let column = self.items.column();
        wire::put(&mut out, u64::from(column.oid.to_u32()));
        wire::put(&mut out, u64::from(column.collation.to_u32()));
        wire::put(&mut out, u64::from(self.are_texts()));
        if self.are_texts() {
            let names = self.names();
            wire::put_bytes(&mut out, names.type_name.as_bytes());
            wire::put_bytes(&mut out, names.collation.unwrap_or_default().as_bytes());
        }
        wire::put(&mut out, self.transactions);
        self.items.write_values(&mut out);
        self.counts().for_each(|count| wire::put(&mut out, count));
        wire::finish("a part of an item summary", out)
    }

    /// What [`serial`](Self::serial) has written.
    pub fn of_serial(mut bytes: &[u8]) -> Result<Self, Problem> {
        let input = &mut bytes;
        wire::take_local(input)?;
        let oid = |input: &mut &[u8]| wire::take(input).map(|oid| pg_sys::Oid::from(oid as u32));
        let text = |input: &mut &[u8]| {
            wire::take_bytes(input).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        let name = String::new();
        let (oid, collation) = (oid(input)?, oid(input)?);
        let mut counts = match wire::take(input)? {
            0 => ItemCounts::new(ColumnType { name, oid, collation }),
            _ => Self::of_texts(ItemNames {
                type_name: text(input)?,
                collation: Some(text(input)?).filter(|name| !name.is_empty()),
            }),
        };
        let transactions = wire::take(input)?;
        let codes = counts.items.read_values(input)?;
        let of_items = codes
            .into_iter()
            .map(|code| Ok((code, wire::take(input)?)))
            .collect::<Result<Vec<_>, Damaged>>()?;
        counts.add(transactions, of_items)?;
        Ok(counts)
    }
}

/// What the items of a stored summary are; `None` where their texts are all that is left.
fn column_of(summary: &ItemSummary) -> Result<Option<ColumnType>, Problem> {
    let column = match ItemNames::of_summary(summary).look_up()? {
        Found::Column(column) => column,
        Found::Other | Found::Nothing => return Ok(None),
    };
    // SAFETY: a catalogue look-up.
    let is_enum = unsafe { pg_sys::get_typtype(column.oid) as u8 } == pg_sys::TYPTYPE_ENUM;
    let is_known = |text: &str| has_label(column.oid, text);
    let all_known = !is_enum || summary.items.iter().all(|(text, _)| is_known(text));
    Ok(all_known.then_some(column))
}

/// Whether an enum has a label, which may have been renamed.
fn has_label(oid: pg_sys::Oid, label: &str) -> bool {
    let Ok(label) = CString::new(label) else {
        return false;
    };
    let cache = pg_sys::SysCacheIdentifier::ENUMTYPOIDNAME as i32;
    let (none, key) = (Datum::from(0), Datum::from(label.as_ptr()));
    // SAFETY: a look-up in the catalogue's cache, by keys of the right types. No label is longer than a name.
    label.count_bytes() < pg_sys::NAMEDATALEN as usize
        && unsafe { pg_sys::SearchSysCacheExists(cache, oid.into(), key, none, none) }
}

/// Whether texts of a type that nobody can drop or change are read the same way for ever: those of a built-in type
/// whose values do not name something else.
fn means_the_same_for_ever(column: &ColumnType) -> bool {
    // SAFETY: a catalogue look-up.
    let kind = unsafe { pg_sys::get_typtype(column.oid) } as u8;
    column.oid.to_u32() < pg_sys::FirstGenbkiObjectId
        && kind != pg_sys::TYPTYPE_COMPOSITE
        && !matches!(
            column.oid,
            pg_sys::ACLITEMOID
                | pg_sys::REGCLASSOID
                | pg_sys::REGCOLLATIONOID
                | pg_sys::REGCONFIGOID
                | pg_sys::REGDICTIONARYOID
                | pg_sys::REGNAMESPACEOID
                | pg_sys::REGOPEROID
                | pg_sys::REGOPERATOROID
                | pg_sys::REGPROCOID
                | pg_sys::REGPROCEDUREOID
                | pg_sys::REGROLEOID
                | pg_sys::REGTYPEOID
        )
}

/// The OID of what a name means. `None`: it is qualified, and there is no such thing. Names that people write without
/// a schema have to exist.
fn named(
    what: &'static str,
    name: &str,
    in_schema: unsafe fn(schema: &CStr, name: &CStr) -> pg_sys::Oid,
    on_search_path: unsafe fn(pg_sys::FunctionCallInfo) -> Datum,
) -> Result<Option<pg_sys::Oid>, Problem> {
    let text = |text: &str| CString::new(text).map_err(|_| Damaged);
    // SAFETY: names are texts.
    let found = unsafe {
        match Name::parse(name).ok_or(Damaged)? {
            Name::Qualified { schema, name } => in_schema(&text(&schema)?, &text(&name)?),
            Name::Words => {
                let found = direct_function_call_as_datum(on_search_path, &[name.into_datum()]);
                let found = found.ok_or_else(|| Problem::NoSuchName {
                    what,
                    name: name.into(),
                })?;
                pg_sys::Oid::from(found.value() as u32)
            }
        }
    };
    Ok(Some(found).filter(|&found| found != pg_sys::InvalidOid))
}

/// # Safety
/// Within a transaction.
unsafe fn type_in_schema(schema: &CStr, name: &CStr) -> pg_sys::Oid {
    let schema = pg_sys::LookupNamespaceNoError(schema.as_ptr());
    let cache = pg_sys::SysCacheIdentifier::TYPENAMENSP as i32;
    let (column, none) = (pg_sys::Anum_pg_type_oid as i16, Datum::from(0));
    let found = pg_sys::GetSysCacheOid(cache, column, name.as_ptr().into(), schema.into(), none, none);
    match found != pg_sys::InvalidOid && pg_sys::get_typisdefined(found) {
        true => found,
        false => pg_sys::InvalidOid,
    }
}

/// # Safety
/// Within a transaction.
unsafe fn collation_in_schema(schema: &CStr, name: &CStr) -> pg_sys::Oid {
    const ANY_ENCODING: i32 = -1;
    let schema = pg_sys::LookupNamespaceNoError(schema.as_ptr());
    let cache = pg_sys::SysCacheIdentifier::COLLNAMEENCNSP as i32;
    let (column, none) = (pg_sys::Anum_pg_collation_oid as i16, Datum::from(0));
    [pg_sys::GetDatabaseEncoding(), ANY_ENCODING]
        .into_iter()
        .map(|encoding| {
            let (name, encoding) = (name.as_ptr().into(), encoding.into());
            pg_sys::GetSysCacheOid(cache, column, name, encoding, schema.into(), none)
        })
        .find(|&found| found != pg_sys::InvalidOid)
        .unwrap_or(pg_sys::InvalidOid)
}

/// The name of the items' collation, quoted and the same under any search_path, where it makes different
/// texts equal.
fn collation_name(items: &ColumnType) -> Option<String> {
    let collation = items.collation;
    // SAFETY: a tuple of the catalogue's cache, released when its names are copied.
    unsafe {
        if collation == pg_sys::InvalidOid || pg_sys::get_collation_isdeterministic(collation) {
            return None;
        }
        let tuple = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::COLLOID as i32, collation.into());
        if tuple.is_null() {
            return None; // dropped in this very moment
        }
        let form = pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_collation>();
        let text = |name: *const std::ffi::c_char| CStr::from_ptr(name).to_string_lossy().into_owned();
        let name = text((*form).collname.data.as_ptr());
        let schema = pg_sys::get_namespace_name((*form).collnamespace);
        let schema = (!schema.is_null()).then(|| text(schema));
        pg_sys::ReleaseSysCache(tuple);
        schema.map(|schema| quote_qualified_identifier(schema, name))
    }
}
