//! Search: analysis, scoring, and selection of the best.
//!
//! All matches are scored, which counts them. For common words of the web index this costs much more than the rest of a search: there,
//! documents that cannot be among the best are skipped, and the number of matches is estimated.

use engine::search_terms::SearchTerms;
use engine::{Filters, FirstStageRequest, FirstStageResponse, Snapshot, estimate};
use model::Collection;
use retrieval_core::analysis::Language;
use retrieval_core::bm25::single as bm25;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{InvertedIndexReader, Searcher};

use crate::country_cache::CountryCache;
use crate::filter::FilterPlan;
use crate::posting_list::PostingList;
use crate::schema::{Fields, scope_prefix};
use crate::scope_statistics::ScopeCache;
use crate::segment_search::{Counts, IdColumns, OpenTerm, Scratch, SegmentSearch};
use crate::term_lookups::{FrequencyCache, TermLookups};
use crate::top_hits::TopHits;

/// Number of postings of a search of the web index up to which all are scored. More are spread over so many windows that reading all
/// scores of these costs more than the postings.
pub const MAX_POSTINGS: u64 = 2_000;

/// Caches of an index that its searches share.
#[derive(Default)]
pub struct Caches {
    pub scopes: ScopeCache,
    pub countries: CountryCache,
    pub frequencies: FrequencyCache,
}

/// Searches the index. A search of the web that has more than `max_postings` skips documents.
pub fn first_stage(
    request: &FirstStageRequest,
    searcher: &Searcher,
    fields: &Fields,
    caches: &Caches,
    max_postings: u64,
) -> tantivy::Result<FirstStageResponse> {
    let Caches { scopes, countries, frequencies } = caches;
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
    let estimated_total = estimate_total(request, &terms, scope.documents, max_postings);
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
            let mut texts = open_texts(&terms, scope.documents, &index, |stem| lookups.get(stem, segment))?;
            let segment = SegmentSearch {
                filter,
                norms: &norms,
                lengths: reader.get_fieldnorms_reader(fields.terms)?,
                match_all_admitted: terms.phrases.is_some(),
                max_doc: reader.max_doc(),
            };
            let ids = IdColumns::open(reader)?;
            match estimated_total {
                Some(_) => segment.find_best(&mut texts, &mut scratch, &mut hits, &ids),
                None => segment.find_all(&mut texts, &mut scratch, &mut hits, &mut counts, &ids),
            }
        }
    }
    let statistics = terms.into_statistics(scope.documents, scope.average_body_words);
    let Counts { total, unknown_values } = counts;
    let total = estimated_total.unwrap_or(total);
    let snapshot = Some(Snapshot(searcher.generation().generation_id()));
    Ok(FirstStageResponse { hits: hits.into_hits(), snapshot, total, unknown_values, statistics })
}

/// Estimates the number of matches of a search that scores only what can be among the best; `None` if all matches are scored. Nobody is
/// shown the number of pages of the web, but a workspace has an exact one.
fn estimate_total(request: &FirstStageRequest, terms: &SearchTerms, documents: u64, max_postings: u64) -> Option<u64> {
    let is_simple =
        request.collection == Collection::Web && request.filters == Filters::default() && terms.phrases.is_none();
    let frequencies = || terms.texts.iter().flatten().map(|term| terms.frequency_of(term, documents));
    (is_simple && frequencies().sum::<u64>() > max_postings).then(|| estimate::union(documents, frequencies()))
}

/// Returns the length norms of BM25 by the one-byte code in which the index stores lengths.
fn length_norms(average: f32) -> [f32; 256] {
    std::array::from_fn(|code| bm25::length_norm(FieldNormReader::id_to_fieldnorm(code as u8) as f32, average))
}

/// Opens the postings of each text's terms, the weightiest first: in any search of the same terms, a document has the same sum.
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
        open.sort_by(|one: &OpenTerm, other| other.weight.total_cmp(&one.weight));
        texts.push(open);
    }
    Ok(texts)
}
