use std::collections::HashMap;
use std::time::Duration;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{ApiKeyId, OrganizationId, Timestamp};

use super::balances::post_balance_entry;
use super::{Conn, audit, lock_organizations};
use crate::error::Result;
use crate::rows::{ApiKey, AuditEntry, BalanceEntry, KeyCreation, Organization, OrganizationSize, StorageTotals};
use crate::schema::{api_keys, documents, organizations, storage_totals};
use crate::types::Bind;

/// Time for which created keys count against the daily maximum.
const DAILY: Duration = Duration::from_hours(24);

pub async fn ping(connection: &mut Conn) -> Result<()> {
    let _: Option<OrganizationId> =
        organizations::table.select(organizations::id).first(connection).await.optional()?;
    Ok(())
}

pub async fn create_organization(
    connection: &mut Conn,
    organization: Organization,
    prepaid: Option<BalanceEntry>,
    entry: AuditEntry,
) -> Result<()> {
    diesel::insert_into(organizations::table).values(organization).execute(connection).await?;
    if let Some(prepaid) = prepaid {
        post_balance_entry(connection, prepaid).await?;
    }
    audit::record(connection, entry).await
}

pub async fn create_first_organization(
    connection: &mut Conn,
    (organization, created): (Organization, AuditEntry),
    (key, key_created): (ApiKey, AuditEntry),
) -> Result<bool> {
    lock_organizations(connection).await?;
    let existing: Option<OrganizationId> =
        organizations::table.select(organizations::id).first(connection).await.optional()?;
    if existing.is_some() {
        return Ok(false);
    }
    create_organization(connection, organization, None, created).await?;
    create_api_key(connection, key, key_created).await?;
    Ok(true)
}

pub async fn list_organizations(connection: &mut Conn) -> Result<Vec<Organization>> {
    Ok(organizations::table
        .order((organizations::created_at, organizations::id))
        .select(Organization::as_select())
        .load(connection)
        .await?)
}

pub async fn list_organization_sizes(connection: &mut Conn) -> Result<Vec<OrganizationSize>> {
    let organizations = list_organizations(connection).await?;
    let totals: Vec<(OrganizationId, i64, i64)> = storage_totals::table
        .select((storage_totals::organization_id, storage_totals::files, storage_totals::bytes))
        .load(connection)
        .await?;
    let totals: HashMap<_, _> =
        totals.into_iter().map(|(id, files, bytes)| (id, StorageTotals { files, bytes })).collect();
    let documents: Vec<(Option<OrganizationId>, i64)> = documents::table
        .filter(documents::organization_id.is_not_null())
        .filter(documents::removed_at.is_null())
        .group_by(documents::organization_id)
        .select((documents::organization_id, diesel::dsl::count_star()))
        .load(connection)
        .await?;
    let documents: HashMap<_, _> = documents.into_iter().filter_map(|(id, count)| Some((id?, count))).collect();
    let size = |organization: Organization| OrganizationSize {
        totals: totals.get(&organization.id).copied().unwrap_or_default(),
        documents: documents.get(&organization.id).copied().unwrap_or_default(),
        organization,
    };
    Ok(organizations.into_iter().map(size).collect())
}

pub async fn find_organization(connection: &mut Conn, organization_id: OrganizationId) -> Result<Option<Organization>> {
    Ok(organizations::table
        .find(Bind(organization_id))
        .select(Organization::as_select())
        .first(connection)
        .await
        .optional()?)
}

pub async fn create_api_key(connection: &mut Conn, key: ApiKey, entry: AuditEntry) -> Result<()> {
    diesel::insert_into(api_keys::table).values(key).execute(connection).await?;
    audit::record(connection, entry).await
}

pub async fn create_organization_key(
    connection: &mut Conn,
    key: ApiKey,
    creator: Option<ApiKeyId>,
    max_valid: i64,
    max_daily: i64,
    max_invalid: i64,
    entry: AuditEntry,
) -> Result<KeyCreation> {
    let (organization_id, now) = (key.organization_id, key.created_at);
    // Locked until the end of the transaction, so that concurrent requests cannot exceed the maximum.
    let organization: Option<Organization> =
        lock_rows!(organizations::table.find(Bind(organization_id)).select(Organization::as_select()))
            .first(connection)
            .await
            .optional()?;
    if organization.is_none_or(|organization| organization.deleted_at.is_some()) {
        return Ok(KeyCreation::Refused);
    }
    let keys = || api_keys::table.filter(api_keys::organization_id.eq(Bind(organization_id)));
    let is_valid = || {
        let unexpired = api_keys::expires_at.is_null().or(api_keys::expires_at.gt(Bind(now)));
        api_keys::revoked_at.is_null().and(unexpired.assume_not_null())
    };
    if let Some(creator) = creator {
        let found: i64 =
            keys().filter(api_keys::id.eq(Bind(creator))).filter(is_valid()).count().get_result(connection).await?;
        if found == 0 {
            return Ok(KeyCreation::Refused);
        }
    }
    let valid: i64 = keys().filter(is_valid()).count().get_result(connection).await?;
    if valid >= max_valid {
        return Ok(KeyCreation::TooMany(valid));
    }
    let lately: i64 = keys().filter(api_keys::created_at.gt(Bind(now - DAILY))).count().get_result(connection).await?;
    if lately >= max_daily {
        return Ok(KeyCreation::TooManyLately(lately));
    }
    let invalid: Vec<ApiKeyId> = keys()
        .filter(api_keys::revoked_at.is_not_null().or(api_keys::expires_at.le(Bind(now)).assume_not_null()))
        .order((api_keys::created_at.desc(), api_keys::id.desc()))
        .offset(max_invalid)
        .limit(max_valid)
        .select(api_keys::id)
        .load(connection)
        .await?;
    diesel::delete(keys().filter(is_one_of!(api_keys::id, invalid))).execute(connection).await?;
    create_api_key(connection, key, entry).await?;
    Ok(KeyCreation::Created)
}

pub async fn revoke_organization_key(
    connection: &mut Conn,
    organization_id: OrganizationId,
    key_id: ApiKeyId,
    now: Timestamp,
    entry: AuditEntry,
) -> Result<Option<ApiKey>> {
    if find_api_key(connection, organization_id, key_id).await?.is_none() {
        return Ok(None);
    }
    revoke_api_key(connection, key_id, now, entry).await
}

pub async fn list_api_keys(connection: &mut Conn, organization_id: OrganizationId) -> Result<Vec<ApiKey>> {
    Ok(api_keys::table
        .filter(api_keys::organization_id.eq(Bind(organization_id)))
        .order((api_keys::created_at, api_keys::id))
        .select(ApiKey::as_select())
        .load(connection)
        .await?)
}

pub async fn find_api_key(
    connection: &mut Conn,
    organization_id: OrganizationId,
    key_id: ApiKeyId,
) -> Result<Option<ApiKey>> {
    Ok(api_keys::table
        .find(Bind(key_id))
        .filter(api_keys::organization_id.eq(Bind(organization_id)))
        .select(ApiKey::as_select())
        .first(connection)
        .await
        .optional()?)
}

pub async fn find_key_by_digest(connection: &mut Conn, digest: Vec<u8>) -> Result<Option<(ApiKey, Organization)>> {
    Ok(api_keys::table
        .inner_join(organizations::table)
        .filter(api_keys::digest.eq(digest))
        .select((ApiKey::as_select(), Organization::as_select()))
        .first(connection)
        .await
        .optional()?)
}

pub async fn revoke_api_key(
    connection: &mut Conn,
    key_id: ApiKeyId,
    now: Timestamp,
    entry: AuditEntry,
) -> Result<Option<ApiKey>> {
    let revoked = diesel::update(api_keys::table.find(Bind(key_id)).filter(api_keys::revoked_at.is_null()))
        .set(api_keys::revoked_at.eq(Bind(now)))
        .execute(connection)
        .await?;
    let key: Option<ApiKey> =
        api_keys::table.find(Bind(key_id)).select(ApiKey::as_select()).first(connection).await.optional()?;
    // The caller knows only the id of the key.
    if let Some(key) = key.as_ref().filter(|_| revoked > 0) {
        audit::record(connection, AuditEntry { organization_id: Some(key.organization_id), ..entry }).await?;
    }
    Ok(key)
}

pub async fn touch_api_keys(connection: &mut Conn, mut used: Vec<(ApiKeyId, Timestamp)>) -> Result<()> {
    // Instances update the same keys concurrently: updating in key order rules out deadlocks.
    used.sort_unstable();
    for (key_id, at) in used {
        diesel::update(api_keys::table.find(Bind(key_id)))
            .filter(api_keys::last_used_at.is_null().or(api_keys::last_used_at.lt(Bind(at))))
            .set(api_keys::last_used_at.eq(Bind(at)))
            .execute(connection)
            .await?;
    }
    Ok(())
}
