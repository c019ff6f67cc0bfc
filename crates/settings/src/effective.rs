//! Merged keys as TOML, without secrets and without values that may contain one.

use std::fmt::Write as _;

use figment::value::{Dict, Value};

use crate::keys::{display_value, join};
use crate::secret::{is_secret, without_credentials};

/// Keys of foreign endpoints, which may expect their API key or token in the query or in the body.
const MAY_CONTAIN_A_SECRET: [&str; 3] = ["web.http.url", "web.http.body", "fetch.chromium_url"];

pub(crate) fn to_toml(keys: &Dict) -> String {
    let mut text = String::new();
    write_section(&mut text, keys, "");
    text
}

/// Writes the values of a section, then its sections.
fn write_section(text: &mut String, keys: &Dict, section: &str) {
    for (name, value) in keys {
        let key = join(section, name);
        // Writing to a string cannot fail.
        let _ = match value {
            Value::Dict(..) => Ok(()),
            _ if is_secret(&key) => writeln!(text, "# {name}: secret"),
            _ if MAY_CONTAIN_A_SECRET.contains(&key.as_str()) => writeln!(text, "# {name}: may contain a secret"),
            value => writeln!(text, "{name} = {}", literal(&key, value)),
        };
    }
    for (name, value) in keys {
        if let Value::Dict(_, inner) = value {
            let section = join(section, name);
            let _ = writeln!(text, "\n[{section}]");
            write_section(text, inner, &section);
        }
    }
}

fn literal(key: &str, value: &Value) -> String {
    match value {
        Value::Array(_, items) => {
            format!("[{}]", items.iter().map(|item| literal(key, item)).collect::<Vec<_>>().join(", "))
        }
        Value::Bool(..) | Value::Num(..) => display_value(value),
        Value::String(_, text) if is_address(key, text) => quoted(&without_credentials(text)),
        Value::String(_, text) => quoted(text),
        Value::Char(..) | Value::Empty(..) | Value::Dict(..) => quoted(&display_value(value)),
    }
}

/// Returns true for a text that may be a URL with credentials. Paths and mail addresses with `@` are written as they are; the contact
/// is sent to every site.
fn is_address(key: &str, text: &str) -> bool {
    let is_named = key.ends_with("url") || key.ends_with("endpoint");
    (is_named || text.contains("://")) && key != "fetch.contact"
}

/// Returns the text as a basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(control))),
            other => quoted.push(other),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::MAY_CONTAIN_A_SECRET;

    #[test]
    fn handbook_names_the_keys_that_a_backup_omits() {
        let handbook = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations.md");
        let text = std::fs::read_to_string(handbook).unwrap();
        let row = text.lines().find(|line| line.starts_with("| `settings.toml` |")).unwrap();
        // Every second part is quoted; the first one is the name of the file.
        let named: BTreeSet<&str> = row.split('`').skip(1).step_by(2).skip(1).collect();
        assert_eq!(named, BTreeSet::from(MAY_CONTAIN_A_SECRET), "{row}");
    }
}
