//! Start of the server, and its memory while nobody asks for anything.

use super::installation::Installation;
use super::report::Section;
use super::samples::Samples;
use super::server::Server;
use super::{go_on, process, spinner};
use std::time::{Duration, Instant};

const RESTARTS: usize = 5;
const IDLE: Duration = Duration::from_secs(5);
const START_AIM_MS: f64 = 300.0;

/// Starts the server several times on the data that is there, and looks at its memory when it has been idle for a
/// while: the last figure of the section.
pub fn measure(installation: &Installation, section: &mut Section) -> anyhow::Result<Server> {
    let mut starts = Samples::default();
    let mut server = installation.serve()?;
    starts.push(server.start);
    for _ in 1..RESTARTS {
        drop(server);
        server = installation.serve()?;
        starts.push(server.start);
    }
    section.milliseconds("start to ready ms (median of 5)", starts.median()).aim(START_AIM_MS);
    section.milliseconds("start to ready ms (slowest of 5)", starts.max());
    section.megabytes("resident MB when ready", process::resident(server.pid())?);
    let waiting = spinner("idle");
    let until = Instant::now() + IDLE;
    while Instant::now() < until {
        go_on()?;
        std::thread::sleep(Duration::from_millis(100));
    }
    waiting.finish_and_clear();
    section.megabytes("resident MB after 5 s idle", process::resident(server.pid())?);
    Ok(server)
}
