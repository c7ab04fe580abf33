//! Nasty arguments: of the right types, but with values that hardly anybody would give.

use super::{Caller, cast, cast_null};
use crate::world::{Argument, Type, quote_text};
use rand::RngExt;

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
/// Replacements of quoted strings in texts of the extension's types, such as names of types and of items.
const QUOTED: [&str; 10] = [
    "\"\"",
    "\"-\"",
    "\"0\"",
    "\"999999\"",
    "\"no.such\"",
    "\"text\"",
    "\"int4[]\"",
    "\"sweep.mood\"",
    "\"record\"",
    "null",
];
/// Replacements of numbers in texts of the extension's types, such as counts.
const NUMBERS: [&str; 8] = [
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "-1",
    "1e400",
    "0",
    "null",
    "0.5",
];
const INTERVALS: [&str; 6] = [
    "0",
    "-1 s",
    "1 ms",
    "178000000 years",
    "-178000000 years",
    "1 mon",
];

impl Caller<'_> {
    /// Returns a nasty argument of the right type.
    pub(super) fn nasty(&mut self, argument: &Argument) -> String {
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
            // Input functions parse such texts.
            1 if kind.name == "cstring" && !made.is_empty() => {
                let text = self.pick(&made).to_owned();
                cast(&self.mutate(&text), kind)
            }
            _ => cast(self.pick(&TEXTS), kind),
        }
    }

    /// Returns a changed text of a value of the extension, as input of its type.
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

    /// Changes one or two tokens, mostly into others of their kind, so that the text around them is still
    /// parsed.
    fn mutate(&mut self, text: &str) -> String {
        let mut tokens = tokens(text);
        for _ in 0..self.rng.random_range(1..3) {
            let place = self.rng.random_range(0..tokens.len().max(1));
            let Some(token) = tokens.get(place) else { break };
            let other = match token.chars().next() {
                Some('"') => self.pick(&QUOTED),
                Some('0'..='9') => self.pick(&NUMBERS),
                _ => self.pick(&["", "{", "}", "[", "]", ",", ":", " ", "\"", "x", "é"]),
            };
            match self.rng.random_range(0..8) {
                0 => tokens.truncate(place),
                1 => tokens.insert(place, token.clone()),
                _ => tokens[place] = other.to_owned(),
            }
        }
        tokens.concat()
    }
}

/// Splits a text into quoted strings, numbers and single characters.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let (mut quoted, mut escaped) = (false, false);
    for character in text.chars() {
        let goes_on = |token: &String| {
            quoted || character.is_ascii_digit() && token.chars().all(|c| c.is_ascii_digit())
        };
        match tokens.last_mut().filter(|token| goes_on(token)) {
            Some(token) => token.push(character),
            None => tokens.push(character.to_string()),
        }
        quoted ^= character == '"' && !escaped;
        escaped = character == '\\' && !escaped;
    }
    tokens
}
