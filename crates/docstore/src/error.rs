use std::error::Error;

use diesel::result::DeserializeFieldError;
use model::UnknownName;
use tokio::task::JoinError;

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database is unreachable, the connection was lost, or the pool timed out. Transient; a write may or may not
    /// have been committed.
    #[error("database unavailable: {0}")]
    Unavailable(String),
    /// The database rolled a transaction back, since another one stood in its way, as in a deadlock, or since a statement took too
    /// long. Transient.
    #[error("transaction aborted: {0}")]
    Aborted(String),
    /// Tables are missing or outdated.
    #[error("the database has {pending} pending migrations: run `retrieval-server migrate`")]
    NotMigrated { pending: usize },
    /// A newer version has taken away what this version uses in the database.
    #[error(
        "the database is of a newer version: its migration `{migration}` is unknown to this one; use the newer version, or \
         restore a backup"
    )]
    NewerDatabase { migration: String },
    /// The operation exists for SQLite files only.
    #[error("the database is not a SQLite file")]
    NotSqlite,
    #[error("invalid database URL `{url}`: {message}")]
    InvalidUrl { url: String, message: String },
    /// The store was opened outside of tokio or on a current-thread runtime.
    #[error("the docstore must be opened on a multi-threaded tokio runtime")]
    WrongRuntime,
    /// A unique constraint was violated.
    #[error("row already exists")]
    Conflict,
    #[error("query failed")]
    Query(#[source] diesel::result::Error),
    /// A row contains an enum value that was written by a newer version.
    #[error("column `{column}` contains a value that this version does not support")]
    UnknownValue {
        column: String,
        #[source]
        value: UnknownName,
    },
    #[error("migration failed: {0}")]
    Migration(String),
    /// The background task of an operation panicked or was cancelled.
    #[error("database task ended early")]
    Interrupted(#[source] Box<dyn Error + Send + Sync>),
}

/// Returns the outcome of a task.
pub(crate) fn joined<T>(ended: std::result::Result<Result<T>, JoinError>) -> Result<T> {
    ended.unwrap_or_else(|error| Err(StoreError::Interrupted(Box::new(error))))
}

/// Messages of the codes 40P01, 55P03 and 57014 of PostgreSQL, for which diesel has no error kind; it does not expose the codes.
const POSTGRES_ABORTED: [&str; 3] =
    ["deadlock detected", "canceling statement due to lock timeout", "canceling statement due to statement timeout"];
/// Message of SQLITE_BUSY, for which diesel has no error kind: another process held the write lock for too long.
const SQLITE_BUSY: &str = "database is locked";
/// Messages of conditions that pass: also a full disk, which fails writes to the database (SQLITE_FULL) or to its files beside it
/// (SQLITE_IOERR).
const SQLITE_TRANSIENT: [&str; 3] = [SQLITE_BUSY, "database or disk is full", "disk I/O error"];

/// Returns true if PostgreSQL has no room for a file (53100). The message names the file before the reason, which is the system's.
fn is_postgres_full(message: &str) -> bool {
    message.ends_with(": No space left on device") || message.starts_with("could not extend file ")
}

/// Returns true if another connection holds a lock of the SQLite file.
pub(crate) fn is_sqlite_busy(error: &diesel::result::Error) -> bool {
    matches!(error, diesel::result::Error::DatabaseError(_, info) if info.message() == SQLITE_BUSY)
}

impl From<diesel::result::Error> for StoreError {
    fn from(error: diesel::result::Error) -> Self {
        use diesel::result::{DatabaseErrorKind, Error as Diesel};
        match error {
            Diesel::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => StoreError::Conflict,
            Diesel::DatabaseError(DatabaseErrorKind::ClosedConnection, info) => {
                StoreError::Unavailable(info.message().to_owned())
            }
            Diesel::DatabaseError(DatabaseErrorKind::SerializationFailure, info) => {
                StoreError::Aborted(info.message().to_owned())
            }
            // The connection was lost during the query. A message too large for the protocol has the same kind.
            Diesel::DatabaseError(DatabaseErrorKind::UnableToSendCommand, info)
                if !info.message().starts_with("error encoding") =>
            {
                StoreError::Unavailable(info.message().to_owned())
            }
            // A standby that is not promoted yet, or a server that an administrator has closed for writes.
            Diesel::DatabaseError(DatabaseErrorKind::ReadOnlyTransaction, info) => {
                StoreError::Unavailable(info.message().to_owned())
            }
            // PostgreSQL is shutting down or an administrator closed the connection; diesel does not expose the code.
            Diesel::DatabaseError(_, info) if info.message().starts_with("terminating connection") => {
                StoreError::Unavailable(info.message().to_owned())
            }
            Diesel::DatabaseError(_, info) if POSTGRES_ABORTED.contains(&info.message()) => {
                StoreError::Aborted(info.message().to_owned())
            }
            Diesel::DatabaseError(_, info)
                if SQLITE_TRANSIENT.contains(&info.message()) || is_postgres_full(info.message()) =>
            {
                StoreError::Unavailable(info.message().to_owned())
            }
            Diesel::DeserializationError(error) => deserialization_error(error),
            other => StoreError::Query(other),
        }
    }
}

fn deserialization_error(error: Box<dyn Error + Send + Sync>) -> StoreError {
    let field = match error.downcast::<DeserializeFieldError>() {
        Ok(field) => *field,
        Err(other) => return StoreError::Query(diesel::result::Error::DeserializationError(other)),
    };
    let column = field.field_name.clone().unwrap_or_default();
    match field.error.downcast_ref::<UnknownName>() {
        Some(value) => StoreError::UnknownValue { column, value: value.clone() },
        None => StoreError::Query(diesel::result::Error::DeserializationError(Box::new(field))),
    }
}

#[cfg(test)]
mod tests {
    use diesel::result::DatabaseErrorKind;

    use super::*;

    fn reported(message: &str) -> StoreError {
        diesel::result::Error::DatabaseError(DatabaseErrorKind::Unknown, Box::new(message.to_owned())).into()
    }

    #[test]
    fn full_disk_is_unavailable() {
        for message in [
            "database or disk is full",
            "could not extend file \"base/16384/16397\": No space left on device",
            "could not extend file \"base/16384/16397\": wrote only 4096 of 8192 bytes at block 7",
            "could not write to file \"base/pgsql_tmp/pgsql_tmp8.0\": No space left on device",
        ] {
            assert!(matches!(reported(message), StoreError::Unavailable(_)), "{message}");
        }
        let refused = reported("invalid input syntax for type json: \"No space left on device\"");
        assert!(matches!(refused, StoreError::Query(_)), "{refused:?}");
    }
}
