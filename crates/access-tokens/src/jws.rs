//! The compact form of a signed token (RFC 7515, section 7.1): three parts in base64url, with dots between.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use crate::error::{Refusal, TokenError};
use crate::json;

/// Longer ones are not looked at. Real ones take one to four thousand bytes.
const MAX_TOKEN: usize = 8 * 1024;

/// The signatures that are taken. None of them is made with a shared secret, and `none` is not among them.
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
            // RFC 9864 gives the one curve that we take a name of its own.
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

/// The signature of a token and what it takes to check it.
pub struct Jws<'t> {
    pub algorithm: Algorithm,
    pub kid: Option<String>,
    /// What the signature is over.
    pub signed: &'t [u8],
    pub signature: Vec<u8>,
}

impl<'t> Jws<'t> {
    /// Takes a token apart, into its signature and its claims; nothing is verified.
    pub fn parse(token: &'t str) -> Result<(Self, Map<String, Value>), TokenError> {
        if token.len() > MAX_TOKEN {
            return Err(TokenError::Malformed("it is longer than 8192 bytes"));
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(TokenError::Malformed("it has no parts"))?;
        let (header, payload) = signed.split_once('.').ok_or(TokenError::Malformed("it has fewer than three parts"))?;
        // A dot in the payload (five parts: encrypted) is no base64url either.
        let header = decode(header).and_then(|header| json::object(&header));
        let header = header.ok_or(TokenError::Malformed("its header is no JSON object in base64url"))?;
        let (algorithm, kid) = read_header(&header)?;
        let payload = decode(payload).and_then(|payload| json::object(&payload));
        let payload = payload.ok_or(TokenError::Malformed("its payload is no JSON object in base64url"))?;
        let signature = decode(signature).ok_or(TokenError::Malformed("its signature is no base64url"))?;
        Ok((Self { algorithm, kid, signed: signed.as_bytes(), signature }, payload))
    }
}

/// Keys and addresses of keys in the header (`jwk`, `x5c`, `jku`, `x5u`) are passed over: who signed says nothing of
/// who may.
fn read_header(header: &Map<String, Value>) -> Result<(Algorithm, Option<String>), TokenError> {
    let name = header.get("alg").and_then(Value::as_str).ok_or(TokenError::Malformed("its header has no `alg`"))?;
    let algorithm = Algorithm::from_name(name).ok_or(Refusal::Algorithm)?;
    // RFC 7515, section 4.1.11: what is critical must be understood, and we understand no extension.
    if header.contains_key("crit") {
        return Err(Refusal::Critical.into());
    }
    match header.get("typ").map(|value| value.as_str().map(str::to_ascii_lowercase)) {
        None => {}
        // RFC 9068, section 4, and what issuers sent before it.
        Some(Some(name)) if matches!(name.as_str(), "at+jwt" | "application/at+jwt" | "jwt") => {}
        Some(_) => return Err(Refusal::Type.into()),
    }
    let kid = match header.get("kid") {
        None => None,
        Some(Value::String(kid)) => Some(kid.clone()),
        Some(_) => return Err(TokenError::Malformed("its `kid` is no text")),
    };
    Ok((algorithm, kid))
}

pub fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}
