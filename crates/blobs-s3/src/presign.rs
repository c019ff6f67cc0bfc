//! Presigned URLs: AWS Signature Version 4 in the query.
//!
//! The S3 library's presigner never signs `content-length`, so a URL for 10 bytes would accept 10 GB. Specification:
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html>.

use hmac::{Hmac, KeyInit, Mac};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

/// All characters except the unreserved ones of RFC 3986.
const IN_QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// Paths keep their slashes. S3 encodes them once, unlike other services.
const IN_PATH: &AsciiSet = &IN_QUERY.remove(b'/');

const DAY: &[BorrowedFormatItem<'_>] = format_description!("[year][month][day]");
const SECOND: &[BorrowedFormatItem<'_>] = format_description!("[year][month][day]T[hour][minute][second]Z");

/// Signing identity.
pub(crate) struct Signer<'a> {
    pub access_key_id: &'a str,
    pub secret_access_key: &'a str,
    pub session_token: Option<&'a str>,
    pub region: &'a str,
}

/// Request to authorize.
pub(crate) struct Presign<'a> {
    pub method: &'a str,
    pub scheme: &'a str,
    /// Value of the `Host` header, with the port unless it is the scheme's default.
    pub host: &'a str,
    /// Path, not percent-encoded.
    pub path: &'a str,
    /// Headers signed besides `host`: lowercase names that sort before it, in order.
    pub headers: &'a [(&'a str, &'a str)],
    /// Additional query parameters.
    pub query: &'a [(&'a str, &'a str)],
    pub expires_in_seconds: u64,
    pub now: OffsetDateTime,
}

impl Signer<'_> {
    /// Returns the URL. The sender of the request must send the signed headers with exactly these values.
    pub fn presign(&self, request: &Presign<'_>) -> String {
        let now = request.now.to_offset(time::UtcOffset::UTC);
        // Formatting cannot fail for any valid time (years have at most four digits).
        let (day, second) = (now.format(DAY).unwrap_or_default(), now.format(SECOND).unwrap_or_default());
        let scope = format!("{day}/{}/s3/aws4_request", self.region);
        let headers = || request.headers.iter().copied().chain([("host", request.host)]);
        let signed_headers = headers().map(|(name, _)| name).collect::<Vec<_>>().join(";");

        let credential = format!("{}/{scope}", self.access_key_id);
        let expires = request.expires_in_seconds.to_string();
        let mut query = vec![
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
            ("X-Amz-Credential", &credential),
            ("X-Amz-Date", &second),
            ("X-Amz-Expires", &expires),
            ("X-Amz-SignedHeaders", &signed_headers),
        ];
        query.extend(self.session_token.map(|token| ("X-Amz-Security-Token", token)));
        query.extend(request.query);
        query.sort_unstable();
        let encode = |text| utf8_percent_encode(text, IN_QUERY);
        let query: Vec<String> =
            query.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
        let query = query.join("&");

        let path = utf8_percent_encode(request.path, IN_PATH).to_string();
        let canonical_headers: String = headers().map(|(name, value)| format!("{name}:{value}\n")).collect();
        let canonical_request =
            format!("{}\n{path}\n{query}\n{canonical_headers}\n{signed_headers}\nUNSIGNED-PAYLOAD", request.method);
        let digest = hex::encode(Sha256::digest(canonical_request));
        let string_to_sign = format!("AWS4-HMAC-SHA256\n{second}\n{scope}\n{digest}");
        let signature = hex::encode(hmac_sha256(&self.signing_key(&day), &string_to_sign));
        format!("{}://{}{path}?{query}&X-Amz-Signature={signature}", request.scheme, request.host)
    }

    fn signing_key(&self, day: &str) -> Vec<u8> {
        let secret = format!("AWS4{}", self.secret_access_key).into_bytes();
        [day, self.region, "s3", "aws4_request"].iter().fold(secret, |key, part| hmac_sha256(&key, part))
    }
}

fn hmac_sha256(key: &[u8], message: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(|_| unreachable!("HMAC takes keys of any length"));
    mac.update(message.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    const SIGNER: Signer<'_> = Signer {
        access_key_id: "AKIAIOSFODNN7EXAMPLE",
        secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        session_token: None,
        region: "us-east-1",
    };

    /// Example published by AWS in the specification.
    #[test]
    fn the_published_example_is_reproduced() {
        let url = SIGNER.presign(&Presign {
            method: "GET",
            scheme: "https",
            host: "examplebucket.s3.amazonaws.com",
            path: "/test.txt",
            headers: &[],
            query: &[],
            expires_in_seconds: 86400,
            now: datetime!(2013-05-24 00:00 UTC),
        });
        assert_eq!(
            url,
            "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256\
             &X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request\
             &X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host\
             &X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
        );
    }

    #[test]
    fn the_query_is_sorted_and_encoded() {
        let signer = Signer { session_token: Some("a+b/c="), ..SIGNER };
        let url = signer.presign(&Presign {
            method: "PUT",
            scheme: "http",
            host: "127.0.0.1:8082",
            path: "/bucket/a b+c",
            headers: &[("content-length", "3")],
            query: &[("x-nonce", "n&1")],
            expires_in_seconds: 900,
            // The same instant in another offset.
            now: datetime!(2013-05-24 02:00 +2),
        });
        assert!(url.starts_with("http://127.0.0.1:8082/bucket/a%20b%2Bc?X-Amz-Algorithm="), "{url}");
        assert!(
            url.contains(
                "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=900&X-Amz-Security-Token=a%2Bb%2Fc%3D\
                 &X-Amz-SignedHeaders=content-length%3Bhost&x-nonce=n%261&X-Amz-Signature="
            ),
            "{url}"
        );
    }
}
