use uuid::Uuid;

use crate::recorder;

/// Name of the header with the trace, the caller's span and the flags.
pub const TRACEPARENT: &str = "traceparent";
/// Name of the header with the entries of tracing systems.
pub const TRACESTATE: &str = "tracestate";

/// Least length of `tracestate` that must be passed on. Longer ones are dropped.
const MAX_STATE: usize = 512;
/// Flag of a trace that is recorded.
const SAMPLED: u8 = 1;

/// A span of work in a trace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TraceContext {
    pub(crate) trace_id: u128,
    pub(crate) span_id: u64,
    /// Span that this one belongs to; `None` for the first of a trace.
    pub(crate) parent: Option<u64>,
    flags: u8,
    state: Option<String>,
}

impl TraceContext {
    /// Starts a trace. The id of what the work belongs to, such as a request or a run, makes the trace easy to find. The sampling
    /// ratio decides if it is recorded.
    pub fn start(of: Uuid) -> Self {
        let trace_id = of.as_u128();
        let flags = if recorder::samples(trace_id) { SAMPLED } else { 0 };
        Self { trace_id, span_id: new_span_id(), parent: None, flags, state: None }
    }

    /// Continues the trace of a caller with a span of its own. The caller has decided if the trace is recorded. Returns `None` for
    /// an invalid `traceparent`.
    pub fn continued(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let mut parts = traceparent.trim().split('-');
        let (version, trace_id) = (hex(parts.next()?, 2)?, hex(parts.next()?, 32)?);
        let (caller, flags) = (hex(parts.next()?, 16)?, hex(parts.next()?, 2)?);
        // Later versions may append parts; version 255 is invalid.
        let has_more = parts.next().is_some();
        if version == 255 || (version == 0 && has_more) || trace_id == 0 || caller == 0 {
            return None;
        }
        let state = tracestate.filter(|state| state.len() <= MAX_STATE && state.bytes().all(is_printable));
        let flags = u8::try_from(flags).ok()? & SAMPLED;
        let parent = u64::try_from(caller).ok();
        Some(Self { trace_id, span_id: new_span_id(), parent, flags, state: state.map(str::to_owned) })
    }

    /// Returns the context of a part of this work.
    pub(crate) fn child(&self) -> Self {
        Self { span_id: new_span_id(), parent: Some(self.span_id), ..self.clone() }
    }

    /// Returns the id of the trace in 32 hexadecimal digits.
    pub fn trace_id(&self) -> String {
        format!("{:032x}", self.trace_id)
    }

    /// Returns true if the spans of the trace are recorded.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Returns the headers that continue the trace in another service.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, String)> + use<> {
        let parent = format!("00-{:032x}-{:016x}-{:02x}", self.trace_id, self.span_id, self.flags);
        let state = self.state.clone().filter(|state| !state.is_empty());
        [(TRACEPARENT, parent)].into_iter().chain(state.map(|state| (TRACESTATE, state)))
    }
}

/// Parses exactly `digits` lowercase hexadecimal digits.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != digits || !text.bytes().all(is_digit) {
        return None;
    }
    u128::from_str_radix(text, 16).ok()
}

fn is_printable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

fn new_span_id() -> u64 {
    // The lower half has 62 random bits, the highest of which is set.
    Uuid::new_v4().as_u64_pair().1
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    fn parse(text: &str) -> Option<TraceContext> {
        TraceContext::continued(text, None)
    }

    fn header(context: &TraceContext, name: &str) -> Option<String> {
        context.headers().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    #[test]
    fn trace_of_the_caller_is_continued_with_a_span_of_its_own() {
        for flags in ["01", "00"] {
            let context = parse(&format!("00-{TRACE}-00f067aa0ba902b7-{flags}")).unwrap();
            assert_eq!(context.trace_id(), TRACE);
            let sent = header(&context, TRACEPARENT).unwrap();
            let parts: Vec<&str> = sent.split('-').collect();
            assert_eq!((parts[0], parts[1], parts[3]), ("00", TRACE, flags), "{sent}");
            assert!(parts[2].len() == 16 && parts[2] != "00f067aa0ba902b7", "{sent}");
        }
        let later = parse(&format!("cc-{TRACE}-00f067aa0ba902b7-03-what-the-future-holds")).unwrap();
        assert!(header(&later, TRACEPARENT).unwrap().ends_with("-01"), "unknown flags are not passed on");
    }

    #[test]
    fn invalid_headers_start_no_trace() {
        let zeros = "0".repeat(32);
        for text in [
            "",
            "00",
            &format!("00-{TRACE}-00f067aa0ba902b7"),
            &format!("00-{TRACE}-00f067aa0ba902b7-01-more"),
            &format!("ff-{TRACE}-00f067aa0ba902b7-01"),
            &format!("00-{zeros}-00f067aa0ba902b7-01"),
            &format!("00-{TRACE}-0000000000000000-01"),
            &format!("00-{}-00f067aa0ba902b7-01", TRACE.to_uppercase()),
            &format!("00-+{}-00f067aa0ba902b7-01", &TRACE[1..]),
            &format!("00-{TRACE}ab-00f067aa0ba902b7-01"),
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn state_is_passed_on_unless_it_is_unreasonable() {
        let parent = format!("00-{TRACE}-00f067aa0ba902b7-01");
        let state = |text: &str| header(&TraceContext::continued(&parent, Some(text)).unwrap(), TRACESTATE);
        assert_eq!(state("vendor=1,other=x y"), Some("vendor=1,other=x y".to_owned()));
        assert_eq!(state(""), None);
        assert_eq!(state("a\r\nX-Forged: 1"), None);
        assert_eq!(state(&"x".repeat(513)), None);
    }
}
