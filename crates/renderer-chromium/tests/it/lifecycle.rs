//! Start, replacement and end of the browser.

use std::path::Path;
use std::time::Duration;

use fetcher::{RenderError, RenderRequest, Renderer};
use renderer_chromium::{BrowserSource, ChromiumOptions, StartError};
use rustix::process::{Pid, Signal, kill_process};

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
