//! Search for the certain inferences about one row among few rows, from a given number of known attributes. A set of
//! rows is one machine word, so that nothing is allocated for the many small parts of a large table.

/// Largest number of rows.
pub(super) const MAX_ROWS: usize = u64::BITS as usize;

/// Number of sets of attributes that are tried between two checks of the limits.
const SETS_PER_LOOK: u32 = 1_024;

/// Attribute of the row.
#[derive(Clone, Copy)]
pub(super) struct Attribute {
    /// Bit of its slot.
    pub bit: usize,
    pub likelihood: f64,
    pub danger: f64,
    /// Rows that have it, one bit each.
    pub rows: u64,
}

/// Returns the set of the rows for which it is true.
pub(super) fn set(rows: impl Iterator<Item = bool>) -> u64 {
    rows.enumerate()
        .fold(0, |set, (row, has)| set | u64::from(has) << row)
}

/// Few rows, as one of them sees them.
#[derive(Default)]
pub(super) struct FewRows {
    /// How often each row occurs.
    pub multiplicity: Vec<u64>,
    /// Attributes that may become known.
    choices: Vec<Attribute>,
    /// Attributes that are harmful if they are inferred.
    harmful: Vec<Attribute>,
    /// Slots of the attributes that are assumed to be known.
    known: Vec<usize>,
    /// Number of sets that were tried.
    tried: u32,
    /// Whether the limits were reached.
    stopped: bool,
}

impl FewRows {
    /// Forgets all rows and attributes, but keeps the memory.
    pub fn clear(&mut self) {
        self.multiplicity.clear();
        self.choices.clear();
        self.harmful.clear();
    }

    /// Adds an attribute, which may be a choice, harmful, or both.
    pub fn add(&mut self, attribute: Attribute, is_choice: bool) {
        if is_choice {
            self.choices.push(attribute);
        }
        if attribute.danger > 0.0 {
            self.harmful.push(attribute);
        }
    }

    /// Tries all sets of `size` choices. Calls `wants` with the likelihood of a smaller set and the sum of all dangers:
    /// if it returns `false`, no set that contains that one is tried. Calls `take` with the slots, the likelihood, the
    /// sum of the inferred dangers, and the support of each set. Sets that are not free are left out: without one of
    /// their attributes, the same rows have the rest.
    pub fn search(
        &mut self,
        size: u32,
        likelihood: f64,
        wants: impl Fn(f64, f64) -> bool,
        take: impl Fn(&[usize], f64, f64, u64),
        should_stop: impl Fn() -> bool,
    ) {
        let danger = self.harmful.iter().map(|attribute| attribute.danger).sum();
        let calls = Calls {
            wants: |likelihood| wants(likelihood, danger),
            take,
            should_stop,
        };
        let all = u64::MAX >> (MAX_ROWS - self.multiplicity.len());
        self.known.clear();
        self.stopped = false;
        self.extend(&calls, 0, size, all, likelihood);
    }

    fn extend<W, T, S>(&mut self, calls: &Calls<W, T, S>, from: usize, left: u32, rows: u64, likelihood: f64)
    where
        W: Fn(f64) -> bool,
        T: Fn(&[usize], f64, f64, u64),
        S: Fn() -> bool,
    {
        self.tried = self.tried.wrapping_add(1);
        if self.tried.is_multiple_of(SETS_PER_LOOK) {
            self.stopped |= (calls.should_stop)();
        }
        if self.stopped {
            return;
        }
        if left == 0 {
            let is_inferred =
                |attribute: &&Attribute| rows & !attribute.rows == 0 && !self.known.contains(&attribute.bit);
            let inferred = self.harmful.iter().filter(is_inferred);
            let danger = inferred.fold(0.0, |sum, attribute| sum + attribute.danger);
            let support = (0..self.multiplicity.len()).filter(|row| rows >> row & 1 == 1);
            let support = support.map(|row| self.multiplicity[row]).sum();
            (calls.take)(&self.known, likelihood, danger, support);
            return;
        }
        for choice in from..self.choices.len() {
            let Attribute {
                bit,
                likelihood: of_choice,
                rows: having,
                ..
            } = self.choices[choice];
            let likelihood = likelihood * of_choice;
            if rows & having != rows && (calls.wants)(likelihood) {
                self.known.push(bit);
                self.extend(calls, choice + 1, left - 1, rows & having, likelihood);
                self.known.pop();
            }
        }
    }
}

/// What a search calls.
struct Calls<W, T, S> {
    wants: W,
    take: T,
    should_stop: S,
}
