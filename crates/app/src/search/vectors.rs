//! Cache of documents' terms: without it, every search decodes the stored terms of its candidates, or analyses their texts.

use std::sync::{Arc, Mutex, PoisonError};

use docstore::{DocumentState, DocumentToRank, LoadedDocument};
use engine::Snapshot;
use ingest::prepare::ranked_span;
use ingest::terms::{self, STORED_BYTES, TextBeside};
use model::{Collection, DocId, Timestamp};
use retrieval_core::passages::PassageSpan;
use retrieval_core::rerank::{DocumentText, READ_BYTES, TermVector};
use retrieval_core::url::CanonicalUrl;

use super::analyzers::with_analyzers;

/// Capacity of the cache. A page of 1,500 characters takes about 4 kB.
const CACHE_BYTES: u64 = 128 << 20;

/// Facts and terms of one state of a document, as ranking needs them.
#[derive(Clone)]
pub struct RankedDocument {
    pub state: DocumentState,
    pub published_at: Option<Timestamp>,
    /// Digest of the content, unique for the snippet of a search provider.
    pub content_digest: Box<str>,
    /// True if the content is the text of a search result.
    pub is_snippet: bool,
    pub host: Box<str>,
    /// Path of the canonical URL; empty for a file.
    pub path: Box<str>,
    pub terms: TermVector,
}

impl RankedDocument {
    /// Analyses as much of a document as a search that reads `limit` bytes needs; see [`bytes_to_read`].
    pub fn of(loaded: &LoadedDocument, limit: usize) -> Self {
        let LoadedDocument { document, capture, passages } = loaded;
        let spans: Vec<PassageSpan> = passages.iter().map(ranked_span).collect();
        let beside = TextBeside::of(document);
        let text = DocumentText { content: &capture.content, passages: &spans, ..beside.text() };
        let length = content_bytes(loaded);
        // Of a content that is replaced meanwhile, the first part is loaded alone: what follows is not analysed.
        let is_whole = capture.content.len() >= length;
        let limit = bytes_to_read(limit).min(if is_whole { usize::MAX } else { capture.content.len() });
        let terms = with_analyzers(|analyzers| TermVector::of_prefix(&text, length, limit, analyzers));
        let is_snippet = capture.format.is_snippet();
        // Equal descriptions of a provider do not make equal pages.
        let content_digest = if is_snippet && !document.listed {
            format!("{}/{}", capture.content_digest, document.doc_id).into()
        } else {
            capture.content_digest.as_str().into()
        };
        let (host, path) = host_and_path(&document.canonical_url);
        let (state, published_at) = (state(loaded), document.published_at);
        Self { state, published_at, content_digest, is_snippet, host, path, terms }
    }

    /// Returns a listed document with its stored terms. `None` if it has none that fit.
    pub fn of_stored(found: &DocumentToRank) -> Option<Self> {
        let terms = terms::decode(found)?;
        let (host, path) = host_and_path(&found.canonical_url);
        Some(Self {
            state: found.state,
            published_at: found.published_at,
            content_digest: found.content_digest.as_str().into(),
            is_snippet: found.format.is_snippet(),
            host,
            path,
            terms,
        })
    }

    pub fn doc_id(&self) -> DocId {
        self.state.doc_id
    }

    /// Returns the number of passages, at least 1, estimated from the beginning that every search analyses.
    pub fn passages(&self) -> f64 {
        self.terms.passages(STORED_BYTES)
    }
}

fn host_and_path(canonical_url: &str) -> (Box<str>, Box<str>) {
    let url = CanonicalUrl::parse(canonical_url);
    url.map(|url| (url.host().into(), url.path().into())).unwrap_or_default()
}

/// Returns the state that a document was loaded in.
pub fn state(loaded: &LoadedDocument) -> DocumentState {
    let LoadedDocument { document, capture, .. } = loaded;
    DocumentState { doc_id: document.doc_id, capture_id: capture.capture_id, last_seen_at: document.last_seen_at }
}

/// Returns the bytes of each content to load and analyse for a search that ranks by `limit` bytes.
pub fn bytes_to_read(limit: usize) -> usize {
    limit.checked_next_power_of_two().unwrap_or(usize::MAX).clamp(STORED_BYTES, READ_BYTES)
}

/// Returns the length of the whole content.
pub fn content_bytes(loaded: &LoadedDocument) -> usize {
    let LoadedDocument { capture, .. } = loaded;
    capture.parts.as_ref().map_or(capture.content.len(), |map| map.end().byte)
}

/// State of the index of a collection, after whose search the docstore had a document as it is cached. While the index is
/// in this state, a search need not ask the docstore again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Confirmation {
    pub collection: Collection,
    pub snapshot: Snapshot,
}

struct Cached {
    document: Arc<RankedDocument>,
    confirmation: Mutex<Option<Confirmation>>,
}

/// Outcome of a lookup of a document.
pub enum Lookup {
    /// The document in its latest state.
    Confirmed(Arc<RankedDocument>),
    /// The document in a state that may be outdated.
    Unconfirmed,
    Miss,
}

/// Documents that recent searches ranked, by id.
#[derive(Clone)]
pub struct VectorCache(moka::sync::Cache<DocId, Arc<Cached>>);

impl VectorCache {
    pub fn new() -> Self {
        let weight = |_: &DocId, cached: &Arc<Cached>| {
            let document = &cached.document;
            let text = document.content_digest.len() + document.host.len() + document.path.len();
            let fixed = size_of::<Cached>() + size_of::<RankedDocument>();
            u32::try_from(document.terms.memory() + text + fixed).unwrap_or(u32::MAX)
        };
        Self(moka::sync::Cache::builder().max_capacity(CACHE_BYTES).weigher(weight).build())
    }

    /// Returns the document if it was ranked in exactly this state.
    pub fn get(&self, state: &DocumentState) -> Option<Arc<RankedDocument>> {
        let cached = self.0.get(&state.doc_id).filter(|cached| cached.document.state == *state)?;
        Some(Arc::clone(&cached.document))
    }

    /// Finds a document, and tells if it was confirmed in this state of the index.
    pub fn find(&self, doc_id: DocId, confirmation: Option<Confirmation>) -> Lookup {
        let Some(cached) = self.0.get(&doc_id) else { return Lookup::Miss };
        let known = *cached.confirmation.lock().unwrap_or_else(PoisonError::into_inner);
        match confirmation.is_some() && known == confirmation {
            true => Lookup::Confirmed(Arc::clone(&cached.document)),
            false => Lookup::Unconfirmed,
        }
    }

    /// Notes that the docstore has the document as it is cached.
    pub fn confirm(&self, document: &RankedDocument, confirmation: Confirmation) {
        if let Some(cached) = self.0.get(&document.doc_id()).filter(|cached| cached.document.state == document.state) {
            *cached.confirmation.lock().unwrap_or_else(PoisonError::into_inner) = Some(confirmation);
        }
    }

    pub fn put(&self, document: &Arc<RankedDocument>) {
        let cached = Cached { document: Arc::clone(document), confirmation: Mutex::default() };
        self.0.insert(document.doc_id(), Arc::new(cached));
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use docstore::NewDocument;
    use ingest::prepare::{self, Content, Source};

    use super::*;

    #[test]
    fn a_first_part_alone_does_not_count_as_more() {
        let source = Source {
            collection: Collection::Web,
            canonical_url: "https://long.example/".to_owned(),
            source_url: "https://long.example/".to_owned(),
            source_uri: None,
            mime: None,
            country: None,
            listed: true,
        };
        let markdown = "The pump moves water every day of the year.\n\n".repeat(4_000);
        let content = Content { markdown, ..Content::default() };
        let NewDocument { document, capture, passages, parts } =
            prepare::document(source, content, Timestamp::UNIX_EPOCH);
        let map = capture.parts.clone().unwrap();
        let first = map.start(1);
        let mut loaded = LoadedDocument { document, capture, passages: passages[..first.passage].to_vec() };
        let terms = RankedDocument::of(&loaded, usize::MAX).terms;
        assert!(terms.covers(first.byte) && !terms.covers(first.byte + 1) && first.byte < STORED_BYTES);
        loaded.capture.content = parts.unwrap().content.to_string();
        loaded.passages = passages;
        assert!(RankedDocument::of(&loaded, usize::MAX).terms.covers(map.end().byte));
    }
}
