//! Tests of the settings that are chosen from twins, of quality by density, and of constraints of which an
//! attack does not tell whether they hold.

use disclosure::Control;
use disclosure::semantic::{
    AttackSettings, Choice, Combination, Cooccurrence, Corpus, DistanceSettings, Embeddings, Method,
    OpenSettings, OriginalItems, PairSelection, Quality, ReleaseAttack, ReleaseAttackSettings, Scoring,
    Strategy, Target, Threshold, Transactions, Twin, check_density_bounds, density_bins, unknown_constraints,
};
use proptest::prelude::{ProptestConfig, any, prop, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::RngSeed;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reference::semantic::{distance_table, is_broken, might_break, quality_of_twins};

const TOPICS: u32 = 6;
const ITEMS: u32 = 90;

/// Draws a list of items, most of them of one topic.
fn list(random: &mut Pcg64Mcg, size: usize) -> Vec<u32> {
    let topic = random.random_range(0..TOPICS);
    let mut items: Vec<u32> = (0..size)
        .map(|_| match random.random_range(0..4) {
            0 => random.random_range(0..ITEMS),
            _ => topic + TOPICS * random.random_range(0..ITEMS / TOPICS),
        })
        .collect();
    items.sort_unstable();
    items.dedup();
    items
}

/// Generates released transactions in which the first 16 items are generalised in sets of four, their
/// originals, and a corpus.
fn world(seed: u64, transactions: usize) -> (Transactions, Vec<Vec<u32>>, Cooccurrence) {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let (mut released, mut originals) = (Transactions::new(), Vec::new());
    for _ in 0..transactions {
        let items = list(&mut random, 7);
        released.begin().unwrap();
        for &item in &items {
            let set = match item {
                0..16 => (item / 4 * 4..item / 4 * 4 + 4).collect(),
                _ => vec![item],
            };
            released.push(set).unwrap();
        }
        originals.push(items);
    }
    let mut corpus = Corpus::new(ITEMS as usize);
    for _ in 0..150 {
        corpus.push(&list(&mut random, 6)).unwrap();
    }
    let counts = corpus.cooccurrence(PairSelection::All, &Control::new()).unwrap();
    (released, originals, counts)
}

fn twins(released: &Transactions, count: usize) -> Vec<Twin> {
    let control = Control::new();
    let targets = Target::all(released, 20, &control).unwrap();
    Twin::draw(released, &targets, 20, count, 1, &control).unwrap()
}

/// Every candidate is judged as if it alone had attacked every twin, and the first of the best is chosen.
#[test]
fn the_choice_follows_its_definition() {
    for (seed, method) in [
        (1, Method::Rba),
        (2, Method::Gba),
        (3, Method::Wba),
        (4, Method::Tba),
        (5, Method::Mda),
    ] {
        let (released, _, counts) = world(seed, 60);
        let twins = twins(&released, 12);
        let open = OpenSettings {
            method,
            ..OpenSettings::default()
        };
        let choice = Choice::make(&open, &twins, &counts, &Control::new())
            .unwrap()
            .unwrap();
        let thresholds = if method == Method::Mda { 1 } else { 5 };
        assert_eq!(
            (choice.candidates.len(), choice.twins),
            (24 * thresholds, twins.len())
        );
        assert_eq!(choice.candidates[0].0.distances, DistanceSettings::default());
        let mut best = 0;
        for (place, (settings, quality)) in choice.candidates.iter().enumerate() {
            assert_eq!(
                *quality,
                quality_of_twins(&twins, &counts, settings),
                "{settings:?}"
            );
            if quality.f_score() > choice.candidates[best].1.f_score() {
                best = place;
            }
        }
        assert_eq!(choice.chosen, best);
    }
}

/// What is given is not chosen, and there may be nothing to choose.
#[test]
fn only_what_is_open_is_chosen() {
    let (released, _, counts) = world(6, 60);
    let twins = twins(&released, 12);
    let make = |open: &OpenSettings, scoring: &dyn Scoring| {
        Choice::make(open, &twins, scoring, &Control::new()).unwrap()
    };
    let given = OpenSettings {
        context: Some(3),
        combination: Some(Combination::Nearest),
        unseen: Some(0.3),
        ..OpenSettings::default()
    };
    let choice = make(&given, &counts).unwrap();
    assert_eq!(choice.candidates.len(), 5);
    for (settings, quality) in &choice.candidates {
        let distances = DistanceSettings {
            context: 3,
            combination: Combination::Nearest,
            unseen: Some(0.3),
        };
        assert_eq!(settings.distances, distances);
        assert_eq!(*quality, quality_of_twins(&twins, &counts, settings));
    }
    let all_given = OpenSettings {
        threshold: Some(Threshold::Absolute(0.2)),
        ..given
    };
    assert!(!all_given.has_choice());
    assert_eq!(make(&all_given, &counts), None);
    let absolute = OpenSettings {
        threshold: Some(Threshold::Absolute(0.2)),
        ..OpenSettings::default()
    };
    let choice = make(&absolute, &counts).unwrap();
    assert_eq!(choice.candidates.len(), 24);
    for (settings, quality) in &choice.candidates {
        assert_eq!(*quality, quality_of_twins(&twins, &counts, settings));
    }
    // The baseline has no settings, and vectors assume nothing about terms that never meet.
    let random = OpenSettings {
        method: Method::Random,
        ..OpenSettings::default()
    };
    assert_eq!(make(&random, &counts), None);
    let mut vectors = Embeddings::new();
    for item in 0..ITEMS {
        let angle = f64::from(item % TOPICS) + f64::from(item) / 300.0;
        vectors
            .insert(item, &[angle.sin() as f32, angle.cos() as f32])
            .unwrap();
    }
    let choice = make(&OpenSettings::default(), &vectors).unwrap();
    assert_eq!(choice.candidates.len(), 30);
    assert_eq!(choice.settings().distances.unseen, None);
    let wrong = OpenSettings {
        context: Some(0),
        ..OpenSettings::default()
    };
    assert!(Choice::make(&wrong, &twins, &counts, &Control::new()).is_err());
}

#[test]
fn a_choice_can_be_cancelled() {
    let (released, _, counts) = world(6, 60);
    let control = Control::new();
    control.cancel();
    let choice = Choice::make(&OpenSettings::default(), &twins(&released, 12), &counts, &control);
    assert!(choice.is_err());
}

/// With too few twins, nothing is chosen, and the defaults apply.
#[test]
fn too_few_twins_choose_nothing() {
    let (released, _, counts) = world(7, 60);
    let twins = twins(&released, 1);
    let open = OpenSettings::default();
    assert_eq!(Choice::make(&open, &[], &counts, &Control::new()).unwrap(), None);
    assert_eq!(
        Choice::make(&open, &twins[..1], &counts, &Control::new()).unwrap(),
        None
    );
    assert_eq!(open.with_defaults(&counts), AttackSettings::default());
    let expected = (2, Combination::Mean, Some(0.5));
    let DistanceSettings {
        context,
        combination,
        unseen,
    } = open.with_defaults(&counts).distances;
    assert_eq!((context, combination, unseen), expected);
    assert_eq!(
        open.with_defaults(&counts).strategy.threshold,
        Threshold::Mean(1.0)
    );
}

/// The choice is nearly as good as the best one for the released transactions, which it does not know, and
/// better than the defaults. The number of threads does not matter.
#[test]
fn the_choice_is_good_for_the_release() {
    for seed in 10..12 {
        let (released, originals, counts) = world(seed, 300);
        let keys: Vec<String> = (0..released.len()).map(|number| number.to_string()).collect();
        let mut original = Transactions::new();
        for items in &originals {
            original.begin().unwrap();
            items.iter().for_each(|&item| original.push_item(item).unwrap());
        }
        let truth = OriginalItems::new(&original, &keys, &keys).unwrap();
        let control = Control::new();
        let study = ReleaseAttack::new(&released, &ReleaseAttackSettings::default(), &control).unwrap();
        let open = OpenSettings::default();
        let choose = || study.choose(&open, &counts, &control).unwrap().unwrap();
        let choice = choose();
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(one.install(choose), choice);
        let f_score = |settings: AttackSettings| {
            let bins = study
                .quality(&counts, &[settings], &truth, &[], &control)
                .unwrap();
            bins[0][0].quality.f_score().unwrap()
        };
        let candidates = choice.candidates.iter().map(|(settings, _)| f_score(*settings));
        let best = candidates.fold(0.0, f64::max);
        let (chosen, default) = (f_score(choice.settings()), f_score(AttackSettings::default()));
        assert!(best - chosen < 0.02, "{seed}: {chosen} of {best}");
        assert!(chosen > default, "{seed}: {chosen}, by default {default}");
    }
}

/// Without contexts there is nothing to attack, which a caller can tell.
#[test]
fn what_has_no_context_is_not_judged() {
    let mut released = Transactions::new();
    for context in [None, None, Some(9)] {
        released.begin().unwrap();
        released.push(vec![0, 1, 2]).unwrap();
        context.iter().for_each(|&item| released.push_item(item).unwrap());
    }
    let settings = ReleaseAttackSettings::default();
    let control = Control::new();
    let study = ReleaseAttack::new(&released, &settings, &control).unwrap();
    let counts = Cooccurrence::from_counts(
        100,
        vec![10, 10, 10, 0, 0, 0, 0, 0, 0, 10],
        vec![(0, 9, 10), (1, 9, 1), (2, 9, 1)],
    )
    .unwrap();
    assert_eq!(study.unattacked(&counts, 2, &control).unwrap(), (3, 2));
    let settings = AttackSettings {
        strategy: Strategy {
            method: Method::Tba,
            ..Strategy::default()
        },
        ..AttackSettings::default()
    };
    let result = study.attack(&counts, &settings, &control).unwrap();
    // Only the third transaction has distances; items 1 and 2 are eliminated there.
    assert_eq!(study.cells(&result, 0).len(), 3);
    assert_eq!(result.eliminations[0].cells.len(), 2);
    let constraints = |k: u64| {
        let after = study
            .broken_constraints(&released, &result, &[vec![1], vec![0], vec![9]], k, &control)
            .unwrap();
        let fields = after.iter().map(|after| {
            let constraint = &after.constraint;
            (
                constraint.constraint,
                constraint.support,
                constraint.transactions,
                after.is_broken,
            )
        });
        fields.collect::<Vec<_>>()
    };
    // Of k = 3, item 1 is left in two transactions, which is too few. Item 0 is left in all three, but two of
    // them could not be judged. Item 9 is in one transaction.
    assert_eq!(
        constraints(3),
        [(0, 2, 2, true), (1, 3, 2, false), (2, 1, 1, true)]
    );
    assert_eq!(
        constraints(2),
        [(0, 2, 2, false), (1, 3, 2, false), (2, 1, 1, true)]
    );
    assert_eq!(constraints(1), []);
}

#[test]
fn bounds_of_density_are_checked() {
    for bounds in [
        &[0.5, 0.5][..],
        &[0.6, 0.5],
        &[0.0],
        &[1.0],
        &[-0.1],
        &[f64::NAN],
        &[0.1, f64::NAN],
    ] {
        assert!(check_density_bounds(bounds).is_err(), "{bounds:?}");
    }
    assert!(check_density_bounds(&[]).is_ok());
    assert!(check_density_bounds(&[0.1, 0.9]).is_ok());
    let none = density_bins(&[], &[]);
    assert_eq!(
        (none.len(), none[0].from, none[0].to, none[0].generalised_items),
        (1, 0.0, 1.0, 0)
    );
    assert_eq!(density_bins(&[], &[0.5]), []);
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(9), cases: 2000, ..ProptestConfig::default() })]

    /// A constraint that is not broken is unknown if eliminating items that were not judged might break it.
    #[test]
    fn unknown_constraints_follow_their_definition(
        remaining in prop::collection::vec(prop::collection::btree_set(0_u32..4, 0..4), 1..6),
        is_judged in prop::collection::vec(any::<bool>(), 24),
        constraint in prop::collection::btree_set(0_u32..4, 1..4),
        k in 1_usize..5,
    ) {
        let remaining: Vec<Vec<u32>> = remaining.into_iter().map(|items| items.into_iter().collect()).collect();
        let mut is_judged = is_judged.into_iter();
        let judged: Vec<Vec<u32>> = remaining
            .iter()
            .map(|items| items.iter().copied().filter(|_| is_judged.next().unwrap()).collect())
            .collect();
        let constraint: Vec<u32> = constraint.into_iter().collect();
        if is_broken(&remaining, &constraint, k) {
            return Ok(());
        }
        let unknown = unknown_constraints(&remaining, &judged, std::slice::from_ref(&constraint), k as u64, &Control::new()).unwrap();
        prop_assert_eq!(!unknown.is_empty(), might_break(&remaining, &judged, &constraint, k));
        for unknown in unknown {
            let has_part = |items: &&Vec<u32>| unknown.itemset.iter().all(|item| items.contains(item));
            prop_assert_eq!(unknown.support as usize, remaining.iter().filter(has_part).count());
            prop_assert!(judged.iter().filter(has_part).count() < k);
        }
    }

    /// Distances are combined as defined, for contexts of any size.
    #[test]
    fn distance_tables_follow_their_definition(
        seed in 0_u64..1000,
        context in 1_usize..6,
        is_nearest in any::<bool>(),
        unseen in 0.0001..0.9,
    ) {
        let (released, _, counts) = world(seed, 12);
        let combination = if is_nearest { Combination::Nearest } else { Combination::Mean };
        let settings = DistanceSettings { context, combination, unseen: Some(unseen) };
        for target in Target::all(&released, 20, &Control::new()).unwrap() {
            let table = target.table(&counts, &settings, &Control::new()).unwrap();
            let defined = distance_table(&target, &counts, &settings);
            for (distance, defined) in table.distances().iter().zip(defined.distances()) {
                prop_assert!((distance - defined).abs() < 1e-12 || distance.is_nan() && defined.is_nan());
            }
        }
    }

    /// Each generalised item is in the bin whose bounds its density is between.
    #[test]
    fn density_bins_follow_their_definition(
        counts in prop::collection::vec((1_u64..20, 0_u64..20, 0_u64..20, 0_u64..20), 0..12),
        bounds in prop::collection::btree_set(1_u32..20, 0..5),
    ) {
        let bounds: Vec<f64> = bounds.into_iter().map(|bound| f64::from(bound) / 20.0).collect();
        let qualities: Vec<Quality> = counts
            .into_iter()
            .map(|(original, cover, eliminations, correct)| Quality { cells: original + cover, cover, eliminations, correct })
            .collect();
        let bins = density_bins(&qualities, &bounds);
        prop_assert_eq!(bins.iter().map(|bin| bin.generalised_items).sum::<u64>(), qualities.len() as u64);
        for bin in bins {
            let is_in = |quality: &&Quality| {
                let density = quality.density().unwrap();
                density >= bin.from && (density < bin.to || bin.to == 1.0)
            };
            let of_bin: Vec<Quality> = qualities.iter().filter(is_in).copied().collect();
            prop_assert_eq!(of_bin.len() as u64, bin.generalised_items);
            prop_assert_eq!(of_bin.into_iter().sum::<Quality>(), bin.quality);
        }
    }
}

/// Definition 16: a whole release is one bin, and its density is the share of original members.
#[test]
fn one_bin_is_the_whole_release() {
    let quality = |cells, cover| Quality {
        cells,
        cover,
        eliminations: 1,
        correct: 1,
    };
    // Figure 3.6 has a density of 6/16.
    let bins = density_bins(&[quality(16, 10), quality(4, 1)], &[0.375, 0.5]);
    let ends = bins.iter().map(|bin| (bin.from, bin.to, bin.generalised_items));
    assert_eq!(ends.collect::<Vec<_>>(), [(0.375, 0.5, 1), (0.5, 1.0, 1)]);
    let whole = density_bins(&[quality(16, 10), quality(4, 1)], &[]);
    assert_eq!((whole.len(), whole[0].quality.density()), (1, Some(9.0 / 20.0)));
}
