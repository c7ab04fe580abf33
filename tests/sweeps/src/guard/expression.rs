//! Generates expressions, and remembers which stored columns they are made of.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeSet;

/// Type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Int,
    Text,
    Numeric,
    Date,
    Bool,
}

/// What an adversary does with a stored column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Names a person.
    Identifier,
    /// May be known.
    Known,
    /// Must not be learnt.
    Sensitive,
    /// Has no label: may be known, and must not be learnt.
    Unlabelled,
}

/// Columns of every protected table in tests/sweeps/guard.sql.
pub const COLUMNS: [(&str, Kind, Role); 10] = [
    ("id", Kind::Int, Role::Identifier),
    ("person", Kind::Text, Role::Identifier),
    ("age", Kind::Int, Role::Known),
    ("zip", Kind::Text, Role::Known),
    ("sex", Kind::Text, Role::Known),
    ("weight", Kind::Numeric, Role::Known),
    ("admitted", Kind::Date, Role::Known),
    ("diagnosis", Kind::Text, Role::Sensitive),
    ("severity", Kind::Int, Role::Sensitive),
    ("extra", Kind::Int, Role::Unlabelled),
];

/// A stored column of a protected table in FROM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// Which of the protected tables in FROM.
    pub instance: usize,
    /// Index in [`COLUMNS`].
    pub column: usize,
}

impl Origin {
    /// Returns the role of the stored column.
    pub fn role(self) -> Role {
        COLUMNS[self.column].2
    }
}

/// An expression, as SQL.
#[derive(Clone, Debug)]
pub struct Expression {
    pub sql: String,
    pub kind: Kind,
    /// Stored columns that it is made of.
    pub made_of: BTreeSet<Origin>,
    /// Whether it is a column of a list whose rows may fit several times. The columns by which it is joined leave
    /// then, so its own values tell nothing more.
    pub of_list: bool,
    /// What in it no export may contain, if anything.
    pub outside: Option<&'static str>,
}

impl Expression {
    /// Returns an expression that reads no stored column.
    pub fn constant(sql: &str, kind: Kind) -> Expression {
        Expression {
            sql: sql.to_owned(),
            kind,
            made_of: BTreeSet::new(),
            of_list: false,
            outside: None,
        }
    }

    /// Returns whether it is made of a column with this role.
    pub fn has(&self, role: Role) -> bool {
        self.made_of.iter().any(|origin| origin.role() == role)
    }

    /// Returns the expression under another name.
    pub fn named(&self, sql: String) -> Expression {
        Expression { sql, ..self.clone() }
    }
}

/// Returns one of the values.
pub fn pick<'a, T>(rng: &mut Pcg64Mcg, values: &'a [T]) -> &'a T {
    &values[rng.random_range(0..values.len())]
}

/// Functions of one value: what it takes, what it returns, and the SQL in which `@` is the value.
const FUNCTIONS: [(Kind, Kind, &str); 47] = [
    (Kind::Int, Kind::Int, "(@ / 10)"),
    (Kind::Int, Kind::Int, "(@ % 3)"),
    (Kind::Int, Kind::Int, "abs(@)"),
    (Kind::Int, Kind::Int, "(@ + 1)"),
    (Kind::Int, Kind::Int, "(- @)"),
    (Kind::Int, Kind::Int, "coalesce(@, 0)"),
    (Kind::Int, Kind::Int, "nullif(@, 30)"),
    (Kind::Int, Kind::Int, "CASE WHEN @ > 30 THEN 1 ELSE 0 END"),
    (Kind::Int, Kind::Int, "CASE WHEN @ = 2 THEN NULL ELSE @ END"),
    (Kind::Int, Kind::Int, "CASE WHEN @ > 2 THEN @ END"),
    (
        Kind::Int,
        Kind::Text,
        "CASE WHEN @ IN (1, 2, 20, 30) THEN 'low' END",
    ),
    (Kind::Int, Kind::Int, "(60 / (@ - 20))"),
    (Kind::Int, Kind::Text, "(@)::text"),
    (Kind::Int, Kind::Text, "lpad((@)::text, 4, '0')"),
    (Kind::Int, Kind::Numeric, "(@)::numeric"),
    (Kind::Int, Kind::Numeric, "round((@)::numeric / 7, 1)"),
    (Kind::Int, Kind::Bool, "(@ > 30)"),
    (Kind::Int, Kind::Bool, "(@ IN (1, 2, 20, 30))"),
    (Kind::Int, Kind::Bool, "(@ <> 40)"),
    (Kind::Text, Kind::Text, "upper(@)"),
    (Kind::Text, Kind::Text, "left(@, 1)"),
    (Kind::Text, Kind::Text, "left(@, 3)"),
    (Kind::Text, Kind::Text, "md5(@)"),
    (Kind::Text, Kind::Text, "(@ || 'x')"),
    (Kind::Text, Kind::Text, "replace(@, '1', '2')"),
    (Kind::Text, Kind::Text, "coalesce(@, 'none')"),
    (Kind::Text, Kind::Text, "nullif(@, 'hiv')"),
    (
        Kind::Text,
        Kind::Text,
        "CASE @ WHEN 'hiv' THEN NULL WHEN 'flu' THEN 'hiv' ELSE @ END",
    ),
    (
        Kind::Text,
        Kind::Text,
        "CASE WHEN @ IN ('hiv', '1010', 'f') THEN 'a' ELSE 'b' END",
    ),
    (
        Kind::Text,
        Kind::Text,
        "CASE WHEN @ IN ('hiv', 'ulcer', '1010') THEN NULL ELSE @ END",
    ),
    (Kind::Text, Kind::Text, "substring(@ from '[fhu]')"),
    (Kind::Text, Kind::Int, "CASE WHEN @ > 'd' THEN length(@) END"),
    (Kind::Text, Kind::Int, "length(@)"),
    (Kind::Text, Kind::Int, "ascii(@)"),
    (Kind::Text, Kind::Bool, "(@ = '1010')"),
    (Kind::Text, Kind::Bool, "(@ <> 'hiv')"),
    (Kind::Text, Kind::Bool, "(@ IN ('f', 'hiv', 'flu', '1020'))"),
    (Kind::Text, Kind::Bool, "(@ IS NULL)"),
    (Kind::Numeric, Kind::Numeric, "round(@)"),
    (Kind::Numeric, Kind::Numeric, "(@ * 2)"),
    (Kind::Numeric, Kind::Numeric, "(@ + 0.000)"),
    (Kind::Numeric, Kind::Int, "(@)::int"),
    (Kind::Numeric, Kind::Bool, "(@ < 75)"),
    (Kind::Date, Kind::Date, "(@ + 1)"),
    (Kind::Date, Kind::Text, "(@)::text"),
    (Kind::Date, Kind::Int, "(@ - date '2024-01-01')"),
    (Kind::Date, Kind::Bool, "(@ > date '2024-05-01')"),
];

/// Functions of a text that no export may contain, because others have written them, they write, or they pass
/// on what they are given.
const FORBIDDEN: [(&str, &str); 18] = [
    ("mine.tell(@)", "a function of one's own"),
    ("mine.same(@)", "a function of one's own"),
    ("mine.fails(@)", "a function of one's own"),
    ("(@ OPERATOR(mine.>>>) 'a')::text", "an operator of one's own"),
    ("(@)::mine.checked", "a domain of one's own"),
    (
        "to_json(mine.span('a' || @, 'b' || @))::text",
        "a cast of one's own",
    ),
    ("(ARRAY[@]::mine.checked[])[1]::text", "a domain of one's own"),
    ("to_tsquery('simple', repeat(' ', length(@)))::text", "a notice"),
    (
        "xpath('/*', ('<a xmlns=\"' || @ || '\"/>')::xml)::text",
        "a warning",
    ),
    ("set_config('mine.x', @, false)", "a function that writes"),
    (
        "(nextval('mine.counter') * length(@))::text",
        "a function that writes",
    ),
    ("pg_notify('mine', @)::text", "a function that writes"),
    ("pg_advisory_lock(length(@))::text", "a function that writes"),
    ("(random() * length(@))::text", "a volatile function"),
    (
        "query_to_xml('SELECT 1', true, true, @)::text",
        "a function that runs SQL",
    ),
    ("(@)::regclass::text", "a look-up of names"),
    (
        "has_table_privilege('guarded.ward', @)::text",
        "a look-up of names",
    ),
    ("current_setting(@, true)", "a setting"),
];

/// Generates expressions over columns.
pub struct Writer<'a> {
    pub rng: &'a mut Pcg64Mcg,
    pub columns: &'a [Expression],
}

impl Writer<'_> {
    /// Returns a column that `wanted` accepts, or any column if it accepts none.
    pub fn column(&mut self, wanted: impl Fn(&Expression) -> bool) -> Expression {
        let chosen: Vec<&Expression> = self.columns.iter().filter(|&column| wanted(column)).collect();
        match chosen.is_empty() {
            true => pick(self.rng, self.columns).clone(),
            false => (*pick(self.rng, &chosen)).clone(),
        }
    }

    /// Returns a function of the expression, of any kind.
    pub fn function(&mut self, argument: &Expression) -> Expression {
        let kind = argument.kind;
        let fitting: Vec<_> = FUNCTIONS.iter().filter(|(takes, ..)| *takes == kind).collect();
        match fitting.is_empty() {
            true => argument.clone(),
            false => {
                let &&(_, kind, sql) = pick(self.rng, &fitting);
                Expression {
                    kind,
                    ..argument.named(sql.replace('@', &argument.sql))
                }
            }
        }
    }

    /// Returns a condition on the expression.
    pub fn condition(&mut self, argument: &Expression) -> Expression {
        let fitting: Vec<_> = FUNCTIONS
            .iter()
            .filter(|(takes, returns, _)| *takes == argument.kind && *returns == Kind::Bool)
            .collect();
        let sql = match fitting.is_empty() {
            true => "(@ IS NOT NULL)",
            false => pick(self.rng, &fitting).2,
        };
        Expression {
            kind: Kind::Bool,
            ..argument.named(sql.replace('@', &argument.sql))
        }
    }

    /// Returns the expression as one of `kind`.
    pub fn cast(&mut self, argument: &Expression, kind: Kind) -> Expression {
        let sql = match (argument.kind, kind) {
            (from, to) if from == to => "@",
            (Kind::Int, Kind::Numeric) => "(@)::numeric",
            (Kind::Int, Kind::Bool) => "(@ > 1)",
            (Kind::Bool, Kind::Int) => "(@)::int",
            (Kind::Numeric, Kind::Int) => "(@)::int",
            (_, Kind::Text) => "(@)::text",
            (Kind::Text, Kind::Int) => "ascii(@)",
            (Kind::Date, Kind::Int) => "(@ - date '2024-01-01')",
            (_, Kind::Int) => "length((@)::text)",
            (_, Kind::Numeric) => "length((@)::text)::numeric",
            (_, Kind::Bool) => "(@ IS NOT NULL)",
            (_, Kind::Date) => "(date '2024-01-01' + length((@)::text))",
        };
        Expression {
            kind,
            ..argument.named(sql.replace('@', &argument.sql))
        }
    }

    /// Returns an expression that is made of both.
    pub fn mixture(&mut self, one: &Expression, other: &Expression) -> Expression {
        let condition = self.condition(one).sql;
        let (a, b) = (self.cast(one, Kind::Text).sql, self.cast(other, Kind::Text).sql);
        let (kind, sql) = match self.rng.random_range(0..5) {
            0 => (Kind::Text, format!("({a} || {b})")),
            1 => (Kind::Text, format!("coalesce({b}, {a})")),
            2 => (
                other.kind,
                format!("CASE WHEN {condition} THEN {} END", other.sql),
            ),
            3 => (
                Kind::Text,
                format!("CASE WHEN {condition} THEN {b} ELSE {b} || 'x' END"),
            ),
            _ => {
                let sql = format!("CASE WHEN {condition} THEN length({b}) * 1.0 ELSE length({b}) * 1.00 END");
                (Kind::Numeric, sql)
            }
        };
        Expression {
            sql,
            kind,
            made_of: one.made_of.union(&other.made_of).copied().collect(),
            of_list: one.of_list || other.of_list,
            outside: one.outside.or(other.outside),
        }
    }

    /// Returns an expression that no export may contain.
    pub fn forbidden(&mut self, argument: &Expression) -> Expression {
        let text = self.cast(argument, Kind::Text);
        let &(sql, why) = pick(self.rng, &FORBIDDEN);
        Expression {
            outside: Some(why),
            ..text.named(sql.replace('@', &text.sql))
        }
    }
}
