//! Format of a backup: a folder with a manifest, a copy of the database, the settings, and a copy of the object store.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub const MANIFEST: &str = "manifest.json";
pub const DATABASE: &str = "retrieval.db";
pub const SETTINGS: &str = "settings.toml";
/// Folder with the layout of the embedded object store.
pub const OBJECTS: &str = "objects";
/// One [`Part`] per object, as JSON lines.
pub const OBJECT_LIST: &str = "objects.jsonl";

/// Version of the format.
const FORMAT: u32 = 1;
const BUFFER: usize = 1 << 18;

/// Description of a backup.
#[derive(Debug, Deserialize, Serialize)]
pub struct Manifest {
    pub format: u32,
    /// Version of the program that wrote it.
    pub version: String,
    pub created_at: String,
    pub organizations: i64,
    pub documents: i64,
    pub captures: i64,
    pub files: i64,
    /// Number of objects; `None` if they are in an external store.
    pub objects: Option<u64>,
    pub object_bytes: u64,
    /// Every file except this one and the objects.
    pub parts: Vec<Part>,
}

impl Manifest {
    pub const fn format() -> u32 {
        FORMAT
    }

    /// Returns an error unless the files without which a backup cannot be restored are described.
    fn require_parts(&self) -> anyhow::Result<()> {
        let required = [Some(DATABASE), self.objects.map(|_| OBJECT_LIST)];
        match required.into_iter().flatten().find(|name| self.parts.iter().all(|part| part.path != *name)) {
            Some(missing) => bail!("the manifest of the backup does not name `{missing}`"),
            None => Ok(()),
        }
    }
}

/// A file of the backup.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Part {
    /// Path below the folder of the backup.
    pub path: String,
    pub bytes: u64,
    pub sha256: String,
}

impl Part {
    /// Describes a file below `folder`.
    pub fn of(folder: &Path, path: &str) -> io::Result<Self> {
        let (bytes, sha256) = digest(File::open(folder.join(path))?, &mut io::sink())?;
        Ok(Self { path: path.to_owned(), bytes, sha256 })
    }

    /// Reads the file into `sink` and compares it with its description.
    pub fn read(&self, folder: &Path, sink: &mut dyn Write) -> anyhow::Result<()> {
        let path = self.location(folder)?;
        let file = open(folder, Path::new(&self.path))?;
        let length = file.metadata()?.len();
        if length != self.bytes {
            bail!("`{}` is damaged: it has {length} bytes, not {}", path.display(), self.bytes);
        }
        let (bytes, sha256) =
            digest(file.take(length), sink).with_context(|| format!("copying `{}`", path.display()))?;
        if (bytes, &sha256) != (self.bytes, &self.sha256) {
            bail!(
                "`{}` is damaged: it has {bytes} bytes and SHA-256 {sha256}, not {} and {}",
                path.display(),
                self.bytes,
                self.sha256
            );
        }
        Ok(())
    }

    /// Returns the path of the file below `folder`, and never one outside of it.
    pub fn location(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        let path = Path::new(&self.path);
        if path.components().all(|component| matches!(component, Component::Normal(_))) {
            return Ok(folder.join(path));
        }
        bail!("the backup names the path `{}`, which is outside of its folder", self.path)
    }
}

/// Reads and checks the manifest of a backup.
pub fn read_manifest(folder: &Path) -> anyhow::Result<Manifest> {
    let path = folder.join(MANIFEST);
    let mut text = Vec::new();
    open(folder, Path::new(MANIFEST))
        .and_then(|mut file| Ok(file.read_to_end(&mut text)?))
        .with_context(|| format!("`{}` is no backup", folder.display()))?;
    let manifest: Manifest =
        serde_json::from_slice(&text).with_context(|| format!("`{}` is no manifest of a backup", path.display()))?;
    if manifest.format != FORMAT {
        bail!("the backup has format {}; this version reads {FORMAT}", manifest.format);
    }
    manifest.require_parts()?;
    Ok(manifest)
}

/// Returns the objects of a backup.
pub fn objects(folder: &Path) -> anyhow::Result<impl Iterator<Item = anyhow::Result<Part>>> {
    let path = folder.join(OBJECT_LIST);
    let file = open(folder, Path::new(OBJECT_LIST))?;
    let lines = BufReader::new(file).lines();
    Ok(lines.map(move |line| serde_json::from_str(&line?).with_context(|| format!("`{}` is damaged", path.display()))))
}

/// Passes the objects of a backup to `visit`.
pub fn for_each_object(
    folder: &Path,
    manifest: &Manifest,
    mut visit: impl FnMut(&Part) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    match manifest.objects {
        None => Ok(()),
        Some(_) => objects(folder)?.try_for_each(|part| visit(&part?)),
    }
}

/// Opens a file of a backup. A backup contains files and folders only: symbolic links could lead out of it, and pipes and
/// devices never end.
fn open(folder: &Path, path: &Path) -> anyhow::Result<File> {
    let mut place = folder.to_owned();
    let mut kind = None;
    for component in path.components() {
        place.push(component);
        let metadata = place.symlink_metadata().with_context(|| format!("reading `{}`", place.display()))?;
        if !metadata.is_dir() && !metadata.is_file() {
            bail!("`{}` is neither a file nor a folder, as everything in a backup is", place.display());
        }
        kind = Some(metadata);
    }
    if !kind.is_some_and(|metadata| metadata.is_file()) {
        bail!("`{}` is not a file", place.display());
    }
    File::open(&place).with_context(|| format!("reading `{}`", place.display()))
}

/// Reads a file into `sink`. Returns its length and its SHA-256.
fn digest(mut file: impl Read, sink: &mut dyn Write) -> io::Result<(u64, String)> {
    let (mut buffer, mut hash, mut length) = (vec![0; BUFFER], Sha256::new(), 0);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok((length, hex::encode(hash.finalize())));
        }
        hash.update(&buffer[..read]);
        sink.write_all(&buffer[..read])?;
        length += read as u64;
    }
}
