//! Crawls and pages of the shared web index, through the API. No crawler works here: crawls wait.

use app::accounts::NewKey;
use app::api_keys::KeyRequest;
use app::web_index::crawls::{self, CrawlRequest, Removal};
use app::web_index::pages::{Removed, Selection};
use app::web_index::report::CrawlState;
use app::web_index::{PagesQuery, WebState};
use app::{Error, Viewer};
use docstore::{AuditEntry, AuditFilter};
use model::{AuditAction, Clock, Scope};
use test_support::{Tenant, TestApp, page};

use crate::accounts::refused_field;

const SITE: &str = "https://docs.example.com/";

fn crawl(url: &str) -> CrawlRequest {
    CrawlRequest { urls: vec![url.to_owned()], ..CrawlRequest::default() }
}

async fn operator(world: &TestApp, tenant: &Tenant) -> Viewer {
    let key = world.key_with_scopes(tenant, &[Scope::WebManage, Scope::KeysWrite]).await;
    world.app.authenticate(&key).await.unwrap().unwrap()
}

/// Entries about the web index, oldest first.
async fn audit(world: &TestApp) -> Vec<AuditEntry> {
    let entries = world.store.list_audit_entries(AuditFilter::default(), None, 100).await.unwrap();
    let is_of_web =
        |entry: &AuditEntry| ["crawl.", "web_pages."].iter().any(|start| entry.action.as_str().starts_with(start));
    entries.into_iter().rev().filter(is_of_web).collect()
}

fn host(name: &str) -> Selection {
    Selection { host: Some(name.to_owned()), prefix: None }
}

fn prefix(text: &str) -> Selection {
    Selection { host: None, prefix: Some(text.to_owned()) }
}

#[tokio::test]
async fn crawls_are_started_stopped_and_removed_with_audit_entries() {
    let world = TestApp::start().await;
    let viewer = operator(&world, &world.tenant().await).await;
    let started = world.app.start_crawl(&viewer, crawl(SITE)).await.unwrap();
    assert_eq!((started.crawl.name.as_str(), started.state), ("docs.example.com", CrawlState::Running));
    assert_eq!(started.plan.seeds, [SITE]);
    let (shown, outcomes) = world.app.show_crawl(&viewer, "docs.example.com").await.unwrap();
    assert_eq!((shown.crawl.queued, outcomes.redirected), (1, 0));
    assert_eq!(world.app.list_crawls(&viewer).await.unwrap().len(), 1);
    for _ in 0..2 {
        let stopped = world.app.stop_crawl(&viewer, "docs.example.com").await.unwrap();
        assert_eq!(stopped.state, CrawlState::Stopped);
    }
    assert_eq!(world.app.remove_crawl(&viewer, "docs.example.com", true).await.unwrap(), Removal::Complete);
    for name in ["docs.example.com", "", "a\0b"] {
        let gone = world.app.show_crawl(&viewer, name).await.unwrap_err();
        assert!(matches!(gone, Error::CrawlNotFound { .. }), "{gone}");
    }

    let entries = audit(&world).await;
    let actions: Vec<AuditAction> = entries.iter().map(|entry| entry.action).collect();
    let expected = [AuditAction::CrawlStarted, AuditAction::CrawlStopped, AuditAction::CrawlRemoved];
    assert_eq!(actions, expected, "the second stop changes nothing");
    assert!(entries.iter().all(|entry| entry.subject_id == Some(started.crawl.crawl_id.0)));
    assert!(entries.iter().all(|entry| entry.actor == format!("api:{}", viewer.identity.rate_key())));
    assert_eq!(entries[0].details.0["urls"][0], SITE);
}

#[tokio::test]
async fn refused_crawls_name_their_field() {
    let world = TestApp::start().await;
    let viewer = operator(&world, &world.tenant().await).await;
    let urls = |urls: &[&str]| urls.iter().map(|url| (*url).to_owned()).collect::<Vec<_>>();
    for (request, field) in [
        (CrawlRequest::default(), "urls"),
        (CrawlRequest { urls: urls(&[SITE, "docs"]), ..CrawlRequest::default() }, "urls[1]"),
        (CrawlRequest { include: urls(&["/a", "b"]), ..crawl(SITE) }, "include[1]"),
        (CrawlRequest { exclude: urls(&["b"]), ..crawl(SITE) }, "exclude[0]"),
        (CrawlRequest { every_seconds: Some(0), ..crawl(SITE) }, "every_seconds"),
        (CrawlRequest { name: Some("a\nb".to_owned()), ..crawl(SITE) }, "name"),
        (CrawlRequest { name: Some("x".repeat(201)), ..crawl(SITE) }, "name"),
    ] {
        assert_eq!(refused_field(world.app.start_crawl(&viewer, request).await), field);
    }
    assert!(audit(&world).await.is_empty());
}

/// Earlier versions had no limits on the command line.
#[tokio::test]
async fn stored_crawls_beyond_the_limits_go_on() {
    let world = TestApp::start().await;
    let viewer = operator(&world, &world.tenant().await).await;
    let many = |count: usize| (0..count).map(|at| format!("/{at}/*")).collect::<Vec<_>>();
    let urls =
        |count: usize| many(count).iter().map(|path| format!("https://docs.example.com{path}")).collect::<Vec<_>>();
    let request = |count: usize| CrawlRequest {
        urls: urls(count),
        include: many(count),
        exclude: many(count),
        depth: Some(2_000_000),
        ..CrawlRequest::default()
    };
    let shallow = |count: usize| CrawlRequest { depth: None, ..request(count) };
    for (request, reason) in [
        (request(101), "urls: at most 100 items are allowed, not 101"),
        (CrawlRequest { urls: urls(1), ..shallow(101) }, "include: at most 100 items are allowed, not 101"),
        (
            CrawlRequest { include: many(1), urls: urls(1), ..shallow(101) },
            "exclude: at most 100 items are allowed, not 101",
        ),
        (request(100), "depth: at most 1000000 is allowed, not 2000000"),
    ] {
        let refused = world.app.start_crawl(&viewer, request).await.unwrap_err();
        assert!(refused.to_string().contains(reason), "{refused}");
    }
    let stored = crawls::checked(request(150), 10_000).unwrap();
    crawler::begin(&world.store, stored, world.clock.now(), None).await.unwrap();
    let again = world.app.start_crawl(&viewer, request(150)).await.unwrap();
    assert_eq!((again.plan.seeds.len(), again.state), (150, CrawlState::Running));
    assert_eq!(refused_field(world.app.start_crawl(&viewer, request(151)).await), "urls");
}

#[tokio::test]
async fn pages_are_listed_in_pages_by_host_and_prefix() {
    let world = TestApp::start().await;
    let viewer = operator(&world, &world.tenant().await).await;
    let urls = ["https://a.example/x/1", "http://a.example/x/2", "https://a.example/y", "https://a.example.org/x"];
    world.import(urls.map(|url| page(url, "a text"))).await;
    let list = async |selection: Selection| {
        let query = PagesQuery { selection, cursor: None, limit: 10 };
        let (pages, next) = world.app.list_web_pages(&viewer, query).await.unwrap();
        assert_eq!(next, None);
        let mut found: Vec<String> = pages.into_iter().map(|page| page.url).collect();
        found.sort();
        found
    };
    assert_eq!(list(Selection::default()).await.len(), 4);
    assert_eq!(list(host("a.example")).await, ["http://a.example/x/2", "https://a.example/x/1", "https://a.example/y"]);
    assert_eq!(list(prefix("https://a.example")).await.len(), 3);
    let both = |prefix: &str| Selection { prefix: Some(prefix.to_owned()), ..host("a.example") };
    assert_eq!(list(both("https://a.example/x")).await, ["https://a.example/x/1"]);
    assert_eq!(list(both("https://a.")).await, ["https://a.example/x/1", "https://a.example/y"]);
    assert_eq!(list(both("https://a.example.org/")).await, [] as [&str; 0]);

    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let query = PagesQuery { selection: host("a.example"), cursor, limit: 2 };
        let (pages, next) = world.app.list_web_pages(&viewer, query).await.unwrap();
        seen.extend(pages.into_iter().map(|page| page.url));
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    seen.sort();
    assert_eq!(seen, list(host("a.example")).await, "each page once");

    for (selection, field) in [
        (host("a/b"), "host"),
        (host("user@a.example"), "host"),
        (host(""), "host"),
        (prefix("a.example"), "prefix"),
        (prefix("https://a\0"), "prefix"),
        (prefix(&format!("https://a/{}", "x".repeat(2_048))), "prefix"),
    ] {
        let query = PagesQuery { selection, cursor: None, limit: 1 };
        assert_eq!(refused_field(world.app.list_web_pages(&viewer, query).await.map(drop)), field);
    }
    let query = PagesQuery { cursor: Some("x".to_owned()), limit: 1, ..PagesQuery::default() };
    assert_eq!(refused_field(world.app.list_web_pages(&viewer, query).await.map(drop)), "cursor");
}

#[tokio::test]
async fn removed_pages_are_counted_and_audited() {
    let world = TestApp::start().await;
    let viewer = operator(&world, &world.tenant().await).await;
    world.import(["https://a/1", "https://a/2", "https://b/1"].map(|url| page(url, "a text"))).await;
    let stats = world.app.web_stats(&viewer, 1).await.unwrap();
    assert_eq!((stats.pages, stats.hosts, stats.largest_hosts.len()), (3, 2, 1));
    assert_eq!((stats.largest_hosts[0].host.as_str(), stats.largest_hosts[0].pages), ("a", 2));
    let all = |count| Removed { count, is_complete: true };
    assert_eq!(world.app.remove_web_page(&viewer, "https://A/1#x").await.unwrap(), all(1));
    assert_eq!(world.app.remove_web_page(&viewer, "https://a/1").await.unwrap(), all(0));
    assert_eq!(world.app.remove_web_pages(&viewer, &host("a")).await.unwrap(), all(1));
    assert_eq!(world.app.remove_web_pages(&viewer, &prefix("https://")).await.unwrap(), all(1));
    assert_eq!(refused_field(world.app.remove_web_pages(&viewer, &Selection::default()).await.map(drop)), "host");
    assert_eq!(refused_field(world.app.remove_web_page(&viewer, "a").await.map(drop)), "url");
    let entries = audit(&world).await;
    assert!(entries.iter().all(|entry| entry.action == AuditAction::WebPagesRemoved));
    let details: Vec<String> = entries.iter().map(|entry| format!("{:?}", entry.details.0)).collect();
    assert_eq!(details.len(), 3, "what removes nothing is not recorded: {details:?}");
    assert!(details[0].contains("https://a/1") && details[1].contains("\"a\""), "{details:?}");
}

#[tokio::test]
async fn pages_are_removed_across_steps() {
    let world = TestApp::start().await;
    let viewer = operator(&world, &world.tenant().await).await;
    // A transaction removes 500, and pages of another host lie between them.
    let urls = (0..600).map(|number| format!("https://{}/{number}", if number % 50 == 7 { "b" } else { "a" }));
    world.import(urls.map(|url| page(&url, "a text"))).await;
    let removed = world.app.remove_web_pages(&viewer, &host("a")).await.unwrap();
    assert_eq!(removed, Removed { count: 588, is_complete: true });
    assert_eq!(world.app.web_stats(&viewer, 1).await.unwrap().pages, 12);
}

#[tokio::test]
async fn refreshed_pages_are_queued_if_the_index_has_them() {
    let world = TestApp::start().await;
    let viewer = operator(&world, &world.tenant().await).await;
    world.import([page("https://a/1", "a text")]).await;
    let urls = ["https://a/1", "https://a/2"].map(str::to_owned);
    let refreshed = world.app.refresh_web_pages(&viewer, &urls).await.unwrap();
    assert_eq!(refreshed.iter().map(|page| page.is_queued).collect::<Vec<_>>(), [true, false]);
    assert_eq!(world.app.list_crawls(&viewer).await.unwrap()[0].crawl.queued, 1);
    let urls = ["https://a/1", "a"].map(str::to_owned);
    assert_eq!(refused_field(world.app.refresh_web_pages(&viewer, &urls).await.map(drop)), "urls[1]");
}

#[tokio::test]
async fn operators_scope_is_never_passed_on() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let default = world.create_key(tenant.organization_id, NewKey::default()).await.row;
    assert_eq!(default.scopes, Scope::of_organizations().collect::<Vec<_>>());
    assert!(!default.scopes.contains(&Scope::WebManage));

    let viewer = operator(&world, &tenant).await;
    let named = |scopes| KeyRequest { name: "a".to_owned(), scopes, ..KeyRequest::default() };
    let wanted = named(Some(vec![Scope::KeysWrite, Scope::WebManage]));
    assert_eq!(refused_field(world.app.create_key(&viewer, wanted).await), "scopes[1]");
    let heir = world.app.create_key(&viewer, named(None)).await.unwrap();
    assert_eq!(heir.view.row.scopes, [Scope::KeysWrite]);
}

#[tokio::test]
async fn empty_web_index_is_known_until_it_has_pages() {
    let world = TestApp::start().await;
    let state = |index_is_empty| WebState { index_is_empty, has_providers: false };
    assert_eq!(world.app.web_state().await.unwrap(), state(true));
    world.import([page("https://a/1", "a text")]).await;
    world.clock.advance(std::time::Duration::from_secs(1));
    assert_eq!(world.app.web_state().await.unwrap(), state(false));
}
