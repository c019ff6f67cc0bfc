use std::collections::HashSet;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CaptureFormat, CaptureId, DocId, OrganizationId};

use super::page_reads::{current_readings, insert_anchors, save_readings};
use super::{Conn, lock_documents};
use crate::documents::NewPageRead;
use crate::error::Result;
use crate::schema::{captures, documents};
use crate::types::Bind;

pub async fn save_snippets(
    connection: &mut Conn,
    organization_id: OrganizationId,
    mut snippets: Vec<NewPageRead>,
) -> Result<Vec<(DocId, CaptureId)>> {
    snippets.sort_unstable_by_key(|new| new.read.doc_id);
    snippets.dedup_by_key(|new| new.read.doc_id);
    let doc_ids: Vec<DocId> = snippets.iter().map(|new| new.read.doc_id).collect();
    lock_documents(connection, &doc_ids).await?;
    let anchors = snippets.iter().map(|new| (new.read.doc_id, new.canonical_url.clone())).collect();
    insert_anchors(connection, anchors).await?;
    let own = current_readings(connection, organization_id, &doc_ids).await?;
    let mut whole = shared_whole_pages(connection, &doc_ids).await?;
    let own_whole = own.iter().filter(|(_, format)| format.is_some_and(|format| !format.is_snippet()));
    whole.extend(own_whole.map(|(read, _)| read.doc_id));
    snippets.retain(|new| !whole.contains(&new.read.doc_id));
    if snippets.is_empty() {
        return Ok(Vec::new());
    }
    let before = own.into_iter().map(|(read, _)| (read.doc_id, read)).collect();
    save_readings(connection, organization_id, before, snippets).await
}

/// Returns the pages of the shared index of which it has more than a snippet.
async fn shared_whole_pages(connection: &mut Conn, doc_ids: &[DocId]) -> Result<HashSet<DocId>> {
    let whole: Vec<DocId> = documents::table
        .inner_join(captures::table.on(captures::capture_id.nullable().eq(documents::latest_capture_id)))
        .filter(is_one_of!(documents::doc_id, doc_ids.iter().copied()))
        .filter(documents::listed)
        .filter(documents::removed_at.is_null())
        .filter(captures::format.eq(Bind(CaptureFormat::Markdown)))
        .select(documents::doc_id)
        .load(connection)
        .await?;
    Ok(whole.into_iter().collect())
}
