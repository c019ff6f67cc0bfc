//! Export of traces to the configured collector.

use std::sync::Arc;

use anyhow::Context;
use model::SystemClock;
use settings::{Settings, Telemetry};
use telemetry::{Exporter, ExporterOptions, Timing};
use uuid::Uuid;

use crate::compose::credential_header;

/// Settings that the options come from.
const KEYS: &str = "telemetry.otlp_url, telemetry.otlp_api_key or telemetry.otlp_api_key_header";

/// Starts the export, and records the spans of this process; `None` without a collector.
pub fn start(settings: &Settings) -> anyhow::Result<Option<Exporter>> {
    let Some(options) = options(&settings.telemetry) else { return Ok(None) };
    let (queue, exporter) = telemetry::open(options).context(KEYS)?;
    if !trace_context::install(Box::new(queue), settings.telemetry.sample_ratio) {
        anyhow::bail!("traces are exported already");
    }
    Ok(Some(exporter))
}

/// Checks the settings without connecting.
pub fn check(settings: &Settings) -> anyhow::Result<()> {
    let Some(options) = options(&settings.telemetry) else { return Ok(()) };
    telemetry::check(&options).context(KEYS)
}

/// Returns the options of the exporter; `None` without a collector.
pub fn options(telemetry: &Telemetry) -> Option<ExporterOptions> {
    let Telemetry { otlp_url, otlp_api_key, otlp_api_key_header, sample_ratio: _, service_name } = telemetry;
    (!otlp_url.is_empty()).then(|| ExporterOptions {
        url: otlp_url.clone(),
        header: credential_header(otlp_api_key_header, otlp_api_key),
        service: service_name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        instance: Uuid::new_v4().to_string(),
        clock: Arc::new(SystemClock),
        timing: Timing::default(),
    })
}
