//! Spans as an `ExportTraceServiceRequest` of OTLP 1.x in its JSON encoding: ids are hexadecimal, 64-bit numbers are text.

use serde::Serialize;
use trace_context::{Span, SpanKind, Value};

use crate::options::ExporterOptions;
use crate::wall_time::WallTime;

/// `STATUS_CODE_ERROR`.
const ERROR: u8 = 2;

/// A request without spans, which every collector accepts.
pub const EMPTY: &str = r#"{"resourceSpans":[]}"#;

/// Returns the body of a request.
pub fn encode(spans: &[Span], options: &ExporterOptions, wall: &WallTime) -> Vec<u8> {
    let resource = [
        ("service.name", options.service.as_str()),
        ("service.version", options.version.as_str()),
        ("service.instance.id", options.instance.as_str()),
    ];
    let attributes =
        resource.into_iter().map(|(key, value)| KeyValue { key, value: AnyValue::StringValue(value) }).collect();
    let scope_spans = ScopeSpans {
        scope: Scope { name: &options.service, version: &options.version },
        spans: spans.iter().map(|span| OtlpSpan::of(span, wall)).collect(),
    };
    let request =
        Request { resource_spans: [ResourceSpans { resource: Resource { attributes }, scope_spans: [scope_spans] }] };
    // Plain data without maps: serialization cannot fail.
    serde_json::to_vec(&request).unwrap_or_default()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    resource_spans: [ResourceSpans<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans<'a> {
    resource: Resource<'a>,
    scope_spans: [ScopeSpans<'a>; 1],
}

#[derive(Serialize)]
struct Resource<'a> {
    attributes: Vec<KeyValue<'a>>,
}

#[derive(Serialize)]
struct ScopeSpans<'a> {
    scope: Scope<'a>,
    spans: Vec<OtlpSpan<'a>>,
}

#[derive(Serialize)]
struct Scope<'a> {
    name: &'a str,
    version: &'a str,
}

#[derive(Serialize)]
struct KeyValue<'a> {
    key: &'a str,
    value: AnyValue<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum AnyValue<'a> {
    StringValue(&'a str),
    IntValue(String),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OtlpSpan<'a> {
    trace_id: String,
    span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    name: &'a str,
    kind: u8,
    start_time_unix_nano: String,
    end_time_unix_nano: String,
    attributes: Vec<KeyValue<'a>>,
    status: Status,
}

#[derive(Serialize)]
struct Status {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u8>,
}

impl<'a> OtlpSpan<'a> {
    fn of(span: &'a Span, wall: &WallTime) -> Self {
        let attributes = span.attributes.iter().map(|(key, value)| KeyValue { key, value: AnyValue::of(value) });
        Self {
            trace_id: format!("{:032x}", span.trace_id),
            span_id: format!("{:016x}", span.span_id),
            parent_span_id: span.parent.map(|parent| format!("{parent:016x}")),
            name: &span.name,
            kind: match span.kind {
                SpanKind::Internal => 1,
                SpanKind::Server => 2,
                SpanKind::Client => 3,
            },
            start_time_unix_nano: wall.nanos(span.started).to_string(),
            end_time_unix_nano: wall.nanos(span.ended).to_string(),
            attributes: attributes.collect(),
            status: Status { code: span.failed.then_some(ERROR) },
        }
    }
}

impl<'a> AnyValue<'a> {
    fn of(value: &'a Value) -> Self {
        match value {
            Value::Text(text) => AnyValue::StringValue(text),
            Value::Number(number) => AnyValue::IntValue(number.to_string()),
        }
    }
}
