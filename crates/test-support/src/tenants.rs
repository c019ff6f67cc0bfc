use app::accounts::{self, CreatedKey, NewKey};
use app::{Permission, Viewer};
use uuid::Uuid;

use crate::TestApp;

const ACTOR: &str = "test";

/// An organization with a key that has every scope.
pub struct Tenant {
    pub organization_id: Uuid,
    pub key: String,
    pub key_id: Uuid,
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
            accounts::create_organization(&self.store, ACTOR, "test organization", prepaid_cents).await.unwrap();
        let organization_id = organization.id.0;
        let created = self.create_key(organization_id, NewKey::default()).await;
        let viewer = self.app.authenticate(&created.key).await.unwrap().unwrap();
        Tenant { organization_id, key_id: created.row.id.0, key: created.key, viewer }
    }

    pub async fn create_key(&self, organization_id: Uuid, new: NewKey) -> CreatedKey {
        accounts::create_key(&self.store, ACTOR, organization_id, new).await.unwrap()
    }

    /// A further key of the organization, with these scopes alone.
    pub async fn key_with_scopes(&self, tenant: &Tenant, scopes: &[&str]) -> String {
        let permissions = scopes.iter().map(|scope| Permission::from_scope(scope).unwrap()).collect();
        let new = NewKey { permissions: Some(permissions), ..NewKey::default() };
        self.create_key(tenant.organization_id, new).await.key
    }

    pub async fn revoke_key(&self, key_id: Uuid) {
        accounts::revoke_key(&self.store, ACTOR, key_id).await.unwrap();
    }

    pub async fn balance(&self, tenant: &Tenant) -> i64 {
        accounts::balance(&self.store, tenant.organization_id).await.unwrap()
    }
}
