//! Spans of a process with a recorder.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::{LazyLock, Mutex, Once};

use trace_context::{ActiveSpan, Recorder, Span, SpanKind, TraceContext, Value, headers, install, within};
use uuid::Uuid;

static RECORDED: LazyLock<Mutex<Vec<Span>>> = LazyLock::new(Mutex::default);

struct Kept;

impl Recorder for Kept {
    fn record(&self, span: Span) {
        RECORDED.lock().unwrap().push(span);
    }
}

/// Installs the recorder of this process. No trace that starts here is sampled.
fn record() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        assert!(install(Box::new(Kept), 0.0));
        assert!(!install(Box::new(Kept), 1.0), "the first one stays");
    });
}

/// Returns a context of a caller's trace.
fn called(flags: &str) -> TraceContext {
    let header = format!("00-{}-00f067aa0ba902b7-{flags}", Uuid::new_v4().simple());
    TraceContext::continued(&header, None).unwrap()
}

/// Returns the recorded spans of a trace, in the order of their ends.
fn of(context: &TraceContext) -> Vec<Span> {
    let trace_id = u128::from_str_radix(&context.trace_id(), 16).unwrap();
    RECORDED.lock().unwrap().iter().filter(|span| span.trace_id == trace_id).cloned().collect()
}

fn sent_span_id() -> u64 {
    let parent = headers().next().unwrap().1;
    u64::from_str_radix(parent.split('-').nth(2).unwrap(), 16).unwrap()
}

#[tokio::test]
async fn spans_are_parts_of_the_work_around_them() {
    record();
    let context = called("01");
    let mut root = ActiveSpan::of(&context, "request", SpanKind::Server);
    root.rename("POST /v1/search".to_owned());
    root.set("http.response.status_code", 200_u16);
    let sent = within(context.clone(), async {
        let step = ActiveSpan::begin("step", SpanKind::Internal);
        let sent =
            step.around(async { ActiveSpan::begin("call", SpanKind::Client).around(async { sent_span_id() }).await });
        let sent = sent.await;
        ActiveSpan::begin("next", SpanKind::Internal).around(async {}).await;
        sent
    });
    let sent = sent.await;
    drop(root);
    let spans = of(&context);
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_ref()).collect();
    assert_eq!(names, ["call", "step", "next", "POST /v1/search"]);
    let [call, step, next, root] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!(root.parent, Some(0x00f0_67aa_0ba9_02b7));
    assert_eq!((step.parent, next.parent, call.parent), (Some(root.span_id), Some(root.span_id), Some(step.span_id)));
    assert_eq!(call.span_id, sent, "the called service continues the span of the call");
    assert_eq!(root.attributes, [("http.response.status_code", Value::Number(200))]);
    assert!(spans.iter().all(|span| !span.failed && span.started <= span.ended && span.ended <= root.ended));
}

#[tokio::test]
async fn failed_cancelled_and_panicking_work_ends_its_span() {
    record();
    let context = called("01");
    within(context.clone(), async {
        let failing = ActiveSpan::begin("failing", SpanKind::Internal);
        failing.try_around(async { Err::<(), _>("reason") }).await.unwrap_err();
        let endless = ActiveSpan::begin("cancelled", SpanKind::Internal).around(std::future::pending::<()>());
        let _ = futures_util::FutureExt::now_or_never(endless);
    })
    .await;
    let panicking = within(context.clone(), async {
        ActiveSpan::begin("panicking", SpanKind::Internal).around(async { panic!("expected by the test") }).await
    });
    tokio::spawn(panicking).await.unwrap_err();
    let outcomes: Vec<_> = of(&context).into_iter().map(|span| (span.name.into_owned(), span.failed)).collect();
    let expected = [("failing", true), ("cancelled", false), ("panicking", true)];
    assert_eq!(outcomes, expected.map(|(name, failed)| (name.to_owned(), failed)));
}

#[tokio::test]
async fn caller_decides_if_its_trace_is_recorded() {
    record();
    let (unrecorded, own) = (called("00"), TraceContext::start(Uuid::new_v4()));
    for context in [&unrecorded, &own] {
        assert!(!ActiveSpan::of(context, "request", SpanKind::Server).is_recorded());
        let flags = within(context.clone(), async {
            ActiveSpan::begin("step", SpanKind::Internal).around(async { headers().next().unwrap().1 }).await
        });
        assert!(flags.await.ends_with("-00"), "services behind this one do not record it either");
        assert_eq!(of(context).len(), 0);
    }
    ActiveSpan::begin("outside of a trace", SpanKind::Internal).around(async {}).await;
}
