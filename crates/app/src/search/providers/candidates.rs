//! Candidates from the results of providers.

use std::collections::HashMap;
use std::sync::Arc;

use docstore::{Capture, LoadedDocument};
use engine::{Hit, UnknownValues};
use ingest::pages::{PageRequest, SeenCapture};
use model::{Collection, DocId, Timestamp};
use retrieval_core::statistics::CollectionStatistics;

use super::super::Search;
use super::super::candidate::{Candidate, CandidateList, Trace};
use super::super::exact::PhraseParts;
use super::super::reading::Reading;
use super::super::vectors::{RankedDocument, content_bytes};
use super::found::FoundPage;
use super::{filters, snippets};
use crate::App;
use crate::error::Result;

/// Rank of the best result in the score that stands in for that of the index (see `blend::FUSION_CONSTANT`).
const FIRST_RANK: f32 = 61.0;

/// Size of an index from which its statistics say how rare a word is on the web.
const KNOWN_DOCUMENTS: u64 = 500;
/// Stand-in for the size of a provider's collection. Among its results every word of the query is common, so that their own
/// frequencies would hide the important ones; next to this number they hardly differ.
const WEB_DOCUMENTS: u64 = 1_000_000;

type Documents = HashMap<DocId, LoadedDocument>;

/// Result of a provider with the fullest content that the organization may see of it.
struct Known {
    page: FoundPage,
    loaded: LoadedDocument,
    is_new_snippet: bool,
    /// Values for lack of which the index counted the page; `None` if no index that contains the page was searched.
    counted: Option<UnknownValues>,
}

impl Known {
    /// Returns the time of publication that the provider knows and the document lacks.
    fn added_date(&self) -> Option<(DocId, Timestamp)> {
        let date = self.page.result.published_at.filter(|_| self.loaded.document.published_at.is_none())?;
        Some((self.loaded.document.doc_id, date))
    }
}

impl App {
    /// Adds the pages to the candidates of the index. A page that the index or the organization has in full keeps that content.
    pub(super) async fn add_results(
        &self,
        search: &Search<'_>,
        list: &mut CandidateList,
        mut found: Vec<FoundPage>,
    ) -> Result<()> {
        let indexed: HashMap<DocId, bool> =
            list.candidates.iter().map(|one| (one.document.doc_id(), one.document.is_snippet)).collect();
        found.retain(|page| indexed.get(&page.result.doc_id()).is_none_or(|is_snippet| *is_snippet));
        if found.is_empty() {
            return Ok(());
        }
        let known = self.find_known(search, found, list.is_indexed).await?;
        let mut unknown_values = UnknownValues::default();
        let known = known.into_iter().filter(|known| {
            let Known { page, loaded, counted, .. } = known;
            let published_at = loaded.document.published_at.or(page.result.published_at);
            let mut lacking = UnknownValues::default();
            let is_admitted =
                filters::admits(search.request, &loaded.document, published_at, page.applied, &mut lacking);
            if counted.is_none() {
                unknown_values += lacking;
            }
            is_admitted
        });
        let known: Vec<Known> = known.collect();
        list.unknown_values += unknown_values;
        let added_dates: HashMap<DocId, Timestamp> = known.iter().filter_map(Known::added_date).collect();
        let counted: HashMap<DocId, UnknownValues> =
            known.iter().filter_map(|known| Some((known.page.result.doc_id(), known.counted?))).collect();
        let order: Vec<DocId> = known.iter().map(|known| known.page.result.doc_id()).collect();
        let (new, loaded): (Vec<_>, Vec<_>) = known
            .into_iter()
            .map(|known| (known.is_new_snippet.then_some(known.loaded.document.doc_id), known.loaded))
            .unzip();
        let loaded: Documents = loaded.into_iter().map(|loaded| (loaded.document.doc_id, loaded)).collect();
        let lengths = loaded.iter().map(|(doc_id, loaded)| (*doc_id, content_bytes(loaded)));
        let reading = Reading::of(loaded.keys().copied().collect(), lengths);
        let ranked = self.find_ranked(&loaded, &reading);
        let (loaded, mut phrase_parts) = self.matching(search, loaded, &order, &ranked, &reading).await?;
        let mut analysed = self.analyse(search, loaded, ranked, &reading).await?;

        // Without those that were found by meaning alone.
        let scores = list.candidates.iter().map(|one| one.first_stage_score).filter(|score| *score > 0.0);
        let scores: Vec<f32> = scores.collect();
        let policy = &search.request.source_policy;
        let listed = list.candidates.len();
        let mut kept = 0;
        for (rank, doc_id) in order.into_iter().enumerate() {
            let Some((mut document, mut loaded)) = analysed.remove(&doc_id) else { continue };
            if let Some(date) = added_dates.get(&doc_id) {
                // Not before: all organizations share the cache of analysed documents.
                Arc::make_mut(&mut document).published_at = Some(*date);
                loaded.document.published_at = Some(*date);
            }
            if !policy.admits(&document) {
                // As in the index, results behind those that are kept do not count.
                list.filtered += usize::from(kept < search.request.max_results);
                continue;
            }
            kept += 1;
            if let Some(counted) = counted.get(&doc_id) {
                list.unknown_values = list.unknown_values.without(*counted);
            }
            list.candidates.retain(|one| one.document.doc_id() != doc_id);
            list.candidates.push(Candidate {
                document,
                loaded: Some(loaded),
                collection: Collection::Web,
                position: listed + rank,
                first_stage_score: first_stage_score(&scores, rank),
                score: 0.0,
                meaning: 0.0,
                passages: Vec::new(),
                is_match: false,
                nearest: Vec::new(),
                phrase_parts: phrase_parts.remove(&doc_id).unwrap_or_default(),
                complete: false,
                trace: Trace::default(),
                is_new_snippet: new.contains(&Some(doc_id)),
                provider_rank: Some(rank),
            });
        }
        list.regular += kept;
        if list.statistics.documents < KNOWN_DOCUMENTS {
            list.statistics = CollectionStatistics { documents: WEB_DOCUMENTS, ..CollectionStatistics::default() };
        }
        Ok(())
    }

    /// Finds the fullest content of each page, after reading the first ones as far as the settings ask for it. `is_indexed` is true if
    /// the index was searched too.
    async fn find_known(&self, search: &Search<'_>, found: Vec<FoundPage>, is_indexed: bool) -> Result<Vec<Known>> {
        let (organization_id, now) = (search.organization_id, self.clock.now());
        let doc_ids: Vec<DocId> = found.iter().map(|page| page.result.doc_id()).collect();
        let (mut listed, mut own) = futures_util::try_join!(
            self.load_by_id(search, Collection::Web, doc_ids.clone()),
            self.load_own(search, doc_ids),
        )?;
        let read = self.read_first(search, &found, &listed, &own, now).await;
        if !read.is_empty() {
            own.extend(self.load_own(search, read).await?);
        }
        let ttl = self.options.capture_lifetimes.snippet;
        let language = search.request.language.clone();
        let mut counted: HashMap<DocId, UnknownValues> = HashMap::new();
        if is_indexed {
            let lacking = |loaded: &LoadedDocument| filters::lacking(search.request, &loaded.document);
            counted.extend(listed.iter().map(|(doc_id, loaded)| (*doc_id, lacking(loaded))));
        }
        let choosing = self.compute(search, move |stop| {
            let found = found.into_iter().take_while(|_| !stop.is_stopped());
            let known = found.map(|page| {
                let doc_id = page.result.doc_id();
                let (listed, own) = (listed.remove(&doc_id), own.remove(&doc_id));
                let (mut loaded, is_new_snippet) = match (listed, own) {
                    (Some(listed), _) if !listed.capture.format.is_snippet() => (listed, false),
                    (_, Some(own)) if !own.capture.format.is_snippet() => (own, false),
                    (listed, own) => {
                        let new = snippets::document(&page, organization_id, now);
                        let length = new.capture.content.len();
                        match (listed, own) {
                            (Some(listed), _) if listed.capture.content.len() > length => (listed, false),
                            (_, Some(own)) if is_current(&own, &new, now, ttl) => (own, false),
                            _ => (new, true),
                        }
                    }
                };
                if is_new_snippet && page.applied.language && page.result.language.is_none() {
                    // The provider knows the page; a snippet says little about its language.
                    loaded.document.language.clone_from(&language);
                }
                Known { page, loaded, is_new_snippet, counted: counted.get(&doc_id).copied() }
            });
            known.collect()
        });
        choosing.await
    }

    /// Reads the first pages of which only snippets are known, all at once, and returns those that were read in time.
    async fn read_first(
        &self,
        search: &Search<'_>,
        found: &[FoundPage],
        listed: &Documents,
        own: &Documents,
        now: Timestamp,
    ) -> Vec<DocId> {
        let lifetime = self.options.capture_lifetimes.document;
        let is_whole = |loaded: &LoadedDocument| !loaded.capture.format.is_snippet();
        let is_known = |doc_id: &DocId| {
            listed.get(doc_id).is_some_and(is_whole)
                || own.get(doc_id).is_some_and(|own| is_whole(own) && own.capture.captured_at + lifetime > now)
        };
        let time = search.request.deadline.left().map_or(self.web.read_timeout, |left| left.min(self.web.read_timeout));
        let first = found.iter().take(self.web.read_top).filter(|page| !is_known(&page.result.doc_id()));
        let reads = first.map(async |page| {
            let doc_id = page.result.doc_id();
            let request = PageRequest {
                organization_id: search.organization_id,
                doc_id,
                canonical_url: page.result.url.as_str().to_owned(),
                given_url: Some(page.result.source_url.clone()),
                seen: own.get(&doc_id).map(|own| SeenCapture::from(&own.capture)),
                retries: false,
            };
            // A page that cannot be read keeps its snippet.
            matches!(tokio::time::timeout(time, self.pages.read(request)).await, Ok(Ok(()))).then_some(doc_id)
        });
        futures_util::future::join_all(reads).await.into_iter().flatten().collect()
    }

    /// Loads the organization's own readings of pages.
    async fn load_own(&self, search: &Search<'_>, doc_ids: Vec<DocId>) -> Result<Documents> {
        Ok(search.read(self.store.load_page_reads(search.organization_id, doc_ids).await?))
    }

    /// Extends long contents to the beginning that ranking reads. Of an exact match it drops whole pages without the phrase; of a
    /// snippet the provider knows the rest. Returns the documents, with the parts to quote the phrases from.
    async fn matching(
        &self,
        search: &Search<'_>,
        mut loaded: Documents,
        order: &[DocId],
        ranked: &HashMap<DocId, Arc<RankedDocument>>,
        reading: &Reading,
    ) -> Result<(Documents, PhraseParts)> {
        let _memory = self.load_beginnings(search, &mut loaded, ranked, reading).await?;
        if !search.request.exact_match {
            return Ok((loaded, PhraseParts::new()));
        }
        let (mut snippets, whole): (Documents, Documents) =
            loaded.into_iter().partition(|(_, loaded)| loaded.capture.format.is_snippet());
        let hits: Vec<Hit> = order.iter().map(|doc_id| Hit { doc_id: *doc_id, score: 0.0 }).collect();
        let (kept, phrase_parts) = self.keep_exact(search, whole, &hits, false).await?;
        snippets.extend(kept);
        Ok((snippets, phrase_parts))
    }
}

/// Returns true if the stored snippet is the new one and need not be stored again.
fn is_current(own: &LoadedDocument, new: &LoadedDocument, now: Timestamp, ttl: std::time::Duration) -> bool {
    let same = |capture: &Capture| (capture.content_digest.clone(), capture.format);
    same(&own.capture) == same(&new.capture)
        && own.document.title == new.document.title
        && own.capture.captured_at + ttl > now
}

/// Returns the score of a provider's result in the order of the first stage: that of the index's candidate of the same rank, so that
/// both take turns.
fn first_stage_score(index: &[f32], rank: usize) -> f32 {
    match index.get(rank).or(index.last()) {
        Some(score) => *score,
        None => 1.0 / (FIRST_RANK + rank as f32),
    }
}
