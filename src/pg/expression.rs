//! Expressions of a plan: the arguments of a call, and whether they are columns.

use crate::error::Error;
use pgrx::pg_sys::{self, Node, NodeTag};

/// Returns the expressions of a call's arguments, from the `skip`-th on.
///
/// # Safety
/// `arguments` is a list of expressions, or of target entries that hold one.
pub unsafe fn arguments_of(arguments: *mut pg_sys::List, skip: usize) -> Vec<*mut Node> {
    // SAFETY: by the contract of the function.
    unsafe {
        let length = match arguments.is_null() {
            true => 0,
            false => (*arguments).length as usize,
        };
        (skip..length)
            .map(|position| {
                let node = (*(*arguments).elements.add(position)).ptr_value.cast::<Node>();
                match (*node).type_ {
                    NodeTag::T_TargetEntry => (*node.cast::<pg_sys::TargetEntry>()).expr.cast(),
                    _ => node,
                }
            })
            .collect()
    }
}

/// A function over columns, for the error that refuses other arguments.
pub struct OverColumns {
    pub name: &'static str,
    pub hint: &'static str,
}

impl OverColumns {
    /// Refuses a call that was meant for a relation, such as `k_anonymity('patients')`: one whose arguments
    /// are all constants, or of which one is a constant of type regclass. Other constants beside columns are
    /// accepted, because Postgres replaces the columns of a subquery by constants if it can.
    ///
    /// # Safety
    /// `arguments` are expressions of the current plan.
    pub unsafe fn check(&self, arguments: &[*mut Node]) -> Result<(), Error> {
        // SAFETY: by the contract of the function.
        let names_relation =
            |&node: &*mut Node| unsafe { pg_sys::exprType(node) == pg_sys::REGCLASSOID && is_constant(node) };
        // SAFETY: by the contract of the function.
        let is_constant = |&node: &*mut Node| unsafe { is_constant(node) };
        let problem = if arguments.iter().any(names_relation) {
            "an argument is the name of a relation, not a column"
        } else if arguments.iter().all(is_constant) {
            "the arguments are constants, not columns"
        } else {
            return Ok(());
        };
        Err(Error::argument(self.name, problem, self.hint))
    }
}

/// Returns whether an expression has the same value in all rows: a constant or a parameter of the statement,
/// perhaps cast. Postgres itself makes a constant of a parameter in some executions of a prepared statement.
///
/// # Safety
/// A valid expression.
unsafe fn is_constant(mut node: *mut Node) -> bool {
    // SAFETY: by the contract of the function; the tag of a node says what it is.
    unsafe {
        loop {
            node = match (*node).type_ {
                NodeTag::T_Const => return true,
                NodeTag::T_Param => {
                    let kind = (*node.cast::<pg_sys::Param>()).paramkind;
                    // An aggregate that is called as a window function sees no expressions, but the type of a
                    // literal.
                    return kind == pg_sys::ParamKind::PARAM_EXTERN
                        || pg_sys::exprType(node) == pg_sys::UNKNOWNOID;
                }
                NodeTag::T_RelabelType => (*node.cast::<pg_sys::RelabelType>()).arg.cast(),
                NodeTag::T_CoerceViaIO => (*node.cast::<pg_sys::CoerceViaIO>()).arg.cast(),
                NodeTag::T_CollateExpr => (*node.cast::<pg_sys::CollateExpr>()).arg.cast(),
                _ => return false,
            }
        }
    }
}
