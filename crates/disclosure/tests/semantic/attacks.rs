//! Tests of complete semantic attacks: what is attacked, how good the attack is, and how sure each
//! elimination is.

use disclosure::Control;
use disclosure::semantic::{
    Calibration, Combination, DistanceSettings, Entry, Method, Quality, ReliabilityBin, Scoring, Strategy,
    Target, Threshold, Transactions, Twin, Vulnerability, attack, broken_constraints, distance_tables,
    reliability_bins, remaining_items,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Items of Ong 2015, Figure 1.3.
const ITEMS: [&str; 12] = [
    "blood pressure",
    "icd",
    "limbs",
    "injury",
    "heart disease",
    "weakness",
    "dizziness",
    "anesthesia",
    "pain",
    "diabetes",
    "gangrene",
    "knee",
];

fn code(item: &str) -> u32 {
    ITEMS.iter().position(|other| *other == item).unwrap() as u32
}

fn transactions(lists: &[&[&[&str]]]) -> Transactions {
    let mut transactions = Transactions::new();
    for list in lists {
        transactions.begin().unwrap();
        for set in *list {
            transactions
                .push(set.iter().map(|item| code(item)).collect())
                .unwrap();
        }
    }
    transactions
}

const G: &[&str] = &["blood pressure", "icd", "limbs", "injury"];

fn figure_1_5() -> Transactions {
    transactions(&[
        &[&["heart disease"], G, &["weakness"], &["dizziness"]],
        &[&["anesthesia"], G, &["pain"], &["diabetes"]],
        &[&["gangrene"], G],
        &[&["knee"], G],
    ])
}

/// Returns whether a patient had an item by Figure 1.3.
fn is_original(transaction: u32, item: u32) -> bool {
    let originals: [&[&str]; 4] = [
        &["blood pressure", "icd"],
        &["icd"],
        &["limbs", "injury"],
        &["injury"],
    ];
    originals[transaction as usize].contains(&ITEMS[item as usize])
}

/// The distances of Figure 3.6.
struct Figure36;

impl Scoring for Figure36 {
    fn distance(&self, one: u32, other: u32) -> Option<f64> {
        let row = match ITEMS[one as usize] {
            "heart disease" => [0.56, 0.78, 1.57, 2.19],
            "anesthesia" => [1.75, 0.58, 1.74, 1.53],
            "gangrene" => [2.60, 2.93, 1.78, 1.49],
            "knee" => [1.60, 1.51, 1.89, 1.03],
            "weakness" => [-1.0, 0.1, 2.0, f64::INFINITY],
            _ => return None,
        };
        Some(row[other as usize])
    }

    fn is_known(&self, _: u32) -> bool {
        true
    }
}

fn measured(context: usize, combination: Combination) -> DistanceSettings {
    DistanceSettings {
        context,
        combination,
        unseen: None,
    }
}

const MEAN_OF_TWO: DistanceSettings = DistanceSettings {
    context: 2,
    combination: Combination::Mean,
    unseen: None,
};

fn strategy(method: Method) -> Strategy {
    Strategy {
        method,
        threshold: Threshold::Mean(1.0),
        vulnerability: Vulnerability::Gap,
        seed: 1,
    }
}

#[test]
fn contexts_are_what_stands_closest() {
    let contexts = |size: usize| -> Vec<Vec<&str>> {
        let targets = Target::all(&figure_1_5(), size, &Control::new()).unwrap();
        assert_eq!(targets.len(), 1);
        let rows = targets[0].rows.iter();
        rows.map(|row| row.context.iter().map(|&item| ITEMS[item as usize]).collect())
            .collect()
    };
    // The first context is the example of section 3.3.1.
    assert_eq!(
        contexts(2),
        [
            vec!["heart disease", "weakness"],
            vec!["anesthesia", "pain"],
            vec!["gangrene"],
            vec!["knee"]
        ]
    );
    assert_eq!(contexts(1)[0], ["heart disease"]);
    assert_eq!(contexts(9)[0], ["heart disease", "weakness", "dizziness"]);
}

/// Section 3.5.1: in (i1, (i2, i3), i4, i5, (i6, i7), i8, i9), the first generalised item is attacked by its
/// context i1 and i4, the second by i5 and i8.
#[test]
fn each_generalised_item_has_its_own_context() {
    let mut transactions = Transactions::new();
    transactions.begin().unwrap();
    for set in [
        vec![1],
        vec![2, 3],
        vec![4],
        vec![5],
        vec![7, 6],
        vec![8],
        vec![9],
    ] {
        transactions.push(set).unwrap();
    }
    let targets = Target::all(&transactions, 2, &Control::new()).unwrap();
    assert_eq!(targets[0].rows[0].context, [1, 4]);
    assert_eq!(targets[1].rows[0].context, [5, 8]);
    assert_eq!(targets[1].members, [6, 7]);
    assert_eq!(transactions.find(vec![6, 7]), Some(1));
}

#[test]
fn an_item_stands_once() {
    let mut transactions = Transactions::new();
    transactions.begin().unwrap();
    for set in [vec![1], vec![], vec![1, 1], vec![2, 1], vec![1, 2], vec![3]] {
        transactions.push(set).unwrap();
    }
    assert_eq!(
        transactions.entries(0),
        [Entry::Item(1), Entry::Generalised(0), Entry::Item(3)]
    );
    assert_eq!(transactions.items(), 4);
}

/// Formula 3.3, without unreliable distances.
#[test]
fn distances_are_means_over_the_context() {
    let targets = Target::all(&figure_1_5(), 2, &Control::new()).unwrap();
    let table = |settings: DistanceSettings| targets[0].table(&Figure36, &settings, &Control::new()).unwrap();
    let mean = table(MEAN_OF_TWO);
    let expected = [0.56, 0.44, 1.785, 2.19];
    for (column, expected) in expected.into_iter().enumerate() {
        assert!((mean.distance(0, column) - expected).abs() < 1e-12);
    }
    assert_eq!(mean.distance(1, 0), 1.75); // the distance from pain is unknown
    // If each item is a context of its own, the nearest one counts.
    let nearest = table(measured(2, Combination::Nearest));
    assert_eq!(nearest.distances()[..5], [0.56, 0.1, 1.57, 2.19, 1.75]);
    // A context may be cut short.
    assert_eq!(
        table(measured(1, Combination::Mean)).distances()[..2],
        [0.56, 0.78]
    );
}

#[test]
fn rba_finds_out_what_the_patients_had() {
    let released = figure_1_5();
    let targets = Target::all(&released, 1, &Control::new()).unwrap();
    let control = Control::new();
    let tables = distance_tables(&targets, &Figure36, &MEAN_OF_TWO, &control).unwrap();
    let quality = |method| {
        let eliminations = attack(&tables, &strategy(method), &control).unwrap();
        let of_targets = Quality::of_targets(&targets, &eliminations, is_original);
        of_targets.into_iter().sum::<Quality>()
    };
    // The eliminations in Figures 4.1 to 4.18, compared with Figure 1.3.
    let expected = [
        (Method::Mda, 1, 1),
        (Method::Wba, 4, 4),
        (Method::Gba, 5, 5),
        (Method::Rba, 10, 10),
    ];
    for (method, eliminations, correct) in expected {
        let found = quality(method);
        assert_eq!(
            (found.eliminations, found.correct),
            (eliminations, correct),
            "{method:?}"
        );
        assert_eq!((found.cells, found.cover), (16, 10));
        assert_eq!(found.density(), Some(6.0 / 16.0)); // Definition 16
    }
    let rba = quality(Method::Rba);
    assert_eq!(
        (rba.precision(), rba.recall(), rba.f_score()),
        (Some(1.0), Some(1.0), Some(1.0))
    );
    let mda = quality(Method::Mda);
    assert_eq!((mda.precision(), mda.recall()), (Some(1.0), Some(0.1)));
    assert_eq!(mda.f_score(), Some(2.0 * 0.1 / 1.1));
    let nothing = Quality::default();
    assert_eq!(
        (
            nothing.precision(),
            nothing.recall(),
            nothing.f_score(),
            nothing.density()
        ),
        (None, None, None, None)
    );
}

#[test]
fn what_is_left_breaks_constraints() {
    let released = figure_1_5();
    let targets = Target::all(&released, 1, &Control::new()).unwrap();
    let control = Control::new();
    let tables = distance_tables(&targets, &Figure36, &MEAN_OF_TWO, &control).unwrap();
    let eliminations = attack(&tables, &strategy(Method::Rba), &control).unwrap();
    let before = remaining_items(&released, &targets, None, &control).unwrap();
    assert_eq!(before[3], [0, 1, 2, 3, code("knee")]);
    let after = remaining_items(&released, &targets, Some(&eliminations), &control).unwrap();
    assert_eq!(
        after[0],
        [0, 1, code("heart disease"), code("weakness"), code("dizziness")]
    );
    assert_eq!(after[3], [code("injury"), code("knee")]);
    let privacy = [vec![code("injury")], vec![code("limbs"), code("injury")]];
    assert_eq!(broken_constraints(&before, &privacy, 4, &control).unwrap(), []);
    let broken = broken_constraints(&after, &privacy, 4, &control).unwrap();
    assert_eq!(broken.len(), 2);
    assert_eq!((broken[0].support, broken[0].transactions), (2, 2));
    // Both items are left together in only one transaction.
    assert_eq!(broken[1].itemset, [code("limbs"), code("injury")]);
    assert_eq!((broken[1].support, broken[1].transactions), (1, 2));
}

/// Distances with noise. On average, words of the same topic are nearer to each other than words of different
/// topics.
struct Topics {
    seed: u64,
}

const TOPICS: u32 = 8;

impl Scoring for Topics {
    fn distance(&self, one: u32, other: u32) -> Option<f64> {
        let (one, other) = (one.min(other), one.max(other));
        let mut random = Pcg64Mcg::seed_from_u64(self.seed ^ (u64::from(one) << 32) ^ u64::from(other));
        let noise = random.random::<f64>();
        Some(if one % TOPICS == other % TOPICS { 0.3 } else { 0.6 } + 0.5 * noise)
    }

    fn is_known(&self, _: u32) -> bool {
        true
    }
}

/// Generates released transactions of up to ten items each, most of one topic, in which 160 items are
/// generalised in sets of four, and the original transactions.
fn release(seed: u64) -> (Transactions, Vec<Vec<u32>>) {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut hidden: Vec<u32> = (0..160).collect();
    for place in 0..hidden.len() {
        hidden.swap(place, random.random_range(place..160));
    }
    let (mut released, mut originals) = (Transactions::new(), Vec::new());
    for _ in 0..600 {
        let topic = random.random_range(0..TOPICS);
        let mut items: Vec<u32> = (0..10)
            .map(|_| match random.random_range(0..5) {
                0 => random.random_range(0..800),
                _ => topic + TOPICS * random.random_range(0..100),
            })
            .collect();
        items.sort_unstable();
        items.dedup();
        released.begin().unwrap();
        for &item in &items {
            let place = hidden.iter().position(|&other| other == item);
            let set = place.map_or(vec![item], |place| hidden[place / 4 * 4..][..4].to_vec());
            released.push(set).unwrap();
        }
        originals.push(items);
    }
    (released, originals)
}

fn error_of(bins: &[ReliabilityBin]) -> f64 {
    let total: u64 = bins.iter().map(|bin| bin.eliminations).sum();
    let off = bins
        .iter()
        .map(|bin| bin.eliminations as f64 * (bin.predicted - bin.observed).abs());
    off.sum::<f64>() / total as f64
}

#[test]
fn confidence_is_calibrated() {
    let control = Control::new();
    let (released, originals) = release(5);
    let scoring = Topics { seed: 7 };
    let targets = Target::all(&released, 2, &Control::new()).unwrap();
    let twins = Twin::draw(&released, &targets, 2, 200, 3, &control).unwrap();
    assert_eq!(
        twins,
        Twin::draw(&released, &targets, 2, 200, 3, &control).unwrap()
    );
    let tables = distance_tables(&targets, &scoring, &MEAN_OF_TWO, &control).unwrap();
    let twin_tables = distance_tables(&twins, &scoring, &MEAN_OF_TWO, &control).unwrap();
    for method in [Method::Tba, Method::Gba, Method::Rba] {
        let eliminations = attack(&tables, &strategy(method), &control).unwrap();
        let of_twins = attack(&twin_tables, &strategy(method), &control).unwrap();
        let calibration = Calibration::learn(&twins, &twin_tables, &of_twins, &control)
            .unwrap()
            .unwrap();
        let held_out = reliability_bins(calibration.held_out.clone(), 10);
        assert!(error_of(&held_out) < 0.05, "{method:?}: {held_out:?}");
        let mut predictions = Vec::new();
        for ((target, table), eliminations) in targets.iter().zip(&tables).zip(&eliminations) {
            let confidence = calibration.confidence(table, eliminations);
            assert_eq!(confidence.len(), eliminations.cells.len());
            predictions.extend(
                confidence
                    .into_iter()
                    .zip(&eliminations.cells)
                    .map(|(confidence, cell)| {
                        assert!(confidence > 0.0 && confidence < 1.0);
                        let original = &originals[target.rows[cell.row as usize].transaction as usize];
                        (
                            confidence,
                            !original.contains(&target.members[cell.column as usize]),
                        )
                    }),
            );
        }
        let real = reliability_bins(predictions, 10);
        assert!(error_of(&real) < 0.1, "{method:?}: {real:?}");
        assert!(
            real[0].observed < real[real.len() - 1].observed,
            "{method:?}: {real:?}"
        );
    }
}

#[test]
fn too_little_teaches_nothing() {
    let control = Control::new();
    let released = figure_1_5();
    let targets = Target::all(&released, 2, &Control::new()).unwrap();
    assert_eq!(Twin::draw(&released, &targets, 2, 200, 1, &control).unwrap(), []);
    assert_eq!(Calibration::learn(&[], &[], &[], &control).unwrap(), None);
    assert_eq!(reliability_bins(vec![], 10), []);
}

#[test]
fn twins_tell_the_truth() {
    let control = Control::new();
    let (released, _) = release(1);
    let targets = Target::all(&released, 2, &Control::new()).unwrap();
    for twin in Twin::draw(&released, &targets, 2, 20, 1, &control).unwrap() {
        let columns = twin.target.members.len();
        assert_eq!(twin.is_original.len(), twin.target.rows.len() * columns);
        for (row, is_original) in twin.target.rows.iter().zip(twin.is_original.chunks(columns)) {
            let entries = released.entries(row.transaction as usize);
            assert!(is_original.contains(&true));
            for (member, &is_original) in twin.target.members.iter().zip(is_original) {
                assert_eq!(entries.contains(&Entry::Item(*member)), is_original);
                assert!(!row.context.contains(member));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), cases: 2000, ..ProptestConfig::default() })]

    /// The definition: all items that are not generalised, by their distance in places. Of equal ones, the
    /// one in front comes first.
    #[test]
    fn contexts_follow_their_definition(
        sets in prop::collection::vec(prop::collection::vec(0_u32..9, 1..4), 0..9),
        size in 1_usize..5,
    ) {
        let mut transactions = Transactions::new();
        transactions.begin().unwrap();
        for set in sets {
            transactions.push(set).unwrap();
        }
        let entries = transactions.entries(0).to_vec();
        for (number, target) in Target::all(&transactions, size, &Control::new()).unwrap().iter().enumerate() {
            let place = entries.iter().position(|entry| *entry == Entry::Generalised(number as u32)).unwrap();
            let mut others: Vec<(usize, usize, u32)> = entries
                .iter()
                .enumerate()
                .filter_map(|(other, entry)| match entry {
                    Entry::Item(item) => Some((other.abs_diff(place), other, *item)),
                    Entry::Generalised(_) => None,
                })
                .collect();
            others.sort_unstable();
            let expected: Vec<u32> = others.into_iter().take(size).map(|(_, _, item)| item).collect();
            prop_assert_eq!(&target.rows[0].context, &expected);
            let pairs = Target::pairs([target], &Control::new()).unwrap();
            prop_assert_eq!(pairs.len(), expected.len() * target.members.len());
        }
    }
}
