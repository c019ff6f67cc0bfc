//! Backends of the production composition: PostgreSQL, Redis, Meilisearch and an S3 store, started for one measurement.

use super::installation::Installation;
use crate::services::{Cluster, ExternalS3, Meilisearch, Provided, Redis, Running, Service};
use anyhow::{Context, bail};
use std::path::Path;

/// Compositions to measure.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub enum Composition {
    /// One server with everything in its process
    Embedded,
    /// Servers with PostgreSQL, Redis, Meilisearch and an S3 store, as far as their programs are installed
    Production,
    Both,
}

impl Composition {
    pub fn has_embedded(self) -> bool {
        matches!(self, Composition::Embedded | Composition::Both)
    }

    pub fn has_production(self) -> bool {
        matches!(self, Composition::Production | Composition::Both)
    }
}

/// Running backends, stopped on drop.
pub struct Backends {
    /// Versions, for the title of the report.
    pub how: String,
    settings: Vec<(&'static str, String)>,
    _guards: (Cluster, Vec<Running>),
}

impl Backends {
    /// Starts the backends. PostgreSQL commits as it does in production.
    ///
    /// # Errors
    ///
    /// Returns an error with the first backend that is missing.
    pub fn start() -> anyhow::Result<Self> {
        let cluster = Cluster::start_durable().context("PostgreSQL")?;
        let redis = running(&Redis)?;
        let meilisearch = running(&Meilisearch)?;
        let s3 = running(&ExternalS3)?;
        let settings = vec![
            ("RETRIEVAL__DATABASE__URL", cluster.url.clone()),
            ("RETRIEVAL__RATE_LIMIT__BACKEND", "redis".to_owned()),
            ("RETRIEVAL__RATE_LIMIT__URL", value(&redis, "RATE_LIMIT_REDIS_URL")?),
            ("RETRIEVAL__INDEX__BACKEND", "meilisearch".to_owned()),
            ("RETRIEVAL__INDEX__URL", value(&meilisearch, "ACCEPT_INDEX_URL")?),
            ("RETRIEVAL__INDEX__API_KEY", value(&meilisearch, "ACCEPT_INDEX_KEY")?),
            ("RETRIEVAL__INDEX__PREFIX", format!("bench-{}-", std::process::id())),
            ("RETRIEVAL__STORAGE__BACKEND", "s3".to_owned()),
            ("RETRIEVAL__STORAGE__ENDPOINT", value(&s3, "TEST_S3_ENDPOINT")?),
            ("RETRIEVAL__STORAGE__ACCESS_KEY_ID", value(&s3, "TEST_S3_KEY")?),
            ("RETRIEVAL__STORAGE__SECRET_ACCESS_KEY", value(&s3, "TEST_S3_SECRET")?),
            ("RETRIEVAL__STORAGE__BUCKET", value(&s3, "TEST_S3_BUCKET")?),
        ];
        let how = format!("{}, {}, {}, {}", cluster.version, redis.how, meilisearch.how, s3.how);
        Ok(Self { how, settings, _guards: (cluster, vec![redis, meilisearch, s3]) })
    }

    /// Creates the configuration of an instance.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be written.
    pub fn instance(&self, program: &Path) -> anyhow::Result<Installation> {
        let settings = self.settings.iter();
        Ok(settings
            .fold(Installation::new(program)?, |installation, (name, value)| installation.with_setting(name, value)))
    }
}

fn running(service: &dyn Service) -> anyhow::Result<Running> {
    match service.provide() {
        Provided::Running(running) => Ok(running),
        Provided::Absent { reason } => bail!("{}: {reason}", service.name()),
    }
}

fn value(running: &Running, name: &str) -> anyhow::Result<String> {
    let found = running.environment.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| value.clone()).with_context(|| format!("no {name}"))
}
