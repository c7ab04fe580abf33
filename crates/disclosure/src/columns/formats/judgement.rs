//! Decides from counters what a column is.

use super::ValueSuggestion;
use super::format::{Format, Meaning};
use super::statistics::{FIRST_YEAR, Statistics};
use crate::columns::suggestions::Category;
use std::time::{SystemTime, UNIX_EPOCH};

/// Log odds that a column has a given format, before its values are seen.
const PRIOR: f64 = -3.0;

/// Values beyond which more of them do not make a suggestion more certain.
const ENOUGH: f64 = 300.0;

/// Least confidence of a suggestion.
const LEAST: f64 = 0.5;

/// A format that the column may have.
struct Candidate {
    meaning: Meaning,
    share: f64,
    /// Information of one value against chance, in nats.
    information: f64,
}

/// Returns what the values suggest. The format wins whose values are the least likely by chance.
pub(super) fn suggestion(statistics: &Statistics, values: u64) -> Option<ValueSuggestion> {
    let units = statistics
        .distinct
        .estimate()
        .min(statistics.present as f64)
        .min(ENOUGH);
    let confidence = |candidate: &Candidate| {
        let odds = PRIOR + units * candidate.information;
        candidate.meaning.ceiling / (1.0 + (-odds).exp())
    };
    let candidates = Format::ALL
        .iter()
        .filter_map(|format| candidate(statistics, *format));
    let likely = candidates.filter(|candidate| confidence(candidate) >= LEAST);
    let best = likely.max_by(|a, b| a.information.total_cmp(&b.information))?;
    Some(ValueSuggestion {
        label: best.meaning.label,
        category: best.meaning.category,
        confidence: confidence(&best),
        evidence: evidence(statistics, &best, values),
    })
}

fn evidence(statistics: &Statistics, best: &Candidate, values: u64) -> String {
    let percent = match best.share {
        share if share > 0.99 && share < 1.0 => 99.0,
        share => (100.0 * share).round(),
    };
    let empty = values - statistics.present;
    let not_empty = if empty > 0 { " that are not empty" } else { "" };
    let plural = if statistics.present == 1 {
        "value"
    } else {
        "values"
    };
    let chance = match best.meaning.noun.contains("check") && best.meaning.by_chance >= 0.01 {
        true => format!(", {:.0} % would be by chance", 100.0 * best.meaning.by_chance),
        false => String::new(),
    };
    let count = with_separators(statistics.present);
    format!(
        "{percent:.0} % of {count} {plural}{not_empty} are {}{chance}",
        best.meaning.noun
    )
}

/// Returns a number with a comma between thousands.
fn with_separators(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn candidate(statistics: &Statistics, format: Format) -> Option<Candidate> {
    let meaning = format.meaning();
    let share = match is_possible(statistics, format) {
        // A value may count twice.
        true => observed(statistics, format).min(1.0),
        false => 0.0,
    };
    let information = information(share, meaning.by_chance);
    (share >= meaning.min_share && share > meaning.by_chance).then_some(Candidate {
        meaning,
        share,
        information,
    })
}

/// Returns the information of a value against chance (Kullback–Leibler divergence of two shares).
fn information(share: f64, by_chance: f64) -> f64 {
    let share = share.clamp(0.001, 0.99);
    share * (share / by_chance).ln() + (1.0 - share) * ((1.0 - share) / (1.0 - by_chance)).ln()
}

/// Formats of postcodes.
const POSTCODES: [Format; 8] = [
    Format::DutchPostcode,
    Format::CanadianPostcode,
    Format::BritishPostcode,
    Format::PortuguesePostcode,
    Format::BrazilianPostcode,
    Format::PolishPostcode,
    Format::ZipPlus4,
    Format::Digits5,
];

/// Returns the share of the values that count for a format.
fn observed(statistics: &Statistics, format: Format) -> f64 {
    let share = |format| statistics.share(format);
    match format {
        Format::Sex => share(Format::Sex).max(letters_for_sexes(statistics)),
        Format::BirthDate => share(Format::Date),
        Format::BirthYear => bare_years(statistics),
        Format::FutureDate => future_share(statistics) * share(Format::Date),
        Format::Age => small_share(statistics, 0, 115),
        Format::FivePostcode | Format::ZipPlus4 => share(Format::Digits5) + share(Format::ZipPlus4),
        Format::MixedPostcode => POSTCODES.iter().map(|format| share(*format)).sum(),
        Format::Phone => share(Format::Phone) + share(Format::InternationalPhone),
        Format::Religion => share(Format::WeakReligion),
        Format::Lab => share(Format::Lab) + share(Format::WeakLab),
        Format::Ethnicity => share(Format::WeakEthnicity),
        Format::Version => {
            share(Format::Version)
                + if is_ipv4(statistics) {
                    0.0
                } else {
                    share(Format::Ipv4)
                }
        }
        Format::LikeName => share(Format::NameShape),
        Format::PersonName => {
            share(Format::PersonName) + 0.5 * share(Format::SingleName).min(share(Format::SingleShape))
        }
        _ => share(format),
    }
}

/// Returns whether the other values of the column allow a format.
fn is_possible(statistics: &Statistics, format: Format) -> bool {
    let share = |format| statistics.share(format);
    let is_sequence = statistics.integers.is_sequence();
    match format {
        Format::Ipv4 => is_ipv4(statistics),
        Format::BarePhone => is_bare_phone(statistics),
        Format::Nhs => share(Format::Isbn10) <= share(Format::Nhs) * 1.02,
        Format::Isbn10 => share(Format::Isbn10) > share(Format::Nhs) * 1.02,
        Format::Ssn => share(Format::Ssn) >= 0.9 * share(Format::SsnShape),
        Format::Sex => share(Format::Sex) < 0.8 || statistics.men > 0 && statistics.women > 0,
        Format::BirthYear => is_birth_year(statistics),
        Format::BirthDate => is_birth_date(statistics),
        Format::FutureDate => future_share(statistics) > 0.97,
        Format::Age => is_age(statistics),
        Format::Coordinate => is_coordinate(statistics),
        Format::ZipPlus4 => share(Format::ZipPlus4) >= 0.02,
        Format::FivePostcode => is_five_postcode(statistics),
        Format::MixedPostcode => POSTCODES.iter().filter(|format| share(**format) >= 0.05).count() >= 2,
        Format::Icd10 => is_icd(statistics),
        Format::Lab => {
            share(Format::Lab) >= 0.15 || share(Format::WeakLab) >= 0.97 && !is_percentage(statistics)
        }
        Format::Religion => share(Format::Religion) >= 0.3,
        Format::Ethnicity => {
            share(Format::Ethnicity) >= 0.04 && share(Format::Ethnicity) >= share(Format::Nationality)
        }
        Format::PersonName => are_names(statistics),
        Format::SingleName => share(Format::SingleShape) >= 0.6,
        Format::Card | Format::Imei | Format::Npi | Format::Gtin => !is_sequence,
        Format::PersonText => share(Format::Text) >= 0.5 && share(Format::SurePersonText) >= 0.12,
        Format::ProductText => share(Format::Text) >= 0.5,
        Format::LikeName => share(Format::PersonName) >= 0.1 && statistics.distinct.estimate() >= 20.0,
        _ => true,
    }
}

fn letters_for_sexes(statistics: &Statistics) -> f64 {
    /// Letters for men, for women, and for others, in one of the languages.
    const ALPHABETS: [(&[u8], &[u8], &[u8]); 7] = [
        (b"m", b"f", b"xudon"),
        (b"m", b"w", b"dxu"),
        (b"m", b"v", b"xuo"),
        (b"h", b"f", b"xa"),
        (b"h", b"m", b"xo"),
        (b"m", b"k", b"x"),
        (b"v", b"m", b"x"),
    ];
    let count = |letters: &[u8]| -> u64 {
        letters
            .iter()
            .map(|letter| statistics.letters[usize::from(letter - b'a')])
            .sum()
    };
    let shares = ALPHABETS.iter().map(|(men, women, others)| {
        let both = count(men).min(count(women)) > 0;
        u64::from(both) * (count(men) + count(women) + count(others))
    });
    shares.max().unwrap_or(0) as f64 / statistics.present.max(1) as f64
}

fn is_ipv4(statistics: &Statistics) -> bool {
    let addresses = statistics.count_of(Format::Ipv4) as f64;
    let is_address = statistics.high_octets as f64 > 0.15 * addresses
        || statistics.private_octets as f64 >= 0.9 * addresses;
    is_address && statistics.count_of(Format::Version) as f64 <= 0.02 * addresses
}

/// Names of people: known names are frequent, or all of many different values are written like names.
fn are_names(statistics: &Statistics) -> bool {
    let share = |format| statistics.share(format);
    let names = share(Format::PersonName);
    let shape = (share(Format::NameShape) + share(Format::SingleShape)).max(names);
    let is_frequent = names >= 0.35 && shape >= 0.75;
    let is_varied =
        names >= 0.12 && share(Format::NameShape) >= 0.95 && statistics.distinct.estimate() >= 20.0;
    let few = statistics.present >= 30 && statistics.distinct.estimate() < 8.0 && names < 0.75;
    (is_frequent || is_varied) && names >= share(Format::SingleShape) && !few
}

/// Telephone numbers without separators: all begin with 0, or they do not come from a few ranges.
fn is_bare_phone(statistics: &Statistics) -> bool {
    let with_zero = (statistics.leading & 0b11_1111_1111).count_ones();
    let leading = statistics.leading.count_ones();
    let is_distinct = statistics.distinct.estimate() >= 0.3 * statistics.present as f64;
    (leading == with_zero || leading >= 3)
        && is_distinct
        && !statistics.integers.is_sequence()
        && statistics.share(Format::EpochLike) < 0.2
}

/// Postcodes of five digits: the smallest is 00010 in Rome, and they are spread over several regions.
fn is_five_postcode(statistics: &Statistics) -> bool {
    let spread = statistics.leading.count_ones();
    let regions = (0..10)
        .filter(|first| statistics.leading >> (10 * first) & 0x3ff != 0)
        .count();
    statistics.integers.min >= 10.0
        && !statistics.integers.is_sequence()
        && statistics.present >= 15
        && regions >= 3
        && f64::from(spread) >= (statistics.distinct.estimate() / 5.0).clamp(5.0, 8.0)
}

fn is_icd(statistics: &Statistics) -> bool {
    let codes = statistics.share(Format::Icd10);
    let common = statistics.share(Format::IcdCommon) / codes.max(0.01);
    let dotted = statistics.share(Format::IcdDotted) / codes.max(0.01);
    common >= 0.35 || dotted >= 0.3 && common >= 0.04
}

/// Percentages alone are no findings.
fn is_percentage(statistics: &Statistics) -> bool {
    statistics.share(Format::HasDigits) > 0.1
}

fn small_share(statistics: &Statistics, from: usize, to: usize) -> f64 {
    statistics.small[from..=to].iter().sum::<u64>() as f64 / statistics.present.max(1) as f64
}

/// Ages: many different whole numbers up to about a hundred, of which few are above 90, and none is frequent.
fn is_age(statistics: &Statistics) -> bool {
    let counts = &statistics.small;
    let total = counts.iter().sum::<u64>().max(1);
    let quantile = |share: f64| {
        let mut sum = 0;
        counts.iter().position(|count| {
            sum += count;
            sum as f64 >= share * total as f64
        })
    };
    let different = counts.iter().filter(|count| **count > 0).count();
    let largest = counts.iter().rposition(|count| *count > 0).unwrap_or(0);
    let most = counts.iter().copied().max().unwrap_or(0) as f64;
    let old: u64 = counts[91..].iter().sum();
    let spread = quantile(0.9)
        .unwrap_or(0)
        .saturating_sub(quantile(0.1).unwrap_or(0));
    let middle = quantile(0.5).unwrap_or(0);
    total >= 20
        && different >= 15
        && !statistics.integers.is_sequence()
        && (62..=112).contains(&largest)
        && (old as f64) <= 0.05 * total as f64
        && most <= (0.12 * total as f64).max(3.0)
        && counts[0] as f64 <= 0.05 * total as f64
        && (20..=76).contains(&spread)
        && (22..=70).contains(&middle)
}

fn is_coordinate(statistics: &Statistics) -> bool {
    let range = &statistics.decimals;
    if range.count < 10 || range.min < -180.0 || range.max > 180.0 || range.is_sequence() {
        return false;
    }
    let span = range.max - range.min;
    let nearest = match range.min < 0.0 && range.max > 0.0 {
        true => 0.0,
        false => range.min.abs().min(range.max.abs()),
    };
    let is_region = nearest >= 5.0 && span <= 60.0 && nearest >= 0.2 * span;
    let is_western = range.max < -0.3 && span <= 3.0;
    let is_world = statistics.negative * 20 > range.count && span >= 60.0;
    is_region || is_western || is_world
}

/// Returns the current year, by which dates of birth differ from dates in the future.
fn current_year() -> usize {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs());
    1970 + (seconds as f64 / 31_556_952.0) as usize
}

fn future_share(statistics: &Statistics) -> f64 {
    let after = (current_year() + 1 - usize::from(FIRST_YEAR)).min(statistics.years.len());
    let total: u64 = statistics.years.iter().sum();
    statistics.years[after..].iter().sum::<u64>() as f64 / total.max(1) as f64
}

fn bare_years(statistics: &Statistics) -> f64 {
    statistics.bare_years.iter().sum::<u64>() as f64 / statistics.present.max(1) as f64
}

/// Years of dates, and how many there are.
struct Years<'a> {
    counts: &'a [u64],
    total: u64,
}

impl Years<'_> {
    fn of(counts: &[u64]) -> Years<'_> {
        let total = counts.iter().sum();
        Years { counts, total }
    }

    /// Returns the year up to which there is a share of the dates.
    fn quantile(&self, share: f64) -> usize {
        let mut sum = 0;
        let place = self.counts.iter().position(|count| {
            sum += count;
            sum as f64 >= share * self.total as f64
        });
        place.map_or(0, |place| place + usize::from(FIRST_YEAR))
    }

    /// Returns whether the years are spread over decades, none of them in the future, and few of them recent.
    fn are_of_births(&self) -> bool {
        let now = current_year();
        self.total >= 10
            && self.quantile(0.02) >= 1895
            && self.quantile(0.995) <= now
            && self.quantile(0.9) - self.quantile(0.1) >= 18
            && self.quantile(0.5) + 14 <= now
            && self.quantile(0.85) + 3 <= now
    }
}

/// Dates of birth: without a time of day, and not all of them the first of a year.
fn is_birth_date(statistics: &Statistics) -> bool {
    let years = Years::of(&statistics.years);
    years.are_of_births()
        && !statistics.integers.is_sequence()
        && statistics.timed * 20 <= years.total
        && statistics.new_years * 3 <= years.total
}

/// Years of birth: of people most of whom are grown up, because other years are often recent.
fn is_birth_year(statistics: &Statistics) -> bool {
    let years = Years::of(&statistics.bare_years);
    years.are_of_births()
        && !statistics.integers.is_sequence()
        && (1930..=2000).contains(&years.quantile(0.5))
        && years.quantile(0.9) - years.quantile(0.1) >= 25
        && years.quantile(0.98) + 2 <= current_year()
}

/// Formats of software that no value about a person has.
const SOFTWARE: [Format; 9] = [
    Format::Version,
    Format::Colour,
    Format::Locale,
    Format::TimeZone,
    Format::Cron,
    Format::AssetUrl,
    Format::LogLine,
    Format::Currency,
    Format::Status,
];

/// Returns whether the values rule a category out.
pub(super) fn contradict(statistics: &Statistics, category: Category) -> bool {
    /// Values below which nothing is ruled out.
    const FEWEST: u64 = 20;
    /// Share that counts as none.
    const NONE: f64 = 0.02;
    if statistics.present < FEWEST {
        return false;
    }
    let share = |format| statistics.share(format);
    let sum = |formats: &[Format]| formats.iter().map(|format| share(*format)).sum::<f64>();
    let is_flag = share(Format::Flag) > 1.0 - NONE;
    let is_software = SOFTWARE.iter().any(|format| share(*format) > 0.97);
    let no_digits = share(Format::HasDigits) < NONE;
    let no_letters = share(Format::HasLetters) < NONE;
    let are_small = statistics.integers.max < 10_000.0 && share(Format::Integer) > 1.0 - NONE;
    let is_digest =
        share(Format::HexDigest) + share(Format::Uuid) + share(Format::ApiKey) + share(Format::PasswordHash)
            > 0.5;
    match category {
        Category::Email => share(Format::Email) + share(Format::PersonText) < NONE && !is_digest,
        Category::Phone | Category::Fax => no_digits && !is_digest || is_flag || are_small || is_software,
        Category::Ip => {
            sum(&[Format::Ipv4, Format::Ipv6]) < NONE && !is_digest
                || !is_ipv4(statistics) && share(Format::Version) > 0.5
        }
        Category::Url => {
            is_flag
                || are_small
                || share(Format::Date) > 1.0 - NONE
                || is_software && share(Format::AssetUrl) < 0.5
        }
        Category::Name => no_letters || is_flag || is_software,
        Category::Date => {
            let no_month = share(Format::Month) + share(Format::Date) < NONE;
            is_flag
                || no_digits && no_month
                || future_share(statistics) * share(Format::Date) > 1.0 - NONE
                || is_software
        }
        Category::Ssn => {
            let is_invalid = share(Format::SsnShape) > 0.9 && share(Format::Ssn) < NONE;
            no_digits && !is_digest || is_flag || are_small || is_software || is_invalid
        }
        Category::Account if share(Format::Gtin) > 0.97 => true,
        Category::Account | Category::Mrn | Category::HealthPlan | Category::Licence | Category::Device => {
            is_flag || is_software
        }
        Category::Vehicle | Category::Credential | Category::Photo | Category::Biometric => {
            is_flag || is_software
        }
        Category::Location => is_flag || is_software && share(Format::TimeZone) < 0.5,
        Category::Geographic => is_flag || is_software && sum(&[Format::TimeZone, Format::Locale]) < 0.5,
        Category::FreeText => {
            is_flag || no_letters || sum(&[Format::LogLine, Format::Cron, Format::Colour]) > 0.97
        }
        Category::Religion
        | Category::Ethnicity
        | Category::Politics
        | Category::Union
        | Category::SexLife => is_software,
        Category::Genetic | Category::Health => is_software,
        Category::Demographic => {
            sum(&[Format::Version, Format::Cron, Format::LogLine, Format::AssetUrl]) > 0.97
        }
        Category::OtherId
        | Category::Financial
        | Category::Technical
        | Category::Education
        | Category::Offence => false,
    }
}
