//! The functions to call, and the tables and values to call them with. They are read from the catalogue, so
//! that a new function of the extension is swept without being listed here.

use crate::client::{Client, Rows, Trouble};

/// A type of arguments.
#[derive(Clone, Debug, Default)]
pub struct Type {
    /// Name, such as `int4`; the name of the element type if it is an array.
    pub name: String,
    /// Name with its schema, for casts.
    pub sql: String,
    /// Whether it is an array.
    pub is_array: bool,
    /// Whether it belongs to the extension.
    pub is_ours: bool,
    /// Labels, if it is an enum.
    pub labels: Vec<String>,
}

/// An input argument of a function.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Name, empty if it has none.
    pub name: String,
    /// Declared type.
    pub kind: Type,
    /// Whether it may be left out.
    pub has_default: bool,
    /// Whether it stands for any number of arguments.
    pub is_variadic: bool,
}

/// How a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// As an ordinary function, which may return rows.
    Plain,
    /// As an aggregate, over the rows of a table.
    Aggregate,
    /// As a window function, with OVER.
    Window,
}

/// A function of the extension.
#[derive(Clone, Debug)]
pub struct Function {
    /// Quoted name with its schema.
    pub sql: String,
    /// Name with the types of its arguments, for reports.
    pub signature: String,
    /// How it is called.
    pub kind: Kind,
    /// Input arguments.
    pub arguments: Vec<Argument>,
    /// Whether it returns records whose columns are not declared.
    pub is_shapeless: bool,
    /// Whether it is volatile: it may change data, or return a different result each time.
    pub is_volatile: bool,
}

impl Function {
    /// Returns whether the function has an argument of this name.
    pub fn has(&self, argument: &str) -> bool {
        self.arguments.iter().any(|a| a.name == argument)
    }
}

/// A table of the sweeps.
#[derive(Clone, Debug)]
pub struct Table {
    /// Name without its schema, not quoted.
    pub name: String,
    /// Quoted name with its schema.
    pub sql: String,
    /// Names of its columns.
    pub columns: Vec<String>,
}

/// Everything that is needed to make calls.
pub struct World {
    /// Functions that can be called from SQL, sorted.
    pub functions: Vec<Function>,
    /// Number of functions that cannot be called from SQL, such as triggers and parts of aggregates.
    pub not_callable: usize,
    /// Views and tables of the extension, quoted with their schemas.
    pub views: Vec<String>,
    /// Tables of the sweeps, sorted.
    pub tables: Vec<Table>,
    /// Values of the extension's own types: the name of the type, and the value as text.
    pub own_values: Vec<(String, String)>,
    /// Ordinary role that owns the tables.
    pub role: String,
}

/// Selects the functions of the extension, except those in the language `internal`, which are functions of
/// Postgres itself under another name. Aggregates are in that language too, but they are ours.
const FUNCTIONS: &str = "
SELECT p.oid, pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(p.proname), p.oid::pg_catalog.regprocedure, p.prokind,
       (r.typname IN ('trigger', 'event_trigger', 'internal')
         OR EXISTS (SELECT FROM pg_catalog.unnest(p.proargtypes) a WHERE a = 'pg_catalog.internal'::pg_catalog.regtype))::int,
       p.pronargs - p.pronargdefaults, (r.typname = 'record' AND p.proallargtypes IS NULL)::int, (p.provolatile = 'v')::int
  FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
  JOIN pg_catalog.pg_proc p ON p.oid = d.objid JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  JOIN pg_catalog.pg_type r ON r.oid = p.prorettype
 WHERE e.extname = 'pg_disclosure' AND d.deptype = 'e'
   AND (p.prokind = 'a' OR p.prolang <> (SELECT l.oid FROM pg_catalog.pg_language l WHERE l.lanname = 'internal'))
   AND d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass
 ORDER BY p.oid::pg_catalog.regprocedure::text COLLATE \"C\"";

const ARGUMENTS: &str = "
SELECT a.name, e.typname, pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(e.typname),
       (t.typcategory = 'A' AND t.typelem <> 0)::int, (a.mode = 'v')::int,
       (SELECT count(*) FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_type'::pg_catalog.regclass AND d.objid = e.oid AND d.deptype = 'e'),
       (SELECT pg_catalog.string_agg(l.enumlabel, chr(9) ORDER BY l.enumsortorder) FROM pg_catalog.pg_enum l WHERE l.enumtypid = e.oid)
  FROM pg_catalog.pg_proc p,
       unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]),
              coalesce(p.proargmodes, pg_catalog.array_fill('i'::\"char\", ARRAY[p.pronargs::int])), p.proargnames) WITH ORDINALITY a(type, mode, name, place)
  JOIN pg_catalog.pg_type t ON t.oid = a.type
  JOIN pg_catalog.pg_type e ON e.oid = CASE WHEN t.typcategory = 'A' AND t.typelem <> 0 THEN t.typelem ELSE t.oid END
  JOIN pg_catalog.pg_namespace n ON n.oid = e.typnamespace
 WHERE a.mode IN ('i', 'b', 'v') AND p.oid = ";

const VIEWS: &str = "
SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
  FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
  JOIN pg_catalog.pg_class c ON c.oid = d.objid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE e.extname = 'pg_disclosure' AND d.deptype = 'e' AND d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND c.relkind IN ('v', 'r')
 ORDER BY 1";

/// Statements that run triggers, event triggers and the export guard. [`PREPARATION`] comes before each.
const STATEMENTS: [&str; 14] = [
    "ALTER TABLE sweep.guarded RENAME COLUMN age TO years",
    "ALTER TABLE sweep.guarded RENAME TO renamed",
    "ALTER TABLE sweep.guarded ALTER COLUMN age TYPE pg_catalog.text",
    "ALTER TABLE sweep.guarded ADD COLUMN more pg_catalog.int4",
    "ALTER TABLE sweep.guarded DROP COLUMN id",
    "ALTER TABLE sweep.guarded DROP COLUMN age",
    "DROP TABLE sweep.guarded",
    "CREATE TABLE sweep.heir () INHERITS (sweep.guarded)",
    "CREATE TEMP TABLE gone (i pg_catalog.int4); DROP TABLE gone",
    "COPY sweep.guarded TO STDOUT",
    "COPY (SELECT age FROM sweep.guarded) TO STDOUT",
    "CREATE TABLE sweep.copied AS SELECT age FROM sweep.guarded",
    "INSERT INTO sweep.exported VALUES (1, 'a'), (2, 'a'), (3, 'b')",
    "DELETE FROM sweep.exported",
];
const PREPARATION: &str = "SELECT disclosure.label_column('sweep.guarded', 'age', 'quasi'); \
    SELECT disclosure.protect('sweep.guarded', 'k_anonymity', at_least => 2); \
    SELECT disclosure.protect('sweep.exported', 'k_anonymity', at_least => 2, columns => '{zip}', on_rows => 'drop');";

const TABLES: &str = "
SELECT c.relname, pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname),
       (SELECT pg_catalog.string_agg(a.attname, chr(9) ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
         WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = 'sweep' AND c.relkind IN ('r', 'p', 'v', 'm') ORDER BY c.relname COLLATE \"C\"";

impl World {
    /// Creates the role and the tables, and reads the catalogue. Afterwards, `superuser` acts as its own role
    /// again.
    pub fn make(superuser: &mut Client) -> Result<World, String> {
        let role = ask(superuser, "SELECT 'sweeper of ' || pg_catalog.current_database()")?[0][0].clone();
        let quoted = quote_name(&role);
        let schemas = ask(
            superuser,
            "SELECT DISTINCT pg_catalog.quote_ident(n.nspname)
               FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
               JOIN pg_catalog.pg_proc p ON p.oid = d.objid JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
              WHERE e.extname = 'pg_disclosure' AND d.deptype = 'e' AND d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass",
        )?;
        ask(superuser, &format!("CREATE ROLE {quoted} LOGIN"))?;
        let database = ask(
            superuser,
            "SELECT pg_catalog.quote_ident(pg_catalog.current_database())",
        )?[0][0]
            .clone();
        ask(
            superuser,
            &format!("GRANT CREATE, TEMP ON DATABASE {database} TO {quoted}"),
        )?;
        for schema in &schemas {
            let schema = &schema[0];
            ask(
                superuser,
                &format!(
                    "GRANT USAGE ON SCHEMA {schema} TO {quoted}; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {quoted}"
                ),
            )?;
        }
        ask(superuser, "CREATE SCHEMA probe; GRANT USAGE ON SCHEMA probe TO PUBLIC;
            CREATE FUNCTION probe.memory_in_use() RETURNS bigint LANGUAGE c AS '$libdir/pg_disclosure', 'probe_memory_in_use_wrapper'")?;
        ask(superuser, &format!("SET ROLE {quoted}"))?;
        ask(superuser, include_str!("../tables.sql"))?;
        ask(superuser, "RESET ROLE")?;
        let (functions, not_callable) = read_functions(superuser)?;
        let tables = ask(superuser, TABLES)?.into_iter().map(|row| Table {
            name: row[0].clone(),
            sql: row[1].clone(),
            columns: split(&row[2]),
        });
        let tables = tables.collect();
        let views = ask(superuser, VIEWS)?
            .into_iter()
            .map(|row| row[0].clone())
            .collect();
        let own_values = read_own_values(superuser, &functions)?;
        Ok(World {
            functions,
            not_callable,
            views,
            tables,
            own_values,
            role,
        })
    }

    /// Returns statements that run code of the extension without calling its functions.
    pub fn statements(&self) -> Vec<String> {
        let readings = self.views.iter().map(|view| format!("SELECT * FROM {view}"));
        let readings = readings.chain(STATEMENTS.iter().map(|&statement| statement.to_owned()));
        readings
            .map(|statement| format!("{PREPARATION} {statement}"))
            .collect()
    }

    /// Returns the table of this name, and panics if there is none.
    pub fn table(&self, name: &str) -> &Table {
        self.tables
            .iter()
            .find(|table| table.name == name)
            .unwrap_or_else(|| panic!("tables.sql makes no {name}"))
    }
}

fn ask(client: &mut Client, sql: &str) -> Result<Rows, String> {
    client
        .query(sql)
        .map_err(|trouble: Trouble| format!("{trouble}, in: {}", sql.chars().take(200).collect::<String>()))
}

fn split(list: &str) -> Vec<String> {
    list.split('\t')
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

fn read_functions(client: &mut Client) -> Result<(Vec<Function>, usize), String> {
    let (mut functions, mut not_callable) = (Vec::new(), 0);
    for row in ask(client, FUNCTIONS)? {
        if row[4] == "1" {
            not_callable += 1;
            continue;
        }
        let required: usize = row[5]
            .parse()
            .map_err(|_| "a number of arguments is none".to_owned())?;
        let arguments = ask(client, &format!("{ARGUMENTS}{} ORDER BY a.place", row[0]))?;
        let arguments = arguments.into_iter().enumerate().map(|(place, row)| Argument {
            name: row[0].clone(),
            kind: Type {
                name: row[1].clone(),
                sql: row[2].clone(),
                is_array: row[3] == "1",
                is_ours: row[5] != "0",
                labels: split(&row[6]),
            },
            has_default: place >= required,
            is_variadic: row[4] == "1",
        });
        functions.push(Function {
            sql: row[1].clone(),
            signature: row[2].clone(),
            kind: match row[3].as_str() {
                "a" => Kind::Aggregate,
                "w" => Kind::Window,
                _ => Kind::Plain,
            },
            arguments: arguments.collect(),
            is_shapeless: row[6] == "1",
            is_volatile: row[7] == "1",
        });
    }
    match functions.is_empty() {
        true => Err("the extension has no functions".to_owned()),
        false => Ok((functions, not_callable)),
    }
}

/// Returns values of the extension's own types, made by its aggregates.
fn read_own_values(client: &mut Client, functions: &[Function]) -> Result<Vec<(String, String)>, String> {
    let mut values = Vec::new();
    for function in functions {
        let is_polymorphic =
            |a: &Argument| matches!(a.kind.name.as_str(), "anyelement" | "any") && !a.is_variadic;
        if function.kind != Kind::Aggregate
            || function.arguments.len() != 1
            || !function.arguments.iter().all(is_polymorphic)
        {
            continue;
        }
        for (table, column) in [
            ("baskets", "items"),
            ("baskets", "codes"),
            ("baskets", "mood"),
            ("nothing", "id"),
            ("people", "place"),
            ("people", "score"),
        ] {
            let value = ask(
                client,
                &format!(
                    "SELECT pg_catalog.pg_typeof(v), v FROM (SELECT {}(t.{column}) AS v FROM sweep.{table} t) t",
                    function.sql
                ),
            )?;
            let name = value[0][0].rsplit('.').next().unwrap_or_default();
            if !value[0][1].is_empty() && value[0][0].contains('.') {
                values.push((name.to_owned(), value[0][1].clone()));
            }
        }
    }
    Ok(values)
}

/// Quotes an identifier.
pub fn quote_name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Quotes a text as a string literal.
pub fn quote_text(text: &str) -> String {
    match text.contains('\\') {
        true => format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
        false => format!("'{}'", text.replace('\'', "''")),
    }
}
