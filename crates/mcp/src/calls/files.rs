use api_types::NoBody;
use openapi::{Input, operations};
use serde::Deserialize;
use serde_json::Value;

use crate::answer::{self, Answer, FilePage, Tail};
use crate::arguments::{self, Given, Unknown};
use crate::backend::{Backend, Failure};
use crate::inputs;

/// Size of a page in characters.
const PAGE_CHARS: usize = 20_000;

/// Arguments of `list_files`. The operation has none, but models read the list in parts.
#[derive(Debug, Deserialize)]
struct ListArguments {
    /// Name of the last file of the previous page.
    #[serde(default)]
    cursor: Option<String>,
    #[serde(default = "default_limit")]
    limit: usize,
    /// Number of files to skip; for clients that count.
    #[serde(default)]
    start: usize,
}

fn default_limit() -> usize {
    100
}

pub(super) async fn run<B: Backend>(arguments: Value, backend: &B) -> Result<Answer, Failure> {
    let Given { request: ListArguments { cursor, limit, start }, notes } =
        arguments::own(arguments, &[], &inputs::list_files(), Unknown::Note)?;
    let response = backend.call(Input::<operations::ListFiles>::of_body(NoBody {})).await?;
    let mut files = response.files;
    files.sort_by(|one, other| one.name.cmp(&other.name));
    let start = match cursor.filter(|cursor| !cursor.is_empty()) {
        // Files may have been added or deleted since, so the cursor is a place, not a number.
        Some(cursor) => files.partition_point(|file| file.name <= cursor),
        None => start.min(files.len()),
    };
    let end = files.len().min(start.saturating_add(limit));
    let page = FilePage { files: &files[start..end], start, total: files.len() };
    answer::files(&page, PAGE_CHARS, Tail::new(notes, &[]))
}
