//! How well a class hides the sensitive values of its members: l-diversity, t-closeness, α, β-likeness and
//! δ-disclosure.
//!
//! All figures compare the shares of values in a class, q, with the shares in the whole table, p. They are computed
//! from whole numbers, so that they do not depend on the order of rows.

use super::hierarchy::Hierarchy;
use super::pairs::Grouped;
use super::records::{Nulls, Records, add_up};
use crate::{Control, Error, NULL, Result};
use rayon::prelude::*;

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
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Diversity {
    /// Number of distinct values (distinct l-diversity; Machanavajjhala et al. 2007).
    pub l_distinct: u64,
    /// Exponential of the entropy of the values (entropy l-diversity).
    pub l_entropy: f64,
    /// Largest l for which the class is (c, l)-diverse: the most frequent value is less frequent than c times all values
    /// from the l-th most frequent one on. 0 if there is none.
    pub l_recursive: u64,
    /// Share of the most frequent value (the α of (α, k)-anonymity; Wong et al. 2006).
    pub alpha: f64,
    /// Distance from the whole table if all values are equally far apart (t-closeness; Li et al. 2007).
    pub t_equal: f64,
    /// Distance if values are as far apart as their ranks.
    pub t_ordered: Option<f64>,
    /// Distance if values are as far apart as their common group in a hierarchy is coarse.
    pub t_hierarchical: Option<f64>,
    /// Largest relative increase of a share, (q − p)/p (basic β-likeness; Cao and Karras 2012).
    pub beta: f64,
    /// The same, but at most −ln p for each value (enhanced β-likeness).
    pub beta_enhanced: f64,
    /// Largest |ln(q/p)| of the values that the class has (δ-disclosure; Brickell and Shmatikov 2008).
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
    let cells = records.values(column);
    let table = WholeTable::new(&cells, values, settings)?;
    match settings.nulls {
        Nulls::Value => {
            const CHUNK: usize = 4096;
            let classes: Vec<usize> = (0..cells.len()).collect();
            let parts = classes.par_chunks(CHUNK).map(|part| {
                control.check()?;
                let mut counts = Vec::new();
                let figures = part.iter().map(|&class| {
                    counts.clear();
                    counts.extend_from_slice(cells.of(class));
                    table.compare(&mut counts)
                });
                Ok(figures.collect())
            });
            let parts: Vec<Vec<Option<Diversity>>> = parts.collect::<Result<_>>()?;
            Ok(parts.into_iter().flatten().collect())
        }
        Nulls::Wildcard => records.classes().map_agreeing(control, |_, agreeing| {
            let cells = agreeing.iter().flat_map(|&class| cells.of(class as usize));
            let mut counts: Vec<(u32, u64)> = cells.copied().collect();
            add_up(&mut counts);
            table.compare(&mut counts)
        }),
    }
}

/// Returns the worst figures of all classes; `None` if no value is known.
pub fn diversity(
    records: &Records,
    column: usize,
    values: &Values,
    settings: &Settings,
    control: &Control,
) -> Result<Option<Diversity>> {
    let of_classes = class_diversity(records, column, values, settings, control)?;
    Ok(of_classes.into_iter().flatten().reduce(Diversity::worst))
}

/// Distribution of the values in the whole table.
struct WholeTable<'a> {
    settings: &'a Settings,
    values: &'a Values,
    /// Number of all rows or people, N.
    total: u64,
    /// How many have each value, by code.
    counts: Vec<u64>,
    ranked: Option<RankedCounts>,
    /// How many are in each group, by level of the hierarchy.
    of_groups: Vec<Vec<u64>>,
}

/// Counts of values in their order.
struct RankedCounts {
    /// Number of those whose value has this rank or a lower one.
    up_to: Vec<u64>,
    /// Sums of the numbers in `up_to`, before each rank.
    sums: Vec<i128>,
}

impl<'a> WholeTable<'a> {
    fn new(cells: &Grouped<(u32, u64)>, values: &'a Values, settings: &'a Settings) -> Result<Self> {
        let mut counts: Vec<u64> = Vec::new();
        for &(code, count) in cells.iter().flatten() {
            if code == NULL && !settings.nulls_are_values {
                continue;
            }
            if counts.len() <= code as usize {
                counts.resize(code as usize + 1, 0);
            }
            counts[code as usize] += count;
        }
        let ranked = values
            .ranks
            .as_ref()
            .map(|ranks| RankedCounts::new(&counts, ranks));
        let mut of_groups: Vec<Vec<u64>> = Vec::new();
        if let Some(hierarchy) = &values.hierarchy {
            of_groups.push(counts.clone());
            for level in 0..hierarchy.height() {
                let groups = of_groups.last().map_or(&[][..], |groups| &groups[..]);
                let parents = hierarchy.parents(level);
                let mut coarser = vec![0; parents.iter().max().map_or(0, |&last| last as usize + 1)];
                for (&count, &parent) in groups.iter().zip(parents) {
                    coarser[parent as usize] += count;
                }
                of_groups.push(coarser);
            }
        }
        Ok(WholeTable {
            settings,
            values,
            total: counts.iter().sum(),
            counts,
            ranked,
            of_groups,
        })
    }

    /// Compares a class with the whole table. `counts` has the values of the class, each once; the order does not
    /// matter. Returns `None` if no value is known.
    fn compare(&self, counts: &mut Vec<(u32, u64)>) -> Option<Diversity> {
        if !self.settings.nulls_are_values {
            counts.retain(|&(code, _)| code != NULL);
        }
        let size: u64 = counts.iter().map(|&(_, count)| count).sum();
        if size == 0 {
            return None;
        }
        // Those with equal counts here and in the table are interchangeable.
        counts.sort_unstable_by_key(|&(code, count)| (std::cmp::Reverse(count), self.counts[code as usize]));
        let (n, total) = (i128::from(size), i128::from(self.total));
        // n N (q − p)
        let excess =
            |code: u32, count: u64| i128::from(count) * total - i128::from(self.counts[code as usize]) * n;
        let scale = size as f64 * self.total as f64;
        let positive: i128 = counts
            .iter()
            .map(|&(code, count)| excess(code, count).max(0))
            .sum();
        let (mut beta, mut beta_enhanced, mut delta) = (0.0_f64, 0.0_f64, 0.0_f64);
        for &(code, count) in counts.iter() {
            let everywhere = self.counts[code as usize] as f64;
            let relative = excess(code, count) as f64 / (size as f64 * everywhere); // (q − p)/p
            let share = everywhere / self.total as f64;
            beta = beta.max(relative);
            beta_enhanced = beta_enhanced.max(relative.min(-share.ln()));
            delta = delta.max(relative.ln_1p().abs());
        }
        Some(Diversity {
            l_distinct: counts.len() as u64,
            l_entropy: entropy(counts, size).exp(),
            l_recursive: recursive(counts, size, self.settings.c),
            alpha: counts[0].1 as f64 / size as f64,
            t_equal: positive as f64 / scale,
            t_ordered: self.ordered(counts, n, total).map(|sum| sum / scale),
            t_hierarchical: self.hierarchical(counts, n, total).map(|sum| sum / scale),
            beta,
            beta_enhanced,
            delta,
        })
    }

    /// Returns n N times the ordered distance: the sum of |Σ_{j ≤ i} (q_j − p_j)| over all ranks i, divided by the
    /// number of values less 1 (Li et al. 2007, section 3.1). Between two values of the class the inner sum falls with
    /// the shares of the table, so that it is added up from their prefix sums.
    fn ordered(&self, counts: &[(u32, u64)], n: i128, total: i128) -> Option<f64> {
        let (ranks, table) = (self.values.ranks.as_ref()?, self.ranked.as_ref()?);
        let number = table.up_to.len();
        if number < 2 {
            return Some(0.0);
        }
        let mut of_class: Vec<(usize, u64)> = counts
            .iter()
            .map(|&(code, count)| (table.position(ranks, code), count))
            .collect();
        of_class.sort_unstable();
        let (mut sum, mut here, mut from) = (0, 0, 0);
        for &(rank, count) in &of_class {
            sum += table.distance(from..rank, here * total, n);
            here += i128::from(count);
            from = rank;
        }
        sum += table.distance(from..number, here * total, n);
        Some(sum as f64 / (number - 1) as f64)
    }

    /// Returns n N times the hierarchical distance: the sum of height(G)/H · min(pos(G), neg(G)) over all groups G,
    /// where pos and neg are the excesses and the deficits of the parts of G (Li et al. 2007, section 3.2). Only
    /// groups with a value of the class can have a part with an excess.
    fn hierarchical(&self, counts: &[(u32, u64)], n: i128, total: i128) -> Option<f64> {
        let hierarchy = self.values.hierarchy.as_ref()?;
        let mut parts = counts.to_vec();
        let mut sum: i128 = 0;
        for level in 0..hierarchy.height() {
            let excess = |group: u32, count: u64, level: usize| {
                i128::from(count) * total - i128::from(self.of_groups[level][group as usize]) * n
            };
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

impl RankedCounts {
    fn new(counts: &[u64], ranks: &[u32]) -> Self {
        let number = ranks.iter().zip(counts).map(|(&rank, _)| rank as usize + 1).max();
        let mut of_rank = vec![0; number.unwrap_or(0)];
        for (&count, &rank) in counts.iter().zip(ranks) {
            of_rank[rank as usize] += count;
        }
        // The rank of NULL may be empty.
        let mut up_to: Vec<u64> = of_rank;
        let first = usize::from(up_to.first() == Some(&0));
        up_to.drain(..first);
        for rank in 1..up_to.len() {
            up_to[rank] += up_to[rank - 1];
        }
        let mut sums = vec![0];
        for &number in &up_to {
            sums.push(sums[sums.len() - 1] + i128::from(number));
        }
        RankedCounts { up_to, sums }
    }

    /// Returns the position of a code's rank among those that occur.
    fn position(&self, ranks: &[u32], code: u32) -> usize {
        // All ranks but that of NULL, which is the first, occur in the table.
        let missing = ranks.len() - self.up_to.len();
        ranks[code as usize] as usize - missing
    }

    /// Returns the sum of |here − n · up_to| over some ranks.
    fn distance(&self, ranks: std::ops::Range<usize>, here: i128, n: i128) -> i128 {
        let below = self.up_to[ranks.clone()].partition_point(|&up_to| i128::from(up_to) * n <= here);
        let middle = ranks.start + below;
        let sum = |from: usize, to: usize| self.sums[to] - self.sums[from];
        let positive = here * below as i128 - n * sum(ranks.start, middle);
        let negative = n * sum(middle, ranks.end) - here * (ranks.end - middle) as i128;
        positive + negative
    }
}

/// Returns the entropy of values, whose counts descend.
fn entropy(counts: &[(u32, u64)], size: u64) -> f64 {
    let share = |&(_, count): &(u32, u64)| count as f64 / size as f64;
    -counts
        .iter()
        .map(share)
        .map(|share| share * share.ln())
        .sum::<f64>()
}

/// Returns the largest l for which r_1 < c (r_l + r_{l+1} + …), where r_i are the counts in descending order
/// (Machanavajjhala et al. 2007, Definition 4.3); 0 if there is none.
fn recursive(counts: &[(u32, u64)], size: u64, c: f64) -> u64 {
    let largest = counts[0].1 as f64;
    let mut rest = size;
    let mut l = 0;
    for &(_, count) in counts {
        if largest >= c * rest as f64 {
            break;
        }
        l += 1;
        rest -= count;
    }
    l
}
