//! Check of the address that clients use: its name, its certificate and the reverse proxy behind it.

use std::net::IpAddr;

use settings::Settings;
use url::{Host, Url};

use super::probe;
use super::report::Finding;

/// Sends a request to `server.public_url`. `None` if that is the listener itself. A failure is a warning, since the
/// service works on this machine, and since a network may not lead back to its own public address.
pub async fn check(settings: &Settings) -> Option<Finding> {
    let (check, url) = ("public_url", &settings.server.public_url);
    if is_listener(settings) {
        return None;
    }
    let hint = "compare `server.public_url` with the name, the certificate and the upstream of the reverse proxy, or \
                ask it from another machine";
    Some(match probe::is_ours(url).await {
        Ok(true) => Finding::pass(check, format!("`{url}` leads to this service")),
        Ok(false) => Finding::warn(check, format!("`{url}` is answered, but not by this service"), hint),
        Err(error) => Finding::warn(check, format!("`{url}`: {error:#}"), hint),
    })
}

/// Returns true if the public URL is that of the listener on this machine.
fn is_listener(settings: &Settings) -> bool {
    let bind = settings.server.bind;
    let Ok(url) = Url::parse(&settings.server.public_url) else { return false };
    let is_own = |ip: IpAddr| ip.is_loopback() || ip == bind.ip();
    let is_own_host = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => is_own(ip.into()),
        Some(Host::Ipv6(ip)) => is_own(ip.into()),
        None => false,
    };
    is_own_host && url.port_or_known_default() == Some(bind.port())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn listener_is_told_from_proxies_and_other_machines() {
        let mut settings = Settings::load(None, []).unwrap();
        settings.server.bind = "192.0.2.1:8080".parse().unwrap();
        for (url, expected) in [
            ("http://localhost:8080", true),
            ("http://127.0.0.1:8080", true),
            ("http://[::1]:8080", true),
            ("http://192.0.2.1:8080", true),
            ("https://localhost", false),
            ("http://192.0.2.2:8080", false),
            ("https://retrieval.example.com", false),
        ] {
            settings.server.public_url = url.to_owned();
            assert_eq!(is_listener(&settings), expected, "{url}");
        }
    }
}
