#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::passages::{PassageSpan, split};

/// Identity of the bytes of [`samples`], for the version that it belongs to.
const PINNED: (u32, &str) = (5, "17ecb820-2f5d-56ff-8a6a-83aca485977b");

const LANGUAGES: [Option<&str>; 8] =
    [None, Some("en"), Some("de"), Some("fr"), Some("ja"), Some("ar"), Some("nb"), Some("tlh")];

/// Pieces of texts in several scripts, with headings, compounds, diacritics and numbers.
const PIECES: [&str; 16] = [
    "The pumps were painted blue. ",
    "# Pumps and valves\n\n",
    "## État civil\n\n",
    "une crème brûlée à la française, s'il vous plaît. ",
    "Die Wärmeübertragungsflüssigkeit fließt. ",
    "東京都の天気は晴れです。",
    "กรุงเทพมหานคร ",
    "الكتاب الجديد ",
    "parseUrl 10kg e-mail state-of-the-art A.B.C ",
    "- item one\n- item two\n\n",
    "| a | b |\n| - | - |\n| 1 | 2 |\n\n",
    "```rust\nfn main() {}\n```\n\n",
    "\u{301}\u{200b} ",
    "Ünïcödé ÀÉÎÕÜ naïve café ",
    "x ",
    "\n\n",
];

fn vector(title: &str, description: &str, content: &str, language: Option<&str>, limit: usize) -> TermVector {
    let passages = split(content);
    vector_of(&DocumentText { title, description, content, passages: &passages, language }, 0, limit)
}

/// Analyses the beginning of a content that continues for `more` bytes.
fn vector_of(document: &DocumentText<'_>, more: usize, limit: usize) -> TermVector {
    TermVector::of_prefix(document, document.content.len() + more, limit, &mut Analyzers::default())
}

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![8 => prop::sample::select(&PIECES[..]).prop_map(str::to_owned), 1 => ".{0,8}"];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn vectors() -> impl Strategy<Value = TermVector> {
    let limit = prop_oneof![Just(usize::MAX), 0..2_000_usize];
    let language = prop::sample::select(&LANGUAGES[..]);
    (texts(), texts(), texts(), language, limit, any::<bool>(), 0..2_usize).prop_map(
        |(title, description, content, language, limit, is_split, more)| {
            let passages = if is_split { split(&content) } else { Vec::new() };
            let (title, description, content, passages) = (&*title, &*description, &*content, &*passages);
            vector_of(&DocumentText { title, description, content, passages, language }, more, limit)
        },
    )
}

/// Ranks the vectors, which panics if an index in them is out of range.
fn rank(vectors: &[&TermVector]) -> Vec<Evidence> {
    let documents: Vec<Document<'_>> =
        vectors.iter().map(|terms| Document { terms, published_at: None, by_words: true }).collect();
    let query = Query { text: "blue pumps creme brulee 東京 parse url flüssig item", now: None };
    score(&query, &documents, &CollectionStatistics::default())
}

proptest! {
    #[test]
    fn vectors_survive_storage(vector in vectors()) {
        let bytes = vector.to_bytes();
        let stored = TermVector::from_bytes(&bytes);
        prop_assert_eq!(stored.as_ref(), Some(&vector));
        let stored = stored.unwrap();
        prop_assert_eq!(rank(&[&stored, &vector]), rank(&[&vector, &vector]));
        prop_assert_eq!(stored.covers(1_000), vector.covers(1_000));
    }

    #[test]
    fn truncated_bytes_are_rejected(vector in vectors(), cut in any::<prop::sample::Index>()) {
        let bytes = vector.to_bytes();
        prop_assert_eq!(TermVector::from_bytes(&bytes[..cut.index(bytes.len())]), None);
        prop_assert_eq!(TermVector::from_bytes(&[&bytes[..], &[0]].concat()), None);
    }

    #[test]
    fn damaged_bytes_are_rejected_or_can_be_ranked(
        vector in vectors(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        zeros in prop::option::of((any::<prop::sample::Index>(), 1..400_usize)),
    ) {
        let mut bytes = vector.to_bytes();
        for (position, value) in changes {
            let position = position.index(bytes.len());
            bytes[position] = value;
        }
        if let Some((start, length)) = zeros {
            let start = start.index(bytes.len());
            let end = bytes.len().min(start + length);
            bytes[start..end].fill(0);
        }
        if let Some(damaged) = TermVector::from_bytes(&bytes) {
            rank(&[&damaged]);
            rank(&[&damaged, &vector]);
            prop_assert_eq!(TermVector::from_bytes(&damaged.to_bytes()), Some(damaged));
        }
    }

    #[test]
    fn any_bytes_are_rejected_or_can_be_ranked(bytes in prop::collection::vec(0..24_u8, 0..64)) {
        if let Some(vector) = TermVector::from_bytes(&bytes) {
            rank(&[&vector]);
        }
    }
}

#[test]
fn a_vector_with_one_stem_twice_can_be_ranked() {
    let stem = vector("blue", "", "", None, usize::MAX).stems[0].to_le_bytes();
    // Two stems, a title of two tokens, and nothing else.
    let bytes = [&[0, 0, 0, 0, 2][..], &stem, &stem, &[2, 0, 2, 0, 0, 0, 0, 0, 0]].concat();
    rank(&[&TermVector::from_bytes(&bytes).unwrap()]);
}

#[test]
fn lengths_beyond_the_bytes_are_rejected() {
    let empty = vector("", "", "", None, 0).to_bytes();
    assert!(TermVector::from_bytes(&empty).is_some());
    for position in 0..empty.len() {
        let mut bytes = empty[..position].to_vec();
        crate::varint::push(&mut bytes, u64::MAX >> 1);
        bytes.extend_from_slice(&empty[position + 1..]);
        // The lengths of the content and of its analysed beginning may be any number.
        let is_length = position == 1 || position == 2;
        assert_eq!(TermVector::from_bytes(&bytes).is_some(), is_length, "{position}");
    }
}

#[test]
fn limits_beyond_the_content_make_no_difference() {
    let of = |limit| vector("Title", "", "some words about tides", None, limit);
    assert_eq!(of(100), of(usize::MAX));
    assert!(of(100).is_within(22) && of(100).is_within(0), "the only passage is always analysed");
    let sections: String = (0..9).map(|number| format!("# {number}\n\n{}\n\n", "some words ".repeat(60))).collect();
    let two = vector("", "", &sections, None, 1_500);
    assert!(two.is_within(1_500) && !two.is_within(700) && !two.covers(1_501));
}

#[test]
fn loose_stems_are_stored() {
    let vector = vector("Crème", "", "une crème brûlée", Some("fr"), usize::MAX);
    assert!(!vector.loose.is_empty());
    assert_eq!(TermVector::from_bytes(&vector.to_bytes()), Some(vector));
}

#[test]
fn a_word_takes_few_bytes() {
    let content =
        "Pumps move water through pipes. The pump of the station was repaired by the team last week. ".repeat(40);
    let vector = vector("Pumps", "", &content, Some("en"), usize::MAX);
    let bytes = vector.to_bytes().len();
    assert!(bytes < 2 * content.split_whitespace().count(), "{bytes}");
}

#[test]
fn key_depends_on_every_text_beside_the_content() {
    let key =
        |title, description, language| DocumentText { title, description, language, ..DocumentText::default() }.key();
    let keys = [
        key("", "", None),
        key("a", "", None),
        key("", "a", None),
        key("", "", Some("a")),
        key("a", "b", None),
        key("b", "a", None),
        key("ab", "", None),
    ];
    for (position, one) in keys.iter().enumerate() {
        assert!(!keys[..position].contains(one), "{position}");
    }
    let with_content = DocumentText { content: "text", ..DocumentText::default() };
    assert_eq!(with_content.key(), keys[0]);
}

/// Vectors of texts in several scripts.
fn samples() -> Vec<TermVector> {
    let content = PIECES.concat();
    let span = |ordinal: u32, bytes: std::ops::Range<usize>, section_path: &[&str]| PassageSpan {
        ordinal,
        bytes,
        chars: 0..0,
        section_heading: None,
        section_path: section_path.iter().map(|heading| (*heading).to_owned()).collect(),
    };
    // Made by hand, so that the splitting of texts makes no difference.
    let middle = content.floor_char_boundary(content.len() / 2);
    let passages = [span(0, 0..middle, &["Pumps"]), span(1, middle..content.len(), &["Pumps", "État civil"])];
    let sample = |language: &Option<&str>| {
        let (title, description) = ("Crème brûlée 10kg", "Die Flüsse des Landes, parseUrl");
        vector_of(
            &DocumentText { title, description, content: &content, passages: &passages, language: *language },
            0,
            usize::MAX,
        )
    };
    LANGUAGES.iter().map(sample).collect()
}

#[test]
fn analysis_and_format_are_those_of_the_version() {
    let bytes: Vec<u8> = samples().iter().flat_map(TermVector::to_bytes).collect();
    let keys = DocumentText { title: "Title", description: "Text", language: Some("en"), ..DocumentText::default() };
    let all = [&bytes[..], &keys.key().to_le_bytes()].concat();
    let found = Uuid::new_v5(&Uuid::NAMESPACE_OID, &all).to_string();
    assert_eq!(
        (TERMS_VERSION, found.as_str()),
        PINNED,
        "the same text has other stored terms than before: raise TERMS_VERSION by one, and pin the new version and identity here"
    );
}
