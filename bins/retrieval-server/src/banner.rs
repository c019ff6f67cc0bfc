//! Instructions printed on the first start.

use std::io::{IsTerminal, Write};

/// Prints the base URL, the key and three commands to paste.
pub fn print(base: &str, organization_id: &str, key: &str) {
    let mut out = std::io::stdout();
    let (bold, dim, reset) = if out.is_terminal() { ("\x1b[1m", "\x1b[2m", "\x1b[0m") } else { ("", "", "") };
    let text = format!(
        r#"
{bold}Ready.{reset} First start: created an organization and an API key with all scopes.

  Base URL      {base}
  Organization  {organization_id}
  API key       {bold}{key}{reset}   {dim}(shown once: store it){reset}

Paste these commands into another terminal:

{dim}# 1. upload a file{reset}
printf '# Hello\n\nThe walrus eats clams at midnight.' > hello.md && curl -sT hello.md "$(curl -s {base}/v1/files/presign -H 'Authorization: Bearer {key}' -d '{{"filename":"hello.md","size":43}}' -H 'Content-Type: application/json' | sed 's/.*"url":"\([^"]*\)".*/\1/')"

{dim}# 2. index it and wait for the run{reset}
run=$(curl -s {base}/v1/files/index -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' -d '{{}}' | sed 's/.*"sync_id":"\([^"]*\)".*/\1/'); until curl -s {base}/v1/files/index/$run -H 'Authorization: Bearer {key}' | grep '"completed_at":"'; do sleep 1; done

{dim}# 3. search it{reset}
curl -s {base}/v1/search -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' -d '{{"query":"what does the walrus eat","scope":{{"indexes":["workspace"],"workspace_id":"{organization_id}"}}}}'

"#
    );
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}
