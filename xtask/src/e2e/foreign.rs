//! Clients of other services against the paths below `/compat`: the released packages, installed below `target`.

use super::Outcome;
use crate::bench::installation::Installation;
use crate::{interrupt, shell};
use anyhow::Context;
use serde_json::json;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PYTHON: Clients = Clients {
    name: "Python",
    script: include_str!("foreign.py"),
    file: "foreign.py",
    packages: &[
        "exa-py==2.28.0",
        "firecrawl-py==4.53.2",
        "langchain-community==0.4.2",
        "langchain-tavily==0.2.18",
        "requests",
        "tavily-python==0.8.5",
    ],
};

const JAVASCRIPT: Clients = Clients {
    name: "JavaScript",
    script: include_str!("foreign.mjs"),
    file: "foreign.mjs",
    packages: &["@mendable/firecrawl-js@4.42.0", "@tavily/core@0.7.13", "exa-js@2.23.0"],
};

/// Packages of one language, and the session that uses them.
struct Clients {
    name: &'static str,
    script: &'static str,
    file: &'static str,
    packages: &'static [&'static str],
}

/// Runs the sessions of both languages. A language whose packages cannot be installed is not tested.
///
/// # Errors
///
/// Returns an error if the server does not start.
pub fn run(server: &Path, python: &OsStr) -> anyhow::Result<[(&'static str, Outcome); 2]> {
    let installation = Installation::new(server)?;
    let tenant = installation.tenant()?;
    let searcher = installation.scoped_key(&tenant.organization, "search:read")?;
    let page = installation.folder().join("tides.jsonl");
    let markdown = "# Tides\n\nThe moon moves the tides, twice a day, on every coast.\n";
    let tides = json!({"url": "https://example.com/tides", "title": "Tides", "markdown": markdown});
    std::fs::write(&page, format!("{tides}\n"))?;
    installation.import(&page)?;
    let running = installation.serve()?;
    let session = |clients: &Clients, program: Option<Command>| -> anyhow::Result<Outcome> {
        let Some(mut session) = program else { return Ok(clients.skipped()) };
        session
            .env("BASE_URL", installation.base())
            .env("API_KEY", &tenant.key)
            .env("SEARCHER_KEY", &searcher)
            .env("NO_PROXY", "127.0.0.1");
        Ok(Outcome::of(interrupt::status(&mut session)?))
    };
    let python = session(&PYTHON, PYTHON.python(python)?)?;
    let javascript = session(&JAVASCRIPT, JAVASCRIPT.javascript()?)?;
    drop(running);
    Ok([("clients from PyPI", python), ("clients from npm", javascript)])
}

impl Clients {
    fn skipped(&self) -> Outcome {
        let Clients { name, packages, .. } = self;
        let packages = packages.join(" ");
        Outcome::Skipped(format!("the {name} clients of other services were NOT tested: cannot install {packages}"))
    }

    /// Returns the session in a virtual environment with the packages.
    fn python(&self, python: &OsStr) -> anyhow::Result<Option<Command>> {
        let folder = self.folder()?;
        let interpreter = folder.join("bin").join("python");
        let mut venv = Command::new(python);
        venv.args(["-m", "venv"]).arg(&folder);
        let mut install = Command::new(&interpreter);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(self.packages);
        if !self.install(&folder, [venv, install])? {
            return Ok(None);
        }
        let mut session = Command::new(interpreter);
        // Several packages warn about each other.
        session.args(["-W", "ignore::DeprecationWarning"]).arg(self.write_script(&folder)?);
        Ok(Some(session))
    }

    /// Returns the session in a folder with the packages.
    fn javascript(&self) -> anyhow::Result<Option<Command>> {
        let folder = self.folder()?;
        let mut install = Command::new("npm");
        install
            .args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
            .arg(&folder)
            .args(self.packages);
        if !self.install(&folder, [install])? {
            return Ok(None);
        }
        let mut session = Command::new("node");
        session.arg(self.write_script(&folder)?);
        Ok(Some(session))
    }

    fn folder(&self) -> anyhow::Result<PathBuf> {
        Ok(shell::target_folder()?.join("e2e-foreign").join(self.name))
    }

    /// Runs the commands unless they ran before for the same packages. Returns true if the packages are installed.
    fn install<const N: usize>(&self, folder: &Path, commands: [Command; N]) -> anyhow::Result<bool> {
        let (marker, packages) = (folder.join("packages"), self.packages.join("\n"));
        if std::fs::read_to_string(&marker).is_ok_and(|installed| installed == packages) {
            return Ok(true);
        }
        std::fs::create_dir_all(folder)?;
        for mut command in commands {
            // A program that is not installed, too, means that nothing can be tested.
            let Ok(mut child) = command.stdin(Stdio::null()).spawn() else { return Ok(false) };
            if !interrupt::wait(&mut child)?.success() {
                return Ok(false);
            }
        }
        std::fs::write(marker, packages)?;
        Ok(true)
    }

    fn write_script(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        let script = folder.join(self.file);
        std::fs::write(&script, self.script).with_context(|| format!("cannot write `{}`", script.display()))?;
        Ok(script)
    }
}
