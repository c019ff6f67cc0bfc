//! Threads on which answers are built.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use actix_web::http::StatusCode;
use api_types::{Access, DocumentRequest, RateLimit, SearchResult};
use compat::exa::{self, Exa};
use compat::{
    Answered, ForeignRead, ForeignRequest, ForeignSearch, Hit, Moment, ReadOutcome, Refusal, SearchPlan, reader,
};
use connections::Limits;
use serde::Deserialize;
use serde_json::{Value, json};
use test_support::{Tenant, TestApp, page, runtime};
use time::OffsetDateTime;
use trace_context::TraceContext;
use uuid::Uuid;

use super::request::ForeignPath;
use super::{read, search};
use crate::call::Context;
use crate::pipeline::Foreign;
use crate::{MemoryLimits, Options, Paces, State};

const URL: &str = "https://example.com/tides";

/// A read of a page, or a search that reads its hits. It records the thread on which it is answered.
#[derive(Deserialize)]
struct Recording {
    #[serde(skip)]
    answered_on: Arc<Mutex<Option<ThreadId>>>,
}

impl Recording {
    fn record(&self, documents: &[ReadOutcome]) {
        assert!(documents.len() == 1 && documents.iter().all(Result::is_ok), "{documents:?}");
        *self.answered_on.lock().unwrap() = Some(thread::current().id());
    }
}

impl ForeignRequest for Recording {
    type Service = Exa;
}

impl ForeignPath for Recording {
    const FOREIGN: &'static Foreign = exa::ContentsRequest::FOREIGN;
}

impl ForeignRead for Recording {
    fn reads(&self) -> Result<Vec<Vec<DocumentRequest>>, Refusal> {
        Ok(vec![vec![reader::read(URL)]])
    }

    fn answer(&self, outcomes: Vec<Vec<ReadOutcome>>, _: Moment) -> Answered {
        self.record(&outcomes.concat());
        Answered { status: 200, body: json!({}) }
    }
}

impl ForeignSearch for Recording {
    fn plan(&self, now: OffsetDateTime) -> Result<SearchPlan, Refusal> {
        let asked: exa::SearchRequest = serde_json::from_value(json!({"query": "tides"})).unwrap();
        asked.plan(now)
    }

    fn reads(&self, hit: &SearchResult) -> Vec<DocumentRequest> {
        vec![reader::read(&hit.canonical_url)]
    }

    fn answer(&self, hits: Vec<Hit>, _: Moment) -> Value {
        let documents: Vec<_> = hits.into_iter().flat_map(|hit| hit.documents).collect();
        self.record(&documents);
        json!({})
    }
}

fn context(world: &TestApp, tenant: Tenant) -> Context {
    let options = Options {
        public_url: "https://api.example.com".to_owned(),
        mcp_allow_origins: vec![],
        oauth_issuer: None,
        workers: 1,
        drain: Duration::ZERO,
        tls: None,
        connections: Limits { connections: 1, per_address: 0, trusted: vec![] },
        paces: Paces::default(),
        memory: MemoryLimits::default(),
        clock: world.clock.clone(),
        access_log: false,
        rejected_per_minute: 0,
        metrics: None,
    };
    // Use cases run on the runtime that the state is made on.
    let _entered = runtime().enter();
    let state = State::new(Arc::clone(&world.app), Arc::clone(&world.research), Arc::clone(&world.limiter), &options);
    let request_id = Uuid::new_v4();
    Context {
        state: Arc::new(state),
        request_id,
        trace: TraceContext::start(request_id),
        viewer: tenant.viewer,
        token: tenant.key,
        access: Access { rate_limit: RateLimit { limit_rps: 1, remaining: 1, reset_at: String::new() } },
        header_session: None,
    }
}

#[tokio::test]
async fn large_answers_are_built_on_another_thread() {
    let world = TestApp::start().await;
    let context = context(&world, world.tenant().await);
    for (paragraphs, is_here) in [(10, true), (10_000, false)] {
        world.import_one(page(URL, &"The tides come and go.\n\n".repeat(paragraphs))).await;
        for is_search in [false, true] {
            let asked = Recording { answered_on: Arc::default() };
            let answered_on = Arc::clone(&asked.answered_on);
            let reply = if is_search {
                search::answer(&context, asked, Instant::now()).await
            } else {
                read::answer(&context, asked, Instant::now()).await
            };
            assert_eq!(reply.unwrap().status, StatusCode::OK);
            let answered_on = answered_on.lock().unwrap().unwrap();
            let name = if is_search { "search" } else { "read" };
            assert_eq!(answered_on == thread::current().id(), is_here, "{name} of {paragraphs} paragraphs");
        }
    }
}
