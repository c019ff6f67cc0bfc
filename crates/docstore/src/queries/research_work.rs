use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{OrganizationId, ResearchId, ResearchStatus, SearchId, Timestamp, WebhookEvent};

use super::deliveries::{announce, enqueue_delivery};
use super::{Conn, evidence};
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::error::Result;
use crate::rows::{
    ClaimedResearch, NewResearchEvent, ResearchEnd, ResearchEnded, ResearchEvent, ResearchRun, ResearchStep,
};
use crate::schema::{balance_entries, research_events as events, research_runs as runs};
use crate::types::{Bind, Details, bind_all};

pub async fn claim_research(
    connection: &mut Conn,
    owner: String,
    held: Vec<ResearchId>,
    now: Timestamp,
    lease_expires_at: Timestamp,
) -> Result<Option<ClaimedResearch>> {
    let abandoned: Option<ResearchRun> = lock_available_rows!(
        runs::table
            .filter(runs::status.eq(Bind(ResearchStatus::Running)))
            .filter(runs::lease_expires_at.le(Bind(now)))
            .filter(runs::research_id.ne_all(bind_all(held)))
            .order(runs::created_at)
            .select(ResearchRun::as_select())
    )
    .first(connection)
    .await
    .optional()?;
    let run = match abandoned {
        Some(run) => run,
        None => match next_queued(connection).await? {
            Some(run) => run,
            None => return Ok(None),
        },
    };
    let mut run = ResearchRun {
        status: ResearchStatus::Running,
        attempts: run.attempts.saturating_add(1),
        lease_owner: Some(owner),
        lease_expires_at: Some(lease_expires_at),
        ..run
    };
    if run.started_at.is_none() {
        run.started_at = Some(now);
        let started = NewResearchEvent { kind: "started", data: Details::default() };
        let (organization_id, research_id) = (run.organization_id, run.research_id);
        run.last_sequence =
            insert_events(connection, organization_id, research_id, run.last_sequence, vec![started], now).await?;
    }
    diesel::update(runs::table.find(Bind(run.research_id)))
        .set((
            runs::status.eq(Bind(run.status)),
            runs::started_at.eq(Bind(run.started_at)),
            runs::attempts.eq(run.attempts),
            runs::last_sequence.eq(run.last_sequence),
            runs::lease_owner.eq(run.lease_owner.clone()),
            runs::lease_expires_at.eq(Bind(run.lease_expires_at)),
        ))
        .execute(connection)
        .await?;
    let state: String = runs::table.find(Bind(run.research_id)).select(runs::state).first(connection).await?;
    Ok(Some(ClaimedResearch { run, state }))
}

/// Locks the oldest queued run of the organization with the fewest runs in flight.
async fn next_queued(connection: &mut Conn) -> Result<Option<ResearchRun>> {
    let mut waiting: Vec<(OrganizationId, Option<Timestamp>)> = runs::table
        .filter(runs::status.eq(Bind(ResearchStatus::Queued)))
        .group_by(runs::organization_id)
        .select((runs::organization_id, diesel::dsl::min(runs::created_at)))
        .load(connection)
        .await?;
    if waiting.is_empty() {
        return Ok(None);
    }
    let running: Vec<(OrganizationId, i64)> = runs::table
        .filter(runs::status.eq(Bind(ResearchStatus::Running)))
        .group_by(runs::organization_id)
        .select((runs::organization_id, diesel::dsl::count_star()))
        .load(connection)
        .await?;
    let running: HashMap<OrganizationId, i64> = running.into_iter().collect();
    waiting.sort_unstable_by_key(|(organization_id, oldest)| {
        (running.get(organization_id).copied().unwrap_or(0), *oldest, *organization_id)
    });
    for (organization_id, _) in waiting {
        let queued: Option<ResearchRun> = lock_available_rows!(
            runs::table
                .filter(runs::organization_id.eq(Bind(organization_id)))
                .filter(runs::status.eq(Bind(ResearchStatus::Queued)))
                .order(runs::created_at)
                .select(ResearchRun::as_select())
        )
        .first(connection)
        .await
        .optional()?;
        if queued.is_some() {
            return Ok(queued);
        }
    }
    Ok(None)
}

pub async fn record_research_step(
    connection: &mut Conn,
    research_id: ResearchId,
    owner: String,
    step: ResearchStep,
    now: Timestamp,
    lease_expires_at: Timestamp,
) -> Result<bool> {
    let Some((organization_id, last)) = lock_owned(connection, research_id, &owner).await? else { return Ok(false) };
    match last.cmp(&step.last_sequence) {
        // Repeated after a commit without an answer: only this owner adds events.
        Ordering::Greater => return Ok(true),
        // A crash of the database lost earlier steps.
        Ordering::Less => return Ok(false),
        Ordering::Equal => {}
    }
    let last = insert_events(connection, organization_id, research_id, last, step.events, now).await?;
    diesel::update(runs::table.find(Bind(research_id)))
        .set((
            runs::state.eq(step.state),
            runs::progress.eq(step.progress.progress),
            runs::searches.eq(step.progress.searches),
            runs::documents.eq(step.progress.documents),
            runs::tokens.eq(step.progress.tokens),
            runs::last_sequence.eq(last),
            runs::attempts.eq(0),
            runs::lease_expires_at.eq(Bind(Some(lease_expires_at))),
        ))
        .execute(connection)
        .await?;
    Ok(true)
}

/// Locks a run. Returns its organization and its last sequence; `None` if another worker owns the run.
async fn lock_owned(
    connection: &mut Conn,
    research_id: ResearchId,
    owner: &str,
) -> Result<Option<(OrganizationId, i64)>> {
    let owned = runs::table.find(Bind(research_id)).filter(runs::lease_owner.eq(owner.to_owned()));
    Ok(lock_rows!(owned.select((runs::organization_id, runs::last_sequence))).first(connection).await.optional()?)
}

/// Stores events after the one with the sequence `last`. Returns the last sequence.
pub(super) async fn insert_events(
    connection: &mut Conn,
    organization_id: OrganizationId,
    research_id: ResearchId,
    last: i64,
    new: Vec<NewResearchEvent>,
    at: Timestamp,
) -> Result<i64> {
    let row = |(sequence, NewResearchEvent { kind, data })| ResearchEvent {
        research_id,
        sequence,
        organization_id,
        kind: kind.to_owned(),
        at,
        data,
    };
    let rows: Vec<ResearchEvent> = (last + 1..).zip(new).map(row).collect();
    let last = rows.last().map_or(last, |row| row.sequence);
    insert_rows!(connection, events::table, rows)?;
    Ok(last)
}

pub async fn finish_research(
    connection: &mut Conn,
    research_id: ResearchId,
    owner: String,
    end: ResearchEnd,
    now: Timestamp,
    ended: ResearchEnded,
) -> Result<bool> {
    let owned = runs::table.find(Bind(research_id)).filter(runs::lease_owner.eq(owner));
    let run: Option<ResearchRun> =
        lock_rows!(owned.select(ResearchRun::as_select())).first(connection).await.optional()?;
    match run.filter(|run| end.last_sequence.is_none_or(|last| last <= run.last_sequence)) {
        Some(run) => end_run(connection, run, end, now, ended).await.map(|()| true),
        None => Ok(false),
    }
}

/// Ends a locked run: stores the end with its events, and enqueues the event for webhooks.
pub(super) async fn end_run(
    connection: &mut Conn,
    run: ResearchRun,
    end: ResearchEnd,
    now: Timestamp,
    ended: ResearchEnded,
) -> Result<()> {
    let (organization_id, research_id) = (run.organization_id, run.research_id);
    let (kind, event_type) = match end.status {
        ResearchStatus::Completed => ("completed", WebhookEvent::ResearchCompleted),
        ResearchStatus::Cancelled => ("cancelled", WebhookEvent::ResearchCancelled),
        ResearchStatus::Queued | ResearchStatus::Running | ResearchStatus::Failed => {
            ("failed", WebhookEvent::ResearchFailed)
        }
    };
    let mut new = end.events;
    new.push(NewResearchEvent { kind, data: Details::default() });
    let last_sequence = insert_events(connection, organization_id, research_id, run.last_sequence, new, now).await?;
    evidence::keep_as_evidence(connection, organization_id, end.cited, end.cited_until).await?;
    let mut run = ResearchRun {
        status: end.status,
        stop_reason: Some(end.stop_reason),
        error: end.error,
        last_sequence,
        lease_owner: None,
        lease_expires_at: None,
        completed_at: Some(now),
        expires_at: end.expires_at,
        ..run
    };
    if let Some(progress) = end.progress {
        run.progress = progress.progress;
        (run.searches, run.documents, run.tokens) = (progress.searches, progress.documents, progress.tokens);
    }
    diesel::update(runs::table.find(Bind(research_id)))
        .set((
            runs::status.eq(Bind(run.status)),
            runs::stop_reason.eq(Bind(run.stop_reason)),
            runs::error.eq(run.error.clone()),
            runs::output.eq(end.output),
            // Only the report is of use from now on.
            runs::request.eq(""),
            runs::state.eq(""),
            runs::progress.eq(run.progress.clone()),
            runs::searches.eq(run.searches),
            runs::documents.eq(run.documents),
            runs::tokens.eq(run.tokens),
            runs::last_sequence.eq(run.last_sequence),
            runs::lease_owner.eq(None::<String>),
            runs::lease_expires_at.eq(Bind(None::<Timestamp>)),
            runs::completed_at.eq(Bind(run.completed_at)),
            runs::expires_at.eq(Bind(run.expires_at)),
        ))
        .execute(connection)
        .await?;
    let event = ended(&run, event_type);
    if let Some(delivery) = run.delivery(&event, now) {
        enqueue_delivery(connection, delivery).await?;
    }
    announce(connection, organization_id, now, || event).await
}

pub async fn extend_research_leases(
    connection: &mut Conn,
    held: Vec<(ResearchId, String)>,
    lease_expires_at: Timestamp,
) -> Result<Vec<ResearchId>> {
    let mut kept = Vec::with_capacity(held.len());
    for chunk in held.chunks(MAX_VALUES_PER_STATEMENT / 2) {
        let (ids, owners): (Vec<ResearchId>, Vec<String>) = chunk.iter().cloned().unzip();
        // The name of an owner is unique, so it matches its own run only.
        let ours = || {
            runs::table
                .filter(is_one_of!(runs::research_id, ids.iter().copied()))
                .filter(runs::lease_owner.eq_any(owners.clone()))
        };
        let renewed = runs::lease_expires_at.eq(Bind(Some(lease_expires_at)));
        diesel::update(ours()).set(renewed).execute(connection).await?;
        kept.extend(ours().select(runs::research_id).load::<ResearchId>(connection).await?);
    }
    Ok(kept)
}

pub async fn release_research(connection: &mut Conn, research_id: ResearchId, owner: String) -> Result<()> {
    diesel::update(runs::table.find(Bind(research_id)).filter(runs::lease_owner.eq(owner)))
        .set((runs::attempts.eq(0), runs::lease_expires_at.eq(Bind(Some(Timestamp::UNIX_EPOCH)))))
        .execute(connection)
        .await?;
    Ok(())
}

pub async fn expire_research_leases(connection: &mut Conn) -> Result<usize> {
    Ok(diesel::update(runs::table.filter(runs::lease_expires_at.is_not_null()))
        .set(runs::lease_expires_at.eq(Bind(Some(Timestamp::UNIX_EPOCH))))
        .execute(connection)
        .await?)
}

pub async fn find_unstored_searches(
    connection: &mut Conn,
    organization_id: OrganizationId,
    research_id: ResearchId,
) -> Result<Option<Vec<SearchId>>> {
    let run = runs::table.find(Bind(research_id)).filter(runs::organization_id.eq(Bind(organization_id)));
    if run.count().get_result::<i64>(connection).await? == 0 {
        return Ok(None);
    }
    let paid: Vec<Option<SearchId>> = balance_entries::table
        .filter(balance_entries::research_id.eq(Bind(Some(research_id))))
        .filter(balance_entries::organization_id.eq(Bind(organization_id)))
        .filter(balance_entries::cents.lt(0))
        .select(balance_entries::search_id)
        .load(connection)
        .await?;
    if paid.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let stored: Vec<Details> = events::table
        .filter(events::research_id.eq(Bind(research_id)))
        .filter(events::organization_id.eq(Bind(organization_id)))
        .filter(events::kind.eq("search"))
        .select(events::data)
        .load(connection)
        .await?;
    let stored: HashSet<SearchId> =
        stored.iter().filter_map(|data| data.0.get("search_id")?.as_str()?.parse().ok()).collect();
    Ok(Some(paid.into_iter().flatten().filter(|id| !stored.contains(id)).collect()))
}
