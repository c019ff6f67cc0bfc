//! `bench load`: searches of one, eight and sixty-four clients in the embedded and in the production composition, two instances
//! against one, and the time of each stage.

use super::collection::Collection;
use super::composition::Backends;
use super::installation::{Installation, Tenant};
use super::report::{Report, Section};
use super::server::Server;
use super::stage_metrics::StageTimes;
use super::{Options, load, process, progress, soak, spinner, topics};
use anyhow::bail;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

const DOCUMENTS: usize = 100_000;
const QUERIES: usize = 1_000;
const CLIENTS: [usize; 3] = [1, 8, 64];
/// Number of clients for which stages are reported.
const STAGES_OF: usize = 8;

/// Compares the compositions, or watches one of them for a long time.
pub fn measure(options: &Options, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let waiting = spinner("writing documents");
    let (documents, queries) = (options.documents.unwrap_or(DOCUMENTS), options.queries.unwrap_or(QUERIES));
    let collection = topics::collection(options.seed, documents, queries);
    waiting.finish_and_clear();
    let bench = Bench { options, collection: &collection, bodies: bodies(&collection)? };
    if options.composition.has_embedded() {
        let installation = Installation::new(program)?;
        let tenant = bench.import(&installation, report.section(format!("embedded, {documents} documents")))?;
        match options.soak {
            Some(time) => {
                soak::measure(&bench.soak(time, tenant), &[installation], report.section("embedded, mixed load"))?
            }
            None => bench.compare("embedded", &[installation], &tenant, report)?,
        }
    }
    if options.composition.has_production() {
        let backends = match Backends::start() {
            Ok(backends) => backends,
            Err(error) => {
                eprintln!("the production composition was NOT measured: {error:#}");
                return Ok(());
            }
        };
        let installations = [backends.instance(program)?, backends.instance(program)?];
        installations[0].migrate()?;
        let title = format!("production ({}), {documents} documents", backends.how);
        let tenant = bench.import(&installations[0], report.section(title))?;
        match options.soak {
            Some(time) => {
                let section = report.section("production, two instances, mixed load");
                soak::measure(&bench.soak(time, tenant), &installations, section)?;
            }
            None => {
                bench.compare("production, one instance", &installations[..1], &tenant, report)?;
                bench.compare("production, two instances", &installations, &tenant, report)?;
            }
        }
    }
    Ok(())
}

fn bodies(collection: &Collection) -> anyhow::Result<Vec<Vec<u8>>> {
    let bodies = collection.queries.iter().map(|query| Ok(serde_json::to_vec(&json!({"query": query}))?));
    let bodies = bodies.collect::<anyhow::Result<Vec<_>>>()?;
    if bodies.is_empty() {
        bail!("there are no queries");
    }
    Ok(bodies)
}

struct Bench<'a> {
    options: &'a Options,
    collection: &'a Collection,
    bodies: Vec<Vec<u8>>,
}

impl Bench<'_> {
    fn import(&self, installation: &Installation, section: &mut Section) -> anyhow::Result<Tenant> {
        let tenant = installation.tenant()?;
        let count = self.collection.documents.len();
        let waiting = spinner(format!("importing {count} documents"));
        let file = installation.folder().join("import.jsonl");
        self.collection.write_import(&file)?;
        let import = installation.import(&file)?;
        std::fs::remove_file(&file)?;
        waiting.finish_and_clear();
        if import.imported != count as u64 {
            bail!("imported only {} of {count} documents", import.imported);
        }
        section.per_second("documents/s imported", count as f64, import.took);
        Ok(tenant)
    }

    fn soak(&self, time: Duration, tenant: Tenant) -> soak::Plan<'_> {
        soak::Plan { time, tenant, searches: &self.bodies, seed: self.options.seed }
    }

    fn compare(
        &self,
        title: &str,
        installations: &[Installation],
        tenant: &Tenant,
        report: &mut Report,
    ) -> anyhow::Result<()> {
        let servers = installations.iter().map(Installation::serve).collect::<anyhow::Result<Vec<_>>>()?;
        for (number, installation) in (1..).zip(installations) {
            // Each search once: an instance keeps what its engine answered.
            let bar = progress(self.bodies.len(), format!("{title}: first searches"));
            let first =
                load::one_client(load::SEARCH, &installation.client(tenant), &self.bodies, self.bodies.len(), &bar)?;
            bar.finish_and_clear();
            if first.with_results == 0 {
                bail!("no search found anything");
            }
            let section = report.section(format!("{title}, first searches of instance {number}, 1 client"));
            latencies(&first, section);
        }
        for clients in CLIENTS {
            let section = report.section(format!("{title}, {clients} clients"));
            self.searches(clients, installations, &servers, tenant, section)?;
        }
        Ok(())
    }

    fn searches(
        &self,
        count: usize,
        installations: &[Installation],
        servers: &[Server],
        tenant: &Tenant,
        section: &mut Section,
    ) -> anyhow::Result<()> {
        let waiting = spinner(format!("searching with {count} clients"));
        // Each client asks the instances in turn, as through a load balancer. Neighbours begin with different instances.
        let clients = (0..count).map(|client| {
            let instances = installations.iter().cycle().skip(client % installations.len()).take(installations.len());
            instances.map(|installation| installation.client(tenant)).collect::<Vec<_>>()
        });
        let operations: Vec<_> = installations.iter().map(Installation::operations).collect();
        let cpu = || servers.iter().map(|server| process::cpu_time(server.pid())).sum::<anyhow::Result<Duration>>();
        let (stages_before, cpu_before) = (StageTimes::read(&operations)?, cpu()?);
        let done = load::many_balanced(
            load::SEARCH_AT_ANY_LOAD,
            clients.collect(),
            &self.bodies,
            Duration::from_secs(self.options.seconds),
        )?;
        let (cpu_after, stages_after) = (cpu()?, StageTimes::read(&operations)?);
        waiting.finish_and_clear();
        let searches = done.latencies.len();
        latencies(&done, section);
        section.count("refused", done.refused);
        section.milliseconds("CPU ms a search, servers", (cpu_after - cpu_before).div_f64(searches.max(1) as f64));
        let memory = servers.iter().map(|server| process::resident_alone(server.pid())).sum::<anyhow::Result<u64>>()?;
        section.megabytes("resident MB, servers", memory);
        if count == STAGES_OF {
            for (stage, milliseconds) in stages_after.since(&stages_before, searches) {
                section.named(format!("ms a search: {stage}"), milliseconds);
            }
        }
        Ok(())
    }
}

/// Adds the rate and the latencies of searches.
fn latencies(done: &load::Outcome, section: &mut Section) {
    section.per_second("searches/s", done.latencies.len() as f64, done.elapsed);
    section.milliseconds("p50 ms", done.latencies.median());
    section.milliseconds("p95 ms", done.latencies.percentile(95.0));
    section.milliseconds("p99 ms", done.latencies.percentile(99.0));
}
