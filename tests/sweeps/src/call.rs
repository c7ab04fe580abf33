//! Generates calls: first a plausible one, by the types and names of the arguments; then, if requested, one
//! or two arguments are replaced by nasty ones.

mod good;
mod nasty;

use crate::world::{Argument, Function, Kind, Table, Type, World, quote_name, quote_text};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Amount of work that a call takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// As little as possible for a call that succeeds.
    Least,
    /// Milliseconds, on all sorts of tables.
    Light,
    /// Enough to be cancelled, if the function can take long at all.
    Heavy,
}

/// Generator of the calls of one case.
pub struct Caller<'a> {
    world: &'a World,
    function: &'a Function,
    rng: Pcg64Mcg,
    load: Load,
    main: &'a Table,
    corpus: &'a Table,
    /// Number of rows and columns of matrices.
    size: usize,
}

impl<'a> Caller<'a> {
    /// Prepares a case. The same seed and case make the same call.
    pub fn new(world: &'a World, function: &'a Function, load: Load, seed: u64, case: u64) -> Caller<'a> {
        let mut rng = Pcg64Mcg::seed_from_u64(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let main = main_table(world, function, load, &mut rng);
        let corpora: &[&str] = match load {
            Load::Least => &["corpus"],
            Load::Light => &["corpus", "corpus", "visits", "counts", "vectors"],
            Load::Heavy => &["large_corpus", "large_visits"],
        };
        let corpus = world.table(corpora[rng.random_range(0..corpora.len())]);
        let size = match load {
            Load::Least => 4,
            Load::Light => rng.random_range(1..7),
            Load::Heavy => rng.random_range(20..400),
        };
        Caller {
            world,
            function,
            rng,
            load,
            main,
            corpus,
            size,
        }
    }

    /// Returns the random number generator, for other decisions of the case.
    pub fn rng(&mut self) -> &mut Pcg64Mcg {
        &mut self.rng
    }

    /// Returns a call with plausible arguments, up to `changes` of which are replaced by nasty ones.
    pub fn call(&mut self, changes: usize) -> String {
        let mut values = self.plausible();
        for _ in 0..changes.min(values.len()) {
            let place = self.rng.random_range(0..values.len());
            let argument = &self.function.arguments[place];
            values[place] = Some(self.nasty(argument));
        }
        self.statement(values)
    }

    /// Returns a call with one argument given and the others plausible.
    pub fn call_with(&mut self, place: usize, value: String) -> String {
        let mut values = self.plausible();
        values[place] = Some(value);
        self.statement(values)
    }

    /// Returns a call with plausible arguments. A call over rows takes all of them, and shows what it sees of
    /// each row beside its answer, because rows that look the same to a function may change places.
    pub fn call_beside_rows(&mut self) -> String {
        let mut values = self.plausible();
        for (argument, value) in self.function.arguments.iter().zip(&mut values) {
            match argument.name.as_str() {
                // Without a key, rows are numbered in the order of reading.
                "id" | "key" if value.is_none() => *value = Some(self.good(argument)),
                // A search that ends by the clock ends at a different point each time.
                "budget" => *value = None,
                _ => (),
            }
        }
        let of_row =
            |(argument, value): (&Argument, &Option<String>)| value.clone().filter(|_| is_of_row(argument));
        let seen: Vec<String> = self
            .function
            .arguments
            .iter()
            .zip(&values)
            .filter_map(of_row)
            .collect();
        let call = self.statement(values).replace(" LIMIT 3) r", ") r");
        if call.ends_with(" r") && self.function.kind != Kind::Aggregate {
            return call.replacen("SELECT ", &format!("SELECT ROW({})::text, ", seen.join(", ")), 1);
        }
        call
    }

    fn plausible(&mut self) -> Vec<Option<String>> {
        let function = self.function;
        let mut values = Vec::new();
        for argument in &function.arguments {
            // Defaults are mostly good choices, but of some pairs of arguments, one has to be given.
            let wanted = matches!(argument.name.as_str(), "at_least" | "size");
            let given = !argument.has_default || wanted || self.load != Load::Least && self.chance(0.4);
            values.push(given.then(|| self.good(argument)));
        }
        values
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.rng.random_bool(probability)
    }

    fn pick<'b, T: ?Sized>(&mut self, choices: &[&'b T]) -> &'b T {
        choices[self.rng.random_range(0..choices.len())]
    }

    fn column(&mut self, table: &Table) -> String {
        match table.columns.len() {
            0 => "none".to_owned(),
            count => table.columns[self.rng.random_range(0..count)].clone(),
        }
    }

    fn statement(&mut self, values: Vec<Option<String>>) -> String {
        let function = self.function;
        let named = function.kind != Kind::Aggregate
            && function
                .arguments
                .iter()
                .all(|a| !a.name.is_empty() && !a.is_variadic);
        let mut arguments = Vec::new();
        for (argument, value) in function.arguments.iter().zip(values) {
            match value {
                Some(value) if named => arguments.push(format!("{} => {value}", quote_name(&argument.name))),
                Some(value) => arguments.push(value),
                // Arguments that follow one left out must be left out as well.
                None if named => (),
                None => break,
            }
        }
        let call = format!("{}({})", function.sql, arguments.join(", "));
        let table = &self.main.sql;
        match function.kind {
            Kind::Aggregate => format!("SELECT {call} FROM {table} r"),
            Kind::Window => {
                let over = match self.main.columns.first() {
                    Some(first) if self.chance(0.2) => format!("PARTITION BY r.{0}", quote_name(first)),
                    _ => String::new(),
                };
                format!("SELECT {call} OVER ({over}) FROM {table} r")
            }
            Kind::Plain if function.arguments.iter().any(is_of_row) => {
                format!("SELECT {call} FROM (SELECT * FROM {table} LIMIT 3) r")
            }
            Kind::Plain if function.is_shapeless => format!("SELECT {call}"),
            Kind::Plain => format!("SELECT * FROM {call}"),
        }
    }
}

fn is_of_row(argument: &Argument) -> bool {
    argument.is_variadic
        || matches!(
            argument.kind.name.as_str(),
            "record" | "any" | "anyelement" | "anynonarray" | "anycompatible"
        )
}

fn main_table<'a>(world: &'a World, function: &Function, load: Load, rng: &mut Pcg64Mcg) -> &'a Table {
    let names: &[&str] = match load {
        Load::Heavy if function.has("corpus") && function.has("released") => &["large_visits"],
        Load::Heavy if function.has("corpus") => &["large_marked"],
        Load::Heavy if function.has("row_column") => &["large_edges"],
        Load::Heavy if function.has("column_name") => {
            &["large_baskets", "large_baskets", "large_visits", "large"]
        }
        Load::Heavy => &["large", "large", "large_holes"],
        Load::Least if function.has("corpus") && function.has("released") => &["visits"],
        Load::Least if function.has("corpus") => &["marked"],
        Load::Least if function.has("row_column") => &["edges"],
        Load::Least if function.has("column_name") => &["baskets"],
        Load::Least if function.has("released") || function.has("anonymised") || function.has("original") => {
            &["numbers"]
        }
        Load::Least => &["seen"],
        Load::Light if function.has("corpus") => &["marked", "marked", "visits", "nasty", "baskets"],
        Load::Light if function.has("row_column") => &["edges", "edges", "edges", "people", "nothing"],
        Load::Light if function.has("column_name") => &[
            "baskets",
            "baskets",
            "visits",
            "people",
            "duplicates",
            "nothing",
            "nasty",
            "single",
        ],
        Load::Light if function.has("released") || function.has("anonymised") || function.has("original") => {
            &["numbers", "numbers", "people", "nothing", "single", "duplicates"]
        }
        Load::Light => &[
            "people",
            "people",
            "numbers",
            "duplicates",
            "single",
            "nothing",
            "Weird \"name",
            "parted",
            "seen",
            "kept",
            "baskets",
            "nasty",
            "no_columns",
            "guarded",
        ],
    };
    world.table(names[rng.random_range(0..names.len())])
}

/// Returns SQL that casts a text to a type.
pub fn cast(text: &str, kind: &Type) -> String {
    format!("{}::{}", quote_text(text), type_name(kind))
}

fn cast_null(kind: &Type) -> String {
    format!("NULL::{}", type_name(kind))
}

fn type_name(kind: &Type) -> String {
    format!("{}{}", kind.sql, if kind.is_array { "[]" } else { "" })
}

fn array_of(kind: &Type) -> Type {
    Type {
        is_array: true,
        ..kind.clone()
    }
}
