use std::time::Duration;

use super::{Answer, Scripted, search};
use crate::ProviderError;

async fn reason(scripted: &dyn Scripted, answer: Answer) -> &'static str {
    search(scripted, answer.clone())
        .await
        .map(|_| panic!("{answer:?} is an error"))
        .unwrap_or_else(|error| error.reason())
}

pub async fn other_answers_are_invalid(scripted: &dyn Scripted) {
    let bodies =
        ["", "null", "[]", "{}", "17", "\"results\"", "{\"results\": \"many\"}", "{\"results\": [", "\u{feff}{}"];
    for answer in
        [Answer::Html, Answer::ErrorWithStatus200].into_iter().chain(bodies.map(|body| Answer::Body(body.to_owned())))
    {
        assert_eq!(reason(scripted, answer.clone()).await, "invalid_response", "{answer:?}");
    }
}

pub async fn bodies_are_bounded(scripted: &dyn Scripted) {
    assert_eq!(reason(scripted, Answer::Body(" ".repeat(10 << 20))).await, "invalid_response");
    assert_eq!(reason(scripted, Answer::Endless).await, "invalid_response");
}

pub async fn deep_bodies_are_invalid(scripted: &dyn Scripted) {
    assert_eq!(reason(scripted, Answer::Body("[".repeat(500_000))).await, "invalid_response");
}

pub async fn quota_is_reported(scripted: &dyn Scripted) {
    for (status, headers, expected) in [
        (429, vec!["Retry-After: 7".to_owned()], Some(Duration::from_secs(7))),
        (429, vec![], None),
        (429, vec!["Retry-After: soon".to_owned()], None),
        (503, vec!["Retry-After: 2".to_owned()], Some(Duration::from_secs(2))),
    ] {
        match search(scripted, Answer::Status(status, headers)).await {
            Err(ProviderError::RateLimited { retry_after }) => assert_eq!(retry_after, expected),
            other => panic!("{other:?}"),
        }
    }
}

pub async fn refusals_are_reported(scripted: &dyn Scripted) {
    for status in [400, 401, 403, 404, 422] {
        assert_eq!(reason(scripted, Answer::Status(status, vec![])).await, "refused", "{status}");
    }
}

pub async fn other_statuses_are_errors(scripted: &dyn Scripted) {
    for status in [204, 418, 500, 502, 503] {
        assert_eq!(reason(scripted, Answer::Status(status, vec![])).await, "http_status", "{status}");
    }
}

pub async fn redirects_are_not_followed(scripted: &dyn Scripted) {
    for status in [301, 302, 303, 307, 308] {
        let location = "Location: http://169.254.169.254/latest/meta-data/".to_owned();
        assert_eq!(reason(scripted, Answer::Status(status, vec![location])).await, "http_status", "{status}");
    }
}

pub async fn lost_connections_are_errors(scripted: &dyn Scripted) {
    assert_eq!(reason(scripted, Answer::Close).await, "unreachable");
}
