//! The kinds of work of a mixed load. Each runs in threads of its own, at a pace that leaves capacity to the others.

use super::Plan;
use super::tally::{Kind, Tally};
use crate::bench::client::Client;
use crate::bench::generate::Writer;
use crate::bench::installation::Installation;
use crate::bench::load;
use crate::bench::read_job::ALLOW_LOOPBACK;
use crate::bench::site::Site;
use crate::bench::workspace::{File, Workspace};
use crate::interrupt;
use serde_json::json;
use std::time::{Duration, Instant};

/// Pages that are read by their URL. They repeat, so that the database does not grow without end.
const PAGES: usize = 1_000;
/// Files, whose content changes.
const FILES: usize = 100;
const FILE_BYTES: usize = 8_000;
/// Uploads before an indexing run.
const UPLOADS_A_RUN: usize = 20;
/// Pages of a crawl.
const CRAWLED: usize = 100;

const SEARCH_PAUSE: Duration = Duration::from_millis(20);
const READ_PAUSE: Duration = Duration::from_millis(50);
const UPLOAD_PAUSE: Duration = Duration::from_millis(200);
const CRAWL_PAUSE: Duration = Duration::from_secs(20);

/// Time of the load and its counts.
pub struct Load<'a> {
    pub plan: &'a Plan<'a>,
    pub until: Instant,
    pub tally: &'a Tally,
}

impl Load<'_> {
    /// Repeats work until the time is over.
    fn repeat(&self, kind: Kind, pause: Duration, mut work: impl FnMut(usize) -> anyhow::Result<()>) {
        for number in 0.. {
            if self.is_over() {
                return;
            }
            let begun = Instant::now();
            let outcome = work(number);
            self.tally.record(kind, begun, outcome);
            self.pause(pause);
        }
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.until || interrupt::caught()
    }

    /// Pauses in short steps, so that the end is not late.
    fn pause(&self, time: Duration) {
        const STEP: Duration = Duration::from_millis(200);
        let end = (Instant::now() + time).min(self.until);
        while !interrupt::caught() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(STEP));
        }
    }

    /// Searches with all queries in turn.
    pub fn search(&self, client: &Client) {
        let bodies = self.plan.searches;
        self.repeat(Kind::Search, SEARCH_PAUSE, |number| {
            client.post(load::SEARCH_PATH, &bodies[number % bodies.len()]).map(drop)
        });
    }

    /// Reads pages of a site, every second time with a new fetch.
    pub fn read(&self, client: &Client, site: &Site) {
        self.repeat(Kind::Read, READ_PAUSE, |number| {
            let mut body = json!({"canonical_url": site.url(number / 2 % PAGES)});
            if number % 2 == 1 {
                body["max_age_seconds"] = 0.into();
            }
            client.call(load::READ_PATH, &body).map(drop)
        });
    }

    /// Replaces files, and indexes them.
    pub fn upload(&self, installation: &Installation) {
        let workspace = Workspace::of(installation, self.plan.tenant.clone());
        let mut writer = Writer::new(self.plan.seed);
        self.repeat(Kind::Upload, UPLOAD_PAUSE, |number| {
            let file = File { name: format!("soak {}.txt", number % FILES), bytes: writer.text(FILE_BYTES).into() };
            workspace.upload(&[file], 1)?;
            if number % UPLOADS_A_RUN == UPLOADS_A_RUN - 1 {
                let begun = Instant::now();
                let outcome = workspace.index("incremental", || ()).map(drop);
                self.tally.record(Kind::Run, begun, outcome);
            }
            Ok(())
        });
    }

    /// Crawls the same pages again and again.
    pub fn crawl(&self, installation: &Installation, site: &Site) {
        let urls: Vec<String> = (0..CRAWLED).map(|number| site.url(number)).collect();
        let mut arguments = vec!["web", "crawl", "--name", "soak", "--depth", "0"];
        arguments.extend(urls.iter().map(String::as_str));
        self.repeat(Kind::Crawl, CRAWL_PAUSE, |_| installation.run_measured(&arguments, &ALLOW_LOOPBACK).map(drop));
    }
}
