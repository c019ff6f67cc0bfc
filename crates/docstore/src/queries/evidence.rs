use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CaptureId, DocId, OrganizationId, Timestamp};

use super::{Conn, lock_documents, vectors};
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::error::Result;
use crate::schema::{captures, documents, grants};
use crate::types::Bind;

/// Document that is stored again after its removal.
pub struct Restored {
    pub doc_id: DocId,
    /// Owner of its captures; `None` for the shared web.
    pub owner: Option<OrganizationId>,
    /// Its last capture, unless the content is the same.
    pub replaced: Option<CaptureId>,
}

/// Takes replaced captures out of use, each given with the new capture that takes its place. Those that were shown or cited are
/// kept, the others deleted.
pub async fn supersede(
    connection: &mut Conn,
    replaced: &[(CaptureId, Option<CaptureId>)],
    now: Timestamp,
) -> Result<()> {
    for chunk in replaced.chunks(MAX_VALUES_PER_STATEMENT) {
        let of_chunk = || captures::table.filter(is_one_of!(captures::capture_id, chunk.iter().map(|pair| pair.0)));
        let shown = grants::table
            .filter(grants::doc_id.eq(captures::doc_id))
            .filter(grants::capture_id.eq(captures::capture_id.nullable()));
        let seen = of_chunk().filter(captures::kept_until.is_not_null().or(diesel::dsl::exists(shown)));
        diesel::update(seen).set(captures::superseded_at.eq(Bind(now))).execute(connection).await?;
        vectors::hand_over(connection, chunk).await?;
        diesel::delete(of_chunk().filter(captures::superseded_at.is_null())).execute(connection).await?;
    }
    Ok(())
}

/// Takes the organization's own capture of a page out of use, and keeps it.
pub async fn supersede_reading(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_id: DocId,
    now: Timestamp,
) -> Result<()> {
    let in_use = captures::table
        .filter(captures::doc_id.eq(Bind(doc_id)))
        .filter(captures::organization_id.eq(Bind(organization_id)))
        .filter(captures::superseded_at.is_null());
    diesel::update(in_use).set(captures::superseded_at.eq(Bind(now))).execute(connection).await?;
    Ok(())
}

/// Deletes what is kept of a document from before its removal, and the capture that new content replaces.
pub async fn forget(connection: &mut Conn, restored: Restored) -> Result<()> {
    let Restored { doc_id, owner, replaced } = restored;
    let old = captures::superseded_at.is_not_null().or(captures::capture_id.nullable().eq(Bind(replaced)));
    let of_document = captures::table.filter(captures::doc_id.eq(Bind(doc_id))).filter(old);
    match owner {
        Some(owner) => {
            let own = of_document.filter(captures::organization_id.eq(Bind(owner)));
            diesel::delete(own).execute(connection).await?;
        }
        None => {
            let shared = of_document.filter(captures::organization_id.is_null());
            diesel::delete(shared).execute(connection).await?;
        }
    }
    Ok(())
}

pub async fn keep_as_evidence(
    connection: &mut Conn,
    organization_id: OrganizationId,
    capture_ids: Vec<CaptureId>,
    until: Timestamp,
) -> Result<()> {
    for chunk in capture_ids.chunks(MAX_VALUES_PER_STATEMENT) {
        let cited = || {
            captures::table
                .filter(is_one_of!(captures::capture_id, chunk.iter().copied()))
                .filter(captures::organization_id.is_null().or(captures::organization_id.eq(Bind(organization_id))))
                .filter(captures::kept_until.is_null().or(captures::kept_until.lt(Bind(until))))
        };
        let mut doc_ids: Vec<DocId> = cited().select(captures::doc_id).load(connection).await?;
        doc_ids.sort_unstable();
        doc_ids.dedup();
        // The locks of whoever changes captures of documents: locks of captures in another order could deadlock.
        lock_documents(connection, &doc_ids).await?;
        let documents = documents::table.filter(is_one_of!(documents::doc_id, doc_ids)).order(documents::doc_id);
        let _locked: Vec<DocId> = lock_rows!(documents.select(documents::doc_id)).load(connection).await?;
        diesel::update(cited()).set(captures::kept_until.eq(Bind(until))).execute(connection).await?;
    }
    Ok(())
}

pub async fn prune_captures(
    connection: &mut Conn,
    superseded_before: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<usize> {
    let expired = captures::table
        .filter(captures::superseded_at.le(Bind(superseded_before)))
        .filter(captures::kept_until.is_null().or(captures::kept_until.le(Bind(now))))
        .order((captures::superseded_at, captures::capture_id))
        .limit(limit);
    // What another transaction has locked may be in use again; the next sweep looks at it.
    let ids: Vec<CaptureId> = lock_available_rows!(expired.select(captures::capture_id)).load(connection).await?;
    let expired = captures::table.filter(is_one_of!(captures::capture_id, ids));
    Ok(diesel::delete(expired).execute(connection).await?)
}
