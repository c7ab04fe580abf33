//! Reads item counts from texts and bytes of the fuzzer. Counts that are accepted have to be printed and
//! stored so that they read back unchanged.
#![no_main]

use disclosure::cracks::StoredCounts;
use libfuzzer_sys::fuzz_target;

fn check(stored: &StoredCounts) {
    let (text, bytes) = (stored.to_text(), stored.to_bytes());
    assert!(text.len() <= stored.text_length());
    assert_eq!(StoredCounts::from_bytes(&bytes).as_ref(), Ok(stored));
    if let Ok(again) = StoredCounts::from_text(&text) {
        assert_eq!(again.to_text(), text);
    }
}

fuzz_target!(|data: &[u8]| {
    if let Ok(stored) = StoredCounts::from_bytes(data) {
        assert_eq!(stored.to_bytes(), data);
        check(&stored);
    }
    if let Some(stored) = str::from_utf8(data)
        .ok()
        .and_then(|text| StoredCounts::from_text(text).ok())
    {
        assert_eq!(StoredCounts::from_text(&stored.to_text()).as_ref(), Ok(&stored));
        check(&stored);
    }
});
