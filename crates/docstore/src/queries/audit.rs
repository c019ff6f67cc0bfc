use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{AuditEntryId, Timestamp};

use super::Conn;
use crate::error::Result;
use crate::rows::{AuditEntry, AuditFilter};
use crate::schema::audit_entries;
use crate::types::Bind;

/// Inserts an audit entry. Call it in the transaction of the change that it records.
pub async fn record(connection: &mut Conn, entry: AuditEntry) -> Result<()> {
    diesel::insert_into(audit_entries::table).values(entry).execute(connection).await?;
    Ok(())
}

pub async fn record_audit_entry(connection: &mut Conn, entry: AuditEntry) -> Result<()> {
    record(connection, entry).await
}

pub async fn list_audit_entries(
    connection: &mut Conn,
    filter: AuditFilter,
    before: Option<(Timestamp, AuditEntryId)>,
    limit: i64,
) -> Result<Vec<AuditEntry>> {
    let mut query = audit_entries::table
        .order((audit_entries::created_at.desc(), audit_entries::id.desc()))
        .limit(limit)
        .select(AuditEntry::as_select())
        .into_boxed();
    if let Some(organization_id) = filter.organization_id {
        query = query.filter(audit_entries::organization_id.eq(Bind(organization_id)));
    }
    if let Some(action) = filter.action {
        query = query.filter(audit_entries::action.eq(Bind(action)));
    }
    if let Some(since) = filter.since {
        query = query.filter(audit_entries::created_at.ge(Bind(since)));
    }
    if let Some((at, id)) = before {
        query = query.filter(is_before!(audit_entries::created_at, audit_entries::id, (at, id)));
    }
    Ok(query.load(connection).await?)
}
