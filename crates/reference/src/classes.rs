//! Equivalence classes and the everyday measures, by comparing a row with all rows.

use disclosure::NULL;
use disclosure::classes::{Diversity, HIGH_RISKS, Risk};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the number of rows that are equal to this one.
pub fn class_size(rows: &[Vec<u32>], row: &[u32]) -> u64 {
    rows.iter().filter(|other| *other == row).count() as u64
}

/// Returns the number of rows that agree with this one in every column in which both have a value.
pub fn wildcard_size(rows: &[Vec<u32>], row: &[u32]) -> u64 {
    rows.iter().filter(|other| agree(other, row, true)).count() as u64
}

/// A row as the everyday measures see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What an adversary may know.
    pub known: Vec<u32>,
    /// What identifies the person that the row is about; empty if rows are counted instead of people.
    pub person: Vec<u32>,
    /// What an adversary must not learn.
    pub sensitive: u32,
}

impl Row {
    /// Returns the identity of the person; `None` if all that identifies them is absent.
    fn who(&self) -> Option<&[u32]> {
        self.person
            .iter()
            .any(|&code| code != NULL)
            .then_some(&self.person)
    }
}

/// Returns whether two rows are equal, or agree in every column in which both have a value.
fn agree(a: &[u32], b: &[u32], wildcard: bool) -> bool {
    let unknown = |a: u32, b: u32| wildcard && (a == NULL || b == NULL);
    a.iter().zip(b).all(|(&a, &b)| a == b || unknown(a, b))
}

/// Returns the rows whose known values agree with these.
pub fn class<'a>(rows: &'a [Row], known: &[u32], wildcard: bool) -> Vec<&'a Row> {
    rows.iter()
        .filter(|row| agree(&row.known, known, wildcard))
        .collect()
}

/// Returns the number of rows, or of people who are known, in the class of these known values. Somebody is in it if
/// there is a row.
pub fn size(rows: &[Row], known: &[u32], wildcard: bool) -> u64 {
    let class = class(rows, known, wildcard);
    match class.first() {
        Some(row) if !row.person.is_empty() => {
            let people: BTreeSet<_> = class.iter().filter_map(|row| row.who()).collect();
            people.len().max(1) as u64
        }
        _ => class.len() as u64,
    }
}

/// Returns the units and their rows: each row, or each person with all of their rows. Rows whose person is not known
/// count as one person.
fn units(rows: &[Row]) -> Vec<Vec<&Row>> {
    let mut people: BTreeMap<Option<&[u32]>, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        people.entry(row.who()).or_default().push(row);
    }
    match rows.first() {
        Some(row) if !row.person.is_empty() => people.into_values().collect(),
        _ => rows.iter().map(|row| vec![row]).collect(),
    }
}

/// Returns for each unit the size of the smallest class that it is in, in ascending order.
pub fn exposure(rows: &[Row], size_of: impl Fn(&[u32]) -> u64) -> Vec<u64> {
    let smallest = |unit: &Vec<&Row>| unit.iter().map(|row| size_of(&row.known)).min();
    let mut sizes: Vec<u64> = units(rows).iter().filter_map(smallest).collect();
    sizes.sort_unstable();
    sizes
}

/// Returns for each person how many people have the same rows, each as often, in ascending order; and how many
/// such classes of people there are.
pub fn by_person(rows: &[Row]) -> (Vec<u64>, usize) {
    let multiset = |unit: &Vec<&Row>| {
        let mut known: Vec<Vec<u32>> = unit.iter().map(|row| row.known.clone()).collect();
        known.sort_unstable();
        known
    };
    let people: Vec<Vec<Vec<u32>>> = units(rows).iter().map(multiset).collect();
    let same = |one: &Vec<Vec<u32>>| people.iter().filter(|other| *other == one).count() as u64;
    let mut sizes: Vec<u64> = people.iter().map(same).collect();
    sizes.sort_unstable();
    (sizes, people.iter().collect::<BTreeSet<_>>().len())
}

/// Returns the risk of units that are in classes of these sizes. A unit without a counterpart, in a class of size 0, is
/// at no risk.
pub fn risk(sizes: &[u64]) -> Option<Risk> {
    let risks: Vec<f64> = sizes
        .iter()
        .map(|&size| if size == 0 { 0.0 } else { 1.0 / size as f64 })
        .collect();
    let share_above = |limit: u64| {
        let above = sizes.iter().filter(|&&size| size > 0 && size < limit);
        above.count() as f64 / sizes.len() as f64
    };
    Some(Risk {
        highest: risks.iter().copied().reduce(f64::max)?,
        average: risks.iter().sum::<f64>() / sizes.len() as f64,
        above: HIGH_RISKS.map(share_above),
    })
}

/// Returns for each row of the population the share of those of its class who are in the table.
pub fn presence(table: &[Row], population: &[Row], wildcard: bool) -> Vec<f64> {
    // The size of a class of the population is that of all who may be in it; in the table, the sum over equal rows.
    let share = |row: &Row| {
        summed_size(table, &row.known, wildcard) as f64 / size(population, &row.known, wildcard) as f64
    };
    population.iter().map(share).collect()
}

/// Returns the sum of the sizes of those classes of equal rows that agree with these known values.
pub fn summed_size(rows: &[Row], known: &[u32], wildcard: bool) -> u64 {
    let classes: BTreeSet<&[u32]> = class(rows, known, wildcard)
        .iter()
        .map(|row| &row.known[..])
        .collect();
    classes.iter().map(|known| size(rows, known, false)).sum()
}

/// Values in a class or table, and how often each occurs.
pub type Counts = BTreeMap<u32, u64>;

/// Returns the values that occur among these rows. A person counts once for each value.
pub fn counts<'a>(rows: impl IntoIterator<Item = &'a Row>, nulls_are_values: bool) -> Counts {
    let mut counts = Counts::new();
    let mut seen = BTreeSet::new();
    for row in rows {
        let is_value = row.sensitive != NULL || nulls_are_values;
        if is_value && (row.person.is_empty() || seen.insert((row.who(), row.sensitive))) {
            *counts.entry(row.sensitive).or_insert(0) += 1;
        }
    }
    counts
}

/// Returns the values of the whole table: the sum over all classes of equal rows.
pub fn table_counts(rows: &[Row], nulls_are_values: bool) -> Counts {
    let classes: BTreeSet<&[u32]> = rows.iter().map(|row| &row.known[..]).collect();
    let mut all = Counts::new();
    for known in classes {
        for (value, count) in counts(class(rows, known, false), nulls_are_values) {
            *all.entry(value).or_insert(0) += count;
        }
    }
    all
}

/// Returns how many rows or people of a class have a value that is counted.
pub fn holders(class: &[&Row], nulls_are_values: bool) -> u64 {
    let counted = class
        .iter()
        .filter(|row| row.sensitive != NULL || nulls_are_values);
    match class.first() {
        Some(row) if !row.person.is_empty() => {
            counted.map(|row| row.who()).collect::<BTreeSet<_>>().len() as u64
        }
        _ => counted.count() as u64,
    }
}

/// Returns the figures of a class of so many holders, except for ordered and hierarchical distances; `None` if the
/// class has no values.
pub fn diversity(class: &Counts, holders: u64, table: &Counts, c: f64) -> Option<Diversity> {
    let share = |counts: &Counts, value: u32| {
        let all: u64 = counts.values().sum();
        counts.get(&value).copied().unwrap_or(0) as f64 / all as f64
    };
    let q = |value: u32| share(class, value);
    let p = |value: u32| share(table, value);
    let largest = |of: &dyn Fn(u32) -> f64| table.keys().map(|&value| of(value)).reduce(f64::max);
    let mut descending: Vec<f64> = class.values().map(|&count| count as f64).collect();
    descending.sort_unstable_by(|a, b| b.total_cmp(a));
    let is_diverse = |l: &usize| descending[0] < c * descending[l - 1..].iter().sum::<f64>();
    let beta = |value: u32| (q(value) - p(value)) / p(value);
    Some(Diversity {
        l_distinct: class.len() as u64,
        l_entropy: (-class.keys().map(|&value| q(value) * q(value).ln()).sum::<f64>()).exp(),
        l_recursive: (1..=class.len()).filter(is_diverse).max().unwrap_or(0) as u64,
        alpha: *class.values().max()? as f64 / holders as f64,
        t_equal: largest(&|_| {
            table
                .keys()
                .map(|&value| (q(value) - p(value)).abs())
                .sum::<f64>()
                / 2.0
        })?,
        t_ordered: None,
        t_hierarchical: None,
        beta: largest(&beta)?.max(0.0),
        beta_enhanced: largest(&|value| largest(&beta).map_or(0.0, |beta| beta.min(-p(value).ln())))?
            .max(0.0),
        beta_enhanced_strict: largest(&|value| match beta(value) <= -p(value).ln() + 1e-12 {
            true => beta(value),
            false => f64::INFINITY,
        })?
        .max(0.0),
        delta: largest(&|value| {
            if q(value) > 0.0 {
                (q(value) / p(value)).ln().abs()
            } else {
                0.0
            }
        })?,
    })
}

/// Returns the ordered distance between a class and the table (Li et al. 2007, section 3.1).
pub fn ordered_distance(class: &Counts, table: &Counts, rank: impl Fn(u32) -> u32) -> f64 {
    let mut values: Vec<u32> = table.keys().copied().collect();
    values.sort_unstable_by_key(|&value| rank(value));
    let excess = excesses(class, table);
    let sum: f64 = (0..values.len())
        .map(|last| {
            values[..=last]
                .iter()
                .map(|value| excess[value])
                .sum::<f64>()
                .abs()
        })
        .sum();
    sum / (values.len() as f64 - 1.0).max(1.0)
}

/// Returns the cost of the cheapest transport from the table to the class, if the distance between two values is the
/// height of their lowest common group divided by the height of the hierarchy. `path` has the groups of a value, from
/// the value itself to the group of all values. In a tree, it is cheapest to use short distances first.
pub fn hierarchical_distance(class: &Counts, table: &Counts, path: impl Fn(u32) -> Vec<u32>) -> f64 {
    let mut excess = excesses(class, table);
    let values: Vec<u32> = excess.keys().copied().collect();
    let height = values.first().map_or(0, |&value| path(value).len() - 1);
    let mut cost = 0.0;
    for level in 1..=height {
        for &from in &values {
            for &to in values.iter().filter(|&&to| path(to)[level] == path(from)[level]) {
                let amount = (-excess[&from]).min(excess[&to]).max(0.0);
                *excess.entry(from).or_default() += amount;
                *excess.entry(to).or_default() -= amount;
                cost += amount * level as f64 / height as f64;
            }
        }
    }
    cost
}

/// Returns q − p for each value of the table.
fn excesses(class: &Counts, table: &Counts) -> BTreeMap<u32, f64> {
    let (here, there): (u64, u64) = (class.values().sum(), table.values().sum());
    let q = |value: &u32| class.get(value).copied().unwrap_or(0) as f64 / here as f64;
    table
        .iter()
        .map(|(value, &count)| (*value, q(value) - count as f64 / there as f64))
        .collect()
}
