//! Plausible arguments, by their types and names.

use super::{Caller, Load, array_of, cast};
use crate::world::{Argument, Table, Type, quote_name, quote_text};
use rand::RngExt;

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
const METHODS: [&str; 18] = [
    "auto",
    "exact",
    "o_estimate",
    "simulate",
    "heuristic",
    "bethe",
    "sample",
    "marginals",
    "random",
    "mda",
    "tba",
    "wba",
    "gba",
    "rba",
    "place",
    "os",
    "add",
    "complete",
];
const LABELS: [&str; 9] = [
    "quasi",
    "sensitive",
    "identifier",
    "person",
    "household",
    "weight",
    "ignore",
    "likelihood=0.5 danger=0.1",
    "likelihood=1 danger=0",
];
/// Columns that are meaningful to functions, if a table has them.
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

impl<'a> Caller<'a> {
    /// Returns a meaningful column of a table, or any column.
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

    /// Returns a plausible argument.
    pub(super) fn good(&mut self, argument: &Argument) -> String {
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
                if ["subset", "contexts"].contains(&argument.name.as_str()) {
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
            "entry_column" | "from_column" if has("entry") => "entry".to_owned(),
            "code_column" | "to_column" if has("code") => "code".to_owned(),
            "weight_column" | "probability_column" if has("p") => "p".to_owned(),
            "id" | "key" if has("id") => "id".to_owned(),
            "corpus_column" => self.likely_column(self.corpus),
            "schema_name" => "sweep".to_owned(),
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
            "density_bounds" => {
                let numbers = ["0.2", "0.4", "0.6"].map(str::to_owned).to_vec();
                self.array(kind, numbers)
            }
            // Only functions of Postgres: one of ours would be cancelled instead of the function under test.
            _ if self.load == Load::Heavy => format!(
                "(SELECT pg_catalog.array_agg(r) FROM (SELECT pg_catalog.array_agg(pg_catalog.mod(i * 7919 + j * 104729 + i * j, 997) / 1000.0::pg_catalog.{0}) AS r \
                 FROM pg_catalog.generate_series(1, {1}) i, pg_catalog.generate_series(1, {1}) j GROUP BY i) r)::{2}[]",
                "float8", self.size, kind.sql
            ),
            _ if self.load == Load::Least => {
                self.grid(kind, |caller| caller.pick(&["0.25", "0.5", "1"]).to_owned())
            }
            _ => self.grid(kind, |caller| {
                caller.pick(&["0", "0.25", "0.5", "1", "1", "2"]).to_owned()
            }),
        }
    }

    fn good_texts(&mut self, argument: &Argument) -> String {
        let kind = &argument.kind;
        match argument.name.as_str() {
            "pairs" | "itemsets" => cast(
                self.pick(&["{{knee,injury},{knee,icd}}", "{{knee,NULL},{icd,limbs}}", "{}"]),
                &array_of(kind),
            ),
            "interest" => cast(
                self.pick(&["{knee,icd}", "{knee,injury,limbs}", "{}"]),
                &array_of(kind),
            ),
            "generalised" if self.load == Load::Least => {
                cast("{blood pressure,icd,limbs,injury}", &array_of(kind))
            }
            "methods" => cast(
                self.pick(&["{rba}", "{random,mda,tba}", "{wba,gba}", "{place}"]),
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
            "preset" if self.load != Load::Light => "standard".to_owned(),
            "preset" => self
                .pick(&["standard", "k5", "wp216", "hipaa_safe_harbor"])
                .to_owned(),
            "unlabelled" => self.pick(&["judge", "refuse"]).to_owned(),
            "on_rows" => self.pick(&["block", "drop", "warn"]).to_owned(),
            "statistic" => self.pick(&["maximum", "average", "share"]).to_owned(),
            "unit" if self.load != Load::Light => "person".to_owned(),
            "unit" => self.pick(&["person", "household", "row"]).to_owned(),
            "by" if self.load != Load::Light => "row".to_owned(),
            "by" => self.pick(&["row", "person"]).to_owned(),
            "group_by" => self
                .pick(&["combination", "columns", "column", "value"])
                .to_owned(),
            "order_by" => self.pick(&["weight", "people"]).to_owned(),
            "combine" => self.pick(&["mean", "nearest"]).to_owned(),
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
            "hierarchies" => self
                .pick(&[
                    "{\"diagnosis\": \"sweep.levels\"}",
                    "{\"age\": \"sweep.levels\"}",
                    "{}",
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
                                "\"person\"",
                                "\"household\"",
                                "\"weight\"",
                                "{\"likelihood\": 0.5}",
                                "{\"danger\": {\"flu\": 1, \"*\": 0.3}}",
                                "{\"bins\": 2}",
                                "{\"width\": 10}",
                                "{\"prefixes\": [1, 2]}",
                                "{\"pattern\": \"^(.)\"}",
                                "\"sensitive nulls=value\"",
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

    /// Returns a value of an enum or of a type of the extension, or otherwise a word.
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
                self.pick(&["0.1", "median", "mean", "point", "ignorant", "1", "sweep.people"]),
                kind,
            ),
        }
    }
}
