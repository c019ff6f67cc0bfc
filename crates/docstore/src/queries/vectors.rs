use std::collections::{BTreeMap, HashMap, HashSet};

use diesel::prelude::*;
use diesel::result::Error::SerializationError;
use diesel_async::RunQueryDsl;
use model::{CaptureId, Collection, DocId, IndexName, OrganizationId, Timestamp};

use super::outbox::enqueue_documents_of;
use super::{Conn, embedding_queue, is_workspace};
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::embedding::{CaptureVectors, EmbeddingProgress, NewVectors, content_key};
use crate::error::Result;
use crate::passage_vectors::encode;
use crate::rows::StoredVectors;
use crate::schema::{capture_vectors, captures, documents};
use crate::types::Bind;

/// Captures of a document whose vectors are looked at for equal texts.
const EARLIER_CAPTURES: i64 = 4;

type VectorsRow = (CaptureId, Vec<u8>, bool);

pub async fn load_vectors(
    connection: &mut Conn,
    organization_id: OrganizationId,
    capture_ids: Vec<CaptureId>,
    model: String,
) -> Result<Vec<CaptureVectors>> {
    let is_readable = captures::organization_id.is_null().or(captures::organization_id.eq(Bind(organization_id)));
    let rows: Vec<VectorsRow> = capture_vectors::table
        .inner_join(captures::table.on(captures::capture_id.eq(capture_vectors::capture_id)))
        .filter(is_one_of!(capture_vectors::capture_id, capture_ids))
        .filter(capture_vectors::model.eq(model))
        .filter(capture_vectors::complete)
        .filter(is_readable)
        .select((capture_vectors::capture_id, capture_vectors::passages, capture_vectors::complete))
        .load(connection)
        .await?;
    Ok(decoded(rows))
}

pub async fn list_vectors(
    connection: &mut Conn,
    capture_ids: Vec<CaptureId>,
    model: String,
) -> Result<Vec<CaptureVectors>> {
    let rows: Vec<VectorsRow> = capture_vectors::table
        .filter(is_one_of!(capture_vectors::capture_id, capture_ids))
        .filter(capture_vectors::model.eq(model))
        .filter(capture_vectors::complete)
        .select((capture_vectors::capture_id, capture_vectors::passages, capture_vectors::complete))
        .load(connection)
        .await?;
    Ok(decoded(rows))
}

fn decoded(rows: Vec<VectorsRow>) -> Vec<CaptureVectors> {
    rows.into_iter().filter_map(CaptureVectors::decode).collect()
}

pub async fn find_reusable_vectors(
    connection: &mut Conn,
    capture_id: CaptureId,
    model: String,
) -> Result<Vec<CaptureVectors>> {
    let found: Option<(DocId, Option<OrganizationId>, String)> = captures::table
        .find(Bind(capture_id))
        .select((captures::doc_id, captures::organization_id, captures::content_digest))
        .first(connection)
        .await
        .optional()?;
    let Some((doc_id, owner, digest)) = found else { return Ok(Vec::new()) };
    let of_owner = || {
        let query = capture_vectors::table
            .inner_join(captures::table.on(captures::capture_id.eq(capture_vectors::capture_id)))
            .filter(capture_vectors::model.eq(model.clone()))
            .select((capture_vectors::capture_id, capture_vectors::passages, capture_vectors::complete))
            .into_boxed();
        match owner {
            Some(owner) => query.filter(captures::organization_id.eq(Bind(owner))),
            None => query.filter(captures::organization_id.is_null()),
        }
    };
    let mut rows: Vec<VectorsRow> = of_owner()
        .filter(captures::doc_id.eq(Bind(doc_id)))
        // Its own vectors first: a clock that was ahead may have dated many others later.
        .order((capture_vectors::capture_id.eq(Bind(capture_id)).desc(), captures::captured_at.desc()))
        .limit(EARLIER_CAPTURES)
        .load(connection)
        .await?;
    let copies: Vec<VectorsRow> = of_owner()
        .filter(capture_vectors::content_key.eq(content_key(&digest)))
        .filter(captures::content_digest.eq(digest))
        .filter(captures::doc_id.ne(Bind(doc_id)))
        .filter(capture_vectors::complete)
        .limit(1)
        .load(connection)
        .await?;
    rows.extend(copies);
    Ok(decoded(rows))
}

/// Document whose vectors are stored: its id, owner, latest capture and title.
type EmbeddedRow = (DocId, Option<OrganizationId>, Option<CaptureId>, Option<String>);

pub async fn store_vectors(
    connection: &mut Conn,
    model: String,
    mut new: Vec<NewVectors>,
    owner: String,
    now: Timestamp,
) -> Result<()> {
    let indexes = lock_indexes_with(connection, &model).await?;
    new.sort_unstable_by_key(|one| one.doc_id);
    let doc_ids = new.iter().map(|one| one.doc_id);
    // Locked, so that no other capture or title takes the place of the embedded one meanwhile.
    let rows: Vec<EmbeddedRow> =
        lock_rows!(documents::table.filter(is_one_of!(documents::doc_id, doc_ids)).order(documents::doc_id).select((
            documents::doc_id,
            documents::organization_id,
            documents::latest_capture_id,
            documents::title
        )))
        .load(connection)
        .await?;
    let mut rows: HashMap<DocId, EmbeddedRow> = rows.into_iter().map(|row| (row.0, row)).collect();
    let mut ended: BTreeMap<Option<OrganizationId>, Vec<DocId>> = BTreeMap::new();
    for one in new {
        let Some((doc_id, organization_id, Some(latest), title)) = rows.remove(&one.doc_id) else { continue };
        let is_latest = latest == one.capture_id && title == one.title;
        let progress =
            if is_latest { one.progress } else { EmbeddingProgress::Partial { attempts: 0, not_before: now } };
        insert_vectors(connection, &model, one, latest, progress == EmbeddingProgress::Complete, now).await?;
        match progress {
            EmbeddingProgress::Complete => ended.entry(organization_id).or_default().push(doc_id),
            EmbeddingProgress::Partial { attempts, not_before } => {
                embedding_queue::postpone(connection, doc_id, owner.clone(), attempts, not_before).await?;
            }
        }
    }
    for (organization_id, doc_ids) in ended {
        let index = index_of(organization_id);
        if indexes.contains(&index) {
            embedding_queue::drop_embedding_jobs(connection, doc_ids.clone()).await?;
            enqueue_documents_of(connection, index, organization_id, doc_ids, now).await?;
        }
    }
    Ok(())
}

/// Returns the indexes that use the vectors of a model. All indexes keep their models until the transaction ends: the scan for a new
/// model comes before or after it, so it neither misses these vectors nor loses the jobs that it enqueues. Called before documents are
/// locked, since that scan locks in this order.
async fn lock_indexes_with(connection: &mut Conn, model: &str) -> Result<Vec<IndexName>> {
    let mut indexes = Vec::new();
    for index in IndexName::ALL {
        if embedding_queue::lock_index_model(connection, *index).await?.as_deref() == Some(model) {
            indexes.push(*index);
        }
    }
    Ok(indexes)
}

fn index_of(organization_id: Option<OrganizationId>) -> IndexName {
    organization_id.map_or(Collection::Web, Collection::Workspace).index()
}

/// Stores vectors for the latest capture of the document. Incomplete ones never replace complete ones, except damaged ones.
///
/// # Errors
/// The vectors have different numbers of components, or too many. Without them the job would not have ended: the feeder enqueues it
/// again.
async fn insert_vectors(
    connection: &mut Conn,
    model: &str,
    new: NewVectors,
    capture_id: CaptureId,
    complete: bool,
    now: Timestamp,
) -> Result<()> {
    let unstorable = || SerializationError("vectors of different lengths, or with too many components".into());
    let passages = encode(&new.passages).ok_or_else(unstorable)?;
    let of_capture = || {
        let of_capture = capture_vectors::table.filter(capture_vectors::capture_id.eq(Bind(capture_id)));
        of_capture.filter(capture_vectors::model.eq(model.to_owned()))
    };
    let replaces_complete = complete || {
        let columns = (capture_vectors::capture_id, capture_vectors::passages, capture_vectors::complete);
        let stored = of_capture().filter(capture_vectors::complete).select(columns);
        let stored: Option<VectorsRow> = stored.first(connection).await.optional()?;
        // A document of many rounds would begin again in each of them.
        stored.is_some_and(|stored| CaptureVectors::decode(stored).is_none())
    };
    if replaces_complete {
        diesel::delete(of_capture()).execute(connection).await?;
    } else {
        let incomplete = of_capture().filter(diesel::dsl::not(capture_vectors::complete));
        diesel::delete(incomplete).execute(connection).await?;
    }
    let content_key = content_key(&new.content_digest);
    let row = StoredVectors { capture_id, model: model.to_owned(), passages, complete, content_key, created_at: now };
    insert_missing_rows!(connection, capture_vectors::table, vec![row])?;
    Ok(())
}

/// Gives the vectors of captures that are about to be deleted to those that replace them, for texts that both have.
pub async fn hand_over(connection: &mut Conn, replaced: &[(CaptureId, Option<CaptureId>)]) -> Result<()> {
    let heirs: HashMap<CaptureId, CaptureId> = replaced.iter().filter_map(|(old, new)| Some((*old, (*new)?))).collect();
    let embedded: Vec<CaptureId> = capture_vectors::table
        .inner_join(captures::table.on(captures::capture_id.eq(capture_vectors::capture_id)))
        .filter(is_one_of!(capture_vectors::capture_id, heirs.keys().copied()))
        .filter(captures::superseded_at.is_null())
        .select(capture_vectors::capture_id)
        .distinct()
        .load(connection)
        .await?;
    for old in embedded {
        let Some(heir) = heirs.get(&old) else { continue };
        diesel::update(capture_vectors::table.filter(capture_vectors::capture_id.eq(Bind(old))))
            .set((capture_vectors::capture_id.eq(Bind(*heir)), capture_vectors::complete.eq(false)))
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// Marks the vectors of captures as incomplete: what is embedded with their passages may have changed.
pub async fn outdate(connection: &mut Conn, capture_ids: &[CaptureId]) -> Result<()> {
    for chunk in capture_ids.chunks(MAX_VALUES_PER_STATEMENT) {
        let outdated = is_one_of!(capture_vectors::capture_id, chunk.iter().copied());
        diesel::update(capture_vectors::table.filter(outdated))
            .set(capture_vectors::complete.eq(false))
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// Selects listed documents whose latest captures lack complete vectors of the model. A damaged document without this capture has
/// nothing to embed.
macro_rules! unembedded {
    ($model:expr) => {{
        let latest = captures::table.filter(captures::capture_id.nullable().eq(documents::latest_capture_id));
        let embedded = capture_vectors::table
            .filter(capture_vectors::capture_id.nullable().eq(documents::latest_capture_id))
            .filter(capture_vectors::model.eq($model))
            .filter(capture_vectors::complete);
        documents::table
            .filter(documents::listed)
            .filter(documents::removed_at.is_null())
            .filter(diesel::dsl::exists(latest))
            .filter(diesel::dsl::not(diesel::dsl::exists(embedded)))
    }};
}

/// Returns those of the documents that are to be embedded.
async fn unembedded_of(connection: &mut Conn, doc_ids: Vec<DocId>, model: String) -> Result<Vec<DocId>> {
    let of_these = is_one_of!(documents::doc_id, doc_ids);
    Ok(unembedded!(model).filter(of_these).select(documents::doc_id).load(connection).await?)
}

pub async fn settle_embedding_jobs(connection: &mut Conn, doc_ids: Vec<DocId>, model: String) -> Result<usize> {
    // Another model may have been adopted meanwhile, whose vectors the document lacks.
    let indexes = lock_indexes_with(connection, &model).await?;
    // Locked, so that no change of a document is overlooked.
    let known = documents::table.filter(is_one_of!(documents::doc_id, doc_ids.clone())).order(documents::doc_id);
    let known: Vec<(DocId, Option<OrganizationId>)> =
        lock_rows!(known.select((documents::doc_id, documents::organization_id))).load(connection).await?;
    let mut left: HashSet<DocId> =
        unembedded_of(connection, doc_ids.clone(), model.clone()).await?.into_iter().collect();
    left.extend(known.into_iter().filter(|(_, owner)| !indexes.contains(&index_of(*owner))).map(|(doc_id, _)| doc_id));
    let settled: Vec<DocId> = doc_ids.into_iter().filter(|doc_id| !left.contains(doc_id)).collect();
    let count = settled.len();
    embedding_queue::drop_embedding_jobs(connection, settled).await?;
    Ok(count)
}

pub async fn list_unembedded(
    connection: &mut Conn,
    index: IndexName,
    model: String,
    after: Option<DocId>,
    limit: i64,
) -> Result<Vec<DocId>> {
    let mut query = unembedded!(model)
        .filter(documents::organization_id.is_not_null().eq(is_workspace(index)))
        .order(documents::doc_id)
        .limit(limit)
        .select(documents::doc_id)
        .into_boxed();
    if let Some(after) = after {
        query = query.filter(documents::doc_id.gt(Bind(after)));
    }
    Ok(query.load(connection).await?)
}

pub async fn count_unembedded(connection: &mut Conn, index: IndexName, model: String) -> Result<i64> {
    let of_index = documents::organization_id.is_not_null().eq(is_workspace(index));
    Ok(unembedded!(model).filter(of_index).count().get_result(connection).await?)
}

pub async fn count_vectors(connection: &mut Conn) -> Result<Vec<(String, i64)>> {
    Ok(capture_vectors::table
        .group_by(capture_vectors::model)
        .order(capture_vectors::model)
        .select((capture_vectors::model, diesel::dsl::count_star()))
        .load(connection)
        .await?)
}

pub async fn prune_vectors(
    connection: &mut Conn,
    kept: Vec<String>,
    after: Option<CaptureId>,
    limit: i64,
) -> Result<(usize, Option<CaptureId>)> {
    let mut query = capture_vectors::table
        .order(capture_vectors::capture_id)
        .limit(limit)
        .select(capture_vectors::capture_id)
        .into_boxed();
    if let Some(after) = after {
        query = query.filter(capture_vectors::capture_id.gt(Bind(after)));
    }
    let page: Vec<CaptureId> = query.load(connection).await?;
    let last = page.last().copied();
    let old = capture_vectors::table
        .filter(is_one_of!(capture_vectors::capture_id, page))
        .filter(capture_vectors::model.ne_all(kept));
    Ok((diesel::delete(old).execute(connection).await?, last))
}
