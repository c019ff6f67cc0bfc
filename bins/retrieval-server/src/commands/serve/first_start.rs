//! First start on a SQLite database: an organization, and a key that no failure loses.

use std::path::Path;

use app::App;
use app::accounts::{FirstOrganization, NewKey};
use docstore::{Docstore, Location};
use model::{Clock, SystemClock};
use settings::{Settings, WebProvider};

use crate::banner::{self, KeptKey, KeyPlace};
use crate::{actor, compose};

/// Creates an organization and a key in an empty SQLite database and shows them. Does nothing on PostgreSQL.
pub async fn run(
    settings: &Settings,
    app: &App,
    store: &Docstore,
    print_key: bool,
    config: Option<&Path>,
) -> anyhow::Result<()> {
    if !matches!(compose::location(settings)?, Location::Sqlite(_)) {
        return Ok(());
    }
    if !store.list_organizations().await?.is_empty() {
        if let Err(error) = publish_kept_key(app, &settings.data_dir).await {
            tracing::warn!("{error:#}");
        }
        return Ok(());
    }
    // Read before the key is valid: nothing but its display may fail afterwards.
    let has_index_only = settings.web.providers == [WebProvider::Index];
    let is_web_empty = has_index_only && store.list_web_pages(None, None, 1).await?.is_empty();
    let program = is_web_empty.then(|| banner::program(config));
    let key = NewKey { name: "first key".to_owned(), ..NewKey::default() };
    let first = FirstOrganization::new(actor::SERVER, SystemClock.now(), "default", key)?;
    let organization_id = first.organization_id().to_string();
    // Kept before it is valid: if that fails, the next start is the first one again.
    let kept = banner::keep(first.key(), &settings.data_dir, print_key)?;
    match create(first, kept, store).await? {
        Some(place) => banner::print(&settings.server.public_url, &organization_id, place, program.as_deref()),
        None => Ok(()),
    }
}

/// Stores the organization and its key, and returns the place of the key. Returns `None`, and stores nothing, if there is an
/// organization by then.
async fn create(first: FirstOrganization, kept: KeptKey, store: &Docstore) -> anyhow::Result<Option<KeyPlace>> {
    match first.store(store).await {
        Ok(true) => Ok(Some(kept.publish()?)),
        Ok(false) => {
            tracing::info!("another process created the first organization");
            kept.discard();
            Ok(None)
        }
        Err(error) => {
            kept.discard();
            Err(error.into())
        }
    }
}

/// Gives the file of the first key its name, if the start that created the key ended before it did so.
async fn publish_kept_key(app: &App, data_dir: &Path) -> anyhow::Result<()> {
    for (key, kept) in banner::unpublished(data_dir) {
        // Other keys are of starts that created no organization, or of another database.
        if app.authenticate(&key).await?.is_none() {
            continue;
        }
        if let KeyPlace::File(file) = kept.publish()? {
            tracing::warn!(
                "an earlier start created the first key and ended before it showed it: the key is in the file `{}`",
                file.display()
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn key_of_an_organization_that_cannot_be_stored_is_discarded() {
        let folder = tempfile::tempdir().unwrap();
        // Without tables.
        let store = Docstore::open(&Location::Sqlite(folder.path().join("retrieval.db")), 2).unwrap();
        let first = FirstOrganization::new(actor::SERVER, SystemClock.now(), "default", NewKey::default()).unwrap();
        let kept = banner::keep_in_file(first.key(), folder.path()).unwrap();
        assert_eq!(banner::unpublished(folder.path()).len(), 1);
        assert!(create(first, kept, &store).await.is_err());
        assert_eq!(banner::unpublished(folder.path()).len(), 0);
    }
}
