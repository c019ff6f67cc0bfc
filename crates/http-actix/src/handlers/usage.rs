use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use api_types::timestamp::rfc3339;
use api_types::validation::parse_uuid;
use api_types::{
    Bucket, EndpointUsage, Headline, KeyUsage, LatencyPoint, ProductUsage, SeriesPoint, UsageOverview, UsageRange,
};
use app::usage::overview::{Totals, label};
use app::usage::{GroupBy, Interval, UsageRequest, Window};
use model::{ApiKeyId, KeyState, Scope};
use openapi::operations;

use crate::call::Call;
use crate::endpoint::{Endpoint, answer};
use crate::failure::Failure;
use crate::query::Query;
use crate::reply::Reply;
use crate::times;

const OVERVIEW: Endpoint = Endpoint::of(&operations::USAGE_OVERVIEW, Scope::UsageRead);

/// Most keys that an overview is asked for by name.
const MAX_KEYS: usize = 50;

pub(crate) async fn usage_overview(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    answer(&OVERVIEW, request, payload, run_overview).await
}

async fn run_overview(call: Call) -> Result<Reply, Failure> {
    let request = usage_request(&call)?;
    let overview =
        call.context.run(|service, viewer| async move { service.usage_overview(&viewer, request).await }).await?;
    Reply::json(StatusCode::OK, &response(&call, overview))
}

fn usage_request(call: &Call) -> Result<UsageRequest, Failure> {
    let query = Query::parse(call.request.query_string())?;
    let time = |name: &str| match query.get(name) {
        None => Ok(None),
        Some(text) => times::parse(text).map(Some).ok_or_else(|| {
            Failure::invalid(name, format!("{name} must be an ISO 8601 time such as `2026-01-05T10:00:00Z`"))
        }),
    };
    let interval = match query.get("interval") {
        None | Some("day") => Interval::Day,
        Some("hour") => Interval::Hour,
        Some(_) => return Err(Failure::invalid("interval", "interval must be `hour` or `day`")),
    };
    let group_by = match query.get("group_by") {
        None | Some("none") => GroupBy::None,
        Some("api_key") => GroupBy::ApiKey,
        Some("endpoint") => GroupBy::Endpoint,
        Some("status_class") => GroupBy::StatusClass,
        Some(_) => {
            let message = "group_by must be `none`, `api_key`, `endpoint` or `status_class`";
            return Err(Failure::invalid("group_by", message));
        }
    };
    Ok(UsageRequest {
        window: Window::resolve(time("from")?, time("to")?, interval, call.context.state.now())?,
        api_key_ids: query.get("api_key_ids").map_or_else(|| Ok(Vec::new()), key_ids)?,
        group_by,
    })
}

fn key_ids(list: &str) -> Result<Vec<ApiKeyId>, Failure> {
    let ids: Vec<&str> = list.split(',').map(str::trim).filter(|id| !id.is_empty()).collect();
    if ids.len() > MAX_KEYS {
        return Err(Failure::invalid("api_key_ids", format!("api_key_ids must be at most {MAX_KEYS} ids")));
    }
    let parse = |id: &&str| {
        parse_uuid(id)
            .map(ApiKeyId)
            .ok_or_else(|| Failure::invalid("api_key_ids", "api_key_ids must be UUIDs with commas between"))
    };
    ids.iter().map(parse).collect()
}

fn response(call: &Call, overview: app::usage::UsageOverview) -> UsageOverview {
    let app::usage::UsageOverview { window, headline, endpoints, keys, latency, search, series } = overview;
    UsageOverview {
        schema: call.context.schema("UsageOverview"),
        request_id: call.context.request_id,
        headline: self::headline(headline),
        endpoints: endpoints
            .into_iter()
            .map(|endpoint| EndpointUsage {
                label: label(&endpoint.route),
                route: endpoint.route,
                requests: endpoint.totals.requests,
                errors: endpoint.totals.errors,
                p95_duration_ms: endpoint.totals.p95_duration_ms,
            })
            .collect(),
        keys: keys.into_iter().map(key).collect(),
        latency_series: latency
            .into_iter()
            .map(|(bucket, totals)| LatencyPoint {
                bucket: rfc3339(bucket),
                avg_duration_ms: totals.avg_duration_ms,
                p95_duration_ms: totals.p95_duration_ms,
            })
            .collect(),
        products: vec![ProductUsage {
            product: "search".to_owned(),
            label: "Search".to_owned(),
            requests: search.requests,
            spend_cents: search.spend_cents,
        }],
        range: UsageRange {
            from: rfc3339(window.from()),
            to: rfc3339(window.to()),
            interval: match window.interval {
                Interval::Hour => Bucket::Hour,
                Interval::Day => Bucket::Day,
            },
            timezone: "UTC".to_owned(),
        },
        series: series
            .into_iter()
            .map(|point| SeriesPoint {
                bucket: rfc3339(point.bucket),
                group_id: point.group_id,
                group_label: point.group_label,
                requests: point.requests,
                errors: point.errors,
            })
            .collect(),
    }
}

fn headline(totals: Totals) -> Headline {
    let error_rate = if totals.requests > 0 { totals.errors as f64 / totals.requests as f64 } else { 0.0 };
    Headline {
        requests: totals.requests,
        errors: totals.errors,
        error_rate,
        avg_duration_ms: totals.avg_duration_ms,
        p95_duration_ms: totals.p95_duration_ms,
        spend_cents: totals.spend_cents,
    }
}

fn key(key: app::usage::overview::KeyUsage) -> KeyUsage {
    KeyUsage {
        api_key_id: key.api_key_id.0,
        key_prefix: key.key_prefix,
        name: key.name,
        status: match key.status {
            KeyState::Active => api_types::KeyStatus::Active,
            KeyState::Expired => api_types::KeyStatus::Expired,
            KeyState::Revoked => api_types::KeyStatus::Revoked,
        },
        requests: key.totals.requests,
        errors: key.totals.errors,
        p95_duration_ms: key.totals.p95_duration_ms,
        spend_cents: key.totals.spend_cents,
        last_used_at: key.last_used_at.map(rfc3339),
    }
}
