//! Comparison of quotes with the content of one capture.

use std::collections::BTreeSet;
use std::sync::Arc;

use docstore::{LoadedPart, PartMap};
use model::{CaptureId, OrganizationId};
use retrieval_core::quotes::{self, Comparison, Piece, Quote};

use super::{Citation, Source, parts};
use crate::content_budget::steps;
use crate::error::Result;
use crate::{App, Error};

/// Divided content of a capture.
struct Divided<'a> {
    capture_id: CaptureId,
    map: &'a PartMap,
    language: Option<&'a str>,
}

/// Comparison of a quote with some parts of a long content.
struct Compared {
    comparison: Comparison,
    /// Parts that may have the quote, unless all of them were compared or one has it.
    may_have: Vec<usize>,
}

impl App {
    /// Compares quotes with a capture. Of a content that is too long to be read at once, it reads the parts where each quote may be.
    pub(super) async fn compare(
        &self,
        organization_id: OrganizationId,
        source: Source,
        citations: Vec<Citation>,
    ) -> Result<Vec<Comparison>> {
        let Source { stored, language } = source;
        let capture = stored.capture;
        let Some(map) = &capture.parts else {
            let pieces = vec![Piece { text: capture.content, char_start: 0 }];
            return self.compare_with(organization_id, pieces, citations, quotes::compare).await;
        };
        let divided = Divided { capture_id: capture.capture_id, map, language: language.as_deref() };
        if map.end().byte <= self.options.read_limits.selection_bytes {
            let all: Vec<usize> = (0..map.count()).collect();
            return self.compare_with_parts(organization_id, &divided, &all, citations, quotes::compare).await;
        }
        let mut comparisons = Vec::with_capacity(citations.len());
        let (mut unread, mut open) = (BTreeSet::new(), Vec::new());
        for (index, citation) in citations.into_iter().enumerate() {
            let Compared { comparison, may_have } =
                self.compare_long(organization_id, &divided, citation.clone()).await?;
            comparisons.push(comparison);
            if !may_have.is_empty() {
                unread.extend(may_have);
                open.push((index, citation));
            }
        }
        self.locate(organization_id, &divided, unread, open, &mut comparisons).await?;
        Ok(comparisons)
    }

    /// Looks for quotes in further parts, in order, and replaces the comparisons of those that are there. One pass in steps of the limit
    /// serves all quotes: at worst it reads the content once.
    async fn locate(
        &self,
        organization_id: OrganizationId,
        divided: &Divided<'_>,
        parts: BTreeSet<usize>,
        mut open: Vec<(usize, Citation)>,
        comparisons: &mut [Comparison],
    ) -> Result<()> {
        for step in parts::steps(parts, divided.map, self.options.read_limits.selection_bytes) {
            if open.is_empty() {
                break;
            }
            let citations = open.iter().map(|(_, citation)| citation.clone()).collect();
            let located = self.compare_with_parts(organization_id, divided, &step, citations, quotes::locate).await?;
            let mut located = located.into_iter();
            open.retain(|(index, _)| match located.next().flatten() {
                Some(comparison) => {
                    comparisons[*index] = comparison;
                    false
                }
                None => true,
            });
        }
        Ok(())
    }

    /// Compares a quote with a long content: first at its presumed place, then in the parts that have its words, within the limit.
    async fn compare_long(
        &self,
        organization_id: OrganizationId,
        divided: &Divided<'_>,
        citation: Citation,
    ) -> Result<Compared> {
        let found = |comparison| Compared { comparison, may_have: Vec::new() };
        let compare = async |parts: &[usize]| {
            let citations = vec![citation.clone()];
            let compared = self.compare_with_parts(organization_id, divided, parts, citations, quotes::compare).await?;
            Ok::<_, Error>(compared.into_iter().next().unwrap_or(Comparison::Missing))
        };
        let presumed = parts::presumed(&citation, divided.map);
        if !presumed.is_empty()
            && let exact @ Comparison::Exact(_) = compare(&presumed).await?
        {
            return Ok(found(exact));
        }
        let lookup = parts::Lookup::new(&citation.quote, divided.language, divided.map);
        let wanted = vec![(divided.capture_id, lookup.buckets())];
        let buckets = self.store.load_terms(organization_id, wanted).await?;
        let buckets = buckets.into_iter().map(|bucket| (bucket.bucket, bucket.lists)).collect();
        let may_have = lookup.whole(&buckets);
        let chosen = lookup.parts(&buckets, &presumed, may_have.clone(), self.options.read_limits.selection_bytes);
        let comparison = compare(&chosen).await?;
        let is_found = matches!(comparison, Comparison::Exact(_) | Comparison::Moved(_));
        let is_complete = may_have.iter().all(|part| chosen.binary_search(part).is_ok());
        Ok(if is_found || is_complete { found(comparison) } else { Compared { comparison, may_have } })
    }

    async fn compare_with_parts<T: Send + 'static>(
        &self,
        organization_id: OrganizationId,
        divided: &Divided<'_>,
        parts: &[usize],
        citations: Vec<Citation>,
        compare: Compare<T>,
    ) -> Result<Vec<T>> {
        let bytes: usize = parts.iter().map(|part| divided.map.bytes(*part..part + 1)).sum();
        // The pieces, and what the search for the nearest text computes.
        let permit = self.contents.reserve(organization_id, 3 * bytes).await;
        let mut pieces: Vec<Piece> = Vec::new();
        let mut next = None;
        self.load_in_order(organization_id, divided.capture_id, parts, |LoadedPart { part, content, .. }| {
            match pieces.last_mut().filter(|_| next == Some(part)) {
                Some(piece) => piece.text.push_str(&content),
                None => pieces.push(Piece { text: content, char_start: divided.map.start(part).char }),
            }
            next = Some(part + 1);
        })
        .await?;
        let compared = self.compare_with(organization_id, pieces, citations, compare).await;
        drop(permit);
        compared
    }

    /// Compares on, off the runtime's threads, a few quotes at a time.
    async fn compare_with<T: Send + 'static>(
        &self,
        organization_id: OrganizationId,
        pieces: Vec<Piece>,
        citations: Vec<Citation>,
        compare: Compare<T>,
    ) -> Result<Vec<T>> {
        let bytes: usize = pieces.iter().map(|piece| piece.text.len()).sum();
        let pieces = Arc::new(pieces);
        let mut comparisons = Vec::with_capacity(citations.len());
        for step in steps(citations, |citation| bytes + LEAST_BYTES + citation.quote.len()) {
            let pieces = Arc::clone(&pieces);
            let computing = self.contents.compute(organization_id, bytes, move |stop| {
                let step = step.into_iter().take_while(|_| !stop.is_stopped());
                step.map(|citation| compare(&quote(&citation), &pieces)).collect::<Vec<_>>()
            });
            comparisons.extend(computing.await?);
        }
        Ok(comparisons)
    }
}

/// Comparison of a quote with pieces.
type Compare<T> = fn(&Quote<'_>, &[Piece]) -> T;

/// Bytes that a comparison counts at least, for the alignment of a changed quote.
const LEAST_BYTES: usize = 32 << 10;

fn quote(citation: &Citation) -> Quote<'_> {
    Quote { text: &citation.quote, start: citation.char_start, end: citation.char_end }
}
