use std::collections::{BTreeMap, HashMap};

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{FileOutcome, OrganizationId, SyncId, Timestamp};

use super::Conn;
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::error::Result;
use crate::rows::RunFile;
use crate::schema::run_files;
use crate::types::Bind;

/// Records outcomes of a run's files. A file that is processed again in the same run keeps its last outcome; those in `gone` keep none.
pub async fn record_run_files(
    connection: &mut Conn,
    sync_id: SyncId,
    files: Vec<RunFile>,
    gone: Vec<String>,
) -> Result<()> {
    let mut names = gone;
    names.extend(files.iter().map(|file| file.name.clone()));
    delete_run_files(connection, sync_id, names).await?;
    insert_rows!(connection, run_files::table, files)?;
    Ok(())
}

/// Returns the outcomes that a run has recorded for files with these names, by name. At most `MAX_VALUES_PER_STATEMENT` names.
pub async fn find_outcomes(
    connection: &mut Conn,
    sync_id: SyncId,
    names: Vec<String>,
) -> Result<HashMap<String, FileOutcome>> {
    let rows: Vec<(String, FileOutcome)> = run_files::table
        .filter(run_files::sync_id.eq(Bind(sync_id)))
        .filter(run_files::name.eq_any(names))
        .select((run_files::name, run_files::outcome))
        .load(connection)
        .await?;
    Ok(rows.into_iter().collect())
}

async fn delete_run_files(connection: &mut Conn, sync_id: SyncId, names: Vec<String>) -> Result<usize> {
    let mut deleted = 0;
    for chunk in names.chunks(MAX_VALUES_PER_STATEMENT) {
        let rows = run_files::table
            .filter(run_files::sync_id.eq(Bind(sync_id)))
            .filter(run_files::name.eq_any(chunk.to_vec()));
        deleted += diesel::delete(rows).execute(connection).await?;
    }
    Ok(deleted)
}

pub async fn list_run_files(
    connection: &mut Conn,
    organization_id: OrganizationId,
    sync_id: SyncId,
    after: Option<String>,
    limit: i64,
) -> Result<Vec<RunFile>> {
    let mut query = run_files::table
        .filter(run_files::organization_id.eq(Bind(organization_id)))
        .filter(run_files::sync_id.eq(Bind(sync_id)))
        .order(run_files::name)
        .limit(limit)
        .select(RunFile::as_select())
        .into_boxed();
    if let Some(after) = after {
        query = query.filter(run_files::name.gt(after));
    }
    Ok(query.load(connection).await?)
}

pub async fn prune_run_files(connection: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    let expired: Vec<(SyncId, String)> = run_files::table
        .filter(run_files::processed_at.lt(Bind(before)))
        .order(run_files::processed_at)
        .limit(limit)
        .select((run_files::sync_id, run_files::name))
        .load(connection)
        .await?;
    delete_outcomes(connection, expired).await
}

/// Deletes outcomes of files of any runs. Returns their number.
pub async fn delete_outcomes(connection: &mut Conn, outcomes: Vec<(SyncId, String)>) -> Result<usize> {
    let mut by_run: BTreeMap<SyncId, Vec<String>> = BTreeMap::new();
    for (sync_id, name) in outcomes {
        by_run.entry(sync_id).or_default().push(name);
    }
    let mut deleted = 0;
    for (sync_id, mut names) in by_run {
        names.sort_unstable();
        deleted += delete_run_files(connection, sync_id, names).await?;
    }
    Ok(deleted)
}
