//! Calls every function on the same rows in other orders, by other plans and with other numbers of threads.
//! The answers must be equal to the last digit.

use crate::Plan;
use crate::call::{Caller, Load};
use crate::client::{Client, Rows, Trouble};
use crate::report::Report;
use crate::world::{Function, World};

/// Settings of all variants. There is no time budget, because a search that ends by the clock would end at a
/// different point each time.
const SETTINGS: &str = "SET disclosure.budget = -1; SET statement_timeout = '2s';";

/// A way to read the same rows.
struct Variant {
    name: &'static str,
    schema: &'static str,
    settings: &'static str,
}

const VARIANTS: [Variant; 6] = [
    Variant {
        name: "in another order",
        schema: "sweep_shuffled.",
        settings: "",
    },
    Variant {
        name: "from partitions",
        schema: "sweep_parted.",
        settings: "",
    },
    Variant {
        name: "from foreign tables",
        schema: "sweep_foreign.",
        settings: "",
    },
    Variant {
        name: "by a parallel plan",
        schema: "sweep_shuffled.",
        settings: "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; \
                   SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = off;",
    },
    Variant {
        name: "with one thread",
        schema: "sweep.",
        settings: "SET disclosure.threads = 1;",
    },
    Variant {
        name: "with five threads",
        schema: "sweep_parted.",
        settings: "SET disclosure.threads = 5;",
    },
];

/// Returns the rows of a call, sorted because SQL promises no order of them, or the SQLSTATE of its error.
/// The message is left out, because the order of the rows may decide which of several errors comes first.
/// Schemas are named as in the call. Returns `None` if the call took too long.
fn answer(client: &mut Client, call: &str, schema: &str) -> Result<Option<Result<Rows, String>>, String> {
    let trouble_text = |trouble: Trouble| trouble.to_string();
    client.execute("BEGIN").map_err(trouble_text)?;
    // Tables are in every schema, but the types that stored counts name are in one.
    let of_type = |schema: &str| format!("\"type\": \"{schema}");
    let call = call
        .replace("sweep.", schema)
        .replace(&of_type(schema), &of_type("sweep."));
    let answer = match client.query(&call) {
        Ok(rows) => {
            // -0 and 0 are equal, so a row with one may change places with an otherwise equal row.
            let rename = |row: Vec<String>| {
                let fields = row.iter().map(|field| field.replace(schema, "sweep."));
                fields
                    // The statement of remedies(). Rows of views and foreign tables have none.
                    .map(|field| match field.starts_with("UPDATE ") {
                        true => String::new(),
                        false => field,
                    })
                    .map(|field| {
                        field
                            .replace("(-0,", "(0,")
                            .replace(",-0)", ",0)")
                            .replace(",-0,", ",0,")
                    })
                    .collect()
            };
            let mut rows: Rows = rows.into_iter().map(rename).collect();
            rows.sort();
            Some(Ok(rows))
        }
        Err(Trouble::Server(error)) if !Trouble::Server(error.clone()).is_timeout() => Some(Err(error.code)),
        Err(Trouble::Server(_)) => None,
        Err(trouble) => return Err(format!("{trouble}, by {call}")),
    };
    client.execute("ROLLBACK").map_err(trouble_text)?;
    Ok(answer)
}

/// Runs the sweep and returns whether nothing failed.
pub fn sweep(world: &World, plan: &Plan, superuser: &str) -> Result<bool, String> {
    let made = Client::connect(superuser, "")?.execute(include_str!("../variants.sql"));
    made.map_err(|trouble| format!("variants.sql: {trouble}"))?;
    let mut report = Report::new("plans", plan.seed);
    let mut plain = Client::connect(&world.role, SETTINGS)?;
    let mut clients = Vec::new();
    for variant in &VARIANTS {
        clients.push(Client::connect(
            &world.role,
            &format!("{SETTINGS} {}", variant.settings),
        )?);
    }
    // A volatile function need not return the same result twice.
    let is_compared = |f: &&Function| !f.is_volatile && !is_about_triggers(f);
    let functions: Vec<_> = world.functions.iter().filter(is_compared).collect();
    let (mut compared, mut errors) = (0, 0);
    for case in plan.cases() {
        let function = functions[case as usize % functions.len()];
        let load = match case as usize / functions.len() % 3 {
            0 => Load::Least,
            _ => Load::Light,
        };
        let call = Caller::new(world, function, load, plan.seed, case).call_beside_rows();
        let Some(expected) = answer(&mut plain, &call, "sweep.")? else {
            continue;
        };
        errors += u64::from(expected.is_err());
        for (variant, client) in VARIANTS.iter().zip(&mut clients) {
            let Some(found) = answer(client, &call, variant.schema)? else {
                continue;
            };
            compared += 1;
            if found != expected {
                let settings = format!("{SETTINGS} {}", variant.settings);
                let problem = format!(
                    "another answer {} ({})",
                    variant.name,
                    difference(&expected, &found)
                );
                report.fail(
                    case,
                    &function.signature,
                    &settings,
                    &call,
                    variant.name,
                    &problem,
                );
            }
        }
    }
    Ok(report.close(&format!(
        "{compared} answers of {} functions compared, {errors} calls ended in errors",
        functions.len()
    )))
}

/// Returns whether a function is about the triggers of a table, which a copy of the table does not have.
fn is_about_triggers(function: &Function) -> bool {
    function.signature.starts_with("disclosure_internal.is_armed(")
}

/// Returns the first difference between two answers.
fn difference(expected: &Result<Rows, String>, found: &Result<Rows, String>) -> String {
    match (expected, found) {
        (Ok(expected), Ok(found)) => {
            let place = expected.iter().zip(found).position(|(one, other)| one != other);
            match place {
                Some(row) => format!("row {row}: {:?} became {:?}", expected[row], found[row]),
                None => format!("{} rows became {}", expected.len(), found.len()),
            }
        }
        (expected, found) => format!("{:?} became {:?}", expected.as_ref().err(), found.as_ref().err()),
    }
}
