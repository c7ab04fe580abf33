//! Set-generalised transactions: `coat`, `coat_report`, `km_anonymity`, `km_violations`, `mark_generalised`.
//!
//! COAT (Loukides et al. 2011) generalises items to sets until the privacy constraints hold. k^m-anonymity
//! says how well the result is protected. `mark_generalised` guesses which items of a release are generalised
//! if the release does not say so.

use crate::args::{Args, enum_word, is_first_in_statement, warn_once, word};
use crate::error::Error;
use crate::methods::semantic::column;
use crate::methods::semantic::items::Items;
use crate::methods::semantic::transactions::{Column, ItemSets, Lists, read_column};
use crate::pg::json::Json;
use crate::pg::table::{Table, table_row};
use crate::run;
use disclosure::semantic::{
    self, Coat, Constraints, Entry, GeneralisationKnowledge, ItemOrder, MarkingRule, Transactions,
};
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

table_row! {
    /// A released transaction.
    struct Released { transaction: String, terms: Json }
}

/// coat(relation regclass, column_name name, privacy jsonb, k int, key name, utility jsonb,
/// max_suppressed float8, item_order disclosure.item_order, seed bigint)
#[pg_extern(sql = false)]
fn coat(args: Args) -> Table<Released> {
    Table::new(protected(args))
}

fn protected(mut args: Args) -> Result<impl Iterator<Item = Released>, Error> {
    let protection = Protection::read(&mut args, true)?;
    args.end()?;
    let (order, seed) = (protection.order, protection.constraints.seed);
    let (items, lists, coat) = protection.run()?;
    let released = run::long("generalising items", |control| {
        coat.released(&lists.transactions, order, seed, control)
    })?;
    if order == ItemOrder::Kept && !coat.generalised.is_empty() {
        notice_if_sorted(&items, &lists)?;
    }
    Ok(as_rows(items, lists, released))
}

/// Tells the caller that the order of the original lists is kept, if they are sorted.
fn notice_if_sorted(items: &Items, lists: &Lists) -> Result<(), Error> {
    if lists.text_order(items)?.is_some() && is_first_in_statement("coat: sorted lists".into()) {
        ErrorReport::new(
            PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
            "the lists are sorted, so the place of a generalised item may tell which member is original",
            "",
        )
        .set_hint("Leave item_order out, or measure what places tell by disclosure.attack_quality(…, methods => '{place}').")
        .report(PgLogLevel::NOTICE);
    }
    Ok(())
}

table_row! {
    /// A generalised or suppressed item.
    struct CoatItem {
        items: Vec<String>,
        suppressed: bool,
        support: i64,
        cover: i64,
        utility_loss: f64,
    }
}

/// coat_report(relation regclass, column_name name, privacy jsonb, k int, utility jsonb,
/// max_suppressed float8, seed bigint)
#[pg_extern(sql = false)]
fn coat_report(args: Args) -> Table<CoatItem> {
    Table::new(coat_items(args))
}

fn coat_items(mut args: Args) -> Result<Vec<CoatItem>, Error> {
    let protection = Protection::read(&mut args, false)?;
    args.end()?;
    let (items, _, coat) = protection.run()?;
    let generalised = coat.generalised.iter().map(|item| CoatItem {
        items: items.texts_of(&item.members),
        suppressed: false,
        support: item.support as i64,
        cover: item.cover as i64,
        utility_loss: item.utility_loss,
    });
    let suppressed = coat.suppressed.iter().map(|item| CoatItem {
        items: vec![items.text(item.item)],
        suppressed: true,
        support: item.support as i64,
        cover: 0,
        utility_loss: item.utility_loss,
    });
    Ok(generalised.chain(suppressed).collect())
}

/// Arguments of COAT.
struct Protection {
    column: Column,
    privacy: ItemSets,
    utility: Option<ItemSets>,
    order: ItemOrder,
    /// All constraints except `privacy` and `utility`, whose items have no numbers until the column was read.
    constraints: Constraints,
}

impl Protection {
    /// Reads all arguments, including `key` and `item_order` if transactions are returned.
    fn read(args: &mut Args, returns_transactions: bool) -> Result<Self, Error> {
        let mut column = column(args)?;
        let privacy = ItemSets::read("privacy", args.json("privacy")?)?;
        let k = k_of(args.optional("k"));
        if returns_transactions {
            column = column.with_key(args.name("key").as_deref())?;
        }
        let utility = ItemSets::read("utility", args.json("utility")?)?;
        let max_suppressed = args.required("max_suppressed")?;
        let order = match returns_transactions {
            true => item_order(args)?,
            false => ItemOrder::default(),
        };
        let constraints = Constraints {
            k,
            max_suppressed,
            seed: args.seed()?,
            ..Constraints::default()
        };
        constraints.check()?;
        Ok(Protection {
            column,
            privacy: required(privacy)?,
            utility,
            order,
            constraints,
        })
    }

    /// Reads the column and runs COAT.
    fn run(mut self) -> Result<(Items, Lists, Coat), Error> {
        let (mut items, lists) = read_column(&self.column)?;
        self.constraints.privacy = privacy_of(&self.privacy, &mut items)?;
        self.constraints.utility = numbers(self.utility, &mut items)?;
        let coat = run::long("generalising items", |control| {
            semantic::coat(&lists.transactions, &self.constraints, control)
        });
        let coat = coat.map_err(in_relation)?;
        warn_of_large_items(&coat);
        Ok((items, lists, coat))
    }
}

/// Reads the argument `item_order`.
fn item_order(args: &mut Args) -> Result<ItemOrder, Error> {
    const ORDERS: [(&str, ItemOrder); 3] = [
        ("shuffled", ItemOrder::Shuffled),
        ("sorted", ItemOrder::Sorted),
        ("kept", ItemOrder::Kept),
    ];
    enum_word("item_order", args.optional("item_order"), &ORDERS)
}

/// Warns if generalised items are so large that the release is hardly of use.
fn warn_of_large_items(coat: &Coat) {
    let large = coat.very_large();
    let Some(largest) = large.first() else {
        return;
    };
    if !is_first_in_statement("coat: large generalised items".into()) {
        return;
    }
    let (members, support) = (largest.members.len(), largest.support);
    let original = members as u64 * support - largest.cover;
    ErrorReport::new(
        PgSqlErrorCode::ERRCODE_WARNING,
        format!(
            "{} of {} generalised items have more than {} members",
            large.len(),
            coat.generalised.len(),
            Coat::MANY_MEMBERS
        ),
        "",
    )
    .set_detail(format!(
        "The largest has {members} members. It is in {support} transactions, which contained {original} of its \
         members, so {} members are cover.",
        largest.cover
    ))
    .set_hint(
        "Such items tell readers next to nothing. Give utility constraints, a larger max_suppressed, fewer items in \
         each privacy constraint, or a smaller k.",
    )
    .report(PgLogLevel::WARNING);
}

/// Attributes a problem with the transactions to the argument `relation`, from which they were read.
fn in_relation(problem: Error) -> Error {
    match problem {
        Error::Algorithm(disclosure::Error::InvalidArgument {
            argument: "transactions",
            problem,
            allowed,
        }) => Error::argument(
            "relation",
            format!("its transactions {problem}"),
            format!("Give {allowed}."),
        ),
        other => other,
    }
}

/// Returns the argument `privacy`, or an error if it is NULL. Called when all other arguments were read.
pub(super) fn required(privacy: Option<ItemSets>) -> Result<ItemSets, Error> {
    privacy.ok_or(Error::null(
        "privacy",
        "Give lists of items to protect: '[[\"blood pressure\"], [\"limbs\", \"injury\"]]'.",
    ))
}

/// Returns the items of the argument `privacy` by number. Warns if some are in no transaction. Called when
/// all transactions were read.
pub(super) fn privacy_of(privacy: &ItemSets, items: &mut Items) -> Result<Vec<Vec<u32>>, Error> {
    let known = items.len();
    let privacy = privacy.numbers(items)?;
    let unknown = items.len() - known;
    // A misspelt item protects nothing.
    if unknown > 0 && known > 0 {
        warn_once(&format!(
            "items of privacy that are not in any transaction: {unknown}"
        ));
    }
    Ok(privacy)
}

/// Returns the items of an optional argument by number. Called when all transactions were read.
fn numbers(sets: Option<ItemSets>, items: &mut Items) -> Result<Option<Vec<Vec<u32>>>, Error> {
    sets.map(|sets| sets.numbers(items)).transpose()
}

/// Returns the argument `k`. NULL and negative numbers become 0, which is refused.
pub(super) fn k_of(k: Option<i32>) -> u64 {
    u64::try_from(k.unwrap_or_default()).unwrap_or_default()
}

/// Returns transactions as rows.
fn as_rows(items: Items, lists: Lists, transactions: Transactions) -> impl Iterator<Item = Released> {
    (0..transactions.len()).map(move |number| Released {
        transaction: lists.id(number),
        terms: as_json(&items, &transactions, transactions.entries(number)),
    })
}

fn as_json(items: &Items, transactions: &Transactions, entries: &[Entry]) -> Json {
    let entries = entries.iter().map(|entry| items.json(transactions, entry));
    Json(entries.collect())
}

/// km_anonymity(relation regclass, column_name name, m int)
#[pg_extern(sql = false)]
fn km_anonymity(args: Args) -> Option<i64> {
    let k = largest_k(args).unwrap_or_else(Error::raise);
    k.map(|k| k as i64)
}

fn largest_k(mut args: Args) -> Result<Option<u64>, Error> {
    let column = column(&mut args)?;
    let m = m_of(&mut args)?;
    args.end()?;
    let (_, lists) = read_column(&column)?;
    run::long("looking for rare sets", |control| {
        semantic::km_anonymity(&lists.transactions, m, control)
    })
}

table_row! {
    /// A set of items that too few transactions have.
    struct RareSet { items: Json, support: i64 }
}

/// km_violations(relation regclass, column_name name, k int, m int, max_rows int)
#[pg_extern(sql = false)]
fn km_violations(args: Args) -> Table<RareSet> {
    Table::new(rare_sets(args))
}

fn rare_sets(mut args: Args) -> Result<Vec<RareSet>, Error> {
    let column = column(&mut args)?;
    let k = k_of(args.optional("k"));
    semantic::check_k(k)?;
    let m = m_of(&mut args)?;
    let most = args.number("max_rows", 1)?;
    args.end()?;
    let (items, lists) = read_column(&column)?;
    let violations = run::long("looking for rare sets", |control| {
        semantic::km_violations(&lists.transactions, k, m, most, control)
    })?;
    let rows = violations.into_iter().map(|violation| RareSet {
        items: as_json(&items, &lists.transactions, &violation.itemset),
        support: violation.support as i64,
    });
    Ok(rows.collect())
}

/// Reads the argument `m`. A negative number becomes 0, which is refused.
fn m_of(args: &mut Args) -> Result<usize, Error> {
    let m: i32 = args.required("m")?;
    let m = m.max(0) as usize;
    semantic::check_m(m)?;
    Ok(m)
}

const RULES: [(&str, MarkingRule); 2] = [
    ("together", MarkingRule::Together),
    ("repeated", MarkingRule::Repeated),
];

/// mark_generalised(relation regclass, column_name name, key name, rule text, k int, utility jsonb,
/// privacy jsonb)
#[pg_extern(sql = false)]
fn mark_generalised(args: Args) -> Table<Released> {
    Table::new(marked(args))
}

fn marked(mut args: Args) -> Result<impl Iterator<Item = Released>, Error> {
    let column = column(&mut args)?;
    let column = column.with_key(args.name("key").as_deref())?;
    let rule = word("rule", args.optional("rule"), &RULES)?;
    let k: Option<i32> = args.optional("k");
    let mut known = GeneralisationKnowledge {
        k: k.map(|k| k_of(Some(k))),
        ..GeneralisationKnowledge::default()
    };
    known.check()?;
    let utility = ItemSets::read("utility", args.json("utility")?)?;
    let privacy = ItemSets::read("privacy", args.json("privacy")?)?;
    args.end()?;
    let (mut items, lists) = read_column(&column)?;
    known.utility = numbers(utility, &mut items)?;
    known.privacy = numbers(privacy, &mut items)?;
    let marked = run::long("looking for generalised items", |control| {
        semantic::mark_generalised(&lists.transactions, rule, &known, control)
    })?;
    Ok(as_rows(items, lists, marked))
}
