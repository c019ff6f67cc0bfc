//! The two organizations of a check.

use std::time::Duration;

use app::accounts::{self, CreatedKey, NewKey};
use docstore::{Docstore, Organization};
use model::OrganizationId;

use crate::actor;

/// Name of the organizations.
const NAME: &str = "doctor probe";
/// Validity of their keys, in case that the command is killed.
const KEY_LIFETIME: Duration = Duration::from_secs(10 * 60);
/// Age from which on an organization belongs to a command that was killed.
const ABANDONED: Duration = Duration::from_secs(10 * 60);
/// Time for a server to remove the data of both.
const REMOVAL: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(250);

pub struct Tenants {
    store: Docstore,
    created: Vec<Organization>,
    pub owner: Tenant,
    pub rival: Tenant,
}

pub struct Tenant {
    pub id: OrganizationId,
    pub key: String,
}

impl Tenants {
    /// Creates both, after deleting those of commands that were killed. If that fails half way, what exists is deleted.
    pub async fn create(store: Docstore) -> anyhow::Result<Self> {
        let now = store.clock().now();
        for organization in store.list_organizations().await? {
            let is_left = organization.name == NAME && organization.deleted_at.is_none();
            if is_left && now.since(organization.created_at) > ABANDONED {
                delete(&store, organization.id).await?;
            }
        }
        let mut created = Vec::new();
        match create_both(&store, &mut created).await {
            Ok([owner, rival]) => Ok(Self { store, created, owner, rival }),
            Err(error) => {
                for organization in created {
                    let _ = delete(&store, organization.id).await;
                }
                Err(error)
            }
        }
    }

    /// Deletes both, and waits until a server has removed their data. Returns false if none does.
    pub async fn delete(&self) -> anyhow::Result<bool> {
        for organization in &self.created {
            delete(&self.store, organization.id).await?;
        }
        let removed = async {
            loop {
                let all = self.store.list_organizations().await?;
                let is_ours = |id| self.created.iter().any(|created| created.id == id);
                if all.iter().filter(|one| is_ours(one.id)).all(|one| one.removed_at.is_some()) {
                    return Ok::<_, anyhow::Error>(());
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        match tokio::time::timeout(REMOVAL, removed).await {
            Ok(outcome) => outcome.map(|()| true),
            Err(_) => Ok(false),
        }
    }
}

async fn create_both(store: &Docstore, created: &mut Vec<Organization>) -> anyhow::Result<[Tenant; 2]> {
    let owner = create(store, created).await?;
    Ok([owner, create(store, created).await?])
}

async fn create(store: &Docstore, created: &mut Vec<Organization>) -> anyhow::Result<Tenant> {
    let (actor, now) = (actor::of_command_line(), store.clock().now());
    let organization = accounts::create_organization(store, &actor, now, NAME, None).await?;
    let id = organization.id;
    created.push(organization);
    let new = NewKey { name: NAME.to_owned(), expires_at: Some(now + KEY_LIFETIME), ..NewKey::default() };
    let CreatedKey { key, .. } = accounts::create_key(store, &actor, now, id, new).await?;
    Ok(Tenant { id, key })
}

async fn delete(store: &Docstore, id: OrganizationId) -> anyhow::Result<()> {
    accounts::delete_organization(store, &actor::of_command_line(), store.clock().now(), id).await?;
    Ok(())
}
