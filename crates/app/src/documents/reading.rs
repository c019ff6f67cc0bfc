//! Text of a capture that answers a request: the whole, or the parts that are needed of a long one.

use admission::Permit;
use docstore::{Capture, Document, PartMap, StoredCapture};
use model::{OrganizationId, PassageId};
use retrieval_core::sections::{Buckets, SectionQuery};

use super::captured_text::CapturedText;
use super::rendered::converts;
use super::selection::MAX_SELECTED;
use super::{ReadRequest, Selection, content};
use crate::error::Result;
use crate::excerpt::Excerpt;
use crate::{App, Viewer};

impl App {
    /// Reads the text that the request needs. Returns a permit to keep as long as the text.
    pub(super) async fn read_text(
        &self,
        viewer: &Viewer,
        document: &Document,
        stored: StoredCapture,
        request: &ReadRequest,
    ) -> Result<(CapturedText, Option<Permit>)> {
        let StoredCapture { mut capture, passages } = stored;
        let Some(map) = capture.parts.clone() else {
            let excerpt = Excerpt::beginning(std::mem::take(&mut capture.content), passages);
            return Ok((CapturedText { capture, excerpt, start_char: 0, has_more: false, is_part: false }, None));
        };
        let organization_id = viewer.organization_id;
        let parts = self.parts_to_read(organization_id, document, &capture, &map, request).await?;
        let bytes: usize = parts.iter().map(|part| map.bytes(*part..part + 1)).sum();
        // The answer contains them once more, and the passages, too.
        let copies = if request.include.passages { 3 } else { 2 };
        let permit = if bytes == 0 { None } else { Some(self.contents.reserve(organization_id, copies * bytes).await) };
        let mut excerpt = Excerpt::with_capacity(bytes);
        let capture_id = capture.capture_id;
        self.load_in_order(organization_id, capture_id, &parts, |part| excerpt.push(&map, part)).await?;
        capture.content = String::new();
        let end = parts.last().map_or(map.end().char, |last| map.start(last + 1).char);
        let reading = CapturedText {
            capture,
            excerpt,
            start_char: parts.first().map_or(map.end().char, |first| map.start(*first).char),
            has_more: end < map.end().char,
            is_part: parts.len() < map.count(),
        };
        Ok((reading, permit))
    }

    /// Returns the numbers of the parts that the request needs, in order.
    async fn parts_to_read(
        &self,
        organization_id: OrganizationId,
        document: &Document,
        capture: &Capture,
        map: &PartMap,
        request: &ReadRequest,
    ) -> Result<Vec<usize>> {
        let all = || (0..map.count()).collect();
        // A shorter content is compared whole with the query. Of a longer one the parts with the most and rarest words are read, up to this length or what `max_chars` needs.
        let selection_bytes = self.options.read_limits.selection_bytes;
        let is_long = map.end().byte > selection_bytes;
        if !request.wants_text() {
            return Ok(Vec::new());
        }
        match request.selection {
            Selection::None => Ok(all()),
            Selection::FullDocument => {
                let is_sliced = !converts(capture, document.mime.as_deref(), request.format);
                Ok(if is_sliced { map.parts_of_chars(&content::chars_of(request)).collect() } else { all() })
            }
            Selection::PassageIds => {
                let ids: Vec<PassageId> = request.passage_ids.iter().filter_map(|id| id.parse().ok()).collect();
                let found = self.store.find_passages(organization_id, capture.capture_id, ids).await?;
                let ordinals = found.iter().filter_map(|passage| usize::try_from(passage.ordinal).ok());
                let mut parts: Vec<usize> = ordinals.map(|ordinal| map.part_of_passage(ordinal)).collect();
                parts.dedup();
                Ok(parts)
            }
            Selection::QueryRelevant | Selection::TopPassages if !is_long => Ok(all()),
            Selection::QueryRelevant | Selection::TopPassages => {
                let (_, limit) = content::limit(request);
                let chars = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(0).min(map.end().char);
                let Some(query) = request.query.as_deref().filter(|query| !query.trim().is_empty()) else {
                    let most = request.max_passages.unwrap_or(MAX_SELECTED).max(MAX_SELECTED);
                    let last =
                        map.part_of_passage(most.min(map.end().passage)).max(map.parts_of_chars(&(0..chars)).end);
                    return Ok((0..=last).take(map.count()).collect());
                };
                let query = SectionQuery::new(query, document.language.as_deref(), map.count());
                let wanted = vec![(capture.capture_id, query.buckets())];
                let buckets: Buckets = self
                    .store
                    .load_terms(organization_id, wanted)
                    .await?
                    .into_iter()
                    .map(|bucket| (bucket.bucket, bucket.lists))
                    .collect();
                let mut left = selection_bytes.max(chars.saturating_mul(4));
                let within = query.best(&buckets).into_iter().take_while(|part| {
                    let rest = left.checked_sub(map.bytes(*part..part + 1));
                    left = rest.unwrap_or(0);
                    rest.is_some()
                });
                let mut parts: Vec<usize> = within.collect();
                parts.sort_unstable();
                Ok(parts)
            }
        }
    }
}
