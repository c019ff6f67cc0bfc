//! Search for the documents with the nearest passages.
//!
//! Vectors of small scopes are compared one by one. In a large scope, sketches of one bit per component select the
//! candidates, and only those are compared that may be among the nearest by a closer estimate.

mod bound;
mod clusters;
mod column_cache;
mod columns;
mod compare;
mod exact;
mod kernels;
mod parallel;
mod passages;
mod query_levels;
mod rotation;
mod sample;
mod scan;
mod sketch_cache;
mod sketches;
#[cfg(test)]
mod tests;
mod threads;

pub use column_cache::ColumnCache;
pub use columns::add_fields;
pub use sketch_cache::SketchCache;
pub use sketches::Sketches;
pub use threads::Threads;

use std::sync::Arc;

use engine::{SemanticHit, SemanticRequest, VectorKind};
use retrieval_core::embeddings::QuantizedVector;
use tantivy::{Searcher, SegmentReader};

use crate::country_cache::CountryCache;
use crate::filter::{FilterPlan, SegmentFilter};
use crate::schema::{Fields, scope_prefix};
use crate::top_hits::TopHits;
use column_cache::SegmentColumns;
use columns::{MAX_DIMENSIONS, VectorColumns};
use exact::Comparison;
use sketches::QuerySketch;

/// Number of vectors of a segment that are compared one by one: selecting candidates first would not be faster.
const EXACT_VECTORS: usize = 1_000;

/// A vector of a larger segment costs this many times less to scan than to compare.
const SCAN_ADVANTAGE: usize = 50;

/// Number of candidates: a share of the vectors, within limits, and some for each hit. Many more than the hits, since the
/// sketches of the vectors of a dense cluster hardly tell them apart.
const CANDIDATE_SHARE: usize = 100;
const CANDIDATES: std::ops::RangeInclusive<usize> = 2_000..=8_000;
const CANDIDATES_PER_HIT: usize = 10;

/// Number of documents whose vectors are loaded into the CPU cache at a time.
const PRELOADED: usize = 16;

/// Outcome of a search.
pub enum Searched {
    Hits(Vec<SemanticHit>),
    /// Sketches have to be built first, which takes seconds for millions of vectors.
    LacksSketches(Box<SemanticSearch>),
}

/// Searches, unless sketches have to be built first.
pub fn semantic(
    request: &SemanticRequest,
    searcher: &Searcher,
    fields: &Fields,
    countries: &CountryCache,
    columns: &ColumnCache,
    sketches: &SketchCache,
    threads: &Threads,
) -> tantivy::Result<Searched> {
    let search = begin(request, searcher, fields, countries, columns)?;
    match search.cached_sketches(sketches) {
        Some(sketches) => Ok(Searched::Hits(search.finish(sketches, threads)?)),
        None => Ok(Searched::LacksSketches(Box::new(search))),
    }
}

/// Search of which the small scopes are done. Owns what the large ones need, so that it can wait for their sketches.
pub struct SemanticSearch {
    vector: QuantizedVector,
    kind: VectorKind,
    limit: usize,
    hits: TopHits,
    /// In the order of segments.
    large: Vec<LargeScope>,
    /// Estimated number of vectors in the large scopes.
    scanned: usize,
}

/// Scope in a segment where sketches select the candidates.
struct LargeScope {
    reader: SegmentReader,
    columns: Arc<SegmentColumns>,
    filter: SegmentFilter,
}

/// Compares the vectors of the small scopes.
fn begin(
    request: &SemanticRequest,
    searcher: &Searcher,
    fields: &Fields,
    countries: &CountryCache,
    columns: &ColumnCache,
) -> tantivy::Result<SemanticSearch> {
    let kind = request.kind();
    let mut search = SemanticSearch {
        vector: request.vector.clone(),
        kind,
        limit: request.limit,
        hits: TopHits::new(request.limit),
        large: Vec::new(),
        scanned: 0,
    };
    if kind.dimensions > MAX_DIMENSIONS {
        return Ok(search);
    }
    let prefix = scope_prefix(request.collection);
    let plan = FilterPlan::new(&request.filters, None, &prefix, fields, countries).within(request.collection, fields);
    let mut comparison = Comparison::new(&request.vector, kind);
    for reader in searcher.segment_readers() {
        let Some(columns) = columns.get(reader)? else { continue };
        let filter = plan.in_segment(searcher, reader)?;
        if filter.admits_none() {
            continue;
        }
        let SegmentColumns { vectors, ids } = columns.as_ref();
        let in_scope = vectors_in_scope(vectors, &filter, kind);
        if in_scope <= EXACT_VECTORS.max(vectors.vectors(kind) / SCAN_ADVANTAGE) {
            comparison.compare_all(vectors, &filter, |doc, cosine| search.hits.offer(cosine, || ids.id(doc)));
            continue;
        }
        search.scanned += in_scope;
        search.large.push(LargeScope { reader: reader.clone(), columns, filter });
    }
    Ok(search)
}

impl SemanticSearch {
    /// Returns the sketches of the large scopes; `None` if some have to be built.
    fn cached_sketches(&self, cache: &SketchCache) -> Option<Vec<Arc<Sketches>>> {
        self.large.iter().map(|scope| cache.find(scope.reader.segment_id(), self.kind)).collect()
    }

    /// Builds the sketches of the large scopes that the cache lacks. The caller has its turn.
    pub fn build_sketches(&self, cache: &SketchCache, threads: usize) -> tantivy::Result<Vec<Arc<Sketches>>> {
        let build = |scope: &LargeScope| cache.get(&scope.reader, &scope.columns.vectors, self.kind, threads);
        self.large.iter().map(build).collect()
    }

    /// Searches the large scopes by their sketches. Returns the hits of all.
    pub fn finish(self, sketches: Vec<Arc<Sketches>>, threads: &Threads) -> tantivy::Result<Vec<SemanticHit>> {
        let Self { vector, kind, limit, mut hits, large, scanned } = self;
        let with_sketches = |(scope, sketches): (LargeScope, Arc<Sketches>)| {
            let LargeScope { reader: _, columns, filter } = scope;
            LargeSegment { columns, filter, query: sketches.query(vector.codes()), sketches }
        };
        let large: Vec<LargeSegment> = large.into_iter().zip(sketches).map(with_sketches).collect();
        if !large.is_empty() {
            let share = (scanned / CANDIDATE_SHARE).clamp(*CANDIDATES.start(), *CANDIDATES.end());
            let candidates = limit.saturating_mul(CANDIDATES_PER_HIT).saturating_add(share);
            let mut comparison = Comparison::new(&vector, kind);
            let candidates = scan::nearest(&large, candidates, limit, &mut comparison, threads)?;
            compare::offer_nearest(&large, &candidates, &vector, kind, limit, threads, &mut hits)?;
        }
        let hits = hits.into_hits().into_iter();
        Ok(hits.map(|hit| SemanticHit { doc_id: hit.doc_id, cosine: hit.score }).collect())
    }
}

/// A segment whose candidates are selected by sketches.
struct LargeSegment {
    columns: Arc<SegmentColumns>,
    filter: SegmentFilter,
    sketches: Arc<Sketches>,
    query: QuerySketch,
}

/// Estimates the number of vectors that the filter admits, as if documents had as many passages in the scope as elsewhere.
fn vectors_in_scope(columns: &VectorColumns, filter: &SegmentFilter, kind: VectorKind) -> usize {
    let (documents, vectors) = (columns.documents().max(1), columns.vectors(kind));
    let in_scope = filter.allowed().map_or(documents, |allowed| allowed.count().min(documents));
    (vectors as f64 * in_scope as f64 / documents as f64) as usize
}

/// Returns the vectors of a segment if searches of all of it use sketches.
fn needs_sketches(reader: &SegmentReader, kind: VectorKind) -> tantivy::Result<Option<VectorColumns>> {
    Ok(VectorColumns::open(reader)?.filter(|columns| columns.vectors(kind) > EXACT_VECTORS))
}
