//! Scores of the documents of one segment.
//!
//! They are accumulated term at a time in an array, for one window of documents after another. This counts all matches exactly, takes the
//! best variant of a term and the best of several texts without nested scorers, and breaks ties by document id.

use engine::UnknownValues;
use retrieval_core::bm25::single as bm25;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::{DocId, SegmentReader, TERMINATED};
use uuid::Uuid;

use crate::filter::SegmentFilter;
use crate::posting_list::PostingList;
use crate::schema::names;
use crate::top_hits::TopHits;

/// Number of documents scored per window. Three arrays of this many scores fit into the CPU cache.
pub const WINDOW: usize = 16 * 1024;

/// Numbers of documents of all segments.
#[derive(Default)]
pub struct Counts {
    /// Matches.
    pub total: u64,
    /// Matches but for unknown values.
    pub unknown_values: UnknownValues,
}

/// Postings of the variants of a term in one segment, and its weight (query weight times IDF).
pub struct OpenTerm {
    pub variants: Vec<PostingList>,
    pub weight: f32,
}

/// Returns the first document that any of the terms has left, or `TERMINATED`.
pub fn next_doc<'a>(terms: impl Iterator<Item = &'a OpenTerm>) -> DocId {
    terms.flat_map(|term| &term.variants).map(PostingList::doc).min().unwrap_or(TERMINATED)
}

/// Fast fields of a segment that contain the two halves of document ids.
pub struct IdColumns {
    high: std::sync::Arc<dyn tantivy::columnar::ColumnValues<u64>>,
    low: std::sync::Arc<dyn tantivy::columnar::ColumnValues<u64>>,
}

impl IdColumns {
    pub fn open(reader: &SegmentReader) -> tantivy::Result<Self> {
        let column = |name| reader.fast_fields().column_first_or_default::<u64>(name);
        Ok(Self { high: column(names::ID_HIGH)?, low: column(names::ID_LOW)? })
    }

    pub fn id(&self, doc: DocId) -> model::DocId {
        model::DocId(Uuid::from_u64_pair(self.high.get_val(doc), self.low.get_val(doc)))
    }
}

/// Scores of one window, reset to zero after use. Arrays that a search does not need are empty.
#[derive(Default)]
pub struct Scratch {
    /// Scores of the best text.
    pub best: Vec<f32>,
    /// Scores of the current text.
    pub sum: Vec<f32>,
    /// Scores of the current term, if it has several variants.
    pub variant: Vec<f32>,
    /// Non-zero positions of `variant`.
    pub touched: Vec<DocId>,
    /// Positions of documents that may be among the best by the current text, and by any.
    pub candidates: Vec<DocId>,
    pub found: Vec<DocId>,
}

impl Scratch {
    /// Makes room for scores: with `sums`, also for those of single texts.
    pub fn prepare(&mut self, texts: &[Vec<OpenTerm>], sums: bool) {
        let has_variants = texts.iter().flatten().any(|term| term.variants.len() > 1);
        for (scores, needed) in [(&mut self.best, true), (&mut self.sum, sums), (&mut self.variant, has_variants)] {
            if needed {
                scores.resize(WINDOW, 0.0);
            }
        }
    }
}

pub struct SegmentSearch<'a> {
    pub filter: SegmentFilter,
    /// Length norms by the code of a length.
    pub norms: &'a [f32; 256],
    pub lengths: FieldNormReader,
    /// True for phrase searches, where every document that passes the filter matches, whatever its score.
    pub match_all_admitted: bool,
    pub max_doc: DocId,
}

impl SegmentSearch<'_> {
    /// Offers all matches to `hits` and counts them.
    pub fn find_all(
        &self,
        texts: &mut [Vec<OpenTerm>],
        scratch: &mut Scratch,
        hits: &mut TopHits,
        counts: &mut Counts,
        ids: &IdColumns,
    ) {
        scratch.prepare(texts, texts.len() > 1);
        let Scratch { best, sum, variant, touched, .. } = scratch;
        let needs_values = self.filter.needs_values();
        let mut start = 0;
        while start < self.max_doc {
            if !self.match_all_admitted {
                // Skip to the next document that contains any term.
                start = next_doc(texts.iter().flatten());
                if start >= self.max_doc {
                    break;
                }
            }
            let end = self.window_end(start);
            if let [text] = texts {
                self.score(text, start..end, best, variant, touched);
            } else {
                for text in &mut *texts {
                    self.score(text, start..end, sum, variant, touched);
                    for (best, sum) in best.iter_mut().zip(sum.iter_mut()) {
                        *best = best.max(std::mem::take(sum));
                    }
                }
            }
            for (doc, score) in (start..end).zip(best.iter_mut()) {
                let score = std::mem::take(score);
                if score <= 0.0 && !self.match_all_admitted {
                    continue;
                }
                if self.filter.admits(doc) {
                    counts.total += 1;
                    hits.offer(score, || ids.id(doc));
                } else if needs_values {
                    counts.unknown_values += self.filter.missing(doc);
                }
            }
            start = end;
        }
    }

    /// Returns the end of the window that starts with a document.
    pub fn window_end(&self, start: DocId) -> DocId {
        self.max_doc.min(start.saturating_add(WINDOW as u32))
    }

    /// Adds the scores of one text to the documents of a window. A term scores by its best variant. `variant` is all
    /// zero before and after the call.
    fn score(
        &self,
        text: &mut [OpenTerm],
        window: std::ops::Range<DocId>,
        scores: &mut [f32],
        variant: &mut [f32],
        touched: &mut Vec<DocId>,
    ) {
        for term in text {
            let weight = term.weight;
            self.for_each_match(term, &window, variant, touched, |at, saturation| {
                scores[at as usize] += weight * saturation;
            });
        }
    }

    /// Calls `visit` with the position in the window of each document that contains a term, and the saturation of its best variant there.
    pub fn for_each_match(
        &self,
        term: &mut OpenTerm,
        window: &std::ops::Range<DocId>,
        variant: &mut [f32],
        touched: &mut Vec<DocId>,
        mut visit: impl FnMut(DocId, f32),
    ) {
        if let [postings] = &mut *term.variants {
            self.for_each_posting(postings, window, visit);
            return;
        }
        for postings in &mut term.variants {
            self.for_each_posting(postings, window, |at, saturation| {
                let best = &mut variant[at as usize];
                if *best == 0.0 {
                    touched.push(at);
                }
                *best = best.max(saturation);
            });
        }
        for at in touched.drain(..) {
            visit(at, std::mem::take(&mut variant[at as usize]));
        }
    }

    /// Calls `visit` with the position in the window and the saturation of each posting.
    fn for_each_posting(
        &self,
        postings: &mut PostingList,
        window: &std::ops::Range<DocId>,
        mut visit: impl FnMut(u32, f32),
    ) {
        postings.for_each_before(window.end, |doc, frequency| {
            visit(doc - window.start, self.saturation(doc, frequency));
        });
    }

    /// Returns the saturation of a term that a document contains so often.
    pub fn saturation(&self, doc: DocId, frequency: u32) -> f32 {
        let norm = self.norms[usize::from(self.lengths.fieldnorm_id(doc))];
        bm25::saturation(frequency as f32, norm)
    }
}
