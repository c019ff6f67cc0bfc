//! Terms of documents, for engines that index the output of our own analysis.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use retrieval_core::analysis::{Analyzers, Language};

use crate::IndexDocument;

/// Weight of a title term, added to its occurrence in the body, which mostly repeats the title.
///
/// Fields are weighted by multiplying term frequencies (as in BM25F), so that one length and one document frequency
/// serve all fields.
pub const TITLE_WEIGHT: u32 = 2;
/// Weight of a term in headings and description. The body repeats headings too.
pub const HEADINGS_WEIGHT: u32 = 1;
/// Weight of a term in the body.
pub const BODY_WEIGHT: u32 = 1;

/// Receiver of the terms of a document. A term may be reported several times, in any order.
pub trait TermSink {
    /// Adds `times` occurrences of a stem.
    fn term(&mut self, stem: &str, times: u32);
    /// Adds the next word of the running text, unstemmed.
    fn word(&mut self, word: &str);
    /// Ends a field or a line, which phrases do not cross.
    fn phrase_break(&mut self);
}

/// Returns the languages of documents, most common first, given their codes with numbers of documents. Unknown codes count as
/// English, as in analysis. A code may come several times.
pub fn languages_by_frequency<'a>(documents: impl IntoIterator<Item = (&'a str, u64)>) -> Vec<Language> {
    let mut counts: BTreeMap<Language, u64> = BTreeMap::new();
    for (code, documents) in documents.into_iter().filter(|(_, documents)| *documents > 0) {
        *counts.entry(Language::from_code(code).unwrap_or(Language::English)).or_default() += documents;
    }
    let mut languages: Vec<(Language, u64)> = counts.into_iter().collect();
    languages.sort_by_key(|(language, documents)| (Reverse(*documents), *language));
    languages.into_iter().map(|(language, _)| language).collect()
}

/// Sends all terms and words of a document to the sink. Returns the number of words in the body.
pub fn index_terms(document: &IndexDocument, analyzers: &mut Analyzers, sink: &mut impl TermSink) -> u64 {
    let language = document.language.as_deref().and_then(Language::from_code);
    let analyzer = analyzers.of(language);
    let mut field = |text: &str, times: u32| {
        let mut words = 0;
        analyzer.tokens(text, |token| {
            sink.term(token.stem, times);
            if let Some(stem) = token.loose_stem {
                sink.term(stem, times);
            }
            if token.kind.is_positional() {
                sink.word(token.word);
                words += 1;
            }
        });
        sink.phrase_break();
        words
    };
    field(&document.title, TITLE_WEIGHT);
    for line in document.headings.lines() {
        field(line, HEADINGS_WEIGHT);
    }
    field(&document.body, BODY_WEIGHT)
}

/// Rounds a length to steps of about 3 %, so that there are few distinct values to count. Exact below 64 words.
pub fn rounded_length(words: u64) -> u32 {
    let words = u32::try_from(words).unwrap_or(u32::MAX);
    let digits = u32::BITS - words.leading_zeros();
    let dropped = digits.saturating_sub(6);
    let half = if dropped == 0 { 0 } else { 1 << (dropped - 1) };
    (words >> dropped << dropped) | half
}

/// Iterates over a host and its parent domains: `a.example.com`, `example.com`, `com`. An IP address has no parents.
pub fn domain_suffixes(host: &str) -> impl Iterator<Item = &str> {
    let is_address = host.starts_with('[') || host.parse::<std::net::IpAddr>().is_ok();
    let mut rest = Some(host).filter(|host| !host.is_empty());
    std::iter::from_fn(move || {
        let domain = rest?;
        rest = if is_address { None } else { domain.split_once('.').map(|(_, parent)| parent) };
        Some(domain)
    })
}

/// Maximum number of segments of an indexed path prefix.
const MAX_SEGMENTS: usize = 8;
/// Maximum length of an indexed path prefix in bytes, below what every engine accepts as a value.
const MAX_PATH_BYTES: usize = 400;

/// Iterates over the prefixes of a path that engines index, shortest first: `/docs`, `/docs/guide`. The path `/` has none.
/// Prefixes of many segments or bytes are left out.
pub fn path_prefixes(path: &str) -> impl Iterator<Item = &str> {
    let path = path.trim_end_matches('/');
    let borders = path.match_indices('/').map(|(at, _)| at).chain(std::iter::once(path.len())).filter(|end| *end > 0);
    borders.take_while(|end| *end <= MAX_PATH_BYTES).take(MAX_SEGMENTS).map(|end| &path[..end])
}

/// A site of a filter, as engines look it up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Site<'a> {
    pub domain: &'a str,
    /// The longest indexed prefix of the path; `None` for the whole domain.
    pub path: Option<&'a str>,
    /// True if the prefix is the whole path. If not, the site matches too much.
    pub is_exact: bool,
}

impl<'a> Site<'a> {
    /// Splits a normalized site: `example.com/docs`.
    pub fn of(site: &'a str) -> Self {
        let (domain, path) = site.split_at(site.find('/').unwrap_or(site.len()));
        let longest = path_prefixes(path).last();
        Self { domain, path: longest, is_exact: longest.unwrap_or_default() == path }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domain_suffixes_split_at_dots() {
        assert_eq!(domain_suffixes("a.example.com").collect::<Vec<_>>(), ["a.example.com", "example.com", "com"]);
        assert_eq!(domain_suffixes("10.0.0.1").collect::<Vec<_>>(), ["10.0.0.1"]);
        assert_eq!(domain_suffixes("[::1]").collect::<Vec<_>>(), ["[::1]"]);
        assert_eq!(domain_suffixes("").count(), 0);
    }

    #[test]
    fn path_prefixes_end_at_segments_within_limits() {
        assert_eq!(
            path_prefixes("/docs/guide/a.html").collect::<Vec<_>>(),
            ["/docs", "/docs/guide", "/docs/guide/a.html"]
        );
        assert_eq!(path_prefixes("/docs/").collect::<Vec<_>>(), ["/docs"]);
        assert_eq!(path_prefixes("/").chain(path_prefixes("")).count(), 0);
        assert_eq!(path_prefixes(&"/a".repeat(20)).last(), Some(&*"/a".repeat(8)));
        assert_eq!(path_prefixes(&format!("/a/{}", "b".repeat(500))).collect::<Vec<_>>(), ["/a"]);
    }

    #[test]
    fn sites_are_split_at_the_path() {
        assert_eq!(Site::of("example.com"), Site { domain: "example.com", path: None, is_exact: true });
        assert_eq!(Site::of("[::1]/a/b"), Site { domain: "[::1]", path: Some("/a/b"), is_exact: true });
        let deep = format!("example.com{}", "/a".repeat(9));
        let path = "/a".repeat(8);
        assert_eq!(Site::of(&deep), Site { domain: "example.com", path: Some(&path), is_exact: false });
        let long = format!("example.com/{}", "b".repeat(500));
        assert_eq!(Site::of(&long), Site { domain: "example.com", path: None, is_exact: false });
    }

    #[test]
    fn languages_are_ordered_by_documents() {
        let counts = [("fr", 2), ("de", 3), ("xx", 1), ("", 1), ("fr", 2), ("it", 0)];
        assert_eq!(languages_by_frequency(counts), [Language::French, Language::German, Language::English]);
        assert_eq!(languages_by_frequency([]), []);
    }

    #[test]
    fn length_rounding_error_is_bounded() {
        for words in (0..64).chain([64, 100, 999, 12_345, 9_999_999]) {
            let rounded = rounded_length(words) as f64;
            assert!((rounded - words as f64).abs() <= words as f64 * 0.016, "{words} became {rounded}");
        }
        assert!((0..64).all(|words| u64::from(rounded_length(words)) == words));
        assert!(rounded_length(u64::MAX) > 0);
    }
}
