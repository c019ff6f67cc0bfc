//! `bench main`: the embedded setup with files, documents and searches of one organization.

use super::collection::Collection;
use super::engine::Engine;
use super::generate::Writer;
use super::installation::Installation;
use super::report::{Report, Section};
use super::samples::Samples;
use super::searches::{self, Subject, Targets};
use super::server::Server;
use super::workspace::{File, Workspace};
use super::{Options, process, spinner, starts};
use anyhow::bail;
use std::path::Path;
use std::time::Instant;

const DOCUMENTS: usize = 20_000;
const QUERIES: usize = 2_000;
/// Unmeasured requests, which open the connection.
const WARM_UP: usize = 100;

const TARGETS: Targets = Targets {
    p50_ms: 5.0,
    p99_ms: 25.0,
    searches_per_second: None,
    imported_per_second: None,
    idle_mb: 60.0,
    loaded_mb: None,
};
const FILES_TARGET_S: f64 = 3.0;

/// Measures start and size, files, and searches over the given and the generated collection.
pub fn measure(options: &Options, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let empty = Installation::new(program)?;
    let section = report.section("empty server");
    section.megabytes("program MB", std::fs::metadata(program)?.len());
    let first = empty.serve()?;
    section.milliseconds("first start to ready ms", first.start);
    drop(first);
    let server = starts::measure(&empty, section)?;
    section.target_below(TARGETS.idle_mb);
    measure_floor(&empty, section)?;
    if options.files > 0 {
        measure_files(options, &empty, &server, report.section(format!("{} small files", options.files)))?;
    }
    drop(server);

    let mut search = |collection: &Collection| {
        let subject = Subject { program, engine: &Engine::Embedded, kept: None, targets: TARGETS };
        searches::measure(options, &subject, collection, report.section(collection.title()))
    };
    if options.collection.is_none() {
        eprintln!("without --collection only generated documents are searched");
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

/// Measures the minimum latency here: client, loopback and routing.
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

/// Uploads small files sequentially, as a client would, and indexes them in one run.
fn measure_files(
    options: &Options,
    installation: &Installation,
    server: &Server,
    section: &mut Section,
) -> anyhow::Result<()> {
    let files = small_files(options.seed, options.files);
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    let workspace = Workspace::new(installation)?;
    let uploaded = workspace.upload(&files, 1)?;
    let run = workspace.index("incremental", || ())?;
    if run.count("indexed") != files.len() as u64 {
        bail!("the run did not index {} files: {}", files.len(), run.stats);
    }
    workspace.must_find(&first_sentence(&files[0]))?;

    let count = files.len() as f64;
    section.seconds("upload s (presign and PUT)", uploaded).per_second("uploads/s", count, uploaded);
    section.seconds("indexing run s", run.took).target_below(FILES_TARGET_S);
    section.per_second("files/s indexed", count, run.took);
    section.per_second("MB/s indexed", bytes as f64 / 1e6, run.took);
    section.megabytes("resident MB after", process::resident(server.pid())?);
    section.megabytes("peak resident MB of the server", process::peak(server.pid())?);
    Ok(())
}

/// Generates text, markdown and HTML files in turn, of 1 to 1.5 kB.
pub fn small_files(seed: u64, count: usize) -> Vec<File> {
    let mut writer = Writer::new(seed);
    let file = |number: usize| {
        let (name, text) = match number % 3 {
            0 => (format!("note {number}.txt"), writer.text(1_000)),
            1 => (format!("report {number}.md"), format!("# Report {number}\n\n{}", writer.text(1_500))),
            _ => (format!("page {number}.html"), format!("<h1>Page {number}</h1><p>{}</p>", writer.text(1_500))),
        };
        File { name, bytes: text.into_bytes() }
    };
    (0..count).map(file).collect()
}

/// Returns the first sentence of a text file.
pub fn first_sentence(file: &File) -> String {
    let text = String::from_utf8_lossy(&file.bytes);
    text.split(['.', '\n']).next().unwrap_or_default().to_owned()
}
