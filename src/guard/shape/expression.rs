//! The walk over expressions: which of them are in the language, and which columns they refer to.
//!
//! All unsafe functions in this file expect pointers into the query tree that is judged, which stays
//! allocated while they run.

use super::model::*;
use super::unique::alias_of;
use super::walk::Walk;
use crate::guard::language;
use crate::guard::tree::{TypeOf, list};
use pgrx::pg_sys::{self, List, Node, NodeTag, Oid};
use std::borrow::Cow;
use std::ffi::c_int;

impl Walk<'_> {
    pub(super) unsafe fn expressions(
        &mut self,
        level: &Level,
        nodes: *mut List,
        references: &mut Vec<Reference>,
    ) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            for node in list(nodes) {
                self.expression(level, node, references)?;
            }
            Ok(())
        }
    }

    /// Walks an expression, and collects the columns that it refers to.
    pub(super) unsafe fn expression(
        &mut self,
        level: &Level,
        node: *mut Node,
        references: &mut Vec<Reference>,
    ) -> Walked<()> {
        macro_rules! is {
            ($kind:ident) => {
                &*node.cast::<pg_sys::$kind>()
            };
        }
        // SAFETY: see the top of this file. Each node is of the kind that its tag says.
        unsafe {
            pg_sys::check_stack_depth();
            if node.is_null() {
                return Ok(());
            }
            let location = pg_sys::exprLocation(node);
            match (*node).type_ {
                NodeTag::T_Const => self.type_of((is!(Const)).consttype, location),
                NodeTag::T_Var => self.column(level, node.cast(), references),
                NodeTag::T_FuncExpr => {
                    let n = is!(FuncExpr);
                    if n.funcretset || n.funcvariadic {
                        return self.no("a set-returning or VARIADIC function", location, LIST);
                    }
                    self.function(n.funcid, location)?;
                    self.collation(n.inputcollid, location)?;
                    self.type_of(n.funcresulttype, location)?;
                    self.arguments(level, n.funcid, n.args, references)
                }
                // DistinctExpr and NullIfExpr are the same structure.
                NodeTag::T_OpExpr | NodeTag::T_DistinctExpr | NodeTag::T_NullIfExpr => {
                    let n = is!(OpExpr);
                    let function = self.operator(n.opno, location)?;
                    self.collation(n.inputcollid, location)?;
                    self.type_of(n.opresulttype, location)?;
                    self.arguments(level, function, n.args, references)
                }
                NodeTag::T_ScalarArrayOpExpr => {
                    let n = is!(ScalarArrayOpExpr);
                    self.operator(n.opno, location)?;
                    self.collation(n.inputcollid, location)?;
                    match list::<Node>(n.args)[..] {
                        [value, members] => {
                            self.expression(level, value, references)?;
                            self.members(level, members)
                        }
                        _ => self.no("this comparison with a list", location, LIST),
                    }
                }
                NodeTag::T_BoolExpr => self.expressions(level, (is!(BoolExpr)).args, references),
                NodeTag::T_NullTest => {
                    let n = is!(NullTest);
                    match n.argisrow {
                        true => self.no("IS NULL of a row", location, NO_ROWS),
                        false => self.expression(level, n.arg.cast(), references),
                    }
                }
                NodeTag::T_BooleanTest => self.expression(level, (is!(BooleanTest)).arg.cast(), references),
                NodeTag::T_CaseExpr => {
                    let n = is!(CaseExpr);
                    self.type_of(n.casetype, location)?;
                    self.expression(level, n.arg.cast(), references)?;
                    self.expressions(level, n.args, references)?;
                    self.expression(level, n.defresult.cast(), references)
                }
                NodeTag::T_CaseWhen => {
                    let n = is!(CaseWhen);
                    self.expression(level, n.expr.cast(), references)?;
                    self.expression(level, n.result.cast(), references)
                }
                // Stands for the value that CASE compares, or for an element of an array that is cast.
                NodeTag::T_CaseTestExpr => self.type_of((is!(CaseTestExpr)).typeId, location),
                NodeTag::T_CoalesceExpr => self.expressions(level, (is!(CoalesceExpr)).args, references),
                NodeTag::T_MinMaxExpr => {
                    let n = is!(MinMaxExpr);
                    self.type_of(n.minmaxtype, location)?;
                    self.collation(n.inputcollid, location)?;
                    self.expressions(level, n.args, references)
                }
                NodeTag::T_RelabelType => {
                    let n = is!(RelabelType);
                    self.type_of(n.resulttype, location)?;
                    self.expression(level, n.arg.cast(), references)
                }
                // Calls the output function of one type and the input function of the other.
                NodeTag::T_CoerceViaIO => {
                    let n = is!(CoerceViaIO);
                    self.type_of(n.resulttype, location)?;
                    self.type_of(pg_sys::exprType(n.arg.cast()), location)?;
                    self.domain_checks(level, n.resulttype)?;
                    self.domain_checks(level, pg_sys::get_element_type(n.resulttype))?;
                    self.expression(level, n.arg.cast(), references)
                }
                NodeTag::T_ArrayCoerceExpr => {
                    let n = is!(ArrayCoerceExpr);
                    self.type_of(n.resulttype, location)?;
                    self.expression(level, n.elemexpr.cast(), references)?;
                    self.expression(level, n.arg.cast(), references)
                }
                NodeTag::T_CoerceToDomain => {
                    let n = is!(CoerceToDomain);
                    self.type_of(n.resulttype, location)?;
                    self.domain_checks(level, n.resulttype)?;
                    self.expression(level, n.arg.cast(), references)
                }
                NodeTag::T_CollateExpr => {
                    let n = is!(CollateExpr);
                    self.collation(n.collOid, location)?;
                    self.expression(level, n.arg.cast(), references)
                }
                NodeTag::T_SQLValueFunction => {
                    let n = is!(SQLValueFunction);
                    let is_time = n.op <= pg_sys::SQLValueFunctionOp::SVFOP_LOCALTIMESTAMP_N;
                    match is_time || self.inside.is_owners {
                        true => Ok(()),
                        false => self.no("a value that depends on the session", location, LIST),
                    }
                }
                // Stands for the value in the check of a domain.
                NodeTag::T_CoerceToDomainValue => Ok(()),
                other => {
                    let (what, hint) = name_of_node(other);
                    self.no(what, location, hint)
                }
            }
        }
    }

    /// Walks the arguments of a function. Some of them must not contain columns.
    pub(super) unsafe fn arguments(
        &mut self,
        level: &Level,
        function: Oid,
        arguments: *mut List,
        references: &mut Vec<Reference>,
    ) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            let constants = language::constant_arguments(function);
            for (place, argument) in list(arguments).into_iter().enumerate() {
                let before = references.len();
                self.expression(level, argument, references)?;
                if references.len() > before && constants.contains(&place) {
                    return self.no(
                        format!(
                            "a column as argument {} of {}",
                            place + 1,
                            name_of_function(function)
                        ),
                        pg_sys::exprLocation(argument),
                        "Give a constant.",
                    );
                }
            }
            Ok(())
        }
    }

    /// Walks the list of IN, which contains constants only.
    pub(super) unsafe fn members(&mut self, level: &Level, node: *mut Node) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            let location = pg_sys::exprLocation(node);
            let mut references = Vec::new();
            match (*node).type_ {
                NodeTag::T_Const => self.type_of((*node.cast::<pg_sys::Const>()).consttype, location)?,
                NodeTag::T_ArrayExpr => {
                    let array = node.cast::<pg_sys::ArrayExpr>();
                    self.type_of((*array).element_typeid, location)?;
                    self.expressions(level, (*array).elements, &mut references)?;
                }
                NodeTag::T_ArrayCoerceExpr => {
                    let cast = node.cast::<pg_sys::ArrayCoerceExpr>();
                    self.expression(level, (*cast).elemexpr.cast(), &mut references)?;
                    self.members(level, (*cast).arg.cast())?;
                }
                NodeTag::T_RelabelType => {
                    self.members(level, (*node.cast::<pg_sys::RelabelType>()).arg.cast())?;
                }
                _ => return self.no("ANY or ALL of an array", location, "Use IN with constants."),
            }
            match references.is_empty() {
                true => Ok(()),
                false => self.no("IN with columns", location, "Use IN with constants, or OR."),
            }
        }
    }

    /// Walks the checks of a domain, which a cast to it evaluates.
    pub(super) unsafe fn domain_checks(&mut self, level: &Level, domain: Oid) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            let mut references = Vec::new();
            for check in language::domain_checks(domain) {
                self.expression(level, check, &mut references)?;
            }
            Ok(())
        }
    }

    pub(super) unsafe fn column(
        &mut self,
        level: &Level,
        column: *mut pg_sys::Var,
        references: &mut Vec<Reference>,
    ) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            let location = (*column).location;
            if (*column).varlevelsup > 0 {
                return self.no("a reference to an outer query", location, JOIN_INSTEAD);
            }
            if (*column).varattno == 0 {
                return self.no("a whole row", location, NO_ROWS);
            }
            if (*column).varattno < 0 {
                return self.no("a system column", location, NO_ROWS);
            }
            if let Some(expression) = alias_of(level.query, column) {
                return self.expression(level, expression, references);
            }
            self.type_of((*column).vartype, location)?;
            references.push(Reference {
                item: (*column).varno as c_int,
                number: (*column).varattno,
                type_of: TypeOf::expression(column.cast()),
            });
            Ok(())
        }
    }

    /// Checks that a function may be called: it is on the list, a superuser trusts it, or it is the owner's own
    /// in the owner's own view or row security policy.
    pub(super) fn function(&mut self, function: Oid, location: c_int) -> Walked<()> {
        if language::is_listed(function) {
            return Ok(());
        }
        let is_owners = || language::owner_of(function).is_some_and(|owner| self.is_owners(owner));
        if self.rules.trusted.contains(&function) || self.inside.is_owners && is_owners() {
            self.functions.insert(function);
            return Ok(());
        }
        let hint = language::advice(function).map_or(Cow::Borrowed(LIST), Cow::Owned);
        self.no(format!("function {}", name_of_function(function)), location, hint)
    }

    /// Checks an operator by the function that it calls, and returns that function.
    pub(super) fn operator(&mut self, operator: Oid, location: c_int) -> Walked<Oid> {
        match language::operator_function(operator) {
            Some(function) => self.function(function, location).map(|()| function),
            None => {
                // SAFETY: a catalogue look-up of an operator that exists; the text is copied.
                let name = unsafe { text(pg_sys::format_operator(operator)) };
                self.no(format!("operator {name}"), location, LIST)
            }
        }
    }

    pub(super) fn type_of(&self, oid: Oid, location: c_int) -> Walked<()> {
        match language::type_problem(oid, self.rules.trusted) {
            None => Ok(()),
            Some(what) => self.no(what, location, LIST),
        }
    }

    /// Checks that values which are equal by the collation have the same bytes.
    pub(super) fn collation(&self, collation: Oid, location: c_int) -> Walked<()> {
        // SAFETY: the collation is one that the query uses.
        match collation == Oid::INVALID || unsafe { pg_sys::get_collation_isdeterministic(collation) } {
            true => Ok(()),
            false => self.no("a collation that is not deterministic", location, LIST),
        }
    }
}

/// Returns a name for a node that is not in the language, and what to write instead.
pub(super) fn name_of_node(tag: NodeTag) -> (&'static str, &'static str) {
    match tag {
        NodeTag::T_SubLink => ("a subquery in an expression", JOIN_INSTEAD),
        NodeTag::T_Param => ("a parameter", "Write the value as a constant."),
        NodeTag::T_Aggref | NodeTag::T_GroupingFunc => ("an aggregate", NOT_YET),
        NodeTag::T_WindowFunc => ("a window function", SIMPLER),
        NodeTag::T_RowExpr
        | NodeTag::T_RowCompareExpr
        | NodeTag::T_FieldSelect
        | NodeTag::T_ConvertRowtypeExpr => ("a row", NO_ROWS),
        NodeTag::T_ArrayExpr => ("ARRAY[…]", "Export the elements as columns."),
        NodeTag::T_SubscriptingRef => ("an element or slice of an array", "Export the whole array."),
        NodeTag::T_XmlExpr => ("XML", LIST),
        NodeTag::T_SetToDefault | NodeTag::T_CurrentOfExpr => ("this expression", SIMPLER),
        _ => ("this expression", LIST),
    }
}

/// Returns the name of a function with its argument types.
pub(super) fn name_of_function(function: Oid) -> String {
    // SAFETY: a catalogue look-up of a function that exists; the text is copied.
    unsafe { text(pg_sys::format_procedure(function)) }
}
