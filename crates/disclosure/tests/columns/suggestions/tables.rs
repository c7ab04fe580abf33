//! Tables that show one kind each: persons, events, things, wrong names, other languages, comments, keys.

use disclosure::columns::formats::FormatCounts;
use disclosure::columns::suggestions::*;
use std::sync::LazyLock;

static SHIPPED: LazyLock<Dictionary> = LazyLock::new(|| Dictionary::new(Dictionary::shipped_terms()));

fn column(name: &str, kind: TypeKind) -> ColumnFacts {
    ColumnFacts {
        name: name.to_string(),
        kind,
        ..ColumnFacts::default()
    }
}

fn key(name: &str) -> ColumnFacts {
    ColumnFacts {
        is_primary_key: true,
        is_unique: true,
        ..column(name, TypeKind::Integer)
    }
}

fn texts(names: &[&str]) -> Vec<ColumnFacts> {
    names.iter().map(|name| column(name, TypeKind::Text)).collect()
}

fn table(name: &str, columns: Vec<ColumnFacts>) -> TableFacts {
    TableFacts {
        name: name.to_string(),
        columns,
        ..TableFacts::default()
    }
}

/// Compares the suggested labels of a table with expected ones.
fn expect(table: &TableFacts, expected: &[&str]) {
    let suggestions = suggest(table, &SHIPPED);
    let labels: Vec<&str> = suggestions.iter().map(|one| one.label.name()).collect();
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(labels, expected, "{}: {names:?} {suggestions:#?}", table.name);
}

/// Tables about things, codes, settings and logs of software stay quiet.
#[test]
fn software_stays_quiet() {
    let mut products = texts(&[
        "name",
        "description",
        "sku",
        "brand",
        "colour",
        "country_of_origin",
        "url",
    ]);
    products.push(key("product_id"));
    products.push(column("unit_price", TypeKind::Decimal));
    products.push(column("weight", TypeKind::Decimal));
    products.push(column("stock", TypeKind::Integer));
    products.push(column("release_date", TypeKind::Date));
    let settings = texts(&["key", "value", "description", "type", "default"]);
    let mut countries = texts(&["iso_code", "name", "region", "capital", "phone_code"]);
    countries.push(key("id"));
    let mut log = texts(&["level", "logger", "message", "exception", "thread", "server"]);
    log.push(column("logged_at", TypeKind::Timestamp));
    let mut migrations = texts(&["version", "name", "checksum", "script"]);
    migrations.push(column("installed_on", TypeKind::Timestamp));
    let tables = [
        table("products", products),
        table("app_settings", settings),
        table("countries", countries),
        table("error_log", log),
        table("schema_migrations", migrations),
    ];
    for table in tables {
        let expected = vec!["ignore"; table.columns.len()];
        expect(&table, &expected);
    }
}

/// The surrogate key is a person in a table about persons, and names a record in a table about their events.
#[test]
fn keys_follow_the_table() {
    let mut patients = texts(&["first_name", "last_name", "sex"]);
    patients.push(column("birth_date", TypeKind::Date));
    patients.push(key("id"));
    expect(
        &table("patients", patients),
        &["identifier", "identifier", "quasi", "quasi", "person"],
    );
    let visits = vec![
        key("id"),
        column("patient_id", TypeKind::Integer),
        column("doctor_id", TypeKind::Integer),
        column("visit_date", TypeKind::Date),
        column("diagnosis", TypeKind::Text),
        column("created_by", TypeKind::Integer),
    ];
    expect(
        &table("visits", visits),
        &["identifier", "person", "quasi", "quasi", "sensitive", "ignore"],
    );
}

/// A table that is called after persons and has a key of its own is about facts, and an abbreviation of the table's name is
/// part of no name.
#[test]
fn facts_and_abbreviations() {
    let notes = vec![
        column("id", TypeKind::Integer),
        column("student_id", TypeKind::Integer),
        column("note", TypeKind::Text),
    ];
    expect(
        &table("student_notes", notes),
        &["identifier", "person", "sensitive"],
    );
    let mut customers = texts(&["nom_cli", "tel_cli"]);
    customers.push(key("id_cli"));
    expect(
        &table("clientes", customers),
        &["identifier", "identifier", "person"],
    );
}

/// Samples of persons have weights and no keys; frequency tables count.
#[test]
fn samples_and_frequencies() {
    let mut sample = texts(&[
        "sex",
        "race",
        "marital_status",
        "occupation",
        "education",
        "region",
    ]);
    sample.push(column("age", TypeKind::Integer));
    sample.push(column("final_weight", TypeKind::Decimal));
    let expected = [
        "quasi", "quasi", "quasi", "quasi", "quasi", "quasi", "quasi", "weight",
    ];
    expect(&table("survey_2020", sample), &expected);
    let mut frequencies = texts(&["sex", "age_group"]);
    frequencies.push(column("freq", TypeKind::Integer));
    expect(&table("t3", frequencies), &["quasi", "quasi", "count"]);
}

/// A foreign key says more than a name.
#[test]
fn references_count() {
    let mut subject = column("ref_a", TypeKind::Integer);
    subject.references = Some(("patients".to_string(), "id".to_string()));
    let mut product = column("ref_b", TypeKind::Integer);
    product.references = Some(("products".to_string(), "id".to_string()));
    expect(&table("t", vec![subject, product]), &["person", "ignore"]);
}

/// Names in seven languages, with prefixes, accents and in camel case.
#[test]
fn languages() {
    expect(
        &table(
            "tbl_mitarbeiter",
            texts(&[
                "mitVorname",
                "mitNachname",
                "mitGeburtsdatum",
                "mitStraße",
                "mitPLZ",
                "mitGehalt",
            ]),
        ),
        &[
            "identifier",
            "identifier",
            "quasi",
            "identifier",
            "quasi",
            "sensitive",
        ],
    );
    expect(
        &table(
            "adherents",
            texts(&[
                "nom",
                "prénom",
                "date_naissance",
                "ville",
                "téléphone",
                "courriel",
            ]),
        ),
        &[
            "identifier",
            "identifier",
            "quasi",
            "quasi",
            "identifier",
            "identifier",
        ],
    );
    expect(
        &table(
            "pacientes",
            texts(&["nombre", "apellidos", "fecha_nacimiento", "sexo", "diagnostico"]),
        ),
        &["identifier", "identifier", "quasi", "quasi", "sensitive"],
    );
    expect(
        &table(
            "dipendenti",
            texts(&[
                "nome",
                "cognome",
                "codice_fiscale",
                "data_di_nascita",
                "stipendio",
            ]),
        ),
        &["identifier", "identifier", "identifier", "quasi", "sensitive"],
    );
    expect(
        &table(
            "leden",
            texts(&["voornaam", "achternaam", "geboortedatum", "woonplaats", "bsn"]),
        ),
        &["identifier", "identifier", "quasi", "quasi", "identifier"],
    );
    expect(
        &table(
            "alunos",
            texts(&["nome", "cpf", "data_nascimento", "sexo", "cidade"]),
        ),
        &["identifier", "identifier", "quasi", "quasi", "quasi"],
    );
}

/// What a word describes decides, and not that the word occurs.
#[test]
fn heads_decide() {
    let mut columns = texts(&["phone_type", "email_format"]);
    columns.push(column("email_verified", TypeKind::Boolean));
    columns.push(column("password_changed_at", TypeKind::Timestamp));
    expect(
        &table("users", columns),
        &["ignore", "ignore", "ignore", "ignore"],
    );
}

/// A comment is read if the name says nothing.
#[test]
fn comments_count() {
    let mut code = column("c17", TypeKind::Text);
    code.comment = Some("Religion of the patient".to_string());
    let columns = vec![
        column("first_name", TypeKind::Text),
        column("birth_date", TypeKind::Date),
        code,
    ];
    expect(&table("patients", columns), &["identifier", "quasi", "sensitive"]);
}

/// Identifiers in columns with odd or wrong names are found by their values, and a promise of the name that the values
/// break is not believed.
#[test]
fn values_count() {
    let filled = |name: &str, value: fn(usize) -> String| {
        let mut counts = FormatCounts::default();
        (0..300).for_each(|number| counts.count(&value(number)));
        ColumnFacts {
            formats: Some(counts),
            ..column(name, TypeKind::Text)
        }
    };
    let mail = |number: usize| format!("person{number}@example{}.org", number % 7);
    let colour = |number: usize| ["red", "green", "blue"][number % 3].to_string();
    let columns = vec![
        filled("sku", mail),
        filled("colour", mail),
        filled("xq7", mail),
        filled("email", colour),
    ];
    let products = table("products", columns);
    expect(&products, &["identifier", "identifier", "identifier", "ignore"]);
    for suggestion in &suggest(&products, &SHIPPED)[..3] {
        assert_eq!(suggestion.category, Category::Email);
        assert!(
            suggestion.evidence.contains("300 values are e-mail addresses"),
            "{}",
            suggestion.evidence
        );
    }
}
