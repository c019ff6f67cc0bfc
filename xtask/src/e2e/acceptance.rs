//! Acceptance folders (pytest) against the server, on one or more compositions of backends.

use super::{Outcome, instances};
use crate::interrupt;
use crate::services::{ExternalS3, Meilisearch, Postgres, Provided, Qdrant, Redis, Running, Service};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// A backend other than the embedded ones.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Backend {
    Postgres,
    Redis,
    Meilisearch,
    Qdrant,
    S3,
}

/// Servers under test, and what they run on.
#[derive(Clone, Copy)]
pub struct Composition {
    /// Backends that are not embedded.
    backends: &'static [Backend],
    /// Requests go to two instances in turn, instead of one.
    has_two_instances: bool,
}

pub const EMBEDDED: Composition = one(&[]);
pub const POSTGRES: Composition = one(&[Backend::Postgres]);
const PRODUCTION: Composition = one(&[Backend::Postgres, Backend::Redis, Backend::Meilisearch, Backend::S3]);
/// The compositions of `--services`.
pub const ALL: [Composition; 7] = [
    EMBEDDED,
    one(&[Backend::Postgres, Backend::Redis]),
    one(&[Backend::Meilisearch]),
    one(&[Backend::Qdrant]),
    one(&[Backend::S3]),
    PRODUCTION,
    Composition { has_two_instances: true, ..PRODUCTION },
];

const fn one(backends: &'static [Backend]) -> Composition {
    Composition { backends, has_two_instances: false }
}

/// Variables that a suite reads, and those of [`Running::environment`] that they come from: the first one that is set.
const VARIABLES: [(&str, &[&str]); 9] = [
    ("ACCEPT_DATABASE_URL", &["TEST_DATABASE_URL"]),
    ("ACCEPT_REDIS_URL", &["RATE_LIMIT_REDIS_URL"]),
    ("ACCEPT_INDEX_BACKEND", &["TEST_QDRANT_BACKEND"]),
    ("ACCEPT_INDEX_URL", &["ACCEPT_INDEX_URL", "TEST_QDRANT_URL"]),
    ("ACCEPT_INDEX_KEY", &["ACCEPT_INDEX_KEY", "TEST_QDRANT_KEY"]),
    ("ACCEPT_S3_ENDPOINT", &["TEST_S3_ENDPOINT"]),
    ("ACCEPT_S3_KEY", &["TEST_S3_KEY"]),
    ("ACCEPT_S3_SECRET", &["TEST_S3_SECRET"]),
    ("ACCEPT_S3_BUCKET", &["TEST_S3_BUCKET"]),
];

impl Backend {
    fn service(self) -> Box<dyn Service> {
        match self {
            Backend::Postgres => Box::new(Postgres { disabled: false }),
            Backend::Redis => Box::new(Redis),
            Backend::Meilisearch => Box::new(Meilisearch),
            Backend::Qdrant => Box::new(Qdrant),
            Backend::S3 => Box::new(ExternalS3),
        }
    }
}

/// A suite and the server that it tests.
pub struct Suite<'a> {
    pub path: &'a Path,
    pub arguments: &'a [String],
    pub server: &'a Path,
    pub python: &'a OsStr,
}

/// Runs the suite on each composition. Starts each backend once. Returns the outcomes with the compositions' names.
///
/// # Errors
///
/// Returns an error if pytest does not start.
pub fn run(suite: &Suite<'_>, compositions: &[Composition]) -> anyhow::Result<Vec<(String, Outcome)>> {
    let mut provided = BTreeMap::new();
    for backend in compositions.iter().flat_map(|composition| composition.backends) {
        provided.entry(*backend).or_insert_with(|| backend.service().provide());
    }
    let folder = tempfile::tempdir()?;
    let pair = instances::launcher(suite.server, folder.path())?;
    let mut outcomes = Vec::new();
    for composition in compositions {
        let name = composition.name();
        eprintln!("\n=== acceptance: {name}");
        let mut running = Vec::new();
        let (server, mut absent) = match composition.has_two_instances {
            true => (pair.as_path(), instances::absent()),
            false => (suite.server, None),
        };
        for backend in composition.backends {
            match &provided[backend] {
                Provided::Running(one) => running.push(one),
                Provided::Absent { reason } => absent = absent.or(Some(reason.as_str())),
            }
        }
        let outcome = match absent {
            Some(reason) => Outcome::Skipped(format!("Acceptance on {name} was NOT tested: {reason}")),
            None => Outcome::of(interrupt::status(&mut suite.command(server, &running))?),
        };
        outcomes.push((name, outcome));
        if interrupt::caught() {
            break;
        }
    }
    Ok(outcomes)
}

impl Suite<'_> {
    fn command(&self, server: &Path, backends: &[&Running]) -> Command {
        let mut pytest = Command::new(self.python);
        pytest.args(["-m", "pytest", "-q"]).arg(self.path).args(self.arguments).env("RETRIEVAL_SERVER_BIN", server);
        let environment: BTreeMap<&str, &str> = backends
            .iter()
            .flat_map(|running| running.environment.iter().map(|(name, value)| (*name, value.as_str())))
            .collect();
        for (wanted, sources) in VARIABLES {
            // Our own environment may name a service that is not part of this composition.
            match sources.iter().find_map(|source| environment.get(source)) {
                Some(value) => pytest.env(wanted, value),
                None => pytest.env_remove(wanted),
            };
        }
        if let Some(path) = environment.get("PATH") {
            pytest.env("PATH", path);
        }
        pytest
    }
}

impl Composition {
    fn name(&self) -> String {
        if self.backends.is_empty() {
            return "embedded backends".to_owned();
        }
        let names: Vec<_> = self.backends.iter().map(|backend| backend.service().name()).collect();
        let instances = if self.has_two_instances { ", two instances" } else { "" };
        format!("{}{instances}", names.join(" + "))
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, Suite};
    use crate::services::Running;
    use std::path::Path;

    #[test]
    fn compositions_have_different_names() {
        let mut names: Vec<_> = ALL.iter().map(super::Composition::name).collect();
        assert_eq!(names[1], "PostgreSQL + Redis");
        names.sort();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }

    #[test]
    fn a_suite_sees_the_backends_of_its_composition_alone() {
        let suite =
            Suite { path: Path::new("suite"), arguments: &[], server: Path::new("server"), python: "python3".as_ref() };
        let redis = Running {
            how: String::new(),
            environment: vec![("RATE_LIMIT_REDIS_URL", "redis://x".to_owned())],
            _guard: None,
        };
        let command = suite.command(suite.server, &[&redis]);
        let of = |name: &str| command.get_envs().find(|(key, _)| *key == name).map(|(_, value)| value);
        assert_eq!(of("ACCEPT_REDIS_URL"), Some(Some("redis://x".as_ref())));
        assert_eq!(of("ACCEPT_DATABASE_URL"), Some(None), "removed");
        assert_eq!(of("PATH"), None);
        let url = |name| Running { how: String::new(), environment: vec![(name, "x".to_owned())], _guard: None };
        for source in ["ACCEPT_INDEX_URL", "TEST_QDRANT_URL"] {
            let command = suite.command(suite.server, &[&url(source)]);
            let set = command.get_envs().find(|(key, _)| *key == "ACCEPT_INDEX_URL").and_then(|(_, value)| value);
            assert_eq!(set, Some("x".as_ref()), "{source}");
        }
    }
}
