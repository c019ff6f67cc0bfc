//! States of stored files.

use std::collections::BTreeSet;

use retrieval_client::types::{FileEntry, FileListResponse};
use retrieval_client::{Answer, Client, Error};
use serde_json::{Map, Value};

use crate::failure::Failure;

/// Maximum number of files to ask for one by one. For more of them the list of all files takes fewer requests.
const MAX_LOOKUPS: usize = 5;

/// Returns the stored files of these names.
pub async fn entries(names: &BTreeSet<&str>, client: &Client) -> Result<Vec<FileEntry>, Failure> {
    if names.len() > MAX_LOOKUPS {
        let files = client.list_all_files().await?.into_iter().flat_map(|page| page.body.files);
        return Ok(files.filter(|file| names.contains(file.name.as_str())).collect());
    }
    let mut stored = Vec::new();
    for name in names {
        match client.get_file(name).await {
            Ok(answer) => stored.push(answer.body.file),
            Err(error) if error.api().is_some_and(|api| api.code == "file_not_found") => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(stored)
}

/// Joins the pages of a list to one document: the first one, with the files of all.
pub fn join(pages: &[Answer<FileListResponse>]) -> Result<Value, Failure> {
    let malformed = |error: serde_json::Error| Error::Malformed { status: 200, reason: error.to_string() };
    let mut document = Map::new();
    let mut files = Vec::new();
    for page in pages {
        let mut fields: Map<String, Value> = serde_json::from_slice(&page.raw).map_err(malformed)?;
        if let Some(Value::Array(more)) = fields.remove("files") {
            files.extend(more);
        }
        fields.remove("next_cursor");
        if document.is_empty() {
            document = fields;
        }
    }
    document.insert("files".to_owned(), Value::Array(files));
    Ok(Value::Object(document))
}
