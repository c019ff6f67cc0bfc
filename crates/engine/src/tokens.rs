//! Encoding of terms as tokens of ASCII letters and digits, for search servers.
//!
//! A server's tokenizer would split and fold our stems by its own rules, but leaves such tokens unchanged. A stem of
//! these characters is encoded as itself, any other as its hash. The first letter is the kind of the token.

use uuid::Uuid;

/// Maximum length in bytes of a term that is not hashed, which keeps keys small.
const MAX_PLAIN: usize = 24;

/// Returns the token of a stem.
pub fn stem(stem: &str) -> String {
    let mut token = String::with_capacity(stem.len() + 1);
    push_stem(&mut token, stem);
    token
}

/// Appends the token of a stem.
pub fn push_stem(text: &mut String, stem: &str) {
    push_plain_or_hashed(text, 's', 'h', stem);
}

/// Returns the token of an unstemmed word, for phrases.
pub fn word(word: &str) -> String {
    let mut token = String::with_capacity(word.len() + 1);
    push_word(&mut token, word);
    token
}

/// Appends the token of an unstemmed word.
pub fn push_word(text: &mut String, word: &str) {
    push_plain_or_hashed(text, 'w', 'v', word);
}

/// Returns the token of two adjacent words.
pub fn pair(first: &str, second: &str) -> String {
    let mut token = String::new();
    FirstWord::new(first).with(second).push_to(&mut token);
    token
}

/// First word of a pair.
#[derive(Clone, Copy, Debug)]
pub struct FirstWord(u64);

impl FirstWord {
    pub fn new(word: &str) -> Self {
        Self(hash(OFFSET, word.as_bytes()) ^ SEPARATOR)
    }

    /// Returns the pair with the word behind it.
    pub fn with(self, second: &str) -> Pair {
        Pair((hash(self.0, second.as_bytes()) >> (u64::BITS - PAIR_BITS)) as u16)
    }
}

/// Two adjacent words, one of 32,768 pairs: distinct tokens for all would be most of the index.
///
/// A document that contains both words apart matches the pair by collision: of 330 different pairs in one of a hundred cases, of 15,000
/// in one of three.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Pair(u16);

impl Pair {
    /// Appends the token of the pair.
    pub fn push_to(self, text: &mut String) {
        push_hashed(text, 'p', u64::from(self.0) << (u64::BITS - PAIR_BITS), PAIR_DIGITS);
    }
}

/// Returns the token of a value that is compared exactly: a cryptographic hash, which does not match by collision. The server
/// would compare text without regard to case and accents, and only its first 468 bytes.
pub fn exact(value: &str) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, value.as_bytes()).simple().to_string()
}

/// Returns the number of a stem in a group, for servers that address terms by numbers of 32 bits. With ten million of
/// them, one number in 430 is that of another stem too.
pub fn number(stem: &str, group: u32) -> u32 {
    (hash(hash(OFFSET, stem.as_bytes()) ^ u64::from(group), &[]) >> 32) as u32
}

/// Appends a term as itself or as its hash, with the letter of the respective kind.
fn push_plain_or_hashed(token: &mut String, plain_kind: char, hashed_kind: char, text: &str) {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if text.len() > MAX_PLAIN || !text.bytes().all(is_plain) {
        return push_hashed(token, hashed_kind, hash(OFFSET, text.as_bytes()), TERM_DIGITS);
    }
    token.push(plain_kind);
    token.push_str(text);
}

/// Number of base 32 digits in the hash of a term: 55 bits. With a billion terms, half of them stems and half words, one
/// lookup in 70 million hits a collision.
const TERM_DIGITS: u32 = 11;
/// Number of base 32 digits in the hash of a pair.
const PAIR_DIGITS: u32 = 3;
const PAIR_BITS: u32 = 5 * PAIR_DIGITS;

/// Appends the upper bits of a hash in base 32.
fn push_hashed(token: &mut String, kind: char, hash: u64, digits: u32) {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    token.push(kind);
    for digit in 0..digits {
        token.push(char::from(DIGITS[(hash >> (64 - 5 * (digit + 1))) as usize & 31]));
    }
}

/// Offset basis of FNV-1a.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
/// Separator between the words of a pair. This byte does not occur in UTF-8.
const SEPARATOR: u64 = 0xff;

/// FNV-1a with the finalizer of SplitMix64, since only the upper bits are used. Stored in indexes: it must never change.
fn hash(state: u64, bytes: &[u8]) -> u64 {
    let mut hash = bytes.iter().fold(state, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn encoding_is_stable() {
        // A change of the encoding requires a new index version.
        assert_eq!(stem("pump"), "spump");
        assert_eq!(word("pump"), "wpump");
        assert_eq!(stem("häus"), "hx6ehlc5lo7w");
        assert_eq!(pair("to", "be"), "p3h7");
        assert_ne!(pair("to", "be"), pair("be", "to"));
        assert_ne!(pair("a", "bc"), pair("ab", "c"));
        assert_eq!(number("pump", 7), 0xb1d2_df9f);
        assert_ne!(number("pump", 7), number("pump", 8));
        assert_ne!(stem("c++"), stem("c#"));
        assert!(stem(&"x".repeat(100)).len() < 20);
    }

    proptest! {
        #[test]
        fn tokens_are_ascii_letters_and_digits(text in "\\PC{0,40}", other in "\\PC{0,10}") {
            for token in [stem(&text), word(&text), pair(&text, &other)] {
                prop_assert!(token.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()));
                prop_assert!((1..=MAX_PLAIN + 1).contains(&token.len()));
            }
        }

        #[test]
        fn kinds_are_distinct(text in "[a-z0-9ä]{1,30}") {
            prop_assert_ne!(stem(&text), word(&text));
        }
    }
}
