//! What the rows of a table are.

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
}
