//! Search: analysis, scoring of every matching document, and selection of the best.
//!
//! Scores are accumulated term at a time in an array, for one window of documents after another. This counts all matches
//! exactly, takes the best variant of a term and the best of several texts without nested scorers, and breaks ties by
//! document id. Skipping by score bounds (as in WAND) would lose exact counts and pays off only in indexes far larger
//! than an embedded one.

use engine::search_terms::SearchTerms;
use engine::{FirstStageRequest, FirstStageResponse, Snapshot, UnknownValues};
use retrieval_core::analysis::Language;
use retrieval_core::bm25::single as bm25;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, InvertedIndexReader, Searcher, SegmentReader, TERMINATED};
use uuid::Uuid;

use crate::country_cache::CountryCache;
use crate::filter::{FilterPlan, SegmentFilter};
use crate::posting_list::PostingList;
use crate::schema::{Fields, names, scope_prefix};
use crate::scope_statistics::ScopeCache;
use crate::term_lookups::{FrequencyCache, TermLookups};
use crate::top_hits::TopHits;

/// Number of documents scored per window. Three arrays of this many scores fit into the CPU cache.
const WINDOW: usize = 16 * 1024;

pub fn first_stage(
    request: &FirstStageRequest,
    searcher: &Searcher,
    fields: &Fields,
    scopes: &ScopeCache,
    countries: &CountryCache,
    frequencies: &FrequencyCache,
) -> tantivy::Result<FirstStageResponse> {
    let prefix = scope_prefix(request.collection);
    let scope = scopes.get(request.collection, searcher, fields)?;
    let filtered: Option<Vec<Language>> =
        request.filters.language.as_ref().map(|code| Language::from_code(code).into_iter().collect());
    let languages = filtered.as_deref().unwrap_or(&scope.languages);
    let mut lookups = TermLookups::new(frequencies);
    let terms = SearchTerms::analyze(request, languages, scope.documents, |stem| {
        lookups.document_frequency(searcher, fields, &prefix, stem)
    })?;
    let mut hits = TopHits::new(request.limit);
    let mut counts = Counts::default();
    if !terms.match_nothing() {
        let filter = FilterPlan::new(&request.filters, terms.phrases.as_deref(), &prefix, fields, countries);
        let norms = length_norms(scope.average_terms);
        let mut scratch = Scratch::default();
        for (segment, reader) in searcher.segment_readers().iter().enumerate() {
            let filter = filter.in_segment(searcher, reader)?;
            if filter.admits_none() {
                continue;
            }
            let index = reader.inverted_index(fields.terms)?;
            let texts = open_texts(&terms, scope.documents, &index, |stem| lookups.get(stem, segment))?;
            let segment = SegmentSearch {
                filter,
                norms: &norms,
                lengths: reader.get_fieldnorms_reader(fields.terms)?,
                match_all_admitted: terms.phrases.is_some(),
                max_doc: reader.max_doc(),
            };
            segment.run(texts, &mut scratch, &mut hits, &mut counts, &IdColumns::open(reader)?);
        }
    }
    let statistics = terms.into_statistics(scope.documents, scope.average_body_words);
    let Counts { total, unknown_values } = counts;
    let snapshot = Some(Snapshot(searcher.generation().generation_id()));
    Ok(FirstStageResponse { hits: hits.into_hits(), snapshot, total, unknown_values, statistics })
}

/// Numbers of documents of all segments.
#[derive(Default)]
struct Counts {
    /// Matches.
    total: u64,
    /// Matches but for unknown values.
    unknown_values: UnknownValues,
}

/// Returns the length norms of BM25 by the one-byte code in which the index stores lengths.
fn length_norms(average: f32) -> [f32; 256] {
    std::array::from_fn(|code| bm25::length_norm(FieldNormReader::id_to_fieldnorm(code as u8) as f32, average))
}

/// Postings of the variants of a term in one segment, and its weight (query weight times IDF).
struct OpenTerm {
    variants: Vec<PostingList>,
    weight: f32,
}

fn open_texts<'a>(
    terms: &SearchTerms,
    documents: u64,
    index: &InvertedIndexReader,
    info: impl Fn(&str) -> Option<&'a TermInfo>,
) -> tantivy::Result<Vec<Vec<OpenTerm>>> {
    let mut texts = Vec::new();
    for text in &terms.texts {
        let mut open = Vec::new();
        for term in text {
            let mut variants = Vec::new();
            // A stem whose documents were all deleted is in the segment, but not among the frequencies.
            let known = term.variants.iter().filter(|stem| terms.document_frequency.contains_key(*stem));
            for info in known.filter_map(|stem| info(stem)) {
                let block = index.read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?;
                variants.push(PostingList::new(block));
            }
            if !variants.is_empty() {
                let weight = term.weight * bm25::idf(terms.frequency_of(term, documents), documents);
                open.push(OpenTerm { variants, weight });
            }
        }
        texts.push(open);
    }
    Ok(texts)
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
struct Scratch {
    /// Scores of the best text.
    best: Vec<f32>,
    /// Scores of the current text, if there are several.
    sum: Vec<f32>,
    /// Scores of the current term, if it has several variants.
    variant: Vec<f32>,
    /// Non-zero positions of `variant`.
    touched: Vec<DocId>,
}

impl Scratch {
    fn prepare(&mut self, texts: &[Vec<OpenTerm>]) {
        let has_variants = texts.iter().flatten().any(|term| term.variants.len() > 1);
        for (scores, needed) in
            [(&mut self.best, true), (&mut self.sum, texts.len() > 1), (&mut self.variant, has_variants)]
        {
            if needed {
                scores.resize(WINDOW, 0.0);
            }
        }
    }
}

struct SegmentSearch<'a> {
    filter: SegmentFilter,
    norms: &'a [f32; 256],
    lengths: FieldNormReader,
    /// True for phrase searches, where every document that passes the filter matches, whatever its score.
    match_all_admitted: bool,
    max_doc: DocId,
}

impl SegmentSearch<'_> {
    /// Offers all matches to `hits` and counts them.
    fn run(
        &self,
        mut texts: Vec<Vec<OpenTerm>>,
        scratch: &mut Scratch,
        hits: &mut TopHits,
        counts: &mut Counts,
        ids: &IdColumns,
    ) {
        scratch.prepare(&texts);
        let Scratch { best, sum, variant, touched } = scratch;
        let needs_values = self.filter.needs_values();
        let mut start = 0;
        while start < self.max_doc {
            if !self.match_all_admitted {
                // Skip to the next document that contains any term.
                let postings = texts.iter().flatten().flat_map(|term| &term.variants);
                start = postings.map(PostingList::doc).min().unwrap_or(TERMINATED);
                if start >= self.max_doc {
                    break;
                }
            }
            let end = self.max_doc.min(start.saturating_add(WINDOW as u32));
            if let [text] = &mut *texts {
                self.score(text, start..end, best, variant, touched);
            } else {
                for text in &mut texts {
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
        for OpenTerm { variants, weight } in text {
            if let [postings] = &mut **variants {
                self.for_each_posting(postings, &window, |at, saturation| scores[at as usize] += *weight * saturation);
                continue;
            }
            for postings in variants {
                self.for_each_posting(postings, &window, |at, saturation| {
                    let best = &mut variant[at as usize];
                    if *best == 0.0 {
                        touched.push(at);
                    }
                    *best = best.max(saturation);
                });
            }
            for at in touched.drain(..) {
                scores[at as usize] += *weight * std::mem::take(&mut variant[at as usize]);
            }
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
            let norm = self.norms[usize::from(self.lengths.fieldnorm_id(doc))];
            visit(doc - window.start, bm25::saturation(frequency as f32, norm));
        });
    }
}
