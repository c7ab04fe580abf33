//! Labels as the guard reads them: what a column counts as when it leaves.
//!
//! The labels of protected relations decide. A label of another relation counts only if the exporting role
//! could not have set it, so that nobody weakens a judgement by labels of their own. If protected relations of
//! several owners are read, this holds for them, too, because anybody can protect a relation of their own.

use crate::error::Error;
use crate::guard::policy::{self, Policy};
use crate::guard::rights;
use crate::guard::shape::{Origin, Origins};
use crate::label::labels_of;
use crate::pg::catalog;
use disclosure::{Label, Weights};
use pgrx::pg_sys::Oid;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
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
    /// Policies that the export has to comply with.
    policies: Vec<Rc<Policy>>,
    /// Relations that these policies concern.
    protected: Vec<Oid>,
    /// Whether these relations have several owners.
    has_several_owners: bool,
}

impl Labels {
    /// Returns an empty cache for an export that has to comply with these policies.
    pub fn new(policies: &[Rc<Policy>]) -> Result<Self, Error> {
        let relations: Vec<Oid> = policies.iter().map(|policy| policy.relation).collect();
        let owners: Vec<Option<Oid>> = relations.iter().map(|&relation| catalog::owner_of(relation)).collect();
        Ok(Labels {
            has_several_owners: owners.iter().any(|owner| *owner != owners[0]),
            by_relation: HashMap::new(),
            policies: policies.to_vec(),
            protected: policy::family_of(&relations)?,
        })
    }

    /// Returns an empty cache for the rows of a relation itself.
    pub fn of_relation(relation: Oid) -> Result<Self, Error> {
        Ok(Labels {
            has_several_owners: false,
            by_relation: HashMap::new(),
            policies: Vec::new(),
            protected: policy::family_of(&[relation])?,
        })
    }

    /// Returns whether a policy is on this very relation.
    pub fn has_own_policy(&self, relation: Oid) -> bool {
        self.policies.iter().any(|policy| policy.relation == relation)
    }

    /// Takes a relation for a protected one: a materialized view that is made of protected relations.
    pub fn protect(&mut self, relation: Oid) {
        self.protected.push(relation);
    }

    fn is_protected(&self, relation: Oid) -> bool {
        self.protected.contains(&relation)
    }

    /// Returns the label of a column. If it has none, returns that of a column of the same name in the
    /// relation's family.
    fn of(&mut self, origin: &Origin) -> Result<Option<Label>, Error> {
        let is_protected = self.is_protected(origin.relation);
        let labels = match self.by_relation.entry(origin.relation) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(rights::as_guard(|| {
                let mut labels = HashMap::new();
                for relation in policy::family_of(&[origin.relation])? {
                    labels.extend(labels_of(relation)?);
                }
                labels.extend(labels_of(origin.relation)?);
                Ok(labels)
            })?),
        };
        let label = labels.get(&origin.column).copied();
        let could_be_own = || {
            let owner = catalog::owner_of(origin.relation);
            let mut roles = rights::everyone_behind().into_iter();
            owner.is_none_or(|owner| roles.any(|role| rights::has_rights_of(role, owner)))
        };
        match label {
            Some(_) if (!is_protected || self.has_several_owners) && could_be_own() => Ok(None),
            label => Ok(label),
        }
    }

    /// Returns the weights of a value that is made of `origins`: the maximum likelihood and the maximum danger
    /// of all, or `None` if all are labelled `ignore`. In an export an identifier counts as a quasi-identifier,
    /// because an adversary who knows it knows whose row it is.
    pub fn weights(&mut self, origins: &Origins) -> Result<Option<Weights>, Error> {
        let mut worst: Option<Weights> = None;
        let mut is_ignored = false;
        for origin in origins {
            let weights = match self.of(origin)? {
                Some(Label::Ignore) => {
                    is_ignored = true;
                    continue;
                }
                Some(label) if label.is_identifier() => Label::Quasi.weights(),
                Some(label) => label.weights(),
                // The columns that a view's column is made of are among the origins, too.
                None if catalog::is_view(origin.relation) && origins.len() > 1 => continue,
                None if self.is_protected(origin.relation) => Some(Weights::UNLABELLED),
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

    /// Returns whether a NULL in a value that is made of `origins` is a value by itself: all that are labelled
    /// as dangerous say so. A label of a view does not change what the relation under it says.
    pub fn nulls_are_values(&mut self, origins: &Origins) -> Result<bool, Error> {
        let mut are_values = false;
        for origin in origins {
            match self.of(origin)? {
                Some(label) if label.nulls_are_values() => are_values = true,
                Some(label) if label.weights().is_some_and(|weights| weights.danger > 0.0) => return Ok(false),
                None if self.is_protected(origin.relation) && !catalog::is_view(origin.relation) => return Ok(false),
                _ => (),
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

    /// Returns the labels of these columns as a text such as `zip (quasi)`.
    pub fn described(&mut self, origins: &Origins) -> Result<Vec<String>, Error> {
        let mut described = Vec::new();
        for origin in origins {
            let label = match self.of(origin)? {
                Some(label) => label.to_string(),
                None if catalog::is_view(origin.relation) && origins.len() > 1 => continue,
                None => "no label".into(),
            };
            described.push(format!("{} ({label})", origin.column));
        }
        Ok(described)
    }
}
