//! Choice of the parts of a long content in which a quote may be.

use docstore::PartMap;
use retrieval_core::analysis::{Analyzers, TokenKind};
use retrieval_core::chars;
use retrieval_core::quotes::Quote;
use retrieval_core::sections::{Buckets, PhraseSections, SectionQuery};

use super::Citation;

/// Parts that are searched for the nearest text, each with its neighbours: a quote may begin in one and end in the next.
const SIMILAR_PARTS: usize = 3;

/// Returns the parts at the presumed place of a quote.
pub fn presumed(citation: &Citation, map: &PartMap) -> Vec<usize> {
    let quote = Quote { text: &citation.quote, start: citation.char_start, end: citation.char_end };
    let Some(start) = quote.presumed_start() else { return Vec::new() };
    map.parts_of_chars(&(start..start.saturating_add(chars::count(&citation.quote)))).collect()
}

/// Lookup of the parts that have the words of a quote.
pub struct Lookup<'a> {
    map: &'a PartMap,
    /// `None` if any part may have the quote.
    phrase: Option<PhraseSections>,
    query: SectionQuery,
}

impl<'a> Lookup<'a> {
    pub fn new(quote: &str, language: Option<&str>, map: &'a PartMap) -> Self {
        Self {
            map,
            phrase: whole_words(quote).map(|words| PhraseSections::new([words], map.count())),
            query: SectionQuery::new(quote, language, map.count()),
        }
    }

    /// Returns the numbers of the buckets that [`whole`](Self::whole) and [`parts`](Self::parts) need.
    pub fn buckets(&self) -> Vec<usize> {
        let mut buckets = self.phrase.as_ref().map(PhraseSections::buckets).unwrap_or_default();
        buckets.extend(self.query.buckets());
        buckets.sort_unstable();
        buckets.dedup();
        buckets
    }

    /// Returns the parts that may have the quote as it is, in order.
    pub fn whole(&self, buckets: &Buckets) -> Vec<usize> {
        match &self.phrase {
            Some(phrase) => phrase.runs(buckets).into_iter().flatten().collect(),
            None => (0..self.map.count()).collect(),
        }
    }

    /// Returns the parts to compare with, in order, of `limit` bytes at most: those at the presumed place, then the most similar
    /// ones, then those that may have the quote as it is, then the first.
    pub fn parts(&self, buckets: &Buckets, presumed: &[usize], mut whole: Vec<usize>, limit: usize) -> Vec<usize> {
        let near = presumed.first().copied().unwrap_or(0);
        // The words at the ends of the quote say which of many parts has it, although they may be incomplete.
        let scores = self.query.scores(buckets);
        whole.sort_by(|one, other| {
            scores[*other].total_cmp(&scores[*one]).then_with(|| one.abs_diff(near).cmp(&other.abs_diff(near)))
        });
        let neighbours = |part: usize| [part, part + 1, part.saturating_sub(1)];
        let similar = self.query.best(buckets).into_iter().take(SIMILAR_PARTS).flat_map(neighbours);
        let candidates = presumed.iter().copied().chain(similar).chain(whole).chain(0..self.map.count());
        let mut chosen = Vec::new();
        let mut left = limit;
        for part in candidates.filter(|part| *part < self.map.count()) {
            if chosen.contains(&part) {
                continue;
            }
            let Some(rest) = left.checked_sub(self.map.bytes(part..part + 1)) else { break };
            left = rest;
            chosen.push(part);
        }
        chosen.sort_unstable();
        chosen
    }
}

/// Divides parts, which are in order, into steps of about `limit` bytes. Neighbours in different steps are compared together: the
/// latter step repeats the last part of the former.
pub fn steps(parts: impl IntoIterator<Item = usize>, map: &PartMap, limit: usize) -> Vec<Vec<usize>> {
    let mut steps: Vec<Vec<usize>> = Vec::new();
    let mut left = 0;
    for part in parts {
        let bytes = map.bytes(part..part + 1);
        match steps.last_mut() {
            Some(step) if bytes <= left => step.push(part),
            last => {
                let before = last.and_then(|step| step.last().copied()).filter(|before| before + 1 == part);
                steps.push(before.into_iter().chain([part]).collect());
                left = limit;
            }
        }
        left = left.saturating_sub(bytes);
    }
    steps
}

/// Returns a quote without its first and last words, which may be parts of words. If nothing remains, all of it in scripts without
/// spaces, where each character is looked up; otherwise `None`, since parts of words cannot be.
fn whole_words(quote: &str) -> Option<&str> {
    let inner = quote.find(char::is_whitespace).zip(quote.rfind(char::is_whitespace));
    let inner = inner.and_then(|(first, last)| quote.get(first..last)).unwrap_or_default();
    if !inner.trim().is_empty() {
        return Some(inner);
    }
    let mut has_words = false;
    Analyzers::default().of(None).tokens(quote, |token| has_words |= token.kind == TokenKind::Word);
    (!has_words).then_some(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_at_the_ends_may_be_incomplete() {
        assert_eq!(whole_words("eat pumps work in win").map(str::trim), Some("pumps work in"));
        assert_eq!(whole_words(" pumps ").map(str::trim), Some("pumps"));
        for none in ["eat pumps", "pumps", "水 pum"] {
            assert_eq!(whole_words(none), None, "{none}");
        }
        for all in ["中で眠", "中で 眠", " \u{a0} ", ""] {
            assert_eq!(whole_words(all), Some(all));
        }
    }
}
