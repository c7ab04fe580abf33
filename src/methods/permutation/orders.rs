//! The argument `orders`: how the values of a column are ordered where not by their type.

use crate::encode::dictionary::Dictionary;
use crate::encode::scale::Scale;
use crate::error::Problem;
use crate::input::relation::Relation;
use crate::pg::memory_context;
use crate::pg::receiver::for_each_row;
use crate::pg::types::{ColumnType, becomes, parse, type_name};
use crate::run;
use crate::run::Meter;
use disclosure::permutation::{self, Marginality};
use pgrx::pg_sys::{self, Datum};
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use rustc_hash::FxHashMap;
use serde_json::Value;

/// How to order the columns that the caller says something about, by name.
#[derive(Default)]
pub struct Orders(Vec<(String, Given)>);

/// What the caller gave for a column.
pub enum Given {
    /// Its values from first to last, as text.
    List(Vec<String>),
    /// A relation with the distances of its values, which are ordered by marginality.
    Distances(pg_sys::Oid),
}

impl Orders {
    pub fn new(orders: Option<Value>) -> Result<Self, Problem> {
        let given = match orders {
            None => return Ok(Self::default()),
            Some(Value::Object(given)) => given,
            Some(_) => return Err(invalid("is not a JSON object".into())),
        };
        let of_columns = given.into_iter().map(|(column, given)| {
            let given = match given {
                Value::Array(values) => Given::List(texts(&column, values)?),
                // SAFETY: the type's own input function says what is wrong with a name.
                Value::String(relation) => unsafe {
                    let oid = parse(pg_sys::REGCLASSOID, &relation)?;
                    Given::Distances(pg_sys::Oid::from(oid.value() as u32))
                },
                _ => {
                    return Err(invalid_for(
                        &column,
                        "is neither an array nor the name of a relation",
                    ));
                }
            };
            Ok((column, given))
        });
        Ok(Orders(of_columns.collect::<Result<_, Problem>>()?))
    }

    pub fn of_column(&self, name: &str) -> Option<&Given> {
        let mut orders = self.0.iter();
        orders.find(|(column, _)| column == name).map(|(_, given)| given)
    }

    /// Whether every column that the caller says something about is one of these.
    pub fn check(&self, columns: &[ColumnType]) -> Result<(), Problem> {
        let is_known = |name: &str| columns.iter().any(|column| column.name == name);
        match self.0.iter().find(|(name, _)| !is_known(name)) {
            Some((name, _)) => Err(invalid(format!("\"{name}\" is none of the columns"))),
            None => Ok(()),
        }
    }
}

/// The values of an array as texts.
fn texts(column: &str, values: Vec<Value>) -> Result<Vec<String>, Problem> {
    let text = |value| match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(truth) => Ok(truth.to_string()),
        _ => Err(invalid_for(column, "has an element that is no value")),
    };
    values.into_iter().map(text).collect()
}

/// The order of a dictionary's values.
pub struct Scaled {
    /// The place of every value, codes in order, from 1.
    place_of: Vec<u32>,
    /// What every place counts as, places in order.
    pub scale: Vec<f64>,
    /// What the scale is.
    pub meaning: Meaning,
}

/// What the difference of two values on the scale is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// That of numbers, dates or timestamps.
    Numbers,
    /// How many places they are apart, by nothing but their type's order.
    Places,
    /// What the caller says.
    Given,
}

impl Scaled {
    /// By the order of the type.
    pub fn by_type(dictionary: &mut Dictionary) -> Result<Self, Problem> {
        let place_of = dictionary.order()?;
        let last = place_of.iter().max().map_or(0, |&place| place as usize);
        match Scale::of_type(dictionary.column().base_type()) {
            None => Ok(Scaled {
                scale: (1..=last).map(|place| place as f64).collect(),
                place_of,
                meaning: Meaning::Places,
            }),
            Some(scale) => {
                let mut of_place = vec![f64::NAN; last];
                for (&place, number) in place_of.iter().zip(scale.numbers(dictionary)?) {
                    of_place[place as usize - 1] = number;
                }
                Ok(Scaled {
                    place_of,
                    scale: of_place,
                    meaning: Meaning::Numbers,
                })
            }
        }
    }

    /// As the caller says. `records_of` tells how many records hold each value, codes in order, of the table
    /// whose frequencies count.
    pub fn by_orders(
        dictionary: &mut Dictionary,
        given: &Given,
        records_of: &[u64],
    ) -> Result<Self, Problem> {
        match given {
            Given::List(texts) => Self::by_list(dictionary, texts),
            Given::Distances(relation) => {
                let found = marginality("orders", dictionary, *relation, records_of)?;
                Ok(Scaled {
                    place_of: found.places,
                    scale: found.scale,
                    meaning: Meaning::Given,
                })
            }
        }
    }

    fn by_list(dictionary: &mut Dictionary, texts: &[String]) -> Result<Self, Problem> {
        let column = dictionary.column().clone();
        let known = dictionary.len() as usize;
        let mut place_of = vec![0; known];
        for (text, place) in texts.iter().zip(1..) {
            // SAFETY: a value that was just made, of the type that the column is of.
            let code = unsafe { dictionary.encode(parse(column.oid, text)?)? } as usize;
            if code > place_of.len() {
                place_of.push(0);
            }
            if std::mem::replace(&mut place_of[code - 1], place) != 0 {
                return Err(invalid_for(&column.name, "a value is there twice"));
            }
        }
        if place_of[..known].contains(&0) {
            return Err(invalid_for(&column.name, "a value of the column is not there"));
        }
        Ok(Scaled {
            place_of,
            scale: (1..=texts.len()).map(|place| place as f64).collect(),
            meaning: Meaning::Given,
        })
    }

    /// The place of a code; [`NULL`](disclosure::NULL) for that of an absent value.
    pub fn place(&self, code: u32) -> u32 {
        match code {
            disclosure::NULL => disclosure::NULL,
            code => self.place_of[code as usize - 1],
        }
    }
}

/// The marginality of every value of a column, codes in order: the sum of its distances to the values of all
/// records. The relation that says how far values are apart comes from `argument`.
pub fn marginality(
    argument: &'static str,
    dictionary: &mut Dictionary,
    distances: pg_sys::Oid,
    records_of: &[u64],
) -> Result<Marginality, Problem> {
    let distances = Distances::read(argument, dictionary, distances)?;
    let values = records_of.len() as u32;
    let missing = || {
        Problem::argument(
            argument,
            format!(
                "column \"{}\": the distance of two of its values is not there",
                dictionary.column().name
            ),
            DISTANCES,
        )
    };
    let all = (1..=values).flat_map(|one| (1..one).map(move |other| (other, one)));
    let mut meter = Meter::new("looking for distances");
    for pair in all {
        meter.row()?;
        if !distances.0.contains_key(&pair) {
            return Err(missing());
        }
    }
    let distance = |one: usize, other: usize| {
        let (one, other) = (one as u32 + 1, other as u32 + 1);
        distances
            .0
            .get(&(one.min(other), one.max(other)))
            .copied()
            .unwrap_or(0.0)
    };
    run::long("adding up distances", |control| {
        permutation::marginality(records_of, distance, control)
    })
}

const DISTANCES: &str = "Give a relation of three columns: two values, and their distance (or similarity, which is 1 - distance); \
     every pair of different values once.";

/// How far values are apart: by their codes, the lower one first.
struct Distances(FxHashMap<(u32, u32), f64>);

impl Distances {
    /// What a relation says of the values of a dictionary, which may know more of them afterwards.
    fn read(
        argument: &'static str,
        dictionary: &mut Dictionary,
        relation: pg_sys::Oid,
    ) -> Result<Self, Problem> {
        let relation = Relation::whole(argument, Some(relation))?;
        let invalid = |problem: &str| {
            Problem::argument(
                argument,
                format!("relation {}: {problem}", relation.name()),
                DISTANCES,
            )
        };
        let is_measure = |column: &&ColumnType| matches!(&column.name[..], "distance" | "similarity");
        let measures: Vec<&ColumnType> = relation.columns().iter().filter(is_measure).collect();
        let values: Vec<&ColumnType> = relation
            .columns()
            .iter()
            .filter(|column| !is_measure(column))
            .collect();
        let (&[measure], &[one, other]) = (&measures[..], &values[..]) else {
            return Err(invalid(
                "must have two columns of values, and one that is called distance or similarity",
            ));
        };
        let scale = Scale::of_type(measure.base_type()).filter(|scale| scale.is_of_numbers());
        let scale = scale.ok_or_else(|| invalid("its column of distances or similarities has no numbers"))?;
        let codes = [Codes::of(one, dictionary)?, Codes::of(other, dictionary)?];
        let query = format!(
            "SELECT {}, {}, {} FROM {}",
            codes[0].query,
            codes[1].query,
            quote_identifier(&measure.name),
            relation.name()
        );
        let is_similarity = measure.name == "similarity";
        let mut distances = FxHashMap::default();
        for_each_row(&query, |mut row| {
            let mut next = || row.next().filter(|(_, is_null)| !is_null).map(|(value, _)| value);
            let (Some(one), Some(other), Some(number)) = (next(), next(), next()) else {
                return Err(invalid("a value, distance or similarity is NULL"));
            };
            // SAFETY: values of the types that the query selects.
            let (one, other, number) = unsafe {
                (
                    codes[0].code(one, dictionary)?,
                    codes[1].code(other, dictionary)?,
                    scale.number(number),
                )
            };
            let distance = if is_similarity { 1.0 - number } else { number };
            if !distance.is_finite() || distance < 0.0 {
                return Err(invalid("a distance is negative or infinite"));
            }
            let (Some(one), Some(other)) = (one, other) else {
                return Ok(());
            };
            if one == other {
                return match distance == 0.0 {
                    true => Ok(()),
                    false => Err(invalid("the distance of a value to itself is not 0")),
                };
            }
            match distances.insert((one.min(other), one.max(other)), distance) {
                Some(before) if before != distance => Err(invalid("two values have two different distances")),
                _ => Ok(()),
            }
        })?;
        Ok(Distances(distances))
    }
}

/// How the values in a column of distances become codes of a dictionary.
struct Codes {
    /// What to select.
    query: String,
    /// Of values of a type that does not become the dictionary's: the codes by what they are called, as both are printed.
    by_text: Option<FxHashMap<String, u32>>,
}

impl Codes {
    fn of(column: &ColumnType, dictionary: &Dictionary) -> Result<Self, Problem> {
        let name = quote_identifier(&column.name);
        if column.base_type() == dictionary.column().base_type() {
            return Ok(Codes {
                query: name,
                by_text: None,
            });
        }
        if becomes(column.base_type(), dictionary.column().base_type()) {
            return Ok(Codes {
                query: format!("{name}::{}", type_name(dictionary.column().base_type())),
                by_text: None,
            });
        }
        let texts = memory_context::for_each("printing values", 0..dictionary.len(), |value| {
            Ok((dictionary.text(value + 1).unwrap_or_default(), value + 1))
        })?;
        Ok(Codes {
            query: format!("{name}::pg_catalog.text"),
            by_text: Some(texts.into_iter().collect()),
        })
    }

    /// `None` for a value that the dictionary does not have.
    ///
    /// # Safety
    /// A valid Datum of what [`query`](Self::query) selects; the dictionary is the one that this was made of.
    unsafe fn code(&self, value: Datum, dictionary: &mut Dictionary) -> Result<Option<u32>, Problem> {
        match &self.by_text {
            None => dictionary.encode(value).map(Some),
            Some(codes) => {
                let text = String::from_datum(value, false).unwrap_or_default();
                Ok(codes.get(&text).copied())
            }
        }
    }
}

fn invalid_for(column: &str, problem: &str) -> Problem {
    invalid(format!("column \"{column}\": {problem}"))
}

fn invalid(problem: String) -> Problem {
    Problem::argument(
        "orders",
        problem,
        "By column name, give an array of all its values from first to last, or the name of a relation \
               with their distances.",
    )
}
