//! Indexes on the server: names, settings, existence, and tasks.

use std::collections::HashMap;
use std::time::Duration;

use engine::{EngineError, EngineErrorKind};
use meilisearch_sdk::client::Client;
use meilisearch_sdk::errors::{Error, ErrorCode};
use meilisearch_sdk::indexes::{Index, IndexesQuery};
use meilisearch_sdk::request::{HttpClient, Method};
use meilisearch_sdk::settings::{
    Embedder, EmbedderSource, FacetingSettings, FilterableAttribute, LocalizedAttributes, PaginationSetting,
    PrefixSearchSettings, Settings, TypoToleranceSettings,
};
use meilisearch_sdk::task_info::TaskInfo;
use meilisearch_sdk::tasks::Task;
use model::IndexName;
use retrieval_core::analysis::ANALYSIS_VERSION;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::document::attribute;
use crate::error::from_client;
use crate::tokens_by_level::STORED_LEVELS;
use crate::transport::Transport;

/// Version of the storage format, part of the index name. A new version creates new indexes beside the old ones.
const VERSION: u32 = 4;
const _: () = assert!(ANALYSIS_VERSION == 3, "other terms belong into an index of another version");

/// Only ranking rule of the indexes of words: the attribute of a match, which is its impact level.
const RANKING_RULE: &str = "attributeRank";

/// Maximum number of distinct lengths or languages that are counted.
const MAX_FACET_VALUES: usize = 2_000;

/// Time after which the server would end a search and return other documents instead of its matches, without a sign. Callers have
/// given up by then.
const SEARCH_CUTOFF_MS: u64 = 60_000;

/// Timeout for a task on the server. The caller retries the operation.
const TASK_TIMEOUT: Duration = Duration::from_secs(10 * 60);
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(2);
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(100);

pub fn uid(prefix: &str, name: IndexName) -> String {
    format!("{prefix}{}-v{VERSION}", name.as_str())
}

/// Returns the name of the index with the generations of the others.
pub fn generations_uid(prefix: &str) -> String {
    format!("{prefix}generations-v{VERSION}")
}

/// Returns the beginning of the names of the indexes with the vectors of an index.
pub fn vectors_uid(prefix: &str, name: IndexName) -> String {
    format!("{}-vectors-", uid(prefix, name))
}

/// Returns the names of all indexes of the server that the key may see.
pub async fn list(client: &Client<Transport>) -> Result<Vec<String>, EngineError> {
    const PAGE: usize = 1_000;
    let mut uids = Vec::new();
    loop {
        let mut query = IndexesQuery::new(client);
        query.with_offset(uids.len()).with_limit(PAGE);
        let page = query.execute().await.map_err(|error| from_client("listing the indexes", error))?;
        let (is_empty, total) = (page.results.is_empty(), page.total as usize);
        uids.extend(page.results.into_iter().map(|index| index.uid));
        if is_empty || uids.len() >= total {
            return Ok(uids);
        }
    }
}

pub async fn exists(client: &Client<Transport>, uid: &str) -> Result<bool, EngineError> {
    match client.get_raw_index(uid).await {
        Ok(_) => Ok(true),
        Err(Error::Meilisearch(response)) if matches!(response.error_code, ErrorCode::IndexNotFound) => Ok(false),
        Err(error) => Err(from_client("finding the index", error)),
    }
}

/// Creates the index with its settings. On an existing index only the settings are applied, which is free if they are
/// unchanged.
pub async fn create(client: &Client<Transport>, uid: &str) -> Result<(), EngineError> {
    create_with(client, uid, &settings()).await
}

/// Settings that tell indexes of this crate from others, and those that an earlier version did not set.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredSettings {
    ranking_rules: Vec<String>,
    embedders: Option<HashMap<String, IgnoredAny>>,
    search_cutoff_ms: Option<u64>,
}

impl StoredSettings {
    /// Returns true if this crate has created the index, for words or for vectors.
    fn are_own(&self) -> bool {
        let has_embedder = self.embedders.as_ref().is_some_and(|all| all.contains_key(attribute::EMBEDDER));
        has_embedder || self.ranking_rules == [RANKING_RULE]
    }
}

/// Gives an index of an earlier version the settings that it lacks. The server applies them later.
///
/// Returns false if the index has settings that searches cannot use. If an index is deleted while documents are sent, the server creates
/// such an index, which lacks all earlier documents.
pub async fn complete_settings(
    client: &Client<Transport>,
    transport: &Transport,
    uid: &str,
) -> Result<bool, EngineError> {
    let failed = |error| from_client("reading the settings of the index", error);
    // The type of the client library has all settings, and could fail to read those of another version of the server.
    let url = format!("{}/indexes/{uid}/settings", client.get_host());
    let stored: StoredSettings =
        transport.request(&url, Method::<(), ()>::Get { query: () }, 200).await.map_err(failed)?;
    if !stored.are_own() {
        return Ok(false);
    }
    if stored.search_cutoff_ms.is_none() {
        client.index(uid).set_search_cutoff_ms(Some(SEARCH_CUTOFF_MS)).await.map_err(failed)?;
    }
    Ok(true)
}

/// Creates an index of vectors with this number of components.
pub async fn create_for_vectors(client: &Client<Transport>, uid: &str, dimensions: usize) -> Result<(), EngineError> {
    let embedder =
        Embedder { source: EmbedderSource::UserProvided, dimensions: Some(dimensions), ..Embedder::default() };
    let settings = Settings {
        searchable_attributes: Some(vec![attribute::ID.to_owned()]),
        displayed_attributes: Some(vec![attribute::ID.to_owned()]),
        filterable_attributes: Some(attribute::FILTERED.map(FilterableAttribute::from).into()),
        pagination: Some(PaginationSetting { max_total_hits: u32::MAX as usize }),
        embedders: Some(HashMap::from([(attribute::EMBEDDER.to_owned(), embedder)])),
        search_cutoff_ms: Some(SEARCH_CUTOFF_MS),
        ..Settings::default()
    };
    create_with(client, uid, &settings).await
}

async fn create_with(client: &Client<Transport>, uid: &str, settings: &Settings) -> Result<(), EngineError> {
    let index = client.index(uid);
    // Applying settings creates a missing index, so it never exists without the settings that searches need.
    let created = index.set_settings(settings).await;
    for task in
        [created, index.set_prefix_search(PrefixSearchSettings::Disabled).await, index.set_facet_search(false).await]
    {
        let task = task.map_err(|error| from_client("creating the index", error))?;
        wait(client, "creating the index", task).await?;
    }
    Ok(())
}

fn settings() -> Settings {
    let filterable = attribute::FILTERED.into_iter().chain([attribute::LENGTH]);
    Settings {
        searchable_attributes: Some((0..STORED_LEVELS).map(attribute::terms).collect()),
        displayed_attributes: Some(vec![attribute::ID.to_owned(), attribute::LENGTH.to_owned()]),
        filterable_attributes: Some(filterable.map(FilterableAttribute::from).collect()),
        ranking_rules: Some(vec![RANKING_RULE.to_owned()]),
        // Terms are encoded tokens: they match exactly and have no language.
        typo_tolerance: Some(TypoToleranceSettings { enabled: Some(false), ..Default::default() }),
        localized_attributes: Some(vec![LocalizedAttributes {
            attribute_patterns: vec!["*".to_owned()],
            locales: vec!["eng".to_owned()],
        }]),
        // Pairs of words are terms, so word positions are not needed.
        proximity_precision: Some("byAttribute".to_owned()),
        // Unlimited, since the number of matches is the document frequency.
        pagination: Some(PaginationSetting { max_total_hits: u32::MAX as usize }),
        faceting: Some(FacetingSettings { max_values_per_facet: MAX_FACET_VALUES, sort_facet_values_by: None }),
        search_cutoff_ms: Some(SEARCH_CUTOFF_MS),
        ..Settings::default()
    }
}

pub async fn delete_documents(index: &Index<Transport>, ids: &[uuid::Uuid]) -> Result<TaskInfo, EngineError> {
    index.delete_documents(ids).await.map_err(|error| from_client("removing documents", error))
}

/// Waits until the server has completed the task. `action` names the operation in errors.
///
/// # Errors
///
/// `Rejected` if the server rejects the input; `Unavailable` on a timeout or if the server cannot complete the task now.
pub async fn wait(client: &Client<Transport>, action: &str, task: TaskInfo) -> Result<(), EngineError> {
    let result = tokio::time::timeout(TASK_TIMEOUT, async {
        let mut interval = MIN_POLL_INTERVAL;
        loop {
            match client.get_task(&task).await.map_err(|error| from_client(action, error))? {
                Task::Succeeded { .. } => return Ok(()),
                Task::Failed { content } => return Err(from_client(action, Error::Meilisearch(content.error))),
                Task::Enqueued { .. } | Task::Processing { .. } => {}
            }
            tokio::time::sleep(interval).await;
            interval = (interval * 2).min(MAX_POLL_INTERVAL);
        }
    });
    result.await.unwrap_or_else(|_| {
        let message = format!("{action} failed: task {} timed out after {TASK_TIMEOUT:?}", task.task_uid);
        Err(EngineError::new(EngineErrorKind::Unavailable, message))
    })
}
