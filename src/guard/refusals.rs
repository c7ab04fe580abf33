//! Refusals are counted, because each of them tells the exporting role one bit about the data.
//!
//! A role that has been refused too often under a policy is locked out of it until somebody who may change the
//! policy calls `disclosure.unlock`. The session role counts. Only refusals after measuring are counted: a
//! refusal of the shape of a query follows from the query alone.

use crate::error::Error;
use crate::guard::ledger::{Lasting, Ledger, Types};
use crate::guard::log::Entry;
use crate::guard::own_tables::own_table;
use crate::guard::policy::{self, Policy};
use crate::guard::{duties, enforcement, log, rights};
use crate::pg::query::{Answer, Parameters};
use pgrx::pg_sys::{self, Datum, LOCKMODE, Oid};
use pgrx::prelude::*;
use std::ffi::CStr;
use std::rc::Rc;

/// Types of the columns of disclosure_internal.refusal, in the order of sql/60_guard.sql.
const TYPES: Types<4> = [
    Some(pg_sys::INT4OID),
    None,
    Some(pg_sys::TIMESTAMPTZOID),
    Some(pg_sys::BOOLOID),
];

/// Attempt of the session role to export under some policies. While it lives, no other session of the same
/// role can make an attempt under these policies, so that refusals are counted before the next attempt.
pub struct Turn {
    role: Oid,
    policies: Vec<Rc<Policy>>,
    lock: Lock,
}

/// Waits until the session role makes no other attempt under any of the policies, and returns the turn.
/// Returns an error if the role is locked out of one of them, or if refusals cannot be counted: on a standby
/// and during a parallel query. Works in read-only transactions.
pub fn begin(policies: &[Rc<Policy>]) -> Result<Turn, Error> {
    // SAFETY: these only read the state of this backend, on its main thread.
    let (role, is_standby, is_parallel) = unsafe {
        (
            pg_sys::GetSessionUserId(),
            pg_sys::RecoveryInProgress(),
            pg_sys::IsInParallelMode(),
        )
    };
    if let Some(first) = policies.first().filter(|_| is_standby || is_parallel) {
        return Err(Error::CannotBeLogged {
            relation: first.relation_name(),
            place: if is_standby {
                "on a standby"
            } else {
                "during a parallel query"
            },
        });
    }
    let numbers: Vec<i32> = policies.iter().map(|policy| policy.number).collect();
    let turn = Turn {
        role,
        policies: policies.to_vec(),
        lock: Lock::new(&numbers, role)?,
    };
    turn.check_lock_out(&numbers)?;
    Ok(turn)
}

impl Turn {
    /// Returns an error if the role is locked out of one of the policies.
    fn check_lock_out(&self, numbers: &[i32]) -> Result<(), Error> {
        const QUERY: &str = "
            SELECT l.policy,
                   (SELECT count(*) FROM disclosure_internal.refusal r
                     WHERE r.policy = l.policy AND r.session_role::oid = l.session_role::oid AND NOT r.locked
                       AND r.at > l.at - interval '24 hours' AND r.at <= l.at)
              FROM disclosure_internal.refusal l
             WHERE l.locked AND l.policy = ANY ($1) AND l.session_role::oid = $2
             ORDER BY l.policy, l.at LIMIT 1";
        let found = counts(QUERY, numbers, self.role)?;
        let Some(&(number, refusals)) = found.first() else {
            return Ok(());
        };
        let relation = self.policies.iter().find(|policy| policy.number == number);
        Err(Error::LockedOut {
            relation: relation.map_or_else(String::new, |policy| policy.relation_name()),
            policy: number,
            role: log::role_name(self.role).to_string_lossy().into_owned(),
            refusals,
        })
    }

    /// Counts one refusal under each policy of the turn, and locks the role out of those under which it has
    /// been refused `max_refusals` times within 24 hours. What is written survives a rollback.
    pub fn refused(&self) -> Result<(), Error> {
        const QUERY: &str = "
            SELECT r.policy, count(*) FROM disclosure_internal.refusal r
             WHERE NOT r.locked AND r.policy = ANY ($1) AND r.session_role::oid = $2
               AND r.at > clock_timestamp() - interval '24 hours'
             GROUP BY r.policy";
        let numbers: Vec<i32> = self.policies.iter().map(|policy| policy.number).collect();
        let before = counts(QUERY, &numbers, self.role)?;
        let table = Ledger::open(c"refusal", &TYPES, Lasting::Always)?;
        for policy in &self.policies {
            let counted = before.iter().find(|(number, _)| *number == policy.number);
            let refusals = counted.map_or(0, |(_, refusals)| *refusals) + 1;
            self.write(&table, policy.number, false);
            if refusals >= i64::from(policy.max_refusals) {
                self.write(&table, policy.number, true);
            }
        }
        table.close();
        Ok(())
    }

    /// Leaves the locks to the end of the (sub)transaction, because an error is being raised.
    pub fn leave(mut self) {
        self.lock.keys.clear();
    }

    fn write(&self, table: &Ledger<4>, policy: i32, locked: bool) {
        // SAFETY: only reads the clock.
        let now = unsafe { pg_sys::GetCurrentTimestamp() };
        let values = [
            policy.into_datum(),
            Some(self.role.into()),
            Some(Datum::from(now)),
            locked.into_datum(),
        ];
        // SAFETY: the values are of the types in `TYPES`.
        unsafe { table.insert(values) };
    }
}

/// Returns the result of a query whose parameters are numbers of policies and a role, and whose columns are
/// the number of a policy and a count.
fn counts(query: &str, policies: &[i32], role: Oid) -> Result<Vec<(i32, i64)>, Error> {
    let mut parameters = Parameters::default();
    let policies = policies.to_vec().into_datum();
    parameters.add(
        pg_sys::INT4ARRAYOID,
        policies.ok_or(Error::Internal("could not make an array of numbers"))?,
    );
    parameters.add(pg_sys::OIDOID, role.into());
    rights::as_guard(|| {
        Spi::connect(|_| {
            // SAFETY: SPI is connected, the parameters have their types, and the columns are int and bigint.
            unsafe {
                let answer = Answer::to(query, &parameters, true)?;
                let rows = (0..answer.rows()).filter_map(|row| answer.get(row, 0).zip(answer.get(row, 1)));
                Ok(rows.collect())
            }
        })
    })
}

/// Exclusive locks on pairs of a policy and a role. They are released when it is dropped, or at the end of the
/// transaction if that comes first.
struct Lock {
    table: Oid,
    role: Oid,
    /// Sub-object numbers of the locks, in ascending order. Policies whose numbers are equal modulo 65,536
    /// share a lock, which costs a wait and nothing else.
    keys: Vec<u16>,
    /// Resource owner that holds the locks.
    owner: pg_sys::ResourceOwner,
}

impl Lock {
    fn new(policies: &[i32], role: Oid) -> Result<Self, Error> {
        let table = own_table(c"refusal").ok_or(Error::LogUnusable {
            table: c"refusal",
            problem: "the table does not exist",
        })?;
        let mut keys: Vec<u16> = policies.iter().map(|&policy| policy as u16).collect();
        keys.sort_unstable(); // every session takes the locks in the same order
        keys.dedup();
        for &key in &keys {
            // SAFETY: a lock accepts any OIDs, and the end of the transaction releases it at the latest.
            unsafe { pg_sys::LockDatabaseObject(table, role, key, pg_sys::ExclusiveLock as LOCKMODE) };
        }
        Ok(Lock {
            table,
            role,
            keys,
            // SAFETY: only reads a variable of this backend, on its main thread.
            owner: unsafe { pg_sys::CurrentResourceOwner },
        })
    }

    /// Keeps the locks until the end of the transaction.
    fn keep(mut self) {
        self.keys.clear();
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // SAFETY: only reads a variable of this backend, on its main thread.
        let is_ours = unsafe { pg_sys::CurrentResourceOwner } == self.owner;
        // While an error unwinds, the end of the (sub)transaction releases the locks.
        if std::thread::panicking() || !is_ours {
            return;
        }
        for &key in &self.keys {
            // SAFETY: `new` took the lock, under the same resource owner.
            unsafe {
                pg_sys::UnlockDatabaseObject(self.table, self.role, key, pg_sys::ExclusiveLock as LOCKMODE)
            };
        }
    }
}

/// unlock(policy int, role_name name)
#[pg_extern(sql = false)]
fn unlock(policy: i32, role_name: &CStr) -> i32 {
    forget(policy, role_name).unwrap_or_else(Error::raise)
}

/// Forgets the refusals of a role under a policy, and returns how many there were.
fn forget(number: i32, role_name: &CStr) -> Result<i32, Error> {
    const FORGET: &str = "
        WITH forgotten AS (
            DELETE FROM disclosure_internal.refusal r WHERE r.policy = $1 AND r.session_role::oid = $2 RETURNING r.locked)
        SELECT count(*)::int FROM forgotten f WHERE NOT f.locked";
    let all = policy::all()?;
    let policy = all.iter().find(|policy| policy.number == number).ok_or_else(|| {
        Error::argument(
            "policy",
            format!("policy {number} does not exist"),
            "disclosure.policies lists all policies.",
        )
    })?;
    duties::check_may_change_policy(policy)?;
    // SAFETY: the name is NUL-terminated, and a missing role gives InvalidOid.
    let role = unsafe { pg_sys::get_role_oid(role_name.as_ptr(), true) };
    if role == Oid::INVALID {
        return Err(Error::argument(
            "role_name",
            format!("role \"{}\" does not exist", role_name.to_string_lossy()),
            "disclosure.refusals lists the roles that were refused.",
        ));
    }
    rights::begin_change(c"unlock()", policy.relation)?;
    // The next attempt waits for the end of this transaction.
    Lock::new(&[number], role)?.keep();
    let forgotten = rights::as_owner(|| {
        let forgotten = Spi::connect_mut(|client| {
            let arguments = [number.into(), role.into()];
            client.update(FORGET, None, &arguments)?.first().get_one::<i32>()
        });
        forgotten.map_err(|_| Error::Internal("the refusals could not be removed"))
    })?;
    let unlocked = role_name.to_string_lossy();
    let entry = Entry {
        policy: Some(number),
        ..Entry::change("unlock", policy.relation, &unlocked)
    };
    log::write(&entry, Lasting::IfCommitted)?;
    enforcement::remind()?;
    Ok(forgotten.unwrap_or(0))
}
