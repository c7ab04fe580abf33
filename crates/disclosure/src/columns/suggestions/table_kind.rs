//! What the rows of a table are, from the names of the table and its columns.

use super::dictionary::Dictionary;
use super::reading::{Best, KeyWord, Languages, Reading, is_noun_first, main_languages, names_person};
use super::{Category, SuggestedLabel, TableFacts, Term};

/// What a row of a table stands for, or what a key refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum TableKind {
    /// A person whom the data is about: patient, member, customer, user, student.
    Person,
    /// A person who is usually the second one in a row: doctor, teacher, seller, cashier, author.
    Second,
    /// A household or family.
    Household,
    /// An event of persons: visit, order, payment, login, message.
    Event,
    /// An organisation or a part of it: company, school, hospital, department, store.
    Organisation,
    /// A thing that is no person: product, film, course, file.
    Thing,
    /// A list of codes: country, type, status, category.
    List,
    /// Settings of the software: option, template, permission, cache.
    Setting,
    /// Figures about many persons: frequency, total, statistics.
    Aggregate,
}

impl TableKind {
    /// The kinds with their words in the term files.
    pub(super) const WORDS: [(&str, TableKind); 9] = [
        ("person", TableKind::Person),
        ("second", TableKind::Second),
        ("household", TableKind::Household),
        ("event", TableKind::Event),
        ("organisation", TableKind::Organisation),
        ("thing", TableKind::Thing),
        ("list", TableKind::List),
        ("setting", TableKind::Setting),
        ("aggregate", TableKind::Aggregate),
    ];

    /// Returns whether it is a person.
    pub(super) fn is_person(self) -> bool {
        matches!(self, TableKind::Person | TableKind::Second)
    }

    /// Returns how to speak of a table of this kind.
    pub(super) fn describe(self) -> &'static str {
        match self {
            TableKind::Person | TableKind::Second => "the table is about persons",
            TableKind::Household => "the table is about households",
            TableKind::Event => "the table is about events of persons",
            TableKind::Organisation => "the table is about organisations",
            TableKind::Thing => "the table is about things",
            TableKind::List => "the table is a list of codes",
            TableKind::Setting => "the table is about settings of the software",
            TableKind::Aggregate => "the table has figures about many persons",
        }
    }
}

/// What is known about a table as a whole.
#[derive(Debug, Clone)]
pub(super) struct Context {
    /// What its rows are, if that is known.
    pub(super) kind: Option<TableKind>,
    /// How much speaks for data about persons, as the logarithm of odds.
    pub(super) people: f64,
    /// Whether nouns come first in the language of its names.
    pub(super) is_noun_first: bool,
    /// Whether a column is a key of the table.
    pub(super) has_key: bool,
    /// Whether columns name persons.
    pub(super) has_names: bool,
    /// Whether a column by itself is the primary key.
    pub(super) has_primary_key: bool,
    /// Number of columns that are keys of a person.
    pub(super) person_keys: usize,
    /// Number of columns that are keys of something unknown.
    pub(super) unknown_keys: usize,
    /// Label and category that most other columns have, if most have the same, with their share.
    pub(super) neighbours: Option<(SuggestedLabel, Category, f64)>,
    /// Whether it looks like a sample of persons without their names, as surveys publish.
    pub(super) is_sample: bool,
    /// Languages of its names, the most frequent first.
    pub(super) languages: Vec<String>,
    /// Words of the table's name.
    pub(super) words: Vec<String>,
}

impl Context {
    /// Judges a table from its name and from the best term of each column.
    pub(super) fn new(
        table: &TableFacts,
        readings: &[Reading],
        best: &[Option<Best<'_>>],
        languages: &Languages,
        dictionary: &Dictionary,
    ) -> Context {
        let words = dictionary.split(&table.name);
        let main = main_languages(languages);
        let all: Vec<String> = main.iter().chain(&dictionary.languages).cloned().collect();
        let named = kind_of_name(&words, &all, dictionary);
        // Rounded, so that the order of the columns does not matter.
        let sum = |weight: fn(&Best<'_>) -> f64| {
            (best.iter().flatten().map(weight).sum::<f64>() * 1000.0).round() / 1000.0
        };
        let (personal, own) = (sum(personal_weight), sum(own_weight));
        let is_noun_first = is_noun_first(languages);
        let targets =
            readings
                .iter()
                .zip(&table.columns)
                .zip(best)
                .filter_map(|((reading, column), best)| {
                    let target = key_target(reading, &column.references, is_noun_first, &main, dictionary);
                    let is_audit = best
                        .as_ref()
                        .is_some_and(|best| best.term.label == SuggestedLabel::Ignore);
                    let is_key = reading.key_word() == KeyWord::Key || column.references.is_some();
                    target.filter(|kind| kind.is_person() && is_key && !is_audit)
                });
        let targets: Vec<TableKind> = targets.collect();
        let is_unknown = |(reading, best): &(&Reading, &Option<Best<'_>>)| {
            reading.key_word() == KeyWord::Key
                && best.is_none()
                && reading.nouns.is_empty()
                && !is_own_key(reading, &words)
        };
        let unknown_keys = readings.iter().zip(best).filter(is_unknown).count();
        let refers = targets.contains(&TableKind::Person);
        let counts = best
            .iter()
            .flatten()
            .any(|best| best.term.label == SuggestedLabel::Count);
        let kind = match named {
            Some(TableKind::Person) if has_own_and_other_key(table, readings, &words, &main, dictionary) => {
                Some(TableKind::Event)
            }
            Some(kind) if !kind.is_person() && kind != TableKind::Event && own >= 5.0 && !refers => {
                Some(TableKind::Person)
            }
            Some(TableKind::Thing | TableKind::Setting) if refers => Some(TableKind::Event),
            None if counts && targets.is_empty() && personal > 0.2 => Some(TableKind::Aggregate),
            None if personal >= 3.5 && (own >= 2.2 || !refers && own >= 1.5) => Some(TableKind::Person),
            None if refers || personal >= 3.5 => Some(TableKind::Event),
            kind => kind,
        };
        let people = match kind {
            Some(TableKind::Person | TableKind::Second | TableKind::Household) => 1.5,
            Some(TableKind::Event) if refers => 1.3,
            Some(TableKind::Event) => 0.5 + (personal * 0.2).min(0.8),
            Some(TableKind::Aggregate) => 0.8,
            None => (personal - 2.0).clamp(-2.0, 1.2),
            Some(TableKind::Organisation) => -2.0,
            Some(_) if refers => -0.3 + (personal * 0.2).min(0.8),
            Some(_) => -2.5 + (personal * 0.15).min(0.8),
        };
        let is_own = |reading: &Reading| reading.key_word() == KeyWord::Key && is_own_key(reading, &words);
        let count = |category: Category| {
            let identifiers = best
                .iter()
                .flatten()
                .filter(|best| best.term.label == SuggestedLabel::Identifier);
            identifiers.filter(|best| best.term.category == category).count()
        };
        let has_names = count(Category::Name) > 1 || count(Category::Ssn) + count(Category::Email) > 0;
        let has_primary_key = table.columns.iter().any(|column| column.is_primary_key);
        let has_key = has_primary_key || readings.iter().any(is_own);
        let is_sample = matches!(kind, None | Some(TableKind::Person | TableKind::Household)) && people > 0.5;
        let is_sample = is_sample && !has_names && !has_primary_key;
        let neighbours = neighbours(best, is_sample).filter(|_| !counts);
        Context {
            kind,
            has_names,
            people,
            is_noun_first,
            has_key,
            has_primary_key,
            person_keys: targets.len(),
            unknown_keys,
            neighbours,
            is_sample,
            languages: main,
            words,
        }
    }
}

/// Returns whether a table that is called after persons, and after something else, has a key of its own besides the key of
/// the persons: then its rows are facts about them, as in `student_notes` with `id` and `student_id`.
fn has_own_and_other_key(
    table: &TableFacts,
    readings: &[Reading],
    words: &[String],
    languages: &[String],
    dictionary: &Dictionary,
) -> bool {
    let is_own = |reading: &Reading| reading.key_word() == KeyWord::Key && reading.base().is_empty();
    let is_other = |reading: &Reading| {
        let base = reading.base();

        let is_person = dictionary
            .nouns(&reading.words, languages)
            .iter()
            .any(|(_, kind)| kind.is_person());
        reading.key_word() == KeyWord::Key
            && is_person
            && base.len() < words.len()
            && base.iter().all(|word| words.iter().any(|one| one == word))
    };
    let has_own = table
        .columns
        .iter()
        .zip(readings)
        .any(|(column, reading)| column.is_primary_key || is_own(reading));
    let other = table
        .columns
        .iter()
        .zip(readings)
        .any(|(column, reading)| !column.is_primary_key && is_other(reading));
    has_own && other
}

/// Returns the label and category that most columns with a known name have, and their share; `None` if there are few.
fn neighbours(best: &[Option<Best<'_>>], is_sample: bool) -> Option<(SuggestedLabel, Category, f64)> {
    let known = |best: &&Best<'_>| !names_person(best.term);
    let terms: Vec<_> = best
        .iter()
        .flatten()
        .filter(known)
        .map(|best| best.term)
        .collect();
    let labels = [SuggestedLabel::Quasi, SuggestedLabel::Sensitive];
    let pairs = Category::WORDS
        .iter()
        .flat_map(|&(_, category)| labels.map(|label| (label, category)));
    let count = |&(label, category): &(SuggestedLabel, Category)| {
        terms
            .iter()
            .filter(|term| term.label == label && term.category == category)
            .count()
    };
    let (most, (label, category)) = pairs.map(|pair| (count(&pair), pair)).max_by_key(|one| one.0)?;
    let facts = terms.iter().filter(|term| labels.contains(&term.label)).count();
    if is_sample && facts >= 5 && facts * 10 >= terms.len() * 7 {
        return Some((label, category, facts as f64 / terms.len() as f64));
    }
    let share = most as f64 / terms.len() as f64;
    (most >= 5 && share >= 0.4 && category != Category::Date).then_some((label, category, share))
}

/// Returns whether a key is that of the table itself, such as `id` or `visit_id` in visits.
pub(super) fn is_own_key(reading: &Reading, table_words: &[String]) -> bool {
    let base = reading.base();
    let is_other = reading.nouns.iter().any(|(_, kind)| !kind.is_person());
    let names =
        |word: &&str, one: &String| one == word || !is_other && word.len() > 2 && one.starts_with(*word);
    base.is_empty()
        || base
            .iter()
            .all(|word| table_words.iter().any(|one| names(word, one)))
}

/// Returns how much the best term of a column says that the table is about persons.
fn personal_weight(best: &Best<'_>) -> f64 {
    use Category::*;
    let is_weak = best.coverage < 0.5 || best.is_foreign;
    let weight = match (best.term.label, best.term.category) {
        (SuggestedLabel::Ignore, _) => 0.0,
        (SuggestedLabel::Person | SuggestedLabel::Household | SuggestedLabel::Weight, _) => 1.0,
        (SuggestedLabel::Identifier, Name) => 1.5,
        (_, Ssn | Mrn | HealthPlan | Religion | SexLife | Ethnicity) => 1.5,
        (_, Demographic | Health | Credential | Email | Biometric) => 0.8,
        (_, Phone | Education | Licence) => 0.5,
        (_, Date) if is_birth(best.term) => 1.0,
        (_, Financial | Geographic | Date | Account) => 0.2,
        _ => 0.1,
    };
    if is_weak { weight * 0.5 } else { weight }
}

/// Returns how much the best term of a column says that a row is a person, and not an event of one.
fn own_weight(best: &Best<'_>) -> f64 {
    use Category::*;
    match (best.term.label, best.term.category) {
        (SuggestedLabel::Identifier, Name)
        | (_, Ssn | Religion | Ethnicity | Demographic | Email | Phone) => personal_weight(best),
        (_, Date) if is_birth(best.term) => personal_weight(best),
        _ => 0.0,
    }
}

/// Returns whether a term says a date of birth.
fn is_birth(term: &Term) -> bool {
    const STEMS: [&str; 9] = [
        "birth", "dob", "born", "geb", "nais", "nac", "nasc", "urodz", "geboor",
    ];
    term.category == Category::Date && STEMS.iter().any(|stem| term.term.contains(stem))
}

/// Returns what the rows of a table are that has this name.
pub(super) fn kind_of_name(
    words: &[String],
    languages: &[String],
    dictionary: &Dictionary,
) -> Option<TableKind> {
    let kinds: Vec<TableKind> = dictionary
        .nouns(words, languages)
        .into_iter()
        .map(|(_, kind)| kind)
        .collect();
    let (first, last) = (*kinds.first()?, *kinds.last()?);
    let has = |kind: TableKind| kinds.contains(&kind);
    let is_person = kinds.iter().any(|kind| kind.is_person());
    Some(match () {
        () if [first, last].contains(&TableKind::List) => TableKind::List,
        () if [TableKind::Setting, TableKind::Aggregate].contains(&last) => last,
        () if is_person && kinds.iter().all(|kind| kind.is_person()) => first,
        () if last.is_person() && !has(TableKind::Event) => last,
        () if is_person || has(TableKind::Event) => TableKind::Event,
        () => last,
    })
}

/// Returns what a key refers to, by its foreign key or else by the nouns of its name.
pub(super) fn key_target(
    reading: &Reading,
    references: &Option<(String, String)>,
    is_noun_first: bool,
    languages: &[String],
    dictionary: &Dictionary,
) -> Option<TableKind> {
    let referenced = || {
        let (table, _) = references.as_ref()?;
        kind_of_name(&dictionary.split(table), languages, dictionary)
    };
    let head = reading
        .nouns
        .iter()
        .find(|(words, _)| reading.is_head(words, is_noun_first));
    let nouns = head
        .or_else(|| reading.nouns.iter().find(|(_, kind)| kind.is_person()))
        .or(reading.nouns.last());
    let abbreviated = || {
        let language = languages.first()?;
        let is_short =
            |word: &&str| !dictionary.is_fact(word) && dictionary.abbreviates_person(word, language);
        (reading.key_word() == KeyWord::Key && reading.base().iter().any(is_short))
            .then_some(TableKind::Person)
    };
    referenced()
        .or_else(|| nouns.map(|(_, kind)| *kind))
        .or_else(abbreviated)
}
