//! Grants that could not be stored, so that search results can be read while the database cannot be written.

use std::time::Duration;

use docstore::Grant;
use model::{DocId, OrganizationId};
use moka::sync::Cache;

/// Time for which this process remembers a grant.
const TTL: Duration = Duration::from_secs(60 * 60);
const MAX_GRANTS: u64 = 100_000;

/// Grants of this process that may be missing in the database.
pub(crate) struct UnrecordedGrants(Cache<(OrganizationId, DocId), ()>);

impl Default for UnrecordedGrants {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(MAX_GRANTS).time_to_live(TTL).build())
    }
}

impl UnrecordedGrants {
    pub fn remember(&self, granted: &[Grant]) {
        granted.iter().for_each(|grant| self.0.insert((grant.organization_id, grant.doc_id), ()));
    }

    pub fn contains(&self, organization_id: OrganizationId, doc_id: DocId) -> bool {
        self.0.contains_key(&(organization_id, doc_id))
    }
}
