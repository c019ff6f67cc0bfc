//! `retrieval files list`, `show` and `get`.

use std::fs::Permissions;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use retrieval_client::Client;
use retrieval_client::types::FileEntry;
use tempfile::{NamedTempFile, TempPath};

use super::stored;
use crate::api_values;
use crate::cli::Get;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::terminal::table::Table;
use crate::terminal::text::one_line;

pub async fn list(client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let answer = client.list_files().await?;
    if terminal.json {
        return terminal.json(&answer.raw);
    }
    let mut table = Table::with_notes(&["NAME", "SIZE", "MODIFIED", "STATUS"]);
    for file in &answer.files {
        let day = file.last_modified.split('T').next().unwrap_or_default().to_owned();
        let reason = file.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        table.row([file.name.clone(), size(file), day, format!("{}{reason}", status(file))]);
    }
    terminal.print(&table.render(&terminal.appearance))
}

pub async fn show(name: &str, client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let answer = stored::by_name(name, async |name| client.get_file(name).await).await?;
    if terminal.json {
        return terminal.json(&answer.raw);
    }
    let file = &answer.file;
    let rows = [
        ("name", Some(file.name.clone())),
        ("size", Some(size(file))),
        ("last modified", Some(file.last_modified.clone())),
        ("status", file.status.map(|_| status(file))),
        ("reason", file.reason.clone()),
        ("indexed", file.indexed_at.clone()),
        ("labels", Some(file.labels.join(", ")).filter(|labels| !labels.is_empty())),
        ("doc_id", file.doc_id.map(|id| id.to_string())),
        ("URL", file.canonical_url.clone()),
    ];
    let lines = rows.into_iter().filter_map(|(name, value)| Some(format!("{name:<15}{}\n", one_line(&value?))));
    terminal.print(&lines.collect::<String>())
}

/// Downloads a file. A local file is complete or absent, and is replaced only on request.
pub async fn get(arguments: Get, client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let Get { name, out, force } = arguments;
    if out.as_deref() == Some(Path::new("-")) {
        let stdout = io::stdout().as_fd().try_clone_to_owned().map_err(Failure::Output)?;
        let mut out = tokio::fs::File::from_std(std::fs::File::from(stdout));
        stored::by_name(&name, async |name| client.download(name, &mut out).await).await?;
        return Ok(());
    }
    let path = match out {
        Some(path) => path,
        None if Path::new(&name).file_name().is_some_and(|own| own == name.as_str()) => PathBuf::from(&name),
        None => return Err(Failure::Usage(format!("`{name}` is not the name of a local file: use --out"))),
    };
    let exists = || Failure::Usage(format!("`{}` exists: use --force or --out", path.display()));
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(Failure::Usage(format!("`{}` is not a regular file: use --out -", path.display())));
    }
    // True also for a link that leads nowhere.
    if !force && path.symlink_metadata().is_ok() {
        return Err(exists());
    }
    let local = |what: &str, source| Failure::Local { what: format!("cannot {what} `{}`", path.display()), source };
    // A link is kept: its target is replaced.
    let target = match path.is_symlink() {
        true => path.canonicalize().map_err(|source| local("create", source))?,
        false => path.clone(),
    };
    let (file, part) = part_of(&target).map_err(|source| local("create", source))?.into_parts();
    let mut file = tokio::fs::File::from_std(file);
    // A part that is dropped is removed.
    let bytes = stored::by_name(&name, async |name| client.download(name, &mut file).await).await?;
    drop(file);
    place(part, &target, force)
        .map_err(|source| if source.kind() == ErrorKind::AlreadyExists { exists() } else { local("create", source) })?;
    terminal.note(&format!("{} ({})", path.display(), indicatif::DecimalBytes(bytes)));
    Ok(())
}

/// Creates a file of an unused name beside `path`, with the mode of any new file.
fn part_of(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The umask applies.
    let mode = Permissions::from_mode(0o666);
    tempfile::Builder::new().prefix(".retrieval-").permissions(mode).tempfile_in(folder)
}

/// Gives a complete file its name. Unless forced, it fails if another program has created that file meanwhile.
fn place(part: TempPath, path: &Path, force: bool) -> io::Result<()> {
    if force {
        return Ok(part.persist(path)?);
    }
    match part.persist_noclobber(path) {
        // Some file systems can neither rename without replacing nor link.
        Err(refused) if refused.error.kind() != ErrorKind::AlreadyExists && path.symlink_metadata().is_err() => {
            Ok(refused.path.persist(path)?)
        }
        placed => Ok(placed?),
    }
}

fn size(file: &FileEntry) -> String {
    indicatif::DecimalBytes(u64::try_from(file.size).unwrap_or(0)).to_string()
}

fn status(file: &FileEntry) -> String {
    file.status.map(|status| api_values::wire(&status)).unwrap_or_default()
}
