use std::sync::Arc;
use std::time::Duration;

use app::ShareLimits;
use async_trait::async_trait;
use model::ResearchStatus;
use models::ModelError;
use models::generation::{Generation, GenerationRequest, Generator};
use models_http::{HttpGenerator, HttpGeneratorOptions};
use research::engine::{Budget, Engine, Format, OutputSpec, Warning};
use serde_json::json;
use test_support::chat::{ChatEndpoint, ChatRequest, completion, error};
use test_support::endpoint::Reply;
use test_support::{Setup, until};
use tokio::time::timeout;

use super::world::{QUESTION, World, check_sequence, quick, standard};

fn generator(chat: &ChatEndpoint, timeout: Duration) -> Arc<dyn Generator> {
    limited(chat, timeout, 1_000)
}

fn limited(chat: &ChatEndpoint, timeout: Duration, max_tokens: u32) -> Arc<dyn Generator> {
    let options = HttpGeneratorOptions {
        url: chat.url(),
        model: "scripted".to_owned(),
        api_key: None,
        timeout,
        max_tokens,
        retry_delay: Duration::from_millis(1),
    };
    Arc::new(HttpGenerator::new(options).unwrap())
}

/// Runs with a scripted model.
async fn run(script: impl Fn(&ChatRequest) -> Reply + Send + Sync + 'static) -> (World, research::RunView, usize) {
    let chat = ChatEndpoint::start(move |_, request| script(request));
    let world = World::with_model(generator(&chat, Duration::from_millis(500))).await;
    let run = world.run(standard(QUESTION)).await;
    check_sequence(&world.events(run.research_id).await);
    assert_eq!(run.status, ResearchStatus::Completed);
    world.verify(&run).await;
    let requests = chat.requests().len();
    (world, run, requests)
}

fn is_report(request: &ChatRequest) -> bool {
    request.format().is_none()
}

#[tokio::test]
async fn honest_model_writes_the_report() {
    let (_, run, requests) = run(|request| {
        if is_report(request) {
            completion(
                "The X200 pump takes lithium grease of class NLGI 2 [1]. Its seal is replaced every 4,000 hours [2].",
            )
        } else {
            completion("{}")
        }
    })
    .await;
    let report = run.report.unwrap();
    assert_eq!(report.engine, Engine::Model, "{}", report.text);
    assert!(requests >= 2 && run.tokens > 0);
    assert!(run.tokens <= u64::from(Budget::of(research::engine::Depth::Standard).max_tokens));
    assert!(!report.citations.is_empty());
}

#[tokio::test]
async fn reasoning_model_gets_the_tokens_to_finish() {
    let chat = ChatEndpoint::start(|_, request| {
        let thinks_longer = request.body["max_tokens"].as_u64().is_none_or(|limit| limit < 8_000);
        if thinks_longer {
            let choice = json!({"message": {"role": "assistant", "content": null}, "finish_reason": "length"});
            Reply::json(200, &json!({"choices": [choice]}))
        } else if is_report(request) {
            completion("The X200 pump takes lithium grease of class NLGI 2 [1].")
        } else {
            completion("{}")
        }
    });
    let world = World::with_model(limited(&chat, Duration::from_secs(5), 16_000)).await;
    let run = world.run(standard(QUESTION)).await;
    let limits: Vec<_> = chat.requests().iter().map(|request| request.body["max_tokens"].clone()).collect();
    assert!(limits.iter().all(|limit| *limit == 16_000), "{limits:?}");
    assert_eq!(run.report.unwrap().engine, Engine::Model);
}

#[tokio::test]
async fn tokens_of_an_answer_without_text_are_counted() {
    let chat = ChatEndpoint::start(|_, _| {
        let choice = json!({"message": {"role": "assistant", "content": null}, "finish_reason": "length"});
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 16_000});
        Reply::json(200, &json!({"choices": [choice], "usage": usage}))
    });
    let world = World::with_model(limited(&chat, Duration::from_secs(5), 16_000)).await;
    let run = world.run(standard(QUESTION)).await;
    assert!(run.tokens >= 16_000, "{}", run.tokens);
}

/// Whoever answers may be hostile, so that interactive work must not wait for the reading of an answer.
#[tokio::test]
async fn answers_of_a_model_are_read_in_the_background() {
    let chat = ChatEndpoint::start(|_, _| completion("The X200 pump takes lithium grease of class NLGI 2 [1]."));
    let mut setup = Setup { generator: Some(generator(&chat, Duration::from_secs(5))), ..Setup::default() };
    setup.options.shares = ShareLimits { cores: 1, ..setup.options.shares };
    let world = World::with(setup).await;
    let other = world.app.tenant().await.organization_id;
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let service = Arc::clone(&world.app.app);
    let work = move || ended.recv().is_err();
    let busy = tokio::spawn(async move { service.compute_for(other, usize::MAX, work).await });
    tokio::task::yield_now().await;
    let id = world.create(quick(QUESTION)).await;
    let _working = world.app.work_on_research();
    until("the answer", async || (!chat.requests().is_empty()).then_some(())).await;
    let waiting = timeout(Duration::from_millis(500), world.ended(id)).await;
    assert!(waiting.is_err(), "the only thread of the background is busy");
    drop(end);
    assert_eq!(world.ended(id).await.report.unwrap().engine, Engine::Model);
    assert!(busy.await.unwrap().unwrap());
}

#[tokio::test]
async fn model_that_invents_gets_no_invention_into_the_report() {
    let (_, run, _) = run(|request| {
        if is_report(request) {
            completion(
                "The pump needs \"unicorn fat, imported weekly\" [1]. See https://evil.example/ [99]. \
                 The seal lasts forever [42]. The pump takes grease of ht\u{200b}tps://evil.example/x [1]. \
                 The pump takes grease of https://pumps.example/x200)https://evil.example/x [1].",
            )
        } else {
            completion("{}")
        }
    })
    .await;
    let text = run.report.unwrap().text;
    assert!(!text.contains("unicorn") && !text.contains("evil.example") && !text.contains("[99]"), "{text}");
}

#[tokio::test]
async fn failing_and_useless_models_lose_no_run() {
    for script in [
        (|_: &ChatRequest| error(500, "on fire")) as fn(&ChatRequest) -> Reply,
        |_| error(401, "no key"),
        |_| completion("%%%% not what was asked"),
        |_| Reply::json(200, &json!({"nonsense": true})),
    ] {
        let (_, run, _) = run(script).await;
        let report = run.report.unwrap();
        assert!(report.text.contains("lithium grease"), "{}", report.text);
    }
}

#[tokio::test]
async fn answer_that_ends_at_the_limit_of_tokens_loses_its_last_sentence() {
    let (_, run, _) = run(|request| {
        let text = if is_report(request) {
            "The X200 pump takes lithium grease of class NLGI 2 [1]. The seal of the X200 pump is replaced every 4"
        } else {
            "{}"
        };
        let message = json!({"role": "assistant", "content": text});
        Reply::json(200, &json!({"choices": [{"message": message, "finish_reason": "length"}]}))
    })
    .await;
    let report = run.report.unwrap();
    assert_eq!((report.engine, report.truncated), (Engine::Model, true));
    assert!(report.text.contains("NLGI 2. [1]") && !report.text.contains("every 4"), "{}", report.text);
}

#[tokio::test]
async fn calls_that_no_model_answered_use_no_tokens() {
    for status in [401, 404, 429, 500] {
        let (_, run, requests) = run(move |_| error(status, "no")).await;
        let report = run.report.unwrap();
        assert!(requests > 0);
        assert_eq!((run.tokens, report.engine), (0, Engine::Extractive), "{status}");
        assert_eq!(report.warnings, [Warning::SynthesisUnavailable]);
    }
    for is_charged in [false, true] {
        let failure = move || async move {
            let away = || ModelError::Unreachable("it is away".into());
            Err::<Generation, _>(if is_charged { ModelError::Timeout } else { away() })
        };
        let world = World::with_model(Arc::new(Scripted(failure))).await;
        assert_eq!(world.run(standard(QUESTION)).await.tokens > 0, is_charged);
    }
}

/// Model that answers never, or after a change of the world.
struct Scripted<F>(F);

#[async_trait]
impl<F, A> Generator for Scripted<F>
where
    F: Fn() -> A + Send + Sync,
    A: Future<Output = Result<Generation, ModelError>> + Send,
{
    fn id(&self) -> &str {
        "scripted"
    }

    fn max_tokens(&self) -> u32 {
        1_000
    }

    async fn generate(&self, _: &GenerationRequest) -> Result<Generation, ModelError> {
        (self.0)().await
    }
}

#[tokio::test]
async fn model_that_never_answers_ends_with_the_time() {
    let world = World::with_model(Arc::new(Scripted(std::future::pending))).await;
    let mut new = standard(QUESTION);
    new.budget.max_seconds = 4;
    let run = world.run(new).await;
    assert_eq!(run.status, ResearchStatus::Completed);
    assert!(run.searches > 0, "planning leaves time");
    let report = run.report.unwrap();
    assert_eq!(report.engine, Engine::Extractive);
    assert!(report.text.contains("lithium grease"), "{}", report.text);
}

#[tokio::test]
async fn cancellation_interrupts_the_model() {
    let world = World::with_model(Arc::new(Scripted(std::future::pending))).await;
    let id = world.create(standard(QUESTION)).await;
    let _working = world.app.work_on_research();
    test_support::until("the start", async || world.get(id).await.started_at.map(|_| ())).await;
    world.app.research.cancel(&world.tenant.viewer, id).await.unwrap();
    assert_eq!(world.get(id).await.status, ResearchStatus::Cancelled);
}

#[tokio::test]
async fn model_is_shown_the_value_of_an_earlier_structured_report() {
    let chat = ChatEndpoint::start(|_, request| {
        completion(if is_report(request) { "The X200 pump takes lithium grease of class NLGI 2 [1]." } else { "{}" })
    });
    let world = World::with_model(generator(&chat, Duration::from_secs(5))).await;
    let schema = json!({"type": "object", "properties": {"grease": {"type": "string"}}, "required": ["grease"]});
    let mut first = quick("Which grease does the X200 pump take?");
    first.output = OutputSpec { format: Format::Structured, schema: Some(schema), max_chars: 2_000 };
    let first = world.run(first).await;
    let value = first.report.unwrap().structured.unwrap();
    assert!(value["grease"].is_string(), "{value}");
    let mut next = quick("How often is the seal of the X200 pump replaced?");
    next.previous = Some(first.research_id);
    world.run(next).await;
    let earlier = format!("Earlier report, for context:\n{value:#}");
    let requests = chat.requests();
    assert!(requests.iter().any(|request| is_report(request) && request.text("user").contains(&earlier)), "{earlier}");
}

#[tokio::test]
async fn without_tokens_no_model_is_asked() {
    let chat = ChatEndpoint::start(|_, _| completion("{}"));
    let world = World::with_model(generator(&chat, Duration::from_secs(5))).await;
    let mut new = standard(QUESTION);
    new.budget.max_tokens = 0;
    let run = world.run(new).await;
    assert_eq!((run.status, run.tokens, chat.requests().len()), (ResearchStatus::Completed, 0, 0));
}
