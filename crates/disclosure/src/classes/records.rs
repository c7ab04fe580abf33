//! The rows of a table as everyday measures see them: classes of the known columns, the people in each class, and the
//! values of sensitive columns in each class. All of it is counted in one pass.

use super::pairs::{Grouped, Pairs};
use super::{Classes, SizeGroup, SizeGroups};
use crate::classes::SizeBuckets;
use crate::{Control, NULL, Result, Rows};
use std::collections::BTreeMap;

/// Roles of columns, by their positions in a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roles {
    /// Columns that an adversary may know. Rows that agree on them are in one class.
    pub quasi: Vec<usize>,
    /// Columns that an adversary must not learn.
    pub sensitive: Vec<usize>,
    /// Columns that together identify the person that a row is about. If there are none, rows are counted instead of
    /// people.
    pub person: Vec<usize>,
    /// Further columns whose codes are kept for every row.
    pub kept: Vec<usize>,
}

/// How an absent value of a known column is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nulls {
    /// As a value of its own.
    #[default]
    Value,
    /// As a wildcard that equals any value.
    Wildcard,
}

/// What puts units into the same class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// Rows are in a class if they have the same values. A person is in the classes of all their rows.
    #[default]
    Row,
    /// People are in a class if all their rows together have the same values, each as often.
    Person,
}

/// Number of a person whose identity is not known, because all columns that identify them are NULL.
pub(super) const UNKNOWN_PERSON: u32 = 0;

/// Rows of a table, counted by class. They are added in one pass.
#[derive(Debug, Clone, Default)]
pub struct Records {
    roles: Roles,
    keeps_rows: bool,
    classes: Classes,
    /// Numbers people if several columns identify them.
    people: Classes,
    /// Pairs of a class and a person; empty if rows are counted.
    members: Pairs,
    /// For each sensitive column, pairs of a class, or of a member if people are counted, and a value.
    values: Vec<Pairs>,
    class_of_row: Vec<u32>,
    person_of_row: Vec<u32>,
    kept: Vec<Vec<u32>>,
}

impl Records {
    /// Returns a table without rows. If `keeps_rows`, the class and the person of every row are kept.
    pub fn new(roles: Roles, keeps_rows: bool) -> Self {
        Records {
            classes: Classes::new(roles.quasi.len()),
            people: Classes::new(roles.person.len()),
            values: vec![Pairs::default(); roles.sensitive.len()],
            kept: vec![Vec::new(); roles.kept.len()],
            roles,
            keeps_rows,
            ..Self::default()
        }
    }

    /// Returns the rows that are counted in `classes`, whose columns have these roles. The single rows are not kept.
    pub fn of_classes(classes: &Classes, roles: Roles) -> Result<Self> {
        let mut records = Records::new(roles, false);
        let mut quasi = Vec::new();
        for (class, &count) in classes.sizes().iter().enumerate() {
            let codes = classes.codes(class);
            quasi.clear();
            quasi.extend(records.roles.quasi.iter().map(|&column| codes[column]));
            let mut group = records.classes.insert(&quasi, count)?;
            if records.counts_people() {
                let person = records.person_of(|column| codes[column])?;
                group = records.members.insert(group, person, count)?;
            }
            for (values, &column) in records.values.iter_mut().zip(&records.roles.sensitive) {
                values.insert(group, codes[column], count)?;
            }
        }
        Ok(records)
    }

    /// Adds rows.
    pub fn extend(&mut self, rows: Rows) -> Result<()> {
        let all = rows.columns();
        let quasi: Vec<&[u32]> = self.roles.quasi.iter().map(|&column| all[column]).collect();
        let mut of_row: Vec<u32> = Vec::with_capacity(rows.len());
        self.classes
            .extend(Rows::new(&quasi, rows.len()), |class| of_row.push(class))?;
        if self.keeps_rows {
            self.class_of_row.extend_from_slice(&of_row);
        }
        for (kept, &column) in self.kept.iter_mut().zip(&self.roles.kept) {
            kept.extend_from_slice(all[column]);
        }
        if self.counts_people() {
            for (row, class) in of_row.iter_mut().enumerate() {
                let person = self.person_of(|column| all[column][row])?;
                if self.keeps_rows {
                    self.person_of_row.push(person);
                }
                *class = self.members.insert(*class, person, 1)?;
            }
        }
        for (values, &column) in self.values.iter_mut().zip(&self.roles.sensitive) {
            for (&class, &value) in of_row.iter().zip(all[column]) {
                values.insert(class, value, 1)?;
            }
        }
        Ok(())
    }

    /// Returns the number of the person in a row, given its codes by column; [`UNKNOWN_PERSON`] if it is not known.
    fn person_of(&mut self, code: impl Fn(usize) -> u32) -> Result<u32> {
        if let [column] = self.roles.person[..] {
            return Ok(code(column)); // NULL has the code 0
        }
        let codes: Vec<u32> = self.roles.person.iter().map(|&column| code(column)).collect();
        match codes.iter().all(|&code| code == NULL) {
            true => Ok(UNKNOWN_PERSON),
            false => Ok(self.people.insert(&codes, 1)? + 1),
        }
    }

    /// Returns whether people are counted instead of rows.
    pub fn counts_people(&self) -> bool {
        !self.roles.person.is_empty()
    }

    /// Returns the classes of the known columns. Their sizes are numbers of rows.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Returns the distinct pairs of a class and a person, if people are counted.
    pub(crate) fn members(&self) -> &Pairs {
        &self.members
    }

    /// Returns the class of every row, if rows are kept, and frees everything else.
    pub fn into_class_of_row(self) -> Vec<u32> {
        self.class_of_row
    }

    /// Returns the class of every row, if rows are kept.
    pub fn class_of_row(&self) -> &[u32] {
        &self.class_of_row
    }

    /// Returns the person of every row, if rows are kept and people are counted; 0 stands for a person who is not known.
    pub fn person_of_row(&self) -> &[u32] {
        &self.person_of_row
    }

    /// Returns the codes of a column that is kept, by its position among those.
    pub fn kept(&self, column: usize) -> &[u32] {
        &self.kept[column]
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.classes.sizes().iter().sum()
    }

    /// Returns the number of people. All rows whose person is not known count as one person.
    pub fn people(&self) -> u64 {
        self.classes_of_people()
            .iter()
            .filter(|classes| !classes.is_empty())
            .count() as u64
    }

    /// Returns the number of different numbers of people, including [`UNKNOWN_PERSON`].
    fn person_numbers(&self) -> usize {
        let largest = self.members.keys().iter().map(|&(_, person)| person).max();
        largest.map_or(0, |largest| largest as usize + 1)
    }

    /// Returns the classes that each person is in, and the number of rows there, by the number of the person.
    fn classes_of_people(&self) -> Grouped<(u32, u64)> {
        self.members.by_second(self.person_numbers())
    }

    /// Returns the classes of each person, by the number of the person, and the number of their rows there. Empty if rows
    /// are counted.
    pub(super) fn rows_of_people(&self) -> Grouped<(u32, u64)> {
        match self.counts_people() {
            true => self.classes_of_people(),
            false => Grouped::default(),
        }
    }

    /// Returns the number of rows with each value of a sensitive column in each class, as triples of class, value and
    /// number. A class and a value may occur in several of them.
    pub(super) fn rows_of_values(&self, column: usize) -> impl Iterator<Item = (u32, u32, u64)> {
        let class_of = |group: u32| match self.counts_people() {
            true => self.members.keys()[group as usize].0,
            false => group,
        };
        let values = self.values[column].iter();
        values.map(move |(group, value, rows)| (class_of(group), value, rows))
    }

    /// Returns the values of a sensitive column that each member of a class has, by the number of the member.
    pub(super) fn values_of_members(&self, column: usize) -> Grouped<(u32, u64)> {
        self.values[column].by_first(self.members.len())
    }

    /// Returns the number of rows, or of people if they are counted, in each class. Rows whose person is not known add
    /// nobody to a class, unless nobody else is in it.
    pub fn sizes(&self, nulls: Nulls, control: &Control) -> Result<Vec<u64>> {
        match (self.counts_people(), nulls) {
            (false, Nulls::Value) => Ok(self.classes.sizes().to_vec()),
            (false, Nulls::Wildcard) => self.classes.wildcard_sizes(control),
            (true, Nulls::Value) => {
                let mut people = vec![0; self.classes.len()];
                for &(class, person) in self.members.keys() {
                    people[class as usize] += u64::from(person != UNKNOWN_PERSON);
                }
                Ok(people.into_iter().map(|people: u64| people.max(1)).collect())
            }
            (true, Nulls::Wildcard) => {
                let members = self.members.by_first(self.classes.len());
                self.classes.map_agreeing(control, |_, agreeing| {
                    let people = agreeing.iter().flat_map(|&class| members.of(class as usize));
                    let known = people.filter(|(person, _)| *person != UNKNOWN_PERSON);
                    let mut known: Vec<u32> = known.map(|(person, _)| *person).collect();
                    known.sort_unstable();
                    known.dedup();
                    known.len().max(1) as u64
                })
            }
        }
    }

    /// Returns the units by the size of the smallest class that they are in, given the size of each class. Units are
    /// rows, or people if they are counted. A person is as exposed as in the smallest of their classes.
    pub fn exposure(&self, sizes: &[u64]) -> Exposure {
        let mut exposure = Exposure::default();
        match self.counts_people() {
            false => {
                for (&size, &rows) in sizes.iter().zip(self.classes.sizes()) {
                    exposure.add(size, rows);
                }
            }
            true => {
                for classes in self.classes_of_people().iter() {
                    let of_person = classes.iter().map(|&(class, _)| sizes[class as usize]);
                    if let Some(size) = of_person.min() {
                        exposure.add(size, 1);
                    }
                }
            }
        }
        exposure
    }

    /// Returns classes of people whose rows have the same values, each as often: the size of the class of each person,
    /// and the number of classes.
    pub fn classes_by_person(&self) -> (Exposure, u64) {
        let mut exposure = Exposure::default();
        let classes = self.people_with_equal_rows();
        for &people in classes.values() {
            exposure.add(people, people);
        }
        (exposure, classes.len() as u64)
    }

    /// Returns the number of people whose rows are these. Rows are given by their class and how often they occur.
    fn people_with_equal_rows(&self) -> BTreeMap<Vec<(u32, u64)>, u64> {
        let mut people_with: BTreeMap<Vec<(u32, u64)>, u64> = BTreeMap::new();
        for classes in self.classes_of_people().iter() {
            let mut rows = classes.to_vec();
            rows.sort_unstable();
            if !rows.is_empty() {
                *people_with.entry(rows).or_insert(0) += 1;
            }
        }
        people_with
    }

    /// Returns the number of classes, rows and people in each bucket that is not empty, smallest sizes first, given the
    /// size of each class.
    pub fn size_groups(&self, sizes: &[u64], buckets: &SizeBuckets) -> Vec<SizeGroup> {
        let mut groups = self.classes.size_groups(sizes, buckets);
        if self.counts_people() {
            for (size, people) in self.exposure(sizes).iter() {
                let after = groups.partition_point(|group| group.from <= size);
                groups[after - 1].people += people;
            }
        }
        groups
    }

    /// Returns the same for classes of people whose rows have the same values, each as often.
    pub fn size_groups_by_person(&self, buckets: &SizeBuckets) -> Vec<SizeGroup> {
        let mut groups = SizeGroups::new(buckets);
        for (rows, people) in self.people_with_equal_rows() {
            let group = groups.of(people);
            group.classes += 1;
            group.people += people;
            group.rows += people * rows.iter().map(|&(_, count)| count).sum::<u64>();
        }
        groups.into_vec()
    }

    /// Returns the values of a sensitive column in each class, and how many rows or people have each. A person counts
    /// once for each value.
    pub fn values(&self, column: usize) -> Grouped<(u32, u64)> {
        let pairs = &self.values[column];
        match self.counts_people() {
            false => pairs.by_first(self.classes.len()),
            true => {
                let members = self.members.keys();
                let cells = pairs.keys().iter();
                let cells = cells.map(|&(member, value)| (members[member as usize].0, (value, 1)));
                merged(&Grouped::new(self.classes.len(), cells))
            }
        }
    }
}

/// Adds up the counts of equal values in each group.
fn merged(cells: &Grouped<(u32, u64)>) -> Grouped<(u32, u64)> {
    let mut all: Vec<(u32, (u32, u64))> = Vec::new();
    let mut of_group: Vec<(u32, u64)> = Vec::new();
    for (group, cells) in cells.iter().enumerate() {
        of_group.clear();
        of_group.extend_from_slice(cells);
        add_up(&mut of_group);
        all.extend(of_group.iter().map(|&cell| (group as u32, cell)));
    }
    Grouped::new(cells.len(), all.into_iter())
}

/// Sorts values and adds up the counts of equal ones.
pub(super) fn add_up(counts: &mut Vec<(u32, u64)>) {
    counts.sort_unstable();
    counts.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        if same {
            earlier.1 += later.1;
        }
        same
    });
}

/// Numbers of rows or people by the size of the class that they are in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exposure(BTreeMap<u64, u64>);

impl Exposure {
    /// Adds units that are in a class of this size.
    pub fn add(&mut self, size: u64, units: u64) {
        *self.0.entry(size).or_insert(0) += units;
    }

    /// Returns the number of units.
    pub fn units(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the size of the smallest class; `None` if there are no units.
    pub fn smallest(&self) -> Option<u64> {
        self.0.keys().next().copied()
    }

    /// Returns the number of units in classes smaller than `size`.
    pub fn below(&self, size: u64) -> u64 {
        self.0.range(..size).map(|(_, units)| units).sum()
    }

    /// Returns the sizes in ascending order, each with its number of units.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().map(|(&size, &units)| (size, units))
    }
}
