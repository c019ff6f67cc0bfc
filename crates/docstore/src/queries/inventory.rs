use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::DocId;

use super::Conn;
use crate::error::Result;
use crate::inventory::Contents;
use crate::rows::File;
use crate::schema::{captures, documents, files, organizations};
use crate::types::Bind;

pub async fn count_contents(connection: &mut Conn) -> Result<Contents> {
    Ok(Contents {
        organizations: organizations::table.count().get_result(connection).await?,
        documents: documents::table.count().get_result(connection).await?,
        captures: captures::table.count().get_result(connection).await?,
        files: files::table.count().get_result(connection).await?,
    })
}

pub async fn has_uploads(connection: &mut Conn) -> Result<bool> {
    let uploaded = files::table
        .filter(files::last_run_id.is_not_null().or(files::bytes.gt(0)))
        .filter(files::withdrawn_at.is_null());
    Ok(diesel::select(diesel::dsl::exists(uploaded)).get_result(connection).await?)
}

pub async fn list_all_files(connection: &mut Conn, after: Option<String>, limit: i64) -> Result<Vec<File>> {
    let mut query = files::table.order(files::object_key).limit(limit).select(File::as_select()).into_boxed();
    if let Some(after) = after {
        query = query.filter(files::object_key.gt(after));
    }
    Ok(query.load(connection).await?)
}

pub async fn list_documents_without_capture(connection: &mut Conn, limit: i64) -> Result<Vec<DocId>> {
    let captured = captures::table
        .filter(captures::doc_id.eq(documents::doc_id))
        .filter(documents::latest_capture_id.eq(captures::capture_id.nullable()));
    Ok(documents::table
        // What is not listed only anchors the readings of organizations.
        .filter(documents::listed)
        .filter(documents::removed_at.is_null())
        .filter(diesel::dsl::not(diesel::dsl::exists(captured)))
        .order(documents::doc_id)
        .limit(limit)
        .select(documents::doc_id)
        .load(connection)
        .await?)
}

pub async fn list_documents_without_file(
    connection: &mut Conn,
    after: Option<DocId>,
    limit: i64,
) -> Result<Vec<DocId>> {
    let named = files::table.filter(files::doc_id.eq(documents::doc_id));
    let mut query = documents::table
        .filter(documents::organization_id.is_not_null())
        .filter(documents::removed_at.is_null())
        .filter(diesel::dsl::not(diesel::dsl::exists(named)))
        .order(documents::doc_id)
        .limit(limit)
        .select(documents::doc_id)
        .into_boxed();
    if let Some(after) = after {
        query = query.filter(documents::doc_id.gt(Bind(after)));
    }
    Ok(query.load(connection).await?)
}
