use std::time::Duration;

use api_types::validation::parse_uuid;
use api_types::{ResearchDeleteResponse, ResearchEventsResponse, ResearchListResponse, ResearchResponse};
use app::Work;
use model::{ResearchId, SessionId};
use openapi::parameters::{ResearchEventsQuery, ResearchListQuery, ResearchQuery};
use openapi::{Input, operations, parameters};
use research::{CreatedRun, ListQuery, RunView, RunsPage};
use uuid::Uuid;

use crate::call::{Call, Context};
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::metered;
use crate::query::number;
use crate::reply::Reply;
use crate::research::request::convert;
use crate::research::{entry, event_view, run, stream, usage, wants_stream};

const DEFAULT_RUNS: i64 = 20;
const MAX_RUNS: i64 = 100;
const DEFAULT_EVENTS: i64 = 100;
const MAX_EVENTS: i64 = 1_000;
const MAX_WAIT_SECONDS: i64 = 30;
/// Greatest number of an event that every client can represent: JavaScript counts exactly up to here.
const MAX_SEQUENCE: i64 = (1 << 53) - 1;

impl Endpoint for operations::CreateResearch {
    async fn handle(context: &Context, input: Input<Self>) -> Result<ResearchResponse, Failure> {
        let mut body = input.body;
        // The header and the body were validated, so the id is well-formed.
        let session = SessionId(parse_uuid(&context.session(body.session_id.take())).unwrap_or_else(Uuid::new_v4));
        let new = convert(body, session, context.state.now())?;
        let research = context.state.research.clone();
        let CreatedRun { run, webhook_secret } =
            context.run(Work::Small, |_, viewer| async move { research.create(&viewer, new).await }).await?;
        let mut response = respond(context, &run);
        if let Some(webhook) = &mut response.run.webhook {
            webhook.secret = webhook_secret;
        }
        Ok(response)
    }

    async fn respond(call: &Call, input: Input<Self>) -> Result<Reply, Failure> {
        let context = &call.context;
        let response = Self::handle(context, input).await?;
        let location = context.state.published.path_of(&format!("/v1/research/{}", response.run.research_id));
        let body = context.hold(metered::serialize(context, 0, response).await?).await?;
        Ok(Reply::success::<Self>(body)?.located(location))
    }
}

impl Endpoint for operations::ListResearch {
    async fn handle(context: &Context, input: Input<Self>) -> Result<ResearchListResponse, Failure> {
        let ResearchListQuery { status, cursor, limit } = input.query;
        let limit = number("limit", limit, DEFAULT_RUNS, 1..=MAX_RUNS)?;
        let invalid = |name: String| {
            let names = model::ResearchStatus::ALL.iter().map(|status| status.as_str()).collect::<Vec<_>>().join(", ");
            Failure::invalid("status", format!("status must be one of {names}, not `{name}`"))
        };
        let status = status.map(|name| name.parse().map_err(|_| invalid(name))).transpose()?;
        let query = ListQuery { status, cursor, limit: usize::try_from(limit).unwrap_or(1) };
        let research = context.state.research.clone();
        let RunsPage { runs, next_cursor } =
            context.run(Work::Small, |_, viewer| async move { research.list(&viewer, query).await }).await?;
        Ok(ResearchListResponse {
            schema: context.schema::<ResearchListResponse>(),
            request_id: context.request_id,
            runs: runs.into_iter().map(entry).collect(),
            next_cursor,
        })
    }
}

impl Endpoint for operations::GetResearch {
    async fn handle(context: &Context, input: Input<Self>) -> Result<ResearchResponse, Failure> {
        let ResearchQuery { wait_seconds } = input.query;
        let wait = number("wait_seconds", wait_seconds, 0, 0..=MAX_WAIT_SECONDS)?;
        let id = parse(&input.path)?;
        if wait > 0 {
            let time = Duration::from_secs(u64::try_from(wait).unwrap_or(0));
            // Without a permit: it costs a connection only.
            tokio::select! {
                () = context.state.stopping.cancelled() => {}
                waited = context.state.research.wait_for_end(&context.viewer, id, time) => waited?,
            }
            context.check_credential().await?;
        }
        Ok(respond(context, &find(context, id).await?))
    }
}

impl Endpoint for operations::ResearchEvents {
    async fn handle(context: &Context, input: Input<Self>) -> Result<ResearchEventsResponse, Failure> {
        let ResearchEventsQuery { after, limit } = input.query;
        let after = number("after", after, 0, 0..=MAX_SEQUENCE)?;
        let limit = number("limit", limit, DEFAULT_EVENTS, 1..=MAX_EVENTS)?;
        let id = parse(&input.path)?;
        let research = context.state.research.clone();
        let found = context
            .run(Work::Small, |_, viewer| async move { research.events(&viewer, id, after, limit).await })
            .await?;
        let mut events = Vec::with_capacity(found.len());
        let (mut next_after, mut is_complete) = (None, false);
        for event in found {
            next_after = Some(event.sequence);
            is_complete = event.is_last();
            events.push(match is_complete {
                true => event_view::last_event(event, &find(context, id).await?, context.state.now()),
                false => event_view::event(event),
            });
        }
        Ok(ResearchEventsResponse {
            schema: context.schema::<ResearchEventsResponse>(),
            request_id: context.request_id,
            research_id: id.0,
            events,
            next_after,
            is_complete,
        })
    }

    async fn respond(call: &Call, input: Input<Self>) -> Result<Reply, Failure> {
        let headers = call.request.headers();
        if !wants_stream(headers) {
            return Reply::success::<Self>(Self::handle_to_json(&call.context, input).await?);
        }
        let id = parse(&input.path)?;
        let after = number("after", input.query.after, 0, 0..=MAX_SEQUENCE)?;
        let last = headers.get("Last-Event-ID").map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let after = number("Last-Event-ID", last.filter(|last| !last.is_empty()), after, 0..=MAX_SEQUENCE)?;
        Reply::stream::<Self>(stream::follow(&call.context, id, after).await?)
    }
}

impl Endpoint for operations::CancelResearch {
    async fn handle(context: &Context, input: Input<Self>) -> Result<ResearchResponse, Failure> {
        let id = parse(&input.path)?;
        let research = context.state.research.clone();
        let run = context.run(Work::Small, |_, viewer| async move { research.cancel(&viewer, id).await }).await?;
        Ok(respond(context, &run))
    }
}

impl Endpoint for operations::DeleteResearch {
    async fn handle(context: &Context, input: Input<Self>) -> Result<ResearchDeleteResponse, Failure> {
        let id = parse(&input.path)?;
        let research = context.state.research.clone();
        context.run(Work::Small, |_, viewer| async move { research.delete(&viewer, id).await }).await?;
        Ok(ResearchDeleteResponse {
            schema: context.schema::<ResearchDeleteResponse>(),
            request_id: context.request_id,
            research_id: id.0,
            deleted: true,
        })
    }
}

/// Reads an id. A malformed one names no run.
fn parse(parameters::ResearchId(id): &parameters::ResearchId) -> Result<ResearchId, Failure> {
    let not_found = || Failure::from(app::Error::ResearchNotFound);
    parse_uuid(id).map(ResearchId).ok_or_else(not_found)
}

async fn find(context: &Context, id: ResearchId) -> Result<RunView, Failure> {
    let research = context.state.research.clone();
    context.run(Work::Small, |_, viewer| async move { research.get(&viewer, id).await }).await
}

fn respond(context: &Context, view: &RunView) -> ResearchResponse {
    ResearchResponse {
        schema: context.schema::<ResearchResponse>(),
        request_id: context.request_id,
        run: run(view, context.state.now()),
        access: context.access.clone(),
        usage: Some(usage(view)),
    }
}
