//! Perfect matchings: see `disclosure::matching`.

mod counting;
