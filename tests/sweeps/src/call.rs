//! Makes up calls: first a plausible one, by the types and names of the arguments, then, if asked, with one or two
//! arguments that are not.

use crate::world::{quote_name, quote_text, Argument, Function, Kind, Table, Type, World};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// How much work the call is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// As little as a call that succeeds can be.
    Least,
    /// Milliseconds, on all sorts of tables.
    Light,
    /// Enough to be cancelled, where the function can take long at all.
    Heavy,
}

/// Makes up the calls of one case.
pub struct Caller<'a> {
    world: &'a World,
    function: &'a Function,
    rng: Pcg64Mcg,
    load: Load,
    main: &'a Table,
    corpus: &'a Table,
    /// Rows and columns of matrices.
    size: usize,
}

const TERMS: [&str; 8] = [
    "knee",
    "injury",
    "icd",
    "limbs",
    "pain",
    "blood pressure",
    "heart disease",
    "nowhere",
];
const METHODS: [&str; 14] = [
    "auto",
    "exact",
    "o_estimate",
    "simulate",
    "heuristic",
    "bethe",
    "sample",
    "random",
    "mda",
    "tba",
    "wba",
    "gba",
    "rba",
    "os",
];
const LABELS: [&str; 6] = [
    "quasi",
    "sensitive",
    "identifier",
    "ignore",
    "likelihood=0.5 danger=0.1",
    "likelihood=1 danger=0",
];
/// Columns that mean something to functions, if a table has them.
const MEANINGFUL: [&str; 12] = [
    "items",
    "terms",
    "diagnosis",
    "codes",
    "tags",
    "body",
    "words",
    "lexemes",
    "documents",
    "vector",
    "item",
    "a=b",
];
/// Large, small and strange numbers.
const INTEGERS: [&str; 8] = ["0", "-1", "1", "2", "1000", "32767", "2147483647", "-2147483648"];
const BIG_INTEGERS: [&str; 5] = [
    "9223372036854775807",
    "-9223372036854775808",
    "4294967296",
    "0",
    "-1",
];
const FLOATS: [&str; 13] = [
    "NaN",
    "Infinity",
    "-Infinity",
    "1e308",
    "-1e308",
    "5e-324",
    "1e-300",
    "-0",
    "0",
    "-1",
    "1.0000000000000002",
    "0.9999999999999999",
    "1e16",
];
const TEXTS: [&str; 9] = [
    "",
    "'",
    "\"",
    "\\",
    "é 漢字 🙂",
    "%s",
    "a=b",
    "NULL",
    "; SELECT 1 --",
];
const DOCUMENTS: [&str; 12] = [
    "1e400",
    "{\"id\": {\"likelihood\": 1e400}}",
    "[[1e400]]",
    "{}",
    "[]",
    "null",
    "\"\"",
    "[null]",
    "{\"\": null}",
    "[[[]]]",
    "{\"id\": {\"danger\": {\"*\": -1}}}",
    "-0.0",
];
const INTERVALS: [&str; 6] = [
    "0",
    "-1 s",
    "1 ms",
    "178000000 years",
    "-178000000 years",
    "1 mon",
];

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

    /// Returns random numbers for what else the case has to decide.
    pub fn rng(&mut self) -> &mut Pcg64Mcg {
        &mut self.rng
    }

    /// Returns a call with arguments that make sense, up to `changes` of them replaced by nasty ones.
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

    fn plausible(&mut self) -> Vec<Option<String>> {
        let function = self.function;
        let mut values = Vec::new();
        for argument in &function.arguments {
            // Defaults are good choices, mostly.
            // Of some pairs of arguments, one has to be given.
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

    /// Returns a meaningful column of a table, or any.
    fn likely_column(&mut self, table: &Table) -> String {
        let likely: Vec<&str> = MEANINGFUL
            .into_iter()
            .filter(|name| table.columns.iter().any(|c| c == name))
            .collect();
        match likely.first() {
            Some(likeliest) if self.load == Load::Least => likeliest.to_string(),
            None => self.column(table),
            Some(_) if self.chance(0.2) => self.column(table),
            Some(_) => self.pick(&likely).to_owned(),
        }
    }

    fn some_columns(&mut self, table: &Table) -> Vec<String> {
        let mut columns = table.columns.clone();
        let keep = self.rng.random_range(1..5);
        while columns.len() > keep {
            let place = self.rng.random_range(0..columns.len());
            columns.remove(place);
        }
        columns
    }

    /// Returns the table that an argument of this name stands for.
    fn table_for(&mut self, argument: &str) -> &'a Table {
        let large = self.load == Load::Heavy;
        let name = match argument {
            "corpus" => &self.corpus.name,
            "truth" if large => "large_truth",
            "truth" => "truth",
            "belief" => "beliefs",
            "itemset_table" => "itemsets",
            "distances" if self.load == Load::Least => "distances",
            "distances" => self.pick(&["distances", "odd_distances"]),
            "released" | "anonymised" | "releases" => match self.main.name.as_str() {
                "people" => "released",
                "numbers" => "numbers_released",
                "visits" => "marked",
                "large" => "large_released",
                "large_visits" => "large_marked",
                other => other,
            },
            _ => &self.main.name,
        };
        self.world.table(name)
    }

    /// Returns an argument that makes sense.
    fn good(&mut self, argument: &Argument) -> String {
        if argument.is_variadic {
            return self.some_values();
        }
        let kind = &argument.kind;
        match (kind.name.as_str(), kind.is_array) {
            ("regclass", false) => self.relation(&argument.name),
            ("regclass", true) => {
                let one = self.relation(&argument.name);
                format!("ARRAY[{one}]")
            }
            ("name", false) => {
                let column = self.named_column(&argument.name);
                cast(&column, kind)
            }
            ("name", true) => {
                let columns = match self.function.has("subject") && !self.chance(0.2) {
                    true => self.main.columns.clone(), // one for each field
                    false => self.some_columns(self.main),
                };
                self.array(kind, columns)
            }
            ("float8" | "float4" | "numeric", true) => self.good_numbers(argument),
            ("int4" | "int8" | "int2", true) => {
                let mut places: Vec<String> = (1..=self.size).map(|place| place.to_string()).collect();
                if argument.name == "subset" {
                    places.truncate(2);
                }
                self.array(kind, places)
            }
            ("text", true) => self.good_texts(argument),
            ("text" | "varchar", false) => {
                let text = self.good_text(&argument.name);
                cast(&text, kind)
            }
            ("jsonb" | "json", false) => {
                let document = self.good_document(&argument.name);
                cast(&document, kind)
            }
            ("int4" | "int8" | "int2", false) => {
                let number = match self.load {
                    Load::Least => "2",
                    Load::Light => self.pick(&["0", "1", "1", "2", "2", "3", "5", "10"]),
                    Load::Heavy => self.pick(&["1", "2", "3", "5", "10", "50", "1000", "5000"]),
                };
                cast(number, kind)
            }
            ("float8" | "float4" | "numeric", false) => {
                let number = match self.load {
                    Load::Least if argument.name == "at_least" => "2",
                    Load::Least => "0.5",
                    _ => self.pick(&["0", "0.1", "0.5", "0.5", "0.9", "1", "2", "10"]),
                };
                cast(number, kind)
            }
            ("interval", false) => cast(self.pick(&["1 s", "10 ms", "1 min"]), kind),
            ("bool", false) => cast(self.pick(&["true", "false"]), kind),
            ("regrole", false) => cast(&quote_name(&self.world.role), kind),
            ("oid", false) => cast("701", kind), // float8
            ("cstring", false) => {
                let made: Vec<&str> = self
                    .world
                    .own_values
                    .iter()
                    .map(|(_, value)| value.as_str())
                    .chain(["{{0.5,1},{1,2}}", "0.5"])
                    .collect();
                cast(self.pick(&made), kind)
            }
            ("record", false) => self.pick(&["r", "r", "ROW(r.*)"]).to_owned(),
            ("anyarray" | "anycompatiblearray", _) => self
                .pick(&[
                    "ARRAY['knee', 'icd']::pg_catalog.text[]",
                    "ARRAY[1, 2]",
                    "'{}'::pg_catalog.text[]",
                ])
                .to_owned(),
            ("anyelement" | "any" | "anynonarray" | "anycompatible" | "anyenum", _) => self.value(),
            _ => self.own_value(kind),
        }
    }

    fn relation(&mut self, argument: &str) -> String {
        format!(
            "{}::pg_catalog.regclass",
            quote_text(&self.table_for(argument).sql)
        )
    }

    fn named_column(&mut self, argument: &str) -> String {
        let main = self.main;
        let has = |name: &str| main.columns.iter().any(|column| column == name);
        match argument {
            "row_column" if has("entry") => "entry".to_owned(),
            "column_column" if has("code") => "code".to_owned(),
            "weight_column" if has("p") => "p".to_owned(),
            "id" | "key" if has("id") => "id".to_owned(),
            "corpus_column" => self.likely_column(self.corpus),
            _ => self.likely_column(main),
        }
    }

    /// Returns a column of the table that the call reads.
    fn value(&mut self) -> String {
        match self.main.columns.is_empty() {
            true => "1".to_owned(),
            false => format!("r.{}", quote_name(&self.column(self.main))),
        }
    }

    fn some_values(&mut self) -> String {
        if self.chance(0.3) {
            return "r".to_owned();
        }
        let mut values: Vec<String> = (0..self.rng.random_range(1..4)).map(|_| self.value()).collect();
        // Options come last.
        if self.chance(0.3) {
            values.push(self.pick(&["'wildcard'", "'value'", "'x'", "NULL"]).to_owned());
        }
        values.join(", ")
    }

    fn array(&mut self, kind: &Type, elements: Vec<String>) -> String {
        let quoted: Vec<String> = elements.iter().map(|element| quote_text(element)).collect();
        format!("ARRAY[{}]::{}[]", quoted.join(", "), kind.sql)
    }

    fn grid(&mut self, kind: &Type, element: impl Fn(&mut Self) -> String) -> String {
        let rows: Vec<String> = (0..self.size)
            .map(|_| {
                let row: Vec<String> = (0..self.size).map(|_| element(self)).collect();
                format!("{{{}}}", row.join(","))
            })
            .collect();
        format!("'{{{}}}'::{}[]", rows.join(","), kind.sql)
    }

    fn good_numbers(&mut self, argument: &Argument) -> String {
        let kind = &argument.kind;
        match argument.name.as_str() {
            "candidates" | "fractions" | "v" => {
                let numbers = ["0.1", "0.5", "1", "5"].map(str::to_owned).to_vec();
                self.array(kind, numbers)
            }
            // Without a function of ours, which would be cancelled instead.
            _ if self.load == Load::Heavy => format!(
                "(SELECT pg_catalog.array_agg(r) FROM (SELECT pg_catalog.array_agg(pg_catalog.mod(i * 7919 + j * 104729 + i * j, 997) / 1000.0::pg_catalog.{0}) AS r \
                 FROM pg_catalog.generate_series(1, {1}) i, pg_catalog.generate_series(1, {1}) j GROUP BY i) r)::{2}[]",
                "float8", self.size, kind.sql
            ),
            _ if self.load == Load::Least => self.grid(kind, |caller| caller.pick(&["0.25", "0.5", "1"]).to_owned()),
            _ => self.grid(kind, |caller| caller.pick(&["0", "0.25", "0.5", "1", "1", "2"]).to_owned()),
        }
    }

    fn good_texts(&mut self, argument: &Argument) -> String {
        let kind = &argument.kind;
        match argument.name.as_str() {
            "pairs" | "itemsets" => cast(
                self.pick(&["{{knee,injury},{knee,icd}}", "{{knee,NULL},{icd,limbs}}", "{}"]),
                &array_of(kind),
            ),
            "generalised" if self.load == Load::Least => {
                cast("{blood pressure,icd,limbs,injury}", &array_of(kind))
            }
            "methods" => cast(
                self.pick(&["{rba}", "{random,mda,tba}", "{wba,gba}"]),
                &array_of(kind),
            ),
            _ => {
                let terms = (0..self.rng.random_range(1..5))
                    .map(|_| self.pick(&TERMS).to_owned())
                    .collect();
                self.array(kind, terms)
            }
        }
    }

    fn good_text(&mut self, argument: &str) -> String {
        match argument {
            "method" => self.pick(&METHODS).to_owned(),
            "measure" if self.load == Load::Least => "k_anonymity".to_owned(),
            "measure" => self
                .pick(&["k_anonymity", "privacy_score", "expected_cracks"])
                .to_owned(),
            "label" => self.pick(&LABELS).to_owned(),
            "on_rows" => self.pick(&["block", "drop", "warn"]).to_owned(),
            "statistic" => self.pick(&["maximum", "average", "share"]).to_owned(),
            "vulnerability" => self.pick(&["gap", "normalised"]).to_owned(),
            "rule" => self.pick(&["together", "repeated"]).to_owned(),
            "view_name" => "sweep.made".to_owned(),
            "relation" => self.main.sql.clone(),
            "query" => match self.chance(0.3) {
                true => "TABLE sweep.guarded".to_owned(),
                false => format!("SELECT * FROM {}", self.main.sql),
            },
            _ => self.pick(&TERMS).to_owned(),
        }
    }

    fn good_document(&mut self, argument: &str) -> String {
        match argument {
            "privacy" | "utility" => self
                .pick(&[
                    "[[\"knee\"], [\"icd\", \"injury\"]]",
                    "[[\"knee\", \"icd\", \"injury\", \"limbs\"]]",
                    "[[\"w1\"], [\"w2\", \"w3\"]]",
                ])
                .to_owned(),
            "scoring" => self
                .pick(&[
                    "{\"unseen\": 0.5}",
                    "{\"plurals\": true}",
                    "{\"documents\": 100}",
                    "{\"config\": \"english\"}",
                ])
                .to_owned(),
            _ => {
                let described: Vec<String> = self
                    .some_columns(self.main)
                    .iter()
                    .map(|column| {
                        let about = match argument {
                            "orders" => {
                                self.pick(&["[1, 2, 3]", "[\"flu\", \"hiv\"]", "\"sweep.distances\""])
                            }
                            _ => self.pick(&[
                                "\"quasi\"",
                                "\"sensitive\"",
                                "\"ignore\"",
                                "{\"likelihood\": 0.5}",
                                "{\"danger\": {\"flu\": 1, \"*\": 0.3}}",
                                "{\"bins\": 2}",
                                "{\"width\": 10}",
                            ]),
                        };
                        format!(
                            "\"{}\": {about}",
                            column.replace('\\', "\\\\").replace('"', "\\\"")
                        )
                    })
                    .collect();
                format!("{{{}}}", described.join(", "))
            }
        }
    }

    /// Returns a value of an enum, of a type of the extension, or at least a word.
    fn own_value(&mut self, kind: &Type) -> String {
        if !kind.labels.is_empty() {
            let place = self.rng.random_range(0..kind.labels.len());
            return cast(&kind.labels[place], kind);
        }
        let made: Vec<&str> = self
            .world
            .own_values
            .iter()
            .filter(|(name, _)| *name == kind.name)
            .map(|(_, value)| value.as_str())
            .collect();
        if !made.is_empty() {
            return cast(self.pick(&made), kind);
        }
        match kind.is_ours && kind.name.contains("matrix") {
            true => {
                let numbers = Type {
                    name: "float8".to_owned(),
                    sql: "pg_catalog.float8".to_owned(),
                    ..Type::default()
                };
                let grid = self.grid(&numbers, |caller| caller.pick(&["0.5", "1", "1", "2"]).to_owned());
                format!("{grid}::{}", kind.sql)
            }
            false => cast(
                self.pick(&["0.1", "median", "mean", "point", "ignorant", "1"]),
                kind,
            ),
        }
    }

    /// Returns an argument of the right type that is not what anybody would say.
    fn nasty(&mut self, argument: &Argument) -> String {
        let kind = &argument.kind;
        if self.chance(0.1) && !argument.is_variadic && !kind.name.starts_with("any") && kind.name != "record"
        {
            return cast_null(kind);
        }
        match (kind.name.as_str(), kind.is_array) {
            ("regclass", _) => self.nasty_relation(kind),
            ("name", false) => cast(
                self.pick(&["", "no such column", "ID", "ctid", "tableoid", "a\"b", "id; --"]),
                kind,
            ),
            (
                "any" | "anyelement" | "anynonarray" | "anycompatible" | "record" | "anyarray"
                | "anycompatiblearray",
                _,
            ) => self.nasty_value(kind),
            (_, true) => self.nasty_array(kind),
            ("int4" | "int2", false) => cast(self.pick(&INTEGERS), kind),
            ("int8" | "oid", false) => cast(self.pick(&BIG_INTEGERS), kind),
            ("float8" | "float4" | "numeric", false) => cast(self.pick(&FLOATS), kind),
            ("interval", false) => cast(self.pick(&INTERVALS), kind),
            ("jsonb" | "json", false) => self.nasty_document(kind),
            ("text" | "varchar" | "cstring", false) => self.nasty_text(kind),
            ("bytea", false) => cast(
                self.pick(&[
                    "\\x",
                    "\\x00",
                    "\\x01ff00ff",
                    "\\xffffffffffffffffffffffffffffffff",
                ]),
                kind,
            ),
            _ if kind.is_ours && kind.labels.is_empty() => self.mutated(kind),
            _ => self.good(argument),
        }
    }

    fn nasty_relation(&mut self, kind: &Type) -> String {
        let names = [
            "pg_catalog.pg_class",
            "sweep.counter",
            "pg_catalog.pg_class_oid_index",
            "0",
            "4294967295",
            "sweep.nothing",
            "sweep.no_columns",
            "sweep.single",
            "sweep.\"Weird \"\"name\"",
            "sweep.parted",
            "sweep.seen",
            "sweep.kept",
            "sweep.nasty",
            "pg_catalog.pg_settings",
            "sweep.guarded",
        ];
        let one = format!("{}::pg_catalog.regclass", quote_text(self.pick(&names)));
        match kind.is_array {
            true => self
                .pick(&[
                    "ARRAY[X]",
                    "ARRAY[X, NULL]",
                    "ARRAY[X, X]",
                    "ARRAY[ARRAY[X]]",
                    "'{}'::pg_catalog.regclass[]",
                ])
                .replace('X', &one),
            false => one,
        }
    }

    fn nasty_value(&mut self, kind: &Type) -> String {
        match kind.name.as_str() {
            "record" => self
                .pick(&[
                    "ROW()",
                    "ROW(1, NULL)",
                    "NULL::pg_catalog.record",
                    "ROW(ROW(ROW(1)), '{}'::pg_catalog.jsonb)",
                    "ROW(r, r)",
                ])
                .to_owned(),
            "anyarray" | "anycompatiblearray" => self
                .pick(&[
                    "ARRAY[NULL]::pg_catalog.text[]",
                    "ARRAY[ARRAY[1, 2], ARRAY[3, 4]]",
                    "'[5:6]={1,2}'::pg_catalog.int4[]",
                    "ARRAY['NaN']::pg_catalog.float8[]",
                    "NULL::pg_catalog.text[]",
                    "ARRAY[ROW(1, 2)]",
                ])
                .to_owned(),
            _ => self
                .pick(&[
                    "NULL::pg_catalog.text",
                    "r",
                    "ROW()",
                    "'NaN'::pg_catalog.float8",
                    "'1e400'::pg_catalog.jsonb",
                    "'{}'::pg_catalog.text[]",
                    "r.ctid",
                    "pg_catalog.repeat('x', 100000)",
                    "'(1,2)'::pg_catalog.point",
                    "pg_catalog.now()",
                    "'x'::sweep.mood",
                    "''::pg_catalog.bytea",
                    "ARRAY[NULL, 'x']::pg_catalog.text[]",
                    "'-infinity'::pg_catalog.date",
                    "'1e400'::pg_catalog.numeric",
                ])
                .to_owned(),
        }
    }

    fn nasty_array(&mut self, kind: &Type) -> String {
        let element = match kind.name.as_str() {
            "int2" | "int4" => self.pick(&INTEGERS),
            "int8" | "oid" => self.pick(&BIG_INTEGERS),
            "float4" | "float8" | "numeric" => self.pick(&FLOATS),
            _ => self.pick(&["", "no such", "id", "knee", "'"]),
        };
        let one = cast(
            element,
            &Type {
                is_array: false,
                ..kind.clone()
            },
        );
        let shape = self.pick(&[
            "'{}'::K[]",
            "ARRAY[NULL]::K[]",
            "ARRAY[X]",
            "ARRAY[X, NULL]",
            "ARRAY[X, X]",
            "ARRAY[ARRAY[X, X], ARRAY[X, X]]",
            "ARRAY[ARRAY[X], ARRAY[X]]",
            "ARRAY[ARRAY[ARRAY[X]]]",
            "pg_catalog.array_fill(X, ARRAY[300])",
            "pg_catalog.array_fill(X, ARRAY[3, 3], ARRAY[-5, 7])",
            "ARRAY[ARRAY[X, NULL], ARRAY[X, X]]",
        ]);
        shape.replace('X', &one).replace('K', &kind.sql)
    }

    fn nasty_document(&mut self, kind: &Type) -> String {
        match self.rng.random_range(0..4) {
            0 => format!(
                "(pg_catalog.repeat('[', 200) OPERATOR(pg_catalog.||) pg_catalog.repeat(']', 200))::{}",
                kind.sql
            ),
            1 => {
                let column = self.column(self.main).replace('\\', "\\\\").replace('"', "\\\"");
                let about = self.pick(&[
                    "1e400",
                    "{\"likelihood\": 1e400}",
                    "{\"danger\": -1}",
                    "{\"bins\": 2147483647}",
                    "{\"bins\": 0}",
                    "{\"width\": 1e-300}",
                    "null",
                    "[1e400]",
                    "{\"likelihood\": null}",
                    "[]",
                    "\"\"",
                    "{\"width\": 1e308}",
                ]);
                cast(&format!("{{\"{column}\": {about}}}"), kind)
            }
            _ => cast(self.pick(&DOCUMENTS), kind),
        }
    }

    fn nasty_text(&mut self, kind: &Type) -> String {
        let made: Vec<&str> = self
            .world
            .own_values
            .iter()
            .map(|(_, value)| value.as_str())
            .collect();
        match self.rng.random_range(0..6) {
            0 if kind.name != "cstring" => "pg_catalog.repeat('x', 1000000)".to_owned(),
            // What input functions read.
            1 if kind.name == "cstring" && !made.is_empty() => {
                let text = self.pick(&made).to_owned();
                cast(&self.mutate(&text), kind)
            }
            _ => cast(self.pick(&TEXTS), kind),
        }
    }

    /// Returns the text of a value of the extension with something changed, as input of its type.
    fn mutated(&mut self, kind: &Type) -> String {
        let made: Vec<&str> = self
            .world
            .own_values
            .iter()
            .filter(|(name, _)| *name == kind.name)
            .map(|(_, value)| value.as_str())
            .collect();
        match made.is_empty() {
            true => cast(
                self.pick(&[
                    "",
                    "-1",
                    "NaN",
                    "1e400",
                    "Infinity",
                    "{}",
                    "{{1,2}}",
                    "{{1,NULL},{NaN,1e308}}",
                    "{{{1}}}",
                ]),
                kind,
            ),
            false => {
                let text = self.pick(&made).to_owned();
                cast(&self.mutate(&text), kind)
            }
        }
    }

    fn mutate(&mut self, text: &str) -> String {
        let mut characters: Vec<char> = text.chars().collect();
        for _ in 0..self.rng.random_range(1..3) {
            let place = self.rng.random_range(0..characters.len().max(1));
            match self.rng.random_range(0..4) {
                0 if place < characters.len() => drop(characters.remove(place)),
                1 => characters.truncate(place),
                2 => {
                    let number: Vec<char> = self
                        .pick(&[
                            "18446744073709551615",
                            "9223372036854775807",
                            "-1",
                            "1e400",
                            "0",
                            "null",
                            "[[",
                            "\"\"",
                        ])
                        .chars()
                        .collect();
                    // In the place of a number, if there is one.
                    let digits = characters
                        .iter()
                        .enumerate()
                        .skip(place)
                        .find(|(_, c)| c.is_ascii_digit())
                        .map(|(at, _)| at);
                    match digits {
                        Some(at) => drop(characters.splice(at..=at, number)),
                        None => characters.extend(number),
                    }
                }
                _ => {
                    let new = self.pick(&["x", "\"", "{", "}", "[", ",", "é", "9"]).chars();
                    drop(characters.splice(place.min(characters.len())..place.min(characters.len()), new));
                }
            }
        }
        characters.into_iter().collect()
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
                // Those that follow can only be left out as well.
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

/// Writes a text as a value of a type.
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
