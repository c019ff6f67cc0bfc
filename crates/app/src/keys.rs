//! API keys: the prefix `rsk_`, 40 random characters, and a checksum of 6 characters.

use sha2::{Digest, Sha256};

/// Prefix by which people and secret scanners recognize keys.
pub const PREFIX: &str = "rsk_";
/// Random characters per key: 40 of an alphabet of 62 are 238 bits.
const RANDOM: usize = 40;
const CHECKSUM: usize = 6;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Generates a key. Only its digest is ever stored.
pub fn generate() -> String {
    // The thread-local generator is cryptographically secure and seeded by the operating system.
    let body: String = (0..RANDOM).map(|_| char::from(ALPHABET[rand::random_range(0..ALPHABET.len())])).collect();
    let checksum = checksum(&body);
    format!("{PREFIX}{body}{checksum}")
}

/// Checks format and checksum, which rejects mistyped keys without a database query.
pub fn is_well_formed(key: &str) -> bool {
    let Some(rest) = key.strip_prefix(PREFIX) else { return false };
    rest.len() == RANDOM + CHECKSUM
        && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && checksum(&rest[..RANDOM]) == rest[RANDOM..]
}

/// Returns the digest that identifies a stored key. One round of SHA-256 is enough, since keys are random.
pub fn digest(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// Returns the prefix of a key that lists show.
pub fn visible_prefix(key: &str) -> &str {
    &key[..key.len().min(PREFIX.len() + 6)]
}

/// Returns the CRC-32 of the body in base 62.
fn checksum(body: &str) -> String {
    let mut rest = crc32fast::hash(body.as_bytes()) as usize;
    let mut digits = [b'0'; CHECKSUM];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[rest % ALPHABET.len()];
        rest /= ALPHABET.len();
    }
    digits.iter().copied().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_keys_are_well_formed_and_differ() {
        let (one, other) = (generate(), generate());
        assert!(is_well_formed(&one) && is_well_formed(&other));
        assert_ne!(one, other);
    }

    #[test]
    fn checksum_detects_a_changed_character() {
        let key = generate();
        for position in PREFIX.len()..key.len() {
            let mut bytes = key.clone().into_bytes();
            bytes[position] = if bytes[position] == b'x' { b'y' } else { b'x' };
            let changed = String::from_utf8(bytes).expect("ASCII");
            assert!(!is_well_formed(&changed), "{changed}");
        }
    }

    #[test]
    fn malformed_keys_are_rejected() {
        for text in ["", "rsk_", "not-a-key", "rsk_é", &format!("{PREFIX}{}", "é".repeat(23)), &"a".repeat(5_000)] {
            assert!(!is_well_formed(text), "{text}");
        }
    }
}
