use actix_web::http::Method;
use actix_web::test::TestRequest;
use test_support::page;
use test_support::site::{Page, Site};

use crate::api::{Answer, Api};

fn text(answer: &Answer) -> &str {
    std::str::from_utf8(&answer.bytes).unwrap()
}

#[actix_web::test]
async fn a_url_is_read_encoded_and_as_it_is() {
    let (api, site) = (Api::new().await, Site::start());
    let page = |what: &str| Page::html(&format!("<h1>Tides</h1><p>The {what} moves the tides, twice a day.</p>"));
    site.put("/a", page("sun"));
    let url = site.put("/a?x=1&y=%20z", page("moon"));
    let encoded =
        url.replace('%', "%25").replace(':', "%3A").replace('/', "%2F").replace('?', "%3F").replace('&', "%26");
    for (path, word) in [(&url, "moon"), (&encoded, "moon"), (&site.url("/a"), "sun")] {
        let answer = api.get(&format!("/read/{path}")).await;
        assert_eq!((answer.status, text(&answer).contains(word)), (200, true), "{path}: {}", text(&answer));
        assert_eq!(answer.header("Content-Type"), Some("text/markdown; charset=utf-8"));
        assert_eq!(answer.rate_headers(), 3);
    }
    let head = api.authorized(TestRequest::with_uri(&format!("/read/{url}")).method(Method::HEAD));
    assert_eq!(api.send(head).await.status, 200);
}

#[actix_web::test]
async fn a_page_has_as_many_characters_as_any_answer() {
    let api = Api::new().await;
    let url = "https://example.com/long";
    let word = format!("{} ", "x".repeat(398));
    api.world.import_one(page(url, &word.repeat(8_000_000 / word.len() + 1))).await;
    let answer = api.get(&format!("/read/{url}")).await;
    assert_eq!((answer.status, text(&answer).chars().count()), (200, 8_000_000));
}

#[actix_web::test]
async fn errors_are_short_plain_text() {
    let (api, site) = (Api::new().await, Site::start());
    site.put("/private", Page::status(403));
    site.put("/picture", Page::of("image/png", "\u{89}PNG"));
    site.put("/error", Page::status(500));
    for (url, status) in [
        (site.url("/missing"), 404),
        (site.url("/private"), 403),
        (site.url("/picture"), 422),
        (site.url("/error"), 502),
        ("http://10.0.0.1/".to_owned(), 502),
        ("ftp://example.com/".to_owned(), 400),
        ("nonsense".to_owned(), 400),
        (String::new(), 400),
        ("%ff".to_owned(), 400),
        (format!("workspace://{}/x.txt", uuid::Uuid::nil()), 404),
    ] {
        let answer = api.get(&format!("/read/{url}")).await;
        assert_eq!(answer.status, status, "{url}: {}", text(&answer));
        assert_eq!(answer.header("Content-Type"), Some("text/plain; charset=utf-8"));
        assert!((2..300).contains(&answer.bytes.len()) && text(&answer).ends_with('\n'));
    }
    let answer = api.send(TestRequest::with_uri("/read/https://example.com/")).await;
    assert_eq!((answer.status, text(&answer).contains("API key")), (401, true));
}
