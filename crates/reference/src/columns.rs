//! Sets of columns, by comparing every row with every other.
