//! Addresses of databases, and how much of them may be shown.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::backend::postgres;
use crate::error::{Result, StoreError};

/// Where a docstore is. Its `Debug` form leaves the password out.
#[derive(Clone)]
pub enum Location {
    Sqlite(PathBuf),
    Postgres(String),
}

impl Location {
    /// Reads `sqlite:FILE` (relative to `data_dir`) or `postgres://...`.
    ///
    /// # Errors
    ///
    /// `InvalidUrl`, with what may be shown of the address.
    pub fn parse(url: &str, data_dir: &Path) -> Result<Self> {
        let invalid = |message: &str| StoreError::InvalidUrl { url: redacted(url), message: message.to_owned() };
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            postgres::parse(url).map_err(|message| invalid(&message))?;
            return Ok(Location::Postgres(url.to_owned()));
        }
        let file = url.strip_prefix("sqlite:").ok_or_else(|| invalid("expected `sqlite:FILE` or `postgres://...`"))?;
        let file = file.strip_prefix("//").unwrap_or(file);
        if file.is_empty() || file.starts_with(":memory:") {
            return Err(invalid("name a file: each connection to `:memory:` would be its own database"));
        }
        Ok(Location::Sqlite(data_dir.join(file)))
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Sqlite(path) => f.debug_tuple("Sqlite").field(path).finish(),
            Location::Postgres(url) => f.debug_tuple("Postgres").field(&redacted(url)).finish(),
        }
    }
}

/// What may be shown of an address that may hold a password, and may be misspelt in any way: what follows the user and
/// precedes the parameters, and nothing where these cannot be told apart.
fn redacted(url: &str) -> String {
    let scheme = url.find("://").map_or("", |end| &url[..end + 3]);
    match (url.rfind('@'), url.find('?')) {
        // Either the password holds a question mark or a parameter an at sign.
        (Some(at), Some(question)) if question < at => format!("{scheme}..."),
        (Some(at), question) => format!("{scheme}...@{}", &url[at + 1..question.unwrap_or(url.len())]),
        (None, Some(question)) => format!("{}?...", &url[..question]),
        (None, None) => url.to_owned(),
    }
}
