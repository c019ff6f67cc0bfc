//! Near-duplicates: passages that share most of their words, and sentences that say the same.

use std::collections::BTreeSet;
use std::iter;

use retrieval_core::{plain, sentences};

/// Components of a fingerprint (Broder, "On the resemblance and containment of documents", 1997).
const COMPONENTS: usize = 24;

/// Equal components of near-duplicates: an estimated resemblance of 0.6. One changed sentence of five keeps more.
const SAME_COMPONENTS: usize = 14;

/// Words of a shingle.
const SHINGLE: usize = 3;

/// Returns the minima of [`COMPONENTS`] hash functions over the shingles of a text. Empty for a text without words.
pub(crate) fn fingerprint(text: &str) -> Vec<u32> {
    let words = word_hashes(text);
    if words.is_empty() {
        return Vec::new();
    }
    let mut minima = vec![u32::MAX; COMPONENTS];
    for shingle in words.windows(SHINGLE.min(words.len())) {
        let hash = shingle.iter().fold(0, |hash, word| mix(hash ^ word));
        let mut value = hash;
        for least in &mut minima {
            value = mix(value);
            *least = (*least).min((value >> 32) as u32);
        }
    }
    minima
}

/// Returns true if the texts of two fingerprints resemble each other.
pub(crate) fn resemble(one: &[u32], other: &[u32]) -> bool {
    one.len() == COMPONENTS && one.iter().zip(other).filter(|(one, other)| one == other).count() >= SAME_COMPONENTS
}

/// Words and wording of a sentence, for comparison with others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gist {
    words: BTreeSet<u64>,
    wording: String,
}

impl Gist {
    pub fn of(text: &str) -> Self {
        Self { words: word_hashes(text).into_iter().collect(), wording: wording(text) }
    }

    /// Shared words by all words: 0 to 1.
    pub fn resemblance(&self, other: &Self) -> f64 {
        let shared = self.words.intersection(&other.words).count();
        let all = self.words.len() + other.words.len() - shared;
        if all == 0 { 0.0 } else { shared as f64 / all as f64 }
    }

    /// Returns true if the other has all words of this one, which has some.
    pub fn is_within(&self, other: &Self) -> bool {
        !self.words.is_empty() && self.words.is_subset(&other.words)
    }

    /// Returns true if both have the same [`wording`]. Sentences that differ in one word may contradict each other.
    pub fn says_the_same(&self, other: &Self) -> bool {
        !self.wording.is_empty() && self.wording == other.wording
    }
}

/// Returns the wordings of the sentences and headings of a passage.
pub(crate) fn wordings(text: &str) -> BTreeSet<String> {
    let mut wordings = BTreeSet::new();
    let mut end = 0;
    for unit in sentences::units(text).into_iter().chain(iter::once(text.len()..text.len())) {
        // Headings stand between the sentences.
        wordings.insert(wording(text.get(end..unit.start).unwrap_or_default()));
        end = unit.end;
        wordings.insert(wording(&text[unit]));
    }
    wordings.remove("");
    wordings
}

/// Returns a sentence as its reader sees it: without Markdown marks, the bullet of a list and the closing mark, and with plain
/// quotation marks and dashes.
///
/// All the rest counts: a word or its place, a sign, a separator of digits, or the case of a unit (`mW`, `MW`) can make
/// the opposite of a statement, and no list of harmless words is complete for all languages.
fn wording(text: &str) -> String {
    // The separator shows which cells of a row are empty.
    let plain = plain::from_markdown(text).replace('\t', ", ");
    let mut wording = String::with_capacity(plain.len());
    for word in plain.strip_prefix("- ").unwrap_or(&plain).split_whitespace() {
        // Beside scripts without spaces, white space is a line break or a matter of style.
        if !wording.is_empty() && !wording.ends_with(is_unspaced) && !word.starts_with(is_unspaced) {
            wording.push(' ');
        }
        wording.extend(word.chars().map(common_form));
    }
    let rest = wording.strip_suffix(['.', '!', '。', '！', '．', '｡', '।']).unwrap_or(&wording);
    rest.trim_end().to_owned()
}

/// Unifies quotation marks and dashes, which copies of a text replace.
fn common_form(c: char) -> char {
    match c {
        '“' | '”' | '„' | '‟' | '«' | '»' => '"',
        '‘' | '’' | '‚' | '‛' => '\'',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => '-',
        other => other,
    }
}

/// Returns a hash of each word in lowercase; of each character in scripts without spaces.
fn word_hashes(text: &str) -> Vec<u64> {
    let mut hashes = Vec::new();
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_alphanumeric() && !is_unspaced(c) {
            word.extend(c.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            hashes.push(hash(word.as_bytes()));
            word.clear();
        }
        if c.is_alphanumeric() {
            hashes.push(hash(c.encode_utf8(&mut [0; 4]).as_bytes()));
        }
    }
    hashes
}

/// Matches scripts without spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// FNV-1a: stored fingerprints must not depend on the version of the standard library.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Finalizer of SplitMix64.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_word_keeps_the_resemblance_and_another_text_does_not() {
        let text = "The pump runs at thirty bar and must be serviced every year by trained staff. Grease the bearing \
                    with NLGI 2 before the first start. Close the valve when the pump stops.";
        let changed = text.replace("trained", "qualified");
        assert!(resemble(&fingerprint(text), &fingerprint(&changed)));
        let other = "Bearings of other makers need oil. Valves open at start.";
        assert!(!resemble(&fingerprint(text), &fingerprint(other)));
        assert!(!resemble(&fingerprint(""), &fingerprint("")));
    }

    #[test]
    fn sentences_with_other_numbers_are_not_the_same() {
        let gist = Gist::of("The pump runs at 30 bar in normal use.");
        assert!(gist.says_the_same(&Gist::of("The pump runs at 30 bar in normal use!")));
        assert!(!gist.says_the_same(&Gist::of("The pump runs at 40 bar in normal use.")));
        for (one, other) in [
            ("1.5 bar", "15 bar"),
            ("1.5 bar", "1,5 bar"),
            ("15 bar", "15 psi"),
            ("5 g", "5 kg"),
            ("5 mW", "5 MW"),
            ("-4 °C", "4 °C"),
            ("−4 °C", "4 °C"),
            ("4 °C", "4 °F"),
            ("< 4 bar", "> 4 bar"),
            ("4 %", "4 ‰"),
            ("$4", "€4"),
            ("4-5 bar", "4, 5 bar"),
            ("٣٠ bar", "٤٠ bar"),
            ("३० bar", "४० bar"),
            ("３０ bar", "４０ bar"),
        ] {
            let gist = |value: &str| Gist::of(&format!("The pump runs at {value} in normal use of the plant."));
            assert!(!gist(one).says_the_same(&gist(other)), "{one} {other}");
            assert!(gist(one).says_the_same(&gist(one)), "{one}");
        }
    }

    #[test]
    fn sentences_with_another_meaning_are_not_the_same() {
        for (one, other) in [
            ("The bearing of the pump must be greased.", "The bearing of the pump must not be greased."),
            ("The bearing of the pump needs oil at start.", "The bearing of the pump never needs oil at start."),
            ("The bearing of the pump can be greased.", "The bearing of the pump can't be greased."),
            ("The LM310 controller drives two motors.", "The LM420 controller drives two motors."),
            ("The bearing of the pump takes grease type a.", "The bearing of the pump takes grease type b."),
            ("The bearing of the pump takes grease type C.", "The bearing of the pump takes grease type C++."),
            ("The bearing of the pump takes mineral oil.", "The bearing of the pump takes castor oil."),
            ("All bearings of the pump must be greased.", "Some bearings of the pump must be greased."),
            ("Grease the bearing before the start.", "Grease the bearing after the start."),
            ("The old valve replaces the new pump.", "The new pump replaces the old valve."),
            ("The bearing of the pump is greased.", "The bearing of the pump is greased?"),
            ("Das Lager der Pumpe muss gefettet werden.", "Das Lager der Pumpe muss nie gefettet werden."),
            ("Il faut graisser le palier de la pompe.", "Il ne faut pas graisser le palier de la pompe."),
            ("Насос нужно смазывать каждый год.", "Насос не нужно смазывать каждый год."),
            ("ポンプの軸受は毎年潤滑する必要がある。", "ポンプの軸受は毎年潤滑する必要はない。"),
            ("水泵的轴承每年必须加润滑油。", "水泵的轴承每年不必加润滑油。"),
            ("水泵的压力是30巴。", "水泵的压力是40巴。"),
            ("甲泵比乙泵更大。", "乙泵比甲泵更大。"),
            ("| X200 | yes |  | no |", "| X200 |  | yes | no |"),
        ] {
            let (one_gist, other_gist) = (Gist::of(one), Gist::of(other));
            assert!(!one_gist.says_the_same(&other_gist) && !other_gist.says_the_same(&one_gist), "{one} {other}");
        }
        assert!(!Gist::of("").says_the_same(&Gist::of("<!-- -->")), "nothing says nothing");
    }

    #[test]
    fn words_are_within_a_sentence_that_has_them_all() {
        let sentence = Gist::of("The legal form of Acme is a GmbH.");
        assert!(Gist::of("Acme GmbH").is_within(&sentence) && sentence.is_within(&sentence));
        assert!(!Gist::of("Acme AG").is_within(&sentence) && !sentence.is_within(&Gist::of("Acme GmbH")));
        assert!(!Gist::of("").is_within(&sentence));
    }

    #[test]
    fn form_of_a_sentence_changes_nothing() {
        for (one, other) in [
            ("The pump's bearing takes \"NLGI 2\" grease.", "- The **pump’s** bearing\ntakes “NLGI 2” grease"),
            ("The pump takes grease at 5-10 bar.", "The [pump](https://a.example/x) takes grease at 5–10 bar."),
            ("水泵的压力是30巴。", "水泵的压力是 30\n巴！"),
        ] {
            assert!(Gist::of(one).says_the_same(&Gist::of(other)), "{one} {other}");
        }
    }

    #[test]
    fn passages_have_the_wordings_of_their_sentences_and_headings() {
        let text = "# X200\n\nThe pump takes grease. Close the valve!\n\n## Service\n";
        let expected = ["Close the valve", "Service", "The pump takes grease", "X200"];
        assert_eq!(wordings(text).into_iter().collect::<Vec<_>>(), expected);
        assert_eq!(wordings(text), wordings("## Service\n\nClose the valve. The pump takes grease.\n\n# X200\n"));
        assert_ne!(wordings(text), wordings(&text.replace("X200", "X300")));
        assert!(wordings("").is_empty() && wordings("---\n").is_empty());
    }
}
