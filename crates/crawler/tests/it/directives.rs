//! Directives of sites: canonical pages, noindex, nofollow, redirects, languages.

use std::time::Duration;

use crawler::{Address, Plan, Sitemaps};
use docstore::{CrawlLimits, NewCrawlUrl};
use model::{Clock, CrawlUrlKind, CrawlUrlState, DocId};
use test_support::crawl_site::{CrawlSite, generated};
use test_support::site::Page;
use uuid::Uuid;

use crate::polite::shortest_pause;
use crate::world::{World, plan};

/// Page of this number with elements in its head.
fn with_head(number: usize, head: &str, links: &[&str]) -> Page {
    let links: Vec<String> = links.iter().map(|link| (*link).to_owned()).collect();
    let page = generated(number, &links);
    let body = String::from_utf8(page.body.clone()).unwrap().replace("<title>", &format!("{head}<title>"));
    Page { body: body.into_bytes(), ..page }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn directives_of_pages_are_honoured() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/" => with_head(
            1,
            "<link rel=alternate hreflang=de href=/de>",
            &["/copy", "/noindex", "/nofollow", "/header", "/others", "/moved", "/refresh", "/away"],
        ),
        "/de" => generated(2, &[]),
        "/copy" => with_head(3, "<link rel=canonical href=/original>", &["/from-copy"]),
        "/original" => generated(3, &[]),
        "/from-copy" => generated(4, &[]),
        "/noindex" => with_head(5, "<meta name=robots content=noindex>", &["/from-noindex"]),
        "/from-noindex" => generated(6, &[]),
        "/nofollow" => with_head(7, "<meta name=testbot content=nofollow>", &["/hidden"]),
        "/header" => generated(8, &["/hidden".to_owned()]).with("X-Robots-Tag", "noindex, nofollow"),
        "/others" => generated(9, &[]).with("X-Robots-Tag", "otherbot: noindex"),
        "/moved" => Page::redirect("/target"),
        "/target" => generated(10, &[]),
        "/refresh" => {
            Page::html("<meta http-equiv=refresh content='0; url=/refreshed'><p>You are being sent on your way.</p>")
        }
        "/refreshed" => generated(11, &[]),
        "/away" => Page::redirect("http://127.0.0.9:8080/x"),
        _ => Page::status(404),
    });
    let crawl = world.run("site", plan(&[site.url("/")])).await;
    let listed = world.listed().await;
    let expected =
        ["/", "/de", "/from-copy", "/from-noindex", "/nofollow", "/original", "/others", "/refreshed", "/target"];
    assert_eq!(listed, expected, "{:?}", world.outcomes("site").await);
    assert_eq!(crawl.pages, 9);
    let outcomes = world.outcomes("site").await;
    for (reason, count) in [
        ("skipped/canonical", 1),
        ("skipped/noindex", 2),
        ("redirected", 2),
        ("skipped/redirect_outside", 1),
        ("link/nofollow", 2),
    ] {
        assert_eq!(outcomes.get(reason), Some(&count), "{reason}: {outcomes:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redirects_to_other_spellings_of_a_url_are_followed() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/robots.txt" => Page::of("text/plain", "User-agent: *\nCrawl-delay: 0.05\nDisallow: /*?utm_term"),
        "/" => generated(
            1,
            &["/tracked", "/~joe", "/both", "/cookie", "/endless", "/missing", "/hidden"].map(str::to_owned),
        ),
        "/tracked" => Page::redirect("/tracked?utm_source=x"),
        "/tracked?utm_source=x" => generated(2, &["next".to_owned()]),
        "/next" => generated(3, &[]),
        "/~joe" => Page::redirect("/%7ejoe"),
        "/%7ejoe" => generated(4, &[]),
        "/both" => Page::redirect("/b%6fth"),
        "/b%6fth" => Page::redirect("/b%6fth?utm_source=x"),
        "/b%6fth?utm_source=x" => generated(5, &[]),
        // Sets a cookie, which is not kept.
        "/cookie" => Page::redirect("/cookie?utm_source=x"),
        "/cookie?utm_source=x" => Page::redirect("/cookie"),
        "/missing" => Page::redirect("/missing?utm_source=x"),
        "/hidden" => Page::redirect("/hidden?utm_term=x"),
        path if path.starts_with("/endless") => {
            let separator = if path.contains('?') { '&' } else { '?' };
            Page::redirect(&format!("{path}{separator}utm_id=1"))
        }
        _ => Page::status(404),
    });
    let only_links = Plan { sitemaps: Sitemaps::Off, ..plan(&[site.url("/")]) };
    for is_known in [false, true] {
        world.run("site", only_links.clone()).await;
        let outcomes = world.outcomes("site").await;
        assert_eq!(world.listed().await, ["/", "/both", "/next", "/tracked", "/~joe"], "{outcomes:?}");
        for (reason, count) in [("failed/redirect_loop", 2), ("skipped/robots", 1), ("gone/http_404", 1)] {
            assert_eq!(outcomes.get(reason), Some(&count), "{reason}: {outcomes:?}");
        }
        let log = site.take_log();
        assert!(shortest_pause(&log[1..]) >= Duration::from_millis(50), "{log:?}");
        assert_eq!(log.iter().filter(|request| request.path.starts_with("/endless")).count(), 3);
        assert!(!log.iter().any(|request| request.path.contains("utm_term")));
        let spelled = log.iter().find(|request| request.path == "/tracked?utm_source=x").unwrap();
        assert_eq!(spelled.is_conditional(), is_known);
        world.clock.advance(Duration::from_secs(10));
    }
}

/// Russian for "page", in windows-1251 and as a URL spells it.
const PAGE: (&[u8], &str) = (b"\xf1\xf2\xf0\xe0\xed\xe8\xf6\xe0", "%D1%81%D1%82%D1%80%D0%B0%D0%BD%D0%B8%D1%86%D0%B0");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_are_read_in_the_encoding_that_the_page_declares() {
    let world = World::new().await;
    let (word, spelled) = PAGE;
    let site = CrawlSite::start("127.0.0.2", move |path| match path.strip_prefix('/') {
        Some("") => {
            let page = with_head(1, "<meta charset=windows-1251>", &["/WORD"]);
            let html = String::from_utf8(page.body).unwrap();
            let (before, after) = html.split_once("WORD").unwrap();
            Page::of("text/html", [before.as_bytes(), word, after.as_bytes()].concat())
        }
        Some(path) if path == spelled => generated(2, &[]),
        _ => Page::status(404),
    });
    world.run("site", Plan { sitemaps: Sitemaps::Off, ..plan(&[site.url("/")]) }).await;
    assert_eq!(site.paths(), ["/robots.txt".to_owned(), "/".to_owned(), format!("/{spelled}")]);
    assert_eq!(world.listed().await.len(), 2, "{:?}", world.outcomes("site").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn canonical_pages_that_lead_nowhere_lose_nothing() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/" => generated(1, &["/lost".to_owned(), "/back".to_owned(), "/one".to_owned()]),
        "/lost" => with_head(2, "<link rel=canonical href=/missing>", &[]),
        "/back" => with_head(3, "<link rel=canonical href=/forth>", &[]),
        "/forth" => Page::redirect("/back"),
        "/one" => with_head(4, "<link rel=canonical href=/two>", &[]),
        "/two" => with_head(4, "<link rel=canonical href=/one>", &[]),
        _ => Page::status(404),
    });
    world.run("site", plan(&[site.url("/")])).await;
    let listed = world.listed().await;
    assert!(["/", "/back", "/lost"].iter().all(|path| listed.contains(&(*path).to_owned())), "{listed:?}");
    assert_eq!(listed.iter().filter(|path| ["/one", "/two"].contains(&path.as_str())).count(), 1, "{listed:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_listed_while_their_canonical_page_cannot_be_read() {
    const PAGES: usize = 12;
    let world = World::new().await;
    let answer = |canonical: fn() -> Page| {
        move |path: &str| match path.strip_prefix("/page/") {
            Some(number) => {
                let mut page = with_head(number.parse().unwrap(), "<link rel=canonical href=/canonical>", &[]);
                page.headers.retain(|(name, _)| name != "ETag");
                page
            }
            None if path == "/" => {
                generated(100, &(0..PAGES).map(|number| format!("/page/{number}")).collect::<Vec<_>>())
            }
            None if path == "/canonical" => canonical(),
            None => Page::status(404),
        }
    };
    let site = CrawlSite::start("127.0.0.2", answer(|| Page::status(500)));
    let only_links = || Plan { sitemaps: Sitemaps::Off, ..plan(&[site.url("/")]) };
    world.run("site", only_links()).await;
    assert_eq!(world.listed().await.len(), PAGES + 1, "{:?}", world.outcomes("site").await);
    world.clock.advance(Duration::from_secs(10));
    world.start("site", only_links()).await;
    let instance = world.instance();
    test_support::until("the end of the round", async || {
        // The host is left alone after each failure.
        world.clock.advance(Duration::from_secs(1));
        assert_eq!(world.listed().await.len(), PAGES + 1, "{:?}", world.outcomes("site").await);
        (world.crawl("site").await.queued == 0).then_some(())
    })
    .await;
    instance.stop().await;
    site.change(answer(|| generated(101, &[])));
    world.clock.advance(Duration::from_secs(10));
    world.run("site", only_links()).await;
    assert_eq!(world.listed().await, ["/", "/canonical"], "{:?}", world.outcomes("site").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_listed_if_the_host_of_their_canonical_pages_is_gone() {
    const PAGES: usize = 12;
    let world = World::new().await;
    let gone = CrawlSite::start("127.0.0.5", |_| Page::status(404));
    gone.close();
    let base = gone.base.clone();
    let site = CrawlSite::start("127.0.0.2", move |path| match path.strip_prefix("/page/") {
        Some(number) => {
            let canonical = format!("<link rel=canonical href=\"{base}/page/{number}\">");
            with_head(number.parse().unwrap(), &canonical, &[])
        }
        None if path == "/" => {
            let links: Vec<String> = (0..PAGES).map(|number| format!("/page/{number}")).collect();
            generated(100, &links)
        }
        None => Page::status(404),
    });
    let seeds = plan(&[site.url("/"), gone.url("/")]);
    // The second round knows the canonical pages as failed: some were tried, others given up with the host.
    for round in 1..=2 {
        world.run("site", seeds.clone()).await;
        assert_eq!(world.listed().await.len(), PAGES + 1, "round {round}: {:?}", world.outcomes("site").await);
        world.clock.advance(Duration::from_secs(10));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_that_asks_not_to_be_indexed_leaves_the_index() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| if path == "/" { generated(1, &[]) } else { Page::status(404) });
    world.run("site", plan(&[site.url("/")])).await;
    assert_eq!(world.listed().await, ["/"]);
    site.change(|path| match path {
        "/" => generated(2, &[]).with("X-Robots-Tag", "noindex"),
        _ => Page::status(404),
    });
    world.clock.advance(Duration::from_secs(1));
    world.run("site", plan(&[site.url("/")])).await;
    assert!(world.listed().await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unchanged_page_that_asks_not_to_be_indexed_leaves_the_index() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| if path == "/" { generated(1, &[]) } else { Page::status(404) });
    world.run("site", plan(&[site.url("/")])).await;
    assert_eq!(world.listed().await, ["/"]);
    site.take_log();
    site.change(|path| match path {
        "/" => generated(1, &[]).with("X-Robots-Tag", "noindex"),
        _ => Page::status(404),
    });
    world.clock.advance(Duration::from_secs(1));
    world.run("site", plan(&[site.url("/")])).await;
    let log = site.take_log();
    assert!(log.iter().any(|request| request.path == "/" && request.is_conditional()), "{log:?}");
    assert!(world.listed().await.is_empty());
    assert_eq!(world.outcomes("site").await.get("skipped/noindex"), Some(&1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn withdrawn_page_leaves_the_index_whichever_crawls_list_it() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/" => generated(1, &["/hidden", "/dead", "/kept"].map(str::to_owned)),
        "/hidden" => generated(2, &[]),
        "/dead" => generated(3, &[]),
        "/kept" => generated(4, &[]),
        _ => Page::status(404),
    });
    let every = |seconds: u64| Plan { every_seconds: Some(seconds), sitemaps: Sitemaps::Off, ..plan(&[site.url("/")]) };
    // One has ended, and another visits its pages once a month.
    world.run("ended", Plan { every_seconds: None, ..every(1) }).await;
    world.run("rare", every(30 * 86_400)).await;
    world.start("frequent", every(60)).await;
    let instance = world.instance();
    world.finish("frequent").await;
    assert_eq!(world.listed().await, ["/", "/dead", "/hidden", "/kept"]);
    site.change(|path| match path {
        "/" => generated(1, &["/hidden", "/dead", "/kept"].map(str::to_owned)),
        "/hidden" => generated(2, &[]).with("X-Robots-Tag", "noindex"),
        "/dead" => Page::status(410),
        "/kept" => generated(4, &[]),
        _ => Page::status(404),
    });
    // The second visit to a page that is gone follows within an hour, also that of the other crawl.
    for _ in 0..200 {
        if world.listed().await == ["/", "/kept"] {
            break;
        }
        world.clock.advance(Duration::from_mins(2));
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    instance.stop().await;
    assert_eq!(world.listed().await, ["/", "/kept"], "{:?}", world.outcomes("frequent").await);
}

/// List of three products, whose links have one parameter more than the canonical URLs.
fn shop(path: &str) -> Page {
    let number =
        path.strip_prefix("/p?id=").and_then(|rest| rest.split('&').next()).and_then(|id| id.parse::<usize>().ok());
    match number {
        Some(number) => {
            let canonical = format!("/p?id={number}");
            with_head(number, &format!("<link rel=canonical href=\"{canonical}\">"), &[canonical.as_str()])
        }
        None if path == "/" => generated(9, &[0, 1, 2].map(|number| format!("/p?id={number}&src=list"))),
        None => Page::status(404),
    }
}

/// List whose pages name former URLs that redirect to them.
fn moved_shop(path: &str) -> Page {
    if let Some(id) = path.strip_prefix("/old?id=") {
        return Page::redirect(&format!("/p?id={id}"));
    }
    let page = shop(path);
    let body = String::from_utf8(page.body.clone()).unwrap();
    Page { body: body.replace("canonical href=\"/p?", "canonical href=\"/old?").into_bytes(), ..page }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redirects_of_canonical_pages_are_followed() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", moved_shop);
    let only_links = Plan { sitemaps: Sitemaps::Off, ..plan(&[site.url("/")]) };
    let round = async || {
        world.run("shop", only_links.clone()).await;
        world.clock.advance(Duration::from_secs(10));
        (world.listed().await, world.outcomes("shop").await)
    };
    for _ in 0..2 {
        let (listed, outcomes) = round().await;
        assert_eq!(listed, ["/", "/p?id=0", "/p?id=1", "/p?id=2"], "{outcomes:?}");
    }
    // Then the end of the redirect is missing.
    site.change(|path| if path == "/p?id=1" { Page::status(404) } else { moved_shop(path) });
    round().await;
    let (listed, outcomes) = round().await;
    assert_eq!(listed, ["/", "/p?id=0", "/p?id=1&src=list", "/p?id=2"], "{outcomes:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn canonical_pages_that_lead_in_a_circle_list_one() {
    let world = World::new().await;
    let canonical =
        |number: usize, target: &str| with_head(number, &format!("<link rel=canonical href={target}>"), &[]);
    let site = CrawlSite::start("127.0.0.2", move |path| match path {
        "/" => generated(1, &["/page", "/copy", "/one", "/two", "/three"].map(str::to_owned)),
        "/page" | "/copy" => canonical(2, "/old"),
        "/old" => Page::redirect("/older"),
        "/older" => Page::redirect("/page"),
        "/one" => canonical(3, "/two"),
        "/two" => canonical(4, "/three"),
        "/three" => canonical(5, "/one"),
        _ => Page::status(404),
    });
    for _ in 0..2 {
        world.run("site", plan(&[site.url("/")])).await;
        let (listed, outcomes) = (world.listed().await, world.outcomes("site").await);
        assert_eq!(listed.len(), 3, "{listed:?} {outcomes:?}");
        assert!(["/", "/page"].iter().all(|path| listed.contains(&(*path).to_owned())), "{listed:?} {outcomes:?}");
        assert!(!listed.contains(&"/copy".to_owned()), "{listed:?} {outcomes:?}");
        world.clock.advance(Duration::from_secs(10));
    }
}

/// Limits of the crawler, see its README.
const LIMITS: CrawlLimits = CrawlLimits {
    queries_per_path: 2_000,
    same_content: 50,
    shortest_interval: Duration::ZERO,
    is_depth_bounded: false,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn canonical_pages_of_a_path_with_many_parameters_are_listed() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", shop);
    let only_links = Plan { sitemaps: Sitemaps::Off, ..plan(&[site.url("/")]) };
    let crawl = world.start("shop", only_links).await;
    // Leaves room for the three links.
    let path_key = Address::parse(&site.url("/p?id=0")).unwrap().path_key();
    assert!(path_key.is_some());
    let known = (3..LIMITS.queries_per_path).map(|number| NewCrawlUrl {
        url_id: DocId(Uuid::new_v4()),
        url: format!("http://10.0.0.1/{number}"),
        host: "10.0.0.1".to_owned(),
        kind: CrawlUrlKind::Page,
        depth: 1,
        priority: 11,
        chain: 0,
        path_key,
        modified_at: None,
        is_seed: false,
    });
    let (id, now) = (crawl.crawl_id, world.clock.now());
    world.store.add_crawl_urls(id, known.collect(), Vec::new(), LIMITS, now).await.unwrap();
    let (host, outcome) = (Some("10.0.0.1".to_owned()), (CrawlUrlState::Failed, "known".to_owned()));
    world.store.settle_queued(id, host, outcome, None, LIMITS.queries_per_path, now).await.unwrap();
    let instance = world.instance();
    world.finish("shop").await;
    instance.stop().await;
    let outcomes = world.outcomes("shop").await;
    assert_eq!(world.listed().await, ["/", "/p?id=0", "/p?id=1", "/p?id=2"], "{outcomes:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_is_listed_if_its_canonical_page_has_no_place_in_the_frontier() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", shop);
    let only_links = Plan { sitemaps: Sitemaps::Off, ..plan(&[site.url("/")]) };
    world.start_with_limits("shop", only_links, None, 4).await;
    let instance = world.instance();
    world.finish("shop").await;
    instance.stop().await;
    let expected = ["/", "/p?id=0&src=list", "/p?id=1&src=list", "/p?id=2&src=list"];
    assert_eq!(world.listed().await, expected, "{:?}", world.outcomes("shop").await);
}
