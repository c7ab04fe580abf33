//! Reads transactions with generalised items from a column of arrays or JSON lists.
//!
//! The items of a transaction are the elements of an array that are not NULL. In an array with two
//! dimensions, every row is a generalised item. In JSON, a list within the list is a generalised item.

use crate::error::Error;
use crate::input::relation::Relation;
use crate::methods::cracks::items::{for_each_item, items_of};
use crate::methods::semantic::items::{Images, Items, text_of_json, text_type};
use crate::pg::array::{ElementType, Elements, dimensions};
use crate::pg::json::JsonText;
use crate::pg::receiver::for_each_row;
use crate::pg::types::ColumnType;
use crate::run;
use disclosure::semantic::{ListOrder, Transactions, text_rankings};
use pgrx::pg_sys::{self, Datum};
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use serde_json::Value;

const COLUMN_NAME: &str = "column_name";
const KEY: &str = "key";

/// A column that holds transactions.
pub struct Column {
    relation: Relation,
    column: ColumnType,
    /// Column of the transactions' keys, if the caller named one.
    id: Option<ColumnType>,
}

/// Transactions of a column.
pub struct Lists {
    pub transactions: Transactions,
    ids: Option<Vec<String>>,
}

impl Lists {
    /// Returns the key of a transaction or, if there are no keys, its number in the order of reading, from 1.
    pub fn id(&self, number: usize) -> String {
        let ids = self.ids.as_ref();
        ids.map_or_else(|| (number + 1).to_string(), |ids| ids[number].clone())
    }

    /// Returns the keys of all transactions; none if no key column was given.
    pub fn ids(&self) -> &[String] {
        self.ids.as_deref().unwrap_or_default()
    }

    /// Returns the order of their texts in which the lists have their items, if there is one.
    pub fn text_order(&self, items: &Items) -> Result<Option<ListOrder>, Error> {
        let texts = items.texts();
        run::long("looking for an order", |control| {
            let rankings = text_rankings(texts, control)?;
            ListOrder::detect(&self.transactions, rankings, control)
        })
    }
}

/// Reads the transactions of a column.
pub fn read_column(column: &Column) -> Result<(Items, Lists), Error> {
    let (items, mut lists) = read_columns(&[column])?;
    let lists = lists.pop().ok_or(Error::Internal("a column was not read"))?;
    Ok((items, lists))
}

/// Reads several columns. Equal items have the same number in all of them, and the numbers do not depend on
/// the order of rows.
pub fn read_columns(columns: &[&Column]) -> Result<(Items, Vec<Lists>), Error> {
    let readers = columns.iter().map(|column| column.read());
    let readers: Vec<Reader> = readers.collect::<Result<_, Error>>()?;
    let images: Vec<&Images> = readers.iter().map(|reader| &reader.images).collect();
    let (items, codes) = Items::of_columns(&images)?;
    let lists = readers.into_iter().zip(codes).map(|(reader, codes)| {
        let Reader {
            transactions, ids, ..
        } = reader;
        let transactions = run::long("numbering items", |control| transactions.recoded(&codes, control))?;
        Ok(Lists { transactions, ids })
    });
    Ok((items, lists.collect::<Result<_, Error>>()?))
}

impl Column {
    /// Finds a column of a relation, which the caller gave as `argument`.
    pub fn open(
        argument: &'static str,
        relation: Option<pg_sys::Oid>,
        column_name: Option<&str>,
    ) -> Result<Self, Error> {
        let relation = Relation::whole(argument, relation)?;
        let name = column_name.ok_or(Error::null(
            COLUMN_NAME,
            "Give the name of the column that holds the transactions.",
        ))?;
        let column = relation.column(COLUMN_NAME, name)?.clone();
        if !is_json(&column) && ElementType::of(&column).is_none() {
            return Err(Error::argument(
                COLUMN_NAME,
                format!("\"{name}\" is neither jsonb nor an array"),
                "Give a column of lists such as '[\"knee\", [\"limbs\", \"injury\"]]'.",
            ));
        }
        Ok(Column {
            relation,
            column,
            id: None,
        })
    }

    /// Returns the same column with its keys, if their column is given.
    pub fn with_key(mut self, id: Option<&str>) -> Result<Self, Error> {
        let id = id.map(|id| self.relation.column(KEY, id)).transpose()?;
        self.id = id.cloned();
        Ok(self)
    }

    /// Reads all transactions that the calling user may see. A NULL is not a transaction.
    ///
    /// If there are keys, transactions are read in their order, because an attack prefers the first
    /// transaction if distances are equal.
    fn read(&self) -> Result<Reader, Error> {
        let mut reader = Reader::new(&self.column)?;
        // Qualified, because an unqualified name in ORDER BY would mean the output column, which is text.
        let column = |column: &ColumnType| format!("t.{}", quote_identifier(&column.name));
        let mut wanted = column(&self.column);
        let mut types = vec![self.column.oid];
        if self.column.base_type() == pg_sys::JSONOID {
            wanted = format!("pg_catalog.to_jsonb({wanted})");
            types = vec![pg_sys::JSONBOID];
        }
        let mut order = String::new();
        if let Some(id) = &self.id {
            wanted += &format!(", {}::pg_catalog.text", column(id));
            types.push(pg_sys::TEXTOID);
            order = format!(" ORDER BY {}", column(id));
            reader.ids = Some(Vec::new());
        }
        let query = format!("SELECT {wanted} FROM {} AS t{order}", self.relation.name());
        for_each_row(&query, &types, |mut row| {
            let Some((transaction, false)) = row.next() else {
                return Ok(());
            };
            if let Some(ids) = &mut reader.ids {
                // SAFETY: the query casts the value to text.
                let id = row
                    .next()
                    .and_then(|(value, is_null)| unsafe { String::from_datum(value, is_null) });
                ids.push(id.ok_or_else(without_id)?);
            }
            reader.transactions.begin()?;
            // SAFETY: the value has the type of the column, which the lock on the relation protects from
            // changes, or jsonb if that type is json.
            unsafe { reader.push(transaction) }
        })?;
        Ok(reader)
    }
}

/// Reader of a column's values.
struct Reader {
    images: Images,
    transactions: Transactions,
    ids: Option<Vec<String>>,
    /// Set if the values are arrays.
    elements: Option<Elements>,
    element: Option<ElementType>,
    /// Items of the current transaction, from 0; kept to reuse the memory.
    codes: Vec<u32>,
}

impl Reader {
    fn new(column: &ColumnType) -> Result<Self, Error> {
        let (item, elements) = if is_json(column) {
            (text_type()?, None)
        } else {
            items_of(column)?
        };
        Ok(Reader {
            images: Images::new(item),
            transactions: Transactions::new(),
            ids: None,
            elements,
            element: ElementType::of(column),
            codes: Vec::new(),
        })
    }

    /// Adds a transaction.
    ///
    /// # Safety
    /// `transaction` must be a valid Datum of the column's type, or of jsonb if that type is json.
    unsafe fn push(&mut self, transaction: Datum) -> Result<(), Error> {
        let Some(element) = &self.element else {
            // SAFETY: by the contract.
            let json = unsafe { JsonText::from_datum(transaction, false) };
            let json = json.map(|json| json.value(COLUMN_NAME)).transpose()?;
            return self.push_json(json.unwrap_or_default());
        };
        // SAFETY: by the contract, the value is an array. Detoasted copies are freed with the memory context
        // of the row.
        unsafe {
            let array = Datum::from(pg_sys::pg_detoast_datum_packed(transaction.cast_mut_ptr()));
            match dimensions(array) {
                (0 | 1, _) => {
                    let codes = &mut self.codes;
                    codes.clear();
                    let on_item = |code| codes.push(code - 1);
                    for_each_item(&mut self.images.values, &mut self.elements, array, on_item)?;
                    codes
                        .iter()
                        .try_for_each(|&code| self.transactions.push_item(code))?;
                }
                (2, width) => {
                    let whole = Datum::from(pg_sys::pg_detoast_datum(array.cast_mut_ptr()));
                    let mut sets: Vec<Vec<u32>> = Vec::new();
                    for (place, (value, is_null)) in element.deconstruct(whole).enumerate() {
                        if place.is_multiple_of(width) {
                            sets.push(Vec::new());
                        }
                        if let (false, Some(set)) = (is_null, sets.last_mut()) {
                            set.push(self.images.values.encode(value)? - 1);
                        }
                    }
                    sets.into_iter().try_for_each(|set| self.transactions.push(set))?;
                }
                _ => return Err(invalid("an array has more than two dimensions")),
            }
        }
        Ok(())
    }

    fn push_json(&mut self, transaction: Value) -> Result<(), Error> {
        let Value::Array(entries) = transaction else {
            return Err(invalid("a transaction is not a list"));
        };
        for entry in &entries {
            let members = match entry {
                Value::Array(members) if members.is_empty() => {
                    return Err(invalid("a generalised item has no members"));
                }
                Value::Array(members) => members,
                item => std::slice::from_ref(item),
            };
            let mut set = Vec::with_capacity(members.len());
            for member in members {
                let code = self.images.encode_json(member)?;
                let code = code.ok_or_else(|| invalid("an item is neither a string nor a whole number"))?;
                set.push(code - 1);
            }
            self.transactions.push(set)?;
        }
        Ok(())
    }
}

fn invalid(problem: &str) -> Error {
    Error::argument(
        COLUMN_NAME,
        problem,
        "Give lists of strings or whole numbers, in which an inner list is a generalised item, such as \
           '[\"knee\", [\"limbs\", \"injury\"]]', or arrays of one or two dimensions.",
    )
}

fn without_id() -> Error {
    Error::argument(
        KEY,
        "must not contain NULL",
        "Give a column that identifies every transaction, or omit key to number the transactions.",
    )
}

fn is_json(column: &ColumnType) -> bool {
    matches!(column.base_type(), pg_sys::JSONBOID | pg_sys::JSONOID)
}

/// Privacy or utility constraints: an argument that is a list of lists of items, items as text.
pub struct ItemSets(Vec<Vec<String>>);

impl ItemSets {
    /// Reads the argument; `None` if it was not given.
    pub fn read(argument: &'static str, given: Option<Value>) -> Result<Option<Self>, Error> {
        let sets = match given {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(sets)) => sets,
            Some(_) => return Err(not_item_sets(argument)),
        };
        let sets = sets.iter().map(|set| {
            let items = set.as_array().filter(|items| !items.is_empty())?;
            items.iter().map(text_of_json).collect()
        });
        let sets: Option<Vec<Vec<String>>> = sets.collect();
        sets.map(|sets| Some(ItemSets(sets)))
            .ok_or_else(|| not_item_sets(argument))
    }

    /// Returns the numbers of the items, ascending in every set. Called when all transactions were read.
    pub fn numbers(&self, items: &mut Items) -> Result<Vec<Vec<u32>>, Error> {
        let numbers = self.0.iter().map(|set| {
            let numbers = set.iter().map(|text| items.of_text(text));
            let mut numbers: Vec<u32> = numbers.collect::<Result<_, Error>>()?;
            numbers.sort_unstable();
            numbers.dedup();
            Ok(numbers)
        });
        numbers.collect()
    }
}

fn not_item_sets(argument: &'static str) -> Error {
    Error::argument(
        argument,
        "is not a list of lists of items",
        "Give it as '[[\"blood pressure\"], [\"limbs\", \"injury\"]]'.",
    )
}
