#![doc = include_str!("../README.md")]

mod changes;
mod collections;
mod counts;
mod document;
mod error;
mod filter;
mod generations;
mod impact;
mod nodes;
mod response;
mod scope_statistics;
mod search;
mod stems;
mod vectors;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use engine::search_terms::SearchTerms;
use engine::{
    Change, EngineError, EngineErrorKind, FirstStageRequest, FirstStageResponse, SearchEngine, SemanticHit,
    SemanticRequest,
};
use model::{Collection, Generation, IndexName};
use retrieval_core::analysis::{Analyzers, Language};

use crate::counts::count;
use crate::nodes::Nodes;
use crate::scope_statistics::{ScopeCache, ScopeStatistics};
use crate::search::Matches;

#[derive(Clone)]
pub struct QdrantOptions {
    /// gRPC URLs of one or several nodes of the server, separated by commas, such as `http://host:6334`.
    pub url: String,
    /// API key; `None` for a server without keys.
    pub api_key: Option<String>,
    /// Prefix of all collection names.
    pub prefix: String,
    /// Number of shards of new collections.
    pub shards: u32,
    /// Number of replicas of each shard of new collections.
    pub replicas: u32,
}

impl fmt::Debug for QdrantOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, api_key: _, prefix, shards, replicas } = self;
        let mut debug = f.debug_struct("QdrantOptions");
        debug.field("url", url).field("prefix", prefix).field("shards", shards).field("replicas", replicas);
        debug.finish_non_exhaustive()
    }
}

pub struct QdrantEngine {
    nodes: Nodes,
    options: QdrantOptions,
    scopes: ScopeCache,
}

impl QdrantEngine {
    /// Creates a client without connecting to the server.
    ///
    /// # Errors
    ///
    /// `Rejected` if the URL or the key is invalid.
    pub fn new(options: QdrantOptions) -> Result<Self, EngineError> {
        let api_key = options.api_key.as_deref();
        // The client would name it in errors.
        if api_key.is_some_and(|key| !key.bytes().all(|byte| byte.is_ascii_graphic())) {
            let message = "the API key of the search server may contain only visible ASCII characters";
            return Err(EngineError::new(EngineErrorKind::Rejected, message));
        }
        let urls: Vec<&str> = options.url.split(',').map(str::trim).filter(|url| !url.is_empty()).collect();
        if urls.is_empty() {
            return Err(EngineError::new(EngineErrorKind::Rejected, "the URL of the search server is missing"));
        }
        let nodes = Nodes::new(urls.into_iter(), api_key).map_err(|error| {
            let message = format!("`{}` is no list of URLs of the search server", options.url);
            EngineError::new(EngineErrorKind::Rejected, message).with_source(error)
        })?;
        Ok(Self { nodes, options, scopes: ScopeCache::default() })
    }

    fn alias(&self, name: IndexName) -> String {
        collections::alias(&self.options.prefix, name)
    }

    fn generations(&self) -> String {
        collections::generations(&self.options.prefix)
    }

    async fn scope_statistics(&self, scope: Collection) -> Result<Arc<ScopeStatistics>, EngineError> {
        let renewal = match self.scopes.get(scope) {
            Ok(statistics) => return Ok(statistics),
            Err(renewal) => renewal,
        };
        let alias = self.alias(scope.index());
        let statistics = scope_statistics::request(&self.nodes, &alias, scope).await?;
        Ok(self.scopes.put(scope, renewal, statistics))
    }

    async fn change(&self, name: IndexName, changes: Vec<Change>) -> Result<(), EngineError> {
        let (documents, removed) = engine::last_changes(changes);
        let documents = Arc::new(documents);
        let alias = self.alias(name);
        let points = changes::convert({
            let documents = Arc::clone(&documents);
            move || {
                let mut analyzers = Analyzers::default();
                documents.iter().map(|document| document::point(document, &mut analyzers)).collect()
            }
        });
        changes::put(&self.nodes, &alias, points.await?).await?;
        changes::remove(&self.nodes, &alias, &removed).await?;
        vectors::apply(&self.nodes, &self.options, name, &documents, &removed).await
    }
}

#[async_trait]
impl SearchEngine for QdrantEngine {
    async fn first_stage(&self, request: &FirstStageRequest) -> Result<FirstStageResponse, EngineError> {
        let scope = self.scope_statistics(request.collection).await?;
        let filtered: Option<Vec<Language>> =
            request.filters.language.as_ref().map(|code| Language::from_code(code).into_iter().collect());
        let languages = filtered.as_deref().unwrap_or(&scope.languages);
        let alias = self.alias(request.collection.index());
        let stems = SearchTerms::stems(request, languages);
        let counts = stems::document_frequencies(&self.nodes, &alias, request, &stems, &scope).await?;
        let terms = SearchTerms::with_counts(request, languages, scope.documents, &counts);
        let found = search::search(&self.nodes, &alias, request, &terms, &scope).await?;
        let Matches { hits, total, unknown_values } = found;
        let statistics = terms.into_statistics(scope.documents, scope.average_length);
        Ok(FirstStageResponse { hits, snapshot: None, total, unknown_values, statistics })
    }

    async fn semantic(&self, request: &SemanticRequest) -> Result<Vec<SemanticHit>, EngineError> {
        vectors::search(&self.nodes, &self.options, request).await
    }

    async fn apply(&self, index: IndexName, changes: Vec<Change>) -> Result<(), EngineError> {
        if changes.is_empty() {
            return Ok(());
        }
        let outcome = self.change(index, changes).await;
        self.scopes.invalidate_small();
        outcome
    }

    async fn clear(&self, index: IndexName) -> Result<(), EngineError> {
        let outcome = async {
            vectors::clear(&self.nodes, &self.options, index).await?;
            changes::clear(&self.nodes, &self.alias(index)).await
        };
        let outcome = outcome.await;
        self.scopes.clear();
        outcome
    }

    async fn document_count(&self, index: IndexName) -> Result<u64, EngineError> {
        count(&self.nodes, &self.alias(index), Vec::new()).await
    }

    async fn ping(&self) -> Result<(), EngineError> {
        let alias = self.alias(IndexName::Web);
        if collections::missing(&self.nodes, &[alias.as_str()]).await?.is_empty() {
            return Ok(());
        }
        Err(EngineError::new(EngineErrorKind::Corrupt, format!("index `{alias}` does not exist on the server")))
    }

    async fn needs_rebuild(&self) -> Result<Vec<IndexName>, EngineError> {
        let mut required: Vec<(IndexName, String)> = Vec::new();
        for name in IndexName::ALL.iter().copied() {
            required.push((name, self.alias(name)));
            // Those that were stored last. The vectors of earlier models may be deleted.
            let vectors = generations::read_vectors(&self.nodes, &self.options, name).await?;
            required.extend(vectors.map(|alias| (name, alias)));
        }
        let aliases: Vec<&str> = required.iter().map(|(_, alias)| alias.as_str()).collect();
        let missing = collections::missing(&self.nodes, &aliases).await?;
        let lost = required.iter().filter(|(_, alias)| missing.contains(&alias.as_str()));
        let mut incomplete: Vec<IndexName> = lost.map(|(name, _)| *name).collect();
        incomplete.dedup();
        Ok(incomplete)
    }

    async fn generation(&self, index: IndexName) -> Result<Option<Generation>, EngineError> {
        generations::read(&self.nodes, &self.generations(), index).await
    }

    async fn set_generation(&self, index: IndexName, generation: Generation) -> Result<(), EngineError> {
        generations::write(&self.nodes, &self.options, &self.generations(), index, generation).await
    }

    /// Creates the indexes: an existing index is complete, or its documents are queued.
    async fn mark_rebuilt(&self, indexes: &[IndexName]) -> Result<(), EngineError> {
        for name in indexes {
            collections::create_index(&self.nodes, &self.options, &self.alias(*name)).await?;
            // Otherwise lost vectors would be reported until their documents are fed.
            vectors::forget(&self.nodes, &self.options, *name).await?;
        }
        self.scopes.clear();
        Ok(())
    }
}
