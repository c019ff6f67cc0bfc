//! `bench read`: first reads of web pages (fetch, extract, store), and repeated reads.

use super::installation::{Installation, Tenant};
use super::report::Report;
use super::report::Section;
use super::server::Server;
use super::site::{Pages, Site};
use super::{Options, load, process, progress, spinner, topics};
use anyhow::{Context, bail};
use serde_json::json;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

const PAGES: usize = 1_000;
/// Generated documents per page.
const DOCUMENTS_A_PAGE: usize = 4;
const WARM_UP: usize = 50;
/// Allows the server to fetch from the local site.
pub const ALLOW_LOOPBACK: [(&str, &str); 1] = [("RETRIEVAL__FETCH__ALLOW_NETWORKS", "127.0.0.0/8")];

struct Reads<'a> {
    options: &'a Options,
    installation: Installation,
    tenant: Tenant,
    bodies: Vec<Vec<u8>>,
}

pub fn measure(options: &Options, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let count = options.documents.unwrap_or(PAGES).max(1);
    let (title, pages) = match &options.pages {
        Some(folder) => (format!("pages of {}", folder.display()), read_pages(folder)?),
        None => ("generated pages".to_owned(), generated_pages(options.seed, count.min(PAGES))),
    };
    let bytes: usize = pages.iter().map(Vec::len).sum();
    let section = report.section(title);
    section.count("different pages", pages.len()).number("KB a page", bytes as f64 / pages.len() as f64 / 1e3);
    let site = Site::start(Pages::html(pages))?;
    let bodies = (0..count).map(|number| serde_json::to_vec(&json!({"canonical_url": site.url(number)})));
    let installation = Installation::new(program)?;
    let reads =
        Reads { options, tenant: installation.tenant()?, installation, bodies: bodies.collect::<Result<_, _>>()? };
    let server = reads.installation.serve_with(&ALLOW_LOOPBACK)?;
    section.megabytes("resident MB, idle", process::resident(server.pid())?);
    reads.first_time(&server, section)?;
    reads.stored(section)?;
    reads.by_many(&server, section)
}

impl Reads<'_> {
    /// Reads with one client: one worker process extracts at a time, so this is the throughput of one core.
    fn first_time(&self, server: &Server, section: &mut Section) -> anyhow::Result<()> {
        let client = self.installation.client(&self.tenant);
        let count = self.bodies.len();
        let bar = progress(count, "reading pages for the first time");
        let first = load::one_client(load::READ, &client, &self.bodies, count, &bar)?;
        bar.finish_and_clear();
        if first.with_results < count {
            bail!("read only {} of {count} pages", first.with_results);
        }
        section.count("pages read for the first time", count);
        section.per_second("pages/s fetched, extracted and stored", count as f64, first.elapsed).target_at_least(30.0);
        section.latencies(
            ["p50 ms, first read", "p90 ms, first read", "p99 ms, first read", "max ms, first read"],
            &first.latencies,
        );
        section.megabytes("resident MB after these pages, with workers", process::resident(server.pid())?);
        section.megabytes("peak resident MB of the server alone", process::peak(server.pid())?).target_below(150.0);
        Ok(())
    }

    fn stored(&self, section: &mut Section) -> anyhow::Result<()> {
        let client = self.installation.client(&self.tenant);
        let count = self.options.searches;
        let bar = progress(WARM_UP + count, "reading stored pages");
        load::one_client(load::READ, &client, &self.bodies, WARM_UP, &bar)?;
        let again = load::one_client(load::READ, &client, &self.bodies, count, &bar)?;
        bar.finish_and_clear();
        section.milliseconds("p50 ms, stored", again.latencies.median()).target_below(2.0);
        section.milliseconds("p90 ms, stored", again.latencies.percentile(90.0));
        section.milliseconds("p99 ms, stored", again.latencies.percentile(99.0));
        section.number("KB a response", again.bytes as f64 / count as f64 / 1e3);
        Ok(())
    }

    fn by_many(&self, server: &Server, section: &mut Section) -> anyhow::Result<()> {
        let count = self.options.clients.max(1);
        let waiting = spinner(format!("reading with {count} clients (server: process {})", server.pid()));
        let clients = (0..count).map(|_| self.installation.client(&self.tenant)).collect();
        let before = process::cpu_time(server.pid())?;
        let time = Duration::from_secs(self.options.seconds);
        let many = load::many_clients(load::READ, clients, &self.bodies, time)?;
        let cpu = process::cpu_time(server.pid())?.saturating_sub(before);
        waiting.finish_and_clear();
        let reads = many.latencies.len().max(1) as f64;
        section.count("clients", count).per_second("stored reads/s, all clients", reads, many.elapsed);
        section.milliseconds("server CPU ms a stored read", cpu.div_f64(reads));
        section.megabytes("resident MB after the load", process::resident(server.pid())?).target_below(150.0);
        Ok(())
    }
}

fn read_pages(folder: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    let mut paths: Vec<_> = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "html" || extension == "htm"));
    paths.sort_unstable();
    let pages = paths.iter().map(std::fs::read).collect::<Result<Vec<_>, _>>()?;
    if pages.is_empty() {
        bail!("`{}` has no *.html files", folder.display());
    }
    Ok(pages)
}

/// Generates articles with navigation and footer.
pub fn generated_pages(seed: u64, count: usize) -> Vec<Vec<u8>> {
    let documents = topics::collection(seed, count * DOCUMENTS_A_PAGE, 1).documents;
    let links = |name: &str| {
        (0..40).fold(String::new(), |mut list, number| {
            let _ = write!(list, "<li><a href=\"/{name}/{number}\">{name} {number}</a></li>");
            list
        })
    };
    let (navigation, related) = (links("section"), links("related"));
    let page = |parts: &[super::collection::Document]| {
        let article = parts.iter().fold(String::new(), |mut article, part| {
            let paragraphs = part.text.replace(". ", ".</p><p>");
            let _ = write!(article, "<h2>{}</h2><p>{paragraphs}</p>", part.title);
            article
        });
        let title = &parts[0].title;
        format!(
            "<!doctype html><html lang=\"en\"><head><title>{title}</title><style>body {{ margin: 0 }}</style></head><body>\
             <nav><ul>{navigation}</ul></nav><main><article><h1>{title}</h1>{article}</article></main>\
             <aside><ul>{related}</ul></aside><footer><p>All rights reserved.</p></footer></body></html>"
        )
        .into_bytes()
    };
    documents.chunks_exact(DOCUMENTS_A_PAGE).map(page).collect()
}
