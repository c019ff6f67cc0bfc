#![doc = include_str!("../README.md")]

mod context;
mod current;
mod recorder;
mod span;

pub use context::{TRACEPARENT, TRACESTATE, TraceContext};
pub use current::{carried, current, headers, within};
pub use recorder::{Recorder, install};
pub use span::{ActiveSpan, Attribute, Span, SpanKind, Value};
