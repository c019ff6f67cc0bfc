//! Sources of settings: reads them, rejects unknown keys, merges them.

use std::collections::HashSet;
use std::path::Path;

use figment::error::{Actual, Kind};
use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider};

use crate::keys::{display_value, find, insert, retain_known};
use crate::secret::{SECRETS, is_secret};
use crate::{DEFAULTS, Settings, SettingsError, environment, public_url};

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

/// Merges all sources. Invalid keys and values are added to `errors` and count as their defaults.
///
/// # Errors
/// Fails if the defaults are invalid, which a test rules out.
pub(crate) fn merge(
    file: Option<&Path>,
    environment: impl IntoIterator<Item = (String, String)>,
    errors: &mut Vec<SettingsError>,
) -> Result<Settings, SettingsError> {
    let defaults = defaults()?;
    let figment = layered(&defaults, file, environment, errors);
    extract(figment, &defaults, errors)
}

/// Merges all sources without converting the values to their types.
pub(crate) fn merged_keys(
    file: Option<&Path>,
    environment: impl IntoIterator<Item = (String, String)>,
    errors: &mut Vec<SettingsError>,
) -> Result<Dict, SettingsError> {
    layered(&defaults()?, file, environment, errors).extract().map_err(convert_error)
}

fn defaults() -> Result<Layer, SettingsError> {
    toml("the compiled-in defaults".to_owned(), DEFAULTS)
}

fn layered(
    defaults: &Layer,
    file: Option<&Path>,
    environment: impl IntoIterator<Item = (String, String)>,
    errors: &mut Vec<SettingsError>,
) -> Figment {
    let mut figment = Figment::from(defaults);
    let mut add = |mut layer: Layer, nearest: &dyn Fn(&str) -> Option<String>, errors: &mut Vec<SettingsError>| {
        retain_known(&mut layer.keys, &defaults.keys, "", &layer.origin, nearest, errors);
        read_secret_files(&mut layer, errors);
        figment = std::mem::take(&mut figment).merge(&layer);
    };
    match file.map(read_file) {
        None => {}
        Some(Ok(layer)) => add(layer, &|_| None, errors),
        Some(Err(error)) => errors.push(error),
    }
    let keys = environment::parse(environment, &defaults.keys, errors);
    let layer = Layer { origin: "the environment".to_owned(), keys };
    add(layer, &|key| environment::nearest_variable(key, &defaults.keys, 1), errors);
    with_public_url(figment, defaults)
}

/// Gives the public URL the port of the listener, unless it was set: users copy commands with this URL.
fn with_public_url(figment: Figment, defaults: &Layer) -> Figment {
    let is_set = figment.find_metadata(public_url::KEY).is_none_or(|source| source.name != defaults.origin);
    let bind = figment.find_value("server.bind").ok().and_then(|bind| bind.as_str()?.parse().ok());
    match bind.filter(|_| !is_set).and_then(public_url::of_listener) {
        Some(url) => figment.merge((public_url::KEY, url)),
        None => figment,
    }
}

fn read_file(path: &Path) -> Result<Layer, SettingsError> {
    let text = std::fs::read_to_string(path).map_err(|source| SettingsError::Read { path: path.to_owned(), source })?;
    toml(format!("`{}`", path.display()), &text)
}

/// Converts the values to their types. Each invalid value is replaced by its default until none is left.
fn extract(mut figment: Figment, defaults: &Layer, errors: &mut Vec<SettingsError>) -> Result<Settings, SettingsError> {
    let mut replaced = HashSet::new();
    loop {
        let error: figment::Error = match figment.extract() {
            Ok(settings) => return Ok(settings),
            Err(error) => error,
        };
        // The path of an item of a list ends with its number.
        let key = (1..=error.path.len())
            .map(|length| error.path[..length].to_vec())
            .find(|path| find(&defaults.keys, path).is_some_and(|value| !matches!(value, Value::Dict(..))));
        let error = convert_error(error);
        let Some((key, default)) = key.and_then(|key| find(&defaults.keys, &key).cloned().map(|value| (key, value)))
        else {
            return Err(error);
        };
        let mut keys = Dict::new();
        if !replaced.insert(key.clone()) || insert(&mut keys, &key, default).is_err() {
            return Err(error);
        }
        errors.push(error);
        figment = figment.merge(&Layer { origin: defaults.origin.clone(), keys });
    }
}

fn toml(origin: String, text: &str) -> Result<Layer, SettingsError> {
    match toml::from_str(text) {
        Ok(keys) => Ok(Layer { origin, keys }),
        Err(error) => Err(SettingsError::Syntax { origin, message: syntax_message(text, &error) }),
    }
}

/// Describes a syntax error without the text of the line, as it may contain a secret.
fn syntax_message(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    let Some(before) = before else { return error.message().to_owned() };
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}: {}", error.message())
}

/// Replaces each `<key>_file` by `<key>` with the file's text. An empty path is ignored.
fn read_secret_files(layer: &mut Layer, errors: &mut Vec<SettingsError>) {
    for key in SECRETS {
        if let Err(error) = read_secret_file(layer, key) {
            errors.push(error);
        }
    }
}

fn read_secret_file(layer: &mut Layer, key: &str) -> Result<(), SettingsError> {
    let Some((sections, name)) = key.rsplit_once('.') else { return Ok(()) };
    let mut keys = &mut layer.keys;
    for section in sections.split('.') {
        let Some(Value::Dict(_, inner)) = keys.get_mut(section) else { return Ok(()) };
        keys = inner;
    }
    let Some(given) = keys.remove(&format!("{name}_file")) else { return Ok(()) };
    let Some(path) = given.as_str() else {
        return Err(SettingsError::invalid(&format!("{key}_file"), display_value(&given), "is not a path"));
    };
    if path.is_empty() {
        return Ok(());
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
    Ok(())
}

/// Converts an error; adds the key, and the value unless it is a secret.
fn convert_error(error: figment::Error) -> SettingsError {
    let key = error.path.join(".");
    match error.kind {
        // The variants and messages below quote the value.
        _ if is_secret(&key) => SettingsError::refused(&key, "must be text"),
        Kind::InvalidType(actual, expected) | Kind::InvalidValue(actual, expected) => {
            // Quotes make text of a value.
            let is_quoted =
                matches!(&actual, Actual::Str(text) if text.parse::<f64>().is_ok() || text.parse::<bool>().is_ok());
            let expected = expected_text(&expected, is_quoted);
            SettingsError::invalid(&key, actual_text(&actual), format!("must be {expected}"))
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

/// Describes an expected type without the names of Rust. `is_quoted` is true for a number or truth value in quotes.
fn expected_text(expected: &str, is_quoted: bool) -> String {
    let value = match expected {
        "u16" => format!("a whole number from 0 to {}", u16::MAX),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u64" => "a whole number of 0 or more".to_owned(),
        "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        other => return other.to_owned(),
    };
    if is_quoted { format!("{value}, without quotes") } else { value }
}

fn actual_text(actual: &Actual) -> String {
    match actual {
        Actual::Bool(value) => value.to_string(),
        Actual::Unsigned(value) => value.to_string(),
        Actual::Signed(value) => value.to_string(),
        Actual::Float(value) => value.to_string(),
        Actual::Str(value) => value.clone(),
        other => other.to_string(),
    }
}
