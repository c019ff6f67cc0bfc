//! API keys: `rsk_`, 40 random characters, 6 of a checksum.

use sha2::{Digest, Sha256};

/// Makes keys recognizable, to people and to secret scanners.
pub const PREFIX: &str = "rsk_";
/// 40 of 62 characters: 238 bits.
const RANDOM: usize = 40;
const CHECKSUM: usize = 6;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A new key. It is shown once and stored nowhere.
pub fn generate() -> String {
    // The thread's generator is cryptographic and seeded by the operating system.
    let body: String = (0..RANDOM).map(|_| char::from(ALPHABET[rand::random_range(0..ALPHABET.len())])).collect();
    let checksum = checksum(&body);
    format!("{PREFIX}{body}{checksum}")
}

/// Whether this can be a key at all: a slip of the hand is told without asking the database.
pub fn is_well_formed(key: &str) -> bool {
    let Some(rest) = key.strip_prefix(PREFIX) else { return false };
    rest.len() == RANDOM + CHECKSUM
        && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && checksum(&rest[..RANDOM]) == rest[RANDOM..]
}

/// What is stored of a key. One round of SHA-256 is enough: the key is random, not chosen by a person.
pub fn digest(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// What lists show of a key.
pub fn visible_prefix(key: &str) -> &str {
    &key[..key.len().min(PREFIX.len() + 6)]
}

/// CRC-32 in base 62.
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
    fn a_changed_character_is_noticed() {
        let key = generate();
        for position in PREFIX.len()..key.len() {
            let mut bytes = key.clone().into_bytes();
            bytes[position] = if bytes[position] == b'x' { b'y' } else { b'x' };
            let changed = String::from_utf8(bytes).expect("ASCII");
            assert!(!is_well_formed(&changed), "{changed}");
        }
    }

    #[test]
    fn other_strings_are_no_keys() {
        for text in ["", "rsk_", "not-a-key", "rsk_é", &format!("{PREFIX}{}", "é".repeat(23)), &"a".repeat(5_000)] {
            assert!(!is_well_formed(text), "{text}");
        }
    }
}
