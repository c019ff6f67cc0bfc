//! Comparison of quotes with the content of one capture.

use std::sync::Arc;

use docstore::{LoadedPart, PartMap};
use model::{CaptureId, OrganizationId};
use retrieval_core::quotes::{self, Comparison, Piece, Quote};

use super::{Citation, Source, parts};
use crate::App;
use crate::content_budget::steps;
use crate::error::Result;

/// Divided content of a capture.
struct Divided<'a> {
    capture_id: CaptureId,
    map: &'a PartMap,
    language: Option<&'a str>,
}

impl App {
    /// Compares quotes with a capture. Of a content that is too long to be read whole, it reads the parts where each quote may be.
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
            return self.compare_with(organization_id, pieces, citations).await;
        };
        let divided = Divided { capture_id: capture.capture_id, map, language: language.as_deref() };
        if map.end().byte <= self.options.read_limits.selection_bytes {
            let all: Vec<usize> = (0..map.count()).collect();
            return self.compare_with_parts(organization_id, &divided, &all, citations).await;
        }
        let mut comparisons = Vec::with_capacity(citations.len());
        for citation in citations {
            comparisons.push(self.compare_long(organization_id, &divided, citation).await?);
        }
        Ok(comparisons)
    }

    /// Compares a quote with a long content: first at its presumed place, then in the parts that have its words.
    async fn compare_long(
        &self,
        organization_id: OrganizationId,
        divided: &Divided<'_>,
        citation: Citation,
    ) -> Result<Comparison> {
        let presumed = parts::presumed(&citation, divided.map);
        if !presumed.is_empty() {
            let at_place =
                self.compare_with_parts(organization_id, divided, &presumed, vec![citation.clone()]).await?.pop();
            if let Some(exact @ Comparison::Exact(_)) = at_place {
                return Ok(exact);
            }
        }
        let lookup = parts::Lookup::new(&citation.quote, divided.language, divided.map);
        let wanted = vec![(divided.capture_id, lookup.buckets())];
        let buckets = self.store.load_terms(organization_id, wanted).await?;
        let buckets = buckets.into_iter().map(|bucket| (bucket.bucket, bucket.lists)).collect();
        let chosen = lookup.parts(&buckets, &presumed, self.options.read_limits.selection_bytes);
        let compared = self.compare_with_parts(organization_id, divided, &chosen, vec![citation]).await?.pop();
        Ok(compared.unwrap_or(Comparison::Missing))
    }

    async fn compare_with_parts(
        &self,
        organization_id: OrganizationId,
        divided: &Divided<'_>,
        parts: &[usize],
        citations: Vec<Citation>,
    ) -> Result<Vec<Comparison>> {
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
        let compared = self.compare_with(organization_id, pieces, citations).await;
        drop(permit);
        compared
    }

    /// Compares on, off the runtime's threads, a few quotes at a time.
    async fn compare_with(
        &self,
        organization_id: OrganizationId,
        pieces: Vec<Piece>,
        citations: Vec<Citation>,
    ) -> Result<Vec<Comparison>> {
        let bytes: usize = pieces.iter().map(|piece| piece.text.len()).sum();
        let pieces = Arc::new(pieces);
        let mut comparisons = Vec::with_capacity(citations.len());
        for step in steps(citations, |citation| bytes + LEAST_BYTES + citation.quote.len()) {
            let pieces = Arc::clone(&pieces);
            let computing = self.contents.compute(organization_id, bytes, move |stop| {
                let step = step.into_iter().take_while(|_| !stop.is_stopped());
                step.map(|citation| quotes::compare(&quote(&citation), &pieces)).collect::<Vec<_>>()
            });
            comparisons.extend(computing.await?);
        }
        Ok(comparisons)
    }
}

/// Bytes that a comparison counts at least, for the alignment of a changed quote.
const LEAST_BYTES: usize = 32 << 10;

fn quote(citation: &Citation) -> Quote<'_> {
    Quote { text: &citation.quote, start: citation.char_start, end: citation.char_end }
}
