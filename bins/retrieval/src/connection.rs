//! Which service, with which key: flags and environment first, then the settings file.

use std::path::PathBuf;
use std::time::Duration;

use retrieval_client::Client;

use crate::cli::Common;
use crate::config_file::{self, ConfigFile};
use crate::failure::Failure;

pub const DEFAULT_BASE_URL: &str = "http://127.0.0.1:8080";

/// The settings file that holds for this call.
///
/// # Errors
/// When there is no home folder to look in and none was named.
pub fn settings_path(common: &Common) -> Result<PathBuf, Failure> {
    let environment = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    common.config.clone().or_else(|| config_file::default_path(environment)).ok_or_else(|| {
        Failure::Usage("no place for settings: neither HOME nor XDG_CONFIG_HOME is set; use --config".to_owned())
    })
}

/// The file's settings; none where there is no place for a file.
pub fn settings(common: &Common) -> Result<ConfigFile, Failure> {
    settings_path(common).map_or_else(|_| Ok(ConfigFile::default()), |path| config_file::load(&path))
}

/// A client for the command's requests.
///
/// # Errors
/// Without a key, or when the only key is the stored one of another service: it would be given away.
pub fn client(common: &Common) -> Result<Client, Failure> {
    if let (Some(base), Some(key)) = (given(&common.base_url), given(&common.api_key)) {
        return build(common, base, key);
    }
    let stored = settings(common)?;
    let stored_base = stored.base_url.as_deref().unwrap_or(DEFAULT_BASE_URL);
    let base = given(&common.base_url).unwrap_or(stored_base);
    let key = match (given(&common.api_key), &stored.api_key) {
        (Some(key), _) => key,
        (None, Some(_)) if !same_place(base, stored_base) => {
            let message = format!("the stored key is for `{stored_base}`, not for `{base}`: set RETRIEVAL_API_KEY");
            return Err(Failure::NotAllowed(message));
        }
        (None, Some(key)) => key,
        (None, None) => {
            return Err(Failure::NotAllowed("no API key: run `retrieval login`, or set RETRIEVAL_API_KEY".to_owned()));
        }
    };
    build(common, base, key)
}

/// The organization whose workspace is searched: the one that was given, or the one stored for this service.
pub fn workspace_id(flag: &Option<String>, common: &Common) -> Result<Option<String>, Failure> {
    if let Some(id) = given(flag) {
        return Ok(Some(id.to_owned()));
    }
    let stored = settings(common)?;
    let stored_base = stored.base_url.as_deref().unwrap_or(DEFAULT_BASE_URL);
    let base = given(&common.base_url).unwrap_or(stored_base);
    // Another service has other organizations.
    Ok(stored.workspace_id.filter(|_| same_place(base, stored_base)))
}

/// As [`client`], with the address and the key that are to be used.
pub fn build(common: &Common, base: &str, key: &str) -> Result<Client, Failure> {
    let mut builder = Client::builder()
        .base_url(base)
        .api_key(key)
        .timeout(Duration::from_secs(common.timeout))
        .client_name(concat!("retrieval-cli/", env!("CARGO_PKG_VERSION")));
    if let Some(session) = given(&common.session) {
        builder = builder.session_id(session);
    }
    Ok(builder.build()?)
}

/// An empty variable is as good as none.
pub fn given(value: &Option<String>) -> Option<&str> {
    value.as_deref().map(str::trim).filter(|value| !value.is_empty())
}

fn same_place(a: &str, b: &str) -> bool {
    a.trim_end_matches('/') == b.trim_end_matches('/')
}
