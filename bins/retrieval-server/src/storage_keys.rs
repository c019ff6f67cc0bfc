//! Credentials of the embedded object store, generated on the first start.

use std::path::Path;

use anyhow::Context;

use crate::files;

/// File of the data folder with the keys.
pub const FILE: &str = "storage-credentials";

#[derive(Clone)]
pub struct StorageKeys {
    pub access_key_id: String,
    pub secret_access_key: String,
}

/// Reads the keys of the data folder, or generates them.
pub fn read_or_create(data_dir: &Path) -> anyhow::Result<StorageKeys> {
    let path = data_dir.join(FILE);
    loop {
        match std::fs::read_to_string(&path) {
            Ok(text) => return parse(&text).with_context(|| format!("`{}` is damaged", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => create(&path)?,
            Err(error) => return Err(error).with_context(|| format!("reading `{}`", path.display())),
        }
    }
}

/// Writes new keys. One of two concurrent processes wins.
fn create(path: &Path) -> anyhow::Result<()> {
    files::write_once(path, &format!("{}\n{}\n", random(20), random(40)))
        .with_context(|| format!("writing `{}`", path.display()))
}

fn parse(text: &str) -> Option<StorageKeys> {
    let (access_key_id, secret_access_key) = text.trim_end().split_once('\n')?;
    if access_key_id.is_empty() || secret_access_key.is_empty() {
        return None;
    }
    Some(StorageKeys { access_key_id: access_key_id.to_owned(), secret_access_key: secret_access_key.to_owned() })
}

fn random(length: usize) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    (0..length).map(|_| char::from(ALPHABET[rand::random_range(0..ALPHABET.len())])).collect()
}
