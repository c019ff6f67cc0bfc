//! Chromium for the tests of rendering, which find it on the PATH. Installed if it is missing and we are root on Debian.

use super::{Provided, Running, Service, apt};
use crate::shell;
use anyhow::Context;
use std::path::PathBuf;
use std::process::Command;

/// Names of the program that the tests and the server know.
const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

pub struct Chromium;

impl Service for Chromium {
    fn name(&self) -> &'static str {
        "Chromium"
    }

    fn provide(&self) -> Provided {
        match version() {
            Ok(how) => Provided::Running(Running { how, environment: vec![], _guard: None }),
            Err(error) => Provided::Absent { reason: format!("{error:#}") },
        }
    }

    /// Ubuntu has no package of it for apt.
    fn required_in_ci(&self) -> bool {
        false
    }
}

fn version() -> anyhow::Result<String> {
    let program = match find() {
        Some(program) => program,
        None => install()?,
    };
    shell::output(Command::new(program).arg("--version"))
}

fn find() -> Option<PathBuf> {
    PROGRAMS.iter().find_map(|name| shell::find_program(name))
}

fn install() -> anyhow::Result<PathBuf> {
    const WANTED: &str = "no Chromium found on the PATH";
    apt::install("chromium", WANTED, "the PATH")?;
    find().context("apt-get installed Chromium, but it is not on the PATH")
}
