//! Invalid URLs.

use rate_limit_redis::{OnFailure, RedisLimiter, RedisLimiterOptions};

fn refusal(url: &str) -> String {
    let options = RedisLimiterOptions { url: url.to_owned(), prefix: String::new(), on_failure: OnFailure::Open };
    assert!(!format!("{options:?}").contains("hunter2"));
    match RedisLimiter::new(options) {
        Ok(_) => panic!("`{url}` was accepted"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn invalid_urls_are_rejected_without_showing_the_password() {
    for url in [
        "",
        "http://u:hunter2@host",
        "redis://u:hunter2@host/hunter2",
        "redis://u:hunter2@host:99999",
        "redis://u:hunter2@0.0.0.0",
        "redis://u:hunter2@host?protocol=hunter2",
        "redis://u:%ff hunter2@host",
        "redis://:a#hunter2@host",
        "rediss://u:hunter2@host#insecure",
    ] {
        let message = refusal(url);
        assert!(!message.contains("hunter2") && !message.is_empty(), "{url}: {message}");
    }
    assert!(refusal("rediss://host#insecure").contains("certificates are always checked"));
}
