//! Tests of sets of columns: see `disclosure::columns`.
