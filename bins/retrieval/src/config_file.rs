//! Settings file with base URL and API key, readable only by its owner.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::failure::Failure;

#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigFile {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
}

/// Returns `$XDG_CONFIG_HOME/retrieval/config.toml`, or its path below `~/.config`. XDG ignores relative paths.
pub fn default_path(environment: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let folder = |name: &str| environment(name).filter(|path| path.is_absolute());
    let base = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(base.join("retrieval/config.toml"))
}

/// Loads the file; returns `None` if it does not exist.
///
/// # Errors
/// Returns an error if the file is readable by other users, unreadable or invalid. Messages quote nothing of it.
pub fn load(path: &Path) -> Result<Option<ConfigFile>, Failure> {
    let unreadable = |source| Failure::Local { what: format!("cannot read `{}`", path.display()), source };
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(error)),
    };
    let mode = file.metadata().map_err(unreadable)?.permissions().mode();
    if mode & 0o077 != 0 {
        let path = path.display();
        return Err(Failure::NotAllowed(format!(
            "`{path}` contains a key but is readable by others (mode {:o}): run `chmod 600 {path}`, and replace the key \
             if others may have seen it",
            mode & 0o777
        )));
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(unreadable)?;
    toml::from_str(&text).map(Some).map_err(|error: toml::de::Error| {
        // The full error quotes the line, which may contain the key.
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let what = format!("`{}`, line {line}: {}", path.display(), error.message());
        Failure::Usage(what)
    })
}

/// Replaces the file atomically, with access for its owner only.
///
/// # Errors
/// Returns an error if the folder cannot be created or written; the old file is then unchanged.
pub fn save(path: &Path, settings: &ConfigFile) -> Result<(), Failure> {
    let unwritable = |source| Failure::Local { what: format!("cannot write `{}`", path.display()), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(unwritable)?;
    let text = toml::to_string(settings).map_err(|error| unwritable(io::Error::other(error)))?;
    let mut file = NamedTempFile::new_in(folder).map_err(unwritable)?;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o600)).map_err(unwritable)?;
    file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(unwritable)?;
    file.persist(path).map_err(|error| unwritable(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_of(variables: &[(&str, &str)]) -> Option<String> {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, path)| PathBuf::from(path));
        default_path(find).map(|path| path.display().to_string())
    }

    #[test]
    fn settings_path_follows_xdg_rules() {
        let home = ("HOME", "/home/me");
        assert_eq!(path_of(&[home]).as_deref(), Some("/home/me/.config/retrieval/config.toml"));
        assert_eq!(path_of(&[home, ("XDG_CONFIG_HOME", "/x")]).as_deref(), Some("/x/retrieval/config.toml"));
        assert_eq!(
            path_of(&[home, ("XDG_CONFIG_HOME", "x")]).as_deref(),
            Some("/home/me/.config/retrieval/config.toml")
        );
        assert_eq!(path_of(&[]), None);
    }
}
