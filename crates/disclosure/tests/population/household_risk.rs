//! Compares household risk with its definition.

use crate::{cases, is_close};
use disclosure::population::household_risks;
use disclosure::{Control, NULL};
use proptest::prelude::*;
use reference::population::household_risk;

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn risk_meets_the_definition(
        rows in prop::collection::vec((0_u32..5, 0_u32..4, 0.0_f64..=1.0), 0..30),
        counts_people in any::<bool>(),
        rotation in 0_usize..30,
    ) {
        let risks_of = |rows: &[(u32, u32, f64)]| {
            let households: Vec<u32> = rows.iter().map(|row| row.0).collect();
            let people: Vec<u32> = rows.iter().map(|row| row.1).collect();
            let people = counts_people.then_some(&people[..]);
            household_risks(&households, people, |row| rows[row].2, Control::none()).unwrap()
        };
        let found = risks_of(&rows);
        for &(household, ..) in &rows {
            let members = rows.iter().filter(|row| row.0 == household);
            let risks: Vec<f64> = if counts_people {
                let of_person = |person: u32| members.clone().filter(move |row| row.1 == person).map(|row| row.2);
                (0..4).filter_map(|person| of_person(person).reduce(f64::max)).collect()
            } else {
                members.map(|row| row.2).collect()
            };
            prop_assert!(is_close(found[household as usize], household_risk(&risks), 1e-13));
        }
        let mut rotated = rows.clone();
        rotated.rotate_left(rotation % rows.len().max(1));
        prop_assert_eq!(risks_of(&rotated), found);
    }
}

#[test]
fn risk_is_precise_if_it_is_tiny_and_one_if_a_member_is_certain() {
    let risks = [1e-15, 2e-15, 0.25, 1.0];
    let found = household_risks(&[1, 1, 2, 2], None, |row| risks[row], Control::none()).unwrap();
    assert!(is_close(found[1], 3e-15, 1e-14));
    assert_eq!(found[2], 1.0);
    // Many members with a high risk do not overflow.
    let crowd = vec![1; 100_000];
    let found = household_risks(&crowd, None, |_| 1.0, Control::none()).unwrap();
    assert_eq!(found[1], 1.0);
    assert_eq!(
        household_risks(&[], None, |_| 1.0, Control::none()).unwrap(),
        [0.0]
    );
    assert_eq!(
        household_risks(&[NULL], None, |_| 0.5, Control::none()).unwrap(),
        [0.5]
    );
}
