//! Import of a collection into a fresh server, searched by one client and by many.

use super::collection::Collection;
use super::engine::Engine;
use super::installation::{Installation, Tenant};
use super::kept_import::Kept;
use super::report::Section;
use super::server::Server;
use super::stage_metrics::StageTimes;
use super::{Options, disk, load, process, progress, spinner, starts};
use anyhow::bail;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Unmeasured searches, which read the index from disk.
const WARM_UP: usize = 100;
/// Number of searches for which the time of each stage is reported.
const STAGE_SEARCHES: usize = 300;

/// Subject of a measurement, with the targets.
pub struct Subject<'a> {
    pub program: &'a Path,
    pub engine: &'a Engine,
    /// Data folder that may contain the import already.
    pub kept: Option<&'a Kept>,
    pub targets: Targets,
}

#[derive(Clone, Copy)]
pub struct Targets {
    /// Latency of one client.
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// Throughput of all clients together.
    pub searches_per_second: Option<f64>,
    pub imported_per_second: Option<f64>,
    pub idle_mb: f64,
    pub loaded_mb: Option<f64>,
}

/// Imported collection of a server.
struct Searches<'a> {
    options: &'a Options,
    targets: Targets,
    installation: Installation,
    tenant: Tenant,
    /// Request bodies of all queries.
    bodies: Vec<Vec<u8>>,
}

/// Imports a collection into a fresh server, or reuses a kept import, and searches it.
pub fn measure(
    options: &Options,
    subject: &Subject<'_>,
    collection: &Collection,
    section: &mut Section,
) -> anyhow::Result<()> {
    let installation = Installation::with(subject.program, subject.engine, subject.kept.map(Kept::folder))?;
    let bodies = collection.queries.iter().map(|query| serde_json::to_vec(&json!({"query": query})));
    let searches = Searches {
        options,
        targets: subject.targets,
        tenant: installation.tenant()?,
        installation,
        bodies: bodies.collect::<Result<_, _>>()?,
    };
    if subject.kept.is_none_or(|kept| !kept.is_complete()) {
        searches.import(collection, section)?;
        if let Some(kept) = subject.kept {
            kept.complete()?;
        }
    }
    let data = searches.installation.data();
    section.megabytes("data folder MB", disk::size(&data)?);
    section.megabytes("of it the index MB", disk::size(&data.join("index"))?);

    let server = starts::measure(&searches.installation, section)?;
    section.target_below(searches.targets.idle_mb);
    searches.one_client(section)?;
    searches.many_clients(&server, section)?;
    searches.stages(section)
}

impl Searches<'_> {
    fn import(&self, collection: &Collection, section: &mut Section) -> anyhow::Result<()> {
        let count = collection.documents.len();
        let waiting = spinner(format!("importing {count} documents"));
        let file = self.installation.folder().join("import.jsonl");
        collection.write_import(&file)?;
        let import = self.installation.import(&file)?;
        std::fs::remove_file(&file)?;
        waiting.finish_and_clear();
        if import.imported != count as u64 {
            bail!("imported only {} of {count} documents", import.imported);
        }
        let megabytes = collection.bytes() as f64 / 1e6;
        section.seconds("import s", import.took);
        section.per_second("documents/s imported", count as f64, import.took);
        if let Some(aim) = self.targets.imported_per_second {
            section.target_at_least(aim);
        }
        section.number("MB of text", megabytes).per_second("MB/s imported", megabytes, import.took);
        section.megabytes("peak resident MB of the import", import.peak);
        Ok(())
    }

    fn one_client(&self, section: &mut Section) -> anyhow::Result<()> {
        let client = self.installation.client(&self.tenant);
        let count = self.options.searches.max(self.bodies.len());
        let bar = progress(WARM_UP + count, "searching with one client");
        load::one_client(load::SEARCH, &client, &self.bodies, WARM_UP, &bar)?;
        let one = load::one_client(load::SEARCH, &client, &self.bodies, count, &bar)?;
        bar.finish_and_clear();
        if one.with_results == 0 {
            bail!("no search found anything");
        }
        section.count("searches, one client", one.latencies.len());
        section.milliseconds("p50 ms, one client", one.latencies.median()).target_below(self.targets.p50_ms);
        section.milliseconds("p90 ms, one client", one.latencies.percentile(90.0));
        section.milliseconds("p99 ms, one client", one.latencies.percentile(99.0)).target_below(self.targets.p99_ms);
        section.milliseconds("max ms, one client", one.latencies.max());
        section.per_second("searches/s, one client", count as f64, one.elapsed);
        section.number("% of searches with results", 100.0 * one.with_results as f64 / count as f64);
        section.number("KB a response", one.bytes as f64 / count as f64 / 1e3);
        Ok(())
    }

    fn many_clients(&self, server: &Server, section: &mut Section) -> anyhow::Result<()> {
        let count = self.options.clients.max(1);
        let waiting = spinner(format!("searching with {count} clients (server: process {})", server.pid()));
        let clients = (0..count).map(|_| self.installation.client(&self.tenant)).collect();
        let (pid, own) = (server.pid(), std::process::id());
        let (server_before, client_before) = (process::cpu_time(pid)?, process::cpu_time(own)?);
        let many = load::many_clients(load::SEARCH, clients, &self.bodies, Duration::from_secs(self.options.seconds))?;
        let server_cpu = process::cpu_time(pid)?.saturating_sub(server_before);
        let client_cpu = process::cpu_time(own)?.saturating_sub(client_before);
        waiting.finish_and_clear();

        let searches = many.latencies.len().max(1) as f64;
        section.count("clients", count);
        section.per_second("searches/s, all clients", searches, many.elapsed);
        if let Some(aim) = self.targets.searches_per_second {
            section.target_at_least(aim);
        }
        section.latencies(
            ["p50 ms, all clients", "p90 ms, all clients", "p99 ms, all clients", "max ms, all clients"],
            &many.latencies,
        );
        section.milliseconds("server CPU ms a search", server_cpu.div_f64(searches));
        section.milliseconds("client CPU ms a search", client_cpu.div_f64(searches));
        section.megabytes("resident MB after the load", process::resident(pid)?);
        if let Some(aim) = self.targets.loaded_mb {
            section.target_below(aim);
        }
        section.megabytes("peak resident MB of the server", process::peak(pid)?);
        Ok(())
    }

    /// Reports the mean time of each stage, with one client.
    fn stages(&self, section: &mut Section) -> anyhow::Result<()> {
        let operations = [self.installation.operations()];
        let client = self.installation.client(&self.tenant);
        let bar = progress(STAGE_SEARCHES, "stages of a search");
        let before = StageTimes::read(&operations)?;
        let done = load::one_client(load::SEARCH, &client, &self.bodies, STAGE_SEARCHES, &bar)?;
        let after = StageTimes::read(&operations)?;
        bar.finish_and_clear();
        for (stage, milliseconds) in after.since(&before, STAGE_SEARCHES) {
            section.named(format!("ms a search: {stage}"), milliseconds);
        }
        section.milliseconds("ms a search: the whole answer", done.elapsed.div_f64(STAGE_SEARCHES as f64));
        Ok(())
    }
}
