//! Language of the database's messages.

use crate::Docstore;
use crate::backend::{Backend, messages};
use crate::error::Result;

impl Docstore {
    /// Returns the locale of a PostgreSQL server whose messages are translated and that does not let this role change that; `None`
    /// otherwise, and for SQLite. Some errors that pass, such as deadlocks, are then taken for permanent ones.
    pub async fn find_translated_messages(&self) -> Result<Option<String>> {
        let Backend::Postgres(pools) = &self.backend else { return Ok(None) };
        let pools = pools.clone();
        self.detached(async move { Ok(messages::find_translation(&mut *pools.reader().await?).await?) }).await
    }
}
