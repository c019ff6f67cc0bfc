//! Borrowed wire form of search hits.

use api_types::Score;
use app::clock::to_date_time;
use app::search::{HitPassage, SearchHit};
use model::Timestamp;
use retrieval_core::shape::{Field, Fields, HitLengths, HitPlan, Length, WHOLE};
use serde::{Serialize, Serializer};
use uuid::Uuid;

use crate::failure::Failure;
use crate::metered::length_of;

/// A comma between two elements of a JSON array.
pub(crate) const COMMA: Length = Length { bytes: 1, chars: 1 };

/// The planned parts of a hit, as [`api_types::SearchResult`]. Clones no text.
#[derive(Serialize)]
pub(crate) struct HitView<'a> {
    rank: u32,
    doc_id: Uuid,
    canonical_url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_uri: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<&'static str>,
    /// `Some(None)` is written as null: the document has no labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<Option<&'a [String]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<MetadataView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passages: Option<PassageList<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provenance: Option<ProvenanceView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<Score>,
}

impl<'a> HitView<'a> {
    pub fn new(hit: &'a SearchHit, plan: HitPlan) -> Self {
        let shows = |field| plan.fields.contains(field);
        let metadata = if shows(Field::Metadata) {
            Some(MetadataView::of(hit))
        } else {
            shows(Field::Dates).then(|| MetadataView::dates_of(hit))
        };
        Self {
            rank: hit.rank,
            doc_id: hit.doc_id.0,
            canonical_url: &hit.canonical_url,
            name: hit.name.as_deref().filter(|_| shows(Field::Name)),
            title: hit.title.as_deref().filter(|_| shows(Field::Title)),
            description: hit.description.as_deref().filter(|_| shows(Field::Description)),
            snippet: shows(Field::Snippet).then(|| hit.snippet.get(..plan.snippet).unwrap_or(&hit.snippet)),
            mime: hit.mime.as_deref().filter(|_| shows(Field::Mime)),
            source_url: shows(Field::SourceUrl).then_some(&hit.source_url),
            source_uri: hit.source_uri.as_deref().filter(|_| shows(Field::SourceUri)),
            index: shows(Field::Index).then(|| hit.collection.index().as_str()),
            labels: shows(Field::Labels).then(|| some_items(&hit.labels)),
            metadata,
            passages: shows(Field::Passages).then(|| PassageList::new(hit, plan.passages)),
            provenance: shows(Field::Provenance)
                .then(|| ProvenanceView { capture_id: hit.capture_id.into(), capture_time: WireTime(hit.captured_at) }),
            score: shows(Field::Score).then_some(Score { value: hit.score }),
        }
    }
}

/// Measures these parts of a hit, as [`HitView`] writes them. A comma follows the hit.
pub(crate) fn measure(hit: &SearchHit, shown: Fields) -> Result<HitLengths<'_>, Failure> {
    let length = |fields| length_of(&HitView::new(hit, HitPlan { fields, snippet: WHOLE, passages: 0 }));
    let base = length(Fields::NONE)?;
    let mut fields = [Length::default(); Field::ALL.len()];
    for field in shown.iter() {
        fields[field as usize] = length(Fields::NONE.with(field))? - base;
    }
    let mut passages = Vec::new();
    if shown.contains(Field::Passages) && !hit.passages.is_empty() {
        for passage in PassageList::new(hit, WHOLE).views() {
            passages.push(length_of(&passage)? + COMMA);
        }
        // Measured as `null`. A list has two brackets instead, and no comma after its last passage.
        fields[Field::Passages as usize] -= Length { bytes: 3, chars: 3 };
    }
    Ok(HitLengths { base: base + COMMA, fields, snippet: &hit.snippet, passages })
}

/// Document facts as [`api_types::ResultMetadata`].
#[derive(Serialize)]
struct MetadataView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    content_digest: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extracted_at: Option<WireTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_seen_at: Option<WireTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_crawled_at: Option<WireTime>,
    last_seen_at: WireTime,
    #[serde(skip_serializing_if = "Option::is_none")]
    published_at: Option<WireTime>,
}

impl<'a> MetadataView<'a> {
    fn of(hit: &'a SearchHit) -> Self {
        Self {
            content_digest: Some(&hit.content_digest),
            extracted_at: Some(WireTime(hit.captured_at)),
            first_seen_at: Some(WireTime(hit.first_seen_at)),
            ..Self::dates_of(hit)
        }
    }

    /// Keeps the dates that say how current the document is. The others describe the service, not the document.
    fn dates_of(hit: &'a SearchHit) -> Self {
        Self {
            content_digest: None,
            extracted_at: None,
            first_seen_at: None,
            last_crawled_at: hit.last_crawled_at.map(WireTime),
            last_seen_at: WireTime(hit.last_seen_at),
            published_at: hit.published_at.map(WireTime),
        }
    }
}

/// The first passages of a hit, written as null if there are none.
struct PassageList<'a> {
    doc_id: Uuid,
    passages: &'a [HitPassage],
    /// False if the positions are those in a snippet, not in the content of the document.
    offsets: bool,
}

impl<'a> PassageList<'a> {
    fn new(hit: &'a SearchHit, count: usize) -> Self {
        let passages = hit.passages.get(..count).unwrap_or(&hit.passages);
        Self { doc_id: hit.doc_id.0, passages, offsets: !hit.is_snippet }
    }

    fn views(&self) -> impl Iterator<Item = PassageView<'a>> {
        let Self { doc_id, offsets, .. } = *self;
        self.passages.iter().map(move |passage| PassageView {
            passage_id: passage.passage_id.0,
            doc_id,
            ordinal: passage.ordinal,
            text: &passage.text,
            char_start: offsets.then_some(passage.chars.start),
            char_end: offsets.then_some(passage.chars.end),
            section_heading: passage.section_path.last().map(String::as_str),
            section_path: some_items(&passage.section_path),
        })
    }
}

impl Serialize for PassageList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.passages.is_empty() { serializer.serialize_none() } else { serializer.collect_seq(self.views()) }
    }
}

/// A passage as [`api_types::Passage`].
#[derive(Serialize)]
struct PassageView<'a> {
    passage_id: Uuid,
    doc_id: Uuid,
    ordinal: u32,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    char_start: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    char_end: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    section_heading: Option<&'a str>,
    section_path: Option<&'a [String]>,
}

/// A capture as [`api_types::DocumentProvenance`].
#[derive(Serialize)]
struct ProvenanceView {
    capture_id: Uuid,
    capture_time: WireTime,
}

/// A time, written as RFC 3339.
struct WireTime(Timestamp);

impl Serialize for WireTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&api_types::timestamp::rfc3339(to_date_time(self.0)))
    }
}

/// Returns the items, or `None`, which is written as null, if there are none.
fn some_items<T>(items: &[T]) -> Option<&[T]> {
    (!items.is_empty()).then_some(items)
}
