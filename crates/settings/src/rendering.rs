//! Checks of the keys of `fetch` that concern rendering.

use url::Url;

use crate::values::Check;
use crate::{Fetch, Render, SettingsError};

/// Most pages that are rendered at a time.
const MAX_RENDERS: u32 = 64;

/// Returns one check per key. Without rendering they are free.
pub(crate) fn checks(fetch: &Fetch) -> Vec<Check> {
    match fetch.render {
        Render::Off => Vec::new(),
        Render::Chromium => {
            vec![check_renders(fetch.renders_at_a_time), check_url(&fetch.chromium_url), check_proxy(fetch)]
        }
    }
}

fn check_renders(count: u32) -> Check {
    if (1..=MAX_RENDERS).contains(&count) {
        return Ok(());
    }
    Err(SettingsError::invalid("fetch.renders_at_a_time", count, format!("must be between 1 and {MAX_RENDERS}")))
}

fn check_url(text: &str) -> Check {
    let is_address = |url: Url| match url.scheme() {
        "http" => url.path() == "/" && url.query().is_none(),
        "ws" => true,
        _ => false,
    };
    if text.is_empty() || Url::parse(text).is_ok_and(|url| url.has_host() && is_address(url)) {
        return Ok(());
    }
    let reason =
        "must be a DevTools address such as `http://127.0.0.1:9222` or `ws://127.0.0.1:9222/devtools/browser/ID`";
    // Not quoted: the query may contain a token.
    Err(SettingsError::refused("fetch.chromium_url", reason))
}

/// Checks that a browser elsewhere can know the address of the proxy.
fn check_proxy(fetch: &Fetch) -> Check {
    if fetch.chromium_url.is_empty() {
        return Ok(());
    }
    let (bind, address) = (fetch.chromium_proxy_bind, &fetch.chromium_proxy_address);
    let key = "fetch.chromium_proxy_address";
    if address.is_empty() {
        return match bind.ip().is_unspecified() {
            true => Err(SettingsError::refused(
                key,
                format!(
                    "must be set to HOST:PORT, because `fetch.chromium_proxy_bind` = `{bind}` is no address to connect to"
                ),
            )),
            false => Ok(()),
        };
    }
    let is_authority = Url::parse(&format!("http://{address}/")).is_ok_and(|url| {
        url.host_str().is_some() && url.path() == "/" && url.username().is_empty() && url.password().is_none()
    });
    let has_port = address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0));
    if is_authority && has_port {
        return Ok(());
    }
    Err(SettingsError::invalid(key, address, "must be HOST:PORT, such as `retrieval:8083`"))
}
