//! Who may change policies and labels: the owner of the relation, and roles that may administer policies
//! without owning anything. While a policy is locked, only the latter.

use crate::error::Error;
use crate::guard::policy::{self, Policy};
use crate::guard::rights;
use pgrx::pg_sys::{self, Oid};

/// Returns an error unless the current user may change policies of a relation that are not locked.
pub fn check_may_change(relation: Oid) -> Result<(), Error> {
    match may_administer() {
        true => Ok(()),
        false => rights::check_owner(relation),
    }
}

/// Returns an error unless the current user may change or remove a policy.
pub fn check_may_change_policy(policy: &Policy) -> Result<(), Error> {
    check_may_change(policy.relation)?;
    check_lock(policy, "change")
}

/// Returns an error unless the current user may change the labels of a relation. A locked policy of the
/// relation, or of one above or below it in inheritance and partition trees, also locks the labels.
pub fn check_may_label(relation: Oid) -> Result<(), Error> {
    check_may_change(relation)?;
    let policies = policy::all()?.of([relation]);
    policies
        .iter()
        .try_for_each(|policy| check_lock(policy, "labelling"))
}

fn check_lock(policy: &Policy, what: &'static str) -> Result<(), Error> {
    if !policy.locked || may_administer() {
        return Ok(());
    }
    Err(Error::Locked {
        what,
        relation: policy.relation_name(),
        policy: policy.number,
    })
}

/// Returns whether the current user may change policies and labels of all relations.
pub fn may_administer() -> bool {
    // SAFETY: only reads a variable of this backend, on its main thread.
    rights::may_administer(unsafe { pg_sys::GetUserId() })
}
