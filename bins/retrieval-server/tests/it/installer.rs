//! The installer of the agent skills, run in an empty home folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use uuid::Uuid;

use crate::support::{Client, Database, Finished, Server, run};

on_both_databases!(skills_are_installed_and_uninstalled, modified_downloads_are_not_installed);

const SKILLS: [&str; 4] = ["retrieval-read", "retrieval-research", "retrieval-search", "retrieval-workspace"];

struct Home {
    folder: TempDir,
    script: PathBuf,
}

impl Home {
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("install.sh");
        fs::write(&path, script).unwrap();
        Self { folder, script: path }
    }

    fn install(&self, arguments: &[&str]) -> Finished {
        let mut command = Command::new("sh");
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.arg(&self.script).args(arguments).env_clear().env("PATH", path).env("HOME", self.folder.path());
        command.env("RETRIEVAL_API_KEY", "rk_secret").current_dir(self.folder.path());
        run(command, b"")
    }

    /// Returns all files except the script, as paths relative to the home folder.
    fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        walk(self.folder.path(), &mut files);
        let own = files.iter().map(|path| path.strip_prefix(self.folder.path()).unwrap().display().to_string());
        let mut names: Vec<String> = own.filter(|name| name != "install.sh").collect();
        names.sort();
        names
    }
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, files) } else { files.push(path) }
    }
}

/// Returns a client without a key.
fn anonymous(server: &Server) -> Client {
    server.client(None, Uuid::nil())
}

/// Downloads the installer. Without curl and wget it reports the skipped test and returns `None`, or panics in CI.
fn script(server: &Server) -> Option<String> {
    let fetches = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !fetches("curl") && !fetches("wget") {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "neither curl nor wget is installed");
        println!("NOT RUN: neither curl nor wget is installed");
        return None;
    }
    Some(anonymous(server).get("/skills/install.sh").text)
}

fn skills_are_installed_and_uninstalled(database: Database) {
    let server = Server::start(database);
    let Some(script) = script(&server) else { return };
    let home = Home::new(&script);
    let tried = home.install(&["--dry-run"]);
    assert_eq!((tried.code(), home.files()), (Some(0), vec![]), "{tried:#?}");

    let done = home.install(&[]);
    assert_eq!(done.code(), Some(0), "{done:#?}");
    assert!(done.stdout.contains(".agents/skills"), "the target folder is printed: {done:#?}");
    assert!(!format!("{done:?}").contains("rk_secret"), "{done:#?}");
    let mut expected: Vec<String> = SKILLS.iter().map(|name| format!(".agents/skills/{name}/SKILL.md")).collect();
    expected.insert(0, ".agents/agents/retrieval-researcher.md".to_owned());
    let skills = |files: Vec<String>| files.into_iter().filter(|name| name.ends_with(".md")).collect::<Vec<_>>();
    assert_eq!(skills(home.files()), expected);
    let served = anonymous(&server).get("/skills/retrieval-read/SKILL.md").text;
    let installed = fs::read_to_string(home.folder.path().join(".agents/skills/retrieval-read/SKILL.md")).unwrap();
    assert_eq!(served, installed);

    let files = home.files();
    assert_eq!((home.install(&[]).code(), home.files()), (Some(0), files), "a second run changes nothing");
    assert_eq!((home.install(&["--uninstall"]).code(), skills(home.files())), (Some(0), vec![]));
}

fn modified_downloads_are_not_installed(database: Database) {
    let server = Server::start(database);
    let Some(script) = script(&server) else { return };
    // With other digests, every file counts as modified.
    let digests: Vec<&str> = script.split(|c: char| !c.is_ascii_hexdigit()).filter(|word| word.len() == 64).collect();
    assert_eq!(digests.len(), SKILLS.len() + 1);
    let broken = digests.iter().fold(script.clone(), |script, digest| script.replace(digest, &"0".repeat(64)));
    let home = Home::new(&broken);
    let refused = home.install(&[]);
    assert_ne!(refused.code(), Some(0), "{refused:#?}");
    assert!(!home.files().iter().any(|name| name.ends_with(".md")), "{:?}", home.files());
    // A truncated script runs nothing, wherever it ends.
    for end in (1..10).map(|tenth| script.len() * tenth / 10) {
        let cut = Home::new(&script[..script.floor_char_boundary(end)]);
        cut.install(&[]);
        assert_eq!(cut.files(), [] as [&str; 0]);
    }
}
