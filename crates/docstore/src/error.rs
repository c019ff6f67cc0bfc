use std::error::Error;

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why the docstore did not answer.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be reached or has no free connection in time: transient.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// The tables are missing or of an older version.
    #[error("the database is not prepared ({pending} migrations are pending): run `retrieval-server migrate`")]
    NotMigrated { pending: usize },
    /// The address of the database makes no sense.
    #[error("invalid database url `{url}`: {message}")]
    InvalidUrl { url: String, message: String },
    /// A row that must be unique exists already.
    #[error("the row exists already")]
    Conflict,
    #[error("a query failed")]
    Query(#[source] diesel::result::Error),
    #[error("a migration failed: {0}")]
    Migration(String),
    /// A task of ours ended without an answer.
    #[error("a database task ended early")]
    Interrupted(#[source] Box<dyn Error + Send + Sync>),
}

impl From<diesel::result::Error> for StoreError {
    fn from(error: diesel::result::Error) -> Self {
        use diesel::result::{DatabaseErrorKind, Error as Diesel};
        match error {
            Diesel::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => StoreError::Conflict,
            Diesel::DatabaseError(DatabaseErrorKind::ClosedConnection, info) => {
                StoreError::Unavailable(info.message().to_owned())
            }
            other => StoreError::Query(other),
        }
    }
}
