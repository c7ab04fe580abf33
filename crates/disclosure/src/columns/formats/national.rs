//! National ids of people and their check digits. Each function names its source; digits are numbers from 0
//! to 9.

use super::check_digits::{gtin, luhn, mod_11_10, weighted};
use super::format::{Format, Formats};

/// Returns the formats of national ids that digits alone have.
pub(super) fn of_digits(digits: &[u8]) -> Formats {
    let mut formats = Formats::default();
    if let Ok(digits) = <&[u8; 9]>::try_from(digits) {
        formats.add_if(Format::Bsn, is_bsn(digits));
        formats.add_if(Format::Nif, is_nif(digits));
    } else if let Ok(digits) = <&[u8; 10]>::try_from(digits) {
        formats.add_if(Format::Nhs, is_nhs(digits));
        formats.add_if(Format::Personnummer, is_personnummer(digits));
        formats.add_if(Format::Cpr, is_cpr(digits));
    } else if let Ok(digits) = <&[u8; 11]>::try_from(digits) {
        formats.add_if(Format::Pesel, is_pesel(digits));
        formats.add_if(Format::SteuerId, is_steuer_id(digits));
        formats.add_if(Format::Oib, mod_11_10(digits));
        formats.add_if(Format::Cpf, is_cpf(digits));
        formats.add_if(Format::Fodselsnummer, is_fodselsnummer(digits));
        formats.add_if(Format::Rijksregister, is_rijksregister(digits));
        formats.add_if(Format::Tckn, is_tckn(digits));
    } else if let [1, 8 | 9, rest @ ..] | [2, 0, rest @ ..] = digits
        && let Ok(rest) = <&[u8; 10]>::try_from(rest)
    {
        formats.add_if(Format::Personnummer, is_personnummer(rest));
    } else if let Ok(digits) = <&[u8; 13]>::try_from(digits) {
        formats.add_if(Format::Ahv, is_ahv(digits));
    } else if let Ok(digits) = <&[u8; 14]>::try_from(digits) {
        formats.add_if(Format::Cnpj, is_cnpj(digits));
    }
    formats
}

fn number(digits: &[u8]) -> u64 {
    digits
        .iter()
        .fold(0, |number, &digit| number * 10 + u64::from(digit))
}

fn pair(digits: &[u8], from: usize) -> u8 {
    digits[from] * 10 + digits[from + 1]
}

fn is_day_of_month(day: u8, month: u8) -> bool {
    (1..=12).contains(&month) && (1..=31).contains(&day)
}

fn is_all_the_same(digits: &[u8]) -> bool {
    digits.iter().all(|digit| *digit == digits[0])
}

/// Dutch burgerservicenummer: the eleven test with weight −1 for the last digit (Logisch ontwerp BSN).
pub(super) fn is_bsn(digits: &[u8; 9]) -> bool {
    weighted(digits, &[9, 8, 7, 6, 5, 4, 3, 2, 10]).is_multiple_of(11) && !is_all_the_same(digits)
}

/// Portuguese NIF (Decreto-Lei 14/2013): mod 11, where 10 and 11 become 0.
pub(super) fn is_nif(digits: &[u8; 9]) -> bool {
    let check = 11 - weighted(digits, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    matches!(digits[0], 1..=3 | 5 | 6 | 8 | 9) && u32::from(digits[8]) == if check >= 10 { 0 } else { check }
}

/// UK NHS number (NHS Data Dictionary): mod 11, where 10 is not used.
pub(super) fn is_nhs(digits: &[u8; 10]) -> bool {
    weighted(digits, &[10, 9, 8, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11) && !is_all_the_same(digits)
}

/// Swedish personnummer or samordningsnummer (Skatteverket, SKV 704): date, Luhn.
pub(super) fn is_personnummer(digits: &[u8; 10]) -> bool {
    let day = pair(digits, 4);
    is_day_of_month(if day > 60 { day - 60 } else { day }, pair(digits, 2)) && luhn(digits)
}

/// Danish CPR number (CPR-kontoret): date, and mod 11, which numbers given out since 2007 need not pass.
pub(super) fn is_cpr(digits: &[u8; 10]) -> bool {
    has_cpr_date(digits) && weighted(digits, &[4, 3, 2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11)
}

/// Returns whether ten digits begin with a date as in a Danish CPR number.
pub(super) fn has_cpr_date(digits: &[u8; 10]) -> bool {
    is_day_of_month(pair(digits, 0), pair(digits, 2))
}

/// Polish PESEL (ustawa o ewidencji ludności): date with the century in the month, mod 10.
pub(super) fn is_pesel(digits: &[u8; 11]) -> bool {
    is_day_of_month(pair(digits, 4), pair(digits, 2) % 20)
        && weighted(digits, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]).is_multiple_of(10)
}

/// German tax id (§ 139b AO): ISO 7064 mod 11,10; one of the first ten digits occurs two or three times.
pub(super) fn is_steuer_id(digits: &[u8; 11]) -> bool {
    let mut counts = [0; 10];
    digits[..10]
        .iter()
        .for_each(|&digit| counts[usize::from(digit)] += 1);
    let repeated = counts.iter().filter(|&&count| count > 1).count();
    digits[0] != 0 && repeated == 1 && counts.iter().all(|&count| count <= 3) && mod_11_10(digits)
}

/// Brazilian CPF (Receita Federal): two check digits mod 11.
pub(super) fn is_cpf(digits: &[u8; 11]) -> bool {
    let first = weighted(digits, &[10, 9, 8, 7, 6, 5, 4, 3, 2]);
    let second = weighted(digits, &[11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    brazilian(&digits[9..], first, second) && !is_all_the_same(digits)
}

/// Brazilian CNPJ, the number of a firm (Receita Federal): two check digits mod 11.
pub(super) fn is_cnpj(digits: &[u8; 14]) -> bool {
    let first = weighted(digits, &[5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]);
    let second = weighted(digits, &[6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]);
    brazilian(&digits[12..], first, second) && !is_all_the_same(digits)
}

fn brazilian(checks: &[u8], first: u32, second: u32) -> bool {
    let check = |sum: u32| sum * 10 % 11 % 10;
    [check(first), check(second)] == [u32::from(checks[0]), u32::from(checks[1])]
}

/// Norwegian fødselsnummer or D-nummer (Skatteetaten): date, two check digits mod 11.
pub(super) fn is_fodselsnummer(digits: &[u8; 11]) -> bool {
    let day = pair(digits, 0);
    is_day_of_month(if day > 40 { day - 40 } else { day }, pair(digits, 2))
        && weighted(digits, &[3, 7, 6, 1, 8, 9, 4, 5, 2, 1]).is_multiple_of(11)
        && weighted(digits, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11)
}

/// Belgian national register number (arrêté royal of 3 April 1984): 97 minus the remainder; a 2 is put in
/// front for births since 2000. Months of people without a known date are higher by 20 or 40.
pub(super) fn is_rijksregister(digits: &[u8; 11]) -> bool {
    let check = number(&digits[9..]);
    let passes = |body: u64| 97 - body % 97 == check;
    pair(digits, 2) % 20 <= 12
        && pair(digits, 4) <= 31
        && (passes(number(&digits[..9])) || passes(2_000_000_000 + number(&digits[..9])))
}

/// Turkish TC kimlik numarası (Nüfus ve Vatandaşlık İşleri): two check digits mod 10.
pub(super) fn is_tckn(digits: &[u8; 11]) -> bool {
    let odd: u32 = digits[..9].iter().step_by(2).copied().map(u32::from).sum();
    let even: u32 = digits[1..8].iter().step_by(2).copied().map(u32::from).sum();
    let tenth = (odd * 7 + 10 * 9 - even) % 10;
    digits[0] != 0 && tenth == u32::from(digits[9]) && (odd + even + tenth) % 10 == u32::from(digits[10])
}

/// Swiss AHV number (AHVV art. 133): EAN-13 with prefix 756.
pub(super) fn is_ahv(digits: &[u8; 13]) -> bool {
    digits.starts_with(&[7, 5, 6]) && gtin(digits)
}

/// US social security or taxpayer number (SSA POMS RM 10201.035; IRS for those that begin with 9).
pub(super) fn is_ssn(digits: &[u8; 9]) -> bool {
    let (area, group, serial) = (number(&digits[..3]), number(&digits[3..5]), number(&digits[5..]));
    match area {
        0 | 666 => false,
        900.. => matches!(group, 50..=65 | 70..=88 | 90..=92 | 94..=99),
        _ => group != 0 && serial != 0,
    }
}

/// Spanish DNI or NIE in upper case without separators (Real Decreto 1553/2005): the letter is the number
/// mod 23.
pub(super) fn is_dni(text: &[u8]) -> bool {
    const LETTERS: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";
    let Ok([first, middle @ .., letter]) = <&[u8; 9]>::try_from(text) else {
        return false;
    };
    let first = match first {
        b'0'..=b'9' => first - b'0',
        b'X'..=b'Z' => first - b'X',
        _ => return false,
    };
    let number = middle.iter().try_fold(u32::from(first), |number, byte| {
        byte.is_ascii_digit()
            .then(|| number * 10 + u32::from(byte - b'0'))
    });
    number.is_some_and(|number| LETTERS[(number % 23) as usize] == *letter)
}

/// Italian codice fiscale in upper case (Decreto ministeriale 23 December 1976). Digits may be replaced by
/// letters if two people had the same code.
pub(super) fn is_codice_fiscale(text: &[u8]) -> bool {
    const ODD: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
    ];
    const NUMERIC: [usize; 7] = [6, 7, 9, 10, 12, 13, 14];
    if text.len() != 16 || !text[..6].iter().all(u8::is_ascii_uppercase) || !text[15].is_ascii_uppercase() {
        return false;
    }
    if !NUMERIC
        .iter()
        .all(|&place| matches!(text[place], b'0'..=b'9' | b'L'..=b'N' | b'P'..=b'V'))
        || !b"ABCDEHLMPRST".contains(&text[8])
        || !text[11].is_ascii_uppercase()
    {
        return false;
    }
    let value = |byte: u8| {
        usize::from(if byte.is_ascii_digit() {
            byte - b'0'
        } else {
            byte - b'A'
        })
    };
    let sum: u32 = (0..15)
        .map(|place| match place % 2 {
            0 => ODD[value(text[place])],
            _ => value(text[place]) as u32,
        })
        .sum();
    sum % 26 == u32::from(text[15] - b'A')
}

/// French NIR with its key, in upper case without spaces (INSEE): 97 minus the remainder; 2A and 2B of
/// Corsica count as 19 and 18.
pub(super) fn is_nir(text: &[u8]) -> bool {
    if text.len() != 15 {
        return false;
    }
    let mut digits = [0; 15];
    for (place, (digit, &byte)) in digits.iter_mut().zip(text).enumerate() {
        *digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'A' if place == 6 => 9,
            b'B' if place == 6 => 8,
            _ => return false,
        };
    }
    if !text[6].is_ascii_digit() {
        if text[5] != b'2' {
            return false;
        }
        digits[5] = 1;
    }
    matches!(digits[0], 1..=4 | 7 | 8)
        && matches!(pair(&digits, 3), 1..=12 | 20..=42 | 50..=99)
        && 97 - number(&digits[..13]) % 97 == number(&digits[13..])
}

/// UK national insurance number in upper case without spaces (HMRC NIM39110).
pub(super) fn is_nino(text: &[u8]) -> bool {
    let &[first, second, ref digits @ .., suffix] = text else {
        return false;
    };
    let is_letter = |byte: u8, without: &[u8]| byte.is_ascii_uppercase() && !without.contains(&byte);
    text.len() == 9
        && is_letter(first, b"DFIQUV")
        && is_letter(second, b"DFIOQUV")
        && !matches!(&text[..2], b"BG" | b"GB" | b"NK" | b"KN" | b"TN" | b"NT" | b"ZZ")
        && digits.iter().all(u8::is_ascii_digit)
        && matches!(suffix, b'A'..=b'D')
}

/// Finnish henkilötunnus in upper case (Digi- ja väestötietovirasto): date, sign of the century, mod 31.
pub(super) fn is_hetu(text: &[u8]) -> bool {
    const SIGNS: &[u8; 31] = b"0123456789ABCDEFHJKLMNPRSTUVWXY";
    if text.len() != 11 || !matches!(text[6], b'-' | b'+' | b'A'..=b'F' | b'U'..=b'Y') {
        return false;
    }
    let mut digits = [0; 9];
    for (digit, &byte) in digits.iter_mut().zip(text[..6].iter().chain(&text[7..10])) {
        if !byte.is_ascii_digit() {
            return false;
        }
        *digit = byte - b'0';
    }
    is_day_of_month(pair(&digits, 0), pair(&digits, 2)) && SIGNS[(number(&digits) % 31) as usize] == text[10]
}
