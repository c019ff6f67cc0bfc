//! Single requests of a crawler.

use fetcher::{Accept, FetchError, Fetcher, Visit, VisitBody, VisitRequest};

use crate::site::{Piece, Response, Site, bytes, page, redirect_to, response, without_body};
use crate::support::{fetcher, options};

async fn visit(fetcher: &Fetcher, url: String, accept: Accept) -> Result<Visit, FetchError> {
    fetcher.visit(&VisitRequest { url, validators: None, accept }).await
}

#[tokio::test]
async fn redirects_are_returned_and_not_followed() {
    let site = Site::start(|path, _| match path {
        "/moved" => bytes(redirect_to("/target")),
        "/inside" => bytes(redirect_to("http://10.0.0.1/")),
        _ => bytes(page("x")),
    })
    .await;
    let fetcher = fetcher(options());
    let moved = visit(&fetcher, site.url("/moved"), Accept::Pages).await.unwrap();
    assert!(matches!(moved.body, VisitBody::Redirect { target, .. } if target.as_str() == site.url("/target")));
    assert!(!moved.is_public);
    assert_eq!(visit(&fetcher, site.url("/inside"), Accept::Pages).await.err(), Some(FetchError::RefusedAddress));
    assert_eq!(site.paths(), ["/moved", "/inside"]);
}

#[tokio::test]
async fn redirects_are_permanent_if_their_status_says_so() {
    let fetcher = fetcher(options());
    for (status, expected) in [
        ("301 Moved Permanently", true),
        ("302 Found", false),
        ("303 See Other", false),
        ("307 Temporary Redirect", false),
        ("308 Permanent Redirect", true),
    ] {
        let site = Site::serving(response(status, &["Location: /target"], "")).await;
        let visited = visit(&fetcher, site.url("/"), Accept::Pages).await.unwrap();
        let VisitBody::Redirect { is_permanent, .. } = visited.body else { panic!("no redirect: {visited:?}") };
        assert_eq!(is_permanent, expected, "{status}");
    }
}

#[tokio::test]
async fn status_counts_if_its_body_does_not_arrive() {
    let site = Site::start(|_, _| without_body("404 Not Found", "Content-Type: text/html")).await;
    let mut options = options();
    options.time_limits.total = std::time::Duration::from_secs(4);
    let error = visit(&fetcher(options), site.url("/"), Accept::Pages).await.err();
    assert_eq!(error, Some(FetchError::Status { status: 404, retry_after: None }));
}

#[tokio::test]
async fn directives_in_headers_are_returned() {
    let headers =
        ["Content-Type: text/html", "X-Robots-Tag: noindex", "X-Robots-Tag: bot: none", "Link: </a>; rel=canonical"];
    let site = Site::serving(response("200 OK", &headers, "<p>x")).await;
    let visited = visit(&fetcher(options()), site.url("/"), Accept::Pages).await.unwrap();
    assert_eq!(visited.robots_tags, ["noindex", "bot: none"]);
    assert_eq!(visited.links, ["</a>; rel=canonical"]);
    assert!(matches!(visited.body, VisitBody::Page(_)));
}

#[tokio::test]
async fn data_has_any_type_and_is_cut_at_the_limit() {
    let mut small = options();
    small.max_bytes = 1_000;
    let fetcher = fetcher(small);
    for (length, is_cut) in [(1_000, false), (1_001, true)] {
        let site = Site::serving(response("200 OK", &["Content-Type: image/png"], "x".repeat(length))).await;
        let visited = visit(&fetcher, site.url("/"), Accept::Data).await.unwrap();
        let VisitBody::Data { bytes, is_truncated, .. } = visited.body else { panic!("no data: {visited:?}") };
        assert_eq!((bytes.len(), is_truncated), (1_000, is_cut));
        assert!(visit(&fetcher, site.url("/"), Accept::Pages).await.is_err());
    }
}

#[tokio::test]
async fn rules_are_requested_once_and_apply_to_visits() {
    let robots = "Sitemap: /map.xml\nUser-agent: *\nDisallow: /private\nCrawl-delay: 3";
    let robots: Response = vec![Piece::Bytes(response("200 OK", &["Content-Type: text/plain"], robots))];
    let site = Site::start(move |path, _| if path == "/robots.txt" { robots.clone() } else { bytes(page("x")) }).await;
    let mut polite = options();
    polite.respect_robots = true;
    let fetcher = fetcher(polite);
    let rules = fetcher.robots(&site.url("/private/a")).await.unwrap();
    assert!(rules.is_fresh && !rules.allows && !rules.is_truncated);
    assert_eq!(
        (rules.crawl_delay.map(|delay| delay.as_secs()), rules.sitemaps),
        (Some(3), vec!["/map.xml".to_owned()])
    );
    let again = fetcher.robots(&site.url("/a")).await.unwrap();
    assert!(!again.is_fresh && again.allows);
    assert_eq!(visit(&fetcher, site.url("/private/a"), Accept::Pages).await.err(), Some(FetchError::Robots));
    assert!(visit(&fetcher, site.url("/a"), Accept::Pages).await.is_ok());
    assert_eq!(site.paths(), ["/robots.txt", "/a"]);
}
