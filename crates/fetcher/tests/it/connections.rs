use std::sync::Arc;
use std::time::Duration;

use fetcher::{Connector, FetchError, TimeoutStage};

use crate::site::{Site, page};
use crate::support::{FakeResolver, ORGANIZATION, OTHER, Recorder, Unresponsive, options};

#[tokio::test]
async fn connections_for_other_clients_follow_the_policy() {
    let site = Site::serving(page("x")).await;
    let port = site.address.port();
    let names = FakeResolver::new(&[
        ("site.test", &["10.0.0.1", "127.0.0.1"]),
        ("inside.test", &["10.0.0.1", "::1"]),
        ("rebound.test", &["169.254.169.254"]),
    ]);
    let connector = Connector::with_resolver(&options(), Arc::clone(&names) as _).unwrap();
    for url in [format!("https://site.test:{port}/"), format!("http://127.1:{port}/x"), site.url("/")] {
        let stream = connector.connect(&url, ORGANIZATION).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), site.address, "{url}");
    }
    assert_eq!(names.lookups(), ["site.test"]);
    for (url, refusal) in [
        (format!("http://inside.test:{port}/"), FetchError::RefusedAddress),
        ("http://rebound.test/".to_owned(), FetchError::RefusedAddress),
        (format!("http://[::1]:{port}/"), FetchError::RefusedAddress),
        ("http://169.254.169.254/".to_owned(), FetchError::RefusedAddress),
        ("http://site.test:25/".to_owned(), FetchError::RefusedPort { port: 25 }),
        ("http://unknown.test/".to_owned(), FetchError::Dns),
        ("file:///etc/passwd".to_owned(), FetchError::InvalidUrl { reason: "is neither http nor https" }),
        (format!("http://user:word@127.0.0.1:{port}/"), FetchError::InvalidUrl { reason: "contains credentials" }),
        ("http://127.0.0.1:9/".to_owned(), FetchError::RefusedPort { port: 9 }),
    ] {
        assert_eq!(connector.connect(&url, ORGANIZATION).await.map(drop), Err(refusal), "{url}");
    }
}

#[tokio::test]
async fn names_are_looked_up_for_the_organization_of_the_connection() {
    let site = Site::serving(page("x")).await;
    let names = Arc::new(Recorder::default());
    let connector = Connector::with_resolver(&options(), Arc::clone(&names) as _).unwrap();
    for organization in [ORGANIZATION, OTHER] {
        connector.connect(&site.url_for("site.test", "/"), organization).await.unwrap();
    }
    assert_eq!(names.organizations(), [ORGANIZATION, OTHER]);
}

#[tokio::test]
async fn address_that_does_not_answer_leaves_time_for_the_next() {
    let site = Site::serving(page("x")).await;
    let port = site.address.port();
    let _silent = Unresponsive::start(("127.0.0.9", port));
    let names = FakeResolver::new(&[("both.test", &["127.0.0.9", "127.0.0.1"]), ("silent.test", &["127.0.0.9"])]);
    let mut quick = options();
    quick.time_limits.connect = Duration::from_millis(800);
    let connector = Connector::with_resolver(&quick, names).unwrap();
    let stream = connector.connect(&format!("http://both.test:{port}/"), ORGANIZATION).await.unwrap();
    assert_eq!(stream.peer_addr().unwrap(), site.address);
    let timed_out = FetchError::Timeout { stage: TimeoutStage::Connect };
    let silent = connector.connect(&format!("http://silent.test:{port}/"), ORGANIZATION).await;
    assert_eq!(silent.map(drop), Err(timed_out));
}
