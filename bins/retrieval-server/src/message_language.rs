//! Language of the database's messages.

use docstore::{Docstore, StoreError};

/// Remedy of the operator.
pub const HINT: &str = "as a superuser of PostgreSQL: ALTER DATABASE name SET lc_messages = 'C'";

/// Describes messages by which the service cannot recognize errors; `None` if they are English.
pub async fn problem(store: &Docstore) -> Result<Option<String>, StoreError> {
    let locale = store.find_translated_messages().await?;
    Ok(locale.map(|locale| {
        format!(
            "the messages of PostgreSQL are translated (`{locale}`): some errors that pass are taken for permanent ones"
        )
    }))
}
