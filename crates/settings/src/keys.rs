//! Known keys: the tree of the defaults, and the nearest key to an unknown one.

use figment::value::{Dict, Value};

use crate::SettingsError;
use crate::secret::is_secret;

/// Removes keys that the defaults lack and values in place of sections, with one error each.
pub(crate) fn retain_known(
    keys: &mut Dict,
    known: &Dict,
    parent: &str,
    origin: &str,
    nearest: &dyn Fn(&str) -> Option<String>,
    errors: &mut Vec<SettingsError>,
) {
    keys.retain(|name, value| {
        let key = join(parent, name);
        match (known.get(name), value) {
            (Some(Value::Dict(_, known)), Value::Dict(_, keys)) => {
                retain_known(keys, known, &key, origin, nearest, errors);
                true
            }
            (Some(Value::Dict(..)), value) => {
                errors.push(SettingsError::invalid(&key, display_value(value), "is a section, not a value"));
                false
            }
            // A section in place of a value: its content has unknown keys.
            (Some(_), Value::Dict(_, inner)) if !inner.is_empty() => {
                retain_known(inner, &Dict::new(), &key, origin, nearest, errors);
                false
            }
            (Some(_), _) => true,
            (None, _) if key.strip_suffix("_file").is_some_and(is_secret) => true,
            (None, _) => {
                let hint = near(known, name).map(|name| join(parent, name)).or_else(|| nearest(&key));
                let hint = hint.map_or_else(String::new, |hint| format!(": did you mean `{hint}`?"));
                errors.push(SettingsError::UnknownKey { key, origin: origin.to_owned(), hint });
                false
            }
        }
    });
}

/// Maximum length of a name with which two changed characters make another name, not a typing error.
const MAX_SHORT_NAME: usize = 3;

/// Returns the name of the section that differs from `name` by at most two characters, or by one if a name is short.
fn near<'a>(known: &'a Dict, name: &str) -> Option<&'a str> {
    let is_short = |name: &str| name.chars().count() <= MAX_SHORT_NAME;
    let tolerance = |known: &str| if is_short(known) || is_short(name) { 1 } else { 2 };
    let candidates = known.keys().map(|known| (distance(known, name), known.as_str()));
    let near = candidates.filter(|(edits, known)| *edits <= tolerance(known));
    near.min_by_key(|(edits, _)| *edits).map(|(_, known)| known)
}

/// Returns the paths of all keys that have a value, such as `["server", "bind"]`.
pub(crate) fn paths(known: &Dict) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (name, value) in known {
        match value {
            Value::Dict(_, inner) => {
                found.extend(paths(inner).into_iter().map(|path| [vec![name.clone()], path].concat()));
            }
            _ => found.push(vec![name.clone()]),
        }
    }
    found
}

pub(crate) fn find<'a>(keys: &'a Dict, path: &[String]) -> Option<&'a Value> {
    let (name, rest) = path.split_first()?;
    match (keys.get(name)?, rest.is_empty()) {
        (value, true) => Some(value),
        (Value::Dict(_, inner), false) => find(inner, rest),
        (_, false) => None,
    }
}

pub(crate) fn insert(keys: &mut Dict, path: &[String], value: Value) -> Result<(), ()> {
    match path {
        [] => Err(()),
        [name] => {
            keys.insert(name.clone(), value);
            Ok(())
        }
        [name, rest @ ..] => match keys.entry(name.clone()).or_insert_with(|| Value::from(Dict::new())) {
            Value::Dict(_, inner) => insert(inner, rest, value),
            _ => Err(()),
        },
    }
}

pub(crate) fn join(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") }
}

pub(crate) fn display_value(value: &Value) -> String {
    match value {
        Value::String(_, text) => text.clone(),
        Value::Bool(_, value) => value.to_string(),
        Value::Num(_, number) => {
            let whole = number.to_i128().map(|whole| whole.to_string());
            let whole = whole.or_else(|| number.to_u128().map(|whole| whole.to_string()));
            whole.or_else(|| number.to_f64().map(|float| float.to_string())).unwrap_or_default()
        }
        Value::Char(_, value) => value.to_string(),
        Value::Array(..) => "a list".to_owned(),
        Value::Dict(..) => "a section".to_owned(),
        Value::Empty(..) => "nothing".to_owned(),
    }
}

/// Returns the Levenshtein distance of two names.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (corner + usize::from(x != *y)).min(above + 1).min(row[j] + 1);
            corner = above;
        }
    }
    row[b.len()]
}
