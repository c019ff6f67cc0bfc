//! Terms of documents, for engines that index the output of our own analysis.

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
}
