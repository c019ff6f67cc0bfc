//! Crawls through the command line, with and without a running server.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use test_support::crawl_site::{CrawlSite, generated};

use crate::support::{Client, Database, Page, Server, finish, signal_group, until};

on_both_databases!(
    crawl_without_a_server_makes_pages_searchable,
    server_works_on_crawls,
    pages_are_listed_refreshed_and_removed,
    killed_crawl_goes_on,
    refused_host_is_reported,
    progress_claims_nothing_of_visits_that_are_repeated,
    crawl_is_managed_over_the_api,
);

const OPEN: &str = "[fetch]\nallow_networks = [\"127.0.0.0/8\"]";
const PAGES: usize = 12;

fn site(address: &str) -> CrawlSite {
    CrawlSite::start(address, |path| {
        match path.strip_prefix("/page/").and_then(|number| number.parse::<usize>().ok()) {
            Some(number) if number < PAGES => {
                let links: Vec<String> = (1..4).map(|n| format!("/page/{}", (number + n) % PAGES)).collect();
                generated(number, &links)
            }
            _ => Page::status(404),
        }
    })
}

fn found(client: &Client, query: &str) -> Vec<String> {
    let response = client.search_web(query);
    let urls = response["results"].as_array().unwrap().iter();
    urls.map(|result| result["canonical_url"].as_str().unwrap_or_default().to_owned()).collect()
}

fn crawl_without_a_server_makes_pages_searchable(database: Database) {
    let mut server = Server::start_with(database, OPEN);
    let client = server.tenant("acme");
    server.stop();
    let site = site("127.0.0.2");
    let crawled = server.command(&["web", "crawl", &site.url("/page/0"), "--name", "docs", "--wait"]);
    let report = crawled.object();
    assert_eq!(
        (&report["name"], &report["state"], &report["pages"]),
        (&json!("docs"), &json!("completed"), &json!(PAGES))
    );
    assert_eq!((&report["queued"], &report["failed"]), (&json!(0), &json!(0)), "{report}");
    assert_eq!(report["skipped_by_reason"]["no_sitemap"]["count"], 1);
    assert!(crawled.stderr.contains("pages"), "progress: {}", crawled.stderr);
    server.resume();
    assert_eq!(found(&client, "Number7").first(), Some(&site.url("/page/7")));
    let shown = server.command(&["web", "crawl-show", "docs"]).object();
    assert_eq!(shown["pages"], PAGES);
    let crawls = server.command(&["web", "crawls"]).lines();
    assert_eq!(crawls.len(), 1);
    let unknown = server.command(&["web", "crawl-show", "x"]);
    assert_eq!(unknown.code(), Some(1));
    assert!(unknown.stderr.contains("no crawl has the name `x`"), "{}", unknown.stderr);
}

fn server_works_on_crawls(database: Database) {
    let server = Server::start_with(database, OPEN);
    let client = server.tenant("acme");
    assert!(metrics(&server).contains("retrieval_crawl_pages_total{outcome=\"listed\"} 0"), "{}", metrics(&server));
    let site = site("127.0.0.2");
    let started = server.command(&["web", "crawl", &site.url("/page/0")]).object();
    let name = started["name"].as_str().unwrap().to_owned();
    assert!(name.starts_with("127.0.0.2:"), "{name}");
    until("the crawl ends", Duration::from_secs(30), || {
        let shown = server.command(&["web", "crawl-show", &name]).object();
        (shown["state"] == "completed").then_some(())
    });
    until("the pages are searchable", Duration::from_secs(30), || {
        (!found(&client, "Number7").is_empty()).then_some(())
    });
    assert!(metrics(&server).contains(&format!("retrieval_crawl_pages_total{{outcome=\"listed\"}} {PAGES}")));
    // Both work on the next round, and the pages are searchable when the command returns.
    let again = server.command(&["web", "crawl", &site.url("/page/0"), "--wait"]).object();
    assert_eq!(again["pages"], PAGES);
    let conditional = site.take_log().iter().filter(|request| request.is_conditional()).count();
    assert_eq!(conditional, PAGES);
}

fn metrics(server: &Server) -> String {
    Client::new(&server.operations(), None, uuid::Uuid::nil()).get("/metrics").text
}

fn pages_are_listed_refreshed_and_removed(database: Database) {
    let server = Server::start_with(database, OPEN);
    let client = server.tenant("acme");
    let sites = [site("127.0.0.2"), site("127.0.0.3")];
    for (site, name) in sites.iter().zip(["one", "two"]) {
        server.command(&["web", "crawl", &site.url("/page/0"), "--name", name, "--limit", "5", "--wait"]).object();
    }
    let host = sites[0].base.strip_prefix("http://").unwrap();
    let list = |arguments: &[&str]| server.command(&[&["web", "list"], arguments].concat()).lines();
    assert_eq!((list(&[]).len(), list(&["--host", host]).len(), list(&["--limit", "3"]).len()), (10, 5, 3));
    let first = list(&["--prefix", &sites[0].url("/page/0")]);
    assert_eq!(first.len(), 1);
    assert_eq!(first[0]["title"], "Report 0");
    let stats = server.command(&["web", "stats"]).object();
    assert_eq!((&stats["pages"], &stats["crawls"], &stats["hosts"]), (&json!(10), &json!(2), &json!(2)));

    sites[0].take_log();
    let refreshed = server.command(&["web", "refresh", &sites[0].url("/page/0")]).object();
    assert_eq!(refreshed["queued"], true);
    until("the visit", Duration::from_secs(30), || sites[0].paths().contains(&"/page/0".to_owned()).then_some(()));
    let unknown = server.command(&["web", "refresh", &sites[0].url("/page/999")]);
    assert_eq!(unknown.code(), Some(1));

    let removed = server.command(&["web", "remove", &sites[0].url("/page/0")]).object();
    assert_eq!(removed, json!({ "removed": 1 }));
    assert!(!found(&client, "Number0").contains(&sites[0].url("/page/0")));
    assert_eq!(server.command(&["web", "remove", &sites[0].url("/page/0")]).code(), Some(1));
    assert_eq!(server.command(&["web", "remove", "--host", host]).object(), json!({ "removed": 4 }));
    assert_eq!(server.command(&["web", "remove"]).code(), Some(2));
    let removed = server.command(&["web", "crawl-remove", "two", "--pages"]).object();
    assert_eq!(removed["removed"], true);
    assert_eq!(list(&[]).len(), 0);
    assert_eq!(server.command(&["web", "crawls"]).lines().len(), 1);
}

fn killed_crawl_goes_on(database: Database) {
    let mut server = Server::start_with(database, OPEN);
    server.stop();
    let site =
        CrawlSite::start("127.0.0.2", |path| match path.strip_prefix("/page/").and_then(|n| n.parse::<usize>().ok()) {
            Some(number) if number < 40 => {
                generated(number, &[format!("/page/{}", number + 1)]).after(Duration::from_millis(20))
            }
            _ => Page::status(404),
        });
    let arguments = ["web", "crawl", &site.url("/page/0"), "--name", "docs", "--wait"].map(str::to_owned);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    for kill in 1..4 {
        let mut started = server.start_command(&arguments, "");
        until("some pages", Duration::from_secs(60), || (site.paths().len() > kill * 8).then_some(()));
        signal_group(&started.child, Signal::KILL);
        started.child.wait().unwrap();
    }
    let report = server.command(&arguments).object();
    assert_eq!((&report["pages"], &report["urls"]), (&json!(40), &json!(42)), "{report}");
    let visits = site.paths().iter().filter(|path| path.starts_with("/page/")).count();
    assert!(visits <= 41 + 3, "only interrupted visits are repeated: {visits}");
}

fn refused_host_is_reported(database: Database) {
    let server = Server::start(database);
    let refused = server.command(&["web", "crawl", "http://127.0.0.1:9/", "--name", "inside", "--wait"]);
    assert_eq!(refused.code(), Some(1));
    let report: Value = serde_json::from_str(refused.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(report["failed_by_reason"]["refused_address"]["count"], 1, "{report}");
    assert!(refused.stderr.contains("refused_address"), "{}", refused.stderr);
    for (arguments, said) in [
        (vec!["web", "crawl", "not a url"], "error: <URL>: "),
        (vec!["web", "crawl", "not a url"], "not a url"),
        (vec!["web", "crawl", "http://127.0.0.1:9/", "--include", "docs"], "--include: `docs` matches no URL"),
        (vec!["web", "crawl", "http://127.0.0.1:9/", "--every", "9999d"], "--every: the interval must be"),
        (vec!["web", "crawl", "http://127.0.0.1:9/", "--depth", "1000001"], "--depth: at most 1000000 is allowed"),
        (vec!["web", "crawl", "http://127.0.0.1:9/", "--name", "a\nb"], "--name: "),
        (
            [&["web", "crawl"][..], &["http://127.0.0.1:9/"; 101]].concat(),
            "<URL>: at most 100 items are allowed, not 101",
        ),
        (vec!["web", "list", "--host", "a/b"], "--host: `a/b` is not a host"),
        (vec!["web", "remove", "--prefix", "docs"], "--prefix: `docs` begins no URL"),
        (vec!["web", "remove", "not a url"], "error: <URL>: "),
        (vec!["web", "refresh", "not a url"], "error: <URL>: "),
    ] {
        let failed = server.command(&arguments);
        assert_eq!(failed.code(), Some(2), "{failed:?}");
        assert!(failed.stderr.contains(said), "{}", failed.stderr);
    }
    assert_eq!(server.command(&["web", "crawl", "http://127.0.0.1:9/", "--every", "soon"]).code(), Some(2));
}

fn progress_claims_nothing_of_visits_that_are_repeated(database: Database) {
    let mut server = Server::start_with(database, OPEN);
    server.stop();
    let site = CrawlSite::start("127.0.0.2", |path| Page::status(if path == "/robots.txt" { 404 } else { 503 }));
    let started = server.start_command(&["web", "crawl", &site.url("/page/0"), "--wait"], "");
    // After robots.txt, with pauses of seconds.
    until("a third visit", Duration::from_secs(60), || (site.paths().len() > 3).then_some(()));
    signal_group(&started.child, Signal::INT);
    let done = finish(started);
    assert_eq!(done.code(), Some(1), "{done:#?}");
    assert!(done.stderr.contains("0 pages, ") && done.stderr.contains("interrupted"), "{}", done.stderr);
    assert!(!done.stderr.contains("no failures"), "{}", done.stderr);
}

fn crawl_is_managed_over_the_api(database: Database) {
    let server = Server::start_with(database, OPEN);
    let client = server.tenant("acme");
    client.get("/v1/web/crawls").error(403, "insufficient_scope");
    let key = server.create_key(client.organization, &["--scopes", "web:manage,search:read"]);
    let operator = client.with_key(key["key"].as_str());
    let site = site("127.0.0.2");
    let started = operator.post("/v1/web/crawls", &json!({ "urls": [site.url("/page/0")], "name": "docs" })).json();
    assert_eq!((&started["name"], &started["state"]), (&json!("docs"), &json!("running")));
    let shown = until("the crawl ends", Duration::from_secs(30), || {
        let shown = operator.get("/v1/web/crawls/docs").ok();
        (shown["state"] == "completed").then_some(shown)
    });
    assert_eq!(shown["pages"], PAGES);
    assert_eq!(shown["skipped_by_reason"]["no_sitemap"]["count"], 1, "{shown}");
    let same = server.command(&["web", "crawl-show", "docs"]).object();
    for field in ["crawl_id", "urls", "skipped", "skipped_by_reason", "failed", "links_not_followed", "finished_at"] {
        assert_eq!(shown[field], same[field], "{field}");
    }
    let host = site.base.strip_prefix("http://").unwrap();
    let listed = operator.get(&format!("/v1/web/pages?host={host}")).ok();
    assert_eq!(listed["pages"].as_array().unwrap().len(), PAGES);
    until("the pages are searchable", Duration::from_secs(30), || {
        (!found(&operator, "Number7").is_empty()).then_some(())
    });
    let removed = operator.post("/v1/web/pages/remove", &json!({ "url": site.url("/page/7") })).ok();
    assert_eq!(removed["removed"], 1);
    assert!(!found(&operator, "Number7").contains(&site.url("/page/7")));
    let removed = operator.delete("/v1/web/crawls/docs?pages=true").ok();
    assert_eq!(removed["removed"], true);
    assert_eq!(operator.get("/v1/web/stats").ok()["pages"], 0);
    let entries = server.command(&["admin", "audit"]).lines();
    let of_web = entries
        .iter()
        .filter_map(|entry| entry["action"].as_str())
        .filter(|action| action.starts_with("crawl.") || action.starts_with("web_pages."));
    assert_eq!(of_web.collect::<Vec<_>>(), ["crawl.removed", "crawl.stopped", "web_pages.removed", "crawl.started"]);
}
