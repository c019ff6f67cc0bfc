//! The keys of an issuer (RFC 7517, RFC 7518 section 6, RFC 8037).

use ring::signature::{ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256};
use ring::signature::{RsaPublicKeyComponents, UnparsedPublicKey};
use serde_json::Value;

use crate::error::Refusal;
use crate::jws::{Algorithm, Jws, decode};

/// More keys than this are no rotation but a mistake; the first ones count.
const MAX_KEYS: usize = 100;

/// Real ones are of 2048 to 4096 bits.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

/// A key that verifies signatures of exactly one algorithm, whatever a token says.
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
    /// The uncompressed point.
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl Key {
    /// `None` for a key of another kind, use or strength, and for one that is broken.
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
        let fits = |name: &str, holds: &dyn Fn(&Value) -> bool| jwk.get(name).is_none_or(holds);
        let verifies = fits("use", &|value| value == "sig")
            && fits("key_ops", &|value| value.as_array().is_some_and(|all| all.iter().any(|one| one == "verify")))
            && fits("alg", &|value| value.as_str().and_then(Algorithm::from_name) == Some(key.algorithm()))
            && fits("kid", &|value| value.is_string());
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

/// RFC 7518 wants the shortest form, but some issuers put the zero of a signed number first.
fn without_zeros(bytes: Vec<u8>) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes[zeros..].to_vec()
}

/// All keys of an issuer that can be used.
pub struct KeySet(Vec<Key>);

impl KeySet {
    /// `None` when it is no set, or none of its keys can be used.
    pub fn read(document: &[u8]) -> Option<Self> {
        let document: Value = serde_json::from_slice(document).ok()?;
        let keys: Vec<Key> = document.get("keys")?.as_array()?.iter().take(MAX_KEYS).filter_map(Key::read).collect();
        (!keys.is_empty()).then_some(Self(keys))
    }

    /// Checks the signature with the key that the token names; with the only one that fits where it names none, or the
    /// issuer's keys have no names.
    ///
    /// # Errors
    /// `UnknownKey` and `Signature` with a nameless key: newer keys may change it. Any other: they do not.
    pub fn verify(&self, jws: &Jws<'_>) -> Result<(), Unverified> {
        let fits = |key: &&Key| key.algorithm() == jws.algorithm;
        let verifies = |key: &Key| key.verify(jws.signed, &jws.signature);
        let nameless = |key: &&Key| key.kid.is_none();
        let named = self.0.iter().filter(|key| jws.kid.is_some() && key.kid == jws.kid);
        if named.clone().next().is_some() {
            let mut fitting = named.filter(fits).peekable();
            let refusal = if fitting.peek().is_some() { Refusal::Signature } else { Refusal::KeyMismatch };
            return if fitting.any(verifies) { Ok(()) } else { Err(Unverified::for_good(refusal)) };
        }
        let mut candidates = self.0.iter().filter(fits).filter(|key| jws.kid.is_none() || nameless(key));
        match (candidates.next(), candidates.next()) {
            (None, _) => Err(Unverified::for_now(Refusal::UnknownKey)),
            (Some(_), Some(_)) if jws.kid.is_some() => Err(Unverified::for_now(Refusal::UnknownKey)),
            (Some(_), Some(_)) => Err(Unverified::for_good(Refusal::AmbiguousKey)),
            (Some(key), None) if verifies(key) => Ok(()),
            (Some(_), None) => Err(Unverified::for_now(Refusal::Signature)),
        }
    }
}

/// Why a signature was not verified.
pub struct Unverified {
    pub refusal: Refusal,
    /// Whether the issuer may have newer keys that verify it.
    pub may_change: bool,
}

impl Unverified {
    fn for_good(refusal: Refusal) -> Self {
        Self { refusal, may_change: false }
    }

    fn for_now(refusal: Refusal) -> Self {
        Self { refusal, may_change: true }
    }
}
