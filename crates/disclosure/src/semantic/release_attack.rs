//! A complete attack on released transactions: which distances have to be known, which cells are eliminated,
//! with what confidence, and how many eliminations are right if the original is known.

use super::attack::{attack, distance_tables, judged_items, remaining_items};
use super::calibration::{Calibration, ReliabilityBin, Twin, reliability_bins};
use super::constraints::{BrokenConstraint, broken_constraints};
use super::place_attack::{ListOrder, place_attack};
use super::unknown_constraints::unknown_constraints;
use super::{
    AttackSettings, Choice, DensityBin, DistanceSettings, DistanceTable, Eliminations, Entry, Method,
    OpenSettings, Quality, Scoring, Strategy, Target, Transactions, check_density_bounds, density_bins,
};
use crate::{Control, Error, Result};
use rustc_hash::{FxHashMap, FxHashSet};

/// Settings of a [`ReleaseAttack`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReleaseAttackSettings {
    /// Maximum number of items in the context of a generalised item. Attacks may use fewer of them.
    pub max_context: usize,
    /// The same if nothing can be chosen, so that no distances are needed that no attack uses.
    pub default_context: usize,
    /// Number of [twins](Twin) from which confidence is learnt; 0 for no confidence.
    pub calibration: usize,
    /// Whether settings are to be [chosen](Choice), which needs twins as well.
    pub has_choice: bool,
    /// Seed for drawing twins.
    pub seed: u64,
}

impl Default for ReleaseAttackSettings {
    fn default() -> Self {
        ReleaseAttackSettings {
            max_context: OpenSettings::default().max_context(),
            default_context: OpenSettings::default().default_context(),
            calibration: 200,
            has_choice: true,
            seed: 1,
        }
    }
}

impl ReleaseAttackSettings {
    /// Returns an error if the maximum size of a context is 0.
    pub fn check(&self) -> Result<()> {
        let distances = DistanceSettings {
            context: self.max_context,
            ..DistanceSettings::default()
        };
        distances.check()
    }
}

/// The part of released transactions that an adversary looks at: generalised items with their contexts.
#[derive(Debug, Clone, PartialEq)]
pub struct ReleaseAttack {
    targets: Vec<Target>,
    /// Twins of the targets, from which settings are chosen and confidence is learnt.
    twins: Vec<Twin>,
    /// Number of twins from which confidence is learnt, if there are so many; 0 if it was not requested.
    calibration: usize,
    /// Eliminations of [`Method::Place`], by target.
    by_place: Vec<Eliminations>,
}

/// Result of a [`ReleaseAttack`].
#[derive(Debug, Clone, PartialEq)]
pub struct AttackResult {
    /// Whether the attack was by place, and so needed no distances.
    is_by_place: bool,
    tables: Vec<DistanceTable>,
    /// Eliminations, by target.
    pub eliminations: Vec<Eliminations>,
    /// Source of confidence, `None` if there was too little to learn from.
    calibration: Option<Calibration>,
}

/// A member of a generalised item in one of the transactions that contain it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Cell {
    /// Number of the transaction.
    pub transaction: u32,
    /// Place of the member in [`Target::members`].
    pub member: usize,
    /// Distance from the context, if it is known.
    pub distance: Option<f64>,
    /// Step at which the cell was eliminated, from 0; `None` if it is left.
    pub step: Option<usize>,
    /// Probability that the elimination is right, if it was learnt.
    pub confidence: Option<f64>,
}

impl ReleaseAttack {
    /// Finds all generalised items of released transactions with their contexts, and draws twins of them.
    pub fn new(
        transactions: &Transactions,
        settings: &ReleaseAttackSettings,
        control: &Control,
    ) -> Result<Self> {
        settings.check()?;
        let &ReleaseAttackSettings {
            max_context,
            default_context,
            calibration,
            has_choice,
            seed,
        } = settings;
        let mut targets = Target::all(transactions, max_context, control)?;
        let for_choice = if has_choice { Choice::twins_needed() } else { 0 };
        let count = calibration.max(for_choice);
        let mut twins = Twin::draw(transactions, &targets, max_context, count, seed, control)?;
        let for_choice = Choice::twins(&twins).len().min(for_choice);
        twins.truncate(calibration.max(for_choice));
        if has_choice && !Choice::is_possible(&twins) {
            let of_twins = twins.iter_mut().map(|twin| &mut twin.target);
            for row in targets
                .iter_mut()
                .chain(of_twins)
                .flat_map(|target| &mut target.rows)
            {
                row.context.truncate(default_context);
            }
        }
        let nothing = Eliminations {
            threshold: None,
            cells: Vec::new(),
        };
        Ok(ReleaseAttack {
            by_place: vec![nothing; targets.len()],
            targets,
            twins,
            calibration,
        })
    }

    /// Attacks the same transactions by place, for [`Method::Place`], because their items are in this order.
    /// Without a call of this function, that method eliminates nothing.
    pub fn attack_places(
        &mut self,
        transactions: &Transactions,
        order: &ListOrder,
        control: &Control,
    ) -> Result<()> {
        self.by_place = place_attack(transactions, order, control)?;
        Ok(())
    }

    /// Attacks the targets, which have these tables.
    fn eliminations(
        &self,
        tables: &[DistanceTable],
        strategy: &Strategy,
        control: &Control,
    ) -> Result<Vec<Eliminations>> {
        match strategy.method {
            Method::Place => Ok(self.by_place.clone()),
            _ => attack(tables, strategy, control),
        }
    }

    /// Returns the generalised items, by number.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Returns the pairs of terms whose distances an attack needs, ascending, each once.
    pub fn pairs(&self, control: &Control) -> Result<Vec<(u32, u32)>> {
        let twins = self.twins.iter().map(|twin| &twin.target);
        Target::pairs(self.targets.iter().chain(twins), control)
    }

    /// Chooses the settings that are open: those that do best against twins. Returns `None` if nothing is
    /// open, or if there is too little to choose by.
    pub fn choose(
        &self,
        open: &OpenSettings,
        scoring: &dyn Scoring,
        control: &Control,
    ) -> Result<Option<Choice>> {
        Choice::make(open, &self.twins, scoring, control)
    }

    /// Attacks all generalised items, and their twins in the same way, to learn the confidence in
    /// eliminations. [`Method::Place`] has no confidence.
    pub fn attack(
        &self,
        scoring: &dyn Scoring,
        settings: &AttackSettings,
        control: &Control,
    ) -> Result<AttackResult> {
        let AttackSettings { distances, strategy } = settings;
        distances.check()?;
        strategy.check()?;
        let tables = distance_tables(&self.targets, scoring, distances, control)?;
        let eliminations = self.eliminations(&tables, strategy, control)?;
        if !strategy.method.needs_distances() {
            return Ok(AttackResult {
                is_by_place: true,
                tables,
                eliminations,
                calibration: None,
            });
        }
        let twins = &self.twins[..self.calibration.min(self.twins.len())];
        let of_twins = distance_tables(twins, scoring, distances, control)?;
        let eliminated_of_twins = attack(&of_twins, strategy, control)?;
        let calibration = Calibration::learn(twins, &of_twins, &eliminated_of_twins, control)?;
        Ok(AttackResult {
            is_by_place: false,
            tables,
            eliminations,
            calibration,
        })
    }

    /// Returns how many transactions have generalised items, and how many of them have one that cannot be
    /// attacked, because nothing is known about its context of up to `context` items, or about its members.
    pub fn unattacked(
        &self,
        scoring: &dyn Scoring,
        context: usize,
        control: &Control,
    ) -> Result<(usize, usize)> {
        let is_any_known = |terms: &[u32]| terms.iter().any(|&term| scoring.is_known(term));
        let (mut all, mut unattacked) = (FxHashSet::default(), FxHashSet::default());
        for target in &self.targets {
            let has_known_members = is_any_known(&target.members);
            for row in &target.rows {
                control.check()?;
                all.insert(row.transaction);
                let context = &row.context[..context.min(row.context.len())];
                if !has_known_members || !is_any_known(context) {
                    unattacked.insert(row.transaction);
                }
            }
        }
        Ok((all.len(), unattacked.len()))
    }

    /// Returns whether cells were eliminated and confidence was requested, but there was too little to learn
    /// it from.
    pub fn lacks_confidence(&self, result: &AttackResult) -> bool {
        let has_eliminations = result
            .eliminations
            .iter()
            .any(|of_target| !of_target.cells.is_empty());
        self.calibration > 0 && has_eliminations && result.calibration.is_none()
    }

    /// Returns every cell of a target, row by row, without the transactions in which it cannot be attacked.
    pub fn cells(&self, result: &AttackResult, target: usize) -> Vec<Cell> {
        let (table, eliminations) = (&result.tables[target], &result.eliminations[target]);
        let mut cells: Vec<Cell> = Vec::new();
        // By row, the place of its first cell.
        let mut starts = Vec::with_capacity(table.rows());
        for (row, occurrence) in self.targets[target].rows.iter().enumerate() {
            starts.push(cells.len());
            if !result.is_by_place && !is_attacked(table, row) {
                continue;
            }
            cells.extend((0..table.columns()).map(|member| Cell {
                transaction: occurrence.transaction,
                member,
                distance: Some(table.distance(row, member)).filter(|distance| !distance.is_nan()),
                step: None,
                confidence: None,
            }));
        }
        let confidence = result.confidence(target);
        for (step, eliminated) in eliminations.cells.iter().enumerate() {
            let cell = &mut cells[starts[eliminated.row as usize] + eliminated.column as usize];
            cell.step = Some(step);
            cell.confidence = confidence.as_ref().map(|confidence| confidence[step]);
        }
        cells
    }

    /// Returns how far confidence can be trusted: eliminations in ten bins of rising confidence. These are
    /// the eliminations of the released transactions if the original items are known, otherwise those of
    /// twins, each predicted by a model learnt without that twin. Returns no bins if no confidence was
    /// learnt.
    pub fn reliability_bins(
        &self,
        result: &AttackResult,
        original: Option<&OriginalItems>,
    ) -> Vec<ReliabilityBin> {
        const BINS: usize = 10;
        let held_out = || {
            let calibration = result.calibration.as_ref();
            calibration.map_or(Vec::new(), |calibration| calibration.held_out.clone())
        };
        let predictions = original.map_or_else(held_out, |original| self.predictions(result, original));
        reliability_bins(predictions, BINS)
    }

    /// Returns the confidence in each elimination of the released transactions, and whether it is right.
    fn predictions(&self, result: &AttackResult, original: &OriginalItems) -> Vec<(f64, bool)> {
        let of_target = |(number, target): (usize, &Target)| {
            let confidence = result.confidence(number).unwrap_or_default();
            let cells = result.eliminations[number].cells.iter();
            let is_right = cells.map(|cell| {
                let transaction = target.rows[cell.row as usize].transaction;
                !original.is_original(transaction, target.members[cell.column as usize])
            });
            confidence.into_iter().zip(is_right).collect::<Vec<_>>()
        };
        self.targets.iter().enumerate().flat_map(of_target).collect()
    }

    /// Measures how well an attack with each of these settings tells cover from original items, by the
    /// density of generalised items: `bounds` divides them into [bins](density_bins).
    pub fn quality(
        &self,
        scoring: &dyn Scoring,
        settings: &[AttackSettings],
        original: &OriginalItems,
        bounds: &[f64],
        control: &Control,
    ) -> Result<Vec<Vec<DensityBin>>> {
        check_density_bounds(bounds)?;
        let of_settings = |settings: &AttackSettings| {
            let AttackSettings { distances, strategy } = settings;
            distances.check()?;
            strategy.check()?;
            let tables = distance_tables(&self.targets, scoring, distances, control)?;
            let eliminations = self.eliminations(&tables, strategy, control)?;
            let is_original = |transaction, item| original.is_original(transaction, item);
            let qualities = Quality::of_targets(&self.targets, &eliminations, is_original);
            Ok(density_bins(&qualities, bounds))
        };
        settings.iter().map(of_settings).collect()
    }

    /// Returns the privacy constraints that are not known to hold after an attack on these transactions, by
    /// number: those that are broken, and [those](unknown_constraints) of which the attack does not tell.
    pub fn broken_constraints(
        &self,
        transactions: &Transactions,
        result: &AttackResult,
        privacy: &[Vec<u32>],
        k: u64,
        control: &Control,
    ) -> Result<Vec<ConstraintAfterAttack>> {
        let AttackResult {
            is_by_place,
            tables,
            eliminations,
            ..
        } = result;
        let before = remaining_items(transactions, &self.targets, None, control)?;
        let before = broken_constraints(&before, privacy, k, control)?;
        let before: FxHashSet<usize> = before.iter().map(|broken| broken.constraint).collect();
        let remaining = remaining_items(transactions, &self.targets, Some(eliminations), control)?;
        let broken = broken_constraints(&remaining, privacy, k, control)?;
        let unknown = match is_by_place {
            true => Vec::new(), // a place always tells what it can
            false => {
                let judged = judged_items(transactions, &self.targets, tables, eliminations, control)?;
                unknown_constraints(&remaining, &judged, privacy, k, control)?
            }
        };
        let numbers: FxHashSet<usize> = broken.iter().map(|broken| broken.constraint).collect();
        let unknown = unknown
            .into_iter()
            .filter(|unknown| !numbers.contains(&unknown.constraint));
        let with_verdict = |is_broken: bool| {
            let before = &before;
            move |constraint: BrokenConstraint| ConstraintAfterAttack {
                held_before: !before.contains(&constraint.constraint),
                is_broken,
                constraint,
            }
        };
        let unknown = unknown.map(with_verdict(false));
        let mut all: Vec<_> = broken
            .into_iter()
            .map(with_verdict(true))
            .chain(unknown)
            .collect();
        all.sort_by_key(|one| one.constraint.constraint);
        Ok(all)
    }
}

/// A privacy constraint that is not known to hold after an attack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConstraintAfterAttack {
    /// The constraint, with the part of it that is, or might be, in too few transactions.
    pub constraint: BrokenConstraint,
    /// Whether the constraint held before the attack.
    pub held_before: bool,
    /// Whether the constraint is broken. If not, the attack does not tell whether it holds.
    pub is_broken: bool,
}

/// Returns whether any distance of a row is known.
fn is_attacked(table: &DistanceTable, row: usize) -> bool {
    table.view().row(row).iter().any(|distance| !distance.is_nan())
}

impl AttackResult {
    /// Returns the confidence in each elimination of a target, in their order; `None` if no confidence was
    /// learnt.
    fn confidence(&self, target: usize) -> Option<Vec<f64>> {
        let calibration = self.calibration.as_ref()?;
        Some(calibration.confidence(&self.tables[target], &self.eliminations[target]))
    }
}

/// Items that the released transactions originally contained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginalItems {
    /// By the number of the released transaction: its original items, ascending.
    items: Vec<Vec<u32>>,
}

impl OriginalItems {
    /// Finds the original of every released transaction by its key: `keys` are those of the original
    /// transactions, `released_keys` those of the released ones. Returns an error if keys are not unique, if
    /// a released transaction has no original, or if an original contains generalised items.
    pub fn new(original: &Transactions, keys: &[String], released_keys: &[String]) -> Result<Self> {
        let by_key = numbers_by_key("original", keys)?;
        numbers_by_key("released", released_keys)?;
        let invalid = |argument, problem: &str| {
            Error::invalid(
                argument,
                problem,
                "an original that contains every released transaction as it was before generalisation",
            )
        };
        let items = released_keys.iter().map(|key| {
            let number = by_key
                .get(&key[..])
                .ok_or_else(|| invalid("released", "contains a transaction that is not in the original"))?;
            let items = original.entries(*number).iter().map(Entry::item);
            let items: Option<Vec<u32>> = items.collect();
            let mut items = items.ok_or_else(|| invalid("original", "contains generalised items"))?;
            items.sort_unstable();
            Ok(items)
        });
        Ok(OriginalItems {
            items: items.collect::<Result<_>>()?,
        })
    }

    /// Returns whether a released transaction originally contained an item.
    pub fn is_original(&self, transaction: u32, item: u32) -> bool {
        self.items[transaction as usize].binary_search(&item).is_ok()
    }
}

/// Returns the number of each transaction by its key, or an error if two keys are the same.
fn numbers_by_key<'a>(of: &'static str, keys: &'a [String]) -> Result<FxHashMap<&'a str, usize>> {
    let mut by_key = FxHashMap::default();
    for (number, key) in keys.iter().enumerate() {
        if by_key.insert(&key[..], number).is_some() {
            return Err(Error::invalid(
                "key",
                format!("two transactions of {of} have the same key"),
                "keys that are unique in the original and in the released table",
            ));
        }
    }
    Ok(by_key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::semantic::Threshold;

    /// Returns the transactions of Ong 2015, Figure 1.5: items 0 to 3 are generalised; 4 to 7 are the
    /// contexts of the four patients.
    fn release() -> Transactions {
        let mut release = Transactions::new();
        for context in 4..8 {
            release.begin().unwrap();
            release.push_item(context).unwrap();
            release.push(vec![0, 1, 2, 3]).unwrap();
        }
        release
    }

    fn original(items: [&[u32]; 4]) -> Transactions {
        let mut original = Transactions::new();
        for items in items {
            original.begin().unwrap();
            for &item in items {
                original.push_item(item).unwrap();
            }
        }
        original
    }

    fn keys(keys: [&str; 4]) -> Vec<String> {
        keys.map(String::from).to_vec()
    }

    /// Returns the items that the patients had by Figure 1.3. The original has them in another order than the
    /// release.
    fn original_items() -> OriginalItems {
        let original = original([&[3], &[3, 2], &[1], &[1, 0]]);
        OriginalItems::new(
            &original,
            &keys(["d", "c", "b", "a"]),
            &keys(["a", "b", "c", "d"]),
        )
        .unwrap()
    }

    /// The distances of Figure 3.6.
    struct Figure36;

    impl Scoring for Figure36 {
        fn distance(&self, one: u32, other: u32) -> Option<f64> {
            let rows = [
                [0.56, 0.78, 1.57, 2.19],
                [1.75, 0.58, 1.74, 1.53],
                [2.60, 2.93, 1.78, 1.49],
                [1.60, 1.51, 1.89, 1.03],
            ];
            Some(rows[one as usize - 4][other as usize])
        }

        fn is_known(&self, _: u32) -> bool {
            true
        }
    }

    fn by(method: Method) -> AttackSettings {
        AttackSettings {
            strategy: Strategy {
                method,
                ..Strategy::default()
            },
            ..AttackSettings::default()
        }
    }

    #[test]
    fn a_release_is_attacked_as_a_whole() {
        let (release, control) = (release(), Control::new());
        let attack = ReleaseAttack::new(&release, &ReleaseAttackSettings::default(), &control).unwrap();
        assert_eq!(attack.targets().len(), 1);
        let pairs = (4..8).flat_map(|context| (0..4).map(move |member| (context, member)));
        assert_eq!(attack.pairs(&control).unwrap(), pairs.collect::<Vec<_>>());

        // Eight cells are further away than the mean, 1.596. One of them, patient 3's limbs, is original.
        let result = attack.attack(&Figure36, &by(Method::Tba), &control).unwrap();
        assert!(attack.lacks_confidence(&result));
        assert_eq!(attack.reliability_bins(&result, None), []);
        assert_eq!(attack.reliability_bins(&result, Some(&original_items())), []);
        let cells = attack.cells(&result, 0);
        assert_eq!(cells.len(), 16);
        let first = cells.iter().find(|cell| cell.step == Some(0)).unwrap();
        assert_eq!(
            (first.transaction, first.member, first.distance),
            (2, 1, Some(2.93))
        );
        let settings = [by(Method::Tba), by(Method::Mda)];
        let quality = attack
            .quality(&Figure36, &settings, &original_items(), &[], &control)
            .unwrap();
        assert_eq!(
            quality[0][0].quality,
            Quality {
                cells: 16,
                cover: 10,
                eliminations: 8,
                correct: 7
            }
        );
        let mda = quality[1][0].quality;
        assert_eq!((mda.eliminations, mda.correct), (1, 1));

        // As released, all four patients may have limbs. After the attack, only patient 1 may.
        let broken = attack
            .broken_constraints(&release, &result, &[vec![2], vec![9]], 4, &control)
            .unwrap();
        assert_eq!(broken.len(), 1);
        assert_eq!(
            (broken[0].constraint.constraint, broken[0].constraint.support),
            (0, 1)
        );
        assert!(broken[0].held_before && broken[0].is_broken);
    }

    #[test]
    fn without_calibration_no_confidence_is_missed() {
        let settings = ReleaseAttackSettings {
            calibration: 0,
            ..ReleaseAttackSettings::default()
        };
        let control = Control::new();
        let attack = ReleaseAttack::new(&release(), &settings, &control).unwrap();
        let result = attack
            .attack(&Figure36, &AttackSettings::default(), &control)
            .unwrap();
        assert!(!attack.lacks_confidence(&result));
    }

    #[test]
    fn settings_are_checked_first() {
        let none = ReleaseAttackSettings {
            max_context: 0,
            ..ReleaseAttackSettings::default()
        };
        assert!(ReleaseAttack::new(&release(), &none, &Control::new()).is_err());
        let infinite = AttackSettings {
            strategy: Strategy {
                threshold: Threshold::Absolute(f64::INFINITY),
                ..Strategy::default()
            },
            ..AttackSettings::default()
        };
        let attack =
            ReleaseAttack::new(&release(), &ReleaseAttackSettings::default(), &Control::new()).unwrap();
        assert!(attack.attack(&Figure36, &infinite, &Control::new()).is_err());
        assert!(
            attack
                .quality(&Figure36, &[infinite], &original_items(), &[], &Control::new())
                .is_err()
        );
    }

    #[test]
    fn an_original_has_every_transaction_of_the_release_once() {
        let plain = original([&[3], &[3, 2], &[1], &[1, 0]]);
        let names = keys(["a", "b", "c", "d"]);
        let argument = |error| match error {
            Err(Error::InvalidArgument { argument, .. }) => argument,
            _ => "",
        };
        let of = |original: &Transactions, of_original: &[String], released: &[String]| {
            argument(OriginalItems::new(original, of_original, released))
        };
        assert_eq!(of(&plain, &names, &names), "");
        assert_eq!(of(&plain, &keys(["a", "b", "c", "c"]), &names), "key");
        assert_eq!(of(&plain, &names, &keys(["a", "b", "b", "c"])), "key");
        assert_eq!(of(&plain, &names, &keys(["a", "b", "c", "e"])), "released");
        assert_eq!(of(&release(), &names, &names), "original");
    }
}
