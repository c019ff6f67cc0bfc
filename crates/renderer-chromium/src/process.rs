//! Process of a browser.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};

use crate::devtools::Devtools;
use crate::devtools::wire;
use crate::options::StartError;
use crate::profile;

/// Script that gives the browser its DevTools pipes as descriptors 3 and 4, and bounds the data of each of its processes.
const LAUNCH: &str = "ulimit -d \"$0\" 2>/dev/null; exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null";
/// Kilobytes of data of one process of the browser.
const MAX_DATA: &str = "3145728";
/// Time to end after the connection was closed.
const GRACE: Duration = Duration::from_secs(5);
/// Bytes of standard error that are kept.
const STDERR_TAIL: usize = 2048;

/// Arguments beside those with values. Nothing but pages may use the network, and pages only by the proxy.
const ARGUMENTS: &[&str] = &[
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--no-service-autorun",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-notifications",
    "--disable-remote-fonts",
    "--disable-sync",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    // Without `HttpsUpgrades`: a page of an http URL is rendered under that URL.
    "--disable-features=Translate,MediaRouter,DialMediaRouteProvider,OptimizationHints,AutofillServerCommunication,\
     HttpsUpgrades,InterestFeedContentSuggestions,CertificateTransparencyComponentUpdater,WebBluetooth,WebUSB",
    "--dns-prefetch-disable",
    "--block-new-web-contents",
    "--deny-permission-prompts",
    "--mute-audio",
    "--hide-scrollbars",
    "--metrics-recording-only",
    "--password-store=basic",
    "--window-size=1280,2048",
    "--js-flags=--max-old-space-size=512",
    // Loopback goes through the proxy as well, which refuses it.
    "--proxy-bypass-list=<-loopback>",
    // A name that is looked up all the same does not exist; only the proxy's address is left.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    // WebRTC would send UDP to any address.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
];

/// Running browser. Dropping it kills all its processes and removes its files.
pub struct Process {
    child: Option<Child>,
    folder: Option<TempDir>,
    stderr: Arc<Mutex<Vec<u8>>>,
}

impl Process {
    /// Starts a browser with an empty profile whose connections go to the proxy.
    ///
    /// # Errors
    /// `Spawn`.
    pub fn start(
        program: &Path,
        proxy: SocketAddr,
        is_confined: bool,
        max_message: usize,
    ) -> Result<(Self, Devtools), StartError> {
        let failed = |source| StartError::Spawn { program: program.to_owned(), source };
        let parent = std::env::temp_dir();
        profile::remove_leftovers(&parent);
        let folder = profile::create(&parent).map_err(failed)?;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", LAUNCH, MAX_DATA]).arg(program).args(ARGUMENTS);
        command.arg(format!("--proxy-server=http://{proxy}"));
        command.arg(format!("--user-data-dir={}", folder.path().display()));
        if !is_confined {
            command.arg("--no-sandbox");
        }
        command.arg("about:blank");
        // Secrets of this process are none of the browser's business.
        command.env_clear().env("LANG", "C.UTF-8");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        for variable in ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"] {
            command.env(variable, folder.path());
        }
        command.current_dir(folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        if let Some(user) = profile::other_user() {
            command.uid(user).gid(user);
        }
        let mut child = command.spawn().map_err(failed)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut process = Self { child: Some(child), folder: Some(folder), stderr: Arc::default() };
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(failed(std::io::ErrorKind::BrokenPipe.into()));
        };
        process.keep_tail(stderr);
        Ok((process, Devtools::new(wire::pipes(stdout, stdin, max_message))))
    }

    fn keep_tail(&mut self, mut stderr: tokio::process::ChildStderr) {
        let tail = Arc::clone(&self.stderr);
        tokio::spawn(async move {
            let mut buffer = [0; 1024];
            while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
                tracing::debug!(said = String::from_utf8_lossy(&buffer[..read]).trim_end(), "Chromium");
                let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                tail.extend_from_slice(&buffer[..read]);
                let surplus = tail.len().saturating_sub(STDERR_TAIL);
                tail.drain(..surplus);
            }
        });
    }

    /// Returns the end of what the browser wrote to standard error.
    pub fn said(&self) -> String {
        let tail = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail).trim().to_owned()
    }

    /// Waits until the browser, which was asked to end, has ended; kills it if that takes long.
    pub async fn end(mut self) {
        let (child, folder) = (self.child.take(), self.folder.take());
        end(child, folder).await;
    }
}

async fn end(child: Option<Child>, folder: Option<TempDir>) {
    if let Some(mut child) = child {
        let group = group_of(&child);
        // It reaps its own children if it ends by itself.
        let _ = tokio::time::timeout(GRACE, child.wait()).await;
        kill(group);
        let _ = child.kill().await;
    }
    drop(folder);
}

fn group_of(child: &Child) -> Option<Pid> {
    child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
}

fn kill(group: Option<Pid>) {
    if let Some(group) = group {
        // Fails if no process of the group is left.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let (child, folder) = (self.child.take(), self.folder.take());
        let Some(process) = &child else { return };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(end(child, folder))),
            Err(_) => kill(group_of(process)),
        }
    }
}
