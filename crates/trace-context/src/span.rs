//! Finished spans: named pieces of work with a beginning and an end.

use std::borrow::Cow;
use std::time::Instant;

/// Place of a span in a call between processes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SpanKind {
    /// Work inside of this process.
    Internal,
    /// Work for a caller elsewhere.
    Server,
    /// Call of another service.
    Client,
}

/// Value of an attribute.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Value {
    Text(Cow<'static, str>),
    Number(i64),
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(Cow::Owned(text))
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Value::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<u16> for Value {
    fn from(number: u16) -> Self {
        Value::Number(i64::from(number))
    }
}

/// Fact about a span. Never content, names of users or keys.
pub type Attribute = (&'static str, Value);

/// Finished span.
#[derive(Clone, Debug)]
pub struct Span {
    pub trace_id: u128,
    pub span_id: u64,
    /// Span that this one is a part of; `None` for the first of a trace.
    pub parent: Option<u64>,
    pub name: Cow<'static, str>,
    pub kind: SpanKind,
    pub started: Instant,
    pub ended: Instant,
    pub failed: bool,
    pub attributes: Vec<Attribute>,
}
