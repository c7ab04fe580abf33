//! Whom the rows of a table are about, and how many people some rows are about.

use super::PackedTable;
use crate::parallel_sort::parallel_sort;
use crate::{Control, NULL, Result};

/// The people of a table's distinct rows.
#[derive(Debug, Clone, Default)]
pub struct People {
    /// Per distinct row, the end of its people in `of_rows`. They begin where those of the row before end.
    ends: Vec<usize>,
    /// People by number from 0, each once per distinct row.
    of_rows: Vec<u32>,
    count: usize,
}

impl People {
    /// Returns the people of a table, given the distinct row and the code of the person of each row. A row whose person
    /// is NULL is about somebody else than all other rows.
    pub fn new(
        table: &PackedTable,
        distinct_of_row: &[u32],
        person_of_row: &[u32],
        control: &Control,
    ) -> Result<Self> {
        control.require::<(u32, u32)>(2 * person_of_row.len())?;
        let mut next = person_of_row.iter().max().map_or(0, |&last| last as usize + 1);
        let person = |code: u32| match code {
            NULL => {
                next += 1;
                (next - 1) as u32
            }
            code => code,
        };
        let people = person_of_row.iter().copied().map(person);
        let mut pairs: Vec<(u32, u32)> = distinct_of_row.iter().copied().zip(people).collect();
        parallel_sort(&mut pairs, control)?;
        pairs.dedup();
        let mut ends = vec![0; table.len()];
        for &(row, _) in &pairs {
            ends[row as usize] += 1;
        }
        let mut end = 0;
        for people in &mut ends {
            end += *people;
            *people = end;
        }
        Ok(People {
            ends,
            of_rows: pairs.into_iter().map(|(_, person)| person).collect(),
            count: next,
        })
    }

    /// Returns how many people these distinct rows are about.
    pub fn among(&self, rows: impl Iterator<Item = usize>) -> u64 {
        let mut is_among = vec![false; self.count];
        for row in rows {
            self.of_row(row)
                .iter()
                .for_each(|&person| is_among[person as usize] = true);
        }
        is_among.into_iter().filter(|&is_among| is_among).count() as u64
    }

    fn of_row(&self, row: usize) -> &[u32] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.of_rows[start..self.ends[row]]
    }
}

/// Counter of the people whom some rows are about.
pub(super) struct PeopleCounter<'a> {
    multiplicity: &'a [u64],
    /// `None` if each row is about somebody else.
    people: Option<&'a People>,
    /// Per person, the last count that they were in.
    counted_in: Vec<u32>,
    count: u32,
}

impl<'a> PeopleCounter<'a> {
    pub fn new(table: &'a PackedTable, people: Option<&'a People>) -> Self {
        PeopleCounter {
            multiplicity: &table.multiplicity,
            people,
            counted_in: vec![0; people.map_or(0, |people| people.count)],
            count: 0,
        }
    }

    /// Returns how many people these distinct rows are about.
    pub fn count(&mut self, rows: impl Iterator<Item = u32>) -> u64 {
        let Some(people) = self.people else {
            return rows.map(|row| self.multiplicity[row as usize]).sum();
        };
        if self.count == u32::MAX {
            self.count = 0;
            self.counted_in.fill(0);
        }
        self.count += 1;
        let mut counted = 0;
        for row in rows {
            for &person in people.of_row(row as usize) {
                let last = &mut self.counted_in[person as usize];
                counted += u64::from(*last != self.count);
                *last = self.count;
            }
        }
        counted
    }
}
