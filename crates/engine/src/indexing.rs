//! What an engine that does its own analysis keeps of a document.

use retrieval_core::analysis::{Analyzers, Language};

use crate::IndexDocument;

/// How often a title's term counts. The body mostly repeats the title, so it counts once more there.
/// Fields are weighed by counting terms more often (as BM25F does), so that one length and one document
/// frequency serve all fields.
pub const TITLE_WEIGHT: u32 = 2;
/// How often a term of headings and description counts; the body repeats headings too.
pub const HEADINGS_WEIGHT: u32 = 1;
/// How often a term of the body counts.
pub const BODY_WEIGHT: u32 = 1;

/// Receives a document's terms. Any order, any number of times the same term.
pub trait TermSink {
    /// A stem occurs `times` times.
    fn term(&mut self, stem: &str, times: u32);
    /// The next word of the running text, unstemmed.
    fn word(&mut self, word: &str);
    /// No phrase reaches over this place.
    fn gap(&mut self);
}

/// Feeds all terms and words of the document to the sink. Returns the number of words of the body.
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
        sink.gap();
        words
    };
    field(&document.title, TITLE_WEIGHT);
    for line in document.headings.lines() {
        field(line, HEADINGS_WEIGHT);
    }
    field(&document.body, BODY_WEIGHT)
}

/// The host and every domain that it is inside of: `a.example.com`, `example.com`, `com`. An IP address is
/// inside of nothing.
pub fn domains_of(host: &str) -> impl Iterator<Item = &str> {
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
    fn domains_are_suffixes_at_dots() {
        assert_eq!(domains_of("a.example.com").collect::<Vec<_>>(), ["a.example.com", "example.com", "com"]);
        assert_eq!(domains_of("10.0.0.1").collect::<Vec<_>>(), ["10.0.0.1"]);
        assert_eq!(domains_of("[::1]").collect::<Vec<_>>(), ["[::1]"]);
        assert_eq!(domains_of("").count(), 0);
    }
}
