//! Bodies of one or more gzip members (RFC 1952, 2.2). Whatever follows the last one is ignored, as browsers do: some servers append a
//! newline or zeros.

use std::io;

use async_compression::tokio::bufread::GzipDecoder;
use bytes::{Bytes, BytesMut};
use futures_util::stream::try_unfold;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, Chain};
use tokio_util::io::StreamReader;

use super::Stream;

/// First bytes of every member.
const MAGIC: &[u8] = &[0x1f, 0x8b];

/// Size of the pieces of content.
const CHUNK: usize = 8 * 1024;

/// Decoder of one member, which may begin with bytes that were read already.
type Member = GzipDecoder<Chain<&'static [u8], Stream>>;

/// Returns the content of all members. Fails if the body does not begin with one.
pub(super) fn decode(stream: Stream) -> Stream {
    Box::pin(StreamReader::new(try_unfold(member(&[], stream), next_chunk)))
}

fn member(begin: &'static [u8], rest: Stream) -> Member {
    GzipDecoder::new(begin.chain(rest))
}

/// Returns the next piece of content with the decoder of what follows, or `None` after the last member.
async fn next_chunk(mut decoder: Member) -> io::Result<Option<(Bytes, Member)>> {
    let mut chunk = BytesMut::with_capacity(CHUNK);
    loop {
        if decoder.read_buf(&mut chunk).await? > 0 {
            return Ok(Some((chunk.freeze(), decoder)));
        }
        let (_, rest) = decoder.into_inner().into_inner();
        match next_member(rest).await? {
            Some(next) => decoder = next,
            None => return Ok(None),
        }
    }
}

/// Returns the member that begins here, if one does.
async fn next_member(mut stream: Stream) -> io::Result<Option<Member>> {
    let begin = stream.fill_buf().await?;
    if begin.starts_with(MAGIC) {
        return Ok(Some(member(&[], stream)));
    }
    if begin != &MAGIC[..1] {
        return Ok(None);
    }
    // The second byte has not arrived yet.
    stream.consume(1);
    let is_member = stream.fill_buf().await?.first() == Some(&MAGIC[1]);
    Ok(is_member.then(|| member(&MAGIC[..1], stream)))
}
