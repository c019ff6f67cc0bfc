//! Compact serialization of a signed token (RFC 7515, section 7.1): three parts in base64url, separated by dots.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use crate::error::{Rejection, TokenError};
use crate::json;

/// Maximum length of a token in bytes; one to four thousand are usual.
const MAX_TOKEN: usize = 8 * 1024;

/// Supported signature algorithms. None uses a shared secret, and `none` is not among them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Algorithm {
    /// RSA with PKCS #1 1.5 padding and SHA-256.
    Rs256,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            // RFC 9864 names the one supported curve.
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

/// Signature of a token and the input to verify it.
pub struct Jws<'t> {
    pub algorithm: Algorithm,
    pub kid: Option<String>,
    /// Signed bytes: header and payload as sent.
    pub signed: &'t [u8],
    pub signature: Vec<u8>,
}

impl<'t> Jws<'t> {
    /// Splits a token into its signature and its claims, without verifying either.
    pub fn parse(token: &'t str) -> Result<(Self, Map<String, Value>), TokenError> {
        if token.len() > MAX_TOKEN {
            return Err(TokenError::Malformed("longer than 8192 bytes"));
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(TokenError::Malformed("fewer than three parts"))?;
        let (header, payload) = signed.split_once('.').ok_or(TokenError::Malformed("fewer than three parts"))?;
        // A dot in the payload, as in encrypted tokens of five parts, is invalid base64url.
        let header = decode(header).and_then(|header| json::object(&header));
        let header = header.ok_or(TokenError::Malformed("the header is not a JSON object in base64url"))?;
        let (algorithm, kid) = read_header(&header)?;
        let payload = decode(payload).and_then(|payload| json::object(&payload));
        let payload = payload.ok_or(TokenError::Malformed("the payload is not a JSON object in base64url"))?;
        let signature = decode(signature).ok_or(TokenError::Malformed("the signature is not base64url"))?;
        Ok((Self { algorithm, kid, signed: signed.as_bytes(), signature }, payload))
    }
}

/// Reads algorithm and key id. Keys and key URLs in the header (`jwk`, `x5c`, `jku`, `x5u`) are ignored: the signer must not
/// choose the trusted key.
fn read_header(header: &Map<String, Value>) -> Result<(Algorithm, Option<String>), TokenError> {
    let name = header.get("alg").and_then(Value::as_str).ok_or(TokenError::Malformed("the header has no `alg`"))?;
    let algorithm = Algorithm::from_name(name).ok_or(Rejection::Algorithm)?;
    // RFC 7515, section 4.1.11: critical extensions must be understood, and none is supported.
    if header.contains_key("crit") {
        return Err(Rejection::Critical.into());
    }
    match header.get("typ").map(|value| value.as_str().map(str::to_ascii_lowercase)) {
        None => {}
        // RFC 9068, section 4, and the type that issuers used before it.
        Some(Some(name)) if matches!(name.as_str(), "at+jwt" | "application/at+jwt" | "jwt") => {}
        Some(_) => return Err(Rejection::Type.into()),
    }
    let kid = match header.get("kid") {
        None => None,
        Some(Value::String(kid)) => Some(kid.clone()),
        Some(_) => return Err(TokenError::Malformed("`kid` is not a string")),
    };
    Ok((algorithm, kid))
}

/// Decodes base64url without padding.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}
