//! Check digits of cards, accounts, vehicles and national ids. Digits are numbers from 0 to 9, not
//! characters.

/// Returns whether digits pass the Luhn test (ISO/IEC 7812-1, annex B).
pub(super) fn luhn(digits: &[u8]) -> bool {
    luhn_sum(digits).is_multiple_of(10)
}

fn luhn_sum(digits: &[u8]) -> u32 {
    const DOUBLED: [u32; 10] = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];
    let from_right = digits.iter().rev().enumerate();
    from_right
        .map(|(place, &digit)| match place % 2 {
            0 => u32::from(digit),
            _ => DOUBLED[usize::from(digit)],
        })
        .sum()
}

/// Returns whether an IBAN in upper case without spaces has the right check digits (ISO 13616, ISO 7064 mod
/// 97-10).
pub(super) fn iban(text: &[u8]) -> bool {
    let (Some(head), Some(rest)) = (text.get(..4), text.get(4..)) else {
        return false;
    };
    let remainder = rest.iter().chain(head).try_fold(0_u32, |sum, &byte| match byte {
        b'0'..=b'9' => Some((sum * 10 + u32::from(byte - b'0')) % 97),
        b'A'..=b'Z' => Some((sum * 100 + u32::from(byte - b'A') + 10) % 97),
        _ => None,
    });
    remainder == Some(1)
}

/// Returns whether the last digit is the check digit of ISO 7064 mod 11,10: German Steuer-ID, Croatian OIB.
pub(super) fn mod_11_10(digits: &[u8]) -> bool {
    let Some((&check, body)) = digits.split_last() else {
        return false;
    };
    let product = body.iter().fold(10, |product, &digit| {
        let sum = (u32::from(digit) + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10 == u32::from(check)
}

/// Returns the sum of the digits times weights.
pub(super) fn weighted(digits: &[u8], weights: &[u32]) -> u32 {
    let pairs = digits.iter().zip(weights);
    pairs.map(|(&digit, weight)| u32::from(digit) * weight).sum()
}

/// Returns whether the last digit is the check digit of a GTIN, such as EAN-13 (GS1 General Specifications).
pub(super) fn gtin(digits: &[u8]) -> bool {
    let from_right = digits.iter().rev().enumerate();
    let sum: u32 = from_right
        .map(|(place, &digit)| u32::from(digit) * if place % 2 == 0 { 1 } else { 3 })
        .sum();
    sum.is_multiple_of(10)
}

/// Returns whether the ninth character of a vehicle identification number in upper case is its check digit
/// (49 CFR 565.15; ISO 3779 leaves it to the region).
pub(super) fn vin(text: &[u8]) -> bool {
    const WEIGHTS: [u32; 17] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
    let Some(&check) = text.get(8) else {
        return false;
    };
    let values = text.iter().map(|&byte| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'H' => Some(byte - b'A' + 1),
        b'J'..=b'R' => Some(byte - b'J' + 1),
        b'S'..=b'Z' => Some(byte - b'S' + 2),
        _ => None,
    });
    let Some(values) = values.collect::<Option<Vec<u8>>>() else {
        return false;
    };
    let expected = match weighted(&values, &WEIGHTS) % 11 {
        10 => b'X',
        digit => b'0' + digit as u8,
    };
    text.len() == WEIGHTS.len() && check == expected
}

/// Returns whether a US national provider identifier passes the Luhn test with its prefix 80840 (45 CFR
/// 162.406).
pub(super) fn npi(digits: &[u8]) -> bool {
    /// What the digits 80840 in front add to the sum.
    const PREFIX: u32 = 24;
    digits.len() == 10 && (luhn_sum(digits) + PREFIX).is_multiple_of(10)
}
