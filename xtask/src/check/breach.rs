//! The finding of a rule.

/// One place where a rule is broken, with the repair.
#[derive(Debug, PartialEq, Eq)]
pub struct Breach {
    pub what: String,
    pub cure: String,
}

impl Breach {
    pub fn new(what: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { what: what.into(), cure: cure.into() }
    }
}
