//! Random values and numbers with check digits, made by their definitions.

/// A seeded generator (SplitMix64).
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    /// Returns a number from `from` to `to`.
    pub fn number(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to - from + 1)
    }

    pub fn share(&mut self) -> f64 {
        self.next() as f64 / u64::MAX as f64
    }

    pub fn pick<'a>(&mut self, words: &'a str) -> &'a str {
        let words: Vec<&str> = words.split('|').collect();
        words[self.number(0, words.len() as u64 - 1) as usize]
    }

    pub fn digits(&mut self, count: usize) -> String {
        self.of("0123456789", count)
    }

    pub fn of(&mut self, alphabet: &str, count: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..count)
            .map(|_| letters[self.number(0, letters.len() as u64 - 1) as usize])
            .collect()
    }

    pub fn letters(&mut self, count: usize) -> String {
        self.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ", count)
    }

    pub fn hex(&mut self, count: usize) -> String {
        self.of("0123456789abcdef", count)
    }

    pub fn base62(&mut self, count: usize) -> String {
        self.of(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            count,
        )
    }

    /// Fills a pattern: `#` is a digit, `%` a digit from 1 to 9, `@` a capital, `?` a hexadecimal digit.
    pub fn fill(&mut self, pattern: &str) -> String {
        let fill = |character| match character {
            '#' => self.of("0123456789", 1),
            '%' => self.of("123456789", 1),
            '@' => self.letters(1),
            '?' => self.hex(1),
            other => other.to_string(),
        };
        pattern.chars().map(fill).collect()
    }

    /// Returns day and month.
    pub fn day(&mut self) -> (u64, u64) {
        (self.number(1, 28), self.number(1, 12))
    }

    /// Returns a year of birth.
    pub fn birth_year(&mut self) -> u64 {
        1925 + (self.number(0, 48) + self.number(0, 48))
    }
}

pub fn digits_of(text: &str) -> Vec<u64> {
    text.chars()
        .filter_map(|digit| digit.to_digit(10))
        .map(u64::from)
        .collect()
}

pub fn weighted(text: &str, weights: &[u64]) -> u64 {
    digits_of(text)
        .iter()
        .zip(weights)
        .map(|(digit, weight)| digit * weight)
        .sum()
}

/// Adds the digit with which the number passes the Luhn test.
pub fn with_luhn(body: &str) -> String {
    let passes = |number: &str| {
        let doubled = digits_of(number)
            .into_iter()
            .rev()
            .enumerate()
            .map(|(place, digit)| match place % 2 {
                0 => digit,
                _ => (2 * digit) / 10 + (2 * digit) % 10,
            });
        doubled.sum::<u64>() % 10 == 0
    };
    (0..10)
        .map(|check| format!("{body}{check}"))
        .find(|number| passes(number))
        .expect("one digit passes")
}

/// Returns an IBAN: 98 minus the remainder of the account followed by the country and 00.
pub fn iban(country: &str, account: &str) -> String {
    let text = format!("{account}{country}00");
    let remainder = text.chars().fold(0_u64, |sum, letter| {
        let value = u64::from(letter.to_digit(36).expect("letters and digits"));
        (sum * if value > 9 { 100 } else { 10 } + value) % 97
    });
    format!("{country}{:02}{account}", 98 - remainder)
}

pub fn with_gtin(body: &str) -> String {
    let sum: u64 = digits_of(body)
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| digit * if place % 2 == 0 { 3 } else { 1 })
        .sum();
    format!("{body}{}", (10 - sum % 10) % 10)
}

pub fn cpf(random: &mut Random) -> String {
    let body = random.digits(9);
    let check = |text: &str| {
        let weights: Vec<u64> = (2..=text.len() as u64 + 1).rev().collect();
        match weighted(text, &weights) % 11 {
            0 | 1 => 0,
            rest => 11 - rest,
        }
    };
    let body = format!("{body}{}", check(&body));
    format!("{body}{}", check(&body))
}

/// Repeats until a number can have check digits.
pub fn until(mut make: impl FnMut() -> Option<String>) -> String {
    loop {
        if let Some(text) = make() {
            return text;
        }
    }
}

pub fn bsn(random: &mut Random) -> String {
    until(|| {
        let body = random.fill("%#######");
        let check = weighted(&body, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
        (check < 10).then(|| format!("{body}{check}"))
    })
}

pub fn nif(random: &mut Random) -> String {
    let body = format!("{}{}", random.pick("1|2|3"), random.digits(7));
    let rest = weighted(&body, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    format!("{body}{}", if rest < 2 { 0 } else { 11 - rest })
}

pub fn nhs(random: &mut Random) -> String {
    until(|| {
        let body = format!("{}{}", random.pick("4|6|7"), random.digits(8));
        let check = 11 - weighted(&body, &[10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11;
        (check != 10).then(|| format!("{body}{}", check % 11))
    })
}

pub fn fodselsnummer(random: &mut Random) -> String {
    until(|| {
        let (day, month) = random.day();
        let body = format!(
            "{day:02}{month:02}{:02}{}",
            random.birth_year() % 100,
            random.digits(3)
        );
        let first = (11 - weighted(&body, &[3, 7, 6, 1, 8, 9, 4, 5, 2]) % 11) % 11;
        let with_first = format!("{body}{first}");
        let second = (11 - weighted(&with_first, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11) % 11;
        (first < 10 && second < 10).then(|| format!("{with_first}{second}"))
    })
}

pub fn cpr(random: &mut Random) -> String {
    until(|| {
        let (day, month) = random.day();
        let body = format!(
            "{day:02}{month:02}{:02}{}",
            random.birth_year() % 100,
            random.digits(3)
        );
        let check = (11 - weighted(&body, &[4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11) % 11;
        (check < 10).then(|| format!("{}-{}{check}", &body[..6], &body[6..]))
    })
}

pub fn pesel(random: &mut Random) -> String {
    let (day, month) = random.day();
    let body = format!(
        "{:02}{month:02}{day:02}{}",
        random.number(30, 99),
        random.digits(4)
    );
    let sum = weighted(&body, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]);
    format!("{body}{}", (10 - sum % 10) % 10)
}

pub fn rijksregister(random: &mut Random) -> String {
    let (day, month) = random.day();
    let body = format!(
        "{:02}{month:02}{day:02}{}",
        random.number(30, 99),
        random.digits(3)
    );
    let check = 97 - body.parse::<u64>().expect("digits") % 97;
    format!(
        "{}.{}.{}-{}.{check:02}",
        &body[..2],
        &body[2..4],
        &body[4..6],
        &body[6..]
    )
}

pub fn nir(random: &mut Random) -> String {
    let body = format!(
        "{}{:02}{:02}{:02}{}",
        random.number(1, 2),
        random.number(30, 99),
        random.day().1,
        random.number(1, 95),
        random.digits(6)
    );
    let key = 97 - body.parse::<u64>().expect("digits") % 97;
    let body = &body;
    format!(
        "{} {} {} {} {} {} {key:02}",
        &body[..1],
        &body[1..3],
        &body[3..5],
        &body[5..7],
        &body[7..10],
        &body[10..]
    )
}

pub fn steuer_id(random: &mut Random) -> String {
    until(|| {
        let body = random.fill("%#########");
        let mut counts = [0; 10];
        digits_of(&body)
            .iter()
            .for_each(|digit| counts[*digit as usize] += 1);
        counts.sort_unstable();
        let is_valid = matches!(counts, [0, 1, .., 1, 2] | [0, 0, 1, .., 1, 3]);
        let product = digits_of(&body)
            .iter()
            .fold(10, |product, digit| match (digit + product) % 10 {
                0 => 20 % 11,
                sum => sum * 2 % 11,
            });
        is_valid.then(|| format!("{body}{}", (11 - product) % 10))
    })
}

pub fn hetu(random: &mut Random) -> String {
    let (day, month) = random.day();
    let [date, serial] = [
        format!("{day:02}{month:02}{:02}", random.number(30, 99)),
        format!("{:03}", random.number(2, 899)),
    ];
    let number: usize = format!("{date}{serial}").parse().expect("digits");
    let sign = "0123456789ABCDEFHJKLMNPRSTUVWXY".as_bytes()[number % 31] as char;
    format!("{date}-{serial}{sign}")
}

pub fn dni(random: &mut Random) -> String {
    let number = random.number(1_000_000, 99_999_999);
    format!(
        "{number:08}{}",
        "TRWAGMYFPDXBNJZSQVHLCKE".as_bytes()[number as usize % 23] as char
    )
}

pub fn codice_fiscale(random: &mut Random) -> String {
    // The table of the decree for odd places, by digit and by letter.
    const ODD: [u64; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
    ];
    let body = format!(
        "{}{:02}{}{:02}{}{}",
        random.of("BCDFGLMNPRSTVZ", 6),
        random.number(0, 99),
        random.of("ABCDEHLMPRST", 1),
        random.number(1, 28) + 40 * random.number(0, 1),
        random.of("ABCDEFGHIL", 1),
        random.digits(3)
    );
    let value = |letter: char| u64::from(letter.to_digit(10).unwrap_or_else(|| letter as u32 - 'A' as u32));
    let sum: u64 = body
        .chars()
        .enumerate()
        .map(|(place, letter)| match place % 2 {
            0 => ODD[value(letter) as usize],
            _ => value(letter),
        })
        .sum();
    format!("{body}{}", (b'A' + (sum % 26) as u8) as char)
}

pub fn npi(random: &mut Random) -> String {
    with_luhn(&format!("80840{}{}", random.pick("1|2"), random.digits(8)))[5..].to_string()
}

pub fn vin(random: &mut Random) -> String {
    let value = |letter: char| match letter {
        '0'..='9' => letter as u64 - '0' as u64,
        _ => [
            1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4, 5, 0, 7, 0, 9, 2, 3, 4, 5, 6, 7, 8, 9,
        ][letter as usize - 'A' as usize],
    };
    let start = format!(
        "{}{}",
        random.pick("1FT|2HG|3VW|5YJ|JTD|1GC"),
        random.of("ABCDEFGHJKLMNPRSTUVWXYZ0123456789", 5)
    );
    let end = format!(
        "{}{}",
        random.of("ABCDEFGHJKLMNPRSTVWXY123456789", 2),
        random.digits(6)
    );
    let weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
    let sum: u64 = format!("{start}0{end}")
        .chars()
        .zip(weights)
        .map(|(letter, weight)| value(letter) * weight)
        .sum();
    let check = match sum % 11 {
        10 => 'X',
        rest => (b'0' + rest as u8) as char,
    };
    format!("{start}{check}{end}")
}
