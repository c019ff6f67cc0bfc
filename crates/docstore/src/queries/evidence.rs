use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CaptureId, DocId, OrganizationId, Timestamp};

use super::Conn;
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::error::Result;
use crate::schema::{captures, grants};
use crate::types::{Bind, bind_all};

/// Takes replaced captures out of use. Those that were shown or cited are kept, the others deleted.
pub async fn supersede(connection: &mut Conn, replaced: &[CaptureId], now: Timestamp) -> Result<()> {
    for chunk in replaced.chunks(MAX_VALUES_PER_STATEMENT) {
        let of_chunk = || captures::table.filter(captures::capture_id.eq_any(bind_all(chunk.iter().copied())));
        let shown = grants::table
            .filter(grants::doc_id.eq(captures::doc_id))
            .filter(grants::capture_id.eq(captures::capture_id.nullable()));
        let seen = of_chunk().filter(captures::kept_until.is_not_null().or(diesel::dsl::exists(shown)));
        diesel::update(seen).set(captures::superseded_at.eq(Bind(now))).execute(connection).await?;
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

/// Deletes what is kept of a document from before its removal, and lets nothing keep its latest capture.
pub async fn forget(connection: &mut Conn, doc_id: DocId, owner: Option<OrganizationId>) -> Result<()> {
    let of_document = || {
        let captures = captures::table.filter(captures::doc_id.eq(Bind(doc_id))).into_boxed();
        match owner {
            Some(owner) => captures.filter(captures::organization_id.eq(Bind(owner))),
            None => captures.filter(captures::organization_id.is_null()),
        }
    };
    let of_document: Vec<(CaptureId, Option<Timestamp>)> =
        of_document().select((captures::capture_id, captures::superseded_at)).load(connection).await?;
    let (kept, latest): (Vec<_>, Vec<_>) = of_document.into_iter().partition(|(_, at)| at.is_some());
    let ids = |rows: Vec<(CaptureId, Option<Timestamp>)>| bind_all(rows.into_iter().map(|(capture_id, _)| capture_id));
    diesel::delete(captures::table.filter(captures::capture_id.eq_any(ids(kept)))).execute(connection).await?;
    diesel::update(captures::table.filter(captures::capture_id.eq_any(ids(latest))))
        .set(captures::kept_until.eq(Bind(None::<Timestamp>)))
        .execute(connection)
        .await?;
    diesel::update(grants::table.filter(grants::doc_id.eq(Bind(doc_id))))
        .set(grants::capture_id.eq(Bind(None::<CaptureId>)))
        .execute(connection)
        .await?;
    Ok(())
}

pub async fn keep_as_evidence(
    connection: &mut Conn,
    organization_id: OrganizationId,
    capture_ids: Vec<CaptureId>,
    until: Timestamp,
) -> Result<()> {
    for chunk in capture_ids.chunks(MAX_VALUES_PER_STATEMENT) {
        let cited = captures::table
            .filter(captures::capture_id.eq_any(bind_all(chunk.iter().copied())))
            .filter(captures::organization_id.is_null().or(captures::organization_id.eq(Bind(organization_id))))
            .filter(captures::kept_until.is_null().or(captures::kept_until.lt(Bind(until))))
            .order(captures::capture_id);
        let cited: Vec<CaptureId> = lock_rows!(cited.select(captures::capture_id)).load(connection).await?;
        diesel::update(captures::table.filter(captures::capture_id.eq_any(bind_all(cited))))
            .set(captures::kept_until.eq(Bind(until)))
            .execute(connection)
            .await?;
    }
    Ok(())
}

pub async fn prune_captures(
    connection: &mut Conn,
    superseded_before: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<usize> {
    let expired = || {
        captures::table
            .filter(captures::superseded_at.le(Bind(superseded_before)))
            .filter(captures::kept_until.is_null().or(captures::kept_until.le(Bind(now))))
    };
    let ids: Vec<CaptureId> = expired()
        .order((captures::superseded_at, captures::capture_id))
        .limit(limit)
        .select(captures::capture_id)
        .load(connection)
        .await?;
    // Unless it is in use again.
    let expired = expired().filter(captures::capture_id.eq_any(bind_all(ids)));
    Ok(diesel::delete(expired).execute(connection).await?)
}
