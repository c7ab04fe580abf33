//! Tests of population risk: see `disclosure::population`.
