//! Spans: named pieces of work with a beginning and an end.

use std::borrow::Cow;
use std::future::Future;
use std::time::Instant;

use crate::recorder::{self, Recorder};
use crate::{TraceContext, current, within};

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

/// Span in progress, which ends when it is dropped. It does nothing if its trace is not recorded.
#[must_use = "the span ends when it is dropped"]
pub struct ActiveSpan(Option<Box<Open>>);

struct Open {
    context: TraceContext,
    name: Cow<'static, str>,
    kind: SpanKind,
    started: Instant,
    failed: bool,
    attributes: Vec<Attribute>,
    recorder: &'static dyn Recorder,
}

impl ActiveSpan {
    /// Begins a part of the current work.
    pub fn begin(name: &'static str, kind: SpanKind) -> Self {
        let Some(recorder) = recorder::get() else { return Self(None) };
        let child = current::with_current(|context| context.is_sampled().then(|| context.child()));
        Self(child.map(|context| Open::begin(context, name, kind, recorder)))
    }

    /// Begins the work that a context was made for.
    pub fn of(context: &TraceContext, name: &'static str, kind: SpanKind) -> Self {
        let recorder = recorder::get().filter(|_| context.is_sampled());
        Self(recorder.map(|recorder| Open::begin(context.clone(), name, kind, recorder)))
    }

    /// Returns true if the span will be recorded.
    pub fn is_recorded(&self) -> bool {
        self.0.is_some()
    }

    /// Replaces the name by one that was not known before.
    pub fn rename(&mut self, name: impl Into<Cow<'static, str>>) {
        if let Some(open) = &mut self.0 {
            open.name = name.into();
        }
    }

    /// Adds an attribute.
    pub fn set(&mut self, key: &'static str, value: impl Into<Value>) {
        if let Some(open) = &mut self.0 {
            open.attributes.push((key, value.into()));
        }
    }

    /// Marks the work as failed.
    pub fn fail(&mut self) {
        if let Some(open) = &mut self.0 {
            open.failed = true;
        }
    }

    /// Does work as the current one, and ends.
    pub async fn around<T>(self, work: impl Future<Output = T>) -> T {
        match &self.0 {
            Some(open) => within(open.context.clone(), work).await,
            None => work.await,
        }
    }

    /// Does work as the current one, and ends; failed if the work fails.
    ///
    /// # Errors
    /// Those of the work.
    pub async fn try_around<T, E>(mut self, work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let outcome = match &self.0 {
            Some(open) => within(open.context.clone(), work).await,
            None => return work.await,
        };
        if outcome.is_err() {
            self.fail();
        }
        outcome
    }
}

impl Open {
    fn begin(context: TraceContext, name: &'static str, kind: SpanKind, recorder: &'static dyn Recorder) -> Box<Self> {
        let (name, started) = (Cow::Borrowed(name), Instant::now());
        Box::new(Self { context, name, kind, started, failed: false, attributes: Vec::new(), recorder })
    }
}

impl Drop for ActiveSpan {
    fn drop(&mut self) {
        let Some(open) = self.0.take() else { return };
        let Open { context, name, kind, started, failed, attributes, recorder } = *open;
        recorder.record(Span {
            trace_id: context.trace_id,
            span_id: context.span_id,
            parent: context.parent,
            name,
            kind,
            started,
            ended: Instant::now(),
            failed: failed || std::thread::panicking(),
            attributes,
        });
    }
}
