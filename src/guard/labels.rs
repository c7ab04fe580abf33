//! Labels as the guard reads them: what a column counts as when it leaves.
//!
//! The labels of protected relations decide. A label counts only if the exporting role could not have set it, so
//! that nobody weakens a judgement by labels of their own; unless the role could as well change all policies that
//! the export has to comply with.

use crate::error::Error;
use crate::guard::origin::{Origin, Origins};
use crate::guard::policy::{self, Policy};
use crate::guard::rights;
use crate::label::labels_of;
use crate::pg::catalog;
use disclosure::{Label, Weights};
use pgrx::pg_sys::Oid;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Weights of a column that an adversary may know and that tells nothing about people: a column of a relation
/// without policies and labels.
const KNOWN: Weights = Weights {
    likelihood: 1.0,
    danger: 0.0,
};

/// Cache of labels, so that they are looked up once per relation.
pub struct Labels {
    by_relation: HashMap<Oid, HashMap<String, Label>>,
    /// Result of [`people`](Self::people), by relation.
    people: HashMap<Oid, BTreeSet<BTreeSet<String>>>,
    /// Policies that the export has to comply with.
    policies: Vec<Rc<Policy>>,
    /// Relations that these policies concern.
    protected: Vec<Oid>,
    /// Views that are taken as one relation, whatever they read.
    taken_whole: Vec<Oid>,
    /// Whether the exporting role could change all these policies.
    are_own: bool,
}

impl Labels {
    /// Returns an empty cache for an export that has to comply with these policies.
    pub fn new(policies: &[Rc<Policy>]) -> Result<Self, Error> {
        let relations: Vec<Oid> = policies.iter().map(|policy| policy.relation).collect();
        Ok(Labels {
            by_relation: HashMap::new(),
            people: HashMap::new(),
            policies: policies.to_vec(),
            protected: policy::family_of(&relations)?,
            taken_whole: Vec::new(),
            are_own: relations.into_iter().all(could_be_own),
        })
    }

    /// Returns an empty cache for the rows of a relation itself.
    pub fn of_relation(relation: Oid) -> Result<Self, Error> {
        Ok(Labels {
            by_relation: HashMap::new(),
            people: HashMap::new(),
            policies: Vec::new(),
            protected: policy::family_of(&[relation])?,
            taken_whole: Vec::new(),
            are_own: true,
        })
    }

    /// Returns whether a materialized view is protected by its own policies alone: its policies count instead of
    /// those of the relations that it is made of.
    pub fn has_own_policy(&self, view: Oid) -> Result<bool, Error> {
        let concerning = policy::concerning(&[view])?;
        let is_concerning =
            |policy: &&Rc<Policy>| concerning.iter().any(|other| other.number == policy.number);
        let mut policies = self.policies.iter().filter(is_concerning);
        Ok(policies.all(|policy| policy.relation == view))
    }

    /// Takes a relation for a protected one: a materialized view that is made of protected relations.
    pub fn protect(&mut self, relation: Oid) {
        self.protected.push(relation);
    }

    /// Takes a view as one relation: what its columns are made of is not among the origins of a value.
    pub fn take_whole(&mut self, view: Oid) {
        self.taken_whole.push(view);
    }

    /// Returns whether a column of a view counts as the columns that it is made of, which are among the origins, too.
    fn is_passed_on(&self, origin: &Origin, origins: &Origins) -> bool {
        let is_whole = self.taken_whole.contains(&origin.relation);
        catalog::is_view(origin.relation) && origins.len() > 1 && !is_whole
    }

    fn is_protected(&self, relation: Oid) -> bool {
        self.protected.contains(&relation)
    }

    /// Returns whether labels of a relation count, although the exporting role may be one that can set them. While
    /// a policy is locked, the labels of its relation are, too.
    fn may_be_own(&self, relation: Oid) -> bool {
        let is_locked = || {
            self.policies
                .iter()
                .any(|policy| policy.locked && policy.relation == relation)
        };
        self.is_protected(relation) && (self.are_own || is_locked())
    }

    /// Returns the labels of a relation's columns.
    fn all_of(&mut self, relation: Oid) -> Result<&HashMap<String, Label>, Error> {
        match self.by_relation.entry(relation) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(unknown) => Ok(unknown.insert(rights::as_guard(|| {
                let mut labels = HashMap::new();
                for member in policy::family_of(&[relation])? {
                    labels.extend(labels_of(member)?);
                }
                labels.extend(labels_of(relation)?);
                Ok(labels)
            })?)),
        }
    }

    /// Returns the column with the sampling weights of a relation, if there is one. A label that the exporting role
    /// could have set does not count, because weights make a risk smaller.
    pub fn weight_of(&mut self, relation: Oid) -> Result<Option<String>, Error> {
        let labels = self.all_of(relation)?.iter();
        let names: Vec<String> = labels
            .filter(|(_, label)| **label == Label::Weight)
            .map(|(name, _)| name.clone())
            .collect();
        let [name] = &names[..] else {
            return Ok(None);
        };
        let origin = Origin {
            relation,
            column: name.clone(),
        };
        Ok(self.of(&origin)?.map(|_| origin.column))
    }

    /// Returns the label of a column. If it has none, returns that of a column of the same name in the
    /// relation's family.
    fn of(&mut self, origin: &Origin) -> Result<Option<Label>, Error> {
        let may_be_own = self.may_be_own(origin.relation);
        let label = self.all_of(origin.relation)?.get(&origin.column).cloned();
        match label {
            Some(_) if !may_be_own && could_be_own(origin.relation) => Ok(None),
            label => Ok(label),
        }
    }

    /// Returns the weights of a value that is made of `origins`: the maximum likelihood and the maximum danger
    /// of all, or `None` if all are labelled `ignore`. In an export an identifier counts as a quasi-identifier,
    /// because an adversary who knows it knows whose row it is; so does a sampling weight.
    pub fn weights(&mut self, origins: &Origins) -> Result<Option<Weights>, Error> {
        let unlabelled = self.unlabelled(origins)?;
        let mut worst: Option<Weights> = None;
        let mut is_ignored = false;
        for origin in origins {
            let weights = match self.of(origin)? {
                Some(Label::Ignore) => {
                    is_ignored = true;
                    continue;
                }
                Some(label) if label.is_identifier() || label == Label::Weight => Label::Quasi.weights(),
                Some(label) => label.weights(),
                None if self.is_passed_on(origin, origins) => continue,
                None if unlabelled.contains(origin) => Some(Weights::UNLABELLED),
                None => Some(KNOWN),
            };
            let so_far = worst.get_or_insert(Weights {
                likelihood: 0.0,
                danger: 0.0,
            });
            if let Some(weights) = weights {
                so_far.likelihood = so_far.likelihood.max(weights.likelihood);
                so_far.danger = so_far.danger.max(weights.danger);
            }
        }
        let is_constant = origins.is_empty();
        Ok(worst.or((!is_ignored && !is_constant).then_some(Weights::UNLABELLED)))
    }

    /// Returns whether a NULL in a value that is made of `origins` is a value by itself: all labels of sensitive
    /// columns among these say so.
    pub fn nulls_are_values(&mut self, origins: &Origins) -> Result<bool, Error> {
        let unlabelled = self.unlabelled(origins)?;
        let mut are_values = false;
        for origin in origins {
            let is_sensitive = match self.of(origin)? {
                Some(label) if label.nulls_are_values() => {
                    are_values = true;
                    false
                }
                Some(label) => label.weights().is_some_and(|weights| weights.danger > 0.0),
                None if self.is_passed_on(origin, origins) => false,
                None => unlabelled.contains(origin),
            };
            if is_sensitive {
                return Ok(false);
            }
        }
        Ok(are_values)
    }

    /// Returns the name and label of a column among these that names people: an identifier, or a column labelled
    /// person or household.
    pub fn naming(&mut self, origins: &Origins) -> Result<Option<(String, Label)>, Error> {
        for origin in origins {
            if let Some(label) = self.of(origin)?.filter(|label| label.is_identifier()) {
                return Ok(Some((origin.column.clone(), label)));
            }
        }
        Ok(None)
    }

    /// Returns those of these columns that name people.
    pub fn identifiers(&mut self, origins: &Origins) -> Result<Origins, Error> {
        let mut found = Origins::new();
        for origin in origins {
            if self.of(origin)?.is_some_and(|label| label.is_identifier()) {
                found.insert(origin.clone());
            }
        }
        Ok(found)
    }

    /// Returns those of these columns that are protected and have no label. A column of a protected view without a label
    /// of its own has that of the columns that it is made of. So these need one, too, even if their own relation is not
    /// protected.
    pub fn unlabelled(&mut self, origins: &Origins) -> Result<Origins, Error> {
        let mut without = Origins::new();
        for origin in origins {
            if self.of(origin)?.is_none() {
                without.insert(origin.clone());
            }
        }
        let mut needing: Vec<Oid> = Vec::new();
        for origin in &without {
            if self.is_passed_on(origin, origins) && self.is_protected(origin.relation) {
                needing.extend(policy::relations_under(origin.relation)?);
            }
        }
        without.retain(|origin| {
            let is_meant = self.is_protected(origin.relation) || needing.contains(&origin.relation);
            is_meant && !self.is_passed_on(origin, origins)
        });
        Ok(without)
    }

    /// Returns whether these are a column labelled person, possibly read through views.
    pub fn is_person(&mut self, origins: &Origins) -> Result<bool, Error> {
        let mut is_person = false;
        for origin in origins {
            match self.of(origin)? {
                Some(Label::Person) => is_person = true,
                None if catalog::is_view(origin.relation) => (),
                _ => return Ok(false),
            }
        }
        Ok(is_person)
    }

    /// Returns the sets of columns, by name, of which each identifies the person that a row of a relation is about.
    /// The relations of an inheritance tree may be labelled differently, and then each set counts. So do labels that
    /// the exporting role has set: counting people can only make a judgement stricter.
    pub fn people(&mut self, relation: Oid) -> Result<&BTreeSet<BTreeSet<String>>, Error> {
        match self.people.entry(relation) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(unknown) => Ok(unknown.insert(rights::as_guard(|| {
                let mut sets = BTreeSet::new();
                // All relations of the tree, those beside this one included.
                let tree = policy::family_of(&policy::family_of(&[relation])?)?;
                for member in tree {
                    let people = labels_of(member)?.into_iter();
                    let people = people.filter(|(_, label)| *label == Label::Person);
                    sets.insert(people.map(|(name, _)| name).collect::<BTreeSet<_>>());
                }
                sets.retain(|columns| !columns.is_empty());
                Ok(sets)
            })?)),
        }
    }

    /// Returns these columns with their labels, such as `zip (quasi)`. Columns that no measure counts are left out.
    pub fn described(&mut self, origins: &Origins) -> Result<Vec<String>, Error> {
        let mut described = Vec::new();
        for origin in origins {
            let is_named =
                |policy: &Rc<Policy>| policy.columns.iter().flatten().any(|name| *name == origin.column);
            let label = match self.of(origin)? {
                Some(Label::Ignore) if !self.policies.iter().any(is_named) => continue,
                Some(label) => label.outline(),
                None if self.is_passed_on(origin, origins) => continue,
                None => "no label".into(),
            };
            described.push(format!("{} ({label})", origin.column));
        }
        Ok(described)
    }
}

/// Returns whether a role behind the statement has the rights of a relation's owner, and so can label it.
fn could_be_own(relation: Oid) -> bool {
    let mut roles = rights::everyone_behind().into_iter();
    catalog::owner_of(relation).is_none_or(|owner| roles.any(|role| rights::has_rights_of(role, owner)))
}
