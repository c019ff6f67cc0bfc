//! Crawls: frontier, leases of hosts, recording of visits.

use std::time::Duration;

use docstore::{
    Crawl, CrawlHost, CrawlLimits, CrawlUrl, CrawlVisit, HostVisit, NewCrawlUrl, NextVisit, PageChange, Recorded,
    SkippedLinks,
};
use model::{CrawlId, CrawlStatus, CrawlUrlKind, CrawlUrlState, DocId, IndexName, Timestamp};
use uuid::Uuid;

use crate::support::{Database, NOW, at, page};

on_both_backends!(
    hosts_are_leased_to_one_owner,
    visit_is_recorded_with_its_page_links_and_counters,
    visit_without_the_lease_stores_nothing,
    visit_under_former_settings_stores_only_the_visit_to_the_host,
    page_that_is_skipped_for_the_same_reason_has_not_changed,
    page_waits_for_its_canonical_page_until_that_is_given_up,
    all_pages_follow_the_outcome_of_their_canonical_page,
    concurrent_claims_have_one_winner,
    first_visits_and_visits_again_alternate,
    host_that_was_visited_meanwhile_is_not_claimed,
    next_round_queues_every_url_once,
    next_round_passes_the_frontier_once,
    unfinished_round_begins_again_with_other_settings_or_more_room,
    unfinished_round_begins_again_if_more_pages_may_be_listed,
    urls_settled_without_a_visit_have_their_turn_in_the_next_round,
    urls_of_a_host_that_was_given_up_are_visited_at_the_next_interval,
    modified_page_is_visited_at_the_shortest_interval,
    known_url_gets_the_place_of_a_seed,
    known_page_that_is_nearer_is_read_again_if_the_depth_is_bounded,
    removed_page_comes_back_in_a_new_crawl_only,
    removed_sitemap_is_no_page,
    crawl_that_is_removed_in_part_counts_what_is_left,
    crawl_that_is_removed_in_part_begins_again,
    parameters_and_frontier_are_limited,
    pages_of_two_crawls_stay_until_both_are_gone,
    page_that_no_crawl_lists_is_removed_if_its_site_says_so,
    page_of_an_ended_crawl_is_removed_if_its_site_says_so,
    page_of_an_ended_crawl_makes_room_only_for_a_listed_page,
    page_of_another_crawl_is_visited_at_once_if_its_site_withdraws_it,
    web_pages_are_listed_by_prefix,
);

pub const LIMITS: CrawlLimits =
    CrawlLimits { queries_per_path: 3, same_content: 5, shortest_interval: Duration::ZERO, is_depth_bounded: false };

fn id_of(url: &str) -> DocId {
    DocId(Uuid::new_v5(&Uuid::NAMESPACE_URL, url.as_bytes()))
}

fn link(url: &str) -> NewCrawlUrl {
    let host = url.split('/').nth(2).unwrap().to_owned();
    NewCrawlUrl {
        url_id: id_of(url),
        url: url.to_owned(),
        host,
        kind: CrawlUrlKind::Page,
        depth: 1,
        priority: 11,
        chain: 0,
        path_key: url.contains('?').then_some(7),
        modified_at: None,
        is_seed: false,
    }
}

pub fn new_crawl(name: &str) -> Crawl {
    Crawl::new(CrawlId(Uuid::new_v4()), name.to_owned(), "{}".to_owned(), 1_000, NOW)
}

pub async fn start(db: &Database, name: &str, seeds: &[&str]) -> Crawl {
    let seeds = seeds.iter().map(|url| NewCrawlUrl { is_seed: true, ..link(url) }).collect();
    db.start_crawl(new_crawl(name), seeds, LIMITS, NOW, None).await.unwrap()
}

/// Queues URLs from the start of the frontier. Returns their number.
async fn requeue(db: &Database, crawl: &Crawl, limit: i64, now: Timestamp) -> usize {
    db.requeue_crawl(crawl.crawl_id, None, limit, now).await.unwrap().0
}

async fn claim(db: &Database, owner: &str, now: Timestamp) -> Option<CrawlHost> {
    let host = db.list_due_crawl_hosts(None, now, 10).await.unwrap().into_iter().next()?;
    db.claim_crawl_host(host, owner.to_owned(), now, now + Duration::from_millis(10)).await.unwrap()
}

async fn due(db: &Database, host: &str) -> Vec<CrawlUrl> {
    let due = db.next_crawl_urls(host.to_owned(), None, at(1_000), 100).await.unwrap();
    due.into_iter().flat_map(|due| due.urls).collect()
}

fn visit(url: &CrawlUrl, state: CrawlUrlState, change: PageChange, links: &[&str]) -> CrawlVisit {
    let url = CrawlUrl { state, queued: false, next_fetch_at: None, fetched_at: Some(NOW), ..url.clone() };
    let host = HostVisit { next_request_at: at(5), response_millis: 3, failures: 0, lease_expires_at: at(20) };
    CrawlVisit {
        settings: None,
        url,
        change,
        canonical: None,
        next_if_unchanged: NextVisit::default(),
        links: links.iter().map(|url| link(url)).collect(),
        skipped: vec![SkippedLinks { reason: "nofollow".to_owned(), count: 2, example: "https://a/x".to_owned() }],
        host,
    }
}

async fn record(db: &Database, visit: CrawlVisit, owner: &str) -> Recorded {
    db.record_crawl_visit(visit, owner.to_owned(), LIMITS, NOW).await.unwrap()
}

async fn hosts_are_leased_to_one_owner(db: Database) {
    assert!(claim(&db, "a", NOW).await.is_none());
    start(&db, "one", &["https://a/1", "https://b/1"]).await;
    let first = claim(&db, "a", NOW).await.unwrap();
    let second = claim(&db, "b", NOW).await.unwrap();
    assert_ne!(first.host, second.host);
    assert!(claim(&db, "c", at(9)).await.is_none());
    let extend =
        async |host: &str| db.extend_crawl_leases("a".to_owned(), vec![host.to_owned()], at(30)).await.unwrap();
    assert_eq!((extend(&first.host).await, extend(&second.host).await, extend("https://c").await), (1, 0, 0));
    assert_eq!(claim(&db, "c", at(10)).await.unwrap().host, second.host, "expired");
    db.release_crawl_host(first.host.clone(), "b".to_owned(), None).await.unwrap();
    assert!(claim(&db, "d", at(15)).await.is_none(), "released by its owner only");
    db.release_crawl_host(first.host.clone(), "a".to_owned(), None).await.unwrap();
    assert_eq!(claim(&db, "d", at(15)).await.unwrap().host, first.host);
    assert_eq!(db.list_crawl_owners().await.unwrap().len(), 2);
    assert_eq!(db.release_crawl_owner("d".to_owned()).await.unwrap(), 1);
    db.set_crawl_status("one".to_owned(), CrawlStatus::Stopped, None).await.unwrap().unwrap();
    assert!(claim(&db, "e", at(100)).await.is_none(), "stopped");
}

async fn visit_is_recorded_with_its_page_links_and_counters(db: Database) {
    let crawl = start(&db, "one", &["https://a/1"]).await;
    claim(&db, "a", NOW).await.unwrap();
    let url = due(&db, "a").await.remove(0);
    let new = page("https://a/1", "some text");
    let change = PageChange::Save(Box::new(new.clone()));
    let recorded = record(&db, visit(&url, CrawlUrlState::Listed, change, &["https://a/2", "https://a/1"]), "a").await;
    assert_eq!(recorded, Recorded::Done { state: CrawlUrlState::Listed, reason: None, is_running: true });
    let stored = db.find_crawl("one".to_owned()).await.unwrap().unwrap();
    assert_eq!((stored.urls, stored.queued, stored.pages, stored.finished_at), (2, 1, 1, None));
    assert_eq!(db.count_outbox(IndexName::Web).await.unwrap(), 1);
    assert!(db.find_web_page(new.document.doc_id).await.unwrap());
    let counts = db.list_crawl_counts(crawl.crawl_id).await.unwrap();
    let counts: Vec<_> = counts.iter().map(|count| (count.kind.as_str(), count.reason.as_str(), count.count)).collect();
    assert_eq!(counts, [("link", "nofollow", 2), ("listed", "", 1), ("new", "", 1)]);
    let url = due(&db, "a").await.remove(0);
    record(&db, visit(&url, CrawlUrlState::Failed, PageChange::Keep, &[]), "a").await;
    let stored = db.find_crawl("one".to_owned()).await.unwrap().unwrap();
    assert_eq!((stored.queued, stored.pages, stored.finished_at), (0, 1, Some(NOW)));
    db.release_crawl_host("a".to_owned(), "a".to_owned(), None).await.unwrap();
    assert!(claim(&db, "a", at(100)).await.is_none(), "nothing is due");
}

async fn visit_without_the_lease_stores_nothing(db: Database) {
    let crawl = start(&db, "one", &["https://a/1"]).await;
    claim(&db, "a", NOW).await.unwrap();
    let url = due(&db, "a").await.remove(0);
    let change = || PageChange::Save(Box::new(page("https://a/1", "some text")));
    assert_eq!(record(&db, visit(&url, CrawlUrlState::Listed, change(), &[]), "b").await, Recorded::Lost);
    claim(&db, "b", at(10)).await.unwrap();
    assert_eq!(record(&db, visit(&url, CrawlUrlState::Listed, change(), &[]), "a").await, Recorded::Lost);
    assert_eq!(db.count_outbox(IndexName::Web).await.unwrap(), 0);
    assert_eq!(db.find_crawl("one".to_owned()).await.unwrap().unwrap().queued, 1);
    assert!(db.delete_crawl(crawl.crawl_id, false, 10, NOW, None).await.is_ok_and(|gone| !gone));
    assert!(db.delete_crawl(crawl.crawl_id, false, 10, NOW, None).await.unwrap());
    assert_eq!(record(&db, visit(&url, CrawlUrlState::Listed, change(), &[]), "b").await, Recorded::Lost);
}

async fn visit_under_former_settings_stores_only_the_visit_to_the_host(db: Database) {
    start(&db, "one", &["https://a/1"]).await;
    claim(&db, "a", NOW).await.unwrap();
    let url = due(&db, "a").await.remove(0);
    let settings = "{\"depth\":2}".to_owned();
    let again = Crawl { settings: settings.clone(), ..new_crawl("one") };
    db.start_crawl(again, Vec::new(), LIMITS, at(1), None).await.unwrap();
    let under = async |settings: Option<String>| {
        let change = PageChange::Save(Box::new(page("https://a/1", "some text")));
        let mut read = visit(&url, CrawlUrlState::Listed, change, &["https://a/2"]);
        (read.settings, read.url.etag) = (settings, Some("etag".to_owned()));
        record(&db, read, "a").await
    };
    assert_eq!(under(Some("{}".to_owned())).await, Recorded::Outdated);
    assert_eq!(due(&db, "a").await, std::slice::from_ref(&url), "it is still due");
    assert_eq!(db.count_outbox(IndexName::Web).await.unwrap(), 0);
    assert_eq!(db.number("response_millis", "crawl_hosts").await, 3);
    let done = Recorded::Done { state: CrawlUrlState::Listed, reason: None, is_running: true };
    assert_eq!(under(Some(settings)).await, done);
    db.refresh_crawled_page(url.url_id, at(2)).await.unwrap();
    assert_eq!(under(None).await, done, "holds under any");
}

async fn page_that_is_skipped_for_the_same_reason_has_not_changed(db: Database) {
    start(&db, "one", &["https://a/1"]).await;
    claim(&db, "a", NOW).await.unwrap();
    let skipped = async |text: &str, canonical: Option<&str>, changes: i32| {
        let url = due(&db, "a").await.into_iter().find(|row| row.url == "https://a/1").unwrap();
        let change = PageChange::Save(Box::new(page("https://a/1", text)));
        let mut read = visit(&url, CrawlUrlState::Listed, change, canonical.as_slice());
        (read.url.next_fetch_at, read.url.interval_seconds, read.url.changes) = (Some(at(100)), Some(1), changes);
        read.canonical = canonical.map(id_of);
        read.next_if_unchanged = NextVisit { at: Some(at(200)), interval_seconds: Some(2) };
        record(&db, read, "a").await;
        let row = due(&db, "a").await.into_iter().find(|row| row.url == "https://a/1").unwrap();
        (row.reason.unwrap(), row.next_fetch_at, row.interval_seconds, row.changes)
    };
    let changed = |reason: &str, changes: i32| (reason.to_owned(), Some(at(100)), Some(1), changes);
    let unchanged = |reason: &str, changes: i32| (reason.to_owned(), Some(at(200)), Some(2), changes);
    assert_eq!(skipped("text", Some("https://a/2"), 1).await, changed("canonical", 1));
    assert_eq!(skipped("text", Some("https://a/2"), 2).await, unchanged("canonical", 1));
    db.start_crawl(Crawl { page_limit: Some(0), ..new_crawl("one") }, Vec::new(), LIMITS, NOW, None).await.unwrap();
    assert_eq!(skipped("text", None, 2).await, changed("limit", 2));
    assert_eq!(skipped("other text", None, 3).await, unchanged("limit", 2));
}

async fn page_waits_for_its_canonical_page_until_that_is_given_up(db: Database) {
    let crawl = start(&db, "one", &["https://a/1"]).await;
    claim(&db, "o", NOW).await.unwrap();
    let read = async || {
        let url = due(&db, "a").await.remove(0);
        let change = PageChange::Save(Box::new(page("https://a/1", "some text")));
        let mut read = visit(&url, CrawlUrlState::Listed, change, &["https://b/1"]);
        read.url.reason = None;
        read.canonical = Some(id_of("https://b/1"));
        match record(&db, read, "o").await {
            Recorded::Done { state, reason, .. } => (state, reason),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(read().await, (CrawlUrlState::Skipped, Some("canonical".to_owned())));
    assert!(due(&db, "a").await.is_empty());
    // In the second round the canonical page has been tried before.
    for (visits, state) in [(0, "new"), (1, "failed")] {
        assert_eq!(db.count(&format!("crawl_urls WHERE visits = {visits} AND state = '{state}'")).await, 1);
        let outcome = (CrawlUrlState::Failed, "host_unreachable".to_owned());
        let given_up = db.settle_queued(crawl.crawl_id, Some("b".to_owned()), outcome, None, 10, NOW).await.unwrap();
        assert_eq!(given_up, 1);
        assert_eq!(read().await, (CrawlUrlState::Listed, None));
        db.execute("UPDATE crawl_urls SET visits = 1, fetched_at = 1 WHERE host = 'b'").await;
        db.start_crawl(new_crawl("one"), Vec::new(), LIMITS, at(50), None).await.unwrap();
        assert_eq!(requeue(&db, &crawl, 10, at(50)).await, 2);
        assert_eq!(read().await, (CrawlUrlState::Listed, None), "until the other one is listed");
        let refresh = async || db.refresh_crawled_page(id_of("https://a/1"), at(50)).await.unwrap();
        refresh().await;
        let mut unlisted = visit(&due(&db, "a").await.remove(0), CrawlUrlState::Skipped, PageChange::Remove, &[]);
        unlisted.url.reason = Some("noindex".to_owned());
        record(&db, unlisted, "o").await;
        refresh().await;
        assert_eq!(read().await, (CrawlUrlState::Skipped, Some("canonical".to_owned())));
    }
}

async fn all_pages_follow_the_outcome_of_their_canonical_page(db: Database) {
    const CANONICAL: &str = "https://b/1";
    const TARGET: &str = "https://b/2";
    let crawl = start(&db, "one", &["https://a/1", "https://a/2", "https://a/3", CANONICAL]).await;
    for host in ["a", "b"] {
        db.claim_crawl_host(host.to_owned(), "o".to_owned(), NOW, at(10)).await.unwrap().unwrap();
    }
    // Visits all pages that are due. Returns their number and that of the pages in the index.
    let read_pages = async |now: Timestamp| {
        let urls = due(&db, "a").await;
        for url in &urls {
            let mut new = page(&url.url, &url.url);
            // Content from before the removal would not come back.
            new.capture.captured_at = now;
            let mut read = visit(url, CrawlUrlState::Listed, PageChange::Save(Box::new(new)), &[CANONICAL]);
            (read.url.reason, read.canonical) = (None, Some(id_of(CANONICAL)));
            db.record_crawl_visit(read, "o".to_owned(), LIMITS, now).await.unwrap();
        }
        (urls.len(), db.count_web_pages().await.unwrap())
    };
    let visit_other = async |url: &str, state: CrawlUrlState, target: Option<&str>| {
        let url = due(&db, "b").await.into_iter().find(|due| due.url == url).unwrap();
        let mut read = visit(&url, state, PageChange::Keep, target.as_slice());
        (read.url.reason, read.url.target_id) = (None, target.map(id_of));
        record(&db, read, "o").await;
    };
    let next_round = async |now: Timestamp| {
        db.execute("UPDATE crawl_urls SET fetched_at = 1").await;
        db.start_crawl(new_crawl("one"), Vec::new(), LIMITS, now, None).await.unwrap();
        requeue(&db, &crawl, 10, now).await
    };
    let queued = async || db.find_crawl("one".to_owned()).await.unwrap().unwrap().queued;

    assert_eq!(read_pages(at(10)).await, (3, 0), "they wait for it");
    visit_other(CANONICAL, CrawlUrlState::Failed, None).await;
    assert_eq!(queued().await, 3);
    assert_eq!(read_pages(at(11)).await, (3, 3), "it cannot be read");

    assert_eq!(next_round(at(20)).await, 4);
    assert_eq!(read_pages(at(21)).await, (3, 3), "until it is listed");
    visit_other(CANONICAL, CrawlUrlState::Listed, None).await;
    assert_eq!(read_pages(at(22)).await, (3, 0));
    assert_eq!((read_pages(at(23)).await, queued().await), ((0, 0), 0));

    // Then it redirects, first to a page that cannot be read.
    assert_eq!(next_round(at(30)).await, 4);
    visit_other(CANONICAL, CrawlUrlState::Redirected, Some(TARGET)).await;
    assert_eq!(read_pages(at(31)).await, (3, 0), "they wait for the target");
    visit_other(TARGET, CrawlUrlState::Failed, None).await;
    assert_eq!(read_pages(at(32)).await, (3, 3));

    // A redirect that is visited after them leads them on, which takes no visit.
    assert_eq!(next_round(at(40)).await, 5);
    assert_eq!(read_pages(at(41)).await, (3, 3));
    visit_other(CANONICAL, CrawlUrlState::Redirected, Some(TARGET)).await;
    assert_eq!(read_pages(at(42)).await, (0, 3));
    visit_other(TARGET, CrawlUrlState::Listed, None).await;
    assert_eq!(read_pages(at(43)).await, (3, 0));

    assert_eq!(next_round(at(50)).await, 5);
    assert_eq!(read_pages(at(51)).await, (3, 0));
    visit_other(CANONICAL, CrawlUrlState::Redirected, Some(TARGET)).await;
    assert_eq!(read_pages(at(52)).await, (0, 0));
    visit_other(TARGET, CrawlUrlState::Failed, None).await;
    assert_eq!(read_pages(at(53)).await, (3, 3));
    assert_eq!(queued().await, 0);
}

async fn concurrent_claims_have_one_winner(db: Database) {
    start(&db, "one", &["https://a/1"]).await;
    let claims = (0..8).map(|number| {
        let store = db.store.clone();
        tokio::spawn(async move {
            store.claim_crawl_host("a".to_owned(), number.to_string(), NOW, at(10)).await.unwrap().is_some()
        })
    });
    let mut winners = 0;
    for claim in claims.collect::<Vec<_>>() {
        winners += usize::from(claim.await.unwrap());
    }
    assert_eq!(winners, 1);
}

async fn first_visits_and_visits_again_alternate(db: Database) {
    let crawl = start(&db, "one", &["https://a/again/0"]).await;
    let add = async |prefix: &str, count: i32| {
        let place = |number: i32| NewCrawlUrl { priority: 20 + number, ..link(&format!("{prefix}{number}")) };
        let links = (1..count).map(place);
        db.add_crawl_urls(crawl.crawl_id, links.collect(), Vec::new(), LIMITS, NOW).await.unwrap();
    };
    add("https://a/again/", 10).await;
    // Times far apart from the order of the links.
    db.execute(&format!("UPDATE crawl_urls SET next_fetch_at = {} - priority", at(100).as_millis())).await;
    let next = async |limit: i64, now: Timestamp| {
        let due = db.next_crawl_urls("a".to_owned(), None, now, limit).await.unwrap();
        due.into_iter().flat_map(|due| due.urls).map(|url| url.url["https://a/".len()..].to_owned()).collect::<Vec<_>>()
    };
    assert!(next(4, at(60)).await.is_empty(), "not yet");
    assert_eq!(next(3, at(100)).await, ["again/9", "again/8", "again/7"]);
    add("https://a/new/", 10).await;
    assert_eq!(next(4, at(100)).await, ["again/9", "new/1", "again/8", "new/2"]);
    assert_eq!(next(3, at(60)).await, ["new/1", "new/2", "new/3"]);
    let all = next(100, at(100)).await;
    assert_eq!((all.len(), all[18].as_str()), (19, "again/0"), "{all:?}");
}

async fn host_that_was_visited_meanwhile_is_not_claimed(db: Database) {
    start(&db, "one", &["https://a/1", "https://a/2"]).await;
    claim(&db, "a", NOW).await.unwrap();
    let url = due(&db, "a").await.remove(0);
    record(&db, visit(&url, CrawlUrlState::Failed, PageChange::Keep, &[]), "a").await;
    db.release_crawl_host("a".to_owned(), "a".to_owned(), None).await.unwrap();
    let claim_at = async |now: Timestamp| {
        db.claim_crawl_host("a".to_owned(), "b".to_owned(), now, now + Duration::from_millis(10)).await.unwrap()
    };
    assert!(claim_at(at(4)).await.is_none(), "its pause lasts");
    assert!(claim_at(at(5)).await.is_some());
    db.release_crawl_host("a".to_owned(), "b".to_owned(), Some(at(9))).await.unwrap();
    assert!(claim_at(at(8)).await.is_none(), "it rests");
    assert!(claim_at(at(9)).await.is_some());
}

async fn next_round_queues_every_url_once(db: Database) {
    let crawl = start(&db, "one", &["https://a/1", "https://b/1"]).await;
    for host in ["a", "b"] {
        db.claim_crawl_host(host.to_owned(), "o".to_owned(), NOW, at(10)).await.unwrap().unwrap();
        let url = due(&db, host).await.remove(0);
        record(&db, visit(&url, CrawlUrlState::Failed, PageChange::Keep, &[]), "o").await;
    }
    assert_eq!(requeue(&db, &crawl, 10, NOW).await, 0, "the round has just ended");
    let again = Crawl { crawl_id: CrawlId(Uuid::new_v4()), ..new_crawl("one") };
    let started = db.start_crawl(again, vec![], LIMITS, at(50), None).await.unwrap();
    assert_eq!((started.crawl_id, started.started_at), (crawl.crawl_id, at(50)));
    assert_eq!(requeue(&db, &crawl, 1, at(50)).await, 1);
    assert_eq!(requeue(&db, &crawl, 10, at(50)).await, 1);
    assert_eq!(requeue(&db, &crawl, 10, at(50)).await, 0);
    let stored = db.find_crawl("one".to_owned()).await.unwrap().unwrap();
    assert_eq!((stored.urls, stored.queued), (2, 2));
    let settled = (CrawlUrlState::Failed, "host_unreachable".to_owned());
    let next_at = Some(at(900));
    let given_up = db.settle_queued(crawl.crawl_id, Some("a".to_owned()), settled, next_at, 10, at(50)).await.unwrap();
    assert_eq!(given_up, 1);
    let stored = db.find_crawl("one".to_owned()).await.unwrap().unwrap();
    assert_eq!((stored.urls, stored.queued), (2, 1));
    let url = due(&db, "a").await.remove(0);
    assert_eq!((url.state, url.reason, url.next_fetch_at), (CrawlUrlState::Failed, None, next_at), "as it was");
    let counts = db.list_crawl_counts(crawl.crawl_id).await.unwrap();
    assert_eq!(counts.iter().find(|count| count.kind == "failed").map(|count| count.count), Some(2));
}

async fn next_round_passes_the_frontier_once(db: Database) {
    let urls = ["https://a/1", "https://a/2", "https://b/1", "https://b/2", "https://c/1"];
    let mut ids = urls.map(id_of);
    ids.sort_unstable();
    let crawl = start(&db, "one", &urls).await;
    let visit_all = async || {
        db.execute("UPDATE crawl_urls SET queued = FALSE, fetched_at = 1").await;
        db.execute("UPDATE crawls SET queued = 0").await;
    };
    visit_all().await;
    db.start_crawl(new_crawl("one"), vec![], LIMITS, at(50), None).await.unwrap();
    let mut after = None;
    for expected in [(2, Some(ids[1])), (2, Some(ids[3])), (1, None)] {
        let queued = db.requeue_crawl(crawl.crawl_id, after, 2, at(50)).await.unwrap();
        assert_eq!(queued, expected);
        after = queued.1;
    }
    visit_all().await;
    assert_eq!(db.requeue_crawl(crawl.crawl_id, Some(ids[2]), 2, at(50)).await.unwrap(), (2, Some(ids[4])));
    assert_eq!(db.requeue_crawl(crawl.crawl_id, Some(ids[4]), 2, at(50)).await.unwrap(), (0, None));
    assert_eq!(db.count("crawl_urls WHERE queued").await, 2);
}

async fn unfinished_round_begins_again_with_other_settings_or_more_room(db: Database) {
    let crawl = start(&db, "one", &["https://a/1", "https://b/1"]).await;
    let with = async |settings: &str, url_limit: i64, now: Timestamp| {
        let again = Crawl { settings: settings.to_owned(), url_limit, ..new_crawl("one") };
        let started = db.start_crawl(again, vec![], LIMITS, now, None).await.unwrap();
        (started.started_at, requeue(&db, &crawl, 10, now).await)
    };
    claim(&db, "o", NOW).await.unwrap();
    let url = due(&db, "a").await.remove(0);
    let mut visited = visit(&url, CrawlUrlState::Listed, PageChange::Keep, &[]);
    visited.url.etag = Some("etag".to_owned());
    record(&db, visited, "o").await;
    let is_unconditional = async || db.count("crawl_urls WHERE etag IS NULL").await == 2;
    assert_eq!(with("{}", 1_000, at(10)).await, (NOW, 0), "it goes on");
    assert_eq!(with("{}", 2_000, at(11)).await, (NOW, 0), "the frontier was not full");
    assert!(!is_unconditional().await);
    assert_eq!(with("{\"depth\":2}", 2_000, at(12)).await, (at(12), 1));
    assert!(is_unconditional().await);
    db.execute("UPDATE crawl_urls SET etag = 'etag'").await;
    assert_eq!(with("{\"depth\":2}", 2, at(13)).await, (at(12), 0), "a lower limit");
    assert_eq!(with("{\"depth\":2}", 3, at(14)).await.0, at(14));
    assert!(is_unconditional().await);
}

async fn unfinished_round_begins_again_if_more_pages_may_be_listed(db: Database) {
    let with_limit = async |page_limit: Option<i64>, seeds: &[&str], now: Timestamp| {
        let seeds = seeds.iter().map(|url| NewCrawlUrl { is_seed: true, ..link(url) }).collect();
        let crawl = Crawl { page_limit, ..new_crawl("one") };
        db.start_crawl(crawl, seeds, LIMITS, now, None).await.unwrap()
    };
    let crawl = with_limit(Some(1), &["https://a/1", "https://a/2", "https://a/3"], NOW).await;
    claim(&db, "a", NOW).await.unwrap();
    let url = due(&db, "a").await.remove(0);
    let change = PageChange::Save(Box::new(page(&url.url, "some text")));
    record(&db, visit(&url, CrawlUrlState::Listed, change, &[]), "a").await;
    assert_eq!(db.refresh_crawled_page(url.url_id, NOW).await.unwrap(), 1);
    let settle = async |now: Timestamp| {
        let outcome = (CrawlUrlState::Skipped, "limit".to_owned());
        db.settle_queued(crawl.crawl_id, None, outcome, None, 10, now).await.unwrap()
    };
    let requeue = async |now: Timestamp| requeue(&db, &crawl, 10, now).await;
    assert_eq!(settle(NOW).await, 2);
    for page_limit in [Some(0), Some(1)] {
        assert_eq!(with_limit(page_limit, &[], at(40)).await.started_at, NOW, "it goes on");
        assert_eq!(requeue(at(40)).await, 0);
    }
    assert_eq!(with_limit(Some(3), &[], at(50)).await.started_at, at(50));
    assert_eq!(requeue(at(50)).await, 2);
    assert_eq!(settle(at(51)).await, 0, "it is not full any more");
    assert_eq!(with_limit(None, &[], at(60)).await.started_at, at(50), "it was not full");
}

async fn urls_settled_without_a_visit_have_their_turn_in_the_next_round(db: Database) {
    let crawl = start(&db, "one", &["https://a/1", "https://a/2"]).await;
    let settle = async |now: Timestamp| {
        let outcome = (CrawlUrlState::Failed, "host_unreachable".to_owned());
        db.settle_queued(crawl.crawl_id, Some("a".to_owned()), outcome, None, 10, now).await.unwrap()
    };
    let counts = async || {
        let counts = db.list_crawl_counts(crawl.crawl_id).await.unwrap();
        counts.into_iter().map(|count| (count.kind, count.reason, count.count)).collect::<Vec<_>>()
    };
    let (failed, unreachable) = ("failed".to_owned(), "host_unreachable".to_owned());
    assert_eq!(settle(at(5)).await, 2);
    assert_eq!(counts().await, [(failed.clone(), unreachable.clone(), 2)]);
    assert_eq!(requeue(&db, &crawl, 10, at(5)).await, 0, "settled in this round");
    let seed = NewCrawlUrl { is_seed: true, ..link("https://a/1") };
    let started = db.start_crawl(new_crawl("one"), vec![seed], LIMITS, at(50), None).await.unwrap();
    assert_eq!((started.crawl_id, started.queued), (crawl.crawl_id, 1), "the seed");
    assert_eq!(requeue(&db, &crawl, 10, at(50)).await, 1);
    assert_eq!(counts().await, [("new".to_owned(), String::new(), 2)]);
    assert_eq!(due(&db, "a").await.len(), 2);
    // The clock was set back to before the start of the round.
    assert_eq!(settle(at(40)).await, 2);
    assert_eq!(counts().await, [(failed, unreachable, 2)]);
    assert_eq!(requeue(&db, &crawl, 10, at(50)).await, 0);
    assert_eq!(db.find_crawl("one".to_owned()).await.unwrap().unwrap().queued, 0);
}

async fn urls_of_a_host_that_was_given_up_are_visited_at_the_next_interval(db: Database) {
    let crawl = start(&db, "one", &["https://a/1", "https://a/2", "https://a/3"]).await;
    let settle = async || {
        let outcome = (CrawlUrlState::Failed, "host_unreachable".to_owned());
        db.settle_queued(crawl.crawl_id, Some("a".to_owned()), outcome, Some(at(900)), 2, at(5)).await.unwrap()
    };
    assert_eq!((settle().await, settle().await, settle().await), (2, 1, 0), "each once");
    let stored = db.find_crawl("one".to_owned()).await.unwrap().unwrap();
    assert_eq!((stored.queued, stored.finished_at), (0, Some(at(5))));
    assert!(claim(&db, "a", at(899)).await.is_none());
    assert!(claim(&db, "a", at(900)).await.is_some());
    let due = due(&db, "a").await;
    let is_given_up = |url: &CrawlUrl| !url.queued && url.reason.as_deref() == Some("host_unreachable");
    assert!(due.len() == 3 && due.iter().all(is_given_up), "{due:?}");
}

async fn modified_page_is_visited_at_the_shortest_interval(db: Database) {
    let limits = CrawlLimits { shortest_interval: Duration::from_millis(100), ..LIMITS };
    let crawl = start(&db, "one", &["https://a/1", "https://b/1"]).await;
    for host in ["a", "b"] {
        db.claim_crawl_host(host.to_owned(), "o".to_owned(), NOW, at(10)).await.unwrap().unwrap();
        let url = due(&db, host).await.remove(0);
        let mut read = visit(&url, CrawlUrlState::Listed, PageChange::Keep, &[]);
        read.url.next_fetch_at = Some(at(900));
        record(&db, read, "o").await;
    }
    let next = async |modified_at: Timestamp, now: Timestamp| {
        let links =
            ["https://a/1", "https://b/1"].map(|url| NewCrawlUrl { modified_at: Some(modified_at), ..link(url) });
        db.add_crawl_urls(crawl.crawl_id, links.to_vec(), Vec::new(), limits, now).await.unwrap();
        let queued = db.find_crawl("one".to_owned()).await.unwrap().unwrap().queued;
        (queued, due(&db, "a").await.remove(0).next_fetch_at, due(&db, "b").await.remove(0).next_fetch_at)
    };
    let planned = |at: Timestamp| (0, Some(at), Some(at));
    assert_eq!(next(NOW, at(30)).await, planned(at(900)), "not since the visit");
    assert_eq!(next(at(40), at(30)).await, planned(at(900)), "in the future");
    for time in [40, 60] {
        assert_eq!(next(at(30), at(time)).await, planned(at(100)));
    }
    let due_hosts = async |now: Timestamp| db.list_due_crawl_hosts(None, now, 10).await.unwrap().len();
    assert_eq!((due_hosts(at(99)).await, due_hosts(at(100)).await), (0, 2));
    assert_eq!(next(at(30), at(100)).await.0, 2);
}

async fn known_url_gets_the_place_of_a_seed(db: Database) {
    let crawl = start(&db, "one", &["https://a/1"]).await;
    let far = NewCrawlUrl { depth: 3, priority: 13, chain: 2, ..link("https://a/2?n=1") };
    let map = NewCrawlUrl { depth: 3, priority: 0, kind: CrawlUrlKind::Sitemap, ..link("https://a/map") };
    db.add_crawl_urls(crawl.crawl_id, vec![far, map], Vec::new(), LIMITS, NOW).await.unwrap();
    let seeds = [("https://a/1", 2), ("https://a/2?n=1", 0), ("https://a/map", 0)].map(|(url, depth)| {
        let seed = link(url);
        NewCrawlUrl { depth, priority: 10, path_key: None, is_seed: true, ..seed }
    });
    let started = db.start_crawl(new_crawl("one"), seeds.to_vec(), LIMITS, at(5), None).await.unwrap();
    assert_eq!((started.urls, started.queued), (3, 3), "they wait for their visit already");
    let place = async |url: &str| {
        let row = due(&db, "a").await.into_iter().find(|row| row.url == url).unwrap();
        (row.depth, row.priority, row.chain, row.path_key)
    };
    assert_eq!(place("https://a/1").await, (1, 11, 0, None), "is nearer");
    assert_eq!(place("https://a/2?n=1").await, (0, 10, 0, None));
    assert_eq!(place("https://a/map").await, (0, 0, 0, None), "sitemaps come first");
}

async fn known_page_that_is_nearer_is_read_again_if_the_depth_is_bounded(db: Database) {
    const URL: &str = "https://a/2?n=1";
    let bounded = CrawlLimits { is_depth_bounded: true, ..LIMITS };
    let crawl = start(&db, "one", &["https://a/1"]).await;
    claim(&db, "o", NOW).await.unwrap();
    let load = async || due(&db, "a").await.into_iter().find(|row| row.url == URL).unwrap();
    let add = async |depth: i32, limits: CrawlLimits| {
        let link = NewCrawlUrl { depth, priority: 10 + depth, chain: depth, ..link(URL) };
        db.add_crawl_urls(crawl.crawl_id, vec![link], Vec::new(), limits, NOW).await.unwrap();
    };
    let read = async |url: CrawlUrl, limits: CrawlLimits| {
        let mut read = visit(&url, CrawlUrlState::Listed, PageChange::Confirm, &[]);
        (read.url.etag, read.url.next_fetch_at) = (Some("etag".to_owned()), Some(at(900)));
        db.record_crawl_visit(read, "o".to_owned(), limits, NOW).await.unwrap();
    };
    let assert_row = async |depth: i32, (queued, has_etag): (bool, bool), next: Timestamp| {
        let row = load().await;
        let place = (row.depth, row.priority, row.chain, row.path_key);
        assert_eq!(place, (depth, 10 + depth, depth, Some(7)));
        assert_eq!((row.queued, row.etag.is_some(), row.next_fetch_at), (queued, has_etag, Some(next)), "{depth}");
    };
    let in_turn = |depth: i64| Timestamp::from_millis(10 + depth);
    add(6, bounded).await;
    let loaded = load().await;
    add(5, bounded).await;
    read(loaded, bounded).await;
    assert_row(5, (true, false), in_turn(5)).await;
    read(load().await, bounded).await;
    assert_row(5, (false, true), at(900)).await;
    for depth in [5, 7] {
        add(depth, bounded).await;
        assert_row(5, (false, true), at(900)).await;
    }
    add(4, bounded).await;
    assert_row(4, (true, false), in_turn(4)).await;
    read(load().await, bounded).await;
    let every = CrawlLimits { shortest_interval: Duration::from_millis(100), ..bounded };
    add(3, every).await;
    assert_row(3, (false, false), at(100)).await;
    let loaded = load().await;
    add(2, every).await;
    read(loaded, every).await;
    assert_row(2, (false, false), at(100)).await;
    read(load().await, LIMITS).await;
    add(1, LIMITS).await;
    assert_row(1, (false, true), at(900)).await;
}

async fn removed_page_comes_back_in_a_new_crawl_only(db: Database) {
    let crawl = start(&db, "one", &["https://a/1"]).await;
    claim(&db, "a", NOW).await.unwrap();
    let url = due(&db, "a").await.remove(0);
    let change = PageChange::Save(Box::new(page("https://a/1", "some text")));
    record(&db, visit(&url, CrawlUrlState::Listed, change, &[]), "a").await;
    assert_eq!(db.remove_web_pages(vec![url.url_id], at(20), None).await.unwrap(), 1);
    let modified = NewCrawlUrl { modified_at: Some(at(30)), ..link("https://a/1") };
    db.add_crawl_urls(crawl.crawl_id, vec![modified], Vec::new(), LIMITS, at(40)).await.unwrap();
    let seed = NewCrawlUrl { is_seed: true, ..link("https://a/1") };
    let started = db.start_crawl(new_crawl("one"), vec![seed], LIMITS, at(50), None).await.unwrap();
    assert_eq!((started.crawl_id, started.queued), (crawl.crawl_id, 0));
    assert_eq!(requeue(&db, &crawl, 10, at(50)).await, 0);
    assert_eq!(start(&db, "two", &["https://a/1"]).await.queued, 1);
}

async fn removed_sitemap_is_no_page(db: Database) {
    start(&db, "one", &["https://a/1"]).await;
    claim(&db, "a", NOW).await.unwrap();
    let url = due(&db, "a").await.remove(0);
    let sitemap = NewCrawlUrl { kind: CrawlUrlKind::Sitemap, ..link("https://a/map") };
    let mut listed =
        visit(&url, CrawlUrlState::Listed, PageChange::Save(Box::new(page("https://a/1", "some text"))), &[]);
    listed.links = vec![sitemap];
    record(&db, listed, "a").await;
    let url = due(&db, "a").await.remove(0);
    record(&db, visit(&url, CrawlUrlState::Listed, PageChange::Keep, &[]), "a").await;
    db.remove_web_pages(vec![url.url_id], at(20), None).await.unwrap();
    assert_eq!(db.find_crawl("one".to_owned()).await.unwrap().unwrap().pages, 1);
}

async fn crawl_that_is_removed_in_part_counts_what_is_left(db: Database) {
    let crawl = start(&db, "one", &["https://a/1"]).await;
    claim(&db, "a", NOW).await.unwrap();
    let url = due(&db, "a").await.remove(0);
    let change = PageChange::Save(Box::new(page("https://a/1", "some text")));
    record(&db, visit(&url, CrawlUrlState::Listed, change, &["https://a/2", "https://a/3"]), "a").await;
    for left in [2, 1, 0] {
        assert!(!db.delete_crawl(crawl.crawl_id, true, 1, at(30), None).await.unwrap());
        let stored = db.find_crawl("one".to_owned()).await.unwrap().unwrap();
        let has_page = db.find_web_page(url.url_id).await.unwrap();
        assert_eq!((stored.urls, stored.pages), (left, i64::from(has_page)));
        assert_eq!(stored.queued, due(&db, "a").await.len() as i64);
        let counts = db.list_crawl_counts(crawl.crawl_id).await.unwrap();
        let of_urls: i64 = counts.iter().filter(|count| count.kind != "link").map(|count| count.count).sum();
        assert_eq!(of_urls, left);
    }
    assert!(db.delete_crawl(crawl.crawl_id, true, 1, at(30), None).await.unwrap());
}

async fn crawl_that_is_removed_in_part_begins_again(db: Database) {
    let crawl = start(&db, "one", &["https://a/1", "https://a/2", "https://a/3"]).await;
    db.execute("UPDATE crawl_urls SET etag = 'etag'").await;
    assert!(!db.delete_crawl(crawl.crawl_id, false, 1, at(30), None).await.unwrap());
    db.add_crawl_urls(crawl.crawl_id, vec![link("https://a/4")], Vec::new(), LIMITS, at(31)).await.unwrap();
    assert_eq!(db.count("crawl_urls").await, 2, "no visit fills it meanwhile");
    let again = db.start_crawl(new_crawl("one"), Vec::new(), LIMITS, at(40), None).await.unwrap();
    assert_eq!((again.crawl_id, again.started_at, again.url_limit), (crawl.crawl_id, at(40), 1_000));
    assert_eq!(db.count("crawl_urls WHERE etag IS NULL").await, 2);
}

async fn parameters_and_frontier_are_limited(db: Database) {
    let crawl = start(&db, "one", &["https://a/1"]).await;
    let links: Vec<NewCrawlUrl> = (0..5).map(|number| link(&format!("https://a/list?n={number}"))).collect();
    assert!(db.add_crawl_urls(crawl.crawl_id, links.clone(), Vec::new(), LIMITS, NOW).await.unwrap());
    assert!(db.add_crawl_urls(crawl.crawl_id, links, Vec::new(), LIMITS, NOW).await.unwrap());
    assert_eq!(db.find_crawl("one".to_owned()).await.unwrap().unwrap().urls, 4);
    let many = (0..2_000).map(|number| link(&format!("https://a/{number}"))).collect();
    db.add_crawl_urls(crawl.crawl_id, many, Vec::new(), LIMITS, NOW).await.unwrap();
    let stored = db.find_crawl("one".to_owned()).await.unwrap().unwrap();
    assert_eq!((stored.urls, stored.queued), (1_000, 1_000));
    let counts = db.list_crawl_counts(crawl.crawl_id).await.unwrap();
    let of = |reason: &str| counts.iter().find(|count| count.reason == reason).map(|count| count.count);
    assert_eq!((of("too_many_parameters"), of("frontier_full")), (Some(4), Some(1_003)));
    let outcome = (CrawlUrlState::Skipped, "limit".to_owned());
    assert_eq!(db.settle_queued(crawl.crawl_id, None, outcome.clone(), None, 600, NOW).await.unwrap(), 0, "no limit");
    let full = Crawl { page_limit: Some(0), ..new_crawl("one") };
    db.start_crawl(full, Vec::new(), LIMITS, NOW, None).await.unwrap();
    assert_eq!(db.settle_queued(crawl.crawl_id, None, outcome.clone(), None, 600, NOW).await.unwrap(), 600);
    assert_eq!(db.settle_queued(crawl.crawl_id, None, outcome, None, 600, NOW).await.unwrap(), 400);
    assert!(claim(&db, "a", NOW).await.is_none());
}

async fn pages_of_two_crawls_stay_until_both_are_gone(db: Database) {
    for name in ["one", "two"] {
        start(&db, name, &["https://a/1"]).await;
    }
    db.claim_crawl_host("a".to_owned(), "o".to_owned(), NOW, at(10)).await.unwrap().unwrap();
    for url in due(&db, "a").await {
        let change = PageChange::Save(Box::new(page("https://a/1", "some text")));
        record(&db, visit(&url, CrawlUrlState::Listed, change, &[]), "o").await;
    }
    for (name, left) in [("one", true), ("two", false)] {
        let crawl = db.find_crawl(name.to_owned()).await.unwrap().unwrap();
        while !db.delete_crawl(crawl.crawl_id, true, 10, at(60), None).await.unwrap() {}
        assert_eq!(db.find_web_page(id_of("https://a/1")).await.unwrap(), left, "{name}");
    }
}

async fn page_that_no_crawl_lists_is_removed_if_its_site_says_so(db: Database) {
    let cases = [
        (CrawlUrlState::Skipped, Some("noindex"), false),
        (CrawlUrlState::Skipped, Some("robots"), false),
        (CrawlUrlState::Skipped, Some("canonical"), false),
        (CrawlUrlState::Skipped, Some("moved_outside"), false),
        (CrawlUrlState::Gone, Some("http_410"), false),
        (CrawlUrlState::Redirected, None, false),
        (CrawlUrlState::Skipped, Some("redirect_outside"), true),
        (CrawlUrlState::Skipped, Some("limit"), true),
        (CrawlUrlState::Skipped, Some("same_content"), true),
        (CrawlUrlState::Skipped, Some("excluded"), true),
        (CrawlUrlState::Skipped, Some("no_text"), true),
    ];
    let urls: Vec<String> = (0..cases.len()).map(|number| format!("https://a/{number}")).collect();
    start(&db, "one", &urls.iter().map(String::as_str).collect::<Vec<_>>()).await;
    db.save_documents(urls.iter().map(|url| page(url, "imported")).collect(), NOW).await.unwrap();
    claim(&db, "o", NOW).await.unwrap();
    let due = due(&db, "a").await;
    assert_eq!(due.len(), cases.len());
    for (url, (state, reason, stays)) in due.iter().zip(cases) {
        let mut read = visit(url, state, PageChange::Remove, &[]);
        read.url.reason = reason.map(str::to_owned);
        assert!(matches!(record(&db, read, "o").await, Recorded::Done { .. }));
        assert_eq!(db.find_web_page(url.url_id).await.unwrap(), stays, "{state:?} {reason:?}");
    }
}

/// Starts two crawls of one page that list it, with these times of their next visits.
async fn list_in_two_crawls(db: &Database, next: [Option<Timestamp>; 2]) -> [Crawl; 2] {
    let crawls = [start(db, "one", &["https://a/1"]).await, start(db, "two", &["https://a/1"]).await];
    db.claim_crawl_host("a".to_owned(), "o".to_owned(), NOW, at(10)).await.unwrap().unwrap();
    for url in due(db, "a").await {
        let change = PageChange::Save(Box::new(page("https://a/1", "some text")));
        let mut read = visit(&url, CrawlUrlState::Listed, change, &[]);
        let is_first = url.crawl_id == crawls[0].crawl_id;
        read.url.next_fetch_at = if is_first { next[0] } else { next[1] };
        record(db, read, "o").await;
    }
    crawls
}

/// Visits the page of a crawl, which is due, with this outcome. Returns true if the page is still in the index.
async fn visit_of(db: &Database, crawl: &Crawl, reason: &str) -> bool {
    let url = due(db, "a").await.into_iter().find(|url| url.crawl_id == crawl.crawl_id).unwrap();
    let mut read = visit(&url, CrawlUrlState::Skipped, PageChange::Remove, &[]);
    (read.url.reason, read.url.next_fetch_at) = (Some(reason.to_owned()), Some(at(900)));
    record(db, read, "o").await;
    db.find_web_page(url.url_id).await.unwrap()
}

async fn page_of_an_ended_crawl_is_removed_if_its_site_says_so(db: Database) {
    let [_, second] = list_in_two_crawls(&db, [None, Some(at(900))]).await;
    assert!(visit_of(&db, &second, "excluded").await, "the first one lists it");
    assert!(!visit_of(&db, &second, "noindex").await);
}

async fn page_of_an_ended_crawl_makes_room_only_for_a_listed_page(db: Database) {
    let (page_url, canonical) = ("https://a/1", "https://a/2");
    let crawls = [start(&db, "one", &[page_url]).await, start(&db, "two", &[page_url]).await];
    db.claim_crawl_host("a".to_owned(), "o".to_owned(), NOW, at(10)).await.unwrap().unwrap();
    let read = async |crawl: &Crawl, address: &str, leads_to: Option<&str>| {
        let is_meant = |url: &CrawlUrl| url.crawl_id == crawl.crawl_id && url.url == address;
        let url = due(&db, "a").await.into_iter().find(is_meant).unwrap();
        let change = PageChange::Save(Box::new(page(address, address)));
        let links: Vec<&str> = leads_to.into_iter().collect();
        let mut read = visit(&url, CrawlUrlState::Listed, change, &links);
        read.canonical = leads_to.map(id_of);
        read.url.next_fetch_at = leads_to.map(|_| at(900));
        record(&db, read, "o").await;
        db.find_web_page(id_of(page_url)).await.unwrap()
    };
    assert!(read(&crawls[0], page_url, None).await);
    assert!(read(&crawls[1], page_url, Some(canonical)).await, "the other one may turn out to be none");
    assert!(read(&crawls[1], canonical, None).await);
    assert!(!read(&crawls[1], page_url, Some(canonical)).await);
}

async fn page_of_another_crawl_is_visited_at_once_if_its_site_withdraws_it(db: Database) {
    let [first, second] = list_in_two_crawls(&db, [Some(at(800)), Some(at(700))]).await;
    let next = async || {
        let urls = due(&db, "a").await;
        urls.into_iter().find(|url| url.crawl_id == first.crawl_id).and_then(|url| url.next_fetch_at)
    };
    let is_due = async || !db.list_due_crawl_hosts(None, at(600), 1).await.unwrap().is_empty();
    assert!(visit_of(&db, &second, "excluded").await);
    assert_eq!((next().await, is_due().await), (Some(at(800)), false), "the site does not say so");
    assert!(visit_of(&db, &second, "noindex").await, "the first one has not seen it");
    assert_eq!((next().await, is_due().await), (Some(NOW), true));
    // It lists the page for all that.
    db.execute(&format!("UPDATE crawl_urls SET next_fetch_at = {} WHERE state = 'listed'", at(800).as_millis())).await;
    assert!(visit_of(&db, &second, "noindex").await);
    assert_eq!(next().await, Some(at(800)), "the site says nothing new");
    assert!(!visit_of(&db, &first, "noindex").await);
}

async fn web_pages_are_listed_by_prefix(db: Database) {
    let urls = ["https://a/x/1", "https://a/x/2", "https://a/X/3", "https://a/y_%", "https://ab/x/1"];
    db.save_documents(urls.iter().map(|url| page(url, url)).collect(), NOW).await.unwrap();
    let list = async |prefix: &str| {
        let pages = db.list_web_pages(Some(prefix.to_owned()), None, 10).await.unwrap();
        let mut urls: Vec<String> = pages.into_iter().map(|page| page.url).collect();
        urls.sort();
        urls
    };
    assert_eq!(list("https://a/x/").await, urls[..2]);
    assert_eq!(list("https://a/y_%").await, urls[3..4]);
    assert_eq!(list("https://a/y__").await, [] as [&str; 0]);
    assert_eq!(db.count_web_pages().await.unwrap(), 5);
    let first = db.list_web_pages(None, None, 3).await.unwrap();
    let rest = db.list_web_pages(None, Some(first[2].doc_id), 10).await.unwrap();
    assert_eq!((first.len(), rest.len()), (3, 2));
    assert_eq!(db.remove_web_pages(vec![id_of(urls[0]), id_of("https://none/")], at(5), None).await.unwrap(), 1);
    assert_eq!(list("https://a/x/").await, urls[1..2]);
}
