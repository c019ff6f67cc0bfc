use std::collections::{HashMap, HashSet};
use std::time::Duration;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{DeliveryId, OrganizationId, Timestamp, WebhookId};

use super::{Conn, lock_claims_of_deliveries};
use crate::error::Result;
use crate::rows::{AfterFailure, ClaimedDelivery, NewWebhookEvent, Webhook, WebhookDelivery};
use crate::schema::{webhook_deliveries as deliveries, webhooks};
use crate::types::{Bind, Stored};

/// Pending deliveries of a webhook, beyond which further events are not enqueued: its target has been down for long.
const MAX_PENDING: i64 = 10_000;
/// Number of the oldest due deliveries whose organizations a claim serves first.
const OLDEST: i64 = 1_000;

/// Maximum time that a delivery is postponed or leased: a target may ask for a day, and other delays are below ten hours. A later end was
/// written before the clock was set back.
const LONGEST: Duration = Duration::from_hours(33);

/// Pending deliveries of a webhook that nobody attempts at the moment.
macro_rules! waiting {
    ($webhook_id:expr) => {
        deliveries::table
            .filter(deliveries::webhook_id.eq(Bind(Some($webhook_id))))
            .filter(deliveries::lease_owner.is_null())
    };
}

/// Deliveries that are due and that nobody attempts at the moment.
macro_rules! due {
    ($now:expr) => {
        deliveries::table
            .filter(deliveries::next_attempt_at.le(Bind($now)))
            .filter(deliveries::lease_expires_at.is_null().or(deliveries::lease_expires_at.le(Bind($now))))
    };
}

/// Enqueues an event of the organization for its webhooks. Call it in the transaction of the change.
pub async fn announce(
    connection: &mut Conn,
    organization_id: OrganizationId,
    now: Timestamp,
    event: impl FnOnce() -> NewWebhookEvent,
) -> Result<()> {
    let active = webhooks::table
        .filter(webhooks::organization_id.eq(Bind(organization_id)))
        .filter(webhooks::disabled_at.is_null())
        .order(webhooks::webhook_id);
    // A webhook that is deleted meanwhile must not fail the change that is announced.
    let active: Vec<Webhook> =
        lock_rows_against_deletion!(active.select(Webhook::as_select())).load(connection).await?;
    if active.is_empty() {
        return Ok(());
    }
    let event = event();
    let mut rows = Vec::new();
    for webhook in &active {
        if !webhook.event_types.0.iter().any(|name| name == event.event_type.as_str()) {
            continue;
        }
        let pending: i64 = deliveries::table
            .filter(deliveries::webhook_id.eq(Bind(Some(webhook.webhook_id))))
            .count()
            .get_result(connection)
            .await?;
        if pending < MAX_PENDING {
            rows.push(event.delivery(webhook, now));
        }
    }
    insert_missing_rows!(connection, deliveries::table, rows)?;
    Ok(())
}

pub async fn enqueue_delivery(connection: &mut Conn, delivery: WebhookDelivery) -> Result<()> {
    insert_missing_rows!(connection, deliveries::table, vec![delivery])?;
    Ok(())
}

pub async fn has_due_deliveries(connection: &mut Conn, now: Timestamp) -> Result<bool> {
    let oldest = due!(now).order(deliveries::next_attempt_at).select(deliveries::next_attempt_at);
    Ok(oldest.first::<Timestamp>(connection).await.optional()?.is_some())
}

pub async fn claim_deliveries(
    connection: &mut Conn,
    owner: String,
    now: Timestamp,
    lease_expires_at: Timestamp,
    limit: i64,
    share: i64,
) -> Result<Vec<ClaimedDelivery>> {
    lock_claims_of_deliveries(connection).await?;
    // Counted here: for groups SQLite would read the whole index of organizations.
    let in_progress: Vec<OrganizationId> = deliveries::table
        .filter(deliveries::lease_expires_at.gt(Bind(now)))
        .select(deliveries::organization_id)
        .load(connection)
        .await?;
    let mut leased: HashMap<OrganizationId, i64> = HashMap::new();
    in_progress.into_iter().for_each(|organization_id| *leased.entry(organization_id).or_default() += 1);
    let mut claim = Claim { now, limit, share, leased, claimed: Vec::new() };
    let mut oldest: Vec<OrganizationId> = due!(now)
        .order(deliveries::next_attempt_at)
        .limit(OLDEST)
        .select(deliveries::organization_id)
        .load(connection)
        .await?;
    let has_more = i64::try_from(oldest.len()).is_ok_and(|count| count == OLDEST);
    let mut seen: HashSet<OrganizationId> = HashSet::new();
    oldest.retain(|organization_id| seen.insert(*organization_id));
    claim.take(connection, oldest).await?;
    // The oldest may all belong to one organization, which must not hide the others.
    if has_more && claim.left() > 0 {
        let mut others = waiting_organizations(connection, now).await?;
        others.retain(|organization_id| !seen.contains(organization_id));
        claim.take(connection, others).await?;
    }
    let claimed = claim.claimed;
    if claimed.is_empty() {
        return Ok(Vec::new());
    }
    let ids = claimed.iter().map(|delivery| delivery.delivery_id);
    diesel::update(deliveries::table.filter(is_one_of!(deliveries::delivery_id, ids)))
        .set((deliveries::lease_owner.eq(owner), deliveries::lease_expires_at.eq(Bind(Some(lease_expires_at)))))
        .execute(connection)
        .await?;
    with_webhooks(connection, claimed).await
}

/// Deliveries that a claim takes.
struct Claim {
    now: Timestamp,
    limit: i64,
    share: i64,
    /// Number of deliveries in progress.
    leased: HashMap<OrganizationId, i64>,
    claimed: Vec<WebhookDelivery>,
}

impl Claim {
    /// Returns the number of deliveries that it may still take.
    fn left(&self) -> i64 {
        self.limit.saturating_sub(i64::try_from(self.claimed.len()).unwrap_or(i64::MAX))
    }

    /// Takes due deliveries of these organizations in turn, of each the oldest, up to the limit and to its share.
    async fn take(&mut self, connection: &mut Conn, organizations: Vec<OrganizationId>) -> Result<()> {
        for organization_id in organizations {
            let left = self.left();
            if left < 1 {
                break;
            }
            let free = self.share.saturating_sub(self.leased.get(&organization_id).copied().unwrap_or(0)).min(left);
            if free < 1 {
                continue;
            }
            let of_organization = lock_available_rows!(
                due!(self.now)
                    .filter(deliveries::organization_id.eq(Bind(organization_id)))
                    .order(deliveries::next_attempt_at)
                    .limit(free)
                    .select(WebhookDelivery::as_select())
            );
            self.claimed.extend(of_organization.load::<WebhookDelivery>(connection).await?);
        }
        Ok(())
    }
}

/// Organization with due deliveries.
#[derive(QueryableByName)]
struct Waiting {
    #[diesel(sql_type = Stored<OrganizationId>)]
    organization_id: OrganizationId,
}

/// Lists the organizations with due deliveries, in the order of their oldest ones.
async fn waiting_organizations(connection: &mut Conn, now: Timestamp) -> Result<Vec<OrganizationId>> {
    // One statement, which reads about two entries of an index per organization, however many deliveries it has.
    let query = diesel::sql_query(
        "WITH RECURSIVE owners(organization_id) AS (
             SELECT lowest.organization_id
             FROM (SELECT organization_id FROM webhook_deliveries ORDER BY organization_id LIMIT 1) AS lowest
             UNION ALL
             SELECT (
                 SELECT higher.organization_id FROM webhook_deliveries AS higher
                 WHERE higher.organization_id > owners.organization_id
                 ORDER BY higher.organization_id LIMIT 1
             )
             FROM owners WHERE owners.organization_id IS NOT NULL
         ), waiting(organization_id, oldest) AS (
             SELECT owners.organization_id, (
                 SELECT due.next_attempt_at FROM webhook_deliveries AS due
                 WHERE due.organization_id = owners.organization_id AND due.next_attempt_at <= $1
                     AND (due.lease_expires_at IS NULL OR due.lease_expires_at <= $1)
                 ORDER BY due.next_attempt_at LIMIT 1
             )
             FROM owners WHERE owners.organization_id IS NOT NULL
         )
         SELECT organization_id FROM waiting WHERE oldest IS NOT NULL ORDER BY oldest, organization_id",
    );
    let waiting: Vec<Waiting> = query.bind::<Stored<Timestamp>, _>(Bind(now)).load(connection).await?;
    Ok(waiting.into_iter().map(|waiting| waiting.organization_id).collect())
}

async fn with_webhooks(connection: &mut Conn, claimed: Vec<WebhookDelivery>) -> Result<Vec<ClaimedDelivery>> {
    let ids = claimed.iter().filter_map(|delivery| delivery.webhook_id);
    let found: Vec<Webhook> = webhooks::table
        .filter(is_one_of!(webhooks::webhook_id, ids))
        .select(Webhook::as_select())
        .load(connection)
        .await?;
    let found: HashMap<WebhookId, Webhook> = found.into_iter().map(|webhook| (webhook.webhook_id, webhook)).collect();
    let with_webhook = |delivery: WebhookDelivery| ClaimedDelivery {
        webhook: delivery.webhook_id.and_then(|webhook_id| found.get(&webhook_id).cloned()),
        delivery,
    };
    Ok(claimed.into_iter().map(with_webhook).collect())
}

/// Locks the webhook of a delivery. Webhooks are locked before their deliveries, as their deletion does. Returns true if its last
/// attempt failed.
async fn lock_webhook(connection: &mut Conn, webhook_id: Option<WebhookId>) -> Result<bool> {
    let Some(webhook_id) = webhook_id else { return Ok(false) };
    let failing_since: Option<Option<Timestamp>> =
        lock_rows!(webhooks::table.find(Bind(webhook_id)).select(webhooks::failing_since))
            .first(connection)
            .await
            .optional()?;
    Ok(failing_since.flatten().is_some())
}

async fn delete_owned(connection: &mut Conn, delivery_id: DeliveryId, owner: String) -> Result<bool> {
    let owned = deliveries::table.find(Bind(delivery_id)).filter(deliveries::lease_owner.eq(owner));
    Ok(diesel::delete(owned).execute(connection).await? > 0)
}

pub async fn complete_delivery(
    connection: &mut Conn,
    delivery_id: DeliveryId,
    webhook_id: Option<WebhookId>,
    owner: String,
    now: Timestamp,
) -> Result<bool> {
    let was_failing = lock_webhook(connection, webhook_id).await?;
    let completed = delete_owned(connection, delivery_id, owner).await?;
    if let Some(webhook_id) = webhook_id.filter(|_| completed && was_failing) {
        diesel::update(webhooks::table.find(Bind(webhook_id)))
            .set((webhooks::failing_since.eq(Bind(None::<Timestamp>)), webhooks::last_error.eq(None::<String>)))
            .execute(connection)
            .await?;
        // The failures of others have postponed those without an attempt.
        let postponed =
            waiting!(webhook_id).filter(deliveries::attempts.eq(0)).filter(deliveries::next_attempt_at.gt(Bind(now)));
        diesel::update(postponed).set(deliveries::next_attempt_at.eq(Bind(now))).execute(connection).await?;
    }
    Ok(completed)
}

pub async fn fail_delivery(
    connection: &mut Conn,
    delivery_id: DeliveryId,
    webhook_id: Option<WebhookId>,
    owner: String,
    error: String,
    after: AfterFailure,
    now: Timestamp,
) -> Result<bool> {
    let was_failing = lock_webhook(connection, webhook_id).await?;
    let owned = match &after {
        AfterFailure::Retry(at) => postpone(connection, delivery_id, owner, &error, *at).await?,
        AfterFailure::GiveUp | AfterFailure::Disable(_) => delete_owned(connection, delivery_id, owner).await?,
    };
    let Some(webhook_id) = webhook_id.filter(|_| owned) else { return Ok(owned) };
    diesel::update(webhooks::table.find(Bind(webhook_id)))
        .set(webhooks::last_error.eq(error))
        .execute(connection)
        .await?;
    if !was_failing {
        diesel::update(webhooks::table.find(Bind(webhook_id)))
            .set(webhooks::failing_since.eq(Bind(Some(now))))
            .execute(connection)
            .await?;
    }
    match after {
        // The target may refuse one event only, so the first failure after a success says nothing of the others.
        AfterFailure::Retry(at) if was_failing => {
            let others = waiting!(webhook_id).filter(deliveries::next_attempt_at.lt(Bind(at)));
            diesel::update(others).set(deliveries::next_attempt_at.eq(Bind(at))).execute(connection).await?;
        }
        AfterFailure::Retry(_) | AfterFailure::GiveUp => {}
        AfterFailure::Disable(reason) => {
            diesel::update(webhooks::table.find(Bind(webhook_id)).filter(webhooks::disabled_at.is_null()))
                .set((webhooks::disabled_at.eq(Bind(Some(now))), webhooks::disabled_reason.eq(reason)))
                .execute(connection)
                .await?;
            let all = deliveries::table.filter(deliveries::webhook_id.eq(Bind(Some(webhook_id))));
            diesel::delete(all).execute(connection).await?;
        }
    }
    Ok(owned)
}

async fn postpone(
    connection: &mut Conn,
    delivery_id: DeliveryId,
    owner: String,
    error: &str,
    at: Timestamp,
) -> Result<bool> {
    let owned = deliveries::table.find(Bind(delivery_id)).filter(deliveries::lease_owner.eq(owner));
    let postponed = diesel::update(owned)
        .set((
            deliveries::attempts.eq(deliveries::attempts + 1),
            deliveries::next_attempt_at.eq(Bind(at)),
            deliveries::last_error.eq(error.to_owned()),
            deliveries::lease_owner.eq(None::<String>),
            deliveries::lease_expires_at.eq(Bind(None::<Timestamp>)),
        ))
        .execute(connection)
        .await?;
    Ok(postponed > 0)
}

pub async fn release_deliveries(connection: &mut Conn, owner: String) -> Result<()> {
    diesel::update(deliveries::table.filter(deliveries::lease_owner.eq(owner)))
        .set((deliveries::lease_owner.eq(None::<String>), deliveries::lease_expires_at.eq(Bind(None::<Timestamp>))))
        .execute(connection)
        .await?;
    Ok(())
}

pub async fn replan_deliveries(connection: &mut Conn, now: Timestamp) -> Result<usize> {
    lock_claims_of_deliveries(connection).await?;
    let latest = now + LONGEST;
    // Their times of creation stay: a clock that is wrong only now must not make deliveries old.
    let postponed = diesel::update(deliveries::table.filter(deliveries::next_attempt_at.gt(Bind(latest))))
        .set((
            deliveries::next_attempt_at.eq(Bind(now)),
            deliveries::lease_owner.eq(None::<String>),
            deliveries::lease_expires_at.eq(Bind(None::<Timestamp>)),
        ))
        .execute(connection)
        .await?;
    let leased = diesel::update(deliveries::table.filter(deliveries::lease_expires_at.gt(Bind(latest))))
        .set((deliveries::lease_owner.eq(None::<String>), deliveries::lease_expires_at.eq(Bind(None::<Timestamp>))))
        .execute(connection)
        .await?;
    Ok(postponed + leased)
}
