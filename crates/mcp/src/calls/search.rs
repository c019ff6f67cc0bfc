use api_types::{Filters, OnExceed, SearchIndex, SearchScope};
use openapi::{Input, operations};
use serde_json::Value;

use super::limit;
use crate::answer::{self, Answer, Tail};
use crate::arguments::{self, Given};
use crate::backend::{Backend, Failure};

/// Default size of an answer in characters: ten results with one passage each, and a few second passages.
const DEFAULT_CHARS: usize = 12_000;

pub(super) async fn run<B: Backend>(arguments: Value, can_read: bool, backend: &B) -> Result<Answer, Failure> {
    let Given { mut request, mut notes } = arguments::search(arguments)?;
    let limit = limit(request.response.budget.max_chars_total, DEFAULT_CHARS, &mut notes);
    let budget = &mut request.response.budget;
    budget.max_chars_total = match budget.on_exceed {
        // The limit applies to what the client shows, which is smaller than the API's response.
        OnExceed::Shed => None,
        OnExceed::Error => budget.max_chars_total.map(|_| limit as i64),
    };
    fill_workspace(&mut request.scope, &request.filters, backend).await?;
    let response = backend.call(Input::<operations::Search>::of_body(request)).await?;
    let tail = Tail::new(notes, response.warnings.as_deref().unwrap_or_default());
    answer::hits(&response, limit, tail, can_read)
}

/// Sets the indexes of a search for labels, and the id of the workspace. Models do not know it, and the key belongs to one organization.
pub(super) async fn fill_workspace<B: Backend>(
    scope: &mut SearchScope,
    filters: &Filters,
    backend: &B,
) -> Result<(), Failure> {
    // Only files have labels.
    if !filters.labels.is_empty() && scope.indexes.is_none() {
        scope.indexes = Some(vec![SearchIndex::Workspace]);
    }
    let workspace = scope.indexes.as_ref().is_some_and(|indexes| indexes.contains(&SearchIndex::Workspace));
    if workspace && scope.workspace_id.is_none() {
        scope.workspace_id = backend.workspace_id().await?.map(|id| id.to_string());
    }
    Ok(())
}
