//! Columns of other kinds than the shared ones: other languages, notations and decoys. They are random, with
//! a fixed seed.

use super::random::*;
use super::score::{KnownColumn, scores};

const GIVEN: &str = "Emily|Jonas|Marlene|Thérèse|Ignacio|Beatrix|Sjoerd|Afonso|Wilhelm|Agnieszka|Freya|Gaspard|Ludovica|Rosalía|Kasper|Teun|Brendan|\
    Anneliese|Yannick|Fiorella|Concha|Marisa|Oskar|Priya|Malik|Ewa|Tiago|Imke|Colette|Duncan|Stella|Martina|Rolf|Hélène|Pia|Jaap";
const SURNAME: &str = "Whitfield|Baumgartner|Lacombe|Ibarra|Fontanelli|van den Akker|Figueira|Müller|Smith|O'Connell|Kowalczyk|Lindqvist|Marchetti|\
    Dubois|Hernández|de Boer|Carvalho|Schröder|Murray|Garnier|Molina|Greco|Kuiper|Pereira|Novak|Harrington|Pfeiffer|Clément|Barros|\
    Jensen|McAllister|Vogel|Besson|Quiroga|Lombardi|Postma";

/// Columns of patterns: see `Random::fill`.
const FILLED: &str = "\
phone us; identifier; phone; (212) 5##-####|415-6##-####|1-800-4##-####|(303) 7##-#### x12
phone fr; identifier; phone; 06 ## ## ## ##|01.4#.##.##.##|+33 6 ## ## ## ##
phone br; identifier; phone; (11) 9####-####|(21) 3###-####|+55 11 9####-####
phone it; identifier; phone; +39 333 #######|347 #######|02 ########
phone nl; identifier; phone; 06-########|020-%######|+31 6 ########
phone pt; identifier; phone; 91# ### ###|21# ### ###|+351 96# ### ###
phone es; identifier; phone; 6## ## ## ##|91# ### ###|+34 6## ### ###
phone de; identifier; phone; 089/%######|0151-%#######|+49 (30) %#######|06221 %####
phone bare de; identifier; phone; 0151########|0176########|030%######%
phone bare e164; identifier; phone; +4917########|+336########|+1212%######
ip; identifier; ip; 8%.1%.%#.1##|19%.4#.%.7#|17#.1#.20#.9
ip private; identifier|ignore; ip; 10.%#.1##.%|10.%.%#.%#
ip6; identifier; ip; 2001:db8:?%??:1::??|fe80::?%??:%???:?%??:????
mac; identifier; device; ????.????.????|??-??-??-??-??-??
linkedin; identifier; url; https://www.linkedin.com/in/jane-doe-##?%|https://github.com/kim#%?|https://example.org/users/%#
photo; identifier; photo|url; https://img.example.com/avatar/%###.png|/uploads/profile/%##.webp|photos/patient_%##.jpg
plate de; identifier; vehicle; B-KL %###|M AB %##|HH-X %#|KA-TZ %###E
plate nl; identifier; vehicle; ##-@@-@@|@@-###-@|%-@@@-##
plate br; identifier; vehicle; @@@#@##
uuid in capitals; identifier|person; other_id; {3F25????-????-4???-a???-????????????}|3F2504E0-4F89-11D3-9A0C-0305E82C####
postcode uk; quasi; geographic; SW1A %AA|M%# %BQ|EC#A %HX|LS# %JD|B%3 8TH
postcode pt; quasi; geographic; 1%##-###|4%##-###|8%##-###
postcode br; quasi; geographic; 0%###-###|2####-###|9####-###
postcode pl; quasi; geographic; 0#-###|3#-###|8#-###|6#-###
postcode ca; quasi; geographic; M%B %H3|H2X#Y%|V5K #A%
postcode nl; quasi; geographic; %###GH|%### KL|%### BT
postcode de; quasi; geographic; 0%###|1####|2####|3####|4####|5####|6####|7####|8####|9####
street de; identifier|quasi; geographic; Goethestraße %#|Am Alten Markt %|Hauptstr. %#a|Mühlenweg %##|Kaiserplatz %
street nl; identifier|quasi; geographic; Kerkstraat %#|Prinsengracht %##|Molenlaan % bis
street it; identifier|quasi; geographic; Via Giuseppe Verdi %#|Piazza Dante, %|Corso Italia %##/B
street us; identifier|quasi; geographic; %## Elm Street|%### N Main St Apt %|%# Sunset Blvd|PO Box %###
street fr; identifier|quasi; geographic; % rue de la Paix|%# avenue Foch|%# bis, boulevard Voltaire
street pl; identifier|quasi; geographic; ul. Długa %#|al. Jerozolimskie %##|ul. Mickiewicza %/%
genotype; sensitive; genetic; rs%####(A;G)|rs%###### C/T|rs%####### TT
variant; sensitive; genetic; c.%##A>G|NM_000059.3:c.%###del|p.Arg%##His
16 digits; ignore; technical; 4###############
15 digits; ignore; technical; %##############
11 digits; ignore; technical; %##########
10 digits; ignore; technical; %#########
9 digits; ignore; technical; %########
cnpj; ignore; technical; ##.###.###/0001-##
invalid ssn; ignore; technical; 000-##-####
sku; ignore; technical; SKU-#####-@
product code; ignore; technical; @@-###-@@
product code 2; ignore; technical; @##-####
shelf; ignore; technical; @##
part; ignore; technical; @#%-##@.#
phone ch; identifier; phone; +41 79 ### ## ##|079 ### ## ##|0041 44 ### ## ##
phone pl; identifier; phone; +48 6## ### ###|60# ### ###|+48 22 ### ## ##
phone uk with brackets; identifier; phone; (020) 7### ####|01632 96####|07%## ######
postcodes of many countries; quasi; geographic; 1####|75###|%### BX|SW1A %AA|00-###|K1A 0B%|4###-###
container; ignore; technical; MSKU#######
phone it bare; identifier; phone; 347#######|333#######|328#######|366#######
phone br bare; identifier; phone; 119########|219########|319########|859########
phone us bare; identifier; phone; 212%######|4157######|7135######|305%######
ip with port; identifier; ip; 8%.1%.%#.1##:8080|19%.4#.%.7#:443
genotype with colon; sensitive; genetic; rs######:A>G|rs######:C>T
zip plus 4; quasi; geographic; 0%###-####|3####-####|7####-####
masked card; ignore; technical; XXXX-XXXX-XXXX-####
order; ignore; technical; ORD-####-######
sku in digits; ignore; technical; ####-####
fraction; ignore; technical; %/3#|1%/4#
score of a match; ignore; technical; #:#
pixels; ignore; technical; %##,%##
ral; ignore; technical; RAL ####
isin; ignore; technical; US##########
vat of a firm; ignore; technical; DE#########
log of nginx; ignore; technical; 2025/03/0% 10:1#:22 [error] 31#31: upstream timed out after %## ms
log of a server; ignore; technical; LOG:  checkpoint complete: wrote %### buffers
hex of 12; ignore; technical; ????????????
etag; ignore; technical; W/\"????????????????\"";

/// Columns of words.
const PICKED: &str = "\
sex de; quasi; demographic; männlich|weiblich|weiblich|divers
sex nl; quasi; demographic; V|M|V|X
sex fr; quasi; demographic; Homme|Femme
sex en; quasi; demographic; Female|Male|Unknown|Non-binary
sex es; quasi; demographic; H|M
sex with gaps; quasi; demographic; F|M||F|M|U
marital de; quasi; demographic; ledig|verheiratet|geschieden|verwitwet
ethnicity uk; quasi|sensitive; ethnicity; White British|White Irish|Asian or Asian British|Black Caribbean|Black African|Mixed|Any other ethnic group
ethnicity br; quasi|sensitive; ethnicity; Branca|Preta|Parda|Indígena|Amarela|Parda
religion en; sensitive|quasi; religion; Roman Catholic|Church of England|Muslim|Hindu|No religion|Sikh|Jewish
religion es; sensitive|quasi; religion; católica|evangélica|musulmana|judía|atea|ninguna
religion fr; sensitive|quasi; religion; catholique|protestant|musulman|juif|sans religion|bouddhiste
agents; quasi; device; Mozilla/5.0 (iPad; CPU OS 17_1 like Mac OS X) AppleWebKit/605.1.15|Dalvik/2.1.0 (Linux; U; Android 9; SM-J530F)|Opera/9.80 (Windows NT 6.1) Presto/2.12
icd cm; sensitive; health; E11.9|I25.10|J45.909|M54.16|Z23|F41.1|N39.0|S52.501A|K21.9|R07.9
icd short; sensitive; health; I10|E11|J45|F32|M54|K21|N18|C50|G40|R51
drugs de; sensitive; health; Ramipril 5 mg 1-0-0|Metoprololsuccinat 47,5 mg ret.|Pantoprazol 40 mg|Ibuprofen 600 mg b. Bed.|L-Thyroxin 75 µg Tabl.|Simvastatin 20mg abends
drugs in a word; sensitive; health; lisinopril|atorvastatin|metformin|sertraline|amoxicillin|omeprazole|gabapentin
tests; sensitive; health; positive|negative|negative|not detected|detected
blood; sensitive; health; A+|O-|B Rh+|AB neg|0 pos|A-
resolution; ignore; technical; 1920x1080|1280x720|3840x2160
colour; ignore; technical; red|blue|black|white|green|Dark Grey|brown
currency; ignore; technical; EUR|USD|BRL|DKK|INR
locale; ignore; technical; de-DE|en-GB|pt-PT|zh-Hans-CN|nl_BE.UTF-8
time zone; ignore; technical; America/New_York|Africa/Cairo|GMT+2|Australia/Sydney|CET
http; ignore; technical; 200|204|301|404|500|502|422
yes; ignore; technical; yes|no
ja; ignore; technical; ja|nein
zero; ignore; technical; 0|1
status de; ignore; technical; offen|in Bearbeitung|abgeschlossen|storniert
status es; ignore; technical; pendiente|enviado|pagado|cancelado
priority; ignore; technical; LOW|MEDIUM|HIGH|CRITICAL
mime; ignore; technical; image/png|text/html|application/json|video/mp4
class; ignore; technical; com.example.app.UserService|org.acme.Main|io.foo.PersonController
branch; ignore; technical; feature/login-page|main|hotfix/1.2|release/2024-10
size; ignore; technical; S|M|L|XL|XXL
grade; ignore; technical; A|B|C|D|E|F
weekday; ignore; technical; Monday|Tuesday|Friday|Sunday
month; ignore; technical; April|May|June|August|March
department; ignore; technical; Sales|Human Resources|Marketing|Research and Development|Finance
film; ignore; technical; The Long Night|Blue Horizon|Return to Mars|Golden Summer|A Day at Sea|Silent Running
unit; ignore; technical; kg|pcs|m|l|box
material; ignore; technical; Steel|Cotton|Leather|Oak|Plastic
dish; ignore; technical; Caesar Salad|Tomato Soup|Pizza Margherita|Apple Pie|Grilled Salmon
name pl; identifier; name; Zdzisław Boruta|Halina Kowalska|Bożena Sikora|Mirosław Nowak|Jadwiga Wilk|Ewa Mazurek
name se; identifier; name; Gunilla Sandström|Anders Holmqvist|Ulf Persson|Karin Ekdahl|Lars Åkesson|Elin Nyström
name of asia; identifier; name; Wei Zhang|Priya Raghunathan|Yuki Tanaka|Nguyen Van Minh|Li Na|Arjun Mehta|Kim Min-jun|Sanjay Gupta
name with initial; identifier; name; J. Smith|P. Okafor|K. Schneider|M. van Dijk|A. Rossi|T. Wójcik|C. Lefebvre
name de; identifier; name; Heinz-Peter Lüdenscheidt|Karl Ammerschläger|Dorothea Steinbrück|Ulrike von Hagen|Jörg Brettschneider
sex pl; quasi; demographic; Mężczyzna|Kobieta
sex pt; quasi; demographic; masculino|feminino|outro
sex it; quasi; demographic; Maschio|Femmina
salutation; quasi|identifier; demographic|name; Mr|Mrs|Ms|Mr
marital fr; quasi; demographic; célibataire|marié|mariée|veuf|divorcée|pacsé
nationality; quasi; demographic; German|French|Turkish|Polish|Italian|Syrian|Dutch
drugs fr; sensitive; health; Doliprane 1000 mg comprimé|Amoxicilline 500 mg gélule|Ramipril 5 mg 1 cp par jour|Lévothyroxine 75 µg
drugs es; sensitive; health; Omeprazol 20 mg cápsulas|Enalapril 10 mg comprimidos|Metformina 850 mg|Atorvastatina 40 mg cada 24h
lab de; sensitive; health; Kreatinin 1,1 mg/dl|Hämoglobin 13,5 g/dl|Leukozyten 7,2 /nl|HbA1c 6,8 %|TSH 2,1 mU/l|CRP 12 mg/l
icd gm; sensitive; health; M54.5 G|E11.90 G|I10.90 G|J06.9 V|F32.1 G|K29.7 A
airport; ignore; technical; FRA|CDG|JFK|AMS|LIS|MAD
ticker; ignore; technical; AAPL|MSFT|SAP|BMW|ING|ASML
country; ignore; technical; DE|FR|US|NL|BR
language; ignore; technical; en|de|fr|es
error; ignore; technical; Connection refused by peer|User not found in directory|Invalid argument in call to function|Timeout while reading from socket
help; ignore; technical; Enter the title of the page here|Choose a file from the list|Click the button to save changes|The field must not be empty
headline; ignore; technical; Stocks rise as inflation slows|New bridge opens after ten years|Rain expected across the north|City council votes on parking fees
car; ignore; technical; Ford Focus|Volkswagen Golf|Renault Clio|Toyota Corolla|Fiat Panda|Opel Astra
brand; ignore; technical; Bosch|Siemens|Philips|Braun|Miele|Samsung|Whirlpool|Electrolux
flower; ignore; technical; Tulip|Orchid|Iris|Daffodil|Sunflower|Lily|Carnation|Peony
animal; ignore; technical; Dog|Cat|Horse|Rabbit|Parrot|Hamster
band; ignore; technical; Iron Valley|The Blue Owls|Electric Sunrise|Paper Tigers|Velvet Harbour
beer; ignore; technical; Pale Ale|Dark Stout|Hefe Weissbier|Pilsner Urquell|Amber Lager
hours in words; ignore; technical; morning|noon|evening
role; ignore; technical; admin|editor|viewer|owner|guest
payment; ignore; technical; credit card|paypal|invoice|cash
feature flag; ignore; technical; enable_new_checkout|use_dark_mode|show_beta_banner
sql type; ignore; technical; integer|text|timestamp|boolean|varchar(30)
movement; ignore; technical; IN|OUT|MOVE
name fr; identifier; name; Bastien Delacroix|Maëlys Vasseur|Corentin Lecomte|Ghislaine Guillot|Hervé Prévost|Solène Maillard|Muriel Pichon|Yann Rey
name es in capitals; identifier; name; ZAMORA LUNA, MARIBEL|CORTÉS SOLIS, JACINTO|BENÍTEZ ROMERO, ANA BELÉN|PAREDES GIL, LUIS MIGUEL
name nl; identifier; name; Geert van der Heijden|Margriet Hoogland|Wietske de Wit|Hendrika ter Horst|Joris Schippers|Fenna van Beek
name us; identifier; name; Tyrone B. Hutchinson|Brittney L. Castaneda|Courtney J. Mccoy|Latoya B. Bolton|Travis J. Pratt
diagnosis en; sensitive; health|free_text; Essential hypertension|Type 2 diabetes mellitus|Acute bronchitis|Major depressive disorder|Asthma|Migraine
diagnosis de; sensitive; health|free_text; Arterielle Hypertonie|Diabetes mellitus Typ 2|Akute Bronchitis|Migräne|Asthma bronchiale|Gastritis
atc; sensitive; health; A10BA02|C09AA05|N02BE01|C07AB07|B01AC06
icd in lower case; sensitive; health; i10|e11.9|j45.0|f32.1|m54.5
religion it; sensitive|quasi; religion; Cattolica|Ortodossa|Musulmana|Ebraica|Nessuna
religion pt; sensitive|quasi; religion; Católica|Evangélica|Espírita|Sem religião|Umbanda
marital en; quasi; demographic; Single|Married|Divorced|Widowed|Never married
sex fi; quasi; demographic; mies|nainen
notes of a shop; sensitive|identifier; free_text; Spoke with Mr Smith about his invoice|Kundin rief an, möchte Rückruf morgen|Herr Meier hat gekündigt wegen Umzug
book; ignore; technical; Harry Potter|Oliver Twist|Jane Eyre|The Great Gatsby|Moby Dick|Anna Karenina
breed; ignore; technical; Golden Retriever|German Shepherd|Poodle|Beagle|Jack Russell|Labrador
cheese; ignore; technical; Gouda|Brie|Cheddar|Emmentaler|Feta|Manchego
terms of sale; ignore; technical; Customers can return goods within 30 days of delivery.|The client library supports TLS and HTTP/2 by default.|Child processes are restarted after a crash.
advertisement; ignore; technical; Perfect gift for mother and daughter, soft cotton, 2 pack|Kids school bag, waterproof, for every student, 20 l
error of a job; ignore; technical; NullPointerException at line 7 of the loader|Customer record 12 could not be loaded from cache|Student import job 9 finished with warnings
revision; ignore; technical; Rev A|Rev B|Rev C
question; ignore; technical; How do I reset my password?|Where is my order?|Can I change the delivery date?|What sizes are available?
profession; ignore|quasi; technical|demographic; Software Engineer|Nurse|Teacher|Plumber|Sales Manager
heights; ignore; technical; H|M|L
directions; ignore; technical; N|S|E|W
phone model; ignore; technical; iPhone 14|Galaxy S22|Pixel 7
event; ignore; technical; user.created|order.paid|invoice.sent
constant; ignore; technical; ORDER_CREATED|ORDER_SHIPPED|PAYMENT_FAILED
bic; ignore; technical; DEUTDEFF|COBADEFFXXX|BNPAFRPP|INGBNL2A";

struct Columns {
    columns: Vec<KnownColumn>,
    random: Random,
}

impl Columns {
    fn add(&mut self, name: &str, label: &str, category: &str, make: impl Fn(&mut Random) -> String) {
        let values = (0..200).map(|_| make(&mut self.random)).collect();
        self.columns.push(KnownColumn {
            name: name.into(),
            label: label.into(),
            category: category.into(),
            values,
        });
    }

    fn ignored(&mut self, name: &str, make: impl Fn(&mut Random) -> String) {
        self.add(name, "ignore", "technical", make);
    }

    /// Adds the columns of a table, one per line: name, label, category and patterns or words.
    fn add_all(&mut self, table: &str, fill: bool) {
        for line in table.lines() {
            let mut fields = line.splitn(4, "; ");
            let [Some(name), Some(label), Some(category), Some(words)] =
                std::array::from_fn(|_| fields.next())
            else {
                panic!("{line} has four fields");
            };
            self.add(name, label, category, |random| {
                let word = random.pick(words);
                if fill { random.fill(word) } else { word.to_string() }
            });
        }
    }
}

fn contacts(columns: &mut Columns) {
    columns.add("e-mail with gaps", "identifier", "email", |random| {
        match random.number(0, 9) {
            0 => String::new(),
            _ => format!(
                "{}+news@mail{}.{}",
                random.pick("a.weber|kim_98|j-doe|info.me"),
                random.number(1, 50),
                random.pick("de|co.uk|io|museum")
            ),
        }
    });
    columns.add("half e-mail", "identifier", "email", |random| {
        match random.number(0, 1) {
            0 => format!("user{}@example.org", random.number(1, 999)),
            _ => "none given".into(),
        }
    });
    columns.add("login", "identifier", "account|name", |random| {
        format!(
            "{}.{}{}",
            random.pick("john|maria|stefan|lucas|emma|pierre"),
            random.pick("smith|rossi|weber|silva|x"),
            random.number(1, 99)
        )
    });
}

fn accounts(columns: &mut Columns) {
    columns.add("iban", "identifier", "account", |random| {
        let text = match random.number(0, 2) {
            0 => iban("FR", &random.digits(23)),
            1 => iban("ES", &random.digits(20)),
            _ => iban("IT", &format!("{}{}", random.letters(1), random.digits(22))),
        };
        text.as_bytes()
            .chunks(4)
            .map(|part| String::from_utf8_lossy(part).into_owned())
            .collect::<Vec<_>>()
            .join(" ")
    });
    columns.add(
        "iban with errors",
        "identifier",
        "account",
        |random| match random.number(0, 9) {
            0 => random.fill("NL##ABNA##########"),
            _ => iban("NL", &format!("RABO{}", random.digits(10))),
        },
    );
    columns.add("card", "identifier", "account", |random| {
        let (prefix, rest) =
            [("51", 13), ("37", 12), ("2345", 11), ("6011", 11), ("4", 14)][random.number(0, 4) as usize];
        with_luhn(&format!("{prefix}{}", random.digits(rest)))
    });
    columns.add("imei", "identifier", "device", |random| {
        with_luhn(&format!("35{}", random.digits(12)))
    });
    columns.add("vin", "identifier", "vehicle", vin);
    columns.add("npi", "identifier", "licence|other_id", npi);
    columns.add("driving licence", "identifier", "licence", |random| {
        format!(
            "{}{}{}{:02}{:02}{}{}9{}{}",
            random.letters(3),
            "99",
            random.number(3, 9),
            random.day().1,
            random.day().0,
            random.number(0, 9),
            random.letters(1),
            random.number(1, 9),
            random.letters(2)
        )
    });
}

fn national_ids(columns: &mut Columns) {
    let mut add = |name: &str, make: fn(&mut Random) -> String| {
        columns.add(name, "identifier", "ssn|health_plan", make)
    };
    add("bsn", bsn);
    add("nif", nif);
    add("nhs", |random| {
        let number = nhs(random);
        format!("{} {} {}", &number[..3], &number[3..6], &number[6..])
    });
    add("nhs bare", nhs);
    add("fodselsnummer", fodselsnummer);
    add("cpr", cpr);
    add("pesel", pesel);
    add("rijksregister", rijksregister);
    add("nir", nir);
    add("nir bare", |random| nir(random).replace(' ', ""));
    add("steuer id", steuer_id);
    add("hetu", hetu);
    add("dni", |random| {
        let dni = dni(random);
        format!("{}-{}", &dni[..8], &dni[8..])
    });
    add("codice fiscale", codice_fiscale);
    add("cpf bare", cpf);
    add("ahv", |random| {
        let number = with_gtin(&format!("756{}", random.digits(9)));
        format!(
            "{}.{}.{}.{}",
            &number[..3],
            &number[3..7],
            &number[7..11],
            &number[11..]
        )
    });
    add("ssn", |random| {
        format!(
            "{:03}-{:02}-{:04}",
            random.number(1, 665),
            random.number(1, 99),
            random.number(1, 9999)
        )
    });
    add("nino", |random| {
        format!(
            "{}{} {} {} {} {}",
            random.of("ABCEGHJKLMNPRSTWXYZ", 1),
            random.of("ABCEHJLMPRSWXY", 1),
            random.digits(2),
            random.digits(2),
            random.digits(2),
            random.of("ABCD", 1)
        )
    });
    add("personnummer of 12", |random| {
        let (day, month) = random.day();
        let year = random.number(1930, 1999);
        let number = with_luhn(&format!(
            "{:02}{month:02}{day:02}{}",
            year % 100,
            random.digits(3)
        ));
        format!("19{}-{}", &number[..6], &number[6..])
    });
}

fn people(columns: &mut Columns) {
    let name = |random: &mut Random| format!("{} {}", random.pick(GIVEN), random.pick(SURNAME));
    columns.add("name", "identifier", "name", name);
    columns.add("name in capitals", "identifier", "name", move |random| {
        name(random).to_uppercase()
    });
    columns.add("name with title", "identifier", "name", move |random| {
        format!(
            "{} {}",
            random.pick("Dr.|Frau|Herr|Prof. Dr.|Mr|Mme"),
            name(random)
        )
    });
    columns.add("name reversed", "identifier", "name", |random| {
        format!(
            "{}, {} {}.",
            random.pick(SURNAME),
            random.pick(GIVEN),
            random.letters(1)
        )
    });
    columns.add("name pt", "identifier", "name", |random| {
        format!(
            "{} {} da {} {}",
            random.pick("Maria|João|Ana|Rui"),
            random.pick("Luísa|Pedro|Clara"),
            random.pick("Silva|Costa|Conceição"),
            random.pick("Pereira|Lopes|Tavares|Seabra")
        )
    });
    columns.add("given name", "identifier", "name", |random| {
        random.pick(GIVEN).to_string()
    });
    columns.add("surname", "identifier", "name", |random| {
        random.pick(SURNAME).to_string()
    });
    columns.add("age", "quasi", "demographic", |random| {
        format!("{}", 18 + (random.number(0, 36) + random.number(0, 38)))
    });
    columns.add("age of all", "quasi", "demographic", |random| {
        format!("{}", random.number(0, 93))
    });
}

fn dates_and_places(columns: &mut Columns) {
    columns.add("birth de", "quasi", "date|demographic", |random| {
        format!(
            "{:02}.{:02}.{}",
            random.day().0,
            random.day().1,
            random.birth_year()
        )
    });
    columns.add("birth in words", "quasi", "date|demographic", |random| {
        format!(
            "{} {} {}",
            random.day().0,
            random.pick("Jan|March|Mai|août|Dez|ottobre"),
            random.birth_year()
        )
    });
    columns.add("birth compact", "quasi", "date|demographic", |random| {
        format!(
            "{}{:02}{:02}",
            random.birth_year(),
            random.day().1,
            random.day().0
        )
    });
    columns.add("birth at midnight", "quasi", "date|demographic", |random| {
        format!(
            "{}-{:02}-{:02} 00:00:00",
            random.birth_year(),
            random.day().1,
            random.day().0
        )
    });
    columns.add("birth year", "quasi", "date|demographic", |random| {
        format!("{}", random.birth_year())
    });
    columns.add("pairs", "quasi|identifier", "location|geographic", |random| {
        format!("{:.5}, {:.5}", 52.3 + random.share(), 4.5 + random.share())
    });
    columns.add("longitude", "quasi|identifier", "location|geographic", |random| {
        format!("{:.6}", -74.3 + random.share())
    });
    columns.add(
        "latitude of the world",
        "quasi|identifier",
        "location|geographic",
        |random| format!("{:.4}", -60.0 + 130.0 * random.share()),
    );
}

fn health_and_secrets(columns: &mut Columns) {
    columns.add("lab", "sensitive", "health", |random| {
        format!(
            "{}.{} {}",
            random.number(1, 20),
            random.number(0, 9),
            random.pick("mmol/L|g/dL|mg/dL|ng/mL")
        )
    });
    columns.add("pressure", "sensitive", "health", |random| {
        format!("{}/{}", random.number(100, 180), random.number(55, 88))
    });
    columns.add("notes en", "sensitive|identifier", "free_text|health", |random| {
        format!(
            "{} {} {}.",
            random.pick("Patient reports|Pt complains of|Mother says he has|She was admitted with"),
            random.pick("chest pain|anxiety|insomnia|a rash"),
            random.pick("since Monday|for two weeks|after work")
        )
    });
    columns.add("notes fr", "sensitive|identifier", "free_text|health", |random| {
        format!(
            "{} {} {}",
            random.pick("Patiente vue en consultation,|Mme Durand souffre de|Monsieur se plaint de"),
            random.pick("douleurs lombaires|migraine|fatigue"),
            random.pick("depuis un mois.|après une chute.|la nuit.")
        )
    });
    columns.add("notes es", "sensitive|identifier", "free_text|health", |random| {
        format!(
            "{} {} {}",
            random.pick("Paciente refiere|La señora tiene|El alumno presenta"),
            random.pick("dolor de cabeza|fiebre alta|mucho cansancio"),
            random.pick("desde hace dos días|por la noche")
        )
    });
    columns.add("notes of staff", "sensitive|identifier", "free_text", |random| {
        format!(
            "{} {} {}",
            random.pick("Employee was late and|Customer called because she|Tenant says his neighbour"),
            random.pick("received a warning|wants her money back|is noisy"),
            random.pick("again.|today.|this month.")
        )
    });
    columns.add("bcrypt", "sensitive", "credential", |random| {
        format!("$2b$12${}", random.base62(53))
    });
    columns.add("hashes of linux", "sensitive", "credential", |random| {
        format!(
            "{}{}${}",
            random.pick("$6$|$5$|$y$j9T$"),
            random.base62(8),
            random.base62(43)
        )
    });
    columns.add("django", "sensitive", "credential", |random| {
        format!(
            "pbkdf2_sha256$600000${}${}=",
            random.base62(12),
            random.base62(43)
        )
    });
    columns.add("github", "sensitive", "credential", |random| {
        format!("ghp_{}", random.base62(36))
    });
    columns.add("aws", "sensitive", "credential", |random| {
        format!("AKIA{}", random.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16))
    });
    columns.add("keys", "sensitive", "credential", |random| random.base62(32));
    columns.add("jwt", "sensitive", "credential", |random| {
        format!(
            "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJ{}.{}",
            random.base62(60),
            random.base62(80)
        )
    });
}

fn numbers_of_things(columns: &mut Columns) {
    columns.ignored("ean", |random| with_gtin(&random.fill("40%#########")));
    columns.ignored("upc", |random| with_gtin(&random.fill("0%#########")));
    columns.ignored("isbn 10", |random| {
        let body = random.fill("0########");
        let check = (11 - weighted(&body, &[10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 11;
        format!(
            "{body}{}",
            if check == 10 {
                "X".into()
            } else {
                check.to_string()
            }
        )
    });
    columns.ignored("epoch", |random| {
        random.number(1_500_000_000, 1_760_000_000).to_string()
    });
    columns.ignored("epoch in ms", |random| {
        random.number(1_500_000_000_000, 1_760_000_000_000).to_string()
    });
    columns.ignored("quantity", |random| random.number(1, 20).to_string());
    columns.ignored("score", |random| random.number(0, 100).to_string());
    columns.ignored("rating", |random| random.number(1, 5).to_string());
    columns.ignored("hour", |random| random.number(0, 23).to_string());
    columns.ignored("minute", |random| random.number(0, 59).to_string());
    columns.ignored("stock", |random| random.number(0, 2000).to_string());
    columns.ignored("price", |random| {
        format!("{}.{:02}", random.number(1, 400), random.number(0, 99))
    });
    columns.ignored("probability", |random| format!("{:.6}", random.share()));
    columns.ignored("z score", |random| format!("{:.5}", 6.0 * random.share() - 3.0));
    columns.ignored("rate", |random| format!("{:.4}", 0.8 + random.share()));
    columns.ignored("discount", |random| format!("{} %", random.number(1, 60)));
    columns.ignored("port", |random| random.number(1024, 9999).to_string());
    columns.ignored("article number", |random| {
        format!("10{:03}", random.number(0, 999))
    });
    columns.ignored("time of day", |random| {
        format!(
            "{:02}:{:02}:{:02}",
            random.number(0, 23),
            random.number(0, 59),
            random.number(0, 59)
        )
    });
    columns.ignored("invoice", |random| {
        format!("2024-{:05}", random.number(1, 99_999))
    });
    columns.ignored("due date", |random| {
        format!(
            "{}-{:02}-{:02}",
            random.number(2031, 2039),
            random.day().1,
            random.day().0
        )
    });
    columns.ignored("updated", |random| {
        format!(
            "2025-{:02}-{:02}T{:02}:{:02}:09Z",
            random.day().1,
            random.day().0,
            random.number(1, 23),
            random.number(10, 59)
        )
    });
    columns.ignored("release date", |random| {
        format!(
            "{}-{:02}-{:02}",
            random.number(2018, 2025),
            random.day().1,
            random.day().0
        )
    });
}

fn software(columns: &mut Columns) {
    columns.ignored("semver", |random| {
        format!(
            "v{}.{}.{}{}",
            random.number(0, 9),
            random.number(0, 30),
            random.number(0, 9),
            random.pick("||-rc.1|-beta")
        )
    });
    columns.ignored("version", |random| {
        format!(
            "{}.{}.{}",
            random.number(1, 15),
            random.number(0, 12),
            random.number(0, 30)
        )
    });
    columns.ignored("build", |random| {
        format!(
            "{}.{}.{}.{}",
            random.number(1, 12),
            random.number(0, 9),
            random.number(0, 99),
            random.number(0, 200)
        )
    });
    columns.ignored("package", |random| {
        format!(
            "{}@{}.{}.{}",
            random.pick("lodash|react|left-pad|express"),
            random.number(1, 9),
            random.number(0, 20),
            random.number(0, 9)
        )
    });
    columns.ignored("sha256", |random| random.hex(64));
    columns.ignored("md5", |random| random.hex(32));
    columns.ignored("commit", |random| random.hex(8));
    columns.ignored("object id", |random| format!("65{}", random.hex(22)));
    columns.ignored("ulid", |random| {
        format!("01H{}", random.of("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 23))
    });
    columns.ignored("rgb", |random| {
        format!(
            "rgb({}, {}, {})",
            random.number(0, 255),
            random.number(0, 255),
            random.number(0, 255)
        )
    });
    columns.ignored("cron", |random| {
        format!(
            "{} {} * * {}",
            random.number(0, 59),
            random.number(0, 23),
            random.pick("*|MON-FRI|0")
        )
    });
    columns.ignored("log", |random| {
        format!(
            "2025-03-0{} 12:{}:01,113 {} handler took {} ms",
            random.number(1, 9),
            random.number(10, 59),
            random.pick("INFO|ERROR"),
            random.number(1, 900)
        )
    });
    columns.ignored("log in brackets", |random| {
        format!(
            "[{}] user session {} closed by server",
            random.pick("info|warn"),
            random.number(1, 9000)
        )
    });
    columns.ignored("file", |random| format!("report_{}.pdf", random.number(1, 900)));
    columns.ignored("asset", |random| format!("/static/js/chunk-{}.js", random.hex(8)));
    columns.ignored("product image", |random| {
        format!("/media/products/{}.jpg", random.number(1, 900))
    });
    columns.ignored("shop", |random| {
        format!("https://shop.example.com/p/{}?ref=home", random.number(1, 900))
    });
    columns.ignored("stripe", |random| format!("cus_{}", random.base62(24)));
    columns.ignored("query", |random| {
        format!(
            "SELECT * FROM t{} WHERE a = {}",
            random.number(1, 9),
            random.number(1, 99)
        )
    });
    columns.ignored("json", |random| {
        format!("{{\"a\": {}, \"b\": true}}", random.number(1, 99))
    });
}

fn goods(columns: &mut Columns) {
    columns.ignored("product", |random| {
        format!(
            "{} {} {}",
            random.pick("Classic|Premium|Ultra|Eco"),
            random.pick("Desk|Lamp|Chair|Kettle"),
            random.pick("Oak|Pro|Mini|2000")
        )
    });
    columns.ignored("product de", |random| {
        format!(
            "Kaffeebecher, Edelstahl, {} ml, spülmaschinenfest, {} Stück",
            random.number(100, 500),
            random.number(1, 9)
        )
    });
    columns.ignored("product fr", |random| {
        format!(
            "Table en bois massif, {} cm, couleur {}",
            random.number(60, 200),
            random.pick("chêne|noir|blanc")
        )
    });
    columns.ignored("firm", |random| {
        format!(
            "{} {}",
            random.pick("Müller|Nordwind|Acme|Garcia|Weber & Söhne"),
            random.pick("GmbH|Ltd.|S.A.|B.V.|Inc.")
        )
    });
    columns.ignored("terms", |random| {
        format!(
            "Delivery within {} working days, free returns in all shops.",
            random.number(2, 9)
        )
    });
    columns.ignored("battery", |random| {
        format!(
            "{} mAh battery, {} hours of charge, cable included",
            random.number(1000, 9000),
            random.number(4, 40)
        )
    });
}

fn more_people(columns: &mut Columns) {
    columns.add("birth us short", "quasi", "date|demographic", |random| {
        format!("{}/{}/{}", random.day().1, random.day().0, random.birth_year())
    });
    columns.add("birth with t", "quasi", "date|demographic", |random| {
        format!(
            "{}-{:02}-{:02}T00:00:00Z",
            random.birth_year(),
            random.day().1,
            random.day().0
        )
    });
    columns.add("birth en", "quasi", "date|demographic", |random| {
        format!(
            "{} {}, {}",
            random.pick("January|June|October|May"),
            random.day().0,
            random.birth_year()
        )
    });
    columns.add("points", "quasi|identifier", "location|geographic", |random| {
        format!("POINT({:.5} {:.5})", 13.0 + random.share(), 52.0 + random.share())
    });
    columns.add("iban in lower case", "identifier", "account", |random| {
        iban("AT", &random.digits(16)).to_lowercase()
    });
    columns.add("tax id in groups", "identifier", "ssn", |random| {
        let number = steuer_id(random);
        format!(
            "{} {} {} {}",
            &number[..2],
            &number[2..5],
            &number[5..8],
            &number[8..]
        )
    });
    columns.add("notes de", "sensitive|identifier", "free_text|health", |random| {
        format!(
            "{} {} {}",
            random.pick("Patient berichtet über|Pat. klagt seit Tagen über|Die Mutter des Kindes meldet"),
            random.pick("Schwindel und Übelkeit|starken Husten|Schlafstörungen"),
            random.pick("nach dem Essen.|in der Nacht.|bei Belastung.")
        )
    });
    columns.add("notes it", "sensitive|identifier", "free_text|health", |random| {
        format!(
            "{} {} {}",
            random.pick("Paziente riferisce|La signora lamenta|Il figlio della paziente segnala"),
            random.pick("dolore al ginocchio|febbre alta|tosse secca"),
            random.pick("da tre giorni|dopo la caduta")
        )
    });
    columns.add("notes nl", "sensitive|identifier", "free_text|health", |random| {
        format!(
            "{} {} {}",
            random.pick("Patiënt klaagt over|Mevrouw heeft veel|Cliënt is opgenomen met"),
            random.pick("pijn in de rug|hoofdpijn|koorts"),
            random.pick("sinds gisteren|na een val")
        )
    });
    columns.add("aws secret", "sensitive", "credential", |random| {
        random.of(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/+",
            40,
        )
    });
    columns.add("token of base64url", "sensitive", "credential", |random| {
        random.of(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
            43,
        )
    });
    columns.add("private key", "sensitive", "credential", |random| {
        format!("-----BEGIN PRIVATE KEY-----\nMIIE{}", random.base62(60))
    });
    columns.add("argon2", "sensitive", "credential", |random| {
        format!(
            "$argon2id$v=19$m=65536,t=3,p=4${}${}",
            random.base62(22),
            random.base62(43)
        )
    });
    columns.add("tckn", "identifier", "ssn", |random| {
        let body = random.fill("%########");
        let digits = digits_of(&body);
        let odd: u64 = digits.iter().step_by(2).sum();
        let even: u64 = digits.iter().skip(1).step_by(2).sum();
        let tenth = (odd * 7 + 90 - even) % 10;
        format!("{body}{tenth}{}", (odd + even + tenth) % 10)
    });
}

fn more_things(columns: &mut Columns) {
    columns.ignored("tracking", |random| {
        random.fill("1Z@@@%############").chars().take(18).collect()
    });
    columns.ignored("flight", |random| {
        format!("{}{}", random.pick("LH|AF|BA|KL"), random.number(10, 4999))
    });
    columns.ignored("issue", |random| {
        format!("{}-{}", random.pick("PROJ|OPS|WEB"), random.number(1, 9999))
    });
    columns.ignored("file size", |random| format!("{} MB", random.number(1, 900)));
    columns.ignored("temperature", |random| {
        format!("{}.{} °C", random.number(10, 30), random.number(0, 9))
    });
    columns.ignored("duration", |random| {
        format!("{}h {}m", random.number(0, 9), random.number(0, 59))
    });
    columns.ignored("quarter", |random| {
        format!("Q{} {}", random.number(1, 4), random.number(2015, 2025))
    });
    columns.ignored("host", |random| {
        format!("db{:02}.prod.example.local", random.number(1, 90))
    });
    columns.ignored("video", |random| random.base62(11));
    columns.ignored("image hash", |random| format!("sha256-{}=", random.base62(43)));
    columns.ignored("recipe", |random| {
        format!(
            "Mix {} g of flour with two eggs and bake for {} minutes.",
            random.number(100, 500),
            random.number(10, 60)
        )
    });
    columns.add("city", "ignore|quasi", "technical|geographic", |random| {
        random
            .pick("Berlin|Madrid|Lyon|Rotterdam|Porto|Leeds|Milano|Chicago|Hamburg|Sevilla|Lincoln|Jackson")
            .to_string()
    });
    columns.add("country name", "ignore|quasi", "technical|geographic", |random| {
        random
            .pick("Germany|France|Jordan|Chad|Brazil|Netherlands|Georgia")
            .to_string()
    });
    columns.ignored("cas", |random| {
        format!(
            "{}-{:02}-{}",
            random.number(50, 99_999),
            random.number(0, 99),
            random.number(0, 9)
        )
    });
    columns.ignored("sensor", |random| format!("{:.3}", 20.0 + 8.0 * random.share()));
    columns.ignored("amount", |random| format!("{:.4}", 900.0 * random.share()));
    columns.ignored("percentage", |random| format!("{:.5}", 100.0 * random.share()));
    columns.ignored("power of two", |random| {
        (1_u64 << random.number(0, 20)).to_string()
    });
    columns.ignored("year of release", |random| random.number(1998, 2025).to_string());
    columns.ignored("days", |random| random.number(1, 365).to_string());
    columns.ignored("template", |random| {
        format!(
            "tpl_{}_v{}",
            random.pick("welcome|reset|invoice"),
            random.number(1, 9)
        )
    });
    columns.ignored("slug", |random| {
        format!(
            "how-to-{}-a-{}-{}",
            random.pick("build|paint|fix"),
            random.pick("table|wall|roof"),
            random.number(1, 99)
        )
    });
    columns.ignored("guid without hyphens", |random| random.hex(32).to_uppercase());
    columns.ignored("base64", |random| {
        format!("{}==", random.of("abcdefghijklmnop", 10))
    });
    columns.ignored("five random digits", |random| {
        format!("2{:04}", random.number(0, 9999))
    });
    columns.ignored("dimensions", |random| {
        format!(
            "{} x {} x {} cm",
            random.number(1, 99),
            random.number(1, 99),
            random.number(1, 99)
        )
    });
    columns.ignored("comment on goods", |random| {
        format!(
            "Battery lasts {} hours, screen is bright, keyboard a bit small.",
            random.number(2, 19)
        )
    });
}

fn columns(seed: u64) -> Vec<KnownColumn> {
    let mut columns = Columns {
        columns: Vec::new(),
        random: Random(seed),
    };
    columns.add_all(FILLED, true);
    columns.add_all(PICKED, false);
    contacts(&mut columns);
    accounts(&mut columns);
    national_ids(&mut columns);
    people(&mut columns);
    dates_and_places(&mut columns);
    health_and_secrets(&mut columns);
    numbers_of_things(&mut columns);
    software(&mut columns);
    goods(&mut columns);
    more_people(&mut columns);
    more_things(&mut columns);
    for (name, from) in [
        ("row number", 1),
        ("order number", 10_001),
        ("customer number", 4_000_000_000_000_000),
        ("nine digits in order", 600_000_000),
    ] {
        let values = (from..from + 200_u64).map(|number| number.to_string()).collect();
        columns.columns.push(KnownColumn {
            name: name.into(),
            label: "ignore".into(),
            category: "technical".into(),
            values,
        });
    }
    columns.columns
}

#[test]
fn synthetic_columns_are_labelled_by_their_values() {
    for seed in [1, 2, 3] {
        let columns = columns(seed);
        println!("{} columns", columns.len());
        for (label, score) in &scores(&columns) {
            assert!(score.recall() >= 0.95, "{label}: {score:?}");
            assert!(score.precision() >= 0.95, "{label}: {score:?}");
        }
    }
}
