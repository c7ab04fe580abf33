//! Search for terms in documents.
//!
//! Terms in texts are found by the automaton of Aho and Corasick (1975) over words, which are numbered. The
//! crate aho-corasick searches bytes: it would find `knee` in `kneel`, and cannot fold case, accents and
//! plurals word by word. Terms in documents made of lexemes with positions are found by their first lexeme
//! and the offsets of the others.

use super::Folding;
use crate::{Control, Error, Result};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

type WordNumbers = HashMap<String, u32, FxBuildHasher>;

/// Terms to be found in texts. A term is a sequence of words. Terms are numbered from 0 in the order given.
/// Terms of the same words are found together; a term without words never occurs.
#[derive(Debug, Clone)]
pub struct Terms {
    folding: Folding,
    words: WordNumbers,
    /// Transitions of the automaton: from a node, which stands for a prefix of a term, by a word to a longer
    /// prefix.
    transitions: HashMap<(u32, u32), u32, FxBuildHasher>,
    /// Terms that end at each node, ascending.
    terms_at: Vec<Vec<u32>>,
    /// By node, the longest other prefix of a term that its words end with: the failure function of Aho and
    /// Corasick (1975).
    fallbacks: Vec<u32>,
    /// By node, the longest other term that its words end with; [`ROOT`] if there is none.
    suffix_terms: Vec<u32>,
    count: usize,
}

/// The node of the empty prefix.
const ROOT: u32 = 0;

/// Memory for searches, to be reused.
#[derive(Debug, Clone, Default)]
pub struct SearchBuffer {
    word: String,
    /// Number of texts searched so far.
    texts: u64,
    /// By node, the last text in which it was reached.
    last_reached: Vec<u64>,
    /// Lexemes that the document contains.
    present: Vec<u32>,
    /// By lexeme, its place in the document; `None` if the document does not contain it, and between
    /// documents.
    places: Vec<Option<u32>>,
}

impl Terms {
    /// Builds the automaton of terms, which are numbered in the order given.
    pub fn new<'a>(terms: impl Iterator<Item = &'a str>, folding: Folding) -> Result<Self> {
        let mut found = Terms {
            folding,
            words: WordNumbers::default(),
            transitions: HashMap::default(),
            terms_at: vec![vec![]],
            fallbacks: vec![],
            suffix_terms: vec![],
            count: 0,
        };
        let mut buffer = String::new();
        for term in terms {
            found.push(term, &mut buffer)?;
        }
        found.link();
        Ok(found)
    }

    /// Computes what each node falls back on. Shorter prefixes come first, because longer ones depend on
    /// theirs.
    fn link(&mut self) {
        let nodes = self.terms_at.len();
        self.fallbacks = vec![ROOT; nodes];
        self.suffix_terms = vec![ROOT; nodes];
        let mut longer = vec![vec![]; nodes];
        for (&(node, word), &next) in &self.transitions {
            longer[node as usize].push((word, next));
        }
        let mut order = vec![ROOT];
        let mut place = 0;
        while let Some(&node) = order.get(place) {
            place += 1;
            for &(word, next) in &longer[node as usize] {
                let fallback = match node {
                    ROOT => ROOT,
                    _ => self.next_node(self.fallbacks[node as usize], word),
                };
                self.fallbacks[next as usize] = fallback;
                self.suffix_terms[next as usize] = match self.terms_at[fallback as usize].is_empty() {
                    true => self.suffix_terms[fallback as usize],
                    false => fallback,
                };
                order.push(next);
            }
        }
    }

    /// Returns the longest prefix of a term that the words of a node, followed by one more word, end with.
    fn next_node(&self, mut node: u32, word: u32) -> u32 {
        loop {
            match self.transitions.get(&(node, word)) {
                Some(&next) => return next,
                None if node == ROOT => return ROOT,
                None => node = self.fallbacks[node as usize],
            }
        }
    }

    fn push(&mut self, term: &str, buffer: &mut String) -> Result<()> {
        let mut node = ROOT;
        self.folding.words(term, buffer, |word| {
            let next = self.terms_at.len() as u32;
            let word = number(&mut self.words, word);
            node = *self.transitions.entry((node, word)).or_insert(next);
            if node == next {
                self.terms_at.push(vec![]);
            }
        });
        if node != ROOT {
            self.terms_at[node as usize].push(self.count as u32);
        }
        self.count += 1;
        check_size("terms", self.count)?;
        check_size("words in terms", self.terms_at.len())
    }

    /// Returns the number of terms.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Finds the terms that occur in a text as consecutive words, even if they overlap. Replaces the contents
    /// of `found` by their numbers, ascending, each once.
    pub fn in_text(
        &self,
        text: &str,
        buffer: &mut SearchBuffer,
        found: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        found.clear();
        let SearchBuffer {
            word,
            texts,
            last_reached,
            ..
        } = buffer;
        *texts += 1;
        last_reached.resize(last_reached.len().max(self.terms_at.len()), 0);
        let mut node = ROOT;
        for (start, end) in pieces(text) {
            control.check()?;
            self.folding.words(&text[start..end], word, |word| {
                let Some(&word) = self.words.get(word) else {
                    node = ROOT;
                    return;
                };
                node = self.next_node(node, word);
                let mut ending = node;
                // If a node was reached before in this text, so were the shorter ones.
                while ending != ROOT
                    && std::mem::replace(&mut last_reached[ending as usize], *texts) != *texts
                {
                    found.extend_from_slice(&self.terms_at[ending as usize]);
                    ending = self.suffix_terms[ending as usize];
                }
            });
        }
        found.sort_unstable();
        Ok(())
    }

    /// Returns the terms that match a whole text, ascending. For example, `Blood Pressure` matches the term
    /// `blood pressure`, but not `blood`.
    pub fn of_whole(&self, text: &str, buffer: &mut SearchBuffer) -> &[u32] {
        let mut node = Some(ROOT);
        self.folding.words(text, &mut buffer.word, |word| {
            let step = node.zip(self.words.get(word)).map(|(node, &word)| (node, word));
            node = step.and_then(|step| self.transitions.get(&step)).copied();
        });
        node.map_or(&[], |node| &self.terms_at[node as usize])
    }

    /// Finds the terms that match an element of a list, see [`of_whole`](Self::of_whole). Replaces the
    /// contents of `found` by their numbers, ascending, each once.
    pub fn in_list<'a>(
        &self,
        elements: impl IntoIterator<Item = &'a str>,
        buffer: &mut SearchBuffer,
        found: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        found.clear();
        for (number, element) in elements.into_iter().enumerate() {
            if number.is_multiple_of(1 << 12) {
                control.check()?;
            }
            found.extend_from_slice(self.of_whole(element, buffer));
        }
        found.sort_unstable();
        found.dedup();
        Ok(())
    }
}

/// Number of bytes of a text between two checks for cancellation: about a millisecond.
const BYTES_PER_CHECK: usize = 1 << 16;

/// Divides a text into pieces, at plain spaces, so that no word is cut in two. Returns the start and end of
/// each piece.
fn pieces(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start == text.len() {
            return None;
        }
        let bytes = text.as_bytes();
        let wanted = bytes.len().min(start + BYTES_PER_CHECK);
        let space = bytes[wanted..].iter().position(|&byte| byte == b' ');
        let piece = (start, space.map_or(bytes.len(), |space| wanted + space));
        start = piece.1;
        Some(piece)
    })
}

/// Terms to be found in documents that consist of lexemes with positions, like Postgres' `tsvector`. A term
/// consists of lexemes at offsets from each other, which may be larger than 1 because stop words leave gaps.
/// Terms are numbered from 0 in the order given. A term without lexemes never occurs.
#[derive(Debug, Clone)]
pub struct LexemeTerms {
    lexemes: WordNumbers,
    /// Terms, by their first lexeme.
    terms: Vec<Vec<LexemeTerm>>,
    count: usize,
}

#[derive(Debug, Clone)]
struct LexemeTerm {
    number: u32,
    /// Other lexemes, with their offsets from the first.
    others: Vec<(u32, u32)>,
}

impl LexemeTerms {
    /// Creates terms from the lexemes of each term and their positions in it.
    pub fn new(terms: Vec<Vec<(String, u32)>>) -> Result<Self> {
        let mut found = LexemeTerms {
            lexemes: WordNumbers::default(),
            terms: vec![],
            count: terms.len(),
        };
        check_size("terms", terms.len())?;
        for (term, mut lexemes) in terms.into_iter().enumerate() {
            lexemes.sort_unstable_by(|one, other| (one.1, &one.0).cmp(&(other.1, &other.0)));
            lexemes.dedup();
            let mut numbers = lexemes.iter().map(|(lexeme, position)| {
                let lexeme = number(&mut found.lexemes, lexeme);
                (lexeme, position - lexemes[0].1)
            });
            let Some((first, _)) = numbers.next() else {
                continue;
            };
            let others = numbers.collect();
            found.terms.resize(found.lexemes.len(), vec![]);
            found.terms[first as usize].push(LexemeTerm {
                number: term as u32,
                others,
            });
        }
        check_size("lexemes in terms", found.lexemes.len())?;
        Ok(found)
    }

    /// Returns the number of terms.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Finds the terms that occur in a document. A document consists of different lexemes, each with its
    /// positions, ascending. Terms of one lexeme need no positions. Replaces the contents of `found` by the
    /// numbers of the terms, ascending.
    pub fn in_lexemes(&self, document: &[(&str, &[u16])], buffer: &mut SearchBuffer, found: &mut Vec<u32>) {
        found.clear();
        let (places, present) = (&mut buffer.places, &mut buffer.present);
        present.clear();
        places.resize(places.len().max(self.lexemes.len()), None);
        for (place, (lexeme, _)) in document.iter().enumerate() {
            if let Some(&lexeme) = self.lexemes.get(*lexeme) {
                places[lexeme as usize] = Some(place as u32);
                present.push(lexeme);
            }
        }
        let positions = |lexeme: u32| match places[lexeme as usize] {
            Some(place) => document[place as usize].1,
            None => &[],
        };
        let is_at = |start: u16, &(lexeme, offset): &(u32, u32)| {
            let wanted = offset.saturating_add(start.into());
            let compare = |&position: &u16| u32::from(position).cmp(&wanted);
            positions(lexeme).binary_search_by(compare).is_ok()
        };
        for &first in &*present {
            let occurs = |term: &&LexemeTerm| {
                let others_at = |&start: &u16| term.others.iter().all(|other| is_at(start, other));
                term.others.is_empty() || positions(first).iter().any(others_at)
            };
            let terms = self.terms[first as usize].iter().filter(occurs);
            found.extend(terms.map(|term| term.number));
        }
        present.iter().for_each(|&lexeme| places[lexeme as usize] = None);
        found.sort_unstable();
    }
}

/// Returns the number of a word, a new one if the word is new.
fn number(numbers: &mut WordNumbers, word: &str) -> u32 {
    let next = numbers.len() as u32;
    *numbers.entry_ref(word).or_insert(next)
}

fn check_size(what: &'static str, size: usize) -> Result<()> {
    match size < u32::MAX as usize {
        true => Ok(()),
        false => Err(Error::TooMany {
            what,
            limit: u32::MAX.into(),
        }),
    }
}
