//! Types that stand for the whole call of a SQL function, as parameters of its Rust function.

/// Lets a type with `unsafe fn new(FunctionCallInfo) -> Self` be a parameter of a `pg_extern` function. SQL
/// does not see the parameter.
macro_rules! whole_call {
    ($type:ty) => {
        // SAFETY: the type consumes no argument of the call, and the pointer is that of the current call.
        unsafe impl<'fcx> ::pgrx::callconv::ArgAbi<'fcx> for $type {
            unsafe fn unbox_arg_unchecked(argument: ::pgrx::callconv::Arg<'_, 'fcx>) -> Self {
                // SAFETY: the function is declared in sql/ as the contract of `new` demands.
                unsafe { Self::new(::pgrx::callconv::ArgAbi::unbox_arg_unchecked(argument)) }
            }

            fn is_virtual_arg() -> bool {
                true
            }
        }

        // SAFETY: the type does not occur in SQL, so it cannot be confused with another one.
        unsafe impl ::pgrx::pgrx_sql_entity_graph::metadata::SqlTranslatable for $type {
            const TYPE_IDENT: &'static str = ::pgrx::pgrx_resolved_type!($type);
            const TYPE_ORIGIN: ::pgrx::pgrx_sql_entity_graph::metadata::TypeOrigin =
                ::pgrx::pgrx_sql_entity_graph::metadata::TypeOrigin::External;
            const ARGUMENT_SQL: Result<
                ::pgrx::pgrx_sql_entity_graph::metadata::SqlMappingRef,
                ::pgrx::pgrx_sql_entity_graph::metadata::ArgumentError,
            > = Ok(::pgrx::pgrx_sql_entity_graph::metadata::SqlMappingRef::Skip);
            const RETURN_SQL: Result<
                ::pgrx::pgrx_sql_entity_graph::metadata::ReturnsRef,
                ::pgrx::pgrx_sql_entity_graph::metadata::ReturnsError,
            > = Ok(::pgrx::pgrx_sql_entity_graph::metadata::ReturnsRef::One(
                ::pgrx::pgrx_sql_entity_graph::metadata::SqlMappingRef::Skip,
            ));
        }
    };
}
pub(crate) use whole_call;

/// Returns what an event trigger was called with; `None` if the function was not called as an event trigger.
///
/// # Safety
/// `fcinfo` is a valid function call.
pub unsafe fn event_trigger_data(
    fcinfo: pgrx::pg_sys::FunctionCallInfo,
) -> Option<*mut pgrx::pg_sys::EventTriggerData> {
    // SAFETY: by the contract of the function; the context of a call is a node or NULL.
    unsafe {
        let context = (*fcinfo).context;
        let is_event_trigger =
            !context.is_null() && (*context).type_ == pgrx::pg_sys::NodeTag::T_EventTriggerData;
        is_event_trigger.then(|| context.cast())
    }
}
