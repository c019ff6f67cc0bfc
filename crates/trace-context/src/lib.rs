#![doc = include_str!("../README.md")]

mod active;
mod context;
mod current;
mod recorder;
mod span;

pub use active::ActiveSpan;
pub use context::{TRACEPARENT, TRACESTATE, TraceContext};
pub use current::{carried, current, headers, within};
pub use recorder::{Recorder, install};
pub use span::{Attribute, Span, SpanKind, Value};
