//! `bench engines`: the service on its engines, and the engines alone, in one run.

mod chart;
mod contender;
mod figures;
mod measured;
mod publish;
mod raw_meilisearch;
mod raw_tantivy;
mod service;
mod table;

use super::collection::Collection;
use super::labelled::Labelled;
use super::load::{self, Outcome};
use super::report::Report;
use super::{Options, check_interrupt, disk, process, progress, spinner, topics};
use anyhow::bail;
use contender::{Contender, Form};
use figures::{CLIENTS, Figures, Import};
use measured::{Kept, Measured};
use std::path::{Path, PathBuf};
use std::time::Duration;

const SIZES: [usize; 2] = [5_000, 100_000];
const QUERIES: usize = 1_000;
/// Unmeasured searches, which read the index from disk.
const WARM_UP: usize = 100;

#[derive(clap::Args)]
pub struct EnginesOptions {
    /// `engines` only: numbers of generated documents [default: 5000,100000]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    sizes: Vec<usize>,
    /// `engines` only: names of contenders to measure [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    contenders: Vec<String>,
    /// `engines` only: write tables and chart into docs/
    #[arg(long)]
    publish: bool,
    /// `engines` only: keep the figures of each contender in this file; a run that ended early goes on with it
    #[arg(long, value_name = "FILE")]
    keep_figures: Option<PathBuf>,
}

/// Starts a contender without documents.
type Start = fn(&Path) -> anyhow::Result<Box<dyn Contender>>;

/// Contenders by name. Each is started anew for each collection.
const CONTENDERS: [(&str, Start); 5] = [
    ("embedded", service::embedded),
    ("meilisearch", service::meilisearch),
    ("qdrant", service::qdrant),
    ("raw-meilisearch", raw_meilisearch::start),
    ("raw-tantivy", raw_tantivy::start),
];

/// Measures each contender on each collection. Contenders whose programs are missing are skipped by name.
pub fn measure(options: &Options, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let chosen = &options.engines.contenders;
    if let Some(unknown) = chosen.iter().find(|name| !CONTENDERS.iter().any(|(known, _)| known == name)) {
        let known = CONTENDERS.map(|(name, _)| name).join(", ");
        bail!("--contenders: `{unknown}` is none of {known}");
    }
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|chosen| chosen == name);
    let labelled = options.collection.as_deref().map(Labelled::read).transpose()?;
    if labelled.is_none() {
        eprintln!("without --collection ranking quality is not measured");
    }
    let sizes = if options.engines.sizes.is_empty() { &SIZES[..] } else { &options.engines.sizes };
    let kept = options.engines.keep_figures.as_deref().map(Kept::open).transpose()?;
    let mut all = Vec::new();
    let mut on = |collection: &Collection, labelled: Option<&Labelled>| -> anyhow::Result<()> {
        for (name, start) in CONTENDERS.iter().filter(|(name, _)| is_chosen(name)) {
            let measured = if let Some(measured) = kept.as_ref().and_then(|kept| kept.find(name, collection)) {
                eprintln!("{name}, {}: measured on {} at {}", collection.title(), measured.date, measured.commit);
                measured.clone()
            } else {
                let figures = run(options, program, *start, collection, labelled)?;
                let measured = Measured::new(name, collection, report.machine(), figures);
                if let Some(kept) = kept.as_ref().filter(|_| !measured.figures.is_empty()) {
                    kept.add(&measured)?;
                }
                measured
            };
            for figures in &measured.figures {
                figures.report(report.section(format!("{}, {}", figures.contender, collection.title())));
            }
            all.push(measured);
        }
        Ok(())
    };
    if let Some(labelled) = &labelled {
        on(&labelled.collection, Some(labelled))?;
    }
    for size in sizes.iter().copied().filter(|size| *size > 0) {
        let waiting = spinner("writing documents");
        let collection = topics::collection(options.seed, size, options.queries.unwrap_or(QUERIES));
        waiting.finish_and_clear();
        on(&collection, None)?;
    }
    if options.engines.publish { publish::write(&all, report.machine()) } else { Ok(()) }
}

/// Measures one contender on one collection.
fn run(
    options: &Options,
    program: &Path,
    start: Start,
    collection: &Collection,
    labelled: Option<&Labelled>,
) -> anyhow::Result<Vec<Figures>> {
    let mut contender = match start(program) {
        Ok(contender) => contender,
        Err(error) => {
            eprintln!("NOT measured: {error:#}");
            return Ok(Vec::new());
        }
    };
    let waiting = spinner(format!("importing {} documents: {}", collection.documents.len(), contender.name()));
    let took = contender.import(collection)?;
    waiting.finish_and_clear();
    let disk = contender.folders().iter().map(|folder| disk::size(folder)).sum::<anyhow::Result<u64>>()?;
    let import = Import { rate: collection.documents.len() as f64 / took.as_secs_f64(), disk_mb: disk as f64 / 1e6 };
    let mut all = Vec::new();
    for form in contender.forms() {
        let figures = search(options, contender.as_ref(), &form, collection, labelled, import)?;
        // A run takes up to hours: if a later program fails, this is not lost.
        eprintln!("{}", table::markdown(std::slice::from_ref(&figures)));
        all.push(figures);
    }
    Ok(all)
}

/// Measures the searches of one form.
fn search(
    options: &Options,
    contender: &dyn Contender,
    form: &Form,
    collection: &Collection,
    labelled: Option<&Labelled>,
    import: Import,
) -> anyhow::Result<Figures> {
    let name = format!("{}{}", contender.name(), form.suffix);
    let bodies: Vec<Vec<u8>> = collection.queries.iter().map(|query| (form.body)(query)).collect();
    let client = contender.client();
    let count = options.searches.max(bodies.len());
    let bar = progress(WARM_UP + count, format!("searching: {name}"));
    load::one_client(form.kind, &client, &bodies, WARM_UP, &bar)?;
    let one = load::one_client(form.kind, &client, &bodies, count, &bar)?;
    bar.finish_and_clear();
    if one.with_results == 0 {
        bail!("{name}: no search found anything");
    }
    let waiting = spinner(format!("searching with many clients: {name}"));
    let mut rates = [Some(rate(&one)); CLIENTS.len()];
    for (count, rate_of) in CLIENTS.iter().zip(&mut rates).skip(1) {
        let clients = (0..*count).map(|_| contender.client()).collect();
        let many = load::many_clients(form.kind, clients, &bodies, Duration::from_secs(options.seconds));
        check_interrupt()?;
        // A program that refuses searches under load is measured with fewer clients.
        *rate_of = many.as_ref().ok().map(rate);
        if let Err(error) = many {
            eprintln!("{name}, {count} clients: {error:#}");
        }
    }
    waiting.finish_and_clear();
    let memory = contender.pids().into_iter().map(process::resident).sum::<anyhow::Result<u64>>()?;
    let ndcg = labelled.map(|labelled| {
        labelled.ndcg(|query| {
            let answer = serde_json::from_slice(&client.post(form.kind.path, &(form.body)(query))?)?;
            Ok((form.found)(&answer))
        })
    });
    Ok(Figures {
        contender: name,
        collection: collection.name.clone(),
        documents: collection.documents.len(),
        p50_ms: one.latencies.median().as_secs_f64() * 1e3,
        p99_ms: one.latencies.percentile(99.0).as_secs_f64() * 1e3,
        searches_per_second: rates,
        ndcg: ndcg.transpose()?,
        import,
        memory_mb: memory as f64 / 1e6,
    })
}

/// Returns searches per second.
fn rate(outcome: &Outcome) -> f64 {
    outcome.latencies.len() as f64 / outcome.elapsed.as_secs_f64().max(f64::EPSILON)
}
