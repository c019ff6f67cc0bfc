//! Snippets of search results as documents of the organization that searched.

use std::collections::HashMap;

use docstore::{Docstore, Grant, LoadedDocument, NewDocument, NewPageRead, Operation, StoreError};
use ingest::prepare::{self, Content, Extent, Source};
use model::{CaptureId, Collection, DocId, OrganizationId, Timestamp};
use tracing::Instrument;

use super::super::candidate::Candidate;
use super::super::{RECORD_TIMEOUT, Search};
use super::found::FoundPage;
use crate::App;

/// Builds the document of a result. Its language is the provider's, or detected if there is none.
pub fn document(page: &FoundPage, organization_id: OrganizationId, now: Timestamp) -> LoadedDocument {
    let result = &page.result;
    let source = Source {
        collection: Collection::Web,
        canonical_url: result.url.as_str().to_owned(),
        source_url: result.source_url.clone(),
        source_uri: None,
        mime: None,
        country: None,
        listed: false,
    };
    let texts = [result.snippet.as_str(), result.title.as_str(), result.url.as_str()];
    let text = texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    let content = Content {
        markdown: text.to_owned(),
        title: Some(result.title.clone()).filter(|title| !title.is_empty()),
        language: result.language.clone(),
        published_at: result.published_at,
        extent: Extent::Snippet,
        ..Content::default()
    };
    let NewDocument { mut document, mut capture, passages, parts: _ } = prepare::document(source, content, now);
    document.last_crawled_at = None;
    capture.organization_id = Some(organization_id);
    LoadedDocument { document, capture, passages }
}

impl App {
    /// Stores the snippets among the best candidates for the organization, which alone sees them. A database that cannot be written
    /// does not fail the search.
    pub(in crate::search) async fn store_snippets(&self, search: &Search<'_>, best: &mut [Candidate]) {
        let organization_id = search.organization_id;
        let loaded = best.iter().filter(|one| one.is_new_snippet).filter_map(|one| one.loaded.as_deref());
        let new: Vec<NewPageRead> = loaded.map(|loaded| page_read(organization_id, loaded)).collect();
        if new.is_empty() {
            return;
        }
        let granted = grants(&new, self.clock.now());
        let mut saving = self.store.save_snippets(organization_id, new);
        let ended = tokio::time::timeout(RECORD_TIMEOUT, &mut saving).await;
        let saved = match ended {
            Ok(Ok(saved)) => saved,
            Ok(Err(error)) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "search results were not stored");
                return;
            }
            Err(_) => {
                tracing::warn!("search results are not stored yet");
                // The record of the search grants stored documents only.
                self.unrecorded_grants.remember(&granted);
                let store = self.store.clone();
                let granting = async move {
                    if let Err(error) = grant_when_saved(store, saving, granted).await {
                        let error = &error as &dyn std::error::Error;
                        tracing::warn!(error, "search results were not stored, or not granted");
                    }
                };
                self.runtime.spawn(granting.in_current_span());
                return;
            }
        };
        for (doc_id, capture_id) in saved {
            let candidate = best.iter_mut().find(|one| one.document.doc_id() == doc_id);
            if let Some(loaded) = candidate.and_then(|candidate| candidate.loaded.as_mut()) {
                loaded.capture.capture_id = capture_id;
            }
        }
    }
}

fn grants(new: &[NewPageRead], now: Timestamp) -> Vec<Grant> {
    let grant = |new: &NewPageRead| Grant {
        organization_id: new.read.organization_id,
        doc_id: new.read.doc_id,
        granted_at: now,
        capture_id: None,
    };
    new.iter().map(grant).collect()
}

/// Waits until snippets are stored, and then grants them with the captures that the organization has.
async fn grant_when_saved(
    store: Docstore,
    saving: Operation<Vec<(DocId, CaptureId)>>,
    mut granted: Vec<Grant>,
) -> Result<(), StoreError> {
    let saved: HashMap<DocId, CaptureId> = saving.await?.into_iter().collect();
    for grant in &mut granted {
        grant.capture_id = saved.get(&grant.doc_id).copied();
    }
    store.record_searches(Vec::new(), granted).await
}

fn page_read(organization_id: OrganizationId, loaded: &LoadedDocument) -> NewPageRead {
    let LoadedDocument { document, capture, passages } = loaded.clone();
    NewPageRead::new(organization_id, NewDocument { document, capture, passages, parts: None })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use docstore::{Location, Organization};
    use model::AuditAction;
    use tokio::sync::oneshot;
    use uuid::Uuid;
    use web_providers::{Applied, WebResult};

    use super::*;
    use crate::audit;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn snippets_that_are_stored_after_the_record_of_the_search_are_granted() {
        let folder = tempfile::tempdir().unwrap();
        let store = Docstore::open(&Location::Sqlite(folder.path().join("test.db")), 1).unwrap();
        store.migrate().await.unwrap();
        let now = Timestamp::from_millis(1_790_000_000_000);
        let id = OrganizationId(Uuid::from_u128(1));
        let organization = Organization {
            id,
            name: "test".to_owned(),
            billed: false,
            created_at: now,
            deleted_at: None,
            removed_at: None,
        };
        let entry =
            audit::subject_entry("test", now, AuditAction::OrganizationCreated, Some(id), id.0, Default::default());
        store.create_organization(organization, None, entry).await.unwrap();
        let result = WebResult::new("https://tides.example/", "Tides", "About the tides.").unwrap();
        let page = FoundPage { result, applied: Applied::default() };
        let new = vec![page_read(id, &document(&page, id, now))];
        let (doc_id, capture_id) = (new[0].read.doc_id, new[0].capture.capture_id);
        let granted = grants(&new, now);

        let (release, released) = oneshot::channel::<()>();
        let late = store.clone();
        let saving: Operation<Vec<(DocId, CaptureId)>> = Box::pin(async move {
            let _ = released.await;
            late.save_snippets(id, new).await
        });
        let granting = tokio::spawn(grant_when_saved(store.clone(), saving, granted.clone()));
        store.record_searches(Vec::new(), granted).await.unwrap();
        assert!(!store.is_granted(id, doc_id).await.unwrap(), "there is no document yet");
        release.send(()).unwrap();
        granting.await.unwrap().unwrap();
        let (visible, stored) = store.read_granted_document(id, doc_id).await.unwrap().unwrap();
        assert_eq!((visible.shown_capture_id, stored.unwrap().capture.capture_id), (Some(capture_id), capture_id));
    }
}
