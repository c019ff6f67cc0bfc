//! Sources of settings: reads them, rejects unknown keys, merges them.

use std::path::Path;

use figment::error::Kind;
use figment::providers::{Format, Toml};
use figment::value::{Dict, Map, Num, Tag, Value};
use figment::{Figment, Metadata, Profile, Provider};

use crate::{DEFAULTS, ENVIRONMENT_PREFIX, Settings, SettingsError};

/// Keys with hidden values, which can be given as `<key>_file`.
pub(crate) const SECRETS: [&str; 6] = [
    "database.url",
    "index.api_key",
    "storage.access_key_id",
    "storage.secret_access_key",
    "rate_limit.url",
    "rerank.api_key",
];

pub(crate) fn is_secret(key: &str) -> bool {
    SECRETS.contains(&key)
}

/// One source of settings. `origin` completes a message: "unknown key `x` in {origin}".
struct Layer {
    origin: String,
    keys: Dict,
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.origin.clone())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Map::from([(Profile::Default, self.keys.clone())]))
    }
}

pub(crate) fn merge(
    file: Option<&Path>,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<Settings, SettingsError> {
    let defaults = toml("the compiled-in defaults".to_owned(), DEFAULTS)?;
    let mut layers = Vec::new();
    if let Some(path) = file {
        let text =
            std::fs::read_to_string(path).map_err(|source| SettingsError::Read { path: path.to_owned(), source })?;
        layers.push(toml(format!("`{}`", path.display()), &text)?);
    }
    layers.push(environment_layer(environment, &defaults.keys)?);

    let mut figment = Figment::from(&defaults);
    for layer in &mut layers {
        check_known(&layer.keys, &defaults.keys, "", &layer.origin)?;
        read_secret_files(layer)?;
        figment = figment.merge(&*layer);
    }
    figment.extract().map_err(convert_error)
}

fn toml(origin: String, text: &str) -> Result<Layer, SettingsError> {
    match Toml::string(text).data() {
        Ok(mut profiles) => Ok(Layer { origin, keys: profiles.remove(&Profile::Default).unwrap_or_default() }),
        Err(error) => Err(SettingsError::Syntax { origin, message: error.kind.to_string() }),
    }
}

/// Rejects the first key that the defaults lack.
fn check_known(keys: &Dict, known: &Dict, parent: &str, origin: &str) -> Result<(), SettingsError> {
    for (name, value) in keys {
        let key = join(parent, name);
        match (known.get(name), value) {
            (Some(Value::Dict(_, known)), Value::Dict(_, keys)) => check_known(keys, known, &key, origin)?,
            (Some(Value::Dict(..)), _) => {
                return Err(SettingsError::invalid(&key, display_value(value), "is a section, not a value"));
            }
            // A section in place of a value: its content has unknown keys.
            (Some(_), Value::Dict(_, inner)) if !inner.is_empty() => check_known(inner, &Dict::new(), &key, origin)?,
            (Some(_), _) => {}
            (None, _) if key.strip_suffix("_file").is_some_and(is_secret) => {}
            (None, _) => {
                let mut names: Vec<_> = known.keys().map(String::as_str).collect();
                names.sort_by_key(|known| distance(known, name));
                let hint = match names.first() {
                    Some(near) if distance(near, name) <= 2 => format!(": did you mean `{}`?", join(parent, near)),
                    Some(_) | None => String::new(),
                };
                return Err(SettingsError::UnknownKey { key, origin: origin.to_owned(), hint });
            }
        }
    }
    Ok(())
}

/// Parses `RETRIEVAL__SECTION__KEY=value` pairs. The default's type decides how a value is parsed, so that an API key
/// such as `123456` stays text; lists are comma-separated. Unknown names are kept and rejected later with the others.
fn environment_layer(
    pairs: impl IntoIterator<Item = (String, String)>,
    defaults: &Dict,
) -> Result<Layer, SettingsError> {
    let mut keys = Dict::new();
    for (name, text) in pairs {
        let Some(path) = name.strip_prefix(ENVIRONMENT_PREFIX) else { continue };
        let path: Vec<String> = path.split("__").map(str::to_lowercase).collect();
        let key = path.join(".");
        let invalid = |reason: &str| match is_secret(&key) {
            true => SettingsError::refused(&key, reason),
            false => SettingsError::invalid(&key, &text, reason),
        };
        let value = match find(defaults, &path) {
            Some(Value::Bool(..)) => {
                Value::from(text.trim().parse::<bool>().map_err(|_| invalid("is not true or false"))?)
            }
            Some(Value::Num(..)) => {
                let number = text.trim().parse::<u64>().map_err(|_| invalid("is not a whole number of 0 or more"))?;
                Value::Num(Tag::Default, Num::U64(number))
            }
            Some(Value::Array(..)) => {
                Value::from(text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect::<Vec<_>>())
            }
            Some(Value::Dict(..)) => return Err(invalid("is a section, not a value")),
            Some(Value::String(..) | Value::Char(..) | Value::Empty(..)) | None => Value::from(text.clone()),
        };
        insert(&mut keys, &path, value).map_err(|()| invalid("is below a key that is not a section"))?;
    }
    Ok(Layer { origin: "the environment".to_owned(), keys })
}

/// Replaces `<key>_file` by `<key>` with the file's text. An empty path is ignored.
fn read_secret_files(layer: &mut Layer) -> Result<(), SettingsError> {
    for key in SECRETS {
        let Some((section, name)) = key.split_once('.') else { continue };
        let Some(Value::Dict(_, keys)) = layer.keys.get_mut(section) else { continue };
        let Some(given) = keys.remove(&format!("{name}_file")) else { continue };
        let Some(path) = given.as_str() else {
            return Err(SettingsError::invalid(&format!("{key}_file"), display_value(&given), "is not a path"));
        };
        if path.is_empty() {
            continue;
        }
        if keys.get(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty()) {
            return Err(SettingsError::SecretTwice { key: key.to_owned(), origin: layer.origin.clone() });
        }
        let text = std::fs::read_to_string(path).map_err(|source| SettingsError::SecretFile {
            key: key.to_owned(),
            path: path.into(),
            source,
        })?;
        keys.insert(name.to_owned(), Value::from(text.trim_end_matches(['\r', '\n'])));
    }
    Ok(())
}

/// Converts an error; adds the key, and the value unless it is a secret.
fn convert_error(error: figment::Error) -> SettingsError {
    let key = error.path.join(".");
    let reason = |expected: &str| format!("must be {expected}");
    match error.kind {
        _ if is_secret(&key) => SettingsError::refused(&key, "must be text"),
        Kind::InvalidType(actual, expected) | Kind::InvalidValue(actual, expected) => {
            SettingsError::invalid(&key, actual_text(&actual), reason(&expected))
        }
        Kind::UnknownVariant(variant, expected) => {
            let names: Vec<_> = expected.iter().map(|name| format!("`{name}`")).collect();
            SettingsError::invalid(&key, variant, format!("must be one of {}", names.join(", ")))
        }
        // Messages come only from our own parsers, which quote the value.
        Kind::Message(message) => SettingsError::Refused { key, reason: message },
        other => SettingsError::Refused { key, reason: other.to_string() },
    }
}

fn actual_text(actual: &figment::error::Actual) -> String {
    use figment::error::Actual;
    match actual {
        Actual::Bool(value) => value.to_string(),
        Actual::Unsigned(value) => value.to_string(),
        Actual::Signed(value) => value.to_string(),
        Actual::Float(value) => value.to_string(),
        Actual::Str(value) => value.clone(),
        other => other.to_string(),
    }
}

fn display_value(value: &Value) -> String {
    match value {
        Value::String(_, text) => text.clone(),
        Value::Bool(_, value) => value.to_string(),
        Value::Num(_, number) => number_text(number),
        Value::Char(_, value) => value.to_string(),
        Value::Array(..) => "a list".to_owned(),
        Value::Dict(..) => "a section".to_owned(),
        Value::Empty(..) => "nothing".to_owned(),
    }
}

fn number_text(number: &Num) -> String {
    match (number.to_i128(), number.to_f64()) {
        (Some(whole), _) => whole.to_string(),
        (None, Some(float)) => float.to_string(),
        (None, None) => String::new(),
    }
}

fn join(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") }
}

fn find<'a>(keys: &'a Dict, path: &[String]) -> Option<&'a Value> {
    let (name, rest) = path.split_first()?;
    match (keys.get(name)?, rest.is_empty()) {
        (value, true) => Some(value),
        (Value::Dict(_, inner), false) => find(inner, rest),
        (_, false) => None,
    }
}

fn insert(keys: &mut Dict, path: &[String], value: Value) -> Result<(), ()> {
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

/// Returns the Levenshtein distance of two names.
fn distance(a: &str, b: &str) -> usize {
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
