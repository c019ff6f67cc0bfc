//! Start time of the server and its memory when idle.

use super::installation::Installation;
use super::report::Section;
use super::samples::Samples;
use super::server::Server;
use super::{check_interrupt, process, spinner};
use std::time::{Duration, Instant};

const RESTARTS: usize = 5;
const IDLE: Duration = Duration::from_secs(5);
const START_TARGET_MS: f64 = 300.0;

/// Starts the server several times on existing data and measures its memory after an idle time, which is the last
/// figure of the section.
pub fn measure(installation: &Installation, section: &mut Section) -> anyhow::Result<Server> {
    let mut starts = Samples::default();
    let mut server = installation.serve()?;
    starts.push(server.start);
    for _ in 1..RESTARTS {
        drop(server);
        server = installation.serve()?;
        starts.push(server.start);
    }
    section.milliseconds("start to ready ms (median of 5)", starts.median()).target_below(START_TARGET_MS);
    section.milliseconds("start to ready ms (slowest of 5)", starts.max());
    section.megabytes("resident MB when ready", process::resident(server.pid())?);
    let waiting = spinner("idle");
    let until = Instant::now() + IDLE;
    while Instant::now() < until {
        check_interrupt()?;
        std::thread::sleep(Duration::from_millis(100));
    }
    waiting.finish_and_clear();
    section.megabytes("resident MB after 5 s idle", process::resident(server.pid())?);
    Ok(server)
}
