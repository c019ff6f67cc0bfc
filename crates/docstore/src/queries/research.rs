use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{OrganizationId, ResearchId, ResearchStatus, ResearchStop, Timestamp};

use super::Conn;
use super::research_work::{end_run, insert_events};
use crate::error::Result;
use crate::rows::{ListedResearch, NewResearchEvent, ResearchEnd, ResearchEnded, ResearchEvent, ResearchRun};
use crate::schema::{organizations, research_events as events, research_runs as runs};
use crate::types::{Bind, bind_all};

const UNFINISHED: [ResearchStatus; 2] = [ResearchStatus::Queued, ResearchStatus::Running];

pub async fn create_research(
    connection: &mut Conn,
    mut run: ResearchRun,
    created: NewResearchEvent,
    limit: i64,
) -> Result<bool> {
    // Serializes concurrent creations, which would exceed the limit together.
    let _: OrganizationId = lock_rows!(organizations::table.find(Bind(run.organization_id)).select(organizations::id))
        .first(connection)
        .await?;
    let unfinished: i64 = runs::table
        .filter(runs::organization_id.eq(Bind(run.organization_id)))
        .filter(runs::status.eq_any(bind_all(UNFINISHED)))
        .count()
        .get_result(connection)
        .await?;
    if unfinished >= limit {
        return Ok(false);
    }
    run.last_sequence = 1;
    let (research_id, organization_id, at) = (run.research_id, run.organization_id, run.created_at);
    diesel::insert_into(runs::table).values(run).execute(connection).await?;
    insert_events(connection, organization_id, research_id, 0, vec![created], at).await?;
    Ok(true)
}

pub async fn find_research(
    connection: &mut Conn,
    organization_id: OrganizationId,
    research_id: ResearchId,
) -> Result<Option<(ResearchRun, Option<String>)>> {
    Ok(runs::table
        .find(Bind(research_id))
        .filter(runs::organization_id.eq(Bind(organization_id)))
        .select((ResearchRun::as_select(), runs::output))
        .first(connection)
        .await
        .optional()?)
}

pub async fn find_research_status(
    connection: &mut Conn,
    organization_id: OrganizationId,
    research_id: ResearchId,
) -> Result<Option<(ResearchStatus, i64)>> {
    Ok(runs::table
        .find(Bind(research_id))
        .filter(runs::organization_id.eq(Bind(organization_id)))
        .select((runs::status, runs::last_sequence))
        .first(connection)
        .await
        .optional()?)
}

pub async fn count_research(connection: &mut Conn, status: ResearchStatus) -> Result<i64> {
    Ok(runs::table.filter(runs::status.eq(Bind(status))).count().get_result(connection).await?)
}

pub async fn list_research(
    connection: &mut Conn,
    organization_id: OrganizationId,
    status: Option<ResearchStatus>,
    before: Option<(Timestamp, ResearchId)>,
    limit: i64,
) -> Result<Vec<ListedResearch>> {
    let mut query = runs::table
        .filter(runs::organization_id.eq(Bind(organization_id)))
        .order((runs::created_at.desc(), runs::research_id.desc()))
        .limit(limit)
        .select(ListedResearch::as_select())
        .into_boxed();
    if let Some(status) = status {
        query = query.filter(runs::status.eq(Bind(status)));
    }
    if let Some((at, id)) = before {
        query = query.filter(is_before!(runs::created_at, runs::research_id, (at, id)));
    }
    Ok(query.load(connection).await?)
}

pub async fn list_research_events(
    connection: &mut Conn,
    organization_id: OrganizationId,
    research_id: ResearchId,
    sequence: i64,
    limit: i64,
) -> Result<Vec<ResearchEvent>> {
    Ok(events::table
        .filter(events::research_id.eq(Bind(research_id)))
        .filter(events::organization_id.eq(Bind(organization_id)))
        .filter(events::sequence.gt(sequence))
        .order(events::sequence)
        .limit(limit)
        .select(ResearchEvent::as_select())
        .load(connection)
        .await?)
}

pub async fn cancel_research(
    connection: &mut Conn,
    organization_id: OrganizationId,
    research_id: ResearchId,
    expires_at: Timestamp,
    now: Timestamp,
    ended: ResearchEnded,
) -> Result<bool> {
    let ours = runs::table
        .find(Bind(research_id))
        .filter(runs::organization_id.eq(Bind(organization_id)))
        .select(ResearchRun::as_select());
    let run: Option<ResearchRun> = lock_rows!(ours).first(connection).await.optional()?;
    let Some(run) = run else { return Ok(false) };
    if !run.status.is_terminal() {
        let end = ResearchEnd {
            status: ResearchStatus::Cancelled,
            stop_reason: ResearchStop::Cancelled,
            error: None,
            output: None,
            progress: None,
            last_sequence: None,
            events: Vec::new(),
            cited: Vec::new(),
            cited_until: now,
            expires_at,
        };
        end_run(connection, run, end, now, ended).await?;
    }
    Ok(true)
}

pub async fn delete_research(
    connection: &mut Conn,
    organization_id: OrganizationId,
    research_id: ResearchId,
    now: Timestamp,
    ended: ResearchEnded,
) -> Result<bool> {
    if !cancel_research(connection, organization_id, research_id, now, now, ended).await? {
        return Ok(false);
    }
    let ours = runs::table.find(Bind(research_id)).filter(runs::organization_id.eq(Bind(organization_id)));
    Ok(diesel::delete(ours).execute(connection).await? > 0)
}
