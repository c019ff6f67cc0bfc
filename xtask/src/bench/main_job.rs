//! `bench main`: what a newcomer gets, the embedded composition with the files, the documents and the searches of one
//! organization.

use super::collection::Collection;
use super::engine::Engine;
use super::generate::Writer;
use super::installation::Installation;
use super::report::{Report, Section};
use super::samples::Samples;
use super::searches::{self, Aims, Subject};
use super::server::Server;
use super::{Options, go_on, process, progress, spinner, starts};
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

const DOCUMENTS: usize = 20_000;
const QUERIES: usize = 2_000;
/// Requests that are not measured: the first ones open the connection.
const WARM_UP: usize = 100;
/// How often an indexing run is asked for its state: an error of at most this much in its time.
const POLL: Duration = Duration::from_millis(10);

const AIMS: Aims = Aims {
    p50_ms: 5.0,
    p99_ms: 25.0,
    searches_per_second: None,
    imported_per_second: None,
    idle_mb: 60.0,
    loaded_mb: None,
};
const FILES_AIM_S: f64 = 3.0;

/// Measures start and size, files, and searches over the given and the generated collection.
pub fn measure(options: &Options, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let empty = Installation::new(program)?;
    let section = report.section("empty server");
    section.megabytes("program MB", std::fs::metadata(program)?.len());
    let first = empty.serve()?;
    section.milliseconds("first start to ready ms", first.start);
    drop(first);
    let server = starts::measure(&empty, section)?;
    section.aim(AIMS.idle_mb);
    measure_floor(&empty, section)?;
    if options.files > 0 {
        measure_files(options, &empty, &server, report.section(format!("{} small files", options.files)))?;
    }
    drop(server);

    let mut search = |collection: &Collection| {
        let subject = Subject { program, engine: &Engine::Embedded, kept: None, aims: AIMS };
        searches::measure(options, &subject, collection, report.section(collection.title()))
    };
    if options.collection.is_none() {
        eprintln!("no --collection given: only generated documents are searched");
    }
    if let Some(folder) = &options.collection {
        search(&Collection::read(folder)?)?;
    }
    let (documents, queries) = (options.documents.unwrap_or(DOCUMENTS), options.queries.unwrap_or(QUERIES));
    if documents > 0 && queries > 0 {
        let waiting = spinner("writing documents");
        let collection = Writer::new(options.seed).collection(documents, queries);
        waiting.finish_and_clear();
        search(&collection)?;
    }
    Ok(())
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
