//! Owner of the data folder: files of another user stop the server later, with errors that do not name the cause.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::files::OF_THE_SYSTEM;

/// An entry of a folder, and the levels below it that are looked at.
pub struct Entry {
    pub path: PathBuf,
    pub depth: usize,
}

/// Compares the owners of a folder and of entries in it with a user id. Missing entries count as right, and links as what they lead to.
/// Some file systems of networks give all files to one user, whoever creates them: `owner_of_new` returns that of a new file in the folder.
///
/// # Errors
/// Something belongs to another user. Root may read and write everything, so it is only refused for a folder of another user, who could not
/// read what it creates.
pub fn check(
    folder: &Path,
    entries: &[Entry],
    user: u32,
    owner_of_new: impl Fn(&Path) -> io::Result<u32>,
) -> anyhow::Result<()> {
    let failed = || format!("reading the owners of the data folder `{}`", folder.display());
    if let Some(metadata) = found(fs::metadata(folder)).with_context(failed)?
        && metadata.uid() != user
    {
        if owner_of_new(folder).is_ok_and(|owner| owner == metadata.uid()) {
            return Ok(());
        }
        let owner = metadata.uid();
        bail!(
            "the data folder `{}` belongs to the user {owner}, and this process runs as the user {user}: run it as that user, for example by \
             `sudo -u '#{owner}'`, or give the folder to this one: `chown -R {user}`",
            folder.display()
        );
    }
    if user == 0 {
        return Ok(());
    }
    for Entry { path, depth } in entries {
        if let Some((path, owner)) = foreign(path, *depth, user).with_context(failed)? {
            bail!(
                "`{}` belongs to the user {owner}, and this process runs as the user {user}: run `chown -R {user}` on the data folder `{}`",
                path.display(),
                folder.display()
            );
        }
    }
    Ok(())
}

/// Returns the owner of a new file in a folder.
///
/// # Errors
/// The file cannot be created.
pub fn owner_of_new(folder: &Path) -> io::Result<u32> {
    Ok(tempfile::tempfile_in(folder)?.metadata()?.uid())
}

/// Returns the first entry of another user, with its owner, at a path and some levels below it.
fn foreign(path: &Path, depth: usize, user: u32) -> io::Result<Option<(PathBuf, u32)>> {
    // A running server replaces files of its index.
    let Some(metadata) = found(fs::metadata(path))? else { return Ok(None) };
    if metadata.uid() != user {
        return Ok(Some((path.to_owned(), metadata.uid())));
    }
    if depth == 0 || !metadata.is_dir() {
        return Ok(None);
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if OF_THE_SYSTEM.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        let foreign = foreign(&entry.path(), depth - 1, user)?;
        if foreign.is_some() {
            return Ok(foreign);
        }
    }
    Ok(None)
}

fn found(metadata: io::Result<Metadata>) -> io::Result<Option<Metadata>> {
    match metadata {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn owner(path: &Path) -> u32 {
        fs::metadata(path).unwrap().uid()
    }

    #[test]
    fn folder_of_another_user_is_refused_with_a_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let owner = owner(folder.path());
        let no_file = |_: &Path| Err(io::ErrorKind::PermissionDenied.into());
        check(folder.path(), &[], owner, no_file).unwrap();
        check(&folder.path().join("missing"), &[], owner + 1, no_file).unwrap();
        // The file system gives every file to one user.
        check(folder.path(), &[], owner + 1, owner_of_new).unwrap();
        for of_new in [None, Some(owner + 1)] {
            let of_new = |_: &Path| of_new.ok_or_else(|| io::ErrorKind::PermissionDenied.into());
            check(folder.path(), &[], owner + 1, of_new).unwrap_err();
        }
        let refused = check(folder.path(), &[], owner + 1, no_file).unwrap_err().to_string();
        assert!(refused.contains(&format!("belongs to the user {owner},")), "{refused}");
        assert!(refused.contains(&format!("sudo -u '#{owner}'")), "{refused}");
        assert!(refused.contains(&format!("chown -R {}`", owner + 1)), "{refused}");
    }

    #[test]
    fn entry_of_another_user_is_found_to_its_depth() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("index");
        fs::create_dir_all(index.join("web")).unwrap();
        let file = index.join("web/.managed.json");
        fs::write(&file, "[]").unwrap();
        let user = owner(folder.path());
        assert_eq!(foreign(&index, 2, user).unwrap(), None);
        assert_eq!(foreign(&index, 2, user + 1).unwrap(), Some((index.clone(), user)));
        assert_eq!(foreign(&folder.path().join("missing"), 2, user + 1).unwrap(), None);
        std::os::unix::fs::symlink("missing", index.join("dangling")).unwrap();
        assert_eq!(foreign(&index, 2, user).unwrap(), None);
        fs::create_dir(index.join("lost+found")).unwrap();
        if user != 0 {
            return eprintln!("NOT RUN: only root may give files to others");
        }
        std::os::unix::fs::chown(index.join("lost+found"), Some(1), None).unwrap();
        assert_eq!(foreign(&index, 2, user).unwrap(), None);
        std::os::unix::fs::chown(&file, Some(1), None).unwrap();
        assert_eq!(foreign(&index, 2, user).unwrap(), Some((file, 1)));
        assert_eq!(foreign(&index, 1, user).unwrap(), None);
        let entries = [Entry { path: index, depth: 2 }];
        check(folder.path(), &entries, 0, owner_of_new).unwrap();
        std::os::unix::fs::chown(folder.path(), Some(1), None).unwrap();
        let refused = check(folder.path(), &entries, 1, owner_of_new).unwrap_err().to_string();
        let index = folder.path().join("index");
        assert!(refused.starts_with(&format!("`{}` belongs to the user 0,", index.display())), "{refused}");
        assert!(refused.contains("run `chown -R 1` on the data folder"), "{refused}");
    }
}
