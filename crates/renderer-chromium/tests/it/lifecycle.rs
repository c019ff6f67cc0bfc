//! Start, replacement and end of the browser.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use fetcher::{RenderError, RenderRequest, Renderer};
use renderer_chromium::{BrowserSource, ChromiumOptions, Sandbox, StartError};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::site::Site;
use crate::support::{ORGANIZATION, assert_works, chromium, options, page, processes, render, until};

fn kill(id: u32) {
    let _ = kill_process(Pid::from_raw(id.try_into().unwrap()).unwrap(), Signal::KILL);
}

/// Folders of browsers of this process.
fn folders() -> usize {
    let prefix = format!("retrieval-chromium-{}-", std::process::id());
    let entries = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_browser_loses_its_pages_and_is_replaced() {
    let Some(options) = options() else { return };
    let address = options.proxy_bind;
    let chromium = chromium(options).await;
    let site = Site::empty();
    let shell = page(&site.url("/"), "<script>fetch('/hang')</script>");
    let rendering = tokio::spawn({
        let chromium = chromium.clone();
        async move { render(&chromium, &shell).await }
    });
    until("the page makes its request", || !site.paths().is_empty()).await;
    processes(address).into_iter().for_each(kill);
    assert_eq!(rendering.await.unwrap(), Err(RenderError::Crashed));
    assert_works(&chromium).await;
    chromium.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn browser_is_replaced_after_its_pages_and_leaves_nothing() {
    let Some(mut options) = options() else { return };
    options.renders_per_browser = 2;
    let address = options.proxy_bind;
    let chromium = chromium(options).await;
    let mut browsers = Vec::new();
    for _ in 0..4 {
        assert_works(&chromium).await;
        browsers.push(processes(address).into_iter().min().unwrap());
    }
    assert_ne!(browsers[0], browsers[3]);
    assert!(chromium.state().unwrap().unwrap().contains('/'), "{:?}", chromium.state());
    let before = folders();
    assert!(before > 0);
    chromium.shutdown().await;
    until("no process is left", || processes(address).is_empty()).await;
    until("no folder is left", || folders() < before).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn browser_is_no_root_and_ends_with_its_owner() {
    let Some(options) = options() else { return };
    let address = options.proxy_bind;
    let chromium = chromium(options).await;
    chromium.check().await.unwrap();
    let running = processes(address);
    assert!(!running.is_empty());
    for id in running {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        assert!(!status.contains("\nUid:\t0\t"), "{status}");
    }
    // As after a panic: nobody shuts it down.
    drop(chromium);
    until("no process is left", || processes(address).is_empty()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_ends_when_nobody_waits_for_it() {
    let Some(mut options) = options() else { return };
    options.renders_at_a_time = 1;
    options.timeout = Duration::from_secs(120);
    let chromium = chromium(options).await;
    let site = Site::empty();
    let shell = page(&site.url("/"), "<script>fetch('/hang')</script>");
    let request = RenderRequest { organization_id: ORGANIZATION, page: &shell, is_patient: true };
    tokio::select! {
        outcome = chromium.render(request) => panic!("{outcome:?}"),
        () = until("the page makes its request", || !site.paths().is_empty()) => {}
    }
    tokio::time::timeout(Duration::from_secs(30), assert_works(&chromium)).await.expect("its permit is free");
    chromium.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_that_are_no_browser_are_reported() {
    let started = |program: &str| {
        let source = BrowserSource::Program(Path::new(program).to_owned());
        async move { chromium(ChromiumOptions::new(source, "testbot/1.0")).await.check().await }
    };
    for program in ["/bin/false", "/nonexistent/chromium"] {
        let error = started(program).await.unwrap_err();
        assert!(matches!(error, StartError::Ended { .. }), "{error}");
    }
    let error = started("/nonexistent/chromium").await.unwrap_err().to_string();
    assert!(error.contains("not found"), "{error}");
}

/// Program that answers like a browser, ends, and notes its starts. While the file `broken` exists it ends at once if it is to confine
/// its pages; while `silent` exists it does not answer.
struct FakeBrowser(TempDir);

impl FakeBrowser {
    const SCRIPT: &str = r#"#!/bin/sh
folder=${0%/*}
case "$*" in
    *--no-sandbox*) echo open >> "$folder/starts" ;;
    *) echo confined >> "$folder/starts"; [ ! -e "$folder/broken" ] || exit 1 ;;
esac
[ ! -e "$folder/silent" ] || exec cat <&3 >/dev/null
head -c 1 <&3 >/dev/null
printf '{"id":1,"result":{"product":"Fake/1"}}\0' >&4
"#;

    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("browser");
        std::fs::write(&program, Self::SCRIPT).unwrap();
        // For root the program runs as another user.
        for path in [folder.path(), program.as_path()] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
        }
        Self(folder)
    }

    fn options(&self) -> ChromiumOptions {
        let source = BrowserSource::Program(self.0.path().join("browser"));
        ChromiumOptions { sandbox: Sandbox::BestEffort, ..ChromiumOptions::new(source, "testbot/1.0") }
    }

    fn mark(&self, name: &str) {
        std::fs::write(self.0.path().join(name), "").unwrap();
    }

    fn starts(&self) -> String {
        std::fs::read_to_string(self.0.path().join("starts")).unwrap_or_default()
    }
}

#[tokio::test]
async fn sandbox_that_never_worked_is_left_out() {
    let fake = FakeBrowser::new();
    fake.mark("broken");
    assert_eq!(chromium(fake.options()).await.check().await.unwrap(), "Fake/1");
    assert_eq!(fake.starts(), "confined\nopen\n");
}

#[tokio::test]
async fn sandbox_that_has_worked_is_kept_after_a_failed_start() {
    let fake = FakeBrowser::new();
    let chromium = chromium(fake.options()).await;
    assert_eq!(chromium.check().await.unwrap(), "Fake/1");
    fake.mark("broken");
    let failing = async {
        loop {
            // The first browser may not have ended yet.
            match chromium.check().await {
                Ok(_) => tokio::time::sleep(Duration::from_millis(10)).await,
                Err(error) => return error,
            }
        }
    };
    let error = tokio::time::timeout(Duration::from_secs(20), failing).await.unwrap();
    assert!(matches!(error, StartError::Ended { .. }), "{error}");
    assert_eq!(fake.starts(), "confined\nconfined\n");
}

/// The clock leaps over the time that the program has.
#[tokio::test(start_paused = true)]
async fn browser_that_does_not_answer_is_not_started_without_its_sandbox() {
    let fake = FakeBrowser::new();
    fake.mark("silent");
    let error = chromium(fake.options()).await.check().await.unwrap_err();
    assert!(matches!(error, StartError::Silent { .. }), "{error}");
    assert!(!fake.starts().contains("open"), "{}", fake.starts());
}

/// Process that is killed with this value.
struct Owner(std::process::Child);

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Variable with the proxy port of a browser whose owner is killed.
const PORT: &str = "TEST_RENDERER_PORT";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn browser_ends_if_its_owner_is_killed() {
    let Some(options) = options() else { return };
    let mut owner = std::process::Command::new(std::env::current_exe().unwrap());
    owner.args(["--exact", "lifecycle::owner_that_waits_for_its_end", "--ignored"]);
    let owner = Owner(owner.env(PORT, options.proxy_bind.port().to_string()).spawn().unwrap());
    until("the browser runs", || !processes(options.proxy_bind).is_empty()).await;
    drop(owner);
    until("no process is left", || processes(options.proxy_bind).is_empty()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a process that another test starts and kills"]
async fn owner_that_waits_for_its_end() {
    let (Some(mut options), Ok(port)) = (options(), std::env::var(PORT)) else { return };
    options.proxy_bind.set_port(port.parse().unwrap());
    let chromium = chromium(options).await;
    assert_works(&chromium).await;
    std::future::pending::<()>().await;
}
