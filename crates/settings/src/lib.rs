#![doc = include_str!("../README.md")]

mod error;
mod layers;
mod network;
mod parse;
mod secret;
mod sections;
mod validate;
mod warnings;

pub use error::SettingsError;
pub use secret::Secret;
pub use sections::{
    Auth, Billing, Captures, Database, Extract, Fetch, Files, Index, IndexBackend, Log, LogFormat, OAuth, OnFailure,
    Operations, Quotas, RateLimit, RateLimitBackend, Rerank, RerankBackend, Sandbox, Server, Settings, Storage,
    StorageBackend,
};

use std::path::Path;

/// Compiled-in defaults: `config/default.toml`.
pub const DEFAULTS: &str = include_str!("../../../config/default.toml");

/// Prefix of environment variables.
pub const ENVIRONMENT_PREFIX: &str = "RETRIEVAL__";

impl Settings {
    /// Merges the defaults, `file` and `environment`, and validates the result with [`Settings::validate`].
    ///
    /// `environment` has names and values; names without [`ENVIRONMENT_PREFIX`] are ignored.
    ///
    /// # Errors
    /// Returns an error for an unreadable file, invalid TOML, an unknown key or an invalid value.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SettingsError> {
        let settings = layers::merge(file, environment)?;
        settings.validate()?;
        Ok(settings)
    }
}
