//! The rules that turn what is known about a column into clues.

use super::clues::{Clue, describe};
use super::dictionary::Dictionary;
use super::reading::{Best, KeyWord, Languages, Reading, names_person};
use super::table_kind::{Context, is_own_key, key_target};
use super::{Category, ColumnFacts, ColumnStatistics, Matching, SuggestedLabel, TableKind, Term, TypeKind};

/// A column with its name read, in its table.
pub(super) struct Rules<'a> {
    pub(super) facts: &'a ColumnFacts,
    pub(super) reading: &'a Reading,
    pub(super) best: Option<&'a Best<'a>>,
    pub(super) context: &'a Context,
    pub(super) languages: &'a Languages,
    pub(super) dictionary: &'a Dictionary,
}

/// Weight of the assumption that a column concerns no person.
const IGNORE: f64 = 1.0;

impl Rules<'_> {
    /// Returns all clues to the label of the column.
    pub(super) fn clues(&self) -> Vec<Clue> {
        let mut clues = vec![Clue::ignore(IGNORE, "")];
        if let Some(kind) = self.context.kind.filter(|_| self.context.people < -0.5) {
            clues.push(Clue::ignore(0.5, kind.describe()));
        }
        let added = self.best.filter(|best| best.is_added);
        if let Some(best) = added {
            clues.push(Clue::new(
                best.term.label,
                best.term.category,
                8.0,
                said(best.term),
            ));
        } else if let Some(clue) = self.key() {
            clues.push(clue);
        } else if let Some(clue) = self.name() {
            clues.push(clue);
        } else {
            clues.extend(self.type_alone().or_else(|| self.neighbours()));
        }
        if added.is_none() {
            clues.extend(self.comment(clues.len() > 1 && clues[1..].iter().any(|clue| clue.weight > 1.0)));
            clues.extend(self.statistics());
        }
        self.values(&mut clues);
        clues
    }

    /// Returns what the column says as a key.
    fn key(&self) -> Option<Clue> {
        use SuggestedLabel::*;
        let refers = self.facts.references.is_some();
        let is_key = self.facts.is_primary_key || refers || self.reading.key_word() == KeyWord::Key;
        let context = self.context;
        let target = key_target(
            self.reading,
            &self.facts.references,
            context.is_noun_first,
            &context.languages,
            self.dictionary,
        );
        let is_person = target.is_some_and(TableKind::is_person);
        // A noun without a key word, such as `customer` or `doctor`.
        let covers = |words: &[String]| words.concat().len();
        let nouns: usize = self
            .reading
            .nouns
            .iter()
            .map(|(words, _)| covers(&self.reading.words[words.clone()]))
            .sum();
        let is_noun = is_person && nouns >= self.reading.base().iter().map(|word| word.len()).sum();
        let is_key_or_noun = is_key || is_noun && self.could_be_key();
        if !is_key_or_noun {
            return None;
        }
        // A person's key in a table about something else is no key of the table, even if both share a word.
        let is_other =
            is_person && !context.kind.is_some_and(TableKind::is_person) && !self.reading.base().is_empty();
        let is_own = !refers && !is_other && is_own_key(self.reading, &self.context.words);
        // `visit_id` in visits, whatever terms say about visits.
        let names_table =
            is_own && self.reading.key_word() == KeyWord::Key && !self.reading.base().is_empty();
        if self.facts.is_primary_key && self.numbers_persons() {
            return Some(self.own_key());
        }
        if let Some(best) = self.best
            && !(is_own && self.facts.is_primary_key || names_table)
            && self.wins_over_key(best, is_person)
        {
            return None;
        }
        // A lone `uid` is mostly that of a user.
        let is_user =
            self.reading.base().is_empty() && self.reading.words.last().is_some_and(|word| word == "uid");
        if is_user && !self.facts.is_primary_key && !context.kind.is_some_and(TableKind::is_person) {
            return Some(self.person_key(TableKind::Person));
        }
        if is_own && (is_key || self.facts.is_primary_key) {
            return Some(self.own_key());
        }
        match target {
            Some(kind) if kind.is_person() => Some(self.person_key(kind)),
            Some(TableKind::Household) => Some(Clue::new(
                Household,
                Category::OtherId,
                3.0,
                "its name suggests key of a household",
            )),
            Some(TableKind::Event) if self.context.people > 0.0 => Some(Clue::new(
                Identifier,
                Category::OtherId,
                1.6 + self.context.people,
                "it is the key of an event",
            )),
            Some(TableKind::Organisation) if self.context.people > 0.0 => {
                let reason = "it refers to an organisation, and the table is about persons";
                Some(Clue::new(
                    Quasi,
                    Category::Demographic,
                    1.2 + self.context.people,
                    reason,
                ))
            }
            _ if self.facts.is_primary_key => Some(self.own_key()),
            Some(_) => Some(Clue::ignore(1.5, "it is a key of things or codes")),
            None if self.best.is_some() => None,
            None if context.kind.is_some_and(TableKind::is_person)
                && !context.has_key
                && self.could_be_key() =>
            {
                Some(Clue::new(
                    Person,
                    Category::OtherId,
                    1.5,
                    "it is a key, and the table is about persons",
                ))
            }
            None if context.people > 0.0 && context.person_keys == 0 && context.unknown_keys == 1 => {
                let reason =
                    "it is the only key to something else, and the table is about persons or their events";
                Some(Clue::new(Person, Category::OtherId, 1.3, reason))
            }
            None => Some(Clue::ignore(0.5, "it is a key of something that is no person")),
        }
    }

    /// Returns whether the name says a number of a person, in a table about persons.
    fn numbers_persons(&self) -> bool {
        use Category::*;
        let is_number = |best: &Best<'_>| {
            matches!(
                best.term.category,
                OtherId | Mrn | Account | Ssn | HealthPlan | Licence
            )
        };
        let is_identifier =
            |best: &Best<'_>| best.term.label == SuggestedLabel::Identifier && is_number(best);
        self.context.kind.is_some_and(TableKind::is_person) && self.best.is_some_and(is_identifier)
    }

    /// Returns whether the type of the column allows it to be the key of a person.
    fn could_be_key(&self) -> bool {
        matches!(
            self.facts.kind,
            TypeKind::Integer | TypeKind::Uuid | TypeKind::Text | TypeKind::Other | TypeKind::Decimal
        )
    }

    /// Returns whether a term says more than the nouns of a key, as in `person_religion_id` or `passport_no`.
    fn wins_over_key(&self, best: &Best<'_>, is_person: bool) -> bool {
        match best.term.label {
            SuggestedLabel::Ignore => best.is_head,
            SuggestedLabel::Person | SuggestedLabel::Household => true,
            SuggestedLabel::Identifier if best.term.category == Category::OtherId => {
                best.coverage > 0.9 && !is_person
            }
            _ => !is_person || best.is_head || best.coverage > 0.8,
        }
    }

    /// Returns what the key of the table itself is.
    fn own_key(&self) -> Clue {
        use SuggestedLabel::*;
        let people = self.context.people;
        match self.context.kind {
            Some(kind) if kind.is_person() && self.context.has_primary_key && !self.facts.is_primary_key => {
                Clue::new(
                    Identifier,
                    Category::OtherId,
                    3.0,
                    "it numbers the persons of the table",
                )
            }
            Some(TableKind::Person | TableKind::Second) => Clue::new(
                Person,
                Category::OtherId,
                3.0,
                "it is the key of a table about persons",
            ),
            Some(TableKind::Household) => Clue::new(
                Household,
                Category::OtherId,
                3.0,
                "it is the key of a table about households",
            ),
            Some(TableKind::Event) => Clue::new(
                Identifier,
                Category::OtherId,
                2.0 + people,
                "it is the key of a table about events of persons",
            ),
            None if people > 0.0 => Clue::new(
                Identifier,
                Category::OtherId,
                1.2 + people,
                "it is the key of a table with data on persons",
            ),
            Some(_) if self.context.person_keys > 0 => Clue::new(
                Identifier,
                Category::OtherId,
                1.5,
                "it is the key of a table that refers to persons",
            ),
            _ => Clue::ignore(1.5, "it is the key of a table that is not about persons"),
        }
    }

    /// Returns what the key of a person is: of the subject, or of a second person.
    fn person_key(&self, kind: TableKind) -> Clue {
        use SuggestedLabel::*;
        let is_own_table = self.context.kind.is_some_and(TableKind::is_person) && self.context.has_key;
        let is_qualified = self.reading.base().len() > 1 && self.context.person_keys > 1;
        let is_subject =
            kind == TableKind::Person && !self.facts.is_primary_key && !is_own_table && !is_qualified;
        if self.reading.key_word() == KeyWord::Number && is_own_table && !self.facts.is_primary_key {
            return Clue::new(
                Identifier,
                Category::OtherId,
                3.0,
                "its name suggests number of a person",
            );
        }
        if is_subject || self.facts.is_primary_key || kind == TableKind::Person && !is_qualified {
            let weight = if self.reading.key_word() == KeyWord::None {
                2.0
            } else {
                3.5
            };
            return Clue::new(
                Person,
                Category::OtherId,
                weight,
                "its name suggests key of a person",
            );
        }
        if self.reading.key_word() == KeyWord::None && self.facts.kind == TypeKind::Text {
            let weight = 1.5 + 0.5 * self.context.people;
            return Clue::new(
                Identifier,
                Category::Name,
                weight,
                "its name suggests a person, in words",
            );
        }
        let weight = 2.0 + 0.5 * self.context.people.max(-0.5);
        Clue::new(
            Quasi,
            Category::OtherId,
            weight,
            "its name suggests key of a second person",
        )
    }

    /// Returns what the terms of the name say.
    fn name(&self) -> Option<Clue> {
        if let Some(clue) = self.sample_weight() {
            return Some(clue);
        }
        let Some(best) = self.best else {
            return self.generic_name();
        };
        let term = best.term;
        if let Some(clue) = self.counted(term) {
            return Some(clue);
        }
        if let Some(clue) = self.employer() {
            return Some(clue);
        }
        if term.label == SuggestedLabel::Ignore {
            return Some(Clue::ignore(
                1.5 + best.coverage,
                "its name suggests that it concerns no person",
            ));
        }
        let is_number = self.facts.kind == TypeKind::Integer;
        if term.category == Category::Credential && is_number && self.reading.key_word() == KeyWord::Key {
            return Some(Clue::ignore(1.5, "it is a key of things or codes"));
        }
        let is_plain_text = self.facts.kind == TypeKind::Text && self.reading.key_word() == KeyWord::None;
        if names_person(term) && term.label == SuggestedLabel::Quasi && is_plain_text {
            let weight = 2.0 + 0.5 * self.context.people;
            return Some(Clue::new(
                SuggestedLabel::Identifier,
                Category::Name,
                weight,
                "its name suggests a person, in words",
            ));
        }
        if let Some(clue) = self.described(best) {
            return Some(clue);
        }
        if term.label == SuggestedLabel::Count
            && (self.context.has_key || self.context.person_keys > 0 || self.context.has_names)
        {
            return Some(Clue::ignore(1.5, "a table with keys counts no rows"));
        }
        let is_sample = matches!(
            self.context.kind,
            None | Some(TableKind::Person | TableKind::Household | TableKind::Aggregate)
        );
        if term.label == SuggestedLabel::Weight
            && (!is_sample || self.context.has_primary_key && best.coverage < 1.0)
        {
            return Some(Clue::ignore(1.5, "the table is no sample of persons"));
        }
        let base = if term.matching == Matching::Name { 0.3 } else { 1.5 };
        let mut weight = base + 1.8 * best.coverage + self.about_people(dependence(term));
        weight -= if best.is_foreign { 0.7 } else { 0.0 };
        // In a table about events a plain name is often that of the event.
        let is_plain_name = term.category == Category::Name && term.matching == Matching::Name;
        weight -= if is_plain_name && self.context.kind == Some(TableKind::Event) {
            1.0
        } else {
            0.0
        };
        Some(Clue::new(term.label, term.category, weight, said(term)))
    }

    /// Returns what a name says such as `weight_full` or `hhwt` in a sample of persons.
    fn sample_weight(&self) -> Option<Clue> {
        const ENDS: [&str; 7] = ["wt", "wgt", "weight", "poids", "peso", "gewicht", "ponderacion"];
        let words = &self.reading.words;
        let is_longer =
            |word: &str, end: &str| word.ends_with(end) && (word.len() > end.len() || words.len() > 1);
        let is_weight = words
            .iter()
            .any(|word| ENDS.iter().any(|end| is_longer(word, end)));
        let is_number = matches!(self.facts.kind, TypeKind::Decimal);
        let is_body = self
            .best
            .is_some_and(|best| best.term.category == Category::Health);
        (self.context.is_sample && is_weight && is_number && !is_body).then(|| {
            Clue::new(
                SuggestedLabel::Weight,
                Category::Technical,
                3.0,
                "its name suggests weight, in a sample of persons",
            )
        })
    }

    /// Returns what it adds to a clue that the table is about persons, or not; that it is not counts more.
    fn about_people(&self, dependence: f64) -> f64 {
        let people = self.context.people;
        dependence * if people < 0.0 { 1.5 * people } else { people }
    }

    /// Returns what a name says such as `number_of_deaths` in a table without any key: how many persons the row stands for.
    fn counted(&self, term: &Term) -> Option<Clue> {
        const WORDS: [&str; 8] = [
            "anzahl", "nombre", "aantal", "numero", "number", "num", "count", "total",
        ];
        let has_word = self
            .reading
            .words
            .iter()
            .any(|word| WORDS.contains(&word.as_str()));
        let is_fact = matches!(term.category, Category::Health | Category::Offence);
        let is_number = matches!(self.facts.kind, TypeKind::Integer | TypeKind::Decimal);
        let has_keys = self.context.has_key || self.context.person_keys > 0 || self.context.has_names;
        let reason = "its name suggests number of persons, and the table has no key";
        (has_word && is_fact && is_number && !has_keys)
            .then(|| Clue::new(SuggestedLabel::Count, Category::Technical, 3.0, reason))
    }

    /// Returns what a name says that is only a noun for an organisation, in a table about persons: whom they work for.
    fn employer(&self) -> Option<Clue> {
        let is_about_persons = self.context.kind.is_some_and(TableKind::is_person);
        let letters = |words: &[String]| words.concat().len();
        let covers = |(words, kind): &(std::ops::Range<usize>, TableKind)| {
            *kind == TableKind::Organisation
                && letters(&self.reading.words[words.clone()]) * 2 > letters(&self.reading.words)
        };
        let is_word = self.facts.kind == TypeKind::Text || self.reading.key_word() == KeyWord::Key;
        let is_employer = is_about_persons && is_word && self.reading.nouns.iter().any(covers);
        let reason = "its name suggests an organisation, and the table is about persons";
        is_employer.then(|| Clue::new(SuggestedLabel::Quasi, Category::Demographic, 2.5, reason))
    }

    /// Returns what a name says whose head is a noun for a code or setting: `phone_type` holds no telephone number.
    fn described(&self, best: &Best<'_>) -> Option<Clue> {
        if best.is_head && !best.words.is_empty() && best.coverage > 0.6 {
            return None;
        }
        let is_head = |words: &std::ops::Range<usize>| {
            self.reading.is_head(words, self.context.is_noun_first) && !words.contains(&best.words.start)
        };
        let (_, kind) = self.reading.nouns.iter().find(|(words, _)| is_head(words))?;
        match (kind, best.term.label) {
            (TableKind::Setting | TableKind::Aggregate, _) => {
                Some(Clue::ignore(1.5, "its name suggests a setting"))
            }
            (TableKind::List, SuggestedLabel::Identifier | SuggestedLabel::Person) => {
                Some(Clue::ignore(1.5, "its name suggests a code"))
            }
            _ => None,
        }
    }

    /// Returns what a name says that ends or begins with a word such as `name`: the name of a person, if the other words
    /// or the table say a person.
    fn generic_name(&self) -> Option<Clue> {
        let words = &self.reading.words[self.reading.core.clone()];
        let ends = [words.last()?, words.first()?];
        let term = ends
            .into_iter()
            .find_map(|word| self.dictionary.generic_name(word))?;
        if !fits_type(term, self.facts) {
            return None;
        }
        let kind = self
            .reading
            .nouns
            .iter()
            .map(|(_, kind)| *kind)
            .reduce(|one, other| if other.is_person() { other } else { one });
        match kind {
            Some(kind) if kind.is_person() => Some(Clue::new(
                SuggestedLabel::Identifier,
                Category::Name,
                3.0,
                "its name suggests the name of a person",
            )),
            Some(_) => Some(Clue::ignore(2.0, "its name suggests the name of a thing")),
            None => {
                let weight = 0.5 + self.context.people * 0.8;
                Some(Clue::new(
                    SuggestedLabel::Identifier,
                    Category::Name,
                    weight,
                    "its name suggests a name",
                ))
            }
        }
    }

    /// Returns what the type says when the name says nothing.
    fn type_alone(&self) -> Option<Clue> {
        use SuggestedLabel::*;
        let people = self.context.people;
        let (label, category, weight) = match self.facts.kind {
            TypeKind::Inet => (Identifier, Category::Ip, 2.0 + 0.5 * people),
            TypeKind::MacAddress => (Identifier, Category::Device, 2.0 + 0.5 * people),
            TypeKind::Geometry => (Quasi, Category::Location, 0.8 + people),
            TypeKind::Date => (Quasi, Category::Date, 0.9 + people),
            TypeKind::Timestamp if self.context.kind == Some(TableKind::Event) => {
                (Quasi, Category::Date, people + 0.1)
            }
            TypeKind::Timestamp => (Quasi, Category::Date, people - 0.4),
            TypeKind::Money => (Sensitive, Category::Financial, 0.6 + people),
            TypeKind::Uuid => (Identifier, Category::OtherId, 0.2 + people),
            _ => return None,
        };
        (weight > 0.0).then(|| Clue::new(label, category, weight, "its type suggests it"))
    }

    /// Returns what most other columns are about, as a guess for a column whose name says nothing.
    fn neighbours(&self) -> Option<Clue> {
        let (label, category, share) = self.context.neighbours?;
        let reason = format!("most other columns are about {}", describe(category));
        let is_text = matches!(self.facts.kind, TypeKind::Text | TypeKind::Enum);
        (self.context.people > 0.0 && (is_text || self.context.is_sample && label == SuggestedLabel::Quasi))
            .then(|| Clue::new(label, category, 0.6 + share * 1.2, reason))
    }

    /// Returns what the comment says, with less weight than a name.
    fn comment(&self, has_name: bool) -> Option<Clue> {
        let comment = self.facts.comment.as_ref()?;
        let words = self.dictionary.split(comment);
        let reading = Reading::of_comment(words, self.dictionary);
        let best = reading.first(self.dictionary, self.languages)?;
        let weight = if has_name { 0.8 } else { 1.6 } + 0.5 * self.context.people * dependence(best.term);
        if weight <= 0.0 || !fits_type(best.term, self.facts) {
            return None;
        }
        let what = match best.term.label {
            SuggestedLabel::Ignore => "a technical matter",
            _ => describe(best.term.category),
        };
        let weight = if best.is_added { weight + 1.5 } else { weight };
        Some(Clue::new(
            best.term.label,
            best.term.category,
            weight,
            format!("the comment says {what}"),
        ))
    }

    /// Returns what the statistics say.
    fn statistics(&self) -> Vec<Clue> {
        use SuggestedLabel::*;
        let mut clues = Vec::new();
        let people = self.context.people;
        if self.facts.is_unique && !self.facts.is_primary_key && people > 0.0 {
            clues.push(Clue::new(
                Identifier,
                Category::OtherId,
                0.6,
                "the column is unique",
            ));
        }
        let Some(ColumnStatistics {
            rows,
            distinct,
            nulls,
            most_frequent,
            singled_out,
            ..
        }) = self.facts.statistics
        else {
            return clues;
        };
        let filled = rows * (1.0 - nulls);
        if rows >= 20.0 && distinct <= 1.0 {
            clues.push(Clue::ignore(1.0, "it has one value only"));
        }
        let is_text = matches!(self.facts.kind, TypeKind::Text | TypeKind::Uuid);
        let is_nearly_unique = filled >= 100.0 && distinct >= 0.95 * filled;
        if is_nearly_unique && is_text && people > 0.0 && !self.facts.is_unique {
            clues.push(Clue::new(
                Identifier,
                Category::OtherId,
                0.8,
                "its values are nearly unique",
            ));
        }
        let is_number = matches!(self.facts.kind, TypeKind::Decimal | TypeKind::Money);
        if is_number && people > 0.5 && filled >= 100.0 && distinct >= 0.2 * filled && most_frequent < 0.2 {
            clues.push(Clue::new(
                Sensitive,
                Category::Financial,
                0.5,
                "its numbers are spread widely",
            ));
        }
        if singled_out.is_some_and(|share| share >= 0.5) && people > 0.0 && !is_nearly_unique {
            clues.push(Clue::new(
                Quasi,
                Category::Demographic,
                0.5,
                "it singles people out",
            ));
        }
        clues
    }

    /// Adds what the values say, and weakens clues that they contradict.
    fn values(&self, clues: &mut Vec<Clue>) {
        let Some(formats) = &self.facts.formats else {
            return;
        };
        for clue in clues.iter_mut() {
            if clue.label != SuggestedLabel::Ignore && clue.weight < 8.0 && formats.contradict(clue.category)
            {
                clue.weight = clue.weight.min(0.3);
                clue.reason = format!("{}, but the values do not", clue.reason);
            }
        }
        if let Some(found) = formats.suggestion() {
            let odds = found.confidence.clamp(0.05, 0.99);
            let reason = found.evidence.trim_end_matches('.').to_string();
            clues.push(Clue::new(
                found.label,
                found.category,
                2.5 + (odds / (1.0 - odds)).ln(),
                reason,
            ));
        }
    }
}

/// Returns what a name says that contains this term.
fn said(term: &Term) -> String {
    match term.label {
        SuggestedLabel::Ignore => "its name suggests that it concerns no person".to_string(),
        SuggestedLabel::Person => "its name suggests key of a person".to_string(),
        SuggestedLabel::Household => "its name suggests key of a household".to_string(),
        SuggestedLabel::Weight => "its name suggests sampling weight".to_string(),
        SuggestedLabel::Count => "its name suggests number of units".to_string(),
        _ => format!("its name suggests {}", describe(term.category)),
    }
}

/// Returns how much a term depends on whether the table is about persons, from 0 to 1.
fn dependence(term: &Term) -> f64 {
    use Category::*;
    let is_generic = term.matching == Matching::Name;
    match (term.label, term.category) {
        (SuggestedLabel::Weight | SuggestedLabel::Household | SuggestedLabel::Count, _) => 0.2,
        (SuggestedLabel::Person, _) => 0.3,
        (_, Name) if is_generic => 1.0,
        (_, Ssn | Mrn | Credential | Ip | Name | Biometric | Religion | Union | SexLife | Ethnicity) => 0.3,
        (_, Email | Phone | Fax | HealthPlan | Licence | Device | Account) => 0.5,
        (_, Health | Genetic | Offence | Politics) => 0.7,
        _ => 1.0,
    }
}

/// Returns whether a column of this type can hold what a term says.
pub(super) fn fits_type(term: &Term, facts: &ColumnFacts) -> bool {
    use Category::*;
    let is_number = matches!(
        facts.kind,
        TypeKind::Integer | TypeKind::Decimal | TypeKind::Money
    );
    let is_time = matches!(facts.kind, TypeKind::Date | TypeKind::Timestamp | TypeKind::Time);
    let is_flag = facts.kind == TypeKind::Boolean;
    let is_shorter = |length| facts.max_length.is_some_and(|most| most < length);
    match (term.label, term.category) {
        (SuggestedLabel::Identifier | SuggestedLabel::Person | SuggestedLabel::Household, _)
            if is_flag || is_time =>
        {
            false
        }
        (_, Name | Email | Url | FreeText | Ip) if is_flag || is_time => false,
        (_, Email | Url | FreeText) if is_number => false,
        (_, Email | Url | FreeText | Ip) if is_shorter(6) => false,
        (SuggestedLabel::Identifier, Phone | Fax | Ssn | Account) if is_shorter(4) => false,
        (SuggestedLabel::Identifier, Name) if is_number => false,
        (_, Credential | Geographic | Financial) if is_flag => false,
        (_, Credential | Financial) if is_time => false,
        (SuggestedLabel::Weight | SuggestedLabel::Count, _) if is_flag || is_time => false,
        _ => true,
    }
}
