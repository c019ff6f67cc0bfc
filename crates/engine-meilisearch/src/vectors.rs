//! Vectors of passages, in indexes of their own: one per space and number of components.
//!
//! The server fixes the number of components of an embedder, and expects vectors of every document of its index. An index
//! of its own has only documents with vectors, so that a new model neither touches the other documents nor the indexes
//! of words.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::{EngineError, EngineErrorKind, IndexDocument, SemanticHit, SemanticRequest, VectorKind};
use meilisearch_sdk::client::Client;
use meilisearch_sdk::search::{SearchQuery, Selectors};
use model::{DocId, IndexName};
use serde::Deserialize;
use uuid::Uuid;

use crate::document::{EmbeddedDocument, attribute};
use crate::error::from_client;
use crate::transport::Transport;
use crate::upload::Bodies;
use crate::{filter, generations, index, upload};

/// Indexes of vectors on the server.
pub struct VectorIndexes {
    client: Client<Transport>,
    /// Prefix of all index names.
    prefix: String,
}

impl VectorIndexes {
    pub fn new(client: Client<Transport>, prefix: String) -> Self {
        Self { client, prefix }
    }

    fn uid(&self, name: IndexName, kind: VectorKind) -> String {
        format!("{}{}", index::vectors_uid(&self.prefix, name), kind.name())
    }

    /// Returns the names of the existing indexes.
    async fn list(&self, name: IndexName) -> Result<BTreeSet<String>, EngineError> {
        let beginning = index::vectors_uid(&self.prefix, name);
        let uids = index::list(&self.client).await?;
        Ok(uids.into_iter().filter(|uid| uid.starts_with(&beginning)).collect())
    }

    /// Returns true if the index of the vectors that were stored last is among the `intact` ones, or if there never was one.
    /// The indexes of earlier models may be deleted.
    pub async fn is_complete(&self, name: IndexName, intact: &[String]) -> Result<bool, EngineError> {
        let expected = self.expected(name).await?;
        Ok(expected.is_none_or(|uid| intact.contains(&uid)))
    }

    /// Returns the name of the index whose loss would lose vectors.
    async fn expected(&self, name: IndexName) -> Result<Option<String>, EngineError> {
        generations::read_vectors(&self.client, &index::generations_uid(&self.prefix), name).await
    }

    async fn set_expected(&self, name: IndexName, uid: Option<String>) -> Result<(), EngineError> {
        generations::write_vectors(&self.client, &index::generations_uid(&self.prefix), name, uid).await
    }

    /// Forgets which index of vectors has to exist. The next vectors create it.
    pub async fn forget(&self, name: IndexName) -> Result<(), EngineError> {
        match self.expected(name).await? {
            Some(_) => self.set_expected(name, None).await,
            None => Ok(()),
        }
    }

    /// Stores the vectors of documents, and deletes all others that they had, and those of removed documents.
    ///
    /// # Errors
    ///
    /// `Corrupt` if the index of vectors was lost: a new one would have only the vectors of these documents.
    pub async fn apply(
        &self,
        name: IndexName,
        documents: &Arc<Vec<IndexDocument>>,
        removed: &[Uuid],
    ) -> Result<(), EngineError> {
        let mut uids = self.list(name).await?;
        let kinds: BTreeMap<String, VectorKind> =
            documents.iter().filter_map(IndexDocument::vector_kind).map(|kind| (self.uid(name, kind), kind)).collect();
        self.create(name, &kinds, &mut uids).await?;
        for uid in uids {
            let kind = kinds.get(&uid).copied();
            let index = self.client.index(&uid);
            let without = documents.iter().filter(|document| kind.is_none() || document.vector_kind() != kind);
            let outdated: Vec<Uuid> =
                without.map(|document| document.doc_id.0).chain(removed.iter().copied()).collect();
            if !outdated.is_empty() {
                let task = index::delete_documents(&index, &outdated).await?;
                index::wait(&self.client, "removing vectors", task).await?;
            }
            if kind.is_some() {
                let documents = Arc::clone(documents);
                let prepare = move |bodies: &mut Bodies| {
                    let mut embedded = documents.iter().filter(|document| document.vector_kind() == kind);
                    embedded.try_for_each(|document| bodies.push(document.doc_id, &EmbeddedDocument(document)))
                };
                upload::send(&self.client, &index, prepare).await?;
            }
        }
        Ok(())
    }

    /// Creates the missing indexes of these kinds, and stores the name of the last one.
    async fn create(
        &self,
        name: IndexName,
        kinds: &BTreeMap<String, VectorKind>,
        existing: &mut BTreeSet<String>,
    ) -> Result<(), EngineError> {
        let Some((last, _)) = kinds.last_key_value() else { return Ok(()) };
        let expected = self.expected(name).await?;
        for (uid, kind) in kinds {
            if existing.contains(uid) {
                continue;
            }
            if expected.as_ref() == Some(uid) {
                let message = format!("index `{uid}` does not exist on the server");
                return Err(EngineError::new(EngineErrorKind::Corrupt, message));
            }
            index::create_for_vectors(&self.client, uid, kind.dimensions).await?;
            existing.insert(uid.clone());
        }
        // After the creation: otherwise the index would seem to be lost meanwhile.
        if expected.as_ref() != Some(last) {
            self.set_expected(name, Some(last.clone())).await?;
        }
        Ok(())
    }

    /// Deletes all vectors of an index.
    pub async fn clear(&self, name: IndexName) -> Result<(), EngineError> {
        let action = "removing an index of vectors";
        // Before the deletion: otherwise the indexes would seem to be lost meanwhile.
        self.forget(name).await?;
        for uid in self.list(name).await? {
            let task = self.client.index(uid).delete().await.map_err(|error| from_client(action, error))?;
            index::wait(&self.client, action, task).await?;
        }
        Ok(())
    }

    pub async fn search(&self, request: &SemanticRequest) -> Result<Vec<SemanticHit>, EngineError> {
        let kind = request.kind();
        let index = self.client.index(self.uid(request.collection.index(), kind));
        let filter = filter::for_request(request.collection, &request.filters);
        // The length of a vector does not count.
        let vector: Vec<f32> = request.vector.codes().iter().map(|code| f32::from(*code)).collect();
        let retrieve = [attribute::ID];
        let mut search = SearchQuery::new(&index);
        search
            .with_vector(&vector)
            .with_hybrid(attribute::EMBEDDER, 1.0)
            .with_limit(request.limit.max(1))
            .with_attributes_to_retrieve(Selectors::Some(&retrieve))
            .with_retrieve_vectors(false)
            .with_show_ranking_score(true);
        if let Some(filter) = &filter {
            search.with_filter(filter);
        }
        let results = match index.execute_query::<StoredId>(&search).await {
            Ok(results) => results,
            Err(error) => {
                let error = from_client("searching vectors", error);
                // No document has vectors of this kind yet.
                return if error.kind == EngineErrorKind::Corrupt { Ok(Vec::new()) } else { Err(error) };
            }
        };
        let hits = results.hits.into_iter().map(|hit| {
            let cosine = cosine(hit.ranking_score.unwrap_or_default());
            SemanticHit { doc_id: DocId(hit.result.id), cosine }
        });
        let mut hits: Vec<SemanticHit> = hits.collect();
        hits.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then(a.doc_id.cmp(&b.doc_id)));
        Ok(hits)
    }
}

#[derive(Deserialize)]
struct StoredId {
    id: Uuid,
}

/// Returns the cosine from the score of the server, which maps it to the range from 0 to 1.
fn cosine(score: f64) -> f32 {
    (2.0 * score - 1.0) as f32
}
