//! An organization's webhook, its database and its worker.

use std::sync::Arc;
use std::time::Duration;

use docstore::{AuditEntry, Docstore, IndexRun, Organization, Strings, Webhook, WebhookDelivery};
use model::{AuditAction, Clock, ManualClock, OrganizationId, RunMode, Timestamp};
use test_support::Database;
use test_support::endpoint::{Endpoint, Received};
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;
use webhooks::{Sender, SenderOptions, Worker, WorkerOptions};

pub const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);
pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

pub struct World {
    pub store: Docstore,
    pub clock: Arc<ManualClock>,
    _database: Database,
    _stop: DropGuard,
}

impl World {
    /// Starts a worker that may connect to loopback.
    pub async fn start() -> Self {
        Self::with_networks(&["127.0.0.0/8"], Duration::from_secs(10)).await
    }

    pub async fn with_networks(networks: &[&str], timeout: Duration) -> Self {
        let database = Database::new().await;
        let (store, clock) = (database.open(), Arc::new(ManualClock::starting_at(NOW)));
        let options = SenderOptions {
            user_agent: "test".to_owned(),
            allow_networks: networks.iter().map(|network| network.parse().unwrap()).collect(),
            timeout,
        };
        let sender = Arc::new(Sender::new(options).unwrap());
        let options = WorkerOptions { poll: Duration::from_millis(2), timeout };
        let worker = Worker::new(store.clone(), sender, Arc::clone(&clock) as Arc<dyn Clock>, options);
        let stop = CancellationToken::new();
        tokio::spawn(Arc::new(worker).work(stop.clone()));
        Self { store, clock, _database: database, _stop: stop.drop_guard() }
    }

    pub async fn organization(&self) -> OrganizationId {
        let id: OrganizationId = Uuid::new_v4().into();
        let organization = Organization {
            id,
            name: "example".to_owned(),
            billed: false,
            created_at: NOW,
            deleted_at: None,
            removed_at: None,
        };
        self.store.create_organization(organization, None, entry()).await.unwrap();
        id
    }

    pub async fn webhook(&self, organization_id: OrganizationId, url: String) -> Webhook {
        let events = Strings(vec!["run.completed".to_owned(), "run.failed".to_owned()]);
        let id = Uuid::new_v4().into();
        let webhook = Webhook::new(id, organization_id, url, events, SECRET.to_owned(), NOW);
        assert!(self.store.create_webhook(webhook.clone(), 100, entry()).await.unwrap());
        webhook
    }

    /// Ends a run of the organization.
    pub async fn end_run(&self, organization_id: OrganizationId) -> IndexRun {
        let now = self.clock.now();
        let run = IndexRun::queued(Uuid::new_v4().into(), organization_id, RunMode::Full, now);
        self.store.request_run(run).await.unwrap();
        let lease = now + Duration::from_secs(60);
        let run = self.store.claim_run("runner".to_owned(), now, lease).await.unwrap().unwrap();
        let owner = "runner".to_owned();
        assert!(self.store.finish_run(run.sync_id, owner, None, now, webhooks::run_ended).await.unwrap());
        run
    }

    pub async fn enqueue(&self, organization_id: OrganizationId, url: &str) {
        let delivery = WebhookDelivery {
            delivery_id: Uuid::new_v4().into(),
            organization_id,
            webhook_id: None,
            url: Some(url.to_owned()),
            secret: Some(SECRET.to_owned()),
            event_type: "research.completed".to_owned(),
            payload: "{}".to_owned(),
            attempts: 0,
            next_attempt_at: NOW,
            lease_owner: None,
            lease_expires_at: None,
            last_error: None,
            created_at: NOW,
        };
        self.store.enqueue_delivery(delivery).await.unwrap();
    }

    /// Returns the only webhook of the organization once the condition holds.
    pub async fn webhook_once(&self, organization_id: OrganizationId, holds: impl Fn(&Webhook) -> bool) -> Webhook {
        test_support::until("the webhook's state", async || {
            let webhooks = self.store.list_webhooks(organization_id).await.unwrap();
            webhooks.into_iter().next().filter(|webhook| holds(webhook))
        })
        .await
    }
}

pub fn entry() -> AuditEntry {
    AuditEntry::new(Uuid::new_v4().into(), NOW, "test", AuditAction::WebhookCreated)
}

/// Returns the requests once there are this many.
pub async fn received(endpoint: &Endpoint, count: usize) -> Vec<Received> {
    test_support::until("the delivery", async || Some(endpoint.received()).filter(|all| all.len() >= count)).await
}
