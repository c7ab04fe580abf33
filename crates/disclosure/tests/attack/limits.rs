//! Arguments that need more memory than is allowed.

use disclosure::attack::random_attack;
use disclosure::{Control, Error, MemoryBudget};

#[test]
fn a_random_attack_asks_for_its_memory_and_has_one_bound() {
    let limit = 1 << 20;
    let tight = || Control::with_memory(MemoryBudget { limit, in_use: || 0 });
    assert!(random_attack(100, 1.0, 1, &tight()).is_ok());
    assert_eq!(
        random_attack(1000, 1.0, 1, &tight()),
        Err(Error::OutOfMemory { limit })
    );
    for size in [0, 5001, 10_000, i32::MAX as usize] {
        let refused = random_attack(size, 1.0, 1, &tight()).unwrap_err();
        assert_eq!(refused.to_string(), "size: must be between 1 and 5000");
    }
}
