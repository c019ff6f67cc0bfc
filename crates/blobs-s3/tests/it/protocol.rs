//! S3 protocol beyond the blob interface, with raw requests where a client would be too well-behaved.

use blobs::{BlobErrorKind, BlobStore};
use blobs_s3::S3Store;
use rusoto_core::credential::StaticProvider;
use rusoto_core::{HttpClient, Region, RusotoError};
use rusoto_s3::{
    GetObjectRequest, HeadBucketRequest, HeadObjectRequest, ListObjectsV2Request, PutObjectRequest, S3, S3Client,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::{BUCKET, Fixture, KEY, SECRET, options};

/// The library with its own HTTP client: an independent second implementation.
fn plain_client(fixture: &Fixture) -> S3Client {
    let region = Region::Custom { name: "us-east-1".to_owned(), endpoint: fixture.server.endpoint.clone() };
    let credentials = StaticProvider::new_minimal(KEY.to_owned(), SECRET.to_owned());
    S3Client::new_with(HttpClient::new().unwrap(), credentials, region)
}

#[tokio::test]
async fn ranges_return_parts() {
    let fixture = Fixture::start().await;
    let content: Vec<u8> = (0..600_000u32).map(|position| (position % 251) as u8).collect();
    fixture.store.put("k", content.clone().into()).await.unwrap();
    let client = plain_client(&fixture);
    for (range, expected) in [
        ("bytes=0-0", 0..1),
        ("bytes=5-9", 5..10),
        ("bytes=1000-500000", 1000..500_001),
        ("bytes=599999-", 599_999..600_000),
        ("bytes=-10", 599_990..600_000),
        ("bytes=5-99999999", 5..600_000),
    ] {
        let request = GetObjectRequest {
            bucket: BUCKET.to_owned(),
            key: "k".to_owned(),
            range: Some(range.to_owned()),
            ..Default::default()
        };
        let found = client.get_object(request).await.unwrap();
        assert_eq!(
            found.content_range,
            Some(format!("bytes {}-{}/600000", expected.start, expected.end - 1)),
            "{range}"
        );
        let mut body = Vec::new();
        found.body.unwrap().into_async_read().read_to_end(&mut body).await.unwrap();
        assert!(body == content[expected], "{range}");
    }
    let request = GetObjectRequest {
        bucket: BUCKET.to_owned(),
        key: "k".to_owned(),
        range: Some("bytes=600000-".to_owned()),
        ..Default::default()
    };
    match client.get_object(request).await {
        Err(RusotoError::Unknown(response)) => assert_eq!(response.status.as_u16(), 416),
        other => panic!("a range beyond the end: {:?}", other.map(|_| ())),
    }
}

#[tokio::test]
async fn listings_continue_by_token_and_by_key() {
    let fixture = Fixture::start().await;
    for number in 0..7 {
        fixture.store.put(&format!("k{number}"), "x".into()).await.unwrap();
    }
    let client = plain_client(&fixture);
    let mut seen = Vec::new();
    let mut token = None;
    loop {
        let request = ListObjectsV2Request {
            bucket: BUCKET.to_owned(),
            max_keys: Some(3),
            continuation_token: token,
            start_after: Some("k0".to_owned()),
            ..Default::default()
        };
        let page = client.list_objects_v2(request).await.unwrap();
        seen.extend(page.contents.unwrap_or_default().into_iter().filter_map(|object| object.key));
        assert_eq!(page.next_continuation_token.is_some(), page.is_truncated.unwrap());
        token = page.next_continuation_token;
        if token.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["k1", "k2", "k3", "k4", "k5", "k6"]);
}

#[tokio::test]
async fn an_encoded_listing_encodes_all_of_its_names() {
    let fixture = Fixture::start().await;
    for key in ["a%2Fb", "a%2Fc+d"] {
        fixture.store.put(key, "x".into()).await.unwrap();
    }
    let list = |encoding: Option<&str>| ListObjectsV2Request {
        bucket: BUCKET.to_owned(),
        prefix: Some("a%2F".to_owned()),
        start_after: Some("a%2Fb".to_owned()),
        encoding_type: encoding.map(str::to_owned),
        ..Default::default()
    };
    let client = plain_client(&fixture);
    for (encoding, expected) in
        [(None, ["a%2F", "a%2Fb", "a%2Fc+d"]), (Some("url"), ["a%252F", "a%252Fb", "a%252Fc%2Bd"])]
    {
        let page = client.list_objects_v2(list(encoding)).await.unwrap();
        let key = page.contents.unwrap().remove(0).key;
        assert_eq!([page.prefix, page.start_after, key], expected.map(|name| Some(name.to_owned())), "{encoding:?}");
    }
}

#[tokio::test]
async fn conditions_of_a_head_are_refused() {
    let fixture = Fixture::start().await;
    fixture.store.put("k", "x".into()).await.unwrap();
    let client = plain_client(&fixture);
    let etag = Some("\"0\"".to_owned());
    let date = Some("Sun, 06 Nov 1994 08:49:37 GMT".to_owned());
    let head = HeadObjectRequest { bucket: BUCKET.to_owned(), key: "k".to_owned(), ..Default::default() };
    assert_eq!(client.head_object(head.clone()).await.unwrap().content_length, Some(1));
    for conditional in [
        HeadObjectRequest { if_match: etag.clone(), ..head.clone() },
        HeadObjectRequest { if_none_match: etag, ..head.clone() },
        HeadObjectRequest { if_modified_since: date.clone(), ..head.clone() },
        HeadObjectRequest { if_unmodified_since: date, ..head },
    ] {
        match client.head_object(conditional).await {
            Err(RusotoError::Unknown(response)) => assert_eq!(response.status.as_u16(), 501),
            other => panic!("a condition: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_wrong_digest_is_rejected() {
    let fixture = Fixture::start().await;
    let put = |digest: &str| PutObjectRequest {
        bucket: BUCKET.to_owned(),
        key: "k".to_owned(),
        body: Some(b"hello".to_vec().into()),
        content_md5: Some(digest.to_owned()),
        ..Default::default()
    };
    let client = plain_client(&fixture);
    let refused = client.put_object(put("1B2M2Y8AsgTpgAmY7PhCfg==")).await;
    assert!(matches!(refused, Err(RusotoError::Unknown(response)) if response.status.as_u16() == 400));
    assert_eq!(fixture.stored("k").await, None);
    let stored = client.put_object(put("XUFAKrxLKna5cZ2REBfFkg==")).await.unwrap();
    assert_eq!(stored.e_tag.as_deref(), Some("\"5d41402abc4b2a76b9719d911017c592\""));
}

#[tokio::test]
async fn other_buckets_and_credentials_are_rejected() {
    let fixture = Fixture::start().await;
    let client = plain_client(&fixture);
    let other = HeadBucketRequest { bucket: "other".to_owned(), ..Default::default() };
    assert!(client.head_bucket(other).await.is_err());

    let with = |change: fn(&mut blobs_s3::S3Options)| {
        let mut changed = options(&fixture.server.endpoint);
        change(&mut changed);
        S3Store::new(changed).unwrap()
    };
    let wrong_secret = with(|options| options.secret_access_key = "wrong".to_owned());
    let wrong_key = with(|options| options.access_key_id = "wrong".to_owned());
    let wrong_bucket = with(|options| options.bucket = "other".to_owned());
    for store in [&wrong_secret, &wrong_key] {
        assert_eq!(store.put("k", "x".into()).await.unwrap_err().kind, BlobErrorKind::Denied);
        assert_eq!(store.get("k", 1).await.unwrap_err().kind, BlobErrorKind::Denied);
        assert_eq!(store.list("", None).await.unwrap_err().kind, BlobErrorKind::Denied);
        assert_eq!(store.prepare().await.unwrap_err().kind, BlobErrorKind::Denied);
        assert_eq!(store.ping().await.unwrap_err().kind, BlobErrorKind::Denied);
    }
    assert_eq!(wrong_bucket.prepare().await.unwrap_err().kind, BlobErrorKind::Denied, "the server has one bucket");
    assert_eq!(wrong_bucket.ping().await.unwrap_err().kind, BlobErrorKind::Failed);
    assert_eq!(wrong_bucket.put("k", "x".into()).await.unwrap_err().kind, BlobErrorKind::Failed);
    assert_eq!(wrong_bucket.get("k", 1).await.unwrap_err().kind, BlobErrorKind::Failed, "not a missing object");
}

/// Request targets that HTTP clients would normalize. They are unsigned, so this only proves that nothing reaches the
/// disk; the tests of `store` prove that keys are never paths.
#[tokio::test]
async fn hostile_targets_are_rejected() {
    let fixture = Fixture::start().await;
    let address = fixture.server.endpoint.strip_prefix("http://").unwrap();
    for target in [
        "/workspace/../../evil",
        "/workspace/%2e%2e/%2e%2e/evil",
        "/workspace/a%00b",
        "/../evil",
        "//",
        "/%ff%fe",
        "*",
        "/workspace/?X-Amz-Signature=%ff",
    ] {
        let mut connection = TcpStream::connect(address).await.unwrap();
        let request =
            format!("PUT {target} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx");
        connection.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 4") || answer.starts_with("HTTP/1.1 501"), "{target}: {answer}");
    }
    assert_eq!(fixture.store.list("", None).await.unwrap().objects, []);
    assert!(!fixture.folder.path().parent().unwrap().join("evil").exists());
}

/// Signed in the header by a client that does not normalize keys.
#[tokio::test]
async fn hostile_keys_are_only_names() {
    let fixture = Fixture::start().await;
    let client = plain_client(&fixture);
    let put = |key: &str| {
        let (bucket, key) = (BUCKET.to_owned(), key.to_owned());
        client.put_object(PutObjectRequest {
            bucket,
            body: Some(key.clone().into_bytes().into()),
            key,
            ..Default::default()
        })
    };
    let long = "k".repeat(1024);
    let keys = ["../../evil", "a", "a/b", "a/b/..", ".", "..", "é/ü", "\u{1f980}", "C:\\evil", long.as_str()];
    for key in keys {
        put(key).await.unwrap_or_else(|error| panic!("{key}: {error}"));
    }
    for key in ["nul\0nul", "line\nfeed", "tab\tulator", &"k".repeat(1025)] {
        assert!(put(key).await.is_err(), "{key:?}");
    }
    for key in keys {
        let request = GetObjectRequest { bucket: BUCKET.to_owned(), key: key.to_owned(), ..Default::default() };
        let mut body = String::new();
        let found = client.get_object(request).await.unwrap();
        found.body.unwrap().into_async_read().read_to_string(&mut body).await.unwrap();
        assert_eq!(body, key);
    }
    let listed = fixture.store.list("", None).await.unwrap().objects;
    let mut sorted = keys;
    sorted.sort_unstable();
    assert_eq!(listed.iter().map(|meta| meta.key.as_str()).collect::<Vec<_>>(), sorted);
    let mut top: Vec<_> =
        std::fs::read_dir(fixture.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    top.sort_unstable();
    assert_eq!(top, ["incoming", "journal", "lock", "objects"]);
}
