//! Terms in letters and digits that every tokenizer leaves alone.
//!
//! The server would cut and fold our stems by rules of its own. What it gets are words of ASCII letters and digits: a
//! stem of such characters stands for itself, any other as its hash; the first letter tells the kinds apart.

/// Stems longer than this are hashed, so that keys stay small.
const MAX_PLAIN: usize = 24;

/// The token of a stem.
pub fn stem(stem: &str) -> String {
    plain_or_hashed('s', 'h', stem)
}

/// The token of a word as phrases compare it.
pub fn word(word: &str) -> String {
    plain_or_hashed('w', 'v', word)
}

/// The token of two words that follow one another: one of 32,768, since a token for each pair there is would be most of
/// the index. A document that holds both words far apart passes for one that holds the pair in one of some hundred cases.
pub fn pair(first: &str, second: &str) -> String {
    hashed('p', hash(hash(OFFSET, first.as_bytes()) ^ SEPARATOR, second.as_bytes()), PAIR_DIGITS)
}

/// Orders tokens by how much is lost without them: stems first, pairs of words last.
pub fn order(token: &str) -> (u8, &str) {
    let kind = match token.as_bytes().first() {
        Some(b's' | b'h') => 0,
        Some(b'w' | b'v') => 1,
        _ => 2,
    };
    (kind, token)
}

fn plain_or_hashed(plain: char, hashes: char, text: &str) -> String {
    let keeps = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if text.len() > MAX_PLAIN || !text.as_bytes().iter().all(keeps) {
        return hashed(hashes, hash(OFFSET, text.as_bytes()), TERM_DIGITS);
    }
    let mut token = String::with_capacity(text.len() + 1);
    token.push(plain);
    token.push_str(text);
    token
}

/// 55 bits, of which two among a billion terms collide once in 70 million looks.
const TERM_DIGITS: u32 = 11;
const PAIR_DIGITS: u32 = 3;

/// The upper bits of the hash in base 32.
fn hashed(kind: char, hash: u64, digits: u32) -> String {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut token = String::with_capacity(12);
    token.push(kind);
    for digit in 0..digits {
        token.push(char::from(DIGITS[(hash >> (64 - 5 * (digit + 1))) as usize & 31]));
    }
    token
}

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
/// Changes the hash of the first word as no byte of a word does.
const SEPARATOR: u64 = 0xff;

/// FNV-1a with a final mix (that of SplitMix64), since only the upper bits are used. It is written into indexes: it must
/// never change.
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
    fn tokens_are_what_indexes_hold() {
        // Another spelling of any of these needs another version of the index.
        assert_eq!(stem("pump"), "spump");
        assert_eq!(word("pump"), "wpump");
        assert_eq!(stem("häus"), "hx6ehlc5lo7w");
        assert_eq!(pair("to", "be"), pair("to", "be"));
        assert_ne!(pair("to", "be"), pair("be", "to"));
        assert_ne!(pair("a", "bc"), pair("ab", "c"));
        assert_ne!(stem("c++"), stem("c#"));
        assert!(stem(&"x".repeat(100)).len() < 20);
    }

    proptest! {
        #[test]
        fn every_term_is_ascii_letters_and_digits(text in "\\PC{0,40}", other in "\\PC{0,10}") {
            for token in [stem(&text), word(&text), pair(&text, &other)] {
                prop_assert!(token.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()));
                prop_assert!((1..=MAX_PLAIN + 1).contains(&token.len()));
            }
        }

        #[test]
        fn kinds_are_told_apart(text in "[a-z0-9ä]{1,30}") {
            prop_assert_ne!(stem(&text), word(&text));
        }
    }
}
