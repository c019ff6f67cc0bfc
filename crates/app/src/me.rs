//! The viewer's own organization, credential and quotas, and what it can search.

use docstore::ApiKey;
use model::Scope;

use crate::error::Result;
use crate::files::quota::unsigned;
use crate::web_index::WebState;
use crate::{App, Error, Identity, Viewer};

/// Organization, credential and quotas of a viewer, and the sources of its web results.
#[derive(Clone, Debug)]
pub struct Me {
    pub organization: docstore::Organization,
    /// `None` unless the organization is billed.
    pub balance_cents: Option<i64>,
    /// The key of the viewer; `None` for access tokens.
    pub key: Option<ApiKey>,
    pub scopes: Vec<Scope>,
    pub limit_rps: u32,
    pub files: Usage,
    pub bytes: Usage,
    pub web: WebState,
}

/// Use of a quota.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Usage {
    pub used: u64,
    /// `None`: no quota.
    pub limit: Option<u64>,
}

impl App {
    /// Returns the viewer's organization, credential and quotas.
    pub async fn me(&self, viewer: &Viewer) -> Result<Me> {
        let id = viewer.organization_id;
        let gone = || Error::internal(std::io::Error::other("the organization of the credential does not exist"));
        let organization = self.store.find_organization(id).await?.ok_or_else(gone)?;
        let key = match &viewer.identity {
            Identity::ApiKey(key_id) => self.store.find_api_key(id, *key_id).await?,
            Identity::Subject(_) => None,
        };
        let balance_cents = match organization.billed {
            true => Some(self.store.find_balance(id).await?.unwrap_or(0)),
            false => None,
        };
        let totals = self.store.find_storage_totals(id).await?;
        Ok(Me {
            organization,
            balance_cents,
            key,
            scopes: viewer.scopes.clone(),
            limit_rps: viewer.limit_rps,
            files: Usage { used: unsigned(totals.files), limit: Some(self.options.max_files_per_organization) },
            bytes: Usage { used: unsigned(totals.bytes), limit: self.options.max_bytes_per_organization },
            web: self.web_state().await?,
        })
    }
}
