//! Keys of an issuer (RFC 7517, RFC 7518 section 6, RFC 8037).

use ring::signature::{ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256};
use ring::signature::{RsaPublicKeyComponents, UnparsedPublicKey};
use serde_json::Value;

use crate::error::Rejection;
use crate::jws::{Algorithm, Jws, decode};

/// Maximum number of keys, more than any rotation needs; further ones are ignored.
const MAX_KEYS: usize = 100;

/// Accepted sizes of RSA moduli in bits; 2048 to 4096 are usual.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

/// A key that verifies signatures of exactly one algorithm, independent of the token's header.
pub struct Key {
    pub kid: Option<String>,
    material: Material,
}

enum Material {
    /// Modulus and exponent, big-endian, without leading zeros.
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// Uncompressed point.
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl Key {
    /// Parses a key; `None` if it is malformed or has an unsupported type, use or strength.
    fn read(jwk: &Value) -> Option<Self> {
        let text = |name: &str| jwk.get(name).and_then(Value::as_str);
        let bytes = |name: &str| text(name).and_then(decode);
        let material = match (text("kty")?, text("crv")) {
            ("RSA", _) => Material::Rsa { n: without_zeros(bytes("n")?), e: without_zeros(bytes("e")?) },
            ("EC", Some("P-256")) => {
                let (x, y) = (bytes("x")?, bytes("y")?);
                (x.len() == 32 && y.len() == 32).then(|| Material::P256([&[4], &x[..], &y[..]].concat()))?
            }
            ("OKP", Some("Ed25519")) => Material::Ed25519(bytes("x").filter(|x| x.len() == 32)?),
            _ => return None,
        };
        let key = Self { kid: text("kid").map(str::to_owned), material };
        let allows = |name: &str, check: &dyn Fn(&Value) -> bool| jwk.get(name).is_none_or(check);
        let verifies = allows("use", &|value| value == "sig")
            && allows("key_ops", &|value| value.as_array().is_some_and(|all| all.iter().any(|one| one == "verify")))
            && allows("alg", &|value| value.as_str().and_then(Algorithm::from_name) == Some(key.algorithm()))
            && allows("kid", &|value| value.is_string());
        (verifies && key.is_strong()).then_some(key)
    }

    pub fn algorithm(&self) -> Algorithm {
        match self.material {
            Material::Rsa { .. } => Algorithm::Rs256,
            Material::P256(_) => Algorithm::Es256,
            Material::Ed25519(_) => Algorithm::EdDsa,
        }
    }

    fn is_strong(&self) -> bool {
        match &self.material {
            Material::Rsa { n, .. } => {
                let unused = n.first().map_or(0, |first| first.leading_zeros() as usize);
                RSA_BITS.contains(&(n.len() * 8 - unused))
            }
            Material::P256(_) | Material::Ed25519(_) => true,
        }
    }

    /// Returns true if the signature is valid.
    pub fn verify(&self, signed: &[u8], signature: &[u8]) -> bool {
        match &self.material {
            Material::Rsa { n, e } => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, signed, signature)
            }
            Material::P256(point) => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(signed, signature),
            Material::Ed25519(x) => UnparsedPublicKey::new(&ED25519, x).verify(signed, signature),
        }
        .is_ok()
    }
}

/// Strips leading zeros. RFC 7518 requires the shortest form, but some issuers prepend the zero of a signed number.
fn without_zeros(bytes: Vec<u8>) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes[zeros..].to_vec()
}

/// Usable keys of an issuer.
pub struct KeySet(Vec<Key>);

impl KeySet {
    /// Parses a JWK set; `None` if it is malformed or contains no usable key.
    pub fn read(document: &[u8]) -> Option<Self> {
        let document: Value = serde_json::from_slice(document).ok()?;
        let keys: Vec<Key> = document.get("keys")?.as_array()?.iter().take(MAX_KEYS).filter_map(Key::read).collect();
        (!keys.is_empty()).then_some(Self(keys))
    }

    /// Returns the number of keys, at least one.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Verifies the signature with the key that the token names. If the token names none or the keys have no names, exactly one
    /// key must fit.
    ///
    /// # Errors
    /// `may_change` is set for `UnknownKey`, and for `Signature` with an unnamed key: newer keys may verify the token.
    pub fn verify(&self, jws: &Jws<'_>) -> Result<(), Unverified> {
        let fits = |key: &&Key| key.algorithm() == jws.algorithm;
        let verifies = |key: &Key| key.verify(jws.signed, &jws.signature);
        let named = self.0.iter().filter(|key| jws.kid.is_some() && key.kid == jws.kid);
        if named.clone().next().is_some() {
            let mut fitting = named.filter(fits).peekable();
            let rejection = if fitting.peek().is_some() { Rejection::Signature } else { Rejection::KeyMismatch };
            return if fitting.any(verifies) { Ok(()) } else { Err(Unverified::permanent(rejection)) };
        }
        let mut candidates = self.0.iter().filter(fits).filter(|key| jws.kid.is_none() || key.kid.is_none());
        match (candidates.next(), candidates.next()) {
            (None, _) => Err(Unverified::until_refresh(Rejection::UnknownKey)),
            (Some(_), Some(_)) if jws.kid.is_some() => Err(Unverified::until_refresh(Rejection::UnknownKey)),
            (Some(_), Some(_)) => Err(Unverified::permanent(Rejection::AmbiguousKey)),
            (Some(key), None) if verifies(key) => Ok(()),
            (Some(_), None) => Err(Unverified::until_refresh(Rejection::Signature)),
        }
    }
}

/// Failed verification of a signature.
pub struct Unverified {
    pub rejection: Rejection,
    /// True if newer keys may verify the signature.
    pub may_change: bool,
}

impl Unverified {
    fn permanent(rejection: Rejection) -> Self {
        Self { rejection, may_change: false }
    }

    fn until_refresh(rejection: Rejection) -> Self {
        Self { rejection, may_change: true }
    }
}
