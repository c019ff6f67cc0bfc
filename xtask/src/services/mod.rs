//! Outside services that tests run against. A new one is a file with an implementation of [`Service`] and a line
//! in the list of `test`.

mod account;
mod apt;
pub mod meilisearch;
mod postgres;
mod redis;
mod s3;

pub use meilisearch::Meilisearch;
pub use postgres::{Cluster, Postgres};
pub use redis::Redis;
pub use s3::ExternalS3;

use std::any::Any;
use std::net::{Ipv4Addr, TcpListener};

/// An outside service that tests can use.
pub trait Service {
    /// Its name as people write it.
    fn name(&self) -> &'static str;

    /// Starts it, or says where it already runs, or why it cannot be had.
    fn provide(&self) -> Provided;

    /// Returns true for a service that must be tested in CI.
    fn required_in_ci(&self) -> bool;
}

/// Outcome of [`Service::provide`].
pub enum Provided {
    Running(Running),
    Absent { reason: String },
}

/// A service that tests can reach, for as long as this value lives.
pub struct Running {
    /// Version or address, for the summary.
    pub how: String,
    /// Environment variables that name the service to the tests.
    pub environment: Vec<(&'static str, String)>,
    /// Stops what was started when it is dropped.
    pub _guard: Option<Box<dyn Any>>,
}

/// The services of one run.
pub struct Services(Vec<(Box<dyn Service>, Provided)>);

impl Services {
    /// Starts what can be started.
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

    /// The environment for the tests.
    pub fn environment(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0
            .iter()
            .flat_map(|(_, provided)| match provided {
                Provided::Running(running) => running.environment.as_slice(),
                Provided::Absent { .. } => &[],
            })
            .map(|(key, value)| (*key, value.as_str()))
    }

    /// A line for each service: what it was, or that it was not tested and why.
    pub fn summary(&self) -> Vec<String> {
        let line = |(service, provided): &(Box<dyn Service>, Provided)| match provided {
            Provided::Running(running) => format!("{} was tested: {}", service.name(), running.how),
            Provided::Absent { reason } => format!("{} was NOT tested: {reason}", service.name()),
        };
        self.0.iter().map(line).collect()
    }

    /// The services that CI may not do without, but had to.
    pub fn missing_in_ci(&self) -> Vec<&'static str> {
        let missing = |(service, provided): &(Box<dyn Service>, Provided)| {
            (service.required_in_ci() && matches!(provided, Provided::Absent { .. })).then(|| service.name())
        };
        self.0.iter().filter_map(missing).collect()
    }
}

/// A port on loopback that nobody listened on a moment ago.
///
/// # Errors
///
/// When the system has none.
pub fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::{Provided, Running, Service, Services};

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
    fn the_summary_names_what_was_not_tested() {
        let services = Services::start(vec![Box::new(Fake(true)), Box::new(Fake(false))]);
        assert_eq!(services.summary(), ["Here was tested: version 1", "Gone was NOT tested: no binaries"]);
        assert_eq!(services.missing_in_ci(), ["Gone"]);
        assert_eq!(services.environment().collect::<Vec<_>>(), [("TEST_HERE_URL", "here://")]);
    }
}
