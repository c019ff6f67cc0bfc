use std::env;

use blobs_s3::{S3Options, S3Store, S3Timeouts};

use crate::server::Fixture;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_and_the_embedded_server_conform() {
    let fixture = Fixture::start().await;
    let scratch = tempfile::tempdir().unwrap();
    blobs::conformance::run(&fixture.store, scratch.path()).await;
    fixture.server.stop().await;
}

/// Runs against the store named in the environment; prints a note if there is none.
#[tokio::test]
async fn the_client_conforms_with_another_store() {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let (Some(endpoint), Some(access_key_id), Some(secret_access_key), Some(bucket)) =
        (variable("TEST_S3_ENDPOINT"), variable("TEST_S3_KEY"), variable("TEST_S3_SECRET"), variable("TEST_S3_BUCKET"))
    else {
        println!("NOT RUN: set TEST_S3_ENDPOINT, TEST_S3_KEY, TEST_S3_SECRET and TEST_S3_BUCKET to test another store");
        return;
    };
    let store = S3Store::new(S3Options {
        endpoint: Some(endpoint),
        public_endpoint: None,
        region: variable("TEST_S3_REGION").unwrap_or_else(|| "us-east-1".to_owned()),
        bucket,
        access_key_id,
        secret_access_key,
        session_token: None,
        path_style: true,
        max_requests: None,
        timeouts: S3Timeouts::default(),
    });
    let scratch = tempfile::tempdir().unwrap();
    blobs::conformance::run(&store.unwrap(), scratch.path()).await;
}
