//! Paths that a service has, and this server does not.

use actix_web::test::TestRequest;

use super::{message, reads, route, searches};
use crate::api::Api;

#[actix_web::test]
async fn unknown_paths_name_the_known_ones_in_the_format_of_the_service() {
    let api = Api::new().await;
    let searches = searches().map(|(path, body)| (path.to_owned(), body));
    let known: Vec<String> = searches.into_iter().chain(reads("")).map(|(path, body)| route(&path, &body)).collect();
    for (base, path, count) in [
        ("/compat/tavily", "/compat/tavily/crawl", 2),
        ("/compat/tavily", "/compat/tavily", 2),
        ("/compat/exa", "/compat/exa/answer?x=1", 2),
        ("/compat/exa", "/compat/exa/search/", 2),
        ("/compat/firecrawl", "/compat/firecrawl/v2/crawl", 2),
        ("/compat/firecrawl", "/compat/firecrawl/v1/scrape", 2),
        ("/compat/firecrawl", "/v2/crawl", 2),
        ("/compat/searxng", "/compat/searxng/config", 1),
        ("/compat/openwebui", "/compat/openwebui/%ff", 2),
    ] {
        let answer = api.send(TestRequest::post().uri(path)).await;
        assert_eq!((answer.status, answer.rate_headers()), (404, 0), "{path} needs no key");
        assert!(answer.header("X-Request-ID").is_some());
        let message = message(path, &answer);
        let named = known.iter().filter(|name| message.contains(&format!("`{name}`")));
        let named: Vec<bool> = named.map(|name| name.contains(base)).collect();
        assert_eq!(named, vec![true; count], "{path}: {message}");
    }
    assert_eq!(api.recorded().await, []);
}

#[actix_web::test]
async fn paths_of_no_service_have_the_envelope() {
    let api = Api::new().await;
    for path in ["/compat", "/compat/", "/compat/other/search", "/compat/tavilyx", "/v2/crawl", "/v2/scrape"] {
        api.send(TestRequest::get().uri(path)).await.expect_error(404, "not_found");
    }
}
