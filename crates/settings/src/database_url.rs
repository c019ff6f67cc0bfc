use std::path::{Path, PathBuf};

use url::Url;

use crate::Secret;

/// Which database, resolved.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DatabaseUrl {
    /// The file of the embedded database.
    Sqlite(PathBuf),
    /// The whole URL, which may hold a password.
    Postgres(Secret),
}

impl DatabaseUrl {
    /// `sqlite:FILE`, `sqlite://FILE` (relative to `data_dir` unless absolute), `postgres://` or `postgresql://`.
    /// The error is a reason without the URL.
    pub(crate) fn parse(text: &str, data_dir: &Path) -> Result<Self, String> {
        if let Some(file) = text.strip_prefix("sqlite:") {
            let file = file.strip_prefix("//").unwrap_or(file);
            // Each pooled connection to `:memory:` would be a database of its own.
            if file.is_empty() || file == ":memory:" || file.contains('?') {
                return Err("names no database file; write `sqlite:FILE`".to_owned());
            }
            return Ok(DatabaseUrl::Sqlite(data_dir.join(file)));
        }
        match Url::parse(text) {
            Ok(url) if matches!(url.scheme(), "postgres" | "postgresql") => {
                Ok(DatabaseUrl::Postgres(Secret::new(text)))
            }
            Ok(_) | Err(_) => Err("is neither `sqlite:FILE` nor `postgres://user:password@host/database`".to_owned()),
        }
    }
}
