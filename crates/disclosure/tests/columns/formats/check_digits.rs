//! Check digits: published examples, and what a changed digit does.

use super::random::*;
use disclosure::columns::formats::FormatCounts;
use proptest::prelude::*;

/// Returns whether a value has a format whose description contains some words.
fn is(value: &str, words: &str) -> bool {
    let mut counts = FormatCounts::default();
    counts.count(value);
    counts.found().any(|(noun, _)| noun.contains(words))
}

#[test]
fn published_examples() {
    // Test numbers of the issuers; the registry of SWIFT; Wikipedia and the authorities for the rest.
    let examples = [
        (
            "card numbers",
            "4111111111111111|5555 5555 5555 4444|378282246310005|6011111111111117|30569309025904|3530111333300000",
        ),
        (
            "IBANs",
            "DE89 3704 0044 0532 0130 00|GB82WEST12345698765432|FR1420041010050500013M02606|NO9386011117947|be68539007547034",
        ),
        (
            "vehicle identification numbers with a check digit",
            "1M8GDM9AXKP042788|1HGCM82633A004352",
        ),
        ("national provider", "1234567893"),
        ("Dutch citizen", "111222333|123456782"),
        ("Portuguese tax", "123456789|501964843"),
        ("NHS", "943 476 5919|9434765919"),
        ("PESEL", "44051401359|02070803628"),
        ("Swedish", "811218-9876|19811218-9876|8112189876"),
        ("CPR numbers with a right", "070761-4285"),
        ("Norwegian", "01010750160|15076500565"),
        ("German tax", "86095742719|47036892816|86 095 742 719"),
        ("by ISO 7064", "69435151530"),
        ("CPF", "529.982.247-25|11144477735"),
        ("numbers of firms", "11.222.333/0001-81|11222333000181"),
        ("Belgian", "85.07.30-033.28|17073003384"),
        ("Turkish", "10000000146"),
        ("AHV", "756.9217.0769.85|7569217076985"),
        ("DNI or NIE", "12345678Z|X1234567L|12345678-z"),
        ("Italian tax", "RSSMRA85T10A562S|MRTMTT91D08F205J"),
        ("NIR", "255081416802538|2 55 08 14 168 025 38"),
        ("national insurance", "AB123456C|JG 10 37 59 A"),
        ("Finnish", "131052-308T"),
        ("social security numbers of valid", "078-05-1120|900-70-1234"),
        (
            "article numbers",
            "4006381333931|9780306406157|036000291452|96385074",
        ),
        ("ISBNs", "0306406152|080442957X|0-306-40615-2"),
        ("IMEI", "490154203237518"),
        ("driving licence", "MORGA657054SM9IJ"),
    ];
    for (words, values) in examples {
        for value in values.split('|') {
            assert!(is(value, words), "{value} is one of {words}");
        }
    }
}

#[test]
fn wrong_examples() {
    let examples = [
        (
            "card numbers",
            "4111111111111112|1234567812345670|411111111111111|0000000000000000",
        ),
        (
            "IBANs",
            "DE89 3704 0044 0532 0130 01|DE8937040044053201300|GB82WEST12345698765423|XX00",
        ),
        (
            "vehicle identification numbers with a check digit",
            "1M8GDM9A1KP042788|1M8GDM9AXKP04278O",
        ),
        ("national provider", "1234567890|3234567891"),
        ("Dutch citizen", "111222334|000000000"),
        ("Portuguese tax", "123456788|423456789"),
        ("NHS", "943 476 5918"),
        ("PESEL", "44051401358|44151401359"),
        ("Swedish", "811218-9875|811318-9874"),
        ("CPR numbers with a right", "070761-4286|079961-4285"),
        ("German tax", "86095742718|12345678903|06095742719"),
        ("CPF", "529.982.247-24|111.111.111-11"),
        ("Belgian", "85.07.30-033.29"),
        ("Turkish", "10000000147|00000000146"),
        ("AHV", "756.9217.0769.84"),
        ("DNI or NIE", "12345678A|X1234567Z|Y1234567L"),
        ("Italian tax", "RSSMRA85T10A562T|RSSMRA85Z10A562S"),
        ("NIR", "255081416802539|955081416802538"),
        ("national insurance", "DA123456A|BG123456A|QQ123456C|AB123456E"),
        ("Finnish", "131052-308U|139952-308T"),
        (
            "social security numbers of valid",
            "000-12-3456|666-12-3456|123-00-4567|123-45-0000|977-00-1355",
        ),
        ("article numbers", "4006381333930"),
        ("IMEI", "490154203237517"),
        ("driving licence", "MORGA677054SM9IJ"),
    ];
    for (words, values) in examples {
        for value in values.split('|') {
            assert!(!is(value, words), "{value} is none of {words}");
        }
    }
}

/// A format, how to make a value of it, and whether one changed digit and two swapped digits are always
/// found.
struct Checked {
    words: &'static str,
    make: fn(&mut Random) -> String,
    finds_changes: bool,
    finds_swaps: bool,
}

const CHECKED: [Checked; 18] = [
    Checked {
        words: "card numbers",
        make: |random| with_luhn(&random.fill("4##############")),
        finds_changes: true,
        finds_swaps: false,
    },
    Checked {
        words: "IBANs",
        make: |random| iban("DE", &random.digits(18)),
        finds_changes: true,
        finds_swaps: true,
    },
    Checked {
        words: "Dutch citizen",
        make: bsn,
        finds_changes: true,
        finds_swaps: true,
    },
    Checked {
        words: "Portuguese tax",
        make: nif,
        finds_changes: false,
        finds_swaps: false,
    },
    Checked {
        words: "NHS",
        make: nhs,
        finds_changes: true,
        finds_swaps: true,
    },
    Checked {
        words: "Norwegian",
        make: fodselsnummer,
        finds_changes: true,
        finds_swaps: true,
    },
    Checked {
        words: "CPR numbers with a right",
        make: cpr,
        finds_changes: true,
        finds_swaps: true,
    },
    Checked {
        words: "PESEL",
        make: pesel,
        finds_changes: true,
        finds_swaps: false,
    },
    Checked {
        words: "Belgian",
        make: rijksregister,
        finds_changes: false,
        finds_swaps: false,
    },
    Checked {
        words: "NIR",
        make: nir,
        finds_changes: true,
        finds_swaps: true,
    },
    Checked {
        words: "German tax",
        make: steuer_id,
        finds_changes: true,
        finds_swaps: false,
    },
    Checked {
        words: "Finnish",
        make: hetu,
        finds_changes: true,
        finds_swaps: true,
    },
    Checked {
        words: "DNI or NIE",
        make: dni,
        finds_changes: true,
        finds_swaps: true,
    },
    Checked {
        words: "Italian tax",
        make: codice_fiscale,
        finds_changes: true,
        finds_swaps: false,
    },
    Checked {
        words: "CPF",
        make: cpf,
        finds_changes: false,
        finds_swaps: false,
    },
    Checked {
        words: "national provider",
        make: npi,
        finds_changes: true,
        finds_swaps: false,
    },
    Checked {
        words: "with a check digit",
        make: vin,
        finds_changes: false,
        finds_swaps: false,
    },
    Checked {
        words: "article numbers",
        make: |random| with_gtin(&random.fill("40##########")),
        finds_changes: true,
        finds_swaps: false,
    },
];

proptest! {
    #![proptest_config(crate::tables::config(200))]

    #[test]
    fn right_numbers_pass_and_changed_ones_fail(seed: u64, place: prop::sample::Index, more in 1_u32..10) {
        let mut random = Random(seed);
        for checked in &CHECKED {
            let value = (checked.make)(&mut random);
            prop_assert!(is(&value, checked.words), "{} is one of {}", value, checked.words);
            let places: Vec<usize> = value.char_indices().filter(|(_, digit)| digit.is_ascii_digit()).map(|(place, _)| place).collect();
            let place = places[place.index(places.len())];
            let digit = value[place..=place].parse::<u32>().unwrap();
            let mut changed = value.clone();
            changed.replace_range(place..=place, &((digit + more) % 10).to_string());
            prop_assert!(!checked.finds_changes || !is(&changed, checked.words), "{} is none of {}", changed, checked.words);
            if let Some(next) = value[place + 1..].chars().next().and_then(|next| next.to_digit(10)).filter(|next| *next != digit) {
                let mut swapped = value.clone();
                swapped.replace_range(place..place + 2, &format!("{next}{digit}"));
                prop_assert!(!checked.finds_swaps || !is(&swapped, checked.words), "{} is none of {}", swapped, checked.words);
            }
        }
    }
}
