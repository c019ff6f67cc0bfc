//! Conformance suite for implementations of [`BlobStore`].
//!
//! [`run`] panics at the first violation. All objects are below one fresh prefix, so the suite can run against a bucket
//! in use.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use time::OffsetDateTime;

use crate::{BlobError, BlobErrorKind, BlobStore, LIST_PAGE_SIZE, ObjectMeta, PresignPut};

/// Concurrent requests in cases that store many objects.
const CONCURRENCY: usize = 16;

/// Runs every case. `scratch` is a folder for downloaded files.
///
/// # Panics
/// If the store violates the contract.
pub async fn run(store: &dyn BlobStore, scratch: &Path) {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let suite = Suite { store, scratch, prefix: format!("conformance/{}/", since_epoch.as_nanos()) };
    succeeds("prepare", store.prepare().await);
    succeeds("prepare again", store.prepare().await);
    succeeds("ping", store.ping().await);
    suite.a_put_is_visible_to_every_call().await;
    suite.empty_objects_exist().await;
    suite.unusual_keys_are_distinct().await;
    suite.invalid_keys_are_rejected().await;
    suite.missing_objects_are_none().await;
    suite.a_replaced_object_has_another_etag().await;
    suite.deleting_is_idempotent().await;
    suite.objects_over_the_limit_are_too_large().await;
    suite.a_large_object_downloads_to_a_file().await;
    suite.concurrent_puts_store_one_complete_object().await;
    suite.listing_pages_in_key_order().await;
    suite.presigned_urls_differ_by_nonce();
}

struct Suite<'a> {
    store: &'a dyn BlobStore,
    scratch: &'a Path,
    prefix: String,
}

impl Suite<'_> {
    fn key(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    async fn put(&self, key: &str, body: impl Into<Bytes>) -> ObjectMeta {
        succeeds("put", self.store.put(key, body.into()).await)
    }

    async fn get(&self, key: &str) -> Option<(ObjectMeta, Bytes)> {
        succeeds("get", self.store.get(key, u64::MAX).await)
    }

    async fn list_keys(&self, prefix: &str, after: Option<&str>) -> Vec<String> {
        let page = succeeds("list", self.store.list(prefix, after).await);
        page.objects.into_iter().map(|meta| meta.key).collect()
    }

    async fn a_put_is_visible_to_every_call(&self) {
        let key = self.key("visible");
        let put = self.put(&key, "some bytes").await;
        assert_eq!((put.key.as_str(), put.size), (key.as_str(), 10));
        assert!(!put.etag.is_empty() && !put.etag.contains('"'), "etag without quotes: {}", put.etag);
        let age = OffsetDateTime::now_utc() - put.last_modified;
        assert!(age.abs() < Duration::from_secs(300), "stored just now, not {}", put.last_modified);

        let head = succeeds("head", self.store.head(&key).await).expect("head finds it");
        let (got, body) = self.get(&key).await.expect("get finds it");
        let page = succeeds("list", self.store.list(&key, None).await);
        assert_eq!(body, "some bytes");
        for seen in [&head, &got, &page.objects[0]] {
            assert_eq!((&seen.key, seen.size, &seen.etag), (&put.key, put.size, &put.etag));
            let apart = (seen.last_modified - put.last_modified).abs();
            assert!(apart <= Duration::from_secs(2), "times of one object differ by {apart}");
        }
        assert_eq!(page.objects.len(), 1);
        assert_eq!(page.next, None);
        assert!(self.store.uri(&key).starts_with("s3://") && self.store.uri(&key).ends_with(&key));
    }

    async fn empty_objects_exist(&self) {
        let key = self.key("empty");
        assert_eq!(self.put(&key, Bytes::new()).await.size, 0);
        let (meta, body) = self.get(&key).await.expect("get finds it");
        assert_eq!((meta.size, body.len()), (0, 0));
        let path = self.scratch.join("empty");
        assert!(succeeds("get_to_file", self.store.get_to_file(&key, &path, 0).await).is_some());
        assert_eq!(std::fs::read(&path).expect("a file"), b"");
    }

    async fn unusual_keys_are_distinct(&self) {
        let names = [
            "odd/a b",
            "odd/a+b",
            "odd/a%20b",
            "odd/a%2Fb",
            "odd/a/b",
            "odd/a//b",
            "odd/a/",
            "odd/a",
            "odd/A",
            "odd/a?b=c&d",
            "odd/a#b",
            "odd/<k>&amp;\"'",
            "odd/..a",
            "odd/a..",
            "odd/~!@$^*()_=[]{}|;:,`\\",
            "odd/ a ",
        ];
        let long = format!("odd/{}", "k".repeat(1024 - self.prefix.len() - 4));
        let mut keys: Vec<String> = names.iter().copied().chain([long.as_str()]).map(|name| self.key(name)).collect();
        for key in &keys {
            self.put(key, key.clone()).await;
        }
        for key in &keys {
            let (meta, body) = self.get(key).await.unwrap_or_else(|| panic!("`{key}` exists"));
            assert_eq!((meta.key.as_str(), &body[..]), (key.as_str(), key.as_bytes()));
        }
        keys.sort_unstable();
        assert_eq!(self.list_keys(&self.key("odd/"), None).await, keys);
        for key in &keys {
            succeeds("delete", self.store.delete(key).await);
        }
        assert_eq!(self.list_keys(&self.key("odd/"), None).await, Vec::<String>::new());
    }

    async fn invalid_keys_are_rejected(&self) {
        let path = self.scratch.join("illegal");
        for key in ["", "..", "a/../b", "a\0b", "é", &"k".repeat(1025)] {
            let errors = [
                self.store.put(key, Bytes::new()).await.err(),
                self.store.get(key, 1).await.err(),
                self.store.get_to_file(key, &path, 1).await.err(),
                self.store.head(key).await.err(),
                self.store.delete(key).await.err(),
                self.store.delete_once(key).await.err(),
                self.presign(key, "n").err(),
            ];
            for error in errors {
                assert_eq!(error.map(|error| error.kind), Some(BlobErrorKind::Failed), "{key:?}");
            }
        }
    }

    async fn missing_objects_are_none(&self) {
        let key = self.key("missing");
        let path = self.scratch.join("missing");
        assert_eq!(succeeds("head", self.store.head(&key).await), None);
        assert_eq!(self.get(&key).await, None);
        assert_eq!(succeeds("get_to_file", self.store.get_to_file(&key, &path, 1).await), None);
        assert!(!path.exists(), "no file for a missing object");
        assert_eq!(self.list_keys(&key, None).await, Vec::<String>::new());
    }

    async fn a_replaced_object_has_another_etag(&self) {
        let key = self.key("replaced");
        let first = self.put(&key, "first").await;
        let second = self.put(&key, "other").await;
        assert_ne!(first.etag, second.etag);
        let (meta, body) = self.get(&key).await.expect("get finds it");
        assert_eq!((meta.etag, body), (second.etag.clone(), Bytes::from("other")));
        let again = self.put(&key, "longer than before").await;
        assert_ne!(again.etag, second.etag);
        assert_eq!(succeeds("head", self.store.head(&key).await).map(|meta| meta.size), Some(18));
        assert_eq!(self.list_keys(&key, None).await, [key]);
    }

    async fn deleting_is_idempotent(&self) {
        let key = self.key("deleted");
        self.put(&key, "x").await;
        succeeds("delete", self.store.delete(&key).await);
        assert_eq!(succeeds("head", self.store.head(&key).await), None);
        succeeds("delete again", self.store.delete(&key).await);
        succeeds("delete once again", self.store.delete_once(&key).await);
        succeeds("delete a missing object", self.store.delete(&self.key("never")).await);
        self.put(&key, "back").await;
        assert_eq!(self.get(&key).await.map(|(_, body)| body), Some(Bytes::from("back")));
        succeeds("delete once", self.store.delete_once(&key).await);
        assert_eq!(succeeds("head", self.store.head(&key).await), None);
    }

    async fn objects_over_the_limit_are_too_large(&self) {
        let key = self.key("large");
        self.put(&key, vec![7; 1000]).await;
        assert!(succeeds("get", self.store.get(&key, 1000).await).is_some(), "exactly the limit is allowed");
        let error = self.store.get(&key, 999).await.expect_err("one byte over");
        assert_eq!(error.kind, BlobErrorKind::TooLarge);
        let path = self.scratch.join("large");
        let error = self.store.get_to_file(&key, &path, 999).await.expect_err("one byte over");
        assert_eq!(error.kind, BlobErrorKind::TooLarge);
        assert!(!path.exists(), "no file is left");
    }

    async fn a_large_object_downloads_to_a_file(&self) {
        let key = self.key("file");
        // A prime period reveals misplaced slices.
        let body: Vec<u8> = (0..3_000_000u32).map(|position| (position % 251) as u8).collect();
        let put = self.put(&key, body.clone()).await;
        let path = self.scratch.join("file");
        std::fs::write(&path, vec![1; 4_000_000]).expect("an older file at the path");
        let meta = succeeds("get_to_file", self.store.get_to_file(&key, &path, 3_000_000).await).expect("it exists");
        assert_eq!((meta.size, meta.etag), (put.size, put.etag));
        assert!(std::fs::read(&path).expect("a file") == body, "the same bytes");
    }

    async fn concurrent_puts_store_one_complete_object(&self) {
        let key = self.key("contended");
        let put: Vec<ObjectMeta> = succeeds(
            "concurrent puts",
            stream::iter(0..CONCURRENCY as u8)
                .map(|writer| self.store.put(&key, vec![writer; 100_000 + usize::from(writer)].into()))
                .buffer_unordered(CONCURRENCY)
                .try_collect()
                .await,
        );
        let (meta, body) = self.get(&key).await.expect("one of them is stored");
        assert!(body.iter().all(|byte| *byte == body[0]), "the content is not mixed");
        assert_eq!(body.len(), 100_000 + usize::from(body[0]));
        let winner = put.iter().find(|meta| meta.size == body.len() as u64).expect("one of ours");
        assert_eq!(meta.etag, winner.etag);
    }

    async fn listing_pages_in_key_order(&self) {
        let prefix = self.key("page/");
        let total = LIST_PAGE_SIZE + 5;
        let mut keys: Vec<String> = (0..total).map(|number| format!("{prefix}{number}")).collect();
        let _: Vec<ObjectMeta> = succeeds(
            "puts",
            stream::iter(&keys)
                .map(|key| self.store.put(key, Bytes::from_static(b"x")))
                .buffer_unordered(CONCURRENCY)
                .try_collect()
                .await,
        );
        self.put(&self.key("page"), "before the prefix").await;
        self.put(&self.key("pagf"), "after the prefix").await;
        keys.sort_unstable();

        let first = succeeds("list", self.store.list(&prefix, None).await);
        assert_eq!(first.objects.len(), LIST_PAGE_SIZE);
        let next = first.next.expect("there is a second page");
        let second = succeeds("list", self.store.list(&prefix, Some(&next)).await);
        assert_eq!(second.next, None);
        let seen: Vec<String> = first.objects.into_iter().chain(second.objects).map(|meta| meta.key).collect();
        assert_eq!(seen, keys);

        // `after` need not exist or start with the prefix.
        assert_eq!(self.list_keys(&prefix, Some(&format!("{prefix}998!"))).await, [format!("{prefix}999")]);
        assert_eq!(self.list_keys(&prefix, Some(&format!("{prefix}999"))).await, Vec::<String>::new());
        assert_eq!(self.list_keys(&format!("{prefix}99"), Some(&prefix)).await.len(), 11);
        let deletes = stream::iter(&keys).map(|key| self.store.delete(key)).buffer_unordered(CONCURRENCY);
        succeeds("deletes", deletes.try_collect::<()>().await);
        assert_eq!(self.list_keys(&prefix, None).await, Vec::<String>::new());
    }

    fn presign(&self, key: &str, nonce: &str) -> Result<String, BlobError> {
        let request = PresignPut { key, size: 3, expires_in: Duration::from_secs(900), nonce };
        self.store.presign_put(&request, OffsetDateTime::UNIX_EPOCH)
    }

    fn presigned_urls_differ_by_nonce(&self) {
        let key = self.key("presigned");
        let one = succeeds("presign", self.presign(&key, "one"));
        assert_eq!(one, succeeds("presign", self.presign(&key, "one")), "a pure function");
        assert_ne!(one, succeeds("presign", self.presign(&key, "two")));
    }
}

/// Unwraps the result, showing the chain of causes.
fn succeeds<T>(what: &str, result: Result<T, BlobError>) -> T {
    result.unwrap_or_else(|error| panic!("{what}: {error}; {:?}", error.source))
}
