//! Table whose cells can be blanked: which cells there are, and which have been blanked so far.

use super::bitset::Words;
use super::packed_table::{PackedTable, Slot};
use super::{Attribute, Column, Nulls};
use crate::parallel_sort::parallel_sort;
use crate::{Control, Result};
use std::ops::Range;

/// What it means to blank a cell of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blank {
    /// The value becomes NULL. What that stands for is said by [`Nulls`].
    Value,
    /// The value is a set, and loses one element.
    Element,
    /// Cells of the column cannot be blanked.
    Never,
}

impl Blank {
    /// Returns what suits a column: a set loses an element, and any other value becomes NULL. If NULL is itself
    /// an attribute of the column, there is nothing that a cell could be blanked with.
    pub fn of_column(column: &Column) -> Self {
        use super::AttributesOfValue::{One, Set};
        match (column.nulls, &column.attributes_of_value) {
            (Nulls::Attribute(_), _) => Blank::Never,
            (_, One(_)) => Blank::Value,
            (_, Set(_)) => Blank::Element,
        }
    }
}

/// Slots that are blanked together, because they belong to the same cell.
#[derive(Debug, Clone)]
pub(super) struct Unit<const P: usize> {
    /// Set of these slots.
    pub slots: [u64; P],
    /// All bits of their fields.
    fields: [u64; P],
    /// Bits that are set afterwards, because the attributes are then unknown.
    unknown: [u64; P],
    /// Whether an attribute of the cell is harmful.
    pub is_dangerous: bool,
    /// Whether an attribute of the cell can be known.
    pub may_be_known: bool,
}

impl<const P: usize> Unit<P> {
    /// Returns all cells that can be blanked, in the order of the table's slots.
    pub fn all(table: &PackedTable, blanks: &[Blank]) -> Vec<Self> {
        let mut units: Vec<(u32, Unit<P>)> = Vec::new();
        for slot in &table.slots {
            let blank = blanks.get(slot.column as usize).copied().unwrap_or(Blank::Never);
            let same_cell = units.iter_mut().find(|(column, _)| *column == slot.column);
            match (blank, same_cell) {
                (Blank::Never, _) => {}
                (Blank::Value, Some((_, unit))) => unit.add(slot),
                (Blank::Value, None) => {
                    let mut unit = Self::of_slot(slot);
                    unit.unknown = slot.unknown.map_or([0; P], Words::single);
                    units.push((slot.column, unit));
                }
                (Blank::Element, _) => units.push((slot.column, Self::of_slot(slot))),
            }
        }
        units.into_iter().map(|(_, unit)| unit).collect()
    }

    fn of_slot(slot: &Slot) -> Self {
        let mut unit = Unit {
            slots: [0; P],
            fields: [0; P],
            unknown: [0; P],
            is_dangerous: false,
            may_be_known: false,
        };
        unit.add(slot);
        unit
    }

    fn add(&mut self, slot: &Slot) {
        self.slots = self.slots.or(&Words::single(slot.bit));
        self.fields = self.fields.or(&slot.field());
        self.is_dangerous |= slot.is_dangerous();
        self.may_be_known |= slot.likelihood.iter().any(|&likelihood| likelihood > 0.0);
    }

    /// Returns a row without the attributes of the cell.
    pub fn blanked(&self, row: &[u64; P]) -> [u64; P] {
        row.without(&self.fields).or(&self.unknown)
    }

    /// Returns whether the attributes are unknown afterwards, rather than absent.
    pub fn becomes_unknown(&self) -> bool {
        !self.unknown.is_none()
    }

    /// Returns the attributes that a row has in the cell.
    pub fn attributes(&self, table: &PackedTable, row: &[u64; P]) -> Vec<Attribute> {
        table.unpacked(&row.and(&self.fields))
    }
}

/// Equal rows of the original table from which the same cells were blanked.
#[derive(Debug, Clone)]
pub(super) struct Copies<const P: usize> {
    /// Distinct row of the original table.
    pub origin: usize,
    pub count: u64,
    /// The row without these cells.
    pub bits: [u64; P],
    /// Cells that were blanked, in this order: their units and rounds.
    pub cells: Vec<(usize, usize)>,
}

/// Number of values that [`Copies`] take for a row, for the memory budget.
const WORDS_PER_COPIES: usize = 8;

impl<const P: usize> Copies<P> {
    /// Returns the rows of a table, with no cell blanked.
    pub fn of_table(table: &PackedTable, control: &Control) -> Result<Vec<Self>> {
        control.require::<u64>(table.len() * (P + WORDS_PER_COPIES))?;
        let rows = table.rows::<P>().iter().enumerate();
        Ok(rows
            .map(|(origin, &bits)| Copies {
                origin,
                count: table.multiplicity[origin],
                bits,
                cells: Vec::new(),
            })
            .collect())
    }

    /// Returns a row in which one more cell is blanked.
    pub fn with_blank(&self, unit: usize, units: &[Unit<P>], round: usize, count: u64) -> Self {
        let mut cells = self.cells.clone();
        cells.push((unit, round));
        Copies {
            origin: self.origin,
            count,
            bits: units[unit].blanked(&self.bits),
            cells,
        }
    }

    /// Returns a row in which the cell at this position of `cells` is not blanked.
    pub fn without_blank(&self, position: usize, units: &[Unit<P>], original: &[[u64; P]]) -> Self {
        let mut cells = self.cells.clone();
        cells.remove(position);
        let origin = original[self.origin];
        Copies {
            bits: cells
                .iter()
                .fold(origin, |bits, &(unit, _)| units[unit].blanked(&bits)),
            cells,
            ..*self
        }
    }
}

/// Table of rows with blanked cells, and which of them each of its distinct rows stands for.
pub(super) struct BlankedTable<const P: usize> {
    pub table: PackedTable,
    /// Numbers of the copies, those of the first distinct row first.
    order: Vec<usize>,
    /// Per distinct row, where its copies are in `order`.
    ranges: Vec<Range<usize>>,
}

impl<const P: usize> BlankedTable<P> {
    /// Puts equal rows together. `original` has the same slots.
    pub fn new(original: &PackedTable, copies: &[Copies<P>], control: &Control) -> Result<Self> {
        let numbered = copies.iter().enumerate();
        let mut sorted: Vec<([u64; P], usize)> =
            numbered.map(|(number, copies)| (copies.bits, number)).collect();
        parallel_sort(&mut sorted, control)?;
        let order: Vec<usize> = sorted.into_iter().map(|(_, number)| number).collect();
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for equal in order.chunk_by(|&a, &b| copies[a].bits == copies[b].bits) {
            let start = ranges.last().map_or(0, |range| range.end);
            ranges.push(start..start + equal.len());
        }
        let rows = ranges.iter().map(|range| {
            let equal = &order[range.clone()];
            let count = equal.iter().map(|&copy| copies[copy].count).sum();
            (copies[equal[0]].bits, count)
        });
        Ok(BlankedTable {
            table: original.with_rows(rows),
            ranges: ranges.clone(),
            order,
        })
    }

    /// Returns the numbers of the copies that a distinct row stands for.
    pub fn copies_of(&self, row: usize) -> &[usize] {
        &self.order[self.ranges[row].clone()]
    }
}
