//! Access control: every request needs a signature by the one key, and presigned URLs have a maximum lifetime.

use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::{S3Auth, SecretKey};
use s3s::{S3Result, s3_error};
use subtle::ConstantTimeEq;

use crate::presigned::PresignedUrl;

/// Maximum lifetime of a presigned URL in seconds, from the signature scheme. Also bounds the memory for used URLs.
const MAX_EXPIRES_SECONDS: i64 = 7 * 24 * 60 * 60;

/// The access key.
pub(crate) struct Key {
    pub id: String,
    pub secret: String,
}

#[async_trait::async_trait]
impl S3Auth for Key {
    async fn get_secret_key(&self, access_key: &str) -> S3Result<SecretKey> {
        if bool::from(access_key.as_bytes().ct_eq(self.id.as_bytes())) {
            Ok(SecretKey::from(self.secret.as_str()))
        } else {
            Err(s3_error!(InvalidAccessKeyId, "The access key id does not exist"))
        }
    }
}

/// Access check, called after the signature was verified or found missing.
pub(crate) struct Access;

#[async_trait::async_trait]
impl S3Access for Access {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        if context.credentials().is_none() {
            return Err(s3_error!(AccessDenied, "Requests must be signed"));
        }
        if is_version_2(context) {
            return Err(s3_error!(AccessDenied, "Only AWS4-HMAC-SHA256 signatures are accepted"));
        }
        let presigned = PresignedUrl::find(context.uri()).map_err(|()| s3_error!(AccessDenied, "Malformed URL"))?;
        if presigned.is_some_and(|url| url.lifetime() > MAX_EXPIRES_SECONDS) {
            return Err(s3_error!(AccessDenied, "X-Amz-Expires must be at most 604800 seconds"));
        }
        Ok(())
    }
}

/// Detects signature version 2 of 2006 (SHA-1, no date scope), which the library accepts and this server does not.
fn is_version_2(context: &S3AccessContext<'_>) -> bool {
    let header = context.headers().get("authorization");
    let header_is_v2 = header.is_some_and(|value| !value.as_bytes().starts_with(b"AWS4-"));
    let query = context.uri().query().unwrap_or_default();
    header_is_v2 || url::form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "Signature")
}
