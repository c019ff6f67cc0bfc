//! `bench providers`: ranking quality with a search provider, for results as snippets and as pages.

use super::collection::Document;
use super::engine::Engine;
use super::installation::Installation;
use super::labelled::{self, K, Labelled, Query};
use super::provider::Provider;
use super::report::Report;
use super::{Options, check_interrupt, progress};
use anyhow::Context;
use serde_json::json;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// Numbers of results that are read before ranking.
const READ_TOP: [usize; 5] = [0, 3, 5, 10, 20];

/// Documents of the index and of the provider.
struct Sources<'a> {
    name: &'static str,
    index: Vec<&'a Document>,
    provider: Vec<&'a Document>,
}

/// Measures the given collection with embedded components.
pub fn measure(options: &Options, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let folder = options.collection.as_ref().context("`providers` needs --collection DIR")?;
    let Labelled { collection, queries, judgements } = Labelled::read(folder)?;
    let all = || collection.documents.iter().collect::<Vec<_>>();
    let half =
        |rest: usize| collection.documents.iter().enumerate().filter(move |(n, _)| n % 2 == rest).map(|(_, d)| d);
    let alone = Sources { name: "provider", index: vec![], provider: all() };
    let halves = Sources { name: "half in the index", index: half(0).collect(), provider: half(1).collect() };
    let indexed = Sources { name: "index", index: all(), provider: vec![] };
    for (sources, numbers) in [(indexed, &READ_TOP[..1]), (alone, &READ_TOP[..]), (halves, &[0, 10][..])] {
        for read_top in numbers {
            let section = report.section(format!("{}, read_top = {read_top}", sources.name));
            let run = search(program, &sources, *read_top, &queries)?;
            let provided: Vec<&str> = sources.provider.iter().map(|document| document.id.as_str()).collect();
            let listed: Vec<&String> = run.found.iter().flat_map(|(_, found)| found).collect();
            let share = listed.iter().filter(|id| provided.contains(&id.as_str())).count();
            section.number("nDCG@10", judgements.ndcg(&run.found));
            section.number("share of the provider", share as f64 / listed.len().max(1) as f64);
            section.number("median ms", run.median_ms());
        }
    }
    Ok(())
}

/// Results of all queries.
struct Run {
    /// Ids of documents by query, best first.
    found: Vec<(String, Vec<String>)>,
    milliseconds: Vec<f64>,
}

fn search(program: &Path, sources: &Sources<'_>, read_top: usize, queries: &[Query]) -> anyhow::Result<Run> {
    let provider = Provider::start(&sources.provider)?;
    let names = match (sources.index.is_empty(), sources.provider.is_empty()) {
        (true, _) => "searxng",
        (_, true) => "index",
        _ => "index,searxng",
    };
    let installation = Installation::with(program, &Engine::Embedded, None)?
        .with_setting("RETRIEVAL__WEB__PROVIDERS", names)
        .with_setting("RETRIEVAL__WEB__SEARXNG__URL", provider.base())
        .with_setting("RETRIEVAL__WEB__READ_TOP", &read_top.to_string())
        // Long enough for all pages on a machine that is busy.
        .with_setting("RETRIEVAL__WEB__READ_TIMEOUT_MS", "20000")
        .with_setting("RETRIEVAL__WEB__TIMEOUT_MS", "20000")
        .with_setting("RETRIEVAL__FETCH__RESPECT_ROBOTS", "false")
        .with_setting("RETRIEVAL__FETCH__ALLOW_NETWORKS", "127.0.0.0/8");
    let tenant = installation.tenant()?;
    if !sources.index.is_empty() {
        let file = installation.folder().join("import.jsonl");
        let mut out = std::io::BufWriter::new(std::fs::File::create(&file)?);
        for Document { id, title, text } in &sources.index {
            let line = json!({"url": provider.url(id), "title": title, "text": text, "language": "en"});
            writeln!(out, "{line}")?;
        }
        out.flush()?;
        drop(out);
        installation.import(&file)?;
    }
    let _server = installation.serve()?;
    let client = installation.client(&tenant);
    let bar = progress(queries.len(), sources.name);
    let mut run = Run { found: Vec::with_capacity(queries.len()), milliseconds: Vec::new() };
    for Query { id, text } in queries {
        check_interrupt()?;
        let started = Instant::now();
        let body = client.call("/v1/search", &json!({"query": text, "max_results": K}))?;
        run.milliseconds.push(started.elapsed().as_secs_f64() * 1_000.0);
        run.found.push((id.clone(), labelled::found(&body)));
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(run)
}

impl Run {
    fn median_ms(&self) -> f64 {
        let mut sorted = self.milliseconds.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}
