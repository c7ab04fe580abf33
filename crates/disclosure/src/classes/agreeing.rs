//! Pairs of classes that agree in every column in which both have a value, found column by column.
//!
//! Classes are sorted, so that those that begin with the same codes are neighbours: a *run*. For one class after the
//! other, the runs that agree with its first columns are narrowed down by its next column, and what was found for the
//! columns that it shares with the class before it is used again. So most pairs are never looked at, and no pair is
//! compared in more columns than if all pairs were compared.

use super::Classes;
use crate::{Control, NULL, Result, parallel_sort};
use rayon::prelude::*;
use std::ops::Range;

/// Number of classes that a thread takes at a time.
const CHUNK: usize = 256;

/// Number of runs or single classes that are narrowed down between two checks for a cancel.
const PIECE: usize = 1 << 14;

/// Classes sorted by their codes in some order of the columns.
struct Sorted {
    classes: Vec<u32>,
    /// Codes of these classes, column by column.
    columns: Vec<Vec<u32>>,
}

impl Classes {
    /// Returns what `of_class` makes of each class and the classes that agree with it in every column in which both
    /// have a value. Every class agrees with itself. In contrast to [`sum_agreeing`](Self::sum_agreeing), the cost is
    /// at least proportional to the number of pairs of classes that agree.
    pub fn map_agreeing<T: Send>(
        &self,
        control: &Control,
        of_class: impl Fn(usize, &[u32]) -> T + Send + Sync,
    ) -> Result<Vec<T>> {
        self.map_agreeing_of(self, control, of_class)
    }

    /// Returns what `of_class` makes of each class and the classes of `other` that agree with it.
    pub(super) fn map_agreeing_of<T: Send>(
        &self,
        other: &Classes,
        control: &Control,
        of_class: impl Fn(usize, &[u32]) -> T + Send + Sync,
    ) -> Result<Vec<T>> {
        control.require::<Option<T>>(2 * self.len())?;
        let order = other.selective_first();
        let here = self.sorted(&order, control)?;
        let others;
        let there = match std::ptr::eq(self, other) {
            true => &here,
            false => {
                others = other.sorted(&order, control)?;
                &others
            }
        };
        control.set_total(self.len() as u64);
        let positions: Vec<usize> = (0..self.len()).collect();
        let parts = positions.par_chunks(CHUNK).map(|part| {
            let mut search = Search::new(there);
            let mut results = Vec::with_capacity(part.len());
            for &position in part {
                let agreeing = search.next(&here, position, control)?;
                results.push(of_class(here.classes[position] as usize, agreeing));
                control.advance(1);
            }
            Ok(results)
        });
        let parts: Vec<Vec<T>> = parts.collect::<Result<_>>()?;
        let mut results: Vec<Option<T>> = Vec::new();
        results.resize_with(self.len(), || None);
        for (&class, result) in here.classes.iter().zip(parts.into_iter().flatten()) {
            results[class as usize] = Some(result);
        }
        Ok(results.into_iter().flatten().collect()) // every class has a position
    }

    /// Returns the columns, those first in which the fewest pairs of classes agree.
    fn selective_first(&self) -> Vec<usize> {
        let pairs = |column: usize| -> u128 {
            let mut counts: Vec<u128> = Vec::new();
            for class in 0..self.len() {
                let code = self.codes(class)[column] as usize;
                if counts.len() <= code {
                    counts.resize(code + 1, 0);
                }
                counts[code] += 1;
            }
            let absent = counts.first().copied().unwrap_or(0);
            let equal: u128 = counts.iter().map(|count| count * count).sum();
            equal + 2 * absent * (self.len() as u128 - absent)
        };
        let mut columns: Vec<usize> = (0..self.width).collect();
        columns.sort_by_cached_key(|&column| pairs(column));
        columns
    }

    /// Sorts the classes by their codes in these columns.
    fn sorted(&self, order: &[usize], control: &Control) -> Result<Sorted> {
        control.require::<u32>(4 * self.codes.len() + 8 * self.len())?;
        let mut codes = Vec::with_capacity(self.codes.len());
        for class in 0..self.len() {
            let of_class = self.codes(class);
            codes.extend(order.iter().map(|&column| of_class[column]));
        }
        let width = self.width;
        let of_class = |class: usize| &codes[class * width..(class + 1) * width];
        let mut sorted: Vec<(&[u32], u32)> = (0..self.len())
            .map(|class| (of_class(class), class as u32))
            .collect();
        parallel_sort(&mut sorted, control)?;
        let column = |depth: usize| sorted.iter().map(|(codes, _)| codes[depth]).collect();
        Ok(Sorted {
            columns: (0..width).map(column).collect(),
            classes: sorted.iter().map(|&(_, class)| class).collect(),
        })
    }
}

/// Search for the classes that agree with one class after the other, in ascending order.
struct Search<'a> {
    there: &'a Sorted,
    /// For each number of columns, from 0, the classes that agree with the last class in the first columns.
    found: Vec<Found>,
    /// Position of the last class, and for how many columns these are known.
    last: (usize, usize),
    agreeing: Vec<u32>,
}

/// Positions of classes that agree with a class in the first columns.
#[derive(Debug, Clone, Default)]
struct Found {
    /// Neighbours with the same codes in these columns.
    runs: Vec<Range<u32>>,
    /// Classes without such a neighbour.
    singles: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(there: &'a Sorted) -> Self {
        let mut found = vec![Found::default(); there.columns.len() + 1];
        found[0].push(0..there.classes.len() as u32);
        Search {
            there,
            found,
            last: (0, 0),
            agreeing: Vec::new(),
        }
    }

    /// Returns the classes that agree with the class at a position.
    fn next(&mut self, here: &Sorted, position: usize, control: &Control) -> Result<&[u32]> {
        let is_same = |last: usize| {
            let columns = here.columns.iter();
            columns.take_while(move |column| column[last] == column[position])
        };
        let (last, narrowed) = self.last;
        let known = is_same(last).take(narrowed).count();
        // Runs agree as a whole if all further columns of the class are absent, and need not be split.
        let is_absent = |column: &&Vec<u32>| column[position] == NULL;
        let end = here.columns.len() - here.columns.iter().rev().take_while(is_absent).count();
        for depth in known..end {
            let (before, after) = self.found.split_at_mut(depth + 1);
            let code = here.columns[depth][position];
            after[0].narrow(&before[depth], &self.there.columns[depth], code, control)?;
        }
        self.last = (position, known.max(end));
        self.agreeing.clear();
        let there = &self.there.classes;
        for run in &self.found[end].runs {
            self.agreeing
                .extend_from_slice(&there[run.start as usize..run.end as usize]);
        }
        let singles = self.found[end].singles.iter();
        self.agreeing
            .extend(singles.map(|&single| there[single as usize]));
        Ok(&self.agreeing)
    }
}

impl Found {
    fn push(&mut self, run: Range<u32>) {
        match run.len() {
            0 => {}
            1 => self.singles.push(run.start),
            _ => self.runs.push(run),
        }
    }

    /// Takes over those that agree with a code in the next column.
    fn narrow(&mut self, before: &Found, column: &[u32], code: u32, control: &Control) -> Result<()> {
        self.runs.clear();
        self.singles.clear();
        for runs in before.runs.chunks(PIECE) {
            control.check()?;
            runs.iter().for_each(|run| self.narrow_run(run, column, code));
        }
        if code == NULL {
            self.singles.extend_from_slice(&before.singles);
            return Ok(());
        }
        for singles in before.singles.chunks(PIECE) {
            control.check()?;
            // Without a branch that nobody can predict.
            let mut end = self.singles.len();
            self.singles.resize(end + singles.len(), 0);
            for &single in singles {
                let other = column[single as usize];
                self.singles[end] = single;
                end += usize::from((other == code) | (other == NULL));
            }
            self.singles.truncate(end);
        }
        Ok(())
    }

    /// Takes over the parts of a run that agree with a code in the next column, in which the run ascends.
    fn narrow_run(&mut self, run: &Range<u32>, column: &[u32], code: u32) {
        let codes = &column[run.start as usize..run.end as usize];
        let run_length = |from: usize| codes[from..].partition_point(|other| *other == codes[from]);
        let mut push = |from: usize, to: usize| self.push(run.start + from as u32..run.start + to as u32);
        if code == NULL {
            let mut start = 0;
            while start < codes.len() {
                let end = start + run_length(start);
                push(start, end);
                start = end;
            }
            return;
        }
        let absent = if codes[0] == NULL { run_length(0) } else { 0 };
        push(0, absent);
        let from = absent + codes[absent..].partition_point(|&other| other < code);
        let to = from + codes[from..].partition_point(|&other| other == code);
        push(from, to);
    }
}
