//! What keeps a table from being an export table: foreign tables in its tree, and, if unsafe rows are
//! dropped, code that would run with another role's rights or would not notice that a row was deleted.

use crate::error::Error;
use crate::guard::rights;
use crate::guard::rule::OnRows;
use crate::pg::query::{Answer, Parameters};
use pgrx::pg_sys::Oid;
use pgrx::prelude::*;

/// Returns why the changes of a table cannot be treated in this way, or `None` if they can be. `family`
/// contains the table and all tables above and below it in inheritance and partition trees.
pub fn find(family: &[Oid], on_rows: OnRows) -> Result<Option<String>, Error> {
    match (foreign_table(family)?, on_rows) {
        (None, OnRows::Drop) => to_dropping(family),
        (found, _) => Ok(found),
    }
}

/// Returns a sentence about a foreign table in the tree, or `None` if there is none. Postgres cannot collect
/// the rows that a statement changes there, and fails if it has to.
pub fn foreign_table(family: &[Oid]) -> Result<Option<String>, Error> {
    // Includes tables beside an export table: a statement on their parent reaches them too.
    const QUERY: &str = "
        WITH RECURSIVE below(relation) AS (
            SELECT unnest($1)
            UNION SELECT i.inhrelid FROM pg_inherits i, below b WHERE i.inhparent = b.relation)
        SELECT format('%s is a foreign table in the same inheritance tree', c.oid::regclass)
          FROM below b JOIN pg_class c ON c.oid = b.relation
         WHERE c.relkind = 'f' ORDER BY c.oid LIMIT 1";
    match family {
        [_] => Ok(None), // fast path: the table is alone
        _ => sentence(QUERY, family),
    }
}

/// Returns a sentence about what keeps rows of the tables from being dropped, or `None`. Rows are deleted with
/// the rights of the role that inserts them, and fire only AFTER … FOR EACH ROW triggers. A trigger BEFORE the
/// deletion could keep the row, and a statement trigger or a rule would not notice it. The actions of a foreign
/// key run with the rights of the owner of the referencing table, and so would the triggers there.
fn to_dropping(family: &[Oid]) -> Result<Option<String>, Error> {
    const QUERY: &str = "
        WITH found(problem) AS (
            SELECT CASE WHEN t.tgisinternal
                        THEN format('a foreign key of %s has an ON DELETE action', t.tgconstrrelid::regclass)
                        ELSE format('trigger %I on %s fires for DELETE and is not AFTER DELETE … FOR EACH ROW',
                                    t.tgname, t.tgrelid::regclass) END
              FROM pg_trigger t
             WHERE t.tgrelid = ANY ($1) AND t.tgenabled <> 'D' AND t.tgtype & 8 <> 0
               AND CASE WHEN t.tgisinternal AND t.tgconstrrelid <> 0
                        THEN t.tgfoid IN ('\"RI_FKey_cascade_del\"'::regproc, '\"RI_FKey_setnull_del\"'::regproc,
                                          '\"RI_FKey_setdefault_del\"'::regproc)
                        ELSE t.tgtype & 3 <> 1
                         AND t.tgfoid NOT IN ('disclosure_internal.export_turn'::regproc, 'disclosure_internal.export_judge'::regproc)
                   END
            UNION ALL
            SELECT format('rule %I on %s is for DELETE', r.rulename, r.ev_class::regclass)
              FROM pg_rewrite r WHERE r.ev_class = ANY ($1) AND r.ev_type = '4' AND r.ev_enabled <> 'D')
        SELECT f.problem FROM found f ORDER BY f.problem LIMIT 1";
    sentence(QUERY, family)
}

/// Returns the result of a query with at most one row and one column of type text. Under the guard's settings,
/// a regclass is printed with its schema.
fn sentence(query: &str, family: &[Oid]) -> Result<Option<String>, Error> {
    let parameters = Parameters::of_oids(family)?;
    rights::as_guard(|| {
        Spi::connect(|_| {
            // SAFETY: SPI is connected, the parameter is an array of OIDs, and the column has type text.
            unsafe {
                let answer = Answer::to(query, &parameters, true)?;
                Ok((answer.rows() > 0).then(|| answer.get(0, 0)).flatten())
            }
        })
    })
}
