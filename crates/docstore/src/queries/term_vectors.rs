use std::collections::HashMap;

use diesel::prelude::*;
use diesel::upsert::excluded;
use diesel_async::RunQueryDsl;
use model::{CaptureFormat, CaptureId, Collection, DocId, Timestamp};

use super::Conn;
use crate::documents::{DocumentState, DocumentToRank, KeyedTerms, TermVectorState};
use crate::error::Result;
use crate::rows::StoredTermVector;
use crate::schema::{captures, documents, term_vectors};
use crate::types::Bind;

/// Columns of a document, of its latest capture, and of its term vector.
type RankedRow = (
    (DocId, Timestamp, String, Option<String>, Option<String>, Option<String>, Option<Timestamp>),
    (CaptureId, CaptureFormat, String),
    Option<(i64, Vec<u8>)>,
);

pub async fn load_for_ranking(
    connection: &mut Conn,
    collection: Collection,
    doc_ids: Vec<DocId>,
    version: i32,
) -> Result<Vec<DocumentToRank>> {
    let query = documents::table
        .inner_join(captures::table.on(documents::latest_capture_id.eq(captures::capture_id.nullable())))
        .left_join(
            term_vectors::table.on(term_vectors::doc_id
                .eq(documents::doc_id)
                .and(term_vectors::capture_id.eq(captures::capture_id))
                .and(term_vectors::version.eq(version))),
        )
        .filter(is_one_of!(documents::doc_id, doc_ids))
        .filter(documents::listed)
        .filter(documents::removed_at.is_null())
        .select((
            (
                documents::doc_id,
                documents::last_seen_at,
                documents::canonical_url,
                documents::title,
                documents::description,
                documents::language,
                documents::published_at,
            ),
            (captures::capture_id, captures::format, captures::content_digest),
            (term_vectors::text_key, term_vectors::terms).nullable(),
        ))
        .into_boxed();
    let query = match collection {
        Collection::Web => query.filter(documents::organization_id.is_null()),
        Collection::Workspace(owner) => query.filter(documents::organization_id.eq(Bind(owner))),
    };
    let rows: Vec<RankedRow> = load_rows!(connection, query)?;
    Ok(rows.into_iter().map(document_to_rank).collect())
}

fn document_to_rank((document, capture, terms): RankedRow) -> DocumentToRank {
    let (doc_id, last_seen_at, canonical_url, title, description, language, published_at) = document;
    let (capture_id, format, content_digest) = capture;
    DocumentToRank {
        state: DocumentState { doc_id, capture_id, last_seen_at },
        canonical_url,
        title,
        description,
        language,
        published_at,
        format,
        content_digest,
        terms: terms.map(|(text_key, terms)| KeyedTerms { text_key, terms }),
    }
}

pub async fn store_term_vectors(connection: &mut Conn, mut new: Vec<StoredTermVector>) -> Result<()> {
    new.sort_unstable_by_key(|one| one.doc_id);
    let doc_ids = new.iter().map(|one| one.doc_id);
    let latest: Vec<(DocId, Option<CaptureId>)> = lock_rows_against_deletion!(
        documents::table
            .filter(is_one_of!(documents::doc_id, doc_ids))
            .order(documents::doc_id)
            .select((documents::doc_id, documents::latest_capture_id))
    )
    .load(connection)
    .await?;
    let latest: HashMap<DocId, Option<CaptureId>> = latest.into_iter().collect();
    new.retain(|one| latest.get(&one.doc_id) == Some(&Some(one.capture_id)));
    let upsert = |row: StoredTermVector| {
        diesel::insert_into(term_vectors::table).values(row).on_conflict(term_vectors::doc_id).do_update().set((
            term_vectors::capture_id.eq(excluded(term_vectors::capture_id)),
            term_vectors::version.eq(excluded(term_vectors::version)),
            term_vectors::text_key.eq(excluded(term_vectors::text_key)),
            term_vectors::terms.eq(excluded(term_vectors::terms)),
        ))
    };
    execute_all!(connection, new.into_iter().map(upsert))?;
    Ok(())
}

pub async fn find_term_vector_states(
    connection: &mut Conn,
    doc_ids: Vec<DocId>,
    version: i32,
) -> Result<Vec<TermVectorState>> {
    let rows: Vec<(DocId, CaptureId, i64)> = term_vectors::table
        .filter(is_one_of!(term_vectors::doc_id, doc_ids))
        .filter(term_vectors::version.eq(version))
        .select((term_vectors::doc_id, term_vectors::capture_id, term_vectors::text_key))
        .load(connection)
        .await?;
    let state = |(doc_id, capture_id, text_key)| TermVectorState { doc_id, capture_id, text_key };
    Ok(rows.into_iter().map(state).collect())
}
