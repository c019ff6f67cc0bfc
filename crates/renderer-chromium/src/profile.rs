//! Folders for the files of a browser, each removed with its browser.

use std::io;
use std::os::unix::fs::chown;
use std::path::Path;
use std::sync::LazyLock;

use tempfile::TempDir;

const PREFIX: &str = "retrieval-chromium-";

/// Random part of the names that distinguishes this process from earlier ones with its id: in a container each has the same.
static TOKEN: LazyLock<String> = LazyLock::new(|| hex::encode(rand::random::<[u8; 8]>()));

/// User `nobody` of Linux distributions, for a browser of a server that runs as root: Chromium has no sandbox for root.
pub const UNPRIVILEGED: u32 = 65_534;

/// Returns the user that browsers run as, if it is not the one of this process.
pub fn other_user() -> Option<u32> {
    rustix::process::geteuid().is_root().then_some(UNPRIVILEGED)
}

/// Creates an empty folder that only the browser's user can read.
pub fn create(parent: &Path) -> io::Result<TempDir> {
    let prefix = format!("{PREFIX}{}-{}-", std::process::id(), *TOKEN);
    let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(parent)?;
    if let Some(user) = other_user() {
        chown(folder.path(), Some(user), Some(user))?;
    }
    Ok(folder)
}

/// Removes the folders of processes that were killed before they could.
pub fn remove_leftovers(parent: &Path) {
    let processes = Path::new("/proc");
    if !processes.join("self").exists() {
        return;
    }
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some((maker, rest)) = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-')) else { continue };
        let Ok(maker) = maker.parse::<u32>() else { continue };
        let has_ended = if maker == std::process::id() {
            rest.split('-').next() != Some(TOKEN.as_str())
        } else {
            !processes.join(maker.to_string()).exists()
        };
        if has_ended {
            // Fails for folders of other users.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn only_folders_of_ended_processes_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let mine = create(parent.path()).unwrap();
        let same_id = format!("retrieval-chromium-{}-othertoken-x", std::process::id());
        let names = ["retrieval-chromium-4000000000-x", &same_id, "retrieval-chromium-x", "another-4000000000-x"];
        names.iter().for_each(|name| std::fs::create_dir_all(parent.path().join(name).join("inner")).unwrap());
        remove_leftovers(parent.path());
        let exist = names.map(|name| parent.path().join(name).exists());
        assert_eq!((exist, mine.path().exists()), ([false, false, true, true], true));
    }
}
