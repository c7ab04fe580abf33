//! Re-identification: how many known people can an adversary match with released rows? (Lakshmanan et al.
//! 2008, section 8.1.)
//!
//! People take the place of items, and rows that of codes. A person can be any row that does not contradict
//! what is known about them. Equal rows form one class, and people with the same candidate rows form another.
//! The candidates are found with one posting list per column. If people and rows do not match up, the graph
//! is completed with strangers and with a code for "not released", so that it has a perfect matching.

use super::o_estimate::kahan_sum;
use super::{CrackSpace, ExpectedCracks, Method, Settings, expected_cracks};
use crate::classes::Classes;
use crate::matching::{Components, Counting, Graph, ItemClass, maximum_matching};
use crate::parallel_sort::parallel_sort;
use crate::{Control, Error, NULL, Result, Rows};
use bitvec::prelude::*;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// An adversary's knowledge about a person's value in one column. Codes are those of the released column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Knowledge {
    /// Nothing.
    Unknown,
    /// The value. A value that is not released has a code of its own.
    Code(u32),
    /// One of these values, in any order.
    Among(Vec<u32>),
    /// A value with a code between these two, both included. Codes must be numbered in the order of the
    /// values.
    Between(u32, u32),
}

/// People known to an adversary, and the released rows that each of them can be (Lakshmanan et al., section
/// 8.1): all rows that do not contradict what is known. A suppressed value, NULL, can be anything and
/// contradicts nothing.
///
/// The adversary assumes that as many people as possible are in the release, each as one row; all ways to
/// achieve this are equally likely. If there are as many people as rows and all of them can be matched, these
/// are the crack mappings of the paper. Otherwise some people are *not released*, or some rows belong to
/// *strangers*. Every connected component of the graph then has one class of codes for its people that are
/// left over, and one class of items for its rows that are left over.
#[derive(Debug, Clone, PartialEq)]
pub struct Reidentification {
    /// Graph of rows (codes) and people (items). It has a perfect matching.
    pub graph: Graph,
    /// Class of items of every person.
    pub class_of: Vec<u32>,
    /// Class of codes of every person's own row, `None` if it is not released; only if there is a key.
    pub own: Option<Vec<Option<u32>>>,
    /// Number of classes of codes that are rows; the later ones stand for "not released".
    pub row_classes: usize,
    /// Number of classes of items that are people; the later ones are strangers.
    pub people_classes: usize,
    /// Largest number of people that can be in the release at the same time.
    pub max_released_people: u64,
}

impl Reidentification {
    /// Builds the graph. `people` is the knowledge about every person, column by column. `key`, if the truth
    /// is known, is the number of every person's own row, or `None` if the person is not released; no two
    /// people have the same row. `max_edges` limits the number of possible pairs of a person and a class of
    /// rows, four bytes each; people with identical knowledge about them count once.
    pub fn new(
        people: &[Vec<Knowledge>],
        released: Rows,
        key: Option<&[Option<u32>]>,
        max_edges: u64,
        control: &Control,
    ) -> Result<Self> {
        if people.len().max(released.len()) > u32::MAX as usize {
            return Err(Error::TooMany {
                what: "people or rows",
                limit: u32::MAX.into(),
            });
        }
        let (rows, class_of_row) = classes_of_rows(released, control)?;
        let sizes = rows.sizes().iter().map(|&size| size as u32).collect();
        let (class_of, items) = classes_of_people(people, &ReleasedClasses::new(&rows), max_edges, control)?;
        check_key(key.unwrap_or_default(), released.len())?;
        let own_class = |row: &Option<u32>| class_of_row.get((*row)? as usize).copied();
        let mut found = Reidentification {
            row_classes: rows.len(),
            people_classes: items.len(),
            graph: Graph { codes: sizes, items },
            class_of,
            own: key.map(|key| key.iter().map(own_class).collect()),
            max_released_people: 0,
        };
        found.complete_to_perfect(control)?;
        Ok(found)
    }

    /// Returns the number of people that cannot be in the release, because there are too few rows that they
    /// can be.
    pub fn not_released(&self) -> u64 {
        self.class_of.len() as u64 - self.max_released_people
    }

    /// Returns the number of rows that belong to strangers.
    pub fn strangers(&self) -> u64 {
        let strangers = self.graph.items[self.people_classes..].iter();
        strangers.map(|class| u64::from(class.size)).sum()
    }

    /// Returns the O-estimate: with a key, the sum over all people of the probability of their own row among
    /// all rows that they can be; without a key, the same for any one of these rows. As in the paper, "not
    /// released" is not a candidate.
    pub fn o_estimate(&self) -> f64 {
        kahan_sum(&self.o_estimate_people())
    }

    fn o_estimate_people(&self) -> Vec<f64> {
        let rows = |class: &ItemClass| {
            let sizes = self
                .rows_of(class)
                .map(|(_, codes)| u64::from(self.graph.codes[codes as usize]));
            sizes.sum::<u64>()
        };
        let degrees: Vec<u64> = self.graph.items.iter().map(rows).collect();
        let probability = |person: usize| match degrees[self.class_of[person] as usize] {
            0 => 0.0,
            _ if self.own.is_some() && self.own_candidate(person).is_none() => 0.0,
            degree => 1.0 / degree as f64,
        };
        (0..self.class_of.len()).map(probability).collect()
    }

    /// Returns the expected number of people that the adversary matches with their own row. `of_class` is as
    /// in [`crack_probabilities`](Self::crack_probabilities).
    pub fn expected_from_shares(&self, of_class: &[Vec<f64>]) -> f64 {
        kahan_sum(&self.crack_probabilities(of_class))
    }

    /// Computes the expected number of people that the adversary identifies. Without a key, only the
    /// O-estimate and an exact answer within the limits are possible; anything else is an error.
    pub fn cracks(&self, settings: &Settings, control: &Control) -> Result<ExpectedCracks> {
        settings.check()?;
        if settings.method == Method::OEstimate {
            return Ok(ExpectedCracks::estimate(
                Method::OEstimate,
                self.o_estimate_people(),
            ));
        }
        let of_keyed = self
            .space()
            .map(|space| expected_cracks(&space, settings, control));
        if let Some(found) = of_keyed.transpose()?.flatten() {
            return Ok(found);
        }
        let counting = Counting::new(&self.graph, control)?;
        let shares = match settings.method {
            Method::Auto | Method::Exact if settings.can_afford(&counting) => counting.shares(control)?,
            _ => None,
        };
        let shares = shares.ok_or(Error::invalid(
            "key",
            "is required unless the method is the O-estimate, or an exact answer is within the limits",
            "a key that identifies each known person's row",
        ))?;
        Ok(ExpectedCracks::exact(
            self.crack_probabilities(&shares.of_class),
            shares.ln_matchings,
        ))
    }

    /// Returns the probability that each person is matched with their own row. `of_class` contains, for each
    /// class, the probability that a person of the class is matched with each of its candidates:
    /// [`Shares::of_class`](crate::matching::Shares::of_class).
    ///
    /// With a key, this is the probability of the person's own row; it is 0 if the person is not released, or
    /// if the adversary's knowledge about them is false. Without a key, the truth is as uncertain as the
    /// guess: both are drawn from the same distribution, and the probability that they agree is the sum of
    /// the squared probabilities of the rows.
    pub fn crack_probabilities(&self, of_class: &[Vec<f64>]) -> Vec<f64> {
        let size = |codes: u32| f64::from(self.graph.codes[codes as usize]);
        if self.own.is_some() {
            let of_person = |person: usize| {
                let class = &of_class[self.class_of[person] as usize];
                let own = self.own_candidate(person);
                own.map_or(0.0, |(candidate, codes)| class[candidate] / size(codes))
            };
            return (0..self.class_of.len()).map(of_person).collect();
        }
        let agree: Vec<f64> = self.graph.items[..self.people_classes]
            .iter()
            .zip(of_class)
            .map(|(class, shares)| {
                let rows = self.rows_of(class);
                rows.fold(0.0, |sum, (candidate, codes)| {
                    sum + shares[candidate].powi(2) / size(codes)
                })
            })
            .collect();
        self.class_of.iter().map(|&class| agree[class as usize]).collect()
    }

    /// Returns the space of crack mappings if there is a key: people first, then strangers. People without a
    /// row of their own have [`NO_CODE`](CrackSpace::NO_CODE).
    pub fn space(&self) -> Option<CrackSpace> {
        let own = self.own.as_ref()?;
        let strangers = (self.people_classes..self.graph.items.len()).flat_map(|class| {
            let size = self.graph.items[class].size as usize;
            std::iter::repeat_n(class as u32, size)
        });
        let class_of: Vec<u32> = self.class_of.iter().copied().chain(strangers).collect();
        let mut own: Vec<u32> = own.iter().map(|own| own.unwrap_or(CrackSpace::NO_CODE)).collect();
        own.resize(class_of.len(), CrackSpace::NO_CODE);
        Some(CrackSpace {
            graph: self.graph.clone(),
            class_of,
            own_code_class: own,
        })
    }

    /// Returns the candidates of a class that are rows: their position among all candidates, and their class
    /// of codes.
    fn rows_of<'a>(&self, class: &'a ItemClass) -> impl Iterator<Item = (usize, u32)> + 'a {
        let end = class
            .candidates
            .partition_point(|&codes| (codes as usize) < self.row_classes);
        class.candidates[..end].iter().copied().enumerate()
    }

    /// Returns the position of the person's own row among their candidates, and its class of codes.
    fn own_candidate(&self, person: usize) -> Option<(usize, u32)> {
        let own = (*self.own.as_ref()?.get(person)?)?;
        let class = &self.graph.items[self.class_of[person] as usize];
        Some((class.candidates.binary_search(&own).ok()?, own))
    }

    /// Completes the graph so that it has a perfect matching: adds to every connected component a "not
    /// released" code for each person and a stranger for each row that a maximum matching leaves over.
    ///
    /// Components stay separate. Every maximum matching of the old graph becomes the same number of perfect
    /// matchings of the new one, because only the order of the added nodes varies; so all stay equally
    /// likely.
    fn complete_to_perfect(&mut self, control: &Control) -> Result<()> {
        let parts = Components::new(&self.graph, control)?;
        let mut people_left = vec![0u32; parts.len()];
        let mut rows_left = vec![0u32; parts.len()];
        for (&size, &part) in self.graph.codes.iter().zip(&parts.of_codes) {
            rows_left[part as usize] += size;
        }
        let matching = maximum_matching(&self.graph, control)?;
        for ((class, &part), matched) in self.graph.items.iter().zip(&parts.of_items).zip(&matching) {
            let matched: u32 = matched.iter().sum();
            people_left[part as usize] += class.size - matched;
            rows_left[part as usize] -= matched;
            self.max_released_people += u64::from(matched);
        }
        let mut not_released = vec![None; parts.len()];
        for (part, &left) in people_left.iter().enumerate().filter(|&(_, &left)| left > 0) {
            not_released[part] = Some(self.graph.codes.len() as u32);
            self.graph.codes.push(left);
        }
        for (class, &part) in self.graph.items.iter_mut().zip(&parts.of_items) {
            class.candidates.extend(not_released[part as usize]);
        }
        for (size, candidates) in rows_left.into_iter().zip(parts.codes) {
            if size > 0 {
                self.graph.items.push(ItemClass { size, candidates });
            }
        }
        Ok(())
    }
}

fn check_key(key: &[Option<u32>], rows: usize) -> Result<()> {
    let mut is_taken = bitvec![0; rows];
    for &row in key.iter().flatten() {
        let is_taken = is_taken.get_mut(row as usize);
        if is_taken.is_some_and(|mut is_taken| is_taken.replace(true)) {
            return Err(Error::invalid(
                "key",
                "assigns the same released row to two known people",
                "a key that identifies exactly one row for each known person",
            ));
        }
    }
    Ok(())
}

/// Number of rows or people between two checks of the control: some milliseconds.
const BATCH: usize = 1 << 14;

/// Returns the classes of equal rows, and the class of every row. Classes are sorted by their codes, so they
/// do not depend on the order of the rows.
fn classes_of_rows(released: Rows, control: &Control) -> Result<(Classes, Vec<u32>)> {
    let width = released.columns().len();
    let mut found = Classes::new(width);
    let mut class_of_row = Vec::with_capacity(released.len());
    for start in (0..released.len()).step_by(BATCH) {
        control.check()?;
        let end = released.len().min(start + BATCH);
        let columns: Vec<&[u32]> = released
            .columns()
            .iter()
            .map(|column| &column[start..end])
            .collect();
        found.extend(Rows::new(&columns, end - start), |class| class_of_row.push(class))?;
    }
    let mut order: Vec<(&[u32], usize)> = (0..found.len())
        .map(|class| (found.codes(class), class))
        .collect();
    parallel_sort(&mut order, control)?;
    let mut rows = Classes::new(width);
    let mut class_of = vec![0; order.len()];
    for batch in order.chunks(BATCH) {
        control.check()?;
        for &(codes, class) in batch {
            class_of[class] = rows.insert(codes, found.sizes()[class])?;
        }
    }
    for class in &mut class_of_row {
        *class = class_of[*class as usize];
    }
    Ok((rows, class_of_row))
}

/// Returns the class of every person, and the classes, each of people with the same candidate rows. Classes
/// are sorted by their candidates, so they do not depend on the order of the people.
fn classes_of_people(
    people: &[Vec<Knowledge>],
    release: &ReleasedClasses,
    max_edges: u64,
    control: &Control,
) -> Result<(Vec<u32>, Vec<ItemClass>)> {
    let mut kinds: Vec<&[Knowledge]> = Vec::new();
    let mut kind_by_knowledge: FxHashMap<&[Knowledge], u32> = FxHashMap::default();
    let mut kind_of: Vec<u32> = Vec::with_capacity(people.len());
    for batch in people.chunks(BATCH) {
        control.check()?;
        kind_of.extend(batch.iter().map(|known| {
            *kind_by_knowledge.entry(known).or_insert_with(|| {
                kinds.push(known);
                kinds.len() as u32 - 1
            })
        }));
    }
    let edges = AtomicU64::new(0);
    let candidates = kinds.par_iter().map(|known| {
        control.check()?;
        let candidates = release.candidates(known);
        let before = edges.fetch_add(candidates.len() as u64, Relaxed);
        match before + candidates.len() as u64 > max_edges {
            true => Err(Error::TooMany {
                what: "candidate pairs of a person and a row",
                limit: max_edges,
            }),
            false => Ok(candidates),
        }
    });
    let candidates: Vec<Vec<u32>> = candidates.collect::<Result<_>>()?;
    let mut distinct_candidates: Vec<&[u32]> = candidates.iter().map(Vec::as_slice).collect();
    parallel_sort(&mut distinct_candidates, control)?;
    distinct_candidates.dedup();
    let class_of_kind = candidates.par_iter().map(|candidates| {
        control.check()?;
        Ok(distinct_candidates.partition_point(|&other| other < &candidates[..]) as u32)
    });
    let class_of_kind: Vec<u32> = class_of_kind.collect::<Result<_>>()?;
    let class_of: Vec<u32> = kind_of.iter().map(|&kind| class_of_kind[kind as usize]).collect();
    let item_class = |candidates: &[u32]| ItemClass {
        size: 0,
        candidates: candidates.to_vec(),
    };
    let mut items: Vec<ItemClass> = distinct_candidates.into_iter().map(item_class).collect();
    for &class in &class_of {
        items[class as usize].size += 1;
    }
    Ok((class_of, items))
}

/// Classes of equal released rows, with indexes to find those that contain a given value.
struct ReleasedClasses<'a> {
    rows: &'a Classes,
    class_by_row: FxHashMap<&'a [u32], u32>,
    /// Distinct sets of columns that are suppressed in some row.
    suppressed: Vec<Vec<usize>>,
    /// Posting list of every column: pairs of a code and a class of rows that has it, in ascending order.
    postings: Vec<Vec<(u32, u32)>>,
}

/// Knowledge about one column, prepared for comparisons.
enum Condition<'a> {
    Unknown,
    /// In ascending order.
    Among(Vec<u32>),
    Between(u32, u32),
    Code(&'a u32),
}

impl<'a> ReleasedClasses<'a> {
    fn new(rows: &'a Classes) -> Self {
        let classes = || (0..rows.len()).map(|class| rows.codes(class));
        let null_columns = |row: &[u32]| -> Vec<usize> {
            let columns = row.iter().enumerate().filter(|&(_, &code)| code == NULL);
            columns.map(|(column, _)| column).collect()
        };
        let suppressed: FxHashSet<Vec<usize>> = classes().map(null_columns).collect();
        let postings = (0..rows.width()).map(|column| {
            let codes = classes()
                .enumerate()
                .map(|(class, row)| (row[column], class as u32));
            let mut codes: Vec<(u32, u32)> = codes.collect();
            codes.sort_unstable();
            codes
        });
        ReleasedClasses {
            rows,
            class_by_row: classes().zip(0..).collect(),
            suppressed: suppressed.into_iter().collect(),
            postings: postings.collect(),
        }
    }

    /// Returns the classes of rows that a person can be, in ascending order.
    fn candidates(&self, known: &[Knowledge]) -> Vec<u32> {
        let conditions: Vec<Condition> = known.iter().map(Condition::new).collect();
        let in_column = |(column, condition): (usize, &Condition)| match condition {
            Condition::Unknown => None,
            _ => Some((
                self.matching_postings(column, condition)
                    .map(<[_]>::len)
                    .sum::<usize>(),
                column,
            )),
        };
        let Some((fewest, column)) = conditions.iter().enumerate().filter_map(in_column).min() else {
            return (0..self.rows.len() as u32).collect();
        };
        // Look up whole rows if that takes no more lookups than the shortest posting list has entries;
        // otherwise test the rows of that list.
        let mut candidates = match exact_codes(known) {
            Some(codes) if self.suppressed.len() <= fewest => self.rows_equal_to(codes),
            _ => {
                let classes = self
                    .matching_postings(column, &conditions[column])
                    .flatten()
                    .map(|&(_, class)| class);
                classes.filter(|&class| self.fits(class, &conditions)).collect()
            }
        };
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }

    /// Returns the classes of rows that a fully known person can be. Looks up the person's codes once for
    /// every set of suppressed columns, with NULL in these columns.
    fn rows_equal_to(&self, mut codes: Vec<u32>) -> Vec<u32> {
        let mut candidates = Vec::new();
        let known = codes.clone();
        for columns in &self.suppressed {
            codes.copy_from_slice(&known);
            columns.iter().for_each(|&column| codes[column] = NULL);
            candidates.extend(self.class_by_row.get(&codes[..]));
        }
        candidates
    }

    /// Returns the postings of a column that are consistent with the knowledge about it, suppressed values
    /// included.
    fn matching_postings<'b>(
        &'b self,
        column: usize,
        condition: &'b Condition,
    ) -> impl Iterator<Item = &'b [(u32, u32)]> {
        let postings = &self.postings[column];
        let between = move |low: u32, high: u32| {
            let start = postings.partition_point(|&(code, _)| code < low);
            let end = postings.partition_point(|&(code, _)| code <= high);
            &postings[start..end.max(start)]
        };
        let (several, one) = match condition {
            Condition::Unknown => (&[][..], Some((NULL + 1, u32::MAX))),
            Condition::Among(codes) => (&codes[..], None),
            Condition::Between(low, high) => (&[][..], Some(((*low).max(NULL + 1), *high))),
            Condition::Code(code) => (std::slice::from_ref(*code), None),
        };
        let several = several.iter().map(move |&code| between(code, code));
        let one = one.map(move |(low, high)| between(low, high));
        several.chain(one).chain([between(NULL, NULL)])
    }

    fn fits(&self, class: u32, conditions: &[Condition]) -> bool {
        let row = self.rows.codes(class as usize);
        row.iter()
            .zip(conditions)
            .all(|(&code, condition)| code == NULL || condition.holds(code))
    }
}

/// Returns the codes of a fully known person; `None` if some value is not known exactly.
fn exact_codes(known: &[Knowledge]) -> Option<Vec<u32>> {
    let code = |known: &Knowledge| match known {
        Knowledge::Code(code) => Some(*code),
        _ => None,
    };
    known.iter().map(code).collect()
}

impl<'a> Condition<'a> {
    fn new(known: &'a Knowledge) -> Self {
        match known {
            Knowledge::Unknown => Condition::Unknown,
            Knowledge::Code(code) => Condition::Code(code),
            Knowledge::Between(low, high) => Condition::Between(*low, *high),
            Knowledge::Among(codes) => {
                let mut codes = codes.clone();
                codes.sort_unstable();
                Condition::Among(codes)
            }
        }
    }

    fn holds(&self, code: u32) -> bool {
        match self {
            Condition::Unknown => true,
            Condition::Code(known) => code == **known,
            Condition::Among(codes) => codes.binary_search(&code).is_ok(),
            Condition::Between(low, high) => (*low..=*high).contains(&code),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_people_and_rows_does_not_matter() {
        use Knowledge::{Between, Code, Unknown};
        let rows = [[1, 2], [3, 1], [1, 2], [NULL, 2], [2, 1]];
        let people = [
            vec![Between(1, 2), Code(2)],
            vec![Code(3), Unknown],
            vec![Code(2), Code(9)],
            vec![Unknown, Code(1)],
        ];
        let found = |order_of_rows: [usize; 5], order_of_people: [usize; 4]| {
            let column = |column: usize| order_of_rows.map(|row| rows[row][column]);
            let (first, second) = (column(0), column(1));
            let people = order_of_people.map(|person| people[person].clone());
            let columns: [&[u32]; 2] = [&first, &second];
            let released = Rows::new(&columns, 5);
            Reidentification::new(&people, released, None, 100, &Control::new())
                .unwrap()
                .graph
        };
        let graph = found([0, 1, 2, 3, 4], [0, 1, 2, 3]);
        assert_eq!(found([4, 2, 3, 1, 0], [3, 0, 2, 1]), graph);
        assert_eq!(found([1, 4, 0, 2, 3], [2, 3, 1, 0]), graph);
    }
}
