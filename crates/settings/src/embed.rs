//! Checks of `[embed]`.

use crate::values::{Check, http_url, positive};
use crate::{Embed, EmbedBackend, SettingsError};

const MAX_DIMENSIONS: u32 = models::embedding::MAX_DIMENSIONS as u32;
/// Bounds the size of a response.
const MAX_BATCH: u32 = 256;
/// Longer prefixes would leave too little of the texts.
const MAX_PREFIX_CHARS: usize = 1_000;

pub(crate) fn checks(embed: &Embed) -> Vec<Check> {
    vec![
        check_source(embed),
        range("embed.dimensions", embed.dimensions, 0, MAX_DIMENSIONS),
        prefix("embed.query_prefix", &embed.query_prefix),
        prefix("embed.document_prefix", &embed.document_prefix),
        range("embed.batch", embed.batch, 1, MAX_BATCH),
        positive("embed.timeout_ms", embed.timeout_ms),
    ]
}

fn check_source(embed: &Embed) -> Check {
    match embed.backend {
        EmbedBackend::None => Ok(()),
        EmbedBackend::Http => http_url("embed.url", &embed.url),
        EmbedBackend::Local if embed.dir.as_os_str().is_empty() => {
            Err(SettingsError::invalid("embed.dir", "", "must be the folder of a model with `embed.backend` = `local`"))
        }
        EmbedBackend::Local => Ok(()),
    }
}

fn range(key: &str, value: u32, min: u32, max: u32) -> Check {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(SettingsError::invalid(key, value, format!("must be between {min} and {max}")))
}

fn prefix(key: &str, text: &str) -> Check {
    if text.chars().count() <= MAX_PREFIX_CHARS {
        return Ok(());
    }
    Err(SettingsError::invalid(key, text, format!("must have at most {MAX_PREFIX_CHARS} characters")))
}
