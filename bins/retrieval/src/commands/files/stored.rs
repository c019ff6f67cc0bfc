//! States of stored files.

use std::collections::BTreeSet;

use retrieval_client::types::FileEntry;
use retrieval_client::{Client, Error};

use super::names;
use crate::failure::Failure;

/// Maximum number of files to ask for one by one. For more of them the list of all files takes fewer requests, and in one
/// response less of the server, which asks its storage for each file of a page.
const MAX_LOOKUPS: usize = 5;

/// Returns the stored files of these names.
pub async fn entries(names: &BTreeSet<&str>, client: &Client) -> Result<Vec<FileEntry>, Failure> {
    if names.len() > MAX_LOOKUPS {
        let files = client.list_files().await?.body.files.into_iter();
        return Ok(files.filter(|file| names.contains(file.name.as_str())).collect());
    }
    let mut stored = Vec::new();
    for name in names {
        match client.get_file(name).await {
            Ok(answer) => stored.push(answer.body.file),
            Err(error) if is_missing(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(stored)
}

/// Asks for a file by its name as typed. If there is none, asks by the name under which the service stores a file of this name.
pub async fn by_name<T>(name: &str, mut ask: impl AsyncFnMut(&str) -> Result<T, Error>) -> Result<T, Error> {
    match ask(name).await {
        Err(error) if is_missing(&error) => match names::stored_as(name) {
            Some(stored) => ask(&stored).await,
            None => Err(error),
        },
        asked => asked,
    }
}

fn is_missing(error: &Error) -> bool {
    error.api().is_some_and(|api| api.code == "file_not_found")
}
