//! Base URL of the service, which texts, links and commands for its users contain.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use url::Url;

use crate::values::{Check, http_url};
use crate::{Settings, SettingsError};

pub(crate) const KEY: &str = "server.public_url";

impl Settings {
    /// Writes the URL as browsers do: lower case, ASCII, without blanks around it. An invalid one stays as it is.
    pub(crate) fn canonicalize_public_url(&mut self) {
        if let Some(url) = canonical(&self.server.public_url) {
            self.server.public_url = url;
        }
    }
}

/// Returns the URL of a listener for programs on the same machine. `None` if they cannot know it: the system chooses the port, or the
/// address is that of one network.
pub(crate) fn of_listener(bind: SocketAddr) -> Option<String> {
    let ip = match bind.ip() {
        ip if ip.is_unspecified() => IpAddr::from(Ipv4Addr::LOCALHOST),
        ip => ip,
    };
    (ip.is_loopback() && bind.port() != 0).then(|| format!("http://{}", SocketAddr::new(ip, bind.port())))
}

/// Fails for a URL with a user, a query, a fragment or a final slash, and for characters that have a meaning in shell commands, HTML
/// or string literals. The crate `openapi` refuses the same ones.
pub(crate) fn check(settings: &Settings) -> Check {
    let written = &settings.server.public_url;
    http_url(KEY, written)?;
    let url = canonical(written).unwrap_or_default();
    if url.ends_with('/') {
        return Err(SettingsError::invalid(KEY, written, "must not end with a slash"));
    }
    if !url.chars().all(|c| c.is_ascii_alphanumeric() || "-._~:/[]%".contains(c)) {
        let reason =
            "must consist of scheme, host, port and a path of letters, digits, `-`, `.`, `_`, `~`, `:`, `%` and `/`";
        return Err(SettingsError::invalid(KEY, written, reason));
    }
    Ok(())
}

/// Returns the canonical form. It ends with a slash only if the text does.
fn canonical(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let url = url.as_str();
    let shortened = if text.trim_end().ends_with('/') { None } else { url.strip_suffix('/') };
    Some(shortened.unwrap_or(url).to_owned())
}
