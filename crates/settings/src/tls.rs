//! TLS of the public listeners.

use crate::{Settings, SettingsError, StorageBackend};

impl Settings {
    /// Returns true if the public listeners speak HTTPS.
    pub fn has_tls(&self) -> bool {
        !self.server.tls_cert.is_empty()
    }

    /// Returns the scheme of the public listeners.
    pub fn scheme(&self) -> &'static str {
        if self.has_tls() { "https" } else { "http" }
    }

    /// Corrects URLs of listeners that do not speak plain HTTP, such as the default ones.
    pub(crate) fn apply_tls(&mut self) {
        if !self.has_tls() {
            return;
        }
        secure(&mut self.server.public_url);
        if self.storage.backend == StorageBackend::Embedded {
            secure(&mut self.storage.public_endpoint);
        }
    }
}

fn secure(url: &mut String) {
    // Schemes have no case, and spaces before a URL do not count.
    if let Some((scheme, rest)) = url.split_once(':')
        && scheme.trim_start().eq_ignore_ascii_case("http")
    {
        *url = format!("https:{rest}");
    }
}

/// Fails if only one of both files is given.
pub(crate) fn check(settings: &Settings) -> Result<(), SettingsError> {
    let server = &settings.server;
    for (key, given, missing) in
        [("server.tls_key", &server.tls_cert, &server.tls_key), ("server.tls_cert", &server.tls_key, &server.tls_cert)]
    {
        if !given.is_empty() && missing.is_empty() {
            return Err(SettingsError::invalid(key, "", "must be set too: a certificate and its key belong together"));
        }
    }
    Ok(())
}
