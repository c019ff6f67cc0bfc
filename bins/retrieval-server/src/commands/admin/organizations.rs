//! `admin org list` and `admin org delete`.

use std::io::{IsTerminal, stdin, stdout};

use anyhow::{Context, bail};
use app::{accounts, removal};
use docstore::{Docstore, Location, Organization, OrganizationSize, StorageTotals};
use indicatif::ProgressBar;
use model::{IndexName, OrganizationId};
use serde_json::{Value, json};
use settings::Settings;

use crate::commands::catch_up::catch_up;
use crate::{actor, compose, data_folder, database_use, logging, output};

/// Returns the line of an organization, with its size and quotas.
fn line(size: &OrganizationSize, settings: &Settings) -> Value {
    let OrganizationSize { organization, totals, documents } = size;
    json!({
        "organization_id": organization.id.0,
        "name": organization.name,
        "billed": organization.billed,
        "created_at": output::time(organization.created_at),
        "state": state(organization),
        "deleted_at": output::time(organization.deleted_at),
        "files": totals.files,
        "max_files": settings.files.max_per_organization,
        "bytes": totals.bytes,
        "max_bytes": Some(settings.quotas.bytes_per_organization).filter(|bytes| *bytes > 0),
        "documents": documents,
    })
}

/// Prints a new organization.
pub fn print_new(organization: Organization, settings: &Settings) {
    output::json(&line(&OrganizationSize { organization, totals: StorageTotals::default(), documents: 0 }, settings));
}

/// Returns the state: `active`, `deleting` while data is being removed, `deleted`.
fn state(organization: &Organization) -> &'static str {
    match (organization.deleted_at, organization.removed_at) {
        (None, _) => "active",
        (Some(_), None) => "deleting",
        (Some(_), Some(_)) => "deleted",
    }
}

/// Prints all organizations with their sizes and quotas: a table on a terminal, one JSON object per line otherwise.
pub async fn list(store: &Docstore, settings: &Settings, json: bool) -> anyhow::Result<()> {
    let sizes = store.list_organization_sizes().await?;
    if !json && stdout().is_terminal() {
        output::text(&table(&sizes));
        return Ok(());
    }
    sizes.iter().for_each(|size| output::json(&line(size, settings)));
    Ok(())
}

fn table(sizes: &[OrganizationSize]) -> String {
    let mut rows = vec![["ORGANIZATION", "STATE", "FILES", "BYTES", "DOCUMENTS", "NAME"].map(str::to_owned)];
    rows.extend(sizes.iter().map(|OrganizationSize { organization, totals, documents }| {
        [
            organization.id.to_string(),
            state(organization).to_owned(),
            totals.files.to_string(),
            totals.bytes.to_string(),
            documents.to_string(),
            logging::visible(&organization.name).to_string(),
        ]
    }));
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    let row = |[id, state, files, bytes, documents, name]: &[String; 6]| {
        format!(
            "{id:w0$}  {state:w1$}  {files:>w2$}  {bytes:>w3$}  {documents:>w4$}  {name}\n",
            w0 = widths[0],
            w1 = widths[1],
            w2 = widths[2],
            w3 = widths[3],
            w4 = widths[4],
        )
    };
    rows.iter().map(row).collect()
}

/// Marks an organization as deleted. A running server removes its data in the background; without one this command does.
pub async fn delete(settings: &Settings, organization_id: OrganizationId, yes: bool) -> anyhow::Result<()> {
    let store = data_folder::open_existing(settings).await?;
    let sizes = store.list_organization_sizes().await?;
    let found = sizes.into_iter().find(|size| size.organization.id == organization_id);
    let Some(size) = found else { bail!("no organization has the id `{organization_id}`") };
    if !yes {
        confirm(&size)?;
    }
    let deleted =
        accounts::delete_organization(&store, &actor::of_command_line(), store.clock().now(), organization_id).await?;
    if deleted.removed_at.is_none() {
        match remove_here(settings, &store, organization_id).await? {
            true => {}
            false => output::note("keys are revoked; a running server, or the next one to start, removes the data"),
        }
    }
    let sizes = store.list_organization_sizes().await?;
    if let Some(left) = sizes.iter().find(|size| size.organization.id == organization_id) {
        output::json(&line(left, settings));
    }
    output::note(&data_folder::described(settings));
    Ok(())
}

/// Asks on the terminal for the name of the organization.
fn confirm(size: &OrganizationSize) -> anyhow::Result<()> {
    let name = &size.organization.name;
    if !stdin().is_terminal() {
        bail!("deleting organization `{name}` cannot be undone: confirm with --yes");
    }
    output::note(&format!(
        "this deletes organization `{name}` with {} files ({} bytes) and {} documents, and cannot be undone",
        size.totals.files, size.totals.bytes, size.documents
    ));
    output::note("type its name to confirm:");
    let mut typed = String::new();
    stdin().read_line(&mut typed)?;
    if typed.trim() != name.trim() {
        bail!("nothing was deleted: `{}` is not the name", typed.trim());
    }
    Ok(())
}

/// Removes the data in this process. Returns false if that is left to a server: one uses the data folder, or may use the
/// PostgreSQL database.
async fn remove_here(settings: &Settings, store: &Docstore, organization_id: OrganizationId) -> anyhow::Result<bool> {
    let Location::Sqlite(database) = compose::location(settings)? else { return Ok(false) };
    if database_use::is_used(&database)? {
        return Ok(false);
    }
    let (blobs, embedded) = compose::private_storage(settings, &compose::free_space(settings)).await?;
    let stop = tokio_util::sync::CancellationToken::new();
    let serving = embedded.map(|(server, internal)| {
        let stop = stop.clone();
        tokio::spawn(server.serve(internal, compose::internal_connections(), async move { stop.cancelled().await }))
    });
    let removed = async {
        blobs.prepare().await.context("preparing object storage")?;
        anyhow::Ok(removal::remove_organization(store, blobs.as_ref(), store.clock().as_ref(), organization_id).await?)
    }
    .await;
    stop.cancel();
    if let Some(serving) = serving {
        serving.await?;
    }
    drop(blobs);
    let is_complete = removed?;
    // Without the object store: a server that starts meanwhile takes the index over and needs both.
    catch_up(settings, store, IndexName::Workspace, &ProgressBar::new_spinner()).await?;
    Ok(is_complete)
}

#[cfg(test)]
mod tests {
    use model::Timestamp;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn columns_of_the_table_are_aligned() {
        let organization = |deleted_at| Organization {
            id: OrganizationId(Uuid::nil()),
            name: "a\nb".to_owned(),
            billed: false,
            created_at: Timestamp::UNIX_EPOCH,
            deleted_at,
            removed_at: None,
        };
        let size = |deleted_at, bytes| OrganizationSize {
            organization: organization(deleted_at),
            totals: StorageTotals { files: 7, bytes },
            documents: 12,
        };
        let id = Uuid::nil();
        let expected = format!(
            "ORGANIZATION                          STATE     FILES  BYTES  DOCUMENTS  NAME\n\
             {id}  active        7      5         12  a\\nb\n\
             {id}  deleting      7  12345         12  a\\nb\n"
        );
        assert_eq!(table(&[size(None, 5), size(Some(Timestamp::UNIX_EPOCH), 12_345)]), expected);
    }
}
