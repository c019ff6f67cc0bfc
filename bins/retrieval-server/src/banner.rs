//! Instructions printed on the first start.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// File of the data folder with the first key.
pub const KEY_FILE: &str = "first-key";

/// Place of the first key.
enum Shown<'a> {
    /// Printed with the instructions.
    Here(&'a str),
    /// Written to a file: standard output may end in a log that others read.
    File(PathBuf),
}

/// Prints the base URL, the key and three commands to paste. Without a terminal the key is written to a file of the data
/// folder instead, unless `print_key`.
pub fn print(base: &str, organization_id: &str, key: &str, data_dir: &Path, print_key: bool) -> anyhow::Result<()> {
    let mut out = io::stdout();
    let is_terminal = out.is_terminal();
    let shown = if is_terminal || print_key {
        Shown::Here(key)
    } else {
        let path = std::path::absolute(data_dir.join(KEY_FILE))?;
        write_key(&path, key).with_context(|| format!("writing the first key to `{}`", path.display()))?;
        Shown::File(path)
    };
    let (bold, dim, reset) = if is_terminal { ("\x1b[1m", "\x1b[2m", "\x1b[0m") } else { ("", "", "") };
    let (line, variable) = match &shown {
        Shown::Here(key) => (format!("{bold}{key}{reset}   {dim}(shown once: store it){reset}"), (*key).to_owned()),
        Shown::File(path) => {
            let quoted = format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
            (
                format!("in the file {} (mode 600): store it and delete the file", path.display()),
                format!("'\"$(cat {quoted})\"'"),
            )
        }
    };
    let text = format!(
        r#"
{bold}Ready.{reset} First start: created an organization and an API key with all scopes.

  Base URL      {base}
  Organization  {organization_id}
  API key       {line}

Paste these commands into another terminal:

{dim}# 1. upload a file{reset}
printf '# Hello\n\nThe walrus eats clams at midnight.' > hello.md && curl -sT hello.md "$(curl -s {base}/v1/files/presign -H 'Authorization: Bearer {variable}' -d '{{"filename":"hello.md","size":43}}' -H 'Content-Type: application/json' | sed 's/.*"url":"\([^"]*\)".*/\1/')"

{dim}# 2. index it and wait for the run{reset}
run=$(curl -s {base}/v1/files/index -H 'Authorization: Bearer {variable}' -H 'Content-Type: application/json' -d '{{}}' | sed 's/.*"sync_id":"\([^"]*\)".*/\1/'); until curl -s {base}/v1/files/index/$run -H 'Authorization: Bearer {variable}' | grep '"completed_at":"'; do sleep 1; done

{dim}# 3. search it{reset}
curl -s {base}/v1/search -H 'Authorization: Bearer {variable}' -H 'Content-Type: application/json' -d '{{"query":"what does the walrus eat","scope":{{"indexes":["workspace"],"workspace_id":"{organization_id}"}}}}'

"#
    );
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
    Ok(())
}

/// Writes the key to a new file that only its owner may read. An older file is of a database that is gone.
fn write_key(path: &Path, key: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{key}")?;
    file.sync_all()
}
