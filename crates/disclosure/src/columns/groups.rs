//! Groups of classes, and how a column splits them.

/// Groups of classes, one after another.
#[derive(Debug, Clone, Default)]
pub(super) struct Groups {
    classes: Vec<u32>,
    ends: Vec<u32>,
}

impl Groups {
    /// Returns a group of all classes from 0 to `classes`, if there are any.
    pub fn of_all(classes: usize) -> Self {
        let mut groups = Groups::default();
        if classes > 0 {
            groups.push(0..classes as u32);
        }
        groups
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let bounds = starts.zip(&self.ends);
        bounds.map(|(start, &end)| &self.classes[start as usize..end as usize])
    }

    pub fn push(&mut self, classes: impl IntoIterator<Item = u32>) {
        self.classes.extend(classes);
        self.ends.push(self.classes.len() as u32);
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the number of classes in all groups.
    pub fn classes(&self) -> usize {
        self.classes.len()
    }
}

/// Splits groups by the codes of a column. Its memory is used again for each group.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    /// Number of classes with each code, or where the next one of them goes; 0 between groups.
    places: Vec<u32>,
    /// Codes that occur in the group.
    codes: Vec<u32>,
    sorted: Vec<u32>,
}

impl Splitter {
    /// Returns a splitter for codes below `codes`.
    pub fn new(codes: usize) -> Self {
        Splitter {
            places: vec![0; codes],
            codes: Vec::new(),
            sorted: Vec::new(),
        }
    }

    /// Calls `on_part` with each part of a group that has the same code.
    #[inline]
    pub fn split(&mut self, group: &[u32], column: &[u32], mut on_part: impl FnMut(&[u32])) {
        if let [a, b] = *group {
            if column[a as usize] == column[b as usize] {
                on_part(group);
            } else {
                on_part(&group[..1]);
                on_part(&group[1..]);
            }
            return;
        }
        self.codes.clear();
        for &class in group {
            let code = column[class as usize];
            let count = &mut self.places[code as usize];
            if *count == 0 {
                self.codes.push(code);
            }
            *count += 1;
        }
        if let [code] = self.codes[..] {
            self.places[code as usize] = 0;
            on_part(group);
            return;
        }
        let mut next = 0;
        for &code in &self.codes {
            let place = &mut self.places[code as usize];
            let count = *place;
            *place = next;
            next += count;
        }
        self.sorted.clear();
        self.sorted.resize(group.len(), 0);
        for &class in group {
            let place = &mut self.places[column[class as usize] as usize];
            self.sorted[*place as usize] = class;
            *place += 1;
        }
        let mut start = 0;
        for &code in &self.codes {
            let end = std::mem::take(&mut self.places[code as usize]) as usize;
            on_part(&self.sorted[start..end]);
            start = end;
        }
    }
}
