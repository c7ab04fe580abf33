//! How well a class hides the sensitive values of its members: l-diversity, t-closeness, α, β-likeness and
//! δ-disclosure.
//!
//! All figures compare the shares of values in a class, q, with the shares in the whole table, p. They are computed
//! from whole numbers, so that they do not depend on the order of rows.

use super::hierarchy::Hierarchy;
use super::records::{Cells, Nulls, Records, count_people};
use super::tally::add_up;
use crate::{Control, Error, NULL, Result};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::ops::Range;

/// Largest number of rows or people, so that products with it and with the number of values fit into `i128`.
const MAX_TOTAL: u64 = 1 << 47;

/// Classes between two checks for a cancel.
pub(super) const CHUNK: usize = 1024;

/// Settings of [`diversity`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The c of recursive (c, l)-diversity.
    pub c: f64,
    /// Comparison of absent values in known columns.
    pub nulls: Nulls,
    /// Whether an absent sensitive value is a value of its own. Otherwise it is unknown, and the row is left out.
    pub nulls_are_values: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            c: 9.0,
            nulls: Nulls::Value,
            nulls_are_values: true,
        }
    }
}

impl Settings {
    /// Checks that c is a positive number.
    pub fn check(&self) -> Result<()> {
        match self.c > 0.0 && self.c.is_finite() {
            true => Ok(()),
            false => Err(Error::invalid(
                "c",
                "must be a positive number",
                "a positive number: 9 means that no value may have 90 % or more of a class",
            )),
        }
    }
}

/// What is known about the values of a sensitive column, for distances between them.
#[derive(Debug, Clone, Default)]
pub struct Values {
    /// Rank of each code's value, from 0, by code; that of NULL comes first. `None` if the values have no order.
    pub ranks: Option<Vec<u32>>,
    /// Hierarchy whose value numbers are codes, NULL included.
    pub hierarchy: Option<Hierarchy>,
}

/// Figures about the sensitive values of a class, or the worst figures of all classes.
///
/// If people are counted instead of rows, a person counts once for each of their values in a class.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Diversity {
    /// Number of distinct values (distinct l-diversity; Machanavajjhala et al. 2007).
    pub l_distinct: u64,
    /// Exponential of the entropy of the values (entropy l-diversity; pyCANON rounds it down).
    pub l_entropy: f64,
    /// Largest l for which the class is (c, l)-diverse: the most frequent value is less frequent than c times all values
    /// from the l-th most frequent one on. 0 if there is none.
    pub l_recursive: u64,
    /// Share of those who have the most frequent value (the α of (α, k)-anonymity; Wong et al. 2006).
    pub alpha: f64,
    /// Distance from the whole table if all values are equally far apart (t-closeness; Li et al. 2007).
    pub t_equal: f64,
    /// Distance if values are as far apart as their ranks.
    pub t_ordered: Option<f64>,
    /// Distance if values are as far apart as their common group in a hierarchy is coarse.
    pub t_hierarchical: Option<f64>,
    /// Largest relative increase of a share, (q − p)/p (basic β-likeness; Cao and Karras 2012).
    pub beta: f64,
    /// pyCANON's figure for enhanced β-likeness: the same, but at most −ln p of the rarest value of the table.
    pub beta_enhanced: f64,
    /// Smallest β for which enhanced β-likeness holds as Cao and Karras define it and ARX checks it: no share increases
    /// by more than β, nor by more than its own −ln p. Infinite if one of them increases by more than −ln p.
    pub beta_enhanced_strict: f64,
    /// Largest |ln(q/p)| of the values that the class has (δ-disclosure; Brickell and Shmatikov 2008). Values that the
    /// class lacks are left out, as in pyCANON: for them, the figure would be infinite.
    pub delta: f64,
}

impl Diversity {
    /// Returns the worse of two figures each: the smaller l, and the larger of the others.
    pub fn worst(self, other: Self) -> Self {
        let larger = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a.max(b));
        Diversity {
            l_distinct: self.l_distinct.min(other.l_distinct),
            l_entropy: self.l_entropy.min(other.l_entropy),
            l_recursive: self.l_recursive.min(other.l_recursive),
            alpha: self.alpha.max(other.alpha),
            t_equal: self.t_equal.max(other.t_equal),
            t_ordered: larger(self.t_ordered, other.t_ordered),
            t_hierarchical: larger(self.t_hierarchical, other.t_hierarchical),
            beta: self.beta.max(other.beta),
            beta_enhanced: self.beta_enhanced.max(other.beta_enhanced),
            beta_enhanced_strict: self.beta_enhanced_strict.max(other.beta_enhanced_strict),
            delta: self.delta.max(other.delta),
        }
    }
}

/// Computes the figures of a sensitive column, by its position among those, for every class. They are `None` for a
/// class in which no value is known.
pub fn class_diversity(
    records: &Records,
    column: usize,
    values: &Values,
    settings: &Settings,
    control: &Control,
) -> Result<Vec<Option<Diversity>>> {
    settings.check()?;
    let cells = records.cells(column, control)?;
    let table = WholeTable::new(&cells, values, settings)?;
    match settings.nulls {
        Nulls::Value => {
            control.require::<Option<Diversity>>(2 * records.classes().len())?;
            let classes: Vec<u32> = (0..records.classes().len() as u32).collect();
            let parts = classes.par_chunks(CHUNK).map(|part| {
                control.check()?;
                Ok(table.figures(&cells, part).collect())
            });
            let parts: Vec<Vec<Option<Diversity>>> = parts.collect::<Result<_>>()?;
            Ok(parts.into_iter().flatten().collect())
        }
        Nulls::Wildcard => records.classes().map_agreeing(control, |_, agreeing| {
            let mut class = Distribution::default();
            class.read(&cells, agreeing, settings);
            table.compare(&mut class)
        }),
    }
}

/// Returns the worst figures of all classes; `None` if no value is known.
///
/// ```
/// use disclosure::classes::{DiversitySettings, Records, Roles, Values, diversity};
/// use disclosure::{Control, Encoder, Rows};
///
/// let zips = Encoder::new().encode_all([90210, 90210, 90210, 10001, 10001].map(Some))?;
/// let diagnoses = Encoder::new().encode_all(["flu", "hiv", "flu", "hiv", "hiv"].map(Some))?;
/// let roles = Roles { quasi: vec![0], sensitive: vec![1], ..Roles::default() };
/// let mut records = Records::new(roles, false);
/// records.extend(Rows::new(&[&zips, &diagnoses], 5))?;
/// let settings = DiversitySettings::default();
/// let worst = diversity(&records, 0, &Values::default(), &settings, Control::none())?;
/// let (l, alpha, t) = worst.map(|worst| (worst.l_distinct, worst.alpha, worst.t_equal)).unwrap();
/// assert_eq!((l, alpha, t), (1, 1.0, 0.4)); // everybody in 10001 has HIV, but only 60 % of the table
/// # Ok::<(), disclosure::Error>(())
/// ```
pub fn diversity(
    records: &Records,
    column: usize,
    values: &Values,
    settings: &Settings,
    control: &Control,
) -> Result<Option<Diversity>> {
    if settings.nulls == Nulls::Wildcard {
        let of_classes = class_diversity(records, column, values, settings, control)?;
        return Ok(of_classes.into_iter().flatten().reduce(Diversity::worst));
    }
    settings.check()?;
    let cells = records.cells(column, control)?;
    let table = WholeTable::new(&cells, values, settings)?;
    let classes: Vec<u32> = (0..records.classes().len() as u32).collect();
    let parts = classes.par_chunks(CHUNK).map(|part| {
        control.check()?;
        Ok(table.figures(&cells, part).flatten().reduce(Diversity::worst))
    });
    let parts: Vec<Option<Diversity>> = parts.collect::<Result<_>>()?;
    Ok(parts.into_iter().flatten().reduce(Diversity::worst))
}

/// Values in a class.
#[derive(Default)]
struct Distribution {
    /// How many rows or people have each value.
    counts: Vec<(u32, u64)>,
    /// Number of rows or people with a value. People may have several values.
    holders: u64,
    /// Values and the people who have them, while they are read.
    of_people: Vec<((u32, u32), u64)>,
    /// The counts alone, in descending order.
    descending: Vec<u64>,
    /// Positions of the values among all values in their order, and their counts, in that order.
    ordered: Vec<(u32, u64)>,
}

impl Distribution {
    /// Reads the values of some classes together.
    fn read(&mut self, cells: &Cells, classes: &[u32], settings: &Settings) {
        let is_counted = |value: u32| value != NULL || settings.nulls_are_values;
        self.counts.clear();
        match cells {
            Cells::OfRows(cells) => {
                for &class in classes {
                    let values = cells.of(class as usize).iter();
                    self.counts.extend(values.filter(|(value, _)| is_counted(*value)));
                }
                if classes.len() > 1 {
                    add_up(&mut self.counts, 0);
                }
                self.holders = self.counts.iter().map(|&(_, count)| count).sum();
            }
            Cells::OfPeople(cells) => {
                self.of_people.clear();
                for &class in classes {
                    let values = cells.of(class as usize).iter();
                    self.of_people
                        .extend(values.filter(|((value, _), _)| is_counted(*value)));
                }
                if classes.len() > 1 {
                    add_up(&mut self.of_people, 0);
                }
                self.counts.extend(count_people(&self.of_people));
                self.of_people.sort_unstable_by_key(|&((_, person), _)| person);
                self.of_people.dedup_by_key(|((_, person), _)| *person);
                self.holders = self.of_people.len() as u64;
            }
        }
    }
}

/// Distribution of the values in the whole table, the sum over all classes.
pub(super) struct WholeTable<'a> {
    settings: &'a Settings,
    /// Sum of all counts, N.
    total: u64,
    /// How many have each value, by code.
    counts: Vec<u64>,
    /// −ln p of each value, by code.
    surprises: Vec<f64>,
    /// The largest of these.
    largest_surprise: f64,
    ranked: Option<RankedCounts>,
    hierarchy: Option<&'a Hierarchy>,
    /// How many are in each group, by level of the hierarchy.
    of_groups: Vec<Vec<u64>>,
}

/// Counts of values in their order.
struct RankedCounts {
    /// Position of each code's value among those that occur, by code.
    positions: Vec<u32>,
    /// Number of those whose value has this position or a lower one.
    up_to: Vec<u64>,
    /// Sums of the numbers in `up_to`, before each position.
    sums: Vec<u128>,
}

impl<'a> WholeTable<'a> {
    pub(super) fn new(cells: &Cells, values: &'a Values, settings: &'a Settings) -> Result<Self> {
        let mut counts: Vec<u64> = Vec::new();
        let mut add = |code: u32, count: u64| {
            if code == NULL && !settings.nulls_are_values {
                return;
            }
            if counts.len() <= code as usize {
                counts.resize(code as usize + 1, 0);
            }
            counts[code as usize] += count;
        };
        match cells {
            Cells::OfRows(cells) => cells.all().iter().for_each(|&(code, count)| add(code, count)),
            Cells::OfPeople(cells) => cells.all().iter().for_each(|&((code, _), _)| add(code, 1)),
        }
        let total = counts.iter().sum();
        if total > MAX_TOTAL {
            return Err(Error::TooMany {
                what: "rows with sensitive values",
                limit: MAX_TOTAL,
            });
        }
        let surprise = |&count: &u64| -(count as f64 / total as f64).ln();
        let surprises: Vec<f64> = counts.iter().map(surprise).collect();
        let finite = surprises.iter().copied().filter(|surprise| surprise.is_finite());
        Ok(WholeTable {
            settings,
            total,
            largest_surprise: finite.fold(0.0, f64::max),
            surprises,
            ranked: match &values.ranks {
                Some(ranks) => Some(RankedCounts::new(&counts, ranks)?),
                None => None,
            },
            hierarchy: values.hierarchy.as_ref(),
            of_groups: match &values.hierarchy {
                Some(hierarchy) => hierarchy.sums(&counts)?,
                None => Vec::new(),
            },
            counts,
        })
    }

    /// Returns the figures of these classes.
    pub(super) fn figures(&self, cells: &Cells, classes: &[u32]) -> impl Iterator<Item = Option<Diversity>> {
        let mut class = Distribution::default();
        classes.iter().map(move |&number| {
            class.read(cells, &[number], self.settings);
            self.compare(&mut class)
        })
    }

    /// Compares a class with the whole table. Returns `None` if no value is known.
    fn compare(&self, class: &mut Distribution) -> Option<Diversity> {
        let size: u64 = class.counts.iter().map(|&(_, count)| count).sum();
        let counts = &class.counts[..];
        class.descending.clear();
        class.descending.extend(counts.iter().map(|&(_, count)| count));
        class.descending.sort_unstable_by_key(|&count| Reverse(count));
        let descending = &class.descending[..];
        let most_frequent = descending.first()?;
        let (mut positive, mut likely) = (0, true);
        let (mut lowest, mut highest) = (f64::INFINITY, 0.0_f64);
        for &(code, count) in counts {
            let everywhere = self.counts[code as usize];
            let excess = difference(count, self.total, everywhere, size); // n N (q − p)
            positive += excess.max(0);
            let relative = excess as f64 / (size as f64 * everywhere as f64); // (q − p)/p
            lowest = lowest.min(relative);
            highest = highest.max(relative);
            likely &= relative <= self.surprises[code as usize];
        }
        let scale = size as f64 * self.total as f64;
        Some(Diversity {
            l_distinct: counts.len() as u64,
            l_entropy: entropy_l(descending, size),
            l_recursive: recursive(descending, size, self.settings.c),
            alpha: *most_frequent as f64 / class.holders as f64,
            t_equal: positive as f64 / scale,
            t_ordered: self.ranked.as_ref().map(|ranked| {
                ranked.sort(counts, &mut class.ordered);
                ranked.distance(&class.ordered, size, self.total) / scale
            }),
            t_hierarchical: self.hierarchical(counts, size).map(|sum| sum / scale),
            beta: highest,
            beta_enhanced: highest.min(self.largest_surprise),
            beta_enhanced_strict: if likely { highest } else { f64::INFINITY },
            delta: f64::max(-lowest.ln_1p(), highest.ln_1p()).abs(),
        })
    }

    /// Returns n N times the hierarchical distance: the sum of height(G)/H · min(pos(G), neg(G)) over all groups G,
    /// where pos and neg are the excesses and the deficits of the parts of G (Li et al. 2007, section 3.2). Only
    /// groups with a value of the class can have a part with an excess.
    fn hierarchical(&self, counts: &[(u32, u64)], size: u64) -> Option<f64> {
        let hierarchy = self.hierarchy?;
        let excess = |group: u32, count: u64, level: usize| {
            difference(count, self.total, self.of_groups[level][group as usize], size)
        };
        let mut parts = counts.to_vec();
        let mut sum: i128 = 0;
        for level in 0..hierarchy.height() {
            // For each part: its group, its excess if that is positive, and its count.
            let parents = hierarchy.parents(level);
            let mut of_groups: Vec<(u32, i128, u64)> = parts
                .iter()
                .map(|&(part, count)| (parents[part as usize], excess(part, count, level).max(0), count))
                .collect();
            of_groups.sort_unstable();
            of_groups.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    earlier.1 += later.1;
                    earlier.2 += later.2;
                }
                same
            });
            for &(group, positive, count) in &of_groups {
                let negative = positive - excess(group, count, level + 1);
                sum += (level as i128 + 1) * positive.min(negative);
            }
            parts = of_groups
                .into_iter()
                .map(|(group, _, count)| (group, count))
                .collect();
        }
        Some(sum as f64 / hierarchy.height().max(1) as f64)
    }
}

/// Returns a · b − c · d.
#[inline]
fn difference(a: u64, b: u64, c: u64, d: u64) -> i128 {
    i128::from(a) * i128::from(b) - i128::from(c) * i128::from(d)
}

impl RankedCounts {
    /// Ranks the values that occur. `ranks` has the rank of each code.
    fn new(counts: &[u64], ranks: &[u32]) -> Result<Self> {
        if ranks.len() < counts.len() {
            return Err(Error::invalid(
                "ranks",
                "must have a rank for every value",
                "one rank for each code",
            ));
        }
        let occurs = |&code: &u32| counts[code as usize] > 0;
        let mut codes: Vec<u32> = (0..counts.len() as u32).filter(occurs).collect();
        codes.sort_unstable_by_key(|&code| ranks[code as usize]);
        let mut ranked = RankedCounts {
            positions: vec![0; counts.len()],
            up_to: Vec::new(),
            sums: vec![0],
        };
        let (mut total, mut sum) = (0, 0);
        for equal in codes.chunk_by(|&a, &b| ranks[a as usize] == ranks[b as usize]) {
            for &code in equal {
                ranked.positions[code as usize] = ranked.up_to.len() as u32;
                total += counts[code as usize];
            }
            sum += u128::from(total);
            ranked.up_to.push(total);
            ranked.sums.push(sum);
        }
        Ok(ranked)
    }

    /// Lists the positions of values and their counts, in ascending order.
    fn sort(&self, counts: &[(u32, u64)], ordered: &mut Vec<(u32, u64)>) {
        ordered.clear();
        ordered.extend(
            counts
                .iter()
                .map(|&(code, count)| (self.positions[code as usize], count)),
        );
        ordered.sort_unstable_by_key(|&(position, _)| position);
    }

    /// Returns n N times the ordered distance: the sum of |Σ_{j ≤ i} (q_j − p_j)| over all positions i, divided by the
    /// number of values less 1 (Li et al. 2007, section 3.1). Between two values of the class, the inner sum falls with
    /// the shares of the table, so that it is added up from their prefix sums.
    ///
    /// `class` has the positions of the values of the class, in ascending order, and their counts.
    fn distance(&self, class: &[(u32, u64)], size: u64, total: u64) -> f64 {
        let number = self.up_to.len();
        let (mut sum, mut here, mut from) = (0, 0, 0);
        for &(position, count) in class.iter().chain(&[(number as u32, 0)]) {
            let position = position as usize;
            sum += self.gap(from..position, u128::from(here) * u128::from(total), size);
            here += count;
            from = position;
        }
        sum as f64 / number.saturating_sub(1).max(1) as f64
    }

    /// Returns the sum of |here − n · up_to| over some positions.
    fn gap(&self, positions: Range<usize>, here: u128, n: u64) -> u128 {
        let product = |number: u64| u128::from(number) * u128::from(n);
        let below = self.up_to[positions.clone()].partition_point(|&up_to| product(up_to) <= here);
        let middle = positions.start + below;
        let sum = |from: usize, to: usize| u128::from(n) * (self.sums[to] - self.sums[from]);
        let positive = here * below as u128 - sum(positions.start, middle);
        let negative = sum(middle, positions.end) - here * (positions.end - middle) as u128;
        positive + negative
    }
}

/// Returns the exponential of the entropy of values, whose counts descend.
fn entropy_l(counts: &[u64], size: u64) -> f64 {
    if counts.first() == counts.last() {
        return counts.len() as f64; // exp(ln l) is not quite l
    }
    let terms = counts.chunk_by(|a, b| a == b).map(|equal| {
        let share = equal[0] as f64 / size as f64;
        equal.len() as f64 * share * share.ln()
    });
    (-terms.sum::<f64>()).exp()
}

/// Returns the largest l for which r_1 < c (r_l + r_{l+1} + …), where r_i are the counts in descending order
/// (Machanavajjhala et al. 2007, Definition 4.3); 0 if there is none.
fn recursive(counts: &[u64], size: u64, c: f64) -> u64 {
    let largest = counts[0] as f64;
    let mut rest = size;
    let mut l = 0;
    for &count in counts {
        if largest >= c * rest as f64 {
            break;
        }
        l += 1;
        rest -= count;
    }
    l
}
