use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{DocId, FeedbackId, Timestamp};

use super::{Conn, page_reads};
use crate::error::Result;
use crate::nul::strip_nul;
use crate::rows::{Document, Feedback, FeedbackExport, Search};
use crate::schema::{documents, feedback, searches};
use crate::types::Bind;

pub async fn record_feedback(connection: &mut Conn, row: Feedback, stale: Option<DocId>) -> Result<()> {
    if let Some(doc_id) = stale {
        page_reads::mark_stale(connection, row.organization_id, doc_id, row.created_at).await?;
    }
    let row = Feedback {
        comment: row.comment.map(strip_nul),
        query: row.query.map(strip_nul),
        client_model: row.client_model.map(strip_nul),
        ..row
    };
    diesel::insert_into(feedback::table).values(row).execute(connection).await?;
    Ok(())
}

pub async fn export_feedback(
    connection: &mut Conn,
    after: Option<(Timestamp, FeedbackId)>,
    limit: i64,
) -> Result<Vec<FeedbackExport>> {
    let mut query = feedback::table
        .left_join(
            searches::table.on(feedback::search_id
                .eq(searches::search_id.nullable())
                .and(feedback::organization_id.eq(searches::organization_id))),
        )
        .left_join(documents::table.on(feedback::doc_id.eq(documents::doc_id.nullable())))
        .order((feedback::created_at, feedback::feedback_id))
        .limit(limit)
        .select((Feedback::as_select(), Option::<Search>::as_select(), Option::<Document>::as_select()))
        .into_boxed();
    if let Some((at, id)) = after {
        query = query.filter(is_after!(feedback::created_at, feedback::feedback_id, (at, id)));
    }
    let rows: Vec<(Feedback, Option<Search>, Option<Document>)> = query.load(connection).await?;
    Ok(rows.into_iter().map(|(event, search, document)| FeedbackExport { event, search, document }).collect())
}
