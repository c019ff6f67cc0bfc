//! Base URL and API key of the service: flags and environment first, then the settings file.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use retrieval_client::Client;

use crate::base_url::{is_same_service, with_scheme};
use crate::cli::Common;
use crate::config_file::{self, ConfigFile};
use crate::failure::Failure;
use crate::terminal::text::sanitize;

pub const DEFAULT_BASE_URL: &str = "http://127.0.0.1:8080";

/// Time after which people want to know that the program waits for a connection.
const SLOW_CONNECT: Duration = Duration::from_millis(350);

/// Returns the path of the settings file.
///
/// # Errors
/// Returns a usage error if no path is given and there is no home folder.
pub fn settings_path(common: &Common) -> Result<PathBuf, Failure> {
    let environment = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    common.config.clone().or_else(|| config_file::default_path(environment)).ok_or_else(|| {
        Failure::Usage("no settings folder: HOME and XDG_CONFIG_HOME are unset; use --config FILE".to_owned())
    })
}

/// Loads the settings file; returns empty settings if there is none at the default path.
///
/// # Errors
/// Returns an error if the file is unusable, and a usage error if the user named a file that does not exist.
pub fn settings(common: &Common) -> Result<ConfigFile, Failure> {
    let Ok(path) = settings_path(common) else { return Ok(ConfigFile::default()) };
    match config_file::load(&path)? {
        Some(stored) => Ok(stored),
        None if common.config.is_some() => Err(Failure::Usage(format!(
            "the settings file `{}` does not exist: correct --config or RETRIEVAL_CONFIG, or run `retrieval login`",
            path.display()
        ))),
        None => Ok(ConfigFile::default()),
    }
}

/// Creates a client for the command's requests.
///
/// # Errors
/// Returns an error without a key, or if the stored key belongs to another service and would leak to this one.
pub fn client(common: &Common) -> Result<Client, Failure> {
    if let (Some(base), Some(key)) = (non_empty(&common.base_url), non_empty(&common.api_key)) {
        return build(common, base, key);
    }
    let stored = settings(common)?;
    let stored_base = stored.base_url.as_deref().unwrap_or(DEFAULT_BASE_URL);
    let base = non_empty(&common.base_url).unwrap_or(stored_base);
    let key = match (non_empty(&common.api_key), &stored.api_key) {
        (Some(key), _) => key,
        (None, Some(_)) if !is_same_service(base, stored_base) => {
            let message = format!("the stored key belongs to `{stored_base}`, not `{base}`: set RETRIEVAL_API_KEY");
            return Err(Failure::NotAllowed(message));
        }
        (None, Some(key)) => key,
        (None, None) => {
            return Err(Failure::NotAllowed("no API key: run `retrieval login` or set RETRIEVAL_API_KEY".to_owned()));
        }
    };
    build(common, base, key)
}

/// Returns the organization whose workspace is searched: the given one, or the one stored for this service.
pub fn workspace_id(flag: &Option<String>, common: &Common) -> Result<Option<String>, Failure> {
    if let Some(id) = non_empty(flag) {
        return Ok(Some(id.to_owned()));
    }
    let stored = settings(common)?;
    let stored_base = stored.base_url.as_deref().unwrap_or(DEFAULT_BASE_URL);
    let base = non_empty(&common.base_url).unwrap_or(stored_base);
    // Organization ids are specific to a service.
    Ok(stored.workspace_id.filter(|_| is_same_service(base, stored_base)))
}

/// Creates a client for this base URL and key.
pub fn build(common: &Common, base: &str, key: &str) -> Result<Client, Failure> {
    let base = with_scheme(base);
    let mut builder = Client::builder()
        .base_url(base.as_str())
        .api_key(key)
        .timeout(Duration::from_secs(common.timeout))
        .client_name(concat!("retrieval-cli/", env!("CARGO_PKG_VERSION")));
    if let Some(session) = non_empty(&common.session) {
        builder = builder.session_id(session);
    }
    if !common.json && !common.quiet {
        let note = format!("still connecting to `{}` (Ctrl-C stops)", sanitize(base.trim_end_matches('/')));
        builder = builder.on_slow_connect(SLOW_CONNECT, move || {
            let _ = writeln!(io::stderr(), "{note}");
        });
    }
    Ok(builder.build()?)
}

/// Returns the trimmed value; empty values count as absent.
pub fn non_empty(value: &Option<String>) -> Option<&str> {
    value.as_deref().map(str::trim).filter(|value| !value.is_empty())
}
