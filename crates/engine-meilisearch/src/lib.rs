#![doc = include_str!("../README.md")]

mod answers;
mod document;
mod error;
mod filter;
mod generations;
mod impact;
mod index;
mod merge;
mod multi_search;
mod plan;
mod query_plan;
mod response_cache;
mod rounds;
mod scope_statistics;
mod tokens_by_level;
mod transport;
mod unknown_values;
mod upload;
mod vectors;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use engine::tokens as token;
use engine::{
    Change, EngineError, EngineErrorKind, FirstStageRequest, FirstStageResponse, IndexDocument, SearchEngine,
    SemanticHit, SemanticRequest,
};
use meilisearch_sdk::client::Client;
use meilisearch_sdk::indexes::Index;
use model::{Collection, Generation, IndexName};
use retrieval_core::analysis::Analyzers;

use crate::document::StoredDocument;
use crate::error::from_client;
use crate::multi_search::{TokenMatches, TokenQuery, multi_search};
use crate::response_cache::ResponseCache;
use crate::scope_statistics::ScopeCache;
use crate::transport::Transport;
use crate::upload::Bodies;
use crate::vectors::VectorIndexes;

#[derive(Clone)]
pub struct MeilisearchOptions {
    /// Base URL, such as `http://host:7700`.
    pub url: String,
    /// API key that may search, write documents, and create indexes; `None` for a server without keys.
    pub api_key: Option<String>,
    /// Prefix of all index names.
    pub prefix: String,
}

impl fmt::Debug for MeilisearchOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, api_key: _, prefix } = self;
        f.debug_struct("MeilisearchOptions").field("url", url).field("prefix", prefix).finish_non_exhaustive()
    }
}

pub struct MeilisearchEngine {
    client: Client<Transport>,
    transport: Transport,
    web: Index<Transport>,
    workspace: Index<Transport>,
    /// Name of the index with the state of the other two.
    generations: String,
    scopes: ScopeCache,
    responses: ResponseCache,
    vectors: VectorIndexes,
}

impl MeilisearchEngine {
    /// Creates a client without connecting to the server.
    ///
    /// # Errors
    ///
    /// `Rejected` if the key is not a valid header value.
    pub fn new(options: MeilisearchOptions) -> Result<Self, EngineError> {
        let url = options.url.trim_end_matches('/').to_owned();
        let transport = Transport::new(options.api_key.as_deref(), url.starts_with("https:")).map_err(|error| {
            EngineError::new(EngineErrorKind::Rejected, "cannot create the client of the search server")
                .with_source(error)
        })?;
        let client = Client::new_with_client(url, options.api_key, transport.clone());
        let index = |name| client.index(index::uid(&options.prefix, name));
        let (web, workspace) = (index(IndexName::Web), index(IndexName::Workspace));
        let generations = index::generations_uid(&options.prefix);
        let vectors = VectorIndexes::new(client.clone(), options.prefix);
        let (scopes, responses) = (ScopeCache::default(), ResponseCache::default());
        Ok(Self { web, workspace, generations, client, transport, scopes, responses, vectors })
    }

    /// Returns the time of a task of one document: the shortest of the last ones; `None` before the first.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the server does not respond.
    pub async fn task_time(&self) -> Result<Option<Duration>, EngineError> {
        generations::shortest_write(&self.client, &self.generations).await
    }

    fn index(&self, name: IndexName) -> &Index<Transport> {
        match name {
            IndexName::Web => &self.web,
            IndexName::Workspace => &self.workspace,
        }
    }

    async fn search(&self, scope: Collection, queries: &[TokenQuery]) -> Result<Vec<TokenMatches>, EngineError> {
        if queries.is_empty() {
            return Ok(Vec::new());
        }
        multi_search(&self.client, &self.transport, self.index(scope.index()), queries).await
    }

    /// Fails with `Corrupt` if the index is missing. Without this check the server would create it on the first
    /// documents, with default settings.
    async fn require_index(&self, index: &Index<Transport>) -> Result<(), EngineError> {
        if index::exists(&self.client, &index.uid).await? {
            return Ok(());
        }
        Err(EngineError::new(EngineErrorKind::Corrupt, format!("index `{}` does not exist on the server", index.uid)))
    }

    async fn put(&self, index: &Index<Transport>, documents: &Arc<Vec<IndexDocument>>) -> Result<(), EngineError> {
        if documents.is_empty() {
            return Ok(());
        }
        let documents = Arc::clone(documents);
        let prepare = move |bodies: &mut Bodies| {
            let mut analyzers = Analyzers::default();
            documents
                .iter()
                .try_for_each(|document| bodies.push(document.doc_id, &StoredDocument::new(document, &mut analyzers)))
        };
        upload::send(&self.client, index, prepare).await
    }
}

#[async_trait]
impl SearchEngine for MeilisearchEngine {
    async fn first_stage(&self, request: &FirstStageRequest) -> Result<FirstStageResponse, EngineError> {
        rounds::first_stage(self, request).await
    }

    /// Returns more than exact engines do: some of the best documents are not among the first matches of any word, so that the
    /// order of the first stage is less certain.
    fn candidate_limit(&self, results: usize) -> usize {
        (2 * results).max(80)
    }

    /// Returns more than embedded indexes get: the server needs a sixth less time per document if tasks are twice as large.
    fn batch_bytes(&self) -> usize {
        28 << 20
    }

    async fn semantic(&self, request: &SemanticRequest) -> Result<Vec<SemanticHit>, EngineError> {
        self.vectors.search(request).await
    }

    async fn apply(&self, index: IndexName, changes: Vec<Change>) -> Result<(), EngineError> {
        if changes.is_empty() {
            return Ok(());
        }
        let name = index;
        let index = self.index(name);
        self.require_index(index).await?;
        // Ordered, since the server breaks ties by insertion order.
        let (documents, removed) = engine::last_changes(changes);
        let removed: Vec<uuid::Uuid> = removed.into_iter().map(|doc_id| doc_id.0).collect();
        let documents = Arc::new(documents);
        let outcome = async {
            self.put(index, &documents).await?;
            self.vectors.apply(name, &documents, &removed).await?;
            if removed.is_empty() {
                return Ok(());
            }
            let task = index::delete_documents(index, &removed).await?;
            index::wait(&self.client, "removing documents", task).await
        };
        let outcome = outcome.await;
        self.scopes.invalidate();
        outcome
    }

    async fn clear(&self, index: IndexName) -> Result<(), EngineError> {
        let name = index;
        let index = self.index(name);
        self.require_index(index).await?;
        self.vectors.clear(name).await?;
        let task = index.delete_all_documents().await.map_err(|error| from_client("clearing the index", error))?;
        let outcome = index::wait(&self.client, "clearing the index", task).await;
        self.scopes.invalidate();
        outcome
    }

    async fn document_count(&self, index: IndexName) -> Result<u64, EngineError> {
        let stats = self.index(index).get_stats().await.map_err(|error| from_client("counting documents", error))?;
        Ok(stats.number_of_documents as u64)
    }

    async fn ping(&self) -> Result<(), EngineError> {
        self.require_index(&self.web).await
    }

    async fn needs_rebuild(&self) -> Result<Vec<IndexName>, EngineError> {
        let own = |name: IndexName| self.index(name).uid.as_str();
        let mut intact = Vec::new();
        for uid in index::list(&self.client).await? {
            let is_own = IndexName::ALL.iter().any(|name| uid.starts_with(own(*name)));
            if is_own && index::complete_settings(&self.client, &self.transport, &uid).await? {
                intact.push(uid);
            }
        }
        let mut incomplete = Vec::new();
        for name in IndexName::ALL.iter().copied() {
            let exists = intact.iter().any(|uid| uid == own(name));
            if !exists || !self.vectors.is_complete(name, &intact).await? {
                incomplete.push(name);
            }
        }
        Ok(incomplete)
    }

    async fn generation(&self, index: IndexName) -> Result<Option<Generation>, EngineError> {
        generations::read(&self.client, &self.generations, index).await
    }

    async fn set_generation(&self, index: IndexName, generation: Generation) -> Result<(), EngineError> {
        generations::write(&self.client, &self.generations, index, generation).await
    }

    /// Creates the indexes: an existing index is complete, or its documents are queued.
    async fn mark_rebuilt(&self, indexes: &[IndexName]) -> Result<(), EngineError> {
        for name in indexes {
            index::create(&self.client, &self.index(*name).uid).await?;
            // Otherwise a lost index of vectors would be reported until its documents are fed.
            self.vectors.forget(*name).await?;
        }
        self.scopes.invalidate();
        Ok(())
    }
}
