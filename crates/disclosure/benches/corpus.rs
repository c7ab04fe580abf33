//! Times finding and counting terms, without Postgres: `cargo bench -p disclosure --bench corpus`.
//!
//! Documents have 100 words. The probability of the k-th most frequent word is about proportional to 1/k.
//! Terms are words and pairs of words. Prints the seconds that it takes to find terms in all documents, also
//! with plurals and with accents in every document; the seconds that it takes to count all pairs, a hundredth
//! of them, and all pairs on one thread; and how many times as long the definitions take on a sample.
//!
//! Options: `--terms` (2,000 by default), `--documents` (30,000), `--words`, the number of different words
//! (20,000), and `--runs`, of which the quickest counts (3).

use disclosure::semantic::{Corpus, Folding, PairSelection, SearchBuffer, Terms};
use disclosure::{Control, Result};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reference::semantic::{count_both, terms_in};
use std::error::Error;
use std::time::Instant;

const WORDS_PER_DOCUMENT: usize = 100;

/// Number of documents, and of terms whose pairs are counted, for timing the definitions.
const SAMPLE: usize = 500;

/// Returns the time of the quickest of some runs, in seconds, and the result of the first one.
fn quickest<T>(runs: usize, mut run: impl FnMut() -> Result<T>) -> Result<(f64, T)> {
    let mut timed = || {
        let start = Instant::now();
        let found = run()?;
        Ok((start.elapsed().as_secs_f64(), found))
    };
    let mut best = timed()?;
    for _ in 1..runs {
        let again = timed()?;
        best.0 = again.0.min(best.0);
    }
    Ok(best)
}

/// Returns random words of 3 to 11 letters.
fn words(number: usize, random: &mut Pcg64Mcg) -> Vec<String> {
    let mut word = || {
        let length = random.random_range(3..12);
        let letters = (0..length).map(|_| char::from(random.random_range(b'a'..=b'z')));
        letters.collect()
    };
    (0..number).map(|_| word()).collect()
}

/// Draws the number of one of `words` words, from 0, by Zipf's law.
fn zipf(words: usize, random: &mut Pcg64Mcg) -> usize {
    let uniform: f64 = random.random();
    ((words as f64).powf(uniform) as usize).min(words) - 1
}

/// Finds the terms of all documents.
fn find(terms: &Terms, documents: &[String]) -> Result<Corpus> {
    let (mut corpus, mut scratch, mut found) = (Corpus::new(terms.len()), SearchBuffer::default(), vec![]);
    for document in documents {
        terms.in_text(document, &mut scratch, &mut found, &Control::new())?;
        corpus.push(&found)?;
    }
    Ok(corpus)
}

/// Finds the terms of every document by definition.
fn find_by_definition(terms: &[Vec<&str>], documents: &[String]) -> Vec<Vec<u32>> {
    let in_document = |document: &String| terms_in(terms, &document.split(' ').collect::<Vec<_>>());
    documents.iter().map(in_document).collect()
}

/// Counts the documents that contain each pair, by definition.
fn count_by_definition(terms: u32, documents: &[Vec<u32>]) -> Vec<u64> {
    let pairs = (0..terms).flat_map(|one| (one + 1..terms).map(move |other| (one, other)));
    pairs
        .map(|(one, other)| count_both(documents, one, other))
        .collect()
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let (mut number, mut documents, mut different, mut runs) = (2_000, 30_000, 20_000, 3);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number_of = || arguments.next().unwrap_or_default().parse::<usize>();
        match &argument[..] {
            "--bench" => (), // cargo's own
            "--terms" => number = number_of()?,
            "--documents" => documents = number_of()?,
            "--words" => different = number_of()?,
            "--runs" => runs = number_of()?,
            unknown => return Err(format!("no such option: {unknown}").into()),
        }
    }
    let control = Control::new();
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let words = words(different, &mut random);
    let mut sequence = |length: usize| -> Vec<&str> {
        (0..length)
            .map(|_| &words[zipf(different, &mut random)][..])
            .collect()
    };
    let documents: Vec<String> = (0..documents)
        .map(|_| sequence(WORDS_PER_DOCUMENT).join(" "))
        .collect();
    let mut named: Vec<Vec<&str>> = (0..number * 3 / 4)
        .map(|word| vec![&words[word * 7 % different][..]])
        .collect();
    named.extend((named.len()..number).map(|_| sequence(2)));
    let megabytes = documents.iter().map(String::len).sum::<usize>() as f64 / 1e6;
    let joined: Vec<String> = named.iter().map(|term| term.join(" ")).collect();
    let terms = |plurals: bool| Terms::new(joined.iter().map(|term| &term[..]), Folding { plurals });

    let print = |what: &str, seconds: f64| println!("{what:<44} {seconds:>10.6} s");
    let matching = |what: &str, terms: &Terms, documents: &[String]| -> Result<Corpus> {
        let (seconds, corpus) = quickest(runs, || find(terms, documents))?;
        print(&format!("{what}, {:.0} MB/s", megabytes / seconds), seconds);
        Ok(corpus)
    };
    let corpus = matching("finding terms", &terms(false)?, &documents)?;
    matching("with plurals", &terms(true)?, &documents)?;
    let accented: Vec<String> = documents
        .iter()
        .map(|document| document.replacen('e', "é", 9))
        .collect();
    matching("with accents", &terms(false)?, &accented)?;

    let (all, _) = quickest(runs, || corpus.clone().cooccurrence(PairSelection::All, &control))?;
    print("counting all pairs", all);
    let hundredth: Vec<(u32, u32)> = (0..number * number / 200)
        .map(|_| {
            (
                random.random_range(0..number as u32),
                random.random_range(0..number as u32),
            )
        })
        .collect();
    let (some, _) = quickest(runs, || {
        corpus
            .clone()
            .cooccurrence(PairSelection::Pairs(&hundredth), &control)
    })?;
    print("counting a hundredth of them", some);
    let single = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let (alone, _) =
        single.install(|| quickest(runs, || corpus.clone().cooccurrence(PairSelection::All, &control)))?;
    print("counting all pairs on one thread", alone);

    let (sample, few) = (
        &documents[..documents.len().min(SAMPLE)],
        number.min(SAMPLE) as u32,
    );
    let terms = terms(false)?;
    let (seconds, _) = quickest(runs, || find(&terms, sample))?;
    let (by_definition, mut sets) = quickest(1, || Ok(find_by_definition(&named, sample)))?;
    println!(
        "by definition, finding takes {:.0} times as long",
        by_definition / seconds
    );
    sets.iter_mut().for_each(|set| set.retain(|&term| term < few));
    let mut corpus = Corpus::new(few as usize);
    sets.iter().try_for_each(|set| corpus.push(set))?;
    let (seconds, counts) = quickest(runs, || corpus.clone().cooccurrence(PairSelection::All, &control))?;
    let (by_definition, expected) = quickest(1, || Ok(count_by_definition(few, &sets)))?;
    println!(
        "by definition, counting takes {:.0} times as long",
        by_definition / seconds
    );
    let pairs = (0..few).flat_map(|one| (one + 1..few).map(move |other| (one, other)));
    let found: Vec<u64> = pairs.map(|(one, other)| counts.counts(one, other).2).collect();
    match found == expected {
        true => Ok(()),
        false => Err("the definition gives other counts".into()),
    }
}
