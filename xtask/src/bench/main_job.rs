//! `bench main`: what a newcomer gets, the embedded composition with the files, the documents and the searches of one
//! organization.

use super::collection::Collection;
use super::generate::Writer;
use super::report::{Report, Section};
use super::samples::Samples;
use super::server::{Installation, Server, Tenant};
use super::{Options, go_on, load, process, progress, spinner};
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// Searches that are not measured, so that the first reading of the index is not taken for its speed.
const WARM_UP: usize = 100;
const RESTARTS: usize = 5;
const IDLE: Duration = Duration::from_secs(5);
/// How often an indexing run is asked for its state: an error of at most this much in its time.
const POLL: Duration = Duration::from_millis(10);

const START_AIM_MS: f64 = 300.0;
const IDLE_AIM_MB: f64 = 60.0;
const P50_AIM_MS: f64 = 5.0;
const P99_AIM_MS: f64 = 25.0;
const FILES_AIM_S: f64 = 3.0;

/// Measures start and size, files, and searches over the given and the generated collection.
pub fn measure(options: &Options, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let empty = Installation::new(program)?;
    let section = report.section("empty server");
    section.megabytes("program MB", std::fs::metadata(program)?.len());
    let first = empty.serve()?;
    section.milliseconds("first start to ready ms", first.start);
    drop(first);
    let server = measure_start(&empty, section)?;
    measure_floor(&empty, section)?;
    if options.files > 0 {
        measure_files(options, &empty, &server, report.section(format!("{} small files", options.files)))?;
    }
    drop(server);

    if let Some(folder) = &options.collection {
        measure_search(options, program, &Collection::read(folder)?, report)?;
    }
    if options.documents > 0 && options.queries > 0 {
        let waiting = spinner("writing documents");
        let collection = Writer::new(options.seed).collection(options.documents, options.queries);
        waiting.finish_and_clear();
        measure_search(options, program, &collection, report)?;
    }
    Ok(())
}

/// Starts the server several times on the data that is there, and looks at its memory when nobody asks for anything.
fn measure_start(installation: &Installation, section: &mut Section) -> anyhow::Result<Server> {
    let mut starts = Samples::default();
    let mut server = installation.serve()?;
    starts.push(server.start);
    for _ in 1..RESTARTS {
        drop(server);
        server = installation.serve()?;
        starts.push(server.start);
    }
    section.milliseconds("start to ready ms (median of 5)", starts.median()).aim(START_AIM_MS);
    section.milliseconds("start to ready ms (slowest of 5)", starts.max());
    section.megabytes("resident MB when ready", process::resident(server.pid())?);
    let waiting = spinner("idle");
    let until = Instant::now() + IDLE;
    while Instant::now() < until {
        go_on()?;
        std::thread::sleep(Duration::from_millis(100));
    }
    waiting.finish_and_clear();
    section.megabytes("resident MB after 5 s idle", process::resident(server.pid())?).aim(IDLE_AIM_MB);
    Ok(server)
}

/// The least that any request takes here: what of a latency is client, loopback and routing.
fn measure_floor(installation: &Installation, section: &mut Section) -> anyhow::Result<()> {
    let client = installation.operations();
    let mut samples = Samples::default();
    for number in 0..600 {
        let begun = Instant::now();
        client.get("/healthz")?;
        if number >= WARM_UP {
            samples.push(begun.elapsed());
        }
    }
    section.milliseconds("GET /healthz p50 ms", samples.median());
    Ok(())
}

/// Uploads small files, one after the other as a client would, and indexes them in one run.
fn measure_files(
    options: &Options,
    installation: &Installation,
    server: &Server,
    section: &mut Section,
) -> anyhow::Result<()> {
    let tenant = installation.tenant()?;
    let client = installation.client(&tenant);
    let mut writer = Writer::new(options.seed);
    let files: Vec<(String, String)> = (0..options.files)
        .map(|number| match number % 3 {
            0 => (format!("note {number}.txt"), writer.text(1_000)),
            1 => (format!("report {number}.md"), format!("# Report {number}\n\n{}", writer.text(1_500))),
            _ => (format!("page {number}.html"), format!("<h1>Page {number}</h1><p>{}</p>", writer.text(1_500))),
        })
        .collect();
    let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();

    let bar = progress(files.len(), "uploading files");
    let begun = Instant::now();
    for (name, text) in &files {
        go_on()?;
        let made = client.call("/v1/files/presign", &json!({"filename": name, "size": text.len()}))?;
        client.put(made["url"].as_str().context("presign answered without `url`")?, text.as_bytes())?;
        bar.inc(1);
    }
    let uploaded = begun.elapsed();
    bar.finish_and_clear();

    let waiting = spinner("indexing files");
    let begun = Instant::now();
    let started = client.call("/v1/files/index", &json!({}))?;
    let path = format!("/v1/files/index/{}", started["sync_id"].as_str().context("no `sync_id`")?);
    let status = loop {
        go_on()?;
        let status: Value = serde_json::from_slice(&client.get(&path)?)?;
        if ["completed", "failed"].iter().any(|end| status["state"] == *end) {
            break status;
        }
        std::thread::sleep(POLL);
    };
    let indexed = begun.elapsed();
    waiting.finish_and_clear();
    if status["stats"]["indexed"].as_u64() != Some(files.len() as u64) {
        bail!("the run did not index {} files: {status}", files.len());
    }
    // Figures of files that cannot be found would be worth nothing.
    let query = files[0].1.split(['.', '\n']).next().unwrap_or_default();
    let scope = json!({"indexes": ["workspace"], "workspace_id": tenant.organization});
    let found = client.call("/v1/search", &json!({"query": query, "scope": scope}))?;
    if found["results"].as_array().is_none_or(Vec::is_empty) {
        bail!("an indexed file is not found by its own first sentence");
    }

    let count = files.len() as f64;
    section.seconds("upload s (presign and PUT)", uploaded).per_second("uploads/s", count, uploaded);
    section.seconds("indexing run s", indexed).aim(FILES_AIM_S);
    section.per_second("files/s indexed", count, indexed);
    section.per_second("MB/s indexed", bytes as f64 / 1e6, indexed);
    section.megabytes("resident MB after", process::resident(server.pid())?);
    section.megabytes("peak resident MB of the server", process::peak(server.pid())?);
    Ok(())
}

/// Imports a collection into a server of its own, and searches it.
fn measure_search(
    options: &Options,
    program: &Path,
    collection: &Collection,
    report: &mut Report,
) -> anyhow::Result<()> {
    let count = collection.documents.len();
    let section =
        report.section(format!("{} ({count} documents, {} queries)", collection.name, collection.queries.len()));
    let installation = Installation::new(program)?;
    let tenant = installation.tenant()?;

    let waiting = spinner(format!("importing {count} documents"));
    let file = installation.folder().join("import.jsonl");
    collection.write_import(&file)?;
    let (took, imported) = installation.import(&file)?;
    waiting.finish_and_clear();
    if imported != count as u64 {
        bail!("{imported} of {count} documents were imported");
    }
    let megabytes = collection.bytes() as f64 / 1e6;
    section.seconds("import s", took).per_second("documents/s imported", count as f64, took);
    section.number("MB of text", megabytes).per_second("MB/s imported", megabytes, took);

    let server = measure_start(&installation, section)?;
    let bodies: Vec<Vec<u8>> = collection
        .queries
        .iter()
        .map(|query| serde_json::to_vec(&json!({"query": query})))
        .collect::<Result<_, _>>()?;
    measure_one_client(options, &installation, &tenant, &bodies, section)?;

    let waiting = spinner(format!("searching with {} clients", options.clients));
    let clients = (0..options.clients.max(1)).map(|_| installation.client(&tenant)).collect();
    let many = load::many_clients(clients, &bodies, Duration::from_secs(options.seconds))?;
    waiting.finish_and_clear();
    section.count("clients", options.clients.max(1));
    section.per_second("searches/s, all clients", many.latencies.len() as f64, many.elapsed);
    section.latencies(["p50 ms, all clients", "p99 ms, all clients", "max ms, all clients"], &many.latencies);
    section.megabytes("resident MB after the load", process::resident(server.pid())?);
    section.megabytes("peak resident MB of the server", process::peak(server.pid())?);
    Ok(())
}

fn measure_one_client(
    options: &Options,
    installation: &Installation,
    tenant: &Tenant,
    bodies: &[Vec<u8>],
    section: &mut Section,
) -> anyhow::Result<()> {
    let client = installation.client(tenant);
    let count = options.queries.max(bodies.len());
    let bar = progress(WARM_UP + count, "searching with one client");
    load::one_client(&client, bodies, WARM_UP, &bar)?;
    let one = load::one_client(&client, bodies, count, &bar)?;
    bar.finish_and_clear();
    if one.with_results == 0 {
        bail!("no search has found anything");
    }
    section.count("searches, one client", one.latencies.len());
    section.milliseconds("p50 ms, one client", one.latencies.median()).aim(P50_AIM_MS);
    section.milliseconds("p99 ms, one client", one.latencies.percentile(99.0)).aim(P99_AIM_MS);
    section.milliseconds("max ms, one client", one.latencies.max());
    section.per_second("searches/s, one client", count as f64, one.elapsed);
    section.number("% of searches with results", 100.0 * one.with_results as f64 / count as f64);
    section.number("KB a response", one.bytes as f64 / count as f64 / 1e3);
    Ok(())
}
