//! Instructions printed on the first start.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::{files, output};

/// File of the data folder with the first key.
pub const KEY_FILE: &str = "first-key";

/// Place of the first key.
pub enum KeyPlace {
    /// Printed with the instructions. The file receives the key if they cannot be printed.
    Printed { key: String, file: PathBuf },
    /// Written to a file: standard output may end in a log that others read.
    File(PathBuf),
}

/// Writes the key to a file of the data folder, or leaves it to be printed on a terminal or if `print_key`.
pub fn keep(key: &str, data_dir: &Path, print_key: bool) -> anyhow::Result<KeyPlace> {
    let file = std::path::absolute(data_dir.join(KEY_FILE))?;
    if print_key || io::stdout().is_terminal() {
        return Ok(KeyPlace::Printed { key: key.to_owned(), file });
    }
    write_key(&file, key)?;
    Ok(KeyPlace::File(file))
}

/// Prints the base URL, the key or its file, and three commands to paste.
pub fn print(base: &str, organization_id: &str, place: KeyPlace) -> anyhow::Result<()> {
    let mut out = io::stdout();
    let text = instructions(base, organization_id, &place, out.is_terminal());
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if let (Err(error), KeyPlace::Printed { key, file }) = (printed, place) {
        write_key(&file, &key)?;
        output::warn(&format!("printing the first key failed ({error}): it is in the file `{}`", file.display()));
    }
    Ok(())
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
{bold}Ready.{reset} First start: created an organization and an API key with all scopes.

  Base URL      {base}
  Organization  {organization_id}
  API key       {line}
  Console       {console}

Paste these commands into another terminal:

{dim}# 1. upload a file{reset}
printf '# Hello\n\nThe walrus eats clams at midnight.' > hello.md && curl -sT hello.md "$(curl -s {base}/v1/files/presign -H 'Authorization: Bearer {variable}' -d '{{"filename":"hello.md","size":43}}' -H 'Content-Type: application/json' | sed 's/.*"url":"\([^"]*\)".*/\1/')"

{dim}# 2. index it and wait for the run{reset}
run=$(curl -s {base}/v1/files/index -H 'Authorization: Bearer {variable}' -H 'Content-Type: application/json' -d '{{}}' | sed 's/.*"sync_id":"\([^"]*\)".*/\1/'); until curl -s {base}/v1/files/index/$run -H 'Authorization: Bearer {variable}' | grep '"completed_at":"'; do sleep 1; done

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
