//! Generates queries over the protected tables: as the hostile role exports them, and as the superuser asks
//! whose rows they show.

use super::expression::{COLUMNS, Expression, Kind, Origin, Role, Writer, pick};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use reference::guard::Policy;
use std::collections::BTreeSet;

/// Names of the protected tables in tests/sweeps/guard.sql.
pub const TABLES: [&str; 3] = ["ward", "clinic", "registry"];

/// Returns the policies of a protected table.
pub fn policies(table: usize) -> Vec<Policy> {
    let class = |k| Policy {
        min_people: k,
        k: Some(k),
        ..Policy::default()
    };
    let score = Policy {
        min_people: 5,
        min_confidence: Some(0.9),
        ..Policy::default()
    };
    let figure = Policy {
        min_people: 1,
        ..Policy::default()
    };
    match TABLES[table] {
        "ward" => vec![
            class(2),
            Policy {
                l_distinct: Some(2),
                ..figure
            },
        ],
        "clinic" => vec![
            class(3),
            score,
            Policy {
                share_below_5: Some(0.8),
                ..figure
            },
        ],
        _ => vec![
            score,
            Policy {
                alpha: Some(0.8),
                ..figure
            },
        ],
    }
}

/// Returns why a column with this role must not leave a protected table, if it must not.
fn forbidden(table: usize, role: Role) -> Option<&'static str> {
    match (TABLES[table], role) {
        ("clinic", Role::Unlabelled) => Some("a column without a label"),
        ("registry", Role::Identifier) => Some("an identifier"),
        _ => None,
    }
}

/// A protected table in FROM.
pub struct Instance {
    /// Index in [`TABLES`].
    pub table: usize,
    /// Number of the person that its row is about: tables that are joined by person share one.
    pub subject: usize,
    alias: String,
}

/// Intentions of who writes a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// Wants coarse data about many people.
    Honest,
    /// Wants to know more than that, in the language of exports.
    Curious,
    /// Uses what no export may contain.
    Hostile,
}

/// One SELECT.
pub struct Branch {
    /// Output columns.
    pub outputs: Vec<Expression>,
    /// Conditions, those of inner joins included.
    pub conditions: Vec<Expression>,
    /// Values that the number of rows shows, because a join by them may find several.
    pub compared: Vec<Expression>,
    /// Protected tables in FROM.
    pub instances: Vec<Instance>,
    columns: Vec<Expression>,
    with: Vec<String>,
    from: String,
    from_truth: String,
    filters: Vec<String>,
}

/// A query: one SELECT, or several in a UNION ALL.
pub struct Query {
    /// The SELECTs.
    pub branches: Vec<Branch>,
    end: String,
}

impl Query {
    /// Writes a query.
    pub fn write(rng: &mut Pcg64Mcg, mood: Mood) -> Query {
        let first = Branch::write(rng, mood, None);
        let kinds: Vec<Kind> = first.outputs.iter().map(|output| output.kind).collect();
        let mut branches = vec![first];
        while mood != Mood::Honest && branches.len() < 3 && rng.random_bool(0.12) {
            branches.push(Branch::write(rng, mood, Some(&kinds)));
        }
        let mut end = String::new();
        if branches.len() == 1 && rng.random_bool(0.2) {
            end += &format!(" ORDER BY {}", rng.random_range(1..=kinds.len()));
        }
        if branches.len() == 1 && rng.random_bool(0.1) {
            end += &format!(" LIMIT {}", rng.random_range(3..30));
        }
        Query { branches, end }
    }

    /// Returns whether only some of the rows that satisfy the conditions leave.
    pub fn is_cut(&self) -> bool {
        self.end.contains("LIMIT")
    }

    /// Returns the query as it is exported.
    pub fn export(&self) -> String {
        let with: Vec<&str> = self
            .branches
            .iter()
            .flat_map(|b| &b.with)
            .map(String::as_str)
            .collect();
        let with = match with.is_empty() {
            true => String::new(),
            false => format!("WITH {} ", with.join(", ")),
        };
        let branches: Vec<String> = self.branches.iter().map(Branch::export).collect();
        format!("{with}{}{}", branches.join(" UNION ALL "), self.end)
    }

    /// Returns, for a branch, the query that also returns whose rows these are: after the outputs come four
    /// columns for every protected table in FROM, the row's key, its person and the sensitive columns as stored, and
    /// the compared values.
    pub fn truth(&self, branch: usize) -> String {
        format!("{}{}", self.branches[branch].truth(), self.end)
    }

    /// Returns what in the query no export may contain, if anything.
    pub fn outside(&self) -> Option<&'static str> {
        self.branches.iter().find_map(Branch::outside)
    }
}

impl Branch {
    /// Writes a SELECT whose outputs are of these kinds, if any are given.
    fn write(rng: &mut Pcg64Mcg, mood: Mood, kinds: Option<&[Kind]>) -> Branch {
        let mut branch = Branch {
            outputs: Vec::new(),
            conditions: Vec::new(),
            compared: Vec::new(),
            instances: Vec::new(),
            columns: Vec::new(),
            with: Vec::new(),
            from: String::new(),
            from_truth: String::new(),
            filters: Vec::new(),
        };
        // Names of CTEs must differ between branches.
        let alias = format!("{}{}", pick(rng, &["a", "t", "v"]), rng.random_range(0..1000));
        let table = rng.random_range(0..TABLES.len());
        let (export, truth) = branch.source(rng, mood, table, &alias);
        branch.from = export;
        branch.from_truth = truth;
        let joins = match mood {
            Mood::Honest => u32::from(rng.random_bool(0.2)),
            _ => rng.random_range(0..3),
        };
        for join in 0..joins {
            match mood {
                Mood::Honest => branch.look_up(rng, join),
                _ => branch.join(rng, join),
            }
        }
        branch.write_conditions(rng, mood);
        let count = kinds.map_or_else(|| rng.random_range(1..4), <[Kind]>::len);
        for place in 0..count {
            let mut output = branch.output(rng, mood, place);
            if let Some(kinds) = kinds {
                output = branch.writer(rng).cast(&output, kinds[place]);
            }
            branch.outputs.push(output);
        }
        branch
    }

    fn writer<'a>(&'a self, rng: &'a mut Pcg64Mcg) -> Writer<'a> {
        Writer {
            rng,
            columns: &self.columns,
        }
    }

    /// Adds the columns of a protected table: read plainly, by a subquery, a CTE, or a view of the owner or of
    /// one's own. Returns its SQL in FROM, and that for the truth.
    fn source(&mut self, rng: &mut Pcg64Mcg, mood: Mood, table: usize, alias: &str) -> (String, String) {
        let instance = self.instances.len();
        let name = TABLES[table];
        let stored: Vec<Expression> = COLUMNS
            .iter()
            .enumerate()
            .map(|(column, &(name, kind, _))| Expression {
                sql: name.to_owned(),
                kind,
                made_of: BTreeSet::from([Origin { instance, column }]),
                of_list: false,
                outside: None,
            })
            .collect();
        self.instances.push(Instance {
            table,
            subject: instance,
            alias: alias.to_owned(),
        });
        let keys = "id AS t_id, person AS t_person, diagnosis AS t_diagnosis, severity AS t_severity";
        let style = rng.random_range(0..if instance == 0 { 8 } else { 1 });
        if style < 4 {
            let named = |column: &Expression| column.named(format!("{alias}.{}", column.sql));
            self.columns.extend(stored.iter().map(named));
            return (
                format!("guarded.{name} {alias}"),
                format!("(SELECT *, {keys} FROM guarded.{name}) {alias}"),
            );
        }
        if style < 6 {
            return self.view(rng, &stored, name, alias, keys);
        }
        let mut writer = Writer {
            rng,
            columns: &stored,
        };
        let mut body = Vec::new();
        for place in 0..5 {
            let column = match mood {
                Mood::Honest => writer.column(|column| !column.has(Role::Identifier)),
                _ => writer.column(|_| true),
            };
            let column = match place % 2 {
                0 => column,
                _ => writer.function(&column),
            };
            body.push(format!("{} AS c{place}", column.sql));
            self.columns.push(column.named(format!("{alias}.c{place}")));
        }
        let mut filter = String::new();
        if writer.rng.random_bool(0.3) {
            let column = writer.column(|column| column.has(Role::Known));
            let condition = writer.condition(&column);
            filter = format!(" WHERE {}", condition.sql);
            self.conditions.push(condition);
        }
        let (body, from) = (body.join(", "), format!("FROM guarded.{name}{filter}"));
        let truth = format!("(SELECT {body}, {keys} {from}) {alias}");
        match style {
            6 => (format!("(SELECT {body} {from}) {alias}"), truth),
            _ => {
                self.with.push(format!("{alias} AS (SELECT {body} {from})"));
                (alias.to_owned(), truth)
            }
        }
    }

    /// Adds the columns of a view in tests/sweeps/guard.sql.
    fn view(
        &mut self,
        rng: &mut Pcg64Mcg,
        stored: &[Expression],
        table: &str,
        alias: &str,
        keys: &str,
    ) -> (String, String) {
        let is_own = rng.random_bool(0.5);
        let filter = match (is_own, table) {
            (false, "clinic") => " WHERE age < 50",
            _ => "",
        };
        let (schema, decade, area) = match is_own {
            true => ("mine", "age + 1", "zip || ''"),
            false => ("guarded", "age / 10", "left(zip, 2)"),
        };
        for (name, place) in [("decade", 2), ("area", 3), ("sex", 4), ("diagnosis", 7)] {
            self.columns.push(stored[place].named(format!("{alias}.{name}")));
        }
        let body = format!("{decade} AS decade, {area} AS area, sex, diagnosis, {keys}");
        (
            format!("{schema}.{table}_view {alias}"),
            format!("(SELECT {body} FROM guarded.{table}{filter}) {alias}"),
        )
    }

    /// Adds an item to FROM that is the same for the export and the truth.
    fn add(&mut self, item: &str) {
        self.from += item;
        self.from_truth += item;
    }

    /// Joins the owner's list of regions.
    fn look_up(&mut self, rng: &mut Pcg64Mcg, number: u32) {
        let zip = |column: &Expression| {
            column
                .made_of
                .iter()
                .any(|origin| COLUMNS[origin.column].0 == "zip")
        };
        let mut writer = self.writer(rng);
        let column = writer.column(|column| zip(column) && column.kind == Kind::Text);
        let mut column = writer.cast(&column, Kind::Text);
        if column.has(Role::Identifier) {
            column.outside = Some("a join by an identifier");
        }
        let is_left = rng.random_bool(0.5);
        let kind = if is_left { "LEFT JOIN" } else { "JOIN" };
        self.add(&format!(
            " {kind} guarded.regions r{number} ON r{number}.zip = {}",
            column.sql
        ));
        if !is_left {
            self.conditions.push(column.clone());
        }
        self.columns.push(Expression {
            kind: Kind::Text,
            ..column.named(format!("r{number}.region"))
        });
    }

    /// Joins a list of one's own, a catalogue, or another protected table.
    fn join(&mut self, rng: &mut Pcg64Mcg, number: u32) {
        // SQL of the list, the column that is compared, and the one that is shown; whether at most one row fits.
        let (list, operator, compared, shown, kind, is_unique) = match rng.random_range(0..9) {
            0 => ("mine.numbers", "=", "n", "n", Kind::Int, true),
            1 => ("mine.numbers", "=", "n", "word", Kind::Int, true),
            2 => ("mine.words", "=", "word", "code", Kind::Text, true),
            3 => ("mine.bag", "=", "word", "code", Kind::Text, false),
            4 => ("mine.numbers", "<", "n", "n", Kind::Int, false),
            5 => (
                "pg_catalog.pg_type",
                "=",
                "oid::int - 16",
                "oid::int",
                Kind::Int,
                false,
            ),
            6 => return self.multiply(number),
            _ if self.instances.len() == 1 => return self.join_protected(rng, number),
            _ => return self.look_up(rng, number),
        };
        let mut writer = self.writer(rng);
        let is_secret = writer.rng.random_bool(0.3);
        let mut column = match is_secret {
            true => writer.column(|column| column.has(Role::Sensitive)),
            false => writer.column(|column| column.kind == kind),
        };
        if is_secret || writer.rng.random_bool(0.3) {
            column = writer.function(&column);
        }
        let mut column = writer.cast(&column, kind);
        if column.has(Role::Identifier) {
            column.outside = Some("a join by an identifier");
        }
        let alias = format!("l{number}");
        let condition = format!("{alias}.{compared} {operator} {}", column.sql);
        let is_left = match rng.random_range(0..3) {
            0 => {
                self.add(&format!(" LEFT JOIN {list} {alias} ON {condition}"));
                true
            }
            1 => {
                self.add(&format!(" JOIN {list} {alias} ON {condition}"));
                false
            }
            _ => {
                self.add(&format!(" CROSS JOIN {list} {alias}"));
                self.filters.push(condition);
                false
            }
        };
        if !is_left {
            self.conditions.push(column.clone());
        }
        if !is_unique {
            self.compared.push(column.clone());
        }
        if !is_unique && is_left {
            // The recipient sees in which rows there was one.
            let found = column.named(format!("({alias}.tableoid IS NOT NULL)"));
            self.compared.push(found);
        }
        let kind = match shown {
            "word" => Kind::Text,
            _ => Kind::Int,
        };
        self.columns.push(Expression {
            kind,
            of_list: !is_unique,
            ..column.named(format!("({alias}.{shown})"))
        });
    }

    /// Adds copies of every row.
    fn multiply(&mut self, number: u32) {
        self.add(&format!(" CROSS JOIN mine.numbers l{number}"));
        self.filters.push(format!("l{number}.n < 3"));
        let column = Expression::constant(&format!("l{number}.n"), Kind::Int);
        self.columns.push(column);
    }

    /// Joins another protected table, by person or by zip.
    fn join_protected(&mut self, rng: &mut Pcg64Mcg, number: u32) {
        let find = |columns: &[Expression], name: &str| {
            let is_plain = |column: &&Expression| column.sql.ends_with(&format!(".{name}"));
            columns.iter().rev().find(is_plain).cloned()
        };
        let by = *pick(rng, &["person", "person", "zip"]);
        let Some(one) = find(&self.columns, by) else {
            return self.multiply(number);
        };
        let table = rng.random_range(0..TABLES.len());
        let alias = format!("o{number}");
        let (export, truth) = self.source(rng, Mood::Curious, table, &alias);
        let Some(other) = find(&self.columns, by) else {
            return;
        };
        let condition = format!("{} = {}", one.sql, other.sql);
        if by == "person" {
            if let Some(instance) = self.instances.last_mut() {
                instance.subject = 0;
            }
        } else {
            self.compared.extend([one, other]);
        }
        self.from += &format!(" JOIN {export} ON {condition}");
        self.from_truth += &format!(" JOIN {truth} ON {condition}");
    }

    fn write_conditions(&mut self, rng: &mut Pcg64Mcg, mood: Mood) {
        let count = match mood {
            Mood::Honest => u32::from(rng.random_bool(0.25)),
            _ => rng.random_range(0..3),
        };
        for _ in 0..count {
            let mut writer = self.writer(rng);
            let column = match (mood, writer.rng.random_range(0..10)) {
                (Mood::Honest, _) | (_, 0..5) => writer.column(|column| {
                    column.has(Role::Known) && !column.has(Role::Sensitive) && !column.has(Role::Identifier)
                }),
                (_, 5..9) => writer.column(|column| column.has(Role::Sensitive)),
                _ => writer.column(|column| column.has(Role::Identifier)),
            };
            let mut condition = writer.condition(&column);
            if mood == Mood::Hostile && writer.rng.random_bool(0.3) {
                let forbidden = writer.forbidden(&column);
                condition = writer.cast(&forbidden, Kind::Bool);
            } else if mood != Mood::Honest && writer.rng.random_bool(0.3) {
                let column = writer.column(|column| column.has(Role::Known));
                let padding = writer.condition(&column);
                let both = condition.made_of.union(&padding.made_of).copied().collect();
                condition = Expression {
                    made_of: both,
                    ..condition.named(format!("({} OR NOT {})", condition.sql, padding.sql))
                };
            }
            if condition.has(Role::Identifier) {
                condition.outside = condition.outside.or(Some("a condition on an identifier"));
            }
            self.filters.push(condition.sql.clone());
            self.conditions.push(condition);
        }
    }

    fn output(&mut self, rng: &mut Pcg64Mcg, mood: Mood, place: usize) -> Expression {
        let mut writer = self.writer(rng);
        if mood == Mood::Honest {
            let role = match place {
                0 => Role::Known,
                _ => Role::Sensitive,
            };
            let column = writer.column(|column| {
                column.has(role) && !column.has(Role::Identifier) && column.kind != Kind::Date
            });
            return match writer.rng.random_range(0..3) {
                0 => writer.function(&column),
                _ => column,
            };
        }
        let column = match writer.rng.random_range(0..4) {
            0 => return Expression::constant("'constant'::text", Kind::Text),
            1 => writer.column(|column| column.has(Role::Sensitive)),
            _ => writer.column(|_| true),
        };
        match writer.rng.random_range(0..8) {
            0..2 => column,
            2..5 => writer.function(&column),
            5 if mood == Mood::Hostile => writer.forbidden(&column),
            _ => {
                let other = writer.column(|column| column.has(Role::Sensitive));
                writer.mixture(&column, &other)
            }
        }
    }

    fn filter(&self) -> String {
        match self.filters.is_empty() {
            true => String::new(),
            false => format!(" WHERE {}", self.filters.join(" AND ")),
        }
    }

    /// Returns the outputs, with names by which CREATE TABLE AS can tell them apart.
    fn list(&self) -> String {
        let outputs = self.outputs.iter().enumerate();
        let named: Vec<String> = outputs
            .map(|(place, output)| format!("{} AS o{place}", output.sql))
            .collect();
        named.join(", ")
    }

    fn export(&self) -> String {
        format!("SELECT {} FROM {}{}", self.list(), self.from, self.filter())
    }

    fn truth(&self) -> String {
        let mut columns = self.list();
        for Instance { alias, .. } in &self.instances {
            columns += &format!(
                ", {alias}.t_id::text, {alias}.t_person, {alias}.t_diagnosis, {alias}.t_severity::text"
            );
        }
        for compared in &self.compared {
            columns += &format!(", ({})::text", compared.sql);
        }
        format!("SELECT {columns} FROM {}{}", self.from_truth, self.filter())
    }

    fn outside(&self) -> Option<&'static str> {
        let mut expressions = self.outputs.iter().chain(&self.conditions).chain(&self.compared);
        expressions.find_map(|expression| {
            let mut origins = expression.made_of.iter();
            let forbidden = |origin: &Origin| forbidden(self.instances[origin.instance].table, origin.role());
            expression.outside.or_else(|| origins.find_map(forbidden))
        })
    }
}
