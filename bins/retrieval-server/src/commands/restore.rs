//! `restore`: restores a backup into an empty data folder.

use std::fs::{self, File};
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context, bail};
use docstore::{Contents, Docstore, Location};
use indicatif::ProgressBar;
use model::{Clock, IndexName, SystemClock};
use s3_server::Snapshot;
use serde_json::json;
use settings::{IndexBackend, Settings, StorageBackend};

use super::backup::BackupError;
use crate::archive::{self, Manifest, Part};
use crate::database_use::{self, with_suffix};
use crate::draft::{Draft, PREFIX};
use crate::files::OF_THE_SYSTEM;
use crate::folder_permissions::OF_DATABASE;
use crate::{compose, data_folder, files, output};

pub async fn run(folder: &Path, settings: &Settings) -> anyhow::Result<()> {
    let database = match compose::location(settings)? {
        Location::Sqlite(path) => Target::of(&path, &settings.data_dir)?,
        Location::Postgres(_) => return Err(BackupError::postgres_restore(folder, settings).into()),
    };
    let manifest = archive::read_manifest(folder)?;
    require_objects(folder, &manifest, settings)?;
    let of_data_folder = |error| BackupError::of_data_folder(&settings.data_dir, error);
    let lock_name = database.lock_name();
    let draft = Draft::of(&settings.data_dir, &[OF_THE_SYSTEM[0], &lock_name]).map_err(of_data_folder)?;
    let _lock = database_use::exclusive(database.path())?;
    let progress = ProgressBar::new_spinner();
    progress.set_message("copying");
    let manifest = {
        let (folder, draft) = (folder.to_owned(), draft.path.clone());
        tokio::task::spawn_blocking(move || copy_parts(&folder, &draft, manifest)).await??
    };
    Docstore::open_copy(&draft.path.join(archive::DATABASE))?.check_supported().await?;
    let manifest = {
        let (folder, draft) = (folder.to_owned(), draft.path.clone());
        tokio::task::spawn_blocking(move || copy_objects(&folder, &draft, manifest)).await??
    };
    progress.set_message("verifying the database");
    check_database(&draft.path.join(archive::DATABASE), &manifest, settings).await?;
    match (manifest.objects, settings.storage.backend) {
        (None, _) => output::note("the backup has no objects: storage was external"),
        (Some(0), _) | (Some(_), StorageBackend::Embedded) => {}
        (Some(objects), StorageBackend::S3) => output::warn(&format!(
            "storage is external (`storage.backend`), so the {objects} restored objects are not used: the next indexing run deletes \
             the files that the bucket `{}` lacks",
            settings.storage.bucket
        )),
    }
    let placed = database.place(&draft.path)?;
    draft.publish(&database.name()).map_err(of_data_folder)?;
    placed.publish()?;
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

/// Refuses a backup without objects if storage is embedded: the next indexing run would find no object, and remove every document.
fn require_objects(folder: &Path, manifest: &Manifest, settings: &Settings) -> anyhow::Result<()> {
    if manifest.objects.is_none() && manifest.files > 0 && settings.storage.backend == StorageBackend::Embedded {
        bail!(
            "the backup has {} files and no objects, since its storage was external, and `storage.backend` is `embedded`: set \
             `storage.*` to that store, as in `{}`",
            manifest.files,
            folder.join(archive::SETTINGS).display()
        );
    }
    Ok(())
}

/// Checks every part except the objects, and copies those that are data into the draft.
fn copy_parts(folder: &Path, draft: &Path, manifest: Manifest) -> anyhow::Result<Manifest> {
    for part in &manifest.parts {
        let is_data = [archive::DATABASE, archive::OBJECTS].iter().any(|data| Path::new(&part.path).starts_with(data));
        if is_data { copy(part, folder, draft)? } else { part.read(folder, &mut std::io::sink())? }
    }
    Ok(manifest)
}

fn copy_objects(folder: &Path, draft: &Path, manifest: Manifest) -> anyhow::Result<Manifest> {
    archive::for_each_object(folder, &manifest, |part| copy(part, folder, draft))?;
    let restored = Snapshot::read(&draft.join(archive::OBJECTS))?.keys().count() as u64;
    match manifest.objects {
        Some(objects) if objects != restored => {
            bail!("the backup has {restored} objects, and its manifest states {objects}")
        }
        Some(_) | None => Ok(manifest),
    }
}

/// Copies a part into the draft and compares it with its description.
fn copy(part: &Part, folder: &Path, draft: &Path) -> anyhow::Result<()> {
    let target = part.location(draft)?;
    fs::create_dir_all(files::parent(&target))?;
    let mut file = files::create_new(&target).with_context(|| format!("writing `{}`", target.display()))?;
    part.read(folder, &mut file)
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
    if matches!(settings.index.backend, IndexBackend::Meilisearch | IndexBackend::Qdrant) {
        for index in IndexName::ALL {
            store.enqueue_rebuild(*index, SystemClock.now()).await?;
        }
    }
    Ok(())
}

/// Place of the database: a path below the data folder, or elsewhere.
enum Target {
    Within { path: PathBuf, relative: PathBuf },
    Elsewhere(PathBuf),
}

impl Target {
    fn of(path: &Path, data_dir: &Path) -> anyhow::Result<Self> {
        let (path, data_dir) = (absolute(path)?, absolute(data_dir)?);
        if let Ok(relative) = path.strip_prefix(&data_dir) {
            let relative = relative.to_owned();
            return Ok(Self::Within { path, relative });
        }
        require_free(&path)?;
        let folder = files::parent(&path);
        if !folder.is_dir() {
            bail!("the folder `{}` of the database does not exist: create it first", folder.display());
        }
        Ok(Self::Elsewhere(path))
    }

    fn path(&self) -> &Path {
        match self {
            Self::Within { path, .. } | Self::Elsewhere(path) => path,
        }
    }

    /// Returns the name that the lock on the database has if it is in the data folder.
    fn lock_name(&self) -> String {
        let name = self.path().file_name().unwrap_or_default().to_string_lossy();
        format!("{name}{}", database_use::LOCK_SUFFIX)
    }

    /// Moves the database from its name in the backup to its place in the draft, or to the disk of its place elsewhere.
    fn place(&self, draft: &Path) -> anyhow::Result<Placed> {
        let from = draft.join(archive::DATABASE);
        match self {
            Self::Within { relative, .. } => {
                let target = draft.join(relative);
                fs::create_dir_all(files::parent(&target))?;
                fs::rename(&from, target)?;
                Ok(Placed { moved: None })
            }
            Self::Elsewhere(path) => {
                let partial = with_suffix(path, &format!("{PREFIX}{:016x}", rand::random::<u64>()));
                let placed = Placed { moved: Some((partial.clone(), path.clone())) };
                let mut file =
                    files::create_new(&partial).with_context(|| format!("writing `{}`", partial.display()))?;
                std::io::copy(&mut File::open(&from)?, &mut file)
                    .and_then(|_| file.sync_all())
                    .with_context(|| format!("writing `{}`", partial.display()))?;
                fs::remove_file(from)?;
                Ok(placed)
            }
        }
    }

    /// Returns the first component of the place below the data folder, which appears last.
    fn name(&self) -> PathBuf {
        match self {
            Self::Within { relative, .. } => relative.components().take(1).collect(),
            Self::Elsewhere(_) => PathBuf::new(),
        }
    }
}

/// Returns an error if there is a database, or a log of one: SQLite would apply it to the restored database.
fn require_free(database: &Path) -> anyhow::Result<()> {
    let files = OF_DATABASE.iter().map(|suffix| with_suffix(database, suffix));
    match files.into_iter().find(|file| file.symlink_metadata().is_ok()) {
        Some(file) => bail!("`{}` exists: restore never replaces a database, move its files away", file.display()),
        None => Ok(()),
    }
}

/// A database that lies where it belongs, or beside it under a temporary name.
struct Placed {
    moved: Option<(PathBuf, PathBuf)>,
}

impl Placed {
    /// Gives a database outside of the data folder its name. It appears last: a database without its objects would be taken
    /// for one whose files were deleted.
    fn publish(self) -> anyhow::Result<()> {
        let Some((partial, path)) = &self.moved else { return Ok(()) };
        require_free(path)?;
        let renamed = fs::rename(partial, path).and_then(|()| files::sync_parent(path));
        renamed.with_context(|| format!("moving the restored database to `{}`", path.display()))
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        if let Some((partial, _)) = &self.moved {
            // Gone after publishing; otherwise the rest of a failed restore, whose error is reported already.
            let _ = fs::remove_file(partial);
        }
    }
}
