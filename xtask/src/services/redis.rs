//! Private in-memory Redis for one run. Tests that stop a Redis start their own from the same program.

use super::{Provided, Running, Service, apt, free_port, process};
use crate::shell;
use anyhow::Context;
use std::path::PathBuf;
use std::process::Command;

/// Variable with the URL for the tests.
const VARIABLE: &str = "RATE_LIMIT_REDIS_URL";
const PROGRAM: &str = "redis-server";

/// Redis for the tests: the one of `RATE_LIMIT_REDIS_URL`, or a private one.
pub struct Redis;

impl Service for Redis {
    fn name(&self) -> &'static str {
        "Redis"
    }

    fn provide(&self) -> Provided {
        if let Some(url) = std::env::var(VARIABLE).ok().filter(|url| !url.is_empty()) {
            let how = format!("the server of {VARIABLE}");
            return Provided::Running(Running { how, environment: vec![(VARIABLE, url)], _guard: None });
        }
        match start() {
            Ok(running) => Provided::Running(running),
            Err(error) => Provided::Absent { reason: format!("{error:#}") },
        }
    }

    fn required_in_ci(&self) -> bool {
        true
    }
}

fn start() -> anyhow::Result<Running> {
    let program = match shell::find_program(PROGRAM) {
        Some(program) => program,
        None => install()?,
    };
    let version = shell::output(Command::new(&program).arg("--version"))?;
    let port = free_port()?;
    let mut command = process::command(&program);
    command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", "", "--appendonly", "no"]);
    let server = process::start(command, PROGRAM, port)?;
    let version = version.split(" sha=").next().unwrap_or_default().to_owned();
    Ok(Running {
        how: format!("a private {version}"),
        environment: vec![(VARIABLE, format!("redis://127.0.0.1:{port}"))],
        _guard: Some(Box::new(server)),
    })
}

fn install() -> anyhow::Result<PathBuf> {
    const WANTED: &str = "no redis-server found on the PATH";
    apt::install("redis-server", WANTED, VARIABLE)?;
    shell::find_program(PROGRAM).context("apt-get installed Redis, but redis-server is not on the PATH")
}
