use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use super::Conn;
use crate::error::Result;
use crate::rows::{Feedback, Grant, Search, UsageEvent};
use crate::schema::{feedback, grants, searches, usage_events};
use crate::types::Id;

/// Stores the ranked lists and grants what they show to the organizations that saw them.
pub async fn record_searches(connection: &mut Conn, rows: Vec<Search>, granted: Vec<Grant>) -> Result<()> {
    insert_rows!(connection, searches::table, rows)?;
    if !granted.is_empty() {
        insert_missing_rows!(connection, grants::table, granted)?;
    }
    Ok(())
}

pub async fn find_search(connection: &mut Conn, organization_id: Id, search_id: Id) -> Result<Option<Search>> {
    Ok(searches::table
        .find(search_id)
        .filter(searches::organization_id.eq(organization_id))
        .select(Search::as_select())
        .first(connection)
        .await
        .optional()?)
}

pub async fn grant_document(connection: &mut Conn, grant: Grant) -> Result<()> {
    insert_missing_rows!(connection, grants::table, vec![grant])?;
    Ok(())
}

pub async fn is_granted(connection: &mut Conn, organization_id: Id, doc_id: Id) -> Result<bool> {
    let found: Option<Id> =
        grants::table.find((organization_id, doc_id)).select(grants::doc_id).first(connection).await.optional()?;
    Ok(found.is_some())
}

pub async fn record_feedback(connection: &mut Conn, row: Feedback) -> Result<()> {
    diesel::insert_into(feedback::table).values(row).execute(connection).await?;
    Ok(())
}

pub async fn record_usage(connection: &mut Conn, events: Vec<UsageEvent>) -> Result<()> {
    insert_rows!(connection, usage_events::table, events)?;
    Ok(())
}
