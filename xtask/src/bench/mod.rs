//! `cargo xtask bench`: speed and size of the release server, measured from outside over HTTP.

mod admission_job;
mod answers_job;
pub(crate) mod client;
mod collection;
mod composition;
mod crawl_job;
mod descriptors;
mod disk;
mod engine;
mod engines;
mod fairness;
mod files_job;
mod generate;
pub(crate) mod installation;
mod kept_import;
mod labelled;
mod load;
mod load_job;
mod machine;
mod main_job;
mod pdf;
mod process;
mod provider;
mod providers_job;
mod random;
mod read_job;
mod report;
mod research_job;
mod samples;
mod search_job;
mod searches;
mod semantic;
pub(crate) mod server;
mod site;
mod soak;
mod stage_metrics;
mod starts;
mod swarm;
mod topics;
mod usage_job;
mod vocabulary;
mod wire;
mod workspace;

use crate::interrupt;
use anyhow::bail;
use composition::Composition;
use indicatif::{ProgressBar, ProgressStyle};
use report::Report;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

#[derive(clap::Args)]
pub struct Options {
    /// Benchmark to run
    #[arg(value_enum, default_value_t = Name::Main)]
    name: Name,
    /// Folder of a collection: corpus.jsonl or corpus.jsonl.gz (_id, title, text) and queries.jsonl (_id, text)
    #[arg(long, value_name = "DIR")]
    collection: Option<PathBuf>,
    /// Server to measure [default: release build]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// Generated documents, 0 for none [default: 20000 of `main`, 100000 of `search` and `load`]; pages of `read` [default:
    /// 1000] and `crawl` [default: 20000]; files of `files` [default: 10000]; vectors of `semantic` [default: 100000]; requests
    /// of `door` [default: 40000] and `usage` [default: 10000000]
    #[arg(long)]
    documents: Option<usize>,
    /// Generated queries [default: 2000 of `main`, 1000 of `search` and `load`]; questions of `answers` [default: 50] and `research`
    /// [default: 200]
    #[arg(long)]
    queries: Option<usize>,
    /// Minimum number of searches or reads for the latencies of one client
    #[arg(long, default_value_t = 2_000)]
    searches: usize,
    /// `search` only: folder that keeps the imported data for later runs
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// `main` only: small files to upload and index, 0 for none
    #[arg(long, default_value_t = 300)]
    files: usize,
    /// Number of concurrent clients
    #[arg(long, default_value_t = 8)]
    clients: usize,
    /// Duration of the concurrent load, in seconds
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// `read` only: folder of HTML pages (*.html) [default: generated pages]
    #[arg(long, value_name = "DIR")]
    pages: Option<PathBuf>,
    /// `files` only: folder of files to measure by type
    #[arg(long, value_name = "DIR")]
    office: Option<PathBuf>,
    /// `load` only: compositions to measure
    #[arg(long, value_enum, default_value_t = Composition::Both)]
    composition: Composition,
    /// `load` only: mixed load for a time such as 30m or 1h, and the drift of memory, instead of the comparison
    #[arg(long, value_name = "TIME", value_parser = soak::parse_time)]
    soak: Option<Duration>,
    /// Seed of generated data
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    engines: engines::EnginesOptions,
    #[command(flatten)]
    semantic: semantic::SemanticOptions,
    #[command(flatten)]
    fairness: fairness::FairnessOptions,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Name {
    /// Search, indexing, start, memory and size with embedded components
    Main,
    /// Import and search of 100,000 documents: embedded, and in the Meilisearch of ACCEPT_INDEX_URL, ACCEPT_INDEX_KEY
    Search,
    /// The service on its engines beside raw Meilisearch and raw tantivy: latency, searches/s, import, memory, disk, and
    /// nDCG@10 on --collection with qrels/test.tsv. Needs the programs of Meilisearch, PostgreSQL and Redis
    Engines,
    /// Recall of the vector search against exact comparison, and ranking quality with good (--model), mediocre and random
    /// vectors on --collection with qrels/test.tsv
    Semantic,
    /// Characters of search answers by kind, for the first questions of --collection: REST and MCP
    Answers,
    /// Reads of web pages from loopback: first fetched and extracted, then stored
    Read,
    /// Ranking quality with a search provider, on --collection with qrels/test.tsv: snippets, and pages read before ranking
    Providers,
    /// Quick research runs without a model, and verification of their citations
    Research,
    /// Crawl of generated sites on ten loopback hosts, and memory with a million URLs in the frontier
    Crawl,
    /// Upload and indexing of files: many small ones, unchanged ones, by type, and hostile ones
    Files,
    /// Admission: cost of a request outside its operation, with rate limits in memory and in Redis
    #[value(name = "door")]
    Admission,
    /// Usage overview over ten million requests, on SQLite and on PostgreSQL
    Usage,
    /// Searches of 1, 8 and 64 clients, embedded and with PostgreSQL, Redis, Meilisearch and S3, one instance and two
    Load,
    /// Effect of one tenant's load on another: a heavy organization and a bystander, one scenario per kind of load
    Fairness,
}

/// Runs a benchmark and prints its report on standard output.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    if options.fairness.list {
        fairness::list();
        return Ok(ExitCode::SUCCESS);
    }
    interrupt::watch()?;
    let server = match &options.server {
        Some(server) => server.canonicalize()?,
        None => crate::server::build(true)?,
    };
    let mut report = Report::new(machine::describe()?);
    let measured = match options.name {
        Name::Main => main_job::measure(options, &server, &mut report),
        Name::Search => search_job::measure(options, &server, &mut report),
        Name::Engines => engines::measure(options, &server, &mut report),
        Name::Semantic => semantic::measure(options, &server, &mut report),
        Name::Answers => answers_job::measure(options, &server, &mut report),
        Name::Read => read_job::measure(options, &server, &mut report),
        Name::Providers => providers_job::measure(options, &server, &mut report),
        Name::Research => research_job::measure(options, &server, &mut report),
        Name::Crawl => crawl_job::measure(options, &server, &mut report),
        Name::Files => files_job::measure(options, &server, &mut report),
        Name::Admission => admission_job::measure(options, &server, &mut report),
        Name::Usage => usage_job::measure(options, &server, &mut report),
        Name::Load => load_job::measure(options, &server, &mut report),
        Name::Fairness => fairness::measure(options, &server, &mut report),
    };
    // Prints partial results after an error too, because they took minutes.
    if options.json {
        println!("{}", serde_json::to_string(&report.json())?);
    } else {
        print!("{}", report.text());
    }
    measured?;
    Ok(interrupt::exit_code(!options.fairness.check || report.missed() == 0))
}

/// Returns a progress bar, which is visible on a terminal only.
fn progress(steps: usize, what: impl Into<String>) -> ProgressBar {
    const TEMPLATE: &str = "{elapsed_precise} {bar:30} {pos}/{len} {msg}";
    let bar = ProgressBar::new(steps as u64).with_message(what.into());
    ProgressStyle::with_template(TEMPLATE).map(|style| bar.clone().with_style(style)).unwrap_or(bar)
}

/// Returns a spinner for work without countable steps.
fn spinner(what: impl Into<String>) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_message(what.into());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Returns an error after a termination signal.
fn check_interrupt() -> anyhow::Result<()> {
    if interrupt::caught() {
        bail!("interrupted");
    }
    Ok(())
}
