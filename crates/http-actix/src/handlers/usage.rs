use api_types::timestamp::rfc3339;
use api_types::validation::parse_uuid;
use api_types::{
    Bucket, EndpointUsage, Headline, KeyUsage, LatencyPoint, ProductUsage, SeriesPoint, UsageOverview, UsageRange,
};
use app::Work;
use app::usage::overview::{Totals, label};
use app::usage::{GroupBy, Interval, UsageRequest, Window};
use model::{ApiKeyId, KeyState};
use openapi::parameters::UsageQuery;
use openapi::{Input, operations};
use time::OffsetDateTime;

use crate::call::Context;
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::times;

/// Maximum number of keys that an overview is restricted to.
const MAX_KEYS: usize = 50;

impl Endpoint for operations::GetUsage {
    async fn handle(context: &Context, input: Input<Self>) -> Result<UsageOverview, Failure> {
        let request = usage_request(&input.query, context.state.now())?;
        let overview = context
            .run(Work::Report, |service, viewer| async move { service.usage_overview(&viewer, request).await })
            .await?;
        Ok(response(context, overview))
    }
}

fn usage_request(query: &UsageQuery, now: OffsetDateTime) -> Result<UsageRequest, Failure> {
    let interval = match query.interval.as_deref() {
        None | Some("day") => Interval::Day,
        Some("hour") => Interval::Hour,
        Some(_) => return Err(Failure::invalid("interval", "interval must be `hour` or `day`")),
    };
    let group_by = match query.group_by.as_deref() {
        None | Some("none") => GroupBy::None,
        Some("api_key") => GroupBy::ApiKey,
        Some("endpoint") => GroupBy::Endpoint,
        Some("status_class") => GroupBy::StatusClass,
        Some(_) => {
            let message = "group_by must be `none`, `api_key`, `endpoint` or `status_class`";
            return Err(Failure::invalid("group_by", message));
        }
    };
    let (from, to) = (time("from", query.from.as_deref())?, time("to", query.to.as_deref())?);
    Ok(UsageRequest {
        window: Window::resolve(from, to, interval, now)?,
        api_key_ids: key_ids(&query.api_key_ids)?,
        group_by,
    })
}

fn time(name: &str, text: Option<&str>) -> Result<Option<OffsetDateTime>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let message = || format!("{name} must be an ISO 8601 time such as `2026-01-05T10:00:00Z`");
    times::parse_iso8601(text).map(Some).ok_or_else(|| Failure::invalid(name, message()))
}

fn key_ids(ids: &[String]) -> Result<Vec<ApiKeyId>, Failure> {
    if ids.len() > MAX_KEYS {
        let message = format!("api_key_ids must have at most {MAX_KEYS} items, not {}", ids.len());
        return Err(Failure::invalid("api_key_ids", message));
    }
    let invalid = || Failure::invalid("api_key_ids", "api_key_ids must be UUIDs separated by commas");
    ids.iter().map(|id| parse_uuid(id).map(ApiKeyId).ok_or_else(invalid)).collect()
}

fn response(context: &Context, overview: app::usage::UsageOverview) -> UsageOverview {
    let app::usage::UsageOverview { window, headline, endpoints, keys, latency, search, series } = overview;
    UsageOverview {
        schema: context.schema::<UsageOverview>(),
        request_id: context.request_id,
        headline: self::headline(headline),
        endpoints: endpoints
            .into_iter()
            .map(|endpoint| EndpointUsage {
                label: route_label(&endpoint.route).unwrap_or_else(|| label(&endpoint.route)),
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
                group_label: route_label(&point.group_id).unwrap_or(point.group_label),
                group_id: point.group_id,
                requests: point.requests,
                errors: point.errors,
            })
            .collect(),
    }
}

/// The label of an operation of the table.
fn route_label(route: &str) -> Option<String> {
    operations::by_route(route).map(|operation| operation.label.to_owned())
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
