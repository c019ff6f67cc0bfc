//! Uploads in the chunks of AWS clients, signed in the header.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use time::macros::format_description;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::{BUCKET, Fixture, KEY, SECRET};

const UNSIGNED_CHUNKS: &str = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";

fn hmac_sha256(key: &[u8], message: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(message.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// Returns the head of a chunked PUT of `length` bytes, as botocore sends it over HTTPS.
fn head(host: &str, key: &str, length: usize) -> String {
    let now = OffsetDateTime::now_utc();
    let second = now.format(format_description!("[year][month][day]T[hour][minute][second]Z")).unwrap();
    let day = &second[..8];
    let signed_headers = "host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-trailer";
    let headers = format!(
        "host:{host}\nx-amz-content-sha256:{UNSIGNED_CHUNKS}\nx-amz-date:{second}\n\
         x-amz-decoded-content-length:{length}\nx-amz-trailer:x-amz-checksum-crc32\n"
    );
    let canonical_request = format!("PUT\n/{BUCKET}/{key}\n\n{headers}\n{signed_headers}\n{UNSIGNED_CHUNKS}");
    let scope = format!("{day}/us-east-1/s3/aws4_request");
    let digest = hex::encode(Sha256::digest(canonical_request));
    let string_to_sign = format!("AWS4-HMAC-SHA256\n{second}\n{scope}\n{digest}");
    let secret = format!("AWS4{SECRET}").into_bytes();
    let signing_key = [day, "us-east-1", "s3", "aws4_request"].iter().fold(secret, |key, part| hmac_sha256(&key, part));
    let signature = hex::encode(hmac_sha256(&signing_key, &string_to_sign));
    let sent = headers.replace('\n', "\r\n");
    format!(
        "PUT /{BUCKET}/{key} HTTP/1.1\r\n{sent}Authorization: AWS4-HMAC-SHA256 Credential={KEY}/{scope}, \
         SignedHeaders={signed_headers}, Signature={signature}\r\nContent-Encoding: aws-chunked\r\n\
         Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
}

/// Uploads `content` as one of `length` bytes. Returns the response.
async fn put(fixture: &Fixture, key: &str, content: &str, length: usize) -> String {
    let address = fixture.server.endpoint.strip_prefix("http://").unwrap();
    // The trailer has the checksum, which the server does not compare.
    let chunks = format!("{:x}\r\n{content}\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n", content.len());
    let body = format!("{:x}\r\n{chunks}\r\n0\r\n\r\n", chunks.len());
    let mut connection = TcpStream::connect(address).await.unwrap();
    connection.write_all(format!("{}{body}", head(address, key, length)).as_bytes()).await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_chunked_upload_without_a_content_length_is_stored() {
    let fixture = Fixture::start().await;
    let answer = put(&fixture, "k", "hello", 5).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(fixture.stored("k").await.as_deref(), Some(&b"hello"[..]));
}

#[tokio::test]
async fn a_chunked_upload_of_another_length_is_rejected() {
    let fixture = Fixture::start().await;
    for length in [4, 6] {
        let answer = put(&fixture, "k", "hello", length).await;
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("IncompleteBody"), "{length}: {answer}");
    }
    assert_eq!(fixture.stored("k").await, None);
}
