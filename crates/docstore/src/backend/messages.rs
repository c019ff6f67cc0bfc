//! Language of PostgreSQL's messages. Diesel does not expose the codes of errors, so some are known by their English messages only.

use diesel::sql_types::Text;
use diesel::{QueryResult, QueryableByName};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};

#[derive(QueryableByName)]
struct Setting {
    #[diesel(sql_type = Text)]
    value: String,
}

/// Makes the messages of a connection English, if its role may.
pub async fn prefer_english(connection: &mut AsyncPgConnection) -> QueryResult<()> {
    if find_translation(connection).await?.is_some()
        && let Err(error) = connection.batch_execute("SET lc_messages = 'C'").await
    {
        tracing::debug!(error = &error as &dyn std::error::Error, "the database's messages stay translated");
    }
    Ok(())
}

/// Returns the locale of a connection's messages; `None` if they are English.
pub async fn find_translation(connection: &mut AsyncPgConnection) -> QueryResult<Option<String>> {
    let query = diesel::sql_query("SELECT current_setting('lc_messages') AS value");
    let Setting { value } = query.get_result(connection).await?;
    Ok((!is_english(&value)).then_some(value))
}

/// Returns true for a locale with English messages. An empty one is that of the server's environment: unknown, and usually English.
fn is_english(locale: &str) -> bool {
    let name = locale.split('.').next().unwrap_or_default();
    matches!(name, "" | "C" | "POSIX") || name.get(..2).is_some_and(|language| language.eq_ignore_ascii_case("en"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales_with_english_messages_are_known() {
        for locale in ["", "C", "C.UTF-8", "POSIX", "en_US.UTF-8", "en_GB", "en", "English_United States.1252"] {
            assert!(is_english(locale), "{locale}");
        }
        for locale in ["de_DE.UTF-8", "cs_CZ.utf8", "c", "CA", "German_Germany.1252", "fr", "e", "\u{e9}n"] {
            assert!(!is_english(locale), "{locale}");
        }
    }
}
