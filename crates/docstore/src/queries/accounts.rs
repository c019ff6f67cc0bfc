use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use super::Conn;
use crate::error::Result;
use crate::rows::{ApiKey, Organization};
use crate::schema::{api_keys, organizations};
use crate::types::Id;

pub async fn check_answers(connection: &mut Conn) -> Result<()> {
    let _: Option<Id> = organizations::table.select(organizations::id).first(connection).await.optional()?;
    Ok(())
}

pub async fn create_organization(connection: &mut Conn, organization: Organization) -> Result<()> {
    diesel::insert_into(organizations::table).values(organization).execute(connection).await?;
    Ok(())
}

pub async fn list_organizations(connection: &mut Conn) -> Result<Vec<Organization>> {
    Ok(organizations::table
        .order((organizations::created_at, organizations::id))
        .select(Organization::as_select())
        .load(connection)
        .await?)
}

pub async fn find_organization(connection: &mut Conn, organization_id: Id) -> Result<Option<Organization>> {
    Ok(organizations::table
        .find(organization_id)
        .select(Organization::as_select())
        .first(connection)
        .await
        .optional()?)
}

pub async fn create_api_key(connection: &mut Conn, key: ApiKey) -> Result<()> {
    diesel::insert_into(api_keys::table).values(key).execute(connection).await?;
    Ok(())
}

pub async fn list_api_keys(connection: &mut Conn, organization_id: Id) -> Result<Vec<ApiKey>> {
    Ok(api_keys::table
        .filter(api_keys::organization_id.eq(organization_id))
        .order((api_keys::created_at, api_keys::id))
        .select(ApiKey::as_select())
        .load(connection)
        .await?)
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

pub async fn revoke_api_key(connection: &mut Conn, key_id: Id, now: i64) -> Result<Option<ApiKey>> {
    diesel::update(api_keys::table.find(key_id).filter(api_keys::revoked_at.is_null()))
        .set(api_keys::revoked_at.eq(now))
        .execute(connection)
        .await?;
    Ok(api_keys::table.find(key_id).select(ApiKey::as_select()).first(connection).await.optional()?)
}

pub async fn touch_api_keys(connection: &mut Conn, mut used: Vec<(Id, i64)>) -> Result<()> {
    // Several instances note the same keys: in one order, none waits for another crosswise.
    used.sort_unstable();
    for (key_id, at) in used {
        diesel::update(api_keys::table.find(key_id))
            .filter(api_keys::last_used_at.is_null().or(api_keys::last_used_at.lt(at)))
            .set(api_keys::last_used_at.eq(at))
            .execute(connection)
            .await?;
    }
    Ok(())
}
