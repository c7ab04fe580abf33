//! Posting lists: the rows that have each attribute, as one bit per row for frequent attributes and as a list
//! of rows for the others.
//!
//! Neither bitvec nor roaring is used here, because a look ends after a few rows. Finding the first 32 rows
//! with three attributes, each of which a quarter of 40,000 rows have, takes 70 ns block by block but 4.1 µs
//! with roaring, which intersects everything first. Finding all such rows takes 1.0 µs, compared with 4.4 µs
//! with roaring and 16 µs with bitvec.

use super::bitset::Words;
use super::score::SearchInput;
use super::search::MaskSource;
use std::ops::Range;

/// Posting lists of all searchable attributes, by slot and slot code.
pub(super) struct Postings {
    of_slot: Vec<Vec<Posting>>,
}

struct Posting {
    /// Number of distinct rows that have the attribute.
    count: usize,
    rows: RowSet,
}

enum RowSet {
    List(Vec<u32>),
    /// One bit per row, and the range of words that contains all bits that are set.
    Bits {
        words: Vec<u64>,
        within: Range<usize>,
    },
}

/// An attribute is frequent if at least one in this many rows has it. Then bits take less room than a list.
const FREQUENT_IF_ONE_IN: usize = 32;

impl Postings {
    pub fn new<const P: usize>(input: &SearchInput<P>) -> Self {
        let of_slot = |slot: &super::packed_table::Slot| {
            if input.limits.control.check().is_err() {
                return Vec::new(); // cancelled, so it will not be used
            }
            let mut lists: Vec<Vec<u32>> = vec![Vec::new(); slot.likelihood.len()];
            for (row_number, row) in input.rows.iter().enumerate() {
                let slot_code = slot.slot_code(row);
                if slot_code > 0 {
                    lists[slot_code].push(row_number as u32);
                }
            }
            lists
                .into_iter()
                .map(|list| Posting::new(list, input.rows.len()))
                .collect()
        };
        let slots = &input.table.slots[..input.table.searchable];
        Postings {
            of_slot: slots.iter().map(of_slot).collect(),
        }
    }
}

impl Posting {
    fn new(list: Vec<u32>, rows: usize) -> Self {
        let count = list.len();
        if count * FREQUENT_IF_ONE_IN < rows {
            let rows = RowSet::List(list);
            return Posting { count, rows };
        }
        let mut words = vec![0; rows.div_ceil(64)];
        list.iter()
            .for_each(|&row| words[row as usize / 64] |= 1 << (row % 64));
        let word_of = |row: Option<&u32>| row.map_or(0, |&row| row as usize / 64);
        let within = word_of(list.first())..word_of(list.last()) + 1;
        let rows = RowSet::Bits { words, within };
        Posting { count, rows }
    }
}

/// Masks of the rows of the table, with respect to one row.
pub(super) struct TableMasks<'a, const P: usize> {
    input: &'a SearchInput<'a, P>,
    postings: &'a Postings,
    row: [u64; P],
    all: [u64; P],
    known: [u64; P],
    /// Posting lists of the known attributes that are stored as bits.
    operands: Vec<&'a [u64]>,
    /// Rows that are still to be looked at: those of the rarest known attribute, or words of bits.
    remaining: Remaining<'a>,
}

enum Remaining<'a> {
    Rows(&'a [u32]),
    Words(Range<usize>),
}

/// Number of masks after which a look ends. A few are enough to show that something is not inferred.
const MASKS_PER_LOOK: usize = 32;

/// Number of words that are intersected at once.
const BLOCK: usize = 16;

impl<'a, const P: usize> TableMasks<'a, P> {
    pub fn new(input: &'a SearchInput<'a, P>, postings: &'a Postings, row: usize) -> Self {
        Self::of_attributes(input, postings, input.rows[row])
    }

    /// Returns the masks with respect to a set of attributes, packed like a row. No row of the table needs
    /// to have all of them.
    pub fn of_attributes(input: &'a SearchInput<'a, P>, postings: &'a Postings, row: [u64; P]) -> Self {
        TableMasks {
            input,
            postings,
            row,
            all: input.fields.occupied(&row),
            known: [0; P],
            operands: Vec::new(),
            remaining: Remaining::Rows(&[]),
        }
    }

    /// Returns the mask of another row if that row has the known attributes.
    #[inline(always)]
    fn mask(&self, other: usize) -> Option<[u64; P]> {
        let mask = self
            .input
            .fields
            .missing(&self.row, &self.all, &self.input.rows[other]);
        (!mask.meets(&self.known)).then_some(mask)
    }

    /// Calls `on_mask` with the number and mask of every row that has the known attributes, until it returns
    /// `false` (and then for the rest of the block, if the rows are stored as bits). The next call continues
    /// with the rows after that. Returns whether `on_mask` never returned `false` and so has seen all rows.
    pub fn scan(&mut self, mut on_mask: impl FnMut(usize, [u64; P]) -> bool) -> bool {
        match std::mem::replace(&mut self.remaining, Remaining::Rows(&[])) {
            Remaining::Rows(rows) => {
                for (index, &row) in rows.iter().enumerate() {
                    if let Some(mask) = self.mask(row as usize)
                        && !on_mask(row as usize, mask)
                    {
                        self.remaining = Remaining::Rows(&rows[index + 1..]);
                        return false;
                    }
                }
                true
            }
            Remaining::Words(mut words) => {
                while !words.is_empty() {
                    let block = words.start..words.end.min(words.start + BLOCK);
                    words.start = block.end;
                    if !self.scan_block(block, &mut on_mask) {
                        self.remaining = Remaining::Words(words);
                        return false;
                    }
                }
                true
            }
        }
    }

    /// Calls `on_mask` for all rows of the block, even if it returns `false`. Returns whether it never did.
    fn scan_block(&self, block: Range<usize>, on_mask: &mut impl FnMut(usize, [u64; P]) -> bool) -> bool {
        let mut rows = [u64::MAX; BLOCK];
        let rows = &mut rows[..block.len()];
        for operand in &self.operands {
            rows.iter_mut()
                .zip(&operand[block.clone()])
                .for_each(|(rows, &word)| *rows &= word);
        }
        let mut wants_more = true;
        for (word_index, &bits) in block.zip(rows.iter()) {
            let mut left = bits;
            while left != 0 {
                let row = word_index * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                // Without operands, the last word has bits beyond the last row.
                if row < self.input.rows.len()
                    && let Some(mask) = self.mask(row)
                {
                    wants_more &= on_mask(row, mask);
                }
            }
        }
        wants_more
    }
}

impl<const P: usize> MaskSource<P> for TableMasks<'_, P> {
    const COMPLETE: bool = false;

    fn begin(&mut self, known: &[u64; P]) {
        self.known = *known;
        self.operands.clear();
        let mut within = 0..self.input.rows.len().div_ceil(64);
        let mut rarest: Option<&Posting> = None;
        for (slot, postings) in self.input.table.slots.iter().zip(&self.postings.of_slot) {
            if !known.has(slot.bit) {
                continue;
            }
            let posting = &postings[slot.slot_code(&self.row)];
            if rarest.is_none_or(|rarest| posting.count < rarest.count) {
                rarest = Some(posting);
            }
            if let RowSet::Bits { words, within: these } = &posting.rows {
                self.operands.push(words);
                within = within.start.max(these.start)..within.end.min(these.end);
            }
        }
        self.remaining = match rarest.map(|posting| &posting.rows) {
            Some(RowSet::List(rows)) => Remaining::Rows(rows),
            _ => Remaining::Words(within),
        };
    }

    fn find(&mut self, inferred: &[u64; P], masks: &mut Vec<[u64; P]>) -> Option<bool> {
        let seen_all = self.scan(|_, mask| {
            if mask.meets(inferred) {
                masks.push(mask);
            }
            masks.len() < MASKS_PER_LOOK
        });
        Some(!seen_all)
    }
}
