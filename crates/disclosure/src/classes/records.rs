//! The rows of a table as everyday measures see them: classes of the known columns, the people in each class, and the
//! values of sensitive columns in each class. All of it is counted in one pass.

use super::pairs::Grouped;
use super::tally::{Tally, add_up};
use super::{Classes, SizeBuckets, SizeGroup, SizeGroups};
use crate::{Control, NULL, Result, Rows, parallel_sort};
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
pub(crate) const UNKNOWN_PERSON: u32 = 0;

/// Rows of a table, counted by class. They are added in one pass.
#[derive(Debug, Clone, Default)]
pub struct Records {
    roles: Roles,
    keeps_rows: bool,
    classes: Classes,
    /// Numbers people if several columns identify them.
    people: Classes,
    /// People of each class; empty if rows are counted.
    members: Tally<u32>,
    values: Vec<ColumnValues>,
    class_of_row: Vec<u32>,
    person_of_row: Vec<u32>,
    kept: Vec<Vec<u32>>,
}

/// Values of a sensitive column in each class.
#[derive(Debug, Clone)]
enum ColumnValues {
    OfRows(Tally<u32>),
    /// Each with the person who has it.
    OfPeople(Tally<(u32, u32)>),
}

impl Records {
    /// Returns a table without rows. If `keeps_rows`, the class and the person of every row are kept.
    pub fn new(roles: Roles, keeps_rows: bool) -> Self {
        let values = || match roles.person.is_empty() {
            true => ColumnValues::OfRows(Tally::default()),
            false => ColumnValues::OfPeople(Tally::default()),
        };
        Records {
            classes: Classes::new(roles.quasi.len()),
            people: Classes::new(roles.person.len()),
            values: roles.sensitive.iter().map(|_| values()).collect(),
            kept: vec![Vec::new(); roles.kept.len()],
            roles,
            keeps_rows,
            ..Self::default()
        }
    }

    /// Returns the rows that are counted in `classes`, whose columns have these roles. The single rows are not kept.
    pub fn of_classes(classes: &Classes, roles: Roles) -> Result<Self> {
        let mut records = Records::new(roles, false);
        let (mut of_entry, mut people) = (Vec::new(), Vec::new());
        let mut row = Vec::new();
        for (entry, &count) in classes.sizes().iter().enumerate() {
            let codes = classes.codes(entry);
            row.clear();
            row.extend(records.roles.quasi.iter().map(|&column| codes[column]));
            of_entry.push(records.classes.insert(&row, count)?);
            if records.counts_people() {
                row.clear();
                row.extend(records.roles.person.iter().map(|&column| codes[column]));
                people.push(records.person_of(&row)?);
            }
        }
        let counted = || of_entry.iter().zip(classes.sizes()).enumerate();
        let person = |entry: usize| people[entry];
        if records.counts_people() {
            let members = counted().map(|(entry, (&class, &count))| (class, person(entry), count));
            records.members = Tally::of_counted(members);
        }
        for (values, &column) in records.values.iter_mut().zip(&records.roles.sensitive) {
            let value = |entry: usize| classes.codes(entry)[column];
            *values = match values {
                ColumnValues::OfRows(_) => ColumnValues::OfRows(Tally::of_counted(
                    counted().map(|(entry, (&class, &count))| (class, value(entry), count)),
                )),
                ColumnValues::OfPeople(_) => ColumnValues::OfPeople(Tally::of_counted(
                    counted().map(|(entry, (&class, &count))| (class, (value(entry), person(entry)), count)),
                )),
            };
        }
        Ok(records)
    }

    /// Returns the same rows with only some of the known columns, by their positions among those, and for each class
    /// the class that it is part of then. Single rows and sensitive values are left out.
    pub(crate) fn project(&self, columns: &[usize], control: &Control) -> Result<(Self, Vec<u32>)> {
        let roles = Roles {
            quasi: columns.iter().map(|&column| self.roles.quasi[column]).collect(),
            person: self.roles.person.clone(),
            ..Roles::default()
        };
        let mut projected = Records::new(roles, false);
        let mut new_class = Vec::with_capacity(self.classes.len());
        let mut codes = Vec::with_capacity(columns.len());
        for (class, &rows) in self.classes.sizes().iter().enumerate() {
            codes.clear();
            codes.extend(columns.iter().map(|&column| self.classes.codes(class)[column]));
            new_class.push(projected.classes.insert(&codes, rows)?);
        }
        if self.counts_people() {
            let members = self.members(control)?;
            let of_class = members.iter().zip(&new_class);
            projected.members = Tally::of_counted(of_class.flat_map(|(people, &class)| {
                people.iter().map(move |&(person, rows)| (class, person, rows))
            }));
        }
        Ok((projected, new_class))
    }

    /// Adds rows.
    pub fn extend(&mut self, rows: Rows) -> Result<()> {
        let all = rows.columns();
        let quasi: Vec<&[u32]> = self.roles.quasi.iter().map(|&column| all[column]).collect();
        let mut classes: Vec<u32> = Vec::with_capacity(rows.len());
        self.classes
            .extend(Rows::new(&quasi, rows.len()), |class| classes.push(class))?;
        let people = self.people_of(rows)?;
        for (&class, &person) in classes.iter().zip(&people) {
            self.members.push(class, person);
        }
        for (values, &column) in self.values.iter_mut().zip(&self.roles.sensitive) {
            let of_rows = classes.iter().zip(all[column]);
            match values {
                ColumnValues::OfRows(tally) => of_rows.for_each(|(&class, &value)| tally.push(class, value)),
                ColumnValues::OfPeople(tally) => of_rows
                    .zip(&people)
                    .for_each(|((&class, &value), &person)| tally.push(class, (value, person))),
            }
        }
        for (kept, &column) in self.kept.iter_mut().zip(&self.roles.kept) {
            kept.extend_from_slice(all[column]);
        }
        if self.keeps_rows {
            self.class_of_row.extend(classes);
            self.person_of_row.extend(people);
        }
        Ok(())
    }

    /// Returns the numbers of the people in these rows, if people are counted.
    fn people_of(&mut self, rows: Rows) -> Result<Vec<u32>> {
        let all = rows.columns();
        match self.roles.person[..] {
            [] => Ok(Vec::new()),
            [column] => Ok(all[column].to_vec()), // NULL has the code 0
            _ => {
                let columns: Vec<&[u32]> = self.roles.person.iter().map(|&column| all[column]).collect();
                let mut people = Vec::with_capacity(rows.len());
                self.people
                    .extend(Rows::new(&columns, rows.len()), |person| people.push(person + 1))?;
                for (row, person) in people.iter_mut().enumerate() {
                    if columns.iter().all(|column| column[row] == NULL) {
                        *person = UNKNOWN_PERSON;
                    }
                }
                Ok(people)
            }
        }
    }

    /// Returns the number of the person whom these codes identify.
    fn person_of(&mut self, codes: &[u32]) -> Result<u32> {
        match codes {
            [code] => Ok(*code), // NULL has the code 0
            _ if codes.iter().all(|&code| code == NULL) => Ok(UNKNOWN_PERSON),
            _ => Ok(self.people.insert(codes, 1)? + 1),
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
        self.classes.rows()
    }

    /// Returns the distinct pairs of a class and a person by class, if people are counted, with the number of rows of
    /// each.
    pub(crate) fn members(&self, control: &Control) -> Result<Grouped<(u32, u64)>> {
        self.members.grouped(self.classes.len(), control)
    }

    /// Returns the number of people. All rows whose person is not known count as one person.
    pub fn people(&self) -> u64 {
        let mut seen = vec![false; self.person_numbers()];
        self.members.for_each(|_, person| seen[person as usize] = true);
        seen.into_iter().filter(|&seen| seen).count() as u64
    }

    /// Returns one more than the largest number of a person.
    fn person_numbers(&self) -> usize {
        let mut numbers = 0;
        self.members
            .for_each(|_, person| numbers = numbers.max(person as usize + 1));
        numbers
    }

    /// Returns the number of rows, or of people if they are counted, in each class. Rows whose person is not known add
    /// nobody to a class, unless nobody else is in it.
    pub fn sizes(&self, nulls: Nulls, control: &Control) -> Result<Vec<u64>> {
        if !self.counts_people() {
            return match nulls {
                Nulls::Value => Ok(self.classes.sizes().to_vec()),
                Nulls::Wildcard => self.classes.wildcard_sizes(control),
            };
        }
        let members = self.members.grouped(self.classes.len(), control)?;
        match nulls {
            Nulls::Value => Ok(members.iter().map(people_among).collect()),
            Nulls::Wildcard => self.classes.map_agreeing(control, |_, agreeing| {
                let people = agreeing.iter().flat_map(|&class| members.of(class as usize));
                let mut people: Vec<(u32, u64)> = people.copied().collect();
                add_up(&mut people, 0);
                people_among(&people)
            }),
        }
    }

    /// Returns the units by the size of the smallest class that they are in, given the size of each class. Units are
    /// rows, or people if they are counted. A person is as exposed as in the smallest of their classes; rows whose
    /// person is not known count as one person.
    pub fn exposure(&self, sizes: &[u64]) -> Exposure {
        let mut exposure = Exposure::default();
        if !self.counts_people() {
            for (&size, &rows) in sizes.iter().zip(self.classes.sizes()) {
                exposure.add(size, rows);
            }
            return exposure;
        }
        let mut smallest: Vec<Option<u64>> = vec![None; self.person_numbers()];
        self.members.for_each(|class, person| {
            let size = sizes[class as usize];
            let smallest = &mut smallest[person as usize];
            *smallest = Some(smallest.map_or(size, |other| other.min(size)));
        });
        smallest
            .into_iter()
            .flatten()
            .for_each(|size| exposure.add(size, 1));
        exposure
    }

    /// Returns classes of people whose rows have the same values, each as often: the people by the size of their class,
    /// and the number of classes. Rows whose person is not known count as those of one person.
    pub fn classes_by_person(&self, control: &Control) -> Result<(Exposure, u64)> {
        let mut exposure = Exposure::default();
        let mut classes = 0;
        self.for_each_class_of_people(control, |people, _| {
            exposure.add(people, people);
            classes += 1;
        })?;
        Ok((exposure, classes))
    }

    /// Calls `on_class` with each class of people whose rows have the same values, each as often: the number of people,
    /// and the number of rows of each.
    fn for_each_class_of_people(&self, control: &Control, mut on_class: impl FnMut(u64, u64)) -> Result<()> {
        let members = self.members(control)?;
        control.require::<(u32, u64)>(2 * members.all().len())?;
        let pairs = (0..).zip(members.iter()).flat_map(|(class, people)| {
            let of_class = people.iter();
            of_class.map(move |&(person, rows)| (person, (class, rows)))
        });
        let of_person = Grouped::new(self.person_numbers(), pairs);
        let mut people: Vec<&[(u32, u64)]> = of_person.iter().filter(|rows| !rows.is_empty()).collect();
        parallel_sort(&mut people, control)?;
        for same in people.chunk_by(|a, b| a == b) {
            let rows = same[0].iter().map(|&(_, rows)| rows).sum();
            on_class(same.len() as u64, rows);
        }
        Ok(())
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
    pub fn size_groups_by_person(&self, buckets: &SizeBuckets, control: &Control) -> Result<Vec<SizeGroup>> {
        let mut groups = SizeGroups::new(buckets);
        self.for_each_class_of_people(control, |people, rows| {
            let group = groups.of(people);
            group.classes += 1;
            group.people += people;
            group.rows += people * rows;
        })?;
        Ok(groups.into_vec())
    }

    /// Returns the values of a sensitive column in each class, in ascending order, and how many rows or people have
    /// each. A person counts once for each value.
    pub fn values(&self, column: usize, control: &Control) -> Result<Grouped<(u32, u64)>> {
        Ok(match self.cells(column, control)? {
            Cells::OfRows(values) => values,
            Cells::OfPeople(values) => values.map(|values, all| all.extend(count_people(values))),
        })
    }

    /// Returns the values of a sensitive column in each class, in ascending order.
    pub(super) fn cells(&self, column: usize, control: &Control) -> Result<Cells> {
        Ok(match &self.values[column] {
            ColumnValues::OfRows(values) => Cells::OfRows(values.grouped(self.classes.len(), control)?),
            ColumnValues::OfPeople(values) => Cells::OfPeople(values.grouped(self.classes.len(), control)?),
        })
    }
}

/// Values of a sensitive column in each class, in ascending order, each with its number of rows.
pub(super) enum Cells {
    OfRows(Grouped<(u32, u64)>),
    /// Each value with a person who has it.
    OfPeople(Grouped<((u32, u32), u64)>),
}

/// Returns the number of people, given their numbers, each once. Somebody who is not known counts if nobody else does.
fn people_among(people: &[(u32, u64)]) -> u64 {
    let known = people.iter().filter(|&&(person, _)| person != UNKNOWN_PERSON);
    known.count().max(1) as u64
}

/// Returns how many people have each value, given each pair of a value and a person once, in ascending order.
pub(super) fn count_people(values: &[((u32, u32), u64)]) -> impl Iterator<Item = (u32, u64)> {
    let equal = values.chunk_by(|a, b| a.0.0 == b.0.0);
    equal.map(|equal| (equal[0].0.0, equal.len() as u64))
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
