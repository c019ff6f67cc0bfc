//! The kinds of work of a mixed load. Each runs in threads of its own, at a fixed pace that leaves capacity to the others.

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
use anyhow::bail;
use serde_json::{Value, json};
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

/// Time for a crawl. A crawl of loopback takes seconds.
const CRAWL_TIMEOUT: Duration = Duration::from_secs(120);
const CRAWL_POLL: Duration = Duration::from_secs(1);
const CRAWL: &str = "soak";

const SEARCH_INTERVAL: Duration = Duration::from_millis(100);
const READ_INTERVAL: Duration = Duration::from_millis(200);
const UPLOAD_INTERVAL: Duration = Duration::from_secs(1);
const CRAWL_INTERVAL: Duration = Duration::from_secs(30);

/// Time of the load and its counts.
pub struct Load<'a> {
    pub plan: &'a Plan<'a>,
    pub until: Instant,
    pub tally: &'a Tally,
}

impl Load<'_> {
    /// Repeats work at each `interval` until the time is over. A latency counts from the time at which the work was due, so that
    /// slow work also delays the work behind it.
    fn repeat(&self, kind: Kind, interval: Duration, mut work: impl FnMut(usize) -> anyhow::Result<()>) {
        let mut due = Instant::now();
        for number in 0.. {
            self.sleep_until(due);
            if self.is_over() {
                return;
            }
            let outcome = work(number);
            self.tally.record(kind, due, outcome);
            due += interval;
        }
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.until || interrupt::caught()
    }

    /// Sleeps in short steps, so that the end is not late.
    fn sleep_until(&self, due: Instant) {
        const STEP: Duration = Duration::from_millis(200);
        let end = due.min(self.until);
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
        self.repeat(Kind::Search, SEARCH_INTERVAL, |number| {
            client.post(load::SEARCH_PATH, &bodies[number % bodies.len()]).map(drop)
        });
    }

    /// Reads pages of a site, every second time with a new fetch.
    pub fn read(&self, client: &Client, site: &Site) {
        self.repeat(Kind::Read, READ_INTERVAL, |number| {
            let mut body = json!({"canonical_url": site.url(number / 2 % PAGES)});
            if number % 2 == 1 {
                body["max_age_seconds"] = 0.into();
            }
            has_content(&client.call(load::READ_PATH, &body)?)
        });
    }

    /// Replaces files, and indexes them.
    pub fn upload(&self, installation: &Installation) {
        let workspace = Workspace::of(installation, self.plan.tenant.clone());
        let mut writer = Writer::new(self.plan.seed);
        self.repeat(Kind::Upload, UPLOAD_INTERVAL, |number| {
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

    /// Crawls the same pages again and again. The instances work on the crawl, whose command only starts it.
    pub fn crawl(&self, installation: &Installation, site: &Site) {
        let urls: Vec<String> = (0..CRAWLED).map(|number| site.url(number)).collect();
        let mut arguments = vec!["web", "crawl", "--name", CRAWL, "--depth", "0"];
        arguments.extend(urls.iter().map(String::as_str));
        self.repeat(Kind::Crawl, CRAWL_INTERVAL, |_| {
            installation.run_measured(&arguments, &ALLOW_LOOPBACK)?;
            let deadline = Instant::now() + CRAWL_TIMEOUT;
            while !is_crawled(&installation.run_measured(&["web", "crawl-show", CRAWL], &[])?.line)? {
                if Instant::now() > deadline {
                    bail!("a crawl of {CRAWLED} pages did not end within {CRAWL_TIMEOUT:?}");
                }
                std::thread::sleep(CRAWL_POLL);
            }
            Ok(())
        });
    }
}

/// Checks that a page was read: a response without content is a success for the client, too.
fn has_content(answer: &Value) -> anyhow::Result<()> {
    if answer["content"].is_null() {
        bail!("a page was read without content: {answer}");
    }
    Ok(())
}

/// Returns true for a crawl that has listed all pages, and false for one that still runs.
///
/// # Errors
///
/// Returns an error if the crawl has ended without some of the pages.
fn is_crawled(shown: &Value) -> anyhow::Result<bool> {
    if shown["state"] == "running" {
        return Ok(false);
    }
    if shown["state"] != "completed" || shown["pages"] != CRAWLED || shown["failed"] != 0 {
        bail!("a crawl has not listed all of {CRAWLED} pages: {shown}");
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::{Kind, Load, Plan, Tally, has_content, is_crawled};
    use crate::bench::installation::Tenant;
    use serde_json::json;
    use std::time::{Duration, Instant};

    #[test]
    fn slow_work_delays_the_work_behind_it() {
        let tenant = Tenant { organization: String::new(), key: String::new(), key_id: String::new() };
        let time = Duration::from_millis(200);
        let plan = Plan { time, tenant, searches: &[], seed: 0 };
        let tally = Tally::default();
        let load = Load { plan: &plan, until: Instant::now() + time, tally: &tally };
        load.repeat(Kind::Search, Duration::from_millis(5), |number| {
            if number == 0 {
                std::thread::sleep(Duration::from_millis(100));
            }
            Ok(())
        });
        assert!(tally.done(Kind::Search) >= 10, "{}", tally.done(Kind::Search));
        // The second request was due 95 ms before it could be sent.
        let late = tally.into_searches().percentile(80.0);
        assert!(late >= Duration::from_millis(40), "{late:?}");
    }

    #[test]
    fn empty_reads_and_incomplete_crawls_are_failures() {
        assert!(has_content(&json!({"content": {"text": "a page"}})).is_ok());
        assert!(has_content(&json!({"document": {}, "warnings": []})).is_err());
        let shown = |state, pages, failed| json!({"state": state, "pages": pages, "failed": failed});
        assert!(!is_crawled(&shown("running", 3, 0)).unwrap());
        assert!(is_crawled(&shown("completed", 100, 0)).unwrap());
        for incomplete in [shown("completed", 99, 0), shown("completed", 100, 1), shown("stopped", 100, 0)] {
            assert!(is_crawled(&incomplete).is_err(), "{incomplete}");
        }
    }
}
