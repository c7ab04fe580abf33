//! What may leave under a policy, by looking at every row that has left, and at every set of columns that an
//! adversary may know.

use std::collections::BTreeSet;

/// Value as it was sent; `None` is NULL.
pub type Value = Option<Vec<u8>>;

/// Row that has left, as far as it is about one person.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// Number of the person.
    pub person: u32,
    /// Values that an adversary may know. A NULL is a value like any other, because an expression can turn any
    /// value into NULL.
    pub known: Vec<Value>,
    /// Values that an adversary must not learn. A condition that is true for all rows is one of them, with the
    /// same value in each.
    pub sensitive: Vec<Value>,
}

/// Policy that a release must satisfy.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// Smallest number of people in the whole release.
    pub min_people: usize,
    /// Smallest number of people who look alike.
    pub k: Option<usize>,
    /// Share of people from which a sensitive value counts as certain.
    pub min_confidence: Option<f64>,
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
}

/// Returns the first reason why the rows must not leave; `None` if they may.
pub fn objection(rows: &[Row], policy: &Policy) -> Option<Objection> {
    let all = people(rows.iter());
    let class = smallest_class(rows);
    let share = largest_share(rows);
    if all < policy.min_people {
        return Some(Objection::People(all));
    }
    if policy.k.is_some_and(|k| class < k) {
        return Some(Objection::Class(class));
    }
    // A share that is equal to the limit may be computed slightly below it.
    let is_certain = |limit: f64| share + 1e-9 >= limit;
    policy
        .min_confidence
        .is_some_and(is_certain)
        .then_some(Objection::Share(share))
}

/// Returns the number of people whom the rows are about.
pub fn people<'a>(rows: impl Iterator<Item = &'a Row>) -> usize {
    rows.map(|row| row.person).collect::<BTreeSet<_>>().len()
}

/// Returns the smallest number of people whose rows are equal in all known columns.
pub fn smallest_class(rows: &[Row]) -> usize {
    let class = |row: &Row| people(rows.iter().filter(|other| other.known == row.known));
    rows.iter().map(class).min().unwrap_or(0)
}

/// Returns the largest share of a sensitive value, over all sets of known columns and all groups of rows that
/// are equal in such a set. The share is that of the people in the group who have the value among those who have
/// any: a NULL is unknown.
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
                    people(
                        group
                            .iter()
                            .copied()
                            .filter(|other| has(&other.sensitive[column])),
                    )
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
    /// sensitive NULL. The rows of equal numbers are about one person.
    fn rows(words: &[(u32, &str)]) -> Vec<Row> {
        let values = |word: &str, wanted: fn(char) -> bool| -> Vec<Value> {
            let letters = word.chars().filter(|&letter| wanted(letter));
            letters
                .map(|letter| (letter != '-').then(|| letter.to_string().into_bytes()))
                .collect()
        };
        let row = |&(person, word): &(u32, &str)| Row {
            person,
            known: values(word, |letter| letter.is_ascii_lowercase()),
            sensitive: values(word, |letter| !letter.is_ascii_lowercase()),
        };
        words.iter().map(row).collect()
    }

    #[test]
    fn copies_of_a_row_are_one_person() {
        assert_eq!(smallest_class(&rows(&[(1, "a"), (1, "a"), (2, "a")])), 2);
        assert_eq!(smallest_class(&rows(&[(1, "ab"), (2, "ab"), (3, "ac")])), 1);
        assert_eq!(largest_share(&rows(&[(1, "aX"), (1, "aX"), (2, "aY")])), 0.5);
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
