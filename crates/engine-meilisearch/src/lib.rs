//! An external Meilisearch behind the first-stage seam. See README.md.

mod ask;
mod document;
mod error;
mod filter;
mod impact;
mod index;
mod merge;
mod plan;
mod scope;
mod token;
mod transport;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use engine::search_terms::SearchTerms;
use engine::{
    Change, EngineError, EngineErrorKind, FirstStageRequest, FirstStageResponse, Hit, IndexDocument, SearchEngine,
};
use futures_util::io::Cursor;
use meilisearch_sdk::client::Client;
use meilisearch_sdk::indexes::Index;
use model::{Collection, DocId, IndexName};
use retrieval_core::analysis::{Analyzers, Language};

use crate::ask::{Answer, Question, ask};
use crate::document::{StoredDocument, attribute};
use crate::error::from_client;
use crate::merge::Found;
use crate::plan::{Counts, Stems};
use crate::scope::{ScopeCache, ScopeStatistics};
use crate::transport::Transport;

/// Documents are sent in bodies of about this length: servers take 100 MB unless they are told otherwise.
const BODY_BYTES: usize = 16 << 20;

/// Where the server is, and what is ours on it.
#[derive(Clone)]
pub struct MeilisearchOptions {
    /// `http://host:7700`.
    pub url: String,
    /// A key that may search, write documents, and make indexes; `None` for a server without keys.
    pub api_key: Option<String>,
    /// Put before the names of all indexes.
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
    scopes: ScopeCache,
}

impl MeilisearchEngine {
    /// Does not reach out to the server yet.
    ///
    /// # Errors
    /// `Rejected` when the key cannot be sent.
    pub fn new(options: MeilisearchOptions) -> Result<Self, EngineError> {
        let url = options.url.trim_end_matches('/').to_owned();
        let transport = Transport::new(options.api_key.as_deref(), url.starts_with("https:")).map_err(|error| {
            EngineError::new(EngineErrorKind::Rejected, "cannot make the client of the search server")
                .with_source(error)
        })?;
        let client = Client::new_with_client(url, options.api_key, transport.clone());
        let index = |name| client.index(index::uid(&options.prefix, name));
        let (web, workspace) = (index(IndexName::Web), index(IndexName::Workspace));
        Ok(Self { web, workspace, client, transport, scopes: ScopeCache::default() })
    }

    fn index(&self, name: IndexName) -> &Index<Transport> {
        match name {
            IndexName::Web => &self.web,
            IndexName::Workspace => &self.workspace,
        }
    }

    async fn ask(&self, scope: Collection, questions: &[Question]) -> Result<Vec<Answer>, EngineError> {
        if questions.is_empty() {
            return Ok(Vec::new());
        }
        ask(&self.client, &self.transport, self.index(scope.index()), questions).await
    }

    async fn scope(&self, scope: Collection) -> Result<Arc<ScopeStatistics>, EngineError> {
        let generation = match self.scopes.get(scope) {
            Ok(known) => return Ok(known),
            Err(generation) => generation,
        };
        let answers = self.ask(scope, &[scope::question(scope)]).await?;
        let statistics = Arc::new(answers.first().map(ScopeStatistics::of).unwrap_or_default());
        self.scopes.put(scope, generation, &statistics);
        Ok(statistics)
    }

    /// Documents that hold each of the stems. Asks only for those that are not known.
    async fn count(&self, scope: Collection, stems: &Stems, known: &ScopeStatistics) -> Result<Counts, EngineError> {
        let mut counts = known.counts_of(stems.all());
        let unknown: Vec<&String> = stems.all().filter(|stem| !counts.contains_key(*stem)).collect();
        let questions: Vec<Question> = unknown.iter().map(|stem| plan::count(scope, stem)).collect();
        let answers = self.ask(scope, &questions).await?;
        let asked: Counts = unknown.into_iter().cloned().zip(answers.into_iter().map(|answer| answer.total)).collect();
        known.remember(&asked);
        counts.extend(asked);
        Ok(counts)
    }

    async fn by_words(
        &self,
        request: &FirstStageRequest,
        terms: &SearchTerms,
        scope: &ScopeStatistics,
    ) -> Result<(Vec<Hit>, u64), EngineError> {
        let (stems, questions): (Vec<String>, Vec<Question>) =
            plan::searches(request, terms, scope.documents).into_iter().unzip();
        let answers = self.ask(request.collection, &questions).await?;
        let found: Found = stems.into_iter().zip(answers).collect();
        Ok(merge::merge(terms, &found, scope, request.limit))
    }

    async fn by_phrase(&self, request: &FirstStageRequest, words: &[String]) -> Result<(Vec<Hit>, u64), EngineError> {
        let Some(question) = plan::phrase(request, words) else { return Ok((Vec::new(), 0)) };
        let answers = self.ask(request.collection, &[question]).await?;
        Ok(answers.first().map(|answer| (merge::phrase_hits(answer), answer.total)).unwrap_or_default())
    }

    /// Without this, the server would make an index of its own settings for documents that come too early.
    async fn must_exist(&self, index: &Index<Transport>) -> Result<(), EngineError> {
        if index::exists(&self.client, &index.uid).await? {
            return Ok(());
        }
        Err(EngineError::new(EngineErrorKind::Corrupt, format!("the server has no index `{}`", index.uid)))
    }

    async fn put(&self, index: &Index<Transport>, documents: Vec<IndexDocument>) -> Result<(), EngineError> {
        if documents.is_empty() {
            return Ok(());
        }
        let bodies = tokio::task::spawn_blocking(move || bodies(&documents)).await.map_err(|error| {
            EngineError::new(EngineErrorKind::Unavailable, "documents could not be prepared").with_source(error)
        })??;
        let mut tasks = Vec::new();
        for body in bodies {
            let sent = index.add_documents_ndjson(Cursor::new(body), Some(attribute::ID)).await;
            tasks.push(sent.map_err(|error| from_client("sending documents", error))?);
        }
        for task in tasks {
            index::wait(&self.client, "indexing documents", task).await?;
        }
        Ok(())
    }
}

/// Documents one a line, in bodies of bounded length.
fn bodies(documents: &[IndexDocument]) -> Result<Vec<Vec<u8>>, EngineError> {
    let mut analyzers = Analyzers::default();
    let mut bodies = vec![Vec::new()];
    for document in documents {
        if bodies.last().is_some_and(|body| body.len() >= BODY_BYTES) {
            bodies.push(Vec::new());
        }
        if let Some(body) = bodies.last_mut() {
            serde_json::to_writer(&mut *body, &StoredDocument::new(document, &mut analyzers)).map_err(|error| {
                EngineError::new(EngineErrorKind::Rejected, format!("document {} is no JSON", document.doc_id))
                    .with_source(error)
            })?;
            body.push(b'\n');
        }
    }
    Ok(bodies)
}

#[async_trait]
impl SearchEngine for MeilisearchEngine {
    async fn first_stage(&self, request: &FirstStageRequest) -> Result<FirstStageResponse, EngineError> {
        let scope = self.scope(request.collection).await?;
        let of_filter: Option<Vec<Language>> =
            request.filters.language.as_ref().map(|code| Language::from_code(code).into_iter().collect());
        let languages = of_filter.as_deref().unwrap_or(&scope.languages);
        let stems = Stems::of(request, languages);
        let counts = self.count(request.collection, &stems, &scope).await?;
        let terms = plan::search_terms(request, languages, scope.documents, &counts);
        let (hits, total) = match &terms.phrase {
            Some(words) => self.by_phrase(request, words).await?,
            None => self.by_words(request, &terms, &scope).await?,
        };
        Ok(FirstStageResponse { hits, total, statistics: terms.into_statistics(scope.documents, scope.average_length) })
    }

    fn candidate_limit(&self, results: usize) -> usize {
        (2 * results).max(64)
    }

    async fn apply(&self, index: IndexName, changes: Vec<Change>) -> Result<(), EngineError> {
        if changes.is_empty() {
            return Ok(());
        }
        let index = self.index(index);
        self.must_exist(index).await?;
        // Of several changes of a document the last one counts, so that the order of the others does not matter.
        let mut last: HashMap<DocId, Change> = HashMap::new();
        for change in changes {
            last.insert(change.doc_id(), change);
        }
        let (mut documents, mut removed) = (Vec::new(), Vec::new());
        for (doc_id, change) in last {
            match change {
                Change::Put(document) => documents.push(*document),
                Change::Remove { .. } => removed.push(doc_id.0),
            }
        }
        // The server orders equals by their time of arrival: the same changes are to make the same index.
        documents.sort_unstable_by_key(|document| document.doc_id);
        let outcome = async {
            self.put(index, documents).await?;
            if removed.is_empty() {
                return Ok(());
            }
            let task = index::delete_documents(index, &removed).await?;
            index::wait(&self.client, "removing documents", task).await
        };
        let outcome = outcome.await;
        self.scopes.forget();
        outcome
    }

    async fn clear(&self, index: IndexName) -> Result<(), EngineError> {
        let index = self.index(index);
        self.must_exist(index).await?;
        let task = index.delete_all_documents().await.map_err(|error| from_client("emptying the index", error))?;
        let outcome = index::wait(&self.client, "emptying the index", task).await;
        self.scopes.forget();
        outcome
    }

    async fn document_count(&self, index: IndexName) -> Result<u64, EngineError> {
        let stats = self.index(index).get_stats().await.map_err(|error| from_client("counting documents", error))?;
        Ok(stats.number_of_documents as u64)
    }

    async fn ping(&self) -> Result<(), EngineError> {
        self.must_exist(&self.web).await
    }

    async fn needs_rebuild(&self) -> Result<Vec<IndexName>, EngineError> {
        let mut missing = Vec::new();
        for name in IndexName::ALL.iter().copied() {
            if !index::exists(&self.client, &self.index(name).uid).await? {
                missing.push(name);
            }
        }
        Ok(missing)
    }

    /// Makes the indexes: one that is there has all its documents, or they are queued for it.
    async fn mark_rebuilt(&self, indexes: &[IndexName]) -> Result<(), EngineError> {
        for name in indexes {
            index::create(&self.client, &self.index(*name).uid).await?;
        }
        self.scopes.forget();
        Ok(())
    }
}
