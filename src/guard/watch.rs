//! What happens to the guard's own tables without the guard goes to the server's log, which nobody can change
//! by SQL.

use crate::error::Error;
use crate::guard::tree::list;
use crate::guard::{log, own_tables, rights};
use crate::pg::call::event_trigger_data;
use crate::pg::catalog::name_of;
use pgrx::pg_sys::{self, FunctionCallInfo, NodeTag, Oid};
use pgrx::prelude::*;
use pgrx::trigger_support::called_as_trigger;

/// report_change(): trigger of the tables behind policies, refusals and the log. Changes by the extension's
/// own functions are not reported, because the export log has them.
#[pg_extern(sql = false)]
fn report_change(fcinfo: FunctionCallInfo) {
    // SAFETY: `fcinfo` is the current call; `called_as_trigger` ensures that its context is TriggerData,
    // whose relation is open.
    let (event, table) = unsafe {
        if !called_as_trigger(fcinfo) {
            Error::NotTheTrigger("report_change").raise()
        }
        let data = &*(*fcinfo).context.cast::<pg_sys::TriggerData>();
        (data.tg_event, (*data.tg_relation).rd_id)
    };
    if rights::is_guard_at_work() {
        return;
    }
    let command = match event & pg_sys::TRIGGER_EVENT_OPMASK {
        pg_sys::TRIGGER_EVENT_INSERT => "INSERT",
        pg_sys::TRIGGER_EVENT_DELETE => "DELETE",
        pg_sys::TRIGGER_EVENT_UPDATE => "UPDATE",
        _ => "TRUNCATE",
    };
    log::tell_server(&format!("{command} of {}", name_of(table)));
}

/// report_removal(): event trigger before DROP EXTENSION and DROP OWNED. Afterwards it would be too late,
/// because the trigger is dropped with the extension.
#[pg_extern(sql = false)]
fn report_removal(fcinfo: FunctionCallInfo) {
    // SAFETY: `fcinfo` is the current call.
    let Some(data) = (unsafe { event_trigger_data(fcinfo) }) else {
        Error::NotTheTrigger("report_removal").raise()
    };
    // SAFETY: an event trigger is called with the parse tree of its command.
    if let Some(command) = unsafe { removal((*data).parsetree) } {
        log::tell_server(&format!(
            "{command} begins, which removes policies, labels and the log"
        ));
    }
}

/// Returns the name of a command that drops the extension, unless it fails; `None` if it does not.
///
/// # Safety
/// `command` is a valid parse tree.
unsafe fn removal(command: *mut pg_sys::Node) -> Option<&'static str> {
    // SAFETY: by the contract of the function, and because the tag of a node tells its type. DROP EXTENSION
    // has a list of names, DROP OWNED one of roles.
    unsafe {
        match (*command).type_ {
            NodeTag::T_DropStmt => {
                let names = list::<pg_sys::Node>((*command.cast::<pg_sys::DropStmt>()).objects);
                let ours = pg_sys::get_extension_oid(c"pg_disclosure".as_ptr(), true);
                let mut extensions = names.into_iter().map(|name| extension_named(name));
                let is_ours = extensions.any(|extension| extension == ours);
                is_ours.then_some("DROP EXTENSION pg_disclosure")
            }
            NodeTag::T_DropOwnedStmt => {
                let owner = own_tables::owner_of_policies().ok()?;
                let roles = list::<pg_sys::RoleSpec>((*command.cast::<pg_sys::DropOwnedStmt>()).roles);
                let mut roles = roles.into_iter().map(|role| pg_sys::get_rolespec_oid(role, true));
                let is_owner = roles.any(|role| role == owner);
                is_owner.then_some("DROP OWNED BY the owner of pg_disclosure")
            }
            _ => None,
        }
    }
}

/// Returns the extension that a node of DROP EXTENSION names, or the invalid OID if there is none.
///
/// # Safety
/// `name` is a valid string node.
unsafe fn extension_named(name: *mut pg_sys::Node) -> Oid {
    let mut relation = std::ptr::null_mut(); // stays NULL, because an extension is not a relation
    // SAFETY: by the contract of the function. The lock is weaker than the one that the command takes.
    unsafe {
        pg_sys::get_object_address(
            pg_sys::ObjectType::OBJECT_EXTENSION,
            name,
            &mut relation,
            pg_sys::AccessShareLock as pg_sys::LOCKMODE,
            true,
        )
        .objectId
    }
}
