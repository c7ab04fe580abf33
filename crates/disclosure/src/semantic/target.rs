use super::{DistanceTable, Entry, Scoring, Transactions};
use crate::Result;

/// A generalised item under attack: its members, and the contexts in which it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Ascending; the columns of its distance table.
    pub members: Vec<u32>,
    /// The rows of its distance table.
    pub rows: Vec<Occurrence>,
}

/// A transaction that has a generalised item.
#[derive(Debug, Clone, PartialEq)]
pub struct Occurrence {
    /// Its number.
    pub transaction: u32,
    /// Items near the generalised one that are not generalised themselves. Without any, it cannot be attacked.
    pub context: Vec<u32>,
}

impl Target {
    /// Every generalised item of some transactions; their numbers are its places here. A context has up to `context`
    /// items.
    pub fn all(transactions: &Transactions, context: usize) -> Vec<Self> {
        let members = (0..transactions.generalised() as u32).map(|number| Target {
            members: transactions.members(number).to_vec(),
            rows: Vec::new(),
        });
        let mut targets: Vec<Target> = members.collect();
        for (transaction, entries) in (0..).zip(transactions.iter()) {
            for (place, entry) in entries.iter().enumerate() {
                if let Entry::Generalised(number) = entry {
                    targets[*number as usize].rows.push(Occurrence {
                        transaction,
                        context: context_of(entries, place, context, |_| true),
                    });
                }
            }
        }
        targets
    }

    /// The pairs of terms whose distances a distance table is made of.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let context = self.rows.iter().flat_map(|row| &row.context);
        context.flat_map(|&item| self.members.iter().map(move |&member| (item, member)))
    }

    /// How far each member is from each context: the mean over its items (Ong 2015, formula 3.3), of which distances
    /// that are not known or infinite, or negative and so not reliable, are left out as long as there are others.
    pub fn table(&self, scoring: &dyn Scoring) -> Result<DistanceTable> {
        let cell = |context: &[u32], member: u32| {
            let known = || {
                let known = context.iter().filter_map(|&item| scoring.distance(item, member));
                known.filter(|distance| distance.is_finite())
            };
            let reliable = mean(known().filter(|&distance| distance >= 0.0));
            reliable.or_else(|| mean(known())).unwrap_or(f64::NAN)
        };
        let rows = self.rows.iter().map(|row| &row.context[..]);
        let cells = rows.flat_map(|context| self.members.iter().map(move |&member| cell(context, member)));
        DistanceTable::new(self.members.len(), cells.collect())
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

/// Up to `size` items that stand closest to a place and may be used, nearest first; of two that are as near, the one in
/// front comes first (section 3.3.1).
pub(super) fn context_of(
    entries: &[Entry],
    place: usize,
    size: usize,
    may_be_used: impl Fn(u32) -> bool,
) -> Vec<u32> {
    let usable = |place: Option<usize>| {
        let item = place.and_then(|place| entries.get(place)?.item());
        item.filter(|&item| may_be_used(item))
    };
    let furthest = place.max(entries.len() - place);
    let both_sides = (1..=furthest).flat_map(|distance| {
        [
            usable(place.checked_sub(distance)),
            usable(place.checked_add(distance)),
        ]
    });
    both_sides.flatten().take(size).collect()
}
