//! Statistics of values that were read.

use super::ColumnStatistics;
use crate::ColumnProfile;

impl ColumnStatistics {
    /// Returns the statistics of a column by the profile of the rows that were read, of a table with `all_rows` rows. If
    /// these are more than were read, the rows are a sample, and the number of distinct values is the estimate that ANALYZE
    /// makes (Haas and Stokes 1998).
    pub fn of_profile(profile: &ColumnProfile, rows_read: u64, all_rows: f64, mean_width: f64) -> Self {
        let read = rows_read as f64;
        let share = |rows: u64| rows as f64 / read.max(1.0);
        let is_sample = all_rows > read;
        let (distinct, unique) = (profile.distinct_values as f64, profile.unique_values as f64);
        let present = read - profile.nulls as f64;
        let all_present = all_rows * present / read.max(1.0);
        let estimate = match is_sample && present > 0.0 {
            true => present * distinct / (present - unique + unique * present / all_present),
            false => distinct,
        };
        ColumnStatistics {
            rows: all_rows.max(read),
            distinct: estimate.max(distinct),
            nulls: share(profile.nulls),
            most_frequent: share(profile.most_frequent),
            mean_width,
            singled_out: (!is_sample).then(|| share(profile.unique_values)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(distinct_values: u64, nulls: u64, unique_values: u64, most_frequent: u64) -> ColumnProfile {
        ColumnProfile {
            distinct_values,
            nulls,
            unique_values,
            most_frequent,
        }
    }

    #[test]
    fn all_rows_are_counted() {
        let found = ColumnStatistics::of_profile(&profile(3, 1, 2, 2), 5, 5.0, 4.0);
        assert_eq!(
            (found.rows, found.distinct, found.nulls, found.most_frequent),
            (5.0, 3.0, 0.2, 0.4)
        );
        assert_eq!(found.singled_out, Some(0.4));
        let empty = ColumnStatistics::of_profile(&profile(0, 0, 0, 0), 0, 0.0, 0.0);
        assert_eq!((empty.rows, empty.distinct, empty.nulls), (0.0, 0.0, 0.0));
    }

    #[test]
    fn samples_are_scaled_up() {
        let of_sample = |profile| ColumnStatistics::of_profile(&profile, 100, 1000.0, 4.0);
        assert_eq!(of_sample(profile(100, 0, 100, 1)).distinct, 1000.0);
        assert_eq!(of_sample(profile(50, 50, 50, 1)).distinct, 500.0);
        assert_eq!(of_sample(profile(4, 0, 0, 30)).distinct, 4.0);
        assert_eq!(of_sample(profile(0, 100, 0, 0)).distinct, 0.0);
        assert_eq!(of_sample(profile(100, 0, 100, 1)).singled_out, None);
    }
}
