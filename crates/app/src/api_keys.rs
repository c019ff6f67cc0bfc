//! Keys that an organization manages itself. A credential never creates a key with more rights than its own.

use docstore::{ApiKey, Details, KeyCreation};
use model::{ApiKeyId, AuditAction, KeyState, Scope, Timestamp};

use crate::accounts::{self, CreatedKey, NewKey};
use crate::error::{Quota, Result};
use crate::files::quota::unsigned;
use crate::{App, Error, Identity, Viewer, audit};

/// Maximum number of keys of an organization that are neither revoked nor expired.
const MAX_VALID: i64 = 100;
/// Maximum number of keys that an organization creates in 24 hours. Each leaves entries in the audit log for good.
const MAX_DAILY: i64 = 1_000;
/// Revoked and expired keys that are kept for reference. Not fewer than are created in a day, which are counted.
const MAX_INVALID: i64 = MAX_DAILY;
/// Maximum length of a name in characters.
const MAX_NAME_CHARS: usize = 100;

/// Properties of a key to create. Omitted ones are those of the creating credential.
#[derive(Clone, Debug, Default)]
pub struct KeyRequest {
    pub name: String,
    pub scopes: Option<Vec<Scope>>,
    /// Requests per second.
    pub limit_rps: Option<u32>,
    pub expires_at: Option<Timestamp>,
}

/// A key without its secret.
#[derive(Clone, Debug)]
pub struct KeyView {
    pub row: ApiKey,
    pub state: KeyState,
    /// Requests per second.
    pub limit_rps: u32,
}

/// A new key with its secret, which is never shown again.
#[derive(Clone, Debug)]
pub struct NewKeyView {
    pub key: String,
    pub view: KeyView,
}

impl App {
    /// Returns the keys of the viewer's organization, oldest first.
    pub async fn list_keys(&self, viewer: &Viewer) -> Result<Vec<KeyView>> {
        let keys = self.store.list_api_keys(viewer.organization_id).await?;
        let now = self.clock.now();
        Ok(keys.into_iter().map(|key| self.key_view(key, now)).collect())
    }

    /// Creates a key for the viewer's organization.
    ///
    /// # Errors
    /// `Invalid` if the key would have more rights than the viewer: another scope, a higher limit, or a later expiry than the
    /// viewer's key. `QuotaExceeded` if the organization has too many keys. `InvalidCredential` if the viewer's key was revoked or
    /// has expired meanwhile.
    pub async fn create_key(&self, viewer: &Viewer, request: KeyRequest) -> Result<NewKeyView> {
        let now = self.clock.now();
        let creator = match &viewer.identity {
            Identity::ApiKey(id) => {
                let key = self.store.find_api_key(viewer.organization_id, *id).await?;
                Some(key.ok_or(Error::InvalidCredential)?)
            }
            Identity::Subject(_) => None,
        };
        let new = NewKey {
            name: checked_name(&request.name)?,
            scopes: Some(granted_scopes(viewer, request.scopes)?),
            limit_rps: self.granted_limit(viewer, creator.as_ref(), request.limit_rps)?,
            expires_at: granted_expiry(creator.as_ref(), request.expires_at, now)?,
        };
        let (CreatedKey { key, row }, entry) =
            accounts::new_key(&audit::actor(viewer), now, viewer.organization_id, new)?;
        let creator = creator.map(|creator| creator.id);
        let (store, stored) = (&self.store, row.clone());
        match store.create_organization_key(stored, creator, MAX_VALID, MAX_DAILY, MAX_INVALID, entry).await? {
            KeyCreation::Created => Ok(NewKeyView { key, view: self.key_view(row, now) }),
            KeyCreation::TooMany(used) => {
                Err(Error::QuotaExceeded(Quota::Keys { used: unsigned(used), limit: unsigned(MAX_VALID) }))
            }
            KeyCreation::TooManyLately(used) => {
                Err(Error::QuotaExceeded(Quota::DailyKeys { used: unsigned(used), limit: unsigned(MAX_DAILY) }))
            }
            KeyCreation::Refused => Err(Error::InvalidCredential),
        }
    }

    /// Revokes a key of the viewer's organization, which may be the viewer's own. Every instance rejects it within 5 seconds.
    ///
    /// # Errors
    /// `KeyNotFound` for a malformed or unknown id, and for keys of other organizations.
    pub async fn revoke_key(&self, viewer: &Viewer, key_id: &str) -> Result<KeyView> {
        let key_id: ApiKeyId = key_id.parse().map_err(|_| Error::KeyNotFound)?;
        let now = self.clock.now();
        let organization_id = viewer.organization_id;
        let actor = audit::actor(viewer);
        let action = AuditAction::KeyRevoked;
        let entry = audit::subject_entry(&actor, now, action, Some(organization_id), key_id.0, Details::default());
        let revoked = self.store.revoke_organization_key(organization_id, key_id, now, entry).await?;
        let revoked = revoked.ok_or(Error::KeyNotFound)?;
        self.keys.forget(&revoked.digest).await;
        Ok(self.key_view(revoked, now))
    }

    fn key_view(&self, row: ApiKey, now: Timestamp) -> KeyView {
        let state = match (row.revoked_at, row.expires_at) {
            (Some(_), _) => KeyState::Revoked,
            (None, Some(at)) if at <= now => KeyState::Expired,
            (None, _) => KeyState::Active,
        };
        let limit = row.limit_rps.and_then(|limit| u32::try_from(limit).ok());
        KeyView { state, limit_rps: limit.unwrap_or(self.options.default_rps), row }
    }

    /// Returns the limit to store; without one, the default applies. A creating key with a limit of its own always passes one
    /// on, since the operator may raise the default later.
    fn granted_limit(&self, viewer: &Viewer, creator: Option<&ApiKey>, requested: Option<u32>) -> Result<Option<u32>> {
        match requested {
            Some(limit) if limit == 0 || limit > viewer.limit_rps => {
                let message =
                    format!("limit_rps must be between 1 and {}, the limit of this credential", viewer.limit_rps);
                Err(Error::invalid("limit_rps", message))
            }
            Some(limit) => Ok(Some(limit)),
            None => {
                let has_own = creator.is_some_and(|creator| creator.limit_rps.is_some());
                let limit = viewer.limit_rps.min(self.options.default_rps);
                Ok((has_own || limit < self.options.default_rps).then_some(limit))
            }
        }
    }
}

/// Returns the name of a key without surrounding blanks.
///
/// # Errors
/// `Invalid` if nothing is left, or if it is too long or has control characters.
pub fn checked_name(name: &str) -> Result<String> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME_CHARS || name.contains(char::is_control) {
        let message = format!("name must have 1 to {MAX_NAME_CHARS} characters, none of them control characters");
        return Err(Error::invalid("name", message));
    }
    Ok(name.to_owned())
}

/// Returns the scopes to grant, each once. Scopes of the operator are not passed on.
fn granted_scopes(viewer: &Viewer, requested: Option<Vec<Scope>>) -> Result<Vec<Scope>> {
    let Some(requested) = requested else {
        return Ok(viewer.scopes.iter().copied().filter(|scope| !scope.is_operators()).collect());
    };
    if requested.is_empty() {
        return Err(Error::invalid("scopes", "scopes must name at least one scope"));
    }
    let mut granted = Vec::with_capacity(requested.len());
    for (index, scope) in requested.into_iter().enumerate() {
        if scope.is_operators() {
            let message = format!("scopes[{index}]: only the operator's command `admin key create` grants `{scope}`");
            return Err(Error::invalid(format!("scopes[{index}]"), message));
        }
        if !viewer.may(scope) {
            let message = format!("scopes[{index}]: this credential lacks `{scope}`, so it cannot grant it");
            return Err(Error::invalid(format!("scopes[{index}]"), message));
        }
        if !granted.contains(&scope) {
            granted.push(scope);
        }
    }
    Ok(granted)
}

/// Returns the time of expiry: not after that of the creating key. Access tokens are short-lived by design, so they set no limit.
fn granted_expiry(creator: Option<&ApiKey>, requested: Option<Timestamp>, now: Timestamp) -> Result<Option<Timestamp>> {
    accounts::check_expiry(requested, now)?;
    let Some(latest) = creator.and_then(|creator| creator.expires_at) else { return Ok(requested) };
    if requested.is_some_and(|at| at > latest) {
        return Err(Error::invalid("expires_at", "expires_at must not be after the expiry of the creating key"));
    }
    Ok(Some(requested.unwrap_or(latest)))
}
