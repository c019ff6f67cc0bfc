//! Places that do not keep a rule: numbers per crate for the rules of [`ratchet`](super::ratchet), and two lists.
//!
//! A number may only fall. An empty table means that its rule holds everywhere.

use super::ratchet::Allowed;

/// Doc comments and headings that open with a question word.
pub const OPENINGS: Allowed = &[];

/// Reads of the system's clock outside `clocks::READERS`.
pub const CLOCKS: Allowed = &[];

/// Public functions and fields with bare ids or times.
///
/// docstore: the subject of an audit entry is an organization, a key or an entry of the ledger.
pub const SIGNATURES: Allowed = &[("docstore", 1)];

/// Packages whose folder has another name.
pub const FOLDERS: &[&str] = &[];

/// Groups of modules that use each other in circles, by crate.
///
/// retrieval-client: `Client::builder` returns the builder, which builds the client.
pub const CYCLES: &[(&str, &[&str])] = &[("retrieval-client", &["builder", "client"])];
