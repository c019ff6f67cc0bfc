use app::Viewer;
use app::accounts::{self, CreatedKey, NewKey};
use model::{ApiKeyId, Clock, OrganizationId, Scope};

use crate::TestApp;

const ACTOR: &str = "test";

/// An organization with a key that has every scope.
pub struct Tenant {
    pub organization_id: OrganizationId,
    pub key: String,
    pub key_id: ApiKeyId,
    pub viewer: Viewer,
}

impl TestApp {
    /// An organization that is not billed.
    pub async fn tenant(&self) -> Tenant {
        self.new_tenant(None).await
    }

    /// An organization that pays for its searches from a prepaid balance.
    pub async fn billed_tenant(&self, prepaid_cents: u64) -> Tenant {
        self.new_tenant(Some(prepaid_cents)).await
    }

    async fn new_tenant(&self, prepaid_cents: Option<u64>) -> Tenant {
        let organization =
            accounts::create_organization(&self.store, ACTOR, self.clock.now(), "test organization", prepaid_cents)
                .await
                .unwrap();
        let organization_id = organization.id;
        let new = NewKey { scopes: Some(Scope::ALL.to_vec()), ..NewKey::default() };
        let created = self.create_key(organization_id, new).await;
        let viewer = self.app.authenticate(&created.key).await.unwrap().unwrap();
        Tenant { organization_id, key_id: created.row.id, key: created.key, viewer }
    }

    pub async fn create_key(&self, organization_id: OrganizationId, new: NewKey) -> CreatedKey {
        accounts::create_key(&self.store, ACTOR, self.clock.now(), organization_id, new).await.unwrap()
    }

    /// A further key of the organization, with these scopes alone.
    pub async fn key_with_scopes(&self, tenant: &Tenant, scopes: &[Scope]) -> String {
        let new = NewKey { scopes: Some(scopes.to_vec()), ..NewKey::default() };
        self.create_key(tenant.organization_id, new).await.key
    }

    pub async fn revoke_key(&self, key_id: ApiKeyId) {
        accounts::revoke_key(&self.store, ACTOR, self.clock.now(), key_id).await.unwrap();
    }

    pub async fn balance(&self, tenant: &Tenant) -> i64 {
        accounts::balance(&self.store, tenant.organization_id).await.unwrap()
    }
}
