//! The table in the form that the algorithms use: distinct rows of attributes, each packed into a few words.
//!
//! Attributes of which a row can have only one, such as the values of a column, share a *slot*. A slot is a
//! bit field that holds the *slot code* of one attribute, or 0 for none. Array elements are distributed over
//! slots so that no row has two in the same slot. One xor then compares all slots of a word in two rows. In a
//! set of slots, a slot is represented by the highest bit of its field.
//!
//! A column in which NULL means unknown ([`Nulls::Unknown`]) has one more bit, which belongs to no slot. It is
//! set in the rows with NULL, where the column's slots are empty.

use super::bitset::Words;
use super::{Attribute, AttributesOfValue, Column, Nulls};
use crate::classes::Classes;
use crate::parallel_sort::parallel_sort;
use crate::{Control, Error, NULL, Result, Weights};
use bitvec::prelude::*;
use rayon::prelude::*;

/// Numbers of words that a row may be packed into. The algorithms are compiled for each of them.
pub(super) const WIDTHS: [usize; 5] = [1, 2, 4, 8, 32];

/// Calls a function that is generic over the number of words with the number of words of a table.
macro_rules! with_width {
    ($width:expr, $function:ident ( $($argument:expr),* $(,)? )) => {
        match $width {
            1 => $function::<1>($($argument),*),
            2 => $function::<2>($($argument),*),
            4 => $function::<4>($($argument),*),
            8 => $function::<8>($($argument),*),
            _ => $function::<32>($($argument),*),
        }
    };
}
pub(super) use with_width;

/// Distinct rows of a table as sets of attributes, and how often each occurs.
#[derive(Debug, Default, Clone)]
pub struct PackedTable {
    pub(super) slots: Vec<Slot>,
    /// Number of slots, at the beginning of `slots`, with attributes that can be known beforehand.
    pub(super) searchable: usize,
    /// Number of words per row.
    pub(super) width: usize,
    /// Words of all rows. The rows are in ascending order.
    words: Vec<u64>,
    pub(super) multiplicity: Vec<u64>,
    row_of_class: Vec<u32>,
}

/// Set of attributes of which a row has at most one.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub column: u32,
    /// Whether the column's values are sets. If so, a row may have other attributes of the column in other
    /// slots.
    pub of_set: bool,
    /// Attribute of the column for each slot code. That of slot code `c` is at index `c - 1`.
    attributes: Vec<u32>,
    /// Likelihood of the attribute with each slot code. At index 0, which means no attribute, it is 0.
    pub likelihood: Vec<f64>,
    /// Danger of the attribute with each slot code. At index 0, it is 0.
    pub danger: Vec<f64>,
    /// Estimated probability that two rows have the same attribute here. The lower it is, the earlier a
    /// search should look at the slot.
    collision: f64,
    word: usize,
    shift: u32,
    mask: u64,
    /// Bit that represents the slot in a set of slots: the highest bit of its field.
    pub bit: usize,
    /// Bit that is set in rows in which the attributes of the slot are unknown; `None` if there are no such
    /// rows or if the attributes are harmless.
    pub unknown: Option<usize>,
}

impl Slot {
    /// Returns the slot code of a row's attribute in this slot, or 0 if it has none.
    #[inline(always)]
    pub fn slot_code<const P: usize>(&self, row: &[u64; P]) -> usize {
        (row[self.word] >> self.shift & self.mask) as usize
    }

    /// Returns whether it is unknown which attribute of this slot a row has.
    #[inline(always)]
    pub fn is_unknown<const P: usize>(&self, row: &[u64; P]) -> bool {
        self.unknown.is_some_and(|bit| row.has(bit))
    }

    /// Returns whether an attribute of the slot is harmful if inferred.
    pub fn is_dangerous(&self) -> bool {
        self.danger.iter().any(|&danger| danger > 0.0)
    }

    /// Returns the attribute with this slot code as part of a packed row.
    pub fn packed<const P: usize>(&self, slot_code: usize) -> [u64; P] {
        let mut row = [0; P];
        row[self.word] = (slot_code as u64) << self.shift;
        row
    }

    /// Returns all bits of the slot's field.
    pub fn field<const P: usize>(&self) -> [u64; P] {
        let mut field = [0; P];
        field[self.word] = self.mask << self.shift;
        field
    }

    /// Returns whether all attributes of the slot are known for certain and harmless. Nothing is lost by
    /// assuming that they are known.
    pub fn is_costless(&self) -> bool {
        self.likelihood[1..].iter().all(|&likelihood| likelihood == 1.0)
            && self.danger[1..].iter().all(|&danger| danger == 0.0)
    }

    fn is_searchable(&self) -> bool {
        self.likelihood.iter().any(|&likelihood| likelihood > 0.0)
    }
}

impl PackedTable {
    /// Packs the rows that `classes` counted. `columns` says which attributes the codes of each column stand
    /// for.
    pub fn new(classes: &Classes, columns: &[Column], control: &Control) -> Result<Self> {
        let with_unknown = columns_with_unknown(classes, columns);
        Self::with_unknown(classes, columns, &with_unknown, control)
    }

    /// Packs the rows like [`new`](Self::new) for [`remedies`](super::remedies), which blank cells: wherever NULL
    /// means unknown, there is room for it, even if no value is NULL yet.
    pub fn with_room_for_blanks(classes: &Classes, columns: &[Column], control: &Control) -> Result<Self> {
        let with_unknown: Vec<bool> = columns
            .iter()
            .map(|column| column.nulls == Nulls::Unknown)
            .collect();
        Self::with_unknown(classes, columns, &with_unknown, control)
    }

    fn with_unknown(
        classes: &Classes,
        columns: &[Column],
        with_unknown: &[bool],
        control: &Control,
    ) -> Result<Self> {
        let mut slots = Vec::new();
        let mut slots_of_columns = Vec::new();
        for (position, column) in columns.iter().enumerate() {
            control.check()?;
            column.attributes.iter().try_for_each(Weights::check)?;
            slots_of_columns.push(assign_slots(position, column, classes, &mut slots, control)?);
        }
        let new_positions = search_order(&mut slots);
        for slots_of_column in &mut slots_of_columns {
            for (slot, _) in slots_of_column.iter_mut().flatten() {
                *slot = new_positions[*slot as usize];
            }
        }
        let (width, unknown_bits) = assign_fields(&mut slots, with_unknown)?;
        let searchable = slots.iter().take_while(|slot| slot.is_searchable()).count();
        let mut table = PackedTable {
            slots,
            searchable,
            width,
            ..Self::default()
        };
        with_width!(
            width,
            pack(
                &mut table,
                classes,
                columns,
                &slots_of_columns,
                &unknown_bits,
                control
            )
        )?;
        Ok(table)
    }

    /// Returns the number of distinct rows.
    pub fn len(&self) -> usize {
        self.multiplicity.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.multiplicity.is_empty()
    }

    /// Returns the number of rows of the table, each counted as often as it occurs.
    pub fn row_count(&self) -> u64 {
        self.multiplicity.iter().sum()
    }

    /// Returns whether some harmful attribute is unknown in some row.
    pub(super) fn has_unknown(&self) -> bool {
        self.slots.iter().any(|slot| slot.unknown.is_some())
    }

    /// Returns the distinct row that a class became.
    pub fn row_of_class(&self, class: usize) -> usize {
        self.row_of_class[class] as usize
    }

    /// Returns how often a distinct row occurs.
    pub fn multiplicity(&self, row: usize) -> u64 {
        self.multiplicity[row]
    }

    /// Returns a copy of the table with the row `added` inserted and, if `removed` is given, without one
    /// occurrence of that distinct row.
    pub(super) fn edited<const P: usize>(&self, removed: Option<usize>, added: &[u64; P]) -> EditedTable {
        let (mut words, mut multiplicity) = (self.words.clone(), self.multiplicity.clone());
        let mut removed_row = None;
        if let Some(row) = removed {
            multiplicity[row] -= 1;
            if multiplicity[row] == 0 {
                multiplicity.remove(row);
                words.drain(row * P..(row + 1) * P);
                removed_row = removed;
            }
        }
        let position = words.as_chunks::<P>().0.binary_search(added);
        match position {
            Ok(row) => multiplicity[row] += 1,
            Err(row) => {
                multiplicity.insert(row, 1);
                words.splice(row * P..row * P, *added);
            }
        }
        EditedTable {
            table: self.with_words(words, multiplicity),
            removed: removed_row,
            inserted: position.err(),
        }
    }

    /// Returns a table with these rows instead, which must be distinct and in ascending order, each with its
    /// multiplicity. It does not know which class became which row.
    pub(super) fn with_rows<const P: usize>(
        &self,
        rows: impl IntoIterator<Item = ([u64; P], u64)>,
    ) -> PackedTable {
        let (mut words, mut multiplicity) = (Vec::new(), Vec::new());
        for (row, count) in rows {
            words.extend(row);
            multiplicity.push(count);
        }
        self.with_words(words, multiplicity)
    }

    /// Returns a table with the same attributes but other rows. It does not know which class became which row.
    fn with_words(&self, words: Vec<u64>, multiplicity: Vec<u64>) -> PackedTable {
        PackedTable {
            slots: self.slots.clone(),
            searchable: self.searchable,
            width: self.width,
            words,
            multiplicity,
            row_of_class: Vec::new(),
        }
    }

    /// Returns a copy in which no attribute of these slots can be known or is harmful.
    pub(super) fn disregarding<const P: usize>(&self, slots: &[u64; P]) -> PackedTable {
        let mut table = self.clone();
        for slot in table.slots.iter_mut().filter(|slot| slots.has(slot.bit)) {
            slot.likelihood.fill(0.0);
            slot.danger.fill(0.0);
        }
        table
    }

    pub(super) fn rows<const P: usize>(&self) -> &[[u64; P]] {
        self.words.as_chunks().0
    }

    /// Returns the attributes of a distinct row.
    pub fn attributes(&self, row: usize) -> Vec<Attribute> {
        with_width!(self.width, attributes_of_row(self, row))
    }

    /// Returns the weights of a row's attributes, each with the bit of its slot.
    pub(super) fn weights<'a, const P: usize>(
        &'a self,
        row: &'a [u64; P],
    ) -> impl Iterator<Item = (usize, Weights)> + 'a {
        let slots = self.slots.iter().map(|slot| (slot, slot.slot_code(row)));
        slots
            .filter(|&(_, slot_code)| slot_code > 0)
            .map(|(slot, slot_code)| {
                let weights = Weights {
                    likelihood: slot.likelihood[slot_code],
                    danger: slot.danger[slot_code],
                };
                (slot.bit, weights)
            })
    }

    /// Returns for every searchable slot the largest likelihood in it and in all searchable slots after it,
    /// and then 0 as the last element.
    pub(super) fn likeliest_from(&self) -> Vec<f64> {
        let mut likeliest = vec![0f64; self.searchable + 1];
        for (slot_index, slot) in self.slots[..self.searchable].iter().enumerate().rev() {
            let after = likeliest[slot_index + 1];
            likeliest[slot_index] = slot.likelihood.iter().copied().fold(after, f64::max);
        }
        likeliest
    }

    /// Returns a row's attributes in these slots, as a packed row.
    pub(super) fn restricted_to<const P: usize>(&self, row: &[u64; P], slots: &[u64; P]) -> [u64; P] {
        let chosen = self.slots.iter().filter(|slot| slots.has(slot.bit));
        row.and(&chosen.fold([0; P], |bits, slot| bits.or(&slot.field())))
    }

    /// Returns the attributes of a packed row, which need not be in the table.
    pub(super) fn unpacked<const P: usize>(&self, row: &[u64; P]) -> Vec<Attribute> {
        let slots = self.slots.iter().map(|slot| (slot, slot.slot_code(row)));
        slots
            .filter(|&(_, slot_code)| slot_code > 0)
            .map(|(slot, slot_code)| self.attribute(slot, slot_code))
            .collect()
    }

    /// Returns the attribute with this slot code in a slot.
    pub(super) fn attribute(&self, slot: &Slot, slot_code: usize) -> Attribute {
        Attribute {
            column: slot.column,
            index: slot.attributes[slot_code - 1],
        }
    }
}

fn attributes_of_row<const P: usize>(table: &PackedTable, row: usize) -> Vec<Attribute> {
    table.unpacked(&table.rows::<P>()[row])
}

/// Edited copy of a table. It does not know which class became which row.
#[derive(Debug)]
pub(super) struct EditedTable {
    pub table: PackedTable,
    /// Distinct row that was removed, by its old position.
    removed: Option<usize>,
    /// Distinct row that was inserted, by its new position.
    inserted: Option<usize>,
}

impl EditedTable {
    /// Returns values of the old rows, `width` per row, in the order of the copy's rows. An inserted row gets
    /// `new`.
    pub fn carry_over<T: Copy>(&self, values: &[T], width: usize, new: T) -> Vec<T> {
        let mut values = values.to_vec();
        if let Some(row) = self.removed {
            values.drain(row * width..(row + 1) * width);
        }
        if let Some(row) = self.inserted {
            values.splice(row * width..row * width, std::iter::repeat_n(new, width));
        }
        values
    }
}

/// Slot and slot code that an attribute is packed into. `None` if the attribute does not occur or cannot
/// change a score.
type SlotAndCode = Option<(u32, u32)>;

/// Puts those attributes of a column that occur and matter into slots. Returns the slot and slot code of
/// every attribute.
fn assign_slots(
    position: usize,
    column: &Column,
    classes: &Classes,
    slots: &mut Vec<Slot>,
    control: &Control,
) -> Result<Vec<SlotAndCode>> {
    let mut slots_and_codes = vec![None; column.attributes.len()];
    let class_counts = class_counts(position, column, classes);
    let relevant = |attribute: &u32| class_counts[*attribute as usize] > 0 && column.matters(*attribute);
    let attributes = (0..column.attributes.len() as u32).filter(relevant);
    let groups = match &column.attributes_of_value {
        AttributesOfValue::One(_) => vec![attributes.collect()],
        AttributesOfValue::Set(sets) => exclusive_groups(attributes.collect(), sets, &class_counts, control)?,
    };
    for group in groups.into_iter().filter(|group| !group.is_empty()) {
        for (slot_code, &attribute) in (1..).zip(&group) {
            slots_and_codes[attribute as usize] = Some((slots.len() as u32, slot_code));
        }
        let total = classes.len() as f64;
        let share = |&attribute: &u32| class_counts[attribute as usize] as f64 / total;
        let weights = |of: fn(&Weights) -> f64| {
            let of_slot_code = group
                .iter()
                .map(|&attribute| of(&column.attributes[attribute as usize]));
            std::iter::once(0.0).chain(of_slot_code).collect::<Vec<f64>>()
        };
        slots.push(Slot {
            column: position as u32,
            of_set: matches!(column.attributes_of_value, AttributesOfValue::Set(_)),
            likelihood: weights(|weights| weights.likelihood),
            danger: weights(|weights| weights.danger),
            collision: match group.len() {
                1 => share(&group[0]),
                _ => group.iter().map(share).map(|share| share * share).sum(),
            },
            word: 0,
            shift: 0,
            mask: 0,
            bit: 0,
            unknown: None,
            attributes: group,
        });
    }
    Ok(slots_and_codes)
}

/// Returns the number of classes in which each attribute of a column occurs.
fn class_counts(position: usize, column: &Column, classes: &Classes) -> Vec<u64> {
    let mut of_attribute = vec![0; column.attributes.len()];
    for class in 0..classes.len() {
        for &attribute in column.attributes_of_code(classes.codes(class)[position]) {
            of_attribute[attribute as usize] += 1;
        }
    }
    of_attribute
}

/// Distributes attributes over groups so that no set contains two attributes of one group. The most frequent
/// attributes come first, and each goes into the first group that has room for it.
fn exclusive_groups(
    mut attributes: Vec<u32>,
    sets: &[Vec<u32>],
    class_counts: &[u64],
    control: &Control,
) -> Result<Vec<Vec<u32>>> {
    attributes
        .sort_unstable_by_key(|&attribute| (std::cmp::Reverse(class_counts[attribute as usize]), attribute));
    let mut sets_of = vec![Vec::new(); class_counts.len()];
    for (set_index, set) in sets.iter().enumerate() {
        for &attribute in set {
            sets_of[attribute as usize].push(set_index);
        }
    }
    let mut groups: Vec<(Vec<u32>, BitVec)> = Vec::new();
    for attribute in attributes {
        control.check()?;
        let sets_of = &sets_of[attribute as usize];
        let has_room = |taken: &BitSlice| sets_of.iter().all(|&set| !taken[set]);
        let index = groups.iter().position(|(_, taken)| has_room(taken));
        let index = index.unwrap_or(groups.len());
        if index == groups.len() {
            // Every group needs at least one bit.
            if index == MAX_BITS {
                return Err(too_many_bits());
            }
            control.require::<u64>(sets.len().div_ceil(64))?;
            groups.push((Vec::new(), bitvec![0; sets.len()]));
        }
        let (group, taken) = &mut groups[index];
        group.push(attribute);
        sets_of.iter().for_each(|&set| taken.set(set, true));
    }
    Ok(groups.into_iter().map(|(group, _)| group).collect())
}

/// Largest number of bits that the attributes of a row may take.
const MAX_BITS: usize = 64 * WIDTHS[WIDTHS.len() - 1];

fn too_many_bits() -> Error {
    Error::TooMany {
        what: "bits needed to encode the attributes of a row",
        limit: MAX_BITS as u64,
    }
}

/// Sorts the slots into the order in which they are searched. Costless slots come first, because they need no
/// choice. Then come those that tell rows apart best. Slots whose attributes cannot be known come last.
/// Returns the new position of each slot.
fn search_order(slots: &mut Vec<Slot>) -> Vec<u32> {
    let mut order: Vec<usize> = (0..slots.len()).collect();
    let group = |slot: &Slot| (!slot.is_searchable(), !slot.is_costless());
    order.sort_by(|&a, &b| {
        let (a, b) = (&slots[a], &slots[b]);
        group(a).cmp(&group(b)).then(a.collision.total_cmp(&b.collision))
    });
    let mut new_positions = vec![0; slots.len()];
    for (new, &old) in order.iter().enumerate() {
        new_positions[old] = new as u32;
    }
    let mut numbered: Vec<(u32, Slot)> = new_positions.iter().copied().zip(slots.drain(..)).collect();
    numbered.sort_unstable_by_key(|slot| slot.0);
    slots.extend(numbered.into_iter().map(|(_, slot)| slot));
    new_positions
}

/// Returns for every column whether NULL means unknown there and occurs.
fn columns_with_unknown(classes: &Classes, columns: &[Column]) -> Vec<bool> {
    let has_null = |position: usize| (0..classes.len()).any(|class| classes.codes(class)[position] == NULL);
    let columns = columns.iter().enumerate();
    columns
        .map(|(position, column)| column.nulls == Nulls::Unknown && has_null(position))
        .collect()
}

/// Assigns each slot a bit field, from the highest bits of the first word on, so that packed rows are ordered
/// by their slot codes, slot by slot. After them, assigns a bit to every column `with_unknown` values that can
/// be harmful. Returns the number of words per row, and the bits by column.
fn assign_fields(slots: &mut [Slot], with_unknown: &[bool]) -> Result<(usize, Vec<Option<usize>>)> {
    let (mut word, mut room) = (0, u64::BITS);
    let mut next_field = |bits: u32| {
        if bits > room {
            (word, room) = (word + 1, u64::BITS);
        }
        room -= bits;
        (word, room)
    };
    for slot in slots.iter_mut() {
        let bits = usize::BITS - slot.attributes.len().leading_zeros();
        (slot.word, slot.shift) = next_field(bits);
        slot.mask = u64::MAX >> (u64::BITS - bits);
        slot.bit = slot.word * 64 + (slot.shift + bits - 1) as usize;
    }
    let mut unknown_bits = vec![None; with_unknown.len()];
    for slot in slots {
        let column = slot.column as usize;
        if with_unknown[column] && slot.is_dangerous() {
            slot.unknown = Some(*unknown_bits[column].get_or_insert_with(|| {
                let (word, shift) = next_field(1);
                word * 64 + shift as usize
            }));
        }
    }
    let width = WIDTHS.into_iter().find(|&width| width > word);
    Ok((width.ok_or_else(too_many_bits)?, unknown_bits))
}

fn pack<const P: usize>(
    table: &mut PackedTable,
    classes: &Classes,
    columns: &[Column],
    slots_of_columns: &[Vec<SlotAndCode>],
    unknown_bits: &[Option<usize>],
    control: &Control,
) -> Result<()> {
    let pack_class = |class: usize| {
        let mut row = [0; P];
        let codes = classes.codes(class);
        for (bit, _) in unknown_bits.iter().zip(codes).filter(|(_, code)| **code == NULL) {
            row = bit.iter().fold(row, |row, &bit| row.or(&Words::single(bit)));
        }
        for ((column, slots_of_column), &code) in columns.iter().zip(slots_of_columns).zip(codes) {
            for &attribute in column.attributes_of_code(code) {
                if let Some((slot, slot_code)) = slots_of_column[attribute as usize] {
                    let slot = &table.slots[slot as usize];
                    row[slot.word] |= u64::from(slot_code) << slot.shift;
                }
            }
        }
        (row, class as u32)
    };
    let mut packed: Vec<([u64; P], u32)> = (0..classes.len()).into_par_iter().map(pack_class).collect();
    parallel_sort(&mut packed, control)?;
    let mut row_of_class = vec![0; classes.len()];
    let (mut words, mut multiplicity) = (Vec::new(), Vec::new());
    for equal in packed.chunk_by(|a, b| a.0 == b.0) {
        for &(_, class) in equal {
            row_of_class[class as usize] = multiplicity.len() as u32;
        }
        words.extend(equal[0].0);
        multiplicity.push(
            equal
                .iter()
                .map(|&(_, class)| classes.sizes()[class as usize])
                .sum(),
        );
    }
    table.words = words;
    table.multiplicity = multiplicity;
    table.row_of_class = row_of_class;
    Ok(())
}

/// Bit masks of the fields of all slots.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<const P: usize> {
    /// Highest bit of every field: the set of all slots.
    high: [u64; P],
    /// All other bits of every field.
    low: [u64; P],
}

impl<const P: usize> Fields<P> {
    pub fn of(slots: &[Slot]) -> Self {
        let high = slots
            .iter()
            .fold([0; P], |set, slot| set.or(&Words::single(slot.bit)));
        let all = slots
            .iter()
            .fold([0; P], |bits: [u64; P], slot| bits.or(&slot.field()));
        Fields {
            high,
            low: all.without(&high),
        }
    }

    /// Returns the slots whose fields are not 0. The mask `low` is added to the low bits of each field. The
    /// sum carries into the highest bit of the field exactly if these are not 0, and never beyond.
    #[inline(always)]
    pub fn occupied(&self, bits: &[u64; P]) -> [u64; P] {
        std::array::from_fn(|word| {
            (((bits[word] & self.low[word]) + self.low[word]) | bits[word]) & self.high[word]
        })
    }

    /// Returns the slots in which `row` has an attribute that `other` lacks. `of_row` are the slots that
    /// `row` occupies.
    #[inline(always)]
    pub fn missing(&self, row: &[u64; P], of_row: &[u64; P], other: &[u64; P]) -> [u64; P] {
        self.occupied(&row.xor(other)).and(of_row)
    }
}
