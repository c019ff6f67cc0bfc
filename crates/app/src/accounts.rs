//! Operator commands for organizations, keys and balances, with or without a running server.
//!
//! Each change is recorded in the audit log with its `actor`.

use docstore::{ApiKey, AuditEntry, BalanceEntry, Details, Docstore, Organization};
use ingest::clock::to_date_time;
use model::{
    ApiKeyId, AuditAction, BalanceEntryId, BalanceReason, OrganizationId, ResearchId, Scope, SearchId, Timestamp,
};
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;

use crate::audit;
use crate::error::Result;
use crate::{Error, Identity, keys};

/// A new API key. `key` is the secret; only its digest is stored.
#[derive(Clone, Debug)]
pub struct CreatedKey {
    pub key: String,
    pub row: ApiKey,
}

/// Properties of a key to create.
#[derive(Clone, Debug, Default)]
pub struct NewKey {
    pub name: String,
    /// All scopes of organizations if `None`.
    pub scopes: Option<Vec<Scope>>,
    /// Requests per second; the default limit applies if `None`.
    pub limit_rps: Option<u32>,
    pub expires_at: Option<Timestamp>,
}

/// Creates an organization. Its searches are billed if it has a prepaid balance.
pub async fn create_organization(
    store: &Docstore,
    actor: &str,
    now: Timestamp,
    name: &str,
    prepaid_cents: Option<u64>,
) -> Result<Organization> {
    check_organization_name(name)?;
    let (organization, entry) = new_organization(actor, now, name, prepaid_cents);
    let prepaid = prepaid_cents.map(signed).transpose()?;
    let prepaid = prepaid.map(|cents| balance_entry(organization.id, cents, BalanceReason::Prepaid, None, now));
    store.create_organization(organization.clone(), prepaid, entry).await?;
    Ok(organization)
}

/// Refuses a blank name of an organization.
///
/// # Errors
/// `Invalid`.
pub fn check_organization_name(name: &str) -> Result<()> {
    if name.trim().is_empty() {
        return Err(Error::invalid("name", "the name must not be empty"));
    }
    Ok(())
}

fn new_organization(actor: &str, now: Timestamp, name: &str, prepaid_cents: Option<u64>) -> (Organization, AuditEntry) {
    let organization = Organization {
        id: OrganizationId(Uuid::new_v4()),
        name: name.to_owned(),
        billed: prepaid_cents.is_some(),
        created_at: now,
        deleted_at: None,
        removed_at: None,
    };
    let id = organization.id;
    let details = Details::default().with("name", name).with("prepaid_cents", prepaid_cents);
    let entry = audit::subject_entry(actor, now, AuditAction::OrganizationCreated, Some(id), id.0, details);
    (organization, entry)
}

/// Organization with its first key, before it is stored. The key can be kept first, so that no failure loses it.
pub struct FirstOrganization {
    organization: (Organization, AuditEntry),
    key: (CreatedKey, AuditEntry),
}

impl FirstOrganization {
    /// Generates both.
    ///
    /// # Errors
    /// As [`create_key`].
    pub fn new(actor: &str, now: Timestamp, name: &str, key: NewKey) -> Result<Self> {
        let organization = new_organization(actor, now, name, None);
        let key = new_key(actor, now, organization.0.id, key)?;
        Ok(Self { organization, key })
    }

    pub fn organization_id(&self) -> OrganizationId {
        self.organization.0.id
    }

    /// Returns the secret of the key, which is valid once it is stored.
    pub fn key(&self) -> &str {
        &self.key.0.key
    }

    /// Stores both in one transaction. Returns false, and stores nothing, if there is an organization by then.
    pub async fn store(self, store: &Docstore) -> Result<bool> {
        let (key, key_created) = self.key;
        Ok(store.create_first_organization(self.organization, (key.row, key_created)).await?)
    }
}

/// Marks an organization as deleted and revokes its keys. Every instance rejects them within 5 seconds, and one of them
/// removes the data. Idempotent.
pub async fn delete_organization(
    store: &Docstore,
    actor: &str,
    now: Timestamp,
    organization_id: OrganizationId,
) -> Result<Organization> {
    let id = organization_id;
    let organization = require_organization(store, id).await?;
    let details = Details::default().with("name", organization.name);
    let entry = audit::subject_entry(actor, now, AuditAction::OrganizationDeleted, Some(id), id.0, details);
    let deleted = store.mark_organization_deleted(id, now, entry).await?;
    deleted.ok_or_else(|| unknown_organization(id))
}

/// Creates an API key for an organization.
///
/// # Errors
/// `Invalid` if the organization does not exist, the limit is 0 or out of range, or the key would have expired already.
pub async fn create_key(
    store: &Docstore,
    actor: &str,
    now: Timestamp,
    organization_id: OrganizationId,
    new: NewKey,
) -> Result<CreatedKey> {
    check_expiry(new.expires_at, now)?;
    require_active(store, organization_id).await?;
    let (created, entry) = new_key(actor, now, organization_id, new)?;
    store.create_api_key(created.row.clone(), entry).await?;
    Ok(created)
}

/// Refuses a time of expiry that is not after `now`.
pub(crate) fn check_expiry(expires_at: Option<Timestamp>, now: Timestamp) -> Result<()> {
    match expires_at {
        Some(at) if at <= now => Err(Error::invalid("expires_at", "expires_at must be in the future")),
        Some(_) | None => Ok(()),
    }
}

pub(crate) fn new_key(
    actor: &str,
    now: Timestamp,
    organization_id: OrganizationId,
    new: NewKey,
) -> Result<(CreatedKey, AuditEntry)> {
    let key = keys::generate();
    let scopes = new.scopes.unwrap_or_else(|| Scope::of_organizations().collect());
    let scope_names: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
    let limit_rps = match new.limit_rps {
        Some(0) => return Err(Error::invalid("limit_rps", "the limit must be at least 1")),
        Some(limit) => Some(i32::try_from(limit).map_err(|_| Error::invalid("limit_rps", "the limit is too large"))?),
        None => None,
    };
    let row = ApiKey {
        id: ApiKeyId(Uuid::new_v4()),
        organization_id,
        name: new.name,
        prefix: keys::visible_prefix(&key).to_owned(),
        digest: keys::digest(&key).to_vec(),
        scopes,
        limit_rps,
        created_at: now,
        expires_at: new.expires_at,
        revoked_at: None,
        last_used_at: None,
    };
    let details = Details::default()
        .with("name", row.name.as_str())
        .with("key_prefix", row.prefix.as_str())
        .with("scopes", scope_names.join(" "))
        .with("limit_rps", row.limit_rps)
        .with("expires_at", row.expires_at.and_then(|at| to_date_time(at).format(&Rfc3339).ok()));
    let entry = audit::subject_entry(actor, now, AuditAction::KeyCreated, Some(organization_id), row.id.0, details);
    Ok((CreatedKey { key, row }, entry))
}

/// Returns all keys of an organization, revoked ones included.
pub async fn list_keys(store: &Docstore, organization_id: OrganizationId) -> Result<Vec<ApiKey>> {
    require_organization(store, organization_id).await?;
    Ok(store.list_api_keys(organization_id).await?)
}

/// Revokes a key. Every instance rejects it within 5 seconds.
pub async fn revoke_key(store: &Docstore, actor: &str, now: Timestamp, key_id: ApiKeyId) -> Result<ApiKey> {
    let entry = audit::subject_entry(actor, now, AuditAction::KeyRevoked, None, key_id.0, Details::default());
    let revoked = store.revoke_api_key(key_id, now, entry).await?;
    revoked.ok_or_else(|| Error::invalid("key", format!("no key has the id `{key_id}`")))
}

/// Adds to the balance of a billed organization. Returns the new balance in cents.
pub async fn add_balance(
    store: &Docstore,
    actor: &str,
    now: Timestamp,
    organization_id: OrganizationId,
    cents: u64,
) -> Result<i64> {
    let organization = require_active(store, organization_id).await?;
    if !organization.billed {
        let message = format!("organization `{organization_id}` is not billed: it was created without --prepaid-cents");
        return Err(Error::invalid("org", message));
    }
    let posted = balance_entry(organization_id, signed(cents)?, BalanceReason::Added, None, now);
    let details = Details::default().with("cents", cents);
    let entry =
        audit::subject_entry(actor, now, AuditAction::BalanceAdded, Some(organization_id), posted.id.0, details);
    let balance = store.adjust_balance(posted, entry).await?;
    balance.ok_or_else(|| Error::invalid("cents", format!("adding `{cents}` cents overflows the balance")))
}

/// Returns the balance of a billed organization in cents.
pub async fn balance(store: &Docstore, organization_id: OrganizationId) -> Result<i64> {
    require_organization(store, organization_id).await?;
    let balance = store.find_balance(organization_id).await?;
    balance.ok_or_else(|| {
        Error::invalid(
            "org",
            format!("organization `{organization_id}` has no balance: it was created without --prepaid-cents"),
        )
    })
}

async fn require_organization(store: &Docstore, organization_id: OrganizationId) -> Result<Organization> {
    let found = store.find_organization(organization_id).await?;
    found.ok_or_else(|| unknown_organization(organization_id))
}

/// Returns an organization that is not deleted.
async fn require_active(store: &Docstore, organization_id: OrganizationId) -> Result<Organization> {
    let organization = require_organization(store, organization_id).await?;
    match organization.deleted_at {
        None => Ok(organization),
        Some(_) => Err(Error::invalid("org", format!("organization `{organization_id}` was deleted"))),
    }
}

fn unknown_organization(organization_id: OrganizationId) -> Error {
    Error::invalid("org", format!("no organization has the id `{organization_id}`"))
}

/// Search that a ledger entry is for.
pub(crate) struct BilledSearch<'a> {
    pub search_id: SearchId,
    pub research_id: Option<ResearchId>,
    pub identity: &'a Identity,
}

/// Returns a ledger entry of a search, or of the operator if `search` is `None`.
pub(crate) fn balance_entry(
    organization_id: OrganizationId,
    cents: i64,
    reason: BalanceReason,
    search: Option<BilledSearch<'_>>,
    now: Timestamp,
) -> BalanceEntry {
    BalanceEntry {
        search_id: search.as_ref().map(|search| search.search_id),
        identity: search.as_ref().map(|search| search.identity.rate_key()),
        research_id: search.and_then(|search| search.research_id),
        ..BalanceEntry::new(BalanceEntryId(Uuid::now_v7()), organization_id, cents, reason, now)
    }
}

fn signed(cents: u64) -> Result<i64> {
    i64::try_from(cents).map_err(|_| Error::invalid("cents", format!("`{cents}` is too large")))
}
