//! What each verbosity shows of a hit.

use super::{HitMetadata, SearchHit, Verbosity};

pub(super) fn shown(hit: SearchHit, verbosity: Verbosity) -> SearchHit {
    match verbosity {
        Verbosity::IdsOnly => least(hit),
        Verbosity::Compact => {
            let (snippet, score, index) = (hit.snippet.clone(), hit.score, hit.index.clone());
            let metadata = hit.metadata.clone().and_then(dates);
            SearchHit { snippet, score, index, metadata, ..least(hit) }
        }
        Verbosity::Standard => SearchHit { provenance: None, ..hit },
        Verbosity::Full => hit,
    }
}

/// What a hit shows at the least.
fn least(hit: SearchHit) -> SearchHit {
    SearchHit {
        rank: hit.rank,
        doc_id: hit.doc_id,
        canonical_url: hit.canonical_url,
        title: hit.title,
        ..SearchHit::default()
    }
}

/// The dates that say how current a document is. When it was first seen and extracted says something of the service,
/// not of the document.
fn dates(metadata: HitMetadata) -> Option<HitMetadata> {
    let dates = HitMetadata {
        published_at: metadata.published_at,
        last_crawled_at: metadata.last_crawled_at,
        last_seen_at: metadata.last_seen_at,
        ..HitMetadata::default()
    };
    (dates != HitMetadata::default()).then_some(dates)
}
