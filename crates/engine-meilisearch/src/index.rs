//! The server's indexes: their names, settings, and whether they are there.

use std::time::Duration;

use engine::{EngineError, EngineErrorKind};
use meilisearch_sdk::client::Client;
use meilisearch_sdk::errors::{Error, ErrorCode};
use meilisearch_sdk::indexes::Index;
use meilisearch_sdk::settings::{
    FacetingSettings, FilterableAttribute, LocalizedAttributes, PaginationSetting, PrefixSearchSettings, Settings,
    TypoToleranceSettings,
};
use meilisearch_sdk::task_info::TaskInfo;
use meilisearch_sdk::tasks::Task;
use model::IndexName;

use crate::document::attribute;
use crate::error::from_client;
use crate::transport::Transport;

/// What an index holds and how. Another one makes other indexes, filled anew, beside the old ones.
const VERSION: u32 = 1;

/// Different lengths and languages that are counted.
const MAX_FACET_VALUES: usize = 2_000;

/// A task that takes longer is not waited for; what it was for is tried again.
const TASK_PATIENCE: Duration = Duration::from_secs(10 * 60);
const POLL_FIRST: Duration = Duration::from_millis(2);
const POLL_MOST: Duration = Duration::from_millis(100);

pub fn uid(prefix: &str, name: IndexName) -> String {
    format!("{prefix}{}-v{VERSION}", name.as_str())
}

pub async fn exists(client: &Client<Transport>, uid: &str) -> Result<bool, EngineError> {
    match client.get_raw_index(uid).await {
        Ok(_) => Ok(true),
        Err(Error::Meilisearch(refusal)) if matches!(refusal.error_code, ErrorCode::IndexNotFound) => Ok(false),
        Err(error) => Err(from_client("looking for the index", error)),
    }
}

/// Makes the index with its settings. An index that is there already gets the settings, which costs nothing where it has
/// them.
pub async fn create(client: &Client<Transport>, uid: &str) -> Result<(), EngineError> {
    let index = client.index(uid);
    // Settings make an index that is not there: nobody ever sees it without those that searches need.
    let made = index.set_settings(&settings()).await;
    for task in
        [made, index.set_prefix_search(PrefixSearchSettings::Disabled).await, index.set_facet_search(false).await]
    {
        let task = task.map_err(|error| from_client("making the index", error))?;
        wait(client, "making the index", task).await?;
    }
    Ok(())
}

fn settings() -> Settings {
    let filterable = [
        attribute::ORGANIZATION,
        attribute::LANGUAGE,
        attribute::COUNTRY,
        attribute::DOMAINS,
        attribute::PUBLISHED_AT,
        attribute::LENGTH,
    ];
    Settings {
        searchable_attributes: Some((0..attribute::TERMS).map(attribute::terms).collect()),
        displayed_attributes: Some(vec![attribute::ID.to_owned(), attribute::LENGTH.to_owned()]),
        filterable_attributes: Some(filterable.into_iter().map(FilterableAttribute::from).collect()),
        // The attribute alone: our levels of impact.
        ranking_rules: Some(vec!["attributeRank".to_owned()]),
        // Terms come as they are to be found: nothing is to be guessed of them, and they are of no language.
        typo_tolerance: Some(TypoToleranceSettings { enabled: Some(false), ..Default::default() }),
        localized_attributes: Some(vec![LocalizedAttributes {
            attribute_patterns: vec!["*".to_owned()],
            locales: vec!["eng".to_owned()],
        }]),
        // Pairs of words are terms of their own; nothing else asks for neighbours.
        proximity_precision: Some("byAttribute".to_owned()),
        // The number of matches, which is the document frequency, is cut off at this.
        pagination: Some(PaginationSetting { max_total_hits: u32::MAX as usize }),
        faceting: Some(FacetingSettings { max_values_per_facet: MAX_FACET_VALUES, sort_facet_values_by: None }),
        ..Settings::default()
    }
}

pub async fn delete_documents(index: &Index<Transport>, ids: &[uuid::Uuid]) -> Result<TaskInfo, EngineError> {
    index.delete_documents(ids).await.map_err(|error| from_client("removing documents", error))
}

/// Waits until the server has done the task.
///
/// # Errors
/// `Rejected` when the server refuses what it was given; `Unavailable` when it cannot do it now.
pub async fn wait(client: &Client<Transport>, doing: &str, task: TaskInfo) -> Result<(), EngineError> {
    let ended = tokio::time::timeout(TASK_PATIENCE, async {
        let mut pause = POLL_FIRST;
        loop {
            match client.get_task(&task).await.map_err(|error| from_client(doing, error))? {
                Task::Succeeded { .. } => return Ok(()),
                Task::Failed { content } => return Err(from_client(doing, Error::Meilisearch(content.error))),
                Task::Enqueued { .. } | Task::Processing { .. } => {}
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(POLL_MOST);
        }
    });
    ended.await.unwrap_or_else(|_| {
        let message = format!("{doing}: task {} has not ended within {TASK_PATIENCE:?}", task.task_uid);
        Err(EngineError::new(EngineErrorKind::Unavailable, message))
    })
}
