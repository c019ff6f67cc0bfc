//! Gauges of what `/readyz` reports and of the free disk space, for alerts. They are measured in the background, since
//! nobody may ask `/readyz`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use app::App;
use app::readiness::{DependencyState, is_ready};
use metrics::gauge;
use tokio_util::sync::CancellationToken;

use crate::disk;

/// Interval of the measurements, as the usual interval of scrapes.
const INTERVAL: Duration = Duration::from_secs(15);
/// Time to read the free space, which a disk of the network may not answer.
const DISK_TIMEOUT: Duration = Duration::from_secs(2);
pub const READY: &str = "retrieval_ready";
pub const DEPENDENCY: &str = "retrieval_dependency_up";
pub const FREE: &str = "retrieval_disk_free_bytes";

/// Dependencies of a server and the disk of its data folder.
pub struct Readiness {
    app: Arc<App>,
    data_dir: PathBuf,
}

impl Readiness {
    pub fn new(app: &Arc<App>, data_dir: PathBuf) -> Self {
        Self { app: Arc::clone(app), data_dir }
    }

    /// Measures everything once. Takes two seconds at most, if a dependency gives no answer.
    pub async fn measure(&self) {
        let (states, free) = tokio::join!(self.app.readiness(), free_bytes(self.data_dir.clone()));
        publish(&states);
        gauge!(FREE).set(free.unwrap_or(0) as f64);
    }

    /// Measures periodically until `stop`.
    pub async fn watch(self: Arc<Self>, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(INTERVAL) => self.measure().await,
            }
        }
    }
}

fn publish(states: &[DependencyState]) {
    for state in states {
        gauge!(DEPENDENCY, "name" => state.name).set(f64::from(u8::from(state.up)));
    }
    gauge!(READY).set(f64::from(u8::from(is_ready(states))));
}

/// Reads the free space on a blocking thread. `None` if it cannot be read.
async fn free_bytes(folder: PathBuf) -> Option<u64> {
    let reading = tokio::task::spawn_blocking(move || disk::free_bytes(&folder).ok());
    tokio::time::timeout(DISK_TIMEOUT, reading).await.ok()?.ok()?
}
