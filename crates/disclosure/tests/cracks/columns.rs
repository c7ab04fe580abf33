//! Several columns within one budget.

use crate::spaces::{around, big_mart, h, k};
use disclosure::Control;
use disclosure::cracks::{CrackSpace, Method, Settings, Width, expected_cracks, expected_cracks_of_each};
use disclosure::matching::Counting;

fn steps(space: &CrackSpace) -> f64 {
    Counting::new(&space.graph, &Control::new()).unwrap().steps()
}

fn methods(spaces: &[&CrackSpace], max_steps: f64) -> Vec<Method> {
    let settings = Settings {
        max_steps,
        relative_error: 0.5,
        ..Settings::default()
    };
    let found = expected_cracks_of_each(spaces, &settings, &Control::new()).unwrap();
    found.into_iter().map(|found| found.unwrap().method).collect()
}

#[test]
fn each_is_what_it_is_alone() {
    let spaces = [h(), around(&big_mart(), Width::Median), k(), h()];
    let spaces: Vec<&CrackSpace> = spaces.iter().collect();
    for method in [
        Method::Auto,
        Method::Exact,
        Method::Simulate,
        Method::OEstimate,
        Method::Refined,
    ] {
        let settings = Settings {
            method,
            alpha: 0.5,
            ..Settings::default()
        };
        let alone = spaces
            .iter()
            .map(|space| expected_cracks(space, &settings, &Control::new()).unwrap());
        let alone: Vec<_> = alone.collect();
        assert_eq!(
            expected_cracks_of_each(&spaces, &settings, &Control::new()).unwrap(),
            alone
        );
    }
    assert_eq!(
        expected_cracks_of_each(&[], &Settings::default(), &Control::new()).unwrap(),
        []
    );
}

#[test]
fn the_cheapest_are_counted_and_the_others_simulated() {
    let (cheap, dear) = (around(&big_mart(), Width::Share(0.0)), h());
    let (of_cheap, of_dear) = (steps(&cheap), steps(&dear));
    assert!(of_cheap < of_dear);
    let spaces = [&dear, &cheap, &dear];
    use Method::{Exact, Simulate};
    assert_eq!(methods(&spaces, 0.0), [Simulate; 3]);
    assert_eq!(methods(&spaces, of_cheap), [Simulate, Exact, Simulate]);
    // Each is within the budget, but not all of them together.
    assert_eq!(methods(&spaces, of_dear), [Simulate, Exact, Simulate]);
    assert_eq!(methods(&spaces, of_cheap + of_dear), [Exact, Exact, Simulate]);
    assert_eq!(methods(&spaces, of_cheap + 2.0 * of_dear), [Exact; 3]);
}

#[test]
fn exact_is_refused_if_they_are_too_expensive_together() {
    let (one, other) = (h(), h());
    let settings = Settings {
        method: Method::Exact,
        max_steps: 1.5 * steps(&one),
        ..Settings::default()
    };
    assert!(expected_cracks(&one, &settings, &Control::new()).is_ok());
    assert!(expected_cracks_of_each(&[&one, &other], &settings, &Control::new()).is_err());
}
