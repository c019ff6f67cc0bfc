//! CORS: pages of any origin may PUT to a presigned URL, and nothing else.

use reqwest::Method;

use crate::server::Fixture;

#[tokio::test]
async fn a_browser_may_put_to_a_presigned_url() {
    let fixture = Fixture::start().await;
    let url = fixture.presign("k", 1, "n");
    let preflight = fixture
        .http
        .request(Method::OPTIONS, &url)
        .header("origin", "https://app.example")
        .header("access-control-request-method", "PUT")
        .header("access-control-request-headers", "content-type")
        .send()
        .await
        .unwrap();
    assert_eq!(preflight.status(), 204);
    let headers = preflight.headers();
    assert_eq!(headers["access-control-allow-origin"], "*");
    assert_eq!(headers["access-control-allow-methods"], "PUT");
    assert_eq!(headers["access-control-allow-headers"], "content-type");

    for (expected, body) in [(403, "xx"), (200, "x")] {
        let answer = fixture.http.put(&url).header("origin", "https://app.example").body(body).send().await.unwrap();
        assert_eq!(answer.status(), expected);
        assert_eq!(answer.headers()["access-control-allow-origin"], "*", "also on rejection");
    }
}

#[tokio::test]
async fn other_cross_origin_requests_are_rejected() {
    let fixture = Fixture::start().await;
    let url = fixture.presign("k", 1, "n");
    let plain = url.split('?').next().unwrap();
    for (url, method) in [(url.as_str(), "GET"), (url.as_str(), "DELETE"), (plain, "PUT")] {
        let preflight = fixture.http.request(Method::OPTIONS, url).header("access-control-request-method", method);
        let answer = preflight.send().await.unwrap();
        assert_eq!(answer.status(), 403, "{method} {url}");
        assert!(!answer.headers().contains_key("access-control-allow-origin"));
    }
    let answer = fixture.http.get(plain).header("origin", "https://app.example").send().await.unwrap();
    assert_eq!(answer.status(), 403);
    assert!(!answer.headers().contains_key("access-control-allow-origin"));
}
