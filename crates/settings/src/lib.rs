#![doc = include_str!("../README.md")]

mod effective;
mod embed;
mod environment;
mod error;
mod keys;
mod layers;
mod network;
mod parse;
mod public_url;
mod reach;
mod rendering;
mod secret;
mod sections;
mod telemetry;
mod tls;
mod validate;
mod values;
mod warnings;
mod web;

pub use environment::is_own_variable;
pub use error::SettingsError;
pub use secret::Secret;
pub use sections::{
    Auth, Billing, Captures, Crawl, Database, Embed, EmbedBackend, Extract, Fetch, Files, Generate, GenerateBackend,
    Index, IndexBackend, Log, LogFormat, OAuth, OnFailure, Operations, Quotas, RateLimit, RateLimitBackend, Render,
    Rerank, RerankBackend, Research, Sandbox, Server, Settings, Storage, StorageBackend, Telemetry, Web, WebBrave,
    WebHttp, WebProvider, WebSearxng, Webhooks,
};

use std::path::Path;

/// Compiled-in defaults: `config/default.toml`.
pub const DEFAULTS: &str = include_str!("../../../config/default.toml");

/// Prefix of environment variables.
pub const ENVIRONMENT_PREFIX: &str = "RETRIEVAL__";

impl Settings {
    /// Merges the defaults, `file` and `environment`, and validates the result with [`Settings::validate`].
    ///
    /// `environment` has names and values; names of other programs are ignored.
    ///
    /// # Errors
    /// Returns every error: an unreadable file, invalid TOML, unknown keys and variables, invalid values. An invalid value
    /// counts as its default in the checks of other keys.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SettingsError> {
        let (settings, errors) = Self::load_with_errors(file, environment)?;
        SettingsError::check(errors)?;
        Ok(settings)
    }

    /// Returns the settings of [`Settings::load`] with their errors, for further checks of the other values. An invalid value counts
    /// as its default, or is kept if it has the type of its key.
    ///
    /// # Errors
    /// Fails if an error cannot be passed over.
    pub fn load_with_errors(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(Self, Vec<SettingsError>), SettingsError> {
        let mut errors = Vec::new();
        let mut settings = layers::merge(file, environment, &mut errors)?;
        settings.canonicalize_public_url();
        settings.apply_tls();
        errors.extend(settings.errors());
        Ok((settings, errors))
    }

    /// Returns the merged keys as TOML, without secrets: a settings file with the same effect except for them.
    ///
    /// # Errors
    /// Returns the errors of [`Settings::load`], except those of values.
    pub fn effective_toml(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<String, SettingsError> {
        let mut errors = Vec::new();
        let keys = layers::merged_keys(file, environment, &mut errors)?;
        SettingsError::check(errors)?;
        Ok(effective::to_toml(&keys))
    }
}
