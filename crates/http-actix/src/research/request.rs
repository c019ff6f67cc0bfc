use api_types::validation::parse_uuid;
use api_types::{ResearchBudget, ResearchDepth, ResearchEventType, ResearchFormat, ResearchOnExceed, ResearchRequest};
use model::{ResearchId, SessionId, WebhookEvent};
use research::engine::{Budget, Depth, Format, OnExceed, OutputSpec};
use research::{NewRun, NewWebhook};
use serde_json::Value;
use time::OffsetDateTime;

use crate::failure::Failure;
use crate::search;

/// Converts a request body. Its single values are validated already; this checks those that need a parser.
pub(crate) fn convert(body: ResearchRequest, session_id: SessionId, now: OffsetDateTime) -> Result<NewRun, Failure> {
    let depth = match body.depth {
        ResearchDepth::Quick => Depth::Quick,
        ResearchDepth::Standard => Depth::Standard,
        ResearchDepth::Deep => Depth::Deep,
    };
    let limits = api_types::SearchRequest {
        scope: body.scope,
        filters: body.filters,
        freshness_policy: body.freshness_policy,
        source_policy: body.source_policy,
        ..api_types::SearchRequest::new(body.query.as_str())
    };
    let (search, _) = search::request::convert(limits, session_id, now)?;
    let events = |types: Option<Vec<ResearchEventType>>| {
        let all = [ResearchEventType::Completed, ResearchEventType::Failed, ResearchEventType::Cancelled];
        types.unwrap_or_else(|| all.to_vec()).into_iter().map(event).collect()
    };
    Ok(NewRun {
        query: body.query,
        depth,
        instructions: body.instructions,
        output: OutputSpec {
            format: match body.output.format {
                ResearchFormat::Markdown => Format::Markdown,
                ResearchFormat::Text => Format::Text,
                ResearchFormat::Structured => Format::Structured,
            },
            schema: body.output.schema.map(Value::Object),
            max_chars: usize::try_from(body.output.max_chars).unwrap_or_default(),
        },
        budget: budget(&body.budget, depth),
        previous: body.previous_research_id.as_deref().and_then(parse_uuid).map(ResearchId),
        search,
        session_id,
        metadata: body.metadata.into_iter().map(|(key, value)| (key, value.into())).collect(),
        webhook: body.webhook.map(|webhook| NewWebhook { url: webhook.url, events: events(webhook.event_types) }),
    })
}

/// Returns the preset of the depth with the values of the request.
fn budget(request: &ResearchBudget, depth: Depth) -> Budget {
    let preset = Budget::of(depth);
    let or = |value: Option<i64>, preset: u32| value.and_then(|value| u32::try_from(value).ok()).unwrap_or(preset);
    Budget {
        max_searches: or(request.max_searches, preset.max_searches),
        max_documents: or(request.max_documents, preset.max_documents),
        max_seconds: or(request.max_seconds, preset.max_seconds),
        max_tokens: or(request.max_tokens, preset.max_tokens),
        on_exceed: match request.on_exceed {
            ResearchOnExceed::ReturnPartial => OnExceed::ReturnPartial,
            ResearchOnExceed::Fail => OnExceed::Fail,
        },
    }
}

fn event(event: ResearchEventType) -> WebhookEvent {
    match event {
        ResearchEventType::Completed => WebhookEvent::ResearchCompleted,
        ResearchEventType::Failed => WebhookEvent::ResearchFailed,
        ResearchEventType::Cancelled => WebhookEvent::ResearchCancelled,
    }
}
