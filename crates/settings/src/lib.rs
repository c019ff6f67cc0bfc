#![doc = include_str!("../README.md")]

mod error;
mod layers;
mod network;
mod parse;
mod secret;
mod sections;
mod validate;

pub use error::SettingsError;
pub use secret::Secret;
pub use sections::{
    Auth, Billing, Captures, Database, Fetch, Files, Index, IndexBackend, Log, LogFormat, OAuth, OnFailure, Operations,
    RateLimit, RateLimitBackend, Rerank, RerankBackend, Server, Settings, Storage, StorageBackend,
};

use std::path::Path;

/// The compiled-in defaults: `config/default.toml`.
pub const DEFAULTS: &str = include_str!("../../../config/default.toml");

/// What environment variables start with.
pub const ENVIRONMENT_PREFIX: &str = "RETRIEVAL__";

impl Settings {
    /// Reads the defaults, `file` and `environment` (names and values; those without [`ENVIRONMENT_PREFIX`] are
    /// ignored), merges them in this order and checks the outcome with [`Settings::validate`].
    ///
    /// # Errors
    /// A file that cannot be read or is no TOML, an unknown key, a value of a wrong kind, a contradiction.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SettingsError> {
        let settings = layers::merged(file, environment)?;
        settings.validate()?;
        Ok(settings)
    }
}
