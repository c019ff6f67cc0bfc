//! Log output on standard error, as text or JSON.

use settings::{Log, LogFormat};
use tracing_subscriber::EnvFilter;

/// Installs the log subscriber. `RUST_LOG` overrides the filter of the settings.
pub fn start(settings: &Log) -> anyhow::Result<()> {
    let filter = match std::env::var(EnvFilter::DEFAULT_ENV) {
        Ok(filter) if !filter.is_empty() => EnvFilter::try_new(filter)?,
        _ => EnvFilter::try_new(&settings.filter)?,
    };
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match settings.format {
        LogFormat::Text => builder.with_target(false).init(),
        LogFormat::Json => builder.json().flatten_event(true).with_ansi(false).init(),
    }
    Ok(())
}
