//! Number of documents in each index, compared with the database.

use docstore::Docstore;
use engine::SearchEngine;
use model::IndexName;
use serde_json::{Value, json};
use settings::{IndexBackend, Settings};

use super::Report;
use crate::compose::{self, OpenedIndex};
use crate::index_use;

/// Documents counted per query.
const PAGE: i64 = 10_000;

/// Compares both indexes. Returns their states for the summary.
pub async fn check(settings: &Settings, store: &Docstore, report: &mut Report) -> anyhow::Result<Value> {
    let is_new = settings.index.backend == IndexBackend::Embedded && !compose::index_dir(settings).is_dir();
    // Opening would create it; the next start does and fills it.
    if is_new {
        return Ok("not built yet".into());
    }
    let opened = match index_use::open(settings, store).await? {
        OpenedIndex::Open(opened) => opened,
        OpenedIndex::Disabled => return Ok("disabled".into()),
        OpenedIndex::OwnedElsewhere => return Ok("not checked: a running server owns them".into()),
    };
    let awaiting_rebuild = opened.engine.needs_rebuild().await?;
    let mut states = json!({});
    for index in IndexName::ALL.iter().copied() {
        states[index.as_str()] = if awaiting_rebuild.contains(&index) {
            "awaiting a rebuild".into()
        } else {
            compare(opened.engine.as_ref(), index, store, report).await?
        };
    }
    Ok(states)
}

async fn compare(
    engine: &dyn SearchEngine,
    index: IndexName,
    store: &Docstore,
    report: &mut Report,
) -> anyhow::Result<Value> {
    let pending = store.count_outbox(index).await?;
    let expected = count(store, index).await?;
    let indexed = engine.document_count(index).await?;
    // Documents that wait for the index may be in it in an older version, or not yet.
    if indexed.abs_diff(expected) > u64::try_from(pending).unwrap_or(0) {
        let fields = json!({ "index": index.as_str(), "documents": expected, "indexed": indexed, "pending": pending });
        report.problem("index_incomplete", fields);
    }
    Ok(json!({ "documents": expected, "indexed": indexed, "pending": pending }))
}

async fn count(store: &Docstore, index: IndexName) -> anyhow::Result<u64> {
    let (mut count, mut after) = (0, None);
    loop {
        let page = store.list_indexable_documents(index, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(count) };
        count += page.len() as u64;
        after = Some(*last);
    }
}
