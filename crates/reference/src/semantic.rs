//! Semantic attacks by definition (Ong 2015): terms are found by comparing them with every window of a text,
//! and each elimination of chapter 4 computes everything anew. Also what COAT can protect, by trying
//! everything, and the attack by place.

use disclosure::semantic::{
    AttackSettings, Combination, Constraints, DistanceSettings, DistanceTable, Elimination, Eliminations,
    Entry, Method, Quality, Scoring, Strategy, Target, Threshold, Transactions, Twin, Vulnerability,
};
use std::collections::BTreeSet;

/// Returns the terms whose words are a window of the words of a text.
pub fn terms_in<W: PartialEq>(terms: &[Vec<W>], text: &[W]) -> Vec<u32> {
    let occurs = |term: &Vec<W>| !term.is_empty() && text.windows(term.len()).any(|window| window == term);
    let found = (0..).zip(terms).filter(|(_, term)| occurs(term));
    found.map(|(number, _)| number).collect()
}

/// Returns the number of documents that contain both terms.
pub fn count_both(documents: &[Vec<u32>], one: u32, other: u32) -> u64 {
    let has_both = |document: &&Vec<u32>| document.contains(&one) && document.contains(&other);
    documents.iter().filter(has_both).count() as u64
}

/// Returns the distances of the members of a target from its contexts (Ong 2015, formula 3.3, or the least
/// distance). Distances that are unknown or infinite are left out, and so are negative ones if there are
/// others.
pub fn distance_table(target: &Target, scoring: &dyn Scoring, settings: &DistanceSettings) -> DistanceTable {
    let assuming = settings.unseen.and_then(|unseen| scoring.with_unseen(unseen));
    let scoring = assuming.as_deref().unwrap_or(scoring);
    let mut cells = Vec::new();
    for row in &target.rows {
        for &member in &target.members {
            let context = row.context.iter().take(settings.context);
            let mut distances: Vec<f64> = context.flat_map(|&item| scoring.distance(item, member)).collect();
            distances.retain(|distance| distance.is_finite());
            if distances.iter().any(|&distance| distance >= 0.0) {
                distances.retain(|&distance| distance >= 0.0);
            }
            cells.push(match settings.combination {
                _ if distances.is_empty() => f64::NAN,
                Combination::Mean => distances.iter().sum::<f64>() / distances.len() as f64,
                Combination::Nearest => distances.into_iter().fold(f64::INFINITY, f64::min),
            });
        }
    }
    DistanceTable::new(target.members.len(), cells).unwrap()
}

/// Attacks each twin with these settings, and counts.
pub fn quality_of_twins(twins: &[Twin], scoring: &dyn Scoring, settings: &AttackSettings) -> Quality {
    let mut quality = Quality::default();
    for twin in twins {
        let table = distance_table(&twin.target, scoring, &settings.distances);
        let found = attack(&table, &settings.strategy).found;
        let is_original =
            |cell: &Elimination| twin.is_original[cell.row as usize * table.columns() + cell.column as usize];
        quality.cells += twin.is_original.len() as u64;
        quality.cover += twin
            .is_original
            .iter()
            .filter(|is_original| !**is_original)
            .count() as u64;
        quality.eliminations += found.cells.len() as u64;
        quality.correct += found.cells.iter().filter(|cell| !is_original(cell)).count() as u64;
    }
    quality
}

/// Returns whether a constraint is broken: some part of it is in at least one transaction, but in fewer than
/// `k` (Ong 2015, Definitions 13 and 15).
pub fn is_broken(transactions: &[Vec<u32>], constraint: &[u32], k: usize) -> bool {
    (1..1_u32 << constraint.len()).any(|part| {
        let part: Vec<u32> = (0..constraint.len())
            .filter(|place| part & 1 << place != 0)
            .map(|place| constraint[place])
            .collect();
        let has_part = |items: &&Vec<u32>| part.iter().all(|item| items.contains(item));
        (1..k).contains(&transactions.iter().filter(has_part).count())
    })
}

/// Returns whether a constraint would be broken if some of the items that are not `judged` were eliminated
/// from the `remaining` ones. Tries all choices of such items.
pub fn might_break(remaining: &[Vec<u32>], judged: &[Vec<u32>], constraint: &[u32], k: usize) -> bool {
    let mut unjudged = Vec::new();
    for (transaction, items) in remaining.iter().enumerate() {
        let is_unjudged = |item: &&u32| constraint.contains(item) && !judged[transaction].contains(item);
        unjudged.extend(items.iter().filter(is_unjudged).map(|&item| (transaction, item)));
    }
    (0..1_u32 << unjudged.len()).any(|choice| {
        let mut left = remaining.to_vec();
        for (place, &(transaction, item)) in unjudged.iter().enumerate() {
            if choice & 1 << place != 0 {
                left[transaction].retain(|&other| other != item);
            }
        }
        is_broken(&left, constraint, k)
    })
}

type Cell = (usize, usize);

/// A distance table under attack.
pub struct Attack<'a> {
    table: &'a DistanceTable,
    eliminated: Vec<Vec<bool>>,
    /// Row weight of each cell, for redistribution.
    row_weights: Vec<Vec<f64>>,
    /// Column weight of each cell, for redistribution.
    column_weights: Vec<Vec<f64>>,
    /// Eliminations, in order.
    pub found: Eliminations,
}

/// Attacks a table by any method except [`Method::Random`].
pub fn attack<'a>(table: &'a DistanceTable, strategy: &Strategy) -> Attack<'a> {
    let (rows, columns) = (table.rows(), table.columns());
    let mut attack = Attack {
        table,
        eliminated: vec![vec![false; columns]; rows],
        row_weights: vec![vec![1.0 / columns as f64; columns]; rows],
        column_weights: vec![vec![1.0 / rows as f64; columns]; rows],
        found: Eliminations {
            threshold: None,
            cells: vec![],
        },
    };
    if attack.open().is_empty() {
        return attack;
    }
    match strategy.method {
        Method::Random => panic!("random attacks have no definition to compare with"),
        Method::Place => panic!("a distance table has no places"),
        Method::Mda => {
            let (score, cell) = greatest(attack.open().map_cells(|cell| attack.distance(cell))).unwrap();
            attack.eliminate(cell, score);
        }
        Method::Tba => attack.by_distance(strategy.threshold, Attack::distance),
        Method::Wba => attack.by_distance(strategy.threshold, Attack::weighted_by_counts),
        Method::Gba => attack.by_groups(strategy, Attack::weighted_by_counts),
        Method::Rba => attack.by_groups(strategy, Attack::weighted_by_cell),
    }
    attack
}

trait MapCells {
    fn map_cells(self, value: impl Fn(Cell) -> f64) -> Vec<(f64, Cell)>;
}

impl MapCells for Vec<Cell> {
    fn map_cells(self, value: impl Fn(Cell) -> f64) -> Vec<(f64, Cell)> {
        self.into_iter().map(|cell| (value(cell), cell)).collect()
    }
}

/// Returns the first of the greatest values.
fn greatest<T: Copy>(values: Vec<(f64, T)>) -> Option<(f64, T)> {
    values
        .into_iter()
        .reduce(|most, next| if next.0 > most.0 { next } else { most })
}

fn resolve(threshold: Threshold, values: &[f64]) -> f64 {
    match threshold {
        Threshold::Absolute(threshold) => threshold,
        Threshold::Mean(ratio) => ratio * (values.iter().sum::<f64>() / values.len() as f64),
    }
}

/// Returns the largest gap between neighbours and the distance just below it; of equal gaps, the lowest.
/// Returns `None` if all distances are equal.
fn largest_gap(group: &[(f64, Cell)]) -> Option<(f64, f64)> {
    let mut distances: Vec<f64> = group.iter().map(|&(distance, _)| distance).collect();
    distances.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let gaps = distances.windows(2).map(|pair| (pair[1] - pair[0], pair[0]));
    greatest(gaps.collect()).filter(|&(gap, _)| gap > 0.0)
}

fn vulnerability(kind: Vulnerability, group: &[(f64, Cell)]) -> f64 {
    let Some((gap, _)) = largest_gap(group) else {
        return 0.0;
    };
    let distances = || group.iter().map(|&(distance, _)| distance);
    match kind {
        Vulnerability::Gap => gap,
        Vulnerability::Normalised => {
            gap / (distances().reduce(f64::max).unwrap() - distances().reduce(f64::min).unwrap())
        }
    }
}

impl Attack<'_> {
    /// Returns all cells, row by row.
    fn cells(&self) -> Vec<Cell> {
        let columns = self.table.columns();
        (0..self.table.distances().len())
            .map(|cell| (cell / columns, cell % columns))
            .collect()
    }

    /// Returns the reliable cells that are left.
    fn reliable(&self) -> Vec<Cell> {
        let mut cells = self.cells();
        cells.retain(|&(row, column)| !self.eliminated[row][column] && self.table.is_reliable(row, column));
        cells
    }

    fn left_in_row(&self, row: usize) -> usize {
        (0..self.table.columns())
            .filter(|&column| !self.eliminated[row][column])
            .count()
    }

    fn left_in_column(&self, column: usize) -> usize {
        (0..self.table.rows())
            .filter(|&row| !self.eliminated[row][column])
            .count()
    }

    fn may_be_eliminated(&self, (row, column): Cell) -> bool {
        self.left_in_row(row) >= 2 && self.left_in_column(column) >= 2
    }

    /// Returns the cells that may be eliminated.
    fn open(&self) -> Vec<Cell> {
        let mut cells = self.reliable();
        cells.retain(|&cell| self.may_be_eliminated(cell));
        cells
    }

    fn distance(&self, (row, column): Cell) -> f64 {
        self.table.distance(row, column)
    }

    /// Returns the weighted distance by Definition 17.
    fn weighted_by_counts(&self, (row, column): Cell) -> f64 {
        let row_weight = 1.0 / self.left_in_row(row) as f64;
        let column_weight = 1.0 / self.left_in_column(column) as f64;
        self.table.distance(row, column) * (1.0 - row_weight) * (1.0 - column_weight)
    }

    /// Returns the weighted distance by Algorithm 4.5, lines 9 and 11.
    pub fn weighted_by_cell(&self, (row, column): Cell) -> f64 {
        let (row_weight, column_weight) = (self.row_weights[row][column], self.column_weights[row][column]);
        self.table.distance(row, column) * (1.0 - row_weight) * (1.0 - column_weight)
    }

    fn eliminate(&mut self, (row, column): Cell, score: f64) {
        self.eliminated[row][column] = true;
        self.found.cells.push(Elimination {
            row: row as u32,
            column: column as u32,
            score: Some(score),
        });
    }

    /// Eliminates cells by formulas 4.2 and 4.3 (TBA), or by Algorithm 4.1 (WBA).
    fn by_distance(&mut self, threshold: Threshold, distance: fn(&Self, Cell) -> f64) {
        let before: Vec<f64> = self.reliable().iter().map(|&cell| distance(self, cell)).collect();
        let threshold = resolve(threshold, &before);
        self.found.threshold = Some(threshold);
        while let Some((score, cell)) = greatest(self.open().map_cells(|cell| distance(self, cell))) {
            if score <= threshold {
                break;
            }
            self.eliminate(cell, score);
        }
    }

    /// Returns the reliable cells of every row and every column, with their distances.
    fn groups(&self, distance: fn(&Self, Cell) -> f64) -> Vec<Vec<(f64, Cell)>> {
        let cells = self.reliable().map_cells(|cell| distance(self, cell));
        let mut groups = vec![vec![]; self.table.rows() + self.table.columns()];
        for (distance, (row, column)) in cells {
            groups[row].push((distance, (row, column)));
            groups[self.table.rows() + column].push((distance, (row, column)));
        }
        groups
    }

    /// Eliminates cells by Algorithms 4.3 (GBA) and 4.5 (RBA).
    fn by_groups(&mut self, strategy: &Strategy, distance: fn(&Self, Cell) -> f64) {
        let kind = strategy.vulnerability;
        let before = self.groups(distance);
        let vulnerabilities: Vec<f64> = before.iter().map(|group| vulnerability(kind, group)).collect();
        let threshold = resolve(strategy.threshold, &vulnerabilities);
        self.found.threshold = Some(threshold);
        loop {
            let groups = self.groups(distance);
            let mut scored = vec![];
            for group in &groups {
                if let Some((_, cell)) =
                    greatest(group.clone()).filter(|&(_, cell)| self.may_be_eliminated(cell))
                {
                    scored.push((vulnerability(kind, group), cell));
                }
            }
            match greatest(scored) {
                Some((score, cell)) if score > threshold => {
                    let (row, column) = cell;
                    for receiver in receivers(&groups[row], cell) {
                        let received =
                            self.row_weights[row][column] / receivers(&groups[row], cell).len() as f64;
                        add(&mut self.row_weights, receiver, received);
                    }
                    let group = &groups[self.table.rows() + column];
                    for receiver in receivers(group, cell) {
                        let received = self.column_weights[row][column] / receivers(group, cell).len() as f64;
                        add(&mut self.column_weights, receiver, received);
                    }
                    self.eliminate(cell, score);
                }
                _ => break,
            }
        }
    }
}

/// Returns the lower cluster (Definition 19), without the eliminated cell.
fn receivers(group: &[(f64, Cell)], eliminated: Cell) -> Vec<Cell> {
    let most = largest_gap(group).map_or(f64::INFINITY, |(_, below)| below);
    let lower = group
        .iter()
        .filter(|&&(distance, cell)| distance <= most && cell != eliminated);
    lower.map(|&(_, cell)| cell).collect()
}

/// Adds to a weight (Algorithm 4.4, lines 4 and 6). Weights sum to 1, so only rounding can make one exceed 1.
fn add(weights: &mut [Vec<f64>], (row, column): Cell, received: f64) {
    weights[row][column] = (weights[row][column] + received).min(1.0);
}

/// Returns whether the privacy constraints of COAT can be satisfied, by trying every way to generalise and
/// suppress items within the utility constraints.
pub fn can_be_protected(lists: &[Vec<u32>], constraints: &Constraints) -> bool {
    let items: BTreeSet<u32> = lists.iter().flatten().copied().collect();
    let utility_of = |item: u32| match &constraints.utility {
        None => Some(0),
        Some(utility) => utility.iter().position(|set| set.contains(&item)),
    };
    let items: Vec<(u32, Option<usize>)> = items.into_iter().map(|item| (item, utility_of(item))).collect();
    can_be_divided(lists, constraints, &items, &mut vec![], &mut vec![])
}

/// Tries every way to divide the items that are left among groups and suppressed items.
fn can_be_divided(
    lists: &[Vec<u32>],
    constraints: &Constraints,
    items: &[(u32, Option<usize>)],
    groups: &mut Vec<(Option<usize>, Vec<u32>)>,
    suppressed: &mut Vec<u32>,
) -> bool {
    let place = groups.iter().map(|(_, group)| group.len()).sum::<usize>() + suppressed.len();
    let Some(&(item, utility)) = items.get(place) else {
        return is_protected(lists, constraints, items, groups, suppressed);
    };
    suppressed.push(item);
    let mut is_possible = can_be_divided(lists, constraints, items, groups, suppressed);
    suppressed.pop();
    groups.push((utility, vec![item]));
    is_possible = is_possible || can_be_divided(lists, constraints, items, groups, suppressed);
    groups.pop();
    for number in 0..groups.len() {
        if utility.is_some() && groups[number].0 == utility {
            groups[number].1.push(item);
            is_possible = is_possible || can_be_divided(lists, constraints, items, groups, suppressed);
            groups[number].1.pop();
        }
    }
    is_possible
}

/// Returns whether not too many items are suppressed, and every part of every privacy constraint is in no
/// transaction or in at least k.
fn is_protected(
    lists: &[Vec<u32>],
    constraints: &Constraints,
    items: &[(u32, Option<usize>)],
    groups: &[(Option<usize>, Vec<u32>)],
    suppressed: &[u32],
) -> bool {
    let is_allowed = |&(_, utility): &(u32, Option<usize>)| {
        let of_utility = || items.iter().filter(|(_, other)| *other == utility);
        let lost = of_utility().filter(|(item, _)| suppressed.contains(item)).count();
        lost as f64 <= constraints.max_suppressed * of_utility().count() as f64 + 1e-9
    };
    let visible = |list: &Vec<u32>| -> Vec<u32> {
        let is_had = |(_, group): &&(Option<usize>, Vec<u32>)| group.iter().any(|item| list.contains(item));
        groups
            .iter()
            .filter(is_had)
            .flat_map(|(_, group)| group)
            .copied()
            .collect()
    };
    let visible: Vec<Vec<u32>> = lists.iter().map(visible).collect();
    let holds = |constraint: &Vec<u32>| {
        (1..1u32 << constraint.len()).all(|bits| {
            let mut part = (0..).zip(constraint).filter(|&(place, _)| bits >> place & 1 == 1);
            let has_all = |list: &&Vec<u32>| part.clone().all(|(_, item)| list.contains(item));
            let support = visible.iter().filter(has_all).count() as u64;
            part.next().is_none() || support == 0 || support >= constraints.k
        })
    };
    items.iter().all(is_allowed) && constraints.privacy.iter().all(holds)
}

/// Attacks generalised items by their places in lists that are sorted. `is_before` says which of two items
/// comes first. A member of a generalised item contradicts its place as often as an item of the list that is
/// not generalised is on the wrong side of it. A member is eliminated from a list if another member
/// contradicts its place less there, and if it contradicts its place less in another list. If at least half
/// of the members of a generalised item are contradicted in every list, nothing is eliminated. Returns the
/// transaction and the item of every elimination.
pub fn place_attack(
    transactions: &Transactions,
    is_before: impl Fn(u32, u32) -> Option<bool>,
) -> Vec<(usize, u32)> {
    let contradictions = |transaction: usize, generalised: u32, member: u32| {
        let entries = transactions.entries(transaction);
        let place = entries
            .iter()
            .position(|entry| *entry == Entry::Generalised(generalised));
        let place = place.unwrap();
        let items = |entries: &[Entry]| -> Vec<u32> { entries.iter().filter_map(Entry::item).collect() };
        let (before, after) = (items(&entries[..place]), items(&entries[place..]));
        let wrong_before = before
            .iter()
            .filter(|&&item| is_before(item, member) == Some(false));
        let wrong_after = after
            .iter()
            .filter(|&&item| is_before(item, member) == Some(true));
        wrong_before.count() + wrong_after.count()
    };
    let mut eliminated = vec![];
    for generalised in 0..transactions.generalised() as u32 {
        let members = transactions.members(generalised);
        let holds = |&transaction: &usize| {
            transactions
                .entries(transaction)
                .contains(&Entry::Generalised(generalised))
        };
        let rows: Vec<usize> = (0..transactions.len()).filter(holds).collect();
        let excess = |row: usize, member: u32| {
            let of = |member: u32| contradictions(row, generalised, member);
            of(member) - members.iter().map(|&other| of(other)).min().unwrap()
        };
        let least = |member: u32| rows.iter().map(|&row| excess(row, member)).min().unwrap();
        if 2 * members.iter().filter(|&&member| least(member) > 0).count() >= members.len() {
            continue;
        }
        for &row in &rows {
            let gone = members
                .iter()
                .filter(|&&member| excess(row, member) > least(member));
            eliminated.extend(gone.map(|&member| (row, member)));
        }
    }
    eliminated
}

/// Learns an order from lists: an item comes before another one if a chain of lists says so, and no chain says
/// the reverse.
pub fn learnt_order(lists: &[Vec<u32>]) -> impl Fn(u32, u32) -> Option<bool> {
    let mut pairs: BTreeSet<(u32, u32)> = BTreeSet::new();
    for list in lists {
        for (place, &one) in list.iter().enumerate() {
            pairs.extend(list[place + 1..].iter().map(|&other| (one, other)));
        }
    }
    loop {
        let chained: BTreeSet<(u32, u32)> = pairs
            .iter()
            .flat_map(|&(one, middle)| {
                let next = pairs.range((middle, 0)..=(middle, u32::MAX));
                next.map(move |&(_, other)| (one, other))
            })
            .collect();
        if chained.is_subset(&pairs) {
            break;
        }
        pairs.extend(chained);
    }
    move |one, other| match (pairs.contains(&(one, other)), pairs.contains(&(other, one))) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}
