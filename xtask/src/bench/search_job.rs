//! `bench search`: searches in a larger index, with the embedded engine and with the Meilisearch of the environment.

use super::collection::Collection;
use super::engine::Engine;
use super::kept_import::Kept;
use super::report::Report;
use super::searches::{self, Subject, Targets};
use super::{Options, spinner, topics};
use std::path::Path;

const TARGETS: Targets = Targets {
    p50_ms: 8.0,
    p99_ms: 40.0,
    searches_per_second: Some(400.0),
    imported_per_second: Some(2_000.0),
    idle_mb: 500.0,
    loaded_mb: Some(500.0),
};
const DOCUMENTS: usize = 100_000;
const QUERIES: usize = 1_000;

/// Measures the generated and the given collection with each engine.
pub fn measure(options: &Options, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let waiting = spinner("writing documents");
    let (documents, queries) = (options.documents.unwrap_or(DOCUMENTS), options.queries.unwrap_or(QUERIES));
    let mut collections = Vec::new();
    if documents > 0 && queries > 0 {
        collections.push(topics::collection(options.seed, documents, queries));
    }
    if let Some(folder) = &options.collection {
        collections.push(Collection::read(folder)?);
    }
    waiting.finish_and_clear();
    for collection in &collections {
        for engine in Engine::available() {
            measure_engine(options, program, collection, engine, report)?;
        }
    }
    Ok(())
}

fn measure_engine(
    options: &Options,
    program: &Path,
    collection: &Collection,
    mut engine: Engine,
    report: &mut Report,
) -> anyhow::Result<()> {
    let kept = options.keep.as_ref().map(|root| Kept::open(root, collection, &engine)).transpose()?;
    if let Some(kept) = &kept {
        engine.keep(kept.index_prefix());
    }
    let title = format!("{}, {}", collection.title(), engine.name());
    let subject = Subject { program, engine: &engine, kept: kept.as_ref(), targets: TARGETS };
    searches::measure(options, &subject, collection, report.section(title))
}
