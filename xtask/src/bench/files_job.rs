//! `bench files`: many small files, a run without changes, office files by type, and hostile files.

use super::installation::Installation;
use super::main_job::{first_sentence, small_files};
use super::report::{Report, Section};
use super::server::Server;
use super::workspace::{File, Workspace};
use super::{Options, pdf, process, spinner};
use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

const FILES: usize = 10_000;
const UPLOADERS: usize = 4;
const LARGE_PDF_BYTES: usize = 99 << 20;
const LINES_A_PAGE: usize = 68;
/// Bytes of a page's objects beside its text.
const PAGE_OVERHEAD: usize = 300;
/// Unpacked size of the bomb.
const BOMB_BYTES: usize = 4 << 30;

pub fn measure(options: &Options, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let installation = Installation::new(program)?;
    let server = installation.serve()?;
    let count = options.documents.unwrap_or(FILES);
    if count > 0 {
        let section = report.section(format!("{count} small files"));
        many(options, count, &installation, &server, section)?;
    }
    if let Some(folder) = &options.office {
        by_type(folder, &installation, report.section("files by type"))?;
    }
    hostile(&installation, &server, report.section("a large PDF and a bomb"))
}

fn many(
    options: &Options,
    count: usize,
    installation: &Installation,
    server: &Server,
    section: &mut Section,
) -> anyhow::Result<()> {
    let files = small_files(options.seed, count);
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    let workspace = Workspace::new(installation)?;
    let uploaded = workspace.upload(&files, UPLOADERS)?;
    let first = workspace.index("incremental", || ())?;
    if first.count("indexed") != count as u64 {
        bail!("the run did not index {count} files: {}", first.stats);
    }
    workspace.must_find(&first_sentence(&files[0]))?;
    section.number("MB of files", bytes as f64 / 1e6).per_second("uploads/s", count as f64, uploaded);
    section.per_second("files/s indexed", count as f64, first.took).target_at_least(500.0);
    let second = workspace.index("incremental", || ())?;
    if second.count("fetched") != 0 {
        bail!("the run over unchanged files fetched some: {}", second.stats);
    }
    section.seconds("s, incremental run that finds nothing new", second.took).target_below(2.0);
    section.megabytes("resident MB after", process::resident(server.pid())?);
    section.megabytes("peak resident MB of the server", process::peak(server.pid())?).target_below(200.0);
    Ok(())
}

/// Indexes the files of a folder, one run per type.
fn by_type(folder: &Path, installation: &Installation, section: &mut Section) -> anyhow::Result<()> {
    let mut types: BTreeMap<String, Vec<File>> = BTreeMap::new();
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let (Some(name), Some(extension)) = (path.file_name(), path.extension()) else { continue };
        let file = File { name: name.to_string_lossy().into_owned(), bytes: std::fs::read(&path)? };
        types.entry(extension.to_string_lossy().to_lowercase()).or_default().push(file);
    }
    for (extension, files) in types {
        let workspace = Workspace::new(installation)?;
        workspace.upload(&files, UPLOADERS)?;
        // The first run starts the workers; the second one is measured.
        workspace.index("full", || ())?;
        let run = workspace.index("full", || ())?;
        let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
        section.named(format!("{extension}: files, of them unreadable {}", run.count("failed")), files.len() as f64);
        section.named(format!("{extension}: files/s"), files.len() as f64 / run.took.as_secs_f64());
        section.named(format!("{extension}: MB/s"), bytes as f64 / 1e6 / run.took.as_secs_f64());
    }
    Ok(())
}

fn hostile(installation: &Installation, server: &Server, section: &mut Section) -> anyhow::Result<()> {
    let waiting = spinner("writing a large PDF and a bomb");
    let files = [
        File { name: "large.pdf".to_owned(), bytes: large_pdf() },
        File { name: "bomb.docx".to_owned(), bytes: bomb()? },
        File { name: "small.txt".to_owned(), bytes: b"The walrus eats clams at midnight.".to_vec() },
    ];
    waiting.finish_and_clear();
    section.number("MB of the PDF", files[0].bytes.len() as f64 / 1e6);
    section.number("MB of the bomb", files[1].bytes.len() as f64 / 1e6);
    let workspace = Workspace::new(installation)?;
    workspace.upload(&files, 1)?;
    let mut most = 0;
    let run = workspace.index("incremental", || {
        most = most.max(process::resident_alone(server.pid()).unwrap_or(0));
    })?;
    workspace.must_find("walrus clams midnight")?;
    section.seconds("s, the run", run.took);
    section.number("files indexed", run.count("indexed") as f64).number("files failed", run.count("failed") as f64);
    section.megabytes("most resident MB of the server during the run", most).target_below(200.0);
    Ok(())
}

/// Returns a PDF of text pages of nearly the maximum file size.
fn large_pdf() -> Vec<u8> {
    let content = pdf::content(LINES_A_PAGE);
    let count = LARGE_PDF_BYTES / (content.len() + PAGE_OVERHEAD);
    pdf::document(&pdf::Pages::Own { content: &content, count })
}

/// Returns a document with gigabytes of a single letter.
fn bomb() -> anyhow::Result<Vec<u8>> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().large_file(true);
    archive.start_file("[Content_Types].xml", options)?;
    archive.write_all(
        b"<?xml version=\"1.0\"?><Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
        <Override PartName=\"/word/document.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.\
wordprocessingml.document.main+xml\"/></Types>",
    )?;
    archive.start_file("word/document.xml", options)?;
    archive.write_all(
        b"<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body><w:p><w:r><w:t>",
    )?;
    let block = vec![b'a'; 1 << 20];
    for _ in 0..BOMB_BYTES / block.len() {
        archive.write_all(&block)?;
    }
    archive.write_all(b"</w:t></w:r></w:p></w:body></w:document>")?;
    Ok(archive.finish()?.into_inner())
}
