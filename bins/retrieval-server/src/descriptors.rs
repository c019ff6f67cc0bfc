//! File descriptors: the limit of the process, and the connections that fit into it.

use std::fmt;
use std::thread::available_parallelism;

use anyhow::bail;
use http_actix::OPERATIONS_CONNECTIONS;
use settings::{Settings, StorageBackend};

/// Connections of the public listener and of the embedded store where the settings name no number.
const API_CONNECTIONS: u64 = 8192;
const STORAGE_CONNECTIONS: u64 = 1024;
/// Fewest connections with which a listener is of use.
const FEWEST_CONNECTIONS: u64 = 16;
/// Connections of this process to the embedded store.
pub const INTERNAL_STORAGE_CONNECTIONS: usize = 64;
/// Concurrent requests of this process to the embedded store: fewer than connections, some of which are being opened or closed.
/// Further requests wait, since a connection beyond its limit is refused.
pub const INTERNAL_STORAGE_REQUESTS: usize = 48;
/// Descriptors per connection of the embedded store: the socket and the file of an object.
const PER_STORAGE_CONNECTION: u64 = 2;
/// Descriptors of the database, the index, logs, locks and the runtimes.
const BASE: u64 = 160;
/// Outgoing connections to storage, the index, models and web pages.
const OUTGOING: u64 = 160;
/// Descriptors per CPU: event loops, and the pipes of an extraction worker.
const PER_CPU: u64 = 24;

/// Descriptors per worker of the public listener: its event loop, and replaced connections that are still being closed.
const PER_WORKER: u64 = 20;

/// Raises the soft limit of the process to its hard limit, as far as the system permits.
pub fn raise_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // On failure the present limit applies, which the plan of connections respects.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// Returns the soft limit of the process.
pub fn limit() -> u64 {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Maximum numbers of connections.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Plan {
    pub api: usize,
    /// Of the embedded store; 0 with an external one.
    pub storage: usize,
    /// Limit of file descriptors that allows fewer connections than usual.
    pub lowered_by: Option<u64>,
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "at most {} connections of the API", self.api)?;
        if self.storage > 0 {
            write!(formatter, " and {} of the embedded store", self.storage)?;
        }
        match self.lowered_by {
            None => Ok(()),
            Some(limit) => write!(formatter, ", because only {limit} file descriptors are allowed (`ulimit -n`)"),
        }
    }
}

/// Returns the connections that fit into `limit` file descriptors, beside what the server itself needs.
///
/// # Errors
/// The settings name more connections than fit, or hardly any fit.
pub fn plan(settings: &Settings, limit: u64) -> anyhow::Result<Plan> {
    let embedded = settings.storage.backend == StorageBackend::Embedded;
    let named_api = u64::from(settings.server.max_connections);
    let named_storage = if embedded { u64::from(settings.storage.max_connections) } else { 0 };
    let storage_wish = match (embedded, named_storage) {
        (false, _) => 0,
        (true, 0) => STORAGE_CONNECTIONS,
        (true, named) => named,
    };
    let api_wish = if named_api == 0 { API_CONNECTIONS } else { named_api };

    let reserved = reserved(settings);
    let free = limit.saturating_sub(reserved);
    let fixed = named_api + named_storage * PER_STORAGE_CONNECTION;
    let fewest = if named_api == 0 { FEWEST_CONNECTIONS } else { 0 }
        + if embedded && named_storage == 0 { FEWEST_CONNECTIONS * PER_STORAGE_CONNECTION } else { 0 };
    if free < fixed + fewest {
        let keys = match (named_api, named_storage) {
            (0, 0) => String::new(),
            (_, 0) => ", or lower `server.max_connections`".to_owned(),
            (0, _) => ", or lower `storage.max_connections`".to_owned(),
            (_, _) => ", or lower `server.max_connections` or `storage.max_connections`".to_owned(),
        };
        bail!(
            "the limit of {limit} file descriptors is too low for the configured connections: raise it (`ulimit -n`, \
             `LimitNOFILE`) to at least {}{keys}",
            reserved + fixed + fewest
        );
    }
    let open = free - fixed;
    // Two thirds for the API, and what one listener leaves for the other.
    let storage_cost = if named_storage == 0 { storage_wish * PER_STORAGE_CONNECTION } else { 0 };
    let api_cost = if named_api == 0 { api_wish } else { 0 };
    let api_share = api_cost.min((open - open / 3).max(open.saturating_sub(storage_cost)));
    let storage_share = storage_cost.min(open - api_share);
    let api = if named_api == 0 { api_share } else { named_api };
    let storage = if named_storage == 0 { storage_share / PER_STORAGE_CONNECTION } else { named_storage };
    let lowered_by = (api < api_wish || storage < storage_wish).then_some(limit);
    Ok(Plan { api: usize::try_from(api)?, storage: usize::try_from(storage)?, lowered_by })
}

/// Returns the descriptors that the server needs beside connections of clients.
fn reserved(settings: &Settings) -> u64 {
    let cpus = available_parallelism().map_or(1, usize::from) as u64;
    let workers = u64::from(settings.server.workers).max(cpus.min(8));
    let internal = match settings.storage.backend {
        StorageBackend::Embedded => INTERNAL_STORAGE_CONNECTIONS as u64 * PER_STORAGE_CONNECTION,
        StorageBackend::S3 => 0,
    };
    internal + BASE + OUTGOING + OPERATIONS_CONNECTIONS as u64 + PER_CPU * cpus + PER_WORKER * workers
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn settings(api: u32, storage: u32) -> Settings {
        let environment = [
            ("RETRIEVAL__SERVER__MAX_CONNECTIONS".to_owned(), api.to_string()),
            ("RETRIEVAL__STORAGE__MAX_CONNECTIONS".to_owned(), storage.to_string()),
        ];
        Settings::load(None, environment).unwrap()
    }

    #[test]
    fn many_descriptors_allow_the_usual_numbers() {
        let plan = plan(&settings(0, 0), 1 << 20).unwrap();
        assert_eq!(plan, Plan { api: 8192, storage: 1024, lowered_by: None });
    }

    #[test]
    fn few_descriptors_lower_the_numbers_until_they_fit() {
        let settings = settings(0, 0);
        for limit in [800, 1024, 2048, 4096, 10_000] {
            let limit = limit + reserved(&settings);
            let plan = plan(&settings, limit).unwrap();
            let used = reserved(&settings) + plan.api as u64 + 2 * plan.storage as u64;
            assert!(used <= limit && limit - used <= 1, "{limit}: {plan:?}");
            assert_eq!(plan.lowered_by, Some(limit));
            assert!(plan.api >= 500 && plan.storage >= 100, "{limit}: {plan:?}");
        }
    }

    #[test]
    fn numbers_of_the_settings_are_kept_or_refused() {
        let named = settings(2000, 500);
        let enough = reserved(&named) + 3000;
        assert_eq!(plan(&named, enough).unwrap(), Plan { api: 2000, storage: 500, lowered_by: None });
        let error = plan(&named, enough - 1).unwrap_err().to_string();
        assert!(error.contains(&format!("at least {enough}, or lower `server.max_connections`")), "{error}");
        // The rest goes to the listener without a number.
        let half = settings(2000, 0);
        let plan = plan(&half, reserved(&half) + 2100).unwrap();
        assert_eq!((plan.api, plan.storage), (2000, 50));
    }

    #[test]
    fn a_limit_that_allows_nothing_is_refused() {
        let error = plan(&settings(0, 0), 256).unwrap_err().to_string();
        assert!(error.contains("the limit of 256 file descriptors is too low"), "{error}");
    }
}
