//! Clock of the database server.

use diesel::QueryableByName;
use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;
use model::Timestamp;

use crate::Docstore;
use crate::backend::Backend;
use crate::error::Result;

#[derive(QueryableByName)]
struct Now {
    #[diesel(sql_type = BigInt)]
    milliseconds: i64,
}

impl Docstore {
    /// Returns the time of a PostgreSQL server; `None` for SQLite, which has the clock of this process.
    pub async fn server_time(&self) -> Result<Option<Timestamp>> {
        let Backend::Postgres(pools) = &self.backend else { return Ok(None) };
        let pools = pools.clone();
        self.detached(async move {
            let mut connection = pools.reader().await?;
            let query = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint AS milliseconds";
            let Now { milliseconds } = diesel::sql_query(query).get_result(&mut connection).await?;
            Ok(Some(Timestamp::from_millis(milliseconds)))
        })
        .await
    }
}
