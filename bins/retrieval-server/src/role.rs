//! Roles of an instance: serving requests, background work, or both.

use anyhow::bail;
use clap::ValueEnum;
use settings::{IndexBackend, Settings, StorageBackend};

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum Role {
    /// Serve requests. Workers do the background work.
    Api,
    /// Do the background work: indexing runs, the index's backlog, embedding, crawls, research runs, webhooks, refunds,
    /// retention, deletion of organizations. Serves health and metrics only.
    Worker,
    /// Do both.
    #[default]
    All,
}

impl Role {
    pub fn serves_requests(self) -> bool {
        match self {
            Role::Api | Role::All => true,
            Role::Worker => false,
        }
    }

    pub fn works(self) -> bool {
        match self {
            Role::Worker | Role::All => true,
            Role::Api => false,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Role::Api => "api",
            Role::Worker => "worker",
            Role::All => "all",
        }
    }

    /// Refuses the separation of roles where one process owns what both of them use.
    pub fn check(self, settings: &Settings) -> anyhow::Result<()> {
        let owned = match (self, settings.index.backend, settings.storage.backend) {
            (Role::All, _, _) => return Ok(()),
            (_, IndexBackend::Embedded, _) => ("index.backend", "set it to \"meilisearch\" or \"qdrant\""),
            (_, _, StorageBackend::Embedded) => ("storage.backend", "set it to \"s3\""),
            (_, IndexBackend::Meilisearch | IndexBackend::Qdrant | IndexBackend::None, StorageBackend::S3) => {
                return Ok(());
            }
        };
        let (key, cure) = owned;
        bail!(
            "`--role {}`: {key} = \"embedded\" belongs to one process, so no other instance could share the work: {cure}, or run \
             `--role all`",
            self.as_str()
        )
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn settings(index: IndexBackend, storage: StorageBackend) -> Settings {
        let mut settings = Settings::load(None, []).unwrap();
        (settings.index.backend, settings.storage.backend) = (index, storage);
        settings
    }

    #[test]
    fn roles_are_separated_only_over_shared_backends() {
        let embedded = settings(IndexBackend::Embedded, StorageBackend::Embedded);
        let half = settings(IndexBackend::Meilisearch, StorageBackend::Embedded);
        let shared = [IndexBackend::Meilisearch, IndexBackend::Qdrant].map(|index| settings(index, StorageBackend::S3));
        for role in [Role::Api, Role::Worker] {
            let refused = role.check(&embedded).unwrap_err().to_string();
            assert!(refused.contains(role.as_str()) && refused.contains("index.backend"), "{refused}");
            assert!(role.check(&half).unwrap_err().to_string().contains("storage.backend"));
            shared.iter().for_each(|shared| role.check(shared).unwrap());
        }
        Role::All.check(&embedded).unwrap();
    }
}
