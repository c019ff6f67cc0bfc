//! Checks of `[telemetry]`.

use crate::values::{Check, http_url, not_empty};
use crate::{SettingsError, Telemetry};

pub(crate) fn checks(telemetry: &Telemetry) -> Vec<Check> {
    vec![
        if telemetry.otlp_url.is_empty() { Ok(()) } else { http_url("telemetry.otlp_url", &telemetry.otlp_url) },
        not_empty("telemetry.otlp_api_key_header", &telemetry.otlp_api_key_header),
        check_ratio(telemetry.sample_ratio),
        not_empty("telemetry.service_name", &telemetry.service_name),
    ]
}

fn check_ratio(ratio: f64) -> Check {
    if (0.0..=1.0).contains(&ratio) {
        return Ok(());
    }
    Err(SettingsError::invalid("telemetry.sample_ratio", ratio, "must be between 0.0 and 1.0"))
}
