/// Group of documents that may share a worker process. A document that takes over its worker can read and falsify those
/// that the same worker reads later, so documents of different owners belong in different compartments.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Compartment(String);

impl Compartment {
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }
}
