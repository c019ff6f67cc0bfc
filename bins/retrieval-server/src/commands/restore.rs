//! `restore`: restores a backup into an empty data folder.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context, bail};
use docstore::{Contents, Docstore, Location};
use indicatif::ProgressBar;
use ingest::rebuild;
use model::{IndexName, SystemClock};
use serde_json::json;
use settings::{IndexBackend, Settings, StorageBackend};

use super::backup::BackupError;
use crate::archive::{self, Manifest};
use crate::files::Draft;
use crate::{compose, data_folder, files, output};

pub async fn run(folder: &Path, settings: &Settings) -> anyhow::Result<()> {
    let database = match compose::location(settings)? {
        Location::Sqlite(path) => Target::of(&path, &settings.data_dir)?,
        Location::Postgres(_) => return Err(BackupError::postgres_restore(folder).into()),
    };
    let manifest = archive::read_manifest(folder)?;
    Docstore::open_copy(&folder.join(archive::DATABASE))?.check_supported().await?;
    let draft = Draft::within(&settings.data_dir).map_err(|error| BackupError::of_folder(&settings.data_dir, error))?;
    let progress = ProgressBar::new_spinner();
    progress.set_message("copying");
    let manifest = {
        let (folder, draft) = (folder.to_owned(), draft.path.clone());
        tokio::task::spawn_blocking(move || copy(&folder, &draft, manifest)).await??
    };
    progress.set_message("verifying the database");
    check_database(&draft.path.join(archive::DATABASE), &manifest, settings).await?;
    match (manifest.objects, settings.storage.backend) {
        (None, _) => output::note("the backup has no objects: storage was external"),
        (Some(_), StorageBackend::Embedded) => {}
        (Some(_), StorageBackend::S3) => output::note("storage is external: the restored objects are not used"),
    }
    database.place(&draft.path)?;
    draft.publish_entries(&database.name()).context("moving the restored data into the data folder")?;
    progress.finish_and_clear();
    output::json(&json!({
        "restored": absolute(&settings.data_dir)?,
        "organizations": manifest.organizations,
        "documents": manifest.documents,
        "files": manifest.files,
        "objects": manifest.objects,
    }));
    output::note(&data_folder::described(settings));
    output::note(&format!(
        "the settings of the backup, without secrets, are in `{}`; the next start rebuilds the index",
        folder.join(archive::SETTINGS).display()
    ));
    Ok(())
}

/// Copies every part into the draft and compares it with the manifest.
fn copy(folder: &Path, draft: &Path, manifest: Manifest) -> anyhow::Result<Manifest> {
    archive::for_each_part(folder, &manifest, |part| {
        let is_data = [archive::DATABASE, archive::OBJECTS].iter().any(|data| Path::new(&part.path).starts_with(data));
        if !is_data {
            return part.read(folder, &mut std::io::sink());
        }
        let target = part.location(draft)?;
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut file = OpenOptions::new().write(true).create_new(true).open(&target)?;
        part.read(folder, &mut file)
    })?;
    Ok(manifest)
}

/// Upgrades and checks the restored database. A shared index is queued to be rebuilt; an embedded one is new, so the next
/// start rebuilds it.
async fn check_database(path: &Path, manifest: &Manifest, settings: &Settings) -> anyhow::Result<()> {
    let store = Docstore::open(&Location::Sqlite(path.to_owned()), 1)?;
    store.migrate().await.context("upgrading the restored database")?;
    if let Some(first) = store.find_damage().await?.first() {
        bail!("the restored database is damaged: {first}");
    }
    let Contents { organizations, documents, captures, files } = store.count_contents().await?;
    let expected = (manifest.organizations, manifest.documents, manifest.captures, manifest.files);
    if (organizations, documents, captures, files) != expected {
        bail!("the restored database has other contents than the manifest states");
    }
    if settings.index.backend == IndexBackend::Meilisearch {
        for index in IndexName::ALL {
            rebuild::queue_all(&store, *index, &SystemClock, |_| {}).await?;
        }
    }
    Ok(())
}

/// Place of the database: a path below the data folder, or elsewhere.
enum Target {
    Within(PathBuf),
    Elsewhere(PathBuf),
}

impl Target {
    fn of(path: &Path, data_dir: &Path) -> anyhow::Result<Self> {
        let (path, data_dir) = (absolute(path)?, absolute(data_dir)?);
        match path.strip_prefix(&data_dir) {
            Ok(relative) => Ok(Self::Within(relative.to_owned())),
            Err(_) if path.exists() => bail!("the database `{}` exists: restore never replaces one", path.display()),
            Err(_) => Ok(Self::Elsewhere(path)),
        }
    }

    /// Moves the database from its name in the backup to its place.
    fn place(&self, draft: &Path) -> anyhow::Result<()> {
        let from = draft.join(archive::DATABASE);
        match self {
            Self::Within(relative) => {
                let target = draft.join(relative);
                if let Some(parent) = target.parent() {
                    fs::create_dir_all(parent)?;
                }
                fs::rename(&from, target)?;
            }
            Self::Elsewhere(path) => {
                let partial = path.with_added_extension("partial");
                fs::copy(&from, &partial).with_context(|| format!("writing `{}`", partial.display()))?;
                files::sync_file(&partial)?;
                fs::rename(&partial, path)?;
                files::sync_parent(path)?;
                fs::remove_file(from)?;
            }
        }
        Ok(())
    }

    /// Returns the first component of the place below the data folder, which appears last.
    fn name(&self) -> PathBuf {
        match self {
            Self::Within(relative) => relative.components().take(1).collect(),
            Self::Elsewhere(_) => PathBuf::new(),
        }
    }
}
