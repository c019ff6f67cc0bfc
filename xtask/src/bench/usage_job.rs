//! `bench usage`: usage overview of an organization with ten million requests in thirty days, on both databases.

use super::installation::{Installation, Tenant};
use super::report::{Report, Section};
use super::samples::Samples;
use super::{Options, check_interrupt, progress};
use crate::services::Cluster;
use crate::shell;
use anyhow::{Context, bail};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

const REQUESTS: usize = 10_000_000;
const HOURS: usize = 30 * 24;
const KEYS: usize = 3;
const CALLS: usize = 40;
const TARGET_MS: f64 = 200.0;

pub fn measure(options: &Options, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let recorder = build_recorder()?;
    let count = options.documents.unwrap_or(REQUESTS);
    let embedded = Installation::new(program)?;
    let sqlite = sqlite_url(&embedded);
    on(&embedded, &recorder, &sqlite, count, report.section(format!("{count} requests, SQLite")))?;
    drop(embedded);
    let section = report.section(format!("{count} requests, PostgreSQL"));
    match Cluster::start() {
        Ok(cluster) => {
            let installation = Installation::new(program)?.with_setting("RETRIEVAL__DATABASE__URL", &cluster.url);
            installation.migrate()?;
            on(&installation, &recorder, &cluster.url, count, section)
        }
        Err(error) => {
            eprintln!("PostgreSQL was NOT measured: {error:#}");
            Ok(())
        }
    }
}

/// Builds the program that records past requests, which the API cannot do.
///
/// # Errors
///
/// Returns an error if the build fails.
pub fn build_recorder() -> anyhow::Result<PathBuf> {
    let mut build = shell::cargo();
    build.args(["build", "--release", "--package", "docstore", "--example", "record_usage"]);
    shell::run(&mut build)?;
    Ok(shell::target_folder()?.join("release/examples/record_usage"))
}

fn on(
    installation: &Installation,
    recorder: &Path,
    database: &str,
    count: usize,
    section: &mut Section,
) -> anyhow::Result<()> {
    let tenant = installation.tenant()?;
    let mut keys = vec![tenant.key_id.clone()];
    for _ in 1..KEYS {
        keys.push(installation.key(&tenant.organization)?.1);
    }
    let recorded = record(recorder, database, &tenant, &keys, count, HOURS)?;
    section.per_second("requests/s recorded", count as f64, recorded);
    let _server = installation.serve()?;
    let client = installation.client(&tenant);
    let windows = [("30 days", Duration::days(30)), ("7 days", Duration::days(7)), ("24 hours", Duration::days(1))];
    let mut seen = 0;
    for (name, length) in windows {
        for group in ["none", "api_key", "endpoint", "status_class"] {
            let path = format!("{}&group_by={group}", path_of_last(length)?);
            let mut samples = Samples::default();
            for _ in 0..CALLS {
                check_interrupt()?;
                let begun = Instant::now();
                let answer: Value = serde_json::from_slice(&client.get(&path)?)?;
                samples.push(begun.elapsed());
                seen = seen.max(answer["headline"]["requests"].as_u64().unwrap_or(0));
            }
            section
                .named(format!("{name} by {group}: p50 ms"), samples.median().as_secs_f64() * 1e3)
                .target_below(TARGET_MS);
            section
                .named(format!("{name} by {group}: max ms"), samples.max().as_secs_f64() * 1e3)
                .target_below(TARGET_MS);
        }
    }
    section.number("most requests that an answer counted", seen as f64);
    if (seen as f64) < count as f64 * 0.999 {
        bail!("no response counts more than {seen} of {count} requests");
    }
    Ok(())
}

/// Returns the URL of an installation's embedded database.
pub fn sqlite_url(installation: &Installation) -> String {
    format!("sqlite://{}", installation.data().join("retrieval.db").display())
}

/// Returns the path of an overview of the time until now. Both ends lie within an hour, so that parts of two hours are counted.
pub fn path_of_last(length: Duration) -> anyhow::Result<String> {
    let now = OffsetDateTime::now_utc();
    Ok(format!("/v1/usage?from={}&to={}", (now - length).format(&Rfc3339)?, now.format(&Rfc3339)?))
}

/// Records `count` requests of the last `hours`.
///
/// # Errors
///
/// Returns an error if the recorder fails or a signal interrupts it.
pub fn record(
    recorder: &Path,
    database: &str,
    tenant: &Tenant,
    keys: &[String],
    count: usize,
    hours: usize,
) -> anyhow::Result<std::time::Duration> {
    let begun = Instant::now();
    let bar = progress(count, "recording requests");
    let (count, hours) = (count.to_string(), hours.to_string());
    let arguments = [database, &tenant.organization, &keys.join(","), &count, &hours];
    let mut recording = std::process::Command::new(recorder).args(arguments).stdout(Stdio::piped()).spawn()?;
    let said = recording.stdout.take().context("the recorder has no output")?;
    for line in BufReader::new(said).lines() {
        bar.set_position(line?.parse()?);
        if let Err(stopped) = check_interrupt() {
            recording.kill()?;
            recording.wait()?;
            return Err(stopped);
        }
    }
    let status = recording.wait()?;
    bar.finish_and_clear();
    if !status.success() {
        bail!("the recorder failed with {status}");
    }
    Ok(begun.elapsed())
}
