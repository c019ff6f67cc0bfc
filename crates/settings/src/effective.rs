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
            value => writeln!(text, "{name} = {}", literal(value)),
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

fn literal(value: &Value) -> String {
    match value {
        Value::Array(_, items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Bool(..) | Value::Num(..) => display_value(value),
        Value::String(_, text) => quoted(&without_credentials(text)),
        Value::Char(..) | Value::Empty(..) | Value::Dict(..) => quoted(&display_value(value)),
    }
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
