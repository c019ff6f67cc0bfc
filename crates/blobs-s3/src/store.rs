//! Implementation of `BlobStore`.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use blobs::{
    BlobError, BlobErrorKind, BlobStore, LIST_PAGE_SIZE, ListPage, ObjectMeta, PresignGet, PresignPut, check_key,
};
use bytes::Bytes;
use futures_util::stream;
use rusoto_core::{ByteStream, Client, Region, RusotoError};
use rusoto_s3::{
    CreateBucketConfiguration, CreateBucketError, CreateBucketRequest, DeleteObjectRequest, GetObjectError,
    GetObjectRequest, HeadBucketRequest, HeadObjectError, HeadObjectRequest, ListObjectsV2Request, PutObjectRequest,
    S3, S3Client,
};
use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, PrimitiveDateTime};
use trace_context::{ActiveSpan, SpanKind};

use crate::checksum::Checksum;
use crate::credentials::Credentials;
use crate::dispatcher::Dispatcher;
use crate::download::Download;
use crate::endpoint::Endpoint;
use crate::errors::{classify, is_missing, timed_out};
use crate::options::{S3Options, S3Timeouts};
use crate::presign::{Presign, Signer};
use crate::retry::retry_unavailable;

/// Maximum lifetime of the signature scheme: 7 days.
const MAX_EXPIRES_SECONDS: u64 = 7 * 24 * 60 * 60;

/// Bucket of an S3 store.
pub struct S3Store {
    client: S3Client,
    credentials: Arc<Credentials>,
    /// Endpoint of presigned URLs.
    public: Endpoint,
    region: String,
    bucket: String,
    /// AWS requires the region of a new bucket; other stores do not know theirs.
    is_aws: bool,
    timeouts: S3Timeouts,
}

impl S3Store {
    /// Creates the store without sending a request; [`prepare`](BlobStore::prepare) sends the first one.
    ///
    /// # Errors
    /// `Failed` for an invalid endpoint or incomplete credentials.
    pub fn new(options: S3Options) -> Result<Self, BlobError> {
        let S3Options { region, bucket, access_key_id, secret_access_key, session_token, path_style, timeouts, .. } =
            options;
        let credentials = match (access_key_id.is_empty(), secret_access_key.is_empty()) {
            (false, false) => Credentials::fixed(access_key_id, secret_access_key, session_token),
            (true, true) => Credentials::of_machine()?,
            _ => {
                let message = "set both the access key id and the secret access key, or neither";
                return Err(BlobError::new(BlobErrorKind::Failed, message));
            }
        };
        let credentials = Arc::new(credentials);
        let endpoint = Endpoint::new(options.endpoint.as_deref(), &region, &bucket, path_style)?;
        let public = match options.public_endpoint.as_deref() {
            Some(address) => Endpoint::new(Some(address), &region, &bucket, path_style)?,
            None => endpoint.clone(),
        };
        let base = Region::Custom { name: region.clone(), endpoint: endpoint.base() };
        let dispatcher = Dispatcher::new(endpoint, Arc::clone(&credentials), timeouts.connect, options.max_requests)?;
        let client = S3Client::new_with_client(Client::new_not_signing(dispatcher), base);
        Ok(Self { client, credentials, public, region, bucket, is_aws: options.endpoint.is_none(), timeouts })
    }

    /// Makes one call of the library with a timeout.
    async fn call<T, E: std::fmt::Display>(
        &self,
        name: &'static str,
        limit: Duration,
        call: impl Future<Output = Result<T, RusotoError<E>>>,
    ) -> Result<T, BlobError> {
        self.call_or(name, limit, call, |_| None).await
    }

    /// Makes one call with a timeout. `recover` converts errors that are valid results.
    async fn call_or<T, E: std::fmt::Display>(
        &self,
        name: &'static str,
        limit: Duration,
        call: impl Future<Output = Result<T, RusotoError<E>>>,
        recover: impl FnOnce(&RusotoError<E>) -> Option<T>,
    ) -> Result<T, BlobError> {
        self.credentials.refresh().await?;
        let calling = async {
            match tokio::time::timeout(limit, call).await {
                Err(_) => Err(timed_out(name)),
                Ok(Ok(value)) => Ok(value),
                Ok(Err(error)) => recover(&error).ok_or_else(|| classify(name, error)),
            }
        };
        let mut span = ActiveSpan::begin("object store", SpanKind::Client);
        span.set("operation", name);
        span.try_around(calling).await
    }

    /// Returns the metadata of an object and its unread body, or `None` if it does not exist.
    async fn begin_get(&self, key: &str, max_bytes: u64) -> Result<Option<(ObjectMeta, Download)>, BlobError> {
        let request = GetObjectRequest { bucket: self.bucket.clone(), key: key.to_owned(), ..Default::default() };
        let get = async { self.client.get_object(request).await.map(Some) };
        // Requires an explicit code: a 404 of a proxy must not make an object seem deleted.
        let missing = |error: &RusotoError<GetObjectError>| {
            matches!(error, RusotoError::Service(GetObjectError::NoSuchKey(_))).then_some(None)
        };
        let Some(found) = self.call_or("get", self.timeouts.attempt, get, missing).await? else { return Ok(None) };
        let modified = found.last_modified.as_deref().and_then(parse_http_date);
        // A key of the customer is reported by another header.
        let encryption = found.server_side_encryption.or(found.sse_customer_algorithm.map(|_| "customer".to_owned()));
        let meta = meta(key, found.content_length, found.e_tag, modified)?;
        let checksum = Checksum::expected(&meta.etag, encryption.as_deref());
        let body = found.body.unwrap_or_else(|| ByteStream::from(Vec::new()));
        let download = Download::begin(key, body, meta.size, checksum, max_bytes, &self.timeouts)?;
        Ok(Some((meta, download)))
    }

    async fn head_bucket(&self) -> Result<bool, BlobError> {
        let request = HeadBucketRequest { bucket: self.bucket.clone(), ..Default::default() };
        let head = async { self.client.head_bucket(request).await.map(|()| true) };
        let missing = |error: &RusotoError<_>| match error {
            RusotoError::Service(rusoto_s3::HeadBucketError::NoSuchBucket(_)) => Some(false),
            RusotoError::Unknown(response) if response.status.as_u16() == 404 => Some(false),
            _ => None,
        };
        self.call_or("head bucket", self.timeouts.attempt, head, missing).await
    }

    async fn create_bucket(&self) -> Result<(), BlobError> {
        // The oldest region is the default and must not be specified.
        let constraint = (self.is_aws && self.region != "us-east-1").then(|| self.region.clone());
        let request = CreateBucketRequest {
            bucket: self.bucket.clone(),
            create_bucket_configuration: constraint
                .map(|region| CreateBucketConfiguration { location_constraint: Some(region) }),
            ..Default::default()
        };
        let create = async { self.client.create_bucket(request).await.map(|_| ()) };
        // Another instance created it first.
        let ours = |error: &RusotoError<_>| {
            matches!(error, RusotoError::Service(CreateBucketError::BucketAlreadyOwnedByYou(_))).then_some(())
        };
        self.call_or("create bucket", self.timeouts.attempt, create, ours).await
    }
}

impl S3Store {
    fn presign(
        &self,
        method: &str,
        key: &str,
        headers: &[(&str, &str)],
        query: &[(&str, &str)],
        expires_in: Duration,
        now: OffsetDateTime,
    ) -> Result<String, BlobError> {
        check_key(key)?;
        let expires_in_seconds = expires_in.as_secs();
        if !(1..=MAX_EXPIRES_SECONDS).contains(&expires_in_seconds) {
            let message =
                format!("presign: `{expires_in_seconds}` seconds are out of range: use 1 to {MAX_EXPIRES_SECONDS}");
            return Err(BlobError::new(BlobErrorKind::Failed, message));
        }
        let credentials = self.credentials.known().ok_or_else(|| {
            BlobError::new(BlobErrorKind::Unavailable, "presign: the credentials are unknown or have expired")
        })?;
        let signer = Signer {
            access_key_id: credentials.aws_access_key_id(),
            secret_access_key: credentials.aws_secret_access_key(),
            session_token: credentials.token().as_deref(),
            region: &self.region,
        };
        Ok(signer.presign(&Presign {
            method,
            scheme: &self.public.scheme,
            host: &self.public.host(),
            path: &self.public.path(key),
            headers,
            query,
            expires_in_seconds,
            now,
        }))
    }
}

#[async_trait]
impl BlobStore for S3Store {
    /// `last_modified` is the local time, because the store does not return its own.
    async fn put(&self, key: &str, body: Bytes) -> Result<ObjectMeta, BlobError> {
        check_key(key)?;
        let size = body.len() as u64;
        let output = retry_unavailable(&self.timeouts, || {
            let slice = body.clone();
            let length = slice.len();
            let request = PutObjectRequest {
                bucket: self.bucket.clone(),
                key: key.to_owned(),
                body: Some(ByteStream::new_with_size(stream::once(async { Ok(slice) }), length)),
                content_length: i64::try_from(length).ok(),
                ..Default::default()
            };
            self.call("put", self.timeouts.for_body(size), self.client.put_object(request))
        })
        .await?;
        meta(key, i64::try_from(size).ok(), output.e_tag, Some(OffsetDateTime::now_utc()))
    }

    async fn get(&self, key: &str, max_bytes: u64) -> Result<Option<(ObjectMeta, Bytes)>, BlobError> {
        check_key(key)?;
        retry_unavailable(&self.timeouts, || async {
            let Some((meta, download)) = self.begin_get(key, max_bytes).await? else { return Ok(None) };
            Ok(Some((meta, download.into_bytes().await?)))
        })
        .await
    }

    async fn get_to_file(&self, key: &str, path: &Path, max_bytes: u64) -> Result<Option<ObjectMeta>, BlobError> {
        check_key(key)?;
        retry_unavailable(&self.timeouts, || async {
            let Some((meta, download)) = self.begin_get(key, max_bytes).await? else { return Ok(None) };
            download.into_file(path).await?;
            Ok(Some(meta))
        })
        .await
    }

    async fn head(&self, key: &str) -> Result<Option<ObjectMeta>, BlobError> {
        check_key(key)?;
        let output = retry_unavailable(&self.timeouts, || {
            let request = HeadObjectRequest { bucket: self.bucket.clone(), key: key.to_owned(), ..Default::default() };
            let head = async { self.client.head_object(request).await.map(Some) };
            let missing = |error: &RusotoError<HeadObjectError>| {
                let known = matches!(error, RusotoError::Service(HeadObjectError::NoSuchKey(_)));
                (known || is_missing(error)).then_some(None)
            };
            self.call_or("head", self.timeouts.attempt, head, missing)
        })
        .await?;
        let Some(output) = output else { return Ok(None) };
        let modified = output.last_modified.as_deref().and_then(parse_http_date);
        meta(key, output.content_length, output.e_tag, modified).map(Some)
    }

    async fn delete(&self, key: &str) -> Result<(), BlobError> {
        retry_unavailable(&self.timeouts, || self.delete_once(key)).await
    }

    async fn delete_once(&self, key: &str) -> Result<(), BlobError> {
        check_key(key)?;
        let request = DeleteObjectRequest { bucket: self.bucket.clone(), key: key.to_owned(), ..Default::default() };
        let delete = async { self.client.delete_object(request).await.map(|_| ()) };
        self.call_or("delete", self.timeouts.attempt, delete, |error| is_missing(error).then_some(())).await
    }

    async fn list(&self, prefix: &str, after: Option<&str>) -> Result<ListPage, BlobError> {
        // Every key with the prefix follows a smaller `after`. Garage 2.5 would list none.
        let after = after.filter(|after| *after >= prefix);
        let output = retry_unavailable(&self.timeouts, || {
            let request = ListObjectsV2Request {
                bucket: self.bucket.clone(),
                prefix: Some(prefix.to_owned()),
                // A key, unlike the store's token, stays valid across restarts and instances.
                start_after: after.map(str::to_owned),
                max_keys: i64::try_from(LIST_PAGE_SIZE).ok(),
                ..Default::default()
            };
            self.call("list", self.timeouts.attempt, self.client.list_objects_v2(request))
        })
        .await?;
        let Some(is_truncated) = output.is_truncated else {
            return Err(BlobError::new(BlobErrorKind::Failed, "list: the response does not say if it is truncated"));
        };
        let objects = output.contents.unwrap_or_default().into_iter().map(|object| {
            let modified = object.last_modified.as_deref();
            let modified = modified.and_then(|text| OffsetDateTime::parse(text, &Rfc3339).ok());
            meta(&object.key.unwrap_or_default(), object.size, object.e_tag, modified)
        });
        let objects = objects.collect::<Result<Vec<_>, _>>()?;
        if is_truncated && objects.is_empty() {
            return Err(BlobError::new(
                BlobErrorKind::Failed,
                "list: the response is truncated before the first object",
            ));
        }
        let next = objects.last().filter(|_| is_truncated).map(|last| last.key.clone());
        Ok(ListPage { objects, next })
    }

    fn presign_put(&self, request: &PresignPut<'_>, now: OffsetDateTime) -> Result<String, BlobError> {
        let size = request.size.to_string();
        // S3 ignores parameters with the prefix `x-`, but they are signed like all others. The embedded server compares the size
        // with that of the upload, to name a wrong one.
        let query = [("x-nonce", request.nonce), ("x-size", size.as_str())];
        self.presign("PUT", request.key, &[("content-length", &size)], &query, request.expires_in, now)
    }

    fn presign_get(&self, request: &PresignGet<'_>, now: OffsetDateTime) -> Result<String, BlobError> {
        let query =
            [("response-content-disposition", request.disposition), ("response-content-type", request.content_type)];
        self.presign("GET", request.key, &[], &query, request.expires_in, now)
    }

    fn uri(&self, key: &str) -> String {
        format!("s3://{}/{key}", self.bucket)
    }

    async fn prepare(&self) -> Result<(), BlobError> {
        retry_unavailable(&self.timeouts, || async {
            if self.head_bucket().await? { Ok(()) } else { self.create_bucket().await }
        })
        .await
    }

    async fn ping(&self) -> Result<(), BlobError> {
        if self.head_bucket().await? {
            return Ok(());
        }
        Err(BlobError::new(BlobErrorKind::Failed, format!("ping: bucket `{}` does not exist", self.bucket)))
    }
}

/// Builds object metadata. A response without one of the values is not from S3.
fn meta(
    key: &str,
    size: Option<i64>,
    etag: Option<String>,
    last_modified: Option<OffsetDateTime>,
) -> Result<ObjectMeta, BlobError> {
    let (size, etag) = (size.and_then(|size| u64::try_from(size).ok()), etag.filter(|etag| !etag.is_empty()));
    let (Some(size), Some(etag), Some(last_modified)) = (size, etag, last_modified) else {
        let message = format!("the response for `{key}` has no size, etag or time");
        return Err(BlobError::new(BlobErrorKind::Failed, message));
    };
    Ok(ObjectMeta { key: key.to_owned(), size, etag: etag.trim_matches('"').to_owned(), last_modified })
}

/// Parses a date such as `Wed, 21 Oct 2015 07:28:00 GMT` (RFC 9110, 5.6.7).
fn parse_http_date(text: &str) -> Option<OffsetDateTime> {
    let format = time::macros::format_description!(
        "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT"
    );
    PrimitiveDateTime::parse(text, format).ok().map(PrimitiveDateTime::assume_utc)
}
