//! Transactions with generalised items come in: lists of items, in which a list stands for one of its items.

use crate::error::Problem;
use crate::input::relation::Relation;
use crate::pg::array::ElementType;
use crate::pg::json::JsonText;
use crate::pg::receiver::for_each_row;
use crate::pg::types::ColumnType;
use disclosure::semantic::{Entry, Transactions};
use hashbrown::HashMap;
use pgrx::pg_sys;
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use rustc_hash::FxBuildHasher;
use serde_json::Value;

/// Items, by their texts; their codes count from 0.
#[derive(Default)]
pub struct Vocabulary {
    codes: HashMap<String, u32, FxBuildHasher>,
    /// As they came first: a string or a number.
    values: Vec<Value>,
    texts: Vec<String>,
}

impl Vocabulary {
    /// The code of an item, which is new if need be; `None` if it is neither a string nor a whole number.
    pub fn encode(&mut self, item: &Value) -> Option<u32> {
        let text = match item {
            Value::String(text) => text.clone(),
            Value::Number(number) => Some(number.to_string()).filter(|number| is_whole(number))?,
            _ => return None,
        };
        Some(self.encode_as(text, item))
    }

    /// The code of an item by its text.
    pub fn encode_text(&mut self, text: &str) -> u32 {
        self.encode_as(text.into(), &Value::String(text.into()))
    }

    fn encode_as(&mut self, text: String, value: &Value) -> u32 {
        let next = self.values.len() as u32;
        *self.codes.entry(text).or_insert_with_key(|text| {
            self.values.push(value.clone());
            self.texts.push(text.clone());
            next
        })
    }

    /// Give items that were read in any order the codes that they have in the order of their texts. Returns the new
    /// code of each.
    fn put_in_order(&mut self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_unstable_by_key(|&code| &self.texts[code as usize]);
        let mut codes = vec![0; order.len()];
        for (&before, code) in order.iter().zip(0..) {
            codes[before as usize] = code;
        }
        self.values = order
            .iter()
            .map(|&before| self.values[before as usize].take())
            .collect();
        self.texts = order
            .iter()
            .map(|&before| std::mem::take(&mut self.texts[before as usize]))
            .collect();
        self.codes
            .values_mut()
            .for_each(|code| *code = codes[*code as usize]);
        codes
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// The texts of all items, codes in order.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    pub fn text(&self, code: u32) -> String {
        self.texts[code as usize].clone()
    }

    pub fn texts_of(&self, codes: &[u32]) -> Vec<String> {
        codes.iter().map(|&code| self.text(code)).collect()
    }

    /// An entry as it stands in a transaction.
    pub fn json(&self, transactions: &Transactions, entry: &Entry) -> Value {
        let value = |code: &u32| self.values[*code as usize].clone();
        match entry {
            Entry::Item(item) => value(item),
            Entry::Generalised(number) => transactions.members(*number).iter().map(value).collect(),
        }
    }
}

/// Whether the text of a number has neither point nor exponent.
fn is_whole(number: &str) -> bool {
    number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// The transactions of a column.
#[derive(Default)]
pub struct Column {
    pub transactions: Transactions,
    /// What each is called: its id or, where there is none, its number in the order of reading.
    pub ids: Vec<String>,
}

/// What the caller says about a column of transactions.
#[derive(Clone)]
pub struct WantedColumn {
    /// How the caller calls the relation.
    pub argument: &'static str,
    pub relation: Option<pg_sys::Oid>,
    pub column_name: Option<String>,
    pub id: Option<String>,
}

const COLUMN_NAME: &str = "column_name";
const ID: &str = "id";

/// Read columns whose items are the same if their texts are. In which order tables are read does not matter to the
/// items' codes.
pub fn read_columns<const N: usize>(
    wanted: [&WantedColumn; N],
) -> Result<(Vocabulary, [Column; N]), Problem> {
    let mut vocabulary = Vocabulary::default();
    let mut columns = [(); N].map(|()| Column::default());
    for (column, wanted) in columns.iter_mut().zip(wanted) {
        column.read(wanted, &mut vocabulary)?;
    }
    let codes = vocabulary.put_in_order();
    for column in &mut columns {
        column.transactions = column.transactions.recoded(&codes)?;
    }
    Ok((vocabulary, columns))
}

impl Column {
    /// Read all transactions that the calling user may see, in the order of their ids. NULL is no transaction.
    fn read(&mut self, wanted: &WantedColumn, vocabulary: &mut Vocabulary) -> Result<(), Problem> {
        let relation = Relation::whole(wanted.argument, wanted.relation)?;
        let name = wanted.column_name.as_deref().ok_or(Problem::null(
            COLUMN_NAME,
            "Give the name of the column that holds the transactions.",
        ))?;
        let column = relation.column(COLUMN_NAME, name)?;
        if !is_list(column) {
            return Err(Problem::argument(
                COLUMN_NAME,
                format!("\"{name}\" is neither jsonb nor an array"),
                "A transaction is a list such as '[\"knee\", [\"limbs\", \"injury\"]]'.",
            ));
        }
        let id = wanted
            .id
            .as_deref()
            .map(|id| relation.column(ID, id))
            .transpose()?;
        let (id, order) = id.map_or(("NULL".into(), String::new()), |id| {
            // Qualified, or it would be the text that is put in order.
            let id = format!("t.{}", quote_identifier(&id.name));
            (format!("{id}::pg_catalog.text"), format!(" ORDER BY {id}"))
        });
        let query = format!(
            "SELECT {id}, pg_catalog.to_jsonb(t.{}) FROM {} AS t{order}",
            quote_identifier(name),
            relation.name()
        );
        for_each_row(&query, |mut row| {
            let (id, transaction) = (row.next(), row.next());
            // SAFETY: the query casts the one to text, and makes the other jsonb.
            let (id, transaction) = unsafe {
                let id = id.and_then(|(value, is_null)| String::from_datum(value, is_null));
                let transaction =
                    transaction.and_then(|(value, is_null)| JsonText::from_datum(value, is_null));
                (id, transaction)
            };
            let Some(transaction) = transaction else {
                return Ok(());
            };
            self.ids.push(match (id, &wanted.id) {
                (Some(id), _) => id,
                (None, None) => (self.ids.len() + 1).to_string(),
                (None, Some(_)) => return Err(without_id()),
            });
            self.push(transaction.value(COLUMN_NAME)?, vocabulary)
        })
    }

    fn push(&mut self, transaction: Value, vocabulary: &mut Vocabulary) -> Result<(), Problem> {
        let invalid = |problem: &str| {
            Problem::argument(
                COLUMN_NAME,
                problem,
                "A transaction is a list of strings or whole numbers; a list within it is a generalised item: \
                   '[\"knee\", [\"limbs\", \"injury\"]]'.",
            )
        };
        self.transactions.begin()?;
        let Value::Array(entries) = transaction else {
            return Err(invalid("a transaction is not a list"));
        };
        for entry in &entries {
            let set = match entry {
                Value::Array(members) if members.is_empty() => {
                    return Err(invalid("a generalised item has no members"));
                }
                Value::Array(members) => members.iter().map(|member| vocabulary.encode(member)).collect(),
                item => vocabulary.encode(item).map(|code| vec![code]),
            };
            let set = set.ok_or_else(|| invalid("an item is neither a string nor a whole number"))?;
            self.transactions.push(set)?;
        }
        Ok(())
    }

    /// The numbers of transactions by id, of which no two may be the same.
    pub fn by_id(&self, argument: &'static str) -> Result<HashMap<&str, u32, FxBuildHasher>, Problem> {
        let mut by_id = HashMap::with_capacity_and_hasher(self.ids.len(), FxBuildHasher);
        for (id, number) in self.ids.iter().zip(0..) {
            if by_id.insert(&id[..], number).is_some() {
                return Err(Problem::argument(
                    ID,
                    format!("two transactions of {argument} have the same"),
                    "Give a column that is unique in both tables.",
                ));
            }
        }
        Ok(by_id)
    }
}

fn without_id() -> Problem {
    Problem::argument(
        ID,
        "is NULL in a row",
        "Give a column that says which transaction it is, or leave it out: then they are numbered.",
    )
}

/// Whether values become lists in JSON, or may.
fn is_list(column: &ColumnType) -> bool {
    matches!(column.base_type(), pg_sys::JSONBOID | pg_sys::JSONOID) || ElementType::of(column).is_some()
}

/// An argument that is a list of lists of items: privacy or utility constraints. `None` where it was not given.
pub fn constraints(
    argument: &'static str,
    given: Option<Value>,
    vocabulary: &mut Vocabulary,
) -> Result<Option<Vec<Vec<u32>>>, Problem> {
    let invalid = || {
        Problem::argument(
            argument,
            "is not a list of lists of items",
            "Give it as '[[\"blood pressure\"], [\"limbs\", \"injury\"]]'.",
        )
    };
    let sets = match given {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(sets)) => sets,
        Some(_) => return Err(invalid()),
    };
    let sets = sets.iter().map(|set| {
        let items = set.as_array().filter(|items| !items.is_empty())?;
        let mut codes = items
            .iter()
            .map(|item| vocabulary.encode(item))
            .collect::<Option<Vec<u32>>>()?;
        codes.sort_unstable();
        codes.dedup();
        Some(codes)
    });
    sets.collect::<Option<Vec<_>>>().ok_or_else(invalid).map(Some)
}
