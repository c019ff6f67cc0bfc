//! Number of documents in each index, compared with the database.

use std::mem;
use std::time::Duration;

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
/// Number of comparisons after which a difference is a problem: a server may write documents and feed the index between two counts.
const ATTEMPTS: usize = 5;
/// Pause between two comparisons.
const PAUSE: Duration = Duration::from_secs(1);

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
            compare(opened.engine.as_ref(), index, store, PAUSE, report).await?
        };
    }
    Ok(states)
}

/// Compares one index, again after each `pause` while it differs, and reports a difference that persists.
async fn compare(
    engine: &dyn SearchEngine,
    index: IndexName,
    store: &Docstore,
    pause: Duration,
    report: &mut Report,
) -> anyhow::Result<Value> {
    let mut stored = Stored::count(store, index).await?;
    let mut attempts = 1;
    let indexed = loop {
        let indexed = engine.document_count(index).await?;
        // Documents are counted again only for a difference: that takes seconds for millions of them.
        if may_be_complete(&stored, indexed, &stored) {
            break indexed;
        }
        let before = mem::replace(&mut stored, Stored::count(store, index).await?);
        if may_be_complete(&before, indexed, &stored) {
            break indexed;
        }
        if attempts == ATTEMPTS {
            let Stored { documents, pending } = stored;
            let index = index.as_str();
            let fields = json!({ "index": index, "documents": documents, "indexed": indexed, "pending": pending });
            report.problem("index_incomplete", fields);
            break indexed;
        }
        attempts += 1;
        tokio::time::sleep(pause).await;
    };
    Ok(json!({ "documents": stored.documents, "indexed": indexed, "pending": stored.pending }))
}

/// Documents of an index in the database.
struct Stored {
    documents: u64,
    /// Changes that wait for the index.
    pending: u64,
}

impl Stored {
    async fn count(store: &Docstore, index: IndexName) -> anyhow::Result<Self> {
        let pending = u64::try_from(store.count_outbox(index).await?).unwrap_or(0);
        let (mut documents, mut after) = (0, None);
        loop {
            let page = store.list_indexable_documents(index, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(Self { documents, pending }) };
            documents += page.len() as u64;
            after = Some(*last);
        }
    }
}

/// Returns true if an index that had `indexed` documents between two counts of the database may be complete. Documents that wait
/// for it may be in it in an older version, or not yet.
fn may_be_complete(before: &Stored, indexed: u64, after: &Stored) -> bool {
    let pending = before.pending.max(after.pending);
    let fewest = before.documents.min(after.documents).saturating_sub(pending);
    let most = before.documents.max(after.documents).saturating_add(pending);
    (fewest..=most).contains(&indexed)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use indicatif::ProgressBar;
    use test_support::{TestApp, page};

    use super::*;

    #[tokio::test]
    async fn only_a_difference_that_persists_is_a_problem() {
        let app = TestApp::start().await;
        app.import_one(page("https://example.com/", "The walrus eats clams.")).await;
        for (short_counts, problems, indexed) in [(0, 0, 1), (1, 0, 1), (ATTEMPTS - 1, 0, 1), (usize::MAX, 1, 0)] {
            app.engine.count_short(short_counts);
            let mut report = Report { problems: 0, progress: ProgressBar::hidden() };
            let compared = compare(&*app.engine, IndexName::Web, &app.store, Duration::ZERO, &mut report);
            assert_eq!(compared.await.unwrap(), json!({ "documents": 1, "indexed": indexed, "pending": 0 }));
            assert_eq!(report.problems, problems, "{short_counts} short counts");
        }
    }

    #[test]
    fn documents_written_between_two_counts_are_no_difference() {
        let stored = |documents, pending| Stored { documents, pending };
        for (before, indexed, after, expected) in [
            (stored(10, 0), 10, stored(10, 0), true),
            (stored(10, 0), 9, stored(10, 0), false),
            (stored(10, 0), 11, stored(10, 0), false),
            // Added or removed, and indexed.
            (stored(10, 0), 12, stored(15, 0), true),
            (stored(10, 0), 7, stored(5, 0), true),
            (stored(10, 0), 16, stored(15, 0), false),
            (stored(10, 0), 4, stored(5, 0), false),
            // Waiting at one of the counts.
            (stored(10, 2), 8, stored(10, 0), true),
            (stored(10, 0), 12, stored(10, 2), true),
            (stored(10, 2), 7, stored(10, 1), false),
            (stored(0, 3), 0, stored(u64::MAX, 3), true),
        ] {
            let of = (before.documents, before.pending, indexed, after.documents, after.pending);
            assert_eq!(may_be_complete(&before, indexed, &after), expected, "{of:?}");
        }
    }
}
