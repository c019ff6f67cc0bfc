//! S3 operations on top of the store.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use futures_util::StreamExt;
use http::HeaderMap;
use http::header::{IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE};
use s3s::dto::*;
use s3s::header::X_AMZ_DECODED_CONTENT_LENGTH;
use s3s::{S3, S3Error, S3ErrorCode, S3Request, S3Response, S3Result, s3_error};
use time::OffsetDateTime;

use crate::content::{self, RequestedRange};
use crate::presigned::PresignedUrl;
use crate::responses::{blocking, internal};
use crate::store::{Entry, PutError, PutOptions, Reservation, Store, Upload};
use crate::upload_length;

/// Maximum and default page size of a listing, as in S3.
const PAGE_SIZE: usize = 1000;
/// Size at which a slice is written to disk: small objects need one write on one thread, and 100 MB need little memory.
const SLICE_BYTES: usize = 1024 * 1024;
/// Timeout for an upload that sends no data.
const BODY_IDLE: Duration = Duration::from_secs(30);

pub(crate) struct Operations {
    pub store: Arc<Store>,
    pub bucket: String,
    pub max_object_bytes: u64,
    pub is_full: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl Operations {
    fn check_bucket(&self, bucket: &str) -> S3Result<()> {
        if bucket == self.bucket { Ok(()) } else { Err(s3_error!(NoSuchBucket)) }
    }

    /// Reserves a presigned URL for this upload. Returns `None` if the request is signed in its header.
    fn reserve(&self, uri: &http::Uri) -> S3Result<Option<Reservation>> {
        let presigned = PresignedUrl::find(uri).map_err(|()| s3_error!(AccessDenied, "Malformed URL"))?;
        let Some(PresignedUrl { signature, expires_at, .. }) = presigned else { return Ok(None) };
        let now = OffsetDateTime::now_utc().unix_timestamp();
        match self.store.signatures.reserve(signature, expires_at, now) {
            Some(reservation) => Ok(Some(reservation)),
            None => Err(s3_error!(AccessDenied, "This URL was already used")),
        }
    }

    /// Returns the declared length of the content. AWS clients send chunks over HTTPS, without `Content-Length`.
    fn declared_length(&self, length: Option<i64>, headers: &HeaderMap) -> S3Result<u64> {
        let length = match length {
            Some(length) => u64::try_from(length).ok(),
            None => headers.get(X_AMZ_DECODED_CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok()),
        };
        let length = length.ok_or(s3_error!(MissingContentLength))?;
        if length > self.max_object_bytes {
            return Err(s3_error!(EntityTooLarge, "At most {} bytes are allowed", self.max_object_bytes));
        }
        Ok(length)
    }

    /// Writes the body to disk and commits it as the object.
    async fn receive(
        &self,
        key: String,
        length: u64,
        body: Option<StreamingBlob>,
        options: PutOptions,
    ) -> S3Result<Entry> {
        let mut upload = None;
        let mut slice: Vec<u8> = Vec::new();
        let mut received = 0u64;
        if let Some(mut body) = body {
            loop {
                let next = tokio::time::timeout(BODY_IDLE, body.next()).await;
                let Some(chunk) = next.map_err(|_| s3_error!(RequestTimeout))? else { break };
                // The client disconnected, or the digest that it signed does not match.
                let chunk = chunk.map_err(|_| s3_error!(IncompleteBody))?;
                received += chunk.len() as u64;
                if received > length {
                    return Err(other_length(length, received, &options));
                }
                // Copied: a chunk of one byte may keep thousands of bytes that were read together with it.
                slice.extend_from_slice(&chunk);
                if slice.len() >= SLICE_BYTES {
                    upload = Some(self.write(upload, std::mem::take(&mut slice)).await?);
                }
            }
        }
        if received != length {
            return Err(other_length(length, received, &options));
        }
        let store = Arc::clone(&self.store);
        blocking(move || {
            let mut upload = upload.map_or_else(|| Upload::begin(&store), Ok)?;
            upload.write(&slice)?;
            upload.commit(&key, options)
        })
        .await?
        .map_err(put_error)
    }

    async fn write(&self, upload: Option<Upload>, slice: Vec<u8>) -> S3Result<Upload> {
        let store = Arc::clone(&self.store);
        blocking(move || {
            let mut upload = upload.map_or_else(|| Upload::begin(&store), Ok)?;
            upload.write(&slice)?;
            Ok::<_, io::Error>(upload)
        })
        .await?
        .map_err(write_error)
    }
}

/// Returns the error for a complete body of another length than declared, as only chunked ones can be.
fn other_length(declared: u64, received: u64, options: &PutOptions) -> S3Error {
    match options.reservation {
        Some(_) => upload_length::wrong_length(declared, received),
        None => s3_error!(IncompleteBody, "Not the declared {declared} bytes"),
    }
}

/// Refuses an upload before its URL is used up, so that it can be repeated once there is room.
fn disk_full() -> S3Error {
    let mut error = S3Error::with_message(
        S3ErrorCode::Custom("InsufficientStorage".into()),
        "The disk is almost full: uploads are paused",
    );
    error.set_status_code(http::StatusCode::INSUFFICIENT_STORAGE);
    error
}

fn write_error(error: io::Error) -> S3Error {
    if error.kind() == io::ErrorKind::StorageFull { disk_full() } else { internal(error) }
}

fn put_error(error: PutError) -> S3Error {
    match error {
        PutError::Exists => s3_error!(PreconditionFailed),
        PutError::Digest => s3_error!(BadDigest),
        PutError::Io(error) => write_error(error),
    }
}

/// Rejects keys that a listing cannot contain (XML 1.0 cannot represent most control characters) or that would break a
/// line of the journal.
fn check_key(key: &str) -> S3Result<()> {
    if key.is_empty()
        || key.chars().any(|character| character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}'))
    {
        return Err(s3_error!(InvalidArgument, "Keys must not be empty or contain control characters"));
    }
    Ok(())
}

fn etag(entry: &Entry) -> ETag {
    ETag::Strong(hex::encode(entry.md5))
}

fn last_modified(entry: &Entry) -> Timestamp {
    let since_epoch = time::Duration::milliseconds(entry.modified_ms);
    Timestamp::from(OffsetDateTime::UNIX_EPOCH + since_epoch)
}

fn size(entry: &Entry) -> i64 {
    i64::try_from(entry.size).unwrap_or(i64::MAX)
}

/// Rejects unsupported conditions. Ignoring one could lose data that the caller meant to protect.
fn refuse_conditions(any: bool) -> S3Result<()> {
    if any { Err(s3_error!(NotImplemented, "Conditional requests are not supported here")) } else { Ok(()) }
}

/// Returns true if a read has a condition.
fn is_conditional(headers: &HeaderMap) -> bool {
    [IF_MATCH, IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE].iter().any(|name| headers.contains_key(name))
}

#[async_trait::async_trait]
impl S3 for Operations {
    async fn put_object(&self, request: S3Request<PutObjectInput>) -> S3Result<S3Response<PutObjectOutput>> {
        if (self.is_full)() {
            return Err(disk_full());
        }
        let reservation = self.reserve(&request.uri)?;
        let input = request.input;
        self.check_bucket(&input.bucket)?;
        check_key(&input.key)?;
        let only_if_absent = input.if_none_match == Some(IfNoneMatch::Any);
        refuse_conditions(input.if_match.is_some() || (input.if_none_match.is_some() && !only_if_absent))?;
        let md5 = match input.content_md5 {
            None => None,
            Some(text) => {
                let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default();
                Some(bytes.try_into().map_err(|_| s3_error!(InvalidDigest))?)
            }
        };
        let length = self.declared_length(input.content_length, &request.headers)?;
        let options = PutOptions { only_if_absent, md5, reservation };
        let entry = self.receive(input.key, length, input.body, options).await?;
        Ok(S3Response::new(PutObjectOutput { e_tag: Some(etag(&entry)), ..Default::default() }))
    }

    async fn get_object(&self, request: S3Request<GetObjectInput>) -> S3Result<S3Response<GetObjectOutput>> {
        let input = request.input;
        self.check_bucket(&input.bucket)?;
        refuse_conditions(is_conditional(&request.headers))?;
        // The library does not read this header.
        let of = request.headers.get(IF_RANGE).cloned();
        let requested = input.range.map(|range| RequestedRange { range, of });
        let opened = content::open(&self.store, input.key, requested).await?;
        let Some(content::Opened { entry, range, is_part, body }) = opened else { return Err(s3_error!(NoSuchKey)) };
        Ok(S3Response::new(GetObjectOutput {
            content_length: i64::try_from(range.end - range.start).ok(),
            content_range: is_part
                .then(|| format!("bytes {}-{}/{}", range.start, range.end.saturating_sub(1), entry.size)),
            accept_ranges: Some("bytes".to_owned()),
            e_tag: Some(etag(&entry)),
            last_modified: Some(last_modified(&entry)),
            content_disposition: input.response_content_disposition,
            content_type: input.response_content_type,
            body: Some(body),
            ..Default::default()
        }))
    }

    async fn head_object(&self, request: S3Request<HeadObjectInput>) -> S3Result<S3Response<HeadObjectOutput>> {
        let input = request.input;
        self.check_bucket(&input.bucket)?;
        refuse_conditions(is_conditional(&request.headers))?;
        let store = Arc::clone(&self.store);
        let entry = blocking(move || store.head(&input.key)).await?.ok_or(s3_error!(NoSuchKey))?;
        Ok(S3Response::new(HeadObjectOutput {
            content_length: Some(size(&entry)),
            accept_ranges: Some("bytes".to_owned()),
            e_tag: Some(etag(&entry)),
            last_modified: Some(last_modified(&entry)),
            ..Default::default()
        }))
    }

    async fn delete_object(&self, request: S3Request<DeleteObjectInput>) -> S3Result<S3Response<DeleteObjectOutput>> {
        let input = request.input;
        self.check_bucket(&input.bucket)?;
        refuse_conditions(input.if_match.is_some())?;
        let store = Arc::clone(&self.store);
        blocking(move || store.delete(&input.key)).await?.map_err(internal)?;
        Ok(S3Response::with_status(DeleteObjectOutput::default(), http::StatusCode::NO_CONTENT))
    }

    async fn list_objects_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        let input = request.input;
        self.check_bucket(&input.bucket)?;
        if input.delimiter.as_ref().is_some_and(|delimiter| !delimiter.is_empty()) {
            return Err(s3_error!(NotImplemented, "Listing by delimiter is not supported here"));
        }
        let requested = input.max_keys.unwrap_or(PAGE_SIZE as i32);
        let max_keys =
            usize::try_from(requested).map_err(|_| s3_error!(InvalidArgument, "max-keys must not be negative"))?;
        // The token is the last key of the previous page, in hexadecimal because it must be opaque to the caller.
        let token = match &input.continuation_token {
            None => None,
            Some(token) => Some(
                hex::decode(token)
                    .ok()
                    .and_then(|bytes| String::from_utf8(bytes).ok())
                    .ok_or(s3_error!(InvalidArgument, "Invalid continuation token"))?,
            ),
        };
        let after = token.or_else(|| input.start_after.clone());
        let prefix = input.prefix.unwrap_or_default();
        let (store, wanted) = (Arc::clone(&self.store), prefix.clone());
        let page = blocking(move || store.list(&wanted, after.as_deref(), max_keys.min(PAGE_SIZE))).await?;

        let last = page.objects.last().map(|(key, _)| hex::encode(key.as_bytes()));
        let is_encoded = input.encoding_type.as_ref().is_some_and(|encoding| encoding.as_str() == EncodingType::URL);
        let encode = |text: &str| if is_encoded { form_encoded(text) } else { text.to_owned() };
        let contents: Vec<Object> = page
            .objects
            .iter()
            .map(|(key, entry)| Object {
                key: Some(encode(key)),
                size: Some(size(entry)),
                e_tag: Some(etag(entry)),
                last_modified: Some(last_modified(entry)),
                ..Default::default()
            })
            .collect();
        Ok(S3Response::new(ListObjectsV2Output {
            name: Some(input.bucket),
            prefix: Some(encode(&prefix)),
            max_keys: Some(requested),
            key_count: i32::try_from(contents.len()).ok(),
            continuation_token: input.continuation_token,
            start_after: input.start_after.as_deref().map(encode),
            encoding_type: input.encoding_type,
            is_truncated: Some(page.truncated),
            next_continuation_token: last.filter(|_| page.truncated),
            contents: Some(contents),
            ..Default::default()
        }))
    }

    async fn head_bucket(&self, request: S3Request<HeadBucketInput>) -> S3Result<S3Response<HeadBucketOutput>> {
        self.check_bucket(&request.input.bucket)?;
        Ok(S3Response::new(HeadBucketOutput::default()))
    }

    /// Succeeds for the bucket, which always exists.
    async fn create_bucket(&self, request: S3Request<CreateBucketInput>) -> S3Result<S3Response<CreateBucketOutput>> {
        if request.input.bucket != self.bucket {
            return Err(s3_error!(AccessDenied, "This store has one bucket, `{}`", self.bucket));
        }
        Ok(S3Response::new(CreateBucketOutput { location: Some(format!("/{}", self.bucket)) }))
    }

    /// Rejects uploads by HTML form, which `HttpService` refuses before the library reads them: the library's default
    /// implementation would bypass the checks of presigned URLs.
    async fn post_object(&self, _: S3Request<PostObjectInput>) -> S3Result<S3Response<PostObjectOutput>> {
        Err(s3_error!(NotImplemented, "Uploads by form are not supported here"))
    }
}

fn form_encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
