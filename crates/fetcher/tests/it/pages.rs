use fetcher::{FetchError, FetchRequest, Fetched, Validators};
use file_types::FileKind;

use crate::site::{Site, bytes, page, response};
use crate::support::{ORGANIZATION, fetch, fetch_once, fetcher, options};

#[tokio::test]
async fn a_page_has_the_metadata_of_its_headers() {
    let headers = [
        "Content-Type: text/html; charset=ISO-8859-1",
        "ETag: \"one\"",
        "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT",
    ];
    let site = Site::serving(response("200 OK", &headers, b"<p>d\xe9j\xe0")).await;
    let page = fetch_once(site.url("/a?b=c#part")).await.unwrap();
    assert_eq!(page.final_url.as_str(), site.url("/a?b=c"));
    assert_eq!((page.status, page.kind, page.redirects), (200, FileKind::Html, 0));
    assert_eq!(page.charset.as_deref(), Some("iso-8859-1"));
    assert_eq!(page.content_type.as_deref(), Some("text/html; charset=ISO-8859-1"));
    assert_eq!(page.body, b"<p>d\xe9j\xe0".as_slice());
    let validators = page.validators.unwrap();
    assert_eq!(validators.url, site.url("/a?b=c"));
    assert_eq!(validators.etag.as_deref(), Some("\"one\""));
    assert_eq!(validators.last_modified.as_deref(), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
}

#[tokio::test]
async fn requests_send_only_the_expected_headers() {
    let site = Site::serving(response("200 OK", &["Set-Cookie: a=b", "Content-Type: text/html"], "")).await;
    let fetcher = fetcher(options());
    for _ in 0..2 {
        fetch(&fetcher, site.url("/a")).await.unwrap();
    }
    let head = site.heads()[1].to_ascii_lowercase();
    let mut names: Vec<_> = head.lines().skip(1).filter_map(|line| line.split(':').next()).collect();
    names.retain(|name| !name.is_empty());
    names.sort_unstable();
    assert_eq!(names, ["accept", "accept-encoding", "host", "user-agent"]);
    assert!(head.starts_with("get /a http/1.1\r\n"), "{head}");
    assert!(head.contains("user-agent: example-bot/1.0 (+https://example.com/bot)\r\n"), "{head}");
}

#[tokio::test]
async fn an_unchanged_page_is_not_sent_again() {
    let site = Site::start(|_, head| {
        let is_known = head.to_ascii_lowercase().contains("if-none-match: \"one\"\r\n");
        let status = if is_known { "304 Not Modified" } else { "200 OK" };
        bytes(response(status, &["Content-Type: text/plain", "ETag: \"one\""], ""))
    })
    .await;
    let fetcher = fetcher(options());
    let validators = fetch(&fetcher, site.url("/a")).await.unwrap().validators;
    let again = fetcher
        .fetch(&FetchRequest {
            organization_id: ORGANIZATION,
            url: site.url("/a#part"),
            validators: validators.clone(),
        })
        .await;
    assert!(matches!(again, Ok(Fetched::NotModified)), "{again:?}");
    // Another page has other validators, even if their values are equal.
    let other = fetcher.fetch(&FetchRequest { organization_id: ORGANIZATION, url: site.url("/b"), validators }).await;
    assert!(matches!(other, Ok(Fetched::Page(_))), "{other:?}");
    assert!(!site.heads()[2].to_ascii_lowercase().contains("if-none-match"));
}

#[tokio::test]
async fn validators_are_sent_only_to_the_final_url() {
    let site = Site::start(|path, head| {
        let is_conditional = head.to_ascii_lowercase().contains("if-modified-since");
        bytes(match path {
            "/from" => crate::site::redirect_to("/to"),
            _ if is_conditional => response("304 Not Modified", &[], ""),
            _ => page("x"),
        })
    })
    .await;
    let date = "Sun, 06 Nov 1994 08:49:37 GMT".to_owned();
    let validators = Validators { url: site.url("/to"), etag: None, last_modified: Some(date) };
    let request = FetchRequest { organization_id: ORGANIZATION, url: site.url("/from"), validators: Some(validators) };
    assert!(matches!(fetcher(options()).fetch(&request).await, Ok(Fetched::NotModified)));
    let heads = site.heads();
    assert!(!heads[0].to_ascii_lowercase().contains("if-modified-since"));
    assert!(heads[1].to_ascii_lowercase().contains("if-modified-since: sun, 06 nov 1994 08:49:37 gmt\r\n"));
}

#[tokio::test]
async fn invalid_validators_are_not_sent() {
    let site = Site::serving(page("x")).await;
    let validators = Validators { url: site.url("/"), etag: Some("a\r\nCookie: b".to_owned()), last_modified: None };
    let request = FetchRequest { organization_id: ORGANIZATION, url: site.url("/"), validators: Some(validators) };
    assert!(matches!(fetcher(options()).fetch(&request).await, Ok(Fetched::Page(_))));
    assert!(!site.heads()[0].to_ascii_lowercase().contains("cookie"));
}

#[tokio::test]
async fn kind_comes_from_type_content_and_name() {
    for (content_type, path, body, expected) in [
        ("Content-Type: application/pdf", "/a", "%PDF-1.7", Ok(FileKind::Pdf)),
        ("Content-Type: text/plain", "/a.md", "# A", Ok(FileKind::Md)),
        ("X-None: 1", "/a", "<!doctype html>", Ok(FileKind::Html)),
        ("Content-Type: application/octet-stream", "/a.csv?x", "a,b", Ok(FileKind::Csv)),
        ("Content-Type: application/octet-stream", "/a.html", "\u{0}\u{1}", Err("application/octet-stream")),
        ("X-None: 1", "/a", "\u{0}\u{1}", Err("")),
        ("Content-Type: image/png", "/a.html", "<p>", Err("image/png")),
    ] {
        let site = Site::serving(response("200 OK", &[content_type], body)).await;
        let kind = fetch_once(site.url(path)).await.map(|page| page.kind);
        let expected = expected.map_err(|name| FetchError::ContentType { content_type: name.to_owned() });
        assert_eq!(kind, expected, "{content_type} {path}");
    }
}

#[tokio::test]
async fn error_statuses_report_retry_after() {
    for (status, retry_after, is_temporary) in
        [("404 Not Found", None, false), ("503 Busy", Some(7), true), ("204 No Content", None, false)]
    {
        let header = retry_after.map(|seconds: u64| format!("Retry-After: {seconds}"));
        let headers: Vec<&str> = header.iter().map(String::as_str).collect();
        let site = Site::serving(response(status, &headers, "")).await;
        let error = fetch_once(site.url("/")).await.unwrap_err();
        let number: u16 = status[..3].parse().unwrap();
        assert!(matches!(error, FetchError::Status { status, .. } if status == number), "{error}");
        assert_eq!(error.retry_after().map(|wait| wait.as_secs()), retry_after);
        assert_eq!(error.is_temporary(), is_temporary, "{status}");
    }
}

#[tokio::test]
async fn unreachable_hosts_are_connect_or_dns_errors() {
    let site = Site::serving("").await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let free = listener.local_addr().unwrap();
    drop(listener);
    assert_eq!(fetch_once(format!("http://{free}/")).await.err(), Some(FetchError::Connect));
    assert_eq!(fetch_once(site.url_for("nobody.test", "/")).await.err(), Some(FetchError::Dns));
    for error in [FetchError::Connect, FetchError::Dns, FetchError::RefusedAddress] {
        assert!(!error.to_string().contains("127."), "{error}");
    }
}
