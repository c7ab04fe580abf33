//! Compares figures that allow for what is unknown with their definitions, and with all that may be behind it.

use disclosure::classes::{
    Classes, DiversitySettings, Records, Roles, Values, cautious_diversity, cautious_risk_summary, diversity,
    limited_diversity,
};
use disclosure::{Control, NULL};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reference::guard::{self, Row};
use std::collections::BTreeSet;

/// A row: its class, its person and its sensitive value; 0 is NULL.
type Triple = (u32, u32, u32);

fn records(rows: &[Triple], counts_people: bool) -> Records {
    let mut counted = Classes::new(3);
    for &(class, person, value) in rows {
        counted.insert(&[class, person, value], 1).unwrap();
    }
    let roles = Roles {
        quasi: vec![0],
        person: if counts_people { vec![1] } else { Vec::new() },
        sensitive: vec![2],
        ..Roles::default()
    };
    Records::of_classes(&counted, roles).unwrap()
}

fn as_rows(rows: &[Triple], counts_people: bool) -> Vec<Row> {
    let value = |code: u32| (code != NULL).then(|| code.to_string().into_bytes());
    let row = |(number, &(class, person, code)): (usize, &Triple)| Row {
        stored: number as u64,
        person: match counts_people {
            true => (person != NULL).then_some(u64::from(person)),
            false => Some(number as u64),
        },
        known: vec![value(class)],
        sensitive: vec![value(code)],
    };
    rows.iter().enumerate().map(row).collect()
}

fn is_close(one: f64, other: f64) -> bool {
    one == other || (one - other).abs() < 1e-9
}

/// Returns all tables in which what is unknown is replaced: a person by one of these or by a new one, a value by any.
fn completions(rows: &[Triple], values: u32, people: u32) -> Vec<Vec<Triple>> {
    let Some((&(class, person, value), rest)) = rows.split_first() else {
        return vec![Vec::new()];
    };
    let persons: Vec<u32> = match person {
        NULL => (1..=people).chain([100 + rest.len() as u32]).collect(),
        known => vec![known],
    };
    let values_here: Vec<u32> = match value {
        NULL => (1..=values).collect(),
        known => vec![known],
    };
    let mut found = Vec::new();
    for others in completions(rest, values, people) {
        for &person in &persons {
            for &value in &values_here {
                found.push([&[(class, person, value)], &others[..]].concat());
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        rng_seed: RngSeed::Fixed(22),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn figures_are_those_of_the_definition(
        rows in prop::collection::vec((0..3_u32, 0..5_u32, 0..4_u32), 1..14),
        knows_all in any::<bool>(),
        counts_people in any::<bool>(),
    ) {
        let rows: Vec<Triple> = rows.into_iter().map(|(class, person, value)| (class, person.max(u32::from(knows_all)), value)).collect();
        let (records, table) = (records(&rows, counts_people), as_rows(&rows, counts_people));
        let risk = cautious_risk_summary(&records, Control::none()).unwrap();
        prop_assert_eq!(risk.k, Some(guard::smallest_class(&table) as u64));
        prop_assert_eq!(risk.uniques, guard::uniques(&table) as u64);
        let share_below = risk.share_below.unwrap();
        prop_assert!(is_close(share_below[0], guard::share_below(&table, 3)));
        prop_assert!(is_close(share_below[1], guard::share_below(&table, 5)));
        let prosecutor = risk.prosecutor.unwrap();
        prop_assert!(is_close(prosecutor.average, guard::prosecutor_average(&table)));
        prop_assert!(is_close(prosecutor.highest, 1.0 / guard::smallest_class(&table) as f64));
        prop_assert!(is_close(prosecutor.above[0], guard::share_below(&table, 5)));
        let found = cautious_diversity(&records, 0, &Values::default(), false, Control::none()).unwrap().unwrap();
        prop_assert_eq!(found.l_distinct, guard::l_distinct(&table, 0) as u64);
        prop_assert!(is_close(found.alpha, guard::alpha(&table, 0)));
        prop_assert!(is_close(found.l_entropy, guard::l_entropy(&table, 0)));
    }

    #[test]
    fn people_beyond_a_limit_are_those_of_the_classes_by_themselves(
        rows in prop::collection::vec((0..3_u32, 0..5_u32, 0..4_u32), 1..14),
        counts_people in any::<bool>(),
        knows_all in any::<bool>(),
        l in 1..4_u64,
    ) {
        let known = u32::from(knows_all);
        let rows: Vec<Triple> = rows.into_iter().map(|(class, person, value)| (class, person.max(known), value.max(known))).collect();
        let found = limited_diversity(&records(&rows, counts_people), 0, &Values::default(), false, &[&|found| found.l_distinct >= l], Control::none());
        let found = found.unwrap().unwrap();
        let mut expected: BTreeSet<u32> = BTreeSet::new();
        let mut unknown = 0;
        let mut worst = u64::MAX;
        for class in 0..3 {
            let inside: Vec<Triple> = rows.iter().copied().filter(|row| row.0 == class).collect();
            if inside.is_empty() {
                continue;
            }
            let of_class = guard::l_distinct(&as_rows(&inside, counts_people), 0) as u64;
            worst = worst.min(of_class);
            if of_class < l {
                unknown += inside.iter().filter(|row| !counts_people || row.1 == 0).count() as u64;
                expected.extend(inside.iter().filter(|row| counts_people && row.1 > 0).map(|row| row.1));
            }
        }
        prop_assert_eq!(found.worst.l_distinct, worst);
        prop_assert_eq!(found.beyond, vec![expected.len() as u64 + unknown]);
    }

    #[test]
    fn nothing_changes_if_everything_is_known(
        rows in prop::collection::vec((0..3_u32, 1..5_u32, 1..4_u32), 1..14),
        counts_people in any::<bool>(),
    ) {
        let records = records(&rows, counts_people);
        let ranks = Values { ranks: Some((0..=3).collect()), hierarchy: None };
        let found = cautious_diversity(&records, 0, &ranks, false, Control::none()).unwrap();
        prop_assert_eq!(found, diversity(&records, 0, &ranks, &DiversitySettings::default(), Control::none()).unwrap());
    }

    #[test]
    fn figures_hold_whatever_is_unknown(
        rows in prop::collection::vec((0..2_u32, 0..4_u32, 0..3_u32), 1..7),
        counts_people in any::<bool>(),
    ) {
        let ranks = Values { ranks: Some((0..=3).collect()), hierarchy: None };
        let bound = |rows: &[Triple]| {
            let records = records(rows, counts_people);
            let risk = cautious_risk_summary(&records, Control::none()).unwrap();
            (risk, cautious_diversity(&records, 0, &ranks, false, Control::none()).unwrap().unwrap())
        };
        let (risk, diversity) = bound(&rows);
        let least = 1.0 - 1e-9;
        for completed in completions(&rows, 3, 3).iter().take(60) {
            let (there, found) = bound(completed);
            prop_assert!(risk.k <= there.k && risk.uniques >= there.uniques);
            let (prosecutor, other) = (risk.prosecutor.unwrap(), there.prosecutor.unwrap());
            prop_assert!(prosecutor.highest >= other.highest && prosecutor.average >= other.average * least);
            for (bound, share) in risk.share_below.unwrap().iter().zip(there.share_below.unwrap()) {
                prop_assert!(*bound >= share * least);
            }
            prop_assert!(diversity.l_distinct <= found.l_distinct && diversity.l_recursive <= found.l_recursive);
            prop_assert!(diversity.l_entropy * least <= found.l_entropy && diversity.alpha >= found.alpha * least);
            prop_assert!(diversity.t_equal >= found.t_equal * least && diversity.t_ordered >= found.t_ordered.map(|t| t * least));
            prop_assert!(diversity.beta >= found.beta * least && diversity.beta_enhanced >= found.beta_enhanced * least);
            prop_assert!(diversity.delta >= found.delta * least);
        }
    }
}

#[test]
fn nothing_comes_of_no_rows() {
    let records = records(&[], true);
    assert_eq!(cautious_risk_summary(&records, Control::none()).unwrap().k, None);
    assert_eq!(
        cautious_diversity(&records, 0, &Values::default(), false, Control::none()),
        Ok(None)
    );
}
