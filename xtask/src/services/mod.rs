//! External services for tests. To add one, implement [`Service`] in a new file and extend the list in `test`.

mod account;
mod apt;
mod chromium;
mod interpreters;
pub mod meilisearch;
mod postgres;
pub mod process;
mod qdrant;
mod redis;
mod s3;

pub use chromium::Chromium;
pub use interpreters::{NODE, PYTHON};
pub use meilisearch::{Meilisearch, PrivateMeilisearch};
pub use postgres::{Cluster, Postgres};
pub use qdrant::{PrivateQdrant, Qdrant};
pub use redis::{PrivateRedis, Redis};
pub use s3::ExternalS3;

use std::any::Any;
use std::net::{Ipv4Addr, TcpListener};

/// External service that tests can use.
pub trait Service {
    /// Returns its proper name.
    fn name(&self) -> &'static str;

    /// Starts it, returns a running one, or returns the reason for its absence.
    fn provide(&self) -> Provided;

    /// Returns true if CI fails without it.
    fn required_in_ci(&self) -> bool;
}

/// Result of [`Service::provide`].
pub enum Provided {
    Running(Running),
    Absent { reason: String },
}

/// Service that is available to tests while this value exists.
pub struct Running {
    /// Version or URL, for the summary.
    pub how: String,
    /// Environment variables for the tests.
    pub environment: Vec<(&'static str, String)>,
    /// Stops a started service when dropped.
    pub _guard: Option<Box<dyn Any>>,
}

/// Services of one run.
pub struct Services(Vec<(Box<dyn Service>, Provided)>);

impl Services {
    /// Starts all available services.
    pub fn start(services: Vec<Box<dyn Service>>) -> Self {
        Self(
            services
                .into_iter()
                .map(|service| {
                    let provided = service.provide();
                    (service, provided)
                })
                .collect(),
        )
    }

    /// Returns the environment for the tests.
    pub fn environment(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0
            .iter()
            .flat_map(|(_, provided)| match provided {
                Provided::Running(running) => running.environment.as_slice(),
                Provided::Absent { .. } => &[],
            })
            .map(|(key, value)| (*key, value.as_str()))
    }

    /// Returns a line per service: its version or URL, or why it was not tested.
    pub fn summary(&self) -> Vec<String> {
        let line = |(service, provided): &(Box<dyn Service>, Provided)| match provided {
            Provided::Running(running) => format!("{} was tested: {}", service.name(), running.how),
            Provided::Absent { reason } => format!("{} was NOT tested: {reason}", service.name()),
        };
        self.0.iter().map(line).collect()
    }

    /// Returns the required services that are missing.
    pub fn missing_in_ci(&self) -> Vec<&'static str> {
        let missing = |(service, provided): &(Box<dyn Service>, Provided)| {
            (service.required_in_ci() && matches!(provided, Provided::Absent { .. })).then(|| service.name())
        };
        self.0.iter().filter_map(missing).collect()
    }
}

/// Returns a free port on loopback. Another program may take it before its use.
///
/// # Errors
///
/// Returns an error if the system has none.
pub fn free_port() -> std::io::Result<u16> {
    let [port] = free_ports()?;
    Ok(port)
}

/// Returns different free ports, like [`free_port`].
///
/// # Errors
///
/// Returns an error if the system has too few.
pub fn free_ports<const COUNT: usize>() -> std::io::Result<[u16; COUNT]> {
    // All bound at the same time: a port that is free again may be given a second time.
    let bound: Vec<TcpListener> =
        (0..COUNT).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).collect::<std::io::Result<_>>()?;
    let mut ports = [0; COUNT];
    for (port, listener) in ports.iter_mut().zip(&bound) {
        *port = listener.local_addr()?.port();
    }
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use super::{Provided, Running, Service, Services, free_ports};
    use std::collections::HashSet;

    #[test]
    fn free_ports_differ() {
        // Of some 28,000: ports that are chosen one after the other often repeat among so many.
        let ports = free_ports::<500>().expect("free ports");
        assert_eq!(ports.iter().collect::<HashSet<_>>().len(), ports.len());
    }

    struct Fake(bool);

    impl Service for Fake {
        fn name(&self) -> &'static str {
            if self.0 { "Here" } else { "Gone" }
        }

        fn provide(&self) -> Provided {
            if !self.0 {
                return Provided::Absent { reason: "no binaries".to_owned() };
            }
            let environment = vec![("TEST_HERE_URL", "here://".to_owned())];
            Provided::Running(Running { how: "version 1".to_owned(), environment, _guard: None })
        }

        fn required_in_ci(&self) -> bool {
            true
        }
    }

    #[test]
    fn summary_names_untested_services() {
        let services = Services::start(vec![Box::new(Fake(true)), Box::new(Fake(false))]);
        assert_eq!(services.summary(), ["Here was tested: version 1", "Gone was NOT tested: no binaries"]);
        assert_eq!(services.missing_in_ci(), ["Gone"]);
        assert_eq!(services.environment().collect::<Vec<_>>(), [("TEST_HERE_URL", "here://")]);
    }
}
