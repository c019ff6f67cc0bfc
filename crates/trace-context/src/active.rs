//! Spans in progress.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use pin_project_lite::pin_project;

use crate::recorder::{self, Recorder};
use crate::{Attribute, Span, SpanKind, TraceContext, Value, current};

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

    /// Does work as the current one, and ends with it.
    pub fn around<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        Spanned { span: self, is_failure: |_| false, work }
    }

    /// Does work as the current one, and ends with it; failed if the work fails.
    pub fn try_around<T, E, F: Future<Output = Result<T, E>>>(self, work: F) -> impl Future<Output = Result<T, E>> {
        Spanned { span: self, is_failure: Result::is_err, work }
    }
}

pin_project! {
    // A future of its own: one of `async` would have room for the work twice, and searches nest it.
    struct Spanned<F: Future> {
        span: ActiveSpan,
        is_failure: fn(&F::Output) -> bool,
        #[pin]
        work: F,
    }
}

impl<F: Future> Future for Spanned<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let work = this.work;
        let polled = current::sync_within(this.span.context(), || work.poll(context));
        if let Poll::Ready(outcome) = &polled {
            if (this.is_failure)(outcome) {
                this.span.fail();
            }
            this.span.end();
        }
        polled
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
        self.end();
    }
}

impl ActiveSpan {
    fn context(&self) -> Option<&TraceContext> {
        self.0.as_ref().map(|open| &open.context)
    }

    fn end(&mut self) {
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
