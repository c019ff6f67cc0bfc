use std::sync::Arc;
use std::time::Duration;

use app::web::WebPage;
use app::{Error, ShareLimits, Work};
use model::{Clock, ResearchId, ResearchStatus, ResearchStop};
use research::ListQuery;
use research::engine::{Engine, Format, OutputSpec, Warning};
use serde_json::json;
use test_support::site::{Page, Site};
use test_support::{EngineFault, Setup, TestProvider, found, page, until};
use tokio::time::timeout;
use uuid::Uuid;

use super::world::{QUESTION, World, check_sequence, kinds, quick, standard};

#[tokio::test]
async fn extractive_run_ends_with_verified_citations() {
    let world = World::new().await;
    for new in [quick(QUESTION), standard(QUESTION)] {
        let run = world.run(new).await;
        assert_eq!((run.status, run.stop_reason), (ResearchStatus::Completed, Some(ResearchStop::Answered)));
        let report = run.report.as_ref().unwrap();
        assert_eq!(
            (report.engine, report.warnings.as_slice()),
            (Engine::Extractive, &[Warning::SynthesisUnavailable][..])
        );
        assert!(report.text.contains("lithium grease") && report.text.contains("4,000 hours"), "{}", report.text);
        assert!(!report.citations.is_empty());
        world.verify(&run).await;
        let events = world.events(run.research_id).await;
        check_sequence(&events);
        let kinds = kinds(&events);
        assert_eq!((kinds[..3].to_vec(), kinds.last()), (vec!["created", "started", "plan"], Some(&"completed")));
        let text: String =
            events.iter().filter_map(|event| event.data.get("text").and_then(|text| text.as_str())).collect();
        assert_eq!(text, report.text, "the deltas are the report");
        let searches = events.iter().filter(|event| event.kind == "search").count();
        assert_eq!((searches, run.searches as usize), (searches, searches));
        assert_eq!(run.progress.plan.len(), 2);
    }
}

#[tokio::test]
async fn pages_of_web_providers_are_read_and_not_their_snippets() {
    let site = Site::start();
    let text = "<h1>X200</h1><p>The X200 pump takes lithium grease, and the seal is replaced every 4,000 hours.</p>";
    let url = site.put("/x200", Page::html(text));
    let provider = TestProvider::with([found(&url, "X200 pump", "Grease and seal of the X200 pump.")]);
    let world = World::with(Setup { web: provider.with_index(), ..Setup::default() }).await;
    let run = world.run(standard(QUESTION)).await;
    assert_eq!((run.status, site.hits("/x200")), (ResearchStatus::Completed, 1));
}

#[tokio::test]
async fn run_without_sources_completes() {
    let run = World::new().await.run(quick("zyxwv qqqq")).await;
    assert_eq!((run.status, run.stop_reason), (ResearchStatus::Completed, Some(ResearchStop::NoSources)));
    assert_eq!(run.report.unwrap().citations, []);
}

#[tokio::test]
async fn run_whose_searches_all_fail_fails() {
    let world = World::new().await;
    world.app.engine.fail(EngineFault::Error(engine::EngineErrorKind::Unavailable));
    let run = world.run(quick(QUESTION)).await;
    assert_eq!((run.status, run.stop_reason), (ResearchStatus::Failed, Some(ResearchStop::Error)));
    assert_eq!(run.error.unwrap().code, "provider_unavailable");
    assert!(run.report.is_none());
}

#[tokio::test]
async fn run_on_a_busy_server_fails_with_its_reason() {
    let mut setup = Setup::default();
    setup.options.shares = ShareLimits { searches: 1, max_waiting: 0, ..setup.options.shares };
    let world = World::with(setup).await;
    let (service, viewer) = (Arc::clone(&world.app.app), world.tenant.viewer.clone());
    let busy = tokio::spawn({
        let (service, viewer) = (Arc::clone(&service), viewer.clone());
        async move { service.within_share(&viewer, Work::Search, std::future::pending::<app::Result<()>>()).await }
    });
    until("the place of searches is taken", async || service.check_share(&viewer, Work::Search).err()).await;
    let mut new = quick("Which grease does the X200 pump take?");
    new.budget.max_searches = 1;
    let run = world.run(new).await;
    busy.abort();
    assert_eq!((run.status, run.stop_reason), (ResearchStatus::Failed, Some(ResearchStop::Error)));
    let message = run.error.unwrap().message;
    assert!(message.contains("busy"), "{message}");
}

#[tokio::test]
async fn long_query_waits_for_a_thread_of_computation() {
    let mut setup = Setup::default();
    setup.options.shares = ShareLimits { cores: 1, ..setup.options.shares };
    let world = World::with(setup).await;
    let other = world.app.tenant().await.organization_id;
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let service = Arc::clone(&world.app.app);
    let busy = tokio::spawn(async move { service.compute_for(other, 0, move || ended.recv().is_err()).await });
    tokio::task::yield_now().await;
    let mut creating = Box::pin(world.create(quick(QUESTION)));
    assert!(timeout(Duration::from_millis(300), &mut creating).await.is_err(), "the only thread is busy");
    drop(end);
    creating.await;
    assert!(busy.await.unwrap().unwrap());
}

#[tokio::test]
async fn inflected_words_of_other_languages_match() {
    let world = World::new().await;
    let text = "# Ersatzteile\n\nDie Lieferzeiten aller Dichtungen betragen zwei Wochen.\n";
    let german = WebPage { language: Some("de".to_owned()), ..page("https://teile.example/", text) };
    world.app.import([german]).await;
    let question = "Lieferzeit einer Dichtung";
    let run = world.run(quick(question)).await;
    let report = run.report.as_ref().unwrap();
    assert!(report.text.contains("zwei Wochen"), "{}", report.text);
    world.verify(&run).await;

    let schema = json!({"type": "object", "properties": {"lieferzeiten": {"type": "string"}}});
    let mut structured = quick(question);
    structured.output = OutputSpec { format: Format::Structured, schema: Some(schema), max_chars: 2_000 };
    let report = world.run(structured).await.report.unwrap();
    let value = report.structured.unwrap();
    assert_eq!(value["lieferzeiten"], "Die Lieferzeiten aller Dichtungen betragen zwei Wochen.");
}

#[tokio::test]
async fn panic_in_a_step_fails_the_run_and_no_other() {
    let world = World::new().await;
    let _working = world.app.work_on_research();
    world.app.engine.fail(EngineFault::Panic);
    let id = world.create(quick(QUESTION)).await;
    let run = world.ended(id).await;
    assert_eq!((run.status, run.error.unwrap().code.as_str()), (ResearchStatus::Failed, "internal_error"));
    world.app.engine.recover();
    let id = world.create(quick(QUESTION)).await;
    assert_eq!(world.ended(id).await.status, ResearchStatus::Completed);
}

#[tokio::test]
async fn cancelled_run_stops_at_once_and_stays_cancelled() {
    let world = World::new().await;
    world.app.engine.hold();
    let _working = world.app.work_on_research();
    let id = world.create(standard(QUESTION)).await;
    world.app.engine.reached(1).await;
    for _ in 0..2 {
        let run = world.app.research.cancel(&world.tenant.viewer, id).await.unwrap();
        assert_eq!((run.status, run.stop_reason), (ResearchStatus::Cancelled, Some(ResearchStop::Cancelled)));
    }
    world.app.engine.release();
    // The worker is free for the next run.
    let next = world.create(quick(QUESTION)).await;
    world.ended(next).await;
    let events = world.events(id).await;
    check_sequence(&events);
    assert_eq!(kinds(&events), ["created", "started", "cancelled"]);
    assert_eq!(world.get(id).await.status, ResearchStatus::Cancelled);
    let ended = world.app.research.cancel(&world.tenant.viewer, next).await.unwrap();
    assert_eq!(ended.status, ResearchStatus::Completed, "an ended run stays as it is");
}

#[tokio::test]
async fn deleted_run_is_gone_with_its_events() {
    let world = World::new().await;
    world.app.engine.hold();
    let _working = world.app.work_on_research();
    let id = world.create(quick(QUESTION)).await;
    world.app.engine.reached(1).await;
    let viewer = &world.tenant.viewer;
    world.app.research.delete(viewer, id).await.unwrap();
    world.app.engine.release();
    assert!(matches!(world.app.research.delete(viewer, id).await, Err(Error::ResearchNotFound)));
    assert!(matches!(world.app.research.get(viewer, id).await, Err(Error::ResearchNotFound)));
    assert!(world.app.store.list_research_events(viewer.organization_id, id, 0, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn runs_of_other_organizations_do_not_exist() {
    let world = World::new().await;
    let id = world.run(quick(QUESTION)).await.research_id;
    let other = world.app.tenant().await.viewer;
    let research = &world.app.research;
    for id in [id, ResearchId(Uuid::new_v4())] {
        assert!(matches!(research.get(&other, id).await, Err(Error::ResearchNotFound)));
        assert!(matches!(research.events(&other, id, 0, 10).await, Err(Error::ResearchNotFound)));
        assert!(matches!(research.follow(&other, id, 0).await, Err(Error::ResearchNotFound)));
        assert!(matches!(research.cancel(&other, id).await, Err(Error::ResearchNotFound)));
        assert!(matches!(research.delete(&other, id).await, Err(Error::ResearchNotFound)));
        let mut next = quick(QUESTION);
        next.previous = Some(id);
        assert!(matches!(research.create(&other, next).await, Err(Error::ResearchNotFound)));
    }
    let list = ListQuery { status: None, cursor: None, limit: 10 };
    assert!(research.list(&other, list).await.unwrap().runs.is_empty());
}

#[tokio::test]
async fn unfinished_runs_are_limited_by_organization() {
    let mut setup = Setup::default();
    setup.research.runs_per_organization = 2;
    let world = World::with(setup).await;
    let first = world.create(quick(QUESTION)).await;
    world.create(quick(QUESTION)).await;
    let viewer = &world.tenant.viewer;
    let refused = world.app.research.create(viewer, quick(QUESTION)).await;
    assert!(matches!(refused, Err(Error::ResearchConcurrency { limit: 2 })));
    let other = world.app.tenant().await.viewer;
    world.app.research.create(&other, quick(QUESTION)).await.unwrap();
    world.app.research.cancel(viewer, first).await.unwrap();
    world.app.research.create(viewer, quick(QUESTION)).await.unwrap();
}

#[tokio::test]
async fn runs_are_listed_newest_first() {
    let mut setup = Setup::default();
    setup.research.runs_per_organization = 50;
    let world = World::with(setup).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(world.create(quick(QUESTION)).await);
        world.app.clock.advance(Duration::from_millis(5));
    }
    world.app.research.cancel(&world.tenant.viewer, ids[1]).await.unwrap();
    let (mut listed, mut cursor) = (Vec::new(), None);
    loop {
        let query = ListQuery { status: None, cursor, limit: 2 };
        let page = world.app.research.list(&world.tenant.viewer, query).await.unwrap();
        listed.extend(page.runs.iter().map(|run| run.research_id));
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    ids.reverse();
    assert_eq!(listed, ids);
    let query = ListQuery { status: Some(ResearchStatus::Cancelled), cursor: None, limit: 10 };
    let cancelled = world.app.research.list(&world.tenant.viewer, query).await.unwrap();
    assert_eq!(cancelled.runs.iter().map(|run| run.research_id).collect::<Vec<_>>(), [ids[3]]);
}

#[tokio::test]
async fn structured_report_fills_the_schema() {
    let schema = json!({"type": "object", "properties": {"grease": {"type": "string"}}});
    let mut new = standard("Which grease does the X200 pump take?");
    new.output = OutputSpec { format: Format::Structured, schema: Some(schema), max_chars: 2_000 };
    let world = World::new().await;
    let run = world.run(new).await;
    assert_eq!(run.status, ResearchStatus::Completed);
    world.verify(&run).await;
}

#[tokio::test]
async fn follow_up_continues_a_report() {
    let world = World::new().await;
    let first = world.run(quick("Which grease does the X200 pump take?")).await;
    let mut next = quick("How often?");
    next.previous = Some(first.research_id);
    let run = world.run(next).await;
    assert_eq!(run.status, ResearchStatus::Completed);
    let mut unfinished = quick("How often?");
    unfinished.previous = Some(world.create(quick(QUESTION)).await);
    let refused = world.app.research.create(&world.tenant.viewer, unfinished).await;
    assert!(matches!(refused, Err(Error::Invalid { field, .. }) if field == "previous_research_id"));
}

#[tokio::test]
async fn expired_runs_are_pruned() {
    let world = World::new().await;
    let id = world.run(quick(QUESTION)).await.research_id;
    let store = &world.app.store;
    assert_eq!(store.prune_research(world.app.clock.now(), 10).await.unwrap(), 0);
    world.app.clock.advance(Duration::from_hours(31 * 24));
    assert_eq!(store.prune_research(world.app.clock.now(), 10).await.unwrap(), 1);
    until("the run is gone", async || world.app.research.get(&world.tenant.viewer, id).await.is_err().then_some(()))
        .await;
}
