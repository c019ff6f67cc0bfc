//! Programs under comparison.

use crate::bench::client::Client;
use crate::bench::collection::Collection;
use crate::bench::load::Kind;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

/// Running program that imports and searches documents. Dropping it stops its processes and removes its data.
pub trait Contender {
    fn name(&self) -> String;

    /// Imports documents. Returns the time until all of them can be found.
    ///
    /// # Errors
    ///
    /// Returns an error if a document cannot be imported.
    fn import(&mut self, collection: &Collection) -> anyhow::Result<Duration>;

    /// Returns a client with its own connection.
    fn client(&self) -> Client;

    /// Returns the kinds of searches to measure.
    fn forms(&self) -> Vec<Form>;

    /// Returns its main processes.
    fn pids(&self) -> Vec<u32>;

    /// Returns the folders with its data.
    fn folders(&self) -> Vec<PathBuf>;
}

/// Searches of one kind, for ten results.
pub struct Form {
    /// Addition to the name of the contender.
    pub suffix: &'static str,
    pub kind: Kind,
    /// Returns the body of a request for a query.
    pub body: fn(&str) -> Vec<u8>,
    /// Returns the ids of the documents in a response, best first.
    pub found: fn(&Value) -> Vec<String>,
}
