//! Database URLs: parsing and redaction.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::backend::postgres;
use crate::error::{Result, StoreError};

/// Location of a database. `Debug` output omits credentials.
#[derive(Clone)]
pub enum Location {
    Sqlite(PathBuf),
    Postgres(String),
}

impl Location {
    /// Parses `sqlite:FILE` (relative to `data_dir`) or `postgres://...`.
    ///
    /// # Errors
    ///
    /// `InvalidUrl`, with the URL redacted.
    pub fn parse(url: &str, data_dir: &Path) -> Result<Self> {
        let invalid = |message: &str| StoreError::InvalidUrl { url: redacted(url), message: message.to_owned() };
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            postgres::parse(url).map_err(|message| invalid(&message))?;
            return Ok(Location::Postgres(url.to_owned()));
        }
        let file = url.strip_prefix("sqlite:").ok_or_else(|| invalid("expected `sqlite:FILE` or `postgres://...`"))?;
        let file = file.strip_prefix("//").unwrap_or(file);
        if file.is_empty() || file.starts_with(":memory:") {
            return Err(invalid("expected a file name; each connection to `:memory:` would open its own database"));
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

/// Removes everything that could be a part of a password, also from a malformed URL. Keeps the part between the user and
/// the parameters, or only the scheme where these cannot be told apart.
fn redacted(url: &str) -> String {
    let scheme = url.find("://").map_or("", |end| &url[..end + 3]);
    match (url.rfind('@'), url.find('?')) {
        // Ambiguous: the password contains a question mark, or a parameter an at sign.
        (Some(at), Some(question)) if question < at => format!("{scheme}..."),
        (Some(at), question) => format!("{scheme}...@{}", &url[at + 1..question.unwrap_or(url.len())]),
        (None, Some(question)) => format!("{}?...", &url[..question]),
        (None, None) => url.to_owned(),
    }
}
