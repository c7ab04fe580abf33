//! What may leave under a policy, by looking at every row that has left, and at every set of columns that an
//! adversary may know.

use std::collections::{BTreeMap, BTreeSet};

/// Value as it was sent; `None` is NULL.
pub type Value = Option<Vec<u8>>;

/// Row that has left, as far as it is about one person.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// Number of the stored row, or of the stored rows that were joined.
    pub stored: u64,
    /// Number of the person; `None` if that is not known. Without a column labelled person it is that of the row.
    pub person: Option<u64>,
    /// Values that an adversary may know. A NULL is a value like any other, because an expression can turn any
    /// value into NULL.
    pub known: Vec<Value>,
    /// Values that an adversary must not learn. A condition that is true for all rows is one of them, with the
    /// same value in each. A NULL is unknown. Where an expression made a value NULL, the recipient sees that, so
    /// such an expression is there twice: once as it is, and once with a value of its own instead of these NULLs.
    pub sensitive: Vec<Value>,
}

/// Policy that a release must satisfy.
#[derive(Debug, Clone, Copy, Default)]
pub struct Policy {
    /// Smallest number of people in the whole release.
    pub min_people: usize,
    /// Smallest number of people who look alike.
    pub k: Option<usize>,
    /// Share of rows from which a sensitive value counts as certain.
    pub min_confidence: Option<f64>,
    /// Smallest number of values in a class.
    pub l_distinct: Option<usize>,
    /// Largest share of the people in a class who have the same value.
    pub alpha: Option<f64>,
    /// Largest share of people in classes of fewer than five.
    pub share_below_5: Option<f64>,
}

/// Reason why a release is unsafe.
#[derive(Debug, Clone, PartialEq)]
pub enum Objection {
    /// Too few people.
    People(usize),
    /// A class of too few people.
    Class(usize),
    /// A sensitive value that this share of some group has.
    Share(f64),
    /// A class with too few values.
    Values(usize),
    /// A value that too many people in a class have.
    Alpha(f64),
    /// Too many people in small classes.
    Small(f64),
}

/// Returns the first reason why the rows must not leave; `None` if they may.
pub fn objection(rows: &[Row], policy: &Policy) -> Option<Objection> {
    let all = people(rows.iter());
    if all < policy.min_people {
        return Some(Objection::People(all));
    }
    let class = smallest_class(rows);
    if policy.k.is_some_and(|k| class < k) {
        return Some(Objection::Class(class));
    }
    let columns = rows.first().map_or(0, |row| row.sensitive.len());
    for column in 0..columns {
        let values = l_distinct(rows, column);
        if policy.l_distinct.is_some_and(|l| values < l) {
            return Some(Objection::Values(values));
        }
        let share = alpha(rows, column);
        if policy.alpha.is_some_and(|limit| share > limit) {
            return Some(Objection::Alpha(share));
        }
    }
    let small = share_below(rows, 5);
    if policy.share_below_5.is_some_and(|limit| small > limit) {
        return Some(Objection::Small(small));
    }
    // A share that is equal to the limit may be computed slightly below it.
    let limit = policy.min_confidence?;
    let share = largest_share(rows);
    (share + 1e-9 >= limit).then_some(Objection::Share(share))
}

/// Returns the number of people whom the rows are about. Rows of unknown people are about nobody, unless nobody else is
/// there.
pub fn people<'a>(rows: impl Iterator<Item = &'a Row>) -> usize {
    let people: BTreeSet<Option<u64>> = rows.map(|row| row.person).collect();
    match people.iter().flatten().count() {
        0 => people.len(),
        known => known,
    }
}

/// Returns the rows that look like a row.
fn class_of<'a>(rows: &'a [Row], row: &Row) -> Vec<&'a Row> {
    rows.iter().filter(|other| other.known == row.known).collect()
}

/// Returns the number of people who look like a row.
fn class_size(rows: &[Row], row: &Row) -> usize {
    people(class_of(rows, row).into_iter())
}

/// Returns the smallest number of people whose rows are equal in all known columns.
pub fn smallest_class(rows: &[Row]) -> usize {
    rows.iter().map(|row| class_size(rows, row)).min().unwrap_or(0)
}

/// Returns the size of the smallest class that each known person is in, and the sizes of the classes of the rows of
/// unknown people.
fn sizes_of_people(rows: &[Row]) -> (Vec<usize>, Vec<usize>) {
    let mut smallest: BTreeMap<u64, usize> = BTreeMap::new();
    let mut unknown = Vec::new();
    for row in rows {
        let size = class_size(rows, row);
        match row.person {
            Some(person) => {
                let smallest = smallest.entry(person).or_insert(size);
                *smallest = size.min(*smallest);
            }
            None => unknown.push(size),
        }
    }
    (smallest.into_values().collect(), unknown)
}

/// Returns a share or an average of all people: the sum of what each adds, divided by their number. A row of unknown
/// people adds to the sum and not to the number, but nothing exceeds the largest part.
fn average(rows: &[Row], part: impl Fn(usize) -> f64) -> f64 {
    let (known, unknown) = sizes_of_people(rows);
    let parts = known.iter().chain(&unknown).map(|&size| part(size));
    let largest = parts.clone().fold(0.0, f64::max);
    (parts.sum::<f64>() / known.len().max(1) as f64).min(largest)
}

/// Returns the share of people in classes smaller than this.
pub fn share_below(rows: &[Row], size: usize) -> f64 {
    average(rows, |other| f64::from(other < size))
}

/// Returns the average of one divided by the size of everybody's class.
pub fn prosecutor_average(rows: &[Row]) -> f64 {
    average(rows, |size| 1.0 / size as f64)
}

/// Returns the number of people who are alone in a class.
pub fn uniques(rows: &[Row]) -> usize {
    let (known, unknown) = sizes_of_people(rows);
    known.iter().chain(&unknown).filter(|&&size| size < 2).count()
}

/// Returns the smallest number of values of a sensitive column in a class. A NULL may be any of them.
pub fn l_distinct(rows: &[Row], column: usize) -> usize {
    let values = |row: &Row| {
        let class = class_of(rows, row).into_iter();
        let values: BTreeSet<&Vec<u8>> = class.filter_map(|row| row.sensitive[column].as_ref()).collect();
        values.len().max(1)
    };
    rows.iter().map(values).min().unwrap_or(0)
}

/// Returns the largest share of the people in a class who have, or may have, the same value; 1 if the person of any row
/// is not known.
pub fn alpha(rows: &[Row], column: usize) -> f64 {
    if rows.iter().any(|row| row.person.is_none()) {
        return 1.0;
    }
    let share = |row: &Row| {
        let class = class_of(rows, row);
        let share_of = |value: &Value| {
            let having = class.iter().copied().filter(|row| {
                let has = &row.sensitive[column];
                has == value || has.is_none()
            });
            people(having) as f64 / people(class.iter().copied()) as f64
        };
        class
            .iter()
            .map(|row| share_of(&row.sensitive[column]))
            .fold(0.0, f64::max)
    };
    rows.iter().map(share).fold(0.0, f64::max)
}

/// Returns for each class how many people have each value of a sensitive column. A NULL counts as the most frequent
/// value, once for each row.
fn value_counts(rows: &[Row], column: usize) -> Vec<Vec<usize>> {
    let counts = |row: &Row| {
        let class = class_of(rows, row);
        let having = |value: &Value| {
            people(
                class
                    .iter()
                    .copied()
                    .filter(|row| row.sensitive[column] == *value),
            )
        };
        let values: BTreeSet<&Value> = class.iter().map(|row| &row.sensitive[column]).collect();
        let mut counts: Vec<usize> = values
            .into_iter()
            .filter(|value| value.is_some())
            .map(having)
            .collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let unknown = class.iter().filter(|row| row.sensitive[column].is_none()).count();
        match counts.first_mut() {
            Some(largest) => *largest += unknown,
            None => counts.push(unknown),
        }
        counts
    };
    rows.iter().map(counts).collect()
}

/// Returns the smallest exponential of the entropy of the values in a class; 1 if the person of any row is not known.
pub fn l_entropy(rows: &[Row], column: usize) -> f64 {
    if rows.iter().any(|row| row.person.is_none()) {
        return 1.0;
    }
    let exponential = |counts: Vec<usize>| {
        let all: usize = counts.iter().sum();
        let share = |&count: &usize| count as f64 / all as f64;
        let entropy: f64 = counts.iter().map(share).map(|share| -share * share.ln()).sum();
        entropy.exp()
    };
    let exponentials = value_counts(rows, column).into_iter().map(exponential);
    exponentials.fold(f64::INFINITY, f64::min)
}

/// Returns the largest share of a sensitive value, over all sets of known columns and all groups of rows that
/// are equal in such a set. The share is that of the stored rows in the group that have the value among those that
/// have any: a NULL is unknown.
pub fn largest_share(rows: &[Row]) -> f64 {
    let width = rows.first().map_or(0, |row| row.known.len());
    let mut largest: f64 = 0.0;
    for set in 0..1_u32 << width {
        let columns: Vec<usize> = (0..width).filter(|column| set >> column & 1 == 1).collect();
        for row in rows {
            let is_alike = |other: &&Row| columns.iter().all(|&c| other.known[c] == row.known[c]);
            let group: Vec<&Row> = rows.iter().filter(is_alike).collect();
            for (column, value) in row
                .sensitive
                .iter()
                .enumerate()
                .filter(|(_, value)| value.is_some())
            {
                let having = |has: &dyn Fn(&Value) -> bool| {
                    let rows = group.iter().filter(|other| has(&other.sensitive[column]));
                    rows.map(|row| row.stored).collect::<BTreeSet<_>>().len()
                };
                let share = having(&|other| other == value) as f64 / having(&|other| other.is_some()) as f64;
                largest = largest.max(share);
            }
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns rows that are given as words: known values in lower case, sensitive ones in upper case, `-` for a
    /// sensitive NULL. The rows of equal numbers are about one person; 0 is an unknown one.
    fn rows(words: &[(u64, &str)]) -> Vec<Row> {
        let values = |word: &str, wanted: fn(char) -> bool| -> Vec<Value> {
            let letters = word.chars().filter(|&letter| wanted(letter));
            letters
                .map(|letter| (letter != '-').then(|| letter.to_string().into_bytes()))
                .collect()
        };
        let row = |(stored, &(person, word)): (usize, &(u64, &str))| Row {
            stored: stored as u64,
            person: (person > 0).then_some(person),
            known: values(word, |letter| letter.is_ascii_lowercase()),
            sensitive: values(word, |letter| !letter.is_ascii_lowercase()),
        };
        words.iter().enumerate().map(row).collect()
    }

    #[test]
    fn people_are_counted_and_not_rows() {
        assert_eq!(smallest_class(&rows(&[(1, "a"), (1, "a"), (2, "a")])), 2);
        assert_eq!(smallest_class(&rows(&[(1, "ab"), (2, "ab"), (3, "ac")])), 1);
        assert_eq!(alpha(&rows(&[(1, "aX"), (1, "aX"), (2, "aY")]), 0), 0.5);
        assert_eq!(
            alpha(&rows(&[(1, "aX"), (1, "aY"), (2, "aX"), (2, "aZ")]), 0),
            1.0
        );
        assert_eq!(
            share_below(&rows(&[(1, "a"), (1, "b"), (2, "b"), (3, "b")]), 2),
            1.0 / 3.0
        );
        assert_eq!(uniques(&rows(&[(1, "a"), (1, "b"), (2, "b")])), 1);
    }

    #[test]
    fn unknown_people_add_risk_and_nobody() {
        let table = rows(&[(1, "a"), (2, "a"), (0, "a"), (0, "b")]);
        assert_eq!(people(table.iter()), 2);
        assert_eq!(smallest_class(&table), 1);
        assert_eq!(prosecutor_average(&table), 1.0);
        assert_eq!(share_below(&table, 2), 0.5);
        assert_eq!(people(rows(&[(0, "a"), (0, "b")]).iter()), 1);
        assert_eq!(share_below(&rows(&[(0, "a"), (0, "b")]), 2), 1.0);
        assert_eq!(alpha(&rows(&[(1, "aX"), (0, "aY")]), 0), 1.0);
    }

    #[test]
    fn a_null_counts_as_the_most_frequent_value() {
        let table = rows(&[(1, "aX"), (2, "aX"), (3, "aY"), (4, "a-"), (5, "bX"), (6, "bY")]);
        assert_eq!(l_distinct(&table, 0), 2);
        assert_eq!(alpha(&table, 0), 0.75);
        let share = |share: f64| -share * share.ln();
        assert_eq!(l_entropy(&table, 0), (share(0.75) + share(0.25)).exp());
        assert_eq!(l_distinct(&rows(&[(1, "a-"), (2, "a-")]), 0), 1);
        assert_eq!(alpha(&rows(&[(1, "a-"), (2, "a-")]), 0), 1.0);
    }

    #[test]
    fn a_share_is_that_of_values_that_are_not_null() {
        assert_eq!(largest_share(&rows(&[(1, "aX"), (2, "aX"), (3, "a-")])), 1.0);
        assert_eq!(largest_share(&rows(&[(1, "a-"), (2, "a-")])), 0.0);
    }

    #[test]
    fn one_of_two_known_columns_may_be_enough() {
        let table = rows(&[(1, "acX"), (2, "acX"), (3, "bcY"), (4, "bcX")]);
        assert_eq!(largest_share(&table), 1.0);
        assert_eq!(
            largest_share(&rows(&[(1, "X"), (2, "X"), (3, "X"), (4, "Y")])),
            0.75
        );
    }

    #[test]
    fn the_first_objection_is_returned() {
        let policy = Policy {
            min_people: 2,
            k: Some(2),
            min_confidence: Some(0.9),
            ..Policy::default()
        };
        assert_eq!(objection(&[], &policy), Some(Objection::People(0)));
        assert_eq!(
            objection(&rows(&[(1, "aX"), (2, "bX")]), &policy),
            Some(Objection::Class(1))
        );
        assert_eq!(
            objection(&rows(&[(1, "aX"), (2, "aX")]), &policy),
            Some(Objection::Share(1.0))
        );
        assert_eq!(objection(&rows(&[(1, "aX"), (2, "aY")]), &policy), None);
    }
}
