//! Instructions printed on the first start.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use app::web_index::filling::{PROGRAM, WAYS};

use crate::draft::PREFIX;
use crate::{files, output};

/// File of the data folder with the first key.
pub const KEY_FILE: &str = "first-key";

/// Maximum of the bytes that are read of a file with a kept key.
const MAX_DRAFT_BYTES: u64 = 1_024;

/// Place of the first key.
pub enum KeyPlace {
    /// Printed with the instructions. The file receives the key if they cannot be printed.
    Printed { key: String, file: PathBuf },
    /// Written to a file: standard output may end in a log that others read.
    File(PathBuf),
}

/// First key that is kept, and that no organization has yet.
pub struct KeptKey {
    place: KeyPlace,
    /// File with the key under a temporary name; `None` if it is printed.
    draft: Option<PathBuf>,
}

/// Writes the key to a file of the data folder under a temporary name, or leaves it to be printed on a terminal or if `print_key`.
pub fn keep(key: &str, data_dir: &Path, print_key: bool) -> anyhow::Result<KeptKey> {
    if print_key || io::stdout().is_terminal() {
        let place = KeyPlace::Printed { key: key.to_owned(), file: key_file(data_dir)? };
        return Ok(KeptKey { place, draft: None });
    }
    keep_in_file(key, data_dir)
}

/// Writes the key to a file of the data folder under a temporary name.
pub fn keep_in_file(key: &str, data_dir: &Path) -> anyhow::Result<KeptKey> {
    let file = key_file(data_dir)?;
    if file.is_dir() {
        bail!("writing the first key to `{}`: there is a folder of this name", file.display());
    }
    let draft = file.with_file_name(format!("{PREFIX}{:016x}", rand::random::<u64>()));
    files::write_new(&draft, &format!("{key}\n"))
        .with_context(|| format!("writing the first key to `{}`", draft.display()))?;
    Ok(KeptKey { place: KeyPlace::File(file), draft: Some(draft) })
}

/// Returns the keys in files that still have their temporary names: the process that wrote them was killed, or could not rename
/// them. Files that cannot be read are left out.
pub fn unpublished(data_dir: &Path) -> Vec<(String, KeptKey)> {
    let mut found = Vec::new();
    let Ok(file) = key_file(data_dir) else { return found };
    let Ok(entries) = fs::read_dir(data_dir) else { return found };
    for entry in entries.filter_map(Result::ok) {
        // Folders of such names are of backups and restores.
        let is_draft = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_draft {
            continue;
        }
        let draft = file.with_file_name(entry.file_name());
        if let Some(key) = read_key(&draft) {
            found.push((key, KeptKey { place: KeyPlace::File(file.clone()), draft: Some(draft) }));
        }
    }
    found
}

fn read_key(draft: &Path) -> Option<String> {
    let mut text = String::new();
    File::open(draft).ok()?.take(MAX_DRAFT_BYTES).read_to_string(&mut text).ok()?;
    Some(text.trim_end().to_owned())
}

fn key_file(data_dir: &Path) -> io::Result<PathBuf> {
    std::path::absolute(data_dir.join(KEY_FILE))
}

impl KeptKey {
    /// Gives the file its name once the key is valid. An older file is of a database that is gone.
    pub fn publish(self) -> anyhow::Result<KeyPlace> {
        if let (Some(draft), KeyPlace::File(file)) = (&self.draft, &self.place) {
            fs::rename(draft, file)
                .and_then(|()| files::sync_parent(file))
                .with_context(|| format!("moving the first key from `{}` to `{}`", draft.display(), file.display()))?;
        }
        Ok(self.place)
    }

    /// Removes the key of an organization that was not created.
    pub fn discard(self) {
        if let Some(draft) = self.draft {
            // A key of no organization opens nothing.
            let _ = fs::remove_file(draft);
        }
    }
}

/// Prints the base URL, the key or its file, and commands to paste: three for a file, and those that fill the web index if a
/// program for them is given.
pub fn print(base: &str, organization_id: &str, place: KeyPlace, program: Option<&str>) -> anyhow::Result<()> {
    let mut out = io::stdout();
    let mut text = instructions(base, organization_id, &place, out.is_terminal());
    if let Some(program) = program {
        text += &filling(program, out.is_terminal());
    }
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if let (Err(error), KeyPlace::Printed { key, file }) = (printed, place) {
        write_key(&file, &key)?;
        output::warn(&format!("printing the first key failed ({error}): it is in the file `{}`", file.display()));
    }
    Ok(())
}

/// Returns the program as a shell starts it again: by the path of this process if it was started by one, with the settings file.
pub fn program(config: Option<&Path>) -> String {
    let started = std::env::args_os().next().map(PathBuf::from);
    let path = started.filter(|path| path.components().count() > 1).map(|path| quoted(&path));
    let mut program = path.unwrap_or_else(|| PROGRAM.to_owned());
    if let Some(config) = config {
        program += &format!(" --config {}", quoted(config));
    }
    program
}

/// Quotes a path for a shell, if it must be.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn filling(program: &str, is_terminal: bool) -> String {
    let (dim, reset) = if is_terminal { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
    let mut text = "The web index is empty. Fill it in one of three ways:\n\n".to_owned();
    for way in WAYS {
        text += &format!("{dim}# {}{reset}\n{}\n\n", way.purpose, way.command(program));
    }
    text
}

fn instructions(base: &str, organization_id: &str, place: &KeyPlace, is_terminal: bool) -> String {
    let (bold, dim, reset) = if is_terminal { ("\x1b[1m", "\x1b[2m", "\x1b[0m") } else { ("", "", "") };
    // Browsers do not send the fragment, and the console takes the key out of it.
    let console = format!("{base}/console/");
    let (line, variable, console) = match place {
        KeyPlace::Printed { key, .. } => (
            format!("{bold}{key}{reset}   {dim}(shown once: store it){reset}"),
            key.to_owned(),
            format!("{bold}{console}#key={key}{reset}   {dim}(open it in a browser){reset}"),
        ),
        KeyPlace::File(path) => {
            let quoted = format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
            (
                format!("in the file {} (mode 600): store it and delete the file", path.display()),
                format!("'\"$(cat {quoted})\"'"),
                format!("{console}   (open it in a browser, and enter the key)"),
            )
        }
    };
    format!(
        r#"
{bold}Ready.{reset} First start: created an organization and an API key with all scopes of organizations.

  Base URL      {base}
  Organization  {organization_id}
  API key       {line}
  Console       {console}

Paste these commands into another terminal:

{dim}# 1. upload a file{reset}
printf '# Hello\n\nThe walrus eats clams at midnight.' > hello.md && curl -sT hello.md "$(curl -s {base}/v1/files/presign -H 'Authorization: Bearer {variable}' -d '{{"filename":"hello.md","size":43}}' -H 'Content-Type: application/json' | sed 's/.*"url":"\([^"]*\)".*/\1/')"

{dim}# 2. index it and wait for the run{reset}
run=$(curl -sSf {base}/v1/files/index -H 'Authorization: Bearer {variable}' -H 'Content-Type: application/json' -d '{{}}' | sed -n 's/.*"sync_id":"\([^"]*\)".*/\1/p'); [ -n "$run" ] && for _ in $(seq 120); do curl -sSf {base}/v1/files/index/$run -H 'Authorization: Bearer {variable}' | grep '"completed_at":"' && break; sleep 1; done

{dim}# 3. search it{reset}
curl -s {base}/v1/search -H 'Authorization: Bearer {variable}' -H 'Content-Type: application/json' -d '{{"query":"what does the walrus eat","scope":{{"indexes":["workspace"],"workspace_id":"{organization_id}"}}}}'

"#
    )
}

/// Writes the key to a new file. An older one is of a database that is gone, or of a first start that failed.
fn write_key(path: &Path, key: &str) -> anyhow::Result<()> {
    let removed = match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    removed
        .and_then(|()| files::write_new(path, &format!("{key}\n")))
        .with_context(|| format!("writing the first key to `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_index_is_filled_by_pasted_commands() {
        let text = filling("'a b/retrieval-server' --config c.toml", false);
        let commands: Vec<&str> = text.lines().filter(|line| line.contains("retrieval-server")).collect();
        assert_eq!(commands.len(), 3, "{text}");
        assert_eq!(commands[0], "'a b/retrieval-server' --config c.toml web crawl https://docs.example.com --wait");
        assert!(text.contains("The web index is empty") && !text.contains('\x1b'));
    }

    #[test]
    fn paths_are_quoted_for_a_shell() {
        assert_eq!(quoted(Path::new("target/release/retrieval-server")), "target/release/retrieval-server");
        assert_eq!(quoted(Path::new("it's $HOME")), r"'it'\''s $HOME'");
    }
}
