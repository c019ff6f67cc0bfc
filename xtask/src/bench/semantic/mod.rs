//! `bench semantic`: recall of the vector search, and ranking quality with vectors of different quality.

mod endpoint;
mod program;
mod recall;
mod vectors;

use super::collection::Document;
use super::engine::Engine;
use super::installation::Installation;
use super::labelled::{self, K, Labelled};
use super::report::{Report, Section};
use super::{Options, check_interrupt, progress, spinner};
use anyhow::{Context, bail};
use endpoint::Endpoint;
use program::ModelProgram;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use vectors::{Vectors, exact_ranking};

const DOCUMENTS: usize = 100_000;
/// Timeout for the documents to get their vectors, once these are stored.
const INDEXING: Duration = Duration::from_secs(600);
const POLL: Duration = Duration::from_millis(100);
/// nDCG@10 that vectors without meaning may cost.
const RANDOM_LOSS: f64 = 0.01;
/// Share of the relevant documents in the vector of a query that stands for a good model.
const GOOD_SHARE: f32 = 1.0;

#[derive(clap::Args)]
pub struct SemanticOptions {
    /// `semantic` only: folder of a good embedding model
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
}

/// Measures recall on generated vectors, then the fusion on the given collection.
pub fn measure(options: &Options, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let documents = options.documents.unwrap_or(DOCUMENTS);
    if documents > 0 {
        recall::measure(documents, report.section(format!("{documents} generated vectors")))?;
    }
    let Some(folder) = &options.collection else {
        eprintln!("without --collection the fusion is not measured");
        return Ok(());
    };
    let labelled = Labelled::read(folder)?;
    let lexical = lexical(program, &labelled, report.section(format!("{}, words only", labelled.collection.title())))?;
    for (name, vectors, loss) in variants(options, &labelled)? {
        let section = report.section(format!("{}, {name}", labelled.collection.title()));
        let alone = alone(&labelled, vectors.as_ref())?;
        section.number("nDCG@10 of the vectors alone", alone);
        let fused = fused(program, &labelled, vectors, section)?;
        section.number("nDCG@10 fused", fused).target_at_least(lexical.max(alone) - loss);
        section.number("gained by fusion", fused - lexical);
    }
    Ok(())
}

/// Name, vectors, and the nDCG@10 that the fusion may lose against the better of words and vectors.
type Variant = (&'static str, Arc<dyn Vectors>, f64);

/// Returns the vectors to measure: of the model, degraded ones, and some that need no model.
fn variants(options: &Options, labelled: &Labelled) -> anyhow::Result<Vec<Variant>> {
    let seed = options.seed;
    let mut variants: Vec<Variant> = Vec::new();
    let words: Arc<dyn Vectors> = Arc::new(vectors::Words { seed });
    let noise: Arc<dyn Vectors> = Arc::new(vectors::Noise { seed });
    let judged: Arc<dyn Vectors> = Arc::new(vectors::Judged::new(labelled, Arc::clone(&words), GOOD_SHARE)?);
    variants.push(("vectors that know the relevant documents", Arc::clone(&judged), 0.0));
    let noisy = Arc::new(vectors::Noisy { vectors: judged, share: 1.0, seed });
    variants.push(("the same with noise as long as its vectors", noisy, 0.0));
    let without_words = vectors::Judged::new(labelled, Arc::clone(&noise), GOOD_SHARE)?;
    variants.push(("random vectors that know the relevant documents", Arc::new(without_words), 0.0));
    match &options.semantic.model {
        Some(folder) => {
            let model: Arc<dyn Vectors> = Arc::new(ModelProgram::start(folder)?);
            let noisy = |share| Arc::new(vectors::Noisy { vectors: Arc::clone(&model), share, seed });
            variants.push(("vectors of the model", Arc::clone(&model), 0.0));
            variants.push(("the model with noise as long as its vectors", noisy(1.0), 0.0));
            variants.push(("the model with noise twice as long", noisy(2.0), 0.0));
        }
        None => eprintln!("without --model no trained model is measured"),
    }
    variants.push(("mean of random word vectors", words, 0.0));
    variants.push(("random vectors", noise, RANDOM_LOSS));
    Ok(variants)
}

/// Returns the nDCG@10 of the service without a model.
fn lexical(program: &Path, labelled: &Labelled, section: &mut Section) -> anyhow::Result<f64> {
    let installation = Installation::with(program, &Engine::Embedded, None)?;
    import(&installation, labelled)?;
    let ndcg = search(&installation, labelled, section)?;
    section.number("nDCG@10", ndcg);
    Ok(ndcg)
}

/// Returns the nDCG@10 of the nearest documents, with one vector per document and exact comparison.
fn alone(labelled: &Labelled, vectors: &dyn Vectors) -> anyhow::Result<f64> {
    let waiting = spinner("comparing vectors exactly");
    let texts: Vec<String> = labelled.collection.documents.iter().map(Document::whole).collect();
    let documents = vectors.embed(&texts)?;
    let ids: Vec<&str> = labelled.collection.documents.iter().map(|document| document.id.as_str()).collect();
    let ndcg = labelled.ndcg(|query| {
        let query = vectors.embed(&[query.to_owned()])?.pop().context("no vector of a query")?;
        Ok(exact_ranking(&query, &documents, K).into_iter().map(|at| ids[at].to_owned()).collect())
    });
    waiting.finish_and_clear();
    ndcg
}

/// Returns the nDCG@10 of the service with these vectors.
fn fused(program: &Path, labelled: &Labelled, vectors: Arc<dyn Vectors>, section: &mut Section) -> anyhow::Result<f64> {
    let endpoint = Endpoint::start(vectors)?;
    let installation = Installation::with(program, &Engine::Embedded, None)?
        .with_setting("RETRIEVAL__EMBED__BACKEND", "http")
        .with_setting("RETRIEVAL__EMBED__URL", endpoint.base())
        .with_setting("RETRIEVAL__EMBED__MODEL", "bench")
        .with_setting("RETRIEVAL__EMBED__TIMEOUT_MS", "20000");
    // The first server makes the model that of the index, so that the import queues what `index embed` completes.
    drop(installation.serve()?);
    import(&installation, labelled)?;
    let embedded = installation.run_measured(&["index", "embed"], &[])?;
    section.number("passages", embedded.line["passages"].as_f64().unwrap_or_default());
    search(&installation, labelled, section)
}

fn import(installation: &Installation, labelled: &Labelled) -> anyhow::Result<()> {
    let file = installation.folder().join("import.jsonl");
    labelled.collection.write_import(&file)?;
    let import = installation.import(&file)?;
    if import.imported != labelled.collection.documents.len() as u64 {
        bail!("imported only {} of {} documents", import.imported, labelled.collection.documents.len());
    }
    Ok(())
}

/// Searches all judged queries once the index has all that is stored.
fn search(installation: &Installation, labelled: &Labelled, section: &mut Section) -> anyhow::Result<f64> {
    let tenant = installation.tenant()?;
    let _server = installation.serve()?;
    wait_until_indexed(installation)?;
    let client = installation.client(&tenant);
    let bar = progress(labelled.queries.len(), "searching");
    let mut warnings = 0;
    let ndcg = labelled.ndcg(|query| {
        bar.inc(1);
        let answer = client.call("/v1/search", &json!({"query": query, "max_results": 5 * K}))?;
        let codes = answer["warnings"].as_array().into_iter().flatten().filter_map(|warning| warning["code"].as_str());
        warnings += codes.filter(|code| *code == "semantic_unavailable").count();
        Ok(labelled::found(&answer))
    })?;
    bar.finish_and_clear();
    section.count("searches without vectors for a fault", warnings).target_below(1.0);
    Ok(ndcg)
}

/// Waits until nothing is queued for the index or for embedding.
fn wait_until_indexed(installation: &Installation) -> anyhow::Result<()> {
    let operations = installation.operations();
    let begun = Instant::now();
    loop {
        check_interrupt()?;
        // A connection may be closed between two polls.
        let metrics = operations.get("/metrics").unwrap_or_default();
        let metrics = String::from_utf8(metrics)?;
        let queued = ["retrieval_outbox_entries", "retrieval_embedding_jobs"].map(|name| gauge(&metrics, name));
        if queued.iter().all(|sum| *sum == Some(0.0)) {
            return Ok(());
        }
        if begun.elapsed() > INDEXING {
            bail!("the index did not catch up: {queued:?}");
        }
        std::thread::sleep(POLL);
    }
}

/// Returns the sum over all labels of a metric; `None` if it has not been reported yet.
fn gauge(metrics: &str, name: &str) -> Option<f64> {
    let lines = metrics.lines().filter_map(|line| line.strip_prefix(name)).filter(|rest| rest.starts_with(['{', ' ']));
    let values = lines.filter_map(|rest| rest.rsplit(' ').next()?.parse::<f64>().ok());
    values.reduce(|sum, value| sum + value)
}

/// Returns the numbers of a JSON array.
fn numbers(value: &Value) -> Option<Vec<f32>> {
    value.as_array()?.iter().map(|number| number.as_f64().map(|number| number as f32)).collect()
}

#[cfg(test)]
mod tests {
    use super::gauge;

    #[test]
    fn gauges_are_summed_over_labels() {
        let metrics = "# TYPE a gauge\na{index=\"web\"} 3\na{index=\"workspace\"} 1\nab 7\nb 0\n";
        assert_eq!([gauge(metrics, "a"), gauge(metrics, "b"), gauge(metrics, "c")], [Some(4.0), Some(0.0), None]);
    }
}
