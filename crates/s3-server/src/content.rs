//! Response bodies of objects.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use http::HeaderValue;
use s3s::dto::{Range as BytesRange, StreamingBlob};
use s3s::{S3Result, s3_error};

use crate::responses::{blocking, unreadable, whole};
use crate::store::{Entry, Store};

/// Content up to this size is read together with opening the file, in one blocking task.
const SLICE_BYTES: usize = 256 * 1024;

/// Part of an object that a client requests.
pub(crate) struct RequestedRange {
    pub range: BytesRange,
    /// `If-Range`: ETag of the object that the client has the rest of.
    pub of: Option<HeaderValue>,
}

pub(crate) struct Opened {
    pub entry: Entry,
    /// Range of the object that `body` contains.
    pub range: Range<u64>,
    /// True if a range was requested and applies.
    pub is_part: bool,
    pub body: StreamingBlob,
}

enum Start {
    Missing,
    BadRange,
    Found { entry: Entry, range: Range<u64>, is_part: bool, first: Bytes, file: File },
}

impl RequestedRange {
    /// Returns true if the range is one of this object. A part of a replaced object would be joined to the rest of another.
    /// Dates do not count: two objects of one second have the same.
    fn applies_to(&self, entry: &Entry) -> bool {
        let Some(of) = &self.of else { return true };
        of.as_bytes() == format!("\"{}\"", hex::encode(entry.md5)).as_bytes()
    }
}

/// Opens the object at `key`, whole unless the requested range applies to it. Returns `None` if it does not exist.
pub(crate) async fn open(
    store: &Arc<Store>,
    key: String,
    requested: Option<RequestedRange>,
) -> S3Result<Option<Opened>> {
    let store = Arc::clone(store);
    let start = move || -> io::Result<Start> {
        let Some((entry, mut file)) = store.open_object(&key)? else { return Ok(Start::Missing) };
        let part = requested.filter(|requested| requested.applies_to(&entry));
        let is_part = part.is_some();
        let range = match part {
            None => 0..entry.size,
            Some(part) => match part.range.check(entry.size) {
                Ok(range) => range,
                Err(_) => return Ok(Start::BadRange),
            },
        };
        if range.start > 0 {
            file.seek(SeekFrom::Start(range.start))?;
        }
        let first = read_slice(&mut file, range.end - range.start)?;
        Ok(Start::Found { entry, range, is_part, first, file })
    };
    match blocking(start).await?.map_err(unreadable)? {
        Start::Missing => Ok(None),
        Start::BadRange => Err(s3_error!(InvalidRange)),
        Start::Found { entry, range, is_part, first, file } => {
            let remaining = range.end - range.start - first.len() as u64;
            let body = if remaining == 0 { whole(first) } else { rest_of(first, file, remaining) };
            Ok(Some(Opened { entry, range, is_part, body }))
        }
    }
}

fn rest_of(first: Bytes, file: File, remaining: u64) -> StreamingBlob {
    let rest = stream::try_unfold((file, remaining), |(mut file, remaining)| async move {
        if remaining == 0 {
            return Ok(None);
        }
        let read = tokio::task::spawn_blocking(move || read_slice(&mut file, remaining).map(|slice| (slice, file)));
        let (slice, file) = read.await.map_err(io::Error::other)??;
        let remaining = remaining - slice.len() as u64;
        Ok(Some((slice, (file, remaining))))
    });
    let first = stream::once(async { Ok::<_, io::Error>(first) });
    StreamingBlob::wrap(futures_util::StreamExt::chain(first, rest))
}

/// Reads the next slice. A file that ends early is an error, because the headers declare its length.
fn read_slice(file: &mut File, remaining: u64) -> io::Result<Bytes> {
    let length = usize::try_from(remaining).unwrap_or(SLICE_BYTES).min(SLICE_BYTES);
    let mut slice = vec![0; length];
    file.read_exact(&mut slice)?;
    Ok(slice.into())
}
