//! `bench research`: quick research runs without a model, and verification of their citations through the API.

use super::client::Client;
use super::collection::Collection;
use super::installation::Installation;
use super::report::Report;
use super::samples::Samples;
use super::{Options, check_interrupt, progress, spinner, topics};
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

const DOCUMENTS: usize = 20_000;
const QUESTIONS: usize = 200;
/// Citations of one request of their verification.
const CITATIONS: usize = 50;

/// Sums over all runs.
#[derive(Default)]
struct Runs {
    latencies: Samples,
    answered: usize,
    searches: u64,
    documents: u64,
    characters: usize,
    citations: usize,
    verified: usize,
}

/// Asks the questions of the given collection, or of a generated one, with embedded components.
pub fn measure(options: &Options, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let count = options.queries.unwrap_or(QUESTIONS);
    let collection = match &options.collection {
        Some(folder) => Collection::read(folder)?,
        None => topics::collection(options.seed, options.documents.unwrap_or(DOCUMENTS), count),
    };
    let installation = Installation::new(program)?;
    let tenant = installation.tenant()?;
    let waiting = spinner("importing the documents");
    let file = installation.folder().join("import.jsonl");
    collection.write_import(&file)?;
    installation.import(&file)?;
    waiting.finish_and_clear();
    let _server = installation.serve()?;
    let client = installation.client(&tenant);
    let questions = &collection.queries[..count.min(collection.queries.len())];
    let bar = progress(questions.len(), "research runs");
    let mut runs = Runs::default();
    for question in questions {
        check_interrupt()?;
        runs.ask(&client, question).with_context(|| format!("question `{question}`"))?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    runs.report(collection.documents.len(), report);
    Ok(())
}

impl Runs {
    fn ask(&mut self, client: &Client, question: &str) -> anyhow::Result<()> {
        let started = Instant::now();
        let request = json!({"query": question, "depth": "quick", "scope": {"indexes": ["web"]}});
        let created = client.call("/v1/research", &request)?;
        let id = created["research_id"].as_str().context("a run without `research_id`")?;
        let run: Value = serde_json::from_slice(&client.get(&format!("/v1/research/{id}?wait_seconds=30"))?)?;
        self.latencies.push(started.elapsed());
        if run["status"] != "completed" {
            bail!("the run is {}: {}", run["status"], run["error"]);
        }
        self.answered += usize::from(run["stop_reason"] == "answered");
        self.searches += run["usage"]["searches"].as_u64().unwrap_or_default();
        self.documents += run["usage"]["documents"].as_u64().unwrap_or_default();
        self.characters += run["output"]["text"].as_str().map_or(0, |text| text.chars().count());
        let citations: Vec<Value> = run["output"]["citations"].as_array().into_iter().flatten().map(cited).collect();
        for chunk in citations.chunks(CITATIONS) {
            let verified = client.call("/v1/citations/verify", &json!({"citations": chunk}))?;
            let results = verified["results"].as_array().context("an answer without `results`")?;
            self.citations += results.len();
            self.verified += results.iter().filter(|result| result["status"] == "exact").count();
        }
        Ok(())
    }

    fn report(&self, documents: usize, report: &mut Report) {
        let runs = self.latencies.len().max(1) as f64;
        let section = report.section(format!("quick research runs, {documents} web documents"));
        section.count("runs", self.latencies.len()).count("runs that ended as answered", self.answered);
        section.milliseconds("p50 ms", self.latencies.median()).target_below(300.0);
        section.milliseconds("p95 ms", self.latencies.percentile(95.0));
        section.milliseconds("max ms", self.latencies.max());
        section.number("searches a run", self.searches as f64 / runs);
        section.number("documents read a run", self.documents as f64 / runs);
        section.number("characters a report", self.characters as f64 / runs);
        section.number("citations a report", self.citations as f64 / runs);
        let unverified = self.citations - self.verified;
        section.count("citations that are not exact", unverified).target_below(1.0);
    }
}

/// Returns the fields of a citation that its verification takes.
fn cited(citation: &Value) -> Value {
    let fields = ["doc_id", "capture_id", "quote", "char_start", "char_end"];
    fields.iter().map(|field| ((*field).to_owned(), citation[field].clone())).collect::<serde_json::Map<_, _>>().into()
}
