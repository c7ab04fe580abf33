//! The formats that values are compared with, and what a column of each is.

use super::super::suggestions::{Category, SuggestedLabel};

/// What a format says about a column whose values have it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meaning {
    pub(super) label: SuggestedLabel,
    pub(super) category: Category,
    /// Share of other values of a similar shape that have the format by chance.
    pub(super) by_chance: f64,
    /// Smallest share of the values that must have the format.
    pub(super) min_share: f64,
    /// Highest confidence that the format alone gives.
    pub(super) ceiling: f64,
    /// What the values are, in the plural.
    pub(super) noun: &'static str,
}

/// Set of formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Formats(u128);

impl Formats {
    pub(super) fn add(&mut self, format: Format) {
        self.0 |= 1 << format as u32;
    }

    pub(super) fn add_if(&mut self, format: Format, has_format: bool) {
        self.0 |= u128::from(has_format) << format as u32;
    }

    pub(super) fn add_all(&mut self, others: Formats) {
        self.0 |= others.0;
    }

    pub(super) fn has(self, format: Format) -> bool {
        self.0 >> format as u32 & 1 == 1
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl From<Format> for Formats {
    fn from(format: Format) -> Formats {
        Formats(1 << format as u32)
    }
}

impl Iterator for Formats {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let lowest = self.0.trailing_zeros();
        self.0 &= self.0.wrapping_sub(1);
        (lowest < u128::BITS).then_some(lowest as usize)
    }
}

macro_rules! formats {
    ($($format:ident: $label:ident, $category:ident, $by_chance:literal, $min_share:literal, $ceiling:literal, $noun:literal;)*) => {
        /// Format of a value.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Format {
            $($format,)*
        }

        impl Format {
            pub(super) const ALL: &[Format] = &[$(Format::$format,)*];

            /// Returns what the format says about a column.
            pub(super) fn meaning(self) -> Meaning {
                match self {
                    $(Format::$format => Meaning {
                        label: SuggestedLabel::$label,
                        category: Category::$category,
                        by_chance: $by_chance,
                        min_share: $min_share,
                        ceiling: $ceiling,
                        noun: $noun,
                    },)*
                }
            }
        }
    };
}

// Formats of which one value says as much as a whole column come first; a smaller share of them suffices.
formats! {
    Email: Identifier, Email, 0.0001, 0.2, 0.99, "e-mail addresses";
    InternationalPhone: Identifier, Phone, 0.002, 0.3, 0.97, "international telephone numbers";
    Phone: Identifier, Phone, 0.03, 0.7, 0.94, "telephone numbers as written in their country";
    BarePhone: Identifier, Phone, 0.5, 0.9, 0.85, "digits as in a national telephone number";
    Iban: Identifier, Account, 0.0005, 0.2, 0.99, "IBANs with right check digits";
    Card: Identifier, Account, 0.05, 0.5, 0.99, "card numbers with an issuer's prefix and right check digit";
    Ipv4: Identifier, Ip, 0.01, 0.7, 0.95, "IPv4 addresses";
    Ipv6: Identifier, Ip, 0.0001, 0.2, 0.97, "IPv6 addresses";
    Mac: Identifier, Device, 0.001, 0.7, 0.97, "MAC addresses";
    Imei: Identifier, Device, 0.1, 0.8, 0.9, "15 digits with a right check digit, as in an IMEI";
    Uuid: Identifier, OtherId, 0.0001, 0.7, 0.8, "UUIDs";
    PersonalUrl: Identifier, Url, 0.01, 0.4, 0.9, "web addresses of people's pages";
    Photo: Identifier, Photo, 0.005, 0.4, 0.93, "paths of pictures of people";
    Bsn: Identifier, Ssn, 0.1, 0.7, 0.95, "Dutch citizen service numbers with a right check digit";
    Nif: Identifier, Ssn, 0.1, 0.7, 0.95, "Portuguese tax numbers with a right check digit";
    Nhs: Identifier, HealthPlan, 0.1, 0.7, 0.95, "UK NHS numbers with a right check digit";
    Personnummer: Identifier, Ssn, 0.015, 0.6, 0.97, "Swedish personal identity numbers with a right check digit";
    Cpr: Identifier, Ssn, 0.015, 0.6, 0.96, "Danish CPR numbers with a right check digit";
    CprShape: Identifier, Ssn, 0.1, 0.9, 0.9, "dates with four more digits, as in a Danish CPR number";
    Pesel: Identifier, Ssn, 0.04, 0.6, 0.97, "Polish PESEL numbers with a right check digit";
    SteuerId: Identifier, Ssn, 0.015, 0.6, 0.98, "German tax ids with a right check digit";
    Oib: Identifier, Ssn, 0.1, 0.7, 0.93, "11 digits with a check digit by ISO 7064, as in tax ids";
    Cpf: Identifier, Ssn, 0.01, 0.4, 0.98, "Brazilian CPF numbers with right check digits";
    Fodselsnummer: Identifier, Ssn, 0.002, 0.4, 0.98, "Norwegian national ids with right check digits";
    Rijksregister: Identifier, Ssn, 0.004, 0.4, 0.98, "Belgian national register numbers with right check digits";
    Tckn: Identifier, Ssn, 0.01, 0.4, 0.97, "Turkish national ids with right check digits";
    Ahv: Identifier, Ssn, 0.0005, 0.4, 0.98, "Swiss AHV numbers with a right check digit";
    Ssn: Identifier, Ssn, 0.01, 0.7, 0.96, "US social security numbers of valid areas";
    Dni: Identifier, Ssn, 0.02, 0.4, 0.98, "Spanish DNI or NIE numbers with a right check letter";
    CodiceFiscale: Identifier, Ssn, 0.001, 0.3, 0.98, "Italian tax codes with a right check letter";
    Nir: Identifier, Ssn, 0.002, 0.3, 0.98, "French NIR numbers with a right key";
    Nino: Identifier, Ssn, 0.01, 0.5, 0.96, "UK national insurance numbers";
    Hetu: Identifier, Ssn, 0.001, 0.3, 0.98, "Finnish personal identity codes with a right check sign";
    Npi: Identifier, Licence, 0.1, 0.8, 0.96, "US national provider identifiers with a right check digit";
    DrivingLicence: Identifier, Licence, 0.005, 0.7, 0.93, "UK driving licence numbers";
    Vin: Identifier, Vehicle, 0.01, 0.7, 0.96, "vehicle identification numbers";
    Plate: Identifier, Vehicle, 0.3, 0.85, 0.88, "number plates";
    Street: Identifier, Geographic, 0.005, 0.6, 0.92, "street lines";
    BirthDate: Quasi, Date, 0.5, 0.8, 0.85, "dates spread over many years up to now, like dates of birth";
    BirthYear: Quasi, Date, 0.5, 0.9, 0.6, "years spread like years of birth";
    Age: Quasi, Demographic, 0.5, 0.8, 0.62, "whole numbers distributed like ages";
    Sex: Quasi, Demographic, 0.02, 0.85, 0.95, "words or letters for sexes";
    Marital: Quasi, Demographic, 0.01, 0.85, 0.93, "words for marital status";
    Nationality: Quasi, Demographic, 0.01, 0.8, 0.85, "words for nationalities";
    CoordinatePair: Quasi, Location, 0.002, 0.7, 0.93, "pairs of coordinates";
    Coordinate: Quasi, Location, 0.5, 0.9, 0.8, "decimals in the range of coordinates";
    ZipPlus4: Quasi, Geographic, 0.002, 0.05, 0.95, "US ZIP codes, some with four more digits";
    DutchPostcode: Quasi, Geographic, 0.05, 0.8, 0.93, "Dutch postcodes";
    CanadianPostcode: Quasi, Geographic, 0.01, 0.8, 0.95, "Canadian postcodes";
    BritishPostcode: Quasi, Geographic, 0.02, 0.7, 0.94, "UK postcodes";
    PortuguesePostcode: Quasi, Geographic, 0.03, 0.8, 0.75, "Portuguese postcodes";
    BrazilianPostcode: Quasi, Geographic, 0.03, 0.8, 0.9, "Brazilian postcodes";
    PolishPostcode: Quasi, Geographic, 0.03, 0.8, 0.8, "Polish postcodes";
    FivePostcode: Quasi, Geographic, 0.5, 0.95, 0.75, "five digits over the whole range of postcodes";
    MixedPostcode: Quasi, Geographic, 0.1, 0.9, 0.85, "postcodes of several countries";
    UserAgent: Quasi, Device, 0.0005, 0.3, 0.95, "user agents of browsers";
    Ethnicity: Quasi, Ethnicity, 0.01, 0.8, 0.93, "words for ethnic origins";
    Religion: Sensitive, Religion, 0.01, 0.8, 0.95, "words for religions";
    Icd10: Sensitive, Health, 0.1, 0.85, 0.9, "ICD-10 codes";
    Atc: Sensitive, Health, 0.03, 0.85, 0.8, "ATC codes of drugs";
    Drug: Sensitive, Health, 0.005, 0.5, 0.94, "drugs with doses";
    Lab: Sensitive, Health, 0.02, 0.6, 0.93, "findings with units of a laboratory";
    Diagnosis: Sensitive, Health, 0.01, 0.55, 0.88, "names of diseases";
    BloodGroup: Sensitive, Health, 0.02, 0.9, 0.9, "blood groups";
    Genotype: Sensitive, Genetic, 0.0005, 0.3, 0.96, "variants of genes";
    Jwt: Sensitive, Credential, 0.0001, 0.2, 0.97, "JSON web tokens";
    PasswordHash: Sensitive, Credential, 0.0001, 0.2, 0.98, "password hashes";
    PrivateKey: Sensitive, Credential, 0.0001, 0.2, 0.98, "private keys";
    ApiKey: Sensitive, Credential, 0.003, 0.5, 0.92, "keys or tokens of high entropy";
    PersonText: Sensitive, FreeText, 0.05, 0.4, 0.9, "texts with words about people";
    Login: Identifier, Account, 0.05, 0.4, 0.8, "login names made from names of people";
    PersonName: Identifier, Name, 0.07, 0.12, 0.95, "names of people";
    LikeName: Identifier, Name, 0.35, 0.97, 0.75, "words written like names of people, some of which are known";
    SingleName: Identifier, Name, 0.1, 0.35, 0.92, "given names or surnames";
    // What follows raises no alarm.
    Cnpj: Ignore, Technical, 0.01, 0.5, 0.9, "Brazilian numbers of firms with right check digits";
    Gtin: Ignore, Technical, 0.05, 0.7, 0.93, "article numbers with a right check digit";
    Isbn10: Ignore, Technical, 0.1, 0.7, 0.9, "ISBNs with a right check digit";
    Version: Ignore, Technical, 0.01, 0.6, 0.93, "version numbers";
    Colour: Ignore, Technical, 0.005, 0.7, 0.97, "colours";
    HexDigest: Ignore, Technical, 0.001, 0.7, 0.9, "digests in hexadecimal digits";
    Currency: Ignore, Technical, 0.02, 0.8, 0.93, "codes of currencies";
    Locale: Ignore, Technical, 0.01, 0.8, 0.93, "locales";
    TimeZone: Ignore, Technical, 0.005, 0.6, 0.93, "time zones";
    Cron: Ignore, Technical, 0.005, 0.6, 0.95, "cron expressions";
    HttpStatus: Ignore, Technical, 0.05, 0.95, 0.85, "status codes";
    AssetUrl: Ignore, Technical, 0.005, 0.6, 0.93, "addresses or paths of files";
    Url: Ignore, Technical, 0.005, 0.6, 0.6, "web addresses";
    FutureDate: Ignore, Technical, 0.5, 0.9, 0.7, "dates in the future";
    Flag: Ignore, Technical, 0.02, 0.97, 0.85, "flags";
    Status: Ignore, Technical, 0.02, 0.8, 0.88, "words for states of a process";
    LogLine: Ignore, Technical, 0.005, 0.5, 0.9, "lines of a log";
    ProductText: Ignore, Technical, 0.05, 0.6, 0.75, "descriptions with words about goods";
    Firm: Ignore, Technical, 0.005, 0.3, 0.8, "names of firms";
    // What follows is counted, but suggests nothing by itself.
    SsnShape: Ignore, Technical, 0.5, 2.0, 0.0, "numbers in the shape of a social security number";
    Date: Ignore, Technical, 0.5, 2.0, 0.0, "dates";
    NameShape: Ignore, Technical, 0.5, 2.0, 0.0, "words in the shape of a name";
    SingleShape: Ignore, Technical, 0.5, 2.0, 0.0, "single capitalised words";
    SurePersonText: Ignore, Technical, 0.5, 2.0, 0.0, "texts with words about people alone";
    Text: Ignore, Technical, 0.5, 2.0, 0.0, "texts";
    Digits5: Ignore, Technical, 0.5, 2.0, 0.0, "five digits";
    WeakLab: Ignore, Technical, 0.5, 2.0, 0.0, "findings in a word";
    WeakReligion: Ignore, Technical, 0.5, 2.0, 0.0, "words that occur in religions";
    WeakEthnicity: Ignore, Technical, 0.5, 2.0, 0.0, "words that occur in ethnic origins";
    VinChecked: Ignore, Technical, 0.5, 2.0, 0.0, "vehicle identification numbers with a check digit";
    IcdDotted: Ignore, Technical, 0.5, 2.0, 0.0, "ICD-10 codes of four characters or more";
    IcdCommon: Ignore, Technical, 0.5, 2.0, 0.0, "frequent ICD-10 codes";
    Integer: Ignore, Technical, 0.5, 2.0, 0.0, "whole numbers";
    HasLetters: Ignore, Technical, 0.5, 2.0, 0.0, "values with letters";
    HasDigits: Ignore, Technical, 0.5, 2.0, 0.0, "values with digits";
    Month: Ignore, Technical, 0.5, 2.0, 0.0, "names of months";
    EpochLike: Ignore, Technical, 0.5, 2.0, 0.0, "points in time as numbers";
}
