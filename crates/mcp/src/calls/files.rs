use api_types::{FileListResponse, NoBody};
use openapi::parameters::PageQuery;
use openapi::{Input, operations};
use serde::Deserialize;
use serde_json::Value;

use crate::answer::{self, Answer, FilePage, Tail};
use crate::arguments::{self, Given, Unknown};
use crate::backend::{Backend, Failure};
use crate::inputs;

/// Size of a page in characters.
const PAGE_CHARS: usize = 20_000;

/// Largest page of the operation.
const MAX_LIMIT: usize = 1_000;

#[derive(Debug, Deserialize)]
struct ListArguments {
    /// `next_cursor` of the previous page.
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
    let cursor = cursor.filter(|cursor| !cursor.is_empty());
    let tail = Tail::new(notes, &[]);
    if start > 0 && cursor.is_none() {
        let files = list(backend, PageQuery::default()).await?.files;
        let from = start.min(files.len());
        let to = files.len().min(from.saturating_add(limit));
        let part = &files[from..to];
        let shown = answer::fitting(part, PAGE_CHARS, &tail);
        let next_start = Some(from + shown).filter(|next| *next < files.len());
        let page =
            FilePage { files: &part[..shown], start: Some(from), total: Some(files.len()), ..FilePage::default() };
        return answer::files(&FilePage { next_start, ..page }, tail);
    }
    let mut limit = limit.clamp(1, MAX_LIMIT);
    loop {
        let query = PageQuery { cursor: cursor.clone(), limit: Some(limit.to_string()) };
        let FileListResponse { files, next_cursor, .. } = list(backend, query).await?;
        let shown = answer::fitting(&files, PAGE_CHARS, &tail);
        if shown < files.len() {
            // Asked again with a limit that fits, because only the service makes cursors.
            limit = shown;
            continue;
        }
        let start = cursor.is_none().then_some(0);
        let total = start.filter(|_| next_cursor.is_none()).map(|_| files.len());
        let page = FilePage { files: &files, start, total, next_cursor: next_cursor.as_deref(), next_start: None };
        return answer::files(&page, tail);
    }
}

async fn list<B: Backend>(backend: &B, query: PageQuery) -> Result<FileListResponse, Failure> {
    backend.call(Input::<operations::ListFiles> { path: (), query, body: NoBody {} }).await
}
