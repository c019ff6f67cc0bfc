//! Files of `config/deploy` and `config/monitoring`, compared with each other and with the product: names, ports, settings, commands.

mod compose;
mod image;
mod kubernetes;
mod proxies;
mod unit;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use settings::Settings;

/// Maximum number of seconds of a stop after `server.drain_seconds`: the internal listener (1), background work (10), what is written
/// last (5), traces (3), and calls that hang (5).
const AFTER_DRAIN: u64 = 24;

/// Returns the path of a file below `config`.
fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config").join(file)
}

fn read(file: &str) -> String {
    fs::read_to_string(path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Parses the documents of a YAML file, with merged keys.
fn yaml(text: &str) -> Vec<Value> {
    let documents = serde_yaml_ng::Deserializer::from_str(text).map(|document| {
        let mut document = serde_yaml_ng::Value::deserialize(document).unwrap();
        // One pass merges one level, and merged keys may have keys to merge.
        (0..4).for_each(|_| document.apply_merge().unwrap());
        serde_json::to_value(document).unwrap()
    });
    documents.collect()
}

/// Parses the only document of a YAML file.
fn document(file: &str) -> Value {
    let [document] = <[Value; 1]>::try_from(yaml(&read(file))).unwrap();
    document
}

/// Returns a settings file with the defaults, without its secrets, which are in files of the deployment.
fn settings(toml: &str) -> Settings {
    let is_plain = |line: &&str| !line.split('=').next().unwrap_or_default().trim().ends_with("_file");
    let mut text: String = toml.lines().filter(is_plain).map(|line| format!("{line}\n")).collect();
    // Not checked here, and required with this backend.
    text = text.replace("[rate_limit]\n", "[rate_limit]\nurl = \"redis://redis\"\n");
    let file = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
    fs::write(file.path(), text).unwrap();
    Settings::load(Some(file.path()), []).unwrap()
}

/// Returns the files of secrets that settings name.
fn secret_files(toml: &str) -> BTreeSet<String> {
    let lines = toml.lines().filter_map(|line| line.split_once('='));
    let files = lines.filter(|(key, _)| key.trim().ends_with("_file"));
    files.map(|(_, value)| value.split('"').nth(1).unwrap().to_owned()).collect()
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().map(|item| item.as_str().unwrap()).collect()
}

/// Asserts that the program knows a command with its arguments: it fails because of its settings only.
#[track_caller]
fn assert_command(arguments: &[&str]) {
    let mut command = crate::support::command();
    command.args(arguments).args(["--config", "/nonexistent.toml"]);
    let done = crate::support::run(command, &[]);
    assert_eq!(done.code(), Some(1), "{arguments:?}: {done:#?}");
    assert!(done.stderr.contains("/nonexistent.toml"), "{arguments:?}: {done:#?}");
}
