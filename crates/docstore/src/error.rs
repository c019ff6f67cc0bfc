use std::error::Error;

use diesel::result::DeserializeFieldError;
use model::UnknownName;

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why the docstore did not answer.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be reached, went away under the query, or has no free connection in time: transient. Of a
    /// write that ends so it is not known whether it was done.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// The tables are missing or of an older version.
    #[error("the database is not prepared ({pending} migrations are pending): run `retrieval-server migrate`")]
    NotMigrated { pending: usize },
    /// The address of the database makes no sense.
    #[error("invalid database url `{url}`: {message}")]
    InvalidUrl { url: String, message: String },
    /// The store was opened where it cannot work: outside of tokio, or on a current-thread runtime.
    #[error("the docstore must be opened on a multi-threaded tokio runtime")]
    WrongRuntime,
    /// A row that must be unique exists already.
    #[error("the row exists already")]
    Conflict,
    #[error("a query failed")]
    Query(#[source] diesel::result::Error),
    /// A row was written by a version that knows more values of an enum than this one.
    #[error("the column `{column}` holds a value that this version does not know")]
    UnknownValue {
        column: String,
        #[source]
        value: UnknownName,
    },
    #[error("a migration failed: {0}")]
    Migration(String),
    /// A task of ours ended without an answer.
    #[error("a database task ended early")]
    Interrupted(#[source] Box<dyn Error + Send + Sync>),
}

/// SQLite's words for SQLITE_BUSY, which diesel gives no kind of its own.
pub(crate) const SQLITE_BUSY: &str = "database is locked";

impl From<diesel::result::Error> for StoreError {
    fn from(error: diesel::result::Error) -> Self {
        use diesel::result::{DatabaseErrorKind, Error as Diesel};
        match error {
            Diesel::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => StoreError::Conflict,
            Diesel::DatabaseError(DatabaseErrorKind::ClosedConnection, info) => {
                StoreError::Unavailable(info.message().to_owned())
            }
            // The connection was lost under the query. A message that is too large for the protocol has the same kind.
            Diesel::DatabaseError(DatabaseErrorKind::UnableToSendCommand, info)
                if !info.message().starts_with("error encoding") =>
            {
                StoreError::Unavailable(info.message().to_owned())
            }
            // PostgreSQL's words when it stops or is told to drop us; diesel keeps its code for itself.
            Diesel::DatabaseError(_, info) if info.message().starts_with("terminating connection") => {
                StoreError::Unavailable(info.message().to_owned())
            }
            // SQLite's words when another process held the write lock for longer than we wait.
            Diesel::DatabaseError(_, info) if info.message() == SQLITE_BUSY => {
                StoreError::Unavailable(info.message().to_owned())
            }
            Diesel::DeserializationError(error) => unreadable(error),
            other => StoreError::Query(other),
        }
    }
}

fn unreadable(error: Box<dyn Error + Send + Sync>) -> StoreError {
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
