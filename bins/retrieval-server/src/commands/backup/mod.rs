//! `backup`: writes a backup of the embedded data, also of a running server.

mod error;
mod object_copy;

use std::path::Path;

use anyhow::{Context, bail};
use docstore::{Docstore, Location};
use indicatif::ProgressBar;
use ingest::clock::to_date_time;
use model::{Clock, SystemClock};
use serde_json::json;
use settings::{Settings, StorageBackend};
use time::format_description::well_known::Rfc3339;

use self::object_copy::{Missing, ObjectCopy};
use crate::archive::{self, Manifest, Part};
use crate::draft::Draft;
use crate::files::OF_THE_SYSTEM;
use crate::{compose, data_folder, environment, last_backup, output};

pub use self::error::BackupError;

/// Files read from the database at a time.
const PAGE: i64 = 1_000;

pub async fn run(folder: &Path, settings: &Settings, config: Option<&Path>) -> anyhow::Result<()> {
    if let Location::Postgres(_) = compose::location(settings)? {
        return Err(BackupError::postgres(folder, settings).into());
    }
    let store = data_folder::open_unchanged(settings).await?;
    let draft = Draft::of(folder, &OF_THE_SYSTEM).map_err(|error| BackupError::of_folder(folder, error))?;
    let progress = ProgressBar::new_spinner();
    progress.set_message("copying the database");
    let database = draft.path.join(archive::DATABASE);
    store.copy_to(&database).await.context("copying the database")?;
    let copy = Docstore::open_copy(&database)?;
    let settings_text = Settings::effective_toml(config, environment()?)?;
    std::fs::write(draft.path.join(archive::SETTINGS), settings_text)?;
    let mut manifest = manifest(&copy).await?;
    let mut problems = 0;
    match settings.storage.backend {
        StorageBackend::Embedded => {
            problems =
                copy_objects(&compose::objects_dir(settings), &store, &copy, &draft.path, &mut manifest, &progress)
                    .await?;
        }
        StorageBackend::S3 => output::note("the objects are not included: storage is external (`storage.backend`)"),
    }
    for name in [archive::DATABASE, archive::SETTINGS] {
        manifest.parts.push(Part::of(&draft.path, name)?);
    }
    std::fs::write(draft.path.join(archive::MANIFEST), serde_json::to_vec_pretty(&manifest)?)?;
    progress.set_message("verifying");
    verify(&draft.path, &copy).await?;
    drop(copy);
    draft.publish(Path::new(archive::MANIFEST)).map_err(|error| BackupError::of_folder(folder, error))?;
    progress.finish_and_clear();
    if let Err(error) = last_backup::note(settings) {
        output::warn(&format!("{error:#}"));
    }
    for part in &manifest.parts {
        output::json(&json!(part));
    }
    output::json(&json!({
        "backup": std::path::absolute(folder)?,
        "organizations": manifest.organizations,
        "documents": manifest.documents,
        "files": manifest.files,
        "objects": manifest.objects,
        "object_bytes": manifest.object_bytes,
        "problems": problems,
    }));
    output::note(&data_folder::described(settings));
    if problems > 0 {
        bail!("the backup lacks {problems} objects that are missing or damaged: see `retrieval-server verify`");
    }
    Ok(())
}

async fn manifest(copy: &Docstore) -> anyhow::Result<Manifest> {
    let contents = copy.count_contents().await?;
    Ok(Manifest {
        format: Manifest::format(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        created_at: to_date_time(SystemClock.now()).format(&Rfc3339)?,
        organizations: contents.organizations,
        documents: contents.documents,
        captures: contents.captures,
        files: contents.files,
        objects: None,
        object_bytes: 0,
        parts: Vec::new(),
    })
}

/// Copies the objects of the files in the database's copy. Returns the number of missing and damaged ones.
async fn copy_objects(
    root: &Path,
    store: &Docstore,
    copy: &Docstore,
    folder: &Path,
    manifest: &mut Manifest,
    progress: &ProgressBar,
) -> anyhow::Result<u64> {
    let mut objects = ObjectCopy::create(root, folder)?;
    let mut problems = 0;
    let mut after = None;
    loop {
        let page = copy.list_all_files(after.take(), PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.object_key.clone());
        let missing;
        (objects, missing) = tokio::task::spawn_blocking(move || objects.add(page)).await??;
        progress.set_message(format!("{} of {} files", objects.count(), manifest.files));
        for Missing { file, damage } in missing {
            let now = store.find_file(file.organization_id, file.object_key.clone()).await?;
            let is_deleted = damage.is_none() && now.is_none_or(|file| file.withdrawn_at.is_some());
            problems += u64::from(!is_deleted);
            let kind = match (&damage, is_deleted) {
                (Some(_), _) => "object_damaged",
                (None, true) => "object_deleted",
                (None, false) => "object_missing",
            };
            progress.suspend(|| {
                let state = if is_deleted { "skipped" } else { "problem" };
                output::json(&json!({
                    state: kind,
                    "organization_id": file.organization_id.0,
                    "name": file.name,
                    "object_key": file.object_key,
                    "message": damage,
                }));
            });
        }
    }
    let (count, bytes, parts) = tokio::task::spawn_blocking(move || objects.finish()).await??;
    (manifest.objects, manifest.object_bytes) = (Some(count), bytes);
    manifest.parts.extend(parts);
    Ok(problems)
}

/// Reads the whole backup again.
async fn verify(folder: &Path, copy: &Docstore) -> anyhow::Result<()> {
    let damage = copy.find_damage().await?;
    if let Some(first) = damage.first() {
        bail!("the database is damaged: {first}");
    }
    let folder = folder.to_owned();
    tokio::task::spawn_blocking(move || {
        let manifest = archive::read_manifest(&folder)?;
        let mut read = |part: &Part| part.read(&folder, &mut std::io::sink());
        manifest.parts.iter().try_for_each(&mut read)?;
        archive::for_each_object(&folder, &manifest, read)
    })
    .await?
}
