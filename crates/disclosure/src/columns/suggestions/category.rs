//! Categories of personal data.

use crate::figures::named_in;

/// What a column is about: the 18 identifiers of HIPAA's safe harbor (45 CFR 164.514(b)(2)), the special categories of
/// GDPR article 9, and a few more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// Names of people.
    Name,
    /// Addresses and regions.
    Geographic,
    /// Birth dates and other dates of a person.
    Date,
    /// Telephone numbers.
    Phone,
    /// Fax numbers.
    Fax,
    /// E-mail addresses.
    Email,
    /// National, tax and social security numbers.
    Ssn,
    /// Medical record numbers and keys of patients.
    Mrn,
    /// Numbers of health insurance.
    HealthPlan,
    /// Bank, card, member and login accounts.
    Account,
    /// Driving licences, professional licences and passports.
    Licence,
    /// Number plates and vehicle identification numbers.
    Vehicle,
    /// Serial numbers and identifiers of devices.
    Device,
    /// Web addresses.
    Url,
    /// Network addresses.
    Ip,
    /// Fingerprints and the like; also a special category of GDPR article 9.
    Biometric,
    /// Pictures of people.
    Photo,
    /// Any other identifying number or code.
    OtherId,
    /// Health.
    Health,
    /// Racial or ethnic origin.
    Ethnicity,
    /// Religious or philosophical beliefs.
    Religion,
    /// Political opinions.
    Politics,
    /// Trade union membership.
    Union,
    /// Genetic data.
    Genetic,
    /// Sex life and sexual orientation.
    SexLife,
    /// Sex, age, family, work, nationality, language.
    Demographic,
    /// Money.
    Financial,
    /// Coordinates, tracks and cells.
    Location,
    /// Passwords, hashes, secrets and tokens.
    Credential,
    /// Free text.
    FreeText,
    /// What concerns the software and no person.
    Technical,
    /// Grades and school careers.
    Education,
    /// Offences and convictions.
    Offence,
}

impl Category {
    /// The categories with their words in SQL.
    pub const WORDS: [(&str, Category); 33] = [
        ("name", Category::Name),
        ("geographic", Category::Geographic),
        ("date", Category::Date),
        ("phone", Category::Phone),
        ("fax", Category::Fax),
        ("email", Category::Email),
        ("ssn", Category::Ssn),
        ("mrn", Category::Mrn),
        ("health_plan", Category::HealthPlan),
        ("account", Category::Account),
        ("licence", Category::Licence),
        ("vehicle", Category::Vehicle),
        ("device", Category::Device),
        ("url", Category::Url),
        ("ip", Category::Ip),
        ("biometric", Category::Biometric),
        ("photo", Category::Photo),
        ("other_id", Category::OtherId),
        ("health", Category::Health),
        ("ethnicity", Category::Ethnicity),
        ("religion", Category::Religion),
        ("politics", Category::Politics),
        ("union", Category::Union),
        ("genetic", Category::Genetic),
        ("sex_life", Category::SexLife),
        ("demographic", Category::Demographic),
        ("financial", Category::Financial),
        ("location", Category::Location),
        ("credential", Category::Credential),
        ("free_text", Category::FreeText),
        ("technical", Category::Technical),
        ("education", Category::Education),
        ("offence", Category::Offence),
    ];

    /// Returns what a word in SQL stands for.
    pub fn named(word: &str) -> Option<Self> {
        named_in(&Self::WORDS, word)
    }

    /// Returns the word in SQL.
    pub fn name(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}
